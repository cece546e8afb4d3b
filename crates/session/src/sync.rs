//! The atomics of shared memory: those of the standard library, or, in the tests of [`crate::models`], ones that loom knows.
//!
//! Bytes that are not atomic are ordered by atomics that are. Whoever writes or reads such bytes in shared memory says so, which costs
//! nothing, so that the models notice where that order is missing.

#[cfg(all(test, feature = "models"))]
pub(crate) mod modelled;

#[cfg(all(test, feature = "models"))]
pub(crate) use modelled::{AtomicU32, AtomicU64, fence, will_read, will_write};

#[cfg(not(all(test, feature = "models")))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, fence};

/// So many bytes there are written next, by this thread.
#[cfg(not(all(test, feature = "models")))]
#[inline(always)]
pub(crate) fn will_write(_at: *const u8, _bytes: usize) {}

/// So many bytes there are read next, by this thread.
#[cfg(not(all(test, feature = "models")))]
#[inline(always)]
pub(crate) fn will_read(_at: *const u8, _bytes: usize) {}
