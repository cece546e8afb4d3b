//! Adds up what was in the way of something, over all times that it was late.

use std::collections::BTreeMap;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{InstanceId, ThreadId};

use super::cause::{Because, CauseLocation, Root};
use crate::standstill::Standstill;

/// What is due to a smaller part is not due to it.
const MOST: f64 = 0.5;

/// What was in the way for so long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Obstacle {
    pub(super) root: Root,
    pub(super) location: CauseLocation,
    pub(super) time: i64,
    /// Of the whole execution or standstill.
    pub(super) duration: i64,
    pub(super) start: Nanos,
    /// The execution, if it is one of a callback.
    pub(super) instance: Option<InstanceId>,
    /// The thread that it kept.
    pub(super) thread: Option<ThreadId>,
}

impl Obstacle {
    fn of_thread(&self) -> Option<(Root, i64)> {
        Some((Root::Thread(self.thread?), self.time))
    }

    /// A standstill, for so long.
    pub(super) fn standing(standstill: &Standstill, time: i64) -> Obstacle {
        Obstacle {
            root: Root::Standstill(standstill.scope),
            location: CauseLocation::Everywhere,
            time,
            duration: standstill.duration(),
            start: standstill.begin,
            instance: None,
            thread: None,
        }
    }
}

/// What most of the time passed with that something was late by: one thing, or many callbacks of one thread together.
pub(super) fn main(late: i64, obstacles: &[Obstacle]) -> Option<Root> {
    let most = |roots: &mut dyn Iterator<Item = (Root, i64)>| {
        let mut times: BTreeMap<Root, i64> = BTreeMap::new();
        for (root, time) in roots {
            *times.entry(root).or_default() += time;
        }
        let main = times.into_iter().max_by_key(|(_, time)| *time);
        main.filter(|(_, time)| *time as f64 >= MOST * late as f64)
            .map(|(root, _)| root)
    };
    let single = most(&mut obstacles.iter().map(|it| (it.root, it.time)));
    single.or_else(|| most(&mut obstacles.iter().filter_map(Obstacle::of_thread)))
}

/// Time that something was in the way, while it is added up.
#[derive(Debug, Default)]
pub(super) struct DelayTally {
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
    location: CauseLocation,
}

impl DelayTally {
    /// One time that it was late by so much.
    pub(super) fn add(&mut self, late: i64, obstacles: &[Obstacle]) {
        self.late = self.late.saturating_add(late);
        self.of += 1;
        for obstacle in obstacles {
            let thread = obstacle.of_thread().map(|(root, _)| root);
            for root in [Some(obstacle.root), thread].into_iter().flatten() {
                let sum = self.roots.entry(root).or_insert(Sum {
                    time: 0,
                    times: 0,
                    longest: -1,
                    at: obstacle.start,
                    location: obstacle.location,
                });
                sum.time = sum.time.saturating_add(obstacle.time);
                if obstacle.duration > sum.longest {
                    sum.longest = obstacle.duration;
                    sum.at = obstacle.start;
                    sum.location = obstacle.location;
                }
            }
        }
        let main = main(late, obstacles);
        if let Some(sum) = main.and_then(|root| self.roots.get_mut(&root)) {
            sum.times += 1;
        }
        // What one callback did, its thread did.
        let mut threads = obstacles.iter().filter(|it| Some(it.root) == main);
        let thread = threads.find_map(|it| it.of_thread());
        if let Some(sum) = thread.and_then(|(root, _)| self.roots.get_mut(&root)) {
            sum.times += 1;
        }
        if self.worst.is_none_or(|(worst, _)| late > worst) {
            self.worst = Some((late, main));
        }
    }

    pub(super) fn because(mut self) -> Option<Because> {
        let most = |is_thread: bool| {
            let of_kind = |root: &Root| matches!(root, Root::Thread(_)) == is_thread;
            let roots = self.roots.iter().filter(|(root, _)| of_kind(root));
            let most = roots.max_by_key(|(_, sum)| sum.time);
            most.filter(|(_, sum)| {
                sum.times > 0 && self.late > 0 && sum.time as f64 >= MOST * self.late as f64
            })
            .map(|(root, _)| *root)
        };
        let worst = self.worst.and_then(|(_, root)| root);
        let worst = worst.filter(|root| matches!(root, Root::Standstill(_)));
        let root = most(false).or(worst).or_else(|| most(true))?;
        let sum = self.roots.remove(&root)?;
        Some(Because {
            root,
            location: sum.location,
            longest: sum.longest,
            at: sum.at,
            times: sum.times,
            of: self.of,
        })
    }
}
