//! The library that records ROS 2 from inside a process.
//!
//! Preloaded into any ROS 2 process from Humble to Rolling it sees every tracepoint, because it exports the functions of libtracetools
//! ([`tracetools`]); under that name it is a libtracetools. An event passes the `gate`, is put into bytes by `emit`, and lands in the stream of
//! its `thread`, in memory that the recorder shares ([`rostrace_session::memory`]): no lock, no system call, no allocation and no disk on
//! its way. What describes entities is kept in the `statedump`, so that a recording can begin at any time. `process` is what happens when the
//! library is loaded, at the first event, at a fork and at the end; after that the recorder does everything from outside.
//!
//! Unsafe code is everywhere here, because the library shares memory with other processes and with other people's programs; each block says
//! why it holds.

mod clock;
mod complaint;
mod elf;
mod emit;
mod entry;
mod futex;
mod gate;
pub mod hooks;
mod identity;
mod left_out;
mod linker;
mod loaded;
mod lock;
mod locked_memory;
mod lttng;
mod once_box;
mod original;
mod own_heap;
mod own_keeper;
mod path;
mod process;
pub mod ros;
mod scope;
mod settings;
mod sibling;
mod snapshot_signal;
mod statedump;
mod symbol;
mod thread;
pub mod tracetools;
mod user;

pub use rostrace_session::events;
pub use user::{Span, Value, counter, instant, span};

/// Before the program begins, and after it ended.
#[used]
#[unsafe(link_section = ".init_array")]
static LOAD: extern "C" fn() = process::load;
#[used]
#[unsafe(link_section = ".fini_array")]
static UNLOAD: extern "C" fn() = process::unload;
/// So that a recorder can tell, before anything is loaded, whether the library is of its own version.
#[used]
#[unsafe(link_section = ".note.rostrace")]
static NOTE: rostrace_session::Note = rostrace_session::Note::new();
