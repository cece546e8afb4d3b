//! The columns that describe many durations by a few numbers, the same in every table, and the cells that go into them.
//!
//! `statistics_columns!("period", "period of the callback")` is an array of columns `period_min_ns` to `period_worst_at_ns`;
//! `columns![a, b]` joins arrays of columns into those of a table.

use super::{Cell, Column};
use crate::rate::Frequency;
use crate::statistics::Statistics;

/// How many columns `statistics_columns!` makes.
pub(super) const STATISTICS: usize = 11;

/// Columns for a [`Statistics`]: a prefix of their names, and what the values are, in the singular and without an article. In the JSON of a
/// list they are one object, `<prefix>_ns` unless it is named.
macro_rules! statistics_columns {
    ($prefix:literal, $about:literal $(,)?) => {
        $crate::table::statistics_columns::statistics_columns!(
            $prefix,
            $about,
            concat!($prefix, "_ns")
        )
    };
    ($prefix:literal, $about:literal, $object:expr) => {
        $crate::table::statistics_columns::summary_columns!(
            $prefix,
            "_ns",
            $about,
            $object,
            duration,
            mean,
            ", in nanoseconds.",
            "When the largest was: "
        )
    };
}

/// The same for how often something happens in a second.
macro_rules! frequency_columns {
    ($prefix:literal, $about:literal $(,)?) => {
        $crate::table::statistics_columns::summary_columns!(
            $prefix,
            "_hz",
            $about,
            concat!($prefix, "_hz"),
            hertz,
            hertz,
            ".",
            "When the second with the smallest began: "
        )
    };
}

macro_rules! summary_columns {
    ($prefix:literal, $unit:literal, $about:literal, $object:expr, $value:ident, $mean:ident, $in_unit:literal, $worst:literal) => {{
        use $crate::table::Column;
        const COLUMNS: [Column; $crate::table::statistics_columns::STATISTICS] = [
            Column::count(
                concat!($prefix, "_count"),
                concat!("How many values there are: ", $about, "."),
            )
            .member($object, "count"),
            Column::$value(
                concat!($prefix, "_min", $unit),
                concat!("Smallest ", $about, "."),
            )
            .optional()
            .member($object, "min"),
            Column::$mean(
                concat!($prefix, "_mean", $unit),
                concat!("Mean ", $about, $in_unit),
            )
            .optional()
            .member($object, "mean"),
            Column::$value(
                concat!($prefix, "_p50", $unit),
                concat!("Median ", $about, "; percentiles are values that occurred."),
            )
            .optional()
            .member($object, "p50"),
            Column::$value(
                concat!($prefix, "_p90", $unit),
                concat!("90th percentile: ", $about, "."),
            )
            .optional()
            .member($object, "p90"),
            Column::$value(
                concat!($prefix, "_p95", $unit),
                concat!("95th percentile: ", $about, "."),
            )
            .optional()
            .member($object, "p95"),
            Column::$value(
                concat!($prefix, "_p99", $unit),
                concat!("99th percentile: ", $about, "."),
            )
            .optional()
            .member($object, "p99"),
            Column::$value(
                concat!($prefix, "_p99_9", $unit),
                concat!("99.9th percentile: ", $about, "."),
            )
            .optional()
            .member($object, "p99_9"),
            Column::$value(
                concat!($prefix, "_max", $unit),
                concat!("Largest ", $about, "."),
            )
            .optional()
            .member($object, "max"),
            Column::$mean(
                concat!($prefix, "_standard_deviation", $unit),
                concat!("Standard deviation (of the sample): ", $about, $in_unit),
            )
            .optional()
            .member($object, "standard_deviation"),
            Column::time(
                concat!($prefix, "_worst_at_ns"),
                concat!($worst, $about, "."),
            )
            .optional()
            .member($object, "worst_at_ns"),
        ];
        COLUMNS
    }};
}

/// The columns of a table, from arrays of columns.
macro_rules! columns {
    ($($part:expr),+ $(,)?) => {{
        const PARTS: &[&[$crate::table::Column]] = &[$(&$part),+];
        const COLUMNS: [
            $crate::table::Column;
            $crate::table::statistics_columns::length(PARTS)
        ] = $crate::table::statistics_columns::concat(PARTS);
        &COLUMNS
    }};
}

pub(super) use {columns, frequency_columns, statistics_columns, summary_columns};

pub(super) const fn length(parts: &[&[Column]]) -> usize {
    let mut length = 0;
    let mut part = 0;
    while part < parts.len() {
        length += parts[part].len();
        part += 1;
    }
    length
}

/// `N` has to be the [`length`]; the compiler checks it.
pub(super) const fn concat<const N: usize>(parts: &[&[Column]]) -> [Column; N] {
    assert!(N == length(parts));
    let mut columns = [Column::text("", ""); N];
    let (mut part, mut place, mut at) = (0, 0, 0);
    while part < parts.len() {
        while place < parts[part].len() {
            columns[at] = parts[part][place];
            place += 1;
            at += 1;
        }
        place = 0;
        part += 1;
    }
    columns
}

const NO_VALUES: [Cell<'static>; STATISTICS] = {
    let mut cells = [Cell::Nothing; STATISTICS];
    cells[0] = Cell::Integer(0);
    cells
};

/// What goes into the columns of `statistics_columns!`, in their order.
pub(super) fn statistics_cells(statistics: Option<&Statistics>) -> [Cell<'static>; STATISTICS] {
    let Some(it) = statistics else {
        return NO_VALUES;
    };
    [
        it.count.into(),
        it.min.into(),
        it.mean.into(),
        it.p50.into(),
        it.p90.into(),
        it.p95.into(),
        it.p99.into(),
        it.p99_9.into(),
        it.max.into(),
        it.standard_deviation.into(),
        it.worst.into(),
    ]
}

/// What goes into the columns of `frequency_columns!`.
pub(super) fn frequency_cells(frequency: Option<&Frequency>) -> [Cell<'static>; STATISTICS] {
    let Some(Frequency { counts: it, lowest }) = frequency else {
        return NO_VALUES;
    };
    let hertz = |count: i64| Cell::Number(count as f64);
    [
        it.count.into(),
        hertz(it.min),
        it.mean.into(),
        hertz(it.p50),
        hertz(it.p90),
        hertz(it.p95),
        hertz(it.p99),
        hertz(it.p99_9),
        hertz(it.max),
        it.standard_deviation.into(),
        (*lowest).into(),
    ]
}

#[cfg(test)]
mod tests {
    use rostrace_ctf::schema::Nanos;

    use super::*;

    const JOINED: &[Column] = columns![
        [
            Column::node("node", "Node."),
            Column::pid("pid", "Process.")
        ],
        statistics_columns!("period", "period of the callback"),
        [Column::flag("damaged", "Damaged.")],
    ];

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
