//! Topics: who sends, who receives, how often, and which messages did not arrive.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::describe::{built_in, names};
use rostrace_model::entity::{
    Address, CallbackOwner, NodeId, ProcessId, PublisherId, SubscriptionId,
};
use rostrace_model::flow::{Delivery, DeliveryKind, DeliveryStatus, Publication};

use super::page::{COMMUNICATION, ENDPOINT, PageColumn, PageTable};
use super::recurring::BUILT_IN;
use super::{Cell, Table, cells, columns};
use crate::analysis::Analysis;
use crate::endpoint::{self, EndpointSummary, Endpoints};
use crate::list::{List, titles};
use crate::rate::recorded_per_second;

pub(super) const TOPICS: Table = Table {
    name: "topics",
    about: "One topic, with all its publishers and subscriptions. A publisher whose topic is unknown has a row of its own.",
    columns: columns! {
        topic "topic" "Its name, or the address of a publisher whose topic is unknown.",
        BUILT_IN,
        count "publishers" "How many publishers it has.",
        names "publisher_nodes" "Nodes that publish it, as far as the trace names them.",
        count "subscriptions" "How many subscriptions it has.",
        names "subscription_nodes" "Nodes that subscribe to it, as far as the trace names them.",
        count "messages" "How many were published.",
        hertz? "rate_hz" "How many were published in a second, from the first to the last.",
        count "received" "How many subscriptions got, all together.",
        hertz? "receive_rate_min_hz" "How many the slowest subscription got in a second.",
        hertz? "receive_rate_max_hz" "How many the fastest subscription got in a second; the terminal shows the slowest and the fastest.",
        count "delivered" "Messages that arrived, once for each subscription.",
        count "lost" "Messages that a subscription missed although it got earlier and later ones.",
        count "overwritten" "Messages that were pushed out of a full intra-process buffer.",
        count "queued" "Messages that were not received, though the recording went on for a second or more.",
        count "unknown" "Messages that may or may not have arrived: the trace does not show it.",
        count "inter" "Deliveries through the middleware.",
        count "intra" "Deliveries inside a process, past the middleware.",
        duration? "longest_pause_ns" "Longest time from a message to the next one of the same publisher.",
    },
    rows: |analysis, take| {
        TopicRow::all(analysis)
            .iter()
            .try_for_each(|row| take(&row.cells()))
    },
};

pub const TOPIC_LIST: List = List {
    verb: "topics",
    noun: "topic",
    columns: TOPICS.columns,
    table: titles! {
        "topic": "topic", "from": "publisher_nodes", "to": "subscription_nodes",
        "messages": "messages", "sent at": "rate_hz", "longest pause": "longest_pause_ns",
        "received at": "receive_rate_max_hz", "delivered": "delivered", "lost": "lost",
        "overwritten": "overwritten", "queued": "queued", "unknown": "unknown", "inter": "inter",
        "intra": "intra",
    },
    dispensable: &[
        "inter",
        "intra",
        "unknown",
        "queued",
        "received at",
        "delivered",
        "overwritten",
    ],
};

pub const TOPIC_PAGE: PageTable = PageTable {
    table: &TOPICS,
    joined: columns! {
        duration? "latency_p50_ns" "Median latency of the communication in which it is largest.",
        duration? "latency_p99_ns" "99th percentile of the latency of the communication in which it is largest.",
        duration? "latency_max_ns" "Largest latency of all communications.",
    },
    shown: &[
        PageColumn::new("topic", "topic"),
        PageColumn::new("publishers", "publishers"),
        PageColumn::new("subscriptions", "subscriptions"),
        PageColumn::new("messages", "messages"),
        PageColumn::new("rate_hz", "published at").defined(ENDPOINT),
        PageColumn::up_to("receive_rate_min_hz", "receive_rate_max_hz", "received at")
            .defined(ENDPOINT),
        PageColumn::new("latency_p50_ns", "latency p50").defined(COMMUNICATION),
        PageColumn::new("latency_p99_ns", "latency p99"),
        PageColumn::new("latency_max_ns", "latency max"),
        PageColumn::none_wanted("lost", "lost").defined(COMMUNICATION),
        PageColumn::none_wanted("overwritten", "overwritten").defined(COMMUNICATION),
    ],
    filter: "Filter by topic or node",
    sort: "latency_max_ns",
};

