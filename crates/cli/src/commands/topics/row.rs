//! What is told of a topic, and of each of its publishers and subscriptions.

use std::collections::BTreeSet;

use rostrace_analyze::list::{List, TOPICS};
use rostrace_analyze::{Statistics, built_in, names};
use rostrace_trace::Model;
use rostrace_trace::entity::{NodeId, ProcessId, PublisherId, SubscriptionId};
use serde::Serialize;

use super::count::{Beat, Counts, Deliveries};
use crate::cell::Cell;
use crate::listing::Row;
use crate::view::{Topic, View};
use rostrace_base::units;

#[derive(Debug, Serialize)]
pub(super) struct TopicRow<'m> {
    /// Nothing for that of a publisher whose topic the trace does not tell.
    pub(super) topic: Option<&'m str>,
    /// Made by rclcpp, by actions or by a recorder.
    pub(super) built_in: bool,
    pub(super) messages: u64,
    /// At the publishing side.
    pub(super) rate_hz: Option<f64>,
    /// The longest time from a message to the next one of the same publisher.
    pub(super) longest_pause_ns: Option<i64>,
    pub(super) received: u64,
    /// At the receiving side: of the slowest subscription, and of the fastest.
    pub(super) receive_rate_min_hz: Option<f64>,
    pub(super) receive_rate_max_hz: Option<f64>,
    #[serde(flatten)]
    pub(super) deliveries: Deliveries,
    pub(super) publishers: Vec<PublisherRow<'m>>,
    pub(super) subscriptions: Vec<SubscriptionRow<'m>>,
}

#[derive(Debug, Serialize)]
pub(super) struct PublisherRow<'m> {
    pub(super) host: &'m str,
    pub(super) pid: i64,
    pub(super) process: &'m str,
    pub(super) node: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) address: Option<String>,
    pub(super) depth: Option<u64>,
    pub(super) messages: u64,
    pub(super) rate_hz: Option<f64>,
    /// From one message to the next.
    pub(super) period_ns: Option<Statistics>,
}

#[derive(Debug, Serialize)]
pub(super) struct SubscriptionRow<'m> {
    pub(super) host: &'m str,
    pub(super) pid: i64,
    pub(super) process: &'m str,
    pub(super) node: Option<&'m str>,
    pub(super) depth: u64,
    pub(super) intra_process: bool,
    /// Executions of its callback, and messages taken by hand.
    pub(super) received: u64,
    pub(super) rate_hz: Option<f64>,
    #[serde(flatten)]
    pub(super) deliveries: Deliveries,
}

impl<'m> TopicRow<'m> {
    pub(super) fn of(
        counts: &Counts,
        model: &'m Model,
        name: &'m str,
        topic: &Topic,
    ) -> TopicRow<'m> {
        let mut published = Beat::default();
        for id in &topic.publishers {
            published.merge(counts.published[id.index()]);
        }
        let mut deliveries = Deliveries::default();
        for id in &topic.subscriptions {
            deliveries = deliveries.plus(counts.deliveries[id.index()]);
        }
        let received = topic
            .subscriptions
            .iter()
            .map(|id| counts.received[id.index()]);
        let rates = received
            .clone()
            .map(|beat| beat.rate(model).unwrap_or(0.0))
            .collect::<Vec<f64>>();
        TopicRow {
            topic: Some(name),
            built_in: built_in::topic(name),
            messages: published.count,
            rate_hz: published.rate(model),
            longest_pause_ns: (topic.publishers.iter())
                .filter_map(|id| counts.periods[id.index()].map(|period| period.max))
                .max(),
            received: received.map(|beat| beat.count).sum(),
            receive_rate_min_hz: rates.iter().copied().reduce(f64::min),
            receive_rate_max_hz: rates.iter().copied().reduce(f64::max),
            deliveries,
            publishers: (topic.publishers.iter())
                .map(|id| PublisherRow::of(counts, model, *id))
                .collect(),
            subscriptions: (topic.subscriptions.iter())
                .map(|id| SubscriptionRow::of(counts, model, *id))
                .collect(),
        }
    }

    /// A row for each publisher of which the trace does not tell the topic.
    pub(super) fn unnamed(counts: &Counts, view: &View<'m>) -> Vec<TopicRow<'m>> {
        let shown = counts.unknown.iter();
        let shown = shown.filter(|((process, _), _)| view.has_unnamed(*process));
        let rows = shown.map(|((process, address), (beat, deliveries))| TopicRow {
            topic: None,
            built_in: false,
            messages: beat.count,
            rate_hz: beat.rate(view.model),
            longest_pause_ns: None,
            received: deliveries.delivered,
            receive_rate_min_hz: None,
            receive_rate_max_hz: None,
            deliveries: *deliveries,
            publishers: vec![PublisherRow {
                address: (address.0 != 0).then(|| address.to_string()),
                ..PublisherRow::new(view.model, *process, None, *beat)
            }],
            subscriptions: Vec::new(),
        });
        rows.collect()
    }
}

