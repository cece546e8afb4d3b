//! Adds up what was in the way of something, over all times that it was late.

use std::collections::BTreeMap;

use rostrace_ctf::schema::Nanos;
use rostrace_trace::entity::InstanceId;

use super::cause::{Because, Place, Root};
use crate::standstill::Standstill;

/// What is due to a smaller part is not due to it.
const MOST: f64 = 0.5;

/// What was in the way for so long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Obstacle {
    pub(super) root: Root,
    pub(super) place: Place,
    pub(super) time: i64,
    /// Of the whole execution or standstill.
    pub(super) duration: i64,
    pub(super) start: Nanos,
    /// The execution, if it is one of a callback.
    pub(super) instance: Option<InstanceId>,
}

impl Obstacle {
    /// A standstill, for so long.
    pub(super) fn standing(standstill: &Standstill, time: i64) -> Obstacle {
        Obstacle {
            root: Root::Standstill(standstill.scope),
            place: Place::Everywhere,
            time,
            duration: standstill.duration(),
            start: standstill.begin,
            instance: None,
        }
    }
}

/// What most of the time passed with that something was late by.
pub(super) fn main(late: i64, obstacles: &[Obstacle]) -> Option<Root> {
    let mut times: BTreeMap<Root, i64> = BTreeMap::new();
    for obstacle in obstacles {
        *times.entry(obstacle.root).or_default() += obstacle.time;
    }
    let main = times.into_iter().max_by_key(|(_, time)| *time);
    main.filter(|(_, time)| *time as f64 >= MOST * late as f64)
        .map(|(root, _)| root)
}

/// Time that something was in the way, while it is added up.
#[derive(Debug, Default)]
pub(super) struct Tally {
    roots: BTreeMap<Root, Sum>,
    /// All the time that something was late, whatever it is due to.
    late: i64,
    of: u64,
    /// What the worst time is due to, and how late that was.
    worst: Option<(i64, Option<Root>)>,
}

#[derive(Debug)]
struct Sum {
    time: i64,
    times: u64,
    longest: i64,
    at: Nanos,
    place: Place,
}

impl Tally {
    /// One time that it was late by so much.
    pub(super) fn add(&mut self, late: i64, obstacles: &[Obstacle]) {
        self.late = self.late.saturating_add(late);
        self.of += 1;
        for obstacle in obstacles {
            let sum = self.roots.entry(obstacle.root).or_insert(Sum {
                time: 0,
                times: 0,
                longest: -1,
                at: obstacle.start,
                place: obstacle.place,
            });
            sum.time = sum.time.saturating_add(obstacle.time);
            if obstacle.duration > sum.longest {
                sum.longest = obstacle.duration;
                sum.at = obstacle.start;
                sum.place = obstacle.place;
            }
        }
        let main = main(late, obstacles);
        if let Some(sum) = main.and_then(|root| self.roots.get_mut(&root)) {
            sum.times += 1;
        }
        if self.worst.is_none_or(|(worst, _)| late > worst) {
            self.worst = Some((late, main));
        }
    }

    pub(super) fn because(mut self) -> Option<Because> {
        let most = self.roots.iter().max_by_key(|(_, sum)| sum.time)?;
        let is_most = self.late > 0 && most.1.time as f64 >= MOST * self.late as f64;
        let root = match self.worst {
            _ if is_most && most.1.times > 0 => *most.0,
            Some((_, Some(root @ Root::Standstill(_)))) => root,
            _ => return None,
        };
        let sum = self.roots.remove(&root)?;
        Some(Because {
            root,
            place: sum.place,
            longest: sum.longest,
            at: sum.at,
            times: sum.times,
            of: self.of,
        })
    }
}
