//! Why something cannot be recorded, as sentences.

use std::io;
use std::path::PathBuf;

use rostrace_session::ControlError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{doing} {path}: {cause}")]
    File {
        /// `could not make`, `could not read`, …
        doing: &'static str,
        path: PathBuf,
        cause: io::Error,
    },
    #[error(
        "the folder {path} belongs to somebody else, so it cannot hold our sessions; set XDG_RUNTIME_DIR to a folder of yours"
    )]
    ForeignFolder { path: PathBuf },
    #[error("{path}: {cause}")]
    Control { path: PathBuf, cause: ControlError },
    #[error(
        "{path} exists already, and a recording never overwrites anything; choose another folder with -o"
    )]
    Exists { path: PathBuf },
    #[error("the command `{command}` could not be started: {cause}")]
    NotStarted { command: String, cause: io::Error },
    #[error("waiting for the command failed: {0}")]
    Waiting(#[from] io::Error),
    #[error(
        "the tracer library librostrace_tracer.so was not found (looked at {}); build it with `cargo build --release -p rostrace-tracer`, or say where it is \
         with ROSTRACE_TRACER=/path/to/librostrace_tracer.so",
        places(.0)
    )]
    NoLibrary(Vec<PathBuf>),
    #[error(
        "the library for --locks, librostrace_locks.so, is not beside the tracer (looked at {}); build it with `cargo build --release`",
        places(.0)
    )]
    NoLocksLibrary(Vec<PathBuf>),
    #[error("--locks needs glibc 2.34 or later, and this machine has {0}.{1}")]
    OldCLibrary(u32, u32),
    #[error("ROSTRACE_TRACER names {0}, which is not there")]
    NamedLibraryMissing(PathBuf),
    #[error(
        "{path} is of another version than this program: it knows {layout} of the control page, this program knows layout {}; build both \
         together with `cargo build --release`, or name the right one with ROSTRACE_TRACER=/path/to/librostrace_tracer.so",
        rostrace_session::VERSION
    )]
    OtherLibrary { path: PathBuf, layout: String },
    #[error("there is no session `{0}`; `rostrace status` lists them")]
    NoSuchSession(String),
    #[error("no process runs under the tracer; start one with `rostrace run -- COMMAND…`")]
    NoSession,
    #[error("there are several sessions ({0}); choose one with --session")]
    SeveralSessions(String),
    #[error("session {0} is being recorded already; `rostrace stop --session {0}` ends that")]
    BeingRecorded(String),
    #[error("nothing is being recorded in session {0}, so there is nothing to copy")]
    NothingRecorded(String),
    #[error("no process of session {session} has the pid {pid}; `rostrace status` lists them")]
    NoSuchProcess { session: String, pid: u32 },
    #[error("the path {0} is too long for the tracer: at most 1,023 bytes")]
    PathTooLong(PathBuf),
    #[error("the patterns of {0} are too long together: at most 2,047 bytes")]
    FilterTooLong(&'static str),
    #[error("a pattern of nodes or topics must not contain `:`, which separates patterns: {0}")]
    SeparatorInPattern(String),
    #[error("no event is called `{0}`; docs/reference/tracepoints.md lists them all")]
    NoSuchEvent(String),
    #[error(
        "only {free} are free where {path} lies, and {wanted} must stay free; choose another disk with -o, or keep less free with `rostrace record --keep-free`"
    )]
    NoSpace {
        path: PathBuf,
        free: String,
        wanted: String,
    },
}

impl Error {
    pub(crate) fn file(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |cause| Error::File { doing, path, cause }
    }
}

fn places(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(", ")
}
