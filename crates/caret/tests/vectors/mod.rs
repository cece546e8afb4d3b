//! Small vectors with known answers: joins, metrics, response times and stacked bars as CARET's own unit tests and runs have them. Joining by
//! message address through copies is not among them: that is done while a trace is imported, and tested there.

mod joins;
mod metrics;
mod response_times;

use rostrace_analyze::declared::records::{Cell, Records};

/// In the tables below: missing.
const NO: i64 = -1;

fn rows(table: &[&[i64]]) -> Vec<Vec<Cell>> {
    let cell = |value: &i64| (*value != NO).then_some(*value);
    table
        .iter()
        .map(|row| row.iter().map(cell).collect())
        .collect()
}

fn records(table: &[&[i64]]) -> Records {
    let width = table.first().map_or(0, |row| row.len());
    let mut records = Records::new((0..width).map(|column| format!("column_{column}")));
    records.rows = rows(table);
    records
}

fn column(values: &[i64]) -> Records {
    let table: Vec<Vec<i64>> = values.iter().map(|value| vec![*value]).collect();
    records(&table.iter().map(Vec::as_slice).collect::<Vec<_>>())
}
