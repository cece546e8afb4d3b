//! What `export` is asked for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{ModelFilterArguments, TraceArguments};

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    /// An architecture file: its message contexts say how nodes make outputs from inputs, and its paths are exported too; with
    /// --caret-columns also its callbacks and communications
    #[arg(long, value_name = "FILE")]
    pub(crate) architecture: Option<PathBuf>,
    /// Name columns and files as CARET does, one file per object of the architecture file
    #[arg(long, requires = "architecture")]
    #[arg(conflicts_with_all = ["tables", "sim_time"])]
    pub(crate) caret_columns: bool,
    /// The tables to write, separated by commas [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) tables: Vec<String>,
    /// Add a column with simulated time for each time, `*_sim_ns`, after the other columns
    #[arg(long)]
    pub(crate) sim_time: bool,
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub(crate) format: ExportFormat,
    /// The folder to write to; created if it does not exist
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// With a header; flags are 0 and 1, unknown values are empty
    Csv,
    /// An array of objects, one per line
    Json,
    /// Compressed columns, for DuckDB, Polars, pandas and Spark
    Parquet,
    /// Arrow's IPC file format, also known as Feather
    Arrow,
}
