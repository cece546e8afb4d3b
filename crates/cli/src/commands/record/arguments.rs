//! What `record` and the verbs around it are asked for.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use glob::Pattern;
use rostrace_record::{KernelChoice, Switches};

use crate::args::InfoFormat;
use crate::columns::ListArguments;
use crate::size_argument::{FlightArgument, SizeArgument};
use crate::time_argument::DurationArgument;

#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    /// The folder for the trace; it must not exist yet [default: ./rostrace-DATE-TIME]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Record for this long, then end the command as Ctrl-C would: 10s, 2m
    #[arg(long, value_name = "D")]
    pub(crate) duration: Option<DurationArgument>,
    /// Do not write report.html into the folder of the trace
    #[arg(long)]
    pub(crate) no_report: bool,
    #[command(flatten)]
    pub(crate) what: WhatArguments,
    /// Keep only the last stretch of time, or the last bytes of each process, before the end or a snapshot: 30s, 100M
    #[arg(long, value_name = "D|SIZE")]
    pub(crate) flight: Option<FlightArgument>,
    /// With --flight: a signal with which a process asks for a snapshot; a program's own handler for it is left alone
    #[arg(long, value_name = "SIGNAL", value_enum, requires = "flight")]
    pub(crate) flight_signal: Option<FlightSignal>,
    /// How to find out when threads computed, waited for a CPU and were blocked
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub(crate) switches: SwitchesArgument,
    /// The same as --switches off
    #[arg(long, conflicts_with = "switches")]
    pub(crate) no_switches: bool,
    /// Also record when threads wait for mutexes, other locks and condition variables, and who held them; with --attach: of processes
    /// started with `rostrace run --locks`
    #[arg(long)]
    pub(crate) locks: bool,
    /// With root or CAP_PERFMON, what else of the kernel is recorded beside all context switches and wake-ups of the machine, as a list
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        value_delimiter = ',',
        conflicts_with = "no_switches"
    )]
    pub(crate) kernel: Vec<KernelPart>,
    /// Also look, so often in each second that a thread computes, which functions it is in: for `rostrace flame` and `why`
    #[arg(
        long,
        value_name = "HZ",
        num_args = 0..=1,
        default_missing_value = "997",
        value_parser = clap::value_parser!(u32).range(1..=20_000)
    )]
    pub(crate) sample: Option<u32>,
    /// Also pass every tracepoint on to LTTng
    #[arg(long, conflicts_with = "attach")]
    pub(crate) lttng: bool,
    #[command(flatten)]
    pub(crate) room: RoomArguments,
    /// Record processes started with `rostrace run`, until they end or Ctrl-C is pressed
    #[arg(long, conflicts_with = "command")]
    pub(crate) attach: bool,
    /// With --attach: only this process; can be repeated
    #[arg(long = "pid", value_name = "N", requires = "attach")]
    pub(crate) pids: Vec<u32>,
    #[command(flatten)]
    pub(crate) session: SessionArguments,
    /// The command to record, with all processes it starts
    #[arg(
        last = true,
        value_name = "COMMAND",
        required_unless_present = "attach"
    )]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SwitchesArgument {
    /// By context switches; where the system refuses them, by clocks
    #[default]
    Auto,
    /// By context switches, without any code in the processes
    Perf,
    /// By the CPU clock of each thread, read when a callback begins and ends: in sum, not when
    Clocks,
    /// Not at all
    Off,
}

impl RecordArguments {
    pub(crate) fn switches(&self) -> Switches {
        match self.switches {
            _ if self.no_switches => Switches::Off,
            SwitchesArgument::Auto => Switches::Auto,
            SwitchesArgument::Perf => Switches::Perf,
            SwitchesArgument::Clocks => Switches::Clocks,
            SwitchesArgument::Off => Switches::Off,
        }
    }
}

/// What the kernel can tell besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KernelPart {
    /// Interrupts of all CPUs, and the deferred work of their handlers
    Irq,
    /// System calls of recorded threads: what they were blocked in. Each call becomes two events
    Syscalls,
    /// Page faults of recorded threads, and how long they took
    Faults,
    /// Nothing of other programs, not even when they have a CPU
    Own,
}

impl KernelPart {
    pub(crate) fn choice(parts: &[KernelPart]) -> KernelChoice {
        let has = |part: KernelPart| parts.contains(&part);
        KernelChoice {
            recorded_threads_only: has(KernelPart::Own),
            interrupts: has(KernelPart::Irq),
            system_calls: has(KernelPart::Syscalls),
            page_faults: has(KernelPart::Faults),
        }
    }
}

