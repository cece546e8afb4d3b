//! Source timestamps of Fast DDS, for distributions before Jazzy, whose `rmw_publish` does not tell them.
//!
//! Every change that a writer sends passes `WriterHistory::set_fragments` when it has its time. Where in the change the time is depends on
//! the version; it is found by what it is: seconds, a fraction of 2^32 and nanoseconds that say the same, and the present.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::cyclone_dds::bind;
use super::{Called, Caller, Hook, State, hooks, interpose, records};
use crate::abi::original;
use crate::events;
use crate::ring::thread;

const VERSION_2_LIBRARY: &[&str] = &["libfastrtps.so"];
const VERSION_3_LIBRARY: &[&str] = &["libfastdds.so"];
/// Places that are looked at; every version's change is longer.
const FIRST: usize = 64;
const LAST: usize = 160;
/// Changes that may be looked at in vain before the hook is off.
const PATIENCE: usize = 100;

/// `eprosima::fastrtps::rtps::Time_t`
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Time {
    seconds: i32,
    fraction: u32,
    nanoseconds: u32,
}

impl Time {
    /// The same time in both forms, and about now.
    fn is_plausible(self, now: u64) -> bool {
        let as_fraction = (u64::from(self.nanoseconds) << 32) / 1_000_000_000;
        self.nanoseconds < 1_000_000_000
            && as_fraction.abs_diff(self.fraction.into()) <= 16
            && self.nanos().abs_diff(now) < 10_000_000_000
    }

    fn nanos(self) -> u64 {
        u64::from(self.seconds.max(0) as u32) * 1_000_000_000 + u64::from(self.nanoseconds)
    }
}

/// Where the time is, once that is known.
static PLACE: AtomicUsize = AtomicUsize::new(0);
static TRIED: AtomicUsize = AtomicUsize::new(0);

/// # Safety
/// The change is one of Fast DDS.
unsafe fn stamp_of(hook: &Hook, change: *const c_void) -> Option<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let now = now.as_nanos() as u64;
    // SAFETY: a change is longer than the last place that is looked at.
    let at = |place: usize| unsafe { change.byte_add(place).cast::<Time>().read_unaligned() };
    let known = PLACE.load(Ordering::Relaxed);
    if known != 0 {
        return Some(at(known))
            .filter(|time| time.is_plausible(now))
            .map(Time::nanos);
    }
    let found = (FIRST..=LAST)
        .step_by(4)
        .find(|place| at(*place).is_plausible(now));
    match found {
        Some(place) => PLACE.store(place, Ordering::Relaxed),
        None if TRIED.fetch_add(1, Ordering::Relaxed) > PATIENCE => hook.set(State::Unexpected),
        None => {}
    }
    found.map(|place| at(place).nanos())
}

/// Says when the message that is being published was, if this change is it.
///
/// # Safety
/// The change is null or one of Fast DDS.
unsafe fn has_fragments(hook: &Hook, change: *const c_void) {
    if change.is_null() || hook.is_unexpected() || !records(events::CARET_DDS_BIND_ADDR_TO_STAMP) {
        return;
    }
    if original::stamps_publications() {
        hook.set(State::Needless);
        return;
    }
    // Writers of discovery pass here too: only what rmw is publishing on this thread is meant.
    let message = thread::take_published();
    if message != 0 {
        // SAFETY: as the caller promises.
        if let Some(stamp) = thread::at_work(|| unsafe { stamp_of(hook, change) }) {
            bind(message, stamp);
        }
    }
}

hooks! {
    VERSION_2 = Within VERSION_2_LIBRARY "_ZN8eprosima8fastrtps4rtps13WriterHistory13set_fragmentsEPNS1_13CacheChange_tE",
    fn set_fragments_2(history: *mut c_void, change: *mut c_void) [original?] {
        original(history, change);
        has_fragments(&VERSION_2, change);
    }

    VERSION_3 = Within VERSION_3_LIBRARY "_ZN8eprosima7fastdds4rtps13WriterHistory13set_fragmentsEPNS1_13CacheChange_tE",
    fn set_fragments_3(history: *mut c_void, change: *mut c_void) [original?] {
        original(history, change);
        has_fragments(&VERSION_3, change);
    }
}
