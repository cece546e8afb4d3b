//! Executors as far as ordinary tracepoints show them: threads that ran the same callbacks.
//!
//! Plain recordings have no event for executors and callback groups, and our own tracer cannot always see them. But a callback belongs to one
//! executor, so all threads that ever ran it are that executor's, and whatever else these threads ran is its work too. This is what was
//! *observed*, not what was declared: callbacks that never ran are in none, threads of one executor that happened to have no callback in common
//! are two, and two executors that one thread spins by turns are one. What runs inside another callback is another executor's, and
//! counts for nobody here.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{Address, CallbackId, ExecutorId, ProcessId, ThreadId};

/// Threads that ran the same callbacks, and those callbacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedExecutor {
    pub process: ProcessId,
    pub threads: BTreeSet<ThreadId>,
    /// Those that have a name.
    pub callbacks: BTreeSet<CallbackId>,
    /// When the first of them began.
    pub first: Nanos,
}

impl ObservedExecutor {
    /// The executors that the trace declares for its callbacks.
    pub fn declared(&self, model: &Model) -> BTreeSet<ExecutorId> {
        let callbacks = self.callbacks.iter();
        callbacks
            .filter_map(|callback| model.callbacks[callback.index()].group)
            .filter_map(|group| model.callback_groups[group.index()].executor)
            .collect()
    }
}

/// What a thread ran: a callback, or an address that the trace does not name.
type Ran = (ProcessId, Result<CallbackId, Address>);

/// All of them, in the order in which they began to work.
pub fn observed_executors(model: &Model) -> Vec<ObservedExecutor> {
    let mut parents: Vec<usize> = (0..model.threads.len()).collect();
    let mut runners: HashMap<Ran, usize> = HashMap::new();
    let mut own: BTreeMap<usize, (Nanos, BTreeSet<CallbackId>)> = BTreeMap::new();
    let mut busy_until: Vec<Nanos> = vec![Nanos(i64::MIN); model.threads.len()];
    for instance in &model.instances {
        let thread = instance.thread.index();
        let until = busy_until[thread];
        busy_until[thread] = until.max(instance.end.unwrap_or(instance.start));
        if instance.start < until {
            continue;
        }
        let process = model.process_of(instance.thread);
        let ran = (process, instance.callback.ok_or(instance.address));
        let first = *runners.entry(ran).or_insert(thread);
        let (one, other) = (root(&mut parents, first), root(&mut parents, thread));
        parents[one.max(other)] = one.min(other);
        let (_, callbacks) = own
            .entry(thread)
            .or_insert_with(|| (instance.start, BTreeSet::new()));
        callbacks.extend(instance.callback);
    }
    let mut found: BTreeMap<usize, ObservedExecutor> = BTreeMap::new();
    for (thread, (first, callbacks)) in own {
        let id = ThreadId::from_index(thread);
        let executor =
            found
                .entry(root(&mut parents, thread))
                .or_insert_with(|| ObservedExecutor {
                    process: model.process_of(id),
                    threads: BTreeSet::new(),
                    callbacks: BTreeSet::new(),
                    first,
                });
        executor.threads.insert(id);
        executor.callbacks.extend(callbacks);
        executor.first = executor.first.min(first);
    }
    let mut found: Vec<ObservedExecutor> = found.into_values().collect();
    found.sort_by_key(|it| it.first);
    found
}

/// Who stands for all that belong together.
fn root(parents: &mut [usize], mut of: usize) -> usize {
    while parents[of] != of {
        parents[of] = parents[parents[of]];
        of = parents[of];
    }
    of
}
