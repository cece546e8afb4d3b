//! Columns that several lists have.

use super::{Column, Unit, more, shown};

pub(super) const HOST: Column = more("host", Unit::Text, "the machine, by its name in the trace");
pub(super) const BUILT_IN: Column = more(
    "built_in",
    Unit::YesOrNo,
    "made by ROS 2 or by a recorder, and not shown in tables without --all",
);
pub(super) const DISTRIBUTION: Column = shown(
    "distribution",
    "distribution",
    Unit::Text,
    "the ROS 2 distribution that its events tell of",
);
pub(super) const RMW: Column = shown(
    "rmw",
    "rmw_implementation",
    Unit::Text,
    "the middleware that it uses",
);
