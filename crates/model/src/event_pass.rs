//! A pass over some of the events of a set, and how far it has come, in bytes of all of them.

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::{Conversion, Cursor, EventView, StreamId, TraceSet};
use rustc_hash::FxHashMap;

use crate::Model;
use crate::binding::{Bindings, Declaration, Fields, selection};
use crate::entity::HostId;

/// By trace; nothing for a trace of a host that the model does not have.
pub(crate) fn hosts(set: &TraceSet, model: &Model) -> Vec<Option<HostId>> {
    let host_of = |name: &str| model.hosts.iter().position(|host| host.name == name);
    let hosts = set.traces.iter().map(|trace| {
        let name = trace.schema.environment_text("hostname");
        host_of(name.unwrap_or_default()).map(HostId::of)
    });
    hosts.collect()
}

/// Hands over the events of these classes in the order of time. `progress` hears of the bytes done and says whether to go on.
/// Returns whether events could not be read.
pub(crate) fn for_each_event(
    set: &TraceSet,
    model: &Model,
    declared: &[Declaration<'_>],
    progress: &mut dyn FnMut(u64) -> bool,
    mut take: impl FnMut(HostId, Nanos, &Fields<'_>),
) -> bool {
    let bindings: Vec<Bindings> = set.traces.iter().map(Bindings::new).collect();
    let hosts = hosts(set, model);
    let mut cursor = Cursor::select(set, Conversion::Exact, &selection(declared));
    let mut passed = Passed::default();
    let mut events = 0u64;
    while let Some(event) = cursor.next() {
        let trace = event.stream_id().trace;
        let binding = bindings[trace].of(&event);
        if let (Some(host), Some(time)) = (hosts[trace], event.nanos()) {
            take(host, time, &Fields { event, binding });
        }
        events += 1;
        if events.is_multiple_of(1 << 8) {
            passed.enter(&event);
        }
        if events.is_multiple_of(1 << 12) && !progress(passed.bytes) {
            break;
        }
    }
    cursor.damage.losses() > 0
}

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