/// Who sends and who receives, in the order of creation.
#[derive(Debug, Default)]
pub struct TopicEnds {
    pub publishers: Vec<PublisherId>,
    pub subscriptions: Vec<SubscriptionId>,
}

/// By name.
pub fn topics(model: &Model) -> BTreeMap<&str, TopicEnds> {
    let mut topics: BTreeMap<&str, TopicEnds> = BTreeMap::new();
    for (index, publisher) in model.publishers.iter().enumerate() {
        let ends = topics.entry(&publisher.topic).or_default();
        ends.publishers.push(PublisherId::from_index(index));
    }
    for (index, subscription) in model.subscriptions.iter().enumerate() {
        let ends = topics.entry(&subscription.topic).or_default();
        ends.subscriptions.push(SubscriptionId::from_index(index));
    }
    topics
}

/// One topic.
#[derive(Debug)]
pub struct TopicRow<'m> {
    /// Its name, or what stands for it.
    pub topic: String,
    /// Whether the trace tells of the publisher, but not of its topic.
    pub is_unnamed: bool,
    /// Whether not even the publisher is known: its messages went no further than rclcpp.
    pub has_no_publisher: bool,
    pub built_in: bool,
    publishers: u64,
    subscriptions: u64,
    /// Also for nodes that the trace does not name.
    pub senders: BTreeSet<&'m str>,
    pub receivers: BTreeSet<&'m str>,
    /// Those that it names, with a space between them.
    publisher_nodes: String,
    subscription_nodes: String,
    pub messages: u64,
    rate: Option<f64>,
    longest_pause: Option<i64>,
    received: u64,
    pub slowest: Option<f64>,
    pub fastest: Option<f64>,
    pub deliveries: Deliveries,
}

