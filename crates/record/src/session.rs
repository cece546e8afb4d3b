//! A session: one control page, the command it was made for, and the processes that attached.
//!
//! Its folder in the runtime folder has three files: `control`, `session.json`, and `owner`, which the process that started the
//! command holds locked as long as it lives. Where a control file was named by hand, the other two lie beside it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rostrace_session::keep::{Mapped, top_up_idle};
use rostrace_session::memory::spare;
use rostrace_session::{
    Command, ControlError, ControlFile, IncompatibleTracer, ProcessView, State,
};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::keeper;
use crate::liveness;
use crate::memory_folder;
use crate::orphan;
use crate::runtime_folder::RuntimeFolder;
use crate::session_files::{SessionFiles, is_locked, lock, read_own, write_new};

/// So long is waited for a recorder to write what it has.
const FLUSHING: Duration = Duration::from_secs(5);

/// What `session.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Description {
    command: Vec<String>,
    /// Nanoseconds since 1970.
    started_ns: i64,
    owner_pid: u32,
}

#[derive(Debug)]
pub struct Session {
    /// The pid of the process that made it, with a number behind it if that is taken.
    pub id: String,
    files: SessionFiles,
    control: Arc<ControlFile>,
    description: Option<Description>,
    /// Locked while this value lives, if it is the one that made the session.
    owner: Option<File>,
}

/// What happens in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionState {
    Idle,
    Recording { output: PathBuf, is_flight: bool },
}

impl Session {
    /// A new session in the runtime folder.
    pub fn create(runtime: &RuntimeFolder, command: &[OsString]) -> Result<Session, Error> {
        let pid = std::process::id();
        for attempt in 1.. {
            let id = match attempt {
                1 => pid.to_string(),
                more => format!("{pid}-{more}"),
            };
            let folder = runtime.path().join(&id);
            match fs::create_dir(&folder) {
                Ok(()) => {
                    return Session::make(id, SessionFiles::in_folder(&folder), command, false);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::file("could not make", folder)(error)),
            }
        }
        unreachable!("there are more numbers than folders")
    }

    /// A new session with a control file at a place that others, for example processes in a container, can reach.
    pub fn create_at(control: &Path, command: &[OsString]) -> Result<Session, Error> {
        let control = std::path::absolute(control).unwrap_or_else(|_| control.to_owned());
        let id = control.display().to_string();
        Session::make(id, SessionFiles::around(&control), command, true)
    }

    fn make(
        id: String,
        files: SessionFiles,
        command: &[OsString],
        is_for_all_users: bool,
    ) -> Result<Session, Error> {
        memory_folder::sweep();
        let owner = lock(&files.owner)?.ok_or_else(|| Error::BeingRecorded(id.clone()))?;
        let description = Description {
            command: command
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            started_ns: now(),
            owner_pid: std::process::id(),
        };
        let text = serde_json::to_string(&description).unwrap_or_default();
        write_new(&files.description, text.as_bytes())
            .map_err(Error::file("could not write", &files.description))?;
        let memory = memory_folder::make(&files.control)?;
        spare::top_up(&memory);
        let path = memory.as_os_str().as_bytes();
        let control =
            ControlFile::create(&files.control, path, is_for_all_users).map_err(|cause| {
                memory_folder::remove(&memory);
                Error::Control {
                    path: files.control.clone(),
                    cause,
                }
            })?;
        let control = Arc::new(control);
        Ok(Session {
            id,
            files,
            control,
            description: Some(description),
            owner: Some(owner),
        })
    }

    /// The session whose control file this is.
    pub fn open(control: &Path) -> Result<Session, Error> {
        let control = std::path::absolute(control).unwrap_or_else(|_| control.to_owned());
        Session::at(
            control.display().to_string(),
            SessionFiles::around(&control),
        )
    }

    fn at(id: String, files: SessionFiles) -> Result<Session, Error> {
        let control = ControlFile::open(&files.control).map_err(|cause| Error::Control {
            path: files.control.clone(),
            cause,
        })?;
        let control = Arc::new(control);
        let description =
            read_own(&files.description).and_then(|text| serde_json::from_slice(&text).ok());
        Ok(Session {
            id,
            files,
            control,
            description,
            owner: None,
        })
    }

