//! What the tracer knows of the calling thread, found without a call and without allocation.
//!
//! The block is placed in the static part of thread-local storage by hand: the compiler's own way would ask the dynamic linker, which
//! may allocate memory at the first access of a thread where the library was loaded late, in a signal handler perhaps.
//!
//! A thread has several writers, each with a stream of its own: the event of a signal handler that came in the middle of another event
//! goes to the next one. A handler may also leave an event for good, with `siglongjmp`; who comes next notices it by where the
//! stack is.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence};

use rostrace_session::Memory;
use rostrace_session::memory::writer::Writer;

use crate::abi::left_out::Messages;
use crate::control::gate;
use crate::control::snapshot_signal;
use crate::ring::clock;
use crate::ring::thread_clock::Budget;

/// Events of a thread that can be interrupted by each other. More are lost, and counted.
const LEVELS: usize = 3;
/// After so many lost ones it is certain that nobody comes back to those that were interrupted.
const HOPELESS: u32 = 1000;

/// All zeroes at the beginning of a thread. On AArch64 the dynamic linker of glibc has no room in static storage for anything with a larger
/// alignment than this where the library is loaded late; on x86-64 it has for a line of the cache.
#[derive(Debug)]
#[cfg_attr(target_arch = "x86_64", repr(C, align(64)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(16)))]
pub(crate) struct Thread {
    writers: [Writer; LEVELS],
    /// How many events are being written.
    depth: u32,
    /// The process for which `context` is filled in.
    process: u32,
    /// Context of every event, with room to copy it in two pieces of 16 bytes.
    context: [u8; 32],
    /// Where the stack was when each of them began.
    frames: [usize; LEVELS],
    hopeless: u32,
    _reserved: u32,
    /// The message that rmw is about to write.
    published: u64,
    /// Messages on their way that are not wanted, or of which that is not known yet.
    left_out: Messages,
    /// The executor that is being constructed.
    executor: u64,
    /// The response whose callback runs.
    running: Response,
    /// The response that was taken last; its callback has not begun.
    taken: Response,
    /// Whose clock is read, and how often.
    clock_budget: Budget,
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

/// Bytes of the block.
const BLOCK: usize = 384;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
std::arch::global_asm!(
    ".pushsection .tbss.rostrace_thread,\"awT\",@nobits",
    ".globl rostrace_thread_block",
    ".hidden rostrace_thread_block",
    ".type rostrace_thread_block,@object",
    ".size rostrace_thread_block,{bytes}",
    ".balign {alignment}",
    "rostrace_thread_block:",
    ".zero {bytes}",
    ".popsection",
    alignment = const align_of::<Thread>(),
    bytes = const BLOCK,
);

const _: () = assert!(size_of::<Thread>() <= BLOCK);

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
        static BLOCK_OF_THREAD: std::cell::UnsafeCell<std::mem::MaybeUninit<Thread>> =
            const { std::cell::UnsafeCell::new(std::mem::MaybeUninit::zeroed()) };
    }
    // No destructor, hence never gone; zeroes are a valid block.
    BLOCK_OF_THREAD.with(|block| block.get().cast())
}

/// Where the stack is.
#[inline(always)]
fn stack() -> usize {
    let stack: usize;
    // SAFETY: only reads a register.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("mov {}, rsp", out(reg) stack, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!("mov {}, sp", out(reg) stack, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let here = 0_u8;
        stack = (&raw const here) as usize;
    }
    stack
}

/// Marks the thread as being inside the tracer. None if too many events interrupted each other; that is counted.
#[inline(always)]
pub(crate) fn enter(memory: &'static Memory) -> Option<Inside> {
    let thread = current();
    let stack = stack();
    // SAFETY: the block belongs to this thread; only signal handlers on it interfere, and they leave `depth` as it was.
    unsafe {
        let mut level = (&raw const (*thread).depth).read_volatile() as usize;
        if level != 0 {
            level = interrupted(thread, memory, stack)?;
        }
        (*thread).writers[level].begin();
        (*thread).frames[level] = stack;
        compiler_fence(Ordering::SeqCst);
        (&raw mut (*thread).depth).write_volatile(level as u32 + 1);
        compiler_fence(Ordering::SeqCst);
        Some(Inside {
            thread,
            memory,
            level,
        })
    }
}

