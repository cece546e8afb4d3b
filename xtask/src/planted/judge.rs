//! Whether an answer is right: compared with what the program logged, and with nothing else.
//!
//! The truth becomes *stretches* of time, each with what must be said of it ([`Demand`]). Inside of a callback only sums are compared, because where
//! only the clock of a thread is known, nobody can say when in the execution it was on a CPU. What the plan was plays no part: a program that
//! was kept from its CPU by the machine has logged that, and it is judged by it.

use std::cmp::Reverse;

use super::answer::Answer;
use super::claim::{Claim, How, Switches, is_closed, is_off_cpu};
use super::stretch::{Demand, Stretch, stretches};
use super::truth::{AskedFor, Truth, What};

/// Sizes may differ by this share, or by this time.
const SHARE: i64 = 20;
const TIME: i64 = 200_000;

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

/// Whether the largest part is a box that nobody can open although something else was the cause.
pub(super) fn is_largest_closed(truth: &Truth, answer: &Answer) -> bool {
    let largest = (answer.parts.iter()).min_by_key(|part| Reverse(part.duration));
    largest.is_some_and(|part| match part.cause.as_str() {
        "execution" => truth.spans.iter().any(|span| span.what != What::Compute),
        "middleware_or_executor" | "timer_lateness" | "preempted_or_blocked" | "unknown" => true,
        _ => false,
    })
}

/// The same by the name of that part alone, also where it is the whole truth: of a callback that computed.
pub(super) fn is_largest_called_closed(answer: &Answer) -> bool {
    let largest = (answer.parts.iter()).min_by_key(|part| Reverse(part.duration));
    let names = ["execution", "middleware_or_executor", "timer_lateness"];
    largest.is_some_and(|part| names.contains(&part.cause.as_str()))
}

pub(super) fn judge(truth: &Truth, answer: &Answer, how: How) -> Judgement {
    if let AskedFor::Lost(_, reason) = &truth.subject {
        return judge_loss(reason, answer);
    }
    if let Some(gap) = answer.gap() {
        return wrong(format!("the parts do not add up: {gap}"));
    }
    if truth.at < answer.begin || truth.at > answer.end {
        return wrong("another execution or message was explained".to_owned());
    }
    let mut stretches = stretches(truth, how);
    if how.switches == Switches::Refused && stretches.iter().any(Stretch::is_of_service) {
        // What the caller did before and after is known as a sum over its execution, which has the service in its middle.
        stretches.retain(Stretch::is_of_service);
    }
    let mut differences = Vec::new();
    let mut error = 0;
    let (mut planted, mut named, mut closed) = (0, 0, 0);
    for stretch in &stretches {
        let found = Found::of(stretch, answer, how);
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
    fn of(stretch: &Stretch, answer: &Answer, how: How) -> Found {
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
            match demands.position(|demand| demand.claim.accepts(part, how)) {
                Some(place) => found.demands[place] += time,
                None if is_off_cpu(part) => found.off_cpu += time,
                None if part.cause == "standstill" => found.standstill += time,
                None => found.other += time,
            }
            let is_planted =
                (stretch.demands.first()).is_some_and(|demand| demand.claim.accepts(part, how));
            // Who waits for a service is blocked: that is true, and does not help.
            // Nor does it help that a receiver was idle or had no CPU.
            let is_starved = stretch
                .demands
                .iter()
                .any(|it| matches!(it.claim, Claim::Starved(_)));
            let is_either = is_starved && how.switches == Switches::Refused;
            let is_box = is_closed(part)
                || stretch.is_of_service() && part.cause == "blocked"
                || is_either && part.cause == "middleware";
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

#[cfg(test)]
mod tests {
    use super::super::made_up;
    use super::super::truth::Span;
    use super::*;
    use crate::torture::random::Random;

    const RECORDED: How = How {
        switches: Switches::Recorded,
        has_locks: false,
    };

    fn verdict_of(truth: &Truth, answer: &Answer, switches: Switches) -> Verdict {
        let how = How {
            switches,
            ..RECORDED
        };
        judge(truth, answer, how).verdict
    }

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
        let inside = [
            What::Compute,
            What::Block,
            What::Hog,
            What::Also,
            What::Stop,
        ];
        let is_inside = inside.contains(&what);
        if is_inside {
            let before = random.between(100_000, 2_000_000);
            add(What::Compute, before, before as i64);
        }
        let size = random.between(8_000_000, 60_000_000);
        let cpu = match what {
            What::Compute => size as i64,
            What::Hog | What::Also => random.between(100_000, 2_000_000) as i64,
            _ => random.between(5_000, 60_000) as i64,
        };
        let is_by_two = what == What::Also;
        let end = add(if is_by_two { What::Hog } else { what }, size, cpu);
        if let Some(first) = spans.last_mut().filter(|_| is_by_two) {
            first.culprit_cpu /= 2;
            let second = Span {
                what,
                begin: first.end,
                cpu: 0,
                culprit: first.culprit + 1,
                ..first.clone()
            };
            spans.push(second);
        }
        Truth {
            subject: AskedFor::Callback(node.clone()),
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
                subject: AskedFor::Lost("/topic".to_owned(), reason.to_owned()),
                at: 5,
                spans: Vec::new(),
            });
        }
        cases
    }

    fn right<'a>(cases: impl Iterator<Item = (&'a Truth, Answer)>) -> usize {
        cases
            .filter(|(truth, answer)| judge(truth, answer, RECORDED).verdict == Verdict::Right)
            .count()
    }

    #[test]
    fn who_knows_everything_is_right_in_every_case() {
        let cases = cases(&mut Random::new(24));
        for truth in &cases {
            let judgement = judge(truth, &made_up::perfect(truth), RECORDED);
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
        let verdict = |cause| judge(&truth, &made_up::always(&truth, cause), RECORDED).verdict;
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
            assert_eq!(verdict_of(&truth, &answer, switches), Verdict::Wrong);
        }
        for part in &mut answer.parts {
            part.ran_instead = None;
        }
        let verdict = |switches| verdict_of(&truth, &answer, switches);
        assert_eq!(verdict(Switches::Refused), Verdict::Right);
        assert_eq!(verdict(Switches::Recorded), Verdict::Wrong);
    }

    #[test]
    fn the_holder_of_a_lock_has_to_be_known_where_locks_are_recorded() {
        let truth = planted(What::Block, &mut Random::new(30));
        let verdict = |answer: &Answer, has_locks| {
            let how = How {
                has_locks,
                ..RECORDED
            };
            judge(&truth, answer, how).verdict
        };
        let mut answer = made_up::perfect(&truth);
        assert_eq!(verdict(&answer, true), Verdict::Right);
        let holders = |answer: &mut Answer, change: &dyn Fn(i64) -> Option<i64>| {
            for part in &mut answer.parts {
                part.held_by = part.held_by.and_then(change);
            }
        };
        holders(&mut answer, &|by| Some(by + 1));
        assert_eq!(verdict(&answer, false), Verdict::Wrong);
        holders(&mut answer, &|_| None);
        assert_eq!(verdict(&answer, false), Verdict::Right);
        assert_eq!(verdict(&answer, true), Verdict::Wrong);
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
        let judgement = judge(&truth, &answer, RECORDED);
        assert_eq!(judgement.verdict, Verdict::Half, "{judgement:?}");
    }
}
