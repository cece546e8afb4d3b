//! What the kernel did, as Perfetto's own recorder would have written it: bundles of ftrace events, each of one CPU.

use super::super::identity::UNKNOWN_WAKER;
use super::super::sink::{Switch, Waking};
use super::protobuf::Message;
use super::schema::{
    ftrace_event, ftrace_event_bundle, process_tree, sched_switch, sched_waking, trace_packet,
};
use super::timestamp;

/// A bundle of this size is complete.
const FULL: usize = 1 << 14;

/// Threads of normal priority. The model does not keep it.
const PRIORITY: i64 = 120;

/// Events of one CPU that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    cpu: u32,
    events: Vec<u8>,
}

impl Bundle {
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether it has to be written before an event of this CPU.
    pub(super) fn is_full_for(&self, cpu: u32) -> bool {
        !self.is_empty() && (self.cpu != cpu || self.events.len() >= FULL)
    }

    pub(super) fn switch(&mut self, switch: &Switch<'_>) {
        self.cpu = switch.cpu;
        let mut bundle = Message::new(&mut self.events);
        bundle.nested(ftrace_event_bundle::EVENT, |event| {
            event.unsigned(ftrace_event::TIMESTAMP, timestamp(switch.at));
            event.unsigned(ftrace_event::PID, switch.previous.tid.unsigned_abs());
            event.nested(ftrace_event::SCHED_SWITCH, |it| {
                use sched_switch::*;
                it.text(PREV_COMM, switch.previous.name);
                it.signed(PREV_PID, switch.previous.tid);
                it.signed(PREV_PRIO, PRIORITY);
                it.signed(PREV_STATE, switch.previous_state);
                it.text(NEXT_COMM, switch.next.name);
                it.signed(NEXT_PID, switch.next.tid);
                it.signed(NEXT_PRIO, PRIORITY);
            });
        });
    }

    pub(super) fn waking(&mut self, waking: &Waking<'_>) {
        self.cpu = waking.cpu;
        let mut bundle = Message::new(&mut self.events);
        bundle.nested(ftrace_event_bundle::EVENT, |event| {
            event.unsigned(ftrace_event::TIMESTAMP, timestamp(waking.at));
            event.unsigned(ftrace_event::PID, UNKNOWN_WAKER.unsigned_abs());
            event.nested(ftrace_event::SCHED_WAKING, |it| {
                use sched_waking::*;
                it.text(COMM, waking.woken.name);
                it.signed(PID, waking.woken.tid);
                it.signed(PRIO, PRIORITY);
                it.signed(SUCCESS, 1);
                it.unsigned(TARGET_CPU, waking.cpu.into());
            });
        });
    }

    pub(super) fn write(&self, packet: &mut Message<'_>) {
        packet.nested(trace_packet::FTRACE_EVENTS, |bundle| {
            bundle.unsigned(ftrace_event_bundle::CPU, self.cpu.into());
            bundle.encoded(&self.events);
        });
    }
}

/// Events of waking are said to come from a thread that says what it is.
pub(super) fn name_unknown_waker(packet: &mut Message<'_>) {
    packet.nested(trace_packet::PROCESS_TREE, |tree| {
        tree.nested(process_tree::THREADS, |thread| {
            thread.signed(process_tree::TID, UNKNOWN_WAKER);
            thread.signed(process_tree::TGID, UNKNOWN_WAKER);
            thread.text(process_tree::NAME, "(waker unknown)");
        });
    });
}
