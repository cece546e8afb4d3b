//! What the dynamic linker knows, asked without it: loaded objects, their symbols, and which definition a call reaches.

pub(crate) mod elf;
pub(crate) mod linker;
pub(crate) mod loaded;
pub(crate) mod scope;
pub(crate) mod sibling;
pub(crate) mod symbol;
