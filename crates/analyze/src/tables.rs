//! The records of single objects: callbacks, publishers, subscriptions, communications, timers.

use std::collections::{HashMap, HashSet};

use rostrace_architecture::{Callback, Endpoint, Node};
use rostrace_trace::Model;
use rostrace_trace::entity::{CallbackId, InstanceId, PublicationId, PublisherId, SubscriptionId};
use rostrace_trace::flow::{DeliveryKind, DeliveryStatus};

use crate::objects::Objects;
use crate::records::{Cell, Follow, Records};

/// A trace with its flows indexed by the entities that they belong to.
#[derive(Debug)]
pub struct Indexed<'m> {
    pub model: &'m Model,
    pub objects: Objects,
    instances_of: HashMap<CallbackId, Vec<InstanceId>>,
    publications_of: HashMap<PublisherId, Vec<PublicationId>>,
    /// Where a publication arrived: the execution, by publication and subscription.
    arrived: HashMap<(PublicationId, SubscriptionId), (DeliveryKind, Option<InstanceId>)>,
    /// When it was taken.
    taken: HashMap<(PublicationId, SubscriptionId), i64>,
    takes_of: HashMap<SubscriptionId, Vec<(i64, i64)>>,
    /// Pairs that communicate inside a process.
    intra: HashSet<(PublisherId, SubscriptionId)>,
}

