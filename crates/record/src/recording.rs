//! One recording of one session, from the command to record to files that are complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rostrace_session::keep::{MEMORY_LINK, Mapped};
use rostrace_session::{Command, Identity, IncompatibleTracer, ProcessView, Settings, clock};

use crate::death::Death;
use crate::error::Error;
use crate::keeper::{Ended, Keeper, folders};
use crate::launch::{Launch, Running};
use crate::perf::{ContextSwitches, Refusal, StackSamples};
use crate::plan::{Plan, Switches};
use crate::session::Session;
use crate::snapshot;
use crate::starter::Starter;
use crate::storage::{self, Space};

/// So long is waited for processes that keep their own memory to complete their files.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Recording<'s> {
    session: &'s Session,
    output: PathBuf,
    generation: u64,
    settings: Settings,
    /// When processes end it by themselves; 0 for never.
    deadline: u64,
    keeper: Keeper,
    /// Held until the end.
    _lock: File,
    /// The last that was known while the disk was being waited for.
    ended: Ended,
    failures: BTreeSet<Failure>,
    /// Snapshots that processes had requested.
    snapshot_requests: BTreeMap<Identity, u64>,
    unexpected_hooks: BTreeSet<usize>,
    switches: Switches,
    /// Why context switches are not recorded, although they should be.
    refusal: Option<Refusal>,
    scope: Option<SwitchScope>,
    /// Why the kernel's own tracepoints are not recorded, or not all of those that were chosen.
    without_tracepoints: Option<Refusal>,
    /// Why samples are not taken, although they should be.
    sample_refusal: Option<Refusal>,
}

/// Whose context switches are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchScope {
    /// Those of recorded threads.
    Recorded,
    /// Those of all threads of the machine, with who woke them.
    Machine,
}

/// A recording that has a duration ends so long after it, also when the recorder was killed. One that lives says again and again that it goes on.
const LEASE: Duration = Duration::from_secs(1);

/// On the clock of processes.
fn after(duration: Duration) -> u64 {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    clock::monotonic().saturating_add(nanos)
}

