//! Judgements as rows of the list: for people, as JSON and as CSV. The field names are a contract.

use std::io::Write;

use rostrace_analyze::budget::{Judgement, Quantity};
use rostrace_ctf::schema::Nanos;
use rostrace_report::budget::{limit_text, measured_text};
use serde_json::{Value, json};

use crate::cell::Cell;
use crate::columns::Layout;
use crate::render::time;

/// A number in its unit: nanoseconds, hertz, a part of 1, or just a number.
fn number(quantity: Quantity) -> Cell {
    match quantity {
        Quantity::Nanoseconds(nanos) => nanos.into(),
        Quantity::Hertz(value) | Quantity::Share(value) => value.into(),
        Quantity::Count(count) => count.into(),
    }
}

fn unit(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Nanoseconds(_) => "nanoseconds",
        Quantity::Hertz(_) => "hertz",
        Quantity::Share(_) => "share",
        Quantity::Count(_) => "count",
    }
}

/// In the order of the columns.
pub(super) fn cells(judgement: &Judgement) -> Vec<Cell> {
    let limit = judgement.limit.as_ref();
    vec![
        judgement.verdict.name().into(),
        judgement.kind.name().into(),
        judgement.subject.as_str().into(),
        limit.map(|it| it.measure.name()).into(),
        limit.map(|it| it.bound.name()).into(),
        limit.map(|it| unit(it.value)).into(),
        limit.map_or(Cell::Nothing, |it| number(it.value)),
        judgement.measured.map_or(Cell::Nothing, number),
        judgement.values.into(),
        judgement.damaged.into(),
        judgement.worst.map(|at| at.0).into(),
        judgement.line.into(),
        judgement.column.into(),
        judgement.notes.join("; ").into(),
    ]
}

/// What people see in a column where it is more than the value.
pub(super) fn shown(judgement: &Judgement, column: &str, begin: Nanos) -> Option<String> {
    match column {
        "limit" => Some(judgement.limit.as_ref().map_or(String::new(), limit_text)),
        "measured" => Some(measured_text(judgement).unwrap_or_default()),
        "worst_at_ns" => Some(judgement.worst.map_or(String::new(), |at| {
            format!("{} ({})", time::time_of_day(at), time::since(begin, at))
        })),
        "notes" if judgement.damaged > 0 => {
            let mut notes = judgement.notes.clone();
            notes.push(format!("{} touched by lost events", judgement.damaged));
            Some(notes.join("; "))
        }
        _ => None,
    }
}

/// Everything, with the notes as a list.
pub(super) fn write_json(
    out: &mut impl Write,
    layout: &Layout,
    judgements: &[Judgement],
) -> anyhow::Result<()> {
    let names = layout.list.columns.iter().map(|column| column.name);
    let rows = judgements.iter().map(|judgement| {
        let values = cells(judgement).into_iter().map(|cell| json!(cell));
        let named = names.clone().map(ToOwned::to_owned).zip(values);
        let mut row: serde_json::Map<String, Value> = named.collect();
        row.insert("notes".to_owned(), json!(judgement.notes));
        Value::Object(row)
    });
    let rows: Vec<Value> = rows.collect();
    serde_json::to_writer_pretty(&mut *out, &rows).map_err(std::io::Error::from)?;
    Ok(())
}
