//! Topics: who publishes and who receives, how often on both ends, and the communications between them.

use std::collections::{BTreeMap, HashMap, HashSet};

use rostrace_analyze::Statistics;
use rostrace_analyze::communication::Pair;
use rostrace_analyze::endpoint::{EndpointMessage, Endpoints};
use rostrace_analyze::message_age::message_age;
use rostrace_analyze::rate::recorded_bins;
use rostrace_analyze::table::{
    COMMUNICATION_PAGE, Cell, PUBLISHER_PAGE, SUBSCRIPTION_PAGE, TOPIC_PAGE, TopicRow,
    communications_of,
};
use rostrace_analyze::why::Why;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{NodeId, ProcessId, PublisherId, SubscriptionId};
use rostrace_model::flow::MessageSizeOf;
use serde::Serialize;

use super::Subject;
use super::columns::Columns;
use super::communication::{self, Communication, Drops};
use super::distribution::RANKS;
use super::metrics::{Metrics, MetricsWriter};
use super::part::PagePart;
use super::series::Allowance;
use super::table::TableData;

/// Points of all series together, and bars of all stacks of stages.
const POINTS: usize = 240_000;
const BARS: usize = 40_000;
const MOST_BARS: usize = 120;
/// So many communications have several of their worst messages explained.
const EXPLAINED_WELL: usize = 300;
const WORST: usize = 5;

