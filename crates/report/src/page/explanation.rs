//! Why something took so long, as the page tells it: parts of one cause together, in the order in which they first occur. They add up to the whole.

use rostrace_analyze::why::Explanation;
use rostrace_trace::entity::CallbackId;
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
    let (longest, rest) = explanation.waits(analysis).longest(MOST_WAITS);
    let longest = longest.into_iter().map(|wait| Wait {
        cause: wait.cause().name(),
        callback: wait.cause().callback(analysis).map(CallbackId::index),
        text: wait.told,
        duration: wait.duration,
        times: wait.times,
    });
    let rest = rest.map(|rest| Wait {
        cause: "others",
        callback: None,
        text: format!("{} other causes", rest.waits),
        duration: rest.duration,
        times: rest.times,
    });
    Explained {
        begin: subject.time(explanation.begin),
        total: explanation.end.0 - explanation.begin.0,
        damaged: explanation.damaged,
        waits: longest.chain(rest).collect(),
    }
}
