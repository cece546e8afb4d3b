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

Without -o, a page is served on 127.0.0.1, only to the first browser that opens the printed address. Enter prints an address for \
another browser; Ctrl-C ends it. The page has a lane for each thread or each callback, with messages as arrows. Click an execution to \
see its flow and why it took so long.

In a file, the track of each thread has its callback executions, with what they published inside; arrows lead from each message to \
the callback that received it. Other tracks have the phases of executors, when timers were due, states of lifecycle nodes, service \
calls, dropped messages with their cause, what the application emits through rostrace.h, memory, and what the trace has lost. \
CPUs are shown if the trace has the kernel's scheduling events, whatever is selected.

Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m. A time range keeps what begins in it. --node, \
--topic and --pid keep callbacks and publishers that match all of them.

Exit status 3: shown or written, but the trace has lost data; standard error says what.";

#[derive(Debug, Args)]
pub(crate) struct TimelineArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    /// Serve the page to your browser until Ctrl-C; this is the default without -o
    #[arg(long, conflicts_with = "output")]
    pub(crate) open: bool,
    /// Open the page at this time, with what ran then selected
    #[arg(
        long,
        value_name = "T",
        allow_hyphen_values = true,
        conflicts_with = "output"
    )]
    pub(crate) at: Option<TimeArgument>,
    /// Print the address of the page without starting a browser
    #[arg(long, conflicts_with = "output")]
    pub(crate) no_browser: bool,
    /// The port on 127.0.0.1 to serve the page on, for port forwarding [default: any free port]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true,
        conflicts_with = "output"
    )]
    pub(crate) port: u16,
    /// The file to write; it appears when complete, and is gzipped if its name ends in .gz
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The file's format [default: by the ending of its name, else perfetto]
    #[arg(long, value_enum, requires = "output")]
    pub(crate) format: Option<TimelineFormat>,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimelineFormat {
    /// For ui.perfetto.dev and Perfetto's trace_processor: .perfetto-trace, .pftrace
    Perfetto,
    /// JSON for chrome://tracing and compatible tools: .json
    Chrome,
    /// For profiler.firefox.com: .firefox.json, .profile.json, profile.json
    Firefox,
}
