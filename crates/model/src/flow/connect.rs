//! Gives the rows of the import their entities, and to each other.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::Distribution;

use super::Fate;
use super::rosout::Rosout;
use crate::entity::{
    Address, CallbackId, CallbackOwner, Entities, HostId, InstanceId, ProcessId, PublicationId,
    SubscriptionId, Thread, ThreadId,
};
use crate::import::{Callable, Imported};

pub(crate) fn connect(imported: &mut Imported, entities: &Entities) {
    let threads = &imported.population.threads;
    let process_of = |thread: ThreadId| threads[thread.index()].process;
    for instance in &mut imported.instances {
        instance.callback = entities.callback_of(
            process_of(instance.thread),
            instance.address,
            instance.start,
        );
    }
    connect_callables(imported, entities);
    super::transient_local::connect_transient_local(imported, entities);
    connect_enqueues(imported, entities);
    for take in &mut imported.takes {
        let process = process_of_thread(&imported.population.threads, take.thread);
        take.subscription = match take.rmw_handle.non_null() {
            Some(handle) => entities.subscription_of(process, handle, take.time),
            None => entities
                .callback_of(process, take.dispatched, take.time)
                .and_then(|callback| subscription_of_callback(entities, callback)),
        };
    }
    for (index, instance) in imported.instances.iter_mut().enumerate() {
        let Some(take) = instance.take else { continue };
        let of_take = imported.takes[take.index()].subscription;
        let of_callback = instance
            .callback
            .and_then(|callback| subscription_of_callback(entities, callback));
        let dispatched = imported.takes[take.index()].dispatched;
        let fits = match (of_take, of_callback) {
            (Some(a), Some(b)) => a == b,
            _ if dispatched.non_null().is_some() => dispatched == instance.address,
            // Nothing contradicts where names are missing on one side and the callback is no other thing.
            (_, None) => instance.callback.is_none(),
            (None, Some(_)) => true,
        };
        let certain = !imported
            .losses
            .between(imported.takes[take.index()].time, instance.start);
        if fits && certain {
            imported.takes[take.index()].instance = Some(InstanceId::of(index));
        } else {
            instance.take = None;
        }
    }
    connect_publications(imported, entities);
    super::connect_tilde(imported, entities);
    super::connect_client_callbacks(imported, entities);
    super::connect_holders(imported);
    for transition in &mut imported.transitions {
        let process = process_of_thread(&imported.population.threads, transition.thread);
        transition.state_machine =
            entities.state_machine_of(process, transition.machine, transition.time);
    }
}

fn process_of_thread(threads: &[Thread], thread: ThreadId) -> ProcessId {
    threads[thread.index()].process
}

pub(super) fn subscription_of_callback(
    entities: &Entities,
    callback: CallbackId,
) -> Option<SubscriptionId> {
    match entities.callbacks[callback.index()].owner {
        CallbackOwner::Subscription(subscription) => Some(subscription),
        _ => None,
    }
}

/// Agnocast runs callables; each stands for a subscription's callback and a message, or for a timer.
fn connect_callables(imported: &mut Imported, entities: &Entities) {
    let called = std::mem::take(&mut imported.callable_instances);
    if called.is_empty() {
        return;
    }
    let host_of = |process: ProcessId| imported.population.processes[process.index()].host;
    // Entry numbers count per topic and host.
    let mut entries: HashMap<(HostId, &str, i64), PublicationId> = HashMap::new();
    for (index, publication) in imported.publications.iter().enumerate() {
        let Some(entry) = publication.entry else {
            continue;
        };
        let process = imported.population.process_of(publication.thread);
        let handle = publication.handle;
        if let Some(publisher) =
            entities.publisher_of(process, handle, Address(0), publication.publish)
        {
            let topic = entities.publishers[publisher.index()].topic.as_str();
            entries.insert((host_of(process), topic, entry), PublicationId::of(index));
        }
    }
    for id in called {
        let instance = &mut imported.instances[id.index()];
        let process = imported.population.threads[instance.thread.index()].process;
        let Some(created) = imported.callables.get(&(process, instance.address)) else {
            continue;
        };
        let younger = created.partition_point(|(time, _)| *time <= instance.start);
        let Some((_, callable)) = younger.checked_sub(1).and_then(|last| created.get(last)) else {
            continue;
        };
        match callable {
            Callable::Timer(timer) => {
                instance.callback = entities.timer_callback(process, *timer, instance.start);
            }
            Callable::Message {
                entry,
                callback_info,
            } => {
                instance.callback = entities.agnocast_callback(process, *callback_info);
                let subscription = instance
                    .callback
                    .and_then(|callback| subscription_of_callback(entities, callback));
                instance.source = subscription.and_then(|subscription| {
                    let topic = entities.subscriptions[subscription.index()].topic.as_str();
                    entries.get(&(host_of(process), topic, *entry)).copied()
                });
            }
        }
    }
}

