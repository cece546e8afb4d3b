//! Paths stage by stage, whether they were observed or declared: the lines of the table and of the CSV.

use std::io::Write;

use rostrace_analyze::Statistics;
use rostrace_analyze::table::Cell;

use crate::cell;
use crate::columns::Layout;
use crate::listing;

/// A part of a path, or all of it.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// What the table calls it.
    pub(super) shown: String,
    pub(super) statistics: Option<Statistics>,
    /// Messages that came no further.
    pub(super) ended: Option<u64>,
    /// Those of them that were lost.
    pub(super) lost: Option<u64>,
    /// Of the whole path.
    pub(super) share: Option<f64>,
    /// Whether the table has it.
    pub(super) is_shown: bool,
}

impl Stage {
    pub(super) fn new(kind: &'static str, name: &str, statistics: Option<&Statistics>) -> Stage {
        Stage {
            kind,
            name: name.to_owned(),
            shown: name.to_owned(),
            statistics: statistics.copied(),
            ended: None,
            lost: None,
            share: None,
            is_shown: true,
        }
    }

    /// All of a path.
    pub(super) fn whole(statistics: Option<&Statistics>) -> Stage {
        Stage {
            shown: "end to end".to_owned(),
            ..Stage::new(WHOLE, "", statistics)
        }
    }

    pub(super) fn of_whole(self, mean: f64) -> Stage {
        let share = self.statistics.map(|it| it.mean / mean);
        Stage {
            share: share.filter(|_| mean > 0.0),
            ..self
        }
    }

    fn cells<'c>(&self, path: &'c str, name: &'c str, number: usize) -> Vec<Cell<'c>> {
        let of = |value: fn(&Statistics) -> Cell<'static>| {
            let statistics = self.statistics.as_ref();
            statistics.map_or(Cell::Nothing, value)
        };
        vec![
            path.into(),
            (number as u64).into(),
            self.kind.into(),
            name.into(),
            of(|it| it.count.into()),
            of(|it| it.min.into()),
            of(|it| it.mean.into()),
            of(|it| it.p50.into()),
            of(|it| it.p90.into()),
            of(|it| it.p95.into()),
            of(|it| it.p99.into()),
            of(|it| it.p99_9.into()),
            of(|it| it.max.into()),
            of(|it| it.standard_deviation.into()),
            of(|it| it.worst.into()),
            self.ended.into(),
            self.share.into(),
            self.lost.into(),
        ]
    }
}

const WHOLE: &str = "path";

/// What a path is sorted by: the values of the whole, its title for a name, and what ended in all its stages.
pub(super) fn sort_cells<'c>(title: &'c str, stages: &[Stage]) -> Vec<Cell<'c>> {
    let whole = stages.iter().find(|stage| stage.kind == WHOLE);
    let sum = |of: fn(&Stage) -> Option<u64>| Some(stages.iter().filter_map(of).sum());
    let whole = Stage {
        ended: sum(|stage| stage.ended),
        lost: sum(|stage| stage.lost),
        ..Stage::new(WHOLE, "", whole.and_then(|it| it.statistics.as_ref()))
    };
    whole.cells(title, title, stages.len())
}

pub(super) fn write_table(
    out: &mut impl Write,
    layout: &Layout,
    title: &str,
    stages: &[Stage],
) -> anyhow::Result<()> {
    let columns = layout.table();
    let mut table = listing::empty_table(layout, &columns);
    for (number, stage) in stages.iter().enumerate().filter(|(_, it)| it.is_shown) {
        let cells = stage.cells(title, &stage.name, number);
        let picked = columns.iter().zip(layout.pick(&columns, &cells));
        table.row(
            picked.map(|(column, cell)| match layout.list.title(column) {
                Some("") => format!("  {}", stage.shown),
                // That nothing ended goes without saying.
                Some("ended here") if stage.ended == Some(0) => String::new(),
                _ if column.name == "lost" && stage.lost == Some(0) => String::new(),
                _ => cell::shown(cell, column.unit),
            }),
        );
    }
    Ok(write!(out, "{table}")?)
}

/// A line, or an object with the chosen columns, for each stage of each path.
pub(super) fn rows<'s>(
    paths: impl Iterator<Item = (&'s str, &'s [Stage])>,
) -> impl Iterator<Item = Vec<Cell<'s>>> {
    paths.flat_map(|(title, stages)| {
        let stages = stages.iter().enumerate();
        stages.map(move |(number, stage)| stage.cells(title, &stage.name, number))
    })
}
