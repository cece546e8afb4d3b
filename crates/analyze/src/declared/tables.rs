//! The records of single objects: callbacks, publishers, subscriptions, timers. Communications, ways through nodes and paths are
//! made from them in `communication`, `node_path` and `paths`.

use std::collections::{HashMap, HashSet};

use rostrace_architecture::{Callback, Endpoint, Node};
use rostrace_model::Model;
use rostrace_model::entity::{
    CallbackId, InstanceId, NodeId, PublicationId, PublisherId, SubscriptionId, TakeId,
};
use rostrace_model::flow::{CallbackInstance, Delivery, DeliveryKind, DeliveryStatus, Publication};

use crate::declared::Style;
pub use crate::declared::link::Link;
use crate::declared::objects::Objects;
use crate::declared::order;
use crate::declared::records::{Cell, Event, Follow, Records, Stamp};

/// A trace with its flows indexed by the entities that they belong to.
#[derive(Debug)]
pub struct Indexed<'m> {
    pub model: &'m Model,
    pub objects: Objects,
    pub style: Style,
    instances_of: HashMap<CallbackId, Vec<InstanceId>>,
    publications_of: HashMap<PublisherId, Vec<PublicationId>>,
    /// The take of a publication.
    pub(super) taken: HashMap<(PublicationId, SubscriptionId), TakeId>,
    takes_of: HashMap<SubscriptionId, Vec<TakeId>>,
    /// Pairs that communicate inside a process.
    pub(crate) intra: HashSet<(PublisherId, SubscriptionId)>,
    /// Where the deliveries of each publication begin; one more than there are publications.
    delivery_begins: Vec<u32>,
}

/// One life of a node, or all of them.
pub(crate) type Life = Option<NodeId>;

