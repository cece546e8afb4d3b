//! Messages that did not arrive: until when each of them could have been taken, and who would have taken it.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{DeliveryId, InstanceId, PublicationId, ThreadId};
use rostrace_model::flow::DeliveryStatus;

use crate::analysis::Analysis;
use crate::communication::{DropCause, handed, publish_instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostMessage {
    pub delivery: DeliveryId,
    pub cause: DropCause,
    /// Its publication.
    pub begin: Nanos,
    /// It was pushed out; or a later one was taken, so that it did not come any more; or the recording ended.
    pub end: Nanos,
    /// The thread on which its subscription's next callback ran, or the last one.
    pub receiver: Option<ThreadId>,
    /// That next callback.
    pub next_execution: Option<InstanceId>,
}

impl LostMessage {
    /// What became of it, for people.
    pub fn sentence(&self, analysis: &Analysis<'_>) -> String {
        let subscription = analysis.delivery(self.delivery).subscription;
        let depth = subscription.map(|id| analysis.model.subscriptions[id.index()].depth);
        let keeps = match depth {
            None | Some(0) => "its queue".to_owned(),
            Some(1) => "its queue of 1 message".to_owned(),
            Some(depth) => format!("its queue of {depth} messages"),
        };
        match self.cause {
            DropCause::RingBufferFull => format!(
                "it did not arrive: later messages pushed it out of {keeps} before the callback ran"
            ),
            DropCause::HistoryFull => format!(
                "it did not arrive: before the next take, at least as many later messages were published as fit into {keeps}, \
                 so it was pushed out (an inference)"
            ),
            DropCause::Middleware => {
                "it did not arrive: the middleware lost it, although there was room in the queue"
                    .to_owned()
            }
            DropCause::RecordingEnd => {
                "it had not been taken when the recording ended, which went on for a second or more"
                    .to_owned()
            }
            DropCause::Unknown => "whether it arrived is not in the trace".to_owned(),
        }
    }

    /// What its time ends with.
    pub fn end_name(&self) -> &'static str {
        match self.cause {
            DropCause::RingBufferFull => "the moment it was pushed out",
            DropCause::HistoryFull => "the publication that pushed it out",
            DropCause::Middleware => "the take of a later message",
            DropCause::RecordingEnd | DropCause::Unknown => "the end of the recording",
        }
    }
}

/// Those of the deliveries whose message is known not to have arrived.
pub fn lost_messages(analysis: &Analysis<'_>, deliveries: &[DeliveryId]) -> Vec<LostMessage> {
    let mut pushed_out: HashMap<PublicationId, Nanos> = HashMap::new();
    for enqueue in &analysis.model.enqueues {
        if let (Some(publication), Some(at)) = (enqueue.publication, enqueue.pushed_out) {
            // Those that several subscriptions lost were pushed out by the same message.
            let earliest = pushed_out.entry(publication).or_insert(at);
            *earliest = at.min(*earliest);
        }
    }
    let lost = deliveries.iter().filter_map(|id| {
        let cause = analysis.drop_cause(*id)?;
        let end = match cause {
            DropCause::RingBufferFull => pushed_out
                .get(&analysis.delivery(*id).publication)
                .copied()?,
            DropCause::HistoryFull => nth_later(analysis, *id)?,
            DropCause::Middleware => next_taken(analysis, *id)?,
            DropCause::RecordingEnd => analysis.model.end?,
            DropCause::Unknown => return None,
        };
        Some(lost_message(analysis, *id, cause, end))
    });
    lost.collect()
}

fn lost_message(
    analysis: &Analysis<'_>,
    id: DeliveryId,
    cause: DropCause,
    end: Nanos,
) -> LostMessage {
    let delivery = analysis.delivery(id);
    let begin = publish_instant(analysis.publication(delivery.publication), delivery.kind);
    let subscription = delivery.subscription;
    let callback = subscription.and_then(|id| analysis.model.subscriptions[id.index()].callback);
    let runs = callback.map_or(&[][..], |callback| analysis.instances_of(callback));
    let next = runs.partition_point(|run| analysis.instance(*run).start < begin);
    let next_execution = runs.get(next).copied();
    let run = next_execution.or(runs.last().copied());
    LostMessage {
        delivery: id,
        cause,
        begin,
        end: end.max(begin),
        receiver: run.map(|run| analysis.instance(run).thread),
        next_execution,
    }
}

/// The later messages of its subscription.
fn later<'a>(analysis: &'a Analysis<'_>, id: DeliveryId) -> &'a [DeliveryId] {
    let Some(subscription) = analysis.delivery(id).subscription else {
        return &[];
    };
    let all = analysis.deliveries_to(subscription);
    &all[all.partition_point(|other| *other <= id)..]
}

/// When as many later messages had been published as the subscription keeps.
fn nth_later(analysis: &Analysis<'_>, id: DeliveryId) -> Option<Nanos> {
    let subscription = analysis.delivery(id).subscription?;
    let depth = analysis.model.subscriptions[subscription.index()].depth as usize;
    let last = later(analysis, id).get(depth.checked_sub(1)?)?;
    Some(handed(
        analysis.publication(analysis.delivery(*last).publication),
    ))
}

/// When the next message that arrived was taken.
fn next_taken(analysis: &Analysis<'_>, id: DeliveryId) -> Option<Nanos> {
    let next = later(analysis, id)
        .iter()
        .find(|id| analysis.delivery(**id).status == DeliveryStatus::Delivered)?;
    let arrival = analysis.arrival(*next)?;
    Some(arrival.taken.unwrap_or(arrival.received))
}
