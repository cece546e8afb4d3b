//! What programs may call themselves: events of the application (`user`), and tracepoints of ROS 2 for client libraries in Rust (`ros`).

pub(crate) mod lock;
pub mod ros;
pub(crate) mod user;
