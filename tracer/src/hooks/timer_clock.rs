//! Which clock a timer goes by: its period says nothing of real time where that clock is simulated, and no tracepoint tells.

use std::ffi::{c_int, c_void};

use super::{Called, Caller, Hook, State, hooks, interpose, records};
use crate::events;
use crate::ring::emit;

const RCL: &[&str] = &["librcl.so"];
/// What rcl says when it cannot do something.
const RCL_RET_ERROR: c_int = 1;
/// The last of `rcl_clock_type_t`, which are the same in all versions: unknown, ROS, system, steady.
const LAST_TYPE: c_int = 3;

/// `rcl_allocator_t`, which is passed by value: four functions and a state.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Allocator([*mut c_void; 5]);

/// The beginning of `rcl_clock_t`, which is public.
#[repr(C)]
struct Clock {
    kind: c_int,
}

/// Remembers the clock of a timer that was made.
///
/// # Safety
/// The clock is one that rcl took.
unsafe fn made(hook: &Hook, timer: *const c_void, clock: *const Clock) {
    let event = events::ROSTRACE_RCL_TIMER_CLOCK;
    if clock.is_null() || !records(event) {
        return;
    }
    // SAFETY: as the caller promises.
    let kind = unsafe { (*clock).kind };
    if !(0..=LAST_TYPE).contains(&kind) {
        hook.set(State::Unexpected);
        return;
    }
    // SAFETY: the payload has the size that is said.
    emit::initialisation(event, 16, |payload| unsafe {
        payload.pointer(timer).unsigned(kind as u64);
    });
}

hooks! {
    INIT = Across RCL "rcl_timer_init",
    fn rcl_timer_init(
        timer: *mut c_void,
        clock: *mut Clock,
        context: *mut c_void,
        period: i64,
        callback: *const c_void,
        allocator: Allocator,
    ) -> c_int = RCL_RET_ERROR; [original] {
        let result = original(timer, clock, context, period, callback, allocator);
        // It took the clock if it succeeded. Where both exist this calls the other one, and it is reported twice: what is remembered is the same.
        if result == 0 {
            made(&INIT, timer, clock);
        }
        result
    }

    /// From Jazzy on, which has both.
    INIT_2 = Across RCL "rcl_timer_init2",
    fn rcl_timer_init2(
        timer: *mut c_void,
        clock: *mut Clock,
        context: *mut c_void,
        period: i64,
        callback: *const c_void,
        allocator: Allocator,
        autostart: bool,
    ) -> c_int = RCL_RET_ERROR; [original] {
        let result = original(timer, clock, context, period, callback, allocator, autostart);
        if result == 0 {
            made(&INIT_2, timer, clock);
        }
        result
    }
}