/// The callback that followed a dequeue got its message, if it is the callback of the buffer's subscription.
fn connect_enqueues(imported: &mut Imported, entities: &Entities) {
    for enqueue in &mut imported.enqueues {
        let Fate::Delivered(instance) = enqueue.fate else {
            continue;
        };
        let process = imported.population.process_of(enqueue.thread);
        let of_buffer = entities
            .ring_buffer_of(process, enqueue.buffer, enqueue.time)
            .and_then(|ring| entities.ring_buffers[ring.index()].subscription);
        let receiver = &mut imported.instances[instance.index()];
        let fits = match (of_buffer, receiver.callback) {
            (Some(subscription), Some(callback)) => {
                subscription_of_callback(entities, callback) == Some(subscription)
            }
            _ => true,
        };
        if !fits {
            enqueue.fate = Fate::Dequeued;
            receiver.source = None;
        }
    }
}

/// A call of `publish` reaches rcl in far less time than this, in nanoseconds.
const LONGEST_CALL: i64 = 1_000_000;

/// Finds the publishers, and drops what is no publication of ROS: the middleware's own discovery data.
fn connect_publications(imported: &mut Imported, entities: &Entities) {
    let threads = &imported.population.threads;
    let rosout = Rosout::of(entities);
    let mut renumbered: Vec<Option<PublicationId>> =
        Vec::with_capacity(imported.publications.len());
    let mut kept = 0;
    imported.publications.retain_mut(|publication| {
        let process = threads[publication.thread.index()].process;
        publication.publisher = entities.publisher_of(
            process,
            publication.handle,
            publication.rmw_handle,
            publication.publish,
        );
        let before = Nanos(publication.publish.0.saturating_sub(LONGEST_CALL));
        // From Iron on the middleware tells whose it is; and what rclcpp reported of it may be lost.
        let may_be_of_rcl = (imported.population.processes[process.index()].distribution)
            .is_some_and(|distribution| distribution < Distribution::Iron)
            && !imported.losses.between(before, publication.publish);
        if publication.publisher.is_none() && may_be_of_rcl {
            let instance = publication
                .instance
                .map(|id| &imported.instances[id.index()]);
            let callback = instance.and_then(|instance| instance.callback);
            let node = callback.and_then(|callback| entities.node_of(callback));
            publication.publisher = rosout.publisher(process, publication, node);
        }
        if let Some(instance) = publication.instance {
            // A callback without an end was over when the next one began on its thread.
            let over = imported
                .covered
                .get(&instance)
                .is_some_and(|covered| *covered < publication.publish);
            if over && imported.instances[instance.index()].end.is_none() {
                publication.instance = None;
            }
        }
        let of_ros = publication
            .intra
            .or(publication.rclcpp)
            .or(publication.rcl)
            .is_some();
        let keep = of_ros || publication.publisher.is_some();
        renumbered.push(keep.then(|| PublicationId::of(kept)));
        kept += usize::from(keep);
        keep
    });
    let renumber = |id: &mut Option<PublicationId>| *id = id.and_then(|id| renumbered[id.index()]);
    imported
        .instances
        .iter_mut()
        .for_each(|instance| renumber(&mut instance.source));
    imported
        .enqueues
        .iter_mut()
        .for_each(|enqueue| renumber(&mut enqueue.publication));
}
