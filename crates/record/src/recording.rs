//! One recording of one session, from the order to record to files that are complete.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rostrace_session::{Failed, Identity, Order, ProcessState, ProcessView, Stranger, stream_file};

use crate::error::Error;
use crate::plan::Plan;
use crate::session::Session;
use crate::storage::{self, Space};

/// So long is waited for processes to complete their files. Their helper threads need some milliseconds; a stopped process would
/// need for ever.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Recording<'s> {
    session: &'s Session,
    output: PathBuf,
    generation: u64,
    keep_free: u64,
    is_flight: bool,
    /// Held until the end.
    _lock: File,
    /// What processes that were killed had said last.
    killed: Progress,
    killed_identities: BTreeSet<(u32, u64)>,
    failures: BTreeSet<Failure>,
    /// Snapshots that processes had asked for.
    snapshots: u64,
    unexpected_hooks: BTreeSet<usize>,
}

/// What the control page says of a hook whose original's data do not look as expected.
const UNEXPECTED: u8 = 3;

/// How it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// That record or have recorded.
    pub processes: u64,
    /// That are attached now, whether they record or not.
    pub attached: u64,
    pub events: u64,
    pub discarded: u64,
    pub bytes: u64,
}

/// How it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub output: PathBuf,
    pub processes: u64,
    pub events: u64,
    pub discarded: u64,
    pub is_flight: bool,
    /// Processes that did not complete their files in time; what they wrote can be read.
    pub unfinished: Vec<(u32, String)>,
    /// Processes that ended without a chance to complete their files; what they wrote can be read.
    pub killed: u64,
    /// Processes that could not record, or not everything.
    pub failures: Vec<Failure>,
    /// Processes that could not record everything and have ended, with the system error of one of them.
    pub ended_failures: Option<(u64, u32)>,
    /// Numbers of hooks that found something else than they know, in the order of the tracer's list.
    pub unexpected_hooks: Vec<usize>,
    /// Processes of the session whose tracer is of another version.
    pub strangers: Option<Stranger>,
}

/// A process that could not record, or not everything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    pub pid: u32,
    pub name: String,
    /// A number of the system.
    pub errno: u32,
}

impl<'s> Recording<'s> {
    /// Makes the folder of the trace and gives the order. Processes that attach later begin when they do.
    pub fn start(session: &'s Session, plan: &Plan) -> Result<Recording<'s>, Error> {
        let lock = session.lock_recorder()?;
        let mut order = plan.order()?;
        let output = new_folder(&plan.output)?;
        let remove = |error| {
            let _ = fs::remove_dir(&output);
            error
        };
        if plan.is_for_all_users {
            // As /tmp is: everybody may make something, and nobody may remove what others made.
            let mode = fs::Permissions::from_mode(0o1777);
            fs::set_permissions(&output, mode)
                .map_err(|error| remove(Error::file("could not open to all", &output)(error)))?;
        }
        order.directory = std::os::unix::ffi::OsStrExt::as_bytes(output.as_os_str()).to_vec();
        let space = storage::space(&output).map_err(remove)?;
        if space.free < plan.keep_free {
            return Err(remove(Error::NoSpace {
                path: plan.output.clone(),
                free: mebibytes(space.free),
                wanted: mebibytes(plan.keep_free),
            }));
        }
        session.forget_dead();
        choose(session, &plan.pids).map_err(remove)?;
        let control = session.control();
        let ended = &control.ended;
        for sum in [
            &ended.processes,
            &ended.events,
            &ended.discarded,
            &ended.bytes,
            &control.failed.processes,
        ] {
            sum.store(0, Ordering::Relaxed);
        }
        let generation = control
            .order(&order)
            .ok_or_else(|| remove(Error::PathTooLong(plan.output.clone())))?;
        Ok(Recording {
            session,
            output,
            generation,
            keep_free: plan.keep_free,
            is_flight: plan.flight.is_some(),
            _lock: lock,
            killed: Progress::default(),
            killed_identities: BTreeSet::new(),
            failures: BTreeSet::new(),
            snapshots: control.wishes.snapshots().0,
            unexpected_hooks: BTreeSet::new(),
        })
    }

    pub fn output(&self) -> &Path {
        &self.output
    }

    /// Whether the order still stands; `rostrace stop` gives another one.
    pub fn is_standing(&self) -> bool {
        self.session.control().generation.load(Ordering::Acquire) == self.generation
    }

    /// Whether whoever started the processes is gone, and so are they: nothing will come any more.
    pub fn is_abandoned(&self) -> bool {
        !self.session.has_owner() && self.session.processes().is_empty()
    }

    /// What is free on the disk, and whether that is too little to go on.
    pub fn space(&self) -> Option<(Space, bool)> {
        let space = storage::space(&self.output).ok()?;
        Some((space, space.is_short(self.keep_free)))
    }

    /// Counts, and notices processes that were killed.
    pub fn progress(&mut self) -> Progress {
        for dead in self.session.forget_dead() {
            self.note_failure(&dead);
            if dead.recorded == self.generation {
                self.add_killed(&dead);
            }
        }
        let ended = &self.session.control().ended;
        let mut progress = self.killed;
        // The number of processes last: it says whether there is anything at all.
        progress.events += ended.events.load(Ordering::Relaxed);
        progress.discarded += ended.discarded.load(Ordering::Relaxed);
        progress.bytes += ended.bytes.load(Ordering::Relaxed);
        progress.processes += ended.processes.load(Ordering::Acquire);
        for view in self.session.processes() {
            progress.attached += 1;
            self.note_failure(&view);
            if view.recorded == self.generation {
                let hooks = view.hooks.iter().enumerate();
                let unexpected = hooks.filter(|(_, state)| **state == UNEXPECTED);
                self.unexpected_hooks
                    .extend(unexpected.map(|(number, _)| number));
                add(&mut progress, &view);
            }
        }
        progress
    }

    fn note_failure(&mut self, view: &ProcessView) {
        if view.errno != 0
            && (view.recorded == self.generation || view.state == ProcessState::Failed)
        {
            self.failures.insert(Failure {
                pid: view.identity.pid,
                name: name(&view.identity),
                errno: view.errno,
            });
        }
    }

    /// Of processes that cannot record everything, as far as it is known by now.
    pub fn failures(&self) -> &BTreeSet<Failure> {
        &self.failures
    }

    /// Processes whose tracer is of another version.
    pub fn strangers(&self) -> Option<Stranger> {
        self.session.strangers()
    }

    /// The pid of a process that has asked for a snapshot since the last time.
    pub fn asks_for_snapshot(&mut self) -> Option<u32> {
        let (count, pid) = self.session.control().wishes.snapshots();
        let is_new = count != self.snapshots;
        self.snapshots = count;
        is_new.then_some(pid)
    }

    fn add_killed(&mut self, dead: &ProcessView) {
        add(&mut self.killed, dead);
        self.killed_identities
            .insert((dead.identity.pid, dead.identity.start_time));
    }

    /// Ends it: orders, waits until files are complete, and cuts off what killed processes had not used.
    pub fn finish(mut self) -> Summary {
        let control = self.session.control();
        if self.is_standing() {
            control.order(&Order::idle());
        }
        let begin = Instant::now();
        let mut unfinished = self.writing();
        let mut quiet = 0;
        // Twice nothing: a process may have been about to begin when the order came.
        while quiet < 2 && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
            self.progress();
            unfinished = self.writing();
            quiet = if unfinished.is_empty() { quiet + 1 } else { 0 };
        }
        let progress = self.progress();
        for folder in self.folders_of_killed() {
            let _ = stream_file::trim(&folder);
        }
        Summary {
            processes: progress.processes,
            events: progress.events,
            discarded: progress.discarded,
            is_flight: self.is_flight,
            unfinished: unfinished
                .iter()
                .map(|view| (view.identity.pid, name(&view.identity)))
                .collect(),
            killed: self.killed_identities.len() as u64,
            failures: self.failures.into_iter().collect(),
            ended_failures: ended_failures(&self.session.control().failed),
            strangers: self.session.strangers(),
            unexpected_hooks: self.unexpected_hooks.into_iter().collect(),
            output: self.output,
        }
    }

