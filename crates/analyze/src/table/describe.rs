//! What the cells of several tables have in common: how threads, callbacks and publishers are described.

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::describe::{CallbackKind, Description};
use rostrace_model::entity::{CallbackId, InstanceId, ProcessId, PublisherId};

/// What a callback is; nothing at all of one that the trace does not name.
pub(super) fn described(model: &Model, callback: Option<CallbackId>) -> Description<'_> {
    callback.map_or_else(Description::default, |id| Description::of(model, id))
}

/// Empty if the trace does not tell.
pub(super) fn kind(callback: &Description<'_>) -> &'static str {
    match callback.kind {
        CallbackKind::Unknown => "",
        kind => kind.name(),
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
