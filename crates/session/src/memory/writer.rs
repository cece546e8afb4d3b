//! The way of an event: a thread, its stream, and the packet that it fills.
//!
//! Nothing here allocates, locks, waits or asks the system, so all of it may happen in a signal handler. A handler that comes in the
//! middle of an event has a writer of its own. What cannot be written is counted in shared memory at once: in the packet that the stream has, or in
//! the header where it has none.

use std::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use crate::memory::Memory;
use crate::memory::packet::{HEAD, Head, Packet};
use crate::memory::pool::{FULL, HELD, PacketInfo};
use crate::memory::stream::Stream;
use crate::memory::supply;

/// Bytes of the context of every event: vpid, vtid, procname.
pub const CONTEXT: usize = 25;
/// Event header with a full time.
const LONG_HEADER: usize = 14;
const SHORT_HEADER: usize = 6;
/// The copy of the context may write a few bytes behind it.
const SLACK: usize = 32 - CONTEXT;
/// Selects the long header; no event has this number.
const EXTENDED: u16 = u16::MAX;

/// Where a thread writes. All zeroes: nowhere yet.
#[derive(Debug)]
#[repr(C)]
pub struct Writer {
    /// The recording, and the memory, that the rest belongs to: see [`Writer::attach`].
    pub key: u64,
    packet: *mut u8,
    info: *const PacketInfo,
    stream: *const Stream,
    /// Where the next event goes, and where the packet ends.
    cursor: u32,
    size: u32,
    /// Of the last event in this packet, or of its begin.
    last_time: u64,
    /// Where the event that is being written ends: `u32::MAX` before that is known.
    target: u32,
    number: u32,
}

/// Where the payload of an event goes.
#[derive(Debug)]
pub struct Reserved {
    pub at: *mut u8,
    end: u32,
}

impl Writer {
    pub const NONE: Writer = Writer {
        key: 0,
        packet: std::ptr::null_mut(),
        info: std::ptr::null(),
        stream: std::ptr::null(),
        cursor: 0,
        size: 0,
        last_time: 0,
        target: 0,
        number: 0,
    };

    /// An event begins. If a signal handler leaves it with `siglongjmp`, [`was_interrupted`](Self::was_interrupted) tells.
    #[inline(always)]
    pub fn begin(&mut self) {
        // SAFETY: a field of our own; volatile, because a handler on this thread may look at any moment.
        unsafe { (&raw mut self.target).write_volatile(u32::MAX) };
    }

    /// Whether the event that was begun last was never completed.
    pub fn was_interrupted(&self) -> bool {
        if self.target == u32::MAX {
            return true;
        }
        // SAFETY: null, or a packet that this writer holds.
        !self.packet.is_null()
            && unsafe { Packet(self.packet).content_bytes() } < self.target as usize
    }

    /// The event that was interrupted was counted.
    pub fn settle(&mut self) {
        self.target = 0;
        // SAFETY: null, or the description of the packet that this writer holds.
        if let Some(info) = unsafe { self.info.as_ref() } {
            let events = info.events.load(Ordering::Relaxed);
            info.begun.store(events, Ordering::Relaxed);
        }
    }

