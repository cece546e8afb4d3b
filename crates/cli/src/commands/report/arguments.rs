//! What `report` is asked for.

use std::path::{Path, PathBuf};

use clap::Args;
use glob::Pattern;

use crate::args::{ModelFilterArguments, TraceArguments};

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
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    /// An architecture file; the paths that it names are shown beside the observed ones
    #[arg(long, value_name = "FILE")]
    pub(crate) architecture: Option<PathBuf>,
    /// Only paths of this name, or observed ones with this title (/a → /topic → /b); may contain *, ? and […]; can be repeated
    #[arg(long = "path", visible_alias = "paths", value_name = "GLOB")]
    pub(crate) paths: Vec<Pattern>,
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
            filter: ModelFilterArguments::default(),
            architecture: None,
            paths: Vec::new(),
        }
    }
}
