//! A recorder as far as processes see one: a control file, and a keeper while something is recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rostrace_record::Keeper;
use rostrace_session::keep::Mapped;
use rostrace_session::{Command, ControlFile, ProcessView, State};

pub struct Recorder {
    pub control: PathBuf,
    pub file: Arc<ControlFile>,
    memory: tempfile::TempDir,
    keeper: Option<Keeper>,
}

impl Recorder {
    pub fn new(folder: &Path) -> Recorder {
        use std::os::unix::ffi::OsStrExt;
        let memory = tempfile::tempdir_in("/dev/shm").unwrap();
        let control = folder.join("control");
        let path = memory.path().as_os_str().as_bytes();
        let file = Arc::new(ControlFile::create(&control, path, false).unwrap());
        Recorder {
            control,
            file,
            memory,
            keeper: None,
        }
    }

    /// Issues a command. What was recorded before is complete when this returns.
    pub fn issue(&mut self, command: &Command) -> u64 {
        let generation = self.file.issue(command).unwrap();
        if let Some(keeper) = self.keeper.take() {
            keeper.finish();
        }
        if command.state != State::Idle {
            let memory = self.memory.path().to_owned();
            let keeper = Keeper::start(Arc::clone(&self.file), memory, generation, command.clone());
            self.keeper = Some(keeper.unwrap());
        }
        generation
    }

    /// The same as if it had been killed: nobody writes anything down any more.
    pub fn is_killed(&mut self) {
        self.keeper = None;
    }

    /// What the next rostrace does that finds a session without a recorder.
    pub fn stop_as_another(&self, output: &Path) {
        self.file.issue(&Command::idle()).unwrap();
        for entry in std::fs::read_dir(self.memory.path()).unwrap().flatten() {
            if let Ok(mapped) = Mapped::open(&entry.path()) {
                rostrace_record::orphan::complete(&Arc::new(mapped), output);
            }
        }
    }

    /// Everything that was recorded until now is on the disk when this returns.
    pub fn flush(&self) {
        self.keeper.as_ref().unwrap().flush();
    }

    pub fn end(&mut self) {
        self.issue(&Command::idle());
    }

    /// What processes say of themselves.
    pub fn views(&self) -> Vec<ProcessView> {
        let entries = std::fs::read_dir(self.memory.path()).unwrap().flatten();
        let mapped = entries.filter_map(|it| Mapped::open(&it.path()).ok());
        mapped.map(|mapped| mapped.memory().view()).collect()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
    }
}
