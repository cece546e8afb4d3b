//! How a recorder and the tracers inside other processes talk, without anybody waiting for anybody.
//!
//! The recorder says what is to be recorded in one small file ([`Control`]). A process that is traced makes a file of [`memory`] in which
//! its threads write, and a [`keep`]er, mostly the recorder, takes from there what is to be on the disk. So the process itself makes no
//! file of the trace and starts no thread, and whoever is killed, nothing that was written is lost.

pub mod clock;
mod command;
mod control;
pub mod events;
mod file;
pub mod glob;
pub mod keep;
pub mod memory;
#[cfg(all(test, feature = "models"))]
mod models;
mod note;
mod process;
pub mod statedump;
mod sync;
pub mod tracetools;

pub use command::{Command, DIRECTORY_BYTES, FILTER_BYTES, Filters, Flight, Settings, State};
pub use control::{Control, IncompatibleTracer, IncompatibleTracers, MAGIC, MASK_WORDS, VERSION};
pub use file::{ControlError, ControlFile};
pub use memory::Memory;
pub use memory::header::Introduction;
pub use note::{NOTE_NAME, NOTE_TYPE, Note};
pub use process::{Identity, ProcessState, ProcessView};

/// Names the control file of the processes that are started in this environment.
pub const CONTROL_VARIABLE: &str = "ROSTRACE_CONTROL";
/// A folder to record into from the beginning, without a recorder.
pub const OUTPUT_VARIABLE: &str = "ROSTRACE_OUTPUT";
/// `off` makes the library do nothing at all.
pub const SWITCH_VARIABLE: &str = "ROSTRACE";
/// `1` or `0`: whether calls are passed on to the real libtracetools, whatever it says of itself.
pub const LTTNG_VARIABLE: &str = "ROSTRACE_LTTNG";
/// `off` leaves rclpy as it is, and callbacks of Python unknown.
pub const PYTHON_VARIABLE: &str = "ROSTRACE_PYTHON";
