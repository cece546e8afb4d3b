//! The lists of the verbs that judge: limits, and differences.

use super::{List, Unit, more, shown};

pub const CHECK: List = List {
    verb: "check",
    noun: "limit",
    columns: &[
        shown(
            "verdict",
            "verdict",
            Unit::Text,
            "kept, broken, nothing (there is nothing that the budget fits, which breaks it) or skipped; what is broken comes first",
        ),
        more(
            "kind",
            Unit::Text,
            "what the budget is about: a callback, a topic, a path …",
        ),
        shown(
            "what",
            "subject",
            Unit::Text,
            "the name of that, or what the budget asks for if there is no such thing",
        ),
        more("measure", Unit::Text, "what of it is measured"),
        more(
            "bound",
            Unit::Text,
            "whether it may be at most or at least so much",
        ),
        more(
            "unit",
            Unit::Text,
            "of the limit and of what was measured: nanoseconds, hertz, a share of 1, or a count",
        ),
        shown(
            "budget",
            "limit",
            Unit::Number,
            "the limit, in that unit; with its measure in the table",
        ),
        shown(
            "measured",
            "measured",
            Unit::Number,
            "what was measured, in the same unit",
        ),
        shown(
            "values",
            "values",
            Unit::Count,
            "how many values that is made of",
        ),
        more(
            "damaged",
            Unit::Count,
            "those of the values that touch a time in which events were lost",
        ),
        shown(
            "worst at",
            "worst_at_ns",
            Unit::Instant,
            "when it was worst",
        ),
        shown(
            "line",
            "line",
            Unit::Number,
            "where the limit is in the budget file",
        ),
        more("column", Unit::Number, "where it is in that line"),
        shown("notes", "notes", Unit::Text, "what else there is to say"),
    ],
    table: &[
        "verdict", "what", "budget", "measured", "values", "worst at", "line", "notes",
    ],
    dispensable: &["values", "worst at"],
};

pub const COMPARE: List = List {
    verb: "compare",
    noun: "statistic",
    columns: &[
        more(
            "kind",
            Unit::Text,
            "what is compared: a callback, a topic, a communication or a path",
        ),
        shown("what", "name", Unit::Text, "its name, on the new side"),
        more(
            "base_name",
            Unit::Text,
            "its name in the base, if it was another one",
        ),
        shown("metric", "metric", Unit::Text, "what of it is compared"),
        more(
            "unit",
            Unit::Text,
            "of base, new, difference and interval: nanoseconds, hertz or a share of 1",
        ),
        shown(
            "statistic",
            "statistic",
            Unit::Text,
            "the median, a percentile, …",
        ),
        shown("base", "base", Unit::Number, "its value in the base"),
        shown("new", "new", Unit::Number, "its value on the new side"),
        shown(
            "difference",
            "difference",
            Unit::Number,
            "new, less the base",
        ),
        more(
            "interval_low",
            Unit::Number,
            "the least that the difference may be, given the noise",
        ),
        more(
            "interval_high",
            Unit::Number,
            "the most that the difference may be, given the noise",
        ),
        shown("ratio", "ratio", Unit::Number, "new, divided by the base"),
        more(
            "cliffs_delta",
            Unit::Number,
            "how much more often the new value of a pair is the larger one, from -1 to 1",
        ),
        more(
            "margin",
            Unit::Number,
            "differences up to this do not matter",
        ),
        more(
            "p",
            Unit::Number,
            "how likely such a difference, or a larger one, would be if the true one were the margin",
        ),
        more(
            "adjusted_p",
            Unit::Number,
            "the same, given how many statistics are compared",
        ),
        shown(
            "verdict",
            "verdict",
            Unit::Text,
            "worse, better, same or undecided; what became of it, if it is on one side only",
        ),
        more("base_values", Unit::Count, "how many values the base has"),
        more(
            "new_values",
            Unit::Count,
            "how many values the new side has",
        ),
        more(
            "base_damaged",
            Unit::Count,
            "those of the base that touch a time in which events were lost",
        ),
        more(
            "new_damaged",
            Unit::Count,
            "those of the new side that touch a time in which events were lost",
        ),
    ],
    table: &[
        "what",
        "metric",
        "statistic",
        "base",
        "new",
        "difference",
        "ratio",
        "verdict",
    ],
    dispensable: &["ratio", "base", "new"],
};
