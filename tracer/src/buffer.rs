//! The buffer of one thread: packets of mapped files, one writer, no lock.
//!
//! The writer takes packet after packet from its chunk, then goes on to the next chunk, which the helper thread has made ready.
//! If there is none, events are dropped and counted. A recording that ends closes the buffer: then no packet can be
//! taken any more, and what was not taken is cut off.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::chunk::{self, Chunk};
use crate::packet::{HEAD, Packet};
use crate::recording::Recording;
use crate::thread::CONTEXT;

/// Set in `progress` when nothing may be taken any more.
const CLOSED: u64 = 1 << 63;
/// Chunks that can be in memory at once: those being unmapped, the current one, the next.
const CHUNKS: usize = 4;
/// Event header with a full time.
const LONG_HEADER: usize = 14;
const SHORT_HEADER: usize = 6;
/// The copy of the context may write a few bytes behind it.
const SLACK: usize = 32 - CONTEXT;
/// Selects the long header; no event has this number.
const EXTENDED: u16 = u16::MAX;

/// Lies in a page of its own. Only the thread that holds it writes; the helper reads what is atomic.
#[derive(Debug)]
pub(crate) struct Buffer {
    packet: Packet,
    /// Where the next event goes.
    cursor: usize,
    packet_bytes: usize,
    last_time: u64,
    taken: u32,
    /// Events and drops, counted by the writer.
    pub(crate) events: AtomicU64,
    pub(crate) discarded: AtomicU64,
    /// Number of the current chunk and packets taken from it.
    progress: AtomicU64,
    /// The chunk to go on with, in `chunks`; null if it is not ready.
    next: AtomicPtr<Chunk>,
    /// The chunk that is being made ready, from before its file is seen until it is taken.
    pending: AtomicPtr<Chunk>,
    current: *const Chunk,
    pub(crate) stream: u32,
    /// One for the recording, one for the thread.
    references: AtomicU32,
    pub(crate) held: AtomicBool,
    pub(crate) following: *mut Buffer,
    pub(crate) following_free: *mut Buffer,
    /// The most packets that were used between two looks of the helper, times [`PEAK_DECAY`]. Forgotten slowly: where there are fewer
    /// processors than busy threads the helper comes late again and again, and a page that is not present costs microseconds.
    peak: u32,
    /// Filled by whoever makes chunks: the first by the thread that opens the buffer, then the helper.
    chunks: [Chunk; CHUNKS],
}

/// A thousandth of the peak is forgotten each time that the helper looks.
const PEAK_DECAY: u32 = 1024;
/// Twice so many packets are made present in advance at most.
const MOST_AHEAD: u32 = 32;

const _: () = assert!(size_of::<Buffer>() <= 4096);

/// Where the payload of an event goes.
#[derive(Debug)]
pub(crate) struct Reserved {
    pub(crate) at: *mut u8,
    end: usize,
}

impl Buffer {
    /// Opens a stream with its first file. Only system calls: no allocation.
    pub(crate) fn open(
        recording: &Recording,
        stream: u32,
        packets: u32,
        now: u64,
    ) -> Result<*mut Buffer, i32> {
        let first = recording.make_chunk(stream, 0, packets, 1, now, &mut |_| ())?;
        // SAFETY: a new page of zeroes, large enough and aligned.
        let buffer = unsafe {
            let page = libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if page == libc::MAP_FAILED {
                return Err(chunk::errno());
            }
            page.cast::<Buffer>()
        };
        // SAFETY: the place is valid and nobody else knows it.
        unsafe {
            buffer.write(Buffer {
                packet: Packet(first.memory),
                // The opening packet stays empty: it counts as full from the beginning.
                cursor: recording.packet_bytes(),
                packet_bytes: recording.packet_bytes(),
                last_time: now,
                taken: 0,
                events: AtomicU64::new(0),
                discarded: AtomicU64::new(0),
                progress: AtomicU64::new(0),
                next: AtomicPtr::new(std::ptr::null_mut()),
                pending: AtomicPtr::new(std::ptr::null_mut()),
                current: std::ptr::null(),
                stream,
                references: AtomicU32::new(1),
                held: AtomicBool::new(false),
                following: std::ptr::null_mut(),
                following_free: std::ptr::null_mut(),
                peak: 0,
                chunks: [first, Chunk::NONE, Chunk::NONE, Chunk::NONE],
            });
            (*buffer).current = &raw const (*buffer).chunks[0];
            (*buffer).chunks[0].make_present(1, recording.packet_bytes());
        }
        Ok(buffer)
    }

    /// Bytes of the largest payload that fits into a packet.
    pub(crate) fn largest_payload(&self) -> usize {
        self.packet_bytes - HEAD - LONG_HEADER - CONTEXT - SLACK
    }

