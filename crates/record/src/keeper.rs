//! The keeper of all processes of a session while they are recorded: finds them, gives them packets, writes what they recorded, and sees
//! them end.
//!
//! One thread gives out packets and another one reads what the kernel tells of context switches; these never touch the disk. A third one
//! does everything else, and may have to wait for the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rostrace_session::keep::{
    Kept, Mapped, OpenError, Pace, SAMPLES_FOLDER, SCHED_FOLDER, SchedBuffer, SchedTrace, Supplier,
    also_record, is_meant, start_recording, stop_recording,
};
use rostrace_session::memory::spare;
use rostrace_session::{Command, ControlFile, Identity, ProcessView, events};

use crate::death::{Death, Deathwatch, End};
use crate::liveness;
use crate::perf::{ContextSwitches, Refusal, StackSamples};
use crate::sampling::{self, Sampling};

/// Between two looks for new processes.
const DISCOVERY: Duration = Duration::from_millis(5);
/// Between two looks whether processes are still there.
const LIVENESS: Duration = Duration::from_millis(100);
/// Between two looks at context switches: a ring of the kernel has room for many more than a CPU can make in this time.
const SWITCHES: Duration = Duration::from_millis(20);
const MANY_SWITCHES: Duration = Duration::from_millis(2);
/// What is not full is written to the disk at least so often, for those who read meanwhile.
const FLUSHES: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Keeper {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    control: Arc<ControlFile>,
    folder: PathBuf,
    generation: u64,
    command: Command,
    is_ending: AtomicBool,
    /// All processes of the session, for those who may not wait for the disk.
    processes: Mutex<BTreeMap<PathBuf, Arc<Mapped>>>,
    kept: Mutex<Keeping>,
    /// Snapshots that processes requested which are gone.
    snapshot_requests: Mutex<BTreeMap<Identity, u64>>,
    deathwatch: Deathwatch,
    switches: Option<Switches>,
    /// Threads of processes whose context switches the system refuses to tell have their CPU clocks read.
    with_clocks: bool,
    /// It refused those of all of them after the recording had begun.
    reads_clocks: AtomicBool,
    sampling: Option<Sampling>,
}

/// Context switches, where they are recorded. Whoever locks both locks the rings first.
#[derive(Debug)]
struct Switches {
    rings: Mutex<ContextSwitches>,
    buffer: Mutex<SchedBuffer>,
}

/// What only one thread looks at while it runs.
#[derive(Debug, Default)]
struct Keeping {
    recorded: BTreeMap<PathBuf, Kept>,
    ended: Ended,
    sched: Option<SchedTrace>,
    /// Something of a process is on the disk: context switches alone are no recording.
    has_processes: bool,
}

/// Sums over processes that are gone.
#[derive(Debug, Clone, Default)]
pub struct Ended {
    pub processes: u64,
    pub events: u64,
    pub discarded: u64,
    pub bytes: u64,
    /// Of those that did not end in an orderly way.
    pub deaths: Vec<Death>,
    pub views: Vec<ProcessView>,
    /// A process whose context switches could not be followed, although others could.
    pub unfollowed: Option<(u32, Refusal)>,
    /// Samples of call stacks, where they were asked for.
    pub samples: u64,
    /// A process that could not be sampled, although others could.
    pub unsampled: Option<(u32, Refusal)>,
}

impl Keeping {
    /// Whether something of a process is on the disk.
    fn notice_processes(&mut self) -> bool {
        self.has_processes = self.has_processes
            || self.ended.processes > 0
            || (self.recorded.values()).any(|kept| kept.folder().is_some());
        self.has_processes
    }
}

impl Keeper {
    /// The command was issued in the control file. What the kernel tells of the processes is left out.
    pub fn start(
        control: Arc<ControlFile>,
        folder: PathBuf,
        generation: u64,
        command: Command,
    ) -> std::io::Result<Keeper> {
        Keeper::with_kernel(control, folder, generation, command, None, false, None)
    }