/// Whether an event is being written on this thread.
pub(crate) fn is_inside() -> bool {
    // SAFETY: the block belongs to this thread.
    unsafe { (*current()).depth != 0 }
}

/// An event begins although others have not ended: which level is it? Either this is a handler that came in between, and those below will go
/// on, or somebody left them for good.
#[cold]
#[inline(never)]
unsafe fn interrupted(thread: *mut Thread, memory: &Memory, stack: usize) -> Option<usize> {
    // SAFETY: the block belongs to this thread.
    let thread = unsafe { &mut *thread };
    let alternative = alternative_stack();
    let mut level = thread.depth as usize;
    while level > 0 {
        let frame = thread.frames[(level - 1).min(LEVELS - 1)];
        let is_gone = match (alternative.contains(&stack), alternative.contains(&frame)) {
            // The stack of handlers is left only when they end.
            (false, true) => true,
            (true, false) => false,
            _ => stack >= frame,
        };
        if !is_gone {
            break;
        }
        level -= 1;
        abandon(thread, memory, level);
    }
    if level < LEVELS {
        thread.depth = level as u32;
        return Some(level);
    }
    let lost = &memory.header().reports.lost;
    lost.fetch_add(1, Ordering::Relaxed);
    thread.hopeless += 1;
    if thread.hopeless < HOPELESS {
        return None;
    }
    thread.hopeless = 0;
    for level in 0..LEVELS {
        abandon(thread, memory, level);
        // If somebody comes back after all, it is to a packet that nobody else has.
        thread.writers[level] = Writer::NONE;
    }
    thread.depth = 0;
    None
}

/// Nobody will complete what this writer was writing.
fn abandon(thread: &mut Thread, memory: &Memory, level: usize) {
    let writer = &mut thread.writers[level.min(LEVELS - 1)];
    writer.abandon(memory, clock::monotonic());
}

/// Where handlers may have a stack of their own; empty if they have none.
fn alternative_stack() -> std::ops::Range<usize> {
    // SAFETY: the structure is filled in when the call succeeds; zeroes are a valid value. The call is allowed in handlers.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let mut stack: libc::stack_t = std::mem::zeroed();
        let found = libc::sigaltstack(std::ptr::null(), &mut stack) == 0;
        *errno = before;
        match found && stack.ss_flags & libc::SS_DISABLE == 0 {
            true => stack.ss_sp as usize..(stack.ss_sp as usize).saturating_add(stack.ss_size),
            false => 0..0,
        }
    }
}

/// The thread is inside the tracer until this is dropped.
#[derive(Debug)]
pub(crate) struct Inside {
    thread: *mut Thread,
    memory: &'static Memory,
    level: usize,
}

impl Inside {
    /// Where this thread writes in the running recording, and the context of its events. None if there is no recording, or no stream.
    #[inline(always)]
    pub(crate) fn writer(&mut self) -> Option<(&mut Writer, &[u8; 32])> {
        let recording = &self.memory.header().recording;
        let (epoch, key) = recording.running(gate::incarnation());
        // SAFETY: the block is ours while we are inside.
        unsafe {
            let thread = self.thread;
            if (*thread).writers[self.level].key != key && !self.attach(epoch, key) {
                return None;
            }
            Some((&mut (*thread).writers[self.level], &(*thread).context))
        }
    }

    /// Whether it came in the middle of another event.
    pub(crate) fn is_nested(&self) -> bool {
        self.level > 0
    }

