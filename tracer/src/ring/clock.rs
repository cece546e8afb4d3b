//! Time: the monotonic clock, as fast as it can be read.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::dl::loaded;

type ClockGettime = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int;

/// The C library's function, or the kernel's that it calls.
static CLOCK_GETTIME: AtomicPtr<c_void> =
    AtomicPtr::new(libc::clock_gettime as *const c_void as *mut c_void);

/// Looks, once, for the function with which the kernel tells the time without a system call; without the C library in between it is a
/// nanosecond less. Where somebody else tells the time in the place of the C library, it stays so: LTTng asks there, too.
pub(crate) fn find() {
    static IS_FOUND: AtomicBool = AtomicBool::new(false);
    if IS_FOUND.swap(true, Ordering::Relaxed) {
        return;
    }
    let of_library = libc::clock_nanosleep as *const c_void;
    let asked = loaded::first(c"clock_gettime");
    if !asked.is_some_and(|asked| loaded::are_together(asked, of_library)) {
        return;
    }
    // The second name is that of AArch64.
    let names = [c"__vdso_clock_gettime", c"__kernel_clock_gettime"];
    let library = loaded::library("linux-vdso.so.1");
    let found = library.and_then(|it| names.iter().find_map(|name| it.symbol(name)));
    if let Some(function) = found {
        CLOCK_GETTIME.store(function.cast_mut(), Ordering::Relaxed);
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds: what LTTng-UST uses, so that traces merge. No system call where there is a vDSO.
#[inline(always)]
pub(crate) fn monotonic() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// `CLOCK_REALTIME` in nanoseconds: what middlewares stamp messages with.
pub(crate) fn wall() -> i64 {
    read(libc::CLOCK_REALTIME) as i64
}

#[inline(always)]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a function of that kind, which is never unloaded; `time` is a valid place for the result; these clocks always exist.
    unsafe {
        let function = CLOCK_GETTIME.load(Ordering::Relaxed);
        std::mem::transmute::<*mut c_void, ClockGettime>(function)(clock, &mut time)
    };
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}
