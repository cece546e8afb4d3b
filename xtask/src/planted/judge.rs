//! Whether an answer is right: compared with what the program logged, and with nothing else.
//!
//! The truth becomes *stretches* of time, each with what must be said of it ([`Demand`]). Inside of a callback only sums are compared, because where
//! only the clock of a thread is known, nobody can say when in the execution it was on a CPU. What the plan was plays no part: a program that
//! was kept from its CPU by the machine has logged that, and it is judged by it.

use std::cmp::Reverse;

use super::answer::{Answer, Part};
use super::truth::{Span, Subject, Truth, What};

/// Sizes may differ by this share, or by this time.
const SHARE: i64 = 20;
const TIME: i64 = 200_000;
/// A thread of which nothing was logged for so long did something else meanwhile.
const GAP: i64 = 2_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Right,
    /// The right cause, and another size.
    Half,
    /// Nothing that is false, and nothing that helps.
    Closed,
    Wrong,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    /// What is not as it was logged.
    pub(super) sentence: String,
    /// The largest difference of a size, where the cause is the right one.
    pub(super) error: i64,
}

/// What must be said of a stretch.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Claim {
    Computing,
    /// By what this thread held, if that is not 0.
    Blocked(i64),
    /// By this thread.
    Preempted(i64),
    Stopped,
    /// This node's callback, on the same thread.
    SameThread(String),
    /// The timer of this node, which is in the same mutually exclusive group; perhaps on the same thread as well.
    SameGroup(String, bool),
    Middleware,
    /// The call of publish, on a CPU or not.
    Publishing,
    Late,
    /// This thread had the CPU.
    Starved(i64),
    /// The callback of this node, which serves.
    Service(String),
    /// The callback of this node kept the server.
    ServerBusy(String),
}

#[derive(Debug, Clone)]
struct Demand {
    claim: Claim,
    size: i64,
}

#[derive(Debug, Clone)]
struct Stretch {
    begin: i64,
    end: i64,
    /// What is planted comes first.
    demands: Vec<Demand>,
    /// Time that others took from the thread without having been asked to.
    disturbed: i64,
    slack: i64,
    is_planted: bool,
}

impl Stretch {
    fn is_of_service(&self) -> bool {
        let claim = self.demands.first().map(|demand| &demand.claim);
        matches!(claim, Some(Claim::Service(_) | Claim::ServerBusy(_)))
    }
}

/// How a case was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switches {
    Recorded,
    /// Who had a CPU instead cannot be known.
    Refused,
}

impl Claim {
    fn accepts(&self, part: &Part, switches: Switches) -> bool {
        let is = |names: &[&str]| names.contains(&part.cause.as_str());
        let is_of = |node: &str| is_callback_of(&part.callback, node);
        // Without context switches nobody has to know it, but nobody may say another one either.
        let is_by = |culprit: i64| match (part.ran_instead, switches) {
            (Some(by), _) => by == culprit,
            (None, Switches::Refused) => true,
            (None, Switches::Recorded) => false,
        };
        match self {
            Claim::Computing => is(&[
                "execution",
                "computing",
                "system_call",
                "page_fault",
                "interrupt",
            ]),
            Claim::Blocked(holder) => {
                let mut words = part.cause.split('_');
                let is_wait =
                    is(&["blocked"]) || words.any(|word| ["lock", "mutex"].contains(&word));
                // Nobody has to know the holder of a lock, but nobody may say another one.
                is_wait && part.held_by.is_none_or(|by| *holder == by)
            }
            Claim::Preempted(by) => is(&["preempted", "waiting_for_cpu"]) && is_by(*by),
            Claim::Stopped => is(&["stopped", "blocked", "standstill"]),
            Claim::SameThread(node) => {
                is(&["other_callback"]) && part.relation == "same thread" && is_of(node)
            }
            Claim::SameGroup(node, is_same_thread) => {
                let is_of_group =
                    part.relation == "same mutually exclusive group" || *is_same_thread;
                is(&["other_callback"])
                    && is_of_group
                    && is_of(node)
                    && part.callback.contains("timer")
            }
            Claim::Middleware => is(&["middleware", "transport"]),
            Claim::Publishing => is(&["publishing", "blocked"]),
            Claim::Late => is(&["woken_late"]) || is(&["off_cpu"]) && !part.has_ran_instead,
            Claim::Starved(by) => {
                is(&["waiting_for_cpu", "preempted"]) && is_by(*by)
                    || is(&["off_cpu"]) && part.ran_instead == Some(*by)
            }
            Claim::Service(node) => {
                let is_service = ["service", "request", "response"]
                    .iter()
                    .any(|word| part.cause.contains(word));
                is_of(node) && !is(&["execution"])
                    || is_service && (part.callback.is_empty() || is_of(node))
            }
            Claim::ServerBusy(node) => is_of(node) && !is(&["execution"]),
        }
    }
}

