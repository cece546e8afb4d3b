//! What `flame` is asked for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use glob::Pattern;

use crate::args::{ModelFilterArguments, TraceArguments};
use crate::name;

pub(crate) const HELP: &str = "\
Examples:
  rostrace record --sample -o drive/ -- ros2 launch my_robot bringup.launch.py
  rostrace flame drive/ --callback '/fusion*'
  rostrace flame drive/ --callback '/fusion*' --slow -o slow.svg
  rostrace flame drive/ --node /fusion --format speedscope -o fusion.json      # then: https://www.speedscope.app
  rostrace flame drive/ --symbols install/ --rank 1

For recordings made with `record --sample`. The tree shows which functions the callbacks computed in and who called them; each sample \
stands for about a millisecond of a CPU at the usual rate. Time in the kernel and off the CPU has no samples. The second table says what \
the slowest tenth of a callback's executions do more than those up to the median: milliseconds in each execution on average, in the \
function itself and in what it calls of the C and C++ library.

Names come from the files that were recorded, if they are still the same (build id), from what was stripped from them, in \
/usr/lib/debug, debuginfod's cache or below --symbols, and with debug information also from functions that the compiler inlined. A \
function without a name is shown as file and place: `libfilter.so+0x11c0`.

Exit status 1: the trace has no samples; 3: shown, but the trace has lost data.";

#[derive(Debug, Args)]
pub(crate) struct FlameArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    /// Only this callback: its name as `rostrace callbacks` prints it, or its node; may contain *, ? and […]
    #[arg(long, value_name = "GLOB", value_parser = name::pattern)]
    pub(crate) callback: Option<Pattern>,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    /// Only the slowest tenth of each callback's executions
    #[arg(long, conflicts_with_all = ["usual", "rank"])]
    pub(crate) slow: bool,
    /// Only the executions up to the median of each callback
    #[arg(long, conflicts_with = "rank")]
    pub(crate) usual: bool,
    /// Only the longest execution of all (1), the second longest, …
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rank: Option<u64>,
    /// Where programs are, or what was stripped from them; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) symbols: Vec<PathBuf>,
    /// How to show it [default: by the name of the file, else text]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FlameFormat>,
    /// A file to write into: .svg and .html show the flame graph in any browser
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlameFormat {
    /// For people
    Text,
    /// One object: callbacks, functions, differences; times in nanoseconds
    Json,
    /// For https://www.speedscope.app
    Speedscope,
    /// For `pprof`, compressed: write it into a file with -o
    Pprof,
    /// One line for each stack, as flame graph tools read it
    Folded,
    /// A picture
    Svg,
    /// The picture in a page
    Html,
}

impl FlameArguments {
    pub(super) fn chosen_format(&self) -> FlameFormat {
        let extension = self.output.as_ref().and_then(|file| file.extension());
        self.format
            .unwrap_or_else(|| match extension.and_then(|it| it.to_str()) {
                Some("svg") => FlameFormat::Svg,
                Some("html") => FlameFormat::Html,
                Some("json") => FlameFormat::Speedscope,
                Some("folded") => FlameFormat::Folded,
                Some("gz" | "pb") => FlameFormat::Pprof,
                _ => FlameFormat::Text,
            })
    }
}
