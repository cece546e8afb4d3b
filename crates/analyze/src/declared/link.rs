//! Every message between a publisher and a subscription, from publish to callback or to take.
//!
//! In our own style both ways of a message, inside the process and through the middleware, are one table, and a message that was
//! overwritten or lost has a row without an end. A message from before the subscription existed has none.

use std::collections::HashMap;

use rostrace_architecture::{Endpoint, Node};
use rostrace_model::entity::{PublicationId, SubscriptionId};
use rostrace_model::flow::{Delivery, DeliveryKind, DeliveryStatus};

use crate::declared::Style;
use crate::declared::records::{Cell, Event, Records, Stamp};
use crate::declared::tables::Indexed;

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

/// A node, and what it publishes or subscribes to.
pub(super) type End<'a> = (&'a Node, &'a Endpoint);

impl Indexed<'_> {
    /// Whether any message between the two went inside one process.
    pub fn is_intra(&self, link: &Link<'_>) -> bool {
        let publishers = self
            .objects
            .publishers(link.publishing_node, &link.publisher);
        let subscriptions = self.receivers(link);
        publishers.iter().any(|publisher| {
            subscriptions
                .iter()
                .any(|it| self.intra.contains(&(*publisher, *it)))
        })
    }

    /// Whether the trace tells of any message between the two that it arrived, or that it did not. True where none was sent.
    pub(super) fn is_arrival_known(
        &self,
        (from, publisher): End<'_>,
        (to, subscription): End<'_>,
    ) -> bool {
        let receivers = self.objects.subscriptions(to, subscription);
        let publishers = self.objects.publishers(from, publisher).iter();
        let publications = publishers.flat_map(|id| self.publications(*id));
        let mut statuses = publications.flat_map(|(publication, _)| {
            let deliveries = self.deliveries(publication).1.iter();
            deliveries
                .filter(|row| row.subscription.is_some_and(|it| receivers.contains(&it)))
                .map(|row| row.status)
        });
        match statuses.next() {
            Some(first) => {
                let mut all = std::iter::once(first).chain(statuses);
                all.any(|status| status != DeliveryStatus::Unknown)
            }
            None => true,
        }
    }

    /// Every message from publish to callback.
    pub fn communication(&self, link: &Link<'_>) -> Records {
        self.publish_to_start(link).times()
    }

    pub(super) fn publish_to_start(&self, link: &Link<'_>) -> Records<Stamp> {
        let last = format!("{}/callback_start_timestamp", link.callback);
        match self.style {
            Style::Own => self.sent_and_met(link, last, |row| Some(self.start(row.instance?))),
            Style::Caret if self.is_intra(link) => self.communication_inside(link, last),
            Style::Caret => {
                let arrived = self.arrived(link, DeliveryKind::Inter);
                let arrived: HashMap<PublicationId, Cell<Stamp>> = arrived.collect();
                self.sent(link, last, |publication| {
                    arrived.get(&publication).copied().flatten()
                })
            }
        }
    }

    /// Every message from publish to take.
    pub fn communication_to_take(&self, link: &Link<'_>) -> Records {
        self.publish_to_take(link).times()
    }

    pub(super) fn publish_to_take(&self, link: &Link<'_>) -> Records<Stamp> {
        let last = format!("{}/rmw_take_timestamp", link.subscribing_node.name);
        let taken = |publication: PublicationId, subscription: SubscriptionId| {
            let take = self.taken.get(&(publication, subscription))?;
            Some(self.take(*take))
        };
        match self.style {
            Style::Own => self.sent_and_met(link, last, |delivery| {
                taken(delivery.publication, delivery.subscription?)
            }),
            Style::Caret => self.sent(link, last, |publication| {
                let mut receivers = self.receivers(link).iter();
                receivers.find_map(|id| taken(publication, *id))
            }),
        }
    }

    fn receivers(&self, link: &Link<'_>) -> &[SubscriptionId] {
        self.objects
            .subscriptions(link.subscribing_node, &link.subscription)
    }

    /// What CARET shows of messages inside a process: those that arrived.
    fn communication_inside(&self, link: &Link<'_>, last: String) -> Records<Stamp> {
        let first = format!("{}/rclcpp_publish_timestamp", link.publisher.topic);
        let mut records = Records::new([first, last]);
        for (id, start) in self.arrived(link, DeliveryKind::Intra) {
            let intra = self.model.publications[id.index()].intra;
            if let (Some(intra), Some(start)) = (intra, start) {
                let publish = Stamp::of(Event::Publish(id), intra.0);
                records.rows.push(vec![Some(publish), Some(start)]);
            }
        }
        self.sort(&mut records);
        records
    }

    fn arrived<'a>(
        &'a self,
        link: &'a Link<'_>,
        kind: DeliveryKind,
    ) -> impl Iterator<Item = (PublicationId, Cell<Stamp>)> + 'a {
        let publishers = self
            .objects
            .publishers(link.publishing_node, &link.publisher);
        let publications = publishers.iter().flat_map(|id| self.publications(*id));
        publications.flat_map(move |(publication, _)| {
            let (_, deliveries) = self.deliveries(publication);
            self.receivers(link).iter().filter_map(move |receiver| {
                let row = deliveries
                    .iter()
                    .find(|row| row.subscription == Some(*receiver))?;
                let arrived = row.status == DeliveryStatus::Delivered && row.kind == kind;
                arrived.then(|| (publication, row.instance.map(|id| self.start(id))))
            })
        })
    }

    /// The publications of a link with one more column.
    fn sent(
        &self,
        link: &Link<'_>,
        last: String,
        arrival: impl Fn(PublicationId) -> Cell<Stamp>,
    ) -> Records<Stamp> {
        let mut records = self.stamps(link);
        records.columns.push(last);
        for row in &mut records.rows {
            row.push(publication(row).and_then(&arrival));
        }
        records
    }

    /// What a message's way begins with: its publisher's table without the stamp in the message.
    fn stamps(&self, link: &Link<'_>) -> Records<Stamp> {
        let records = self.publisher_in(link.publishing_node, &link.publisher, None);
        let message = records.columns.len() - 2;
        let columns: Vec<usize> = (0..records.columns.len())
            .filter(|it| *it != message)
            .collect();
        records.select(&columns)
    }

    /// The publications of a link, each with every subscription that it met or that certainly missed it. Where the trace tells
    /// neither of any of them (an address may stand for a subscription that is long gone), one row without an end.
    fn sent_and_met(
        &self,
        link: &Link<'_>,
        last: String,
        met: impl Fn(&Delivery) -> Cell<Stamp>,
    ) -> Records<Stamp> {
        let mut stamps = self.stamps(link);
        let source = stamps.columns.len() - 1;
        if stamps.column(source).all(|stamp| stamp.is_none()) {
            stamps = stamps.select(&(0..source).collect::<Vec<_>>());
        }
        let mut records = Records::new(stamps.columns.into_iter().chain([last]));
        let receivers = self.receivers(link);
        for row in stamps.rows {
            let deliveries = publication(&row).map_or(&[][..], |id| self.deliveries(id).1);
            let concerned = || {
                let deliveries = deliveries.iter();
                deliveries.filter(|row| row.subscription.is_some_and(|it| receivers.contains(&it)))
            };
            let certain = |row: &&Delivery| {
                use DeliveryStatus::*;
                matches!(row.status, Delivered | Lost | Overwritten)
            };
            let mut ends: Vec<Cell<Stamp>> = concerned().filter(certain).map(&met).collect();
            if ends.is_empty() && concerned().next().is_some() {
                ends.push(None);
            }
            records.rows.extend(ends.into_iter().map(|end| {
                let mut row = row.clone();
                row.push(end);
                row
            }));
        }
        records
    }
}

/// The publication that a row of a publisher's table begins with.
pub(super) fn publication(row: &[Cell<Stamp>]) -> Option<PublicationId> {
    match row.first().copied().flatten()?.event? {
        Event::Publish(id) => Some(id),
        Event::Start(_) | Event::End(_) | Event::Take(_) => None,
    }
}
