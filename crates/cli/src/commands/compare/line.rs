//! Differences as rows of the list: one line for each statistic, and one for each thing that is on one side only. The field names are a contract.

use rostrace_analyze::comparison::{Comparison, Difference, Row, Structural};
use rostrace_report::comparison::change_sentence;
use rostrace_report::quantity::{change, quantity, signed};
use serde_json::json;

use crate::cell::Cell;

#[derive(Debug)]
pub(super) enum Line<'c> {
    Statistic(&'c Row, &'c Difference),
    /// Changes of structure have no numbers.
    Change(&'c Structural),
}

pub(super) fn all(comparison: &Comparison) -> Vec<Line<'_>> {
    let rows = comparison.rows.iter();
    let statistics = rows.flat_map(|row| {
        let differences = row.differences.iter();
        differences.map(move |difference| Line::Statistic(row, difference))
    });
    let changes = comparison.changes.iter().map(Line::Change);
    statistics.chain(changes).collect()
}

impl Line<'_> {
    /// In the order of the columns.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let (row, it) = match self {
            Line::Statistic(row, it) => (row, it),
            Line::Change(change) => {
                let mut cells = vec![Cell::Nothing; 21];
                cells[0] = change.kind.name().into();
                cells[1] = change.name.as_str().into();
                cells[16] = change_sentence(change).into();
                return cells;
            }
        };
        vec![
            row.kind.name().into(),
            row.name.as_str().into(),
            row.base_name.as_deref().into(),
            row.metric.name().into(),
            json!(row.unit).as_str().into(),
            it.statistic.name().into(),
            it.base.into(),
            it.new.into(),
            it.difference.into(),
            it.interval.map(|it| it.0).into(),
            it.interval.map(|it| it.1).into(),
            it.ratio.into(),
            row.cliffs_delta.into(),
            it.margin.into(),
            it.p.into(),
            it.adjusted_p.into(),
            it.verdict.name().into(),
            row.base.values.into(),
            row.new.values.into(),
            row.base.damaged.into(),
            row.new.damaged.into(),
        ]
    }

    /// What people see in a column, with the unit of the line.
    pub(super) fn shown(&self, column: &str) -> Option<String> {
        let Line::Statistic(row, it) = self else {
            return None;
        };
        let unit = row.unit;
        match column {
            "base" => Some(quantity(it.base, unit)),
            "new" => Some(quantity(it.new, unit)),
            "difference" => Some(signed(it.difference, unit)),
            "interval_low" => it.interval.map(|(low, _)| signed(low, unit)),
            "interval_high" => it.interval.map(|(_, high)| signed(high, unit)),
            "margin" => Some(quantity(it.margin, unit)),
            "ratio" => it.ratio.map(change),
            _ => None,
        }
    }
}
