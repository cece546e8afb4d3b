//! What is in callback groups: rclcpp has no tracepoints for that. The events are CARET's.
//!
//! A member is asked for its rcl handle, by which tracepoints name it. From Lyrical on members are passed by reference: the same call
//! under another name, since shared pointers that are passed by value are passed by their address too.

use std::ffi::c_void;

use super::executor::pair;
use super::returned::Returned;
use super::shared_pointer::SharedPointer;
use super::{Called, Caller, Companion, Hook, hooks, interpose, records};
use crate::events;

const RCLCPP: &[&str] = &["librclcpp.so"];

static TIMER_HANDLE: Companion = Companion::new(c"_ZN6rclcpp9TimerBase16get_timer_handleEv");
static SUBSCRIPTION_HANDLE: Companion =
    Companion::new(c"_ZN6rclcpp16SubscriptionBase23get_subscription_handleEv");
static SERVICE_HANDLE: Companion = Companion::new(c"_ZN6rclcpp11ServiceBase18get_service_handleEv");
static CLIENT_HANDLE: Companion = Companion::new(c"_ZN6rclcpp10ClientBase17get_client_handleEv");

/// The rcl handle of a member that is about to be added; null if nobody wants to know it, or nobody can.
///
/// # Safety
/// The member is held by its pointer, the accessor belongs to its class, and the original to the same library.
unsafe fn handle_of(
    member: *mut SharedPointer,
    accessor: &Companion,
    event: u16,
    original: *const c_void,
) -> *mut c_void {
    // SAFETY: as the caller promises; the member holds its handle.
    unsafe {
        if records(event)
            && !(*member).object.is_null()
            && let Some(accessor) = accessor.beside(original)
        {
            let pointer = shared_pointer_from(accessor, (*member).object);
            let handle = pointer.object;
            pointer.let_go();
            return handle;
        }
    }
    std::ptr::null_mut()
}

/// Calls a method that returns a shared pointer.
///
/// # Safety
/// The method takes nothing but its object.
unsafe fn shared_pointer_from(method: *const c_void, object: *mut c_void) -> SharedPointer {
    type Method = unsafe extern "C-unwind" fn(*mut c_void) -> Returned;
    // SAFETY: as the caller promises; a shared pointer has a destructor.
    unsafe { std::mem::transmute::<*const c_void, Method>(method)(object).read() }
}

macro_rules! members {
    ($($name:ident, $hook:ident = $symbol:literal, $accessor:ident, $event:ident;)+) => {
        hooks! {$(
            $hook = Within RCLCPP $symbol,
            fn $name(group: *mut c_void, member: *mut SharedPointer) [original] {
                let event = events::$event;
                let handle = handle_of(member, &$accessor, event, original as *const c_void);
                original(group, member);
                if !handle.is_null() {
                    pair(event, group, handle);
                }
            }
        )+}
    };
}

members! {
    add_timer, TIMER = "_ZN6rclcpp13CallbackGroup9add_timerESt10shared_ptrINS_9TimerBaseEE",
        TIMER_HANDLE, CARET_CALLBACK_GROUP_ADD_TIMER;
    add_subscription, SUBSCRIPTION = "_ZN6rclcpp13CallbackGroup16add_subscriptionESt10shared_ptrINS_16SubscriptionBaseEE",
        SUBSCRIPTION_HANDLE, CARET_CALLBACK_GROUP_ADD_SUBSCRIPTION;
    add_service, SERVICE = "_ZN6rclcpp13CallbackGroup11add_serviceESt10shared_ptrINS_11ServiceBaseEE",
        SERVICE_HANDLE, CARET_CALLBACK_GROUP_ADD_SERVICE;
    add_client, CLIENT = "_ZN6rclcpp13CallbackGroup10add_clientESt10shared_ptrINS_10ClientBaseEE",
        CLIENT_HANDLE, CARET_CALLBACK_GROUP_ADD_CLIENT;
    add_timer_by_reference, TIMER_BY_REFERENCE = "_ZN6rclcpp13CallbackGroup9add_timerERKSt10shared_ptrINS_9TimerBaseEE",
        TIMER_HANDLE, CARET_CALLBACK_GROUP_ADD_TIMER;
    add_subscription_by_reference, SUBSCRIPTION_BY_REFERENCE = "_ZN6rclcpp13CallbackGroup16add_subscriptionERKSt10shared_ptrINS_16SubscriptionBaseEE",
        SUBSCRIPTION_HANDLE, CARET_CALLBACK_GROUP_ADD_SUBSCRIPTION;
    add_service_by_reference, SERVICE_BY_REFERENCE = "_ZN6rclcpp13CallbackGroup11add_serviceERKSt10shared_ptrINS_11ServiceBaseEE",
        SERVICE_HANDLE, CARET_CALLBACK_GROUP_ADD_SERVICE;
    add_client_by_reference, CLIENT_BY_REFERENCE = "_ZN6rclcpp13CallbackGroup10add_clientERKSt10shared_ptrINS_10ClientBaseEE",
        CLIENT_HANDLE, CARET_CALLBACK_GROUP_ADD_CLIENT;
}
