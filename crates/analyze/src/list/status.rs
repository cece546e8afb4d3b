//! The list of processes that run under the tracer.

use super::{List, titles};
use crate::table::columns;

pub const STATUS: List = List {
    verb: "status",
    noun: "process",
    columns: columns! {
        text "session" "The session that it belongs to; the table has one part for each.",
        integer "pid" "Its number.",
        text "name" "Its name.",
        text "state" "Idle, recording, or failed; one that has failed goes on with what it can.",
        count "events" "How many events of it the recording has so far.",
        count "lost" "How many events of it were lost, for want of room.",
        integer "bytes" "How many bytes that is.",
        count "threads" "How many of its threads emitted some.",
        count "remembered" "Events of initialisation that later recordings will have, too.",
        text "error" "The system's error of its last failure.",
    },
    table: titles! {
        "pid": "pid", "process": "name", "state": "state", "events": "events", "lost": "lost",
        "written": "bytes", "threads": "threads", "error": "error",
    },
    dispensable: &[],
};
