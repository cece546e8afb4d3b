//! Frequencies, periods and latencies.

use rostrace_analyze::declared::metrics;
use rostrace_analyze::declared::metrics::Bins;
use rostrace_analyze::declared::records::Records;

use crate::vectors::{NO, column, records};

#[test]
fn a_frequency_counts_the_instants_in_each_bin() {
    let bins = |width, base, until| Bins { width, base, until };
    for (values, bins, expected) in [
        (
            &[0, 1, 11, 12, 14][..],
            bins(10, None, None),
            &[(0, 2), (10, 3)][..],
        ),
        (
            &[5, 6, 11, 12, 15],
            bins(10, Some(4), None),
            &[(4, 4), (14, 1)],
        ),
        (&[5, 6], bins(10, None, Some(20)), &[(5, 2), (15, 0)]),
        (
            &[0, 1, 21, 22, 24],
            bins(10, None, None),
            &[(0, 2), (10, 0), (20, 3)],
        ),
        (
            &[0, 1, 11, 12, 24],
            bins(10, Some(10), None),
            &[(10, 2), (20, 1)],
        ),
        (&[0, 1, 2, 3, 4], bins(10, None, None), &[(0, 5)]),
        (
            &[0, NO, 11, 13, 15],
            bins(10, None, None),
            &[(0, 1), (10, 3)],
        ),
        (
            &[1000000000, 1000500000, 2000000000, 2000300000, 3000000000],
            bins(2_000_000_000, None, None),
            &[(1000000000, 4), (3000000000, 1)],
        ),
    ] {
        assert_eq!(
            metrics::frequency_in(&column(values), bins),
            expected,
            "{values:?}"
        );
    }
    assert_eq!(
        metrics::frequency_in(&column(&[5]), bins(10, Some(7), None)),
        [(7, 0)]
    );
    assert_eq!(
        metrics::frequency_in(&Records::default(), Bins::default()),
        []
    );
}

#[test]
fn a_period_is_the_time_to_the_next_instant() {
    for (values, expected) in [
        (&[0, 1, 11, 12], &[(0, 1), (1, 10), (11, 1)][..]),
        (&[0, NO, 11, 13], &[(0, 11), (11, 2)]),
        (&[2, 4, 12, 14], &[(2, 2), (4, 8), (12, 2)]),
    ] {
        assert_eq!(metrics::period(&column(values)), expected);
    }
}

#[test]
fn a_latency_is_the_time_from_the_first_column_to_the_last() {
    for (table, expected) in [
        (
            &[&[0, 2][..], &[3, 4], &[11, 12]],
            &[(0, 2), (3, 1), (11, 1)][..],
        ),
        (&[&[0, 2], &[3, NO], &[11, 12]], &[(0, 2), (11, 1)]),
        (&[&[0, 2], &[5, 4], &[10, 12]], &[(0, 2), (10, 2)]),
    ] {
        assert_eq!(metrics::latency(&records(table)), expected);
    }
}
