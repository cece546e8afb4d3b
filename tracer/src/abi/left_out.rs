//! Events of a message that name nobody: whether they are left out is known from the event beside them that does.
//!
//! What is published passes rclcpp (which says nothing of the publisher), rcl (which does) and rmw (which does since Jazzy), one after the other on
//! one thread; what is taken passes rmw (which names the subscription), rcl and rclcpp (which do not). So while anything is filtered, rclcpp's event waits
//! until rcl says whose message it is, and is then written with its own time; one that never gets there, as after `shutdown()`, belongs to
//! no topic and is left out. Rows of the others are left out where the one before them was.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use crate::control::gate;
use crate::events;
use crate::ring::{clock, emit, thread};

/// The messages of a thread; zeroes where there is none.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Messages {
    /// The one that rclcpp handed on, and when, while it is not known whose it is.
    announced: u64,
    announced_at: u64,
    /// By [`Direction`]: the one that rcl is publishing, and the one that rmw took last, if what happens to them is left out.
    left_out: [u64; 2],
}

/// Where a message is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Direction {
    Published,
    Taken,
}

/// Whether anything is filtered at all.
#[inline(always)]
fn is_filtered() -> bool {
    gate::memory().is_some_and(|memory| {
        let recording = &memory.header().recording;
        recording.is_filtered.load(Ordering::Relaxed) != 0
    })
}

/// Whether the event of rclcpp has to wait. False if it can be written at once.
#[inline(always)]
pub(crate) fn waits(message: *const c_void) -> bool {
    if !is_filtered() || !gate::wants(events::RCL_PUBLISH) {
        return false;
    }
    // SAFETY: the block belongs to this thread.
    unsafe {
        let messages = thread::left_out();
        (*messages).announced = message as u64;
        (*messages).announced_at = clock::monotonic();
    }
    true
}

/// The same entity is asked for as in [`gate::refuses`], and the message is remembered.
#[inline(always)]
pub(crate) fn refuses(entity: *const c_void, message: *const c_void, direction: Direction) -> bool {
    is_filtered() && remember(entity as u64, message as u64, direction)
}

#[inline(never)]
fn remember(entity: u64, message: u64, direction: Direction) -> bool {
    let is_refused = gate::refuses(entity);
    let messages = thread::left_out();
    // SAFETY: the block belongs to this thread.
    let (announced, time) = unsafe {
        (*messages).left_out[direction as usize] = if is_refused { message } else { 0 };
        match direction {
            Direction::Published => (
                std::mem::take(&mut (*messages).announced),
                (*messages).announced_at,
            ),
            Direction::Taken => (0, 0),
        }
    };
    if !is_refused && announced == message && message != 0 {
        // SAFETY: the payload has the size that is said.
        emit::event_of(events::RCLCPP_PUBLISH, time, 8, |payload| unsafe {
            payload.unsigned(message);
        });
    }
    is_refused
}

/// Whether an event that names nothing but a message is left out.
#[inline(always)]
pub(crate) fn has(message: *const c_void, direction: Direction) -> bool {
    // SAFETY: the block belongs to this thread.
    let left_out = || unsafe { (*thread::left_out()).left_out[direction as usize] };
    is_filtered() && !message.is_null() && left_out() == message as u64
}
