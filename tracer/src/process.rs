//! The life of the tracer in a process: load, orders, fork, end.
//!
//! Loading only reads the environment, and sees to forks. Everything else happens at the first event: a shell or compiler that is started in the same
//! environment never gets further than that.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use rostrace_session::{
    CONTROL_VARIABLE, Control, ControlError, ControlFile, LTTNG_VARIABLE, MASK_WORDS,
    NEAR_VARIABLE, OUTPUT_VARIABLE, Order, PYTHON_VARIABLE, Process, ProcessState, SWITCH_VARIABLE,
    State,
};

use crate::lock::Lock;
use crate::original::PassedOn;
use crate::recording::Recording;
use crate::thread::{self, undisturbed};
use crate::{
    clock, complaint, events, gate, glob, helper, hooks, identity, linker, memory, near, original,
    sibling, snapshot_signal,
};

/// What the environment said when the library was loaded.
#[derive(Debug, Default)]
struct Settings {
    is_off: bool,
    leaves_python: bool,
    stays_far: bool,
    control: Option<PathBuf>,
    output: Option<OsString>,
    lttng: Option<bool>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();
static CONTROL: OnceLock<Option<&'static Control>> = OnceLock::new();
static SLOT: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());
/// The generation of a process without a recorder: the order that its environment gives.
static OWN_ORDER: AtomicU64 = AtomicU64::new(2);
/// Only one thread opens the control file. Who forks holds it, so that a child never finds it taken.
static OPENING: Lock = Lock::new();
/// The thread that forks holds the two locks.
static IS_FORKING: AtomicBool = AtomicBool::new(false);
static IS_ENDING: AtomicBool = AtomicBool::new(false);
/// No file can be opened, so that the recording that was ordered has not begun; it is tried again.
static IS_SHORT_OF_FILES: AtomicBool = AtomicBool::new(false);
/// Events meanwhile, which the recording counts as lost when it begins.
static MISSED: AtomicU64 = AtomicU64::new(0);
/// When the beginning is tried next.
static NEXT_TRY: AtomicU64 = AtomicU64::new(0);
/// Nanoseconds between two tries.
const TRY_AGAIN: u64 = 20_000_000;

fn settings() -> &'static Settings {
    SETTINGS.get_or_init(|| {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let is_off =
            |name| variable(name).is_some_and(|value| matches!(value.as_bytes(), b"off" | b"0"));
        Settings {
            is_off: is_off(SWITCH_VARIABLE),
            leaves_python: is_off(PYTHON_VARIABLE),
            stays_far: is_off(NEAR_VARIABLE),
            control: variable(CONTROL_VARIABLE).map(PathBuf::from),
            output: variable(OUTPUT_VARIABLE),
            lttng: variable(LTTNG_VARIABLE).map(|value| value != "0"),
        }
    })
}

/// Whether rclpy is to be left as it is.
pub(crate) fn leaves_python() -> bool {
    settings().leaves_python
}

/// Runs when the library is loaded, before the program.
pub(crate) extern "C" fn load() {
    let settings = settings();
    if !settings.is_off && (settings.control.is_some() || settings.output.is_some()) {
        thread::make_key();
    }
    // SAFETY: the functions live as long as the process: the library cannot be unloaded.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
}

/// Runs when the process ends in an orderly way.
pub(crate) extern "C" fn unload() {
    let Some(_inside) = thread::enter() else {
        return;
    };
    IS_ENDING.store(true, Ordering::Relaxed);
    let gate = gate::gate();
    // SAFETY: recordings are never freed.
    if let Some(recording) = unsafe { gate.recording.load(Ordering::Acquire).as_ref() }
        && recording.process == std::process::id()
    {
        memory::account_for_lost(recording);
        memory::close(recording);
        report(recording);
        recording.close(false);
        count_as_ended();
    }
    // SAFETY: slots lie in a page that is never unmapped. A child that never had an event has not got one of its own.
    if let Some(slot) = unsafe { SLOT.load(Ordering::Acquire).as_ref() }
        && gate.process.load(Ordering::Relaxed) == std::process::id()
    {
        note_failure(slot);
        slot.free();
    }
}

