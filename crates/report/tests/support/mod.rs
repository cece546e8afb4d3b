//! What the tests of the report have in common.

#![allow(unreachable_pub, clippy::unwrap_used)]

use std::collections::BTreeMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::table::{Cell, TABLES};
use serde_json::{Value, json};

/// The rows of an exported table, by the names of its columns.
pub fn table(analysis: &Analysis<'_>, name: &str) -> Vec<BTreeMap<&'static str, Value>> {
    let table = TABLES.iter().find(|table| table.name == name).unwrap();
    let mut rows = Vec::new();
    (table.rows)(analysis, &mut |cells| {
        let cells = cells.iter().map(|cell| match cell {
            Cell::Nothing => Value::Null,
            Cell::Text(text) => json!(text),
            Cell::Integer(integer) => json!(integer),
            Cell::Number(number) => json!(number),
            Cell::Flag(flag) => json!(flag),
        });
        let names = table.columns.iter().map(|column| column.name);
        rows.push(names.zip(cells).collect());
        Ok(())
    })
    .unwrap();
    rows
}
