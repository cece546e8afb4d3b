//! All formats say the same.

use std::fs::{self, File};
use std::path::Path;

use crate::export::{TABLES, exported, files, header, rows};
use crate::support::{Folder, recording, stdout_of};
use rostrace_testkit::arrow_cells::cells;

fn arrow_rows(path: &Path) -> Vec<Vec<String>> {
    let reader = arrow_ipc::reader::FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    cells(&reader.map(Result::unwrap).collect::<Vec<_>>())
}

fn parquet_rows(path: &Path) -> Vec<Vec<String>> {
    let file = File::open(path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
    let reader = reader.unwrap().build().unwrap();
    cells(&reader.map(Result::unwrap).collect::<Vec<_>>())
}

fn json_rows(path: &Path, columns: &[String]) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let objects: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Bool(flag) => u8::from(*flag).to_string(),
        number => number.to_string(),
    };
    let row = |object: &serde_json::Value| columns.iter().map(|it| text(&object[it])).collect();
    objects.iter().map(row).collect()
}

#[test]
fn all_formats_have_the_same_values() {
    for (recorded, status) in [("pingpong", 0), ("lifecycle_caret", 0), ("lossy", 3)] {
        let tables = TABLES.join(",");
        let formats = ["csv", "json", "parquet", "arrow"];
        let [csv, json, parquet, arrow] = formats.map(|format| {
            exported(
                recorded,
                &format!("--tables {tables} --format {format}"),
                status,
            )
        });
        for table in TABLES {
            let name = format!("{table}.csv");
            let columns = header(csv.path(), &name);
            let expected = rows(csv.path(), &name);
            assert!(!expected.is_empty(), "{recorded} {table}");
            let file = |folder: &Folder, extension| folder.join(&format!("{table}.{extension}"));
            assert!(json_rows(&file(&json, "json"), &columns) == expected);
            assert!(parquet_rows(&file(&parquet, "parquet")) == expected);
            assert!(arrow_rows(&file(&arrow, "arrow")) == expected);
        }
    }
}

#[test]
fn carets_tables_are_written_in_every_format() {
    let architecture = Folder::new();
    let file = architecture.at("architecture.yaml");
    let create = [
        "architecture",
        "create",
        &recording("lifecycle_caret"),
        "-o",
        &file,
    ];
    stdout_of(&create, 0);
    let [csv, parquet] = ["csv", "parquet"].map(|format| {
        let options = format!("--architecture {file} --caret-columns --format {format}");
        exported("lifecycle_caret", &options, 0)
    });
    let names = |folder: &Folder| -> Vec<String> {
        let names = files(folder.path()).into_keys();
        let names = names.map(|name| name.rsplit_once('.').unwrap().0.to_owned());
        names.collect()
    };
    assert_eq!(names(&csv), names(&parquet));
    for name in names(&csv) {
        let found = parquet_rows(&parquet.join(&format!("{name}.parquet")));
        assert!(found == rows(csv.path(), &format!("{name}.csv")), "{name}");
    }
}
