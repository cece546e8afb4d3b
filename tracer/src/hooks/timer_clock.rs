//! Which clock a timer goes by: its period says nothing of real time where that clock is simulated, and no tracepoint tells.

use std::ffi::{c_int, c_void};

use super::{Called, Caller, Hook, State, interpose, records};
use crate::events;
use crate::ring::emit;

const RCL: &[&str] = &["librcl.so"];
/// What rcl says when it cannot do something.
const RCL_RET_ERROR: c_int = 1;
/// The last of `rcl_clock_type_t`, which are the same in all versions: unknown, ROS, system, steady.
const LAST_TYPE: c_int = 3;

static INIT: Hook = Hook::new(c"rcl_timer_init", RCL, Called::Across);
/// From Jazzy on, which has both.
static INIT_2: Hook = Hook::new(c"rcl_timer_init2", RCL, Called::Across);
pub(super) static HOOKS: [&Hook; 2] = [&INIT, &INIT_2];

/// `rcl_allocator_t`, which is passed by value: four functions and a state.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Allocator([*mut c_void; 5]);

/// The beginning of `rcl_clock_t`, which is public.
#[repr(C)]
struct Clock {
    kind: c_int,
}

interpose! {
    "rcl_timer_init" => rcl_timer_init;
    "rcl_timer_init2" => rcl_timer_init2;
}

type Init = unsafe extern "C-unwind" fn(
    *mut c_void,
    *mut Clock,
    *mut c_void,
    i64,
    *const c_void,
    Allocator,
) -> c_int;
type Init2 = unsafe extern "C-unwind" fn(
    *mut c_void,
    *mut Clock,
    *mut c_void,
    i64,
    *const c_void,
    Allocator,
    bool,
) -> c_int;

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

/// # Safety
/// As rcl says.
unsafe extern "C-unwind" fn rcl_timer_init(
    timer: *mut c_void,
    clock: *mut Clock,
    context: *mut c_void,
    period: i64,
    callback: *const c_void,
    allocator: Allocator,
    caller: Caller,
) -> c_int {
    let Some(original) = INIT.original(caller) else {
        return RCL_RET_ERROR;
    };
    // SAFETY: the original, with the same arguments; it took the clock if it succeeded.
    unsafe {
        let original = std::mem::transmute::<*const c_void, Init>(original);
        let result = original(timer, clock, context, period, callback, allocator);
        // Where both exist this calls the other one, and it is told twice: what is remembered is the same.
        if result == 0 {
            made(&INIT, timer, clock);
        }
        result
    }
}

/// # Safety
/// As rcl says.
unsafe extern "C-unwind" fn rcl_timer_init2(
    timer: *mut c_void,
    clock: *mut Clock,
    context: *mut c_void,
    period: i64,
    callback: *const c_void,
    allocator: Allocator,
    autostart: bool,
    caller: Caller,
) -> c_int {
    let Some(original) = INIT_2.original(caller) else {
        return RCL_RET_ERROR;
    };
    // SAFETY: the original, with the same arguments; it took the clock if it succeeded.
    unsafe {
        let original = std::mem::transmute::<*const c_void, Init2>(original);
        let result = original(
            timer, clock, context, period, callback, allocator, autostart,
        );
        if result == 0 {
            made(&INIT_2, timer, clock);
        }
        result
    }
}
