//! What `report` is asked for.

use std::path::{Path, PathBuf};

use clap::Args;
use glob::Pattern;

use crate::args::TraceArguments;
use crate::time_argument::{DurationArgument, TimeArgument};

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    /// Where to write; an existing file is replaced
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// What stands at the top, instead of the name of the trace
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Show only these nodes (* and ? as in file names; may be repeated)
    #[arg(
        long = "node",
        visible_alias = "nodes",
        value_name = "PATTERN",
        value_delimiter = ','
    )]
    pub(crate) nodes: Vec<Pattern>,
    /// Show only these topics
    #[arg(
        long = "topic",
        visible_alias = "topics",
        value_name = "PATTERN",
        value_delimiter = ','
    )]
    pub(crate) topics: Vec<Pattern>,
    /// Show only these processes
    #[arg(long = "pid", value_name = "PID")]
    pub(crate) pids: Vec<i64>,
    /// An architecture file; the paths that it names are shown beside the observed ones
    #[arg(long, value_name = "FILE")]
    pub(crate) architecture: Option<PathBuf>,
    /// Show only these paths of the architecture file, or observed paths with this in their name
    #[arg(
        long = "path",
        visible_alias = "paths",
        value_name = "PATTERN",
        value_delimiter = ','
    )]
    pub(crate) paths: Vec<Pattern>,
    /// Leave out what is before this time (see `rostrace dump --help` for how to write times)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) from: Option<TimeArgument>,
    /// Leave out what is after this time
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) to: Option<TimeArgument>,
    /// Leave out the first part of the trace, as 5s
    #[arg(long, value_name = "TIME")]
    pub(crate) skip_start: Option<DurationArgument>,
    /// Leave out the last part
    #[arg(long, value_name = "TIME")]
    pub(crate) skip_end: Option<DurationArgument>,
}

impl ReportArguments {
    /// Everything of one folder.
    pub(crate) fn of_recording(folder: &Path, output: PathBuf) -> ReportArguments {
        ReportArguments {
            input: TraceArguments {
                traces: vec![folder.to_owned()],
            },
            output,
            title: None,
            nodes: Vec::new(),
            topics: Vec::new(),
            pids: Vec::new(),
            architecture: None,
            paths: Vec::new(),
            from: None,
            to: None,
            skip_start: None,
            skip_end: None,
        }
    }
}
