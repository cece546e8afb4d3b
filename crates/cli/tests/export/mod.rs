//! `rostrace export`: the rows of tables (`content`), their formats, the questions of the documents (`recipes`), and what is left behind when something goes wrong (`folder`).

mod content;
mod folder;
mod formats;
mod recipes;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{Folder, recording, stdout_of};

const TABLES: [&str; 3] = ["callback_instances", "publications", "deliveries"];

/// The rows of a table below its header.
fn rows(folder: &Path, table: &str) -> Vec<Vec<String>> {
    let mut csv = csv::Reader::from_path(folder.join(table)).unwrap();
    let rows = csv.records().map(Result::unwrap);
    rows.map(|row| row.iter().map(str::to_owned).collect())
        .collect()
}

/// The names of a table's columns.
fn header(folder: &Path, table: &str) -> Vec<String> {
    let mut csv = csv::Reader::from_path(folder.join(table)).unwrap();
    csv.headers().unwrap().iter().map(str::to_owned).collect()
}

/// Exports into a new folder; `more` are further options.
fn exported(recorded: &str, more: &str, status: i32) -> Folder {
    let folder = Folder::new();
    let trace = recording(recorded);
    stdout_of(
        &format!("export {trace} -o {} {more}", folder.here()),
        status,
    );
    folder
}

/// What is in a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|it| {
            let name = it.file_name().into_string().unwrap();
            (name, fs::read(it.path()).unwrap())
        })
        .collect()
}
