//! What is done by hand of the functions of libtracetools, which are in `functions`: whatever is none of a tracepoint, and where
//! arguments are not fields: `rcl_init`, to which tracetools adds its version; `rclcpp_publish`, whose publisher is always null;
//! `rmw_publish`, which has one argument up to Iron and three from Jazzy; and the begin and end of callbacks, beside which the clock of
//! their thread may be read.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU64};

use crate::abi::left_out::{self, Direction};
use crate::abi::original;
use crate::control::gate;
use crate::dl::loaded;
use crate::ring::emit::{self, Text};
use crate::ring::{thread, thread_clock};
use crate::{events, hooks};

pub use crate::abi::functions::*;

/// Whether anybody wants an event, after a first look.
#[inline(never)]
pub(super) extern "C" fn is_enabled(event: u16, function: Function) -> bool {
    gate::may_want(event) && gate::wants(event) || original::is_enabled(function)
}

/// Where callers find the number that is 0 while nothing is recorded, so that they need not call. It is one that never is where
/// tracepoints are calls of another library.
#[unsafe(no_mangle)]
pub extern "C" fn rostrace_active() -> &'static AtomicPtr<AtomicU64> {
    static ALWAYS: AtomicU64 = AtomicU64::new(1);
    static ELSEWHERE: AtomicPtr<AtomicU64> = AtomicPtr::new((&raw const ALWAYS).cast_mut());
    let own = ros_trace_callback_start as *const c_void;
    match loaded::first(c"ros_trace_callback_start") == Some(own) {
        true => &gate::ROS_ACTIVE,
        false => &ELSEWHERE,
    }
}

type PointerAndFlag = unsafe extern "C" fn(*const c_void, bool);
type OnePointer = unsafe extern "C" fn(*const c_void);
type TwoPointers = unsafe extern "C" fn(*const c_void, *const c_void);
type PublishWithStamp = unsafe extern "C" fn(*const c_void, *const c_void, i64);

#[inline(never)]
pub(super) extern "C" fn trace_rcl_init(context_handle: *const c_void) {
    if gate::wants(events::RCL_INIT) {
        let version = Text::from_bytes(original::version());
        // SAFETY: the payload has the size that is said.
        emit::initialisation(events::RCL_INIT, 8 + version.size(), |payload| unsafe {
            payload.pointer(context_handle).text(version);
        });
    }
    if let Some(original) = original::function(Function::rcl_init) {
        // SAFETY: the function of the same name, with the same arguments.
        unsafe { std::mem::transmute::<*const c_void, OnePointer>(original)(context_handle) };
    }
    hooks::rclpy::context_made();
}

#[inline(never)]
pub(super) extern "C" fn trace_callback_start(callback: *const c_void, is_intra_process: bool) {
    if gate::wants(events::CALLBACK_START) && !gate::refuses(callback as u64) {
        // SAFETY: the payload has the size that is said.
        emit::event(events::CALLBACK_START, 8 + 4, |payload| unsafe {
            payload.pointer(callback).flag(is_intra_process);
        });
        if gate::wants(events::ROSTRACE_THREAD_CLOCK) {
            thread_clock::callback_begins(callback);
        }
    }
    if let Some(original) = original::function(Function::callback_start) {
        // SAFETY: the function of the same name, with the same arguments.
        unsafe {
            std::mem::transmute::<*const c_void, PointerAndFlag>(original)(
                callback,
                is_intra_process,
            )
        };
    }
}

#[inline(never)]
pub(super) extern "C" fn trace_callback_end(callback: *const c_void) {
    if gate::wants(events::CALLBACK_END) && !gate::refuses(callback as u64) {
        if gate::wants(events::ROSTRACE_THREAD_CLOCK) {
            thread_clock::callback_ends(callback);
        }
        // SAFETY: the payload has the size that is said.
        emit::event(events::CALLBACK_END, 8, |payload| unsafe {
            payload.pointer(callback);
        });
    }
    if let Some(original) = original::function(Function::callback_end) {
        // SAFETY: the function of the same name, with the same arguments.
        unsafe { std::mem::transmute::<*const c_void, OnePointer>(original)(callback) };
    }
}

#[inline(never)]
pub(super) extern "C" fn trace_rclcpp_publish(
    publisher_handle: *const c_void,
    message: *const c_void,
) {
    if gate::wants(events::RCLCPP_PUBLISH) && !left_out::waits(message) {
        // SAFETY: the payload has the size that is said.
        emit::event(events::RCLCPP_PUBLISH, 8, |payload| unsafe {
            payload.pointer(message);
        });
    }
    if let Some(original) = original::function(Function::rclcpp_publish) {
        // SAFETY: the function of the same name, with the same arguments.
        unsafe {
            std::mem::transmute::<*const c_void, TwoPointers>(original)(publisher_handle, message)
        };
    }
}

/// Up to Iron the message is the only argument, and the others are whatever was in their registers.
#[inline(never)]
pub(super) extern "C" fn trace_rmw_publish(
    first: *const c_void,
    message: *const c_void,
    stamp: i64,
) {
    if gate::wants(events::RMW_PUBLISH) {
        if original::stamps_publications() {
            if gate::refuses(first as u64) {
                return pass_on_rmw_publish(first, message, stamp);
            }
            // SAFETY: the payload has the size that is said.
            emit::event(events::RMW_PUBLISH, 24, |payload| unsafe {
                payload.pointer(first).pointer(message).signed(stamp);
            });
        } else if left_out::has(first, Direction::Published) {
            thread::set_published(thread::LEFT_OUT);
        } else {
            // The DDS hooks find out which stamp the message gets.
            thread::set_published(first as u64);
            // SAFETY: the payload has the size that is said.
            emit::event(events::RMW_PUBLISH, 8, |payload| unsafe {
                payload.pointer(first);
            });
        }
    }
    pass_on_rmw_publish(first, message, stamp);
}

#[inline(always)]
fn pass_on_rmw_publish(first: *const c_void, message: *const c_void, stamp: i64) {
    if let Some(original) = original::function(Function::rmw_publish) {
        // SAFETY: the function of the same name; arguments that it does not have are ignored.
        unsafe {
            std::mem::transmute::<*const c_void, PublishWithStamp>(original)(first, message, stamp)
        };
    }
}

/// Whether tracepoints do something: they do.
#[unsafe(no_mangle)]
pub extern "C" fn ros_trace_compile_status() -> bool {
    true
}

/// Whether tracepoints can be recorded in this process.
#[unsafe(no_mangle)]
pub extern "C" fn ros_trace_runtime_status() -> bool {
    // Asks for any event, which makes sure that the tracer is initialised.
    gate::wants(events::RCL_INIT) || !gate::is_closed()
}
