//! The command line, declared once: parsing, help, man pages and completions all come from here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::columns::ListArguments;
use crate::commands::architecture::ArchitectureArguments;
use crate::commands::check::{self, CheckArguments};
use crate::commands::compare::{self, CompareArguments};
use crate::commands::demo::{ApplicationArguments, ProcessArguments};
use crate::commands::dump::DumpArguments;
use crate::commands::export::ExportArguments;
use crate::commands::flame::{self, FlameArguments};
use crate::commands::latency::{LatencyArguments, PathsArguments};
use crate::commands::record::arguments::{
    DemoArguments, DoctorArguments, RecordArguments, RunArguments, SnapshotArguments,
    StatusArguments, StopArguments,
};
use crate::commands::report::{self, ReportArguments};
use crate::commands::timeline::{self, TimelineArguments};
use crate::commands::why::WhyArguments;
use crate::entity_filter::EntityFilter;
use crate::help;
use crate::time_argument::TimeArgument;
use crate::window::TimeArguments;

/// See what your ROS 2 system does, when, and why it was late.
#[derive(Debug, Parser)]
#[command(name = "rostrace", version, help_template = help::TEMPLATE, after_help = help::verbs(), disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Record a small built-in application and show what it did; needs no ROS 2 and no root
    #[command(after_help = "\
Examples:
  rostrace demo
  rostrace demo --seconds 10 -o demo/

Five processes run for a few seconds and are recorded live: sensors, a filter that is sometimes slow, a fusion, a planner and an \
actuator. The trace is kept, with a report; the last lines say where.")]
    Demo(DemoArguments),
    /// The processes of the demo
    #[command(hide = true, after_help = "Example:\n  rostrace demo")]
    DemoApplication(ApplicationArguments),
    /// One process of the demo
    #[command(hide = true, after_help = "Example:\n  rostrace demo")]
    DemoProcess(ProcessArguments),
    /// Record a command and everything it starts, or processes that already run under the tracer
    #[command(after_help = "\
Examples:
  rostrace record -- ros2 launch my_robot bringup.launch.py
  rostrace record -o drive/ --duration 30s --light -- ros2 run demo_nodes_cpp talker
  rostrace record --ignore-node '/rviz*' --ignore-topic /tf -- ros2 launch my_robot bringup.launch.py
  rostrace record --flight 30s -- ros2 launch my_robot bringup.launch.py     # then: rostrace snapshot -o incident/
  rostrace record --attach --pid 4711 --duration 10s

No rebuild, no LTTng, no root: the dynamic linker loads the tracer into the processes. The recording ends with the command, \
after --duration, or with Ctrl-C. Ctrl-C goes to the command first; a second Ctrl-C kills it. Then rostrace reads the trace back \
and lists the callbacks. SIGUSR1 takes a snapshot. The command runs in its own process group and cannot read from the terminal.

If none of --select-* and --ignore-* is given, CARET_SELECT_NODES, CARET_IGNORE_NODES, CARET_SELECT_TOPICS and \
CARET_IGNORE_TOPICS apply, from the environment or from the --caret-filter file. CARET_IGNORE_PROCESSES always applies. In these \
filters * matches any text and ? any character. If anything is selected, only that is recorded; otherwise everything that is not \
ignored.

Exit status: 0 recorded, whatever the command's own exit code (which is printed); 1 nothing was recorded; 3 recorded, but events \
were lost.")]
    Record(RecordArguments),
    /// Run a command under the tracer without recording, so that `record --attach` can start at any time
    #[command(after_help = "\
Examples:
  rostrace run -- ros2 launch my_robot bringup.launch.py
  rostrace record --attach --duration 10s                # meanwhile, in another terminal

While nothing is recorded, the tracer has no thread, file or socket in the processes. It remembers their initialisation, so every \
recording knows all names. The exit status is that of the command.")]
    Run(RunArguments),
    /// List what runs under the tracer, and what is being recorded
    #[command(after_help = "\