impl<'m> PublisherRow<'m> {
    fn of(counts: &Counts, model: &'m Model, id: PublisherId) -> PublisherRow<'m> {
        let publisher = &model.publishers[id.index()];
        let beat = counts.published[id.index()];
        PublisherRow {
            depth: Some(publisher.depth),
            period_ns: counts.periods[id.index()],
            ..PublisherRow::new(model, publisher.process, publisher.node, beat)
        }
    }

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
            rate_hz: beat.rate(model),
            period_ns: None,
        }
    }
}

impl<'m> SubscriptionRow<'m> {
    fn of(counts: &Counts, model: &'m Model, id: SubscriptionId) -> SubscriptionRow<'m> {
        let subscription = &model.subscriptions[id.index()];
        let process = &model.processes[subscription.process.index()];
        let beat = counts.received[id.index()];
        SubscriptionRow {
            host: model.host_name(subscription.process),
            pid: process.pid,
            process: &process.name,
            node: model.node_name(subscription.node),
            depth: subscription.depth,
            intra_process: subscription.intra_process,
            received: beat.count,
            rate_hz: beat.rate(model),
            deliveries: counts.deliveries[id.index()],
        }
    }
}

impl TopicRow<'_> {
    pub(super) fn name(&self) -> String {
        let address = || self.publishers.first().and_then(|it| it.address.as_deref());
        match self.topic {
            Some(topic) => topic.to_owned(),
            None => names::unnamed_topic(address()),
        }
    }

    pub(super) fn senders(&self) -> BTreeSet<&str> {
        let publishers = self.publishers.iter();
        publishers
            .map(|it| it.node.unwrap_or(names::UNKNOWN_NODE))
            .collect()
    }

    pub(super) fn receivers(&self) -> BTreeSet<&str> {
        let subscriptions = self.subscriptions.iter();
        subscriptions
            .map(|it| it.node.unwrap_or(names::UNKNOWN_NODE))
            .collect()
    }
}

impl Row for TopicRow<'_> {
    const LIST: &'static List = &TOPICS;

    fn cells(&self) -> Vec<Cell> {
        let joined = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(" ");
        let mut cells = vec![
            self.name().into(),
            self.built_in.into(),
            self.publishers.len().into(),
            joined(self.senders()).into(),
            self.subscriptions.len().into(),
            joined(self.receivers()).into(),
            self.messages.into(),
            self.rate_hz.into(),
            self.received.into(),
            self.receive_rate_min_hz.into(),
            self.receive_rate_max_hz.into(),
        ];
        cells.extend(self.deliveries.numbers().map(Cell::from));
        cells.push(self.longest_pause_ns.into());
        cells
    }

    fn shown(&self, title: &str, _all: bool) -> Option<String> {
        match title {
            "from" => Some(some_names(self.senders())),
            "to" => Some(some_names(self.receivers())),
            "received at" => Some(rates(self.receive_rate_min_hz, self.receive_rate_max_hz)),
            _ => None,
        }
    }

    fn is_folded(&self) -> bool {
        self.built_in
    }

    /// One line for all.
    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        let number = units::counted(rows.len() as u64, "built-in topic");
        let messages = rows.iter().map(|row| row.messages).sum();
        let deliveries = rows
            .iter()
            .fold(Deliveries::default(), |sum, row| sum.plus(row.deliveries));
        let mut line = vec![("topic", number), ("messages", units::count(messages))];
        let titles = [
            "delivered",
            "lost",
            "overwritten",
            "queued",
            "unknown",
            "inter",
            "intra",
        ];
        line.extend(
            titles
                .into_iter()
                .zip(deliveries.numbers().map(units::count)),
        );
        vec![line]
    }

    /// Messages did not arrive.
    fn is_conspicuous(&self) -> bool {
        !self.built_in && self.deliveries.is_any_missing()
    }
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