#[derive(Debug, Serialize)]
struct Topics {
    ranks: &'static [usize],
    stages: [&'static str; 4],
    causes: [&'static str; 5],
    topics: TableData<Topic>,
    communications: TableData<Communication>,
    publishers: TableData<Endpoint>,
    subscriptions: TableData<Endpoint>,
}

/// What the page has of a topic beside its row; nothing of one whose name the trace does not tell.
#[derive(Debug, Default, Serialize)]
struct Topic {
    id: Option<usize>,
    link: Option<String>,
    /// Messages that did not arrive, by the causes of the part, of all communications.
    dropped: [u64; 5],
    drops: Option<Drops>,
}

/// What the page has of a publisher or a subscription beside its row.
#[derive(Debug, Serialize)]
struct Endpoint {
    /// `p1` or `s1`.
    id: String,
    links: BTreeMap<&'static str, String>,
    topic_id: usize,
    node_id: Option<usize>,
    process_id: usize,
    /// Of a subscription.
    callback_id: Option<usize>,
    #[serde(flatten)]
    metrics: Metrics,
}

pub(crate) fn part(subject: Subject<'_>) -> PagePart {
    let analysis = subject.analysis;
    let model = analysis.model;
    let pairs = subject.shared.pairs();
    let messages = communication::messages(subject);
    let numbers: HashMap<&str, usize> = subject.shared.topics().iter().copied().zip(0..).collect();
    let mut members: HashMap<usize, Vec<&Pair>> = HashMap::new();
    for pair in pairs {
        let topic = &model.subscriptions[pair.subscription.index()].topic;
        members
            .entry(numbers[topic.as_str()])
            .or_default()
            .push(pair);
    }
    let of_pair = |pair: &Pair| {
        let key = (pair.publisher, pair.subscription, pair.kind);
        messages.get(&key).map_or(&[][..], Vec::as_slice)
    };
    let mut writer = TopicWriter::new(subject, pairs);
    let mut topics = TableData::new(subject, &TOPIC_PAGE);
    let mut wanted: HashSet<usize> = HashSet::new();
    for row in TopicRow::all(analysis) {
        let number = numbers.get(row.topic.as_str()).filter(|_| !row.is_unnamed);
        let number = number.copied();
        let own = number.and_then(|number| members.get(&number));
        let own = own.map_or(&[][..], Vec::as_slice);
        wanted.extend(number);
        let all = own.iter().flat_map(|pair| of_pair(pair));
        let topic = Topic {
            id: number,
            link: number.map(|number| format!("topics/{number}")),
            dropped: std::array::from_fn(|cause| own.iter().map(|it| it.dropped[cause]).sum()),
            drops: communication::drops(subject, &mut writer.columns, all),
        };
        topics.push(row.cells().into_iter().chain(largest(own)), topic);
    }
    let mut communications = TableData::new(subject, &COMMUNICATION_PAGE);
    let endpoints = subject.shared.endpoints();
    communications.take(
        |take| communications_of(analysis, pairs, take),
        |place| {
            let pair = &pairs[place];
            let topic = &model.subscriptions[pair.subscription.index()].topic;
            let topic = *wanted.get(&numbers[topic.as_str()])?;
            let joined = vec![
                endpoints.publishers[pair.publisher.index()].rate.into(),
                endpoints.subscriptions[pair.subscription.index()]
                    .rate
                    .into(),
                communication::lost(&pair.dropped).into(),
            ];
            let worst = writer.worst[place];
            let (pens, columns) = (&mut writer.communications, &mut writer.columns);
            let details = pens.communication(columns, (place, pair), topic, of_pair(pair), worst);
            Some((joined, details))
        },
    );
    let mut publishers = TableData::new(subject, &PUBLISHER_PAGE);
    publishers.take(
        |take| (PUBLISHER_PAGE.table.rows)(analysis, take),
        |index| {
            let row = &model.publishers[index];
            let topic = *wanted.get(&numbers[row.topic.as_str()])?;
            let end = End::Publisher(PublisherId::from_index(index));
            Some((
                Vec::new(),
                writer.endpoint(end, topic, row.node, row.process),
            ))
        },
    );
    let mut subscriptions = TableData::new(subject, &SUBSCRIPTION_PAGE);
    subscriptions.take(
        |take| (SUBSCRIPTION_PAGE.table.rows)(analysis, take),
        |index| {
            let row = &model.subscriptions[index];
            let topic = *wanted.get(&numbers[row.topic.as_str()])?;
            let end = End::Subscription(SubscriptionId::from_index(index));
            let mut endpoint = writer.endpoint(end, topic, row.node, row.process);
            if let Some(callback) = row.callback.map(|id| id.index()) {
                let link = format!("callbacks/{callback}");
                endpoint.links.insert("callback", link);
                endpoint.callback_id = Some(callback);
            }
            let name = row.callback.map_or("", |id| analysis.names.callback(id));
            Some((vec![name.into()], endpoint))
        },
    );
    let topics = Topics {
        ranks: RANKS,
        stages: communication::STAGES,
        causes: communication::causes(),
        topics,
        communications,
        publishers,
        subscriptions,
    };
    PagePart::new("topics", &topics, writer.columns)
}

#[derive(Debug)]
struct TopicWriter<'a> {
    subject: Subject<'a>,
    endpoints: Endpoints<'a>,
    /// How much of each pair is explained, by its place.
    worst: Vec<usize>,
    sizes: HashMap<End, Vec<(i64, i64)>>,
    communications: communication::CommunicationWriter<'a>,
    columns: Columns,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum End {
    Publisher(PublisherId),
    Subscription(SubscriptionId),
}

impl<'a> TopicWriter<'a> {
    fn new(subject: Subject<'a>, pairs: &'a [Pair]) -> TopicWriter<'a> {
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
        TopicWriter {
            subject,
            endpoints,
            worst,
            sizes: sizes(subject),
            communications: communication::CommunicationWriter {
                subject,
                allowance: Allowance::shared(lengths, POINTS),
                bars: (BARS / pairs.len().max(1)).clamp(10, MOST_BARS),
                why: Why::new(analysis),
            },
            columns: Columns::default(),
        }
    }

    fn endpoint(
        &mut self,
        end: End,
        topic_id: usize,
        node: Option<NodeId>,
        process: ProcessId,
    ) -> Endpoint {
        let (id, messages) = match end {
            End::Publisher(id) => (format!("p{}", id.0), self.endpoints.published(id)),
            End::Subscription(id) => (format!("s{}", id.0), self.endpoints.received(id)),
        };
        let metrics = self.metrics(end, &messages);
        let mut links = BTreeMap::from([("pid", format!("processes/{}", process.index()))]);
        links.extend(node.map(|node| ("node", format!("nodes/{}", node.index()))));
        Endpoint {
            id,
            links,
            topic_id,
            node_id: node.map(|node| node.index()),
            process_id: process.index(),
            callback_id: None,
            metrics,
        }
    }

    fn metrics(&mut self, end: End, messages: &[EndpointMessage]) -> Metrics {
        let subject = self.subject;
        let analysis = subject.analysis;
        let counted = |at: &Nanos| analysis.counts(*at);
        let times: Vec<Nanos> = messages.iter().map(|it| it.time).collect();
        let periods: Vec<(i64, i64)> = times
            .windows(2)
            .filter(|pair| counted(&pair[1]) && !analysis.is_damaged(pair[0], pair[1]))
            .map(|pair| (subject.time(pair[1]), pair[1].0.saturating_sub(pair[0].0)))
            .collect();
        let instants: Vec<Nanos> = times.into_iter().filter(counted).collect();
        let frequencies: Vec<(i64, i64)> = recorded_bins(analysis, &instants)
            .map(|bin| (subject.time(bin.begin), bin.count as i64))
            .collect();
        let age = |message: &EndpointMessage| {
            let stamp = analysis
                .publication(message.publication?)
                .message_timestamp?;
            let age = message_age(analysis.model, stamp, message.time)?;
            Some((subject.time(message.time), age))
        };
        let ages: Vec<(i64, i64)> = match end {
            End::Publisher(_) => Vec::new(),
            End::Subscription(_) => {
                let counted = messages.iter().filter(|it| counted(&it.time));
                counted.filter_map(age).collect()
            }
        };
        let sizes = self.sizes.get(&end).map_or(&[][..], Vec::as_slice);
        let mut writer = MetricsWriter {
            allowance: self.communications.allowance,
            columns: &mut self.columns,
            metrics: Metrics::default(),
        };
        writer.durations("period", &periods);
        writer.counts("frequency", &frequencies);
        writer.durations("age", &ages);
        writer.series("size", sizes);
        writer.metrics
    }
}

/// Of the communication in which each is largest.
fn largest(pairs: &[&Pair]) -> [Cell<'static>; 3] {
    let of = |value: fn(&Statistics) -> i64| {
        let latencies = pairs.iter().filter_map(|it| it.latency.as_ref());
        latencies.map(value).max().into()
    };
    [of(|it| it.p50), of(|it| it.p99), of(|it| it.max)]
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
