//! Recordings of real programs with what those programs logged, and tables of them. `recordings` finds them.

use std::collections::BTreeMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::table::{Cell, TABLES, Table};
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;

pub use crate::recordings::{find, load as model};

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
pub struct TableRow(BTreeMap<&'static str, Value>);

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Nothing,
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
}

impl TableRow {
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
pub fn rows(analysis: &Analysis<'_>, name: &str) -> Vec<TableRow> {
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
        rows.push(TableRow(row));
        Ok(())
    })
    .unwrap();
    rows
}
