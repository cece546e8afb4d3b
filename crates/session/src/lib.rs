//! How a recorder and the tracers inside other processes talk: one file, mapped by all of them.
//!
//! The recorder makes the file ([`ControlFile::create`]), says what is to be recorded ([`Control::order`]), and reads what each
//! process says of itself ([`Process`]). A tracer maps the file whose path is in [`CONTROL_VARIABLE`], claims a
//! [`Process`] slot, and compares one number, the generation, whenever an event happens. Nobody waits for anybody.

mod control;
mod file;
mod note;
mod order;
mod process;
pub mod stream_file;

pub use control::{
    Control, Ended, Failed, MAGIC, MASK_WORDS, PROCESSES, Stranger, Strangers, VERSION,
};
pub use file::{ControlError, ControlFile};
pub use note::{NOTE_NAME, NOTE_TYPE, Note};
pub use order::{Buffers, DIRECTORY_BYTES, FILTER_BYTES, Filters, Order, State};
pub use process::{Identity, Process, ProcessState, ProcessView};

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
/// `off` leaves the program's linkage table as it is: tracepoints that are not recorded cost it a nanosecond more.
pub const NEAR_VARIABLE: &str = "ROSTRACE_NEAR";
