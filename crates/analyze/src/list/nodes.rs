//! The list of nodes.

use super::recurring::{BUILT_IN, DISTRIBUTION, HOST, RMW};
use super::{List, Unit, more, shown};

const OF_NODE: &str =
    "how many of its own it has; with --all, in CSV and in JSON also built-in ones";
const BUILT_IN_OF_NODE: &str = "how many of them ROS 2 or a recorder made";

pub const NODES: List = List {
    verb: "nodes",
    noun: "node",
    columns: &[
        shown("node", "node", Unit::Text, "its full name"),
        HOST,
        more("pid", Unit::Number, "the process that it lives in"),
        shown(
            "process",
            "process",
            Unit::Text,
            "the name of that process; with its pid in the table",
        ),
        DISTRIBUTION,
        RMW,
        more("created_ns", Unit::Instant, "when it was made"),
        BUILT_IN,
        shown("callbacks", "callbacks", Unit::Count, OF_NODE),
        shown("publishers", "publishers", Unit::Count, OF_NODE),
        shown("subscriptions", "subscriptions", Unit::Count, OF_NODE),
        shown("timers", "timers", Unit::Count, OF_NODE),
        shown("services", "services", Unit::Count, OF_NODE),
        shown("clients", "clients", Unit::Count, OF_NODE),
        more("built_in_callbacks", Unit::Count, BUILT_IN_OF_NODE),
        more("built_in_publishers", Unit::Count, BUILT_IN_OF_NODE),
        more("built_in_subscriptions", Unit::Count, BUILT_IN_OF_NODE),
        more("built_in_timers", Unit::Count, BUILT_IN_OF_NODE),
        more("built_in_services", Unit::Count, BUILT_IN_OF_NODE),
        more("built_in_clients", Unit::Count, BUILT_IN_OF_NODE),
        shown(
            "runs",
            "callback_instances",
            Unit::Count,
            "how often its callbacks ran",
        ),
        shown(
            "messages",
            "messages",
            Unit::Count,
            "how many messages it published",
        ),
        shown(
            "state",
            "lifecycle_state",
            Unit::Text,
            "of a lifecycle node: its state at the end",
        ),
        shown(
            "built in",
            "built_in_parts",
            Unit::Count,
            "publishers, subscriptions, timers, services and clients that ROS 2 or a recorder made",
        ),
    ],
    table: &[
        "node",
        "process",
        "distribution",
        "rmw",
        "callbacks",
        "publishers",
        "subscriptions",
        "timers",
        "services",
        "clients",
        "built in",
        "runs",
        "messages",
        "state",
    ],
    dispensable: &[
        "distribution",
        "rmw",
        "built in",
        "clients",
        "services",
        "timers",
        "publishers",
        "subscriptions",
        "callbacks",
    ],
};
