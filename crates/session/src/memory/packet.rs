//! The head of a packet, as bytes in shared memory and in files.
//!
//! A packet is valid at every moment from the one in which it is begun: SIGKILL may come between any two stores.

use std::sync::atomic::Ordering;

use crate::sync::AtomicU64;

/// Bytes of the head, which the first event follows.
pub const HEAD: usize = 80;
const MAGIC: u32 = 0xC1FC_1FC1;

/// Where the numbers of a head are.
pub(crate) mod place {
    pub(crate) const UUID: usize = 4;
    pub(crate) const STREAM_CLASS: usize = 20;
    pub(crate) const STREAM: usize = 24;
    pub(crate) const BEGIN: usize = 32;
    pub(crate) const END: usize = 40;
    pub(crate) const CONTENT_BITS: usize = 48;
    pub(crate) const PACKET_BITS: usize = 56;
    pub(crate) const NUMBER: usize = 64;
    pub(crate) const DISCARDED: usize = 72;
}

/// The same as the metadata names them, in their order: the fields of `packet.header`, and those of `packet.context` behind them.
pub(crate) const HEADER_FIELDS: [(&str, usize); 4] = [
    ("magic", 0),
    ("uuid", place::UUID),
    ("stream_id", place::STREAM_CLASS),
    ("stream_instance_id", place::STREAM),
];
pub(crate) const CONTEXT_FIELDS: [(&str, usize); 6] = [
    ("timestamp_begin", place::BEGIN),
    ("timestamp_end", place::END),
    ("content_size", place::CONTENT_BITS),
    ("packet_size", place::PACKET_BITS),
    ("packet_seq_num", place::NUMBER),
    ("events_discarded", place::DISCARDED),
];

/// What the head of a packet says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) uuid: [u64; 2],
    pub(crate) stream: u64,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) content_bytes: usize,
    pub(crate) packet_bytes: usize,
    pub(crate) number: u64,
    pub(crate) discarded: u64,
}

impl Head {
    /// As it is in a file.
    pub(crate) fn read(bytes: &[u8; HEAD]) -> Head {
        let word = |at: usize| std::array::from_fn(|byte| bytes[at + byte]);
        let number = |at: usize| u64::from_le_bytes(word(at));
        Head {
            uuid: [0, 8].map(|half| u64::from_ne_bytes(word(place::UUID + half))),
            stream: number(place::STREAM),
            begin: number(place::BEGIN),
            end: number(place::END),
            content_bytes: (number(place::CONTENT_BITS) / 8) as usize,
            packet_bytes: (number(place::PACKET_BITS) / 8) as usize,
            number: number(place::NUMBER),
            discarded: number(place::DISCARDED),
        }
    }

    pub(crate) fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
        for (half, word) in self.uuid.iter().enumerate() {
            let at = place::UUID + 8 * half;
            bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
        }
        bytes[place::STREAM_CLASS..place::STREAM].fill(0);
        for (at, value) in [
            (place::STREAM, self.stream),
            (place::BEGIN, self.begin),
            (place::END, self.end),
            (place::CONTENT_BITS, self.content_bytes as u64 * 8),
            (place::PACKET_BITS, self.packet_bytes as u64 * 8),
            (place::NUMBER, self.number),
            (place::DISCARDED, self.discarded),
        ] {
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }
}

/// A packet in memory, aligned to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packet(pub(crate) *mut u8);

impl Packet {
    /// Writes the head of a packet that nobody reads yet, and may not before something else says so.
    ///
    /// # Safety
    /// The packet is mapped for writing and this thread is its only writer.
    pub(crate) unsafe fn begin(self, head: &Head) {
        // SAFETY: as the caller promises; a head lies within the packet.
        unsafe {
            for (number, word) in head.bytes().as_chunks::<8>().0.iter().enumerate() {
                let word = u64::from_ne_bytes(*word);
                self.word(8 * number).store(word, Ordering::Relaxed);
            }
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

    /// Says how many events of the stream were dropped until now.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin).
    pub(crate) unsafe fn discard(self, now: u64, discarded: u64) {
        // SAFETY: as the caller promises. The drop lies between the end of the packet before and the end of this one.
        unsafe {
            let end = u64::from_le(self.word(place::END).load(Ordering::Relaxed)).max(now);
            self.word(place::END).store(end.to_le(), Ordering::Relaxed);
            self.word(place::DISCARDED)
                .store(discarded.to_le(), Ordering::Release);
        }
    }

    /// # Safety
    /// The packet is mapped and was begun.
    pub(crate) unsafe fn content_bytes(self) -> usize {
        // SAFETY: as the caller promises.
        let bits = unsafe { self.word(place::CONTENT_BITS) }.load(Ordering::Acquire);
        (u64::from_le(bits) / 8) as usize
    }

    /// Its number in its stream.
    ///
    /// # Safety
    /// The packet is mapped and was begun.
    pub(crate) unsafe fn number(self) -> u64 {
        // SAFETY: as the caller promises.
        u64::from_le(unsafe { self.word(place::NUMBER) }.load(Ordering::Relaxed))
    }

    /// What the head says now: the size of the content first, so that what it covers is complete.
    ///
    /// # Safety
    /// The packet is mapped and was begun.
    pub(crate) unsafe fn head(self) -> Head {
        // SAFETY: as the caller promises.
        unsafe {
            let content_bytes = self.content_bytes();
            let word = |at| u64::from_le(self.word(at).load(Ordering::Acquire));
            Head {
                uuid: self.uuid(),
                stream: word(place::STREAM),
                begin: word(place::BEGIN),
                end: word(place::END),
                content_bytes,
                packet_bytes: (word(place::PACKET_BITS) / 8) as usize,
                number: word(place::NUMBER),
                discarded: word(place::DISCARDED),
            }
        }
    }

    /// It lies across three words.
    ///
    /// # Safety
    /// The packet is mapped and was begun.
    unsafe fn uuid(self) -> [u64; 2] {
        let mut bytes = [0; place::STREAM];
        for (number, word) in bytes.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            // SAFETY: as the caller promises.
            let value = unsafe { self.word(8 * number) }.load(Ordering::Relaxed);
            *word = value.to_ne_bytes();
        }
        std::array::from_fn(|half| {
            let at = place::UUID + 8 * half;
            u64::from_ne_bytes(std::array::from_fn(|byte| bytes[at + byte]))
        })
    }

    #[inline(always)]
    pub(crate) unsafe fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: packets are aligned to pages and all places to 8 bytes.
        unsafe { &*self.0.add(at).cast::<AtomicU64>() }
    }
}
