//! `rostrace topics`: who sends, who receives, how often, and which messages did not arrive.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_analyze::endpoint::{self, EndpointSummary, Endpoints};
use rostrace_analyze::{Analysis, Statistics};
use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::entity::{
    Address, CallbackOwner, NodeId, ProcessId, PublisherId, SubscriptionId,
};
use rostrace_trace::flow::{Delivery, DeliveryKind, DeliveryStatus};
use serde::Serialize;

use crate::args::LookArguments;
use crate::family;
use crate::listing::{Reading, Row, cell};
use crate::outcome::Outcome;
use crate::render::table::{Align, Table};
use crate::render::units;
use crate::view::{Topic, View};
use rostrace_analyze::built_in;
use rostrace_analyze::names;

#[derive(Debug, Serialize)]
struct TopicRow<'m> {
    /// Nothing for that of a publisher whose topic the trace does not tell.
    topic: Option<&'m str>,
    /// Made by rclcpp, by actions or by a recorder.
    built_in: bool,
    messages: u64,
    /// At the publishing side.
    rate_hz: Option<f64>,
    /// The longest time from a message to the next one of the same publisher.
    longest_pause_ns: Option<i64>,
    received: u64,
    /// At the receiving side: of the slowest subscription, and of the fastest.
    receive_rate_min_hz: Option<f64>,
    receive_rate_max_hz: Option<f64>,
    #[serde(flatten)]
    deliveries: Deliveries,
    publishers: Vec<PublisherRow<'m>>,
    subscriptions: Vec<SubscriptionRow<'m>>,
}

#[derive(Debug, Serialize)]
struct PublisherRow<'m> {
    host: &'m str,
    pid: i64,
    process: &'m str,
    node: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    depth: Option<u64>,
    messages: u64,
    rate_hz: Option<f64>,
    /// From one message to the next.
    period_ns: Option<Statistics>,
}

#[derive(Debug, Serialize)]
struct SubscriptionRow<'m> {
    host: &'m str,
    pid: i64,
    process: &'m str,
    node: Option<&'m str>,
    depth: u64,
    intra_process: bool,
    /// Executions of its callback, and messages taken by hand.
    received: u64,
    rate_hz: Option<f64>,
    #[serde(flatten)]
    deliveries: Deliveries,
}

/// One for each message and subscription that it should have reached.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Deliveries {
    delivered: u64,
    lost: u64,
    overwritten: u64,
    queued: u64,
    unknown: u64,
    inter: u64,
    intra: u64,
}

impl Deliveries {
    fn add(&mut self, delivery: &Delivery) {
        *match delivery.status {
            DeliveryStatus::Delivered => &mut self.delivered,
            DeliveryStatus::Lost => &mut self.lost,
            DeliveryStatus::Overwritten => &mut self.overwritten,
            DeliveryStatus::Queued => &mut self.queued,
            DeliveryStatus::Unknown => &mut self.unknown,
        } += 1;
        *match delivery.kind {
            DeliveryKind::Inter => &mut self.inter,
            DeliveryKind::Intra => &mut self.intra,
        } += 1;
    }

    fn numbers(self) -> [u64; 7] {
        [
            self.delivered,
            self.lost,
            self.overwritten,
            self.queued,
            self.unknown,
            self.inter,
            self.intra,
        ]
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
        self.count += 1;
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
    }

    fn merge(&mut self, other: Beat) {
        self.count += other.count;
        self.span = match (self.span, other.span) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }

    /// How many per second from the first to the last; nothing for less than two.
    fn rate(self) -> Option<f64> {
        let (first, last) = self.span?;
        let seconds = (last.0 - first.0) as f64 / 1e9;
        (self.count > 1 && seconds > 0.0).then(|| (self.count - 1) as f64 / seconds)
    }
}