impl<'m> TopicRow<'m> {
    /// Those that are selected, by name; behind them those of publishers whose topic the trace does not tell.
    pub fn all(analysis: &Analysis<'m>) -> Vec<TopicRow<'m>> {
        let model = analysis.model;
        let counts = Counts::of(analysis);
        let topics = topics(model).into_iter();
        let selection = &analysis.selection;
        let topics = topics.filter(|(name, ends)| selection.has_topic_with_ends(model, name, ends));
        let mut rows: Vec<TopicRow<'m>> = topics
            .map(|(name, ends)| TopicRow::of(&counts, model, name, &ends))
            .collect();
        rows.extend(TopicRow::unnamed(&counts, analysis));
        rows
    }

    fn of(counts: &Counts, model: &'m Model, name: &str, ends: &TopicEnds) -> TopicRow<'m> {
        let mut published = Beat::default();
        for id in &ends.publishers {
            published.merge(counts.published[id.index()]);
        }
        let mut deliveries = Deliveries::default();
        for id in &ends.subscriptions {
            deliveries = deliveries.plus(counts.deliveries[id.index()]);
        }
        let received = ends.subscriptions.iter();
        let received = received.map(|id| counts.received[id.index()]);
        let rates = received.clone().map(|beat| beat.rate(model).unwrap_or(0.0));
        let publishers = ends.publishers.iter();
        let publishers = publishers.map(|id| model.publishers[id.index()].node);
        let senders = nodes(model, publishers);
        let subscriptions = ends.subscriptions.iter();
        let subscriptions = subscriptions.map(|id| model.subscriptions[id.index()].node);
        let receivers = nodes(model, subscriptions);
        TopicRow {
            topic: name.to_owned(),
            is_unnamed: false,
            has_no_publisher: false,
            built_in: built_in::topic(name),
            publishers: ends.publishers.len() as u64,
            subscriptions: ends.subscriptions.len() as u64,
            publisher_nodes: joined(&senders),
            subscription_nodes: joined(&receivers),
            senders,
            receivers,
            messages: published.count,
            rate: published.rate(model),
            longest_pause: (ends.publishers.iter())
                .filter_map(|id| counts.longest_pauses[id.index()])
                .max(),
            received: received.map(|beat| beat.count).sum(),
            slowest: rates.clone().reduce(f64::min),
            fastest: rates.reduce(f64::max),
            deliveries,
        }
    }

    /// A row for each publisher of which the trace does not tell the topic.
    fn unnamed(counts: &Counts, analysis: &Analysis<'m>) -> Vec<TopicRow<'m>> {
        let model = analysis.model;
        let shown = counts.unknown.iter();
        let shown = shown
            .filter(|((process, _), _)| analysis.selection.has_unnamed(model, *process))
            .map(|((_, address), (beat, deliveries))| {
                let address = (address.0 != 0).then(|| address.to_string());
                TopicRow {
                    topic: names::unnamed_topic(address.as_deref()),
                    is_unnamed: true,
                    has_no_publisher: address.is_none(),
                    built_in: false,
                    publishers: 1,
                    subscriptions: 0,
                    senders: BTreeSet::from([names::UNKNOWN_NODE]),
                    receivers: BTreeSet::new(),
                    publisher_nodes: String::new(),
                    subscription_nodes: String::new(),
                    messages: beat.count,
                    rate: beat.rate(model),
                    longest_pause: None,
                    received: deliveries.numbers()[0],
                    slowest: None,
                    fastest: None,
                    deliveries: *deliveries,
                }
            });
        shown.collect()
    }

    /// In the order of the columns.
    pub fn cells(&self) -> Vec<Cell<'_>> {
        let mut cells: Vec<Cell<'_>> = Vec::from(cells! {
            &self.topic, self.built_in, self.publishers, &self.publisher_nodes, self.subscriptions,
            &self.subscription_nodes, self.messages, self.rate, self.received, self.slowest,
            self.fastest,
        });
        cells.extend(self.deliveries.numbers().map(Cell::from));
        cells.push(self.longest_pause.into());
        cells
    }
}

fn nodes(model: &Model, nodes: impl Iterator<Item = Option<NodeId>>) -> BTreeSet<&str> {
    let names = nodes.map(|node| model.node_name(node).unwrap_or(names::UNKNOWN_NODE));
    names.collect()
}

fn joined(nodes: &BTreeSet<&str>) -> String {
    let named = nodes.iter().filter(|name| **name != names::UNKNOWN_NODE);
    named.copied().collect::<Vec<&str>>().join(" ")
}

/// What was counted, by id.
struct Counts {
    published: Vec<Beat>,
    /// By publisher.
    longest_pauses: Vec<Option<i64>>,
    received: Vec<Beat>,
    deliveries: Vec<Deliveries>,
    /// Of publishers that the trace does not name.
    unknown: BTreeMap<(ProcessId, Address), (Beat, Deliveries)>,
}

impl Counts {
    fn of(analysis: &Analysis<'_>) -> Counts {
        let model = analysis.model;
        let endpoints = Endpoints::new(analysis);
        let publishers = (0..model.publishers.len()).map(PublisherId::from_index);
        let mut counts = Counts {
            published: vec![Beat::default(); model.publishers.len()],
            longest_pauses: publishers
                .map(|id| longest_pause(&endpoints.publisher(id)))
                .collect(),
            received: vec![Beat::default(); model.subscriptions.len()],
            deliveries: vec![Deliveries::default(); model.subscriptions.len()],
            unknown: BTreeMap::new(),
        };
        counts.count_publications(analysis);
        counts.count_receptions(analysis);
        counts.count_deliveries(analysis);
        counts
    }

    fn count_publications(&mut self, analysis: &Analysis<'_>) {
        let publications = analysis.model.publications.iter();
        for publication in publications.filter(|it| analysis.counts(it.publish)) {
            let beat = match publication.publisher {
                Some(publisher) => &mut self.published[publisher.index()],
                None => &mut self.unknown_publisher(analysis.model, publication).0,
            };
            beat.add(publication.publish);
        }
    }

