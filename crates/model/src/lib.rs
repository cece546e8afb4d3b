//! What the events of a ROS 2 trace mean.
//!
//! A trace is a list of addresses; people think in nodes, callbacks and topics. [`Model::load`] reads the events of a
//! [`rostrace_ctf::TraceSet`] once and yields *entities* with lifetimes (processes, nodes, publishers, callbacks …) and *flows* (callback
//! instances, publications, takes, deliveries …). It works with recordings of ros2_tracing, of CARET, and of both.
//!
//! ```no_run
//! let set = rostrace_ctf::TraceSet::open(&["trace"])?;
//! let model = rostrace_model::Model::load(&set, &mut |_| true);
//! for node in &model.nodes {
//!     println!("{}", node.name);
//! }
//! # Ok::<(), rostrace_ctf::Error>(())
//! ```

mod binding;
pub mod describe;
pub mod entity;
mod event_pass;
pub mod flow;
mod import;
mod left_out;
pub mod memory;
mod model;
mod recorded_twice;
pub mod sampling;
pub mod scheduling;
mod symbol;

pub use import::creates_entities;
pub use left_out::LeftOut;
pub use model::Model;
pub use recorded_twice::RecordedTwice;
