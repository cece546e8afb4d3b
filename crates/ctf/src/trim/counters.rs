//! The counters of the new packets: one sequence number after the other, and what the tracer lost in the range.
//!
//! Readers find losses by comparing a packet with the one before it. So the new counters grow exactly where the old
//! ones grew by a loss that is to be reported, and nowhere else.

use crate::damage::DamageKind;
use crate::trace::loss::Loss;

/// What is lost before the events of one packet, as far as it is to be reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PacketLosses {
    /// How many, if the tracer could tell.
    events: Option<Option<u64>>,
    packets: Option<Option<u64>>,
    /// Where the windows of both begin: the end of the packet before.
    pub(super) since: Option<u64>,
}

impl PacketLosses {
    pub(super) fn add(&mut self, loss: &Loss) {
        match loss.kind {
            DamageKind::LostPackets => self.packets = Some(loss.count),
            _ => self.events = Some(loss.count),
        }
        self.since = self.since.or(loss.window.map(|(since, _)| since.0));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_none() && self.packets.is_none()
    }

    /// The window of lost events lasts until the packet's end.
    pub(super) fn has_events(&self) -> bool {
        self.events.is_some()
    }

    /// The window of lost packets lasts until the packet's begin.
    pub(super) fn has_packets(&self) -> bool {
        self.packets.is_some()
    }
}

/// The counters of the packets of one stream.
#[derive(Debug, Default)]
pub(super) struct Counters {
    last: Option<PacketCount>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PacketCount {
    pub(super) sequence: u64,
    pub(super) discarded: u64,
}

impl Counters {
    /// The counters of the next packet. `first` is what the source's counter of lost events says if this is the first
    /// packet of the stream and that is a loss: how many is not known then, only that there are some.
    pub(super) fn next(&mut self, losses: PacketLosses, first: u64) -> PacketCount {
        let next = match self.last {
            None => PacketCount {
                sequence: 0,
                discarded: if losses.has_events() { first } else { 0 },
            },
            Some(PacketCount {
                sequence,
                discarded,
            }) => PacketCount {
                // A counter that goes back says that something is lost, but not how much.
                sequence: match losses.packets {
                    None => sequence + 1,
                    Some(Some(count)) => sequence.wrapping_add(count).wrapping_add(1),
                    Some(None) if sequence > 0 => 0,
                    Some(None) => sequence + 2,
                },
                discarded: match losses.events {
                    None => discarded,
                    Some(Some(count)) => discarded.wrapping_add(count),
                    Some(None) if discarded > 0 => 0,
                    Some(None) => 1,
                },
            },
        };
        self.last = Some(next);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_grow_by_losses_alone() {
        let none = PacketLosses::default();
        let some = PacketLosses {
            events: Some(Some(7)),
            packets: Some(Some(2)),
            since: None,
        };
        let mut counters = Counters::default();
        let mut next = |losses| {
            let count = counters.next(losses, 0);
            (count.sequence, count.discarded)
        };
        assert_eq!(next(none), (0, 0));
        assert_eq!(next(none), (1, 0));
        assert_eq!(next(some), (4, 7));
        assert_eq!(next(none), (5, 7));
    }
}
