//! How long messages took along an observed path, hop by hop. The parts of a flow add up to its latency exactly.

use rostrace_ctf::schema::Nanos;
use rostrace_trace::entity::{DeliveryId, InstanceId, PublicationId, PublisherId};
use rostrace_trace::flow::{Delivery, Publication};

use crate::analysis::Analysis;
use crate::communication::{Arrival, DropCause};
use crate::flow_path::{Flow, FlowPath, Hop, Origin};
use crate::statistics::Statistics;

/// Which ends of a path belong to its latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Include {
    /// From the start of the callback that published the first message, not from the publication.
    pub first_callback: bool,
    /// To the end of the last callback, not to its start.
    pub last_callback: bool,
}

/// The instants and durations of one flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowTimes {
    pub begin: Nanos,
    pub end: Nanos,
    /// Start of the callback that published the first message, if there was one and it is included.
    pub first_callback: Option<i64>,
    /// By hop: publish to callback.
    pub communications: Vec<Arrival>,
    /// Between hops: start of the callback to the next publish.
    pub nodes: Vec<i64>,
    pub last_callback: Option<i64>,
    /// Whether events were lost on the way.
    pub damaged: bool,
}

impl FlowTimes {
    /// Nothing if an instant of it is not in the trace.
    pub fn of(analysis: &Analysis<'_>, flow: &Flow, include: Include) -> Option<FlowTimes> {
        let deliveries = flow.deliveries.iter().map(|id| analysis.delivery(*id));
        let arrivals: Option<Vec<Arrival>> = flow
            .deliveries
            .iter()
            .map(|id| analysis.arrival(*id).copied())
            .collect();
        let arrivals = arrivals?;
        let (first, last) = (arrivals.first()?, arrivals.last()?);
        let nodes = arrivals
            .windows(2)
            .map(|pair| pair[1].publish.0 - pair[0].received.0)
            .collect();
        let origin = analysis
            .publication(deliveries.clone().next()?.publication)
            .instance;
        let first_callback = origin
            .filter(|_| include.first_callback)
            .map(|instance| first.publish.0 - analysis.instance(instance).start.0);
        let end = analysis
            .delivery(*flow.deliveries.last()?)
            .instance
            .and_then(|instance| analysis.instance(instance).end);
        let last_callback = end
            .filter(|_| include.last_callback)
            .map(|end| end.0 - last.received.0);
        let begin = Nanos(first.publish.0 - first_callback.unwrap_or(0));
        let end = Nanos(last.received.0 + last_callback.unwrap_or(0));
        Some(FlowTimes {
            begin,
            end,
            first_callback,
            damaged: analysis.is_damaged(begin, end)
                || deliveries
                    .clone()
                    .any(|it| analysis.begins_late(it.publication)),
            communications: arrivals,
            nodes,
            last_callback,
        })
    }

    pub fn latency(&self) -> i64 {
        self.end.0 - self.begin.0
    }
}

/// A path summarised.
#[derive(Debug)]
pub struct PathLatency {
    pub latency: Option<Statistics>,
    pub first_callback: Option<Statistics>,
    pub hops: Vec<HopLatency>,
    pub last_callback: Option<Statistics>,
    /// The flow with the largest latency.
    pub worst: Option<usize>,
    /// Flows that touch a time in which events were lost.
    pub damaged: u64,
}

#[derive(Debug)]
pub struct HopLatency {
    /// Publish to callback.
    pub communication: Option<Statistics>,
    /// By [`Stages::NAMES`].
    pub stages: [Option<Statistics>; 4],
    /// Start of the callback to the publish of the next hop; nothing for the last one.
    pub node: Option<Statistics>,
    pub outcome: HopOutcome,
}

/// What became of the messages that came as far as a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HopOutcome {
    /// Published on the path so far.
    pub sent: u64,
    pub arrived: u64,
    /// By [`DropCause::EVERY`].
    pub dropped: [u64; 5],
    /// Executions that published nothing for the next hop.
    pub not_passed_on: u64,
}

