//! The list of processes that run under the tracer.

use super::{List, Unit, more, shown};

pub const STATUS: List = List {
    verb: "status",
    noun: "process",
    columns: &[
        more(
            "session",
            Unit::Text,
            "the session that it belongs to; the table has one part for each",
        ),
        shown("pid", "pid", Unit::Number, "its number"),
        shown("process", "name", Unit::Text, "its name"),
        shown(
            "state",
            "state",
            Unit::Text,
            "idle, recording, or failed; one that has failed goes on with what it can",
        ),
        shown(
            "events",
            "events",
            Unit::Count,
            "how many events of it the recording has so far",
        ),
        shown(
            "lost",
            "lost",
            Unit::Count,
            "how many events of it were lost, for want of room",
        ),
        shown("written", "bytes", Unit::Number, "how many bytes that is"),
        shown(
            "threads",
            "threads",
            Unit::Count,
            "how many of its threads emitted some",
        ),
        more(
            "remembered",
            Unit::Count,
            "events of initialisation that later recordings will have, too",
        ),
        shown(
            "error",
            "error",
            Unit::Text,
            "the system's error of its last failure",
        ),
    ],
    table: &[
        "pid", "process", "state", "events", "lost", "written", "threads", "error",
    ],
    dispensable: &[],
};
