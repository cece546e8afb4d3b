//! What an architecture file declares, as tables of instants.
//!
//! [`tables::Indexed`] makes one table per object ([`objects`] says which entities a name means), [`paths`] joins them along paths. [`records`] are
//! the tables and their joins; [`metrics`], [`response_time`], [`stacked_bar`], [`chain`] and [`histogram`] turn instants into durations and count
//! them, [`summary`] describes a whole path, [`path_instance`] finds what a row of one went through. Tables and columns are named as CARET names them; [`Style`] says whether CARET's defects are in them too.

pub mod chain;
pub mod histogram;
mod link;
pub mod metrics;
mod node_path;
pub mod objects;
mod order;
pub mod path_instance;
pub mod paths;
pub mod records;
pub mod response_time;
pub mod stacked_bar;
mod style;
pub mod summary;
pub mod tables;

pub use style::Style;
