//! The columns of a file that is to be written, and a way to get its rows: what tables of the analysis and CARET's tables have in
//! common, so that formats need to know neither.

use std::io;

use rostrace_analyze::declared::records::Records;
use rostrace_analyze::table::{Cell, Column, ColumnKind, Role, Sink, Table};

/// Hands all rows over, one by one. Can be called again, and hands over the same rows then.
pub(crate) type Rows<'r> = dyn Fn(Sink<'_>) -> io::Result<()> + Sync + 'r;

#[derive(Debug, Clone)]
pub(crate) struct Schema {
    /// What one row is; may be empty.
    pub(crate) about: String,
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
    /// What of a selection rows are chosen by.
    pub(crate) role: Role,
    /// Whether a row may have nothing here.
    pub(crate) optional: bool,
    /// May be empty.
    pub(crate) about: String,
}

impl Schema {
    pub(crate) fn of_table(table: &Table) -> Schema {
        let field = |column: &Column| Field {
            name: column.name.to_owned(),
            kind: column.kind,
            role: column.role,
            optional: column.optional,
            about: column.about.to_owned(),
        };
        Schema {
            about: table.about.to_owned(),
            fields: table.columns.iter().map(field).collect(),
        }
    }

    /// CARET's tables have integers, as its data frames do.
    pub(crate) fn of_records(records: &Records) -> Schema {
        let field = |name: &String| Field {
            name: name.clone(),
            kind: ColumnKind::Integer,
            role: Role::Nothing,
            optional: true,
            about: String::new(),
        };
        Schema {
            about: String::new(),
            fields: records.columns.iter().map(field).collect(),
        }
    }

    /// Whether a row has one cell for each column, and each can hold it.
    pub(crate) fn fits(&self, row: &[Cell<'_>]) -> bool {
        let mut cells = row.iter().zip(&self.fields);
        row.len() == self.fields.len()
            && cells.all(|(cell, field)| cell.fits(field.kind, field.optional))
    }
}