    /// Where the thread says that it runs code of the tracer; None without a stream.
    pub fn at_work(&self) -> Option<&'static AtomicU32> {
        // SAFETY: null, or a stream, which is mapped as long as the process lives.
        unsafe { self.stream.as_ref() }.map(|stream| &stream.at_work)
    }

    /// Makes ready for a recording. `key` is a number that differs for every recording and every memory of a process and its children. False if
    /// there is no stream.
    #[cold]
    pub fn attach(
        &mut self,
        memory: &Memory,
        epoch: u64,
        key: u64,
        is_same_memory: bool,
        now: u64,
    ) -> bool {
        if !is_same_memory || self.stream.is_null() {
            let Some(number) = supply::take_stream(memory) else {
                return false;
            };
            let Some(stream) = memory.stream(number) else {
                return false;
            };
            let threads = &memory.header().reports.threads;
            threads.fetch_add(1, Ordering::Relaxed);
            stream.at_work.store(0, Ordering::Relaxed);
            self.stream = stream;
            self.number = number;
        }
        // SAFETY: streams are mapped as long as the process lives.
        let stream = unsafe { &*self.stream };
        let held = stream.packet.load(Ordering::Acquire).checked_sub(1);
        self.packet = std::ptr::null_mut();
        self.info = std::ptr::null();
        (self.cursor, self.size, self.last_time) = (0, 0, 0);
        if stream.epoch.load(Ordering::Acquire) == epoch {
            // The thread that had it before left a packet that has room.
            if let Some((packet, info)) = held.and_then(|it| Some((it, memory.info(it)?))) {
                let (place, bytes) = memory.packet(packet);
                self.packet = place.0;
                self.info = info;
                self.size = bytes as u32;
                // SAFETY: the stream holds the packet, and this thread the stream.
                self.cursor = unsafe { place.content_bytes() } as u32;
            }
        } else {
            // What an earlier recording left was written long ago.
            if let Some(info) = held.and_then(|packet| memory.info(packet)) {
                info.epoch.store(0, Ordering::Release);
            }
            stream.epoch.store(0, Ordering::Release);
            stream.sequence.store(0, Ordering::Relaxed);
            stream.discarded.store(0, Ordering::Relaxed);
            stream.events.store(0, Ordering::Relaxed);
            stream.unwritten.store(0, Ordering::Relaxed);
            stream.epoch.store(epoch, Ordering::Release);
            if let Some(packet) = held {
                self.begin_packet(memory, packet, epoch, now);
            }
        }
        self.key = key;
        true
    }

    /// Room for an event whose payload has so many bytes, header and context filled in. None if it is dropped, which is counted.
    #[inline(always)]
    pub fn reserve(
        &mut self,
        memory: &Memory,
        event: u16,
        now: u64,
        context: &[u8; 32],
        payload: usize,
    ) -> Option<Reserved> {
        let worst = LONG_HEADER + CONTEXT + payload + SLACK;
        if now > memory.header().orders.deadline.load(Ordering::Relaxed) {
            // The recording has ended, although nobody is there to say so.
            self.target = 0;
            return None;
        }
        if self.cursor as usize + worst > self.size as usize && !self.switch(memory, now, worst) {
            self.target = 0;
            return None;
        }
        // SAFETY: there is room for `worst` bytes in the current packet.
        unsafe {
            // Who dies before the event is complete is known to have died here.
            let info = &*self.info;
            let begun = info.events.load(Ordering::Relaxed).wrapping_add(1);
            info.begun.store(begun, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            let at = self.packet.add(self.cursor as usize);
            let header = if now.wrapping_sub(self.last_time) < 1 << 32 {
                at.cast::<u16>().write_unaligned(event);
                at.add(2).cast::<u32>().write_unaligned(now as u32);
                SHORT_HEADER
            } else {
                at.cast::<u16>().write_unaligned(EXTENDED);
                at.add(2).cast::<u32>().write_unaligned(event.into());
                at.add(6).cast::<u64>().write_unaligned(now);
                LONG_HEADER
            };
            at.add(header)
                .copy_from_nonoverlapping(context.as_ptr(), 32);
            let end = self.cursor + (header + CONTEXT + payload) as u32;
            (&raw mut self.target).write_volatile(end);
            Some(Reserved {
                at: at.add(header + CONTEXT),
                end,
            })
        }
    }

    /// Makes the event visible whose payload was written.
    #[inline(always)]
    pub fn commit(&mut self, now: u64, reserved: Reserved) {
        self.last_time = now;
        // SAFETY: this thread is the writer of the packet, which is mapped as long as the process lives.
        unsafe {
            Packet(self.packet).commit(now, reserved.end as usize);
            // Counted when it is there: who counts meanwhile finds no more than there are.
            let events = &(*self.info).events;
            events.store(events.load(Ordering::Relaxed) + 1, Ordering::Release);
        }
        self.cursor = reserved.end;
    }

    /// Counts events that were dropped.
    #[cold]
    pub fn discard(&mut self, memory: &Memory, now: u64, count: u64) {
        if self.packet.is_null() {
            memory
                .header()
                .reports
                .lost
                .fetch_add(count, Ordering::Relaxed);
            return;
        }
        // SAFETY: as in `commit`.
        unsafe {
            let stream = &*self.stream;
            let discarded = stream.discarded.load(Ordering::Relaxed) + count;
            stream.discarded.store(discarded, Ordering::Relaxed);
            Packet(self.packet).discard(now, discarded);
        }
    }

    /// Goes on to the next packet, if there is one with room for so many bytes; otherwise counts a drop.
    #[cold]
    #[inline(never)]
    fn switch(&mut self, memory: &Memory, now: u64, bytes: usize) -> bool {
        let header = memory.header();
        let packet = supply::take_packet(memory, HEAD + bytes, self.packet.is_null());
        let Some(packet) = packet else {
            self.discard(memory, now, 1);
            return false;
        };
        // SAFETY: streams are mapped as long as the process lives; attached, so there is one.
        let epoch = unsafe { &*self.stream }.epoch.load(Ordering::Relaxed);
        let before = self.info;
        self.begin_packet(memory, packet, epoch, now);
        // SAFETY: null, or the description of the packet that was held until now.
        if let Some(before) = unsafe { before.as_ref() } {
            // SAFETY: as above.
            let events = unsafe { &(*self.stream).events };
            events.fetch_add(
                before.events.load(Ordering::Relaxed).into(),
                Ordering::Relaxed,
            );
            before.state.store(FULL, Ordering::Release);
            header.free.full.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// The packet becomes the one that is written to.
    fn begin_packet(&mut self, memory: &Memory, packet: u32, epoch: u64, now: u64) {
        let Some(info) = memory.info(packet) else {
            return;
        };
        // SAFETY: streams are mapped as long as the process lives.
        let stream = unsafe { &*self.stream };
        let (place, bytes) = memory.packet(packet);
        let sequence = stream.sequence.load(Ordering::Relaxed) + 1;
        let uuid = &memory.header().orders.uuid;
        let head = Head {
            uuid: std::array::from_fn(|half| uuid[half].load(Ordering::Relaxed)),
            // The first is that of initialisation.
            stream: u64::from(self.number) + 1,
            begin: now,
            end: now,
            content_bytes: HEAD,
            packet_bytes: bytes,
            number: sequence,
            discarded: stream.discarded.load(Ordering::Relaxed),
        };
        // SAFETY: the packet was taken by this thread alone, and what is taken is allocated.
        unsafe { place.begin(&head) };
        info.events.store(0, Ordering::Relaxed);
        info.begun.store(0, Ordering::Relaxed);
        info.stream.store(self.number, Ordering::Relaxed);
        info.state.store(HELD, Ordering::Relaxed);
        info.epoch.store(epoch, Ordering::Release);
        stream.sequence.store(sequence, Ordering::Relaxed);
        stream.packet.store(packet + 1, Ordering::Release);
        self.packet = place.0;
        self.info = info;
        self.cursor = HEAD as u32;
        self.size = bytes as u32;
        self.last_time = now;
    }

    /// The thread no longer needs its stream; what was written stays.
    pub fn release(&mut self, memory: &Memory) {
        if !self.stream.is_null() {
            let header = memory.header();
            header.free.streams.push(&memory.streams(), self.number);
            header.reports.threads.fetch_sub(1, Ordering::Relaxed);
        }
        *self = Writer::NONE;
    }
}
