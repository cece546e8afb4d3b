//! The scheduler of the events executor by callback group, which gets a group while that executor takes it up (see `executor`).
//!
//! What it returns is put where the caller wants it. Here we are the one that is called, so the place has to be found: see `returned`.

use std::ffi::c_void;

use super::Hook;
use super::executor::grouped;
use super::returned::Returned;
use super::shared_pointer::SharedPointer;
use crate::{events, thread};

static SCHEDULE: Hook = Hook::new(
    c"_ZN6rclcpp9executors12cbg_executor24FirstInFirstOutScheduler29get_handle_for_callback_groupERKSt10shared_ptrINS_13CallbackGroupEE",
    &["librclcpp.so"],
);
pub(super) static HOOKS: [&Hook; 1] = [&SCHEDULE];

/// A `std::unique_ptr` is one pointer, and may be moved as such.
type Handle = *mut c_void;
type Schedule = unsafe extern "C-unwind" fn(*mut c_void, *mut SharedPointer) -> Returned;

/// A group gets its place in the scheduler of the executor that takes it up.
///
/// # Safety
/// As the original; the caller wants the handle at this place.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
unsafe extern "C-unwind" fn schedule(
    this: *mut c_void,
    group: *mut SharedPointer,
    place: *mut Handle,
) {
    let executor = thread::set_executor(0);
    thread::set_executor(executor);
    // SAFETY: the original, with the same arguments. Without it the caller gets no handle, which is an empty pointer.
    unsafe {
        place.write(match SCHEDULE.original() {
            Some(original) => {
                let original = std::mem::transmute::<*const c_void, Schedule>(original);
                original(this, group).read()
            }
            None => std::ptr::null_mut(),
        });
        if executor != 0 {
            let executor = executor as *const c_void;
            grouped(events::CARET_ADD_CALLBACK_GROUP, executor, (*group).object);
        }
    }
}

/// The place is an argument before all others, and the result.
///
/// # Safety
/// As the original.
#[cfg(target_arch = "x86_64")]
#[unsafe(export_name = "_ZN6rclcpp9executors12cbg_executor24FirstInFirstOutScheduler29get_handle_for_callback_groupERKSt10shared_ptrINS_13CallbackGroupEE")]
unsafe extern "C-unwind" fn interposed(
    place: *mut Handle,
    this: *mut c_void,
    group: *mut SharedPointer,
) -> *mut Handle {
    // SAFETY: as the caller promises.
    unsafe { schedule(this, group, place) };
    place
}

/// The place is in the register x8. It becomes a third argument before any other code could change that register; there is no frame,
/// so that exceptions pass.
///
/// # Safety
/// As the original.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(export_name = "_ZN6rclcpp9executors12cbg_executor24FirstInFirstOutScheduler29get_handle_for_callback_groupERKSt10shared_ptrINS_13CallbackGroupEE")]
unsafe extern "C-unwind" fn interposed() {
    std::arch::naked_asm!("mov x2, x8", "b {schedule}", schedule = sym schedule)
}
