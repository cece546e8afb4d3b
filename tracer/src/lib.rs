//! The library that records ROS 2 from inside a process.
//!
//! Preloaded into any ROS 2 process from Humble to Rolling it sees every tracepoint, because it exports the functions of libtracetools
//! ([`tracetools`]); under that name it is a libtracetools. It writes Common Trace Format by itself: one stream per thread, one writer,
//! memory-mapped files, no lock, no system call and no allocation on the way of an event.
//!
//! An event passes the `gate`, is put into bytes by `emit`, and lands in the thread's `buffer`, which consists of `chunk`s of `packet`s.
//! A `recording` begins and ends when the recorder says so (`process`), with a `helper` thread that makes files ready in advance. What
//! describes entities is kept in `memory`, so that a recording can begin at any time.
//!
//! Unsafe code is everywhere here, because the library shares memory with files and with other people's programs; each block says
//! why it holds.

mod buffer;
mod chunk;
mod clock;
mod complaint;
mod elf;
mod emit;
mod entry;
pub mod events;
mod filter;
mod folder;
mod found;
mod futex;
mod gate;
mod glob;
mod helper;
pub mod hooks;
mod identity;
#[cfg(target_arch = "x86_64")]
mod linkage;
mod linker;
mod loaded;
mod lock;
mod lttng;
mod memory;
mod metadata;
#[cfg(target_arch = "x86_64")]
mod near;
#[cfg(not(target_arch = "x86_64"))]
mod near {
    /// What far calls cost other processors is not known.
    pub(crate) fn bring_near() {}
}
mod original;
mod packet;
mod path;
mod process;
mod recording;
pub mod ros;
mod scope;
mod sibling;
mod snapshot_signal;
mod symbol;
mod thread;
pub mod tracetools;
mod user;

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
