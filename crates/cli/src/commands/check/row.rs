//! Judgements as JSON and as CSV. The field names are a contract.

use std::io::Write;

use rostrace_analyze::budget::{Judgement, Quantity};
use serde_json::{Value, json};

const COLUMNS: [&str; 14] = [
    "verdict",
    "kind",
    "subject",
    "measure",
    "bound",
    "unit",
    "limit",
    "measured",
    "values",
    "damaged",
    "worst_at_ns",
    "line",
    "column",
    "notes",
];

/// A number in its unit: nanoseconds, hertz, a part of 1, or just a number.
fn number(quantity: Quantity) -> Value {
    match quantity {
        Quantity::Nanoseconds(nanos) => json!(nanos),
        Quantity::Hertz(value) | Quantity::Share(value) => json!(value),
        Quantity::Count(count) => json!(count),
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
fn cells(judgement: &Judgement) -> [Value; 14] {
    let limit = judgement.limit.as_ref();
    [
        json!(judgement.verdict.name()),
        json!(judgement.kind.name()),
        json!(judgement.subject),
        json!(limit.map(|it| it.measure.name())),
        json!(limit.map(|it| it.bound.name())),
        json!(limit.map(|it| unit(it.value))),
        json!(limit.map(|it| number(it.value))),
        json!(judgement.measured.map(number)),
        json!(judgement.values),
        json!(judgement.damaged),
        json!(judgement.worst.map(|at| at.0)),
        json!(judgement.line),
        json!(judgement.column),
        json!(judgement.notes),
    ]
}

pub(super) fn write_json(out: &mut impl Write, judgements: &[Judgement]) -> anyhow::Result<()> {
    let rows = judgements.iter().map(|judgement| {
        let names = COLUMNS.iter().map(|name| (*name).to_owned());
        Value::Object(names.zip(cells(judgement)).collect())
    });
    let rows: Vec<Value> = rows.collect();
    serde_json::to_writer_pretty(&mut *out, &rows).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(())
}

pub(super) fn write_csv(out: &mut impl Write, judgements: &[Judgement]) -> anyhow::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    for judgement in judgements {
        let cells = cells(judgement).map(|cell| match cell {
            Value::Null => String::new(),
            Value::String(text) => text,
            Value::Array(items) => {
                let texts = items.iter().filter_map(Value::as_str);
                texts.collect::<Vec<_>>().join("; ")
            }
            other => other.to_string(),
        });
        csv.write_record(cells)?;
    }
    csv.flush()?;
    Ok(())
}
