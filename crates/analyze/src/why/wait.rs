//! Parts of one cause, put together: how every output that does not list parts one by one tells an explanation.

use std::collections::HashMap;

use super::Explanation;
use super::cause::Cause;
use super::part::Part;
use crate::analysis::Analysis;

/// The parts of an explanation, those of one cause together. They add up as the parts do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    /// In the order in which they first occur.
    pub list: Vec<Wait>,
    /// By part of the explanation: which of them it belongs to.
    pub of_parts: Vec<usize>,
}

/// All parts of one cause in one hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    pub hop: usize,
    /// What it was, for people: the same for all parts of it.
    pub description: String,
    pub duration: i64,
    /// How many parts it has.
    pub times: usize,
    /// The longest of them; of equal ones the first.
    pub longest: Part,
}

impl Wait {
    /// Its longest part's: the others may be due to other executions of the same callback.
    pub fn cause(&self) -> Cause {
        self.longest.cause
    }
}

impl Explanation {
    pub fn waits(&self, analysis: &Analysis<'_>) -> Waits {
        let mut list: Vec<Wait> = Vec::new();
        let mut places: HashMap<(usize, String), usize> = HashMap::new();
        let mut of_parts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let key = (part.hop, part.describe(analysis));
            let place = *places.entry(key).or_insert_with_key(|(hop, description)| {
                list.push(Wait {
                    hop: *hop,
                    description: description.clone(),
                    duration: 0,
                    times: 0,
                    longest: *part,
                });
                list.len() - 1
            });
            let wait = &mut list[place];
            wait.duration = wait.duration.saturating_add(part.duration());
            wait.times += 1;
            if part.duration() > wait.longest.duration() {
                wait.longest = *part;
            }
            of_parts.push(place);
        }
        Waits { list, of_parts }
    }
}

/// Waits that are too many to be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rest {
    pub waits: usize,
    pub duration: i64,
    pub times: usize,
}

impl Rest {
    fn add(&mut self, wait: &Wait) {
        self.waits += 1;
        self.duration = self.duration.saturating_add(wait.duration);
        self.times += wait.times;
    }
}

/// What is a smaller part of the whole explains nothing.
const NOTICEABLE: f64 = 0.001;

impl Waits {
    /// Without those that are less than a thousandth of the whole, and what these are together; a single one is no shorter to tell so.
    pub fn noticeable(self, total: i64) -> (Vec<Wait>, Option<Rest>) {
        let is_small = |wait: &Wait| (wait.duration as f64) < NOTICEABLE * total as f64;
        let small = self.list.iter().filter(|wait| is_small(wait)).count();
        if small < 2 {
            return (self.list, None);
        }
        let (folded, kept): (Vec<Wait>, _) = self.list.into_iter().partition(is_small);
        let mut rest = Rest::default();
        for wait in folded {
            rest.add(&wait);
        }
        (kept, Some(rest))
    }

    /// At most so many: the longest ones in their order, and what the others are together, which counts as one.
    pub fn longest(self, most: usize) -> (Vec<Wait>, Option<Rest>) {
        let mut list = self.list;
        if list.len() <= most {
            return (list, None);
        }
        let mut ranked: Vec<usize> = (0..list.len()).collect();
        ranked.sort_by_key(|place| std::cmp::Reverse(list[*place].duration));
        let mut is_kept = vec![false; list.len()];
        for place in ranked.into_iter().take(most.saturating_sub(1)) {
            is_kept[place] = true;
        }
        let mut rest = Rest::default();
        let mut place = 0;
        list.retain(|wait| {
            let keep = is_kept[place];
            place += 1;
            if !keep {
                rest.add(wait);
            }
            keep
        });
        (list, Some(rest))
    }
}

#[cfg(test)]
mod tests {
    use rostrace_ctf::schema::Nanos;

    use super::*;

    #[test]
    fn what_is_reported_together_still_adds_up() {
        let wait = |number: i64| Wait {
            hop: 0,
            description: number.to_string(),
            duration: number % 5,
            times: 1,
            longest: Part {
                begin: Nanos(0),
                end: Nanos(number % 5),
                cause: Cause::Executor,
                thread: None,
                hop: 0,
            },
        };
        let waits = Waits {
            list: (0..40).map(wait).collect(),
            of_parts: Vec::new(),
        };
        let sum: i64 = waits.list.iter().map(|wait| wait.duration).sum();
        let (kept, rest) = waits.clone().longest(14);
        let rest = rest.unwrap();
        assert_eq!(kept.len(), 13);
        assert_eq!(rest.waits, 27);
        assert_eq!(rest.times, 27);
        let kept_sum: i64 = kept.iter().map(|wait| wait.duration).sum();
        assert_eq!(kept_sum + rest.duration, sum);
        assert!(kept.iter().all(|wait| wait.duration >= 3));
        assert_eq!(waits.clone().longest(40).1, None);
        // Eight of them last no time at all.
        let (kept, rest) = waits.clone().noticeable(sum);
        let rest = rest.unwrap();
        assert_eq!((kept.len(), rest.waits, rest.duration), (32, 8, 0));
        let mut one = waits;
        one.list.truncate(3);
        assert_eq!(one.noticeable(3).1, None);
    }
}
