//! The list of topics.

use super::recurring::BUILT_IN;
use super::{List, Unit, more, shown};

pub const TOPICS: List = List {
    verb: "topics",
    noun: "topic",
    columns: &[
        shown(
            "topic",
            "topic",
            Unit::Text,
            "its name, or the address of a publisher of which the trace does not tell the topic",
        ),
        BUILT_IN,
        more("publishers", Unit::Count, "how many publishers it has"),
        shown(
            "from",
            "publisher_nodes",
            Unit::Text,
            "the nodes that publish it",
        ),
        more(
            "subscriptions",
            Unit::Count,
            "how many subscriptions it has",
        ),
        shown(
            "to",
            "subscription_nodes",
            Unit::Text,
            "the nodes that subscribe to it",
        ),
        shown(
            "messages",
            "messages",
            Unit::Count,
            "how many were published",
        ),
        shown(
            "sent at",
            "rate_hz",
            Unit::Hertz,
            "how many were published in a second, from the first to the last",
        ),
        more(
            "received",
            Unit::Count,
            "how many subscriptions got, all together",
        ),
        more(
            "receive_rate_min_hz",
            Unit::Hertz,
            "how many the slowest subscription got in a second",
        ),
        shown(
            "received at",
            "receive_rate_max_hz",
            Unit::Hertz,
            "how many the fastest subscription got in a second; in the table from the slowest to the fastest",
        ),
        shown(
            "delivered",
            "delivered",
            Unit::Count,
            "messages that arrived, once for each subscription",
        ),
        shown(
            "lost",
            "lost",
            Unit::Count,
            "messages that a subscription missed although it got earlier and later ones",
        ),
        shown(
            "overwritten",
            "overwritten",
            Unit::Count,
            "messages that were pushed out of a full intra-process buffer",
        ),
        shown(
            "queued",
            "queued",
            Unit::Count,
            "messages that were not received, though the recording went on for a second or more",
        ),
        shown(
            "unknown",
            "unknown",
            Unit::Count,
            "messages of which the trace does not tell whether they arrived",
        ),
        shown(
            "inter",
            "inter",
            Unit::Count,
            "deliveries through the middleware",
        ),
        shown(
            "intra",
            "intra",
            Unit::Count,
            "deliveries inside a process, past the middleware",
        ),
        shown(
            "longest pause",
            "longest_pause_ns",
            Unit::Duration,
            "the longest time from a message to the next one of the same publisher",
        ),
    ],
    table: &[
        "topic",
        "from",
        "to",
        "messages",
        "sent at",
        "longest pause",
        "received at",
        "delivered",
        "lost",
        "overwritten",
        "queued",
        "unknown",
        "inter",
        "intra",
    ],
    dispensable: &[
        "inter",
        "intra",
        "unknown",
        "queued",
        "received at",
        "delivered",
        "overwritten",
    ],
};
