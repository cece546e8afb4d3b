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
    /// Record a small built-in application and explain what it did; needs no ROS 2 and no rights
    #[command(after_help = "\
Examples:
  rostrace demo
  rostrace demo --seconds 10 -o demo/

Sensors, a filter that is slow now and then, a fusion, a planner and an actuator run as processes of their own for a few \
seconds and are recorded live. The trace is kept, with a report of it; the last lines say where.")]
    Demo(DemoArguments),
    /// The processes of the demo
    #[command(hide = true, after_help = "Example:\n  rostrace demo")]
    DemoApplication(ApplicationArguments),
    /// One process of the demo
    #[command(hide = true, after_help = "Example:\n  rostrace demo")]
    DemoProcess(ProcessArguments),
    /// Record a command and everything that it starts, or processes that run under the tracer already
    #[command(after_help = "\
Examples:
  rostrace record -- ros2 launch my_robot bringup.launch.py
  rostrace record -o drive/ --duration 30s --light -- ros2 run demo_nodes_cpp talker
  rostrace record --ignore-node '/rviz*' --ignore-topic /tf -- ros2 launch my_robot bringup.launch.py
  rostrace record --flight 30s -- ros2 launch my_robot bringup.launch.py     # then: rostrace snapshot -o incident/
  rostrace record --attach --pid 4711 --duration 10s

No rebuild, no LTTng, no root: the tracer is loaded into the processes by the dynamic linker. The recording ends with the \
command, after --duration, or with Ctrl-C, which the command gets first; a second one kills it. Then what was written is read back \
and the callbacks are listed. SIGUSR1 takes a snapshot. The command runs in a process group of its own and cannot read from the \
terminal.

Without options of choice, CARET_SELECT_NODES, CARET_IGNORE_NODES, CARET_SELECT_TOPICS and CARET_IGNORE_TOPICS are \
heeded, from the environment or from the file of --caret-filter, and CARET_IGNORE_PROCESSES in any case. In these options * stands for any text and ? for any character. If anything is selected, only that is recorded, otherwise \
all but what is ignored.

Exit status: 0 recorded, whatever the exit code of the command, which is told; 1 nothing was recorded; 3 recorded, but events \
were lost.")]
    Record(RecordArguments),
    /// Run a command under the tracer without recording, so that `record --attach` can begin at any time
    #[command(after_help = "\
Examples:
  rostrace run -- ros2 launch my_robot bringup.launch.py
  rostrace record --attach --duration 10s                # meanwhile, in another terminal

Without a recording there is no thread, no file and no socket of the tracer in the processes. Their initialisation is \
remembered, so that every recording knows all names. The exit status is that of the command.")]
    Run(RunArguments),
    /// List what runs under the tracer, and what is recorded
    #[command(after_help = "\
Examples:
  rostrace status
  rostrace status --sort -lost --columns pid,process,events,lost
  rostrace status --format json | jq '.[].processes[].pid'")]
    Status(StatusArguments),
    /// End what is recorded; the processes go on
    #[command(after_help = "Examples:\n  rostrace stop\n  rostrace stop --session 4711")]
    Stop(StopArguments),
    /// Copy what is recorded while the recording goes on
    #[command(after_help = "\
Examples:
  rostrace snapshot -o incident/
  rostrace snapshot --session 4711 -o incident/")]
    Snapshot(SnapshotArguments),
    /// Say what can be recorded on this machine, what cannot, and the line that mends it
    #[command(after_help = "\
Examples:
  rostrace doctor
  rostrace doctor --format json | jq '.checks[] | select(.verdict != \"ok\")'

Exit status: 0 if processes can be recorded, else 1.")]
    Doctor(DoctorArguments),
    /// Show what a trace contains, and first of all what is missing from it
    #[command(after_help = "\
Examples:
  rostrace info ~/.ros/tracing/session-20260801
  rostrace info --format json robot/ workstation/ | jq '.processes[].name'")]
    Info(InfoArguments),
    /// Print events in the order of time
    #[command(after_help = "\
Examples:
  rostrace dump session/
  rostrace dump session/ --event 'ros2:callback_*' --since +1.5s --until +1.6s
  rostrace dump session/ --format json --vpid 4711 | jq .payload

A time (T) is one of
  +1.5s, +200ms, +3m           after the start of the trace
  -2s                          before its end
  14:03:07.25                  local time of the day on which the trace begins
  2026-08-01T14:03:07+02:00    RFC 3339; without an offset, local time
  1794715879.5                 seconds since 1970; from 10^14 on, nanoseconds

