//! The list of executors.

use super::recurring::{BUILT_IN, HOST};
use super::{List, Unit, more, shown};

pub const EXECUTORS: List = List {
    verb: "executors",
    noun: "executor",
    columns: &[
        shown(
            "executor",
            "executor",
            Unit::Text,
            "numbered in the order of creation; observed_… if it is inferred from what ran on which thread",
        ),
        shown(
            "type",
            "type",
            Unit::Text,
            "single- or multi-threaded, as the program chose",
        ),
        HOST,
        more("pid", Unit::Number, "the process that it runs in"),
        shown(
            "process",
            "process",
            Unit::Text,
            "the name of that process; with its pid in the table",
        ),
        more("address", Unit::Text, "where it is in memory"),
        more("created_ns", Unit::Instant, "when it was made"),
        shown(
            "nodes",
            "nodes",
            Unit::Text,
            "the nodes whose callbacks it executes",
        ),
        shown(
            "groups",
            "groups",
            Unit::Count,
            "how many callback groups it executes",
        ),
        shown(
            "callbacks",
            "callbacks",
            Unit::Count,
            "how many callbacks it executes",
        ),
        shown(
            "runs",
            "callback_instances",
            Unit::Count,
            "how often they ran",
        ),
        shown(
            "threads",
            "threads",
            Unit::Count,
            "how many threads ran them",
        ),
        more(
            "busy_ns",
            Unit::Duration,
            "time in callbacks, of all its threads together",
        ),
        more(
            "observed_ns",
            Unit::Duration,
            "the time in which its process was observed",
        ),
        shown(
            "busy",
            "busy_share",
            Unit::Share,
            "the former divided by the latter; above 100 % several threads were busy at once",
        ),
        BUILT_IN,
        more(
            "observed",
            Unit::YesOrNo,
            "inferred: the trace does not tell of the executor itself",
        ),
        more(
            "not_seen",
            Unit::Text,
            "why nodes, groups and callbacks are not known, if they are not",
        ),
    ],
    table: &[
        "executor",
        "type",
        "process",
        "nodes",
        "groups",
        "callbacks",
        "threads",
        "runs",
        "busy",
    ],
    dispensable: &["groups", "threads", "callbacks", "type"],
};
