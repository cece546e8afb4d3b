//! The changes that would gain most: each takes away one thing that made something late, wherever it did.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::SubscriptionId;

use super::Total;
use super::remedy::Remedy;
use crate::analysis::Analysis;
use crate::communication::{DropCause, Pair};
use crate::why::Part;

/// What would be gained by less is not worth a change: nanoseconds, and the part of all lateness.
const NOTICEABLE: i64 = 1_000_000;
const WORTH_IT: f64 = 0.01;
/// What helps fewer of its victims is an accident, unless it made one of them late by half a period: five times as much as makes it late at all.
const NOT_RARE: f64 = 0.01;
const BAD: i64 = 5;

/// One change, and what is known of it. Gains are those of a recording in which nothing else takes the place of what went away.
#[derive(Debug, Clone)]
pub struct Change {
    pub remedy: Remedy,
    /// How much less late everything would have been, and how late its victims were in all.
    pub gain: i64,
    pub lateness: i64,
    /// Of the gain, what is due to a callback's own execution, and what happened while the system started or ended.
    pub own: i64,
    pub in_phase: i64,
    /// What is usual of its own execution, and whether that is its period.
    pub usual: Option<(i64, bool)>,
    /// In how many late executions or messages, of how many of its victims.
    pub times: u64,
    pub of: u64,
    /// Places in [`Total::victims`], that which gains most first.
    pub victims: Vec<usize>,
    /// The longest part that is put down to it.
    pub longest: Part,
    /// Where the explanation ends in which it did most, which is one of the first victim's.
    pub worst: Nanos,
}

impl Total {
    /// At most so many, the largest gain first; what gains most while the system starts or ends comes behind the others.
    pub fn changes(&self, most: usize) -> Vec<Change> {
        let mut changes: BTreeMap<Remedy, Change> = BTreeMap::new();
        let mut bad: BTreeSet<Remedy> = BTreeSet::new();
        for (number, victim) in self.victims.iter().enumerate() {
            for of_victim in &victim.remedies {
                let change = changes.entry(of_victim.remedy).or_insert_with(|| Change {
                    remedy: of_victim.remedy,
                    gain: 0,
                    lateness: 0,
                    own: 0,
                    in_phase: 0,
                    usual: None,
                    times: 0,
                    of: 0,
                    victims: Vec::new(),
                    longest: of_victim.longest,
                    worst: of_victim.worst.1,
                });
                change.gain += of_victim.gain;
                change.own += of_victim.own;
                change.in_phase += of_victim.in_phase;
                change.usual = of_victim.usual.or(change.usual);
                change.lateness += victim.lateness;
                change.times += of_victim.times;
                change.of += victim.explained;
                change.victims.push(number);
                if of_victim.worst.0 >= BAD * victim.late_from {
                    bad.insert(of_victim.remedy);
                }
                if of_victim.longest.duration() > change.longest.duration() {
                    change.longest = of_victim.longest;
                }
            }
        }
        let least = NOTICEABLE.max((WORTH_IT * self.lateness() as f64) as i64);
        let changes = changes.into_values().filter(|change| {
            let is_rare = (change.times as f64) < NOT_RARE * change.of as f64;
            change.gain >= least && (!is_rare || bad.contains(&change.remedy))
        });
        let mut changes: Vec<Change> = changes.collect();
        for change in &mut changes {
            let of_victim = |number: usize| {
                let remedies = &self.victims[number].remedies;
                remedies.iter().find(|it| it.remedy == change.remedy)
            };
            let gain = |number: &usize| of_victim(*number).map_or(0, |it| it.gain);
            change
                .victims
                .sort_by_key(|number| std::cmp::Reverse(gain(number)));
            if let Some(first) = change.victims.first().and_then(|first| of_victim(*first)) {
                change.worst = first.worst.1;
            }
        }
        // What is late only while the system starts or ends comes last, however late it is.
        changes.sort_by_key(|change| (change.is_in_phase(), std::cmp::Reverse(change.gain)));
        changes.truncate(most);
        changes
    }
}

impl Change {
    /// Whether most of it happened while the system started or ended.
    pub fn is_in_phase(&self) -> bool {
        2 * self.in_phase > self.gain
    }
}

/// Messages that were pushed out of the queue of a subscription that is to keep more than the newest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostMessages {
    pub subscription: SubscriptionId,
    pub depth: u64,
    pub lost: u64,
    pub sent: u64,
}

impl LostMessages {
    /// Of all publishers together, the most first.
    pub fn of(
        analysis: &Analysis<'_>,
        pairs: &[Pair],
        is_wanted: impl Fn(SubscriptionId) -> bool,
    ) -> Vec<LostMessages> {
        let mut found: BTreeMap<SubscriptionId, LostMessages> = BTreeMap::new();
        for pair in pairs {
            let subscription = &analysis.model.subscriptions[pair.subscription.index()];
            // A queue of one is how somebody asks for the newest message only.
            if subscription.depth < 2
                || built_in::topic(&subscription.topic)
                || !is_wanted(pair.subscription)
            {
                continue;
            }
            let lost = found.entry(pair.subscription).or_insert(LostMessages {
                subscription: pair.subscription,
                depth: subscription.depth,
                lost: 0,
                sent: 0,
            });
            lost.sent += pair.messages;
            for cause in [DropCause::HistoryFull, DropCause::RingBufferFull] {
                lost.lost += pair.dropped[cause as usize];
            }
        }
        let mut found: Vec<LostMessages> = found.into_values().filter(|it| it.lost > 0).collect();
        found.sort_by_key(|it| std::cmp::Reverse(it.lost));
        found
    }
}
