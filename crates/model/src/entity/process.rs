//! Hosts, processes, threads, nodes and their lifecycle state machines.

use rostrace_ctf::schema::{Nanos, Uuid};
use rostrace_tracepoints::Distribution;

use super::{Address, HostId, NodeId, ProcessId, Unseen};

/// A machine, by the host name in the trace's environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Empty if the trace does not say it.
    pub name: String,
    /// The identity of its clock, which changes when it is started anew; nothing if the trace does not say it.
    pub clock: Option<Uuid>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub host: HostId,
    pub pid: i64,
    /// Of the main thread; empty if the trace does not say it.
    pub name: String,
    pub first: Nanos,
    pub last: Nanos,
    /// The first event that is not reported from memory: a tracer that was attached to a process tells what was created before, with
    /// the times of then.
    pub recorded_from: Nanos,
    pub events: u64,
    pub distribution: Option<Distribution>,
    /// The version of tracetools that `rcl_init` tells.
    pub tracetools_version: Option<String>,
    pub rmw_implementation: Option<String>,
    /// CARET's library was loaded.
    pub has_caret: bool,
    /// What our own tracer could not see here, by function.
    pub unseen: Vec<Unseen>,
}

impl Process {
    /// From when to when it was recorded: what utilisations, rates and shares are parts of.
    pub fn recorded(&self) -> (Nanos, Nanos) {
        (self.recorded_from, self.last.max(self.recorded_from))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    pub process: ProcessId,
    pub tid: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub process: ProcessId,
    pub handle: Address,
    /// Namespace and name, joined by one slash.
    pub name: String,
    pub created: Nanos,
    /// When it was destroyed, where the trace tells.
    pub ended: Option<Nanos>,
}

/// The states of a lifecycle node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateMachine {
    pub process: ProcessId,
    pub node: Option<NodeId>,
    pub handle: Address,
    pub created: Nanos,
}

/// The full name of a node.
pub(crate) fn full_name(namespace: &str, name: &str) -> String {
    let namespace = namespace.trim_end_matches('/');
    format!("{namespace}/{name}")
}

#[cfg(test)]
mod tests {
    use super::full_name;

    #[test]
    fn namespace_and_name_are_joined_by_one_slash() {
        assert_eq!(full_name("/", "talker"), "/talker");
        assert_eq!(full_name("/a/b", "talker"), "/a/b/talker");
        assert_eq!(full_name("", "talker"), "/talker");
    }
}
