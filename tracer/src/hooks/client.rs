//! Callbacks of clients, for which rclcpp has no tracepoints: what an executor does after it took a response.
//!
//! `Executor::execute_client` takes a response and runs the callback, all on one thread: the callback begins when a take inside it
//! succeeds ([`response_taken`], called by the hook of the take) and ends with it. Clients of actions are waitables: their response is
//! taken first, and `ClientBase::execute` runs the callback. No argument is looked at; exceptions of callbacks pass through.

use std::ffi::c_void;

use super::shared_pointer::SharedPointer;
use super::{Called, Caller, Hook, hooks, interpose, records};
use crate::control::gate;
use crate::events;
use crate::ring::emit;
use crate::ring::thread::{self, Response};

const RCLCPP: &[&str] = &["librclcpp.so"];
const RCLCPP_ACTION: &[&str] = &["librclcpp_action.so"];

/// In the place of a client: an executor is about to take a response.
const EXPECTED: u64 = 1;

/// What this thread executes for a client, until this is dropped, also by an exception. Callbacks may spin executors themselves.
struct Execution {
    before: Response,
}

impl Execution {
    /// The response will be taken.
    fn expecting() -> Execution {
        Execution {
            before: thread::set_running(Response {
                client: EXPECTED,
                sequence: 0,
            }),
        }
    }

    /// The response was taken just before; none for other things that an action's client waits for.
    fn of_taken() -> Execution {
        let response = thread::set_taken(Response::NONE);
        let before = thread::set_running(response);
        if response.client != 0 {
            emit_event(events::ROSTRACE_CLIENT_CALLBACK_START, response);
        }
        Execution { before }
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        let response = thread::set_running(self.before);
        if response.client > EXPECTED {
            emit_event(events::ROSTRACE_CLIENT_CALLBACK_END, response);
        }
    }
}

fn emit_event(event: u16, response: Response) {
    if records(event) && !gate::refuses(response.client) {
        // SAFETY: the payload has the size that is said.
        emit::event(event, 16, |payload| unsafe {
            payload.unsigned(response.client).signed(response.sequence);
        });
    }
}

/// A client's response was taken on this thread.
pub(super) fn response_taken(client: *const c_void, sequence: i64) {
    let response = Response {
        client: client as u64,
        sequence,
    };
    if thread::running().client == EXPECTED {
        thread::set_running(response);
        emit_event(events::ROSTRACE_CLIENT_CALLBACK_START, response);
    } else {
        thread::set_taken(response);
    }
}

hooks! {
    EXECUTE = Within RCLCPP "_ZN6rclcpp8Executor14execute_clientESt10shared_ptrINS_10ClientBaseEE",
    fn execute_client(client: *mut SharedPointer) [original] {
        let _execution = Execution::expecting();
        original(client);
    }

    /// From Lyrical on.
    EXECUTE_BY_REFERENCE = Within RCLCPP "_ZN6rclcpp8Executor14execute_clientERKSt10shared_ptrINS_10ClientBaseEE",
    fn execute_client_by_reference(client: *mut SharedPointer) [original] {
        let _execution = Execution::expecting();
        original(client);
    }

    /// Up to Iron.
    EXECUTE_ACTION = Within RCLCPP_ACTION "_ZN13rclcpp_action10ClientBase7executeERSt10shared_ptrIvE",
    fn execute_action(this: *mut c_void, data: *mut SharedPointer) [original?] {
        let _execution = Execution::of_taken();
        original(this, data);
    }

    /// From Jazzy on.
    EXECUTE_ACTION_CONST = Within RCLCPP_ACTION "_ZN13rclcpp_action10ClientBase7executeERKSt10shared_ptrIvE",
    fn execute_action_const(this: *mut c_void, data: *mut SharedPointer) [original?] {
        let _execution = Execution::of_taken();
        original(this, data);
    }
}
