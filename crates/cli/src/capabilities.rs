//! What a trace allows to know, by the events that it has, and what cannot be known from one that has none of them. `info` shows
//! all capabilities; the other verbs say what is missing.
//!
//! Only events that `rostrace-model` reads are a capability: a test looks for them in its sources. The others are [`UNUSED`].

use rostrace_model::creates_entities;
use rostrace_tracepoints::{Family, Kind, Layer};

#[derive(Debug)]
pub(crate) struct Capability {
    pub(crate) name: &'static str,
    has: fn(Kind) -> bool,
    /// What can be known where these events are there.
    pub(crate) allows: &'static str,
    /// What cannot be known without them, as a sentence; nothing where their absence says only that nobody used the feature.
    pub(crate) without: Option<&'static str>,
}

pub(crate) const INITIALISATION: Capability = Capability {
    name: "initialisation",
    has: |kind| {
        let of_ros = matches!(
            kind.layer(),
            Layer::Rcl | Layer::RclLifecycle | Layer::Rclcpp | Layer::R2r | Layer::Rmw
        );
        of_ros && creates_entities(kind) && !(EXECUTORS.has)(kind)
    },
    allows: "names of nodes, topics, services, timers and callbacks",
    without: Some(
        "no initialisation events: nothing has a name, since the recording began after the nodes were created",
    ),
};

const DESTRUCTION: Capability = Capability {
    name: "destruction",
    has: |kind| kind.family() == Some(Family::Destruction),
    allows: "when nodes, publishers, subscriptions, services, clients and timers ended",
    without: None,
};

const MESSAGE_SIZES: Capability = Capability {
    name: "message sizes",
    has: |kind| kind.family() == Some(Family::MessageSizes),
    allows: "the size of messages that are sent or received in serialised form",
    without: None,
};

const APPLICATION: Capability = Capability {
    name: "application",
    has: |kind| kind.layer() == Layer::User && !matches!(kind, Kind::UstTracef | Kind::UstTracelog),
    allows: "what the application says of itself: moments, spans and counters",
    without: None,
};

pub(crate) const CALLBACKS: Capability = Capability {
    name: "callbacks",
    has: |kind| kind.family() == Some(Family::Callbacks),
    allows: "what ran when, and how long",
    without: Some("no callback events: what ran, and how long, cannot be known"),
};

pub(crate) const PUBLISH: Capability = Capability {
    name: "publish",
    has: |kind| kind.family() == Some(Family::Publish),
    allows: "which callback sent which message, and when",
    without: Some("no publish events: which messages were sent cannot be known"),
};

pub(crate) const TAKE: Capability = Capability {
    name: "take",
    has: |kind| kind.family() == Some(Family::Take),
    allows: "which message reached whom",
    without: Some("no take events: which message reached whom cannot be known"),
};

const ARRIVALS: Capability = Capability {
    name: "arrivals",
    has: |kind| kind == Kind::OnDataAvailable,
    allows: "when messages arrived, apart from when they were taken",
    without: None,
};

const INTRA_PROCESS: Capability = Capability {
    name: "intra-process",
    has: |kind| kind.family() == Some(Family::IntraProcess),
    allows: "messages inside a process, also those that were overwritten",
    without: None,
};

const EXECUTOR_PHASES: Capability = Capability {
    name: "executor phases",
    has: |kind| kind.family() == Some(Family::ExecutorPhases),
    allows: "when an executor waited for work, and when it had some",
    without: Some(
        "no executor phases: whether a thread waited for work or was late to begin it cannot be known",
    ),
};

pub(crate) const EXECUTORS: Capability = Capability {
    name: "executors and callback groups",
    has: |kind| kind.family() == Some(Family::Executors),
    allows: "which callbacks exclude each other, and who executes them",
    without: Some(
        "no executors and callback groups (rostrace and CARET record them, ros2_tracing alone does not): which callbacks \
         exclude each other cannot be known",
    ),
};

const BLIND_SPOTS: Capability = Capability {
    name: "blind spots",
    has: |kind| kind.layer() == Layer::Tracer,
    allows: "which calls the tracer could not see",
    without: None,
};

