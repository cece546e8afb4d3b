//! What `timeline` is asked for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{ModelFilterArguments, TraceArguments};

pub(crate) const HELP: &str = "\
Examples:
  rostrace timeline session/ -o session.perfetto-trace         # then open it in https://ui.perfetto.dev
  rostrace timeline session/ -o session.json --from +10s --to +12s
  rostrace timeline session/ --node '/planning/*' -o planning.pftrace

On the track of each thread are the executions of callbacks, with what they published inside; arrows lead from each message to the
callback that received it. Other tracks have the phases of executors, when timers were due, states of lifecycle nodes, calls of services,
dropped messages with their cause, what the application says through rostrace.h, memory, and what was lost from the trace. CPUs are shown
where the trace has the kernel's scheduling events, whatever is selected.

Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m. A range of time keeps what begins in it. --node,
--topic and --pid keep callbacks and publishers that fit all of them.

Exit status 3: written, but the trace has lost data; what was lost is told on standard error.";

#[derive(Debug, Args)]
pub(crate) struct TimelineArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    /// The file to write; it appears when it is complete
    #[arg(short, long, value_name = "FILE", required = true)]
    pub(crate) output: Option<PathBuf>,
    /// How to write it; by default what the file's ending says, else perfetto
    #[arg(long, value_enum)]
    pub(crate) format: Option<TimelineFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimelineFormat {
    /// For ui.perfetto.dev and Perfetto's trace_processor: .perfetto-trace, .pftrace
    Perfetto,
    /// JSON for chrome://tracing and everything that reads the same: .json
    Chrome,
}
