//! Executors and callback groups. Plain ros2_tracing recordings have neither.

use rostrace_ctf::schema::Nanos;

use super::{Address, CallbackId, ExecutorId, ProcessId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executor {
    pub process: ProcessId,
    pub address: Address,
    pub kind: ExecutorType,
    pub created: Nanos,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutorType {
    SingleThreaded,
    MultiThreaded,
    StaticSingleThreaded,
    /// Under the name that the trace has.
    Other(String),
}

impl ExecutorType {
    pub(crate) fn parse(name: &str) -> ExecutorType {
        match name {
            "single_threaded_executor" => ExecutorType::SingleThreaded,
            "multi_threaded_executor" => ExecutorType::MultiThreaded,
            "static_single_threaded_executor" => ExecutorType::StaticSingleThreaded,
            other => ExecutorType::Other(other.to_owned()),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            ExecutorType::SingleThreaded => "single_threaded_executor",
            ExecutorType::MultiThreaded => "multi_threaded_executor",
            ExecutorType::StaticSingleThreaded => "static_single_threaded_executor",
            ExecutorType::Other(name) => name,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackGroup {
    pub process: ProcessId,
    pub address: Address,
    pub kind: CallbackGroupType,
    pub created: Nanos,
    pub executor: Option<ExecutorId>,
    /// In the order in which they were added.
    pub callbacks: Vec<CallbackId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallbackGroupType {
    MutuallyExclusive,
    Reentrant,
    Unknown,
}

impl CallbackGroupType {
    pub(crate) fn parse(name: &str) -> CallbackGroupType {
        match name {
            "mutually_exclusive" => CallbackGroupType::MutuallyExclusive,
            "reentrant" => CallbackGroupType::Reentrant,
            _ => CallbackGroupType::Unknown,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            CallbackGroupType::MutuallyExclusive => "mutually_exclusive",
            CallbackGroupType::Reentrant => "reentrant",
            CallbackGroupType::Unknown => "UNDEFINED",
        }
    }
}
