//! How far a pass over some of the events has come, in bytes of all of them.

use rostrace_ctf::{EventView, StreamId};
use rustc_hash::FxHashMap;

/// The packets that were entered so far.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    next_packet: FxHashMap<StreamId, usize>,
    pub(crate) bytes: u64,
}

impl Passed {
    /// The pass is in the packet of this event: all packets of its stream up to this one count as read.
    pub(crate) fn enter(&mut self, event: &EventView<'_>) {
        let next = self.next_packet.entry(event.stream_id()).or_insert(0);
        let packet = event.packet_number();
        let passed = event.stream().packets.get(*next..=packet);
        self.bytes += (passed.unwrap_or_default().iter())
            .map(|packet| packet.size)
            .sum::<u64>();
        *next = packet + 1;
    }
}