    fn writing(&self) -> Vec<ProcessView> {
        let mut views = self.session.processes();
        views.retain(|view| view.writing > 0 || view.state == ProcessState::Recording);
        views
    }

    /// Only of processes that certainly exist no more: a file that is cut while it is mapped kills its process.
    fn folders_of_killed(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.output) else {
            return Vec::new();
        };
        let folders = entries.flatten().map(|entry| entry.path());
        folders
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                self.killed_identities
                    .iter()
                    .any(|(pid, start)| is_folder_of(&name, *pid, *start))
            })
            .collect()
    }
}

/// `NAME-PID-STARTED` or `NAME-PID-STARTED-N`; names have no dashes.
fn is_folder_of(name: &str, pid: u32, start: u64) -> bool {
    let mut parts = name.split('-').skip(1);
    parts.next() == Some(&pid.to_string()) && parts.next() == Some(&start.to_string())
}

fn ended_failures(failed: &Failed) -> Option<(u64, u32)> {
    let processes = failed.processes.load(Ordering::Acquire);
    let errno = failed.errno.load(Ordering::Relaxed) as u32;
    (processes > 0).then_some((processes, errno))
}

fn add(progress: &mut Progress, view: &ProcessView) {
    progress.processes += 1;
    progress.events += view.events;
    progress.discarded += view.discarded;
    progress.bytes += view.bytes;
}

/// First bytes of the program's name.
pub(crate) fn name(identity: &Identity) -> String {
    let end = identity.name.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&identity.name[..end.unwrap_or(16)]).into_owned()
}

fn choose(session: &Session, pids: &[u32]) -> Result<(), Error> {
    let slots = &session.control().processes;
    for pid in pids {
        let is_there = |view: ProcessView| view.identity.pid == *pid;
        if !slots.iter().any(|slot| slot.view().is_some_and(is_there)) {
            return Err(Error::NoSuchProcess {
                session: session.id.clone(),
                pid: *pid,
            });
        }
    }
    for slot in slots {
        if let Some(view) = slot.view() {
            slot.choose(pids.contains(&view.identity.pid));
        }
    }
    Ok(())
}

/// Makes the folder, which must not exist, and returns its path without links.
pub(crate) fn new_folder(path: &Path) -> Result<PathBuf, Error> {
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        fs::create_dir_all(parent).map_err(Error::file("could not make", parent))?;
    }
    match fs::create_dir(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Error::Exists {
                path: path.to_owned(),
            });
        }
        Err(error) => return Err(Error::file("could not make", path)(error)),
    }
    fs::canonicalize(path).map_err(Error::file("could not find", path))
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_belong_to_processes() {
        assert!(is_folder_of("talker-12-345", 12, 345));
        assert!(is_folder_of("talker-12-345-1", 12, 345));
        assert!(!is_folder_of("talker-123-345", 12, 345));
        assert!(!is_folder_of("12-345", 12, 345));
    }
}