Exit status 3: printed, but the trace has lost data; what was lost is told on standard error.")]
    Dump(DumpArguments),
    /// List the nodes: where they run, what they consist of, and how much they did
    #[command(after_help = look_help("\
Examples:
  rostrace nodes session/
  rostrace nodes session/ --topic '/sensing/*'
  rostrace nodes --format json session/ | jq '.[] | select(.lifecycle_state == \"active\").node'"))]
    Nodes(LookArguments),
    /// List the topics: who sends, who receives, how often, and which messages did not arrive
    #[command(after_help = look_help("\
Examples:
  rostrace topics session/
  rostrace topics session/ --node /fusion --since +10s --until +12s
  rostrace topics session/ --sort -lost --limit 5
  rostrace topics --format json session/ | jq '.[] | select(.lost > 0).topic'

The longest pause is the longest time from a message to the next one of the same publisher; of a topic that stutters it is far \
longer than the period. A rate is (n - 1) / (time from the first to the last), so that pauses before and after do not count. Where several \
subscriptions receive a topic, the slowest and the fastest are shown. A message is counted once for each subscription that it \
should have reached: delivered, lost (earlier and later ones arrived), overwritten (pushed out of a full intra-process \
buffer), queued (not received, though the recording went on for a second or more) or unknown."))]
    Topics(LookArguments),
    /// List the callbacks of all nodes: how often they ran, and how long
    #[command(after_help = look_help("\
Examples:
  rostrace callbacks session/
  rostrace callbacks session/ --node '/planning/*' --since +10s
  rostrace callbacks session/ --sort -max --limit 10 --columns callback,max,late_max
  rostrace callbacks --format json session/ | jq '.[] | select(.duration_ns.max > 1e7)'"))]
    Callbacks(LookArguments),
    /// List the processes: which ROS 2 they run, with which middleware, and how much of the trace is theirs
    #[command(after_help = look_help("\
Examples:
  rostrace processes session/
  rostrace processes --format csv robot/ workstation/"))]
    Processes(LookArguments),
    /// List the executors: what they execute, and how busy they were with it
    #[command(after_help = look_help("\
Examples:
  rostrace executors session/
  rostrace executors --format json session/ | jq '.[].groups[].callbacks'

Busy is the time in callbacks, divided by the time that the process was observed; above 100 % several threads were busy at \
once. Recordings of ros2_tracing alone do not tell of executors; those of rostrace and CARET do."))]
    Executors(LookArguments),
    /// Show how long messages take along the paths that they really go, hop by hop and end to end
    #[command(after_help = "\
Examples:
  rostrace latency session/
  rostrace latency session/ --from /lidar --to /control
  rostrace latency session/ --from '/sensing/*' --to /vehicle/command --since +10s --format json
  rostrace latency session/ --sort -max --limit 3 --columns name,p50,max

No file is needed: a message that a callback publishes was caused by the message that it received. Paths are sorted by their \
99th percentile. The latency is the time from the first publication to the start of the last callback, and the sum of what is \
listed above it. Between two ends that no message was seen to go between without a break, the shortest ways are tried, and a node \
of which nothing says what it publishes is assumed to publish the newest message that it received; --architecture says it \
better. Lost counts messages that a subscription missed although it got earlier and later ones, or that were pushed out of a \
full intra-process buffer.

--node, --topic and --pid keep the paths that go there somewhere. Times (T) are written as for `rostrace dump`, durations (D) as \
500ms, 2s or 1m.

Exit status 3: shown, but the trace has lost data, so that flows may be missing.")]
    Latency(LatencyArguments),
    /// Show how long messages take along the paths that an architecture file names
    #[command(after_help = "\
Examples:
  rostrace paths session/ --architecture architecture.yaml
  rostrace paths session/ --architecture architecture.yaml --path 'camera_*' --include-last-callback --format json

Nodes make outputs from inputs as the file's message contexts and variable passings say. The stages are those of messages that came \
through to the end, so that their means add up to that of the whole; ended here counts messages that were seen at the beginning of a \
stage and never after it. Response times: best from the youngest input of an output, worst from the oldest one, worst with \
external latency from the input before, since what just missed it had to wait. docs/concepts/latency.md has the definitions.

--node, --topic and --pid keep the paths that go there somewhere. Times (T) are written as for `rostrace dump`, durations (D) as \
500ms, 2s or 1m.

