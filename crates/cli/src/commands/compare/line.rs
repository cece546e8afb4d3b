//! Differences as rows of the list: one line for each statistic, and one for each thing that is on one side only. The field names are a contract.

use rostrace_analyze::comparison::{ComparedMetric, Comparison, Difference, Structural, Unit};
use rostrace_analyze::table::Cell;
use rostrace_report::comparison::change_sentence;
use rostrace_report::quantity::{change, quantity, signed};

#[derive(Debug)]
pub(super) enum Line<'c> {
    Statistic(&'c ComparedMetric, &'c Difference),
    /// Changes of structure have no numbers, but a sentence.
    Change(&'c Structural, String),
}

pub(super) fn all(comparison: &Comparison) -> Vec<Line<'_>> {
    let rows = comparison.rows.iter();
    let statistics = rows.flat_map(|row| {
        let differences = row.differences.iter();
        differences.map(move |difference| Line::Statistic(row, difference))
    });
    let changes = comparison.changes.iter();
    let changes = changes.map(|it| Line::Change(it, change_sentence(it)));
    statistics.chain(changes).collect()
}

impl Line<'_> {
    /// In the order of the columns.
    pub(super) fn cells(&self) -> Vec<Cell<'_>> {
        let (row, it) = match self {
            Line::Statistic(row, it) => (row, it),
            Line::Change(change, sentence) => {
                let mut cells = vec![Cell::Nothing; 21];
                cells[0] = change.kind.name().into();
                cells[1] = change.name.as_str().into();
                cells[16] = sentence.into();
                return cells;
            }
        };
        vec![
            row.kind.name().into(),
            row.name.as_str().into(),
            row.base_name.as_deref().into(),
            row.metric.name().into(),
            unit(row.unit).into(),
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
            (row.base.values as u64).into(),
            (row.new.values as u64).into(),
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

/// As JSON has it.
fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "nanoseconds",
        Unit::Hertz => "hertz",
        Unit::Share => "share",
    }
}
