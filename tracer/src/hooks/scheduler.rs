//! The scheduler of the events executor by callback group, which gets a group while that executor takes it up (see `executor`).
//!
//! What it returns is put where the caller wants it. Here we are the one that is called, so the place has to be found: see `returned`.

use std::ffi::c_void;

use super::executor::grouped;
use super::returned::Returned;
use super::shared_pointer::SharedPointer;
use super::{Called, Caller, Hook};
use crate::events;
use crate::ring::thread;

static SCHEDULE: Hook = Hook::new(
    "_ZN6rclcpp9executors12cbg_executor24FirstInFirstOutScheduler29get_handle_for_callback_groupERKSt10shared_ptrINS_13CallbackGroupEE\0",
    &["librclcpp.so"],
    Called::Within,
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
    caller: Caller,
) {
    let executor = thread::set_executor(0);
    thread::set_executor(executor);
    // SAFETY: the original, with the same arguments. Without it the caller gets no handle, which is an empty pointer.
    unsafe {
        let found = SCHEDULE.original(caller);
        place.write(match found {
            Some(original) => {
                let original = std::mem::transmute::<*const c_void, Schedule>(original);
                original(this, group).read()
            }
            None => std::ptr::null_mut(),
        });
        if executor != 0 {
            let executor = executor as *const c_void;
            let event = events::CARET_ADD_CALLBACK_GROUP;
            grouped(event, executor, (*group).object, found);
        }
    }
}

/// The place is an argument before all others, and the result.
///
/// # Safety
/// As the original.
#[cfg(target_arch = "x86_64")]
unsafe extern "C-unwind" fn schedule_into(
    place: *mut Handle,
    this: *mut c_void,
    group: *mut SharedPointer,
    caller: Caller,
) -> *mut Handle {
    // SAFETY: as the caller promises.
    unsafe { schedule(this, group, place, caller) };
    place
}

#[cfg(target_arch = "x86_64")]
super::interpose! {
    "_ZN6rclcpp9executors12cbg_executor24FirstInFirstOutScheduler29get_handle_for_callback_groupERKSt10shared_ptrINS_13CallbackGroupEE" => schedule_into;
}

/// The place is in the register x8. It becomes a third argument, and the caller another (see `caller`), before any other code could change that register; there is no frame,
/// so that exceptions pass.
///
/// # Safety
/// As the original.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(export_name = "_ZN6rclcpp9executors12cbg_executor24FirstInFirstOutScheduler29get_handle_for_callback_groupERKSt10shared_ptrINS_13CallbackGroupEE")]
unsafe extern "C-unwind" fn interposed() {
    std::arch::naked_asm!(
        "mov x2, x8",
        "fmov d0, x30",
        "b {schedule}",
        schedule = sym schedule
    )
}