Exit status 1: a path cannot be followed; 3: shown, but the trace has lost data.")]
    Paths(PathsArguments),
    /// Explain why an execution, a message or a path took so long; by default the worst
    #[command(after_help = "\
Examples:
  rostrace why session/
  rostrace why session/ --callback '/fusion <- /points'
  rostrace why session/ --node /fusion
  rostrace why session/ --topic /points --node /fusion --rank 2
  rostrace why session/ --from /lidar --to /control --at 14:03:07.25 --parts
  rostrace why session/ --architecture architecture.yaml --path lidar_to_control

The time is cut into parts that add up exactly. An execution is explained from when it should have begun (a timer: when it was \
due; a subscription: when the message was published) to its end, a message from its publication to the start of the callback, a path from \
the first publication to the start of the last callback. Without any choice it is the worst execution of the callback whose duration or \
lateness is largest compared with its period. Filters leave fewer to choose from; --topic without --callback and without the \
ends of a path chooses among its messages. Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m.

Exit status 3: explained, but the trace has lost data.")]
    Why(WhyArguments),
    /// Write one HTML file that shows a trace: the worst findings, the graph, callbacks, topics, paths, schedules
    #[command(after_help = report::HELP)]
    Report(ReportArguments),
    /// Show what happened when: in your browser, or as a file for Perfetto or Chrome
    #[command(after_help = timeline::HELP)]
    Timeline(TimelineArguments),
    /// Write tables as files, for other programs
    #[command(after_help = "\
Examples:
  rostrace export session/ --format parquet -o tables/
  rostrace export session/ --tables callback_instances,deliveries --node '/planning/*' --skip-start 2s -o tables/
  rostrace export session/ --architecture architecture.yaml --tables node_latencies -o tables/
  rostrace export session/ --architecture architecture.yaml --caret-columns -o caret/

One file per table, `<table>.<format>`; docs/reference/tables.md says what is in them. Times are nanoseconds since 1970. All \
files appear when all are complete; files of the same names are replaced.

Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m. A range of time limits the rows to what begins \
in it. --node, --topic and --pid keep a row if one of its columns of that meaning fits (node or *_node, topic or *_topic, pid \
or *_pid); a table without such a column is written whole. Tables of paths keep the paths that go there somewhere, and --caret-columns the objects.

Exit status 3: written, but the trace has lost data; what was lost is told on standard error.")]
    Export(ExportArguments),
    /// Write a part of a trace as a new, smaller trace
    #[command(after_help = "\
Examples:
  rostrace cut session/ --since +10s --until +12s -o part/
  rostrace cut session/ --since 14:03:07 --vpid 4711 -o part/
  rostrace cut session/ --event 'ros2:callback_*' --no-init -o callbacks/

The new folder is a valid CTF trace. Times (T) are written as for `rostrace dump`.

Events by which programs say what their nodes, topics and callbacks are called are kept from the start of the trace up to \
the end of the range, whatever --event, --vtid and --cpu say: without them nothing would have a name. --vpid holds for them \
too, and --no-init drops those that are not selected.

If no event is selected, a trace without events is written.

Exit status 3: written, but the trace has lost data in the range; what was lost is told on standard error.")]
    Cut(CutArguments),
    /// Say what got slower or faster between two recordings, or two groups of them, beyond the noise
    #[command(after_help = compare::HELP)]
    Compare(CompareArguments),
    /// Check whether a recording keeps its budgets of latency, duration, rate, drops; for continuous integration
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
    /// Print a script that completes rostrace's arguments in a shell
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
    /// Folders that are traces or contain some, or an archive of them (.tar, .tar.gz, .tar.zst, .tar.xz, .tar.bz2, .zip); several are read as one trace
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
}

/// Which events are wanted; the same for all verbs.
#[derive(Debug, Args)]
pub(crate) struct FilterArguments {
    /// Only events of this name; may contain *, ? and […]; can be repeated
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
    /// Show in tables also what ROS 2 and recorders make for themselves: parameter services, /rosout, …
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
         Times (T) are written as for `rostrace dump`, durations (D) as 500ms, 2s or 1m. A range of time limits what is counted, not which entities are listed; the \
         other filters limit which are listed.\n\n\
         Exit status 3: listed, but the trace has lost data, so that counts are lower bounds."
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfoFormat {
    /// For people
    Table,
    /// For programs; times in nanoseconds since 1970
    Json,
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
    /// The folder that the pages are written to; it is made if it does not exist
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
