//! The command that is recorded: its environment, its process group, its end.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rostrace_session::{CONTROL_VARIABLE, LTTNG_VARIABLE, OUTPUT_VARIABLE, SWITCH_VARIABLE};

use crate::error::Error;
use crate::library::TracerLibrary;
use crate::limits;
use crate::session::Session;

const PRELOAD: &str = "LD_PRELOAD";
const SANITIZER: &str = "ASAN_OPTIONS";

/// A command that has not been started.
#[derive(Debug, Clone)]
pub struct Launch {
    command: Vec<OsString>,
    control: PathBuf,
    /// None for programs that have the tracer in them.
    library: Option<PathBuf>,
    /// The library for locks, if they may be recorded.
    locks: Option<PathBuf>,
    lttng: bool,
    variables: Vec<(&'static str, Option<OsString>)>,
}

impl Launch {
    pub fn new(command: &[OsString], session: &Session, library: Option<&TracerLibrary>) -> Launch {
        Launch {
            command: command.to_vec(),
            control: session.control_path().to_owned(),
            library: library.map(|library| library.path().to_owned()),
            locks: None,
            lttng: false,
            variables: Vec::new(),
        }
    }

    /// Also passes every tracepoint on to the real libtracetools, and so to LTTng.
    pub fn with_lttng(mut self, lttng: bool) -> Launch {
        self.lttng = lttng;
        self
    }

    /// Also loads this library, which makes it possible to record locks: [`TracerLibrary::locks`].
    pub fn with_locks(mut self, locks: Option<PathBuf>) -> Launch {
        self.locks = locks;
        self
    }

    /// Sets a variable of the environment, or removes it.
    pub fn with_variable(mut self, name: &'static str, value: Option<OsString>) -> Launch {
        self.variables.push((name, value));
        self
    }

    /// The variables that make processes attach to the session.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![(CONTROL_VARIABLE, self.control.clone().into_os_string())];
        let libraries: Vec<&PathBuf> = self.library.iter().chain(&self.locks).collect();
        if !libraries.is_empty() {
            let before = std::env::var_os(PRELOAD);
            let all = libraries.iter().rev();
            let value = all.fold(before, |before, library| {
                Some(preload(library.as_os_str(), before))
            });
            variables.push((PRELOAD, value.unwrap_or_default()));
            // Programs with this sanitizer refuse to start if any library comes before its own, whatever that does.
            let options = std::env::var_os(SANITIZER);
            variables.push((SANITIZER, sanitizer_options(options)));
        }
        if self.lttng {
            variables.push((LTTNG_VARIABLE, "1".into()));
        }
        variables
    }

    /// Starts the command as the leader of a process group of its own, so that signals reach all of it. It cannot read from
    /// the terminal then: where standard input is one, it gets an empty one instead of being stopped.
    pub fn start(&self) -> Result<Running, Error> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(Error::NotStarted {
                command: String::new(),
                cause: std::io::ErrorKind::NotFound.into(),
            });
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .process_group(0)
            // What they say is of this recorder, not of one that we run under.
            .env_remove(OUTPUT_VARIABLE)
            .env_remove(SWITCH_VARIABLE)
            .envs(self.environment());
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if std::io::stdin().is_terminal() {
            command.stdin(Stdio::null());
        }
        limits::restore_in(&mut command);
        let child = command.spawn().map_err(|cause| Error::NotStarted {
            command: program.to_string_lossy().into_owned(),
            cause,
        })?;
        Ok(Running {
            child,
            status: None,
        })
    }
}

fn preload(library: &OsStr, before: Option<OsString>) -> OsString {
    let mut value = library.to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        value.push(":");
        value.push(before);
    }
    value
}

/// What was said before, and that the order of libraries is not to be checked, unless that was said, too.
fn sanitizer_options(before: Option<OsString>) -> OsString {
    const UNCHECKED: &str = "verify_asan_link_order=0";
    match before.filter(|before| !before.is_empty()) {
        None => UNCHECKED.into(),
        Some(before) if before.to_string_lossy().contains("verify_asan_link_order") => before,
        Some(mut before) => {
            before.push(":");
            before.push(UNCHECKED);
            before
        }
    }
}

/// A command that was started.
#[derive(Debug)]
pub struct Running {
    child: Child,
    status: Option<ExitStatus>,
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended; None if it still runs.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status)
    }

    pub fn wait(&mut self) -> Result<ExitStatus, Error> {
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(status)
    }

    /// Sends a signal to the command and everything that it started.
    pub fn signal(&self, signal: i32) {
        let Ok(group) = i32::try_from(self.child.id()) else {
            return;
        };
        // SAFETY: a plain system call. The group exists as long as the child was not waited for or others are in it.
        unsafe { libc::kill(-group, signal) };
    }

    /// Ends one that did not heed Ctrl-C: SIGTERM, and SIGKILL five seconds later.
    pub fn end_now(&mut self) -> Result<ExitStatus, Error> {
        self.signal(libc::SIGTERM);
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(5) {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.signal(libc::SIGKILL);
        self.wait()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_sanitizer_stay() {
        let options = |before: &str| sanitizer_options(Some(before.into()));
        assert_eq!(sanitizer_options(None), "verify_asan_link_order=0");
        assert_eq!(options("a=1"), "a=1:verify_asan_link_order=0");
        assert_eq!(
            options("verify_asan_link_order=1"),
            "verify_asan_link_order=1"
        );
    }

    #[test]
    fn what_was_preloaded_before_stays() {
        let library = OsStr::new("/x.so");
        assert_eq!(preload(library, None), "/x.so");
        assert_eq!(preload(library, Some("".into())), "/x.so");
        assert_eq!(preload(library, Some("/y.so".into())), "/x.so:/y.so");
    }
}
