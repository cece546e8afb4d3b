//! Context switches that are not on the disk yet: packets in the memory of the recorder, one being filled for each CPU.
//!
//! Who reads the kernel's rings adds to it and never waits for the disk; [`SchedTrace`](super::SchedTrace) takes what is full.

use std::collections::{BTreeMap, VecDeque};

use crate::events::sched;
use crate::memory::packet::HEAD;

/// A packet with so many bytes is complete.
const ENOUGH: usize = 56 << 10;
/// The stream of what threads are called, which a flight recorder keeps. No CPU has this number.
pub(crate) const THREADS: u64 = u32::MAX as u64;

/// Events of one stream, one after the other.
#[derive(Debug, Clone)]
pub(super) struct SchedPacket {
    pub(super) number: u64,
    /// With room for the head.
    pub(super) content: Vec<u8>,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) events: u64,
    /// What was lost of the stream until its end.
    pub(super) discarded: u64,
}

impl SchedPacket {
    fn new(number: u64, begin: u64, discarded: u64) -> SchedPacket {
        SchedPacket {
            number,
            content: vec![0; HEAD],
            begin,
            end: begin,
            events: 0,
            discarded,
        }
    }

    fn is_empty(&self) -> bool {
        self.events == 0
    }

    /// Times never go back; the kernel may take two at the same moment and write them in the other order.
    fn add(&mut self, time: u64, event: u16, payload: &[SchedValue<'_>]) {
        if self.is_empty() {
            self.begin = time.max(self.begin);
        }
        let before = if self.is_empty() {
            self.begin
        } else {
            self.end
        };
        let time = time.max(before);
        let content = &mut self.content;
        match u32::try_from(time - before) {
            Ok(_) => {
                content.extend(event.to_ne_bytes());
                content.extend((time as u32).to_ne_bytes());
            }
            // The short time would be ambiguous.
            Err(_) => {
                content.extend(u16::MAX.to_ne_bytes());
                content.extend(u32::from(event).to_ne_bytes());
                content.extend(time.to_ne_bytes());
            }
        }
        for value in payload {
            value.write(content);
        }
        self.end = time;
        self.events += 1;
    }
}

/// The value of a field, in the order in which the event declares them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchedValue<'v> {
    Number(i64),
    Flag(bool),
    /// Without a zero in it.
    Text(&'v [u8]),
    /// As a sequence: with their number in front.
    Addresses(&'v [u64]),
}

impl SchedValue<'_> {
    fn write(self, content: &mut Vec<u8>) {
        match self {
            SchedValue::Number(number) => content.extend(number.to_ne_bytes()),
            SchedValue::Flag(flag) => content.extend(i32::from(flag).to_ne_bytes()),
            SchedValue::Text(text) => {
                content.extend(text);
                content.push(0);
            }
            SchedValue::Addresses(addresses) => {
                content.extend((addresses.len() as u64).to_ne_bytes());
                content.extend(addresses.iter().flat_map(|it| it.to_ne_bytes()));
            }
        }
    }
}

#[derive(Debug)]
pub struct SchedBuffer {
    /// The packets that are being filled, by stream: the number of the CPU, or [`THREADS`].
    open: BTreeMap<u64, SchedPacket>,
    full: VecDeque<(u64, SchedPacket)>,
    full_bytes: u64,
    most_bytes: u64,
    switches: u64,
    lost: u64,
}

impl SchedBuffer {
    /// At most so many bytes wait for the disk.
    pub fn new(memory_bytes: u64) -> SchedBuffer {
        SchedBuffer {
            open: BTreeMap::new(),
            full: VecDeque::new(),
            full_bytes: 0,
            most_bytes: memory_bytes,
            switches: 0,
            lost: 0,
        }
    }

    /// A thread gets a CPU.
    pub fn switch_in(&mut self, cpu: u32, time: u64, tid: u32) {
        let tid = SchedValue::Number(tid.into());
        self.add(cpu.into(), time, sched::SWITCH_IN, &[tid]);
    }

