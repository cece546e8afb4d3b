//! What every part of rostrace needs to speak to people: numbers with units, names that were meant, text that does no harm.

pub mod similar;
pub mod text;
pub mod units;
