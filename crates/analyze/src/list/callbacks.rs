//! The list of callbacks.

use super::recurring::{BUILT_IN, HOST};
use super::{List, Unit, more, shown};

pub const CALLBACKS: List = List {
    verb: "callbacks",
    noun: "callback",
    columns: &[
        shown(
            "callback",
            "name",
            Unit::Text,
            "its node, and what makes it run: a topic (←), a timer, a service",
        ),
        HOST,
        more("pid", Unit::Number, "the process that it runs in"),
        shown(
            "process",
            "process",
            Unit::Text,
            "the name of that process; with its pid in the table",
        ),
        more("node", Unit::Text, "the node that it belongs to"),
        more(
            "kind",
            Unit::Text,
            "timer, subscription, service or client; unknown if the trace does not tell",
        ),
        more("topic", Unit::Text, "of a subscription: what it receives"),
        more("service", Unit::Text, "of a service or client: its name"),
        more("period_ns", Unit::Duration, "of a timer: what it is set to"),
        more(
            "symbol",
            Unit::Text,
            "the function, as the program names it",
        ),
        BUILT_IN,
        shown("count", "count", Unit::Count, "how often it ran"),
        more(
            "duration_min_ns",
            Unit::Duration,
            "how long it ran, from its start to its end: the least",
        ),
        shown(
            "mean",
            "duration_mean_ns",
            Unit::Duration,
            "how long it ran: the mean",
        ),
        more(
            "duration_p50_ns",
            Unit::Duration,
            "how long it ran: the median",
        ),
        more(
            "duration_p90_ns",
            Unit::Duration,
            "how long it ran: the 90th percentile",
        ),
        shown(
            "p99",
            "duration_p99_ns",
            Unit::Duration,
            "how long it ran: the 99th percentile, which all but one of a hundred do not exceed",
        ),
        shown(
            "max",
            "duration_max_ns",
            Unit::Duration,
            "how long it ran: the longest",
        ),
        more(
            "period_observed_min_ns",
            Unit::Duration,
            "from one start to the next: the least",
        ),
        more(
            "period_observed_mean_ns",
            Unit::Duration,
            "from one start to the next: the mean",
        ),
        shown(
            "period",
            "period_observed_p50_ns",
            Unit::Duration,
            "from one start to the next: the median",
        ),
        more(
            "period_observed_p90_ns",
            Unit::Duration,
            "from one start to the next: the 90th percentile",
        ),
        more(
            "period_observed_p99_ns",
            Unit::Duration,
            "from one start to the next: the 99th percentile",
        ),
        more(
            "period_observed_max_ns",
            Unit::Duration,
            "from one start to the next: the longest",
        ),
        more(
            "lateness_min_ns",
            Unit::Duration,
            "how late it began, after its timer was due or its message was published: the least",
        ),
        more(
            "lateness_mean_ns",
            Unit::Duration,
            "how late it began: the mean",
        ),
        more(
            "lateness_p50_ns",
            Unit::Duration,
            "how late it began: the median",
        ),
        more(
            "lateness_p90_ns",
            Unit::Duration,
            "how late it began: the 90th percentile",
        ),
        shown(
            "late p99",
            "lateness_p99_ns",
            Unit::Duration,
            "how late it began, after its timer was due or its message was published: the 99th percentile",
        ),
        shown(
            "late max",
            "lateness_max_ns",
            Unit::Duration,
            "how late it began: the latest",
        ),
        more(
            "skipped",
            Unit::Count,
            "of a timer: how often it was due and did not run at all",
        ),
        more(
            "utilisation",
            Unit::Share,
            "time in the callback, divided by the time in which its process was observed",
        ),
        shown(
            "worst / period",
            "hurt",
            Unit::Share,
            "the longest duration or the largest lateness, whichever is larger, divided by the period; the list is sorted by it",
        ),
        more(
            "damaged",
            Unit::Count,
            "executions that touch a time in which events were lost",
        ),
    ],
    table: &[
        "callback",
        "process",
        "count",
        "period",
        "mean",
        "p99",
        "max",
        "late p99",
        "late max",
        "worst / period",
    ],
    dispensable: &["process", "mean", "late p99", "period"],
};