Examples:
  rostrace status
  rostrace status --sort -lost --columns pid,process,events,lost
  rostrace status --format json | jq '.[].processes[].pid'")]
    Status(StatusArguments),
    /// Stop a recording; the processes keep running
    #[command(after_help = "Examples:\n  rostrace stop\n  rostrace stop --session 4711")]
    Stop(StopArguments),
    /// Copy what has been recorded so far; the recording continues
    #[command(after_help = "\
Examples:
  rostrace snapshot -o incident/
  rostrace snapshot --session 4711 -o incident/")]
    Snapshot(SnapshotArguments),
    /// Check what can be recorded on this machine, and show how to fix what cannot
    #[command(after_help = "\
Examples:
  rostrace doctor
  rostrace doctor --format json | jq '.checks[] | select(.verdict != \"ok\")'

Exit status: 0 if processes can be recorded, else 1.")]
    Doctor(DoctorArguments),
    /// Show what is missing from a trace, then what it contains
    #[command(after_help = "\
Examples:
  rostrace info ~/.ros/tracing/session-20260801
  rostrace info --format json robot/ workstation/ | jq '.processes[].name'")]
    Info(InfoArguments),
    /// Print events in time order
    #[command(after_help = "\
Examples:
  rostrace dump session/
  rostrace dump session/ --event 'ros2:callback_*' --since +1.5s --until +1.6s
  rostrace dump session/ --format json --vpid 4711 | jq .payload

A time (T) is one of
  +1.5s, +200ms, +3m           after the start of the trace
  -2s                          before its end
  14:03:07.25                  local time, on the day the trace begins
  2026-08-01T14:03:07+02:00    RFC 3339; without an offset, local time
  1794715879.5                 seconds since 1970; from 10^14 on, nanoseconds

Exit status 3: printed, but the trace has lost data; standard error says what.")]
    Dump(DumpArguments),
    /// List the nodes: where they run, what they contain, and how much they did
    #[command(after_help = look_help("\
Examples:
  rostrace nodes session/
  rostrace nodes session/ --topic '/sensing/*'
  rostrace nodes --format json session/ | jq '.[] | select(.lifecycle_state == \"active\").node'"))]
    Nodes(LookArguments),
    /// List the topics: who publishes, who subscribes, how often, and which messages did not arrive
    #[command(after_help = look_help("\
Examples:
  rostrace topics session/
  rostrace topics session/ --node /fusion --since +10s --until +12s
  rostrace topics session/ --sort -lost --limit 5
  rostrace topics --format json session/ | jq '.[] | select(.lost > 0).topic'

The longest pause is the longest time between two messages of the same publisher; for a topic that stutters it is far longer than \
the period. The rate is (n - 1) / (time from the first to the last message), so idle time before and after does not count. If a \
topic has several subscriptions, the slowest and the fastest are shown. A message is counted once for each subscription that it \
should have reached: delivered, lost (earlier and later ones arrived), overwritten (pushed out of a full intra-process \
buffer), queued (not received, although the recording went on for a second or more) or unknown."))]
    Topics(LookArguments),
    /// List the callbacks of all nodes: how often they ran, how long, and how late
    #[command(after_help = look_help("\
Examples:
  rostrace callbacks session/
  rostrace callbacks session/ --node '/planning/*' --since +10s
  rostrace callbacks session/ --sort -max --limit 10 --columns name,max,late_max
  rostrace callbacks --format json session/ | jq '.[] | select(.duration_ns.max > 1e7)'"))]
    Callbacks(LookArguments),
    /// List the goals of actions: when they were accepted, when their result came, and how much feedback there was
    #[command(after_help = look_help("\
Examples:
  rostrace actions session/
  rostrace actions --format json session/ | jq '.[] | select(.duration_ns > 1e9)'

A goal is tied to its result by what the client did, since no trace has goal ids. Whether it was accepted is not in the trace \
either: a goal without a result may have been refused."))]
    Actions(LookArguments),
    /// List the processes: their ROS 2 version, their middleware, and their share of the trace
    #[command(after_help = look_help("\
