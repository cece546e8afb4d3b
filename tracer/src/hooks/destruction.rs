//! The end of nodes, publishers, subscriptions, services, clients and timers: rcl has tracepoints only for their beginning.

use std::ffi::{c_int, c_void};

use rostrace_session::Memory;

use super::{Called, Caller, Hook, hooks, interpose, records};
use crate::control::gate;
use crate::ring::{emit, thread};
use crate::{events, statedump};

const RCL: &[&str] = &["librcl.so"];
/// What rcl says when it cannot do something.
const RCL_RET_ERROR: c_int = 1;

/// Records the end of an entity, and forgets what was remembered of it.
fn end(event: u16, remembered: &[u16], handle: *const c_void) {
    if records(event) {
        // SAFETY: the payload has the size that is said.
        emit::event(event, 8, |payload| unsafe {
            payload.pointer(handle);
        });
    }
    with_memory(remembered[0], |memory| {
        statedump::forget(memory, remembered, handle as u64)
    });
}

/// Does something with what is remembered, unless that is being done on this thread already.
fn with_memory(event: u16, change: impl FnOnce(&'static Memory)) {
    if gate::wants(event)
        && let Some(memory) = gate::memory()
        && let Some(inside) = thread::enter(memory)
        && !inside.is_nested()
    {
        thread::undisturbed(|| change(memory));
    }
}

hooks! {
    NODE = Across RCL "rcl_node_fini",
    fn rcl_node_fini(node: *mut c_void) -> c_int; [original?] {
        end(
            events::ROSTRACE_RCL_NODE_FINI,
            &[events::RCL_NODE_INIT, events::RCL_LIFECYCLE_STATE_MACHINE_INIT],
            node,
        );
        // The end of its publisher of `/rosout` has another handle than the beginning.
        with_memory(events::RCL_PUBLISHER_INIT, |memory| {
            statedump::forget_owned(memory, events::RCL_PUBLISHER_INIT, node as u64);
        });
        original(node).unwrap_or(RCL_RET_ERROR)
    }

    PUBLISHER = Across RCL "rcl_publisher_fini",
    fn rcl_publisher_fini(handle: *mut c_void, node: *mut c_void) -> c_int; [original?] {
        end(events::ROSTRACE_RCL_PUBLISHER_FINI, &[events::RCL_PUBLISHER_INIT], handle);
        original(handle, node).unwrap_or(RCL_RET_ERROR)
    }

    SUBSCRIPTION = Across RCL "rcl_subscription_fini",
    fn rcl_subscription_fini(handle: *mut c_void, node: *mut c_void) -> c_int; [original?] {
        end(
            events::ROSTRACE_RCL_SUBSCRIPTION_FINI,
            &[events::RCL_SUBSCRIPTION_INIT, events::RCLCPP_SUBSCRIPTION_INIT],
            handle,
        );
        original(handle, node).unwrap_or(RCL_RET_ERROR)
    }

    SERVICE = Across RCL "rcl_service_fini",
    fn rcl_service_fini(handle: *mut c_void, node: *mut c_void) -> c_int; [original?] {
        end(
            events::ROSTRACE_RCL_SERVICE_FINI,
            &[events::RCL_SERVICE_INIT, events::RCLCPP_SERVICE_CALLBACK_ADDED],
            handle,
        );
        original(handle, node).unwrap_or(RCL_RET_ERROR)
    }

    CLIENT = Across RCL "rcl_client_fini",
    fn rcl_client_fini(handle: *mut c_void, node: *mut c_void) -> c_int; [original?] {
        end(events::ROSTRACE_RCL_CLIENT_FINI, &[events::RCL_CLIENT_INIT], handle);
        original(handle, node).unwrap_or(RCL_RET_ERROR)
    }

    TIMER = Across RCL "rcl_timer_fini",
    fn rcl_timer_fini(timer: *mut c_void) -> c_int; [original?] {
        end(
            events::ROSTRACE_RCL_TIMER_FINI,
            &[
                events::RCL_TIMER_INIT,
                events::ROSTRACE_RCL_TIMER_CLOCK,
                events::RCLCPP_TIMER_CALLBACK_ADDED,
                events::RCLCPP_TIMER_LINK_NODE,
            ],
            timer,
        );
        original(timer).unwrap_or(RCL_RET_ERROR)
    }
}
