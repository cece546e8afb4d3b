//! Values beyond a limit, and how many of them in a row: the rule of CARET's validation reports.

use rostrace_ctf::schema::Nanos;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Beyond {
    pub(super) number: usize,
    /// In a row.
    pub(super) longest: usize,
    /// When that row began.
    pub(super) longest_at: Option<Nanos>,
}

pub(super) fn beyond(values: &[(i64, Nanos)], is_beyond: impl Fn(i64) -> bool) -> Beyond {
    let mut found = Beyond::default();
    let (mut run, mut since) = (0, None);
    for (value, at) in values {
        if !is_beyond(*value) {
            run = 0;
            continue;
        }
        if run == 0 {
            since = Some(*at);
        }
        run += 1;
        found.number += 1;
        if run > found.longest {
            found.longest = run;
            found.longest_at = since;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_row_counts_and_where_it_began() {
        let values: Vec<(i64, Nanos)> = [1, 9, 1, 9, 9, 9, 1, 9, 9]
            .iter()
            .zip(0..)
            .map(|(value, at)| (*value, Nanos(at)))
            .collect();
        let found = beyond(&values, |value| value > 5);
        assert_eq!((found.number, found.longest), (6, 3));
        assert_eq!(found.longest_at, Some(Nanos(3)));
        assert_eq!(beyond(&[], |_| true), Beyond::default());
    }
}