    /// Counts events that cannot be recorded.
    #[cold]
    pub(crate) fn lose(&self, count: u64) {
        let lost = &self.memory.header().reports.lost;
        lost.fetch_add(count, Ordering::Relaxed);
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
    fn attach(&self, epoch: u64, key: u64) -> bool {
        if epoch == 0 {
            return false;
        }
        undisturbed(|| {
            // SAFETY: the block is ours while we are inside.
            let thread = unsafe { &mut *self.thread };
            fill_context(thread);
            let writer = &mut thread.writers[self.level];
            if !writer.attach(self.memory, epoch, key, clock::monotonic()) {
                return false;
            }
            watch_end_of_thread(thread);
            let signal = self
                .memory
                .header()
                .recording
                .flight_signal
                .load(Ordering::Relaxed);
            snapshot_signal::catch(signal as u8);
            true
        })
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the block is ours until the depth is what it was.
        unsafe { (&raw mut (*self.thread).depth).write_volatile(self.level as u32) };
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
        let result = at_work(work);
        *place = before;
        pthread_setcancelstate(state, std::ptr::null_mut());
        result
    }
}

/// Runs code of the tracer that is not the way of an event, and marks the thread meanwhile: should the process die here, its memory tells.
/// Nothing of the application may be called from it.
#[inline]
pub(crate) fn at_work<R>(work: impl FnOnce() -> R) -> R {
    let Some(memory) = gate::memory() else {
        return work();
    };
    // SAFETY: the block belongs to this thread.
    let writer = unsafe { &(*current()).writers[0] };
    let is_ours = writer.key != 0 && writer.key >> 48 == gate::incarnation() >> 48;
    if let Some(mark) = writer.at_work().filter(|_| is_ours) {
        // Others only look; a handler that comes in between leaves it as it was.
        let before = mark.load(Ordering::Relaxed);
        mark.store(before + 1, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let result = work();
        compiler_fence(Ordering::SeqCst);
        mark.store(before, Ordering::Relaxed);
        return result;
    }
    let mark = &memory.header().reports.at_work;
    mark.fetch_add(1, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let result = work();
    compiler_fence(Ordering::SeqCst);
    // A child that was forked meanwhile has nothing to do with its parent's memory.
    if gate::memory().is_some_and(|now| std::ptr::eq(now.header(), memory.header())) {
        mark.fetch_sub(1, Ordering::Relaxed);
    }
    result
}

/// Stands for a message that is published and left out: no message is there.
pub(crate) const LEFT_OUT: u64 = u64::MAX;

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

/// Messages of this thread that are not wanted, for [`left_out`](crate::left_out) alone.
pub(crate) fn left_out() -> *mut Messages {
    // SAFETY: the block belongs to this thread.
    unsafe { &raw mut (*current()).left_out }
}

/// For [`thread_clock`](crate::ring::thread_clock) alone.
pub(crate) fn clock_budget() -> *mut Budget {
    // SAFETY: the block belongs to this thread.
    unsafe { &raw mut (*current()).clock_budget }
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

fn fill_context(thread: &mut Thread) {
    let process = gate::process();
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

/// Runs on the thread that ends, and gives its streams back, so that other threads can go on in them. Events after this attach again, and
/// this runs again, a few times at most.
extern "C" fn end_of_thread(_: *mut libc::c_void) {
    let Some(memory) = gate::memory() else {
        return;
    };
    // SAFETY: the block belongs to this thread.
    let thread = unsafe { &mut *current() };
    let incarnation = gate::incarnation() >> 48;
    for level in 0..LEVELS {
        // A thread that was cancelled may have been in the middle of an event.
        if (level as u32) < thread.depth {
            abandon(thread, memory, level);
        }
        let writer = &mut thread.writers[level];
        // What a parent process recorded is not ours to give back.
        if writer.key != 0 && writer.key >> 48 == incarnation {
            writer.release(memory);
        }
    }
    thread.depth = 0;
}