pub(crate) fn topics(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let Some(reading) = Reading::of(arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let view = reading.view()?;
    let counts = Counts::of(&view);
    let mut rows: Vec<TopicRow<'_>> = view
        .topics()
        .map(|(name, topic)| counts.row(view.model, name, topic))
        .collect();
    let unnamed = counts.unnamed(&view);
    let has_address = |row: &&TopicRow<'_>| row.publishers.iter().any(|it| it.address.is_some());
    let number = unnamed.iter().filter(has_address).count();
    let unsent = unnamed.iter().filter(|row| !has_address(row));
    let unsent: u64 = unsent.map(|row| row.messages).sum();
    rows.extend(unnamed);
    let kinds = &view.model.kinds;
    let notes = reading
        .unnamed(number, "publisher")
        .into_iter()
        .chain(went_no_further(unsent))
        .chain(family::PUBLISH.lack(kinds).map(str::to_owned))
        .chain(family::TAKE.lack(kinds).map(str::to_owned));
    reading.print(&rows, || table(&rows, arguments.all), notes)
}

/// Of messages that left no event below rclcpp, which does not say whose they are; nothing for none.
fn went_no_further(messages: u64) -> Option<String> {
    let (was, its) = match messages {
        0 => return None,
        1 => ("message was", "its topic is"),
        _ => ("messages were", "their topics are"),
    };
    Some(format!(
        "{} {was} handed to rclcpp and went no further, so that {its} not known: after shutdown() nothing is sent, or \
         events were lost",
        units::count(messages)
    ))
}

/// From one message to the next; nothing where events were lost before so many messages that the others say little.
fn periods(summary: &EndpointSummary) -> Option<Statistics> {
    summary
        .period
        .filter(|_| summary.damaged * 2 <= summary.messages)
}

/// What was counted, by id.
struct Counts {
    published: Vec<Beat>,
    periods: Vec<Option<Statistics>>,
    received: Vec<Beat>,
    deliveries: Vec<Deliveries>,
    /// Of publishers that the trace does not name.
    unknown: BTreeMap<(ProcessId, Address), Beat>,
}

impl Counts {
    fn of(view: &View<'_>) -> Counts {
        let model = view.model;
        let analysis = Analysis::new(model, view.window().clone());
        let endpoints = Endpoints::new(&analysis);
        let publishers = (0..model.publishers.len()).map(PublisherId::from_index);
        let mut counts = Counts {
            published: vec![Beat::default(); model.publishers.len()],
            periods: publishers
                .map(|id| periods(&endpoints.publisher(id)))
                .collect(),
            received: vec![Beat::default(); model.subscriptions.len()],
            deliveries: vec![Deliveries::default(); model.subscriptions.len()],
            unknown: BTreeMap::new(),
        };
        for publication in view.publications() {
            match publication.publisher {
                Some(publisher) => counts.published[publisher.index()].add(publication.publish),
                None => {
                    let process = model.process_of(publication.thread);
                    let address = match publication.handle {
                        Address(0) => publication.rmw_handle,
                        handle => handle,
                    };
                    let beat = counts.unknown.entry((process, address)).or_default();
                    beat.add(publication.publish);
                }
            }
        }
        // Also outside of the range of time.
        let mut has_run = vec![false; model.callbacks.len()];
        for callback in model.instances.iter().filter_map(|it| it.callback) {
            has_run[callback.index()] = true;
        }
        for (_, instance) in view.instances() {
            let owner = instance
                .callback
                .map(|callback| model.callbacks[callback.index()].owner);
            if let Some(CallbackOwner::Subscription(id)) = owner {
                counts.received[id.index()].add(instance.start);
            }
        }
        for take in view.takes() {
            let Some(id) = take.subscription else {
                continue;
            };
            let callback = model.subscriptions[id.index()].callback;
            let has_run = callback.is_some_and(|it| has_run[it.index()]);
            if endpoint::is_by_hand(model, take, has_run) {
                counts.received[id.index()].add(take.time);
            }
        }
        for delivery in view.deliveries() {
            counts.deliveries[delivery.subscription.index()].add(delivery);
        }
        counts
    }

    fn row<'m>(&self, model: &'m Model, name: &'m str, topic: &Topic) -> TopicRow<'m> {
        let mut published = Beat::default();
        for id in &topic.publishers {
            published.merge(self.published[id.index()]);
        }
        let mut deliveries = Deliveries::default();
        for id in &topic.subscriptions {
            deliveries = deliveries.plus(self.deliveries[id.index()]);
        }
        let received = topic
            .subscriptions
            .iter()
            .map(|id| self.received[id.index()]);
        let rates = received
            .clone()
            .map(|beat| beat.rate().unwrap_or(0.0))
            .collect::<Vec<f64>>();
        TopicRow {
            topic: Some(name),
            built_in: built_in::topic(name),
            messages: published.count,
            rate_hz: published.rate(),
            longest_pause_ns: (topic.publishers.iter())
                .filter_map(|id| self.periods[id.index()].map(|period| period.max))
                .max(),
            received: received.map(|beat| beat.count).sum(),
            receive_rate_min_hz: rates.iter().copied().reduce(f64::min),
            receive_rate_max_hz: rates.iter().copied().reduce(f64::max),
            deliveries,
            publishers: (topic.publishers.iter())
                .map(|id| self.publisher(model, *id))
                .collect(),
            subscriptions: (topic.subscriptions.iter())
                .map(|id| self.subscription(model, *id))
                .collect(),
        }
    }

    fn publisher<'m>(&self, model: &'m Model, id: PublisherId) -> PublisherRow<'m> {
        let publisher = &model.publishers[id.index()];
        let beat = self.published[id.index()];
        PublisherRow {
            depth: Some(publisher.depth),
            period_ns: self.periods[id.index()],
            ..PublisherRow::new(model, publisher.process, publisher.node, beat)
        }
    }

    fn subscription<'m>(&self, model: &'m Model, id: SubscriptionId) -> SubscriptionRow<'m> {
        let subscription = &model.subscriptions[id.index()];
        let process = &model.processes[subscription.process.index()];
        let beat = self.received[id.index()];
        SubscriptionRow {
            host: model.host_name(subscription.process),
            pid: process.pid,
            process: &process.name,
            node: model.node_name(subscription.node),
            depth: subscription.depth,
            intra_process: subscription.intra_process,
            received: beat.count,
            rate_hz: beat.rate(),
            deliveries: self.deliveries[id.index()],
        }
    }

    /// A row for each publisher of which the trace does not tell the topic.
    fn unnamed<'m>(&self, view: &View<'m>) -> Vec<TopicRow<'m>> {
        let shown = self.unknown.iter();
        let shown = shown.filter(|((process, _), _)| view.has_unnamed(*process));
        let rows = shown.map(|((process, address), beat)| TopicRow {
            topic: None,
            built_in: false,
            messages: beat.count,
            rate_hz: beat.rate(),
            longest_pause_ns: None,
            received: 0,
            receive_rate_min_hz: None,
            receive_rate_max_hz: None,
            deliveries: Deliveries::default(),
            publishers: vec![PublisherRow {
                address: (address.0 != 0).then(|| address.to_string()),
                ..PublisherRow::new(view.model, *process, None, *beat)
            }],
            subscriptions: Vec::new(),
        });
        rows.collect()
    }
}

