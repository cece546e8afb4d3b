//! A message that did not arrive: what its receiver did while it could still have taken it.

use rostrace_model::flow::DeliveryKind;

use super::cause::Cause;
use super::part::Parts;
use super::{Explanation, Why};
use crate::communication::{handed, publish_instant};
use crate::lost_message::LostMessage;

impl Why<'_> {
    /// From its publication to the moment from which on it could not arrive any more.
    pub fn lost(&mut self, lost: &LostMessage) -> Explanation {
        let analysis = self.analysis;
        let delivery = analysis.delivery(lost.delivery);
        let publication = analysis.publication(delivery.publication);
        let mut parts = Parts::new(lost.begin);
        parts.damaged = analysis.begins_late(delivery.publication);
        parts.thread = Some(publication.thread);
        let handed = match delivery.kind {
            DeliveryKind::Inter => handed(publication),
            DeliveryKind::Intra => publish_instant(publication, delivery.kind),
        };
        parts.until(handed.min(lost.end), Cause::Publishing);
        parts.thread = lost.receiver;
        match lost.receiver {
            Some(thread) => self.add_wait(
                &mut parts,
                thread,
                lost.next_execution,
                lost.end,
                Cause::Lost(lost.cause),
            ),
            None => parts.until(lost.end, Cause::Lost(lost.cause)),
        }
        self.explanation(parts)
    }
}