Examples:
  rostrace processes session/
  rostrace processes --format csv robot/ workstation/"))]
    Processes(LookArguments),
    /// List the executors: what they execute, and how busy they were
    #[command(after_help = look_help("\
Examples:
  rostrace executors session/
  rostrace executors --format json session/ | jq '.[] | select(.busy_share > 0.5).executor'

Busy is the time in callbacks, divided by the time that the process was observed; above 100 %, several threads were busy at \
once. Recordings of rostrace and CARET contain executors; those of plain ros2_tracing do not."))]
    Executors(LookArguments),
    /// Show how long messages take along the paths they actually take, hop by hop and end to end
    #[command(after_help = "\
Examples:
  rostrace latency session/
  rostrace latency session/ --from /lidar --to /control
  rostrace latency session/ --from '/sensing/*' --to /vehicle/command --since +10s --format json
  rostrace latency session/ --sort -max --limit 3 --columns name,p50,max

No architecture file is needed: a message published in a callback was caused by the message that the callback received. Paths are \
sorted by their 99th percentile. The latency is the time from the first publication to the start of the last callback; it is the \
sum of the rows above it. If no message was seen to pass from --from to --to without a break, the shortest routes are tried, and a \
node whose outputs cannot be traced to an input is assumed to publish the newest message that it received; --architecture replaces \
this assumption. Lost counts messages that a subscription missed although it got earlier and later ones, or that were pushed out of \
a full intra-process buffer.

--node, --topic and --pid keep the paths that pass through them. Times (T) are written as for `rostrace dump`, durations (D) as \
500ms, 2s or 1m.

Exit status 3: shown, but the trace has lost data, so flows may be missing.")]
    Latency(LatencyArguments),
    /// Show how long messages take along the paths that an architecture file names
    #[command(after_help = "\
Examples:
  rostrace paths session/ --architecture architecture.yaml
  rostrace paths session/ --architecture architecture.yaml --path 'camera_*' --include-last-callback --format json

The file's message contexts and variable passings say how nodes make outputs from inputs. Stages count only messages that reached \
the end, so their means add up to the mean of the whole path; ended here counts messages that entered a stage and were not seen after \
it. Response times: best from the newest input of an output, worst from its oldest input, worst with external latency from \
the input before that, since anything that just missed it had to wait. docs/concepts/latency.md has the definitions.

--node, --topic and --pid keep the paths that pass through them. Times (T) are written as for `rostrace dump`, durations (D) as \
500ms, 2s or 1m.

Exit status 1: a path cannot be followed; 3: shown, but the trace has lost data.")]
    Paths(PathsArguments),
    /// Explain why an execution, a message or a path took so long; the worst one by default
    #[command(after_help = "\
Examples:
  rostrace why session/
  rostrace why session/ --callback '/fusion <- /points'
  rostrace why session/ --node /fusion
  rostrace why session/ --topic /points --node /fusion --rank 2
  rostrace why session/ --from /lidar --to /control --at 14:03:07.25 --parts
  rostrace why session/ --architecture architecture.yaml --path lidar_to_control
  rostrace why session/ --all
  rostrace why session/ --all --node /fusion --format json | jq '.changes[].sentence'

The time is split into parts that add up exactly. An execution is explained from when it should have started (a timer: when it was \
due; a subscription: when the message was published) to its end, a message from its publication to the start of the callback, a path \
from the first publication to the start of the last callback. Without options, it is the worst execution of the callback whose \
duration or lateness is largest relative to its period. Filters narrow the choice. --topic without --callback, --from or --to \
chooses among the messages of that topic. Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m.

--all adds up the explanations of everything that fits, by what was late and by who did it, and says which changes would gain most. \
Late is what was in the way, and what goes beyond the usual; docs/concepts/latency.md has the definitions.

