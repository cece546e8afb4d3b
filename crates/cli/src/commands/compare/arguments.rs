//! What `compare` is asked for.

use std::path::PathBuf;

use clap::Args;

use crate::args::{LookFormat, ModelFilterArguments};
use crate::columns::ListArguments;
use crate::share_argument::ShareArgument;
use crate::time_argument::DurationArgument;

pub(crate) const HELP: &str = "\
Examples:
  rostrace compare before/ after/
  rostrace compare before/ after/ --node '/planning/*' --skip-start 2s -o compare.html
  rostrace compare --base run1/ run2/ run3/ --new run4/ run5/ run6/ --fail-on-regression
  rostrace compare before/ after/ --sort -ratio --limit 10 --columns what,metric,base,new,ratio,verdict

Callbacks, topics, communications and paths are matched by name. A difference in a median, a percentile, a rate or a share is \
reported if its whole confidence interval lies beyond --threshold and --floor. The intervals cover the noise within a recording; only \
groups of recordings show how much two runs of the same system differ. docs/guides/compare.md says more.

By default the table has what got worse and what got better, at most 20 of each (--limit). With --sort or --columns there is \
one line for each statistic that was compared, whatever its verdict; JSON is then a list of such lines, and CSV always is.

Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m; they apply to both sides.

Exit status: 0 compared, even if something got worse; 3 compared, but a trace has lost data; 4 something got worse, with \
--fail-on-regression.";

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The recording to compare with, and the new one
    #[arg(value_names = ["BASE", "NEW"], num_args = 2)]
    #[arg(required_unless_present_all = ["base", "new"], conflicts_with_all = ["base", "new"])]
    pub(crate) traces: Vec<PathBuf>,
    /// A group of recordings of the same system to compare with
    #[arg(long, value_name = "TRACE", num_args = 1.., requires = "new")]
    pub(crate) base: Vec<PathBuf>,
    /// A group of new recordings
    #[arg(long, value_name = "TRACE", num_args = 1.., requires = "base")]
    pub(crate) new: Vec<PathBuf>,
    /// Ignore differences up to this share of the base value
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) threshold: ShareArgument,
    /// Ignore differences up to this time
    #[arg(long, value_name = "D", default_value = "50us")]
    pub(crate) floor: DurationArgument,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = LookFormat::Table)]
    pub(crate) format: LookFormat,
    /// Write the comparison as one HTML file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// End with exit status 4 if anything got worse
    #[arg(long)]
    pub(crate) fail_on_regression: bool,
    /// Also compare what ROS 2 and recorders create for themselves: parameter services, /rosout, …
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) list: ListArguments,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
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
