//! The list of processes that run under the tracer.

use super::List;
use crate::table::Column;

pub const STATUS: List = List {
    verb: "status",
    noun: "process",
    columns: &[
        Column::text(
            "session",
            "The session that it belongs to; the table has one part for each.",
        ),
        Column::integer("pid", "Its number."),
        Column::text("name", "Its name."),
        Column::text(
            "state",
            "Idle, recording, or failed; one that has failed goes on with what it can.",
        ),
        Column::count("events", "How many events of it the recording has so far."),
        Column::count("lost", "How many events of it were lost, for want of room."),
        Column::integer("bytes", "How many bytes that is."),
        Column::count("threads", "How many of its threads emitted some."),
        Column::count(
            "remembered",
            "Events of initialisation that later recordings will have, too.",
        ),
        Column::text("error", "The system's error of its last failure."),
    ],
    table: &[
        ("pid", "pid"),
        ("process", "name"),
        ("state", "state"),
        ("events", "events"),
        ("lost", "lost"),
        ("written", "bytes"),
        ("threads", "threads"),
        ("error", "error"),
    ],
    dispensable: &[],
};
