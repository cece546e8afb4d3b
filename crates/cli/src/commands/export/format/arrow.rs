//! Arrow's IPC file format, also known as Feather: columns as they lie in memory. Texts are dictionaries, since names repeat.
//!
//! The dictionary of a column is the same for all batches: not every reader takes one that grows.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;

use super::batch::{Texts, batches};
use crate::commands::export::schema::{Rows, Schema};

pub(super) fn write(schema: &Schema, rows: &Rows<'_>, file: &File) -> io::Result<()> {
    let mut writer = batches(
        schema,
        rows,
        Texts::Dictionary,
        |schema| FileWriter::try_new(BufWriter::new(file), &schema).map_err(plain),
        |writer, batch| writer.write(batch).map_err(plain),
    )?;
    writer.finish().map_err(plain)?;
    writer.get_mut().flush()
}

/// The cause, if it was in reading or writing.
fn plain(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}
