//! The columns that describe many durations by a few numbers, the same in every table, and the cells that go into them.
//!
//! `statistics_columns!("period", "period of the callback")` is an array of columns `period_min_ns` to `period_worst_at_ns`;
//! `columns![a, b]` joins arrays of columns into those of a table. How many values there were is a column of the table's own.

use super::{Cell, Column};
use crate::rate::Frequency;
use crate::statistics::Statistics;

/// How many columns `statistics_columns!` makes.
pub(super) const STATISTICS: usize = 10;

/// Ten columns for a [`Statistics`]: a prefix of their names, and what the values are, in the singular and without an article.
macro_rules! statistics_columns {
    ($prefix:literal, $about:literal $(,)?) => {{
        use $crate::table::Column;
        const COLUMNS: [Column; $crate::table::statistics_columns::STATISTICS] = [
            Column::duration(
                concat!($prefix, "_min_ns"),
                concat!("Smallest ", $about, "."),
            )
            .optional(),
            Column::number(
                concat!($prefix, "_mean_ns"),
                concat!("Mean ", $about, ", in nanoseconds."),
            )
            .optional(),
            Column::duration(
                concat!($prefix, "_p50_ns"),
                concat!("Median ", $about, "; percentiles are values that occurred."),
            )
            .optional(),
            Column::duration(
                concat!($prefix, "_p90_ns"),
                concat!("90th percentile: ", $about, "."),
            )
            .optional(),
            Column::duration(
                concat!($prefix, "_p95_ns"),
                concat!("95th percentile: ", $about, "."),
            )
            .optional(),
            Column::duration(
                concat!($prefix, "_p99_ns"),
                concat!("99th percentile: ", $about, "."),
            )
            .optional(),
            Column::duration(
                concat!($prefix, "_p99_9_ns"),
                concat!("99.9th percentile: ", $about, "."),
            )
            .optional(),
            Column::duration(
                concat!($prefix, "_max_ns"),
                concat!("Largest ", $about, "."),
            )
            .optional(),
            Column::number(
                concat!($prefix, "_standard_deviation_ns"),
                concat!(
                    "Standard deviation (of the sample): ",
                    $about,
                    ", in nanoseconds."
                ),
            )
            .optional(),
            Column::time(
                concat!($prefix, "_worst_at_ns"),
                concat!("When the largest was: ", $about, "."),
            )
            .optional(),
        ];
        COLUMNS
    }};
}

/// The same for how often something happens in a second.
macro_rules! frequency_columns {
    ($prefix:literal, $about:literal $(,)?) => {{
        use $crate::table::Column;
        const COLUMNS: [Column; $crate::table::statistics_columns::STATISTICS] = [
            Column::number(
                concat!($prefix, "_min_hz"),
                concat!("Smallest ", $about, "."),
            )
            .optional(),
            Column::number(concat!($prefix, "_mean_hz"), concat!("Mean ", $about, ".")).optional(),
            Column::number(concat!($prefix, "_p50_hz"), concat!("Median ", $about, ".")).optional(),
            Column::number(
                concat!($prefix, "_p90_hz"),
                concat!("90th percentile: ", $about, "."),
            )
            .optional(),
            Column::number(
                concat!($prefix, "_p95_hz"),
                concat!("95th percentile: ", $about, "."),
            )
            .optional(),
            Column::number(
                concat!($prefix, "_p99_hz"),
                concat!("99th percentile: ", $about, "."),
            )
            .optional(),
            Column::number(
                concat!($prefix, "_p99_9_hz"),
                concat!("99.9th percentile: ", $about, "."),
            )
            .optional(),
            Column::number(
                concat!($prefix, "_max_hz"),
                concat!("Largest ", $about, "."),
            )
            .optional(),
            Column::number(
                concat!($prefix, "_standard_deviation_hz"),
                concat!("Standard deviation (of the sample): ", $about, "."),
            )
            .optional(),
            Column::time(
                concat!($prefix, "_worst_at_ns"),
                concat!("When the second with the smallest began: ", $about, "."),
            )
            .optional(),
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

pub(super) use {columns, frequency_columns, statistics_columns};

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

/// What goes into the columns of `statistics_columns!`, in their order.
pub(super) fn statistics_cells(statistics: Option<&Statistics>) -> [Cell<'static>; STATISTICS] {
    let Some(it) = statistics else {
        return [Cell::Nothing; STATISTICS];
    };
    [
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
        return [Cell::Nothing; STATISTICS];
    };
    let hertz = |count: i64| Cell::Number(count as f64);
    [
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
            Column::text("node", "Node."),
            Column::integer("pid", "Process.")
        ],
        statistics_columns!("period", "period of the callback"),
        [Column::flag("damaged", "Damaged.")],
    ];

    #[test]
    fn parts_are_joined_in_their_order() {
        let names: Vec<&str> = JOINED.iter().map(|column| column.name).collect();
        assert_eq!(names.len(), 13);
        assert_eq!(names[..3], ["node", "pid", "period_min_ns"]);
        assert_eq!(names[11..], ["period_worst_at_ns", "damaged"]);
        assert_eq!(JOINED[2].about, "Smallest period of the callback.");
    }

    #[test]
    fn each_cell_fits_its_column() {
        let statistics = Statistics::of(&mut [(3, Nanos(10)), (5, Nanos(20))]);
        for statistics in [statistics.as_ref(), None] {
            let cells = statistics_cells(statistics);
            for (cell, column) in cells.iter().zip(&JOINED[2..12]) {
                assert!(cell.fits(column), "{cell:?} in {}", column.name);
            }
        }
        let names_and_cells = statistics_cells(statistics.as_ref());
        assert_eq!(names_and_cells[7], Cell::Integer(5));
        assert_eq!(names_and_cells[9], Cell::Integer(20));
    }
}
