//! Stretches of time over which everything stood still: the machine, or all threads of one process. Callbacks of several threads were held up at once, and
//! nothing that was recorded happened meanwhile. One thread that wakes up late says little; several that do so together have one cause, and none of
//! them is it.
//!
//! `quiet` finds the stretches without an event, `held_up` who was held up in them, and `meanwhile` what the kernel's scheduler tells of them. What is known is that they were late together; why
//! is known only where the kernel's events were recorded too.

mod held_up;
mod meanwhile;
mod quiet;

use std::collections::{BTreeMap, BTreeSet};

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{HostId, InstanceId, ProcessId, ThreadId};

use crate::activity::Activity;
use crate::analysis::Analysis;
use held_up::Candidate;

pub use held_up::Held;
pub use meanwhile::Meanwhile;

/// What is shorter matters to nobody, in nanoseconds.
const NOTICEABLE: i64 = 1_000_000;

/// A row of [`Standstills::list`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StandstillId(u32);

/// What stood still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// All processes of one clock, by the first of their hosts.
    Machine(HostId),
    /// All threads of a process, while others may have gone on.
    Process(ProcessId),
}

impl Scope {
    fn has(self, model: &Model, process: ProcessId) -> bool {
        match self {
            Scope::Machine(host) => machine(model, process) == host,
            Scope::Process(own) => own == process,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standstill {
    pub scope: Scope,
    /// When the first of those that were held up should have gone on.
    pub begin: Nanos,
    pub end: Nanos,
    /// In the order of time.
    pub victims: Vec<(InstanceId, Held)>,
    /// Executions that were under way all the time, and were not held up for all that is known: they usually take as long, or took longer anyway.
    pub running: Vec<InstanceId>,
}

impl Standstill {
    pub fn duration(&self) -> i64 {
        self.end.0 - self.begin.0
    }

    /// One sentence for every output, without its full stop.
    pub fn describe(&self, model: &Model) -> String {
        let (callbacks, processes) = self.held_up(model);
        match self.scope {
            Scope::Machine(_) => format!(
                "nothing happened in any process, {callbacks} callbacks of {processes} processes were held up"
            ),
            Scope::Process(_) => format!(
                "nothing happened in this process, {callbacks} callbacks of it were held up"
            ),
        }
    }

    /// `4 callbacks of 4 processes`, counted.
    pub fn held_up(&self, model: &Model) -> (usize, usize) {
        let rows = || {
            self.victims
                .iter()
                .map(|(id, _)| &model.instances[id.index()])
        };
        let callbacks: BTreeSet<_> = rows().map(|it| (it.callback, it.address)).collect();
        let processes: BTreeSet<_> = rows().map(|it| model.process_of(it.thread)).collect();
        (callbacks.len(), processes.len())
    }
}

/// All of a recording, in the order of time.
#[derive(Debug, Default)]
pub struct Standstills {
    pub list: Vec<Standstill>,
    /// How long the longest one is: how far before an instant those begin that may reach it.
    longest: i64,
}

impl Standstills {
    pub fn of(analysis: &Analysis<'_>) -> Standstills {
        let mut candidates = held_up::candidates(analysis);
        let mut list = Vec::new();
        if candidates.len() > 1 {
            let model = analysis.model;
            let quiet = quiet::stretches(model);
            let machines = quiet.machines.into_iter();
            let machines = machines.map(|(host, gaps)| (Scope::Machine(host), gaps));
            let processes = quiet.processes.into_iter();
            let processes = processes.map(|(id, gaps)| (Scope::Process(id), gaps));
            // What the machine did to a process is not that process's own.
            for (scope, gaps) in machines.chain(processes) {
                find(analysis, scope, &gaps, &mut candidates, &mut list);
            }
        }
        list.sort_by_key(|it: &Standstill| (it.begin, it.end));
        let longest = list.iter().map(Standstill::duration).max();
        Standstills {
            longest: longest.unwrap_or(0),
            list,
        }
    }

    pub fn get(&self, id: StandstillId) -> &Standstill {
        &self.list[id.0 as usize]
    }

    /// Those that a thread was held up by between two instants, in the order of time.
    pub fn on<'s>(
        &'s self,
        model: &'s Model,
        thread: ThreadId,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = (StandstillId, Nanos, Nanos)> + 's {
        let process = model.process_of(thread);
        let earliest = Nanos(from.0.saturating_sub(self.longest));
        let first = self.list.partition_point(|it| it.begin < earliest);
        let rows = self.list.iter().enumerate().skip(first);
        rows.take_while(move |(_, it)| it.begin < to)
            .filter(move |(_, it)| it.end > from && it.scope.has(model, process))
            .map(move |(index, it)| {
                let id = StandstillId(index as u32);
                (id, it.begin.max(from), it.end.min(to))
            })
    }
}

/// The first host that has the clock of a process.
fn machine(model: &Model, process: ProcessId) -> HostId {
    let mut all = (0..model.processes.len()).map(ProcessId::from_index);
    let first = all.find(|other| model.have_one_clock(*other, process));
    model.processes[first.unwrap_or(process).index()].host
}

/// Finds the standstills of one machine or process; who was held up by one is no candidate for another.
fn find(
    analysis: &Analysis<'_>,
    scope: Scope,
    gaps: &[(Nanos, Nanos)],
    candidates: &mut Vec<Candidate>,
    list: &mut Vec<Standstill>,
) {
    let model = analysis.model;
    let mut is_taken = vec![false; candidates.len()];
    for (begin, end) in gaps {
        // In the order of their ends, which are at the end of the gap or later.
        let first = candidates.partition_point(|it| it.end < *end);
        let mut held: Vec<usize> = Vec::new();
        let rows = candidates.iter().enumerate().skip(first);
        // What ends much later was late for the most part because of something else.
        let last = Nanos(end.0.saturating_add(2 * (end.0 - begin.0)));
        for (place, candidate) in rows.take_while(|(_, it)| it.end <= last) {
            let process = model.process_of(candidate.thread);
            if candidate.is_held_up(*begin, *end) && scope.has(model, process) {
                held.push(place);
            }
        }
        let units: BTreeSet<_> = held.iter().map(|place| candidates[*place].unit).collect();
        let processes: BTreeSet<_> = (held.iter())
            .map(|place| model.process_of(candidates[*place].thread))
            .collect();
        let is_common = match scope {
            Scope::Machine(_) => processes.len() > 1,
            Scope::Process(_) => units.len() > 1,
        };
        let since = held.iter().map(|place| candidates[*place].begin).min();
        let Some(since) = since.filter(|_| is_common) else {
            continue;
        };
        let since = since.max(*begin);
        if model.losses.across_threads(since, *end) || !analysis.counts(since) {
            continue;
        }
        let mut victims: Vec<(InstanceId, Held)> = (held.iter())
            .map(|place| (candidates[*place].instance, candidates[*place].held))
            .collect();
        victims.sort();
        victims.dedup_by_key(|(id, _)| *id);
        for place in held {
            is_taken[place] = true;
        }
        let running = running(analysis, scope, since, *end, &victims);
        list.push(Standstill {
            scope,
            begin: since,
            end: *end,
            victims,
            running,
        });
    }
    let mut taken = is_taken.into_iter();
    candidates.retain(|_| !taken.next().unwrap_or(false));
}

/// Executions of a machine or process that were under way all the time and are no victims.
fn running(
    analysis: &Analysis<'_>,
    scope: Scope,
    begin: Nanos,
    end: Nanos,
    victims: &[(InstanceId, Held)],
) -> Vec<InstanceId> {
    let model = analysis.model;
    let mut running: BTreeMap<ThreadId, InstanceId> = BTreeMap::new();
    for index in 0..model.threads.len() {
        let thread = ThreadId::from_index(index);
        if !scope.has(model, model.process_of(thread)) {
            continue;
        }
        for span in analysis.activities().spans(thread, begin, end) {
            if let Activity::Callback(id) = span.activity
                && !victims.iter().any(|(victim, _)| *victim == id)
            {
                running.insert(thread, id);
            }
        }
    }
    running.into_values().collect()
}
