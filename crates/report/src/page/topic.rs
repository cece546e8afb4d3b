//! Topics: who publishes and who receives, how often on both ends, and the communications between them.

use std::collections::HashMap;

use rostrace_analyze::built_in;
use rostrace_analyze::communication::Pair;
use rostrace_analyze::endpoint::{EndpointSummary, Endpoints, Passage};
use rostrace_analyze::message_age::message_age;
use rostrace_analyze::rate::{recorded_bins, recorded_per_second};
use rostrace_analyze::why::Why;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{NodeId, ProcessId, PublisherId, SubscriptionId};
use rostrace_model::flow::MessageSizeOf;
use serde::Serialize;

use super::Subject;
use super::columns::Columns;
use super::communication::{self, Communication, Drops};
use super::distribution::{Distribution, RANKS};
use super::numbers::Numbers;
use super::part::Part;
use super::series::{Allowance, Series};

/// Points of all series together, and bars of all stacks of stages.
const POINTS: usize = 240_000;
const BARS: usize = 40_000;
const MOST_BARS: usize = 120;
/// So many communications have several of their worst messages explained.
const EXPLAINED_WELL: usize = 300;
const WORST: usize = 5;

#[derive(Debug, Serialize)]
struct Topics<'a> {
    ranks: &'static [usize],
    stages: [&'static str; 4],
    causes: [&'static str; 5],
    topics: Vec<Topic<'a>>,
}

#[derive(Debug, Serialize)]
struct Topic<'a> {
    id: usize,
    name: &'a str,
    built_in: bool,
    published: u64,
    /// Messages per second of all publishers together.
    publish_rate: Option<f64>,
    /// Of the slowest subscription and the fastest.
    receive_rate_min: Option<f64>,
    receive_rate_max: Option<f64>,
    /// Of the communication in which each is largest.
    latency: Option<Latency>,
    lost: u64,
    /// By the causes of the part, of all communications.
    dropped: [u64; 5],
    drops: Option<Drops>,
    publishers: Vec<Endpoint<'a>>,
    subscriptions: Vec<Endpoint<'a>>,
    communications: Vec<Communication<'a>>,
}

#[derive(Debug, Serialize)]
struct Latency {
    p50: i64,
    p99: i64,
    max: i64,
}

/// A publisher or a subscription.
#[derive(Debug, Serialize)]
struct Endpoint<'a> {
    id: usize,
    node: Option<usize>,
    node_name: &'a str,
    process: usize,
    pid: i64,
    depth: u64,
    messages: u64,
    intra_process: u64,
    by_hand: u64,
    rate: Option<f64>,
    period: Option<Numbers>,
    age: Option<Numbers>,
    damaged: u64,
    /// Of a subscription.
    callback: Option<usize>,
    series: OverTime,
    spread: Spread,
}

#[derive(Debug, Serialize)]
struct OverTime {
    period: Option<Series>,
    frequency: Option<Series>,
    age: Option<Series>,
    size: Option<Series>,
}

#[derive(Debug, Serialize)]
struct Spread {
    period: Option<Distribution>,
    frequency: Option<Distribution>,
    age: Option<Distribution>,
}

/// What belongs to one topic, by the numbers of the model.
#[derive(Debug, Default)]
struct Members {
    publishers: Vec<PublisherId>,
    subscriptions: Vec<SubscriptionId>,
    /// Places in the list of pairs.
    pairs: Vec<usize>,
}

pub(crate) fn part(subject: Subject<'_>) -> Part {
    let analysis = subject.analysis;
    let model = analysis.model;
    let selection = &subject.options.selection;
    let pairs = subject.shared.pairs();
    let messages = communication::messages(subject);
    let mut members: HashMap<&str, Members> = HashMap::new();
    let mut wanted: HashMap<&str, bool> = HashMap::new();
    let mut want = |topic, node| {
        *wanted.entry(topic).or_default() |=
            selection.fits_topic(Some(topic)) && selection.has_node(model, node);
    };
    for (index, publisher) in model.publishers.iter().enumerate() {
        let of_topic = members.entry(publisher.topic.as_str()).or_default();
        of_topic.publishers.push(PublisherId::from_index(index));
        want(publisher.topic.as_str(), publisher.node);
    }
    for (index, subscription) in model.subscriptions.iter().enumerate() {
        let of_topic = members.entry(subscription.topic.as_str()).or_default();
        let id = SubscriptionId::from_index(index);
        of_topic.subscriptions.push(id);
        want(subscription.topic.as_str(), subscription.node);
    }
    for (place, pair) in pairs.iter().enumerate() {
        let topic = model.subscriptions[pair.subscription.index()]
            .topic
            .as_str();
        members.entry(topic).or_default().pairs.push(place);
    }
    let mut writer = Writer::new(subject, pairs);
    let topics = subject.shared.topics().iter().copied().enumerate();
    let topics = topics
        .filter(|(_, name)| wanted.get(name).copied().unwrap_or(false))
        .filter_map(|(id, name)| Some(writer.topic(id, name, members.get(name)?, &messages)));
    let topics = Topics {
        topics: topics.collect(),
        ranks: RANKS,
        stages: communication::STAGES,
        causes: communication::causes(),
    };
    Part::new("topics", &topics, writer.columns)
}