pub fn path_latency(analysis: &Analysis<'_>, path: &FlowPath, include: Include) -> PathLatency {
    let hops = path.hops.len();
    let mut latencies = Vec::new();
    let mut ends: [Vec<(i64, Nanos)>; 2] = Default::default();
    let mut messages: Vec<Vec<(i64, Nanos)>> = vec![Vec::new(); hops];
    let mut stages: Vec<[Vec<(i64, Nanos)>; 4]> = vec![Default::default(); hops];
    let mut nodes: Vec<Vec<(i64, Nanos)>> = vec![Vec::new(); hops];
    let mut worst: Option<(i64, usize)> = None;
    let mut damaged = 0;
    for (number, flow) in path.flows.iter().enumerate() {
        let Some(times) = FlowTimes::of(analysis, flow, include) else {
            continue;
        };
        let (begin, latency) = (times.begin, times.latency());
        damaged += u64::from(times.damaged);
        latencies.push((latency, begin));
        if worst.is_none_or(|(most, _)| latency > most) {
            worst = Some((latency, number));
        }
        for (values, value) in ends
            .iter_mut()
            .zip([times.first_callback, times.last_callback])
        {
            values.extend(value.map(|value| (value, begin)));
        }
        for (hop, arrival) in times.communications.iter().enumerate() {
            messages[hop].push((arrival.stages.latency(), begin));
            for (values, value) in stages[hop].iter_mut().zip(arrival.stages.values()) {
                values.push((value, begin));
            }
        }
        for (hop, node) in times.nodes.iter().enumerate() {
            nodes[hop].push((*node, begin));
        }
    }
    let outcomes = outcomes(analysis, path);
    let rows = messages.into_iter().zip(stages).zip(nodes).zip(outcomes);
    let hops = rows.map(
        |(((mut messages, mut stages), mut nodes), outcome)| HopLatency {
            communication: Statistics::of(&mut messages),
            stages: stages.each_mut().map(|it| Statistics::of(it)),
            node: Statistics::of(&mut nodes),
            outcome,
        },
    );
    let hops = hops.collect();
    let [mut first, mut last] = ends;
    PathLatency {
        latency: Statistics::of(&mut latencies),
        first_callback: Statistics::of(&mut first),
        hops,
        last_callback: Statistics::of(&mut last),
        worst: worst.map(|(_, number)| number),
        damaged,
    }
}

/// Whether a publisher is that of a hop.
fn is_of(
    analysis: &Analysis<'_>,
    path: &FlowPath,
    publisher: Option<PublisherId>,
    hop: usize,
) -> bool {
    let model = analysis.model;
    let (node, topic) = publisher.map_or(("", ""), |id| {
        let publisher = &model.publishers[id.index()];
        let node = model.node_name(publisher.node).unwrap_or("");
        (node, publisher.topic.as_str())
    });
    topic == path.hops[hop].topic && node == path.hops[hop].publishing_node
}

/// The messages that were published where a path begins, whatever became of them, publisher by publisher.
fn begun(analysis: &Analysis<'_>, path: &FlowPath) -> Vec<PublicationId> {
    let model = analysis.model;
    let publishers = (0..model.publishers.len()).map(PublisherId::from_index);
    let named = publishers
        .filter(|id| is_of(analysis, path, Some(*id), 0))
        .flat_map(|id| analysis.publications_of(id).iter().copied());
    // Those of publishers that the trace does not name are looked for one by one.
    let all = if is_of(analysis, path, None, 0) {
        model.publications.len()
    } else {
        0
    };
    let unnamed = (0..all)
        .map(PublicationId::from_index)
        .filter(|id| analysis.publication(*id).publisher.is_none());
    named
        .chain(unnamed)
        .filter(|id| {
            let publication = analysis.publication(*id);
            analysis.counts(publication.publish) && is_from(&path.origin, analysis, publication)
        })
        .collect()
}

/// Whether a message was on its way to a hop: to its callback, and not published before there was a subscription.
fn is_to(analysis: &Analysis<'_>, delivery: &Delivery, hop: &Hop) -> bool {
    let subscription = &analysis.model.subscriptions[delivery.subscription.index()];
    let callback = match delivery.instance {
        Some(instance) => analysis.instance(instance).callback,
        None => subscription.callback,
    };
    callback.map_or("", |it| analysis.names.unnumbered(it)) == hop.callback
        && subscription.created <= analysis.publication(delivery.publication).publish
}