/// An event was neither recorded nor remembered because the recording that was ordered could not begin yet.
#[cold]
pub(crate) fn miss() {
    if !IS_SHORT_OF_FILES.load(Ordering::Relaxed) {
        return;
    }
    let missed = MISSED.fetch_add(1, Ordering::Relaxed) + 1;
    // SAFETY: slots lie in a page that is never unmapped.
    if let Some(slot) = unsafe { SLOT.load(Ordering::Acquire).as_ref() } {
        slot.discarded.store(missed, Ordering::Relaxed);
    }
}

/// Called by a signal handler.
pub(crate) fn ask_for_snapshot() {
    if let Some(Some(control)) = CONTROL.get() {
        control.wishes.ask_for_snapshot(std::process::id());
    }
}

/// The slot is about to be given back, perhaps before the recorder saw what it says.
fn note_failure(slot: &Process) {
    let errno = slot.errno.load(Ordering::Relaxed);
    if let Some(Some(control)) = CONTROL.get()
        && errno != 0
    {
        if slot.is_failed() {
            let missed = MISSED.load(Ordering::Relaxed);
            control.ended.discarded.fetch_add(missed, Ordering::Relaxed);
        }
        control.failed.errno.store(errno.into(), Ordering::Relaxed);
        control.failed.processes.fetch_add(1, Ordering::Release);
    }
}

