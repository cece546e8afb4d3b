//! Tables of instants that are joined, and their order.

use rostrace_analyze::declared::records::{Follow, Keyed};

use crate::vectors::{NO, column, records, rows};

#[test]
fn a_join_on_equality_pairs_every_row_with_every_equal_one() {
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
fn a_join_by_time_takes_what_follows() {
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
fn a_lost_message_can_count_as_one_that_came_with_the_next() {
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
