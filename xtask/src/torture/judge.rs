//! The verdict on one run: was the program harmed, was anything lost in silence, was anything left behind?

use super::report::Emitted;
use super::trace::Recorded;
use super::way::Extent;

/// Of all events of a flight recorder of 1 MB, at least so many are kept: each takes less than 50 bytes.
const KEPT_IN_FLIGHT: u64 = 20_000;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(super) enum FailureKind {
        /// The program ended in another way than without the tracer.
        Crash = "crash",
        Hang = "hang",
        /// The program did something else than without the tracer.
        Output = "output",
        /// Events are missing that nobody counted, or there are some that nobody emitted.
        Accounting = "accounting",
        /// An exit code or a word of the recorder that does not fit.
        Recorder = "recorder",
        /// Files, memory, threads.
        Leftover = "leftover",
        /// Another user got what is not hers.
        Intrusion = "intrusion",
        /// A tracepoint that took too long.
        Blocked = "blocked",
        /// The judge could not do its work.
        Unjudged = "not judged",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: FailureKind,
    pub(super) sentence: String,
}

impl Failure {
    pub(super) fn new(kind: FailureKind, sentence: impl Into<String>) -> Failure {
        Failure {
            kind,
            sentence: sentence.into(),
        }
    }
}

fn accounting(sentence: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Accounting, sentence)
}

/// Compares a trace with what the program says that it emitted.
pub(super) fn account(emitted: &Emitted, recorded: &Recorded, extent: Extent) -> Vec<Failure> {
    let mut failures = invented(emitted, recorded);
    let info = &recorded.info;
    let holes = match extent {
        Extent::Everything => {
            let others = emitted.others.saturating_sub(recorded.others)
                + emitted.ends.saturating_sub(recorded.ends);
            let missing = emitted.begun().saturating_sub(recorded.numbered()) + others;
            let doubt = emitted.in_doubt();
            // Where something is observed by itself, what was discarded may have been that.
            let is_too_many = recorded.observed == 0 && info.discarded > missing;
            if is_too_many || info.discarded + doubt < missing {
                failures.push(accounting(format!(
                    "{} events and {} that describe entities were emitted ({doubt} in doubt), {} and {} are in the trace, {} are counted as discarded: a difference of {}",
                    emitted.begun(),
                    emitted.others,
                    recorded.numbered(),
                    recorded.others,
                    info.discarded,
                    missing.cast_signed() - info.discarded.cast_signed(),
                )));
            }
            missing.saturating_sub(doubt)
        }
        Extent::End | Extent::EndOfTime => {
            // Who knows that an entity has ended may forget it.
            let living = emitted.others_returned.saturating_sub(emitted.ends);
            if recorded.others + info.discarded < living {
                failures.push(accounting(format!(
                    "{} events that describe entities are in the trace, but {living} entities live, and what describes them is kept",
                    recorded.others
                )));
            }
            let least = match extent {
                Extent::EndOfTime => 0,
                _ => emitted.returned().min(KEPT_IN_FLIGHT),
            };
            if recorded.total() + info.discarded + emitted.in_doubt() < least {
                failures.push(accounting(format!(
                    "{} events are in the trace of a flight recorder of 1 MB, at least {least} fit",
                    recorded.total()
                )));
            }
            // Handlers have a stream of their own, and what hardly happens is kept longer than what happens often.
            uncovered_holes(recorded, emitted.in_doubt(), NEWEST, &mut failures)
        }
        Extent::Begin | Extent::Windows => {
            uncovered_holes(recorded, emitted.in_doubt(), usize::MAX, &mut failures)
        }
        Extent::Nothing => 0,
    };
    failures.extend(exit_code(recorded, holes));
    failures
}

/// Events twice, or such as nobody emitted.
pub(super) fn invented(emitted: &Emitted, recorded: &Recorded) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (lane, numbers) in &recorded.lanes {
        let begun = usize::try_from(lane.wrapping_sub(1))
            .ok()
            .and_then(|at| emitted.lanes.get(at))
            .map_or(0, |lane| lane.begun);
        if let Some(wrong) = numbers
            .iter()
            .find(|number| **number > begun || **number == 0)
        {
            failures.push(accounting(format!(
                "event {wrong} of lane {lane} is in the trace, but only {begun} were emitted"
            )));
        }
        if let Some(twice) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            failures.push(accounting(format!(
                "event {} of lane {lane} is in the trace more than once",
                twice[0]
            )));
        }
    }
    if recorded.info.events != recorded.total() {
        failures.push(accounting(format!(
            "`rostrace info` counts {} events, reading them finds {}",
            recorded.info.events,
            recorded.total()
        )));
    }
    failures
}

/// Of the events that a flight recorder kept of a lane, so many are looked at: fewer than fit.
const NEWEST: usize = 1000;

