//! What `timeline` is asked for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{ModelFilterArguments, TraceArguments};
use crate::time_argument::TimeArgument;

pub(crate) const HELP: &str = "\
Examples:
  rostrace timeline session/                               # in your browser
  rostrace timeline session/ --at +12.5s --node '/planning/*'
  rostrace timeline session/ -o session.perfetto-trace     # for ui.perfetto.dev
  rostrace timeline session/ -o session.json --since +10s --until +12s
  rostrace timeline session/ -o session.firefox.json.gz    # for profiler.firefox.com

Without -o a page is served on 127.0.0.1 to the browser that uses the printed address first, and to nobody else; Enter prints an \
address for another one, Ctrl-C ends it. It has a lane for each thread or for each callback, messages as arrows, and for an execution that is clicked its flow and why it took so \
long.

A file has on the track of each thread the executions of callbacks, with what they published inside; arrows lead from each message to \
the callback that received it. Other tracks have the phases of executors, when timers were due, states of lifecycle nodes, calls of \
services, dropped messages with their cause, what the application says through rostrace.h, memory, and what was lost from the trace. \
CPUs are shown where the trace has the kernel's scheduling events, whatever is selected.

Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m. A range of time keeps what begins in it. --node, \
--topic and --pid keep callbacks and publishers that fit all of them.

Exit status 3: shown or written, but the trace has lost data; what was lost is told on standard error.";

#[derive(Debug, Args)]
pub(crate) struct TimelineArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    /// Show it in a page that this program serves to your browser alone, until Ctrl-C; so it is without -o
    #[arg(long, conflicts_with = "output")]
    pub(crate) open: bool,
    /// In the page: begin at this time, with what ran then selected
    #[arg(
        long,
        value_name = "T",
        allow_hyphen_values = true,
        conflicts_with = "output"
    )]
    pub(crate) at: Option<TimeArgument>,
    /// Print the address of the page and start no browser
    #[arg(long, conflicts_with = "output")]
    pub(crate) no_browser: bool,
    /// The port of 127.0.0.1 to serve the page on, for one that is forwarded; by default a free one
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true,
        conflicts_with = "output"
    )]
    pub(crate) port: u16,
    /// The file to write; it appears when it is complete, packed with gzip if it ends in .gz
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How to write it; by default what the file's ending says, else perfetto
    #[arg(long, value_enum, requires = "output")]
    pub(crate) format: Option<TimelineFormat>,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimelineFormat {
    /// For ui.perfetto.dev and Perfetto's trace_processor: .perfetto-trace, .pftrace
    Perfetto,
    /// JSON for chrome://tracing and everything that reads the same: .json
    Chrome,
    /// For profiler.firefox.com: .firefox.json, .profile.json, profile.json
    Firefox,
}
