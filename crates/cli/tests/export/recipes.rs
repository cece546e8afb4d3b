//! The questions of the documents are asked: DuckDB and Polars answer them.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::support::{Folder, Says, recording, stdout_of};

/// Python with both, where `cargo xtask test` has put them; says so if they are not there.
fn python() -> Option<Command> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/table-programs");
    if !folder.join("duckdb").is_dir() {
        let sentence = "NOT TESTED: DuckDB and Polars are not in target/table-programs, where `cargo xtask test` puts them.";
        // Not `eprintln`: the test harness would keep that to itself.
        let _ = writeln!(std::io::stderr(), "{sentence}");
        return None;
    }
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", folder);
    Some(command)
}

#[test]
fn the_questions_of_the_documents_are_answered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = root.join("../../docs").canonicalize().unwrap();
    let folder = Folder::new();
    let (trace, tables) = (recording("pingpong"), folder.at("tables"));
    for format in ["csv", "parquet"] {
        stdout_of(&format!("export {trace} --format {format} -o {tables}"), 0);
        let Some(mut python) = python() else { return };
        let output = python
            .arg(root.join("tests/export/ask.py"))
            .arg(folder.path());
        let output = match format {
            // Of CSV only the views are asked for: the documents read Parquet.
            "csv" => output,
            _ => output
                .arg(docs.join("reference/tables.md"))
                .arg(docs.join("guides/export.md")),
        };
        let output = output.output().unwrap();
        let (said, reported) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "{format}: {said}{reported}");
        if format == "parquet" {
            assert!(!said.starts_with("0 sql"), "{said}");
        }
        said.lacks(" 0 percentiles");
        said.lacks(" 0 joined");
    }
}