    /// All sessions of a user, oldest first. Those that nobody needs any more are removed, those that cannot be read are left out.
    pub fn all(runtime: &RuntimeFolder) -> Result<Vec<Session>, Error> {
        let entries =
            fs::read_dir(runtime.path()).map_err(Error::file("could not read", runtime.path()))?;
        memory_folder::sweep();
        let mut sessions = Vec::new();
        for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
            let files = SessionFiles::in_folder(&entry.path());
            let id = entry.file_name().to_string_lossy().into_owned();
            // A folder without control file is a session that is just being made, or one that was not made to the end.
            let Ok(session) = Session::at(id, files.clone()) else {
                let is_old = entry.metadata().and_then(|meta| meta.modified());
                let is_old =
                    is_old.is_ok_and(|at| at.elapsed().is_ok_and(|age| age.as_secs() > 60));
                if is_old && !is_locked(&files.owner) {
                    files.remove();
                }
                continue;
            };
            session.forget_dead();
            if session.is_stale() {
                session.remove();
            } else {
                sessions.push(session);
            }
        }
        sessions.sort_by_key(|session| (session.started_ns(), session.id.clone()));
        Ok(sessions)
    }

    /// The session of this name; without a name the only one that there is.
    pub fn find(runtime: &RuntimeFolder, id: Option<&str>) -> Result<Session, Error> {
        let mut all = Session::all(runtime)?;
        let is_meant = |other: &str| id.is_none_or(|id| id == other);
        if !all.iter().any(|session| is_meant(&session.id)) {
            let others = Session::of_other_versions(runtime).into_iter();
            if let Some((_, error)) = others.into_iter().find(|(other, _)| is_meant(other)) {
                return Err(error);
            }
        }
        match id {
            Some(id) => {
                let found = all.into_iter().find(|session| session.id == id);
                found.ok_or_else(|| Error::NoSuchSession(id.to_owned()))
            }
            None if all.len() > 1 => {
                let names: Vec<&str> = all.iter().map(|session| session.id.as_str()).collect();
                Err(Error::SeveralSessions(names.join(", ")))
            }
            None => all.pop().ok_or(Error::NoSession),
        }
    }

    /// Sessions of other versions of rostrace, by name, with the reason why they cannot be used.
    pub fn of_other_versions(runtime: &RuntimeFolder) -> Vec<(String, Error)> {
        let entries = fs::read_dir(runtime.path()).into_iter().flatten().flatten();
        let mut others: Vec<(String, Error)> = entries
            .filter_map(|entry| {
                let id = entry.file_name().to_string_lossy().into_owned();
                match Session::at(id.clone(), SessionFiles::in_folder(&entry.path())) {
                    Err(
                        error @ Error::Control {
                            cause: ControlError::Version(_),
                            ..
                        },
                    ) => Some((id, error)),
                    _ => None,
                }
            })
            .collect();
        others.sort_by(|one, other| one.0.cmp(&other.0));
        others
    }

    /// Processes that cannot be recorded because their tracer is of another version.
    pub fn incompatible_tracers(&self) -> Option<IncompatibleTracer> {
        self.control.incompatible_tracers.view()
    }

    pub fn control(&self) -> Arc<ControlFile> {
        Arc::clone(&self.control)
    }

    /// Where the memories of its processes are.
    pub(crate) fn memory_folder(&self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.control.memory_folder()))
    }

    /// The memories of its processes.
    pub(crate) fn mapped(&self) -> Vec<Arc<Mapped>> {
        let files = keeper::files(&self.memory_folder());
        let mapped = files.iter().filter_map(|path| Mapped::open(path).ok());
        mapped.map(Arc::new).collect()
    }

    pub fn control_path(&self) -> &Path {
        &self.files.control
    }

    pub fn command(&self) -> &[String] {
        self.description.as_ref().map_or(&[], |it| &it.command)
    }

    /// Nanoseconds since 1970; 0 if nobody wrote it down.
    pub fn started_ns(&self) -> i64 {
        self.description.as_ref().map_or(0, |it| it.started_ns)
    }

    /// Whether the process that made the session still runs.
    pub fn has_owner(&self) -> bool {
        self.owner.is_some() || is_locked(&self.files.owner)
    }

    /// Whether some rostrace looks after what is recorded.
    pub fn has_recorder(&self) -> bool {
        is_locked(&self.files.recorder)
    }

    /// The lock of whoever issues commands.
    pub(crate) fn lock_recorder(&self) -> Result<File, Error> {
        lock(&self.files.recorder)?.ok_or_else(|| Error::BeingRecorded(self.id.clone()))
    }

    pub fn state(&self) -> SessionState {
        for _ in 0..100 {
            if let Some((_, command)) = self.control.read_command() {
                return match command.state {
                    State::Idle => SessionState::Idle,
                    State::Recording => SessionState::Recording {
                        output: PathBuf::from(OsString::from_vec(command.directory)),
                        is_flight: command.settings.flight.is_some(),
                    },
                };
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        SessionState::Idle
    }

    /// Processes that are attached.
    pub fn processes(&self) -> Vec<ProcessView> {
        let mut views: Vec<ProcessView> = self
            .mapped()
            .iter()
            .map(|mapped| mapped.memory().view())
            .collect();
        views.sort_by_key(|view| view.identity.start_time);
        views
    }

    /// Removes the memories of processes that are gone, after their newest events were written where the rest of them is. A recorder does that itself
    /// for what it records.
    pub fn forget_dead(&self) {
        if self.has_recorder() {
            return;
        }
        let output = self.output();
        let files = keeper::files(&self.memory_folder());
        let newest = keeper::newest(files.iter());
        for path in files {
            let Ok(mapped) = Mapped::open(&path) else {
                continue;
            };
            if liveness::is_alive(&mapped) && newest.contains(&path) {
                continue;
            }
            if let Some(output) = &output {
                orphan::complete(&Arc::new(mapped), output);
            }
            let _ = fs::remove_file(&path);
        }
    }

    /// Makes room for what processes remember while nobody records them.
    pub fn top_up(&self) {
        spare::top_up(&self.memory_folder());
        for mapped in self.mapped() {
            top_up_idle(&mapped);
        }
    }

    /// Where is recorded to.
    fn output(&self) -> Option<PathBuf> {
        match self.state() {
            SessionState::Recording { output, .. } => Some(output),
            SessionState::Idle => None,
        }
    }

    /// Has everything that was recorded written to the disk.
    pub(crate) fn flush(&self, output: &Path) {
        if self.has_recorder() {
            let wanted = self.control.flushes_wanted.fetch_add(1, Ordering::AcqRel) + 1;
            let begin = Instant::now();
            while self.control.flushes_done.load(Ordering::Acquire) < wanted
                && begin.elapsed() < FLUSHING
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            return;
        }
        for mapped in self.mapped() {
            orphan::flush(&mapped, output);
        }
    }

    /// Ends whatever is recorded; says whether anything was. Where the recorder is gone, does what it would have done.
    pub fn stop(&self) -> bool {
        if self.output().is_none() {
            return false;
        }
        match self.has_recorder() {
            true => drop(self.control.issue(&Command::idle())),
            false => self.complete_orphans(),
        }
        true
    }

    /// Ends a recording whose recorder is gone, and writes everything down.
    pub(crate) fn complete_orphans(&self) {
        let Some(output) = self.output() else {
            return;
        };
        self.control.issue(&Command::idle());
        for mapped in self.mapped() {
            orphan::complete(&mapped, &output);
        }
    }

    fn remove(&self) {
        // Whatever somebody else put there stays.
        memory_folder::remove(&self.memory_folder());
        self.files.remove();
    }

    /// Nobody started it and nobody is in it.
    fn is_stale(&self) -> bool {
        !self.has_owner() && self.processes().is_empty()
    }

    /// Leaves the session. It goes on as long as processes are attached to it; otherwise it is removed.
    pub fn close(mut self) {
        self.forget_dead();
        self.owner = None;
        if self.processes().is_empty() {
            self.remove();
        }
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}
