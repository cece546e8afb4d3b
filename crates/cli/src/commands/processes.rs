//! `rostrace processes`: which ROS 2 runs in each process, with which middleware, and how much of the trace is its own.

use rostrace_analyze::list::{List, PROCESSES};
use rostrace_analyze::table::{Cell, ProcessRow};

use crate::args::LookArguments;
use crate::listing::{NOT_KNOWN, Reading, Row};
use crate::outcome::Outcome;
use rostrace_base::units;

pub(crate) fn processes(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let reading = Reading::of(&PROCESSES, arguments)?;
    let view = reading.view()?;
    let rows = ProcessRow::all(&view.analysis());
    let has_ros = rows.iter().any(ProcessRow::is_of_ros);
    let rows = rows.into_iter().map(|row| Listed {
        is_aside: has_ros && !row.is_of_ros(),
        row,
    });
    let note = arguments.filter.time.is_limited().then(|| {
        "events, first and last are those of the whole recording; runs and messages are those between --since and --until"
            .to_owned()
    });
    reading.print(rows.collect(), note)
}

#[derive(Debug)]
struct Listed<'m> {
    row: ProcessRow<'m>,
    /// It has nothing to do with ROS 2, and others have.
    is_aside: bool,
}

impl Row for Listed<'_> {
    const LIST: &'static List = &PROCESSES;

    fn cells(&self) -> Vec<Cell<'_>> {
        self.row.cells()
    }

    fn table_cells(&self, all: bool) -> Vec<Cell<'_>> {
        match all {
            true => self.row.all_cells(),
            false => self.row.cells(),
        }
    }

    fn shown(&self, title: &str, _all: bool) -> Option<String> {
        match title {
            "distribution" => Some(self.row.distribution.unwrap_or(NOT_KNOWN).to_owned()),
            "rmw" => Some(self.row.rmw_implementation.unwrap_or(NOT_KNOWN).to_owned()),
            _ => None,
        }
    }

    fn is_folded(&self) -> bool {
        self.is_aside
    }

    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        let number = units::counted(rows.len() as u64, "process");
        let events = rows.iter().map(|it| it.row.events).sum();
        vec![vec![
            ("name", format!("{number} without ROS 2")),
            ("events", units::count(events)),
        ]]
    }
}
