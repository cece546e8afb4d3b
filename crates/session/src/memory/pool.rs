//! Packets and streams that can be taken, without a lock and from a signal handler too.
//!
//! A free list is a stack of numbers with a count of its changes beside the first one, so that a thread which slept between looking and
//! taking notices that the stack has changed, even if the same number is on top again.

use std::sync::atomic::Ordering;

use crate::sync::{AtomicU32, AtomicU64};

/// What is known of a packet outside of it.
#[derive(Debug)]
#[repr(C)]
pub struct PacketInfo {
    /// [`FREE`], [`HELD`] or [`FULL`].
    pub(crate) state: AtomicU32,
    pub(crate) next: AtomicU32,
    /// The recording that its content belongs to; 0 while its head is being written.
    pub(crate) epoch: AtomicU64,
    pub(crate) stream: AtomicU32,
    /// Events in it.
    pub(crate) events: AtomicU32,
    /// The same with the event that is being written: one more while one is.
    pub(crate) begun: AtomicU32,
    _reserved: AtomicU32,
}

/// In a free list, on its way from or to one, or never handed out.
pub(crate) const FREE: u32 = 0;
/// A stream writes to it.
pub(crate) const HELD: u32 = 1;
/// Waits to be written to the disk.
pub(crate) const FULL: u32 = 2;

/// The number on top plus one in the lower half, the count of changes in the upper.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct FreeList(pub(crate) AtomicU64);

/// Where a list keeps the number that lies below another one.
pub(crate) trait Links {
    /// None for a number that does not exist.
    fn link(&self, number: u32) -> Option<&AtomicU32>;
}

impl FreeList {
    pub(crate) fn push(&self, links: &impl Links, number: u32) {
        let Some(link) = links.link(number) else {
            return;
        };
        let mut top = self.0.load(Ordering::Acquire);
        loop {
            link.store(top as u32, Ordering::Relaxed);
            let next = changed(top) | (u64::from(number) + 1);
            match self
                .0
                .compare_exchange_weak(top, next, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    pub(crate) fn pop(&self, links: &impl Links) -> Option<u32> {
        let mut top = self.0.load(Ordering::Acquire);
        loop {
            let number = (top as u32).checked_sub(1)?;
            // What it says may be old if somebody else took the number meanwhile; then the exchange fails.
            let below = links.link(number)?.load(Ordering::Relaxed);
            let next = changed(top) | u64::from(below);
            match self
                .0
                .compare_exchange_weak(top, next, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return Some(number),
                Err(now) => top = now,
            }
        }
    }

    /// How many there are, at most as many as asked for: others may change the list meanwhile.
    pub(crate) fn count(&self, links: &impl Links, most: u32) -> u32 {
        let mut next = self.0.load(Ordering::Acquire) as u32;
        let mut count = 0;
        while count < most && next != 0 {
            let Some(link) = links.link(next - 1) else {
                break;
            };
            next = link.load(Ordering::Relaxed);
            count += 1;
        }
        count
    }
}

fn changed(top: u64) -> u64 {
    (top >> 32).wrapping_add(1) << 32
}
