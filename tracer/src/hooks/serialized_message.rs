//! Messages that are published and taken in serialised form: the only ones whose size rmw knows. Before Jazzy this way of publishing has no
//! tracepoint, so the DDS hooks are told which message is being written.

use std::ffi::{c_int, c_void};

use super::{Called, Caller, Hook, State, hooks, interpose, records, take_info};
use crate::control::gate;
use crate::events;
use crate::ring::{emit, thread};

const RMW: &[&str] = &["librmw_implementation.so"];
/// What rmw says when it cannot do something.
const RMW_RET_ERROR: c_int = 1;

/// The beginning of `rcutils_uint8_array_t`, which is public and the same in all versions.
#[repr(C)]
struct Bytes {
    buffer: *const u8,
    length: usize,
    capacity: usize,
}

/// Records the size of a message, if it looks like one.
///
/// # Safety
/// `message` is null or a serialised message.
unsafe fn size(hook: &Hook, event: u16, handle: *const c_void, message: *const c_void) {
    if message.is_null() || !records(event) || gate::refuses(handle as u64) {
        return;
    }
    // SAFETY: by the contract; the structure is only read.
    let bytes = thread::at_work(|| unsafe { message.cast::<Bytes>().read() });
    if bytes.length > bytes.capacity || bytes.buffer.is_null() && bytes.length > 0 {
        hook.set(State::Unexpected);
        return;
    }
    // SAFETY: the payload has the size that is said.
    emit::event(event, 24, |payload| unsafe {
        payload
            .pointer(handle)
            .pointer(message)
            .unsigned(bytes.length as u64);
    });
}

/// What a take left, where it took something.
///
/// # Safety
/// As for the take itself.
unsafe fn taken(
    hook: &Hook,
    result: c_int,
    taken: *const bool,
    handle: *const c_void,
    message: *const c_void,
) {
    // SAFETY: rmw refuses a null pointer here, so that a take that succeeded had a flag.
    if result == 0 && !taken.is_null() && unsafe { *taken } {
        // SAFETY: the message was filled.
        unsafe { size(hook, events::ROSTRACE_RMW_TAKE_SERIALIZED, handle, message) };
    }
}

hooks! {
    PUBLISH = Across RMW "rmw_publish_serialized_message",
    fn rmw_publish_serialized_message(
        publisher: *const c_void,
        message: *const c_void,
        allocation: *mut c_void,
    ) -> c_int; [original?] {
        size(&PUBLISH, events::ROSTRACE_RMW_PUBLISH_SERIALIZED, publisher, message);
        thread::set_published(match gate::refuses(publisher as u64) {
            true => thread::LEFT_OUT,
            false => message as u64,
        });
        original(publisher, message, allocation).unwrap_or(RMW_RET_ERROR)
    }

    TAKE = Across RMW "rmw_take_serialized_message",
    fn rmw_take_serialized_message(
        subscription: *const c_void,
        message: *mut c_void,
        flag: *mut bool,
        allocation: *mut c_void,
    ) -> c_int = RMW_RET_ERROR; [original] {
        let result = original(subscription, message, flag, allocation);
        taken(&TAKE, result, flag, subscription, message);
        result
    }

    TAKE_WITH_INFO = Across RMW "rmw_take_serialized_message_with_info",
    fn rmw_take_serialized_message_with_info(
        subscription: *const c_void,
        message: *mut c_void,
        flag: *mut bool,
        info: *mut take_info::Info,
        allocation: *mut c_void,
    ) -> c_int = RMW_RET_ERROR; [original] {
        let result = original(subscription, message, flag, info, allocation);
        taken(&TAKE_WITH_INFO, result, flag, subscription, message);
        take_info::taken(result, flag, subscription, info);
        result
    }
}
