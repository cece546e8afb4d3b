//! The functions of the tracer that take what is reported. The dynamic linker finds them when it loads this library; where there is no tracer, or
//! one that knows nothing of locks, they are null.

use std::ffi::{c_int, c_void};

/// The address of a function that may not be there.
macro_rules! function {
    ($symbol:literal) => {{
        let address: *const c_void;
        // SAFETY: reads the place where the dynamic linker wrote the address, or null.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            std::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
            #[cfg(target_arch = "aarch64")]
            std::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("adrp {0}, :got:", $symbol),
                concat!("ldr {0}, [{0}, :got_lo12:", $symbol, "]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// A thread begins to wait. `owner` is the thread that holds the lock, 0 if that is not known.
pub(crate) fn wait_begin(lock: *const c_void, kind: c_int, owner: i32, caller: *const c_void) {
    type Function = extern "C" fn(*const c_void, c_int, i32, *const c_void);
    let function = function!("rostrace_lock_wait_begin");
    if !function.is_null() {
        // SAFETY: the tracer's function of this name is of this type.
        let function = unsafe { std::mem::transmute::<*const c_void, Function>(function) };
        function(lock, kind, owner, caller);
    }
}

/// The wait that this thread began last is over.
pub(crate) fn wait_end(lock: *const c_void, result: c_int) {
    type Function = extern "C" fn(*const c_void, c_int);
    let function = function!("rostrace_lock_wait_end");
    if !function.is_null() {
        // SAFETY: as above.
        let function = unsafe { std::mem::transmute::<*const c_void, Function>(function) };
        function(lock, result);
    }
}

/// A thread notifies those that wait for a condition variable.
pub(crate) fn notify(condition: *const c_void, all: bool, caller: *const c_void) {
    type Function = extern "C" fn(*const c_void, bool, *const c_void);
    let function = function!("rostrace_condition_notify");
    if !function.is_null() {
        // SAFETY: as above.
        let function = unsafe { std::mem::transmute::<*const c_void, Function>(function) };
        function(condition, all, caller);
    }
}