const MIDDLEWARE: Capability = Capability {
    name: "middleware",
    has: |kind| {
        matches!(
            kind,
            Kind::RmwImplementation
                | Kind::DdsWrite
                | Kind::DdsBindAddrToStamp
                | Kind::DdsWriterWrite
        )
    },
    allows: "which middleware was used, and the source timestamps that it gave to messages",
    without: None,
};

const CARET: Capability = Capability {
    name: "CARET",
    has: |kind| kind == Kind::CaretInit,
    allows: "when CARET's library was ready in a process, and its distribution of ROS 2",
    without: None,
};

const SERVICES: Capability = Capability {
    name: "services",
    has: |kind| kind.family() == Some(Family::Services),
    allows: "how long requests took, and where",
    without: Some(
        "no service events (rostrace records them, ros2_tracing from Kilted on): which response answers which request cannot be known",
    ),
};

const LIFECYCLE: Capability = Capability {
    name: "lifecycle",
    has: |kind| kind.family() == Some(Family::Lifecycle),
    allows: "the states of lifecycle nodes",
    without: None,
};

const MESSAGE_LINKS: Capability = Capability {
    name: "message links",
    has: |kind| kind.family() == Some(Family::MessageLinks),
    allows: "which inputs a program declares its outputs to depend on",
    without: None,
};

const SIMULATED_TIME: Capability = Capability {
    name: "simulated time",
    has: |kind| kind.family() == Some(Family::SimulatedTime),
    allows: "durations on the simulated clock",
    without: None,
};

const AGNOCAST: Capability = Capability {
    name: "Agnocast",
    has: |kind| kind.layer() == Layer::Agnocast,
    allows: "messages through Agnocast",
    without: None,
};

const TILDE: Capability = Capability {
    name: "TILDE",
    has: |kind| kind.layer() == Layer::Tilde,
    allows: "which inputs a message was made from, as TILDE declares it",
    without: None,
};

const SCHEDULING: Capability = Capability {
    name: "kernel scheduling",
    has: |kind| kind.family() == Some(Family::Scheduling),
    allows: "whether a callback computed, waited, or was not given a processor",
    without: Some(
        "no kernel scheduling events: whether a callback computed, waited, or was not given a processor cannot be known",
    ),
};

const KERNEL_TASKS: Capability = Capability {
    name: "kernel tasks",
    has: |kind| {
        matches!(
            kind,
            Kind::SchedProcessFork
                | Kind::SchedProcessExit
                | Kind::LttngStatedumpProcessState
                | Kind::LttngStatedumpProcessPidNs
                | Kind::ThreadName
                | Kind::ThreadExit
        )
    },
    allows: "which processes and threads had the processors, by name",
    without: None,
};

const MEMORY: Capability = Capability {
    name: "malloc",
    has: |kind| kind.family() == Some(Family::Memory),
    allows: "what callbacks and processes allocate",
    without: None,
};

const LOCKS: Capability = Capability {
    name: "locks",
    has: |kind| kind.family() == Some(Family::Locks),
    allows: "when threads waited for mutexes and other locks, and who held them",
    without: None,
};

const SYSTEM_CALLS: Capability = Capability {
    name: "system calls",
    has: |kind| matches!(kind, Kind::SyscallEntry | Kind::SyscallExit),
    allows: "which system calls threads were blocked in",
    without: None,
};

const PAGE_FAULTS: Capability = Capability {
    name: "page faults",
    has: |kind| matches!(kind, Kind::PageFault | Kind::PageFaultDone),
    allows: "when threads waited for memory that they had touched",
    without: None,
};

const SAMPLES: Capability = Capability {
    name: "call stacks",
    has: |kind| {
        matches!(
            kind,
            Kind::SampleSource | Kind::CodeMapping | Kind::StackSample
        )
    },
    allows: "which functions callbacks computed in",
    without: None,
};

const INTERRUPTS: Capability = Capability {
    name: "interrupts",
    has: |kind| {
        matches!(
            kind,
            Kind::IrqHandlerEntry
                | Kind::IrqHandlerExit
                | Kind::IrqSoftirqEntry
                | Kind::IrqSoftirqExit
        )
    },
    allows: "when interrupts took the CPU of a callback",
    without: None,
};

