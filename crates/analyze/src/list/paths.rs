//! The lists of paths: a line for each stage of each path, and one for the whole.

use super::{List, titles};
use crate::table::{Column, columns};

const PATH: Column = Column::text("path", "The path: its nodes and topics in order.");
const STAGE: Column = Column::integer("stage", "The place of the line within its path, from 0.");
const COUNT: Column = Column::count("count", "How many messages the figures are made of.");
const MIN_NS: Column = Column::duration("min_ns", "How long it took: the least.");
const MEAN_NS: Column = Column::mean("mean_ns", "How long it took: the mean.");
const P50_NS: Column = Column::duration("p50_ns", "How long it took: the median.");
const P90_NS: Column = Column::duration("p90_ns", "How long it took: the 90th percentile.");
const P95_NS: Column = Column::duration("p95_ns", "How long it took: the 95th percentile.");
const P99_NS: Column = Column::duration(
    "p99_ns",
    "How long it took: the 99th percentile, which all but one of a hundred do not exceed.",
);
const P99_9_NS: Column = Column::duration("p99_9_ns", "How long it took: the 99.9th percentile.");
const MAX_NS: Column = Column::duration("max_ns", "How long it took: the longest.");
const STANDARD_DEVIATION: Column = Column::mean(
    "standard_deviation_ns",
    "How far the durations lie from their mean.",
);
const WORST_AT: Column = Column::time("worst_at_ns", "When the longest began.");
const SHARE: Column = Column::share(
    "share",
    "The mean of the stage, divided by that of the whole path.",
);
const NAME: &str = "The topic, node or callback of the stage; `end to end` is the whole path.";

const DISPENSABLE: &[&str] = &["min", "p90", "mean", "share"];

pub const LATENCY: List = List {
    verb: "latency",
    noun: "path",
    columns: columns! {
        PATH,
        STAGE,
        text "kind" "First_callback, communication (a topic), node (from its input to its output), last_callback, or path: the whole.",
        text "name" NAME,
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
        count "ended_here" "Messages that came no further: on a topic they did not arrive, in a node nothing was published because of them.",
        SHARE,
        count "lost" "Of a topic: messages that did not arrive, although earlier and later ones did, or that were overwritten.",
    },
    table: titles! {
        "": "name", "min": "min_ns", "mean": "mean_ns", "p50": "p50_ns", "p90": "p90_ns",
        "p99": "p99_ns", "max": "max_ns", "share": "share", "ended here": "ended_here",
    },
    dispensable: DISPENSABLE,
};

pub const PATHS: List = List {
    verb: "paths",
    noun: "path",
    columns: columns! {
        PATH,
        STAGE,
        text "kind" "Communication, callback, variable_passing, path (the whole), or response_time.",
        text "name" NAME,
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
        count "ended_here" "Messages that were seen at the beginning of the stage and never after it.",
        SHARE,
    },
    table: titles! {
        "": "name", "min": "min_ns", "mean": "mean_ns", "p50": "p50_ns", "p90": "p90_ns",
        "p99": "p99_ns", "max": "max_ns", "share": "share", "ended here": "ended_here",
    },
    dispensable: DISPENSABLE,
};
