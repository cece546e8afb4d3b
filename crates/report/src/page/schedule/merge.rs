//! Too many executions for one file: neighbours that lie so close together that no zoom of the page tells them apart become one. The longest
//! of every callback stay what they are.

use std::cmp::Reverse;

use rostrace_model::entity::ThreadId;

/// One execution, or several that were put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Execution {
    pub(super) start: i64,
    pub(super) end: Option<i64>,
    pub(super) thread: ThreadId,
    /// The largest of them.
    pub(super) lateness: Option<i64>,
    pub(super) times: u32,
    /// Time in them; what is put together has gaps.
    pub(super) busy: i64,
}

/// Executions of each callback that are never put together with others.
const LONGEST: usize = 20;

/// Puts together until there are at most `most`, as far as that is possible; says how close together neighbours had to be, 0 if nothing was
/// done.
pub(super) fn merged<K>(of_callback: &mut [(K, Vec<Execution>)], most: usize, span: i64) -> i64 {
    let number =
        |all: &[(K, Vec<Execution>)]| all.iter().map(|(_, rows)| rows.len()).sum::<usize>();
    let mut apart = 0;
    while number(of_callback) > most && apart < span {
        apart = (apart * 2).max(span / 1_000_000).max(1);
        for (_, rows) in of_callback.iter_mut() {
            merge(rows, apart);
        }
    }
    apart
}

fn merge(rows: &mut Vec<Execution>, apart: i64) {
    let duration = |row: &Execution| row.end.map_or(i64::MAX, |end| end - row.start);
    let mut durations: Vec<i64> = rows
        .iter()
        .filter(|row| row.times == 1)
        .map(duration)
        .collect();
    durations.sort_unstable_by_key(|duration| Reverse(*duration));
    let long = durations.get(LONGEST).copied().unwrap_or(i64::MIN);
    let mut kept: Vec<Execution> = Vec::with_capacity(rows.len());
    for row in rows.iter() {
        let stays = |row: &Execution| row.times == 1 && duration(row) > long;
        match kept.last_mut() {
            Some(last) if last.thread == row.thread && !stays(last) && !stays(row) => {
                match last.end.zip(row.end) {
                    Some((before, end)) if row.start - before < apart => {
                        last.end = Some(end.max(before));
                        last.lateness = last.lateness.max(row.lateness);
                        last.times = last.times.saturating_add(row.times);
                        last.busy = last.busy.saturating_add(row.busy);
                    }
                    _ => kept.push(*row),
                }
            }
            _ => kept.push(*row),
        }
    }
    *rows = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executions(number: i64) -> Vec<Execution> {
        (0..number)
            .map(|turn| Execution {
                start: turn * 1000,
                end: Some(turn * 1000 + if turn == 77 { 900 } else { 100 }),
                thread: ThreadId(0),
                lateness: Some(turn),
                times: 1,
                busy: if turn == 77 { 900 } else { 100 },
            })
            .collect()
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let mut all = [((), executions(100))];
        assert_eq!(merged(&mut all, 100, 100_000), 0);
        assert_eq!(all[0].1, executions(100));
    }

    #[test]
    fn nothing_is_lost_and_the_longest_stays_alone() {
        let mut all = [((), executions(10_000))];
        assert!(merged(&mut all, 500, 10_000_000) > 0);
        let rows = &all[0].1;
        assert!(rows.len() <= 500);
        assert_eq!(rows.iter().map(|row| row.times).sum::<u32>(), 10_000);
        assert!(
            rows.iter()
                .any(|row| row.times == 1 && row.end == Some(77_900))
        );
        assert_eq!(
            rows.iter().filter_map(|row| row.lateness).max(),
            Some(9_999)
        );
    }
}
