//! The way of an event: a thread, its stream, and the packet that it fills.
//!
//! Nothing here allocates, locks, waits or asks the system, so all of it may happen in a signal handler. A handler that comes in the
//! middle of an event has a writer of its own. What cannot be written is counted in shared memory at once: in the packet that the stream has, or in
//! the header where it has none.

use std::sync::atomic::{Ordering, compiler_fence};

use crate::memory::Memory;
use crate::memory::packet::{HEAD, Head, Packet};
use crate::memory::pool::{FULL, HELD, PacketInfo};
use crate::memory::stream::Stream;
use crate::memory::supply;
use crate::sync;

/// Bytes of the context of every event: vpid, vtid, procname.
pub const CONTEXT: usize = 25;
/// Event header with a full time.
const LONG_HEADER: usize = 14;
const SHORT_HEADER: usize = 6;
/// The copy of the context may write a few bytes behind it.
const SLACK: usize = 32 - CONTEXT;
/// Selects the long header; no event has this number.
const EXTENDED: u16 = u16::MAX;

/// Number of the first packet of a stream.
const FIRST: u64 = 1;

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
    /// The packet that was taken and is about to be written to, plus one; 0 for none.
    taken: u32,
    _reserved: u32,
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
        taken: 0,
        _reserved: 0,
    };

    /// An event begins. If a signal handler leaves it with `siglongjmp`, [`abandon`](Self::abandon) counts it.
    #[inline(always)]
    pub fn begin(&mut self) {
        // SAFETY: a field of our own; volatile, because a handler on this thread may look at any moment.
        unsafe { (&raw mut self.target).write_volatile(u32::MAX) };
    }

    /// Nobody will complete what was being written, if anything was: that is counted.
    pub fn abandon(&mut self, memory: &Memory, now: u64) {
        let was_interrupted = self.was_interrupted();
        self.target = 0;
        if self.taken != 0 {
            // On its way to the next packet: the one before may be somebody else's by now.
            self.size = 0;
            let lost = &memory.header().reports.lost;
            lost.fetch_add(was_interrupted.into(), Ordering::Relaxed);
            return;
        }
        // SAFETY: null, or the description of the packet that this writer holds.
        if let Some(info) = unsafe { self.info.as_ref() } {
            let events = info.events.load(Ordering::Relaxed);
            info.begun.store(events, Ordering::Relaxed);
        }
        if !self.packet.is_null() {
            // What is complete stays, also if that was not noted here any more.
            // SAFETY: a packet that this writer holds.
            self.cursor = unsafe { Packet(self.packet).content_bytes() } as u32;
        }
        if was_interrupted {
            self.discard(memory, now, 1);
        }
    }

    /// Where the thread says that it runs code of the tracer; None without a stream.
    pub fn at_work(&self) -> Option<&'static sync::AtomicU32> {
        // SAFETY: null, or a stream, which is mapped as long as the process lives.
        unsafe { self.stream.as_ref() }.map(|stream| &stream.at_work)
    }

    /// Whether the event that was begun last was never completed.
    fn was_interrupted(&self) -> bool {
        if self.target == u32::MAX || self.packet.is_null() {
            return self.target == u32::MAX;
        }
        // SAFETY: a packet that this writer holds: it does so from when the end of the event is known until that is written.
        (unsafe { Packet(self.packet).content_bytes() }) < self.target as usize
    }

    /// Makes ready for a recording. `key` is a number that differs for every recording and, in its upper 16 bits, for every memory of a process
    /// and its children. False if there is no stream, which is counted, or if the recording has ended.
    #[cold]
    pub fn attach(&mut self, memory: &Memory, epoch: u64, key: u64, now: u64) -> bool {
        let is_same_memory = self.key != 0 && self.key >> 48 == key >> 48;
        if let Some(packet) = self.taken.checked_sub(1).filter(|_| is_same_memory) {
            // An event of the recording before was left for good on its way there.
            self.go_on_in(memory, packet, now);
        }
        // Nothing that is counted from here on belongs to the recording before.
        self.packet = std::ptr::null_mut();
        self.info = std::ptr::null();
        (self.cursor, self.size, self.last_time, self.taken) = (0, 0, 0, 0);
        if !is_same_memory || self.stream.is_null() {
            let Some((number, stream)) =
                supply::take_stream(memory).and_then(|it| Some((it, memory.stream(it)?)))
            else {
                memory.header().reports.lost.fetch_add(1, Ordering::Relaxed);
                return false;
            };
            stream.at_work.store(0, Ordering::Relaxed);
            self.stream = stream;
            self.number = number;
            // If the event is left here for good, the next one has a stream.
            self.key = key >> 48 << 48;
            let threads = &memory.header().reports.threads;
            threads.fetch_add(1, Ordering::Relaxed);
            // Whoever had the stream before may have seen the next recording: it must not be wiped for one that has ended.
            if memory.header().recording.epoch.load(Ordering::Acquire) != epoch {
                self.release(memory);
                return false;
            }
        }
        // SAFETY: streams are mapped as long as the process lives.
        let stream = unsafe { &*self.stream };
        let held = stream.packet.load(Ordering::Acquire).checked_sub(1);
        if stream.epoch.load(Ordering::Acquire) == epoch {
            if let Some((packet, info)) = held.and_then(|it| Some((it, memory.info(it)?))) {
                // The thread that had it before left a packet that has room, or an event that it left for good had not begun it.
                if info.epoch.load(Ordering::Relaxed) != epoch {
                    self.publish(memory, packet, epoch, FIRST, now);
                }
                // The time of its last event is not known here.
                self.hold(memory, packet, 0);
            }
        } else {
            // What an earlier recording left was written long ago.
            if let Some(info) = held.and_then(|packet| memory.info(packet)) {
                info.epoch.store(0, Ordering::Release);
            }
            stream.epoch.store(0, Ordering::Release);
            stream.discarded.store(0, Ordering::Relaxed);
            stream.events.store(0, Ordering::Relaxed);
            stream.unwritten.store(0, Ordering::Relaxed);
            stream.epoch.store(epoch, Ordering::Release);
            if let Some(packet) = held {
                self.publish(memory, packet, epoch, FIRST, now);
                self.hold(memory, packet, now);
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
        if now > memory.header().recording.deadline.load(Ordering::Relaxed) {
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
            sync::will_write(at, header + 32);
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

    /// When the last event was written, or its packet was begun: nothing may be written with an earlier time.
    pub fn last_time(&self) -> u64 {
        self.last_time
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
        // An event that was left for good had got this far.
        if let Some(packet) = self.taken.checked_sub(1) {
            self.go_on_in(memory, packet, now);
            if self.cursor as usize + bytes <= self.size as usize {
                return true;
            }
        }
        let packet = supply::take_packet(memory, HEAD + bytes, self.packet.is_null());
        let Some(packet) = packet else {
            self.discard(memory, now, 1);
            return false;
        };
        // SAFETY: a field of our own; volatile, because a handler may leave everything from here on for good.
        unsafe { (&raw mut self.taken).write_volatile(packet + 1) };
        compiler_fence(Ordering::SeqCst);
        self.go_on_in(memory, packet, now);
        true
    }

    /// The packet that was taken becomes the one that is written to, and the one before is full. Whoever is interrupted here for good does the
    /// rest of it the next time.
    fn go_on_in(&mut self, memory: &Memory, packet: u32, now: u64) {
        // SAFETY: streams are mapped as long as the process lives; attached, so there is one.
        let stream = unsafe { &*self.stream };
        if stream.packet.load(Ordering::Relaxed) != packet + 1 {
            let number = match self.packet.is_null() {
                true => FIRST,
                // SAFETY: the packet that this writer holds: it is not full yet.
                false => (unsafe { Packet(self.packet).number() }) + 1,
            };
            let epoch = stream.epoch.load(Ordering::Relaxed);
            self.publish(memory, packet, epoch, number, now);
        }
        let is_new = |info| {
            memory
                .info(packet)
                .is_some_and(|new| std::ptr::eq(new, info))
        };
        // SAFETY: null, or the description of a packet.
        if let Some(before) = unsafe { self.info.as_ref() }
            && !is_new(before)
            // If it was full already, somebody else may have it by now.
            && before.state.load(Ordering::Acquire) == HELD
            && before.stream.load(Ordering::Relaxed) == self.number
        {
            let events = before.events.load(Ordering::Relaxed);
            stream.events.fetch_add(events.into(), Ordering::Relaxed);
            // Counted before anybody can find it, and count it as written.
            memory.header().free.full.fetch_add(1, Ordering::Relaxed);
            before.state.store(FULL, Ordering::Release);
        }
        self.hold(memory, packet, now);
        compiler_fence(Ordering::SeqCst);
        self.taken = 0;
    }

    /// Begins a packet that this thread alone has, and tells the keeper of it.
    fn publish(&self, memory: &Memory, packet: u32, epoch: u64, number: u64, now: u64) {
        let Some(info) = memory.info(packet) else {
            return;
        };
        // SAFETY: streams are mapped as long as the process lives.
        let stream = unsafe { &*self.stream };
        let (place, bytes) = memory.packet(packet);
        let uuid = &memory.header().recording.uuid;
        let head = Head {
            uuid: std::array::from_fn(|half| uuid[half].load(Ordering::Relaxed)),
            // The first is that of initialisation.
            stream: u64::from(self.number) + 1,
            begin: now,
            end: now,
            content_bytes: HEAD,
            packet_bytes: bytes,
            number,
            discarded: stream.discarded.load(Ordering::Relaxed),
        };
        // SAFETY: the packet was taken by this thread alone, and what is taken is allocated.
        unsafe { place.begin(&head) };
        info.events.store(0, Ordering::Relaxed);
        info.begun.store(0, Ordering::Relaxed);
        info.stream.store(self.number, Ordering::Relaxed);
        info.state.store(HELD, Ordering::Release);
        info.epoch.store(epoch, Ordering::Release);
        stream.packet.store(packet + 1, Ordering::Release);
    }

    /// Writes to this packet from now on, which was begun.
    fn hold(&mut self, memory: &Memory, packet: u32, now: u64) {
        let Some(info) = memory.info(packet) else {
            return;
        };
        let (place, bytes) = memory.packet(packet);
        self.packet = place.0;
        self.info = info;
        // SAFETY: the stream holds the packet, and this thread the stream.
        self.cursor = unsafe { place.content_bytes() } as u32;
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

// Real threads, which the atomics of models do not know.
#[cfg(all(test, not(feature = "models")))]
mod tests {
    use std::alloc::{Layout as Bytes, alloc_zeroed, dealloc};

    use super::*;
    use crate::memory::header::Introduction;
    use crate::memory::layout::Layout;
    use crate::memory::supply::Supply;

    const LAYOUT: Layout = Layout {
        streams: 2,
        small: 2,
        large: 2,
        dump_bytes: 64 << 10,
    };

    #[test]
    fn threads_fill_packets_of_their_own() {
        const EVENTS: u64 = 100;
        let bytes = Bytes::from_size_align(LAYOUT.bytes(), 64 << 10).expect("a sound layout");
        // SAFETY: so many zeroes, aligned, until the end of this test.
        let (base, memory) = unsafe {
            let base = alloc_zeroed(bytes);
            (base, Memory::at(base, LAYOUT))
        };
        memory.introduce(&Introduction::OF_A_TEST);
        let recording = &memory.header().recording;
        recording.deadline.store(u64::MAX, Ordering::Relaxed);
        recording.epoch.store(2, Ordering::Release);
        let (_, error) = Supply::new(1 << 20).top_up(&memory, &|_, _| Ok(()));
        assert_eq!(error, None);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut writer = Writer::NONE;
                    assert!(writer.attach(&memory, 2, 2, 1));
                    for time in 1..=EVENTS {
                        let reserved = writer.reserve(&memory, 7, time, &[3; 32], 8);
                        let reserved = reserved.expect("there is room");
                        // SAFETY: there is room for so many bytes.
                        unsafe { reserved.at.cast::<u64>().write_unaligned(time) };
                        writer.commit(time, reserved);
                    }
                    writer.release(&memory);
                });
            }
        });
        assert_eq!(memory.events(), 2 * EVENTS);
        assert_eq!(memory.discarded(), 0);
        let each = SHORT_HEADER + CONTEXT + 8;
        let mut written = 0;
        for packet in 0..LAYOUT.packets() {
            let info = memory.info(packet).expect("there are so many");
            if info.epoch.load(Ordering::Acquire) != 2 {
                continue;
            }
            // SAFETY: a packet with an epoch was begun.
            let head = unsafe { memory.packet(packet).0.head() };
            let events = u64::from(info.events.load(Ordering::Relaxed));
            assert_eq!(head.content_bytes, HEAD + events as usize * each);
            written += events;
        }
        assert_eq!(written, 2 * EVENTS);
        // SAFETY: allocated above; nobody uses it any more.
        unsafe { dealloc(base, bytes) };
    }
}
