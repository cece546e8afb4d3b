//! Processes that took messages, requests or had timers, but of whose callbacks nothing is known: their client library has no tracepoints
//! for them. An empty list would look as if nothing had run.

use std::collections::BTreeSet;

use rostrace_model::describe::built_in;
use rostrace_model::entity::{ProcessId, SubscriptionId};

use crate::capabilities::CALLBACKS;
use crate::view::View;
use rostrace_base::units;

/// `no callbacks are known of 2 subscriptions in python3 4711: …`; nothing where all that should have callbacks tells of them.
pub(crate) fn sentence(view: &View<'_>) -> Option<String> {
    let model = view.model;
    let observed: BTreeSet<ProcessId> = (model.instances.iter())
        .map(|instance| model.process_of(instance.thread))
        .collect();
    // Elsewhere: then a callback that is named and never ran is as silent as one that is not.
    let has_callbacks = CALLBACKS.events(&model.kinds) > 0;
    // What belongs to a command of ros2 is nobody's concern.
    let is_tool = |process: ProcessId| {
        let mut nodes = model.nodes.iter().filter(|it| it.process == process);
        nodes.clone().next().is_some() && nodes.all(|it| built_in::node(&it.name))
    };
    let is_unobserved = |process: ProcessId| {
        !observed.contains(&process) && view.has_process(process) && !is_tool(process)
    };
    let took: BTreeSet<_> = view.takes().filter_map(|take| take.subscription).collect();
    let subscriptions = (model.subscriptions.iter().enumerate())
        .filter(|(index, it)| {
            (it.callback.is_none() || has_callbacks)
                && !built_in::topic(&it.topic)
                && took.contains(&SubscriptionId(*index as u32))
        })
        .map(|(_, it)| it.process);
    let services = (model.services.iter())
        .filter(|it| {
            it.callback.is_none() && !built_in::service(model.node_name(it.node), &it.name)
        })
        .map(|it| it.process);
    // rclpy makes one whenever it waits for a limited time: their number would say nothing.
    let timers: BTreeSet<ProcessId> = (model.timers.iter())
        .filter(|it| it.callback.is_none() && is_unobserved(it.process))
        .map(|it| it.process)
        .collect();
    let mut processes = BTreeSet::new();
    let mut parts = Vec::new();
    let mut add = |found: Vec<ProcessId>, noun: &str| {
        if !found.is_empty() {
            parts.push(units::counted(found.len() as u64, noun));
            processes.extend(found);
        }
    };
    add(
        subscriptions.filter(|it| is_unobserved(*it)).collect(),
        "subscription",
    );
    add(
        services.filter(|it| is_unobserved(*it)).collect(),
        "service",
    );
    if !timers.is_empty() {
        parts.push("timers".to_owned());
        processes.extend(timers);
    }
    let first = &model.processes[processes.first()?.index()];
    let others = match processes.len() - 1 {
        0 => String::new(),
        1 => " and 1 more process".to_owned(),
        more => format!(" and {more} more processes"),
    };
    let what = match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => return None,
    };
    Some(format!(
        "no callbacks are known of {what} in {} {}{others}: messages are taken by hand there, or the client library does not tell of \
         callbacks (r2r, rclrs, rclpy without our tracer or with its events executor); what was sent and received is known, what \
         ran and how long is not",
        first.name, first.pid
    ))
}
