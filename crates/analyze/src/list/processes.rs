//! The list of processes.

use super::recurring::{DISTRIBUTION, HOST, RMW};
use super::{List, Unit, more, shown};

pub const PROCESSES: List = List {
    verb: "processes",
    noun: "process",
    columns: &[
        shown("host", "host", Unit::Text, HOST.about),
        shown("pid", "pid", Unit::Number, "its number on that machine"),
        shown("name", "name", Unit::Text, "the name of the program"),
        DISTRIBUTION,
        more(
            "tracetools_version",
            Unit::Text,
            "the version of ROS 2's tracepoints in it",
        ),
        RMW,
        shown(
            "nodes",
            "nodes",
            Unit::Count,
            "how many nodes it has, without those of recorders and tools unless --all is given",
        ),
        more(
            "built_in_nodes",
            Unit::Count,
            "how many nodes of recorders and tools it has besides",
        ),
        shown(
            "threads",
            "threads",
            Unit::Count,
            "how many threads left events",
        ),
        shown(
            "events",
            "events",
            Unit::Count,
            "how many events it left in the whole recording",
        ),
        shown(
            "first",
            "first_ns",
            Unit::Instant,
            "when the first of them was",
        ),
        shown(
            "last",
            "last_ns",
            Unit::Instant,
            "when the last of them was",
        ),
        shown(
            "runs",
            "callback_instances",
            Unit::Count,
            "how often callbacks ran in it",
        ),
        shown(
            "messages",
            "messages",
            Unit::Count,
            "how many messages it published",
        ),
    ],
    table: &[
        "host",
        "pid",
        "name",
        "distribution",
        "rmw",
        "nodes",
        "threads",
        "events",
        "first",
        "last",
        "runs",
        "messages",
    ],
    dispensable: &["distribution", "rmw", "last", "threads", "first"],
};
