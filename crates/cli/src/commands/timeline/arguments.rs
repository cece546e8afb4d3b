//! What `timeline` is asked for.

use clap::Args;

use crate::args::{ModelFilterArguments, TraceArguments};
use crate::time_argument::TimeArgument;

#[derive(Debug, Args)]
pub(crate) struct TimelineArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    /// Show it in a page that this program serves to your browser alone, until Ctrl-C
    #[arg(long)]
    pub(crate) open: bool,
    /// With --open: begin at this time, with what ran then selected
    #[arg(long, value_name = "T", allow_hyphen_values = true, requires = "open")]
    pub(crate) at: Option<TimeArgument>,
    /// With --open: print the address and start no browser
    #[arg(long, requires = "open")]
    pub(crate) no_browser: bool,
}
