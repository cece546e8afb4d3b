//! A session: one control page, the command it was made for, and the processes that attached.
//!
//! Its folder in the runtime folder has three files: `control`, `session.json`, and `owner`, which the process that started the
//! command holds locked as long as it lives. Where a control file was named by hand, the other two lie beside it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rostrace_session::{Control, ControlError, ControlFile, Order, ProcessView, State, Stranger};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::liveness;
use crate::runtime_folder::RuntimeFolder;

/// Why a session was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    Record,
    Run,
}

/// What `session.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Description {
    command: Vec<String>,
    purpose: Purpose,
    /// Nanoseconds since 1970.
    started_ns: i64,
    owner_pid: u32,
}

#[derive(Debug)]
pub struct Session {
    /// The pid of the process that made it, with a number behind it if that is taken.
    pub id: String,
    place: Place,
    control: ControlFile,
    description: Option<Description>,
    /// Locked while this value lives, if it is the one that made the session.
    owner: Option<File>,
}

/// Where the files of a session are.
#[derive(Debug, Clone)]
struct Place {
    control: PathBuf,
    description: PathBuf,
    owner: PathBuf,
    recorder: PathBuf,
    /// None for a control file that was named by hand.
    folder: Option<PathBuf>,
}

/// What happens in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionState {
    Idle,
    Recording { output: PathBuf, is_flight: bool },
}

impl Place {
    fn in_folder(folder: &Path) -> Place {
        Place {
            control: folder.join("control"),
            description: folder.join("session.json"),
            owner: folder.join("owner"),
            recorder: folder.join("recorder"),
            folder: Some(folder.to_owned()),
        }
    }

    fn around(control: &Path) -> Place {
        let beside = |ending: &str| {
            let mut name = control.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        Place {
            control: control.to_owned(),
            description: beside(".session.json"),
            owner: beside(".owner"),
            recorder: beside(".recorder"),
            folder: None,
        }
    }

    fn remove(&self) {
        match &self.folder {
            Some(folder) => drop(fs::remove_dir_all(folder)),
            None => {
                for file in [
                    &self.control,
                    &self.description,
                    &self.owner,
                    &self.recorder,
                ] {
                    let _ = fs::remove_file(file);
                }
            }
        }
    }
}

impl Session {
    /// A new session in the runtime folder.
    pub fn create(
        runtime: &RuntimeFolder,
        command: &[OsString],
        purpose: Purpose,
    ) -> Result<Session, Error> {
        let pid = std::process::id();
        for attempt in 1.. {
            let id = match attempt {
                1 => pid.to_string(),
                more => format!("{pid}-{more}"),
            };
            let folder = runtime.path().join(&id);
            match fs::create_dir(&folder) {
                Ok(()) => return Session::make(id, Place::in_folder(&folder), command, purpose),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::file("could not make", folder)(error)),
            }
        }
        unreachable!("there are more numbers than folders")
    }

    /// A new session with a control file at a place that others, for example processes in a container, can reach.
    pub fn create_at(
        control: &Path,
        command: &[OsString],
        purpose: Purpose,
    ) -> Result<Session, Error> {
        let control = std::path::absolute(control).unwrap_or_else(|_| control.to_owned());
        let id = control.display().to_string();
        Session::make(id, Place::around(&control), command, purpose)
    }

    fn make(
        id: String,
        place: Place,
        command: &[OsString],
        purpose: Purpose,
    ) -> Result<Session, Error> {
        let owner = lock(&place.owner)?.ok_or_else(|| Error::BeingRecorded(id.clone()))?;
        let description = Description {
            command: command
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            purpose,
            started_ns: now(),
            owner_pid: std::process::id(),
        };
        let text = serde_json::to_string(&description).unwrap_or_default();
        fs::write(&place.description, text)
            .map_err(Error::file("could not write", &place.description))?;
        let control = ControlFile::create(&place.control).map_err(|cause| Error::Control {
            path: place.control.clone(),
            cause,
        })?;
        Ok(Session {
            id,
            place,
            control,
            description: Some(description),
            owner: Some(owner),
        })
    }

    /// The session whose control file this is.
    pub fn open(control: &Path) -> Result<Session, Error> {
        let control = std::path::absolute(control).unwrap_or_else(|_| control.to_owned());
        Session::at(control.display().to_string(), Place::around(&control))
    }

