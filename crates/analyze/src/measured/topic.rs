//! Topics: how often anybody publishes on them.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::{built_in, names};
use rostrace_model::entity::PublisherId;

use super::series::Series;
use crate::analysis::Analysis;
use crate::selection::Selection;

#[derive(Debug, Clone, Default)]
pub struct MeasuredTopic {
    pub name: String,
    /// Nodes.
    pub publishers: BTreeSet<String>,
    pub subscribers: BTreeSet<String>,
    /// When messages were published, by whomever, in the order of time.
    pub instants: Vec<Nanos>,
    /// From one publication to the next. Those during which events were lost are left out.
    pub intervals: Series,
}

/// So many per second between the first and the last: (n − 1) / (last − first). The instants are in order; where events were lost, it is
/// a lower bound.
pub(crate) fn rate_of(instants: &[Nanos]) -> Option<f64> {
    let (first, last) = (instants.first()?, instants.last()?);
    let nanoseconds = last.0.saturating_sub(first.0);
    (nanoseconds > 0).then(|| (instants.len() - 1) as f64 * 1e9 / nanoseconds as f64)
}

pub(super) fn measured(
    analysis: &Analysis<'_>,
    selection: &Selection,
    with_built_in: bool,
) -> Vec<MeasuredTopic> {
    let model = analysis.model;
    let mut found: BTreeMap<&str, MeasuredTopic> = BTreeMap::new();
    // Numbers of a topic are those of all its publishers; the filters choose which topics there are.
    let mut chosen: BTreeSet<&str> = BTreeSet::new();
    let mut choose = |topic, node: &str, pid| {
        let wanted = selection.fits_topic(Some(topic))
            && selection.fits_node(Some(node))
            && selection.fits_pid(pid)
            && (with_built_in || !built_in::topic(topic) && !built_in::node(node));
        if wanted {
            chosen.insert(topic);
        }
    };
    for (index, publisher) in model.publishers.iter().enumerate() {
        let node = names::of_node(model, publisher.node);
        let pid = model.processes[publisher.process.index()].pid;
        choose(publisher.topic.as_str(), node, pid);
        let topic = found.entry(&publisher.topic).or_default();
        topic.publishers.insert(node.to_owned());
        let publications = analysis.publications_of(PublisherId::from_index(index));
        let instants = publications
            .iter()
            .map(|id| analysis.publication(*id).publish);
        topic.instants.extend(instants);
    }
    for subscription in &model.subscriptions {
        let node = names::of_node(model, subscription.node);
        let pid = model.processes[subscription.process.index()].pid;
        choose(subscription.topic.as_str(), node, pid);
        let topic = found.entry(&subscription.topic).or_default();
        topic.subscribers.insert(node.to_owned());
    }
    found.retain(|name, _| chosen.contains(name));
    let topics = found.into_iter().map(|(name, mut topic)| {
        topic.name = name.to_owned();
        topic.instants.sort_unstable();
        let mut before: Option<Nanos> = None;
        for at in &topic.instants {
            let previous = before.replace(*at);
            if !analysis.counts(*at) {
                continue;
            }
            match previous {
                Some(previous) if analysis.is_damaged(previous, *at) => {
                    topic.intervals.damaged += 1;
                }
                Some(previous) => topic.intervals.push(at.0.saturating_sub(previous.0), *at),
                None => {}
            }
        }
        topic.instants.retain(|at| analysis.counts(*at));
        topic
    });
    topics.collect()
}
