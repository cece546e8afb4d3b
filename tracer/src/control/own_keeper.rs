//! A process that keeps its own memory, with two threads: where there is no recorder (`ROSTRACE_OUTPUT`), or where the recorder cannot
//! reach the memory, being of another user or outside of the container.
//!
//! The threads take no signals, so no handler of the application ever runs on them. They are made without Rust's `std::thread`, which would
//! have a destructor per thread registered: in a program without memory the C library aborts there.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rostrace_session::keep::collect::own_folder;
use rostrace_session::keep::{
    Kept, Mapped, Pace, Supplier, is_meant, start_recording, stop_recording, top_up_idle,
};
use rostrace_session::{Command, ControlFile, Introduction, Memory};

use crate::control::settings::settings;
use crate::control::{complaint, gate, process};
use crate::ring::clock;
use crate::{futex, hooks, own_heap, statedump};

/// The command of a process without a recorder: the one that its environment gives.
const OWN_GENERATION: u64 = 2;
/// Between two looks at the control file.
const BETWEEN_COMMANDS: u64 = 20_000_000;
/// Nothing of the program runs on these threads. Counts where a program locks its memory.
const STACK: usize = 64 << 10;
const BETWEEN_LOOKS_AT_NOTHING: Duration = Duration::from_secs(1);
/// What is not full is written to the disk at least so often, for those who read meanwhile.
const BETWEEN_FLUSHES: u64 = 1_000_000_000;

#[derive(Debug)]
struct Own {
    process: u32,
    mapped: Arc<Mapped>,
    control: Option<CString>,
    /// The folder is there, or cannot be made.
    is_ready: AtomicBool,
    /// Not zero when the process ends; the thread that drains waits for it.
    is_ending: AtomicU32,
    is_finished: AtomicBool,
    kept: Mutex<Keeping>,
}

/// What is done now.
#[derive(Debug)]
struct Keeping {
    generation: u64,
    kept: Option<Kept>,
    is_reported: bool,
}

/// Never freed: its threads may look at it until the process is gone.
static OWN: AtomicPtr<Own> = AtomicPtr::new(std::ptr::null_mut());

/// Why a process cannot keep its own memory.
#[derive(Debug)]
pub(crate) struct Impossible {
    doing: &'static [u8],
    errno: i32,
}

pub(crate) fn complain(error: Impossible) {
    complaint::impossible(error.doing, b"", error.errno);
}

/// Makes the memory and starts the threads.
pub(crate) fn start(who: &Introduction<'_>, control: Option<&CStr>) -> Result<(), Impossible> {
    let impossible = |doing| move |errno| Impossible { doing, errno };
    let made = folder().and_then(|folder| process::create(&folder, who));
    let (memory, path) = match made {
        Ok((memory, path)) => {
            let path = PathBuf::from(OsStr::from_bytes(path.as_bytes()));
            (memory, Some(path))
        }
        Err(_) => (
            Memory::anonymous(who).map_err(impossible(b"make the memory for events"))?,
            None,
        ),
    };
    let page = gate::own_page()
        .or_else(gate::page)
        .ok_or(libc::ENOMEM)
        .map_err(impossible(b"make the memory for events"))?;
    statedump::share(&memory, who.identity.pid);
    let command = standing_command(control);
    let generation = command.as_ref().map_or(0, |(generation, _)| *generation);
    process::begin(&memory, command.clone());
    process::count_missed(&memory);
    let mapped = Arc::new(Mapped::own(memory, path));
    let is_recording = memory.header().recording.epoch.load(Ordering::Relaxed) != 0;
    let kept = command
        .filter(|_| is_recording)
        .map(|(generation, command)| Kept::new(Arc::clone(&mapped), generation, &command));
    let own: &'static Own = Box::leak(Box::new(Own {
        process: who.identity.pid,
        mapped,
        control: control.map(CStr::to_owned),
        is_ready: AtomicBool::new(false),
        is_ending: AtomicU32::new(0),
        is_finished: AtomicBool::new(false),
        kept: Mutex::new(Keeping {
            generation,
            kept,
            is_reported: false,
        }),
    }));
    OWN.store(std::ptr::from_ref(own).cast_mut(), Ordering::Release);
    start_thread(drain)
        .and_then(|()| start_thread(supply))
        .map_err(impossible(b"start a thread that writes the trace"))
        .inspect_err(|_| {
            OWN.store(std::ptr::null_mut(), Ordering::Release);
            own.mapped.remove();
        })?;
    memory.publish();
    gate::open(page, memory, who.identity.pid);
    hooks::report(&memory.header().reports.hooks);
    Ok(())
}