impl Deliveries {
    fn plus(self, other: Deliveries) -> Deliveries {
        Deliveries {
            delivered: self.delivered + other.delivered,
            lost: self.lost + other.lost,
            overwritten: self.overwritten + other.overwritten,
            queued: self.queued + other.queued,
            unknown: self.unknown + other.unknown,
            inter: self.inter + other.inter,
            intra: self.intra + other.intra,
        }
    }
}

impl<'m> PublisherRow<'m> {
    fn new(
        model: &'m Model,
        process: ProcessId,
        node: Option<NodeId>,
        beat: Beat,
    ) -> PublisherRow<'m> {
        PublisherRow {
            host: model.host_name(process),
            pid: model.processes[process.index()].pid,
            process: &model.processes[process.index()].name,
            node: model.node_name(node),
            address: None,
            depth: None,
            messages: beat.count,
            rate_hz: beat.rate(),
            period_ns: None,
        }
    }
}

impl TopicRow<'_> {
    fn name(&self) -> String {
        let address = || self.publishers.first().and_then(|it| it.address.as_deref());
        match self.topic {
            Some(topic) => topic.to_owned(),
            None => names::unnamed_topic(address()),
        }
    }

    fn senders(&self) -> BTreeSet<&str> {
        let publishers = self.publishers.iter();
        publishers
            .map(|it| it.node.unwrap_or(names::UNKNOWN_NODE))
            .collect()
    }

    fn receivers(&self) -> BTreeSet<&str> {
        let subscriptions = self.subscriptions.iter();
        subscriptions
            .map(|it| it.node.unwrap_or(names::UNKNOWN_NODE))
            .collect()
    }
}