/// What the memory of a process says of a hook whose original's data do not look as expected.
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
    /// Processes that did not end in an orderly way; everything that they wrote is there.
    pub deaths: Vec<Death>,
    /// Processes that could not record, or not everything.
    pub failures: Vec<Failure>,
    /// Numbers of hooks that found something else than they know, in the order of the tracer's list.
    pub unexpected_hooks: Vec<usize>,
    /// Processes of the session whose tracer is of another version.
    pub incompatible_tracers: Option<IncompatibleTracer>,
    /// Whose context switches were recorded; nothing if none were.
    pub switch_scope: Option<SwitchScope>,
    /// Why the kernel's own tracepoints were not recorded, or not all of those that were chosen.
    pub without_tracepoints: Option<Refusal>,
    /// Why context switches were not recorded, although they were asked for: of no process, or not of this one.
    pub without_switches: Option<(Option<u32>, Refusal)>,
    /// Whether the CPU clocks of threads were read instead.
    pub read_clocks: bool,
    /// Samples of call stacks, where they were asked for.
    pub samples: u64,
    /// Why they are missing: of all processes, or of this one.
    pub without_samples: Option<(Option<u32>, Refusal)>,
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
    /// Makes the folder of the trace and issues the command. Processes that attach later begin when they do.
    pub fn start(session: &'s Session, plan: &Plan) -> Result<Recording<'s>, Error> {
        let lock = session.lock_recorder()?;
        // What a recorder left that was killed is written down first.
        session.complete_orphans();
        let mut command = plan.command()?;
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
        command.clock_offset = Some(clock::offset());
        command.directory = std::os::unix::ffi::OsStrExt::as_bytes(output.as_os_str()).to_vec();
        let space = storage::space(&output).map_err(remove)?;
        if space.free < plan.settings.keep_free {
            return Err(remove(Error::NoSpace {
                path: plan.output.clone(),
                free: mebibytes(space.free),
                wanted: mebibytes(plan.settings.keep_free),
            }));
        }
        session.forget_dead();
        choose(session, &plan.pids).map_err(remove)?;
        if let Some(duration) = plan.duration {
            command.deadline = after(duration.saturating_add(LEASE));
        }
        let deadline = command.deadline;
        let (switches, refusal) = match plan.switches {
            Switches::Auto | Switches::Perf => match ContextSwitches::new(plan.kernel) {
                Ok(switches) => (Some(switches), None),
                Err(refusal) => (None, Some(refusal)),
            },
            Switches::Clocks | Switches::Off => (None, None),
        };
        if plan.switches == Switches::Auto && refusal.is_some() {
            command.read_clocks(true);
        }
        let control = session.control();
        let generation = control
            .issue(&command)
            .ok_or_else(|| remove(Error::PathTooLong(plan.output.clone())))?;
        let folder = session.memory_folder();
        let (samples, sample_refusal) = match plan.sample_hertz.map(StackSamples::new) {
            Some(Ok(samples)) => (Some(samples), None),
            Some(Err(refusal)) => (None, Some(refusal)),
            None => (None, None),
        };
        let scope = switches.as_ref().map(|it| match it.has_tracepoints() {
            true => SwitchScope::Machine,
            false => SwitchScope::Recorded,
        });
        let without_tracepoints = switches.as_ref();
        let without_tracepoints =
            without_tracepoints.and_then(|it| it.without_tracepoints().cloned());
        let with_clocks = plan.switches == Switches::Auto;
        let keeper = Keeper::with_kernel(
            control,
            folder,
            generation,
            command,
            switches,
            with_clocks,
            samples,
        )
        .map_err(|error| remove(Error::Waiting(error)))?;
        Ok(Recording {
            session,
            output,
            generation,
            settings: plan.settings.clone(),
            deadline,
            keeper,
            _lock: lock,
            ended: Ended::default(),
            failures: BTreeSet::new(),
            snapshot_requests: BTreeMap::new(),
            unexpected_hooks: BTreeSet::new(),
            switches: plan.switches,
            refusal,
            scope,
            without_tracepoints,
            sample_refusal,
        })
    }

    /// Starts a command so that everything that it does is recorded, context switches and samples included.
    pub fn launch(&mut self, launch: &Launch) -> Result<Running, Error> {
        if !self.keeper.hears_of_commands() {
            return launch.start();
        }
        let starter = Starter::new()?;
        let [refusal, sample_refusal] = self.keeper.follow_children_of(starter.tid());
        if refusal.is_some() && self.switches == Switches::Auto {
            self.keeper.read_clocks();
        }
        self.sample_refusal = self.sample_refusal.take().or(sample_refusal);
        self.refusal = self.refusal.take().or(refusal);
        starter.start(launch)
    }

    pub fn output(&self) -> &Path {
        &self.output
    }

    /// It goes on, although its duration may be over. To be said more often than twice a second. Who says it too late, because it got no processor,
    /// changes nothing: processes have ended the recording by themselves, and what they did not record since would be a hole.
    pub fn go_on(&mut self) {
        let is_due = self.deadline != 0 && self.deadline < after(LEASE / 2);
        if is_due && clock::monotonic() < self.deadline {
            self.deadline = after(LEASE);
            self.keeper.postpone(self.deadline);
        }
    }

    /// Whether the command still stands; `rostrace stop` issues another one.
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
        Some((space, space.is_short(self.settings.keep_free)))
    }

    /// Counts.
    pub fn progress(&mut self) -> Progress {
        if let Some(ended) = self.keeper.ended() {
            self.ended = ended;
        }
        let mut progress = Progress {
            processes: self.ended.processes,
            events: self.ended.events,
            discarded: self.ended.discarded,
            bytes: self.ended.bytes,
            attached: 0,
        };
        for view in self.keeper.views() {
            progress.attached += 1;
            self.note(&view);
            if view.generation == self.generation {
                progress.processes += 1;
                progress.events += view.events + view.remembered;
                progress.discarded += view.discarded;
                progress.bytes += view.bytes;
            }
        }
        progress
    }

    fn note(&mut self, view: &ProcessView) {
        if view.errno != 0 {
            self.failures.insert(Failure {
                pid: view.identity.pid,
                name: name(&view.identity),
                errno: view.errno,
            });
        }
        let hooks = view.hooks.iter().enumerate();
        let unexpected = hooks.filter(|(_, state)| **state == UNEXPECTED);
        self.unexpected_hooks
            .extend(unexpected.map(|(number, _)| number));
    }

    /// Of processes that cannot record everything, as far as it is known by now.
    pub fn failures(&self) -> &BTreeSet<Failure> {
        &self.failures
    }

    /// Processes whose tracer is of another version.
    pub fn incompatible_tracers(&self) -> Option<IncompatibleTracer> {
        self.session.incompatible_tracers()
    }

    /// The pid of a process that has requested a snapshot since the last time.
    pub fn snapshot_request(&mut self) -> Option<u32> {
        let asked = self.keeper.snapshot_requests();
        let is_new = |(identity, count): &(&Identity, &u64)| {
            self.snapshot_requests.get(*identity).copied().unwrap_or(0) < **count
        };
        let pid = asked.iter().find(is_new).map(|(identity, _)| identity.pid);
        self.snapshot_requests = asked;
        pid
    }

    /// Copies everything that was recorded until now.
    pub fn snapshot(&self, to: &Path) -> Result<(PathBuf, u64), Error> {
        self.keeper.flush();
        snapshot::copy(&self.output, to)
    }

    /// Ends it: says so to all processes, and writes what is left.
    pub fn finish(mut self) -> Summary {
        self.progress();
        let control = self.session.control();
        if self.is_standing() {
            control.issue(&Command::idle());
        }
        let ended = self.keeper.finish();
        for view in &ended.views {
            if view.errno != 0 {
                self.failures.insert(Failure {
                    pid: view.identity.pid,
                    name: name(&view.identity),
                    errno: view.errno,
                });
            }
        }
        let begin = Instant::now();
        let mut unfinished = unfinished(&self.output);
        while !unfinished.is_empty() && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
            unfinished = self::unfinished(&self.output);
        }
        Summary {
            processes: ended.processes + of_others(&self.output),
            events: ended.events,
            discarded: ended.discarded,
            is_flight: self.settings.flight.is_some(),
            unfinished,
            deaths: ended.deaths,
            failures: self.failures.into_iter().collect(),
            incompatible_tracers: self.session.incompatible_tracers(),
            unexpected_hooks: self.unexpected_hooks.into_iter().collect(),
            read_clocks: match self.switches {
                Switches::Auto => self.refusal.is_some() || ended.unfollowed.is_some(),
                Switches::Clocks => true,
                Switches::Perf | Switches::Off => false,
            },
            switch_scope: self.scope,
            without_tracepoints: self.without_tracepoints,
            without_switches: (self.refusal.map(|refusal| (None, refusal)))
                .or(ended.unfollowed.map(|(pid, refusal)| (Some(pid), refusal))),
            samples: ended.samples,
            without_samples: (self.sample_refusal.map(|refusal| (None, refusal)))
                .or(ended.unsampled.map(|(pid, refusal)| (Some(pid), refusal))),
            output: self.output,
        }
    }
}

