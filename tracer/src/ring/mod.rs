//! The way of an event to shared memory: `emit` puts it into bytes, `thread` knows the stream of the thread that does, `clock` the time.

pub(crate) mod clock;
pub(crate) mod emit;
pub(crate) mod locked_memory;
pub(crate) mod thread;
pub(crate) mod thread_clock;
