//! Small vectors with known answers: joins, metrics, response times and stacked bars as CARET's own unit tests and runs have them. Joining by
//! message address through copies is not among them: that is done while a trace is imported, and tested there.

use proptest::prelude::*;
use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::metrics::{self, Bins};
use rostrace_analyze::declared::records::{Cell, Follow, Keyed, Records};
use rostrace_analyze::declared::response_time::{Case, ResponseTimes};
use rostrace_analyze::declared::stacked_bar::{responses, stacked};

/// In the tables below: missing.
const NO: i64 = -1;

fn rows(table: &[&[i64]]) -> Vec<Vec<Cell>> {
    let cell = |value: &i64| (*value != NO).then_some(*value);
    table
        .iter()
        .map(|row| row.iter().map(cell).collect())
        .collect()
}

fn records(table: &[&[i64]]) -> Records {
    let width = table.first().map_or(0, |row| row.len());
    let mut records = Records::new((0..width).map(|column| format!("column_{column}")));
    records.rows = rows(table);
    records
}

fn column(values: &[i64]) -> Records {
    let table: Vec<Vec<i64>> = values.iter().map(|value| vec![*value]).collect();
    records(&table.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn response_times() {
    type Pairs = &'static [(i64, i64)];
    type Vector = (&'static [&'static [i64]], Pairs, Pairs, Pairs, Pairs);
    let vectors: &[Vector] = &[
        (
            &[&[0, 2], &[3, 4], &[11, 12]],
            &[(3, 1), (11, 1)],
            &[(3, 1), (11, 1)],
            &[(3, 1), (11, 1)],
            &[(3, 9)],
        ),
        (
            &[&[0, 1, 2], &[3, 4, 6], &[11, 13, 16]],
            &[(3, 3), (11, 5)],
            &[(3, 3), (11, 5)],
            &[(3, 3), (11, 5)],
            &[(3, 13)],
        ),
        (
            &[&[0, 2, 4], &[1, 4, 5], &[1, 4, 6], &[1, 12, 13]],
            &[(1, 4)],
            &[(1, 4)],
            &[(1, 4)],
            &[],
        ),
        (
            &[
                &[0, 2, 3],
                &[1, 4, 5],
                &[1, 4, 6],
                &[3, 10, 11],
                &[3, 12, 13],
            ],
            &[(1, 4), (3, 8)],
            &[(1, 4), (3, 8)],
            &[(1, 4), (3, 8)],
            &[(1, 10)],
        ),
        (
            &[&[0, 3, 12], &[1, 4, 13], &[2, 4, 13], &[5, 12, 13]],
            &[(1, 12), (2, 11), (5, 8)],
            &[(5, 8)],
            &[(1, 12)],
            &[(1, 12)],
        ),
        (
            &[&[0, 3, 12], &[1, 4, 13], &[2, 4, NO], &[5, 12, 13]],
            &[(1, 12), (2, 11), (5, 8)],
            &[(5, 8)],
            &[(1, 12)],
            &[(1, 12)],
        ),
        (
            &[&[0, 4, 8], &[1, 4, NO], &[5, 12, 13]],
            &[(1, 12), (5, 8)],
            &[(5, 8)],
            &[(1, 12)],
            &[(1, 12)],
        ),
        (
            &[&[0, 10], &[3, 4], &[4, 10], &[6, 6]],
            &[(0, 10), (4, 6), (6, 0)],
            &[(4, 6), (6, 0)],
            &[(0, 10), (6, 0)],
            &[(0, 10), (4, 2)],
        ),
        (
            &[&[0, 2], &[3, 2], &[3, 4], &[11, 12], &[13, 12]],
            &[(3, 1), (11, 1)],
            &[(3, 1), (11, 1)],
            &[(3, 1), (11, 1)],
            &[(3, 9)],
        ),
        (&[&[0, 1]], &[], &[], &[], &[]),
        (&[&[0, 1], &[2, 3]], &[(2, 1)], &[(2, 1)], &[(2, 1)], &[]),
        (
            &[&[0, 1], &[2, 3], &[10, 11]],
            &[(2, 1), (10, 1)],
            &[(2, 1), (10, 1)],
            &[(2, 1), (10, 1)],
            &[(2, 9)],
        ),
        (&[&[0, 5], &[2, 3]], &[(0, 5)], &[(0, 5)], &[(0, 5)], &[]),
        (
            &[&[0, 10], &[3, 4], &[4, 8], &[6, 6]],
            &[(0, 10), (4, 4), (6, 0)],
            &[(0, 10), (4, 4), (6, 0)],
            &[(0, 10), (4, 4), (6, 0)],
            &[(0, 8), (4, 2)],
        ),
    ];
    for (number, (table, all, best, worst, external)) in vectors.iter().enumerate() {
        let times = ResponseTimes::of(&records(table), Style::Caret);
        for (case, expected) in Case::EVERY.into_iter().zip([all, best, worst, external]) {
            assert_eq!(
                times.case(case),
                **expected,
                "vector {}, {case:?}",
                number + 1
            );
        }
    }
}

#[test]
fn stacked_bars() {
    type Rows = &'static [&'static [i64]];
    let vectors: &[(Rows, Rows, Rows, Rows, Rows)] = &[
        (
            &[
                &[0, 1, NO, NO],
                &[1, 2, 3, 4],
                &[2, 3, 4, NO],
                &[3, 4, 5, 6],
            ],
            &[&[2, 3, 4, 6], &[3, 4, 5, 6]],
            &[&[2, 3, 4, 6]],
            &[&[3, 4, 5, 6]],
            &[&[1, 3, 4, 5, 6]],
        ),
        (
            &[&[0, 1, 3, 4], &[1, 2, 3, 4], &[2, 3, 5, 6], &[3, 4, 5, 6]],
            &[&[2, 3, 5, 6], &[3, 4, 5, 6]],
            &[&[2, 3, 5, 6]],
            &[&[1, 2, 3, 4], &[3, 4, 5, 6]],
            &[&[0, 1, 2, 3, 4], &[1, 3, 4, 5, 6]],
        ),
        (
            &[&[0, 1, 2, 3], &[4, 5, 7, 8], &[6, 7, 8, 9]],
            &[&[4, 5, 7, 8], &[6, 7, 8, 9]],
            &[&[4, 5, 7, 8], &[6, 7, 8, 9]],
            &[&[4, 5, 7, 8], &[6, 7, 8, 9]],
            &[&[0, 4, 5, 7, 8], &[4, 6, 7, 8, 9]],
        ),
        (
            &[&[0, 1, 2, 3], &[1, 3, 2, 4], &[2, 3, 4, 5]],
            &[&[2, 3, 4, 5]],
            &[&[2, 3, 4, 5]],
            &[&[2, 3, 4, 5]],
            &[&[0, 2, 3, 4, 5]],
        ),
        (
            &[&[1, 3, 5, 7], &[2, 5, 4, 7], &[5, 7, 9, 11]],
            &[&[5, 7, 9, 11]],
            &[&[5, 7, 9, 11]],
            &[&[5, 7, 9, 11]],
            &[&[1, 5, 7, 9, 11]],
        ),
        (
            &[&[0, 1], &[2, 3]],
            &[&[2, 3]],
            &[&[2, 3]],
            &[&[2, 3]],
            &[&[0, 2, 3]],
        ),
        (
            &[&[0, 10], &[3, 4], &[4, 8], &[6, 6]],
            &[&[0, 10], &[4, 8], &[6, 6]],
            &[&[0, 10], &[4, 8], &[6, 6]],
            &[&[3, 4], &[6, 6]],
            &[&[0, 3, 4], &[3, 6, 6]],
        ),
        (
            &[&[0, 1], &[2, 3], &[10, 11]],
            &[&[2, 3], &[10, 11]],
            &[&[2, 3], &[10, 11]],
            &[&[2, 3], &[10, 11]],
            &[&[0, 2, 3], &[2, 10, 11]],
        ),
        (
            &[&[0, 5], &[2, 3]],
            &[&[0, 5]],
            &[&[0, 5]],
            &[&[2, 3]],
            &[&[0, 2, 3]],
        ),
    ];
    for (number, (table, all, worst, best, external)) in vectors.iter().enumerate() {
        let records = records(table);
        for (case, expected) in [
            (Case::All, all),
            (Case::Worst, worst),
            (Case::Best, best),
            (Case::WorstWithExternalLatency, external),
        ] {
            let mut found = responses(&records, case, Style::Caret).rows;
            found.sort();
            assert_eq!(found, rows(expected), "vector {}, {case:?}", number + 16);
        }
    }
}

