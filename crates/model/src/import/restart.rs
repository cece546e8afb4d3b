//! Process ids that come back.
//!
//! A process id is used again sooner or later; in containers every start of a program has the same one. A trace shows it as one process
//! that initialises ROS again. That begins a new process
//!
//! - if the version of tracetools is another one: a process has one; or
//! - if nothing that was created or used before is ever used again, and the process has another name or new nodes appear.
//!
//! A program that makes a second context goes on to use its old entities, so it stays one process. One that
//! shuts everything down and begins anew cannot be told from a restart, and nothing is lost by treating it as one.

use std::collections::{BTreeMap, HashMap};

use rostrace_ctf::schema::Nanos;

use super::Imported;
use super::init::Init;
use crate::entity::{Address, InstanceId, Process, ProcessId, Thread, ThreadId};
use crate::flow::Fate;

/// An initialisation of ROS in a process of which the trace has seen something before.
#[derive(Debug, Clone)]
pub(crate) struct Reinitialisation {
    pub(super) process: ProcessId,
    pub(super) at: Nanos,
    /// Of the main thread, if it is the one that initialises.
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    /// How many events the process had before, and when the last one was.
    pub(super) events: u64,
    pub(super) last: Nanos,
}

/// What kind of thing an address means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Thing {
    Node,
    Callback,
    Publisher,
    RmwPublisher,
    RmwSubscription,
    RingBuffer,
    StateMachine,
}

/// Gives each life of a process id its own process and threads.
pub(super) fn split_processes(imported: &mut Imported) {
    let candidates = std::mem::take(&mut imported.initialised_again);
    if candidates.is_empty() {
        return;
    }
    let mut of_process: BTreeMap<ProcessId, Vec<Reinitialisation>> = BTreeMap::new();
    for again in candidates {
        of_process.entry(again.process).or_default().push(again);
    }
    let traffic = Traffic::new(imported, &of_process);
    let mut births: HashMap<ProcessId, Vec<Birth>> = HashMap::new();
    for (process, candidates) in of_process {
        let restarts = restarts(imported, process, candidates, &traffic);
        if !restarts.is_empty() {
            births.insert(process, new_lives(imported, process, &restarts));
        }
    }
    if !births.is_empty() {
        move_rows(imported, &births);
        forget_what_spans(imported);
    }
}

/// The candidates that begin a new process.
fn restarts(
    imported: &Imported,
    process: ProcessId,
    candidates: Vec<Reinitialisation>,
    traffic: &Traffic,
) -> Vec<Reinitialisation> {
    let mut version = first_version(imported, process);
    let mut name = imported.population.processes[process.index()].name.clone();
    let last_node = last_node(imported, process);
    let mut lived = false;
    let mut restarts = Vec::new();
    for (number, again) in candidates.into_iter().enumerate() {
        lived |= traffic.before(process, number);
        let other_version =
            version.is_some() && again.version.is_some() && version != again.version;
        let other_name = again.name.as_ref().is_some_and(|other| *other != name);
        // What was lost may have been used.
        let all_is_new = lived && !traffic.across(process, number) && !imported.losses.any();
        let something_new = other_name || last_node.is_some_and(|last| last >= again.at);
        if other_version || all_is_new && something_new {
            version = again.version.clone().or(version);
            name = again.name.clone().unwrap_or(name);
            lived = false;
            restarts.push(again);
        }
    }
    restarts
}

/// Where a life begins.
#[derive(Debug, Clone, Copy)]
struct Birth {
    at: Nanos,
    process: ProcessId,
}

/// A process for each restart. What was counted for all of them together is divided.
fn new_lives(
    imported: &mut Imported,
    process: ProcessId,
    restarts: &[Reinitialisation],
) -> Vec<Birth> {
    let processes = &mut imported.population.processes;
    let whole = processes[process.index()].clone();
    let first = &mut processes[process.index()];
    (first.events, first.last) = (restarts[0].events, restarts[0].last);
    let mut births = Vec::new();
    for (number, again) in restarts.iter().enumerate() {
        let next = restarts.get(number + 1);
        let (events, last) =
            next.map_or((whole.events, whole.last), |next| (next.events, next.last));
        births.push(Birth {
            at: again.at,
            process: ProcessId::of(processes.len()),
        });
        processes.push(Process {
            name: again.name.clone().unwrap_or_else(|| whole.name.clone()),
            first: again.at,
            last,
            recorded_from: again.at,
            events: events - again.events,
            ..whole.clone()
        });
    }
    births
}

