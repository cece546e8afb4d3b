//! The formats of exported files: one file each, one function each. All get the same columns and rows, and write the same values.

mod arrow;
mod batch;
mod csv;
mod json;
mod parquet;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;

use super::schema::{Rows, Schema};
use crate::commands::export::ExportFormat;

/// What CSV and JSON collect before they write.
const BUFFER: usize = 256 << 10;

impl ExportFormat {
    /// How names of files end.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            ExportFormat::Csv => "csv",
            ExportFormat::Json => "json",
            ExportFormat::Parquet => "parquet",
            ExportFormat::Arrow => "arrow",
        }
    }

    /// Writes a whole file.
    pub(crate) fn write(self, schema: &Schema, rows: &Rows<'_>, file: &File) -> io::Result<()> {
        let checked: &Rows<'_> = &|take| {
            rows(&mut |row| {
                debug_assert!(schema.fits(row), "{row:?} is no row of {schema:?}");
                take(row)
            })
        };
        match self {
            ExportFormat::Csv => csv::write(schema, checked, file),
            ExportFormat::Json => json::write(schema, checked, file),
            ExportFormat::Parquet => parquet::write(schema, checked, file),
            ExportFormat::Arrow => arrow::write(schema, checked, file),
        }
    }
}
