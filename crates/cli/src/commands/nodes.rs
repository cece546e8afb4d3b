//! `rostrace nodes`: where each node runs, what it consists of, and how much it did.

use std::collections::HashSet;

use rostrace_analyze::list::{List, NODES};
use rostrace_analyze::table::{Cell, NodeRow};
use rostrace_model::describe::Description;

use crate::args::LookArguments;
use crate::listing::{NOT_KNOWN, Reading, Row};
use crate::outcome::Outcome;
use crate::view::View;
use rostrace_base::units;

pub(crate) fn nodes(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let reading = Reading::of(&NODES, arguments)?;
    let view = reading.view()?;
    let rows = NodeRow::all(&view.analysis());
    let without = callbacks_without_node(&view);
    let note = (without > 0).then(|| {
        let counted = units::counted(without as u64, "callback");
        let why = reading.why_unnamed();
        format!("{counted} ran in nodes that the trace does not name: {why}")
    });
    reading.print(rows, note)
}

/// Callbacks that ran, and of which the trace does not tell the node.
fn callbacks_without_node(view: &View<'_>) -> usize {
    let model = view.model;
    let mut found = HashSet::new();
    for (_, instance) in view.instances() {
        let process = model.process_of(instance.thread);
        let described = instance.callback.map(|id| Description::of(model, id));
        let described = described.unwrap_or_default();
        if described.node.is_none() && !described.built_in && view.has_unnamed(process) {
            found.insert((process, instance.callback, instance.address));
        }
    }
    found.len()
}

impl Row for NodeRow<'_> {
    const LIST: &'static List = &NODES;

    fn cells(&self) -> Vec<Cell<'_>> {
        self.cells()
    }

    /// Without what is built in, unless all is asked for: that is a column of its own.
    fn table_cells(&self, all: bool) -> Vec<Cell<'_>> {
        match all {
            true => self.cells(),
            false => self.own_cells(),
        }
    }

    fn shown(&self, title: &str, _all: bool) -> Option<String> {
        match title {
            "process" => Some(format!("{} {}", self.process, self.pid)),
            "distribution" => Some(self.distribution.unwrap_or(NOT_KNOWN).to_owned()),
            "rmw" => Some(self.rmw_implementation.unwrap_or(NOT_KNOWN).to_owned()),
            _ => None,
        }
    }

    fn is_folded(&self) -> bool {
        self.built_in
    }

    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        let number = units::counted(rows.len() as u64, "node");
        vec![vec![("node", format!("{number} of recorders and tools"))]]
    }
}