fn first_version(imported: &Imported, process: ProcessId) -> Option<String> {
    imported.inits.iter().find_map(|init| match &init.init {
        Init::Context { version, .. } if init.process == process => version.clone(),
        _ => None,
    })
}

/// When the last node of a process was created.
fn last_node(imported: &Imported, process: ProcessId) -> Option<Nanos> {
    let is_node = |init: &Init| matches!(init, Init::Node { .. });
    let mut latest_first = imported.inits.iter().rev();
    latest_first
        .find(|init| init.process == process && is_node(&init.init))
        .map(|init| init.time)
}

/// For each candidate of each process: what happened around it.
struct Traffic(HashMap<ProcessId, Vec<Around>>);

#[derive(Debug, Clone, Copy, Default)]
struct Around {
    /// Something was created or used between the candidate before and this one.
    before: bool,
    /// Something from before is used after.
    across: bool,
}

impl Traffic {
    fn before(&self, process: ProcessId, candidate: usize) -> bool {
        self.0[&process][candidate].before
    }

    fn across(&self, process: ProcessId, candidate: usize) -> bool {
        self.0[&process][candidate].across
    }

    fn new(
        imported: &Imported,
        candidates: &BTreeMap<ProcessId, Vec<Reinitialisation>>,
    ) -> Traffic {
        let mut uses: Vec<(Nanos, bool, ProcessId, Thing, Address)> = Vec::new();
        let mut note =
            |time: Nanos, creates: bool, process: ProcessId, thing: Thing, at: Address| {
                if at.non_null().is_some() && candidates.contains_key(&process) {
                    uses.push((time, creates, process, thing, at));
                }
            };
        for init in &imported.inits {
            let (time, process) = (init.time, init.process);
            let mut creates = |thing: Thing, at: Address| note(time, true, process, thing, at);
            match &init.init {
                Init::Node { handle, .. } => creates(Thing::Node, *handle),
                Init::Publisher { handle, rmw, .. } => {
                    creates(Thing::Publisher, *handle);
                    creates(Thing::RmwPublisher, *rmw);
                }
                Init::Subscription { rmw, .. } => creates(Thing::RmwSubscription, *rmw),
                Init::SubscriptionCallback { callback, .. }
                | Init::TimerCallback { callback, .. }
                | Init::ServiceCallback { callback, .. }
                | Init::AgnocastSubscription { callback, .. }
                | Init::AgnocastTimer { callback, .. } => creates(Thing::Callback, *callback),
                Init::RingBuffer { buffer, .. } => creates(Thing::RingBuffer, *buffer),
                Init::StateMachine { machine, .. } => creates(Thing::StateMachine, *machine),
                _ => {}
            }
            let mut refers = |thing: Thing, at: Address| note(time, false, process, thing, at);
            match &init.init {
                // Up to Iron the publisher of /rosout comes before its node.
                Init::Publisher { topic, .. } if topic == "/rosout" => {}
                Init::Publisher { node, .. }
                | Init::Subscription { node, .. }
                | Init::Service { node, .. }
                | Init::Client { node, .. }
                | Init::TimerNode { node, .. }
                | Init::StateMachine { node, .. } => refers(Thing::Node, *node),
                _ => {}
            }
        }
        let process_of = |thread: ThreadId| imported.population.process_of(thread);
        let mut uses_of = |thread: ThreadId, time: Nanos, thing: Thing, at: Address| {
            note(time, false, process_of(thread), thing, at);
        };
        for row in &imported.instances {
            uses_of(row.thread, row.start, Thing::Callback, row.address);
        }
        for row in &imported.publications {
            match row.rmw_handle.non_null() {
                Some(rmw) => uses_of(row.thread, row.last, Thing::RmwPublisher, rmw),
                None => uses_of(row.thread, row.last, Thing::Publisher, row.handle),
            }
        }
        for row in &imported.takes {
            uses_of(row.thread, row.time, Thing::RmwSubscription, row.rmw_handle);
        }
        for row in &imported.enqueues {
            uses_of(row.thread, row.time, Thing::RingBuffer, row.buffer);
        }
        for row in &imported.transitions {
            uses_of(row.thread, row.time, Thing::StateMachine, row.machine);
        }
        uses.sort_unstable_by_key(|(time, creates, process, thing, at)| {
            (*time, !creates, *process, *thing as u8, *at)
        });
        let mut around: HashMap<ProcessId, Vec<Around>> = (candidates.iter())
            .map(|(process, list)| (*process, vec![Around::default(); list.len()]))
            .collect();
        // Since when an address means what it means now.
        let mut since: HashMap<(ProcessId, Thing, Address), Nanos> = HashMap::new();
        for (time, creates, process, thing, at) in uses {
            let (Some(list), Some(around)) = (candidates.get(&process), around.get_mut(&process))
            else {
                continue;
            };
            let end = list.partition_point(|again| again.at <= time);
            if let Some(next) = around.get_mut(end) {
                next.before = true;
            }
            let key = (process, thing, at);
            if creates {
                since.insert(key, time);
                continue;
            }
            let origin = *since.entry(key).or_insert(time);
            let begin = list.partition_point(|again| again.at <= origin);
            if begin < end {
                around[begin..end]
                    .iter_mut()
                    .for_each(|candidate| candidate.across = true);
                // From now on only younger candidates are in question: none is looked at twice for one address.
                since.insert(key, time);
            }
        }
        Traffic(around)
    }
}

