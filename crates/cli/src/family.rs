//! Families of tracepoints, declared once: what a trace that has them allows to know, and what cannot be known from one that
//! has none. `info` shows them all; the other verbs say what they lack.

use rostrace_trace::creates_entities;
use rostrace_tracepoints::{Family as Of, Kind, Layer};

#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    has: fn(Kind) -> bool,
    /// What can be known where the family is there.
    pub(crate) allows: &'static str,
    /// What cannot be known without it, as a sentence; nothing where its absence says only that nobody used the feature.
    pub(crate) without: Option<&'static str>,
}

pub(crate) const INITIALISATION: Family = Family {
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

const DESTRUCTION: Family = Family {
    name: "destruction",
    has: |kind| kind.family() == Some(Of::Destruction),
    allows: "when nodes, publishers, subscriptions, services, clients and timers ended",
    without: None,
};

const MESSAGE_SIZES: Family = Family {
    name: "message sizes",
    has: |kind| kind.family() == Some(Of::MessageSizes),
    allows: "the size of messages that are sent or received in serialised form",
    without: None,
};

const APPLICATION: Family = Family {
    name: "application",
    has: |kind| kind.layer() == Layer::User,
    allows: "what the application says of itself: moments, spans and counters",
    without: None,
};

pub(crate) const CALLBACKS: Family = Family {
    name: "callbacks",
    has: |kind| kind.family() == Some(Of::Callbacks),
    allows: "what ran when, and how long",
    without: Some("no callback events: what ran, and how long, cannot be known"),
};

pub(crate) const PUBLISH: Family = Family {
    name: "publish",
    has: |kind| kind.family() == Some(Of::Publish),
    allows: "which callback sent which message, and when",
    without: Some("no publish events: which messages were sent cannot be known"),
};

pub(crate) const TAKE: Family = Family {
    name: "take",
    has: |kind| kind.family() == Some(Of::Take),
    allows: "which message reached whom",
    without: Some("no take events: which message reached whom cannot be known"),
};

const INTRA_PROCESS: Family = Family {
    name: "intra-process",
    has: |kind| kind.family() == Some(Of::IntraProcess),
    allows: "messages inside a process, also those that were overwritten",
    without: None,
};

const EXECUTOR_PHASES: Family = Family {
    name: "executor phases",
    has: |kind| kind.family() == Some(Of::ExecutorPhases),
    allows: "when an executor waited for work, and when it had some",
    without: Some(
        "no executor phases: whether a thread waited for work or was late to begin it cannot be known",
    ),
};

pub(crate) const EXECUTORS: Family = Family {
    name: "executors and callback groups",
    has: |kind| kind.family() == Some(Of::Executors),
    allows: "which callbacks exclude each other, and who executes them",
    without: Some(
        "no executors and callback groups (rostrace and CARET record them, ros2_tracing alone does not): which callbacks \
         exclude each other cannot be known",
    ),
};

const BLIND_SPOTS: Family = Family {
    name: "blind spots",
    has: |kind| kind.layer() == Layer::Tracer,
    allows: "which calls the tracer could not see",
    without: None,
};

const CARET: Family = Family {
    name: "CARET",
    has: |kind| kind.layer() == Layer::Caret && kind != Kind::SimTime,
    allows: "the middleware, and the stamps that it gives to messages",
    without: None,
};

const SERVICES: Family = Family {
    name: "services",
    has: |kind| kind.family() == Some(Of::Services),
    allows: "how long requests took, and where",
    without: Some(
        "no service events (ROS 2 has them from Kilted on): which response answers which request cannot be known",
    ),
};

const LIFECYCLE: Family = Family {
    name: "lifecycle",
    has: |kind| kind.family() == Some(Of::Lifecycle),
    allows: "the states of lifecycle nodes",
    without: None,
};

const MESSAGE_LINKS: Family = Family {
    name: "message links",
    has: |kind| kind.family() == Some(Of::MessageLinks),
    allows: "which inputs a program declares its outputs to depend on",
    without: None,
};

const SIMULATED_TIME: Family = Family {
    name: "simulated time",
    has: |kind| kind.family() == Some(Of::SimulatedTime),
    allows: "durations on the simulated clock",
    without: None,
};

const R2R: Family = Family {
    name: "r2r",
    has: |kind| kind.layer() == Layer::R2r && !creates_entities(kind),
    allows: "what programs in Rust spin and update",
    without: None,
};

const AGNOCAST: Family = Family {
    name: "Agnocast",
    has: |kind| kind.layer() == Layer::Agnocast,
    allows: "messages through Agnocast",
    without: None,
};

const TILDE: Family = Family {
    name: "TILDE",
    has: |kind| kind.layer() == Layer::Tilde,
    allows: "which inputs a message was made from, as TILDE declares it",
    without: None,
};

const DDS: Family = Family {
    name: "DDS",
    has: |kind| kind.layer() == Layer::Dds,
    allows: "times inside the middleware",
    without: None,
};

const SCHEDULING: Family = Family {
    name: "kernel scheduling",
    has: |kind| kind.family() == Some(Of::Scheduling),
    allows: "whether a callback computed, waited, or was not given a processor",
    without: Some(
        "no kernel scheduling events: whether a callback computed, waited, or was not given a processor cannot be known",
    ),
};

const KERNEL: Family = Family {
    name: "kernel, other",
    has: |kind| kind.layer() == Layer::Kernel && !(SCHEDULING.has)(kind),
    allows: "interrupts, system calls and what else the kernel did",
    without: None,
};

const MEMORY: Family = Family {
    name: "malloc",
    has: |kind| kind.family() == Some(Of::Memory),
    allows: "where memory is allocated",
    without: None,
};

const LOCKS: Family = Family {
    name: "locks",
    has: |kind| kind.family() == Some(Of::Locks),
    allows: "who waited for a mutex",
    without: None,
};

const LIBRARIES: Family = Family {
    name: "libraries and functions",
    has: |kind| kind.layer() == Layer::LttngUst && !(MEMORY.has)(kind) && !(LOCKS.has)(kind),
    allows: "which libraries were loaded where",
    without: None,
};

/// In the order in which they are shown.
pub(crate) const FAMILIES: &[&Family] = &[
    &INITIALISATION,
    &CALLBACKS,
    &PUBLISH,
    &TAKE,
    &INTRA_PROCESS,
    &EXECUTOR_PHASES,
    &EXECUTORS,
    &SERVICES,
    &LIFECYCLE,
    &DESTRUCTION,
    &MESSAGE_SIZES,
    &APPLICATION,
    &BLIND_SPOTS,
    &CARET,
    &R2R,
    &AGNOCAST,
    &TILDE,
    &DDS,
    &MESSAGE_LINKS,
    &SIMULATED_TIME,
    &SCHEDULING,
    &KERNEL,
    &MEMORY,
    &LOCKS,
    &LIBRARIES,
];

/// What a recording of our own tracer lacks for other reasons than others do.
const OWN: &[(&str, &str)] = &[
    (
        EXECUTORS.name,
        "no executors and callback groups: no program in C++ was seen to make any, so which callbacks exclude each other cannot be known",
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

impl Family {
    /// How many events of a trace are of this family; `kinds` counts them by [`Kind::index`].
    pub(crate) fn events(&self, kinds: &[u64]) -> u64 {
        let of_family = Kind::ALL.iter().filter(|kind| (self.has)(**kind));
        of_family.map(|kind| kinds[kind.index()]).sum()
    }

    /// What cannot be known, if the trace has none of it.
    pub(crate) fn lack(&self, kinds: &[u64]) -> Option<&'static str> {
        let without = self.without.filter(|_| self.events(kinds) == 0)?;
        let own = OWN.iter().find(|(family, _)| *family == self.name);
        let own = own.filter(|_| is_own(kinds));
        Some(own.map_or(without, |(_, sentence)| sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_event_but_those_of_programs_is_in_a_family() {
        for kind in Kind::ALL {
            let families = FAMILIES.iter().filter(|family| (family.has)(*kind));
            let names: Vec<&str> = families.map(|family| family.name).collect();
            let expected = usize::from(!matches!(kind, Kind::UstTracef | Kind::UstTracelog));
            assert!(names.len() >= expected, "{kind:?}: {names:?}");
        }
    }
}
