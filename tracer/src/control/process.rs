//! The life of the tracer in a process: load, first event, fork, end.
//!
//! Loading reads the environment. A process that has ROS 2 linked to it attaches at once, before the program begins; others at their first
//! event: a shell or compiler that is started in the same environment never gets further than the environment. To *attach* is to make the memory
//! in which events are written, where the recorder finds it. After that nothing here runs any more: the recorder says in that
//! memory what is recorded.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rostrace_session::events::EVENTS;
use rostrace_session::keep::{is_meant, start_recording};
use rostrace_session::memory::header::Introduction;
use rostrace_session::{Command, ControlError, ControlFile, Memory};

use crate::abi::original;
use crate::abi::original::PassedOn;
use crate::control::path::PathBuffer;
use crate::control::settings::settings;
use crate::control::{complaint, gate, identity, own_keeper, snapshot_signal};
use crate::dl::{linker, loaded, sibling};
use crate::lock::Lock;
use crate::ring::clock;
use crate::ring::thread::{self, undisturbed};
use crate::{hooks, statedump};

/// Only one thread attaches. Who forks holds it, so that a child never finds it taken.
static ATTACHING: Lock = Lock::new();
/// The thread that forks holds the locks.
static IS_FORKING: AtomicBool = AtomicBool::new(false);
/// No file can be opened, so that the process could not attach; it is tried again.
static IS_SHORT_OF_FILES: AtomicBool = AtomicBool::new(false);
/// Events meanwhile, which are counted as lost as soon as there is a place to count.
static MISSED: AtomicU64 = AtomicU64::new(0);
/// When it is tried next.
static NEXT_TRY: AtomicU64 = AtomicU64::new(0);
/// Nanoseconds between two tries.
const TRY_AGAIN: u64 = 20_000_000;
/// Signals that were blocked when the library was loaded, or in the thread that forked: a handler blocks more.
static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// Whether rclpy is to be left as it is.
pub(crate) fn leaves_python() -> bool {
    settings().leaves_python
}

/// Runs when the library is loaded, before the program.
pub(crate) extern "C" fn load() {
    let settings = settings();
    BLOCKED.store(blocked_signals(), Ordering::Relaxed);
    complaint::remember_standard_error();
    // SAFETY: the functions live as long as the process: the library cannot be unloaded.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
    if settings.may_record() {
        thread::make_key();
    }
    let is_ours = settings.may_record() || settings.is_off;
    if is_ours && loaded::is_any(&["libtracetools.so", "librcl.so"]) {
        undisturbed(|| {
            init_once();
            if settings.may_record() {
                hooks::survey();
            }
        });
        own_keeper::wait_until_ready();
    }
}

/// Runs when the process ends in an orderly way. Threads of it may go on: nothing that they use is taken away.
pub(crate) extern "C" fn unload() {
    let Some(memory) = gate::memory() else {
        return;
    };
    if gate::process() != std::process::id() {
        return;
    }
    memory.header().is_ending.store(1, Ordering::Release);
    undisturbed(own_keeper::finish);
}

/// At an event of a process that is not attached. Not in what may be a signal handler: that the next event does it is soon enough.
pub(crate) fn attach(event: u16) {
    let is_initialisation = EVENTS
        .get(usize::from(event))
        .is_some_and(|event| event.is_initialisation);
    if !is_initialisation && blocked_signals() & !BLOCKED.load(Ordering::Relaxed) != 0 {
        MISSED.fetch_add(1, Ordering::Relaxed);
        return;
    }
    if IS_SHORT_OF_FILES.load(Ordering::Relaxed)
        && clock::monotonic() < NEXT_TRY.load(Ordering::Relaxed)
    {
        MISSED.fetch_add(1, Ordering::Relaxed);
        return;
    }
    undisturbed(init_once);
    if gate::is_unknown() {
        MISSED.fetch_add(1, Ordering::Relaxed);
    }
}

/// The first 64 signals that are blocked in this thread.
fn blocked_signals() -> u64 {
    // SAFETY: the set is filled in when the call succeeds; zeroes are a valid value. Signals have the same places in it on all platforms
    // of Linux.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut set);
        (&raw const set).cast::<u64>().read_unaligned()
    }
}

/// Decides, once, where commands come from. Whatever needs the dynamic linker is looked for by every thread that comes here, without a lock: see `once_box`.
fn init_once() {
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
    if !settings.may_record() {
        gate::close();
        return;
    }
    ATTACHING.with(|| {
        if gate::is_unknown() {
            make_memory();
        }
    });
}

/// One thread does this.
fn make_memory() {
    let settings = settings();
    thread::make_key();
    let mut host = [0; 256];
    let mut who = Introduction {
        identity: identity::identity(),
        tracetools_version: original::version(),
        program: identity::program_name(),
        host: identity::host_name(&mut host),
        is_kept_by_itself: false,
    };
    if settings.control.is_empty() {
        who.is_kept_by_itself = true;
        if let Err(error) = own_keeper::start(&who, None) {
            own_keeper::complain(error);
            gate::close();
        }
        return;
    }
    match attach_to_recorder(&who) {
        Ok(()) => IS_SHORT_OF_FILES.store(false, Ordering::Relaxed),
        Err(Unattached::System(error @ (libc::EMFILE | libc::ENFILE))) => {
            // The next event tries again.
            if !IS_SHORT_OF_FILES.swap(true, Ordering::Relaxed) {
                complaint::no_file_can_be_opened(error);
            }
            NEXT_TRY.store(clock::monotonic() + TRY_AGAIN, Ordering::Relaxed);
        }
        Err(Unattached::OutOfReach) => {
            who.is_kept_by_itself = true;
            if let Err(error) = own_keeper::start(&who, Some(settings.control.as_c_str())) {
                own_keeper::complain(error);
                gate::close();
            }
        }
        // The session has ended, most likely.
        Err(Unattached::System(_) | Unattached::NoSession) => gate::close(),
    }
}

