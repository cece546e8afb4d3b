//! What `compare` is asked for.

use std::path::PathBuf;

use clap::Args;

use crate::args::{LookFormat, ModelFilterArguments};
use crate::share_argument::ShareArgument;
use crate::time_argument::DurationArgument;

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The recording to compare with, and the one that is asked about
    #[arg(value_names = ["BASE", "NEW"], num_args = 2)]
    #[arg(required_unless_present_all = ["base", "new"], conflicts_with_all = ["base", "new"])]
    pub(crate) traces: Vec<PathBuf>,
    /// Recordings of the same system to compare with, as a group
    #[arg(long, value_name = "TRACE", num_args = 1.., requires = "new")]
    pub(crate) base: Vec<PathBuf>,
    /// Recordings that are asked about, as a group
    #[arg(long, value_name = "TRACE", num_args = 1.., requires = "base")]
    pub(crate) new: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    /// Differences up to this share of the base value do not matter
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) threshold: ShareArgument,
    /// Differences up to this time do not matter
    #[arg(long, value_name = "D", default_value = "50us")]
    pub(crate) floor: DurationArgument,
    #[arg(long, value_enum, default_value_t = LookFormat::Table)]
    pub(crate) format: LookFormat,
    /// Write the comparison as one HTML file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// End with exit status 4 if anything got worse
    #[arg(long)]
    pub(crate) fail_on_regression: bool,
    /// Show at most so many things of each kind in the table
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Compare also what ROS 2 and recorders make for themselves: parameter services, /rosout, …
    #[arg(long)]
    pub(crate) all: bool,
}

impl CompareArguments {
    /// The recordings of both sides.
    pub(crate) fn sides(&self) -> [&[PathBuf]; 2] {
        match self.traces.as_slice() {
            [base, new] => [std::slice::from_ref(base), std::slice::from_ref(new)],
            _ => [&self.base, &self.new],
        }
    }
}
