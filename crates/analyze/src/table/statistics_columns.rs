//! The columns that describe many durations by a few numbers, the same in every table, and the cells that go into them.
//!
//! `statistics "period" "period of the callback"` among the columns of a table stands for `period_count` to `period_worst_at_ns`.

use rostrace_ctf::schema::Nanos;

use super::{Cell, cells};
use crate::rate::Frequency;
use crate::statistics::Statistics;

/// How many columns `statistics_columns!` makes.
pub(super) const STATISTICS: usize = 11;

/// Columns for a [`Statistics`]: a prefix of their names, and what the values are, in the singular and without an article. In the JSON of a
/// list they are one object, `<prefix>_ns` unless it is named.
macro_rules! statistics_columns {
    ($prefix:literal, $about:literal) => {
        $crate::table::statistics_columns!($prefix, $about, concat!($prefix, "_ns"))
    };
    ($prefix:literal, $about:literal, $object:expr) => {
        $crate::table::summary_columns!(
            ($prefix, "_ns", $object, duration, mean)
            $about, ", in nanoseconds.", "When the largest was: "
        )
    };
}

/// The same for how often something happens in a second.
macro_rules! frequency_columns {
    ($prefix:literal, $about:literal) => {
        $crate::table::summary_columns!(
            ($prefix, "_hz", concat!($prefix, "_hz"), hertz, hertz)
            $about, ".", "When the second with the smallest began: "
        )
    };
}

macro_rules! summary_columns {
    (($prefix:literal, $unit:literal, $object:expr, $value:ident, $mean:ident) $about:literal, $in_unit:literal, $worst:literal) => {
        [
            $crate::table::Column::count(concat!($prefix, "_count"), concat!("How many values there are: ", $about, "."))
                .member($object, "count"),
            $crate::table::summary_columns!(@ $value $prefix, $unit, $object, "min", "Smallest ", $about, "."),
            $crate::table::summary_columns!(@ $mean $prefix, $unit, $object, "mean", "Mean ", $about, $in_unit),
            $crate::table::summary_columns!(@ $value $prefix, $unit, $object, "p50", "Median ", $about, "; percentiles are values that occurred."),
            $crate::table::summary_columns!(@ $value $prefix, $unit, $object, "p90", "90th percentile: ", $about, "."),
            $crate::table::summary_columns!(@ $value $prefix, $unit, $object, "p95", "95th percentile: ", $about, "."),
            $crate::table::summary_columns!(@ $value $prefix, $unit, $object, "p99", "99th percentile: ", $about, "."),
            $crate::table::summary_columns!(@ $value $prefix, $unit, $object, "p99_9", "99.9th percentile: ", $about, "."),
            $crate::table::summary_columns!(@ $value $prefix, $unit, $object, "max", "Largest ", $about, "."),
            $crate::table::summary_columns!(@ $mean $prefix, $unit, $object, "standard_deviation", "Standard deviation (of the sample): ", $about, $in_unit),
            $crate::table::summary_columns!(@ time $prefix, "_ns", $object, "worst_at", "worst_at_ns", $worst, $about, "."),
        ]
    };
    (@ $kind:ident $prefix:literal, $unit:literal, $object:expr, $name:literal, $before:literal, $about:literal, $after:literal) => {
        $crate::table::summary_columns!(@ $kind $prefix, $unit, $object, $name, $name, $before, $about, $after)
    };
    (@ $kind:ident $prefix:literal, $unit:literal, $object:expr, $name:literal, $member:literal, $before:literal, $about:literal, $after:literal) => {
        $crate::table::Column::$kind(concat!($prefix, "_", $name, $unit), concat!($before, $about, $after))
            .optional()
            .member($object, $member)
    };
}

pub(crate) use {frequency_columns, statistics_columns, summary_columns};

const NO_VALUES: [Cell<'static>; STATISTICS] = {
    let mut cells = [Cell::Nothing; STATISTICS];
    cells[0] = Cell::Integer(0);
    cells
};

/// What goes into the columns of `statistics_columns!`, in their order.
pub(super) fn statistics_cells(statistics: Option<&Statistics>) -> [Cell<'static>; STATISTICS] {
    statistics.map_or(NO_VALUES, |it| summary_cells(it, Cell::Integer, it.worst))
}

fn summary_cells(
    it: &Statistics,
    value: fn(i64) -> Cell<'static>,
    worst: Nanos,
) -> [Cell<'static>; STATISTICS] {
    cells! {
        it.count, value(it.min), it.mean, value(it.p50), value(it.p90), value(it.p95),
        value(it.p99), value(it.p99_9), value(it.max), it.standard_deviation, worst,
    }
}

/// What goes into the columns of `frequency_columns!`.
pub(super) fn frequency_cells(frequency: Option<&Frequency>) -> [Cell<'static>; STATISTICS] {
    let hertz = |count: i64| Cell::Number(count as f64);
    frequency.map_or(NO_VALUES, |it| summary_cells(&it.counts, hertz, it.lowest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, columns};

    const JOINED: &[Column] = columns! {
        node "node" "Node.",
        pid "pid" "Process.",
        statistics "period" "period of the callback",
        flag "damaged" "Damaged.",
    };

    #[test]
    fn parts_are_joined_in_their_order() {
        let names: Vec<&str> = JOINED.iter().map(|column| column.name).collect();
        assert_eq!(names.len(), 14);
        assert_eq!(names[..4], ["node", "pid", "period_count", "period_min_ns"]);
        assert_eq!(names[12..], ["period_worst_at_ns", "damaged"]);
        assert_eq!(JOINED[3].about, "Smallest period of the callback.");
        assert_eq!(JOINED[3].member, Some(("period_ns", "min")));
    }

    #[test]
    fn each_cell_fits_its_column() {
        let statistics = Statistics::of(&mut [(3, Nanos(10)), (5, Nanos(20))]);
        for statistics in [statistics.as_ref(), None] {
            let cells = statistics_cells(statistics);
            for (cell, column) in cells.iter().zip(&JOINED[2..13]) {
                assert!(
                    cell.fits(column.kind, column.optional),
                    "{cell:?} in {}",
                    column.name
                );
            }
        }
        let names_and_cells = statistics_cells(statistics.as_ref());
        assert_eq!(names_and_cells[8], Cell::Integer(5));
        assert_eq!(names_and_cells[10], Cell::Integer(20));
    }
}
