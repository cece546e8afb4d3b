//! The library that records ROS 2 from inside a process.
//!
//! Preloaded into any ROS 2 process from Humble to Rolling it sees every tracepoint, because it exports the functions of libtracetools
//! (`abi`); under that name it is a libtracetools. An event passes the gate (`control`), is put into bytes and lands in the stream of its
//! thread (`ring`), in memory that the recorder shares ([`rostrace_session::memory`]): no lock, no system call, no allocation and no disk on
//! its way. What describes entities is kept in the `statedump`, so that a recording can begin at any time. Functions beyond libtracetools are
//! interposed by [`hooks`], with what `dl` knows of the dynamic linker. `control::process` is what happens when the library is loaded, at the first
//! event, at a fork and at the end; after that the recorder does everything from outside. `api` is for programs that call it themselves.
//!
//! Unsafe code is everywhere here, because the library shares memory with other processes and with other people's programs; each block says
//! why it holds.

mod abi;
mod api;
mod control;
mod dl;
mod futex;
pub mod hooks;
mod lock;
mod once_box;
mod own_heap;
mod ring;
mod statedump;

pub use abi::tracetools;
pub use api::ros;
pub use api::user::{Span, Value, counter, instant, span};
pub use rostrace_session::events;

/// Before the program begins, and after it ended.
#[used]
#[unsafe(link_section = ".init_array")]
static LOAD: extern "C" fn() = control::process::load;
#[used]
#[unsafe(link_section = ".fini_array")]
static UNLOAD: extern "C" fn() = control::process::unload;
/// So that a recorder can tell, before anything is loaded, whether the library is of its own version.
#[used]
#[unsafe(link_section = ".note.rostrace")]
static NOTE: rostrace_session::Note = rostrace_session::Note::new();