/// When each message that was published where a path begins was published, and when it, or what was made from it, reached the path's last
/// callback, also where it went on from there. Nothing for one that was lost on the way, or that nothing was made from. In the order of time.
pub fn begins_and_ends(analysis: &Analysis<'_>, path: &FlowPath) -> Vec<(Nanos, Option<Nanos>)> {
    let Some((last, before)) = path.hops.split_last() else {
        return Vec::new();
    };
    let begins = begun(analysis, path).into_iter().filter(|id| {
        let deliveries = analysis.deliveries_of(*id).iter();
        let mut deliveries = deliveries.map(|id| analysis.delivery(*id));
        deliveries.any(|delivery| is_to(analysis, delivery, &path.hops[0]))
    });
    let mut all = Vec::new();
    for begin in begins {
        let mut sent = vec![begin];
        for (number, hop) in before.iter().enumerate() {
            let arrived = arrivals_at(analysis, &sent, hop);
            let instances = arrived
                .into_iter()
                .filter_map(|id| analysis.delivery(id).instance);
            let next = instances.flat_map(|instance| analysis.publications_in(instance));
            sent = next
                .copied()
                .filter(|id| {
                    let publisher = analysis.publication(*id).publisher;
                    is_of(analysis, path, publisher, number + 1)
                })
                .collect();
        }
        let published = analysis.publication(begin).publish;
        let mut ends: Vec<Nanos> = arrivals_at(analysis, &sent, last)
            .into_iter()
            .filter_map(|id| analysis.arrival(id))
            .map(|arrival| arrival.received)
            .collect();
        ends.dedup();
        all.extend(ends.iter().map(|end| (published, Some(*end))));
        if ends.is_empty() {
            all.push((published, None));
        }
    }
    all.sort_unstable();
    all
}

/// Those of some messages that arrived at a hop.
fn arrivals_at(analysis: &Analysis<'_>, sent: &[PublicationId], hop: &Hop) -> Vec<DeliveryId> {
    let deliveries = sent.iter().flat_map(|id| analysis.deliveries_of(*id));
    deliveries
        .copied()
        .filter(|id| is_to(analysis, analysis.delivery(*id), hop))
        .filter(|id| analysis.drop_cause(*id).is_none())
        .collect()
}

/// Follows all messages of the first hop forward, to where they ended.
fn outcomes(analysis: &Analysis<'_>, path: &FlowPath) -> Vec<HopOutcome> {
    let mut outcomes = vec![HopOutcome::default(); path.hops.len()];
    let mut sent = begun(analysis, path);
    for (number, hop) in path.hops.iter().enumerate() {
        let outcome = &mut outcomes[number];
        let mut arrived: Vec<InstanceId> = Vec::new();
        for publication in &sent {
            for id in analysis.deliveries_of(*publication) {
                let delivery = analysis.delivery(*id);
                if !is_to(analysis, delivery, hop) {
                    continue;
                }
                outcome.sent += 1;
                match analysis.drop_cause(*id) {
                    None => {
                        outcome.arrived += 1;
                        arrived.extend(delivery.instance);
                    }
                    Some(cause) => outcome.dropped[cause as usize] += 1,
                }
            }
        }
        if number + 1 == path.hops.len() {
            break;
        }
        sent.clear();
        for instance in arrived {
            let before = sent.len();
            let publications = analysis.publications_in(instance).iter().copied();
            sent.extend(publications.filter(|id| {
                let publisher = analysis.publication(*id).publisher;
                is_of(analysis, path, publisher, number + 1)
            }));
            outcomes[number].not_passed_on += u64::from(sent.len() == before);
        }
    }
    outcomes
}

/// Whether a publication happened where a path begins.
fn is_from(origin: &Origin, analysis: &Analysis<'_>, publication: &Publication) -> bool {
    match (origin, publication.instance) {
        (Origin::Outside, None) => true,
        (Origin::Callback { name, .. }, Some(instance)) => {
            let callback = analysis.instance(instance).callback;
            callback.map_or("", |id| analysis.names.unnumbered(id)) == name
        }
        _ => false,
    }
}

impl HopOutcome {
    pub fn lost(&self) -> u64 {
        let causes = DropCause::EVERY.iter().zip(self.dropped);
        causes
            .filter(|(cause, _)| !matches!(cause, DropCause::RecordingEnd | DropCause::Unknown))
            .map(|(_, number)| number)
            .sum()
    }
}
