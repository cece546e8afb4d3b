//! Recordings with rostrace's tracer.
//!
//! A [`Session`] is a control page (`rostrace-session`) with a folder of its own in the [`RuntimeFolder`] of the user; processes
//! that are started in its environment ([`Launch`]) attach to it. A [`Recording`] is what happens between a command to record, made
//! of a [`Plan`], and its end; [`snapshot`] copies one while it is being written. [`doctor`] says what can be recorded on this
//! machine. Nothing here prints or reads traces.
//!
//! ```no_run
//! use rostrace_record::{Launch, Plan, Recording, RuntimeFolder, Session, TracerLibrary};
//!
//! let runtime = RuntimeFolder::of_user()?;
//! let command = ["ros2".into(), "run".into(), "demo_nodes_cpp".into(), "talker".into()];
//! let session = Session::create(&runtime, &command)?;
//! let mut recording = Recording::start(&session, &Plan::to("/tmp/trace".into()))?;
//! let launch = Launch::new(&command, &session, Some(&TracerLibrary::find(None)?));
//! let mut child = recording.launch(&launch)?;
//! child.wait()?;
//! let summary = recording.finish();
//! println!("{} events, {} lost", summary.events, summary.discarded);
//! # Ok::<(), rostrace_record::Error>(())
//! ```

mod bypass;
mod death;
pub mod doctor;
mod elf;
mod error;
pub mod event_selection;
mod keeper;
mod launch;
mod library;
mod limits;
mod liveness;
mod memory_folder;
pub mod orphan;
mod perf;
mod plan;
mod recording;
mod runtime_folder;
mod sampling;
mod session;
mod session_files;
pub mod snapshot;
mod starter;
mod storage;
mod thread_clock;
pub mod unattached;

pub use bypass::bypassed;
pub use death::Death;
pub use error::Error;
pub use keeper::{Ended, Keeper};
pub use launch::{Launch, Running};
pub use library::TracerLibrary;
pub use limits::{Limit, limit};
pub use liveness::is_alive;
pub use perf::{ContextSwitches, KernelChoice, Refusal};
pub use plan::{Plan, Switches, filters};
pub use recording::{Failure, Progress, Recording, Summary, SwitchScope};
pub use rostrace_session::{
    Filters, Flight, Identity, IncompatibleTracer, ProcessState, ProcessView, Settings, State,
    VERSION as CONTROL_LAYOUT,
};
pub use runtime_folder::RuntimeFolder;
pub use session::{Session, SessionState};
pub use storage::{Space, space};