impl<'m> Indexed<'m> {
    pub fn new(model: &'m Model, style: Style) -> Indexed<'m> {
        let mut indexed = Indexed {
            model,
            objects: Objects::new(model),
            style,
            instances_of: HashMap::new(),
            publications_of: HashMap::new(),
            taken: HashMap::new(),
            takes_of: HashMap::new(),
            intra: HashSet::new(),
            delivery_begins: delivery_begins(model),
        };
        // CARET leaves out what ran without its library, as soon as something ran with it.
        let all = style == Style::Own || !model.processes.iter().any(|process| process.has_caret);
        let counts = |thread| all || model.processes[model.process_of(thread).index()].has_caret;
        for (index, instance) in model.instances.iter().enumerate() {
            if let Some(callback) = instance.callback.filter(|_| counts(instance.thread)) {
                let instances = indexed.instances_of.entry(callback).or_default();
                instances.push(InstanceId(index as u32));
            }
        }
        for (index, publication) in model.publications.iter().enumerate() {
            if let Some(publisher) = publication.publisher.filter(|_| counts(publication.thread)) {
                let publications = indexed.publications_of.entry(publisher).or_default();
                publications.push(PublicationId(index as u32));
            }
        }
        for delivery in &model.deliveries {
            let publisher = model.publications[delivery.publication.index()].publisher;
            let inside = delivery.kind == DeliveryKind::Intra
                && delivery.status == DeliveryStatus::Delivered;
            if let Some(ends) = publisher.zip(delivery.subscription).filter(|_| inside) {
                indexed.intra.insert(ends);
            }
        }
        for (index, take) in model.takes.iter().enumerate() {
            let Some(subscription) = take.subscription else {
                continue;
            };
            let id = TakeId::from_index(index);
            if let Some(publication) = take.publication {
                indexed.taken.insert((publication, subscription), id);
            }
            indexed.takes_of.entry(subscription).or_default().push(id);
        }
        indexed
    }

    /// Processes that CARET leaves out because its library was not loaded in them. In our own style they are in the tables.
    pub fn left_out(&self) -> usize {
        let processes = &self.model.processes;
        let without = processes
            .iter()
            .filter(|process| !process.has_caret)
            .count();
        if without < processes.len() {
            without
        } else {
            0
        }
    }

    /// Start and end of every execution; in CARET's style of those that have both.
    pub fn callback(&self, node: &Node, callback: &Callback) -> Records {
        self.callback_in(node, callback, None).times()
    }

    pub(crate) fn callback_in(
        &self,
        node: &Node,
        callback: &Callback,
        life: Life,
    ) -> Records<Stamp> {
        let name = &callback.name;
        let mut records = Records::new([
            format!("{name}/callback_start_timestamp"),
            format!("{name}/callback_end_timestamp"),
        ]);
        for (id, instance) in self.instances_in(node, callback, life) {
            let end = instance.end.map(|end| Stamp::of(Event::End(id), end.0));
            if end.is_some() || self.style == Style::Own {
                records.rows.push(vec![Some(self.start(id)), end]);
            }
        }
        self.sort(&mut records);
        records
    }

    /// The start of an instance.
    pub(super) fn start(&self, id: InstanceId) -> Stamp {
        Stamp::of(Event::Start(id), self.model.instances[id.index()].start.0)
    }

    /// When a message was taken.
    pub(super) fn take(&self, id: TakeId) -> Stamp {
        Stamp::of(Event::Take(id), self.model.takes[id.index()].time.0)
    }

    pub(crate) fn instances_in(
        &self,
        node: &Node,
        callback: &Callback,
        life: Life,
    ) -> impl Iterator<Item = (InstanceId, &'m CallbackInstance)> {
        let callbacks = self.objects.callbacks(node, callback).iter();
        callbacks
            .filter(move |id| life.is_none() || self.model.node_of_callback(**id) == life)
            .flat_map(|id| self.instances(*id))
    }

    pub(crate) fn instances(
        &self,
        callback: CallbackId,
    ) -> impl Iterator<Item = (InstanceId, &'m CallbackInstance)> {
        let instances = self.instances_of.get(&callback);
        let instances = instances.map_or(&[][..], Vec::as_slice).iter();
        instances.map(|id| (*id, &self.model.instances[id.index()]))
    }

    pub(crate) fn publications(
        &self,
        publisher: PublisherId,
    ) -> impl Iterator<Item = (PublicationId, &'m Publication)> {
        let publications = self.publications_of.get(&publisher);
        let publications = publications.map_or(&[][..], Vec::as_slice).iter();
        publications.map(|id| (*id, &self.model.publications[id.index()]))
    }

    pub(crate) fn publishers(
        &self,
        node: &Node,
        publisher: &Endpoint,
        life: Life,
    ) -> impl Iterator<Item = PublisherId> {
        let publishers = self.objects.publishers(node, publisher).iter().copied();
        publishers
            .filter(move |id| life.is_none() || self.model.publishers[id.index()].node == life)
    }

    pub(crate) fn subscriptions(
        &self,
        node: &Node,
        subscription: &Endpoint,
        life: Life,
    ) -> impl Iterator<Item = SubscriptionId> {
        let subscriptions = self.objects.subscriptions(node, subscription).iter();
        subscriptions
            .copied()
            .filter(move |id| life.is_none() || self.model.subscriptions[id.index()].node == life)
    }

    /// The messages that one publication should have reached, and the number of the first of them.
    pub(crate) fn deliveries(&self, publication: PublicationId) -> (usize, &'m [Delivery]) {
        let [begin, end] = [0, 1].map(|next| self.delivery_begins[publication.index() + next]);
        let begin = begin as usize;
        (begin, &self.model.deliveries[begin..end as usize])
    }

    /// When a message was published; nothing if CARET would not see it.
    fn published(&self, publication: &Publication) -> Cell {
        match self.style {
            Style::Own => Some(publication.publish.0),
            Style::Caret => {
                let both = publication.intra.into_iter().chain(publication.rclcpp);
                both.min().map(|time| time.0)
            }
        }
    }

    /// Sorts by the first column. Where CARET's order of equal rows counts, it is CARET's.
    pub(crate) fn sort(&self, records: &mut Records<Stamp>) {
        match self.style {
            Style::Own => records.sort_by_first(),
            Style::Caret => order::sort_by_first(&mut records.rows),
        }
    }

    /// The stamps of every publication: rclcpp, rcl, middleware, message, source.
    pub fn publisher(&self, node: &Node, publisher: &Endpoint) -> Records {
        self.publisher_in(node, publisher, None).times()
    }

    pub(crate) fn publisher_in(
        &self,
        node: &Node,
        publisher: &Endpoint,
        life: Life,
    ) -> Records<Stamp> {
        let topic = &publisher.topic;
        let names = [
            "rclcpp_publish",
            "rcl_publish",
            "dds_write",
            "message",
            "source",
        ];
        let mut records = Records::new(names.map(|name| format!("{topic}/{name}_timestamp")));
        let mut shown = [true, false, false, true, true];
        for id in self.publishers(node, publisher, life) {
            let mut first = true;
            for (id, publication) in self.publications(id) {
                let Some(publish) = self.published(publication) else {
                    continue;
                };
                let stamp = publication.message_timestamp;
                let stamp = match self.style {
                    Style::Caret => Some(stamp.unwrap_or(0)),
                    Style::Own => stamp.filter(|stamp| *stamp != 0),
                };
                let row = vec![
                    Some(Stamp::of(Event::Publish(id), publish)),
                    publication.rcl.map(|time| Stamp::key(time.0)),
                    publication.rmw.map(|time| Stamp::key(time.0)),
                    stamp.map(Stamp::key),
                    publication.source_timestamp.map(Stamp::key),
                ];
                // For CARET the layers that the first message went through are the columns that a publisher has.
                if first || self.style == Style::Own {
                    shown[1] |= row[1].is_some();
                    shown[2] |= row[2].is_some();
                    first = false;
                }
                records.rows.push(row);
            }
        }
        self.sort(&mut records);
        let columns: Vec<usize> = (0..5).filter(|column| shown[*column]).collect();
        records.select(&columns)
    }

    /// Start of every execution, and the source timestamp of the message that it received. CARET has only those
    /// whose message is known to have come.
    pub fn subscription(&self, node: &Node, endpoint: &Endpoint, callback: &str) -> Records {
        self.subscription_in(node, endpoint, callback, None).times()
    }

    pub(crate) fn subscription_in(
        &self,
        node: &Node,
        endpoint: &Endpoint,
        callback: &str,
        life: Life,
    ) -> Records<Stamp> {
        let mut records = Records::new([
            format!("{callback}/callback_start_timestamp"),
            format!("{}/source_timestamp", endpoint.topic),
        ]);
        for (id, instance) in self.receptions(node, endpoint, life) {
            let take = instance.take.map(|take| &self.model.takes[take.index()]);
            let stamp = take.map(|take| Stamp::key(take.source_timestamp));
            if self.style == Style::Own || instance.intra_process || stamp.is_some() {
                records.rows.push(vec![Some(self.start(id)), stamp]);
            }
        }
        self.sort(&mut records);
        records
    }

    /// The executions of a subscription's callback.
    pub(crate) fn receptions(
        &self,
        node: &Node,
        endpoint: &Endpoint,
        life: Life,
    ) -> impl Iterator<Item = (InstanceId, &'m CallbackInstance)> {
        self.subscriptions(node, endpoint, life)
            .filter_map(|id| self.model.subscriptions[id.index()].callback)
            .flat_map(|callback| self.instances(callback))
    }

    /// Takes of a subscription whose messages are fetched by hand.
    pub(super) fn manual_takes(&self, node: &Node, endpoint: &Endpoint) -> Records<Stamp> {
        let topic = &endpoint.topic;
        let mut records = Records::new([
            format!("{topic}/source_timestamp"),
            format!("{topic}/rmw_take_timestamp"),
        ]);
        let takes = self.takes(node, endpoint, None);
        records.rows.extend(takes.map(|id| {
            let source = Stamp::key(self.model.takes[id.index()].source_timestamp);
            vec![Some(source), Some(self.take(id))]
        }));
        records.rows.sort_by_key(|row| row[1].map(|it| it.time));
        records
    }

    pub(crate) fn takes(
        &self,
        node: &Node,
        endpoint: &Endpoint,
        life: Life,
    ) -> impl Iterator<Item = TakeId> {
        let subscriptions = self.subscriptions(node, endpoint, life);
        let takes = subscriptions.filter_map(|id| self.takes_of.get(&id));
        takes.flatten().copied()
    }

    /// Whether the recording tells of takes.
    pub fn has_takes(&self) -> bool {
        self.model.count(rostrace_tracepoints::Kind::RmwTake) > 0
    }

    /// The callbacks in which a publisher was used, and its publications. In our own style a publication outside any callback
    /// has a row too, without a start.
    pub(super) fn path_beginning(&self, node: &Node, publisher: &Endpoint) -> Records<Stamp> {
        let mut records = Records::new([
            format!("{}/callback_x/callback_start_timestamp", node.name),
            format!("{}/rclcpp_publish_timestamp", publisher.topic),
        ]);
        for id in self.objects.publishers(node, publisher) {
            for (id, publication) in self.publications(*id) {
                let start = publication.instance.map(|id| self.start(id));
                // CARET counts a message that goes both ways twice.
                let published = match self.style {
                    Style::Own => [Some(publication.publish), None],
                    Style::Caret if start.is_some() => [publication.intra, publication.rclcpp],
                    Style::Caret => [None, None],
                };
                let published = published.into_iter().flatten();
                records
                    .rows
                    .extend(published.map(|publish| {
                        vec![start, Some(Stamp::of(Event::Publish(id), publish.0))]
                    }));
            }
        }
        self.sort(&mut records);
        records
    }

    /// When a timer should have fired, in the order of time, and the executions that follow: each firing has the first one
    /// before the next firing.
    pub fn timer(&self, node: &Node, callback: &Callback, firings: &[i64]) -> Records {
        let mut events = Records::new([format!("{}/timer_event_timestamp", callback.name)]);
        events.rows = firings.iter().map(|firing| vec![Some(*firing)]).collect();
        events.join_following(0, &self.callback(node, callback), Follow::First)
    }

    /// The firings that CARET computes: one per period from a timer's creation on, that instant included, until the last execution
    /// began; late by as much as CARET's own notion of that time. No timer fires like that: drift, resets and
    /// cancellations are unknown to it.
    pub fn caret_firings(&self, node: &Node, callback: &Callback) -> Vec<i64> {
        let executions = self.callback(node, callback);
        let last = executions.column(0).flatten().last();
        let lateness = self.model.caret_lateness.map_or(0, |lateness| lateness.0);
        let mut firings = Vec::new();
        for id in self.objects.timers(node, callback) {
            let timer = &self.model.timers[id.index()];
            let Some(last) = last.filter(|_| timer.period.0 > 0) else {
                continue;
            };
            firings.extend(firings_until(
                timer.created.0.saturating_add(lateness),
                timer.period.0,
                last,
            ));
        }
        firings.sort_unstable();
        firings
    }
}

/// From `first` on, one per period, before `last`.
fn firings_until(first: i64, period: i64, last: i64) -> impl Iterator<Item = i64> {
    let next = move |firing: &i64| firing.checked_add(period);
    std::iter::successors(Some(first), next).take_while(move |firing| *firing < last)
}

/// Deliveries are in the order of their publications.
fn delivery_begins(model: &Model) -> Vec<u32> {
    let mut begins = vec![0; model.publications.len() + 1];
    for delivery in &model.deliveries {
        begins[delivery.publication.index() + 1] += 1;
    }
    for publication in 0..model.publications.len() {
        begins[publication + 1] += begins[publication];
    }
    begins
}

#[cfg(test)]
mod tests {
    use super::firings_until;

    #[test]
    fn firings_as_caret_computes_them_begin_with_the_creation() {
        assert_eq!(firings_until(3, 2, 7).collect::<Vec<_>>(), [3, 5]);
        let expected: Vec<i64> = (0..=5).map(|k| 2 + 100 * k).collect();
        assert_eq!(firings_until(2, 100, 505).collect::<Vec<_>>(), expected);
    }
}