/// Why a process has no memory that its recorder can use.
#[derive(Debug)]
enum Unattached {
    System(i32),
    NoSession,
    /// The recorder is of another user, or in another container.
    OutOfReach,
}

fn attach_to_recorder(who: &Introduction<'_>) -> Result<(), Unattached> {
    let path = settings().control.as_c_str();
    // Files of others are never mapped: they could cut them.
    if !ControlFile::is_of_this_user(path) {
        return match ControlFile::copy(path) {
            Ok(_) => Err(Unattached::OutOfReach),
            Err(ControlError::System(error)) => Err(Unattached::System(error)),
            Err(_) => Err(Unattached::NoSession),
        };
    }
    let control = match ControlFile::open_to_read(path) {
        Ok(control) => control,
        Err(ControlError::System(error)) => return Err(Unattached::System(error)),
        Err(error) => {
            if let ControlError::Version(_) = error {
                ControlFile::note_incompatible_tracer(path, std::process::id());
                complaint::other_version(path, error);
            }
            return Err(Unattached::NoSession);
        }
    };
    let mut folder = [0; 1024];
    let folder = control.read_memory_folder(&mut folder);
    if folder.is_empty() {
        return Err(Unattached::OutOfReach);
    }
    let memory = create_in(folder, who)?;
    let page = gate::own_page()
        .or_else(gate::page)
        .ok_or(Unattached::System(libc::ENOMEM))?;
    let identity = who.identity;
    statedump::share(&memory, identity.pid);
    begin(&memory, control.read_command());
    count_missed(&memory);
    memory.publish();
    gate::open(page, memory, identity.pid);
    hooks::report(&memory.header().reports.hooks);
    Ok(())
}

/// Remembers from the beginning, and records if that was ordered.
pub(crate) fn begin(memory: &Memory, command: Option<(u64, Command)>) {
    rostrace_session::keep::stop_recording(memory, 0);
    // The memory is new: what it needs can be had, or is not needed.
    let populate = |at: usize, bytes: usize| memory.populate(at, bytes);
    if let Some((generation, command)) = command
        && is_meant(memory, &command)
        && start_recording(memory, generation, &command, &populate).is_ok()
    {
        snapshot_signal::catch(command.settings.flight_signal);
    }
}

/// Events that happened before there was a place to count.
pub(crate) fn count_missed(memory: &Memory) {
    let missed = MISSED.swap(0, Ordering::Relaxed);
    let lost = &memory.header().reports.lost;
    lost.fetch_add(missed, Ordering::Relaxed);
}

fn create_in(folder: &[u8], who: &Introduction<'_>) -> Result<Memory, Unattached> {
    match create(folder, who) {
        Ok((memory, _)) => Ok(memory),
        Err(error @ (libc::EMFILE | libc::ENFILE)) => Err(Unattached::System(error)),
        Err(_) => Err(Unattached::OutOfReach),
    }
}

/// Makes the file `PID-STARTED-NOW`. A process that becomes another program makes another one: the recorder takes the last for the one in
/// use, so its name must be greater than those before it, also if these were removed already.
pub(crate) fn create(folder: &[u8], who: &Introduction<'_>) -> Result<(Memory, PathBuffer), i32> {
    for _ in 0..1000 {
        let mut path = PathBuffer::new();
        path.push(folder);
        path.push(b"/");
        path.push_number(who.identity.pid.into());
        path.push(b"-");
        path.push_number(who.identity.start_time);
        path.push(b"-");
        path.push_number(clock::monotonic());
        match Memory::create(path.as_c_str(), who) {
            Ok(memory) => return Ok((memory, path)),
            Err(libc::EEXIST) => {}
            Err(error) => return Err(error),
        }
    }
    Err(libc::EEXIST)
}

/// Nobody may be in the middle of remembering something, or of attaching: the child gets a copy of it.
extern "C" fn before_fork() {
    // A handler that forks in the middle of an event: the event may hold a lock.
    if thread::is_inside() {
        return;
    }
    undisturbed(|| {
        linker::before_fork();
        ATTACHING.take();
        gate::gate().statedump.take();
        IS_FORKING.store(true, Ordering::Relaxed);
    });
}

extern "C" fn in_parent() {
    if IS_FORKING.swap(false, Ordering::Relaxed) {
        gate::gate().statedump.release();
        ATTACHING.release();
        linker::in_parent();
    }
}

extern "C" fn in_child() {
    BLOCKED.store(blocked_signals(), Ordering::Relaxed);
    // What the parent missed is not ours.
    IS_SHORT_OF_FILES.store(false, Ordering::Relaxed);
    MISSED.store(0, Ordering::Relaxed);
    IS_FORKING.store(false, Ordering::Relaxed);
    gate::in_child();
    ATTACHING.release();
    linker::in_child();
}
