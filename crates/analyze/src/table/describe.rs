//! What the cells of several tables have in common: how threads, callbacks and publishers are described.

use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::entity::{CallbackId, CallbackOwner, InstanceId, ProcessId, PublisherId};

/// What a callback is for.
#[derive(Debug, Default)]
pub(super) struct Owner<'m> {
    /// Empty if the trace does not tell.
    pub(super) kind: &'static str,
    /// Of a service, its name.
    pub(super) topic: &'m str,
    pub(super) period: Option<Nanos>,
}

impl<'m> Owner<'m> {
    pub(super) fn of(model: &'m Model, callback: Option<CallbackId>) -> Owner<'m> {
        let Some(callback) = callback else {
            return Owner::default();
        };
        let (kind, topic, period) = match model.callbacks[callback.index()].owner {
            CallbackOwner::Timer(id) => ("timer", "", Some(model.timers[id.index()].period)),
            CallbackOwner::Subscription(id) => {
                let topic = model.subscriptions[id.index()].topic.as_str();
                ("subscription", topic, None)
            }
            CallbackOwner::Service(id) => {
                ("service", model.services[id.index()].name.as_str(), None)
            }
            CallbackOwner::Client(id) => ("client", model.clients[id.index()].name.as_str(), None),
            CallbackOwner::Unknown => ("", "", None),
        };
        Owner {
            kind,
            topic,
            period,
        }
    }
}

pub(super) fn pid(model: &Model, process: ProcessId) -> i64 {
    model.processes[process.index()].pid
}

/// The node of a callback; empty if it is not known.
pub(super) fn node_of(model: &Model, callback: Option<CallbackId>) -> &str {
    let node = callback.and_then(|callback| model.node_of_callback(callback));
    model.node_name(node).unwrap_or_default()
}

/// Node and topic of a publisher; empty if they are not known.
pub(super) fn publisher(model: &Model, publisher: Option<PublisherId>) -> (&str, &str) {
    let Some(publisher) = publisher else {
        return ("", "");
    };
    let publisher = &model.publishers[publisher.index()];
    let node = model.node_name(publisher.node).unwrap_or_default();
    (node, &publisher.topic)
}

pub(super) fn start_of(model: &Model, instance: Option<InstanceId>) -> Option<Nanos> {
    instance.map(|instance| model.instances[instance.index()].start)
}
