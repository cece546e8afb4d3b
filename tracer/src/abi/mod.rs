//! The functions of libtracetools that this library stands in for: `functions` has one block for each
//! tracepoint, `entry` what becomes of it, `tracetools` what is done by hand, and `original` the real ones, to which calls are passed on where LTTng (`lttng`) wants them. `left_out` knows which messages are filtered.

pub(crate) mod entry;
pub(crate) mod functions;
pub(crate) mod left_out;
pub(crate) mod lttng;
pub(crate) mod original;
pub mod tracetools;
