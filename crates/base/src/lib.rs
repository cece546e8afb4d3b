//! What every part of rostrace needs: time as types, work on all processors, numbers with units, names that were meant, text that does no
//! harm, and YAML.

pub mod cpp_name;
pub mod parallel;
pub mod similar;
pub mod text;
pub mod time;
pub mod units;
pub mod yaml;
