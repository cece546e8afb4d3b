//! The lists of paths: a line for each stage of each path, and one for the whole.

use super::{Column, List, Unit, more, shown};

const PATH: Column = more(
    "path",
    Unit::Text,
    "the path: its nodes and topics in order",
);
const STAGE: Column = more(
    "stage",
    Unit::Number,
    "the place of the line within its path, from 0",
);
const COUNT: Column = more(
    "count",
    Unit::Count,
    "how many messages the figures are made of",
);
const MIN_NS: Column = shown(
    "min",
    "min_ns",
    Unit::Duration,
    "how long it took: the least",
);
const MEAN_NS: Column = shown(
    "mean",
    "mean_ns",
    Unit::Duration,
    "how long it took: the mean",
);
const P50_NS: Column = shown(
    "p50",
    "p50_ns",
    Unit::Duration,
    "how long it took: the median",
);
const P90_NS: Column = shown(
    "p90",
    "p90_ns",
    Unit::Duration,
    "how long it took: the 90th percentile",
);
const P95_NS: Column = more(
    "p95_ns",
    Unit::Duration,
    "how long it took: the 95th percentile",
);
const P99_NS: Column = shown(
    "p99",
    "p99_ns",
    Unit::Duration,
    "how long it took: the 99th percentile, which all but one of a hundred do not exceed",
);
const P99_9_NS: Column = more(
    "p99_9_ns",
    Unit::Duration,
    "how long it took: the 99.9th percentile",
);
const MAX_NS: Column = shown(
    "max",
    "max_ns",
    Unit::Duration,
    "how long it took: the longest",
);
const STANDARD_DEVIATION: Column = more(
    "standard_deviation_ns",
    Unit::Duration,
    "how far the durations lie from their mean",
);
const WORST_AT: Column = more("worst_at_ns", Unit::Instant, "when the longest began");
const SHARE: Column = shown(
    "share",
    "share",
    Unit::Share,
    "the mean of the stage, divided by that of the whole path",
);
const NAME: &str = "the topic, node or callback of the stage; `end to end` is the whole path";

const DISPENSABLE: &[&str] = &["min", "p90", "mean", "share"];

pub const LATENCY: List = List {
    verb: "latency",
    noun: "path",
    columns: &[
        PATH,
        STAGE,
        more(
            "kind",
            Unit::Text,
            "first_callback, communication (a topic), node (from its input to its output), last_callback, or path: the whole",
        ),
        shown("", "name", Unit::Text, NAME),
        COUNT,
        MIN_NS,
        MEAN_NS,
        P50_NS,
        P90_NS,
        P95_NS,
        P99_NS,
        P99_9_NS,
        MAX_NS,
        STANDARD_DEVIATION,
        WORST_AT,
        shown(
            "ended here",
            "ended_here",
            Unit::Count,
            "messages that came no further: on a topic they did not arrive, in a node nothing was published because of them",
        ),
        SHARE,
        more(
            "lost",
            Unit::Count,
            "of a topic: messages that did not arrive, although earlier and later ones did, or that were overwritten",
        ),
    ],
    table: &[
        "",
        "min",
        "mean",
        "p50",
        "p90",
        "p99",
        "max",
        "share",
        "ended here",
    ],
    dispensable: DISPENSABLE,
};

pub const PATHS: List = List {
    verb: "paths",
    noun: "path",
    columns: &[
        PATH,
        STAGE,
        more(
            "kind",
            Unit::Text,
            "communication, callback, variable_passing, path (the whole), or response_time",
        ),
        shown("", "name", Unit::Text, NAME),
        COUNT,
        MIN_NS,
        MEAN_NS,
        P50_NS,
        P90_NS,
        P95_NS,
        P99_NS,
        P99_9_NS,
        MAX_NS,
        STANDARD_DEVIATION,
        WORST_AT,
        shown(
            "ended here",
            "ended_here",
            Unit::Count,
            "messages that were seen at the beginning of the stage and never after it",
        ),
        SHARE,
    ],
    table: &[
        "",
        "min",
        "mean",
        "p50",
        "p90",
        "p99",
        "max",
        "share",
        "ended here",
    ],
    dispensable: DISPENSABLE,
};
