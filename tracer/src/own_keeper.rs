//! A process that keeps its own memory, with two threads: where there is no recorder (`ROSTRACE_OUTPUT`), or where the recorder cannot
//! reach the memory, being of another user or outside of the container.
//!
//! The threads take no signals, so no handler of the application ever runs on them.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use rostrace_session::keep::collect::own_folder;
use rostrace_session::keep::{
    Kept, Mapped, Pace, Supplier, carry_out, cease, is_meant, top_up_idle,
};
use rostrace_session::{ControlFile, Introduction, Memory, Order};

use crate::settings::settings;
use crate::{clock, complaint, gate, hooks, process, statedump};

/// The order of a process without a recorder: the one that its environment gives.
const OWN_GENERATION: u64 = 2;
/// Between two looks at the control file.
const BETWEEN_ORDERS: u64 = 20_000_000;
/// What is not full is written to the disk at least so often, for those who read meanwhile.
const BETWEEN_FLUSHES: u64 = 1_000_000_000;

#[derive(Debug)]
struct Own {
    process: u32,
    mapped: Arc<Mapped>,
    control: Option<CString>,
    drains: OnceLock<Thread>,
    /// The folder is there, or cannot be made.
    is_ready: AtomicBool,
    is_ending: AtomicBool,
    is_finished: AtomicBool,
    kept: Mutex<Keeping>,
}

/// What is done now.
#[derive(Debug)]
struct Keeping {
    generation: u64,
    kept: Option<Kept>,
    is_told: bool,
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
    let order = order(control);
    let generation = order.as_ref().map_or(0, |(generation, _)| *generation);
    process::begin(&memory, order.clone());
    process::count_missed(&memory);
    let mapped = Arc::new(Mapped::own(memory, path));
    let is_recording = memory.header().orders.epoch.load(Ordering::Relaxed) != 0;
    let kept = order
        .filter(|_| is_recording)
        .map(|(generation, order)| Kept::new(Arc::clone(&mapped), generation, &order));
    let own: &'static Own = Box::leak(Box::new(Own {
        process: who.identity.pid,
        mapped,
        control: control.map(CStr::to_owned),
        drains: OnceLock::new(),
        is_ready: AtomicBool::new(false),
        is_ending: AtomicBool::new(false),
        is_finished: AtomicBool::new(false),
        kept: Mutex::new(Keeping {
            generation,
            kept,
            is_told: false,
        }),
    }));
    start_thread(own, drain_again_and_again)
        .map(|drains| own.drains.set(drains))
        .and_then(|_| start_thread(own, supply_again_and_again))
        .map_err(impossible(b"start a thread that writes the trace"))
        .inspect_err(|_| own.mapped.remove())?;
    memory.publish();
    OWN.store(std::ptr::from_ref(own).cast_mut(), Ordering::Release);
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

/// The order that stands.
fn order(control: Option<&CStr>) -> Option<(u64, Order)> {
    match control {
        Some(control) => ControlFile::copy(control).ok()?.read_order(),
        None => {
            let output = OsStr::from_bytes(settings().output.as_bytes());
            // Processes may change their working directory.
            let output = std::path::absolute(output).ok()?;
            let order = Order::record(output.as_os_str().as_bytes());
            Some((OWN_GENERATION, order))
        }
    }
}

fn start_thread(own: &'static Own, work: fn(&'static Own)) -> Result<Thread, i32> {
    // SAFETY: signal sets are initialised before use and live during the calls.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let started = std::thread::Builder::new()
            .name("rostrace".to_owned())
            .stack_size(128 << 10)
            .spawn(move || work(own));
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        match started {
            Ok(thread) => Ok(thread.thread().clone()),
            Err(error) => Err(error.raw_os_error().unwrap_or(libc::EAGAIN)),
        }
    }
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
    while !own.is_ending.load(Ordering::Acquire) {
        let orders = &own.mapped.memory().header().orders;
        let epoch = orders.epoch.load(Ordering::Acquire);
        let is_quick = if epoch == 0 {
            supplier = None;
            top_up_idle(&own.mapped);
            false
        } else {
            if supplier.as_ref().is_none_or(|(of, _)| *of != epoch) {
                let bytes = rostrace_session::Room::default().memory_bytes;
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
    while !own.is_ending.load(Ordering::Acquire) {
        let now = clock::monotonic();
        let is_busy = {
            let mut keeping = own.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if own.control.is_some() && now > looked + BETWEEN_ORDERS {
                looked = now;
                obey(own, &mut keeping);
            }
            let is_due = now > flushed + BETWEEN_FLUSHES;
            if is_due {
                flushed = now;
            }
            keeping.kept.as_mut().is_some_and(|kept| kept.drain(is_due))
        };
        tell(own);
        std::thread::park_timeout(pace.next(is_busy));
    }
    let mut keeping = own.kept.lock().unwrap_or_else(PoisonError::into_inner);
    cease(own.mapped.memory(), keeping.generation);
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

/// Carries out the order that stands.
fn obey(own: &Own, keeping: &mut Keeping) {
    let Some((generation, order)) = order(own.control.as_deref()) else {
        return;
    };
    if generation == keeping.generation {
        return;
    }
    keeping.generation = generation;
    let memory = own.mapped.memory();
    cease(memory, generation);
    if let Some(mut kept) = keeping.kept.take() {
        kept.finish();
    }
    if is_meant(memory, &order)
        && carry_out(memory, generation, &order, &|at, bytes| {
            own.mapped.allocate(at, bytes)
        })
        .is_ok()
    {
        keeping.kept = Some(Kept::new(Arc::clone(&own.mapped), generation, &order));
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
    if has_nothing && !std::mem::replace(&mut keeping.is_told, true) {
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
    if own.is_ending.swap(true, Ordering::AcqRel) {
        return;
    }
    if let Some(drains) = own.drains.get() {
        drains.unpark();
    }
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
