//! Answers that are made up, to judge the judge.

use super::answer::{Answer, AnswerPart};
use super::truth::{AskedFor, Truth, What};

fn part(cause: &str, begin: i64, duration: i64) -> AnswerPart {
    AnswerPart {
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

fn of(begin: i64, parts: Vec<AnswerPart>, said: Vec<String>) -> Answer {
    let end = parts.last().map_or(begin, AnswerPart::end);
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
pub(super) fn always(truth: &Truth, cause: &str) -> Answer {
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
pub(super) fn perfect(truth: &Truth) -> Answer {
    if let AskedFor::Lost(_, reason) = &truth.subject {
        return of(
            truth.at,
            Vec::new(),
            vec!["lost".to_owned(), reason.clone()],
        );
    }
    let (begin, end) = reach(truth);
    let mut parts: Vec<AnswerPart> = Vec::new();
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
            let begin = parts.last().map_or(begin, AnswerPart::end);
            parts.push(AnswerPart {
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
                let held = (span.culprit != 0).then_some(span.culprit);
                if let Some(last) = parts.last_mut().filter(|_| held.is_some()) {
                    last.cause = "waiting_for_lock".to_owned();
                    last.held_by = held;
                }
            }
            // With the span that it belongs to.
            What::Also => {}
            What::Hog | What::PublishHog => {
                let is_publish = span.what == What::PublishHog;
                let own = if is_publish {
                    "publishing"
                } else {
                    "execution"
                };
                add(own, cpu, None, "");
                add("preempted", taken, by, "");
                let mut rest = off - taken;
                let others = truth.spans.iter().filter(|it| it.what == What::Also);
                for other in others.filter(|it| it.begin == span.end) {
                    let taken = other.culprit_cpu.min(rest);
                    add("preempted", taken, Some(other.culprit), "");
                    rest -= taken;
                }
                add("preempted", rest, None, "");
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
pub(super) fn moved(answer: &Answer, truth: &Truth) -> Answer {
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