/// Processes that keep their own memory and have not completed their files, by pid and name.
fn unfinished(output: &Path) -> Vec<(u32, String)> {
    folders(output)
        .filter(|entry| entry.path().join(MEMORY_LINK).exists())
        .filter_map(|entry| {
            let folder = entry.file_name().to_string_lossy().into_owned();
            let mut parts = folder.split('-');
            let name = parts.next()?.to_owned();
            Some((parts.next()?.parse().ok()?, name))
        })
        .collect()
}

/// How many processes of other users, which write their own files, have done so.
fn of_others(output: &Path) -> u64 {
    let own = fs::metadata(output).map_or(0, |meta| meta.uid());
    let others = folders(output).filter(|entry| entry.metadata().is_ok_and(|it| it.uid() != own));
    others.count() as u64
}

/// First bytes of the program's name.
pub(crate) fn name(identity: &Identity) -> String {
    let end = identity.name.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&identity.name[..end.unwrap_or(16)]).into_owned()
}

fn choose(session: &Session, pids: &[u32]) -> Result<(), Error> {
    let processes = session.mapped();
    let pid_of = |mapped: &Mapped| mapped.memory().header().identity().pid;
    for pid in pids {
        if !processes.iter().any(|mapped| pid_of(mapped) == *pid) {
            return Err(Error::NoSuchProcess {
                session: session.id.clone(),
                pid: *pid,
            });
        }
    }
    for mapped in processes {
        let is_chosen = &mapped.memory().header().recording.is_chosen;
        is_chosen.store(pids.contains(&pid_of(&mapped)).into(), Ordering::Relaxed);
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