    /// A thread leaves its CPU, although it could have gone on or because it sleeps.
    pub fn switch_out(&mut self, cpu: u32, time: u64, tid: u32, preempted: bool) {
        self.switches += 1;
        let payload = [SchedValue::Number(tid.into()), SchedValue::Flag(preempted)];
        self.add(cpu.into(), time, sched::SWITCH_OUT, &payload);
    }

    /// Something that the kernel itself tells of a CPU, as the event of this number.
    pub fn kernel_event(&mut self, cpu: u32, time: u64, event: u16, values: &[SchedValue<'_>]) {
        self.switches += u64::from(event == sched::SCHED_SWITCH);
        self.add(cpu.into(), time, event, values);
    }

    pub fn thread_exit(&mut self, cpu: u32, time: u64, tid: u32, pid: u32) {
        let ids = [tid, pid].map(|id| SchedValue::Number(id.into()));
        self.add(cpu.into(), time, sched::THREAD_EXIT, &ids);
    }

    pub fn thread_name(&mut self, time: u64, tid: u32, pid: u32, name: &[u8]) {
        let [tid, pid] = [tid, pid].map(|id| SchedValue::Number(id.into()));
        let end = name.iter().position(|byte| *byte == 0);
        let name = &name[..end.unwrap_or(name.len())];
        let payload = [tid, pid, SchedValue::Text(name)];
        self.add(THREADS, time, sched::THREAD_NAME, &payload);
    }

    /// The kernel had no room for so many records, until this time: an empty packet says so, so that it is known when.
    pub fn lose(&mut self, cpu: u32, time: u64, events: u64) {
        self.lost = self.lost.saturating_add(events);
        let stream = u64::from(cpu);
        let packet = self.packet(stream, time);
        if !packet.is_empty() {
            self.complete(stream);
        }
        let packet = self.packet(stream, time);
        packet.discarded = packet.discarded.saturating_add(events);
        packet.end = packet.end.max(time);
        self.complete(stream);
    }

    /// How often threads left their CPU.
    pub fn switches(&self) -> u64 {
        self.switches
    }

    /// What was lost before it could be written.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn packet(&mut self, stream: u64, time: u64) -> &mut SchedPacket {
        self.open
            .entry(stream)
            .or_insert_with(|| SchedPacket::new(1, time, 0))
    }

    pub(super) fn add(&mut self, stream: u64, time: u64, event: u16, payload: &[SchedValue<'_>]) {
        let room = self.most_bytes.saturating_sub(self.full_bytes);
        let packet = self.packet(stream, time);
        if packet.content.len() >= ENOUGH {
            if room < ENOUGH as u64 {
                packet.discarded = packet.discarded.saturating_add(1);
                packet.end = packet.end.max(time);
                self.lost = self.lost.saturating_add(1);
                return;
            }
            self.complete(stream);
        }
        self.packet(stream, time).add(time, event, payload);
    }

    /// What comes next comes into another packet.
    fn complete(&mut self, stream: u64) {
        let Some(packet) = self.open.get_mut(&stream) else {
            return;
        };
        let next = SchedPacket::new(packet.number + 1, packet.end, packet.discarded);
        let full = std::mem::replace(packet, next);
        self.full_bytes += full.content.len() as u64;
        self.full.push_back((stream, full));
    }

    /// Everything that is full.
    pub(super) fn take_full(&mut self) -> VecDeque<(u64, SchedPacket)> {
        self.full_bytes = 0;
        std::mem::take(&mut self.full)
    }

    /// A copy of what is not.
    pub(super) fn copy_open(&self) -> Vec<(u64, SchedPacket)> {
        let begun = self.open.iter().filter(|(_, packet)| !packet.is_empty());
        begun
            .map(|(stream, packet)| (*stream, packet.clone()))
            .collect()
    }

    /// What was lost of each stream, by its number.
    pub(super) fn discarded(&self) -> Vec<(u64, u64)> {
        let open = self.open.iter();
        open.map(|(stream, packet)| (*stream, packet.discarded))
            .collect()
    }
}