impl Row for TopicRow<'_> {
    const NOUN: &'static str = "topic";
    const COLUMNS: &'static [&'static str] = &[
        "topic",
        "built_in",
        "publishers",
        "publisher_nodes",
        "subscriptions",
        "subscription_nodes",
        "messages",
        "rate_hz",
        "received",
        "receive_rate_min_hz",
        "receive_rate_max_hz",
        "delivered",
        "lost",
        "overwritten",
        "queued",
        "unknown",
        "inter",
        "intra",
        "longest_pause_ns",
    ];

    fn cells(&self) -> Vec<String> {
        let joined = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(" ");
        let mut cells = vec![
            self.name(),
            u8::from(self.built_in).to_string(),
            self.publishers.len().to_string(),
            joined(self.senders()),
            self.subscriptions.len().to_string(),
            joined(self.receivers()),
            self.messages.to_string(),
            cell(self.rate_hz),
            self.received.to_string(),
            cell(self.receive_rate_min_hz),
            cell(self.receive_rate_max_hz),
        ];
        cells.extend(self.deliveries.numbers().map(|number| number.to_string()));
        cells.push(cell(self.longest_pause_ns));
        cells
    }
}

/// By name; what is built in is one line at the end, unless all is asked for.
fn table(rows: &[TopicRow<'_>], all: bool) -> Table {
    let mut table = Table::new(&[
        ("topic", Align::Left),
        ("from", Align::Left),
        ("to", Align::Left),
        ("messages", Align::Right),
        ("sent at", Align::Right),
        ("longest pause", Align::Right),
        ("received at", Align::Right),
        ("delivered", Align::Right),
        ("lost", Align::Right),
        ("overwritten", Align::Right),
        ("queued", Align::Right),
        ("unknown", Align::Right),
        ("inter", Align::Right),
        ("intra", Align::Right),
    ])
    .dispensable(&[
        "inter",
        "intra",
        "unknown",
        "queued",
        "received at",
        "delivered",
        "overwritten",
    ]);
    let (folded, shown): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.built_in && !all);
    for row in shown {
        let mut cells = vec![
            row.name(),
            some_names(row.senders()),
            some_names(row.receivers()),
            units::count(row.messages),
            cell(row.rate_hz.map(units::hertz)),
            cell(row.longest_pause_ns.map(units::signed_duration)),
            rates(row.receive_rate_min_hz, row.receive_rate_max_hz),
        ];
        cells.extend(row.deliveries.numbers().map(units::count));
        table.row(cells);
    }
    if !folded.is_empty() {
        let number = units::counted(folded.len() as u64, "built-in topic");
        let messages = folded.iter().map(|row| row.messages).sum();
        let deliveries = folded
            .iter()
            .fold(Deliveries::default(), |sum, row| sum.plus(row.deliveries));
        let mut cells = vec![number, String::new(), String::new(), units::count(messages)];
        cells.extend([String::new(), String::new(), String::new()]);
        cells.extend(deliveries.numbers().map(units::count));
        table.row(cells);
    }
    table
}

/// `/a, /b`, `/a, /b and 3 more`
fn some_names(names: BTreeSet<&str>) -> String {
    const MOST: usize = 2;
    let more = names.len().saturating_sub(MOST);
    let shown: Vec<&str> = names.into_iter().take(MOST).collect();
    match (shown.is_empty(), more) {
        (true, _) => "–".to_owned(),
        (_, 0) => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

/// `99.8 Hz`, or from the slowest to the fastest where they differ.
fn rates(slowest: Option<f64>, fastest: Option<f64>) -> String {
    let (Some(slowest), Some(fastest)) = (slowest.map(units::hertz), fastest.map(units::hertz))
    else {
        return String::new();
    };
    if slowest == fastest {
        return fastest;
    }
    let slowest = slowest.trim_end_matches(" Hz");
    format!("{slowest} – {fastest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_between_the_first_and_the_last() {
        let mut beat = Beat::default();
        assert_eq!(beat.rate(), None);
        beat.add(Nanos(5_000_000_000));
        assert_eq!(beat.rate(), None);
        beat.add(Nanos(5_100_000_000));
        beat.add(Nanos(5_200_000_000));
        assert_eq!(beat.rate(), Some(10.0));
    }

    #[test]
    fn names_and_rates_are_short() {
        assert_eq!(some_names(BTreeSet::new()), "–");
        assert_eq!(some_names(BTreeSet::from(["/a", "/b"])), "/a, /b");
        let four = BTreeSet::from(["/a", "/b", "/c", "/d"]);
        assert_eq!(some_names(four), "/a, /b and 2 more");
        assert_eq!(rates(Some(10.01), Some(10.02)), "10.0 Hz");
        assert_eq!(rates(Some(0.0), Some(99.9)), "0.0 – 99.9 Hz");
        assert_eq!(rates(None, None), "");
    }
}