    /// Executions of callbacks, and messages that were taken by hand.
    fn count_receptions(&mut self, analysis: &Analysis<'_>) {
        let model = analysis.model;
        // Also outside of the range of time.
        let mut has_run = vec![false; model.callbacks.len()];
        for instance in &model.instances {
            let Some(callback) = instance.callback else {
                continue;
            };
            has_run[callback.index()] = true;
            let owner = model.callbacks[callback.index()].owner;
            if let (CallbackOwner::Subscription(id), true) =
                (owner, analysis.counts(instance.start))
            {
                self.received[id.index()].add(instance.start);
            }
        }
        for take in model.takes.iter().filter(|it| analysis.counts(it.time)) {
            let Some(id) = take.subscription else {
                continue;
            };
            let callback = model.subscriptions[id.index()].callback;
            let has_run = callback.is_some_and(|it| has_run[it.index()]);
            if endpoint::is_by_hand(model, take, has_run) {
                self.received[id.index()].add(take.time);
            }
        }
    }

    /// Those of the messages that were published in the range of time.
    fn count_deliveries(&mut self, analysis: &Analysis<'_>) {
        for delivery in &analysis.model.deliveries {
            let publication = analysis.publication(delivery.publication);
            if !analysis.counts(publication.publish) {
                continue;
            }
            if let Some(subscription) = delivery.subscription {
                self.deliveries[subscription.index()].add(delivery);
            }
            if publication.publisher.is_none() {
                self.unknown_publisher(analysis.model, publication)
                    .1
                    .add(delivery);
            }
        }
    }

    /// A publisher that the trace does not name.
    fn unknown_publisher(
        &mut self,
        model: &Model,
        publication: &Publication,
    ) -> &mut (Beat, Deliveries) {
        let address = match publication.handle {
            Address(0) => publication.rmw_handle,
            handle => handle,
        };
        let process = model.process_of(publication.thread);
        self.unknown.entry((process, address)).or_default()
    }
}

/// Nothing where events were lost before so many messages that the others say little.
fn longest_pause(summary: &EndpointSummary) -> Option<i64> {
    let period = summary.period?;
    (summary.damaged * 2 <= summary.messages).then_some(period.max)
}

/// One for each message and subscription that it should have reached: how many had each status, and how many went each way.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deliveries([u64; 7]);

impl Deliveries {
    fn add(&mut self, delivery: &Delivery) {
        let status = match delivery.status {
            DeliveryStatus::Delivered => 0,
            DeliveryStatus::Lost => 1,
            DeliveryStatus::Overwritten => 2,
            DeliveryStatus::Queued => 3,
            DeliveryStatus::Unknown => 4,
        };
        let kind = match delivery.kind {
            DeliveryKind::Inter => 5,
            DeliveryKind::Intra => 6,
        };
        self.0[status] += 1;
        self.0[kind] += 1;
    }

    /// In the order of the columns from `delivered` on.
    pub fn numbers(self) -> [u64; 7] {
        self.0
    }

    pub fn is_any_missing(self) -> bool {
        self.0[1] + self.0[2] > 0
    }

    pub fn plus(self, other: Deliveries) -> Deliveries {
        Deliveries(std::array::from_fn(|it| self.0[it] + other.0[it]))
    }
}

/// Occurrences in the order of time, forgotten but for what rates need.
#[derive(Debug, Clone, Copy, Default)]
struct Beat {
    count: u64,
    span: Option<(Nanos, Nanos)>,
}

impl Beat {
    fn add(&mut self, at: Nanos) {
        self.merge(Beat {
            count: 1,
            span: Some((at, at)),
        });
    }

    fn merge(&mut self, other: Beat) {
        self.count += other.count;
        self.span = match (self.span, other.span) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }

    /// How many per second from the first to the last, without pauses; nothing for less than two.
    fn rate(self, model: &Model) -> Option<f64> {
        let (first, last) = self.span?;
        recorded_per_second(model, self.count, first, last).filter(|_| self.count > 1)
    }
}