/// Numbers that are missing between others of their lane, among so many of the newest, as far as nobody counted them. Calls that never
/// returned, because a handler left them, are in doubt: they may not even have reached the tracer.
fn uncovered_holes(
    recorded: &Recorded,
    doubt: u64,
    most: usize,
    failures: &mut Vec<Failure>,
) -> u64 {
    let mut holes = 0;
    let mut first = None;
    for (lane, numbers) in &recorded.lanes {
        // A lane that hardly happens may be spread over streams of which one was kept longer than the other.
        if most != usize::MAX && numbers.len() < most {
            continue;
        }
        let newest = &numbers[numbers.len().saturating_sub(most)..];
        for pair in newest.windows(2) {
            let missing = (pair[1] - pair[0]).saturating_sub(1);
            if missing > 0 {
                first.get_or_insert((*lane, pair[0], pair[1]));
            }
            holes += missing;
        }
    }
    if let Some((lane, from, to)) = first
        && holes > recorded.info.discarded + doubt
    {
        failures.push(accounting(format!(
            "{holes} events are missing between others of their thread (the first between {from} and {to} of lane {lane}), {} are counted as discarded",
            recorded.info.discarded
        )));
    }
    holes.saturating_sub(doubt)
}

/// 3 exactly when something was lost.
fn exit_code(recorded: &Recorded, holes: u64) -> Option<Failure> {
    let info = &recorded.info;
    let is_lost = info.discarded > 0 || info.lost_packets > 0 || info.has_damage;
    let expected = if is_lost || holes > 0 { 3 } else { 0 };
    (info.code != expected).then(|| {
        Failure::new(
            FailureKind::Recorder,
            format!(
                "`rostrace info` ended with {} and not with {expected}: {} discarded, {holes} missing, damage: {}",
                info.code, info.discarded, info.has_damage
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::report::Lane;
    use super::super::trace::Info;
    use super::*;

    fn emitted(begun: u64, returned: u64) -> Emitted {
        Emitted {
            lanes: vec![Lane {
                begun,
                returned,
                late: 0,
            }],
            others: 1,
            others_returned: 1,
            ..Emitted::default()
        }
    }

    fn recorded(numbers: impl IntoIterator<Item = u64>, discarded: u64) -> Recorded {
        let numbers: Vec<u64> = numbers.into_iter().collect();
        Recorded {
            info: Info {
                code: if discarded > 0 { 3 } else { 0 },
                events: numbers.len() as u64 + 1,
                discarded,
                has_damage: discarded > 0,
                ..Info::default()
            },
            lanes: [(1, numbers)].into(),
            others: 1,
            ..Recorded::default()
        }
    }

    fn sentences(failures: &[Failure]) -> String {
        failures
            .iter()
            .map(|failure| failure.sentence.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn all_events_are_in_the_trace_or_counted() {
        let whole = |recorded: &Recorded| account(&emitted(10, 10), recorded, Extent::Everything);
        assert_eq!(whole(&recorded(1..=10, 0)), []);
        assert_eq!(whole(&recorded(1..=7, 3)), []);
        for (numbers, discarded) in [(7, 0), (7, 2), (7, 4), (10, 1)] {
            let failures = whole(&recorded(1..=numbers, discarded));
            assert!(
                sentences(&failures).contains("a difference of"),
                "{numbers} {discarded}"
            );
        }
    }

    #[test]
    fn a_call_that_did_not_return_may_be_there_or_not() {
        for there in [9, 10] {
            let recorded = recorded(1..=there, 0);
            assert_eq!(account(&emitted(10, 9), &recorded, Extent::Everything), []);
        }
    }

    #[test]
    fn holes_in_a_window_must_be_counted() {
        let window = |recorded: &Recorded| account(&emitted(10, 10), recorded, Extent::Windows);
        assert_eq!(window(&recorded(3..=7, 0)), []);
        assert_eq!(window(&recorded([3, 4, 7], 2)), []);
        let failures = window(&recorded([3, 4, 7], 0));
        assert!(sentences(&failures).contains("between 4 and 7 of lane 1"));
        assert!(
            failures
                .iter()
                .any(|failure| failure.kind == FailureKind::Recorder),
            "code 0 in spite of a loss"
        );
    }

    #[test]
    fn events_that_nobody_emitted_or_that_come_twice_are_found() {
        let failures = account(&emitted(3, 3), &recorded([1, 2, 2, 9], 0), Extent::Windows);
        assert!(sentences(&failures).contains("more than once"));
        assert!(sentences(&failures).contains("only 3 were emitted"));
    }

    #[test]
    fn a_flight_recorder_keeps_what_describes_entities() {
        let mut without = recorded(5..=10, 0);
        without.others = 0;
        without.info.events -= 1;
        let failures = account(&emitted(10, 10), &without, Extent::End);
        assert!(sentences(&failures).contains("but 1 entities live"));
    }
}
