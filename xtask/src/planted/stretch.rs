//! The log of a program as stretches of time, each with what must be said of it.
//!
//! Inside of a callback only sums are compared, because where only the clock of a thread is known, nobody can say when in the execution it was on a CPU.

use super::claim::{Claim, How, Switches};
use super::truth::{Span, Truth, What};

/// A thread of which nothing was logged for so long did something else meanwhile.
const GAP: i64 = 2_000_000;

#[derive(Debug, Clone)]
pub(super) struct Demand {
    pub(super) claim: Claim,
    pub(super) size: i64,
}

#[derive(Debug, Clone)]
pub(super) struct Stretch {
    pub(super) begin: i64,
    pub(super) end: i64,
    /// What is planted comes first.
    pub(super) demands: Vec<Demand>,
    /// Time that others took from the thread without having been asked to.
    pub(super) disturbed: i64,
    pub(super) slack: i64,
    pub(super) is_planted: bool,
}

impl Stretch {
    pub(super) fn is_of_service(&self) -> bool {
        let claim = self.demands.first().map(|demand| &demand.claim);
        matches!(claim, Some(Claim::Service(_) | Claim::ServerBusy(_)))
    }
}

/// The log, as what must be said of which time.
pub(super) fn stretches(truth: &Truth, how: How) -> Vec<Stretch> {
    let is_all_computing = truth.spans.iter().all(|span| span.what == What::Compute);
    let is_service = |span: &Span| matches!(span.what, What::Served | What::Queued);
    let has_service = truth.spans.iter().any(is_service);
    let mut all: Vec<Stretch> = Vec::new();
    let mut inside: Vec<&Span> = Vec::new();
    for span in &truth.spans {
        match span.what {
            What::Compute | What::Block | What::Hog | What::Also | What::Stop => {
                if let Some(last) = inside.last()
                    && (last.thread != span.thread || span.begin - last.end > GAP || has_service)
                {
                    all.extend(inside_stretch(&inside, is_all_computing, how));
                    inside.clear();
                }
                inside.push(span);
            }
            _ => all.extend(outside_stretch(span)),
        }
    }
    all.extend(inside_stretch(&inside, is_all_computing, how));
    all
}

fn inside_stretch(spans: &[&Span], is_all_computing: bool, how: How) -> Option<Stretch> {
    let (first, last) = (spans.first()?, spans.last()?);
    let sum = |time: &dyn Fn(&Span) -> i64| spans.iter().map(|span| time(span)).sum::<i64>();
    let of = |what: What, time: &dyn Fn(&Span) -> i64| {
        sum(&|span| if span.what == what { time(span) } else { 0 })
    };
    let off_cpu = |span: &Span| (span.wall() - span.cpu).max(0);
    let mut demands = Vec::new();
    let mut demand = |claim: Claim, size: i64| demands.push(Demand { claim, size });
    let has = |what: What| spans.iter().find(|span| span.what == what);
    if let Some(block) = has(What::Block) {
        demand(Claim::Blocked(block.culprit), of(What::Block, &off_cpu));
    }
    if let Some(hog) = has(What::Hog) {
        let others = spans.iter().filter(|span| span.what == What::Also);
        let taken = of(What::Hog, &|span| span.culprit_cpu.min(off_cpu(span)));
        match how.switches {
            Switches::Recorded => {
                demand(Claim::Preempted(vec![hog.culprit]), taken);
                for other in others {
                    demand(Claim::Preempted(vec![other.culprit]), other.culprit_cpu);
                }
            }
            Switches::Refused => {
                let by = others.map(|it| it.culprit).chain([hog.culprit]);
                let also = of(What::Also, &|span| span.culprit_cpu);
                demand(Claim::Preempted(by.collect()), taken + also);
            }
        }
    }
    if has(What::Stop).is_some() {
        demand(Claim::Stopped, of(What::Stop, &Span::wall));
    }
    let is_planted = !demands.is_empty() || is_all_computing;
    let cpu = sum(&|span| span.cpu);
    demands.push(Demand {
        claim: Claim::Computing,
        size: cpu,
    });
    let gaps = (last.end - first.begin - sum(&Span::wall)).max(0);
    let disturbed = of(What::Compute, &off_cpu)
        + (of(What::Hog, &|span| (off_cpu(span) - span.culprit_cpu).max(0))
            - of(What::Also, &|span| span.culprit_cpu))
        .max(0);
    Some(Stretch {
        begin: first.begin,
        end: last.end,
        demands,
        disturbed: disturbed + gaps,
        slack: sum(&|span| span.slack) + gaps,
        is_planted,
    })
}

fn outside_stretch(span: &Span) -> Option<Stretch> {
    let node = || span.node.clone();
    let one = |claim: Claim| {
        let size = span.wall();
        vec![Demand { claim, size }]
    };
    let mut disturbed = match span.what {
        What::Transit | What::Late | What::Starve => 0,
        _ => span.disturbed(),
    };
    let demands = match span.what {
        What::Busy => one(Claim::SameThread(node())),
        What::Group => one(Claim::SameGroup(node(), false)),
        What::Either => one(Claim::SameGroup(node(), true)),
        What::Transit => one(Claim::Middleware),
        What::Publish => one(Claim::Publishing),
        What::PublishHog => {
            let off_cpu = (span.wall() - span.cpu).max(0);
            let size = span.culprit_cpu.min(off_cpu);
            disturbed = off_cpu - size;
            let claim = Claim::Preempted(vec![span.culprit]);
            let preempted = Demand { claim, size };
            let claim = Claim::Publishing;
            vec![
                preempted,
                Demand {
                    claim,
                    size: span.cpu,
                },
            ]
        }
        What::Late => one(Claim::Late),
        What::Starve => {
            let size = span.culprit_cpu.min(span.wall());
            disturbed = span.wall() - size;
            let claim = Claim::Starved(span.culprit);
            vec![Demand { claim, size }]
        }
        What::Served => one(Claim::Service(node())),
        What::Queued => one(Claim::ServerBusy(node())),
        What::Compute | What::Block | What::Hog | What::Also | What::Stop => return None,
    };
    Some(Stretch {
        begin: span.begin,
        end: span.end,
        demands,
        disturbed,
        slack: span.slack,
        is_planted: true,
    })
}