/// Events that we know by name and that no analysis reads: timers of the kernel, loaded libraries and the like.
pub(crate) const UNUSED: Capability = Capability {
    name: "others",
    has: |kind| !CAPABILITIES.iter().any(|it| (it.has)(kind)),
    allows: "nothing more: no analysis uses them, `rostrace dump` prints them",
    without: None,
};

/// In the order in which they are shown.
pub(crate) const CAPABILITIES: &[&Capability] = &[
    &INITIALISATION,
    &CALLBACKS,
    &PUBLISH,
    &TAKE,
    &ARRIVALS,
    &INTRA_PROCESS,
    &EXECUTOR_PHASES,
    &EXECUTORS,
    &SERVICES,
    &LIFECYCLE,
    &DESTRUCTION,
    &MESSAGE_SIZES,
    &APPLICATION,
    &BLIND_SPOTS,
    &MIDDLEWARE,
    &CARET,
    &AGNOCAST,
    &TILDE,
    &MESSAGE_LINKS,
    &SIMULATED_TIME,
    &SCHEDULING,
    &KERNEL_TASKS,
    &SYSTEM_CALLS,
    &PAGE_FAULTS,
    &INTERRUPTS,
    &SAMPLES,
    &MEMORY,
    &LOCKS,
];

/// What a recording of our own tracer lacks for other reasons than others do.
const OWN: &[(&str, &str)] = &[
    (
        EXECUTOR_PHASES.name,
        "no executor phases (`record --light` leaves them out, and Python's executors have none): whether a thread waited for work or was \
         late to begin it cannot be known",
    ),
    (
        EXECUTORS.name,
        "no executors and callback groups: no program in C++ was seen to make any, so which callbacks exclude each other cannot be known",
    ),
    (
        SCHEDULING.name,
        "no context switches (`rostrace doctor` says whether the system allows them, and `record --no-switches` leaves them out): whether a \
         callback computed, waited, or was not given a processor cannot be known",
    ),
    (
        SERVICES.name,
        "no service events: no request was seen being sent or taken",
    ),
];

/// Whether our own tracer made the recording: it names the middleware, as CARET does, but not itself as CARET.
fn is_own(kinds: &[u64]) -> bool {
    kinds[Kind::RmwImplementation.index()] > 0 && kinds[Kind::CaretInit.index()] == 0
}

impl Capability {
    /// How many such events a trace has; `kinds` counts them by [`Kind::index`].
    pub(crate) fn events(&self, kinds: &[u64]) -> u64 {
        let such = Kind::ALL.iter().filter(|kind| (self.has)(**kind));
        such.map(|kind| kinds[kind.index()]).sum()
    }

    /// What cannot be known, if the trace has none of it.
    pub(crate) fn lack(&self, kinds: &[u64]) -> Option<&'static str> {
        let without = self.without.filter(|_| self.events(kinds) == 0)?;
        let own = OWN.iter().find(|(name, _)| *name == self.name);
        let own = own.filter(|_| is_own(kinds));
        Some(own.map_or(without, |(_, sentence)| sentence))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn sources(folder: &Path, text: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, text);
            } else {
                text.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }

    /// Whether the crate that gives events their meaning names this kind anywhere.
    fn is_read(kind: Kind, sources: &str) -> bool {
        let name = format!("Kind::{kind:?}");
        sources.match_indices(&name).any(|(at, _)| {
            let next = sources[at + name.len()..].chars().next();
            !next.is_some_and(char::is_alphanumeric)
        })
    }

    #[test]
    fn only_events_that_are_read_are_promised_to_tell_something() {
        let mut text = String::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../model/src");
        sources(&folder, &mut text);
        for capability in CAPABILITIES {
            let mut kinds = Kind::ALL.iter().filter(|kind| (capability.has)(**kind));
            assert!(
                kinds.any(|kind| is_read(*kind, &text)),
                "no code reads events of `{}`",
                capability.name
            );
        }
        for kind in Kind::ALL.iter().filter(|kind| (UNUSED.has)(**kind)) {
            assert!(!is_read(*kind, &text), "{kind:?} is read: by what?");
        }
    }
}
