//! The lists of the verbs that judge: limits, and differences.

use super::List;
use crate::table::Column;

pub const CHECK: List = List {
    verb: "check",
    noun: "limit",
    columns: &[
        Column::text(
            "verdict",
            "Kept, broken, nothing (there is nothing that the budget fits, which breaks it) or skipped; what is broken comes first.",
        ),
        Column::text(
            "kind",
            "What the budget is about: a callback, a topic, a path …",
        ),
        Column::text(
            "subject",
            "The name of that, or what the budget asks for if there is no such thing.",
        ),
        Column::text("measure", "What of it is measured."),
        Column::text("bound", "Whether it may be at most or at least so much."),
        Column::text(
            "unit",
            "Of the limit and of what was measured: nanoseconds, hertz, a share of 1, or a count.",
        ),
        Column::number(
            "limit",
            "The limit, in that unit; with its measure in the table.",
        ),
        Column::number("measured", "What was measured, in the same unit."),
        Column::count("values", "How many values that is made of."),
        Column::count(
            "damaged",
            "Those of the values that touch a time in which events were lost.",
        ),
        Column::time("worst_at_ns", "When it was worst."),
        Column::integer("line", "Where the limit is in the budget file."),
        Column::integer("column", "Where it is in that line."),
        Column::text("notes", "What else there is to say."),
    ],
    table: &[
        ("verdict", "verdict"),
        ("what", "subject"),
        ("budget", "limit"),
        ("measured", "measured"),
        ("values", "values"),
        ("worst at", "worst_at_ns"),
        ("line", "line"),
        ("notes", "notes"),
    ],
    dispensable: &["values", "worst at"],
};

pub const COMPARE: List = List {
    verb: "compare",
    noun: "statistic",
    columns: &[
        Column::text(
            "kind",
            "What is compared: a callback, a topic, a communication or a path.",
        ),
        Column::text("name", "Its name, on the new side."),
        Column::text("base_name", "Its name in the base, if it was another one."),
        Column::text("metric", "What of it is compared."),
        Column::text(
            "unit",
            "Of base, new, difference and interval: nanoseconds, hertz or a share of 1.",
        ),
        Column::text("statistic", "The median, a percentile, …"),
        Column::number("base", "Its value in the base."),
        Column::number("new", "Its value on the new side."),
        Column::number("difference", "New, less the base."),
        Column::number(
            "interval_low",
            "The least that the difference may be, given the noise.",
        ),
        Column::number(
            "interval_high",
            "The most that the difference may be, given the noise.",
        ),
        Column::number("ratio", "New, divided by the base."),
        Column::number(
            "cliffs_delta",
            "How much more often the new value of a pair is the larger one, from -1 to 1.",
        ),
        Column::number("margin", "Differences up to this do not matter."),
        Column::number(
            "p",
            "How likely such a difference, or a larger one, would be if the true one were the margin.",
        ),
        Column::number(
            "adjusted_p",
            "The same, given how many statistics are compared.",
        ),
        Column::text(
            "verdict",
            "Worse, better, same or undecided; what became of it, if it is on one side only.",
        ),
        Column::count("base_values", "How many values the base has."),
        Column::count("new_values", "How many values the new side has."),
        Column::count(
            "base_damaged",
            "Those of the base that touch a time in which events were lost.",
        ),
        Column::count(
            "new_damaged",
            "Those of the new side that touch a time in which events were lost.",
        ),
    ],
    table: &[
        ("what", "name"),
        ("metric", "metric"),
        ("statistic", "statistic"),
        ("base", "base"),
        ("new", "new"),
        ("difference", "difference"),
        ("ratio", "ratio"),
        ("verdict", "verdict"),
    ],
    dispensable: &["ratio", "base", "new"],
};
