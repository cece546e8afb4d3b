//! `rostrace architecture diff`: what the second file has more, less, or otherwise than the first.

use std::io::{BufWriter, Write};

use rostrace_architecture::{Change, Difference, diff as differences};
use serde::Serialize;

use super::arguments::{DiffArguments, ListFormat};
use super::file;
use crate::outcome::Outcome;
use crate::render::table::{Align, Table};

#[derive(Serialize)]
struct ListedDifference<'d> {
    change: &'static str,
    subject: &'static str,
    node: Option<&'d str>,
    name: &'d str,
    fields: Vec<Field<'d>>,
}

#[derive(Serialize)]
struct Field<'d> {
    field: &'static str,
    before: &'d str,
    after: &'d str,
}

pub(super) fn diff(arguments: &DiffArguments) -> anyhow::Result<Outcome> {
    let before = file::open(&arguments.before)?.architecture;
    let after = file::open(&arguments.after)?.architecture;
    let all = differences(&before, &after);
    let mut out = BufWriter::new(std::io::stdout().lock());
    match arguments.format {
        ListFormat::Json => {
            let rows: Vec<ListedDifference<'_>> = all.iter().map(row).collect();
            serde_json::to_writer_pretty(&mut out, &rows).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        ListFormat::Table if all.is_empty() => writeln!(out, "No differences.")?,
        ListFormat::Table => write!(out, "{}", table(&all))?,
    }
    out.flush()?;
    Ok(match arguments.exit_code && !all.is_empty() {
        true => Outcome::Refused,
        false => Outcome::Fine,
    })
}

fn row(difference: &Difference) -> ListedDifference<'_> {
    let fields = match &difference.change {
        Change::Changed(fields) => fields.as_slice(),
        Change::Added | Change::Removed => &[],
    };
    ListedDifference {
        change: word(&difference.change),
        subject: difference.subject.word(),
        node: Some(difference.node.as_str()).filter(|node| !node.is_empty()),
        name: &difference.name,
        fields: (fields.iter())
            .map(|change| Field {
                field: change.field,
                before: &change.before,
                after: &change.after,
            })
            .collect(),
    }
}

fn word(change: &Change) -> &'static str {
    match change {
        Change::Added => "added",
        Change::Removed => "removed",
        Change::Changed(_) => "changed",
    }
}

fn table(all: &[Difference]) -> Table {
    let columns = ["change", "what", "node", "name", "field", "before", "after"];
    let mut table = Table::new(&columns.map(|title| (title, Align::Left)));
    for difference in all {
        let row = row(difference);
        let node = row.node.unwrap_or_default();
        if row.fields.is_empty() {
            table.row([row.change, row.subject, node, row.name]);
        }
        for field in &row.fields {
            table.row([
                row.change,
                row.subject,
                node,
                row.name,
                field.field,
                field.before,
                field.after,
            ]);
        }
    }
    table
}
