//! Response times and their stacked bars, also compared with the definition where a search takes the place of the sweep.

use proptest::prelude::*;
use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::records::{Cell, Records};
use rostrace_analyze::declared::response_time::{Case, ResponseTimes};
use rostrace_analyze::declared::stacked_bar::{responses, stacked};

use crate::vectors::{NO, records, rows};

#[test]
fn response_times_are_those_of_carets_vectors() {
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
fn stacked_bars_are_those_of_carets_vectors() {
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
        Case::Best | Case::Worst => ends
            .iter()
            .filter_map(|end| {
                let starts = of_end(*end).map(|entry| entry.0);
                let start = match case {
                    Case::Best => starts.max(),
                    _ => starts.min(),
                }?;
                Some((start, end - start))
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