/// `/node · timer 10 ms` is of `/node`.
fn is_callback_of(callback: &str, node: &str) -> bool {
    callback
        .strip_prefix(node)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// That a thread was not on a CPU, for whatever reason.
fn is_off_cpu(part: &Part) -> bool {
    let names = [
        "preempted",
        "waiting_for_cpu",
        "blocked",
        "off_cpu",
        "interrupted",
        "preempted_or_blocked",
    ];
    names.contains(&part.cause.as_str())
}

/// Boxes that nobody can open.
fn is_closed(part: &Part) -> bool {
    let names = [
        "execution",
        "middleware_or_executor",
        "timer_lateness",
        "unknown",
        "publishing",
        "off_cpu",
        "preempted_or_blocked",
        "executor",
    ];
    names.contains(&part.cause.as_str())
}

/// Whether the largest part is a box that nobody can open although something else was the cause.
pub(super) fn is_largest_closed(truth: &Truth, answer: &Answer) -> bool {
    let largest = (answer.parts.iter()).min_by_key(|part| Reverse(part.duration));
    largest.is_some_and(|part| match part.cause.as_str() {
        "execution" => truth.spans.iter().any(|span| span.what != What::Compute),
        "middleware_or_executor" | "timer_lateness" | "preempted_or_blocked" | "unknown" => true,
        _ => false,
    })
}

pub(super) fn judge(truth: &Truth, answer: &Answer, switches: Switches) -> Judgement {
    if let Subject::Lost(_, reason) = &truth.subject {
        return judge_loss(reason, answer);
    }
    if let Some(gap) = answer.gap() {
        return wrong(format!("the parts do not add up: {gap}"));
    }
    if truth.at < answer.begin || truth.at > answer.end {
        return wrong("another execution or message was explained".to_owned());
    }
    let mut stretches = stretches(truth);
    if switches == Switches::Refused && stretches.iter().any(Stretch::is_of_service) {
        // What the caller did before and after is known as a sum over its execution, which has the service in its middle.
        stretches.retain(Stretch::is_of_service);
    }
    let mut differences = Vec::new();
    let mut error = 0;
    let (mut planted, mut named, mut closed) = (0, 0, 0);
    for stretch in &stretches {
        let found = Found::of(stretch, answer, switches);
        for (demand, size) in stretch.demands.iter().zip(&found.demands) {
            let off = found.error(stretch, demand, *size);
            let tolerance = (demand.size / SHARE).max(TIME) + stretch.slack;
            if off > tolerance {
                differences.push(format!(
                    "{:?}: {} logged, {} said",
                    demand.claim,
                    millis(demand.size),
                    millis(*size)
                ));
            }
            if 2 * size >= demand.size {
                error = error.max((off - stretch.slack).max(0));
            }
        }
        let tolerance = ((stretch.end - stretch.begin) / SHARE).max(TIME) + stretch.slack;
        let other = found.other + (found.standstill - stretch.disturbed).max(0);
        if other > tolerance {
            differences.push(format!("{} of something else", millis(other)));
        }
        if stretch.is_planted
            && let (Some(demand), Some(size)) = (stretch.demands.first(), found.demands.first())
        {
            // What others took from a callback that ran in the way is not planted, whatever is said of it.
            let taken = (found.off_cpu + found.standstill).min(stretch.disturbed);
            let wanted = match demand.claim {
                Claim::Computing | Claim::Blocked(_) | Claim::Preempted(_) | Claim::Starved(_) => {
                    demand.size
                }
                _ => (demand.size - taken).max(0),
            };
            planted += wanted;
            named += *size.min(&wanted);
            closed += found.closed;
        }
    }
    let verdict = if stretches.is_empty() {
        Verdict::Wrong
    } else if 2 * named >= planted && differences.is_empty() {
        Verdict::Right
    } else if 2 * named >= planted {
        Verdict::Half
    } else if 2 * closed >= planted {
        Verdict::Closed
    } else {
        Verdict::Wrong
    };
    Judgement {
        verdict,
        sentence: differences.join("; "),
        error,
    }
}

fn wrong(sentence: String) -> Judgement {
    Judgement {
        verdict: Verdict::Wrong,
        sentence,
        error: 0,
    }
}

fn millis(nanos: i64) -> String {
    format!("{:.3} ms", nanos as f64 / 1e6)
}

/// What an answer has of each demand of a stretch.
#[derive(Debug)]
struct Found {
    demands: Vec<i64>,
    /// Not on a CPU, and not what was demanded.
    off_cpu: i64,
    /// Everything stood still: that may be said of what others took.
    standstill: i64,
    /// Nothing of that.
    other: i64,
    closed: i64,
}

impl Found {
    fn of(stretch: &Stretch, answer: &Answer, switches: Switches) -> Found {
        let mut found = Found {
            demands: vec![0; stretch.demands.len()],
            off_cpu: 0,
            standstill: 0,
            other: 0,
            closed: 0,
        };
        for part in &answer.parts {
            let time = part.within(stretch.begin, stretch.end);
            let mut demands = stretch.demands.iter();
            match demands.position(|demand| demand.claim.accepts(part, switches)) {
                Some(place) => found.demands[place] += time,
                None if is_off_cpu(part) => found.off_cpu += time,
                None if part.cause == "standstill" => found.standstill += time,
                None => found.other += time,
            }
            let is_planted = (stretch.demands.first())
                .is_some_and(|demand| demand.claim.accepts(part, switches));
            // Who waits for a service is blocked: that is true, and does not help.
            let is_box = is_closed(part) || stretch.is_of_service() && part.cause == "blocked";
            if is_box && !is_planted {
                found.closed += time;
            }
        }
        found
    }

    /// How far a size is off. A thread that was disturbed may have been off its CPU longer than it wanted, for the same reason or another one.
    fn error(&self, stretch: &Stretch, demand: &Demand, size: i64) -> i64 {
        let too_much = (size - demand.size).max(0);
        let too_little = (demand.size - size).max(0);
        match demand.claim {
            Claim::Computing => too_much.max(too_little),
            // That it could not run at once when it was woken is in the logged time too.
            Claim::Blocked(_) | Claim::Publishing | Claim::Stopped => {
                (too_much - stretch.disturbed).max(too_little - self.off_cpu)
            }
            _ => {
                let taken = self.off_cpu + self.standstill;
                (too_much - stretch.disturbed).max(too_little - taken.min(stretch.disturbed))
            }
        }
        .max(0)
    }
}

/// The log, as what must be said of which time.
fn stretches(truth: &Truth) -> Vec<Stretch> {
    let is_all_computing = truth.spans.iter().all(|span| span.what == What::Compute);
    let is_service = |span: &Span| matches!(span.what, What::Served | What::Queued);
    let has_service = truth.spans.iter().any(is_service);
    let mut all: Vec<Stretch> = Vec::new();
    let mut inside: Vec<&Span> = Vec::new();
    for span in &truth.spans {
        match span.what {
            What::Compute | What::Block | What::Hog | What::Stop => {
                if let Some(last) = inside.last()
                    && (last.thread != span.thread || span.begin - last.end > GAP || has_service)
                {
                    all.extend(inside_stretch(&inside, is_all_computing));
                    inside.clear();
                }
                inside.push(span);
            }
            _ => all.extend(outside_stretch(span)),
        }
    }
    all.extend(inside_stretch(&inside, is_all_computing));
    all
}

fn inside_stretch(spans: &[&Span], is_all_computing: bool) -> Option<Stretch> {
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
        demand(
            Claim::Preempted(hog.culprit),
            of(What::Hog, &|span| span.culprit_cpu.min(off_cpu(span))),
        );
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
        + of(What::Hog, &|span| (off_cpu(span) - span.culprit_cpu).max(0));
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
            let claim = Claim::Preempted(span.culprit);
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
        What::Compute | What::Block | What::Hog | What::Stop => return None,
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

/// That it was lost, and why. A size is nothing that it could have.
fn judge_loss(reason: &str, answer: &Answer) -> Judgement {
    let said: Vec<String> = answer.said.iter().map(|it| it.to_lowercase()).collect();
    let says = |words: &[&str]| {
        words
            .iter()
            .any(|word| said.iter().any(|it| it.contains(word)))
    };
    let is_lost = says(&["lost", "not arrive", "overwritten", "pushed out"]);
    let full = &[
        "history_full",
        "queue was full",
        "queue full",
        "full queue",
        "full history",
    ];
    let ring = &["ring_buffer_full", "ring buffer", "overwritten"];
    let is_reason = match reason {
        _ if answer.drop_cause.is_some() => answer.drop_cause.as_deref() == Some(reason),
        "history_full" => says(full) && !says(ring),
        "ring_buffer_full" => says(ring),
        _ => says(&["middleware", "there was room"]) && !says(full) && !says(ring),
    };
    let (verdict, sentence) = match (is_lost, is_reason) {
        (true, true) => (Verdict::Right, String::new()),
        (true, false) => (Verdict::Half, format!("not because of {reason}")),
        (false, _) => (
            Verdict::Wrong,
            "another message was explained in the place of a lost one".to_owned(),
        ),
    };
    Judgement {
        verdict,
        sentence,
        error: 0,
    }
}

/// Answers that are made up, to judge the judge.
pub(super) mod made_up {
    use super::*;

    fn part(cause: &str, begin: i64, duration: i64) -> Part {
        Part {
            cause: cause.to_owned(),
            callback: String::new(),
            relation: String::new(),
            ran_instead: None,
            has_ran_instead: false,
            held_by: None,
            begin,
            duration,
        }
    }

    fn of(begin: i64, parts: Vec<Part>, said: Vec<String>) -> Answer {
        let end = parts.last().map_or(begin, Part::end);
        Answer {
            begin,
            end,
            total: end - begin,
            parts,
            drop_cause: None,
            said,
        }
    }

    /// All of it has this one cause.
    pub(in super::super) fn always(truth: &Truth, cause: &str) -> Answer {
        let (begin, end) = reach(truth);
        of(
            begin,
            vec![part(cause, begin, end - begin)],
            vec![cause.to_owned()],
        )
    }

    fn reach(truth: &Truth) -> (i64, i64) {
        let begins = truth.spans.iter().map(|span| span.begin);
        let ends = truth.spans.iter().map(|span| span.end);
        (
            begins.min().unwrap_or(truth.at).min(truth.at),
            ends.max().unwrap_or(truth.at).max(truth.at),
        )
    }

    /// What somebody says who knows everything.
    pub(in super::super) fn perfect(truth: &Truth) -> Answer {
        if let Subject::Lost(_, reason) = &truth.subject {
            return of(
                truth.at,
                Vec::new(),
                vec!["lost".to_owned(), reason.clone()],
            );
        }
        let (begin, end) = reach(truth);
        let mut parts: Vec<Part> = Vec::new();
        let mut at = begin;
        for span in &truth.spans {
            if span.begin < at {
                // Spans of two threads that overlap: nobody looks at the second one's beginning.
                continue;
            }
            if span.begin > at {
                parts.push(part("executor", at, span.begin - at));
            }
            let off = (span.wall() - span.cpu).max(0);
            let cpu = span.wall() - off;
            let mut add = |cause: &str, duration: i64, by: Option<i64>, relation: &str| {
                let begin = parts.last().map_or(begin, Part::end);
                parts.push(Part {
                    callback: format!("{} · timer 10 ms", span.node),
                    relation: relation.to_owned(),
                    ran_instead: by,
                    has_ran_instead: by.is_some(),
                    ..part(cause, begin, duration)
                });
            };
            let by = Some(span.culprit);
            let taken = span.culprit_cpu.min(off);
            match span.what {
                What::Compute => {
                    add("execution", cpu, None, "");
                    add("preempted", off, None, "");
                }
                What::Block => {
                    add("execution", cpu, None, "");
                    add("blocked", off, None, "");
                }
                What::Hog | What::PublishHog => {
                    let is_publish = span.what == What::PublishHog;
                    let own = if is_publish {
                        "publishing"
                    } else {
                        "execution"
                    };
                    add(own, cpu, None, "");
                    add("preempted", taken, by, "");
                    add("preempted", off - taken, None, "");
                }
                What::Stop => add("stopped", span.wall(), None, ""),
                What::Busy => add("other_callback", span.wall(), None, "same thread"),
                What::Group | What::Either => {
                    let relation = "same mutually exclusive group";
                    add("other_callback", span.wall(), None, relation);
                }
                What::Transit => add("middleware", span.wall(), None, ""),
                What::Publish => add("publishing", span.wall(), None, ""),
                What::Late => add("woken_late", span.wall(), None, ""),
                What::Starve => {
                    let had = span.culprit_cpu.min(span.wall());
                    add("waiting_for_cpu", had, by, "");
                    add("waiting_for_cpu", span.wall() - had, None, "");
                }
                What::Served => add("service", span.wall(), None, ""),
                What::Queued => add("other_callback", span.wall(), None, ""),
            }
            at = span.end;
        }
        if end > at {
            parts.push(part("executor", at, end - at));
        }
        of(begin, parts, Vec::new())
    }

    /// The answer to another question, put where this one's time is.
    pub(in super::super) fn moved(answer: &Answer, truth: &Truth) -> Answer {
        let (begin, end) = reach(truth);
        let by = begin - answer.begin;
        let mut moved = answer.clone();
        moved.begin += by;
        moved.end += by;
        for part in &mut moved.parts {
            part.begin += by;
        }
        // As long as this one, so that it is not found out by its length alone.
        if let Some(last) = moved.parts.last_mut()
            && moved.end < end
        {
            last.duration += end - moved.end;
            moved.end = end;
        }
        moved.total = moved.end - moved.begin;
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::random::Random;

    /// A truth in which this happens, with usual work around it.
    fn planted(what: What, random: &mut Random) -> Truth {
        let mut at = 1_000_000_000_000 + random.between(0, 1 << 40) as i64;
        let thread = random.between(2, 30_000) as i64;
        let node = format!("/node_{}", random.next());
        let mut spans = Vec::new();
        let mut add = |what: What, size: u64, cpu: i64| {
            let size = size as i64;
            spans.push(Span {
                what,
                node: node.clone(),
                thread,
                begin: at,
                end: at + size,
                cpu: cpu.min(size),
                asleep: match what {
                    What::Compute | What::Hog | What::PublishHog => 0,
                    _ => (size - cpu).max(0),
                },
                slack: 1_000,
                culprit: thread + 1,
                culprit_cpu: (size - cpu).max(0),
            });
            at += size + 500;
            at
        };
        let is_inside = matches!(what, What::Compute | What::Block | What::Hog | What::Stop);
        if is_inside {
            let before = random.between(100_000, 2_000_000);
            add(What::Compute, before, before as i64);
        }
        let size = random.between(8_000_000, 60_000_000);
        let cpu = match what {
            What::Compute => size as i64,
            What::Hog => random.between(100_000, 2_000_000) as i64,
            _ => random.between(5_000, 60_000) as i64,
        };
        let end = add(what, size, cpu);
        Truth {
            subject: Subject::Callback(node.clone()),
            at: end - size as i64 / 2,
            spans,
        }
    }

    fn cases(random: &mut Random) -> Vec<Truth> {
        let mut cases: Vec<Truth> = (0..300)
            .map(|number| planted(What::ALL[number % What::ALL.len()], random))
            .collect();
        for reason in ["history_full", "ring_buffer_full", "middleware"] {
            cases.push(Truth {
                subject: Subject::Lost("/topic".to_owned(), reason.to_owned()),
                at: 5,
                spans: Vec::new(),
            });
        }
        cases
    }

    fn right<'a>(cases: impl Iterator<Item = (&'a Truth, Answer)>) -> usize {
        cases
            .filter(|(truth, answer)| {
                judge(truth, answer, Switches::Recorded).verdict == Verdict::Right
            })
            .count()
    }

    #[test]
    fn who_knows_everything_is_right_in_every_case() {
        let cases = cases(&mut Random::new(24));
        for truth in &cases {
            let judgement = judge(truth, &made_up::perfect(truth), Switches::Recorded);
            assert_eq!(judgement.verdict, Verdict::Right, "{truth:?} {judgement:?}");
        }
    }

    #[test]
    fn the_answers_to_other_questions_are_not_right() {
        let cases = cases(&mut Random::new(25));
        let answers = cases.iter().enumerate().map(|(at, truth)| {
            let other = &cases[(at + 1) % cases.len()];
            (truth, made_up::moved(&made_up::perfect(other), truth))
        });
        assert_eq!(right(answers), 0);
    }

    #[test]
    fn who_always_says_the_same_is_hardly_ever_right() {
        let cases = cases(&mut Random::new(26));
        for cause in [
            "blocked",
            "execution",
            "preempted",
            "middleware",
            "other_callback",
            "publishing",
            "lost",
            "unknown",
            "standstill",
            "service",
            "waiting_for_cpu",
            "woken_late",
            "timer_lateness",
        ] {
            let answers = cases.iter().map(|it| (it, made_up::always(it, cause)));
            let right = right(answers);
            assert!(
                right * 4 <= cases.len(),
                "{cause}: {right} of {}",
                cases.len()
            );
        }
    }

    #[test]
    fn a_closed_box_is_not_wrong_and_a_false_claim_is() {
        let truth = planted(What::Block, &mut Random::new(27));
        let verdict =
            |cause| judge(&truth, &made_up::always(&truth, cause), Switches::Recorded).verdict;
        assert_eq!(verdict("execution"), Verdict::Closed);
        assert_eq!(verdict("preempted"), Verdict::Wrong);
        assert_eq!(verdict("blocked"), Verdict::Half);
    }

    #[test]
    fn another_culprit_is_not_right() {
        let truth = planted(What::Hog, &mut Random::new(28));
        let mut answer = made_up::perfect(&truth);
        for part in &mut answer.parts {
            part.ran_instead = part.ran_instead.map(|tid| tid + 1);
        }
        for switches in [Switches::Recorded, Switches::Refused] {
            assert_eq!(judge(&truth, &answer, switches).verdict, Verdict::Wrong);
        }
        for part in &mut answer.parts {
            part.ran_instead = None;
        }
        let verdict = |switches| judge(&truth, &answer, switches).verdict;
        assert_eq!(verdict(Switches::Refused), Verdict::Right);
        assert_eq!(verdict(Switches::Recorded), Verdict::Wrong);
    }

    #[test]
    fn a_size_that_is_off_by_more_than_a_twentieth_is_half_right() {
        let truth = planted(What::Busy, &mut Random::new(29));
        let mut answer = made_up::perfect(&truth);
        let size = answer.parts[0].duration;
        let mut rest = answer.parts[0].clone();
        answer.parts[0].duration -= size / 10;
        rest.cause = "middleware".to_owned();
        rest.begin = answer.parts[0].end();
        rest.duration = size / 10;
        answer.parts.insert(1, rest);
        let judgement = judge(&truth, &answer, Switches::Recorded);
        assert_eq!(judgement.verdict, Verdict::Half, "{judgement:?}");
    }
}
