//! `rostrace actions`: the goals that were sent, how long they took to be accepted and to be reached.

use rostrace_analyze::list::{ACTIONS, List};
use rostrace_analyze::table::{ActionRow, Cell};

use crate::args::LookArguments;
use crate::listing::{Reading, Row};
use crate::outcome::Outcome;

pub(crate) fn actions(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let reading = Reading::of(&ACTIONS, arguments)?;
    let view = reading.view()?;
    let analysis = view.analysis();
    let rows: Vec<Listed<'_>> = ActionRow::all(&analysis).into_iter().map(Listed).collect();
    let note = (rows.is_empty() && analysis.model.requests.is_empty()).then(|| {
        "the trace has no steps of requests; Kilted and later have them, and recordings of `rostrace record`"
            .to_owned()
    });
    reading.print(rows, note)
}

#[derive(Debug)]
struct Listed<'m>(ActionRow<'m>);

impl Row for Listed<'_> {
    const LIST: &'static List = &ACTIONS;

    fn cells(&self) -> Vec<Cell<'_>> {
        self.0.cells()
    }

    fn is_folded(&self) -> bool {
        false
    }

    fn folded(_: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        Vec::new()
    }
}
