//! What `check` is asked for.

use std::path::PathBuf;

use clap::Args;

use crate::args::{LookFormat, ModelFilterArguments};
use crate::columns::ListArguments;
use crate::share_argument::ShareArgument;

pub(crate) const HELP: &str = "\
Examples:
  rostrace check --init good*/ -o budgets.yaml                 # from good runs; then edit it
  rostrace check budgets.yaml session/
  rostrace check budgets.yaml session/ --skip-start 2s --junit check.xml
  rostrace check budgets.yaml session/ --all --sort -measured --limit 10 --columns what,measured,budget

docs/guides/check.md shows how to write budgets, docs/reference/budgets.md lists all keys. A budget that matches nothing is broken, \
unless it is optional.

Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m.

Exit status: 0 all budgets are kept; 3 all are kept, but the trace has lost data; 4 a budget is broken.";

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The budget file, then folders that are or contain traces, read as one trace; with --init only traces, each of which is one run
    #[arg(value_names = ["BUDGETS.yaml", "TRACE"], required = true, num_args = 1..)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write a budget file from good runs instead; use about five, so that the variation between runs is known
    #[arg(long, conflicts_with_all = ["junit", "github", "format", "architecture", "sort", "limit", "columns"])]
    pub(crate) init: bool,
    /// With --init: the file to write [default: standard output]
    #[arg(long, short, value_name = "FILE", requires = "init")]
    pub(crate) output: Option<PathBuf>,
    /// With --init: the smallest margin by which a recording may be worse than the good runs
    #[arg(long, value_name = "SHARE", default_value = "20%", requires = "init")]
    pub(crate) margin: ShareArgument,
    /// The architecture file that names paths
    #[arg(long, value_name = "FILE")]
    pub(crate) architecture: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = LookFormat::Table)]
    pub(crate) format: LookFormat,
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print GitHub Actions annotations for broken budgets; on by default if GITHUB_ACTIONS is true
    #[arg(long)]
    pub(crate) github: bool,
    /// Also list budgets that are kept
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) list: ListArguments,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
}
