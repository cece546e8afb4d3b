//! Waits for locks and condition variables, and who let them wait.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;

use crate::entity::{Address, ProcessId, ThreadId};
use crate::import::Imported;

/// A thread waited for a lock that another thread held, or for a condition variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockWait {
    pub thread: ThreadId,
    pub lock: Address,
    pub kind: LockKind,
    pub begin: Nanos,
    /// Nothing if it still waited when the recording ended.
    pub end: Option<Nanos>,
    /// Whether its time limit passed before the end of the wait.
    pub timed_out: bool,
    /// Who held the lock, since when: the first since the beginning of the wait or before. Empty if that is not known.
    pub holders: Vec<(Nanos, LockHolder)>,
    /// The code that waits, where the trace tells.
    pub caller: Option<Address>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockKind {
    Mutex,
    /// A read-write lock, to read.
    Read,
    /// A read-write lock, to write.
    Write,
    Condition,
}

/// A thread that held a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LockHolder {
    pub tid: i64,
    /// Nothing if nothing else is recorded of it.
    pub thread: Option<ThreadId>,
}

/// A thread notified those that waited for a condition variable, or one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionNotification {
    pub thread: ThreadId,
    pub condition: Address,
    pub time: Nanos,
    /// All of them, and not one.
    pub all: bool,
}

/// Holders are reported by the id of their thread, which belongs to a thread of the same process.
pub(crate) fn connect_holders(imported: &mut Imported) {
    if imported.lock_waits.is_empty() {
        return;
    }
    let threads = &imported.population.threads;
    let known: HashMap<(ProcessId, i64), ThreadId> = (threads.iter().enumerate())
        .map(|(index, thread)| ((thread.process, thread.tid), ThreadId::from_index(index)))
        .collect();
    for wait in &mut imported.lock_waits {
        let process = threads[wait.thread.index()].process;
        for (_, holder) in &mut wait.holders {
            holder.thread = known.get(&(process, holder.tid)).copied();
        }
    }
}
