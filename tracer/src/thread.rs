//! What the tracer knows of the calling thread, found without a call and without allocation.
//!
//! The block is placed in the static part of thread-local storage by hand: the compiler's own way would ask the dynamic linker, which
//! may allocate memory at the first access of a thread where the library was loaded late, in a signal handler perhaps.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence};

use crate::buffer::Buffer;
use crate::gate::gate;
use crate::recording::Recording;

/// Bytes of the context of every event: vpid, vtid, procname.
pub(crate) const CONTEXT: usize = 25;
/// How long a thread that got no buffer waits before it asks again.
const RETRY: u64 = 100_000_000;

/// All zeroes at the beginning of a thread. On AArch64 the dynamic linker of glibc has no room in static storage for anything with a larger
/// alignment than this where the library is loaded late; on x86-64 it has for a line of the cache.
#[derive(Debug)]
#[cfg_attr(target_arch = "x86_64", repr(C, align(64)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(16)))]
pub(crate) struct Thread {
    /// Belongs to this thread while `epoch` is that of the running recording.
    pub(crate) buffer: *mut Buffer,
    pub(crate) epoch: u64,
    /// The thread is inside the tracer; a signal handler must not enter again.
    busy: u32,
    /// Events that a signal handler wanted to emit meanwhile. Atomic because a handler may come while they are being counted.
    nested: AtomicU32,
    /// The process for which `context` is filled in.
    process: u32,
    leaves: u32,
    /// Context of every event, with room to copy it in two pieces of 16 bytes.
    pub(crate) context: [u8; 32],
    recording: *mut Recording,
    retry: u64,
    /// The message that rmw is about to write.
    published: u64,
    /// The executor that is being constructed.
    executor: u64,
    /// The response whose callback runs.
    running: Response,
    /// The response that was taken last; its callback has not begun.
    taken: Response,
}

/// A response to a client: its rmw handle, and its number of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Response {
    pub(crate) client: u64,
    pub(crate) sequence: i64,
}