/// Signals that are left to applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlightSignal {
    #[value(name = "USR1", alias = "SIGUSR1")]
    Usr1,
    #[value(name = "USR2", alias = "SIGUSR2")]
    Usr2,
}

impl FlightSignal {
    pub(crate) fn number(self) -> u8 {
        let number = match self {
            FlightSignal::Usr1 => libc::SIGUSR1,
            FlightSignal::Usr2 => libc::SIGUSR2,
        };
        number.unsigned_abs() as u8
    }
}

/// Which nodes, topics and events.
#[derive(Debug, Default, Args)]
pub(crate) struct WhatArguments {
    /// Only these events, and initialisation events, which name things; may contain *, ? and […]; can be repeated
    #[arg(
        long,
        visible_alias = "event",
        value_name = "GLOB",
        value_delimiter = ','
    )]
    pub(crate) events: Vec<Pattern>,
    /// Leave out the most frequent events, which latencies do not need
    #[arg(long)]
    pub(crate) light: bool,
    /// Record only what happens in this node; may contain * and ?; can be repeated
    #[arg(long = "select-node", value_name = "GLOB")]
    pub(crate) select_nodes: Vec<String>,
    /// Do not record what happens in this node; may contain * and ?; can be repeated
    #[arg(long = "ignore-node", value_name = "GLOB")]
    pub(crate) ignore_nodes: Vec<String>,
    /// Record only what happens on this topic; may contain * and ?; can be repeated
    #[arg(long = "select-topic", value_name = "GLOB")]
    pub(crate) select_topics: Vec<String>,
    /// Do not record what happens on this topic; may contain * and ?; can be repeated
    #[arg(long = "ignore-topic", value_name = "GLOB")]
    pub(crate) ignore_topics: Vec<String>,
    /// CARET's filter file: a script that exports CARET_SELECT_NODES and the like; it is read, not run
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["select_nodes", "ignore_nodes", "select_topics", "ignore_topics"]
    )]
    pub(crate) caret_filter: Option<PathBuf>,
}

/// How much memory and disk.
#[derive(Debug, Args)]
pub(crate) struct RoomArguments {
    /// Memory of each process for events not yet on disk; events that do not fit are counted as lost [default: 64M]
    #[arg(long, value_name = "SIZE", help_heading = "Room")]
    pub(crate) buffer: Option<SizeArgument>,
    /// The most that one process may write; later events are counted as lost
    #[arg(long, value_name = "SIZE", help_heading = "Room")]
    pub(crate) limit: Option<SizeArgument>,
    /// End the recording when less than this is free on the disk
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "64M",
        help_heading = "Room"
    )]
    pub(crate) keep_free: SizeArgument,
}

/// Which session; needed only where there are several.
#[derive(Debug, Default, Args)]
pub(crate) struct SessionArguments {
    /// The session, as `rostrace status` names it
    #[arg(
        long,
        value_name = "ID",
        conflicts_with = "control",
        help_heading = "Session"
    )]
    pub(crate) session: Option<String>,
    /// The control file, in a place that processes in containers or of other users can reach
    #[arg(long, value_name = "FILE", help_heading = "Session")]
    pub(crate) control: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Where to create the control file, for processes in containers or of other users
    #[arg(long, value_name = "FILE")]
    pub(crate) control: Option<PathBuf>,
    /// Make it possible to record locks: calls of the C library's locks go through functions of ours
    #[arg(long)]
    pub(crate) locks: bool,
    /// Also pass every tracepoint on to LTTng
    #[arg(long)]
    pub(crate) lttng: bool,
    /// The command to run
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// Show only the session of this control file
    #[arg(long, value_name = "FILE")]
    pub(crate) control: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = InfoFormat::Table)]
    pub(crate) format: InfoFormat,
    #[command(flatten)]
    pub(crate) list: ListArguments,
}

#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    #[command(flatten)]
    pub(crate) session: SessionArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SnapshotArguments {
    /// The folder for the copy; it must not exist yet [default: ./rostrace-DATE-TIME]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) session: SessionArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    #[arg(long, value_enum, default_value_t = InfoFormat::Table)]
    pub(crate) format: InfoFormat,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// How many seconds to record
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) seconds: u64,
    /// The folder for the trace; it must not exist yet [default: a new temporary folder]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Do not write report.html into the folder of the trace
    #[arg(long)]
    pub(crate) no_report: bool,
}
