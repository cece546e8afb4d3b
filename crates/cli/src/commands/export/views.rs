//! `views.sql`: the exported tables under their names, for DuckDB, with a column in milliseconds beside each duration.

use std::fmt::Write;

use rostrace_analyze::table::{ColumnKind, TABLES, Table};

use super::ExportFormat;

pub(super) const NAME: &str = "views.sql";

/// Joins that people ask for again and again.
const JOINS: &str = "\
-- Every message that arrived, with the execution that it led to.
CREATE OR REPLACE VIEW messages AS
SELECT d.topic, d.pub_node, d.sub_node, d.publish_ns, d.latency_ns, d.latency_ns / 1e6 AS latency_ms,
       i.name AS callback_name, i.start_ns, i.duration_ns, i.duration_ns / 1e6 AS duration_ms,
       d.publication, d.publisher, d.subscription, d.instance
FROM deliveries d JOIN callback_instances i USING (instance) WHERE d.status = 'delivered';

-- Every execution, with what it published.
CREATE OR REPLACE VIEW outputs AS
SELECT i.name AS callback_name, i.start_ns, i.duration_ns / 1e6 AS duration_ms, p.topic, p.publish_ns, p.publication, i.instance
FROM publications p JOIN callback_instances i USING (instance);

-- Every message that came through a path, with the path's name.
CREATE OR REPLACE VIEW path_latencies AS
SELECT p.title, f.begin_ns, f.end_ns, f.latency_ns, f.latency_ns / 1e6 AS latency_ms, f.path, f.flow
FROM flows f JOIN paths p USING (path);
";

/// What a text cannot tell.
fn types(table: &Table) -> String {
    let columns = table.columns.iter().map(|column| {
        let kind = match column.kind {
            ColumnKind::Text | ColumnKind::Names => "VARCHAR",
            ColumnKind::Integer | ColumnKind::Time | ColumnKind::Duration => "BIGINT",
            ColumnKind::Number => "DOUBLE",
            ColumnKind::Flag => "BOOLEAN",
        };
        format!("'{}': '{kind}'", column.name)
    });
    columns.collect::<Vec<_>>().join(", ")
}

/// Nothing for a format that DuckDB does not read.
pub(super) fn text(format: ExportFormat) -> Option<String> {
    // Arrow's files it does not read, and an empty table in JSON has no columns.
    if matches!(format, ExportFormat::Json | ExportFormat::Arrow) {
        return None;
    }
    let mut text = String::from(
        "-- Views of the tables in this folder. In this folder: duckdb -init views.sql\n\
         -- Percentiles of rostrace are values that occurred: quantile_disc(duration_ns, 0.99) gives the same.\n",
    );
    for table in TABLES {
        let durations = table
            .columns
            .iter()
            .filter(|column| column.kind == ColumnKind::Duration);
        let mut columns = String::from("*");
        for name in durations.map(|column| column.name) {
            let short = name.strip_suffix("_ns").unwrap_or(name);
            let _ = write!(columns, ", {name} / 1e6 AS {short}_ms");
        }
        let name = table.name;
        let file = match format {
            ExportFormat::Parquet => format!("read_parquet('{name}.parquet')"),
            _ => format!(
                "read_csv('{name}.csv', header = true, columns = {{{}}})",
                types(table)
            ),
        };
        let _ = write!(
            text,
            "\nCREATE OR REPLACE VIEW {name} AS SELECT {columns} FROM {file};\n"
        );
    }
    let _ = write!(text, "\n{JOINS}");
    Some(text)
}
