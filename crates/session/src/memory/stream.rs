//! A stream: what one thread at a time writes, packet after packet. A thread that ends leaves its stream, with the packet that is not
//! full yet, to the next one.

use crate::sync::{AtomicU32, AtomicU64};

#[derive(Debug)]
#[repr(C, align(64))]
pub struct Stream {
    /// The packet that is written to, plus one; 0 for none.
    pub(crate) packet: AtomicU32,
    /// In the list of free streams.
    pub(crate) next: AtomicU32,
    /// The recording that everything else here speaks of.
    pub(crate) epoch: AtomicU64,
    _reserved: AtomicU64,
    /// Events that were dropped.
    pub(crate) discarded: AtomicU64,
    /// Events in packets that are full.
    pub(crate) events: AtomicU64,
    /// Of the keeper: events of full packets that could not be written to the disk.
    pub(crate) unwritten: AtomicU64,
    /// Not 0 while its thread runs code of the tracer that is not the way of an event: see [`crate::memory::at_work`].
    pub(crate) at_work: AtomicU32,
}
