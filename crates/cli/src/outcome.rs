//! How a command ended, and the exit status that says so.

use std::process::ExitCode;

use rostrace_ctf::Damage;

pub(crate) const FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;
const LOST_DATA: u8 = 3;
const BROKEN: u8 = 4;
/// 128 + SIGINT, as shells count.
pub(crate) const INTERRUPTED: u8 = 130;

/// The end of a command that did what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Fine,
    /// Done, and the answer that was printed is no: a file is not in order, two files differ.
    Refused,
    /// Done, and a budget is broken, or something got worse that must not.
    Broken,
    /// Done, but the trace is not complete.
    LostData,
    /// Ctrl-C; what was printed is complete lines.
    Interrupted,
    /// That of the command that was run, as shells count.
    OfCommand(u8),
}

impl Outcome {
    pub(crate) fn of<'a>(damage: impl IntoIterator<Item = &'a Damage>) -> Outcome {
        if damage.into_iter().any(|damage| damage.kind.is_loss()) {
            Outcome::LostData
        } else {
            Outcome::Fine
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Fine => 0,
            Outcome::Refused => FAILED,
            Outcome::Broken => BROKEN,
            Outcome::LostData => LOST_DATA,
            Outcome::Interrupted => INTERRUPTED,
            Outcome::OfCommand(code) => code,
        })
    }
}

/// A command line that asks for nothing that can be done, whatever the trace. Most of it is noticed before any command begins; this is
/// what takes two options, or the world, to notice.
#[derive(Debug)]
pub(crate) struct WrongUsage(pub(crate) String);

impl std::fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

/// Ctrl-C while a trace was read.
#[derive(Debug)]
pub(crate) struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Ends a command with a sentence and the exit status of wrong usage.
macro_rules! wrong_usage {
    ($($sentence:tt)*) => {
        return Err($crate::outcome::WrongUsage(format!($($sentence)*)).into())
    };
}
pub(crate) use wrong_usage;

/// The exit status of an error.
pub(crate) fn status(error: &anyhow::Error) -> u8 {
    use rostrace_architecture::Error;
    // A name that an architecture file does not have is as wrong as one that a trace does not have.
    let is_unknown = |cause: &(dyn std::error::Error + 'static)| {
        let cause = cause.downcast_ref::<Error>();
        matches!(cause, Some(Error::Unknown { .. } | Error::InNode { .. }))
    };
    if error.is::<WrongUsage>() || error.chain().any(is_unknown) {
        WRONG_USAGE
    } else {
        FAILED
    }
}

/// Whether the reader of our output went away, as `head` does: a normal end. (Rust ignores SIGPIPE, so it arrives as an
/// error.)
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

/// A reader of our output that went away has seen enough, but a verdict is still to be shown by the exit status.
pub(crate) fn unless_closed(printed: anyhow::Result<()>) -> anyhow::Result<()> {
    printed.or_else(|error| match is_closed_pipe(&error) {
        true => Ok(()),
        false => Err(error),
    })
}
