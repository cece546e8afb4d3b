//! Who runs: processes and threads as the events name them, and what each thread is in the middle of.

use rostrace_ctf::schema::{Nanos, Uuid};
use rustc_hash::FxHashMap;

use crate::entity::{
    ClientCallbackId, Host, HostId, InstanceId, Process, ProcessId, PublicationId, TakeId, Thread,
    ThreadId,
};

/// All hosts, processes and threads seen so far.
#[derive(Debug, Default)]
pub(crate) struct Population {
    pub(crate) hosts: Vec<Host>,
    pub(crate) processes: Vec<Process>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) states: Vec<ThreadState>,
    process_of: FxHashMap<(HostId, i64), ProcessId>,
    thread_of: FxHashMap<(HostId, i64, i64), ThreadId>,
    /// The thread of the event before: most events come in runs.
    last: Option<((HostId, i64, i64), ThreadId)>,
    /// Processes of which all events so far were reported from memory.
    unrecorded: FxHashMap<ProcessId, Nanos>,
}

/// What a thread is in the middle of.
#[derive(Debug, Default)]
pub(crate) struct ThreadState {
    /// Callbacks that have begun, innermost last.
    pub(crate) open: Vec<InstanceId>,
    /// The publication whose events may go on.
    pub(crate) publication: Option<(PublicationId, Layer)>,
    /// A publication for the own process that the current one may be the way on of.
    pub(crate) inside: Option<PublicationId>,
    /// The publication after which nothing else happened yet.
    pub(crate) unsettled: Option<PublicationId>,
    /// What was taken and waits for its callback.
    pub(crate) take: Option<TakeId>,
    /// The request that was taken and waits for its callback: index of the service step.
    pub(crate) request: Option<usize>,
    /// The request that is being handed to the middleware: index of the service step, whose number is not known yet.
    pub(crate) sending: Option<usize>,
    /// The response that was taken and waits for its callback: index of the service step.
    pub(crate) response: Option<usize>,
    /// Callbacks of clients that have begun, innermost last.
    pub(crate) clients: Vec<ClientCallbackId>,
    /// What was fetched from a ring buffer and waits for its callback: index of the enqueue.
    pub(crate) dequeued: Option<usize>,
    /// What the next intra-process callback received, where message addresses tell it.
    pub(crate) dispatched: Option<PublicationId>,
}

impl ThreadState {
    /// Whatever waits for a callback will get none.
    pub(crate) fn stop_waiting(&mut self) {
        self.take = None;
        self.request = None;
        self.response = None;
        self.dequeued = None;
        self.dispatched = None;
    }
}

/// The layers that a publication goes through, from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    Intra,
    Rclcpp,
    Rcl,
    Rmw,
    Stamped,
}

impl Population {
    pub(crate) fn host(&mut self, name: &str, clock: Option<Uuid>) -> HostId {
        let found = self.hosts.iter().position(|host| host.name == name);
        HostId::of(found.unwrap_or_else(|| {
            self.hosts.push(Host {
                name: name.to_owned(),
                clock,
            });
            self.hosts.len() - 1
        }))
    }

    /// The thread of an event; `name` is asked for when the process is new or its main thread speaks first.
    #[inline]
    pub(crate) fn thread(
        &mut self,
        host: HostId,
        pid: i64,
        tid: i64,
        at: Nanos,
        name: impl FnOnce() -> Option<String>,
    ) -> ThreadId {
        let key = (host, pid, tid);
        let thread = match self.last {
            Some((last, thread)) if last == key => thread,
            _ => {
                let thread = match self.thread_of.get(&key) {
                    Some(thread) => *thread,
                    None => self.new_thread(key, at, name),
                };
                self.last = Some((key, thread));
                thread
            }
        };
        let process = &mut self.processes[self.threads[thread.index()].process.index()];
        process.events += 1;
        process.last = at;
        thread
    }

    /// The event of this thread was reported from memory, or kept for the names in it: if it is the first of its process, what is recorded
    /// begins later, at the latest `from` then on.
    #[cold]
    pub(crate) fn note_replayed(&mut self, thread: ThreadId, from: Nanos) {
        let process = self.threads[thread.index()].process;
        if self.processes[process.index()].events == 1 {
            self.unrecorded.insert(process, from);
        }
    }

    /// Of what was never recorded but for its names there was no time to observe.
    pub(crate) fn forget_unrecorded(&mut self) {
        for process in self.unrecorded.keys() {
            let process = &mut self.processes[process.index()];
            process.recorded_from = process.last;
        }
    }

    /// The event of this thread was not reported from memory.
    #[inline]
    pub(crate) fn note_recorded(&mut self, thread: ThreadId, at: Nanos) {
        if !self.unrecorded.is_empty() {
            let process = self.threads[thread.index()].process;
            if let Some(from) = self.unrecorded.remove(&process) {
                self.processes[process.index()].recorded_from = at.min(from);
            }
        }
    }

    #[cold]
    fn new_thread(
        &mut self,
        (host, pid, tid): (HostId, i64, i64),
        at: Nanos,
        name: impl FnOnce() -> Option<String>,
    ) -> ThreadId {
        let process = *self.process_of.entry((host, pid)).or_insert_with(|| {
            self.processes.push(Process {
                host,
                pid,
                name: String::new(),
                first: at,
                last: at,
                recorded_from: at,
                events: 0,
                distribution: None,
                tracetools_version: None,
                rmw_implementation: None,
                has_caret: false,
                unseen: Vec::new(),
            });
            ProcessId::of(self.processes.len() - 1)
        });
        // Threads may have names of their own; the main thread has the program's.
        let known = &mut self.processes[process.index()].name;
        if (tid == pid || known.is_empty())
            && let Some(name) = name()
        {
            *known = name;
        }
        self.threads.push(Thread { process, tid });
        self.states.push(ThreadState::default());
        let thread = ThreadId::of(self.threads.len() - 1);
        self.thread_of.insert((host, pid, tid), thread);
        thread
    }

    /// A process that has been seen before, and its last event.
    pub(crate) fn process_seen(&self, host: HostId, pid: i64) -> Option<(ProcessId, Nanos)> {
        let process = *self.process_of.get(&(host, pid))?;
        Some((process, self.processes[process.index()].last))
    }

    pub(crate) fn process_of(&self, thread: ThreadId) -> ProcessId {
        self.threads[thread.index()].process
    }

    pub(crate) fn state(&mut self, thread: ThreadId) -> &mut ThreadState {
        &mut self.states[thread.index()]
    }
}