    /// Room for an event whose payload has so many bytes, header and context filled in. None if it is dropped.
    #[inline(always)]
    pub(crate) fn reserve(
        &mut self,
        event: u16,
        now: u64,
        context: &[u8; 32],
        payload: usize,
    ) -> Option<Reserved> {
        let worst = LONG_HEADER + CONTEXT + payload + SLACK;
        if self.cursor + worst > self.packet_bytes && !self.turn(now, worst) {
            return None;
        }
        // SAFETY: there is room for `worst` bytes in the current packet.
        unsafe {
            let at = self.packet.0.add(self.cursor);
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
            Some(Reserved {
                at: at.add(header + CONTEXT),
                end: self.cursor + header + CONTEXT + payload,
            })
        }
    }

    /// Makes the event visible whose payload was written.
    #[inline(always)]
    pub(crate) fn commit(&mut self, now: u64, reserved: Reserved) {
        self.last_time = now;
        self.cursor = reserved.end;
        self.events
            .store(self.events.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        // SAFETY: this thread is the writer of the packet, which is mapped.
        unsafe { self.packet.commit(now, reserved.end) };
    }

    /// Counts events that were dropped although there was room: the next packet says so, or the end of the buffer.
    #[cold]
    pub(crate) fn discard(&mut self, count: u64) {
        self.discarded.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts events that were dropped because there is no packet, in the packet that was the last one.
    #[cold]
    pub(crate) fn overflow(&mut self, now: u64, count: u64) {
        let discarded = self.discarded.fetch_add(count, Ordering::SeqCst) + count;
        let pending = self.pending.load(Ordering::SeqCst);
        // SAFETY: what is pending is mapped; this thread is the writer of the packet, and takes what is pending.
        unsafe {
            if let Some(pending) = pending.as_ref() {
                pending.foresee(discarded, self.packet_bytes);
            }
            if self.taken > 0 {
                self.last_time = self.last_time.max(now);
                self.packet.discard(self.last_time, discarded);
            }
        }
    }

    /// Counts events that had no buffer of their own. Only for a buffer that nobody else supplies meanwhile.
    pub(crate) fn account(&mut self, now: u64, count: u64) {
        let discarded = self.discarded.fetch_add(count, Ordering::Relaxed) + count;
        if self.taken == 0 && !self.turn(now, 0) {
            return;
        }
        let taken = self.progress.load(Ordering::Relaxed) as u32;
        self.last_time = self.last_time.max(now);
        // SAFETY: what was not taken yet is mapped, and so is the packet in use.
        unsafe {
            let current = &*self.current;
            if let Some(next) = self.next.load(Ordering::Acquire).as_ref() {
                next.foresee(discarded, self.packet_bytes);
            }
            for at in (taken..current.packets).rev() {
                current.packet(at, self.packet_bytes).foresee(discarded);
            }
            self.packet.discard(self.last_time, discarded);
        }
    }

    /// Goes on to the next packet, if it exists and has room for so many bytes; otherwise counts a drop.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, now: u64, bytes: usize) -> bool {
        if HEAD + bytes > self.packet_bytes {
            self.discard(1);
            return false;
        }
        let Some(packet) = self.take_packet() else {
            self.overflow(now, 1);
            return false;
        };
        let discarded = self.discarded.load(Ordering::Relaxed);
        // SAFETY: the packet was taken by this thread alone.
        unsafe { packet.begin(now, discarded) };
        self.packet = packet;
        self.cursor = HEAD;
        self.last_time = now;
        self.taken += 1;
        true
    }

    fn take_packet(&mut self) -> Option<Packet> {
        loop {
            let progress = self.progress.load(Ordering::Acquire);
            if progress & CLOSED != 0 {
                return None;
            }
            let taken = progress as u32;
            // SAFETY: the chunk is in `chunks` and stays there while it is the current one.
            let current = unsafe { &*self.current };
            if taken < current.packets {
                if self.advance(progress, progress + 1) {
                    return Some(current.packet(taken, self.packet_bytes));
                }
                continue;
            }
            let next = self.next.load(Ordering::Acquire);
            if next.is_null() {
                return None;
            }
            let number = (progress >> 32) + 1;
            if self.advance(progress, number << 32 | 1) {
                self.current = next;
                self.next.store(std::ptr::null_mut(), Ordering::Release);
                let null = std::ptr::null_mut();
                let _ = (self.pending).compare_exchange(
                    next,
                    null,
                    Ordering::SeqCst,
                    Ordering::Relaxed,
                );
                // SAFETY: as above; it is the current one now.
                return Some(unsafe { &*next }.packet(0, self.packet_bytes));
            }
        }
    }

    fn advance(&self, from: u64, to: u64) -> bool {
        self.progress
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Looks after the chunks: unmaps what was used, makes pages present, makes the next chunk when a quarter of this one
    /// is gone. Returns how many packets were used since the last time, and the error if there is no next chunk.
    ///
    /// # Safety
    /// Only one thread at a time, and the buffer is not yet freed.
    pub(crate) unsafe fn supply(buffer: *mut Buffer, recording: &Recording) -> (u32, Option<i32>) {
        // SAFETY: the fields that the writer uses meanwhile are atomic, or not touched here.
        unsafe {
            // In this order: the writer advances before it says that it took the next chunk. Seen the other way round, a
            // chunk that is in use would be made again.
            let is_next_ready = !(*buffer).next.load(Ordering::Acquire).is_null();
            let progress = (*buffer).progress.load(Ordering::Acquire);
            if progress & CLOSED != 0 {
                return (0, None);
            }
            let packet_bytes = recording.packet_bytes();
            let number = (progress >> 32) as u32;
            let taken = progress as u32;
            let chunks = &raw mut (*buffer).chunks;
            let mut used = 0;
            for chunk in &mut *chunks {
                if chunk.number < number && chunk.released < chunk.packets {
                    used += chunk.packets - chunk.released;
                    chunk.release(chunk.packets, packet_bytes);
                    recording.note_complete((*buffer).stream, chunk, packet_bytes);
                }
            }
            let current = &mut (*chunks)[number as usize % CHUNKS];
            // The last one taken is in use, unless the opening packet still is.
            if taken > 0 && current.released < taken - 1 {
                used += taken - 1 - current.released;
                current.release(taken - 1, packet_bytes);
            }
            let peak = &mut (*buffer).peak;
            *peak = (*peak - *peak / PEAK_DECAY).max(used.min(MOST_AHEAD) * PEAK_DECAY);
            let ahead = taken + 2 + 2 * (*peak / PEAK_DECAY);
            current.make_present(ahead, packet_bytes);
            let beyond = ahead.saturating_sub(current.packets);
            if is_next_ready {
                let next = &mut (*chunks)[(number as usize + 1) % CHUNKS];
                if next.number == number + 1 {
                    next.make_present(beyond, packet_bytes);
                }
                return (used, None);
            }
            if taken < current.packets.div_ceil(4) {
                return (used, None);
            }
            let (packets, first) = (
                recording.later_packets(current.packets),
                current.first_packet + u64::from(current.packets),
            );
            let place = &raw mut (*chunks)[(number as usize + 1) % CHUNKS];
            let stream = (*buffer).stream;
            // Drops may go on meanwhile: either their writer sees what is pending, or we see them.
            let mut finish = |chunk: Chunk| {
                place.write(chunk);
                (*buffer).pending.store(place, Ordering::SeqCst);
                let discarded = (*buffer).discarded.load(Ordering::SeqCst);
                (*place).foresee(discarded, packet_bytes);
            };
            match recording.make_chunk(stream, number + 1, packets, first, 0, &mut finish) {
                Ok(_) => {
                    (*place).make_present(beyond.max(1), packet_bytes);
                    (*buffer).next.store(place, Ordering::Release);
                    (used, None)
                }
                Err(error) => (used, Some(error)),
            }
        }
    }

    /// Ends the buffer: nothing more is taken, and what was not taken is cut off the files.
    ///
    /// # Safety
    /// As for [`supply`](Self::supply).
    pub(crate) unsafe fn close(buffer: *mut Buffer, recording: &Recording) {
        // SAFETY: as in `supply`. The current packet stays mapped: its writer may be in the middle of an event.
        unsafe {
            let progress = (*buffer).progress.fetch_or(CLOSED, Ordering::AcqRel);
            if progress & CLOSED != 0 {
                return;
            }
            let packet_bytes = recording.packet_bytes();
            let (number, taken) = ((progress >> 32) as u32, progress as u32);
            let stream = (*buffer).stream;
            let discarded = (*buffer).discarded.load(Ordering::Relaxed);
            for chunk in &mut (*buffer).chunks {
                if chunk.number == number {
                    if taken > 0 && discarded > 0 {
                        let last = chunk.packet(taken - 1, packet_bytes);
                        last.discard(0, discarded);
                    }
                    let used = chunk.lead + taken as usize * packet_bytes;
                    chunk::trim(&recording.folder, stream, number, used);
                    let whole = chunk.lead + chunk.packets as usize * packet_bytes;
                    if used < whole {
                        libc::munmap(chunk.memory.add(used).cast(), whole - used);
                        chunk.packets = taken;
                    }
                    break;
                }
            }
            let next = &mut (*buffer).chunks[(number as usize + 1) % CHUNKS];
            if next.number == number + 1 {
                chunk::trim(&recording.folder, stream, number + 1, 0);
                next.release(next.packets, packet_bytes);
            }
        }
    }

    /// Somebody no longer needs the buffer; the last one frees it.
    ///
    /// # Safety
    /// The caller had a reference and does not use the buffer afterwards.
    pub(crate) unsafe fn let_go(buffer: *mut Buffer) {
        // SAFETY: with the last reference the buffer is ours alone. It was closed, for the recording's reference ends
        // only then; what is still mapped are packets of the current chunk.
        unsafe {
            if (*buffer).references.fetch_sub(1, Ordering::AcqRel) > 1 {
                return;
            }
            let packet_bytes = (*buffer).packet_bytes;
            let current = &mut *(*buffer).current.cast_mut();
            if current.packets == 0 && current.lead > 0 {
                libc::munmap(current.memory.cast(), current.lead);
            }
            current.release(current.packets, packet_bytes);
            libc::munmap(buffer.cast(), 4096);
        }
    }

    pub(crate) fn hold(&self) {
        self.references.fetch_add(1, Ordering::AcqRel);
        self.held.store(true, Ordering::Relaxed);
    }
}
