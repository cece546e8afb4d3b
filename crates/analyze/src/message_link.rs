//! Inputs and outputs that a program declared to depend on each other (`message_link_*`), message by message.
//!
//! A declaration names rcl handles, which mean the entities of its process at its time. Two shapes exist.
//!
//! - *Periodic, asynchronous*: subscriptions store what they get, and somebody publishes from it later. An output is made from the newest
//!   message of each input that was received before it; so a message may be used many times, or never.
//! - *Partially synchronous*: inputs are collected, and the callback that completes the set publishes. An output is made from the newest
//!   message of each input since the publisher's output before; no message is used twice by one publisher.
//!
//! A message is received when its callback begins, or when it is taken by hand.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::entity::{
    Address, CallbackOwner, InstanceId, ProcessId, PublicationId, PublisherId, SubscriptionId,
};

/// An output, and one message that it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkedMessage {
    /// A row of [`Model::message_links`].
    pub link: usize,
    pub output: PublicationId,
    pub subscription: SubscriptionId,
    /// When the input was received.
    pub received: i64,
    /// The callback that received it; nothing if it was taken by hand.
    pub instance: Option<InstanceId>,
    /// The input's publication, if the trace has it.
    pub input: Option<PublicationId>,
}

/// All that the declarations of a trace say, in their order, then in the order of outputs.
pub fn linked_messages(model: &Model) -> Vec<LinkedMessage> {
    let mut rows = Vec::new();
    if model.message_links.is_empty() {
        return rows;
    }
    let received = receptions(model);
    let mut published: HashMap<PublisherId, Vec<usize>> = HashMap::new();
    for (index, publication) in model.publications.iter().enumerate() {
        if let Some(publisher) = publication.publisher {
            published.entry(publisher).or_default().push(index);
        }
    }
    for (number, link) in model.message_links.iter().enumerate() {
        let process = model.process_of(link.thread);
        let inputs: Vec<Input<'_>> = link
            .subscriptions
            .iter()
            .filter_map(|handle| {
                let all = model.subscriptions.iter();
                let lives = all.map(|it| (it.process, it.handle, it.created, it.ended));
                meant(lives, (process, *handle), link.time).map(SubscriptionId::from_index)
            })
            .map(|subscription| Input {
                subscription,
                messages: received.get(&subscription).map_or(&[][..], Vec::as_slice),
            })
            .collect();
        for handle in &link.publishers {
            let all = model.publishers.iter();
            let lives = all.map(|it| (it.process, it.handle, it.created, it.ended));
            let publisher = meant(lives, (process, *handle), link.time);
            let publisher = publisher.map(PublisherId::from_index);
            let outputs = publisher.and_then(|publisher| published.get(&publisher));
            let mut before = i64::MIN;
            for &output in outputs.into_iter().flatten() {
                let publish = model.publications[output].publish.0;
                for input in &inputs {
                    let newest = input.newest(publish);
                    // What came before the output before was used there, or passed over.
                    let unused =
                        |message: &&Received| !link.partial_sync || message.received > before;
                    rows.extend(newest.filter(unused).map(|message| LinkedMessage {
                        link: number,
                        output: PublicationId(output as u32),
                        subscription: input.subscription,
                        received: message.received,
                        instance: message.instance,
                        input: message.publication,
                    }));
                }
                before = publish;
            }
        }
    }
    rows
}

/// What every subscription received, in the order of time.
fn receptions(model: &Model) -> HashMap<SubscriptionId, Vec<Received>> {
    let mut received: HashMap<SubscriptionId, Vec<Received>> = HashMap::new();
    for (index, row) in model.instances.iter().enumerate() {
        let owner = row.callback.map(|id| model.callbacks[id.index()].owner);
        if let Some(CallbackOwner::Subscription(subscription)) = owner {
            received.entry(subscription).or_default().push(Received {
                received: row.start.0,
                instance: Some(InstanceId(index as u32)),
                publication: row
                    .source
                    .or_else(|| model.takes[row.take?.index()].publication),
            });
        }
    }
    for take in model.takes.iter().filter(|take| take.instance.is_none()) {
        if let Some(subscription) = take.subscription {
            received.entry(subscription).or_default().push(Received {
                received: take.time.0,
                instance: None,
                publication: take.publication,
            });
        }
    }
    for messages in received.values_mut() {
        messages.sort_by_key(|message| message.received);
    }
    received
}

struct Input<'r> {
    subscription: SubscriptionId,
    messages: &'r [Received],
}

struct Received {
    received: i64,
    instance: Option<InstanceId>,
    publication: Option<PublicationId>,
}

impl Input<'_> {
    /// The newest message that was received by then.
    fn newest(&self, at: i64) -> Option<&Received> {
        let received = self
            .messages
            .partition_point(|message| message.received <= at);
        self.messages.get(received.checked_sub(1)?)
    }
}

/// Where and when something is known by its handle.
type Life = (ProcessId, Address, Nanos, Option<Nanos>);

/// The number of the life that a handle means in a process at an instant.
fn meant(
    mut lives: impl DoubleEndedIterator<Item = Life> + ExactSizeIterator,
    (process, handle): (ProcessId, Address),
    at: Nanos,
) -> Option<usize> {
    lives.rposition(|(of, known_by, created, ended)| {
        (of, known_by) == (process, handle) && created <= at && ended.is_none_or(|ended| ended > at)
    })
}
