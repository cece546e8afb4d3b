//! Tables of instants: one row per message or execution, one column per stage, and the two ways to join them.
//!
//! A value may be missing: what did not happen, or did not arrive, has no time. Every join keeps the rows of its left side, so a
//! lost message stays visible as a row that ends early.

use crate::order;

/// An instant in nanoseconds, or nothing.
pub type Cell = Option<i64>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

/// Which rows of the right side a row of the left side meets in a join by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// The first that follows before the next row of the left side.
    First,
    /// All that follow before the next row of the left side.
    All,
}

impl Records {
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Records {
        Records {
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The values of a column, row by row.
    pub fn column(&self, column: usize) -> impl Iterator<Item = Cell> + '_ {
        self.rows
            .iter()
            .map(move |row| row.get(column).copied().flatten())
    }

    /// Sorts by the first column; rows without it come last.
    pub fn sort_by_first(&mut self) {
        order::sort_by_key(&mut self.rows, |row| {
            row.first().copied().flatten().unwrap_or(i64::MAX)
        });
    }

    /// Only these columns, in this order.
    pub fn select(&self, columns: &[usize]) -> Records {
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
    pub fn join_equal(&self, right: &Records) -> Records {
        let joint = self.columns.len().saturating_sub(1);
        let by_joint = |rows: &[Vec<Cell>], column: usize| -> Vec<(i64, usize)> {
            let keyed = rows.iter().enumerate();
            let mut keyed: Vec<(i64, usize)> = keyed
                .filter_map(|(number, row)| Some((row.get(column).copied()??, number)))
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
                self.rows[*row].get(joint).copied().flatten() == last_key && last_key.is_some()
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
    pub fn join_following(&self, stamp: usize, right: &Records, follow: Follow) -> Records {
        let mut left: Vec<(i64, usize)> = (0..self.rows.len())
            .filter_map(|row| self.rows[row][stamp].map(|time| (time, row)))
            .collect();
        left.sort_by_key(|(time, _)| *time);
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); self.rows.len()];
        let mut times: Vec<(i64, usize)> = (0..right.rows.len())
            .filter_map(|row| {
                right.rows[row]
                    .first()
                    .copied()
                    .flatten()
                    .map(|time| (time, row))
            })
            .collect();
        times.sort_by_key(|(time, _)| *time);
        let mut newest = 0;
        for (time, row) in times {
            while newest < left.len() && left[newest].0 <= time {
                newest += 1;
            }
            if let Some((_, before)) = newest.checked_sub(1).map(|at| left[at]) {
                followers[before].push(row);
            }
        }
        let mut joined = Records::new(self.columns.iter().chain(&right.columns).cloned());
        let nothing = vec![None; right.columns.len()];
        // In the order of time, rows without a time last.
        let timeless = (0..self.rows.len()).filter(|row| self.rows[*row][stamp].is_none());
        for number in left.iter().map(|(_, row)| *row).chain(timeless) {
            let (row, followers) = (&self.rows[number], std::mem::take(&mut followers[number]));
            let most = if follow == Follow::First {
                1
            } else {
                usize::MAX
            };
            if followers.is_empty() {
                joined
                    .rows
                    .push(row.iter().chain(&nothing).copied().collect());
            }
            for follower in followers.into_iter().take(most) {
                joined
                    .rows
                    .push(row.iter().chain(&right.rows[follower]).copied().collect());
            }
        }
        joined
    }
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