Exit status 3: explained, but the trace has lost data.")]
    Why(WhyArguments),
    /// Show which functions a callback computes in, and what its slow executions do more than usual ones
    #[command(after_help = flame::HELP)]
    Flame(FlameArguments),
    /// Write a report as one HTML file: the worst findings, the graph, callbacks, topics, paths, schedules
    #[command(after_help = report::HELP)]
    Report(ReportArguments),
    /// Show what happened when, in your browser or as a file for Perfetto, Chrome or Firefox
    #[command(after_help = timeline::HELP)]
    Timeline(TimelineArguments),
    /// Write tables as files, for other programs
    #[command(after_help = "\
Examples:
  rostrace export session/ --format parquet -o tables/
  rostrace export session/ --tables callback_instances,deliveries --node '/planning/*' --skip-start 2s -o tables/
  rostrace export session/ --architecture architecture.yaml --tables node_latencies -o tables/
  rostrace export session/ --architecture architecture.yaml --caret-columns -o caret/

One file per table, `<table>.<format>`; docs/reference/tables.md describes them. Times are nanoseconds since 1970. Files appear only \
when all are complete; existing files with the same names are replaced.

Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m. A time range keeps the rows that begin in it. \
--node, --topic and --pid keep a row if one of its columns of that kind matches (node or *_node, topic or *_topic, pid or *_pid); a \
table without such a column is written whole. Tables of paths keep the paths that pass through them; --caret-columns filters its \
objects the same way.

Exit status 3: written, but the trace has lost data; standard error says what.")]
    Export(ExportArguments),
    /// Write a part of a trace as a new, smaller trace
    #[command(after_help = "\
Examples:
  rostrace cut session/ --since +10s --until +12s -o part/
  rostrace cut session/ --since 14:03:07 --vpid 4711 -o part/
  rostrace cut session/ --event 'ros2:callback_*' --no-init -o callbacks/

The new folder is a valid CTF trace. Times (T) are written as for `rostrace dump`.

Initialisation events, which name nodes, topics and callbacks, are kept from the start of the trace to the end of the range, \
whatever --event, --vtid and --cpu say: without them nothing would have a name. --vpid applies to them too. --no-init drops those \
that are not selected.

If no event is selected, the new trace has no events.

Exit status 3: written, but the trace has lost data in the range; standard error says what.")]
    Cut(CutArguments),
    /// Show what got slower or faster between two recordings, or two groups of them, beyond the noise
    #[command(after_help = compare::HELP)]
    Compare(CompareArguments),
    /// Check a recording against budgets of latency, duration, rate and drops; for continuous integration
    #[command(after_help = check::HELP)]
    Check(CheckArguments),
    /// Read, check, compare, edit and draw architecture files
    #[command(after_help = "\
Examples:
  rostrace architecture check architecture.yaml
  rostrace architecture paths architecture.yaml --from /sensor --to /actuator
  rostrace architecture rename architecture.yaml node /fusion /sensor_fusion
  rostrace architecture graph architecture.yaml -o architecture.svg")]
    Architecture(ArchitectureArguments),
    /// Print a completion script for a shell
    #[command(after_help = "\
Example:
  rostrace completions bash > ~/.local/share/bash-completion/completions/rostrace")]
    Completions(CompletionsArguments),
    /// Write a manual page for each verb
    #[command(after_help = "Example:\n  rostrace man ~/.local/share/man/man1")]
    Man(ManArguments),
}

impl Verb {
    /// Whether the verb deals with Ctrl-C itself, because it is meant for the command that it runs.
    pub(crate) fn heeds_signals(&self) -> bool {
        matches!(self, Verb::Record(_) | Verb::Run(_) | Verb::Demo(_))
    }
}

/// Which traces are read.
#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// Folders that are or contain traces, or archives of them (.tar, .tar.gz, .tar.zst, .tar.xz, .tar.bz2, .zip); several are read as one trace
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
}

