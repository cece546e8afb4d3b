//! What `report` is asked for.

use std::path::{Path, PathBuf};

use clap::Args;
use glob::Pattern;

use crate::args::{ModelFilterArguments, TraceArguments};
use crate::name;

pub(crate) const HELP: &str = "\
Examples:
  rostrace report session/ --open
  rostrace report session/ -o drive.html --skip-start 10s --title 'Test drive 7'
  rostrace report session/ --architecture architecture.yaml --node '/perception/*'

The file is self-contained, needs no network, and opens in any current browser. It shows first what the trace has lost, then the \
worst findings; docs/guides/report.md explains how to read it. Without options it shows everything.

Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m. --node, --topic and --pid keep the paths that \
pass through them.

Exit status 3: written, but the trace has lost data.";

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    /// Where to write; an existing file is replaced
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// Open the report in your browser
    #[arg(long)]
    pub(crate) open: bool,
    /// The title of the page, instead of the name of the trace
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// An architecture file; its named paths are shown beside the observed ones
    #[arg(long, value_name = "FILE")]
    pub(crate) architecture: Option<PathBuf>,
    /// Only paths with this name, or observed paths with this title (/a → /topic → /b); may contain *, ? and […]; can be repeated
    #[arg(long = "path", visible_alias = "paths", value_name = "GLOB", value_parser = name::pattern)]
    pub(crate) paths: Vec<Pattern>,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
}

impl ReportArguments {
    /// Everything of one folder.
    pub(crate) fn of_recording(folder: &Path, output: PathBuf) -> ReportArguments {
        ReportArguments {
            input: TraceArguments {
                traces: vec![folder.to_owned()],
            },
            output,
            open: false,
            title: None,
            filter: ModelFilterArguments::default(),
            architecture: None,
            paths: Vec::new(),
        }
    }
}
