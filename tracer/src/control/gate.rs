//! The gate that every event passes first: one bit is tested.
//!
//! The bits lie in the memory that the keeper writes to, so a recording begins and ends without this process doing anything. Where that
//! memory is stands in a page that the kernel wipes in a forked child, however it was forked: the child then finds nothing at its
//! first event, and makes memory of its own.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use rostrace_session::memory::header::{Masks, is_set};
use rostrace_session::{MASK_WORDS, Memory};

use crate::abi::original;
use crate::control::process;
use crate::lock::Lock;

/// State of the process. All zeroes: a child that has not noticed yet that it is one.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Gate {
    /// Events that are recorded or remembered.
    masks: AtomicPtr<Masks>,
    /// Numbers the memories of a process and its children, in the upper 16 bits.
    incarnation: AtomicU64,
    process: AtomicU32,
    /// Guards what is remembered.
    pub(crate) statedump: Lock,
    memory: UnsafeCell<MaybeUninit<Memory>>,
}

// SAFETY: the memory is written before the masks are, and not again.
unsafe impl Sync for Gate {}

impl Gate {
    const fn new(masks: &'static Masks) -> Gate {
        Gate {
            masks: AtomicPtr::new((&raw const *masks).cast_mut()),
            incarnation: AtomicU64::new(0),
            process: AtomicU32::new(0),
            statedump: Lock::new(),
            memory: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }
}

static NOTHING: Masks = [const { AtomicU64::new(0) }; MASK_WORDS];
static EVERYTHING: Masks = [const { AtomicU64::new(u64::MAX) }; MASK_WORDS];
/// Of a process that cannot record: closed.
static CLOSED: Gate = Gate::new(&NOTHING);
/// Nothing is initialised yet: the first event does that.
static UNKNOWN: Gate = Gate::new(&EVERYTHING);
/// Before anything is initialised, and where somebody else knows.
static ALWAYS: AtomicU64 = AtomicU64::new(1);
static NEVER: AtomicU64 = AtomicU64::new(0);

pub(crate) static GATE: AtomicPtr<Gate> = AtomicPtr::new((&raw const UNKNOWN).cast_mut());
/// 0 while no event but those of initialisation can have anything to do here.
pub(crate) static ACTIVE: AtomicPtr<AtomicU64> = AtomicPtr::new((&raw const ALWAYS).cast_mut());
/// The same for tracepoints of ROS 2, which may have something to do in the real libtracetools.
pub(crate) static ROS_ACTIVE: AtomicPtr<AtomicU64> = AtomicPtr::new((&raw const ALWAYS).cast_mut());
/// Over forks as well: a child counts on.
static INCARNATIONS: AtomicU64 = AtomicU64::new(0);

/// Whether events that are not of initialisation have to look further.
#[inline(always)]
pub(crate) fn is_active() -> bool {
    // SAFETY: points to a static, or into memory that is never unmapped.
    unsafe { &*ACTIVE.load(Ordering::Acquire) }.load(Ordering::Relaxed) != 0
}

fn set_active(active: &'static AtomicU64) {
    let of_ros = match original::passes_on() {
        true => &ALWAYS,
        false => active,
    };
    ROS_ACTIVE.store(std::ptr::from_ref(of_ros).cast_mut(), Ordering::Release);
    ACTIVE.store(std::ptr::from_ref(active).cast_mut(), Ordering::Release);
}

#[inline(always)]
pub(crate) fn gate() -> &'static Gate {
    // SAFETY: points to a static, or to a page that is never unmapped.
    unsafe { &*GATE.load(Ordering::Acquire) }
}

/// The masks, null in a child.
#[inline(always)]
fn masks() -> *const Masks {
    gate().masks.load(Ordering::Acquire)
}

/// Whether anything is to be done for an event, be it to initialise the tracer. Calls nothing, so that a tracepoint which is not recorded needs no
/// stack.
#[inline(always)]
pub(crate) fn may_want(event: u16) -> bool {
    // SAFETY: null, a static, or memory that is never unmapped.
    unsafe { masks().as_ref() }.is_none_or(|masks| is_set(masks, event))
}

/// Whether an event that may be wanted is recorded or remembered. Initialises the tracer first, if nobody has.
#[inline(always)]
pub(crate) fn wants(event: u16) -> bool {
    let masks = masks();
    if masks.is_null() || std::ptr::eq(masks, &raw const EVERYTHING) {
        return first_event(event);
    }
    // SAFETY: a static, or memory that is never unmapped.
    is_set(unsafe { &*masks }, event)
}

