//! `rostrace executors`: what each executor executes, and how busy it was with it.

use rostrace_analyze::blind_spot;
use rostrace_analyze::list::{EXECUTORS, List};
use rostrace_analyze::table::{Cell, ExecutorRow};
use rostrace_model::Model;
use rostrace_model::describe::built_in;

use crate::args::LookArguments;
use crate::capabilities;
use crate::listing::{NOT_KNOWN, Reading, Row};
use crate::outcome::Outcome;
use rostrace_base::units;

pub(crate) fn executors(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let reading = Reading::of(&EXECUTORS, arguments)?;
    let view = reading.view()?;
    let rows = ExecutorRow::all(&view.analysis());
    let mut notes = notes(view.model);
    if rows.iter().any(|row| row.observed) {
        notes.push(OBSERVED.to_owned());
    }
    if rows.is_empty() && arguments.filter.entities.is_empty() {
        notes.insert(0, "no executors to show".to_owned());
    }
    reading.print(rows, notes)
}

/// What stands behind such a row.
const OBSERVED: &str = "observed_…: no executor that the trace tells of, but threads that ran the same callbacks; callbacks that never ran are missing";

fn notes(model: &Model) -> Vec<String> {
    let mut notes = blind_spot::sentences(model);
    if let Some(lack) = capabilities::EXECUTORS.lack(&model.kinds) {
        notes.insert(0, lack.to_owned());
        return notes;
    }
    let groups = model.callback_groups.iter();
    let alone = groups.filter(|group| group.executor.is_none() && !group.callbacks.is_empty());
    let alone = alone.count() as u64;
    let counted = units::counted(alone, "callback group");
    let note = (alone > 0).then(|| {
        format!("{counted} with callbacks: the trace does not tell which executor they belong to")
    });
    notes.extend(note);
    notes
}

impl Row for ExecutorRow<'_> {
    const LIST: &'static List = &EXECUTORS;

    fn cells(&self) -> Vec<Cell<'_>> {
        self.cells()
    }

    fn shown(&self, title: &str, all: bool) -> Option<String> {
        let is_known = match title {
            "groups" => !self.observed && self.not_seen.is_none(),
            "callbacks" | "threads" | "runs" => self.not_seen.is_none(),
            "busy" => self.busy_share.is_some(),
            _ => true,
        };
        if !is_known {
            return Some(NOT_KNOWN.to_owned());
        }
        match title {
            "type" if self.observed => Some("observed".to_owned()),
            "type" => Some(self.kind.unwrap_or(NOT_KNOWN).to_owned()),
            "process" => Some(format!("{} {}", self.process, self.pid)),
            "nodes" => {
                let nodes = self.nodes.iter().copied();
                let nodes: Vec<&str> = nodes.filter(|node| all || !built_in::node(node)).collect();
                Some(self.not_seen.clone().unwrap_or_else(|| nodes.join(", ")))
            }
            _ => None,
        }
    }

    /// Those of recorders and commands.
    fn is_folded(&self) -> bool {
        self.built_in
    }

    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        let number = units::counted(rows.len() as u64, "executor");
        vec![vec![(
            "executor",
            format!("{number} of recorders and tools"),
        )]]
    }
}