#[test]
fn frequencies() {
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
fn periods() {
    for (values, expected) in [
        (&[0, 1, 11, 12], &[(0, 1), (1, 10), (11, 1)][..]),
        (&[0, NO, 11, 13], &[(0, 11), (11, 2)]),
        (&[2, 4, 12, 14], &[(2, 2), (4, 8), (12, 2)]),
    ] {
        assert_eq!(metrics::period(&column(values)), expected);
    }
}

#[test]
fn latencies() {
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

#[test]
fn joins_on_equality() {
    let left = records(&[&[1, 10], &[3, 20], &[5, 30], &[7, 40], &[9, 70], &[10, 70]]);
    let right = records(&[&[10, 2], &[20, 4], &[30, 6], &[30, 6], &[50, 10], &[70, 11]]);
    let pairs = left.join_equal(&right).select(&[0, 2]).rows;
    let expected: &[&[i64]] = &[
        &[1, 2],
        &[3, 4],
        &[5, 6],
        &[5, 6],
        &[9, 11],
        &[10, 11],
        &[7, NO],
    ];
    assert_eq!(pairs, rows(expected));
    let left = records(&[&[4, 1, 1], &[8, NO, NO], &[12, 9, 2], &[16, NO, NO]]);
    let right = records(&[&[2, 2, 3], &[1, 6, 7], &[NO, 10, NO], &[NO, 14, NO]]);
    let pairs = left.join_equal(&right).select(&[0, 3]).rows;
    assert_eq!(pairs, rows(&[&[4, 6], &[12, 2], &[8, NO], &[16, NO]]));
}

#[test]
fn joins_by_time() {
    type Rows = &'static [&'static [i64]];
    // Left and right as time and key; time ~ time.
    let vectors: &[(Rows, Rows, bool, Rows, Rows)] = &[
        (
            &[&[0, 1], &[1, 2], &[6, 1], &[7, 2]],
            &[&[2, 2], &[3, 1], &[4, 1], &[5, 2]],
            true,
            &[&[0, 3], &[1, 2], &[6, NO], &[7, NO]],
            &[&[0, 3], &[0, 4], &[1, 2], &[1, 5], &[6, NO], &[7, NO]],
        ),
        (
            &[&[0, 0], &[3, 0], &[4, 0], &[5, 0], &[8, 0]],
            &[&[1, 0], &[6, 0], &[7, 0]],
            false,
            &[&[0, 1], &[3, NO], &[4, NO], &[5, 6], &[8, NO]],
            &[&[0, 1], &[3, NO], &[4, NO], &[5, 6], &[5, 7], &[8, NO]],
        ),
        (
            &[&[0, 1], &[4, 1], &[5, 1], &[6, 1]],
            &[&[1, 3], &[2, 1], &[3, 1], &[7, 1]],
            true,
            &[&[0, 2], &[4, NO], &[5, NO], &[6, 7]],
            &[&[0, 2], &[0, 3], &[4, NO], &[5, NO], &[6, 7]],
        ),
    ];
    for (number, (left, right, keyed, first, all)) in vectors.iter().enumerate() {
        let (left, right) = (records(left), records(right));
        let key = keyed.then_some(Keyed { left: 1, right: 1 });
        for (follow, expected) in [(Follow::First, first), (Follow::All, all)] {
            let found = left.join_following_keyed(0, &right, key, follow);
            assert_eq!(
                found.select(&[0, 2]).rows,
                rows(expected),
                "vector {}",
                number + 41
            );
        }
    }
    // Rows without time or key, by id.
    let left = records(&[&[1, 1, 4], &[NO, NO, 8], &[9, 1, 12], &[NO, NO, 16]]);
    let right = records(&[&[3, 1, 2], &[7, 1, 6], &[10, NO, 10], &[NO, 2, 14]]);
    let key = Some(Keyed { left: 1, right: 1 });
    let found = left.join_following_keyed(0, &right, key, Follow::First);
    let expected: &[&[i64]] = &[&[4, 2], &[12, NO], &[8, NO], &[16, NO]];
    assert_eq!(found.select(&[2, 5]).rows, rows(expected));
    let found = left.join_following_keyed(0, &right, key, Follow::All);
    let expected: &[&[i64]] = &[&[4, 2], &[4, 6], &[12, NO], &[8, NO], &[16, NO]];
    assert_eq!(found.select(&[2, 5]).rows, rows(expected));
}

#[test]
fn lost_messages_as_late_ones() {
    let mut table = records(&[
        &[1, 0, 1],
        &[2, 2, NO],
        &[3, NO, 5],
        &[4, 6, NO],
        &[5, NO, NO],
    ]);
    table.bind_drop_as_delay();
    let expected: &[&[i64]] = &[
        &[1, 0, 1],
        &[2, 2, 5],
        &[3, 6, 5],
        &[4, 6, NO],
        &[5, NO, NO],
    ];
    assert_eq!(table.rows, rows(expected));
    // CARET does not survive this.
    let mut equal = records(&[&[1, NO][..]; 40]);
    equal.bind_drop_as_delay();
    assert_eq!(equal.rows.len(), 40);
}

#[test]
fn the_order_of_all_columns_has_missing_values_last() {
    let mut table = records(&[
        &[2, 2, 6],
        &[2, 2, NO],
        &[1, NO, 5],
        &[2, 1, 5],
        &[0, 5, 5],
        &[1, NO, NO],
    ]);
    table.sort();
    let expected: &[&[i64]] = &[
        &[0, 5, 5],
        &[1, NO, 5],
        &[1, NO, NO],
        &[2, 1, 5],
        &[2, 2, 6],
        &[2, 2, NO],
    ];
    assert_eq!(table.rows, rows(expected));
}

#[test]
fn timers_and_variable_passings_are_joins_by_time() {
    let executions = records(&[&[7, 8]]);
    let found = column(&[3, 5]).join_following(0, &executions, Follow::First);
    assert_eq!(found.rows, rows(&[&[3, NO, NO], &[5, 7, 8]]));
    let executions: Vec<Vec<i64>> = (1..=5).map(|k| vec![100 * k + 5, 100 * k + 15]).collect();
    let executions = records(&executions.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let firings: Vec<i64> = (0..=5).map(|k| 2 + 100 * k).collect();
    let found = column(&firings).join_following(0, &executions, Follow::First);
    assert_eq!(found.rows[0], [Some(2), None, None]);
    assert_eq!(found.rows[5], [Some(502), Some(505), Some(515)]);
    let passing = column(&[8]).join_following(0, &column(&[9]), Follow::All);
    assert_eq!(passing.rows, rows(&[&[8, 9]]));
    // A chain: execution 1–2, passing 2→3, execution 3–4, publication at 4.
    let chain = records(&[&[1, 2]])
        .join_equal(&records(&[&[2, 3]]))
        .join_equal(&records(&[&[3, 4]]))
        .select(&[0, 1, 2]);
    let chain = chain.join_following(2, &column(&[4]), Follow::First);
    assert_eq!(chain.rows, rows(&[&[1, 2, 3, 4]]));
    // The newest message: callback at 1 with source timestamp 3, publication at 2.
    let latest = records(&[&[1, 3]]).join_following(0, &column(&[2]), Follow::All);
    assert_eq!(latest.rows, rows(&[&[1, 3, 2]]));
}

#[test]
fn the_first_output_tells_its_best_case_and_a_lost_input_the_worst_of_the_next() {
    // The input of 2 was lost; what it reported was answered at 9.
    let table = records(&[
        &[0, 1, 4],
        &[2, 3, NO],
        &[5, 6, 9],
        &[7, 8, 9],
        &[10, 11, NO],
    ]);
    let times = ResponseTimes::of(&table, Style::Own);
    assert_eq!(times.case(Case::All), [(0, 4), (5, 4), (7, 2)]);
    assert_eq!(times.case(Case::Best), [(0, 4), (7, 2)]);
    assert_eq!(times.case(Case::Worst), [(2, 7)]);
    assert_eq!(times.case(Case::WorstWithExternalLatency), [(0, 9)]);
    // Its way goes on with the message that was answered.
    let worst = responses(&table, Case::Worst, Style::Own);
    assert_eq!(worst.rows, rows(&[&[2, 3, 9]]));
    let external = responses(&table, Case::WorstWithExternalLatency, Style::Own);
    assert_eq!(external.rows, rows(&[&[0, 2, 3, 9]]));
}

/// Section by section as CARET's definition says it, with a search where the other has a sweep.
fn naive(table: &Records, case: Case) -> Vec<(i64, i64)> {
    let mut entries: Vec<(i64, i64)> = Vec::new();
    for row in table.rows.iter().rev() {
        let end = row[row.len() - 1].or_else(|| entries.iter().map(|(_, end)| *end).min());
        let (Some(start), Some(end)) = (row[0], end) else {
            continue;
        };
        if end < start {
            continue;
        }
        match entries.iter_mut().find(|entry| entry.0 == start) {
            None => entries.insert(0, (start, end)),
            Some(entry) => entry.1 = entry.1.min(end),
        }
    }
    let earliest = entries.iter().map(|(_, end)| *end).min();
    entries.retain(|(_, end)| Some(*end) != earliest);
    let mut ends: Vec<i64> = entries.iter().map(|(_, end)| *end).collect();
    ends.sort_unstable();
    ends.dedup();
    let of_end = |end: i64| entries.iter().filter(move |entry| entry.1 == end);
    let mut found: Vec<(i64, i64)> = match case {
        Case::All => {
            return entries
                .iter()
                .map(|(start, end)| (*start, end - start))
                .collect();
        }
        Case::Best => ends
            .iter()
            .filter_map(|end| {
                of_end(*end)
                    .map(|entry| entry.0)
                    .max()
                    .map(|start| (start, end - start))
            })
            .collect(),
        Case::Worst => ends
            .iter()
            .filter_map(|end| {
                of_end(*end)
                    .map(|entry| entry.0)
                    .min()
                    .map(|start| (start, end - start))
            })
            .collect(),
        Case::WorstWithExternalLatency => ends
            .iter()
            .filter_map(|end| {
                let places = (1..entries.len()).filter(|place| entries[*place].1 == *end);
                let place = places.min_by_key(|place| entries[*place].0)?;
                let before = entries[place - 1].0;
                Some((before, end - before))
            })
            .collect(),
    };
    found.sort_by_key(|(start, _)| *start);
    found
}

fn table() -> impl Strategy<Value = Records> {
    let row = (
        0i64..30,
        proptest::option::of(0i64..6),
        proptest::option::of(0i64..10),
    );
    proptest::collection::vec(row, 0..25).prop_map(|mut drawn| {
        drawn.sort();
        let mut records = Records::new([
            "/a/rclcpp_publish_timestamp/0",
            "/n/callback_0/callback_start_timestamp/0",
            "/b/rclcpp_publish_timestamp/0",
        ]);
        for (start, transport, rest) in drawn {
            let middle = transport.map(|transport| start + transport);
            let end = middle.zip(rest).map(|(middle, rest)| middle + rest);
            records.rows.push(vec![Some(start), middle, end]);
        }
        records
    })
}

proptest! {
    #[test]
    fn the_sweep_finds_what_the_definition_says(
        rows in proptest::collection::vec((proptest::option::of(0i64..20), proptest::option::of(0i64..30)), 0..30)
    ) {
        let mut records = Records::new(["a", "b"]);
        records.rows = rows.into_iter().map(|(start, end)| vec![start, end]).collect();
        records.rows.sort_by_key(|row| row[0].unwrap_or(i64::MAX));
        let times = ResponseTimes::of(&records, Style::Caret);
        for case in Case::EVERY {
            let (mut found, mut expected) = (times.case(case), naive(&records, case));
            if case != Case::All {
                found.sort();
                expected.sort();
            }
            prop_assert_eq!(found, expected, "{:?}", case);
        }
    }

    #[test]
    fn for_each_output_the_best_case_is_the_shortest_and_the_worst_the_longest(records in table()) {
        for style in [Style::Caret, Style::Own] {
            let times = ResponseTimes::of(&records, style);
            let by_end = |case: Case, end: i64| -> Vec<i64> {
                let rows = times.case(case).into_iter();
                rows.filter(|(start, it)| start + it == end).map(|(_, it)| it).collect()
            };
            for (start, value) in times.case(Case::All) {
                let end = start + value;
                prop_assert!(by_end(Case::Best, end).iter().all(|best| *best <= value));
                prop_assert!(by_end(Case::Worst, end).iter().all(|worst| value <= *worst));
                prop_assert_eq!(by_end(Case::Best, end).len(), 1);
            }
            for (start, value) in times.case(Case::Worst) {
                if style == Style::Caret {
                    // CARET passes over the first input, so that its case with external latency can be shorter.
                    continue;
                }
                let external = by_end(Case::WorstWithExternalLatency, start + value);
                prop_assert!(external.iter().all(|external| value <= *external));
            }
        }
    }

    #[test]
    fn there_is_a_bar_for_every_response_and_its_parts_add_up(records in table()) {
        let times = ResponseTimes::of(&records, Style::Own);
        for case in Case::EVERY {
            let bars = stacked(&records, case, Style::Own);
            let mut found: Vec<(Cell, i64)> = Vec::new();
            for row in &bars.rows {
                let (start, parts) = row.split_last().unwrap();
                prop_assert!(parts.iter().all(|part| part.is_some_and(|part| part >= 0)), "{:?} {:?}", case, row);
                found.push((*start, parts.iter().flatten().sum()));
            }
            let expected = times.case(case).into_iter().map(|(start, it)| (Some(start), it));
            let mut expected: Vec<_> = expected.collect();
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected, "{:?}", case);
        }
    }
}
