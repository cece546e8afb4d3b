//! The gate that every event passes first. While nobody records, one number is looked at; otherwise two numbers are compared and one
//! bit is tested.
//!
//! What belongs to this process alone lies in a page that the kernel wipes in a forked child, however it was forked; the
//! child then finds the wrong generation at its first event and starts afresh.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use rostrace_session::MASK_WORDS;

use crate::lock::Lock;
use crate::original;
use crate::process;
use crate::recording::Recording;

/// State of the process. All zeroes: nothing was decided yet.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Gate {
    /// The order that was carried out last.
    pub(crate) generation: AtomicU64,
    /// Number of the recording that runs, 0 for none. Never used twice in a process or its children.
    pub(crate) epoch: AtomicU64,
    /// Events that are recorded or remembered.
    enabled: [AtomicU64; MASK_WORDS],
    /// Events that are recorded.
    recorded: [AtomicU64; MASK_WORDS],
    pub(crate) recording: AtomicPtr<Recording>,
    /// Pid; 0 in a child that has not noticed yet that it is one.
    pub(crate) process: AtomicU32,
    /// Guards beginning and end of recordings.
    pub(crate) lifecycle: Lock,
    /// Guards remembered events and the stream they are written to.
    pub(crate) memory: Lock,
}

impl Gate {
    const fn new() -> Gate {
        Gate {
            generation: AtomicU64::new(0),
            epoch: AtomicU64::new(0),
            enabled: [const { AtomicU64::new(0) }; MASK_WORDS],
            recorded: [const { AtomicU64::new(0) }; MASK_WORDS],
            recording: AtomicPtr::new(std::ptr::null_mut()),
            process: AtomicU32::new(0),
            lifecycle: Lock::new(),
            memory: Lock::new(),
        }
    }

    /// In a forked child, for kernels that do not wipe.
    pub(crate) fn wipe(&self) {
        self.generation.store(0, Ordering::Relaxed);
        self.epoch.store(0, Ordering::Relaxed);
        self.recording
            .store(std::ptr::null_mut(), Ordering::Relaxed);
        self.process.store(0, Ordering::Relaxed);
        self.enable(&[0; MASK_WORDS], &[0; MASK_WORDS]);
    }

    pub(crate) fn enable(&self, remembered: &[u64; MASK_WORDS], recorded: &[u64; MASK_WORDS]) {
        for word in 0..MASK_WORDS {
            self.recorded[word].store(recorded[word], Ordering::Release);
            let enabled = remembered[word] | recorded[word];
            self.enabled[word].store(enabled, Ordering::Release);
        }
    }

    /// Whether the recording that runs, if any, wants this event.
    pub(crate) fn is_recorded(&self, event: u16) -> bool {
        bit(&self.recorded, event)
    }
}

/// Of a process that cannot record: closed.
static CLOSED: Gate = Gate::new();
/// Differs from every gate, so that the first event looks around.
static UNKNOWN: AtomicU64 = AtomicU64::new(u64::MAX);
/// Fits a closed gate for ever.
static NEVER: AtomicU64 = AtomicU64::new(0);
/// Before anybody has looked around, and where somebody else knows.
static ALWAYS: AtomicU64 = AtomicU64::new(1);

pub(crate) static GATE: AtomicPtr<Gate> = AtomicPtr::new((&raw const CLOSED).cast_mut());
pub(crate) static GENERATION: AtomicPtr<AtomicU64> =
    AtomicPtr::new((&raw const UNKNOWN).cast_mut());

/// 0 while no event but those of initialisation can have anything to do here.
pub(crate) static ATTENTION: AtomicPtr<AtomicU64> = AtomicPtr::new((&raw const ALWAYS).cast_mut());
/// The same for tracepoints of ROS 2, which may have something to do in the real libtracetools.
pub(crate) static ROS_ATTENTION: AtomicPtr<AtomicU64> =
    AtomicPtr::new((&raw const ALWAYS).cast_mut());

/// Whether events that are not of initialisation have to look further. The pointer is acquired: who sees where orders come from sees
/// also where calls are passed on to.
#[inline(always)]
pub(crate) fn is_attentive() -> bool {
    // SAFETY: points to a static, or into a page that is never unmapped.
    unsafe { &*ATTENTION.load(Ordering::Acquire) }.load(Ordering::Relaxed) != 0
}

fn set_attention(attention: &'static AtomicU64) {
    let of_ros = match original::passes_on() {
        true => &ALWAYS,
        false => attention,
    };
    ROS_ATTENTION.store(std::ptr::from_ref(of_ros).cast_mut(), Ordering::Release);
    ATTENTION.store(std::ptr::from_ref(attention).cast_mut(), Ordering::Release);
}

#[inline(always)]
pub(crate) fn gate() -> &'static Gate {
    // SAFETY: points to a static, or to a page that is never unmapped. An older pointer is that of the closed gate, which is behind.
    unsafe { &*GATE.load(Ordering::Relaxed) }
}

