//! The exported tables as a page for people: `docs/reference/tables.md`.

use std::fmt::{self, Write};

use rostrace_analyze::table::{Column, ColumnKind, TABLES, Table};

const INTRODUCTION: &str = "\
# Tables

<!-- Made from crates/analyze by `cargo xtask docs`. Do not edit by hand. -->

Every table that `rostrace export` writes, one file each. [The guide](../guides/export.md) shows how to make and read them. More columns may be added
behind those that a table has, so find columns by name.

The types in the formats:

| type | CSV | JSON | Parquet | Arrow |
|---|---|---|---|---|
| text | quoted where needed | string | string | dictionary of strings |
| integer | digits | number | int64 | int64 |
| number | shortest that reads back the same | number | double | float64 |
| flag | `0`, `1` | `false`, `true` | boolean | bool |
| time | nanoseconds since 1970 | nanoseconds since 1970 | timestamp(ns, UTC) | timestamp(ns, UTC) |
| duration | nanoseconds | nanoseconds | int64, nanoseconds | duration(ns) |

What a row does not have is an empty cell in CSV, and null in the others; only columns that *may be empty* have such rows. A text that is not known is the empty text.
";

/// The whole page.
pub(super) fn markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    // Writing to a String does not fail.
    let _ = write_page(&mut page);
    page
}

fn write_page(page: &mut String) -> fmt::Result {
    writeln!(page, "\n| table | what a row is |\n|---|---|")?;
    for Table { name, about, .. } in TABLES {
        writeln!(page, "| [`{name}`](#{name}) | {} |", cell(about))?;
    }
    for table in TABLES {
        write_table(page, table)?;
    }
    Ok(())
}

fn write_table(page: &mut String, table: &Table) -> fmt::Result {
    writeln!(page, "\n## `{}`\n\n{}\n", table.name, table.about)?;
    writeln!(
        page,
        "| column | type | may be empty | meaning |\n|---|---|---|---|"
    )?;
    for column in table.columns {
        let (name, kind) = (column.name, kind(column.kind));
        let optional = if column.optional { "yes" } else { "" };
        writeln!(
            page,
            "| `{name}` | {kind} | {optional} | {} |",
            cell(column.about)
        )?;
    }
    write_example(page, table)
}

fn kind(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Text => "text",
        ColumnKind::Names => "names",
        ColumnKind::Integer => "integer",
        ColumnKind::Number => "number",
        ColumnKind::Flag => "flag",
        ColumnKind::Time => "time",
        ColumnKind::Duration => "duration",
    }
}

/// A text inside a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The same question to DuckDB and to Polars: how many rows there are of each name; and, if a table has durations, how long
/// the longest is.
fn write_example(page: &mut String, table: &Table) -> fmt::Result {
    let file = format!("tables/{}.parquet", table.name);
    let Some(name) = group(table.columns) else {
        writeln!(page, "\n```sql\nSELECT * FROM '{file}' LIMIT 10;\n```")?;
        return writeln!(
            page,
            "\n```python\npl.read_parquet(\"{file}\").head(10)\n```"
        );
    };
    let duration = measured(table.columns);
    let (sql, python) = match duration {
        Some(duration) => (
            format!(", max({duration}) / 1e6 AS longest_ms"),
            format!(", pl.col(\"{duration}\").max().alias(\"longest\")"),
        ),
        None => Default::default(),
    };
    writeln!(
        page,
        "\n```sql\nSELECT {name}, count(*) AS number{sql} FROM '{file}' GROUP BY {name} ORDER BY number DESC;\n```"
    )?;
    writeln!(
        page,
        "\n```python\npl.scan_parquet(\"{file}\").group_by(\"{name}\").agg(pl.len().alias(\"number\"){python}).sort(\"number\", descending=True).collect()\n```"
    )
}

/// The column of names that people would group by: the most telling one that the table has.
fn group(columns: &[Column]) -> Option<&'static str> {
    let telling = ["callback", "path", "node", "topic"];
    let texts = || columns.iter().filter(|it| it.kind == ColumnKind::Text);
    let exact = telling
        .iter()
        .find_map(|name| texts().find(|it| it.name == *name));
    let of_node = || texts().find(|column| column.name.ends_with("_node"));
    let found = exact.or_else(of_node).or_else(|| texts().next());
    found.map(|column| column.name)
}

/// A duration that was measured, and not set.
fn measured(columns: &[Column]) -> Option<&'static str> {
    let durations = columns.iter().filter(|it| it.kind == ColumnKind::Duration);
    let mut measured = durations.filter(|it| !it.name.starts_with("period"));
    measured.next().map(|column| column.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_in_a_meaning_does_not_end_its_cell() {
        assert_eq!(cell("a|b"), "a\\|b");
    }

    #[test]
    fn the_most_telling_name_is_asked_for() {
        let columns = [
            Column::text("host", ""),
            Column::text("sub_node", ""),
            Column::text("topic", ""),
            Column::duration("period_ns", ""),
            Column::duration("latency_ns", ""),
        ];
        assert_eq!(group(&columns), Some("topic"));
        assert_eq!(group(&columns[..2]), Some("sub_node"));
        assert_eq!(group(&columns[3..]), None);
        assert_eq!(measured(&columns), Some("latency_ns"));
    }
}