    /// The same with it. `with_clocks` says whether CPU clocks are read where the system refuses context switches.
    pub(crate) fn with_kernel(
        control: Arc<ControlFile>,
        folder: PathBuf,
        generation: u64,
        command: Command,
        switches: Option<ContextSwitches>,
        with_clocks: bool,
        samples: Option<StackSamples>,
    ) -> std::io::Result<Keeper> {
        let declared = switches.as_ref().map(ContextSwitches::declared);
        let switches = switches.map(|rings| Switches {
            rings: Mutex::new(rings),
            buffer: Mutex::new(SchedBuffer::new(command.settings.memory_bytes)),
        });
        let sampling = samples.map(|stacks| Sampling::new(&command, stacks));
        let keeping = Keeping {
            sched: declared.map(|declared| SchedTrace::new(&command, declared)),
            ..Keeping::default()
        };
        let shared = Arc::new(Shared {
            control,
            folder,
            generation,
            command,
            is_ending: AtomicBool::new(false),
            processes: Mutex::default(),
            kept: Mutex::new(keeping),
            snapshot_requests: Mutex::default(),
            deathwatch: Deathwatch::default(),
            switches,
            with_clocks,
            reads_clocks: AtomicBool::new(false),
            sampling,
        });
        // Those that are there begin at once.
        shared.discover(&mut lock(&shared.kept));
        let spawn = |name: &str, work: fn(&Shared)| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || work(&shared))
        };
        let spawned = [
            spawn("supply", Shared::supply_again_and_again),
            spawn("drain", Shared::drain_again_and_again),
            spawn("deathwatch", Shared::watch_ends),
        ];
        let follows = shared.switches.is_some();
        let follower = follows.then(|| spawn("switches", Shared::follow_switches));
        let samples = shared.sampling.is_some();
        let sampler = samples.then(|| spawn("samples", Shared::read_samples_again_and_again));
        let mut threads = Vec::new();
        for thread in spawned.into_iter().chain(follower).chain(sampler) {
            match thread {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    shared.is_ending.store(true, Ordering::Release);
                    return Err(error);
                }
            }
        }
        Ok(Keeper { shared, threads })
    }

    /// Whether the kernel is to tell of a command from its first instruction on.
    pub(crate) fn hears_of_commands(&self) -> bool {
        self.shared.switches.is_some() || self.shared.sampling.is_some()
    }

    /// Has context switches recorded, and samples taken, of whatever this thread of ours starts. Says why either is refused.
    pub(crate) fn follow_children_of(&self, starter: u32) -> [Option<Refusal>; 2] {
        let (switches, sampling) = (&self.shared.switches, &self.shared.sampling);
        [
            (switches.as_ref()).and_then(|it| lock(&it.rings).follow_children_of(starter)),
            (sampling.as_ref()).and_then(|it| it.follow_children_of(starter)),
        ]
    }

    /// The system refuses context switches after all: from now on CPU clocks are read.
    pub(crate) fn read_clocks(&self) {
        self.shared.reads_clocks.store(true, Ordering::Release);
    }

    /// Processes that are there, and those that are gone.
    pub fn views(&self) -> Vec<ProcessView> {
        let processes = lock(&self.shared.processes);
        let views = processes.values().map(|mapped| mapped.memory().view());
        views.collect()
    }

    /// Sums over those that are gone; None while the disk is being waited for.
    pub fn ended(&self) -> Option<Ended> {
        let keeping = self.shared.kept.try_lock().ok()?;
        Some(keeping.ended.clone())
    }

    /// How often processes have requested a snapshot, and the last one that did.
    pub fn snapshot_requests(&self) -> BTreeMap<Identity, u64> {
        let mut all = lock(&self.shared.snapshot_requests).clone();
        let processes = lock(&self.shared.processes);
        let asked = processes.values().map(|mapped| {
            let header = mapped.memory().header();
            let count = header.reports.snapshot_requests.load(Ordering::Acquire);
            (header.identity(), count)
        });
        all.extend(asked.filter(|(_, count)| *count > 0));
        all
    }

    /// Writes everything that was recorded until now to the disk.
    pub fn flush(&self) {
        let mut keeping = lock(&self.shared.kept);
        for kept in keeping.recorded.values_mut() {
            kept.drain(true);
        }
        self.shared.read_switches();
        self.shared.drain_switches(&mut keeping, true);
        self.shared.drain_samples(&mut keeping, true);
    }

    /// Lets the recording go on until then, also in processes that begin later.
    pub fn postpone(&self, deadline: u64) {
        self.shared.control.postpone(deadline);
        for mapped in lock(&self.shared.processes).values() {
            let recording = &mapped.memory().header().recording;
            recording.deadline.store(deadline, Ordering::Relaxed);
        }
    }

    /// Ends the recording in all processes, and writes what is left. Returns sums over all of them.
    pub fn finish(mut self) -> Ended {
        self.end_threads();
        let shared = &self.shared;
        let idle = shared.control.generation.load(Ordering::Acquire);
        let mut keeping = lock(&shared.kept);
        shared.discover(&mut keeping);
        for kept in keeping.recorded.values() {
            stop_recording(kept.mapped().memory(), idle);
        }
        for mapped in lock(&shared.processes).values() {
            let recording = &mapped.memory().header().recording;
            recording.generation.store(idle, Ordering::Release);
        }
        shared.prepare_switches(&mut keeping);
        let Keeping {
            recorded, ended, ..
        } = &mut *keeping;
        for (path, mut kept) in std::mem::take(recorded) {
            kept.finish();
            let is_gone = !liveness::is_alive(kept.mapped());
            ended.add(&kept);
            if is_gone {
                ended.bury(&kept, shared.deathwatch.end(&path));
                kept.mapped().remove();
                lock(&shared.processes).remove(&path);
            }
        }
        shared.finish_switches(&mut keeping);
        shared.finish_samples(&mut keeping);
        keeping.ended.clone()
    }

    fn end_threads(&mut self) {
        self.shared.is_ending.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Without [`finish`](Keeper::finish) everything is left as it is, as if this process had been killed.
impl Drop for Keeper {
    fn drop(&mut self) {
        self.end_threads();
    }
}

impl Shared {
    fn supply_again_and_again(&self) {
        let mut suppliers: BTreeMap<PathBuf, Supplier> = BTreeMap::new();
        let mut pace = Pace::default();
        while !self.is_ending.load(Ordering::Acquire) {
            let processes = lock(&self.processes).clone();
            suppliers.retain(|path, _| processes.contains_key(path));
            let mut is_quick = false;
            for (path, mapped) in processes {
                let memory_bytes = self.command.settings.memory_bytes;
                let supplier = suppliers
                    .entry(path)
                    .or_insert_with(|| Supplier::new(Arc::clone(&mapped), memory_bytes));
                let epoch = &mapped.memory().header().recording.epoch;
                if epoch.load(Ordering::Acquire) != 0 {
                    is_quick |= supplier.top_up();
                }
            }
            std::thread::sleep(pace.next(is_quick));
        }
    }

    fn watch_ends(&self) {
        self.deathwatch.look_until(&self.is_ending);
    }

    fn drain_again_and_again(&self) {
        let mut pace = Pace::default();
        let begin = Instant::now();
        let (mut discovered, mut looked, mut flushed) = (begin, begin, begin);
        while !self.is_ending.load(Ordering::Acquire) {
            let mut keeping = lock(&self.kept);
            if discovered.elapsed() >= DISCOVERY {
                discovered = Instant::now();
                self.discover(&mut keeping);
            }
            let wanted = self.control.flushes_wanted.load(Ordering::Acquire);
            let is_asked = wanted != self.control.flushes_done.load(Ordering::Relaxed);
            let is_due = is_asked || flushed.elapsed() >= FLUSHES;
            let mut is_busy = false;
            self.prepare_switches(&mut keeping);
            for kept in keeping.recorded.values_mut() {
                is_busy |= kept.drain(is_due);
            }
            if is_asked {
                self.read_switches();
            }
            is_busy |= self.drain_switches(&mut keeping, is_due);
            is_busy |= self.drain_samples(&mut keeping, is_due);
            if is_due {
                flushed = Instant::now();
                self.control.flushes_done.store(wanted, Ordering::Release);
            }
            if looked.elapsed() >= LIVENESS {
                looked = Instant::now();
                self.bury_the_dead(&mut keeping);
                for kept in keeping.recorded.values() {
                    self.read_clocks_of(kept.mapped());
                }
            }
            drop(keeping);
            std::thread::sleep(pace.next(is_busy));
        }
    }

    fn read_samples_again_and_again(&self) {
        while let Some(sampling) = &self.sampling
            && !self.is_ending.load(Ordering::Acquire)
        {
            sampling.read();
            std::thread::sleep(sampling::BETWEEN_READS);
        }
    }

    /// Writes samples that wait, once there is a process that they are of.
    fn drain_samples(&self, keeping: &mut Keeping, all: bool) -> bool {
        let has_processes = keeping.notice_processes();
        let Some(sampling) = &self.sampling else {
            return false;
        };
        if all {
            sampling.read();
        }
        has_processes && sampling.drain(all)
    }

    fn finish_samples(&self, keeping: &mut Keeping) {
        self.drain_samples(keeping, true);
        if let Some(sampling) = &self.sampling
            && keeping.has_processes
        {
            let sampled = sampling.finish();
            let ended = &mut keeping.ended;
            ended.events += sampled.events;
            ended.discarded += sampled.discarded;
            ended.bytes += sampled.bytes;
            ended.samples = sampled.samples;
            ended.unsampled = sampled.refused;
        }
    }

    fn follow_switches(&self) {
        while !self.is_ending.load(Ordering::Acquire) {
            let is_quick = self.read_switches();
            std::thread::sleep(if is_quick { MANY_SWITCHES } else { SWITCHES });
        }
    }

    /// Takes what the kernel has written. Returns whether that was much.
    fn read_switches(&self) -> bool {
        let Some(switches) = &self.switches else {
            return false;
        };
        let mut rings = lock(&switches.rings);
        let mut buffer = lock(&switches.buffer);
        let is_quick = rings.read(&mut buffer);
        rings.complete(&mut buffer);
        is_quick
    }

    /// Follows a process, unless it descends from one that is followed.
    fn follow(&self, identity: &Identity) {
        if let Some(sampling) = &self.sampling
            && let Some(pid) = liveness::pid_here(identity)
        {
            sampling.follow(pid);
        }
        if let Some(switches) = &self.switches
            && let Some(pid) = liveness::pid_here(identity)
        {
            let mut rings = lock(&switches.rings);
            let mut buffer = lock(&switches.buffer);
            // Who was started by whom is known up to now.
            rings.read(&mut buffer);
            rings.follow(pid, &mut buffer);
        }
    }

    /// Has the CPU clocks of threads read in a process whose context switches cannot be followed.
    fn read_clocks_of(&self, mapped: &Mapped) {
        let is_refused = |switches: &Switches| {
            let rings = lock(&switches.rings);
            let identity = mapped.memory().header().identity();
            rings.has_refused()
                && liveness::pid_here(&identity).is_some_and(|pid| rings.is_refused(pid))
        };
        if self.with_clocks
            && (self.reads_clocks.load(Ordering::Acquire)
                || self.switches.as_ref().is_some_and(is_refused))
        {
            also_record(mapped.memory(), events::ROSTRACE_THREAD_CLOCK);
        }
    }

    /// Makes the folder of context switches when the first process has one, before its events can fill the disk: what says that something is
    /// missing must be there then.
    fn prepare_switches(&self, keeping: &mut Keeping) {
        if keeping.has_processes || keeping.sched.is_none() && self.sampling.is_none() {
            return;
        }
        for kept in keeping.recorded.values_mut() {
            kept.drain_initialisation();
        }
        if keeping.notice_processes() {
            if let Some(sched) = &mut keeping.sched {
                sched.prepare();
            }
            if let Some(sampling) = &self.sampling {
                sampling.prepare();
            }
        }
    }

    /// Writes context switches that wait, once there is a process that they are of.
    fn drain_switches(&self, keeping: &mut Keeping, all: bool) -> bool {
        let has_processes = keeping.notice_processes();
        let Some((switches, sched)) = self.switches.as_ref().zip(keeping.sched.as_mut()) else {
            return false;
        };
        has_processes && sched.drain(&switches.buffer, all)
    }

    fn finish_switches(&self, keeping: &mut Keeping) {
        self.read_switches();
        self.drain_switches(keeping, true);
        let has_folders = || folders(Path::new(OsStr::from_bytes(&self.command.directory)));
        let Some((switches, sched)) = self.switches.as_ref().zip(keeping.sched.as_mut()) else {
            return;
        };
        // Processes of other users write their own.
        if !keeping.has_processes && has_folders().next().is_none() {
            return;
        }
        sched.finish(&switches.buffer);
        let ended = &mut keeping.ended;
        ended.events += sched.events();
        ended.discarded += sched.unwritten() + lock(&switches.buffer).lost();
        ended.bytes += sched.bytes();
        ended.unfollowed = lock(&switches.rings).refused();
    }

    /// Finds processes that have attached since the last time, and begins to record them.
    fn discover(&self, keeping: &mut Keeping) {
        spare::top_up(&self.folder);
        for path in files(&self.folder) {
            if lock(&self.processes).contains_key(&path) {
                continue;
            }
            let mapped = match Mapped::open(&path) {
                Ok(mapped) => Arc::new(mapped),
                // It is looked at again.
                Err(OpenError::NotReady | OpenError::System(_) | OpenError::Foreign) => continue,
            };
            lock(&self.processes).insert(path.clone(), Arc::clone(&mapped));
            let memory = mapped.memory();
            let recording = &memory.header().recording;
            let has_begun = recording.epoch.load(Ordering::Acquire) == self.generation;
            if !has_begun && !is_meant(memory, &self.command) {
                continue;
            }
            if !has_begun {
                let allocate = |at, bytes| mapped.allocate(at, bytes);
                let command = Command {
                    deadline: self.control.deadline(),
                    ..self.command.clone()
                };
                let begun = start_recording(memory, self.generation, &command, &allocate);
                if let Err(error) = begun {
                    let errno = &memory.header().reports.errno;
                    errno.store(error.cast_unsigned(), Ordering::Relaxed);
                    continue;
                }
            }
            let identity = memory.header().identity();
            self.deathwatch.watch(&path, &identity);
            self.follow(&identity);
            self.read_clocks_of(&mapped);
            let kept = Kept::new(mapped, self.generation, &self.command);
            keeping.recorded.insert(path, kept);
        }
    }

    /// Completes the traces of processes that are gone, and of programs that became others.
    fn bury_the_dead(&self, keeping: &mut Keeping) {
        let processes = lock(&self.processes).clone();
        let newest = newest(processes.keys());
        for (path, mapped) in processes {
            let identity = mapped.memory().header().identity();
            let is_alive = liveness::is_alive(&mapped);
            if is_alive && newest.contains(&path) {
                continue;
            }
            let requests = &mapped.memory().header().reports.snapshot_requests;
            let asked = requests.load(Ordering::Acquire);
            if asked > 0 {
                lock(&self.snapshot_requests).insert(identity, asked);
            }
            if let Some(mut kept) = keeping.recorded.remove(&path) {
                kept.finish();
                keeping.ended.add(&kept);
                // One that has become another program is no less alive.
                match !is_alive && newest.contains(&path) {
                    true => keeping.ended.bury(&kept, self.deathwatch.end(&path)),
                    false => self.deathwatch.forget(&path),
                }
            }
            mapped.remove();
            lock(&self.processes).remove(&path);
        }
    }
}

impl Ended {
    fn add(&mut self, kept: &Kept) {
        let view = kept.mapped().memory().view();
        // A process that was never heard of again after it had attached was not recorded.
        if kept.folder().is_some() || kept.events() + kept.discarded() > 0 {
            self.processes += 1;
        }
        self.events += kept.events();
        self.discarded += kept.discarded();
        self.bytes += kept.bytes();
        self.views.push(view);
    }

    /// The process is gone.
    fn bury(&mut self, kept: &Kept, end: Option<End>) {
        let view = kept.mapped().memory().view();
        self.deaths.extend(Death::of(&view, end));
    }
}

/// Folders of processes, by name.
pub(crate) fn folders(output: &Path) -> impl Iterator<Item = std::fs::DirEntry> {
    let entries = std::fs::read_dir(output).into_iter().flatten().flatten();
    entries.filter(|entry| {
        entry.file_type().is_ok_and(|kind| kind.is_dir())
            && ![SCHED_FOLDER, SAMPLES_FOLDER]
                .iter()
                .any(|it| entry.file_name() == *it)
    })
}

/// The memories of processes in a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            name.as_encoded_bytes()
                .first()
                .is_some_and(u8::is_ascii_digit)
        })
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

/// `PID-STARTED-MADE`: a process that becomes another program makes new memory, and the older one is used by nobody.
pub(crate) fn newest<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> BTreeSet<PathBuf> {
    let mut newest: BTreeMap<String, (u64, &PathBuf)> = BTreeMap::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut parts = name.splitn(3, '-');
        let process = format!("{:?}-{:?}", parts.next(), parts.next());
        let made = parts.next().and_then(|it| it.parse().ok()).unwrap_or(0);
        let known = newest.entry(process).or_insert((made, path));
        if known.0 < made {
            *known = (made, path);
        }
    }
    newest.into_values().map(|(_, path)| path.clone()).collect()
}

/// A thread that panicked left nothing half done that matters more than the rest.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_program_that_became_another_is_not_the_newest() {
        let all: Vec<PathBuf> = ["/m/7-1-1", "/m/7-1-10", "/m/7-1-9", "/m/8-1-5"]
            .map(PathBuf::from)
            .to_vec();
        let newest = newest(all.iter());
        let expected = ["/m/7-1-10", "/m/8-1-5"].map(PathBuf::from);
        assert_eq!(newest, BTreeSet::from(expected));
    }
}
