//! Recordings of real programs, what those programs logged, and tables of them. Those in `testdata` are part of the repository.
//!
//! The others lie in a folder `shared/traces` beside the repository or further up; `ROSTRACE_SHARED` names another place. Where
//! they are absent the tests that need them say so and pass.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rostrace_analyze::Analysis;
use rostrace_analyze::table::{Cell, TABLES, Table};
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;

/// A recording with the lines of its logs.
pub struct Recording {
    pub model: Model,
    /// The lines of each process, in words: a time, a kind, and fields.
    pub truth: BTreeMap<i64, Vec<Vec<String>>>,
    /// What has to be added to the times of the logs.
    pub mono_to_real: i64,
}

/// A folder below `shared/traces`, such as `jazzy/chain`, if there is one, or one of the repository, such as `testdata/lossy`.
pub fn load(name: &str) -> Option<Recording> {
    let folder = find(name)?;
    let mut recording = Recording {
        model: model(name)?,
        truth: BTreeMap::new(),
        mono_to_real: 0,
    };
    // Recordings of others have no logs.
    let logs = std::fs::read_dir(folder.join("ground_truth"));
    for entry in logs.into_iter().flatten() {
        recording.read(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    Some(recording)
}

/// The same without its logs.
pub fn model(name: &str) -> Option<Model> {
    let set = TraceSet::open(&[&find(name)?]).unwrap();
    Some(Model::load(&set, &mut |_| true))
}

/// A file or folder below `shared/traces`, or one of the repository.
pub fn find(name: &str) -> Option<PathBuf> {
    if name.starts_with("testdata/") {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        return Some(repository.join(name));
    }
    let from_environment = std::env::var_os("ROSTRACE_SHARED").map(PathBuf::from);
    let shared = from_environment.or_else(|| {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let mut beside = above.map(|folder| folder.join("shared"));
        beside.find(|folder| folder.join("traces").is_dir())
    });
    let found = shared
        .map(|shared| shared.join("traces").join(name))
        .filter(|path| path.exists());
    if found.is_none() {
        eprintln!(
            "NOT TESTED: there is no shared/traces/{name}; set ROSTRACE_SHARED to its folder"
        );
    }
    found
}

impl Recording {
    fn read(&mut self, log: &str) {
        let mut pid = 0;
        let mut lines = Vec::new();
        for line in log.lines() {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["#", "process", _, "pid", number, ..] => pid = number.parse().unwrap(),
                ["#", "mono_to_real_ns", number] => self.mono_to_real = number.parse().unwrap(),
                ["#", ..] => {}
                _ => lines.push(words),
            }
        }
        self.truth.insert(pid, lines);
    }

    /// All lines of a kind, with their processes.
    pub fn lines<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (i64, &'a [String])> {
        self.truth.iter().flat_map(move |(pid, lines)| {
            let lines = lines.iter().filter(move |words| words[1] == kind);
            lines.map(move |words| (*pid, words.as_slice()))
        })
    }

    pub fn analysis(&self) -> Analysis<'_> {
        everything(&self.model)
    }
}

pub fn everything(model: &Model) -> Analysis<'_> {
    Analysis::new(model, Nanos(i64::MIN)..=Nanos(i64::MAX))
}

/// A row, by the names of its columns.
#[derive(Debug, Clone)]
pub struct Row(BTreeMap<&'static str, Value>);

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Nothing,
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
}

impl Row {
    /// Empty where the row has none.
    pub fn text(&self, column: &str) -> &str {
        match &self.0[column] {
            Value::Text(text) => text,
            Value::Nothing => "",
            other => panic!("{column} is no text: {other:?}"),
        }
    }

    pub fn integer(&self, column: &str) -> i64 {
        match self.0[column] {
            Value::Integer(integer) => integer,
            ref other => panic!("{column} is no integer: {other:?}"),
        }
    }

    /// An integer or a number; nothing where the row has none.
    pub fn number(&self, column: &str) -> Option<f64> {
        match self.0[column] {
            Value::Nothing => None,
            Value::Integer(integer) => Some(integer as f64),
            Value::Number(number) => Some(number),
            ref other => panic!("{column} is no number: {other:?}"),
        }
    }

    pub fn flag(&self, column: &str) -> bool {
        self.0[column] == Value::Flag(true)
    }

    pub fn has(&self, column: &str) -> bool {
        self.0[column] != Value::Nothing
    }
}

/// All rows of a table. Every cell has to fit its column.
pub fn rows(analysis: &Analysis<'_>, name: &str) -> Vec<Row> {
    let table: &Table = TABLES.iter().find(|table| table.name == name).unwrap();
    let mut rows = Vec::new();
    (table.rows)(analysis, &mut |cells| {
        assert_eq!(cells.len(), table.columns.len(), "{name}");
        let mut row = BTreeMap::new();
        for (cell, column) in cells.iter().zip(table.columns) {
            assert!(
                cell.fits(column.kind, column.optional),
                "{cell:?} in {name}.{}",
                column.name
            );
            let value = match *cell {
                Cell::Nothing => Value::Nothing,
                Cell::Text(text) => Value::Text(text.to_owned()),
                Cell::Integer(integer) => Value::Integer(integer),
                Cell::Number(number) => Value::Number(number),
                Cell::Flag(flag) => Value::Flag(flag),
            };
            row.insert(column.name, value);
        }
        rows.push(Row(row));
        Ok(())
    })
    .unwrap();
    rows
}
