//! Communications: all messages from one publisher to one subscription, how long they took, stage by stage, and why some did not arrive.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use rostrace_analyze::communication::{Arrival, DropCause, Pair, Stages};
use rostrace_analyze::why::Why;
use rostrace_model::entity::{DeliveryId, PublisherId, SubscriptionId};
use rostrace_model::flow::DeliveryKind;
use serde::Serialize;

use super::columns::{ColumnReference, Columns};
use super::distribution::Distribution;
use super::series::{Allowance, Series};
use super::{MOST_WAITS, Subject};
use crate::explained::Explained;

/// Bars of one chart of drops.
const DROP_BARS: i64 = 60;

/// Which messages belong together: as [`Pair`] has them.
pub(crate) type PairKey = (PublisherId, SubscriptionId, DeliveryKind);

/// What the page has of a communication beside its row.
#[derive(Debug, Serialize)]
pub(crate) struct Communication {
    id: usize,
    link: String,
    links: BTreeMap<&'static str, String>,
    topic_id: usize,
    /// That of the subscription.
    callback: Option<usize>,
    chart: Option<ColumnReference>,
    series: Option<Series>,
    spread: Option<Distribution>,
    split: Option<Split>,
    worst: Vec<Worst>,
}

/// The slowest message of each stretch of time, cut into stages.
#[derive(Debug, Serialize)]
struct Split {
    t: ColumnReference,
    stages: [ColumnReference; 4],
}

/// How many were published and did not arrive, in stretches of time.
#[derive(Debug, Serialize)]
pub(crate) struct Drops {
    width: i64,
    t: ColumnReference,
    /// By cause.
    counts: [Option<ColumnReference>; 5],
}

#[derive(Debug, Serialize)]
struct Worst {
    received: i64,
    why: Explained,
}

/// The messages of all pairs, in the order of time.
pub(crate) fn messages(subject: Subject<'_>) -> HashMap<PairKey, Vec<DeliveryId>> {
    let analysis = subject.analysis;
    let mut messages: HashMap<PairKey, Vec<DeliveryId>> = HashMap::new();
    for index in 0..analysis.model.subscriptions.len() {
        let subscription = SubscriptionId::from_index(index);
        for id in analysis.deliveries_to(subscription) {
            let delivery = analysis.delivery(*id);
            let publication = analysis.publication(delivery.publication);
            let Some(publisher) = publication.publisher else {
                continue;
            };
            if analysis.counts(publication.publish) {
                let key = (publisher, subscription, delivery.kind);
                messages.entry(key).or_default().push(*id);
            }
        }
    }
    for of_pair in messages.values_mut() {
        let publish = |id: &DeliveryId| {
            let delivery = analysis.delivery(*id);
            analysis.publication(delivery.publication).publish
        };
        of_pair.sort_by_key(publish);
    }
    messages
}

/// What communications are written with.
#[derive(Debug)]
pub(crate) struct CommunicationWriter<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) allowance: Allowance,
    /// Bars of one chart of stages.
    pub(crate) bars: usize,
    pub(crate) why: Why<'a>,
}

