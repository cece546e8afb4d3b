//! What the middleware tells of a message that was taken: when it arrived, and the number that its publisher gave it. `ros2:rmw_take` has neither.
//!
//! Where there is no such number there is nothing to tell: Cyclone DDS, which has none, says the time of the take itself for the arrival.

use std::ffi::{c_int, c_void};

use super::{Called, Caller, Hook, hooks, interpose, records};
use crate::control::gate;
use crate::events;
use crate::ring::{clock, emit, thread};

const RMW: &[&str] = &["librmw_implementation.so"];
/// What rmw says when it cannot do something.
const RMW_RET_ERROR: c_int = 1;
/// `RMW_MESSAGE_INFO_SEQUENCE_NUMBER_UNSUPPORTED`.
const UNSUPPORTED: u64 = u64::MAX;

/// The beginning of `rmw_message_info_t`, which is public and the same from Humble on.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Info {
    source_timestamp: i64,
    received_timestamp: i64,
    publication_sequence_number: u64,
    reception_sequence_number: u64,
}

/// What a take left, where it took something.
///
/// # Safety
/// As for the take itself.
pub(super) unsafe fn taken(
    result: c_int,
    taken: *const bool,
    subscription: *const c_void,
    info: *const Info,
) {
    let event = events::ROSTRACE_RMW_TAKE_INFO;
    // SAFETY: rmw refuses null pointers here, so that a take that succeeded had a flag, and filled the structure.
    unsafe {
        if result != 0 || taken.is_null() || info.is_null() || !*taken || !records(event) {
            return;
        }
    }
    if gate::refuses(subscription as u64) {
        return;
    }
    // SAFETY: as above; it is only read.
    let info = thread::at_work(|| unsafe { info.read() });
    // Callers fill the structure with zeroes before: that is what a middleware leaves which does not know of these fields.
    if matches!(info.publication_sequence_number, 0 | UNSUPPORTED) || info.received_timestamp <= 0 {
        return;
    }
    let now = clock::wall();
    // SAFETY: the payload has the size that is said.
    emit::event(event, 40, |payload| unsafe {
        payload
            .pointer(subscription)
            .signed(info.received_timestamp)
            .signed(now)
            .unsigned(info.publication_sequence_number)
            .unsigned(info.reception_sequence_number);
    });
}

hooks! {
    TAKE_WITH_INFO = Across RMW "rmw_take_with_info",
    fn rmw_take_with_info(
        subscription: *const c_void,
        message: *mut c_void,
        flag: *mut bool,
        info: *mut Info,
        allocation: *mut c_void,
    ) -> c_int = RMW_RET_ERROR; [original] {
        let result = original(subscription, message, flag, info, allocation);
        taken(result, flag, subscription, info);
        result
    }

    TAKE_LOANED = Across RMW "rmw_take_loaned_message_with_info",
    fn rmw_take_loaned_message_with_info(
        subscription: *const c_void,
        message: *mut *mut c_void,
        flag: *mut bool,
        info: *mut Info,
        allocation: *mut c_void,
    ) -> c_int = RMW_RET_ERROR; [original] {
        let result = original(subscription, message, flag, info, allocation);
        taken(result, flag, subscription, info);
        result
    }
}