impl Response {
    pub(crate) const NONE: Response = Response {
        client: 0,
        sequence: 0,
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
std::arch::global_asm!(
    ".pushsection .tbss.rostrace_thread,\"awT\",@nobits",
    ".globl rostrace_thread_block",
    ".hidden rostrace_thread_block",
    ".type rostrace_thread_block,@object",
    ".size rostrace_thread_block,128",
    ".balign {alignment}",
    "rostrace_thread_block:",
    ".zero 128",
    ".popsection",
    alignment = const align_of::<Thread>(),
);

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const _: () = assert!(size_of::<Thread>() == 128);

/// The block of the calling thread.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn current() -> *mut Thread {
    let block: *mut Thread;
    // SAFETY: reads the thread pointer and the offset of our block, as the ABI defines initial-exec access.
    unsafe {
        std::arch::asm!(
            "mov {block}, qword ptr fs:[0]",
            "add {block}, qword ptr [rip + rostrace_thread_block@GOTTPOFF]",
            block = out(reg) block,
            options(pure, nomem, nostack),
        );
    }
    block
}

/// The block of the calling thread.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) fn current() -> *mut Thread {
    let block: *mut Thread;
    // SAFETY: reads the thread pointer and the offset of our block, as the ABI defines initial-exec access.
    unsafe {
        std::arch::asm!(
            "mrs {block}, tpidr_el0",
            "adrp {offset}, :gottprel:rostrace_thread_block",
            "ldr {offset}, [{offset}, :gottprel_lo12:rostrace_thread_block]",
            "add {block}, {block}, {offset}",
            block = out(reg) block,
            offset = out(reg) _,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    block
}

/// The compiler's own way, where nobody has looked at what it does.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
pub(crate) fn current() -> *mut Thread {
    thread_local! {
        static BLOCK: Thread = const {
            Thread {
                buffer: std::ptr::null_mut(),
                epoch: 0,
                busy: 0,
                nested: AtomicU32::new(0),
                process: 0,
                leaves: 0,
                context: [0; 32],
                recording: std::ptr::null_mut(),
                retry: 0,
                published: 0,
                executor: 0,
                running: Response::NONE,
                taken: Response::NONE,
            }
        };
    }
    // No destructor, hence never gone.
    BLOCK.with(|block| std::ptr::from_ref(block).cast_mut())
}

/// Marks the thread as being inside the tracer. None if it is already: the event of a signal handler, which is counted.
#[inline(always)]
pub(crate) fn enter() -> Option<Inside> {
    let thread = current();
    // SAFETY: the block belongs to this thread; only signal handlers on it interfere, and they leave `busy` as it was.
    unsafe {
        if (&raw mut (*thread).busy).read_volatile() != 0 {
            (*thread).nested.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        (&raw mut (*thread).busy).write_volatile(1);
    }
    compiler_fence(Ordering::SeqCst);
    Some(Inside { thread })
}

/// The thread is inside the tracer until this is dropped.
#[derive(Debug)]
pub(crate) struct Inside {
    thread: *mut Thread,
}

impl Inside {
    /// The thread's buffer in the running recording, and the context of its events. None if there is no recording, or no room.
    #[inline(always)]
    pub(crate) fn buffer(&mut self) -> Option<(&mut Buffer, &[u8; 32])> {
        let epoch = gate().epoch.load(Ordering::Acquire);
        // SAFETY: the block is ours while we are inside; the buffer belongs to it for that epoch.
        unsafe {
            if (*self.thread).epoch != epoch && !self.attach() {
                return None;
            }
            Some(((*self.thread).buffer.as_mut()?, &(*self.thread).context))
        }
    }

    /// Thread id and name, for remembered events.
    pub(crate) fn fresh_context(&self) -> [u8; 32] {
        // SAFETY: the block is ours while we are inside.
        unsafe {
            fill_context(&mut *self.thread);
            (*self.thread).context
        }
    }

    #[cold]
    #[inline(never)]
    fn attach(&self) -> bool {
        undisturbed(|| {
            // SAFETY: the block is ours while we are inside. Recordings are never freed.
            unsafe {
                let thread = &mut *self.thread;
                let gate = gate();
                let Some(recording) = gate.recording.load(Ordering::Acquire).as_ref() else {
                    return false;
                };
                let now = crate::clock::monotonic();
                if now < thread.retry && std::ptr::eq(thread.recording, recording) {
                    recording.lost.fetch_add(1, Ordering::Relaxed);
                    return false;
                }
                detach(thread);
                fill_context(thread);
                thread.recording = std::ptr::from_ref(recording).cast_mut();
                match recording.lend(now) {
                    Some(buffer) => {
                        thread.buffer = buffer;
                        thread.epoch = recording.epoch;
                        watch_end_of_thread(thread);
                        true
                    }
                    None => {
                        thread.retry = now + RETRY;
                        recording.lost.fetch_add(1, Ordering::Relaxed);
                        false
                    }
                }
            }
        })
    }

    #[cold]
    #[inline(never)]
    fn count_nested(&self) {
        // SAFETY: the block is ours while we are inside.
        unsafe {
            let count = u64::from((*self.thread).nested.swap(0, Ordering::Relaxed));
            let thread = &mut *self.thread;
            let recording = gate().recording.load(Ordering::Acquire);
            if let Some(recording) = recording.as_ref() {
                if thread.epoch == recording.epoch && !thread.buffer.is_null() {
                    (*thread.buffer).discard(count);
                } else {
                    recording.lost.fetch_add(count, Ordering::Relaxed);
                }
            }
        }
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the block is ours until `busy` is cleared.
        unsafe {
            if (*self.thread).nested.load(Ordering::Relaxed) != 0 {
                self.count_nested();
            }
            (&raw mut (*self.thread).busy).write_volatile(0);
        }
    }
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// Runs something slow: it may change `errno`, which tracepoints must not do, and it has points at which a thread could be cancelled,
/// perhaps with a lock held.
pub(crate) fn undisturbed<R>(work: impl FnOnce() -> R) -> R {
    const PTHREAD_CANCEL_DISABLE: c_int = 1;
    // SAFETY: the place of errno is always valid for its thread, and so is that of the state.
    unsafe {
        let mut state = 0;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut state);
        let place = libc::__errno_location();
        let before = *place;
        let result = work();
        *place = before;
        pthread_setcancelstate(state, std::ptr::null_mut());
        result
    }
}

/// The message that rmw is about to write on this thread.
#[inline(always)]
pub(crate) fn set_published(message: u64) {
    // SAFETY: the block belongs to this thread.
    unsafe { (*current()).published = message };
}

/// The same, once: 0 if nothing is being published.
pub(crate) fn take_published() -> u64 {
    // SAFETY: the block belongs to this thread.
    unsafe { std::mem::take(&mut (*current()).published) }
}

/// The executor that is being constructed on this thread; returns the one before.
pub(crate) fn set_executor(executor: u64) -> u64 {
    // SAFETY: the block belongs to this thread.
    unsafe { std::mem::replace(&mut (*current()).executor, executor) }
}

/// The response whose callback runs on this thread.
pub(crate) fn running() -> Response {
    // SAFETY: the block belongs to this thread.
    unsafe { (*current()).running }
}

/// The same; returns the one before.
pub(crate) fn set_running(response: Response) -> Response {
    // SAFETY: the block belongs to this thread.
    unsafe { std::mem::replace(&mut (*current()).running, response) }
}

/// The response that was taken last on this thread; returns the one before.
pub(crate) fn set_taken(response: Response) -> Response {
    // SAFETY: the block belongs to this thread.
    unsafe { std::mem::replace(&mut (*current()).taken, response) }
}

/// Ends what [`enter`] began where the guard could not be kept: around a fork.
pub(crate) fn leave() {
    drop(Inside { thread: current() });
}

fn fill_context(thread: &mut Thread) {
    let process = gate().process.load(Ordering::Relaxed);
    if thread.process == process && thread.process != 0 {
        return;
    }
    let mut name = [0_u8; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes with the zero.
    let tid = unsafe {
        libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr());
        libc::syscall(libc::SYS_gettid) as i32
    };
    thread.context = [0; 32];
    thread.context[0..4].copy_from_slice(&(process as i32).to_ne_bytes());
    thread.context[4..8].copy_from_slice(&tid.to_ne_bytes());
    thread.context[8..24].copy_from_slice(&name);
    thread.process = process;
}

/// Gives the buffer back, so that another thread can go on in it.
fn detach(thread: &mut Thread) {
    let (buffer, recording) = (thread.buffer, thread.recording);
    thread.buffer = std::ptr::null_mut();
    thread.epoch = 0;
    // SAFETY: recordings are never freed.
    let Some(recording) = (unsafe { recording.as_ref() }) else {
        return;
    };
    // What a parent process recorded is not ours to give back.
    let is_ours = recording.process == gate().process.load(Ordering::Relaxed);
    if is_ours && !buffer.is_null() {
        recording.take_back(buffer);
    }
}

static KEY: AtomicU64 = AtomicU64::new(0);
static HAS_KEY: AtomicBool = AtomicBool::new(false);
static MAKES_KEY: AtomicU32 = AtomicU32::new(0);

/// Once per process, early: keys with small numbers need no memory of their own.
pub(crate) fn make_key() {
    if MAKES_KEY.swap(1, Ordering::AcqRel) == 0 {
        let mut key: libc::pthread_key_t = 0;
        // SAFETY: the key is a valid place, and the function lives as long as the process: the library cannot be unloaded.
        if unsafe { libc::pthread_key_create(&mut key, Some(end_of_thread)) } == 0 {
            KEY.store(key.into(), Ordering::Relaxed);
            HAS_KEY.store(true, Ordering::Release);
        }
    }
}

fn watch_end_of_thread(thread: &mut Thread) {
    if HAS_KEY.load(Ordering::Acquire) {
        // SAFETY: the key exists. Any value but null makes the destructor run.
        unsafe {
            libc::pthread_setspecific(
                KEY.load(Ordering::Relaxed) as libc::pthread_key_t,
                std::ptr::from_mut(thread).cast(),
            )
        };
    }
}

/// Runs on the thread that ends. Events after this attach again, and this runs again, a few times at most.
extern "C" fn end_of_thread(_: *mut libc::c_void) {
    if let Some(inside) = enter() {
        // SAFETY: the block is ours while we are inside.
        undisturbed(|| detach(unsafe { &mut *inside.thread }));
    }
}