impl CommunicationWriter<'_> {
    pub(crate) fn communication(
        &mut self,
        columns: &mut Columns,
        (id, pair): (usize, &Pair),
        topic_id: usize,
        messages: &[DeliveryId],
        worst: usize,
    ) -> Communication {
        let subject = self.subject;
        let analysis = subject.analysis;
        let model = analysis.model;
        let publisher = &model.publishers[pair.publisher.index()];
        let subscription = &model.subscriptions[pair.subscription.index()];
        let arrived: Vec<(DeliveryId, Arrival)> = messages
            .iter()
            .filter_map(|id| Some((*id, *analysis.arrival(*id)?)))
            .filter(|(_, arrival)| !arrival.historical)
            .collect();
        let points: Vec<(i64, i64)> = arrived
            .iter()
            .map(|(_, arrival)| (subject.time(arrival.publish), arrival.stages.latency()))
            .collect();
        let nodes = [
            ("pub_node", publisher.node),
            ("sub_node", subscription.node),
        ];
        let links = nodes.into_iter();
        let links = links.filter_map(|(column, node)| Some((column, format!("nodes/{}", node?.0))));
        let series = self.allowance.series(columns, &points);
        Communication {
            id,
            link: format!("topics/{topic_id}"),
            links: links.collect(),
            topic_id,
            callback: subscription.callback.map(|id| id.index()),
            chart: series.as_ref().map(|it| it.v),
            series,
            spread: Distribution::of(columns, points.iter().map(|point| point.1).collect()),
            split: self.split(columns, &arrived),
            worst: self.worst(arrived, worst),
        }
    }

    fn split(&self, columns: &mut Columns, arrived: &[(DeliveryId, Arrival)]) -> Option<Split> {
        let (first, last) = (arrived.first()?, arrived.last()?);
        let begin = i128::from(first.1.publish.0);
        let span = i128::from(last.1.publish.0) - begin + 1;
        let bar =
            |arrival: &Arrival| (i128::from(arrival.publish.0) - begin) * self.bars as i128 / span;
        let slowest: Vec<Arrival> = arrived
            .chunk_by(|a, b| bar(&a.1) == bar(&b.1))
            .filter_map(|run| run.iter().max_by_key(|it| it.1.stages.latency()))
            .map(|(_, arrival)| *arrival)
            .collect();
        let mut stage = |number: usize| {
            let values = slowest.iter().map(|it| it.stages.values()[number]);
            columns.add(values)
        };
        let stages = [stage(0), stage(1), stage(2), stage(3)];
        Some(Split {
            t: columns.add(slowest.iter().map(|it| self.subject.time(it.publish))),
            stages,
        })
    }

    fn worst(&mut self, mut arrived: Vec<(DeliveryId, Arrival)>, number: usize) -> Vec<Worst> {
        let by_latency =
            |it: &(DeliveryId, Arrival)| (Reverse(it.1.stages.latency()), it.1.publish);
        if arrived.len() > number {
            arrived.select_nth_unstable_by_key(number, by_latency);
            arrived.truncate(number);
        }
        arrived.sort_by_key(by_latency);
        let explain = |(id, arrival): (DeliveryId, Arrival)| {
            Some(Worst {
                received: self.subject.time(arrival.received),
                why: self
                    .subject
                    .explainer()
                    .longest(&self.why.communication(id)?, MOST_WAITS),
            })
        };
        arrived.into_iter().filter_map(explain).collect()
    }
}

/// Nothing if all messages arrived.
pub(crate) fn drops<'d>(
    subject: Subject<'_>,
    columns: &mut Columns,
    messages: impl Iterator<Item = &'d DeliveryId>,
) -> Option<Drops> {
    let analysis = subject.analysis;
    let width = ((subject.end - subject.begin) / DROP_BARS + 1).max(1);
    let mut counts = [[0i64; DROP_BARS as usize]; 5];
    let mut any = false;
    for id in messages {
        let Some(cause) = analysis.drop_cause(*id) else {
            continue;
        };
        let publication = analysis.publication(analysis.delivery(*id).publication);
        let bar = (publication.publish.0 - subject.begin) / width;
        counts[cause as usize][bar.clamp(0, DROP_BARS - 1) as usize] += 1;
        any = true;
    }
    if !any {
        return None;
    }
    let t = columns.add((0..DROP_BARS).map(|bar| subject.begin - subject.origin + bar * width));
    let counts = counts.map(|counts| {
        let some = counts.iter().any(|count| *count > 0);
        some.then(|| columns.add(counts))
    });
    Some(Drops { width, t, counts })
}

/// Without those that are under way at the end, and those of which nothing is known.
pub(crate) fn lost(dropped: &[u64; 5]) -> u64 {
    let causes = DropCause::EVERY.iter().zip(dropped);
    let lost =
        causes.filter(|(cause, _)| !matches!(cause, DropCause::RecordingEnd | DropCause::Unknown));
    lost.map(|(_, number)| number).sum()
}

pub(crate) const STAGES: [&str; 4] = Stages::NAMES;

pub(crate) fn causes() -> [&'static str; 5] {
    DropCause::EVERY.map(DropCause::name)
}
