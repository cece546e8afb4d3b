//! Judgements as rows of the list: for people, as JSON and as CSV. The field names are a contract.

use rostrace_analyze::budget::{Judgement, Quantity};
use rostrace_analyze::list::List;
use rostrace_analyze::table::Cell;
use rostrace_ctf::schema::Nanos;
use rostrace_report::budget::{limit_text, measured_text};
use serde_json::{Map, Value, json};

use crate::cell;
use crate::render::time;

/// A number in its unit: nanoseconds, hertz, a part of 1, or just a number.
fn number(quantity: Quantity) -> Cell<'static> {
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

/// A judgement, with its notes as one text.
#[derive(Debug)]
pub(super) struct JudgementRow<'j> {
    judgement: &'j Judgement,
    notes: String,
}

impl JudgementRow<'_> {
    pub(super) fn of(judgement: &Judgement) -> JudgementRow<'_> {
        let notes = judgement.notes.join("; ");
        JudgementRow { judgement, notes }
    }

    /// In the order of the columns.
    pub(super) fn cells(&self) -> Vec<Cell<'_>> {
        let judgement = self.judgement;
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
            (judgement.values as u64).into(),
            judgement.damaged.into(),
            judgement.worst.into(),
            (judgement.line as u64).into(),
            (judgement.column as u64).into(),
            self.notes.as_str().into(),
        ]
    }

    /// What people see in a column where it is more than the value.
    pub(super) fn shown(&self, column: &str, begin: Nanos) -> Option<String> {
        let judgement = self.judgement;
        match column {
            "limit" => Some(judgement.limit.as_ref().map_or(String::new(), limit_text)),
            "measured" => Some(measured_text(judgement).unwrap_or_default()),
            "worst_at_ns" => Some(judgement.worst.map_or(String::new(), |at| {
                format!("{} ({})", time::time_of_day(at), time::since(begin, at))
            })),
            "notes" if judgement.damaged > 0 => {
                let damaged = format!("{} touched by lost events", judgement.damaged);
                let notes = judgement.notes.iter().chain([&damaged]);
                Some(notes.map(String::as_str).collect::<Vec<_>>().join("; "))
            }
            _ => None,
        }
    }

    /// Everything, with the notes as a list.
    pub(super) fn json(&self, list: &List) -> Value {
        let names = list.columns.iter().map(|column| column.name.to_owned());
        let values = self.cells().into_iter().map(cell::json);
        let mut row: Map<String, Value> = names.zip(values).collect();
        row.insert("notes".to_owned(), json!(self.judgement.notes));
        Value::Object(row)
    }
}
