//! Why something took so long, as the page tells it: parts of one cause together, in the order in which they first occur. They add up to the whole.

use std::collections::HashMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::why::{Cause, Explanation};
use serde::Serialize;

use super::Subject;

/// What is less than these is told together.
const MOST_WAITS: usize = 14;

#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    pub(crate) begin: i64,
    pub(crate) total: i64,
    /// Events were lost meanwhile.
    pub(crate) damaged: bool,
    pub(crate) waits: Vec<Wait>,
}

/// All parts of one cause.
#[derive(Debug, Serialize)]
pub(crate) struct Wait {
    /// As tables call it.
    pub(crate) cause: &'static str,
    /// For people.
    pub(crate) text: String,
    pub(crate) duration: i64,
    pub(crate) times: usize,
    /// The callback that ran, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) callback: Option<usize>,
}

pub(crate) fn explained(subject: Subject<'_>, explanation: &Explanation) -> Explained {
    let analysis = subject.analysis;
    let mut waits: Vec<Wait> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for part in &explanation.parts {
        let text = part.told(analysis);
        let place = *places.entry(text.clone()).or_insert_with(|| {
            waits.push(Wait {
                cause: part.cause.name(),
                text,
                duration: 0,
                times: 0,
                callback: callback(analysis, part.cause),
            });
            waits.len() - 1
        });
        waits[place].duration += part.duration();
        waits[place].times += 1;
    }
    Explained {
        begin: subject.time(explanation.begin),
        total: explanation.end.0 - explanation.begin.0,
        damaged: explanation.damaged,
        waits: longest(waits),
    }
}

/// The longest ones in their order; the rest as one.
fn longest(mut waits: Vec<Wait>) -> Vec<Wait> {
    if waits.len() <= MOST_WAITS {
        return waits;
    }
    let mut lengths: Vec<i64> = waits.iter().map(|wait| wait.duration).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    let least = lengths[MOST_WAITS - 2];
    let mut kept = 0;
    let mut rest = Wait {
        cause: "others",
        text: String::new(),
        duration: 0,
        times: 0,
        callback: None,
    };
    let mut left_out = 0;
    waits.retain(|wait| {
        let keep = wait.duration >= least && kept < MOST_WAITS - 1;
        if keep {
            kept += 1;
        } else {
            left_out += 1;
            rest.duration += wait.duration;
            rest.times += wait.times;
        }
        keep
    });
    rest.text = format!("{left_out} other causes");
    waits.push(rest);
    waits
}

fn callback(analysis: &Analysis<'_>, cause: Cause) -> Option<usize> {
    let instance = match cause {
        Cause::OtherCallback(instance, _) | Cause::Execution(instance) => instance,
        Cause::NotOnCpu(_, instance) => instance?,
        _ => return None,
    };
    Some(analysis.instance(instance).callback?.index())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_together_still_adds_up() {
        let waits = (0..40).map(|number| Wait {
            cause: "executor",
            text: number.to_string(),
            duration: number % 5,
            times: 1,
            callback: None,
        });
        let waits: Vec<Wait> = waits.collect();
        let sum = |waits: &[Wait]| waits.iter().map(|wait| wait.duration).sum::<i64>();
        let times = |waits: &[Wait]| waits.iter().map(|wait| wait.times).sum::<usize>();
        let before = (sum(&waits), times(&waits));
        let kept = longest(waits);
        assert_eq!(kept.len(), MOST_WAITS);
        assert_eq!((sum(&kept), times(&kept)), before);
    }
}
