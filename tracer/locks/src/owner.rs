//! Who holds a lock: glibc writes the id of the thread into mutexes of all kinds, and into locks that are held for writing. Where these numbers are is not
//! documented, so it is tried out when the library is loaded. Where it is not as expected, nobody is named, and mutexes are left to the originals.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::original::call;

/// `__data.__owner` of `pthread_mutex_t`.
const IN_MUTEX: usize = 8;
/// `__data.__kind`: the type, and what else was chosen for it.
const KIND: usize = 16;
const TYPE: i32 = 3;
const IS_ROBUST: i32 = 16;
/// `__data.__cur_writer` of `pthread_rwlock_t`.
const IN_RWLOCK: usize = 24;

static KNOWN_IN_MUTEX: AtomicBool = AtomicBool::new(false);
static KNOWN_IN_RWLOCK: AtomicBool = AtomicBool::new(false);

/// Who takes a lock writes its id a moment after that: so often it is looked for.
const LOOKS: usize = 100;
/// From here on the numbers are marks for mutexes whose holder died.
const DEAD: i32 = i32::MAX - 1;

/// Takes a mutex and a lock of our own, and looks whether the id of this thread is where it should be.
pub(crate) fn probe() {
    // SAFETY: locks of zeroes are valid and free, and used by this thread alone; the fields lie inside of them.
    unsafe {
        let thread = libc::syscall(libc::SYS_gettid) as i32;
        let mut mutex: libc::pthread_mutex_t = libc::PTHREAD_MUTEX_INITIALIZER;
        let place = (&raw mut mutex).cast::<c_void>();
        let at = |place: *mut c_void, offset| place.byte_add(offset).cast::<i32>().read_volatile();
        if call!(MUTEX_LOCK(place => *mut c_void)) == 0 {
            let is_there = at(place, IN_MUTEX) == thread;
            let is_gone =
                call!(MUTEX_UNLOCK(place => *mut c_void)) == 0 && at(place, IN_MUTEX) == 0;
            KNOWN_IN_MUTEX.store(
                is_there && is_gone && at(place, KIND) == 0 && knows_robust(),
                Ordering::Relaxed,
            );
        }
        let mut lock: libc::pthread_rwlock_t = libc::PTHREAD_RWLOCK_INITIALIZER;
        let place = (&raw mut lock).cast::<c_void>();
        if call!(RWLOCK_WRLOCK(place => *mut c_void)) == 0 {
            let is_there = at(place, IN_RWLOCK) == thread;
            let is_gone =
                call!(RWLOCK_UNLOCK(place => *mut c_void)) == 0 && at(place, IN_RWLOCK) == 0;
            KNOWN_IN_RWLOCK.store(is_there && is_gone, Ordering::Relaxed);
        }
    }
}

/// Whether a mutex that is made robust has the mark for that.
fn knows_robust() -> bool {
    // SAFETY: attributes and mutex are made before they are used; the field lies inside of the mutex.
    unsafe {
        let mut about = std::mem::zeroed();
        let mut mutex: libc::pthread_mutex_t = std::mem::zeroed();
        libc::pthread_mutexattr_init(&mut about) == 0
            && libc::pthread_mutexattr_setrobust(&mut about, libc::PTHREAD_MUTEX_ROBUST) == 0
            && libc::pthread_mutex_init(&mut mutex, &about) == 0
            && (&raw const mutex).byte_add(KIND).cast::<i32>().read() & (IS_ROBUST | TYPE)
                == IS_ROBUST
    }
}

/// What may be done with a mutex before the original is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approach {
    /// It may be tried first.
    Try,
    /// It must not be tried: it is robust, and glibc's `pthread_mutex_trylock` keeps one whose holder died for ever, which it says it did not get. Another
    /// thread holds it.
    Wait(i32),
    /// Nothing: no other thread holds it, or nothing is known of mutexes.
    Leave,
}

/// # Safety
/// It is a mutex.
#[inline(always)]
pub(crate) unsafe fn approach(mutex: *const c_void) -> Approach {
    if !KNOWN_IN_MUTEX.load(Ordering::Relaxed) {
        return Approach::Leave;
    }
    // SAFETY: as the caller promises. The kind never changes.
    match unsafe { mutex.byte_add(KIND).cast::<i32>().read_volatile() } & IS_ROBUST {
        0 => Approach::Try,
        // SAFETY: as the caller promises.
        _ => unsafe { approach_robust(mutex) },
    }
}

#[cold]
unsafe fn approach_robust(mutex: *const c_void) -> Approach {
    // SAFETY: as the caller promises.
    let owner = unsafe { look(mutex, IN_MUTEX, 1) };
    // A free one is to cost no system call, which may also be forbidden.
    // SAFETY: the call has no arguments.
    match owner != 0 && i64::from(owner) != unsafe { libc::syscall(libc::SYS_gettid) } {
        true => Approach::Wait(owner),
        false => Approach::Leave,
    }
}

/// The thread that holds a mutex; 0 if that is not known.
///
/// # Safety
/// It is a mutex.
pub(crate) unsafe fn of_mutex(mutex: *const c_void) -> i32 {
    // SAFETY: as the caller promises; mutexes of which nothing is known are left alone.
    unsafe { look(mutex, IN_MUTEX, LOOKS) }
}

/// The thread that holds a lock for writing; 0 if that is not known, or if others are reading.
///
/// # Safety
/// It is a read-write lock.
pub(crate) unsafe fn of_rwlock(lock: *const c_void) -> i32 {
    match KNOWN_IN_RWLOCK.load(Ordering::Relaxed) {
        // SAFETY: as the caller promises.
        true => unsafe { look(lock, IN_RWLOCK, LOOKS) },
        false => 0,
    }
}

unsafe fn look(lock: *const c_void, offset: usize, looks: usize) -> i32 {
    for _ in 0..looks {
        // SAFETY: the field lies inside of the lock. It changes meanwhile: it is read in one piece.
        let owner = unsafe { lock.byte_add(offset).cast::<i32>().read_volatile() };
        if owner != 0 {
            return if owner < DEAD { owner } else { 0 };
        }
        std::hint::spin_loop();
    }
    0
}
