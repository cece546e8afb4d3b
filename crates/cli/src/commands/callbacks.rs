//! `rostrace callbacks`: what runs in each node, how often, how long and how late, the worst first.

use std::collections::BTreeMap;

use rostrace_analyze::callback;
use rostrace_analyze::finding::Ranking;
use rostrace_analyze::list::{CALLBACKS, List};
use rostrace_analyze::table::{CallbackRow, Cell};
use rostrace_analyze::thread::Ran;
use rostrace_analyze::{Analysis, blind_spot, sim_time};
use rostrace_model::describe::names;
use rostrace_model::entity::{NodeId, ProcessId};

use crate::args::LookArguments;
use crate::capabilities;
use crate::listing::{Reading, Row};
use crate::missing_callbacks;
use crate::outcome::Outcome;
use crate::view::View;
use rostrace_base::units;

pub(crate) fn callbacks(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let reading = Reading::of(&CALLBACKS, arguments)?;
    let view = reading.view()?;
    print(&reading, &view, &view.analysis())
}

/// The list of a trace that was read and analysed.
pub(crate) fn print(
    reading: &Reading<'_>,
    view: &View<'_>,
    analysis: &Analysis<'_>,
) -> anyhow::Result<Outcome> {
    let (rows, first) = ranked(analysis);
    let all = reading.arguments.all;
    let unnamed = rows.iter().map(|it| &it.row);
    let unnamed = unnamed.filter(|it| it.is_unnamed() && (all || !it.described.built_in));
    let lack = || {
        capabilities::CALLBACKS
            .lack(&view.model.kinds)
            .map(str::to_owned)
    };
    let lack = missing_callbacks::sentence(view).or_else(lack);
    let notes = reading.unnamed(unnamed.count(), "callback").into_iter();
    reading.print(
        rows,
        notes
            .chain(first)
            .chain(lack)
            .chain(sim_time::sentence(view.model))
            .chain(blind_spot::sentences(view.model)),
    )
}

#[derive(Debug)]
struct Ranked<'m> {
    row: CallbackRow<'m>,
    /// Nobody wrote it, and it is as any other of its kind.
    is_folded: bool,
}

/// The worst comes first, as in a report; what never ran twice, or is built in, in the order of creation at the end. With a sentence on why the
/// first one is first, if that is for what it did to others.
fn ranked<'m>(analysis: &Analysis<'m>) -> (Vec<Ranked<'m>>, Option<String>) {
    let summaries = callback::summaries(analysis);
    let ranking = Ranking::of(analysis, &summaries);
    let rows = CallbackRow::of(analysis, &summaries).into_iter();
    let rows = rows.map(|row| {
        let is_notable = match row.runner.ran {
            Ran::Callback(_) => ranking.is_notable(row.runner),
            Ran::Client(_) | Ran::Unnamed(_) => false,
        };
        Ranked {
            is_folded: row.described.built_in && !is_notable,
            row,
        }
    });
    let mut rows: Vec<Ranked<'m>> = rows.collect();
    rows.sort_by(|a, b| {
        (a.is_folded.cmp(&b.is_folded))
            .then(ranking.order(a.row.runner, b.row.runner))
            .then(a.row.described.built_in.cmp(&b.row.described.built_in))
            .then(a.row.created.cmp(&b.row.created))
    });
    let first = rows.first().and_then(|Ranked { row, .. }| {
        let what = match ranking.caused(row.runner) {
            0 => return None,
            1 => "something else was late because of it",
            _ => "others were late because of it",
        };
        Some(format!(
            "`{}` comes first: {what}; `rostrace why` with the same trace says more",
            row.name
        ))
    });
    (rows, first)
}

impl Row for Ranked<'_> {
    const LIST: &'static List = &CALLBACKS;

    fn cells(&self) -> Vec<Cell<'_>> {
        self.row.cells()
    }

    /// A client ran as often as it got answers.
    fn table_cells(&self, _all: bool) -> Vec<Cell<'_>> {
        let mut cells = self.cells();
        if let (Some(answers), Some(count)) = (self.row.answers, CALLBACKS.column("count")) {
            cells[count] = answers.into();
        }
        cells
    }

    fn shown(&self, title: &str, _all: bool) -> Option<String> {
        (title == "process").then(|| format!("{} {}", self.row.process, self.row.pid))
    }

    fn is_folded(&self) -> bool {
        self.is_folded
    }

    /// One line for each node.
    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        let mut of_owners: BTreeMap<(ProcessId, Option<NodeId>), Vec<&CallbackRow<'_>>> =
            BTreeMap::new();
        for Ranked { row, .. } in rows {
            let owner = (row.runner.process, row.described.node);
            of_owners.entry(owner).or_default().push(row);
        }
        let lines = of_owners.into_values().map(|rows| {
            let number = units::counted(rows.len() as u64, "built-in callback");
            let node = rows[0].described.node_name.unwrap_or(names::UNKNOWN_NODE);
            let count = rows.iter().map(|row| row.count).sum();
            vec![
                ("callback", format!("{node} · {number}")),
                ("process", format!("{} {}", rows[0].process, rows[0].pid)),
                ("count", units::count(count)),
            ]
        });
        lines.collect()
    }

    /// It took or waited longer than its period.
    fn is_conspicuous(&self) -> bool {
        let worst = self.row.worst_over_period;
        !self.row.described.built_in && worst.is_some_and(|worst| worst >= 1.0)
    }
}
