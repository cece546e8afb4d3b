//! What `why` is asked for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use glob::Pattern;

use crate::args::{ModelFilterArguments, TraceArguments};
use crate::name;
use crate::time_argument::TimeArgument;

#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    /// Explain an execution of this callback: its name as `rostrace callbacks` prints it, or its node; may contain *, ? and […]
    #[arg(long, value_name = "GLOB", value_parser = name::pattern)]
    pub(crate) callback: Option<Pattern>,
    /// Explain a path that begins in this node or with this topic; may contain *, ? and […]; can be repeated
    #[arg(long, value_name = "NODE|TOPIC", value_parser = name::pattern)]
    pub(crate) from: Vec<Pattern>,
    /// Explain a path that ends in this node or with this topic; same syntax
    #[arg(long, value_name = "NODE|TOPIC", value_parser = name::pattern)]
    pub(crate) to: Vec<Pattern>,
    /// Explain a path that this architecture file names
    #[arg(long, value_name = "FILE", conflicts_with = "callback")]
    pub(crate) architecture: Option<PathBuf>,
    /// Explain the path with this name; may contain *, ? and […]; can be repeated
    #[arg(long = "path", value_name = "GLOB", value_parser = name::pattern, requires = "architecture")]
    pub(crate) paths: Vec<Pattern>,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    /// Add up the explanations of all executions, or of all messages of --topic or of a path, and say which changes would gain most
    #[arg(long, conflicts_with_all = ["at", "rank", "parts"])]
    pub(crate) all: bool,
    /// With --all: list at most this many causes
    #[arg(long, value_name = "N", requires = "all")]
    pub(crate) limit: Option<usize>,
    /// Instead of the worst, explain the one in progress at this time, or else the next one; also a message that did not arrive
    #[arg(
        long,
        value_name = "T",
        allow_hyphen_values = true,
        conflicts_with = "rank"
    )]
    pub(crate) at: Option<TimeArgument>,
    /// Explain the second worst, the third, …
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rank: u64,
    /// Also list every single part in time order
    #[arg(long)]
    pub(crate) parts: bool,
    /// Where programs are, or what was stripped from them, for the names of functions in recordings with `--sample`; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) symbols: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = WhyFormat::Table)]
    pub(crate) format: WhyFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhyFormat {
    /// For people
    Table,
    /// One object; times in nanoseconds
    Json,
    /// With --all: one line for each cause; times in nanoseconds
    Csv,
}
