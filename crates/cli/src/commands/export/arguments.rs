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
    /// An architecture file whose message contexts say how nodes make outputs from inputs, and whose paths are wanted; with
    /// --caret-columns also its callbacks and communications
    #[arg(long, value_name = "FILE")]
    pub(crate) architecture: Option<PathBuf>,
    /// Name columns and files as CARET does, one file per object of the architecture file
    #[arg(long, requires = "architecture")]
    #[arg(conflicts_with_all = ["tables", "sim_time"])]
    pub(crate) caret_columns: bool,
    /// The tables to write, separated by commas; all if not given
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) tables: Vec<String>,
    /// Add for each time its twin on the simulated clock, `*_sim_ns`, behind the other columns
    #[arg(long)]
    pub(crate) sim_time: bool,
    #[arg(long, value_enum, default_value_t = ExportFormat::Csv)]
    pub(crate) format: ExportFormat,
    /// The folder to write to; made if it does not exist
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// With a header; flags are 0 and 1, and what is not known is empty
    Csv,
    /// An array of objects, one per line
    Json,
    /// Compressed columns, for DuckDB, Polars, pandas and Spark
    Parquet,
    /// Columns as in memory: Arrow's IPC file format, also known as Feather
    Arrow,
}