/// Whether anything is to be done for an event, be it to carry out a new order. Calls nothing, so that a tracepoint which is not
/// recorded needs no stack.
#[inline(always)]
pub(crate) fn attends(event: u16) -> bool {
    let gate = gate();
    is_behind(gate) || bit(&gate.enabled, event)
}

/// Whether an event that is attended to is recorded or remembered. Carries out a new order first, if there is one.
#[inline(always)]
pub(crate) fn wants(event: u16) -> bool {
    if is_behind(gate()) {
        catch_up(event);
    }
    bit(&gate().enabled, event)
}

/// Both loads are acquiring, on processors that reorder loads: a thread that is not behind must see the bits and the filters that were set
/// before the generation was. With older bits it would lose an event of initialisation for good.
#[inline(always)]
fn is_behind(gate: &Gate) -> bool {
    // SAFETY: points to a static, or into a page that is never unmapped.
    let ordered = unsafe { &*GENERATION.load(Ordering::Acquire) }.load(Ordering::Relaxed);
    ordered != gate.generation.load(Ordering::Acquire)
}

#[inline(always)]
fn bit(words: &[AtomicU64; MASK_WORDS], event: u16) -> bool {
    words[usize::from(event) / 64].load(Ordering::Relaxed) >> (event % 64) & 1 == 1
}

/// Where the order that was carried out last is in a gate, for code that is no Rust.
#[cfg(target_arch = "x86_64")]
pub(crate) const OBEYED_AT: usize = std::mem::offset_of!(Gate, generation);

/// Where the bit of an event is in a gate, in 64 bits of it.
#[cfg(target_arch = "x86_64")]
pub(crate) const fn enabled_at(event: u16) -> usize {
    std::mem::offset_of!(Gate, enabled) + 8 * (event as usize / 64)
}

/// What [`is_attentive`] and [`attends`] look at for one event, for code that asks the same elsewhere. Holds once the process has looked
/// around.
#[cfg(target_arch = "x86_64")]
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Question {
    /// If 0, no event is recorded.
    pub(crate) attention: *const AtomicU64,
    /// If not the same as `obeyed`, there is a new order.
    pub(crate) ordered: *const AtomicU64,
    pub(crate) obeyed: *const AtomicU64,
    /// If it has not got `bit`, the event is not recorded.
    pub(crate) enabled: *const AtomicU64,
    pub(crate) bit: u64,
}

#[cfg(target_arch = "x86_64")]
pub(crate) fn question(event: u16) -> Question {
    let gate = gate();
    Question {
        attention: ATTENTION.load(Ordering::Acquire),
        ordered: GENERATION.load(Ordering::Acquire),
        obeyed: &gate.generation,
        enabled: &gate.enabled[usize::from(event) / 64],
        bit: 1 << (event % 64),
    }
}

#[cold]
#[inline(never)]
fn catch_up(event: u16) {
    process::catch_up();
    if is_behind(gate()) && !bit(&gate().enabled, event) {
        process::miss();
    }
}

/// The order that processes should have carried out; None before the first event, and where nothing can be ordered.
pub(crate) fn ordered() -> u64 {
    // SAFETY: as above.
    unsafe { &*GENERATION.load(Ordering::Relaxed) }.load(Ordering::Acquire)
}

/// Whether nobody has looked around yet.
pub(crate) fn is_unknown() -> bool {
    std::ptr::eq(GENERATION.load(Ordering::Acquire), &raw const UNKNOWN)
}

/// Whether nothing can ever be recorded in this process.
pub(crate) fn is_closed() -> bool {
    std::ptr::eq(gate(), &raw const CLOSED)
}

/// From now on nothing is ever recorded.
pub(crate) fn close() {
    shut(&NEVER);
}

/// From now on nothing is ever recorded here, but everything is told to another copy of the tracer.
pub(crate) fn leave_to_another() {
    shut(&ALWAYS);
}

fn shut(attention: &'static AtomicU64) {
    CLOSED.enable(&[0; MASK_WORDS], &[0; MASK_WORDS]);
    GATE.store((&raw const CLOSED).cast_mut(), Ordering::Release);
    GENERATION.store((&raw const NEVER).cast_mut(), Ordering::Release);
    set_attention(attention);
}

/// From now on orders come from here; events need not look for one while the attention is 0. Fails if there is no memory.
pub(crate) fn open(
    generation: &'static AtomicU64,
    attention: Option<&'static AtomicU64>,
) -> Option<&'static Gate> {
    // SAFETY: a new page of zeroes, which is a valid `Gate`, and which is never unmapped.
    let gate = unsafe {
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
        &*page.cast::<Gate>()
    };
    GATE.store(std::ptr::from_ref(gate).cast_mut(), Ordering::Release);
    GENERATION.store(std::ptr::from_ref(generation).cast_mut(), Ordering::Release);
    set_attention(attention.unwrap_or(&ALWAYS));
    Some(gate)
}