impl<'m> Indexed<'m> {
    pub fn new(model: &'m Model) -> Indexed<'m> {
        let mut indexed = Indexed {
            model,
            objects: Objects::new(model),
            instances_of: HashMap::new(),
            publications_of: HashMap::new(),
            arrived: HashMap::new(),
            taken: HashMap::new(),
            takes_of: HashMap::new(),
            intra: HashSet::new(),
        };
        // CARET leaves out what ran without its library, as soon as something ran with it.
        let any_caret = model.processes.iter().any(|process| process.has_caret);
        let counts = |thread| {
            let process = &model.processes[model.process_of(thread).index()];
            process.has_caret || !any_caret
        };
        for (index, instance) in model.instances.iter().enumerate() {
            if let Some(callback) = instance.callback.filter(|_| counts(instance.thread)) {
                indexed
                    .instances_of
                    .entry(callback)
                    .or_default()
                    .push(InstanceId(index as u32));
            }
        }
        for (index, publication) in model.publications.iter().enumerate() {
            if let Some(publisher) = publication.publisher.filter(|_| counts(publication.thread)) {
                let id = PublicationId(index as u32);
                indexed
                    .publications_of
                    .entry(publisher)
                    .or_default()
                    .push(id);
            }
        }
        for delivery in &model.deliveries {
            if delivery.status != DeliveryStatus::Delivered {
                continue;
            }
            let key = (delivery.publication, delivery.subscription);
            indexed
                .arrived
                .insert(key, (delivery.kind, delivery.instance));
            let publisher = model.publications[delivery.publication.index()].publisher;
            if let (DeliveryKind::Intra, Some(publisher)) = (delivery.kind, publisher) {
                indexed.intra.insert((publisher, delivery.subscription));
            }
        }
        for take in &model.takes {
            let Some(subscription) = take.subscription else {
                continue;
            };
            if let Some(publication) = take.publication {
                indexed
                    .taken
                    .insert((publication, subscription), take.time.0);
            }
            let takes = indexed.takes_of.entry(subscription).or_default();
            takes.push((take.time.0, take.source_timestamp));
        }
        indexed
    }

    /// Processes that are left out because CARET's library was not loaded in them.
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

    /// Start and end of every execution that has both.
    pub fn callback(&self, node: &Node, callback: &Callback) -> Records {
        let name = &callback.name;
        let mut records = Records::new([
            format!("{name}/callback_start_timestamp"),
            format!("{name}/callback_end_timestamp"),
        ]);
        for id in self.objects.callbacks(node, callback) {
            for instance in self.instances_of.get(id).map_or(&[][..], Vec::as_slice) {
                let instance = &self.model.instances[instance.index()];
                if let Some(end) = instance.end {
                    records.rows.push(vec![Some(instance.start.0), Some(end.0)]);
                }
            }
        }
        records.sort_by_first();
        records
    }

    /// The stamps of every publication: rclcpp, rcl, middleware, message, source.
    pub fn publisher(&self, node: &Node, publisher: &Endpoint) -> Records {
        let topic = &publisher.topic;
        let names = [
            "rclcpp_publish",
            "rcl_publish",
            "dds_write",
            "message",
            "source",
        ];
        let mut records = Records::new(names.map(|name| format!("{topic}/{name}_timestamp")));
        // The layers that a publisher's first message went through are the columns that it has.
        let mut shown = [true, false, false, true, true];
        for id in self.objects.publishers(node, publisher) {
            let mut first = true;
            for publication in self.publications_of.get(id).map_or(&[][..], Vec::as_slice) {
                let publication = &self.model.publications[publication.index()];
                let Some(publish) = earliest(publication.intra, publication.rclcpp) else {
                    continue;
                };
                let row = vec![
                    Some(publish),
                    publication.rcl.map(|time| time.0),
                    publication.rmw.map(|time| time.0),
                    Some(publication.message_timestamp.unwrap_or(0)),
                    publication.source_timestamp,
                ];
                if first {
                    shown[1] |= row[1].is_some();
                    shown[2] |= row[2].is_some();
                    first = false;
                }
                records.rows.push(row);
            }
        }
        records.sort_by_first();
        let columns: Vec<usize> = (0..5).filter(|column| shown[*column]).collect();
        records.select(&columns)
    }

    /// Start of every execution, and the source timestamp of the message that it received.
    pub fn subscription(&self, node: &Node, endpoint: &Endpoint, callback: &str) -> Records {
        let mut records = Records::new([
            format!("{callback}/callback_start_timestamp"),
            format!("{}/source_timestamp", endpoint.topic),
        ]);
        for id in self.objects.subscriptions(node, endpoint) {
            let callback = self.model.subscriptions[id.index()].callback;
            let instances = callback.and_then(|callback| self.instances_of.get(&callback));
            for instance in instances.map_or(&[][..], Vec::as_slice) {
                let instance = &self.model.instances[instance.index()];
                let stamp = instance
                    .take
                    .map(|take| self.model.takes[take.index()].source_timestamp);
                if instance.intra_process || stamp.is_some() {
                    records.rows.push(vec![Some(instance.start.0), stamp]);
                }
            }
        }
        records.sort_by_first();
        records
    }

    /// Takes of a subscription whose messages are fetched by hand.
    pub fn manual_takes(&self, node: &Node, endpoint: &Endpoint) -> Records {
        let topic = &endpoint.topic;
        let mut records = Records::new([
            format!("{topic}/source_timestamp"),
            format!("{topic}/rmw_take_timestamp"),
        ]);
        for id in self.objects.subscriptions(node, endpoint) {
            let takes = self.takes_of.get(id).map_or(&[][..], Vec::as_slice);
            records.rows.extend(
                takes
                    .iter()
                    .map(|(time, stamp)| vec![Some(*stamp), Some(*time)]),
            );
        }
        records.rows.sort_by_key(|row| row[1]);
        records
    }

    /// Whether the recording tells of takes.
    pub fn has_takes(&self) -> bool {
        self.model.count(rostrace_tracepoints::Kind::RmwTake) > 0
    }

    /// Whether any message between the two went inside one process.
    pub fn is_intra(&self, link: &Link<'_>) -> bool {
        let publishers = self
            .objects
            .publishers(link.publishing_node, &link.publisher);
        let subscriptions = self
            .objects
            .subscriptions(link.subscribing_node, &link.subscription);
        publishers.iter().any(|publisher| {
            subscriptions
                .iter()
                .any(|it| self.intra.contains(&(*publisher, *it)))
        })
    }

    /// Every message from publish to callback.
    pub fn communication(&self, link: &Link<'_>) -> Records {
        let last = format!("{}/callback_start_timestamp", link.callback);
        if self.is_intra(link) {
            let first = format!("{}/rclcpp_publish_timestamp", link.publisher.topic);
            let mut records = Records::new([first, last]);
            for (publication, start) in self.arrivals(link, DeliveryKind::Intra) {
                let publication = &self.model.publications[publication.index()];
                if let (Some(intra), Some(start)) = (publication.intra, start) {
                    records.rows.push(vec![Some(intra.0), Some(start)]);
                }
            }
            records.sort_by_first();
            return records;
        }
        let arrivals: HashMap<PublicationId, Cell> =
            self.arrivals(link, DeliveryKind::Inter).collect();
        self.sent(link, last, |publication| {
            arrivals.get(&publication).copied().flatten()
        })
    }

    /// Every message from publish to take.
    pub fn communication_to_take(&self, link: &Link<'_>) -> Records {
        let last = format!("{}/rmw_take_timestamp", link.subscribing_node.name);
        let subscriptions = self
            .objects
            .subscriptions(link.subscribing_node, &link.subscription);
        self.sent(link, last, |publication| {
            subscriptions
                .iter()
                .find_map(|id| self.taken.get(&(publication, *id)).copied())
        })
    }

    fn arrivals<'a>(
        &'a self,
        link: &'a Link<'_>,
        kind: DeliveryKind,
    ) -> impl Iterator<Item = (PublicationId, Cell)> + 'a {
        let subscriptions = self
            .objects
            .subscriptions(link.subscribing_node, &link.subscription);
        let publishers = self
            .objects
            .publishers(link.publishing_node, &link.publisher)
            .iter();
        let publications = publishers
            .filter_map(|id| self.publications_of.get(id))
            .flatten();
        publications.flat_map(move |publication| {
            subscriptions.iter().filter_map(move |subscription| {
                let (found, instance) = self.arrived.get(&(*publication, *subscription))?;
                let start = instance.map(|id| self.model.instances[id.index()].start.0);
                (*found == kind).then_some((*publication, start))
            })
        })
    }

    /// The publications of a link with one more column.
    fn sent(
        &self,
        link: &Link<'_>,
        last: String,
        arrival: impl Fn(PublicationId) -> Cell,
    ) -> Records {
        let mut records = self.publisher(link.publishing_node, &link.publisher);
        let message = records.columns.len() - 2;
        let columns: Vec<usize> = (0..records.columns.len())
            .filter(|it| *it != message)
            .collect();
        records = records.select(&columns);
        records.columns.push(last);
        // Rows were sorted by time; two publications of one publisher never begin at the same instant.
        let mut by_start: HashMap<i64, PublicationId> = HashMap::new();
        for id in self
            .objects
            .publishers(link.publishing_node, &link.publisher)
        {
            for publication in self.publications_of.get(id).map_or(&[][..], Vec::as_slice) {
                let row = &self.model.publications[publication.index()];
                if let Some(publish) = earliest(row.intra, row.rclcpp) {
                    by_start.insert(publish, *publication);
                }
            }
        }
        for row in &mut records.rows {
            let publication = row[0].and_then(|publish| by_start.get(&publish));
            row.push(publication.and_then(|publication| arrival(*publication)));
        }
        records
    }

    /// The callbacks in which a publisher was used, and its publications.
    pub fn path_beginning(&self, node: &Node, publisher: &Endpoint) -> Records {
        let mut records = Records::new([
            format!("{}/callback_x/callback_start_timestamp", node.name),
            format!("{}/rclcpp_publish_timestamp", publisher.topic),
        ]);
        for id in self.objects.publishers(node, publisher) {
            for publication in self.publications_of.get(id).map_or(&[][..], Vec::as_slice) {
                let publication = &self.model.publications[publication.index()];
                let Some(instance) = publication.instance else {
                    continue;
                };
                let start = self.model.instances[instance.index()].start;
                // A message that goes both ways is published twice.
                for publish in publication.intra.into_iter().chain(publication.rclcpp) {
                    records.rows.push(vec![Some(start.0), Some(publish.0)]);
                }
            }
        }
        records.sort_by_first();
        records
    }

    /// The firings of a timer that CARET computes (one per period from its creation on, that instant included), and the executions
    /// that follow them.
    pub fn timer(&self, node: &Node, callback: &Callback) -> Records {
        let executions = self.callback(node, callback);
        let mut events = Records::new([format!("{}/timer_event_timestamp", callback.name)]);
        let last = executions.column(0).flatten().last();
        for id in self.objects.timers(node, callback) {
            let timer = &self.model.timers[id.index()];
            let Some(last) = last.filter(|_| timer.period.0 > 0) else {
                continue;
            };
            let lateness = self.model.caret_lateness.map_or(0, |lateness| lateness.0);
            let mut event = timer.created.0 + lateness;
            while event < last {
                events.rows.push(vec![Some(event)]);
                event += timer.period.0;
            }
        }
        events.sort_by_first();
        events.join_following(0, &executions, Follow::First)
    }
}

fn earliest(
    a: Option<rostrace_ctf::schema::Nanos>,
    b: Option<rostrace_ctf::schema::Nanos>,
) -> Option<i64> {
    a.into_iter().chain(b).min().map(|time| time.0)
}

/// A publisher and a subscription of one topic.
#[derive(Debug, Clone)]
pub struct Link<'a> {
    pub publishing_node: &'a Node,
    pub publisher: Endpoint,
    pub subscribing_node: &'a Node,
    pub subscription: Endpoint,
    /// The subscription's callback.
    pub callback: String,
}
