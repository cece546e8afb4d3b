//! Tables of instants: one row per message or execution, one column per stage, and the two ways to join them.
//!
//! A value may be missing: what did not happen, or did not arrive, has no time. Every join keeps the rows of its left side, so a
//! lost message stays visible as a row that ends early.

use std::collections::HashMap;

use rostrace_model::entity::{InstanceId, PublicationId, TakeId};

/// An instant, or nothing.
pub type Cell<T = i64> = Option<T>;

/// What is in the cells: nanoseconds, or also what happened then.
pub trait Instant: Copy + Ord {
    fn time(self) -> i64;
}

impl Instant for i64 {
    fn time(self) -> i64 {
        self
    }
}

/// An instant with what happened then. One that only serves to match others, such as a source timestamp, is no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    pub time: i64,
    pub event: Option<Event>,
}

/// What a stage of a path begins or ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    Publish(PublicationId),
    Start(InstanceId),
    End(InstanceId),
    Take(TakeId),
}

impl Instant for Stamp {
    fn time(self) -> i64 {
        self.time
    }
}

impl Stamp {
    pub(crate) fn of(event: Event, time: i64) -> Stamp {
        let event = Some(event);
        Stamp { time, event }
    }

    pub(crate) fn key(time: i64) -> Stamp {
        Stamp { time, event: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records<T = i64> {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell<T>>>,
}

impl<T> Default for Records<T> {
    fn default() -> Records<T> {
        let (columns, rows) = (Vec::new(), Vec::new());
        Records { columns, rows }
    }
}

/// Which rows of the right side a row of the left side meets in a join by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// The first that follows before the next row of the left side.
    First,
    /// All that follow before the next row of the left side.
    All,
}

/// In a join by time: columns of the left and the right side whose values must be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keyed {
    pub left: usize,
    pub right: usize,
}

impl Records<Stamp> {
    /// Without what happened.
    pub fn times(&self) -> Records {
        let times = |row: &Vec<Cell<Stamp>>| row.iter().map(|it| it.map(Stamp::time)).collect();
        Records {
            columns: self.columns.clone(),
            rows: self.rows.iter().map(times).collect(),
        }
    }
}

impl<T: Instant> Records<T> {
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Records<T> {
        Records {
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The values of a column, row by row.
    pub fn column(&self, column: usize) -> impl Iterator<Item = Cell<T>> + '_ {
        self.rows
            .iter()
            .map(move |row| row.get(column).copied().flatten())
    }

    /// Sorts by the first column; rows without it come last, equal ones keep their order.
    pub fn sort_by_first(&mut self) {
        self.rows.sort_by_key(|row| missing_last(first(row)));
    }

    /// Sorts by all columns in their order, missing values last.
    pub fn sort(&mut self) {
        self.rows
            .sort_by_cached_key(|row| row.iter().copied().map(missing_last).collect::<Vec<_>>());
    }

    /// Treats what was lost as late: a missing value becomes the one of the next row in the order of all columns that has
    /// one. What nothing follows stays missing.
    pub fn bind_drop_as_delay(&mut self) {
        self.sort();
        let mut next: Vec<Cell<T>> = vec![None; self.columns.len()];
        for row in self.rows.iter_mut().rev() {
            for (value, next) in row.iter_mut().zip(&mut next) {
                *value = value.or(*next);
                *next = *value;
            }
        }
        self.sort();
    }

    /// Only these columns, in this order.
    pub fn select(&self, columns: &[usize]) -> Records<T> {
        Records {
            columns: columns
                .iter()
                .map(|column| self.columns[*column].clone())
                .collect(),
            rows: self
                .rows
                .iter()
                .map(|row| columns.iter().map(|column| row[*column]).collect())
                .collect(),
        }
    }

    /// Joins rows whose last column equals the first column of a row of `right`; the shared instant appears once. A
    /// left row meets every equal right row. Rows come in the order of the shared instant, those without a partner last.
    pub fn join_equal(&self, right: &Records<T>) -> Records<T> {
        self.join_equal_by(right, |cell| cell)
    }

    /// The same where the keys of the two are equal.
    pub fn join_equal_by<K: Copy + Ord>(
        &self,
        right: &Records<T>,
        key: impl Fn(T) -> K,
    ) -> Records<T> {
        let joint = self.columns.len().saturating_sub(1);
        let by_joint = |rows: &[Vec<Cell<T>>], column: usize| -> Vec<(K, usize)> {
            let keyed = rows.iter().enumerate();
            let mut keyed: Vec<(K, usize)> = keyed
                .filter_map(|(number, row)| Some((key(row.get(column).copied()??), number)))
                .collect();
            keyed.sort_by_key(|(key, _)| *key);
            keyed
        };
        let left_keys = by_joint(&self.rows, joint);
        let right_keys = by_joint(&right.rows, 0);
        let mut joined = Records::new(
            self.columns
                .iter()
                .chain(right.columns.iter().skip(1))
                .cloned(),
        );
        let mut alone = Vec::new();
        let mut next = 0;
        for same in left_keys.chunk_by(|a, b| a.0 == b.0) {
            let key = same[0].0;
            while right_keys.get(next).is_some_and(|(other, _)| *other < key) {
                next += 1;
            }
            let mut met = false;
            while let Some((_, partner)) = right_keys.get(next).filter(|(other, _)| *other == key) {
                for (_, row) in same {
                    let rest = right.rows[*partner].iter().skip(1);
                    joined
                        .rows
                        .push(self.rows[*row].iter().chain(rest).copied().collect());
                }
                met = true;
                next += 1;
            }
            if !met {
                alone.extend(same.iter().map(|(_, row)| *row));
            }
        }
        // Rows without a key come before those of the last key that found no partner.
        let last_key = left_keys.last().map(|(key, _)| *key);
        let of_last = alone
            .iter()
            .position(|row| {
                let cell = self.rows[*row].get(joint).copied().flatten();
                last_key.is_some() && cell.map(&key) == last_key
            })
            .unwrap_or(alone.len());
        let without_key = (0..self.rows.len())
            .filter(|row| self.rows[*row].get(joint).copied().flatten().is_none());
        let tail = alone.split_off(of_last);
        let nothing = vec![None; right.columns.len().saturating_sub(1)];
        for row in alone.into_iter().chain(without_key).chain(tail) {
            joined
                .rows
                .push(self.rows[row].iter().chain(&nothing).copied().collect());
        }
        joined
    }

    /// Joins by time: a right row (by its first column) follows the newest left row (by the column `stamp`) that is not
    /// younger. All columns of both sides are kept.
    pub fn join_following(&self, stamp: usize, right: &Records<T>, follow: Follow) -> Records<T> {
        self.join_following_keyed(stamp, right, None, follow)
    }

    /// The same among rows with equal keys; a row without a key meets nobody.
    pub fn join_following_keyed(
        &self,
        stamp: usize,
        right: &Records<T>,
        keyed: Option<Keyed>,
        follow: Follow,
    ) -> Records<T> {
        let time = |row: &[Cell<T>], column: usize| row.get(column).copied().flatten().map(T::time);
        let key = |row: &[Cell<T>], column: Option<usize>| match column {
            None => Some(0),
            Some(column) => time(row, column),
        };
        // Left before right where both are at the same time.
        let (mut left, mut events) = (Vec::new(), Vec::new());
        for (number, row) in self.rows.iter().enumerate() {
            if let Some(time) = time(row, stamp) {
                left.push((time, number));
                events.extend(key(row, keyed.map(|it| it.left)).map(|key| (time, 0, number, key)));
            }
        }
        for (number, row) in right.rows.iter().enumerate() {
            let key = key(row, keyed.map(|it| it.right));
            if let (Some(time), Some(key)) = (time(row, 0), key) {
                events.push((time, 1, number, key));
            }
        }
        left.sort_by_key(|(time, _)| *time);
        events.sort_by_key(|(time, side, ..)| (*time, *side));
        let mut newest_of_key: HashMap<i64, usize> = HashMap::new();
        let mut newest: Option<usize> = None;
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); self.rows.len()];
        for (_, side, row, key) in events {
            if side == 0 {
                newest = Some(row);
                if keyed.is_some() {
                    newest_of_key.insert(key, row);
                }
                continue;
            }
            let before = match keyed {
                None => newest,
                Some(_) => newest_of_key.get(&key).copied(),
            };
            if let Some(before) = before {
                followers[before].push(row);
            }
        }
        let mut joined = Records::new(self.columns.iter().chain(&right.columns).cloned());
        let nothing = vec![None; right.columns.len()];
        let most = match follow {
            Follow::First => 1,
            Follow::All => usize::MAX,
        };
        // In the order of time, rows without a time last.
        let timeless = (0..self.rows.len())
            .filter(|row| self.rows[*row].get(stamp).is_none_or(Option::is_none));
        for number in left.iter().map(|(_, row)| *row).chain(timeless) {
            let row = &self.rows[number];
            if followers[number].is_empty() {
                joined
                    .rows
                    .push(row.iter().chain(&nothing).copied().collect());
            }
            for follower in followers[number].iter().take(most) {
                let follower = &right.rows[*follower];
                joined
                    .rows
                    .push(row.iter().chain(follower).copied().collect());
            }
        }
        joined
    }
}

