//! The functions that calls would have reached without us: the next definitions behind this library, which are those of glibc, or of another
//! library that interposes them too.
//!
//! They are looked for when the library is loaded. Constructors of libraries that are loaded earlier may call before that; there is one thread then,
//! which may ask the dynamic linker. The lookup cannot fail: the C library comes behind everything that is preloaded. That all of them are in it is so from glibc 2.34
//! on; where it is older, the recorder does not preload this library.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of the C library.
#[derive(Debug)]
pub(crate) struct Original {
    name: &'static CStr,
    /// Functions of the C library that have this name and an older version do something else.
    version: Option<&'static CStr>,
    address: AtomicPtr<c_void>,
}

impl Original {
    const fn new(name: &'static CStr) -> Original {
        Original {
            name,
            version: None,
            address: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Condition variables looked different before glibc 2.3.2. Programs of that age do not exist on these processors, but `dlsym` finds the old
    /// functions in glibc up to 2.35 (its bug 14932).
    const fn of_condition(name: &'static CStr) -> Original {
        Original {
            version: Some(if cfg!(target_arch = "x86_64") {
                c"GLIBC_2.3.2"
            } else {
                c"GLIBC_2.17"
            }),
            ..Original::new(name)
        }
    }

    /// Null if there is none.
    #[inline(always)]
    pub(crate) fn address(&self) -> *const c_void {
        let known = self.address.load(Ordering::Acquire);
        match known.is_null() {
            false => known,
            true => self.find(),
        }
    }

    #[cold]
    #[inline(never)]
    fn find(&self) -> *const c_void {
        // SAFETY: the names end with a zero, and the place of errno is always valid for its thread.
        let found = unsafe {
            let errno = libc::__errno_location();
            let before = *errno;
            let next = libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr());
            let versioned = match self.version {
                Some(version) => dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr()),
                None => std::ptr::null_mut(),
            };
            *errno = before;
            // Whoever else interposes it has no versions, and is not to be passed over.
            match !versioned.is_null() && (next.is_null() || library(next) == library(versioned)) {
                true => versioned,
                false => next,
            }
        };
        self.address.store(found, Ordering::Release);
        found
    }
}

/// Where the library begins that defines a function.
fn library(function: *const c_void) -> *const c_void {
    // SAFETY: zeroes are a valid value, which is filled in if the call succeeds.
    unsafe {
        let mut about: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(function, &mut about);
        about.dli_fbase
    }
}

unsafe extern "C" {
    fn dlvsym(
        handle: *mut c_void,
        name: *const libc::c_char,
        version: *const libc::c_char,
    ) -> *mut c_void;
}

/// Each constant is the original of a function, and all of them are in `ALL`.
macro_rules! originals {
    ($($constant:ident = $new:ident $name:literal;)+) => {
        $(pub(crate) static $constant: Original = Original::$new($name);)+
        static ALL: &[&Original] = &[$(&$constant),+];
    };
}

originals! {
    MUTEX_LOCK = new c"pthread_mutex_lock";
    MUTEX_TRYLOCK = new c"pthread_mutex_trylock";
    MUTEX_TIMEDLOCK = new c"pthread_mutex_timedlock";
    MUTEX_CLOCKLOCK = new c"pthread_mutex_clocklock";
    MUTEX_UNLOCK = new c"pthread_mutex_unlock";
    RWLOCK_RDLOCK = new c"pthread_rwlock_rdlock";
    RWLOCK_TRYRDLOCK = new c"pthread_rwlock_tryrdlock";
    RWLOCK_TIMEDRDLOCK = new c"pthread_rwlock_timedrdlock";
    RWLOCK_CLOCKRDLOCK = new c"pthread_rwlock_clockrdlock";
    RWLOCK_WRLOCK = new c"pthread_rwlock_wrlock";
    RWLOCK_TRYWRLOCK = new c"pthread_rwlock_trywrlock";
    RWLOCK_TIMEDWRLOCK = new c"pthread_rwlock_timedwrlock";
    RWLOCK_CLOCKWRLOCK = new c"pthread_rwlock_clockwrlock";
    RWLOCK_UNLOCK = new c"pthread_rwlock_unlock";
    COND_WAIT = of_condition c"pthread_cond_wait";
    COND_TIMEDWAIT = of_condition c"pthread_cond_timedwait";
    COND_CLOCKWAIT = new c"pthread_cond_clockwait";
    COND_SIGNAL = of_condition c"pthread_cond_signal";
    COND_BROADCAST = of_condition c"pthread_cond_broadcast";
}

/// Those that this C library has: clocks can be chosen from glibc 2.30 on.
pub(crate) fn find_all() {
    for original in ALL {
        original.address();
    }
}

/// Calls an original with the type of its arguments. What no library defines is refused: nobody could have called it without us either.
macro_rules! call {
    ($original:ident($($argument:expr => $type:ty),+)) => {{
        let address = crate::original::$original.address();
        if address.is_null() {
            libc::ENOSYS
        } else {
            type Function = unsafe extern "C-unwind" fn($($type),+) -> std::ffi::c_int;
            std::mem::transmute::<*const c_void, Function>(address)($($argument),+)
        }
    }};
}

pub(crate) use call;