    fn at(id: String, place: Place) -> Result<Session, Error> {
        let control = ControlFile::open(&place.control).map_err(|cause| Error::Control {
            path: place.control.clone(),
            cause,
        })?;
        let description = fs::read(&place.description)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok());
        Ok(Session {
            id,
            place,
            control,
            description,
            owner: None,
        })
    }

    /// All sessions of a user, oldest first. Those that nobody needs any more are removed, those that cannot be read are left out.
    pub fn all(runtime: &RuntimeFolder) -> Result<Vec<Session>, Error> {
        let entries =
            fs::read_dir(runtime.path()).map_err(Error::file("could not read", runtime.path()))?;
        let mut sessions = Vec::new();
        for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
            let place = Place::in_folder(&entry.path());
            let id = entry.file_name().to_string_lossy().into_owned();
            // A folder without control file is a session that is just being made, or one that was not made to the end.
            let Ok(session) = Session::at(id, place.clone()) else {
                let is_old = entry.metadata().and_then(|meta| meta.modified());
                let is_old =
                    is_old.is_ok_and(|at| at.elapsed().is_ok_and(|age| age.as_secs() > 60));
                if is_old && !is_locked(&place.owner) {
                    place.remove();
                }
                continue;
            };
            session.forget_dead();
            if session.is_stale() {
                session.place.remove();
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
                match Session::at(id.clone(), Place::in_folder(&entry.path())) {
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
    pub fn strangers(&self) -> Option<Stranger> {
        self.control.strangers.view()
    }

    pub fn control(&self) -> &Control {
        &self.control
    }

    pub fn control_path(&self) -> &Path {
        &self.place.control
    }

    pub fn command(&self) -> &[String] {
        self.description.as_ref().map_or(&[], |it| &it.command)
    }

    pub fn purpose(&self) -> Option<Purpose> {
        self.description.as_ref().map(|it| it.purpose)
    }

    /// Nanoseconds since 1970; 0 if nobody wrote it down.
    pub fn started_ns(&self) -> i64 {
        self.description.as_ref().map_or(0, |it| it.started_ns)
    }

    /// Whether the process that made the session still runs.
    pub fn has_owner(&self) -> bool {
        self.owner.is_some() || is_locked(&self.place.owner)
    }

    /// Whether some rostrace looks after what is recorded.
    pub fn has_recorder(&self) -> bool {
        is_locked(&self.place.recorder)
    }

    /// The lock of whoever gives orders.
    pub(crate) fn lock_recorder(&self) -> Result<File, Error> {
        lock(&self.place.recorder)?.ok_or_else(|| Error::BeingRecorded(self.id.clone()))
    }

    pub fn state(&self) -> SessionState {
        use std::os::unix::ffi::OsStringExt;
        for _ in 0..100 {
            if let Some((_, order)) = self.control.read_order() {
                return match order.state {
                    State::Idle => SessionState::Idle,
                    state => SessionState::Recording {
                        output: PathBuf::from(OsString::from_vec(order.directory)),
                        is_flight: state == State::Flight,
                    },
                };
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        SessionState::Idle
    }

    /// Processes that are attached, in the order of their slots.
    pub fn processes(&self) -> Vec<ProcessView> {
        let slots = self.control.processes.iter();
        slots.filter_map(|slot| slot.view()).collect()
    }

    /// Frees the slots of processes that are gone, and says what was in them.
    pub fn forget_dead(&self) -> Vec<ProcessView> {
        let mut dead = Vec::new();
        for slot in &self.control.processes {
            if let Some(view) = slot.view()
                && !liveness::is_alive(&view.identity)
                // It may have been freed and taken meanwhile.
                && slot.view().is_some_and(|again| again.identity == view.identity)
            {
                slot.free();
                dead.push(view);
            }
        }
        dead
    }

    /// Ends whatever is recorded; says whether anything was.
    pub fn stop(&self) -> bool {
        let was_recording = self.state() != SessionState::Idle;
        if was_recording {
            self.control.order(&Order::idle());
        }
        was_recording
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
            self.place.remove();
        }
    }
}

/// Locks a file that is made if it does not exist; None if somebody else has it locked. The kernel frees the lock when its
/// holder dies.
fn lock(path: &Path) -> Result<Option<File>, Error> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(Error::file("could not make", path))?;
    // SAFETY: a system call on a descriptor that is open.
    let locked = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0;
    Ok(locked.then_some(file))
}

fn is_locked(path: &Path) -> bool {
    let Ok(file) = OpenOptions::new().write(true).open(path) else {
        return false;
    };
    // SAFETY: a system call on a descriptor that is open; closing it unlocks.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) != 0 }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}
