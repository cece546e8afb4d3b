//! Stretches of time in which nothing was recorded of a machine, or of a process.

use std::collections::BTreeMap;

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{HostId, ProcessId, ThreadId};

use super::{NOTICEABLE, machine};

/// From the last event before each stretch to the first one behind it.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    pub(super) machines: BTreeMap<HostId, Vec<(Nanos, Nanos)>>,
    pub(super) processes: BTreeMap<ProcessId, Vec<(Nanos, Nanos)>>,
}

pub(super) fn stretches(model: &Model) -> Quiet {
    let mut of_processes: Vec<Vec<i64>> = vec![Vec::new(); model.processes.len()];
    let mut add = |thread: ThreadId, at: Nanos| {
        of_processes[model.process_of(thread).index()].push(at.0);
    };
    for it in &model.instances {
        add(it.thread, it.start);
        if let Some(end) = it.end {
            add(it.thread, end);
        }
    }
    for it in &model.client_callbacks {
        add(it.thread, it.start);
        if let Some(end) = it.end {
            add(it.thread, end);
        }
    }
    for it in &model.publications {
        add(it.thread, it.publish);
        add(it.thread, it.last);
    }
    model.takes.iter().for_each(|it| add(it.thread, it.time));
    model.enqueues.iter().for_each(|it| add(it.thread, it.time));
    model.phases.iter().for_each(|it| add(it.thread, it.time));
    let steps = model.service_steps.iter();
    steps.for_each(|it| add(it.thread, it.time));
    let links = model.message_links.iter();
    links.for_each(|it| add(it.thread, it.time));
    let events = model.user_events.iter();
    events.for_each(|it| add(it.thread, it.time));
    let mut quiet = Quiet::default();
    let mut of_machines: BTreeMap<HostId, Vec<i64>> = BTreeMap::new();
    for (index, mut instants) in of_processes.into_iter().enumerate() {
        let process = ProcessId::from_index(index);
        instants.sort_unstable();
        quiet.processes.insert(process, gaps(&instants));
        let of_machine = of_machines.entry(machine(model, process)).or_default();
        of_machine.append(&mut instants);
    }
    for (host, mut instants) in of_machines {
        instants.sort_unstable();
        quiet.machines.insert(host, gaps(&instants));
    }
    quiet
}

fn gaps(instants: &[i64]) -> Vec<(Nanos, Nanos)> {
    let pairs = instants.windows(2);
    pairs
        .filter(|pair| pair[1] - pair[0] >= NOTICEABLE)
        .map(|pair| (Nanos(pair[0]), Nanos(pair[1])))
        .collect()
}
