//! Tables of instants: one row per message or execution, one column per stage, and the two ways to join them.
//!
//! A value may be missing: what did not happen, or did not arrive, has no time. Every join keeps the rows of its left side, so a
//! lost message stays visible as a row that ends early.

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

    /// Sorts by the first column; rows without it come last. The order of equal rows is kept.
    pub fn sort_by_first(&mut self) {
        self.rows.sort_by_key(|row| {
            row.first()
                .copied()
                .flatten()
                .map_or((1, 0), |time| (0, time))
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
    /// left row meets every equal right row.
    pub fn join_equal(&self, right: &Records) -> Records {
        let joint = self.columns.len().saturating_sub(1);
        let mut index: std::collections::HashMap<i64, Vec<usize>> =
            std::collections::HashMap::new();
        for (number, row) in right.rows.iter().enumerate() {
            if let Some(Some(time)) = row.first() {
                index.entry(*time).or_default().push(number);
            }
        }
        let mut joined = Records::new(
            self.columns
                .iter()
                .chain(right.columns.iter().skip(1))
                .cloned(),
        );
        let nothing = vec![None; right.columns.len().saturating_sub(1)];
        for row in &self.rows {
            let found = row
                .get(joint)
                .copied()
                .flatten()
                .and_then(|time| index.get(&time));
            match found {
                Some(found) => {
                    for number in found {
                        let rest = right.rows[*number].iter().skip(1);
                        joined.rows.push(row.iter().chain(rest).copied().collect());
                    }
                }
                None => joined
                    .rows
                    .push(row.iter().chain(&nothing).copied().collect()),
            }
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
        for (row, followers) in self.rows.iter().zip(followers) {
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
                &[&[1, 10, 11], &[1, 10, 12], &[2, 20, -1], &[3, -1, -1]]
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