#[derive(Debug)]
struct Writer<'a> {
    subject: Subject<'a>,
    endpoints: Endpoints<'a>,
    pairs: &'a [Pair],
    /// How much of each pair is explained, by its place.
    worst: Vec<usize>,
    sizes: HashMap<End, Vec<(i64, i64)>>,
    communications: communication::Writer<'a>,
    columns: Columns,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum End {
    Publisher(PublisherId),
    Subscription(SubscriptionId),
}

impl<'a> Writer<'a> {
    fn new(subject: Subject<'a>, pairs: &'a [Pair]) -> Writer<'a> {
        let analysis = subject.analysis;
        let model = analysis.model;
        let endpoints = Endpoints::new(analysis);
        let seconds = (subject.end.saturating_sub(subject.begin) / 1_000_000_000) as usize;
        let mut lengths: Vec<usize> = pairs.iter().map(|pair| pair.arrived as usize).collect();
        for index in 0..model.publishers.len() {
            let id = PublisherId::from_index(index);
            let published = analysis.publications_of(id).len();
            lengths.extend([published, seconds.min(published)]);
        }
        for subscription in &model.subscriptions {
            let callback = subscription.callback;
            let received = callback.map_or(0, |id| analysis.instances_of(id).len());
            lengths.extend([received, seconds.min(received)]);
        }
        let mut by_latency: Vec<usize> = (0..pairs.len()).collect();
        let latency = |place: &usize| pairs[*place].latency.map_or(i64::MIN, |it| it.max);
        by_latency.sort_by_key(|place| std::cmp::Reverse(latency(place)));
        let mut worst = vec![1; pairs.len()];
        for place in by_latency.into_iter().take(EXPLAINED_WELL) {
            worst[place] = WORST;
        }
        Writer {
            subject,
            endpoints,
            pairs,
            worst,
            sizes: sizes(subject),
            communications: communication::Writer {
                subject,
                allowance: Allowance::shared(lengths, POINTS),
                bars: (BARS / pairs.len().max(1)).clamp(10, MOST_BARS),
                why: Why::new(analysis),
            },
            columns: Columns::default(),
        }
    }

    fn topic(
        &mut self,
        id: usize,
        name: &'a str,
        members: &Members,
        messages: &HashMap<communication::Key, Vec<rostrace_model::entity::DeliveryId>>,
    ) -> Topic<'a> {
        let publishers = members.publishers.iter().map(|id| self.publisher(*id));
        let publishers: Vec<Endpoint<'a>> = publishers.collect();
        let subscriptions = members.subscriptions.iter();
        let subscriptions: Vec<Endpoint<'a>> =
            subscriptions.map(|id| self.subscription(*id)).collect();
        let rates = subscriptions.iter().map(|it| it.rate.unwrap_or(0.0));
        let (published, publish_rate) = self.published(&members.publishers);
        let of_pair = |place: &usize| {
            let pair = &self.pairs[*place];
            let key = (pair.publisher, pair.subscription, pair.kind);
            messages.get(&key).map_or(&[][..], Vec::as_slice)
        };
        let all = members.pairs.iter().flat_map(of_pair);
        let drops = communication::drops(self.subject, &mut self.columns, all);
        let communications: Vec<Communication<'a>> = members
            .pairs
            .iter()
            .map(|place| {
                let pair = &self.pairs[*place];
                let worst = self.worst[*place];
                let (writer, columns) = (&mut self.communications, &mut self.columns);
                writer.communication(columns, *place, pair, of_pair(place), worst)
            })
            .collect();
        Topic {
            id,
            name,
            built_in: built_in::topic(name),
            published,
            publish_rate,
            receive_rate_min: rates.clone().reduce(f64::min),
            receive_rate_max: rates.reduce(f64::max),
            latency: largest(&communications),
            lost: communications.iter().map(|it| it.lost).sum(),
            dropped: std::array::from_fn(|cause| {
                communications.iter().map(|it| it.dropped[cause]).sum()
            }),
            drops,
            publishers,
            subscriptions,
            communications,
        }
    }

    /// How many messages all publishers published together, and how often.
    fn published(&self, publishers: &[PublisherId]) -> (u64, Option<f64>) {
        let analysis = self.subject.analysis;
        let publications = publishers
            .iter()
            .flat_map(|id| analysis.publications_of(*id));
        let times = publications
            .map(|id| analysis.publication(*id).publish)
            .filter(|at| analysis.counts(*at));
        let number = times.clone().count() as u64;
        let ends = times.clone().min().zip(times.max());
        let rate =
            ends.and_then(|(first, last)| recorded_per_second(analysis.model, number, first, last));
        (number, rate)
    }

    fn publisher(&mut self, id: PublisherId) -> Endpoint<'a> {
        let row = &self.subject.analysis.model.publishers[id.index()];
        let summary = &self.subject.shared.endpoints().publishers[id.index()];
        let passages = self.endpoints.published(id);
        let mut endpoint = self.endpoint(
            End::Publisher(id),
            row.node,
            row.process,
            summary,
            &passages,
        );
        endpoint.depth = row.depth;
        endpoint
    }

    fn subscription(&mut self, id: SubscriptionId) -> Endpoint<'a> {
        let row = &self.subject.analysis.model.subscriptions[id.index()];
        let summary = &self.subject.shared.endpoints().subscriptions[id.index()];
        let passages = self.endpoints.received(id);
        let end = End::Subscription(id);
        let mut endpoint = self.endpoint(end, row.node, row.process, summary, &passages);
        endpoint.depth = row.depth;
        endpoint.callback = row.callback.map(|id| id.index());
        endpoint
    }

    fn endpoint(
        &mut self,
        end: End,
        node: Option<NodeId>,
        process: ProcessId,
        summary: &EndpointSummary,
        passages: &[Passage],
    ) -> Endpoint<'a> {
        let subject = self.subject;
        let model = subject.analysis.model;
        let (series, spread) = self.over_time(end, passages);
        Endpoint {
            id: match end {
                End::Publisher(id) => id.index(),
                End::Subscription(id) => id.index(),
            },
            node: node.map(|node| node.index()),
            node_name: model.node_name(node).unwrap_or_default(),
            process: process.index(),
            pid: model.processes[process.index()].pid,
            depth: 0,
            messages: summary.messages,
            intra_process: summary.intra_process,
            by_hand: summary.by_hand,
            rate: summary.rate,
            period: Numbers::of(subject, summary.period.as_ref()),
            age: Numbers::of(subject, summary.age.as_ref()),
            damaged: summary.damaged,
            callback: None,
            series,
            spread,
        }
    }

    fn over_time(&mut self, end: End, passages: &[Passage]) -> (OverTime, Spread) {
        let subject = self.subject;
        let analysis = subject.analysis;
        let counted = |at: &Nanos| analysis.counts(*at);
        let times: Vec<Nanos> = passages.iter().map(|it| it.time).collect();
        let periods: Vec<(i64, i64)> = times
            .windows(2)
            .filter(|pair| counted(&pair[1]) && !analysis.is_damaged(pair[0], pair[1]))
            .map(|pair| (subject.time(pair[1]), pair[1].0.saturating_sub(pair[0].0)))
            .collect();
        let instants: Vec<Nanos> = times.into_iter().filter(counted).collect();
        let frequencies: Vec<(i64, i64)> = recorded_bins(analysis, &instants)
            .map(|bin| (subject.time(bin.begin), bin.count as i64))
            .collect();
        let age = |passage: &Passage| {
            let stamp = analysis
                .publication(passage.publication?)
                .message_timestamp?;
            let age = message_age(analysis.model, stamp, passage.time)?;
            Some((subject.time(passage.time), age))
        };
        let ages: Vec<(i64, i64)> = match end {
            End::Publisher(_) => Vec::new(),
            End::Subscription(_) => {
                let counted = passages.iter().filter(|it| counted(&it.time));
                counted.filter_map(age).collect()
            }
        };
        let sizes = self.sizes.get(&end).map_or(&[][..], Vec::as_slice);
        let (allowance, columns) = (self.communications.allowance, &mut self.columns);
        let series = OverTime {
            period: allowance.series(columns, &periods),
            frequency: allowance.series(columns, &frequencies),
            age: allowance.series(columns, &ages),
            size: allowance.series(columns, sizes),
        };
        let values = |points: Vec<(i64, i64)>| points.into_iter().map(|it| it.1).collect();
        let spread = Spread {
            period: Distribution::of(columns, values(periods)),
            frequency: Distribution::of_counts(columns, values(frequencies)),
            age: Distribution::of(columns, values(ages)),
        };
        (series, spread)
    }
}

fn largest(communications: &[Communication<'_>]) -> Option<Latency> {
    let latencies = || communications.iter().filter_map(|it| it.latency);
    Some(Latency {
        p50: latencies().map(|it| it.p50).max()?,
        p99: latencies().map(|it| it.p99).max()?,
        max: latencies().map(|it| it.max).max()?,
    })
}

/// Sizes of messages where the trace has them.
fn sizes(subject: Subject<'_>) -> HashMap<End, Vec<(i64, i64)>> {
    let analysis = subject.analysis;
    let mut sizes: HashMap<End, Vec<(i64, i64)>> = HashMap::new();
    for size in &analysis.model.message_sizes {
        let end = match size.by {
            MessageSizeOf::Publisher(_, id) => id.map(End::Publisher),
            MessageSizeOf::Subscription(_, id) => id.map(End::Subscription),
        };
        if let Some(end) = end.filter(|_| analysis.counts(size.time)) {
            let point = (subject.time(size.time), size.bytes as i64);
            sizes.entry(end).or_default().push(point);
        }
    }
    sizes
}