#[cold]
#[inline(never)]
fn first_event(event: u16) -> bool {
    process::attach(event);
    !is_unknown() && may_want(event)
}

/// The memory of this process; None if it has none, or not yet.
#[inline(always)]
pub(crate) fn memory() -> Option<&'static Memory> {
    let gate = gate();
    // In a child, whose page was wiped, the number is 0, and in processes that never had memory.
    (gate.process.load(Ordering::Acquire) != 0).then(|| {
        // SAFETY: written before the number was.
        unsafe { (*gate.memory.get()).assume_init_ref() }
    })
}

/// Whether what happens to this entity is left out.
#[inline(always)]
pub(crate) fn refuses(address: u64) -> bool {
    memory().is_some_and(|memory| memory.refuses(address))
}

/// In the upper 16 bits; differs for each memory.
#[inline(always)]
pub(crate) fn incarnation() -> u64 {
    gate().incarnation.load(Ordering::Relaxed)
}

/// The pid of this process, as its memory has it.
pub(crate) fn process() -> u32 {
    gate().process.load(Ordering::Relaxed)
}

/// Where the bit of an event is among the masks, in 64 bits of them, for code that is no Rust.
#[cfg(target_arch = "x86_64")]
pub(crate) const fn enabled_at(event: u16) -> usize {
    8 * (event as usize / 64)
}

#[cfg(target_arch = "x86_64")]
const _: () = assert!(std::mem::offset_of!(Gate, masks) == 0);

/// Whether nobody has initialised the tracer yet, in this process or in this child.
pub(crate) fn is_unknown() -> bool {
    let masks = masks();
    masks.is_null() || std::ptr::eq(masks, &raw const EVERYTHING)
}

/// Whether nothing can ever be recorded in this process.
pub(crate) fn is_closed() -> bool {
    std::ptr::eq(gate(), &raw const CLOSED)
}

/// From now on nothing is ever recorded.
pub(crate) fn close() {
    GATE.store((&raw const CLOSED).cast_mut(), Ordering::Release);
    set_active(&NEVER);
}

/// From now on nothing is ever recorded here, but everything is told to another copy of the tracer.
pub(crate) fn leave_to_another() {
    GATE.store((&raw const CLOSED).cast_mut(), Ordering::Release);
    set_active(&ALWAYS);
}

/// A page for a gate, wiped in children; None if there is no memory.
pub(crate) fn page() -> Option<*mut Gate> {
    // SAFETY: a new page of zeroes, which is a valid `Gate`, and which is never unmapped.
    unsafe {
        let page = libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if page == libc::MAP_FAILED {
            return None;
        }
        // Unknown to kernels before 4.14; `fork` itself is noticed in another way too.
        libc::madvise(page, 4096, libc::MADV_WIPEONFORK);
        Some(page.cast())
    }
}

/// From now on events go to this memory. The page is one of [`page`], or that of a parent which was wiped.
pub(crate) fn open(page: *mut Gate, memory: Memory, process: u32) {
    // SAFETY: a valid gate that nobody uses yet, but to see that it is wiped.
    let gate = unsafe {
        (*(*page).memory.get()).write(memory);
        &*page
    };
    let number = INCARNATIONS.fetch_add(1, Ordering::Relaxed) + 1;
    gate.incarnation.store(number << 48, Ordering::Relaxed);
    gate.process.store(process, Ordering::Release);
    let recording = &memory.header().recording;
    let masks = std::ptr::from_ref(&recording.enabled).cast_mut();
    gate.masks.store(masks, Ordering::Release);
    GATE.store(page, Ordering::Release);
    set_active(&recording.active);
}

/// The gate's page, if there is one: also that of a parent.
pub(crate) fn own_page() -> Option<*mut Gate> {
    let gate = GATE.load(Ordering::Acquire);
    let is_static = std::ptr::eq(gate, &raw const CLOSED) || std::ptr::eq(gate, &raw const UNKNOWN);
    (!is_static).then_some(gate)
}

/// In a forked child: for kernels that do not wipe, and for those who ask what is behind `ACTIVE`, which is the parent's.
pub(crate) fn in_child() {
    if let Some(page) = own_page() {
        // SAFETY: the page is never unmapped, and the child has only this thread.
        let gate = unsafe { &*page };
        gate.masks.store(std::ptr::null_mut(), Ordering::Relaxed);
        gate.process.store(0, Ordering::Relaxed);
        set_active(&ALWAYS);
    }
    gate().statedump.release();
}
