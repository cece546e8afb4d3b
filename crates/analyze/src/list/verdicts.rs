//! The lists of the verbs that judge: limits, and differences.

use super::{List, titles};
use crate::table::columns;

pub const CHECK: List = List {
    verb: "check",
    noun: "limit",
    columns: columns! {
        text "verdict" "Kept, broken, nothing (there is nothing that the budget fits, which breaks it) or skipped; what is broken comes first.",
        text "kind" "What the budget is about: a callback, a topic, a path …",
        text "subject" "The name of that, or what the budget asks for if there is no such thing.",
        text "measure" "What of it is measured.",
        text "bound" "Whether it may be at most or at least so much.",
        text "unit" "Of the limit and of what was measured: nanoseconds, hertz, a share of 1, or a count.",
        number "limit" "The limit, in that unit; with its measure in the table.",
        number "measured" "What was measured, in the same unit.",
        count "values" "How many values that is made of.",
        count "damaged" "Those of the values that touch a time in which events were lost.",
        time "worst_at_ns" "When it was worst.",
        integer "line" "Where the limit is in the budget file.",
        integer "column" "Where it is in that line.",
        text "notes" "What else there is to say.",
    },
    table: titles! {
        "verdict": "verdict", "what": "subject", "budget": "limit", "measured": "measured",
        "values": "values", "worst at": "worst_at_ns", "line": "line", "notes": "notes",
    },
    dispensable: &["values", "worst at"],
};

pub const COMPARE: List = List {
    verb: "compare",
    noun: "statistic",
    columns: columns! {
        text "kind" "What is compared: a callback, a topic, a communication or a path.",
        text "name" "Its name, on the new side.",
        text "base_name" "Its name in the base, if it was another one.",
        text "metric" "What of it is compared.",
        text "unit" "Of base, new, difference and interval: nanoseconds, hertz or a share of 1.",
        text "statistic" "The median, a percentile, …",
        number "base" "Its value in the base.",
        number "new" "Its value on the new side.",
        number "difference" "New, less the base.",
        number "interval_low" "The least that the difference may be, given the noise.",
        number "interval_high" "The most that the difference may be, given the noise.",
        number "ratio" "New, divided by the base.",
        number "cliffs_delta" "How much more often the new value of a pair is the larger one, from -1 to 1.",
        number "margin" "Differences up to this do not matter.",
        number "p" "How likely such a difference, or a larger one, would be if the true one were the margin.",
        number "adjusted_p" "The same, given how many statistics are compared.",
        text "verdict" "Worse, better, same or undecided; what became of it, if it is on one side only.",
        count "base_values" "How many values the base has.",
        count "new_values" "How many values the new side has.",
        count "base_damaged" "Those of the base that touch a time in which events were lost.",
        count "new_damaged" "Those of the new side that touch a time in which events were lost.",
    },
    table: titles! {
        "what": "name", "metric": "metric", "statistic": "statistic", "base": "base", "new": "new",
        "difference": "difference", "ratio": "ratio", "verdict": "verdict",
    },
    dispensable: &["ratio", "base", "new"],
};
