//! Whom the kernel gives CPUs to: threads of all processes, and of the kernel itself, under the names that they had.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::entity::HostId;

/// A row of [`super::Scheduling::tasks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(pub u32);

impl TaskId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A thread under one name: threads may change theirs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Task {
    pub host: HostId,
    /// The kernel's number of the thread; 0 for the idle loop of a CPU, below zero for what is no thread: whatever is not recorded,
    /// an interrupt.
    pub tid: i64,
    /// At most fifteen bytes.
    pub name: String,
}

impl Task {
    /// Whether this is a CPU that has nothing to do.
    pub fn is_idle(&self) -> bool {
        self.tid == 0
    }

    /// Whether it is known who this is. Where only threads of recorded processes are followed, others are all one: that may be
    /// another program, the kernel, or nobody at all.
    pub fn is_recorded(&self) -> bool {
        self.tid >= 0
    }

    /// As sentences call it: `planner 4711`.
    pub fn title(&self) -> String {
        match self.tid {
            1.. => format!("{} {}", self.name, self.tid),
            _ => self.name.clone(),
        }
    }
}

/// No thread has this number.
const UNRECORDED: i64 = -1;
const INTERRUPT: i64 = -2;

/// All tasks seen so far.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    pub(super) list: Vec<Task>,
    known: FxHashMap<Task, TaskId>,
}

impl Tasks {
    /// The task of this name; `last` is where it most probably is.
    pub(super) fn intern(
        &mut self,
        host: HostId,
        tid: i64,
        name: Cow<'_, str>,
        last: Option<TaskId>,
    ) -> TaskId {
        if let Some(last) = last
            && self.list[last.index()].name == name
        {
            return last;
        }
        let task = Task {
            host,
            tid,
            name: name.into_owned(),
        };
        // As many tasks as 2^32 would not fit into memory.
        let next = TaskId(self.list.len() as u32);
        *self.known.entry(task).or_insert_with_key(|task| {
            self.list.push(task.clone());
            next
        })
    }

    /// What ran on a CPU of this host that is not recorded.
    pub(super) fn unrecorded(&mut self, host: HostId) -> TaskId {
        self.intern(
            host,
            UNRECORDED,
            Cow::Borrowed("something that is not recorded"),
            None,
        )
    }

    /// What wakes a thread without being one: a device, or a timer of the kernel.
    pub(super) fn interrupt(&mut self, host: HostId) -> TaskId {
        self.intern(host, INTERRUPT, Cow::Borrowed("an interrupt"), None)
    }
}