fn first<T: Instant>(row: &[Cell<T>]) -> Cell<T> {
    row.first().copied().flatten()
}

fn missing_last<T: Instant>(value: Cell<T>) -> (bool, Cell) {
    (value.is_none(), value.map(T::time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(columns: &[&str], rows: &[&[i64]]) -> Records {
        let cell = |value: &i64| (*value >= 0).then_some(*value);
        Records {
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows: rows
                .iter()
                .map(|row| row.iter().map(cell).collect())
                .collect(),
        }
    }

    #[test]
    fn a_join_on_equality_keeps_lost_rows_and_multiplies_shared_ones() {
        let left = records(&["a", "b"], &[&[1, 10], &[2, 20], &[3, -1]]);
        let right = records(&["b", "c"], &[&[10, 11], &[10, 12]]);
        let joined = left.join_equal(&right);
        assert_eq!(
            joined,
            records(
                &["a", "b", "c"],
                &[&[1, 10, 11], &[1, 10, 12], &[3, -1, -1], &[2, 20, -1]]
            )
        );
    }

    #[test]
    fn a_row_follows_the_newest_one_before_it() {
        let left = records(&["a"], &[&[10], &[20], &[30]]);
        let right = records(&["b"], &[&[5], &[20], &[21], &[40]]);
        let all = left.join_following(0, &right, Follow::All);
        assert_eq!(
            all,
            records(&["a", "b"], &[&[10, -1], &[20, 20], &[20, 21], &[30, 40]])
        );
        let first = left.join_following(0, &right, Follow::First);
        assert_eq!(
            first,
            records(&["a", "b"], &[&[10, -1], &[20, 20], &[30, 40]])
        );
    }
}