/// Which events are wanted; the same for all verbs.
#[derive(Debug, Args)]
pub(crate) struct FilterArguments {
    /// Only events with this name; may contain *, ? and […]; can be repeated
    #[arg(long = "event", value_name = "GLOB")]
    pub(crate) events: Vec<glob::Pattern>,
    /// Only events from this time on
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) since: Option<TimeArgument>,
    /// Only events up to this time
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) until: Option<TimeArgument>,
    /// Only events of this process; can be repeated
    #[arg(long = "vpid", visible_alias = "pid", value_name = "N")]
    pub(crate) vpids: Vec<i64>,
    /// Only events of this thread; can be repeated
    #[arg(long = "vtid", visible_alias = "tid", value_name = "N")]
    pub(crate) vtids: Vec<i64>,
    /// Only events of this CPU; can be repeated
    #[arg(long = "cpu", value_name = "N")]
    pub(crate) cpus: Vec<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    #[arg(long, value_enum, default_value_t = InfoFormat::Table)]
    pub(crate) format: InfoFormat,
    /// List all damage, not only the first rows of each kind
    #[arg(long)]
    pub(crate) all_damage: bool,
}

/// Which part of what a trace means is wanted; the same for all verbs that speak of nodes and topics.
#[derive(Debug, Default, Args)]
pub(crate) struct ModelFilterArguments {
    #[command(flatten)]
    pub(crate) time: TimeArguments,
    #[command(flatten)]
    pub(crate) entities: EntityFilter,
}

#[derive(Debug, Args)]
pub(crate) struct LookArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    #[command(flatten)]
    pub(crate) filter: ModelFilterArguments,
    #[command(flatten)]
    pub(crate) list: ListArguments,
    #[arg(long, value_enum, default_value_t = LookFormat::Table)]
    pub(crate) format: LookFormat,
    /// Also show in tables what ROS 2 and recorders create for themselves: parameter services, /rosout, …
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LookFormat {
    /// For people
    Table,
    /// An array of objects; times in nanoseconds
    Json,
    /// One line per row, with a header; times in nanoseconds
    Csv,
}

/// What all verbs that list entities have to say below their examples.
fn look_help(examples: &str) -> String {
    format!(
        "{examples}\n\n\
         Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m. A time range limits what is counted, not which entities are listed; the \
         other filters limit which are listed.\n\n\
         Exit status 3: listed, but the trace has lost data, so counts are lower bounds."
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfoFormat {
    /// For people
    Table,
    /// For programs; times in nanoseconds since 1970
    Json,
}

impl From<InfoFormat> for LookFormat {
    fn from(format: InfoFormat) -> LookFormat {
        match format {
            InfoFormat::Table => LookFormat::Table,
            InfoFormat::Json => LookFormat::Json,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CutArguments {
    #[command(flatten)]
    pub(crate) input: TraceArguments,
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    /// The folder of the new trace; it appears when it is complete
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Drop initialisation events that are not selected
    #[arg(long)]
    pub(crate) no_init: bool,
    /// Replace OUT if it is a trace
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The folder to write the pages to; created if it does not exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// The terminal breaks lines where it must; breaks of our own would make every second line a short one.
    #[test]
    fn paragraphs_of_the_help_are_broken_by_the_terminal_alone() {
        let command = Arguments::command();
        let verbs = command.get_subcommands();
        for verb in verbs.flat_map(|verb| std::iter::once(verb).chain(verb.get_subcommands())) {
            let help = verb.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let is_text = |line: &str| !line.is_empty() && !line.starts_with(' ');
            let lines: Vec<&str> = help.lines().collect();
            let broken = lines
                .windows(2)
                .find(|pair| is_text(pair[0]) && is_text(pair[1]));
            assert_eq!(broken, None, "{}", verb.get_name());
        }
    }

    #[test]
    fn every_verb_has_an_example() {
        let command = Arguments::command();
        let verbs = command.get_subcommands();
        for verb in verbs.flat_map(|verb| std::iter::once(verb).chain(verb.get_subcommands())) {
            let help = verb.get_after_help().map(ToString::to_string);
            assert!(
                help.is_some_and(|help| help.contains("Example")),
                "{}",
                verb.get_name()
            );
        }
    }
}
