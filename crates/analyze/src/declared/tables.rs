//! The records of single objects: callbacks, publishers, subscriptions, timers. Communications, ways through nodes and paths are
//! made from them in `communication`, `node_path` and `paths`.

use std::collections::{HashMap, HashSet};

use rostrace_architecture::{Callback, Endpoint, Node};
use rostrace_model::Model;
use rostrace_model::entity::{
    CallbackId, DeliveryId, InstanceId, NodeId, PublicationId, PublisherId, SubscriptionId,
};
use rostrace_model::flow::{
    CallbackInstance, Delivery, DeliveryKind, DeliveryStatus, Publication, Take,
};

use crate::declared::Style;
pub use crate::declared::link::Link;
use crate::declared::objects::Objects;
use crate::declared::order;
use crate::declared::records::{Cell, Follow, Records};

/// A trace with its flows indexed by the entities that they belong to.
#[derive(Debug)]
pub struct Indexed<'m> {
    pub model: &'m Model,
    pub objects: Objects,
    pub style: Style,
    instances_of: HashMap<CallbackId, Vec<InstanceId>>,
    publications_of: HashMap<PublisherId, Vec<PublicationId>>,
    /// When a publication was taken.
    pub(crate) taken: HashMap<(PublicationId, SubscriptionId), i64>,
    takes_of: HashMap<SubscriptionId, Vec<usize>>,
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
            if let Some(publication) = take.publication {
                let key = (publication, subscription);
                indexed.taken.insert(key, take.time.0);
            }
            indexed
                .takes_of
                .entry(subscription)
                .or_default()
                .push(index);
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
        self.callback_in(node, callback, None)
    }

    pub(crate) fn callback_in(&self, node: &Node, callback: &Callback, life: Life) -> Records {
        let name = &callback.name;
        let mut records = Records::new([
            format!("{name}/callback_start_timestamp"),
            format!("{name}/callback_end_timestamp"),
        ]);
        for (_, instance) in self.executions(node, callback, life) {
            let end = instance.end.map(|end| end.0);
            if end.is_some() || self.style == Style::Own {
                records.rows.push(vec![Some(instance.start.0), end]);
            }
        }
        self.sort(&mut records);
        records
    }

    pub(crate) fn executions(
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

    /// The messages that one publication should have reached.
    pub(crate) fn deliveries(&self, publication: PublicationId) -> &'m [Delivery] {
        let [begin, end] = [0, 1].map(|next| self.delivery_begins[publication.index() + next]);
        &self.model.deliveries[begin as usize..end as usize]
    }

    /// The same by their places in the model.
    pub(crate) fn delivery_ids(
        &self,
        publication: PublicationId,
    ) -> impl Iterator<Item = DeliveryId> {
        let [begin, end] = [0, 1].map(|next| self.delivery_begins[publication.index() + next]);
        (begin as usize..end as usize).map(DeliveryId::from_index)
    }

    /// When a message was published; nothing if CARET would not see it.
    pub(crate) fn published(&self, publication: &Publication) -> Cell {
        match self.style {
            Style::Own => Some(publication.publish.0),
            Style::Caret => {
                let both = publication.intra.into_iter().chain(publication.rclcpp);
                both.min().map(|time| time.0)
            }
        }
    }

    /// Sorts by the first column. Where CARET's order of equal rows counts, it is CARET's.
    pub(crate) fn sort(&self, records: &mut Records) {
        match self.style {
            Style::Own => records.sort_by_first(),
            Style::Caret => order::sort_by_first(&mut records.rows),
        }
    }

    /// The stamps of every publication: rclcpp, rcl, middleware, message, source.
    pub fn publisher(&self, node: &Node, publisher: &Endpoint) -> Records {
        self.publisher_in(node, publisher, None).0
    }

    /// Also which publication each row is.
    pub(crate) fn publisher_in(
        &self,
        node: &Node,
        publisher: &Endpoint,
        life: Life,
    ) -> (Records, Vec<PublicationId>) {
        let mut shown = [true, false, false, true, true];
        let mut rows: Vec<(Vec<Cell>, PublicationId)> = Vec::new();
        for id in self.publishers(node, publisher, life) {
            let mut first = true;
            for (id, publication) in self.publications(id) {
                let Some(publish) = self.published(publication) else {
                    continue;
                };
                let stamp = publication.message_timestamp;
                let row = vec![
                    Some(publish),
                    publication.rcl.map(|time| time.0),
                    publication.rmw.map(|time| time.0),
                    match self.style {
                        Style::Caret => Some(stamp.unwrap_or(0)),
                        Style::Own => stamp.filter(|stamp| *stamp != 0),
                    },
                    publication.source_timestamp,
                ];
                // For CARET the layers that the first message went through are the columns that a publisher has.
                if first || self.style == Style::Own {
                    shown[1] |= row[1].is_some();
                    shown[2] |= row[2].is_some();
                    first = false;
                }
                rows.push((row, id));
            }
        }
        match self.style {
            Style::Own => rows.sort_by_key(|(row, _)| row[0]),
            Style::Caret => order::sort_by_key(&mut rows, |(row, _)| row[0]),
        }
        let (rows, ids) = rows.into_iter().unzip();
        let names = [
            "rclcpp_publish",
            "rcl_publish",
            "dds_write",
            "message",
            "source",
        ];
        let topic = &publisher.topic;
        let mut records = Records::new(names.map(|name| format!("{topic}/{name}_timestamp")));
        records.rows = rows;
        let columns: Vec<usize> = (0..5).filter(|column| shown[*column]).collect();
        (records.select(&columns), ids)
    }

    /// Start of every execution, and the source timestamp of the message that it received. CARET has only those
    /// whose message is known to have come.
    pub fn subscription(&self, node: &Node, endpoint: &Endpoint, callback: &str) -> Records {
        self.subscription_in(node, endpoint, callback, None)
    }

    pub(crate) fn subscription_in(
        &self,
        node: &Node,
        endpoint: &Endpoint,
        callback: &str,
        life: Life,
    ) -> Records {
        let mut records = Records::new([
            format!("{callback}/callback_start_timestamp"),
            format!("{}/source_timestamp", endpoint.topic),
        ]);
        for (_, instance) in self.receptions(node, endpoint, life) {
            let take = instance.take.map(|take| &self.model.takes[take.index()]);
            let stamp = take.map(|take| take.source_timestamp);
            if self.style == Style::Own || instance.intra_process || stamp.is_some() {
                records.rows.push(vec![Some(instance.start.0), stamp]);
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
    pub fn manual_takes(&self, node: &Node, endpoint: &Endpoint) -> Records {
        let topic = &endpoint.topic;
        let mut records = Records::new([
            format!("{topic}/source_timestamp"),
            format!("{topic}/rmw_take_timestamp"),
        ]);
        let takes = self.takes(node, endpoint, None);
        records
            .rows
            .extend(takes.map(|take| vec![Some(take.source_timestamp), Some(take.time.0)]));
        records.rows.sort_by_key(|row| row[1]);
        records
    }

    pub(crate) fn takes(
        &self,
        node: &Node,
        endpoint: &Endpoint,
        life: Life,
    ) -> impl Iterator<Item = &'m Take> {
        self.subscriptions(node, endpoint, life)
            .flat_map(|id| self.takes_of(id))
    }

    pub(crate) fn takes_of(&self, subscription: SubscriptionId) -> impl Iterator<Item = &'m Take> {
        let takes = self.takes_of.get(&subscription);
        let takes = takes.map_or(&[][..], Vec::as_slice).iter();
        takes.map(|take| &self.model.takes[*take])
    }

    /// Whether the recording tells of takes.
    pub fn has_takes(&self) -> bool {
        self.model.count(rostrace_tracepoints::Kind::RmwTake) > 0
    }

    /// The callbacks in which a publisher was used, and its publications. In our own style a publication outside any callback
    /// has a row too, without a start.
    pub fn path_beginning(&self, node: &Node, publisher: &Endpoint) -> Records {
        let mut records = Records::new([
            format!("{}/callback_x/callback_start_timestamp", node.name),
            format!("{}/rclcpp_publish_timestamp", publisher.topic),
        ]);
        for id in self.objects.publishers(node, publisher) {
            for (_, publication) in self.publications(*id) {
                let instance = publication.instance;
                let start = instance.map(|id| self.model.instances[id.index()].start.0);
                match self.style {
                    Style::Own => {
                        let publish = publication.publish.0;
                        records.rows.push(vec![start, Some(publish)]);
                    }
                    // CARET counts a message that goes both ways twice.
                    Style::Caret if start.is_some() => {
                        let both = publication.intra.into_iter().chain(publication.rclcpp);
                        records
                            .rows
                            .extend(both.map(|publish| vec![start, Some(publish.0)]));
                    }
                    Style::Caret => {}
                }
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