/// The folder for memories of this user, which nobody else can look into. The error is an `errno`.
fn folder() -> Result<Vec<u8>, i32> {
    let folder = own_folder().into_os_string().into_vec();
    let path = CString::new(folder.clone()).map_err(|_| libc::EINVAL)?;
    // SAFETY: the path ends with a zero; `stat` is filled in when the call succeeds.
    unsafe {
        let user = libc::geteuid();
        libc::mkdir(path.as_ptr(), 0o700);
        let mut stat: libc::stat = std::mem::zeroed();
        let is_ours = libc::lstat(path.as_ptr(), &mut stat) == 0
            && stat.st_mode & libc::S_IFMT == libc::S_IFDIR
            && stat.st_uid == user
            && stat.st_mode & 0o077 == 0;
        match is_ours {
            true => Ok(folder),
            false => Err(libc::EPERM),
        }
    }
}

/// The command that stands.
fn standing_command(control: Option<&CStr>) -> Option<(u64, Command)> {
    match control {
        Some(control) => ControlFile::copy(control).ok()?.read_command(),
        None => {
            let output = OsStr::from_bytes(settings().output.as_bytes());
            // Processes may change their working directory.
            let output = std::path::absolute(output).ok()?;
            let command = Command::record(output.as_os_str().as_bytes());
            Some((OWN_GENERATION, command))
        }
    }
}

fn start_thread(work: extern "C" fn(*mut c_void) -> *mut c_void) -> Result<(), i32> {
    // SAFETY: signal sets and attributes are initialised before use and live during the calls; the function takes no argument.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        let mut thread: libc::pthread_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_attr_init(&mut attributes);
        libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED);
        libc::pthread_attr_setstacksize(&mut attributes, STACK + smallest_stack(&attributes));
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let error = libc::pthread_create(&mut thread, &attributes, work, std::ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        libc::pthread_attr_destroy(&mut attributes);
        match error {
            0 => Ok(()),
            error => Err(error),
        }
    }
}

/// What the C library takes of a stack for itself: variables of threads, of which the program's libraries may have many.
fn smallest_stack(attributes: &libc::pthread_attr_t) -> usize {
    type MinimumStack = unsafe extern "C" fn(*const libc::pthread_attr_t) -> usize;
    // SAFETY: the name ends with a zero; where the function exists, Rust's own threads use it in this way, too.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"__pthread_get_minstack".as_ptr());
        match found.is_null() {
            true => libc::PTHREAD_STACK_MIN,
            false => std::mem::transmute::<*mut c_void, MinimumStack>(found)(attributes),
        }
    }
}

extern "C" fn drain(_: *mut c_void) -> *mut c_void {
    work(drain_again_and_again)
}

extern "C" fn supply(_: *mut c_void) -> *mut c_void {
    work(supply_again_and_again)
}

