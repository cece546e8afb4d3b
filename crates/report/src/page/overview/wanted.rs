//! Which findings a choice of nodes, topics and processes leaves.

use rostrace_analyze::finding::{FindingKind, Runner};
use rostrace_analyze::thread::Ran;
use rostrace_model::entity::SubscriptionId;

use crate::page::Subject;

pub(super) fn is_wanted(subject: Subject<'_>, kind: &FindingKind) -> bool {
    let (model, selection) = (subject.analysis.model, &subject.analysis.selection);
    let runs = |runner: &Runner| match runner.ran {
        Ran::Callback(callback) => selection.has_callback(model, callback),
        Ran::Client(client) => {
            selection.has_node(model, model.clients[client.index()].node)
                && selection.fits_topic(None)
        }
        Ran::Unnamed(_) => selection.has_unnamed(model, runner.process),
    };
    let receives = |subscription: &SubscriptionId| {
        let subscription = &model.subscriptions[subscription.index()];
        selection.fits_topic(Some(&subscription.topic))
            && selection.has_node(model, subscription.node)
    };
    match kind {
        FindingKind::Blocked { runner, .. } | FindingKind::LongExecution { runner, .. } => {
            runs(runner)
        }
        FindingKind::LateExecution { callback, .. }
        | FindingKind::SkippedFirings { callback, .. } => selection.has_callback(model, *callback),
        FindingKind::LostMessages { subscription, .. }
        | FindingKind::OverflowingQueue { subscription, .. } => receives(subscription),
        FindingKind::Pause { publisher, .. } => selection.has_publisher(model, *publisher),
        FindingKind::SilentTopics { topics, .. } => {
            let mut topics = topics.iter();
            selection.nodes.is_empty()
                && selection.pids.is_empty()
                && topics.any(|topic| selection.fits_topic(Some(topic)))
        }
        FindingKind::BusyThread { thread, .. } => {
            selection.has_process(model, model.process_of(*thread))
        }
        FindingKind::SlowPath { path, .. } => {
            selection.has_observed_path(&subject.shared.paths()[*path].0)
        }
        FindingKind::Standstill { victims, .. } => {
            let mut victims = victims.iter();
            victims.any(|callback| selection.has_callback(model, *callback))
        }
        FindingKind::EndedEarly { process, .. } => selection.has_process(model, *process),
        FindingKind::LateNodes { nodes, .. } => {
            let mut nodes = nodes.iter();
            selection.topics.is_empty() && nodes.any(|node| selection.has_node(model, Some(*node)))
        }
    }
}