/// Rows after a birth belong to new threads of the new process.
fn move_rows(imported: &mut Imported, births: &HashMap<ProcessId, Vec<Birth>>) {
    let life_of = |process: ProcessId, time: Nanos| -> Option<ProcessId> {
        let lives = births.get(&process)?;
        let begun = lives.partition_point(|birth| birth.at <= time);
        begun.checked_sub(1).map(|last| lives[last].process)
    };
    let threads = &mut imported.population.threads;
    let mut moved: HashMap<(ThreadId, ProcessId), ThreadId> = HashMap::new();
    let mut to = |thread: &mut ThreadId, time: Nanos| {
        let Thread { process, tid } = threads[thread.index()];
        if let Some(life) = life_of(process, time) {
            *thread = *moved.entry((*thread, life)).or_insert_with(|| {
                threads.push(Thread { process: life, tid });
                ThreadId::of(threads.len() - 1)
            });
        }
    };
    imported
        .instances
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.start));
    imported
        .publications
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.publish));
    imported
        .takes
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .enqueues
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .phases
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .transitions
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .data_available
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .service_steps
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .client_callbacks
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.start));
    imported
        .message_links
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .message_sizes
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .endings
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .tilde_endpoints
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .tilde_steps
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .user_events
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    imported
        .lock_waits
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.begin));
    imported
        .condition_notifications
        .iter_mut()
        .for_each(|row| to(&mut row.thread, row.time));
    for init in &mut imported.inits {
        if let Some(life) = life_of(init.process, init.recorded) {
            init.process = life;
        }
    }
    let mut callables = HashMap::new();
    for ((process, address), list) in imported.callables.drain() {
        for (time, callable) in list {
            let life = life_of(process, time).unwrap_or(process);
            let list: &mut Vec<_> = callables.entry((life, address)).or_default();
            list.push((time, callable));
        }
    }
    imported.callables = callables;
}

/// What the import tied together across a birth, because thread and addresses are the same, does not belong together.
fn forget_what_spans(imported: &mut Imported) {
    let Imported {
        instances,
        publications,
        takes,
        enqueues,
        service_steps,
        client_callbacks,
        population,
        ..
    } = imported;
    let life = |thread: ThreadId| population.threads[thread.index()].process;
    let instance_life: Vec<ProcessId> = instances.iter().map(|row| life(row.thread)).collect();
    for (row, mine) in instances.iter_mut().zip(&instance_life) {
        row.take = row
            .take
            .filter(|take| life(takes[take.index()].thread) == *mine);
        row.source =
            (row.source).filter(|source| life(publications[source.index()].thread) == *mine);
        let last = population.processes[mine.index()].last;
        row.end = row.end.filter(|end| *end <= last);
    }
    let of = |instance: InstanceId| instance_life[instance.index()];
    for row in publications.iter_mut() {
        let mine = life(row.thread);
        row.instance = row.instance.filter(|instance| of(*instance) == mine);
        row.client_callback = (row.client_callback)
            .filter(|client| life(client_callbacks[client.index()].thread) == mine);
    }
    for row in client_callbacks.iter_mut() {
        let last = population.processes[life(row.thread).index()].last;
        row.end = row.end.filter(|end| *end <= last);
    }
    for row in service_steps.iter_mut() {
        let mine = life(row.thread);
        row.instance = row.instance.filter(|instance| of(*instance) == mine);
        row.client_callback = (row.client_callback)
            .filter(|callback| life(client_callbacks[callback.index()].thread) == mine);
    }
    for row in enqueues.iter_mut() {
        if let Fate::Delivered(instance) = row.fate
            && of(instance) != life(row.thread)
        {
            row.fate = Fate::Queued;
        }
    }
}
