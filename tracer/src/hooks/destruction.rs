//! The end of nodes, publishers, subscriptions, services, clients and timers: rcl has tracepoints only for their beginning.

use std::ffi::{c_int, c_void};

use super::{Called, Caller, Hook, interpose, records};
use crate::control::gate;
use crate::ring::{emit, thread};
use crate::{events, statedump};

const RCL: &[&str] = &["librcl.so"];
/// What rcl says when it cannot do something.
const RCL_RET_ERROR: c_int = 1;

static NODE: Hook = Hook::new(c"rcl_node_fini", RCL, Called::Across);
static PUBLISHER: Hook = Hook::new(c"rcl_publisher_fini", RCL, Called::Across);
static SUBSCRIPTION: Hook = Hook::new(c"rcl_subscription_fini", RCL, Called::Across);
static SERVICE: Hook = Hook::new(c"rcl_service_fini", RCL, Called::Across);
static CLIENT: Hook = Hook::new(c"rcl_client_fini", RCL, Called::Across);
static TIMER: Hook = Hook::new(c"rcl_timer_fini", RCL, Called::Across);
pub(super) static HOOKS: [&Hook; 6] = [&NODE, &PUBLISHER, &SUBSCRIPTION, &SERVICE, &CLIENT, &TIMER];

interpose! {
    "rcl_node_fini" => rcl_node_fini;
    "rcl_publisher_fini" => rcl_publisher_fini;
    "rcl_subscription_fini" => rcl_subscription_fini;
    "rcl_service_fini" => rcl_service_fini;
    "rcl_client_fini" => rcl_client_fini;
    "rcl_timer_fini" => rcl_timer_fini;
}

type OneArgument = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
type TwoArguments = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void) -> c_int;

/// Records the end of an entity, and forgets what was remembered of it.
fn end(event: u16, remembered: &[u16], handle: *const c_void) {
    if records(event) {
        // SAFETY: the payload has the size that is said.
        emit::event(event, 8, |payload| unsafe {
            payload.pointer(handle);
        });
    }
    if gate::wants(remembered[0])
        && let Some(memory) = gate::memory()
        && let Some(inside) = thread::enter(memory)
        && !inside.is_nested()
    {
        thread::undisturbed(|| statedump::forget(memory, remembered, handle as u64));
    }
}

/// # Safety
/// As rcl says.
unsafe extern "C-unwind" fn rcl_node_fini(node: *mut c_void, caller: Caller) -> c_int {
    end(
        events::ROSTRACE_RCL_NODE_FINI,
        &[
            events::RCL_NODE_INIT,
            events::RCL_LIFECYCLE_STATE_MACHINE_INIT,
        ],
        node,
    );
    // The end of its publisher of `/rosout` has another handle than the beginning.
    if gate::wants(events::RCL_PUBLISHER_INIT)
        && let Some(memory) = gate::memory()
        && let Some(inside) = thread::enter(memory)
        && !inside.is_nested()
    {
        thread::undisturbed(|| {
            statedump::forget_owned(memory, events::RCL_PUBLISHER_INIT, node as u64);
        });
    }
    match NODE.original(caller) {
        // SAFETY: the original, with the same arguments.
        Some(original) => unsafe {
            std::mem::transmute::<*const c_void, OneArgument>(original)(node)
        },
        None => RCL_RET_ERROR,
    }
}

/// # Safety
/// As rcl says.
unsafe extern "C-unwind" fn rcl_timer_fini(timer: *mut c_void, caller: Caller) -> c_int {
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
    match TIMER.original(caller) {
        // SAFETY: the original, with the same arguments.
        Some(original) => unsafe {
            std::mem::transmute::<*const c_void, OneArgument>(original)(timer)
        },
        None => RCL_RET_ERROR,
    }
}

macro_rules! with_node {
    ($name:ident, $hook:ident, $event:ident, [$($remembered:ident),+]) => {
        /// # Safety
        /// As rcl says.
        unsafe extern "C-unwind" fn $name(
            handle: *mut c_void,
            node: *mut c_void,
            caller: Caller,
        ) -> c_int {
            end(events::$event, &[$(events::$remembered),+], handle);
            match $hook.original(caller) {
                // SAFETY: the original, with the same arguments.
                Some(original) => unsafe {
                    std::mem::transmute::<*const c_void, TwoArguments>(original)(handle, node)
                },
                None => RCL_RET_ERROR,
            }
        }
    };
}

with_node!(
    rcl_publisher_fini,
    PUBLISHER,
    ROSTRACE_RCL_PUBLISHER_FINI,
    [RCL_PUBLISHER_INIT]
);
with_node!(
    rcl_subscription_fini,
    SUBSCRIPTION,
    ROSTRACE_RCL_SUBSCRIPTION_FINI,
    [RCL_SUBSCRIPTION_INIT, RCLCPP_SUBSCRIPTION_INIT]
);
with_node!(
    rcl_service_fini,
    SERVICE,
    ROSTRACE_RCL_SERVICE_FINI,
    [RCL_SERVICE_INIT, RCLCPP_SERVICE_CALLBACK_ADDED]
);
with_node!(
    rcl_client_fini,
    CLIENT,
    ROSTRACE_RCL_CLIENT_FINI,
    [RCL_CLIENT_INIT]
);
