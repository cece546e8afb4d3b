//! Losses that the tracer itself counted: discarded events and missing packets.
//!
//! Each packet is compared with the one before it in its stream. Three tracers write packet times that need repair
//! before a loss can be given a time window: see [`Quirk`].

use crate::damage::DamageKind;
use crate::packet::Packet;
use crate::packet::head::Head;
use crate::schema::{Cycles, Role, Schema};
use crate::trace::Trace;
use crate::trace::decoder::{Decoder, role_size};
use crate::trace::stream::Stream;

/// Some events or packets that are not in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    pub kind: DamageKind,
    /// How many, if the tracer could tell.
    pub count: Option<u64>,
    pub window: Option<(Cycles, Cycles)>,
    /// The packet (index in the stream) before whose events the loss is noticed.
    pub packet: usize,
}

/// Packet times that tracers are known to write wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quirk {
    None,
    /// The last event can be younger than the packet's end.
    EventAfterPacket,
    /// The first event can be older than the packet's begin.
    EventBeforePacket,
}

impl Quirk {
    pub(crate) fn of(schema: &Schema) -> Quirk {
        let number = |name: &str| schema.environment_integer(name);
        let Some(major) = number("tracer_major") else {
            return Quirk::None;
        };
        let patch = number("tracer_patchlevel")
            .or(number("tracer_patch"))
            .unwrap_or(0);
        let version = (major, number("tracer_minor").unwrap_or(0), patch);
        let old = match schema.environment_text("tracer_name") {
            Some("lttng-ust") => version < (2, 11, 0),
            Some("lttng-modules") => {
                version < (2, 9, 13) || ((2, 10, 0)..(2, 10, 10)).contains(&version)
            }
            Some("barectf") if version < (2, 3, 1) => return Quirk::EventBeforePacket,
            _ => false,
        };
        if old {
            Quirk::EventAfterPacket
        } else {
            Quirk::None
        }
    }
}

/// Finds the losses of a stream.
pub(crate) struct Losses<'a> {
    pub(crate) decoder: &'a Decoder,
    pub(crate) stream: &'a Stream,
    pub(crate) trace: &'a Trace,
}

impl Losses<'_> {
    pub(crate) fn find(&self) -> Vec<Loss> {
        let class = &self.decoder.schema.streams[self.stream.class];
        let discarded_size = role_size(class, Role::EventsDiscarded).unwrap_or(64);
        let sequence_size = role_size(class, Role::PacketSequence).unwrap_or(64);
        if role_size(class, Role::EventsDiscarded)
            .or(role_size(class, Role::PacketSequence))
            .is_none()
        {
            return Vec::new();
        }
        let mut losses = Vec::new();
        let mut registers = self.decoder.heads.registers();
        let mut before: Option<Head> = None;
        for (number, packet) in self.stream.packets.iter().enumerate() {
            let data = self.trace.data(packet);
            let Ok(head) = self.decoder.heads.read(data, &mut registers) else {
                continue;
            };
            let roles = &head.roles;
            let earlier = before.as_ref().map(|before| &before.roles);
            if let Some(now) = roles.events_discarded {
                let lost = match earlier.and_then(|earlier| earlier.events_discarded) {
                    None => (now > 0).then_some(None),
                    Some(then) => difference(then, now, discarded_size),
                };
                if let Some(count) = lost {
                    let from = match &before {
                        None => self.begin_of(number, &head),
                        Some(before) => self.end_of(number - 1, before),
                    };
                    let window = from.zip(self.end_of(number, &head));
                    losses.push(Loss {
                        kind: DamageKind::DiscardedEvents,
                        count,
                        window,
                        packet: number,
                    });
                }
            }
            let then = earlier.and_then(|earlier| earlier.packet_sequence);
            if let (Some(then), Some(now)) = (then, roles.packet_sequence)
                && let Some(count) = difference(then, now, sequence_size)
                && count != Some(1)
            {
                let from = (before.as_ref()).and_then(|before| self.end_of(number - 1, before));
                let window = from.zip(self.begin_of(number, &head));
                let count = count.map(|count| count - 1);
                losses.push(Loss {
                    kind: DamageKind::LostPackets,
                    count,
                    window,
                    packet: number,
                });
            }
            before = Some(head);
        }
        losses
    }

    fn begin_of(&self, number: usize, head: &Head) -> Option<Cycles> {
        let begin = head.roles.timestamp_begin.map(Cycles)?;
        if self.decoder.quirk == Quirk::EventBeforePacket && number > 0 {
            let mut times = self.event_times(&self.stream.packets[number], head);
            return Some(times.next().unwrap_or(begin));
        }
        Some(begin)
    }

    fn event_times(&self, packet: &Packet, head: &Head) -> impl Iterator<Item = Cycles> {
        let data = self.trace.data(packet);
        self.decoder.event_times(packet, data, head.class)
    }

    /// The packet's end after repair; nothing if the packets of this stream have no times.
    pub(crate) fn end_of(&self, number: usize, head: &Head) -> Option<Cycles> {
        let begin = head.roles.timestamp_begin?;
        let end = head.roles.timestamp_end?;
        let crashed = end == 0 && begin != 0;
        Some(
            match (self.decoder.quirk, self.stream.packets.get(number + 1)) {
                (Quirk::None, _) | (Quirk::EventBeforePacket, None) if !crashed => Cycles(end),
                (Quirk::EventBeforePacket, Some(next)) if !crashed => {
                    let mut times = self.event_times(next, head);
                    times.next().unwrap_or(Cycles(end))
                }
                (_, Some(next)) => Cycles(next.begin),
                (_, None) => {
                    let times = self.event_times(&self.stream.packets[number], head);
                    times.last().unwrap_or(Cycles(end.max(begin)))
                }
            },
        )
    }
}

/// How far a counter of `size` bits went: nothing if it stands still, `Some(None)` if it began anew.
fn difference(then: u64, now: u64, size: u32) -> Option<Option<u64>> {
    if now >= then {
        return (now > then).then(|| Some(now - then));
    }
    let mask = match size {
        64.. => return Some(None),
        _ => (1u64 << size) - 1,
    };
    let wrapped = now.wrapping_sub(then) & mask;
    Some((wrapped <= mask / 2).then_some(wrapped))
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_counter_that_wraps_is_not_one_that_began_anew() {
        assert_eq!(difference(5, 5, 32), None);
        assert_eq!(difference(5, 9, 32), Some(Some(4)));
        assert_eq!(difference(u64::from(u32::MAX), 2, 32), Some(Some(3)));
        assert_eq!(difference(1000, 2, 32), Some(None));
        assert_eq!(difference(1000, 2, 64), Some(None));
    }
}
