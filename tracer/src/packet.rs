//! The head of a packet, as bytes in a mapped file.
//!
//! A packet is valid at every moment from the one in which its file appears: SIGKILL may come between any two stores.
//! Until it is used it is empty and lies in the far future, behind everything that can still be written before it.

/// Bytes of the head, which the first event follows, and the begin of a packet that is not in use: its number in the stream
/// is added, so that such packets keep their order.
pub(crate) use rostrace_session::stream_file::{HEAD, NEVER};
use std::sync::atomic::{AtomicU64, Ordering};

const MAGIC: u32 = 0xC1FC_1FC1;

mod place {
    pub(super) const UUID: usize = 4;
    pub(super) const STREAM_CLASS: usize = 20;
    pub(super) const STREAM: usize = 24;
    pub(super) use rostrace_session::stream_file::{BEGIN, CONTENT_BITS, END, PACKET_BITS};
    pub(super) const NUMBER: usize = 64;
    pub(super) const DISCARDED: usize = 72;
}

/// A packet in mapped memory, aligned to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packet(pub(crate) *mut u8);

impl Packet {
    /// Writes the head of a packet that nobody uses yet.
    ///
    /// # Safety
    /// The packet is mapped for writing with `bytes` bytes and nobody else knows it.
    pub(crate) unsafe fn prepare(
        self,
        uuid: &[u8; 16],
        stream: u64,
        bytes: usize,
        number: u64,
        begin: u64,
        discarded: u64,
    ) {
        // SAFETY: all places lie within the first HEAD bytes.
        unsafe {
            self.0.cast::<u32>().write(MAGIC.to_le());
            self.0
                .add(place::UUID)
                .copy_from_nonoverlapping(uuid.as_ptr(), 16);
            self.0.add(place::STREAM_CLASS).cast::<u32>().write(0);
            for (place, value) in [
                (place::STREAM, stream),
                (place::BEGIN, begin),
                (place::END, begin),
                (place::CONTENT_BITS, (HEAD * 8) as u64),
                (place::PACKET_BITS, (bytes * 8) as u64),
                (place::NUMBER, number),
                (place::DISCARDED, discarded),
            ] {
                self.word(place).store(value.to_le(), Ordering::Relaxed);
            }
        }
    }

    /// Begins to use the packet.
    ///
    /// # Safety
    /// The packet is prepared and mapped, and this thread is its only writer.
    pub(crate) unsafe fn begin(self, now: u64, discarded: u64) {
        // SAFETY: as the caller promises. Begin before end: in between the end lies in the far future, which is valid.
        unsafe {
            self.word(place::DISCARDED)
                .store(discarded.to_le(), Ordering::Relaxed);
            self.word(place::BEGIN)
                .store(now.to_le(), Ordering::Release);
            self.word(place::END).store(now.to_le(), Ordering::Release);
        }
    }

    /// Makes events visible that were written up to this byte.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin); the events are written.
    #[inline(always)]
    pub(crate) unsafe fn commit(self, now: u64, content_bytes: usize) {
        // SAFETY: as the caller promises. End before size: an event is never younger than its packet's end.
        unsafe {
            self.word(place::END).store(now.to_le(), Ordering::Relaxed);
            self.word(place::CONTENT_BITS)
                .store((content_bytes as u64 * 8).to_le(), Ordering::Release);
        }
    }

    /// Says how many events of the stream were dropped until now. Another thread may do so too.
    ///
    /// # Safety
    /// The packet is in use and mapped.
    pub(crate) unsafe fn discard(self, now: u64, discarded: u64) {
        // SAFETY: as the caller promises. The drop lies between the end of the packet before and the end of this one.
        unsafe {
            raise(self.word(place::END), now);
            raise(self.word(place::DISCARDED), discarded);
        }
    }

    /// The same for a packet that is not in use: its number must not be smaller than that of the packet before.
    ///
    /// # Safety
    /// The packet is prepared and mapped.
    pub(crate) unsafe fn foresee(self, discarded: u64) {
        // SAFETY: as the caller promises.
        unsafe { raise(self.word(place::DISCARDED), discarded) };
    }

    #[inline(always)]
    unsafe fn word(&self, place: usize) -> &AtomicU64 {
        // SAFETY: packets are aligned to pages and all places to 8 bytes.
        unsafe { &*self.0.add(place).cast::<AtomicU64>() }
    }
}

fn raise(word: &AtomicU64, value: u64) {
    let higher = |old: u64| (u64::from_le(old) < value).then_some(value.to_le());
    let _ = word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, higher);
}
