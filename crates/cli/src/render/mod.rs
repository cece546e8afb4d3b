//! How results look to people: tables, units, times, colour. Nothing here knows a command.

pub(crate) mod damage;
pub(crate) mod diagnostic;
mod fit;
pub(crate) mod palette;
pub(crate) mod table;
pub(crate) mod time;
