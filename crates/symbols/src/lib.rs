//! Addresses in programs: which functions a thread was in, and what they are called.
//!
//! [`Image`] is an ELF file: an executable, a library, a file of debug information. Whoever takes samples of a process finds the callers with
//! an [`Unwinder`], which needs no frame pointers; whoever reads them asks a [`Resolver`] for the names, which finds the files by
//! their build ids. Nothing here knows of traces.

mod debug_lines;
mod function;
mod image;
mod resolver;
mod search;
mod symbol_table;
mod unwind;

pub use function::{Function, FunctionId, Location};
pub use image::Image;
pub use resolver::{Mapped, Resolver};
pub use unwind::{Registers, UnwindCache, UnwindTables, Unwinder};
