//! Simulated time: what rclcpp sets the clocks of nodes with `use_sim_time` to, for every message on `/clock`.
//!
//! Each such node has a clock of its own and sets it to the same time, a little earlier or later: one clock speaks for the process, and another
//! takes its place when it has been silent for a while. So nothing is written twice, a simulation that stands still or is set back can be seen,
//! and a node that lags behind does not turn the time back.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use super::{Called, Caller, Hook, hooks, interpose, records};
use crate::events;
use crate::ring::{clock, emit};

const RCL: &[&str] = &["librcl.so"];
/// What rcl says when it cannot do something.
const RCL_RET_ERROR: c_int = 1;
/// A clock that is silent for so many nanoseconds speaks no more.
const SILENCE: u64 = 1_000_000_000;

/// The clock that speaks for the process, and when it did so last. They need not fit exactly: in the worst case one time is written twice.
static SPEAKER: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static SPOKE: AtomicU64 = AtomicU64::new(0);

/// Whether this clock speaks for the process.
fn speaks(clock: *mut c_void) -> bool {
    let now = clock::monotonic();
    let relaxed = Ordering::Relaxed;
    if SPEAKER.load(relaxed) != clock && now.saturating_sub(SPOKE.load(relaxed)) < SILENCE {
        return false;
    }
    SPOKE.store(now, relaxed);
    SPEAKER.store(clock, relaxed);
    true
}

hooks! {
    SET = Across RCL "rcl_set_ros_time_override",
    fn rcl_set_ros_time_override(clock: *mut c_void, nanoseconds: i64) -> c_int = RCL_RET_ERROR; [original] {
        let result = original(clock, nanoseconds);
        // 0 means for ROS that no simulated time is known yet: rclcpp sets it before the first message.
        let is_time = result == 0 && nanoseconds > 0;
        if is_time && records(events::CARET_SIM_TIME) && speaks(clock) {
            emit::event(events::CARET_SIM_TIME, 8, |payload| {
                payload.unsigned(nanoseconds as u64);
            });
        }
        result
    }
}