/// A thread of the tracer. Whatever becomes of its work, the program begins and ends.
fn work(work: fn(&'static Own)) -> *mut c_void {
    let Some(own) = own() else {
        return std::ptr::null_mut();
    };
    // SAFETY: the name ends with a zero.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"rostrace".as_ptr()) };
    own_heap::wait_for_memory(&end_without_memory);
    if std::panic::catch_unwind(|| work(own)).is_err() {
        give_up(own);
    }
    std::ptr::null_mut()
}

/// Called while there is no memory for what has to be done. When the process ends, what was recorded stays where a reader of the trace finds
/// it.
fn end_without_memory() {
    let Some(own) = own() else {
        return;
    };
    own.is_ready.store(true, Ordering::Release);
    if own.is_ending.load(Ordering::Acquire) != 0 {
        give_up(own);
        loop {
            std::thread::sleep(BETWEEN_LOOKS_AT_NOTHING);
        }
    }
}

fn give_up(own: &Own) {
    own.is_ready.store(true, Ordering::Release);
    own.is_finished.store(true, Ordering::Release);
}

/// Gives the calling thread a table of files of its own: whatever the program closes or replaces, it cannot hit ours, and ours are never in its
/// way. Nothing of the program's stays open in it but standard error, where the recorder is somebody else who has to be told.
fn part_from_files(own: &Own) {
    // SAFETY: plain system calls.
    unsafe {
        if libc::unshare(libc::CLONE_FILES) != 0 {
            return;
        }
        let close = |first: u32, last: u32| libc::syscall(libc::SYS_close_range, first, last, 0);
        match own.control {
            Some(_) => {
                close(0, 1);
                close(3, u32::MAX);
            }
            None => {
                close(0, u32::MAX);
            }
        }
    }
}

fn supply_again_and_again(own: &'static Own) {
    part_from_files(own);
    let mut pace = Pace::default();
    let mut supplier: Option<(u64, Supplier)> = None;
    while own.is_ending.load(Ordering::Acquire) == 0 {
        let recording = &own.mapped.memory().header().recording;
        let epoch = recording.epoch.load(Ordering::Acquire);
        let is_quick = if epoch == 0 {
            supplier = None;
            top_up_idle(&own.mapped);
            false
        } else {
            if supplier.as_ref().is_none_or(|(of, _)| *of != epoch) {
                let bytes = rostrace_session::Settings::default().memory_bytes;
                supplier = Some((epoch, Supplier::new(Arc::clone(&own.mapped), bytes)));
            }
            supplier.as_mut().is_some_and(|(_, it)| it.top_up())
        };
        std::thread::sleep(pace.next(is_quick));
    }
}

fn drain_again_and_again(own: &'static Own) {
    let mut pace = Pace::default();
    let (mut looked, mut flushed) = (clock::monotonic(), clock::monotonic());
    part_from_files(own);
    prepare(own);
    while own.is_ending.load(Ordering::Acquire) == 0 {
        let now = clock::monotonic();
        let is_busy = {
            let mut keeping = own.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if own.control.is_some() && now > looked + BETWEEN_COMMANDS {
                looked = now;
                apply_command(own, &mut keeping);
            }
            let is_due = now > flushed + BETWEEN_FLUSHES;
            if is_due {
                flushed = now;
            }
            keeping.kept.as_mut().is_some_and(|kept| kept.drain(is_due))
        };
        tell(own);
        futex::wait(&own.is_ending, 0, Some(pace.next(is_busy)));
    }
    let mut keeping = own.kept.lock().unwrap_or_else(PoisonError::into_inner);
    stop_recording(own.mapped.memory(), keeping.generation);
    if let Some(mut kept) = keeping.kept.take() {
        kept.finish();
        kept.remove_if_empty();
    }
    own.mapped.remove();
    own.is_finished.store(true, Ordering::Release);
}

/// Makes the folder of the trace, which names the memory: whatever happens to the process then, its events are found.
fn prepare(own: &Own) {
    let mut keeping = own.kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = &mut keeping.kept {
        let _ = kept.prepare();
    }
    own.is_ready.store(true, Ordering::Release);
}

/// Carries out the command that stands.
fn apply_command(own: &Own, keeping: &mut Keeping) {
    let Some((generation, command)) = standing_command(own.control.as_deref()) else {
        return;
    };
    if generation == keeping.generation {
        return;
    }
    keeping.generation = generation;
    let memory = own.mapped.memory();
    stop_recording(memory, generation);
    if let Some(mut kept) = keeping.kept.take() {
        kept.finish();
    }
    if is_meant(memory, &command)
        && start_recording(memory, generation, &command, &|at, bytes| {
            own.mapped.allocate(at, bytes)
        })
        .is_ok()
    {
        keeping.kept = Some(Kept::new(Arc::clone(&own.mapped), generation, &command));
    }
}

/// Says once that nothing can be written, where the recorder is somebody else.
fn tell(own: &Own) {
    let error = own
        .mapped
        .memory()
        .header()
        .reports
        .errno
        .load(Ordering::Relaxed);
    if error == 0 || own.control.is_none() {
        return;
    }
    let mut keeping = own.kept.lock().unwrap_or_else(PoisonError::into_inner);
    let has_nothing = keeping
        .kept
        .as_ref()
        .is_some_and(|kept| kept.folder().is_none());
    if has_nothing && !std::mem::replace(&mut keeping.is_reported, true) {
        let directory = keeping.kept.as_ref().map(|kept| kept.directory().to_vec());
        complaint::impossible(
            b"write to",
            &directory.unwrap_or_default(),
            error.cast_signed(),
        );
    }
}

/// Before the program begins: until its trace has a folder.
pub(crate) fn wait_until_ready() {
    if let Some(own) = own() {
        wait_for(&own.is_ready);
    }
}

/// The process ends: what is in memory is written to the disk, by the thread that does so anyway. A signal that a file has become too large, for
/// one, must not come to a thread of the program.
pub(crate) fn finish() {
    let Some(own) = own() else {
        return;
    };
    if own.is_ending.swap(1, Ordering::AcqRel) != 0 {
        return;
    }
    futex::wake(&own.is_ending);
    wait_for(&own.is_finished);
}

/// What this process keeps itself; not what its parent did.
fn own() -> Option<&'static Own> {
    // SAFETY: null, or never freed.
    let own = unsafe { OWN.load(Ordering::Acquire).as_ref() }?;
    (own.process == std::process::id()).then_some(own)
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_micros(200));
    }
}