/// The slot is about to be given back: what it said is kept in the sums.
fn count_as_ended() {
    // SAFETY: slots lie in a page that is never unmapped.
    let slot = unsafe { SLOT.load(Ordering::Acquire).as_ref() };
    if let (Some(Some(control)), Some(slot)) = (CONTROL.get(), slot) {
        let ended = &control.ended;
        for (sum, counter) in [
            (&ended.events, &slot.events),
            (&ended.discarded, &slot.discarded),
            (&ended.bytes, &slot.bytes),
        ] {
            sum.fetch_add(counter.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        ended.processes.fetch_add(1, Ordering::Release);
    }
}

/// Carries out the order that stands, if that was not done yet.
pub(crate) fn catch_up() {
    let Some(_inside) = thread::enter() else {
        return;
    };
    undisturbed(|| {
        if gate::is_unknown() {
            look_around();
        }
        if gate::is_closed() {
            return;
        }
        let gate = gate::gate();
        gate.lifecycle.with(|| {
            if gate.process.load(Ordering::Relaxed) == 0 {
                gate.process.store(std::process::id(), Ordering::Relaxed);
                claim_slot();
            }
            obey();
        });
    });
}

/// At the first event: where do orders come from? Whatever needs the dynamic linker is looked for by every thread that comes here,
/// without a lock: see `found`.
fn look_around() {
    let _looking = linker::Looking::begin();
    let settings = settings();
    clock::find();
    if let Some(sibling) = sibling::sibling() {
        original::pass_on(&sibling.library, false);
        gate::leave_to_another();
        return;
    }
    original::decide(match settings.lttng {
        Some(true) => PassedOn::All,
        Some(false) => PassedOn::None,
        None if settings.is_off => PassedOn::AllOfLttng,
        None => PassedOn::OfLttng,
    });
    if settings.is_off || settings.control.is_none() && settings.output.is_none() {
        gate::close();
    } else {
        OPENING.with(|| {
            if gate::is_unknown() {
                find_orders(settings);
            }
        });
    }
    static IS_NEAR: AtomicBool = AtomicBool::new(false);
    let may_be_near = !settings.is_off && !settings.stays_far && !gate::is_unknown();
    if may_be_near && !IS_NEAR.swap(true, Ordering::Relaxed) {
        near::bring_near();
    }
}

/// One thread does this.
fn find_orders(settings: &Settings) {
    let control = match settings.control.as_ref() {
        None => None,
        Some(path) => match ControlFile::open(path) {
            Ok(file) => Some(file.leak()),
            Err(ControlError::System(error @ (libc::EMFILE | libc::ENFILE))) => {
                // The next event tries again.
                if !IS_SHORT_OF_FILES.swap(true, Ordering::Relaxed) {
                    complaint::no_file_can_be_opened(error);
                }
                return;
            }
            Err(error @ ControlError::Version(_)) => {
                ControlFile::note_stranger(path, std::process::id());
                complaint::other_version(path, error);
                None
            }
            // The session has ended, most likely.
            Err(_) => None,
        },
    };
    let control = *CONTROL.get_or_init(|| control);
    let opened = match (control, &settings.output) {
        (Some(control), _) => gate::open(&control.generation, Some(&control.attention)),
        (None, Some(_)) => gate::open(&OWN_ORDER, None),
        (None, None) => None,
    };
    if opened.is_none() {
        gate::close();
    }
}

fn claim_slot() {
    SLOT.store(std::ptr::null_mut(), Ordering::Release);
    if let Some(Some(control)) = CONTROL.get() {
        let identity = identity::identity(std::process::id());
        // Before an `exec` the process may have had one already.
        let is_same = |slot: &&Process| {
            slot.view().is_some_and(|view| {
                let before = view.identity;
                (before.pid, before.start_time, before.pid_namespace)
                    == (identity.pid, identity.start_time, identity.pid_namespace)
            })
        };
        for slot in control.processes.iter().filter(is_same) {
            slot.free();
        }
        let slot = control.processes.iter().find(|slot| slot.claim(&identity));
        if let Some(slot) = slot {
            SLOT.store(std::ptr::from_ref(slot).cast_mut(), Ordering::Release);
        }
    }
}

/// The order that stands, with its generation.
fn order() -> Option<(u64, Order)> {
    if let Some(Some(control)) = CONTROL.get() {
        return control.read_order();
    }
    let output = settings().output.as_ref()?;
    let mut order = Order::record(output.as_bytes());
    order.vocabulary = events::VOCABULARY;
    Some((OWN_ORDER.load(Ordering::Relaxed), order))
}

/// The lifecycle lock is held.
fn obey() {
    let gate = gate::gate();
    let Some((generation, order)) = order() else {
        return;
    };
    if generation == gate.generation.load(Ordering::Relaxed) {
        return;
    }
    let is_wanted =
        order.state != State::Idle && is_meant(&order) && !IS_ENDING.load(Ordering::Relaxed);
    if is_wanted && clock::monotonic() < NEXT_TRY.load(Ordering::Relaxed) {
        return;
    }
    stop();
    let remembered = events::initialisation();
    let mut state = ProcessState::Idle;
    let mut error = 0;
    if is_wanted {
        reset_counters(generation);
        match start(&order, &remembered) {
            Ok(()) => state = ProcessState::Recording,
            Err(number) => {
                state = ProcessState::Failed;
                error = number;
            }
        }
    }
    if state != ProcessState::Recording {
        gate.enable(&remembered, &[0; MASK_WORDS]);
    }
    let is_short = matches!(error, libc::EMFILE | libc::ENFILE);
    IS_SHORT_OF_FILES.store(is_short, Ordering::Relaxed);
    let next_try = if is_short {
        clock::monotonic() + TRY_AGAIN
    } else {
        0
    };
    NEXT_TRY.store(next_try, Ordering::Relaxed);
    if !is_short {
        MISSED.store(0, Ordering::Relaxed);
        gate.generation.store(generation, Ordering::Release);
    }
    // SAFETY: slots lie in a page that is never unmapped.
    if let Some(slot) = unsafe { SLOT.load(Ordering::Acquire).as_ref() } {
        slot.errno.store(error as u32, Ordering::Relaxed);
        slot.set_state(state);
        slot.generation.store(generation, Ordering::Release);
    }
}

fn is_meant(order: &Order) -> bool {
    // SAFETY: slots lie in a page that is never unmapped.
    let slot = unsafe { SLOT.load(Ordering::Acquire).as_ref() };
    let is_chosen = !order.chosen_only || slot.is_some_and(Process::is_chosen);
    let ignored = &order.filters.ignore_processes;
    is_chosen && (ignored.is_empty() || !glob::matches_any(ignored, program_name()))
}

/// The name of the program without its folder, as it was called.
fn program_name() -> &'static [u8] {
    unsafe extern "C" {
        static program_invocation_short_name: *const libc::c_char;
    }
    // SAFETY: the C library sets it before the program begins, to a text that ends with a zero; programs may set it to another one.
    unsafe {
        if program_invocation_short_name.is_null() {
            return b"";
        }
        std::ffi::CStr::from_ptr(program_invocation_short_name).to_bytes()
    }
}

/// The slot speaks of the recording that runs.
fn reset_counters(generation: u64) {
    // SAFETY: slots lie in a page that is never unmapped.
    if let Some(slot) = unsafe { SLOT.load(Ordering::Acquire).as_ref() } {
        slot.recorded.store(generation, Ordering::Relaxed);
        for counter in [&slot.events, &slot.discarded, &slot.bytes, &slot.threads] {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

fn start(order: &Order, remembered: &[u64; MASK_WORDS]) -> Result<(), i32> {
    let gate = gate::gate();
    let process = gate.process.load(Ordering::Relaxed);
    // Numbers of another list mean other events: then all are recorded rather than the wrong ones.
    let mask = if order.vocabulary == events::VOCABULARY {
        order.mask
    } else {
        [u64::MAX; MASK_WORDS]
    };
    let recording = memory::replay_into(
        |first_time| Recording::begin(order, process, first_time),
        |recording| {
            gate.recording
                .store(std::ptr::from_ref(recording).cast_mut(), Ordering::Release);
            gate.epoch.store(recording.epoch, Ordering::Release);
            gate.enable(remembered, &mask);
        },
    )?;
    let missed = MISSED.load(Ordering::Relaxed);
    if missed > 0 {
        recording.lost.fetch_add(missed, Ordering::Relaxed);
        recording.error.store(libc::EMFILE, Ordering::Relaxed);
    }
    note_writing(1);
    helper::start(recording)
        .inspect(|()| snapshot_signal::catch(order.flight_signal))
        .inspect_err(|_| {
            stop();
            note_writing(-1);
        })
}

/// Says how many recordings have files that are not complete.
pub(crate) fn note_writing(change: i32) {
    // SAFETY: slots lie in a page that is never unmapped.
    if let Some(slot) = unsafe { SLOT.load(Ordering::Acquire).as_ref() } {
        slot.writing
            .fetch_add(change.cast_unsigned(), Ordering::Release);
    }
}

/// No event goes into the recording from here on, but for those that are being written. The helper does the rest.
fn stop() {
    let gate = gate::gate();
    snapshot_signal::let_go();
    gate.enable(&events::initialisation(), &[0; MASK_WORDS]);
    gate.epoch.store(0, Ordering::Release);
    let recording = gate.recording.swap(std::ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: recordings are never freed.
    if let Some(recording) = unsafe { recording.as_ref() } {
        recording.is_stopping.store(true, Ordering::Release);
        recording.kick.fetch_add(1, Ordering::Release);
        crate::futex::wake(&recording.kick);
    }
}

/// Tells the recorder how it goes.
pub(crate) fn report(recording: &Recording) {
    let current = gate::gate().recording.load(Ordering::Acquire);
    if !current.is_null() && !std::ptr::eq(current, recording) {
        // The slot speaks of a later recording already.
        return;
    }
    // SAFETY: slots lie in a page that is never unmapped.
    if let Some(slot) = unsafe { SLOT.load(Ordering::Acquire).as_ref() } {
        let (events, discarded, threads) = recording.counts();
        slot.events.store(events, Ordering::Relaxed);
        slot.discarded.store(discarded, Ordering::Relaxed);
        slot.threads.store(threads, Ordering::Relaxed);
        slot.bytes
            .store(recording.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        let error = recording.error.load(Ordering::Relaxed);
        if error != 0 {
            slot.errno.store(error as u32, Ordering::Relaxed);
        }
        hooks::report(&slot.hooks);
        slot.remembered.store(memory::count(), Ordering::Relaxed);
    }
}

/// Nobody may be in the middle of remembering something, or of looking for orders: the child gets a copy of it.
extern "C" fn before_fork() {
    if let Some(inside) = thread::enter() {
        linker::before_fork();
        OPENING.take();
        gate::gate().memory.take();
        IS_FORKING.store(true, Ordering::Relaxed);
        // Still inside until one of the handlers after the fork.
        std::mem::forget(inside);
    }
}

extern "C" fn in_parent() {
    if IS_FORKING.swap(false, Ordering::Relaxed) {
        gate::gate().memory.release();
        OPENING.release();
        linker::in_parent();
        thread::leave();
    }
}

extern "C" fn in_child() {
    let gate = gate::gate();
    gate.wipe();
    SLOT.store(std::ptr::null_mut(), Ordering::Release);
    // What the parent missed is not ours.
    IS_SHORT_OF_FILES.store(false, Ordering::Relaxed);
    MISSED.store(0, Ordering::Relaxed);
    NEXT_TRY.store(0, Ordering::Relaxed);
    if IS_FORKING.swap(false, Ordering::Relaxed) {
        gate.memory.release();
        OPENING.release();
        linker::in_child();
        thread::leave();
    }
}
