//! Parquet: small files for big questions, read by DuckDB, Polars, pandas and Spark.

use std::error::Error;
use std::fs::File;
use std::io;

use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::batch::{Texts, batches};
use crate::commands::export::schema::{Rows, Schema};

/// A group is in memory until it is complete; larger ones would not make smaller files.
const ROWS_PER_GROUP: usize = 64 << 10;

pub(super) fn write(schema: &Schema, rows: &Rows<'_>, file: &File) -> io::Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_created_by(concat!("rostrace ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let writer = batches(
        schema,
        rows,
        Texts::Plain,
        |schema| ArrowWriter::try_new(file, schema, Some(properties)).map_err(plain),
        |writer, batch| writer.write(batch).map_err(plain),
    )?;
    writer.close().map_err(plain)?;
    Ok(())
}

/// The cause, if it was in reading or writing.
fn plain(error: ParquetError) -> io::Error {
    let cause = error.source().and_then(|it| it.downcast_ref::<io::Error>());
    match cause.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::other(error),
    }
}
