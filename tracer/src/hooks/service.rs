//! Requests and responses with their numbers, for distributions before Kilted, which have no tracepoints for them.
//!
//! The functions of rmw are the same in all of them. They are recorded as the tracepoints of Kilted, so readers need
//! not know the difference; the source timestamp of a response is not known here and is 0. The name of the middleware is
//! recorded at the same place, because rcl asks for it early.
//!
//! A request has a number only when the call returns, and by then it may have been answered. So its beginning is an event of its own, for
//! all distributions: that of Kilted comes after the write as well, where the middleware is Fast DDS.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Called, Caller, Hook, State, client as client_callback, hooks, interpose, records};
use crate::abi::original;
use crate::control::gate;
use crate::events;
use crate::ring::clock;
use crate::ring::emit::{self, Text};

const RMW: &[&str] = &["librmw_implementation.so"];
const RMW_RET_ERROR: c_int = 1;

/// `rmw_request_id_t`
#[derive(Debug)]
#[repr(C)]
pub(crate) struct RequestId {
    writer: [u8; 16],
    sequence_number: i64,
}

/// `rmw_service_info_t`
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ServiceInfo {
    source_timestamp: i64,
    received_timestamp: i64,
    request: RequestId,
}

/// Whether this hook has to record the event of a service or a client.
fn is_ours(hook: &Hook, event: u16, handle: *const c_void) -> bool {
    if !records(event) || gate::refuses(handle as u64) {
        return false;
    }
    if original::traces_services() {
        hook.set(State::Needless);
        return false;
    }
    true
}

hooks! {
    SEND_REQUEST = Across RMW "rmw_send_request",
    fn rmw_send_request(
        client: *const c_void,
        request: *const c_void,
        sequence_number: *mut i64,
    ) -> c_int = RMW_RET_ERROR; [original] {
        let begin = events::ROSTRACE_RMW_SEND_REQUEST_BEGIN;
        if records(begin) && !gate::refuses(client as u64) {
            emit::event(begin, 16, |payload| {
                payload.pointer(client).pointer(request);
            });
        }
        let result = original(client, request, sequence_number);
        // The number is there when it succeeded.
        if result == 0
            && !sequence_number.is_null()
            && is_ours(&SEND_REQUEST, events::RMW_SEND_REQUEST, client)
        {
            emit::event(events::RMW_SEND_REQUEST, 24, |payload| {
                payload.pointer(client).pointer(request).signed(*sequence_number);
            });
        }
        result
    }

    TAKE_REQUEST = Across RMW "rmw_take_request",
    fn rmw_take_request(
        service: *const c_void,
        info: *mut ServiceInfo,
        request: *mut c_void,
        taken: *mut bool,
    ) -> c_int = RMW_RET_ERROR; [original] {
        let result = original(service, info, request, taken);
        // The results are there when it succeeded.
        if result == 0
            && !info.is_null()
            && !taken.is_null()
            && is_ours(&TAKE_REQUEST, events::RMW_TAKE_REQUEST, service)
        {
            let id = &(*info).request;
            emit::event(events::RMW_TAKE_REQUEST, 44, |payload| {
                let payload = payload.pointer(service).pointer(request);
                let payload = payload.gid(id.writer.as_ptr(), 16);
                payload.signed(id.sequence_number).flag(*taken);
            });
        }
        result
    }

    SEND_RESPONSE = Across RMW "rmw_send_response",
    fn rmw_send_response(
        service: *const c_void,
        request: *mut RequestId,
        response: *mut c_void,
    ) -> c_int = RMW_RET_ERROR; [original] {
        // rmw checks its arguments itself, so null is possible.
        if !request.is_null() && is_ours(&SEND_RESPONSE, events::RMW_SEND_RESPONSE, service) {
            emit::event(events::RMW_SEND_RESPONSE, 48, |payload| {
                let payload = payload.pointer(service).pointer(response);
                let payload = payload.gid((*request).writer.as_ptr(), 16);
                payload.signed((*request).sequence_number).signed(0);
            });
        }
        original(service, request, response)
    }

    TAKE_RESPONSE = Across RMW "rmw_take_response",
    fn rmw_take_response(
        client: *const c_void,
        info: *mut ServiceInfo,
        response: *mut c_void,
        taken: *mut bool,
    ) -> c_int = RMW_RET_ERROR; [original] {
        let result = original(client, info, response, taken);
        if result != 0 || info.is_null() || taken.is_null() {
            return result;
        }
        let sequence = (*info).request.sequence_number;
        if is_ours(&TAKE_RESPONSE, events::RMW_TAKE_RESPONSE, client) {
            emit::event(events::RMW_TAKE_RESPONSE, 36, |payload| {
                let payload = payload.pointer(client).pointer(response).signed(sequence);
                payload.signed((*info).source_timestamp).flag(*taken);
            });
        }
        if *taken {
            client_callback::response_taken(client, sequence);
        }
        result
    }

    /// The name lives for ever.
    IDENTIFIER = Across RMW "rmw_get_implementation_identifier",
    fn rmw_get_implementation_identifier() -> *const c_char = std::ptr::null(); [original] {
        static IS_KNOWN: AtomicBool = AtomicBool::new(false);
        let name = original();
        let event = events::CARET_RMW_IMPLEMENTATION;
        if !name.is_null() && records(event) && !IS_KNOWN.swap(true, Ordering::Relaxed) {
            let (text, now) = (Text::of(name), clock::monotonic() as i64);
            emit::initialisation(event, text.size() + 8, |payload| {
                payload.text(text).signed(now);
            });
        }
        name
    }
}
