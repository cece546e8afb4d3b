//! Messages inside a process: through ring buffers (Iron and later), or by the address of the message (CARET's forks).

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::{Kind, field};
use rustc_hash::FxHashMap;

use super::{Import, Layer};
use crate::binding::Fields;
use crate::entity::{Address, InstanceId, ProcessId, PublicationId, ThreadId};
use crate::flow::{Enqueue, Fate};

/// What lies in the slots of each ring buffer: the index of the enqueue.
#[derive(Debug, Default)]
pub(super) struct RingBuffers {
    slots: FxHashMap<(ProcessId, Address), FxHashMap<u64, usize>>,
}

impl RingBuffers {
    /// A new buffer at an address has nothing of the old one; what was put in since it exists stays, if it is
    /// reported again later.
    pub(super) fn forget_before(
        &mut self,
        ring: (ProcessId, Address),
        created: Nanos,
        enqueues: &[Enqueue],
    ) {
        if let Some(slots) = self.slots.get_mut(&ring) {
            slots.retain(|_, enqueue| enqueues[*enqueue].time >= created);
        }
    }
}

impl Import {
    pub(super) fn intra_process(
        &mut self,
        kind: Kind,
        thread: ThreadId,
        time: Nanos,
        fields: &Fields<'_>,
    ) {
        let process = self.out.population.process_of(thread);
        match kind {
            Kind::RclcppRingBufferEnqueue => {
                use field::rclcpp_ring_buffer_enqueue::*;
                let overwritten = fields.flag(OVERWRITTEN);
                let index = fields.number(INDEX).unwrap_or(0);
                self.enqueue(
                    thread,
                    time,
                    (process, fields.address(BUFFER)),
                    index,
                    overwritten,
                );
            }
            Kind::RclcppRingBufferDequeue => {
                use field::rclcpp_ring_buffer_dequeue::*;
                let slots = self.rings.slots.get_mut(&(process, fields.address(BUFFER)));
                let enqueue =
                    slots.and_then(|slots| slots.remove(&fields.number(INDEX).unwrap_or(0)));
                if let Some(enqueue) = enqueue {
                    self.out.enqueues[enqueue].fate = Fate::Dequeued;
                }
                self.out.population.state(thread).dequeued = enqueue;
            }
            Kind::MessageConstruct => {
                use field::message_construct::*;
                let original = (process, fields.address(ORIGINAL_MESSAGE));
                let copy = (process, fields.address(CONSTRUCTED_MESSAGE));
                match self.messages.get(&original).copied() {
                    Some(publication) => self.messages.insert(copy, publication),
                    None => self.messages.remove(&copy),
                };
            }
            Kind::DispatchIntraProcessSubscriptionCallback => {
                use field::dispatch_intra_process_subscription_callback::*;
                let found = self
                    .messages
                    .get(&(process, fields.address(MESSAGE)))
                    .copied();
                let certain = found.filter(|publication| {
                    !self
                        .out
                        .losses
                        .across_threads(self.out.publications[publication.index()].publish, time)
                });
                self.out.population.state(thread).dispatched = certain;
            }
            _ => {}
        }
    }

    fn enqueue(
        &mut self,
        thread: ThreadId,
        time: Nanos,
        ring: (ProcessId, Address),
        index: u64,
        overwritten: bool,
    ) {
        let number = self.out.enqueues.len();
        let current = self.out.population.state(thread).publication;
        // Without a publication on this thread it is a late subscriber that gets what was stored.
        let publication = current
            .filter(|(_, layer)| *layer == Layer::Intra)
            .map(|(id, _)| id)
            .filter(|id| {
                let published = self.out.publications[id.index()].last;
                !self.out.losses.between(published, time)
            });
        self.out.enqueues.push(Enqueue {
            thread,
            buffer: ring.1,
            time,
            publication,
            fate: Fate::Queued,
            pushed_out: None,
        });
        let before = self
            .rings
            .slots
            .entry(ring)
            .or_default()
            .insert(index, number);
        if let Some(before) = before {
            let before = &mut self.out.enqueues[before];
            let certain = overwritten && !self.out.losses.across_threads(before.time, time);
            before.pushed_out = certain.then_some(time);
            before.fate = if certain {
                Fate::Overwritten
            } else {
                Fate::Unknown
            };
        }
    }

    /// The callback that follows a dequeue on its thread got the message.
    pub(super) fn deliver(
        &mut self,
        enqueue: usize,
        instance: InstanceId,
        time: Nanos,
    ) -> Option<PublicationId> {
        let row = &mut self.out.enqueues[enqueue];
        if self.out.losses.across_threads(row.time, time) {
            row.fate = Fate::Unknown;
            return None;
        }
        row.fate = Fate::Delivered(instance);
        row.publication
    }
}
