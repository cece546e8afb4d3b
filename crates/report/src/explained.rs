//! Why something took so long, as every page gets it: parts of one cause together, in the order in which they first occur, and where it is asked
//! for each part in the order of time. Both add up to the whole.

use rostrace_analyze::Analysis;
use rostrace_analyze::why::{Cause, Explanation, Wait};
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackId, InstanceId};
use serde::Serialize;

/// `P` says where the page finds an execution.
#[derive(Debug, Serialize)]
pub(crate) struct Explained<P = ()> {
    begin: i64,
    total: i64,
    /// Events were lost meanwhile.
    damaged: bool,
    waits: Vec<ExplainedWait<P>>,
    /// Begin, duration and wait of each part, where they are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<(i64, i64, usize)>>,
}

/// All parts of one cause.
#[derive(Debug, Serialize)]
struct ExplainedWait<P> {
    /// Which communication of a path it belongs to; the callback after one belongs to it.
    hop: usize,
    /// As tables call it.
    cause: &'static str,
    /// For people.
    text: String,
    duration: i64,
    times: usize,
    /// The callback that ran, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    callback: Option<usize>,
    /// Its execution, the longest if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<P>,
}

/// Makes explanations for one page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Explainer<'a> {
    pub(crate) analysis: &'a Analysis<'a>,
    /// What the page counts times from.
    pub(crate) origin: Nanos,
}

impl Explainer<'_> {
    /// The longest waits, and one that stands for the others.
    pub(crate) fn longest(&self, explanation: &Explanation, most: usize) -> Explained {
        let (longest, rest) = explanation.waits(self.analysis).longest(most);
        let mut explained = self.whole(explanation);
        let waits = longest.into_iter().map(|wait| self.wait(wait, nowhere));
        explained.waits = waits.collect();
        explained.waits.extend(rest.map(|rest| ExplainedWait {
            hop: 0,
            cause: "others",
            text: format!("{} other causes", rest.waits),
            duration: rest.duration,
            times: rest.times,
            callback: None,
            instance: None,
        }));
        explained
    }

    /// All waits, and the first parts, `most` at most; `place` says where the page finds an execution.
    pub(crate) fn with_parts<P>(
        &self,
        explanation: &Explanation,
        most: usize,
        place: impl Fn(InstanceId) -> Option<P>,
    ) -> Explained<P> {
        let waits = explanation.waits(self.analysis);
        let parts = explanation.parts.iter().zip(&waits.of_parts).take(most);
        let parts = parts.map(|(part, wait)| (self.since(part.begin), part.duration(), *wait));
        let parts = parts.collect();
        let waits = waits.list.into_iter();
        Explained {
            parts: Some(parts),
            waits: waits.map(|wait| self.wait(wait, &place)).collect(),
            ..self.whole(explanation)
        }
    }

    fn whole<P>(&self, explanation: &Explanation) -> Explained<P> {
        Explained {
            begin: self.since(explanation.begin),
            total: explanation.end.0.saturating_sub(explanation.begin.0),
            damaged: explanation.damaged,
            waits: Vec::new(),
            parts: None,
        }
    }

    fn wait<P>(&self, wait: Wait, place: impl Fn(InstanceId) -> Option<P>) -> ExplainedWait<P> {
        let cause = wait.cause();
        ExplainedWait {
            hop: wait.hop,
            cause: cause.name(),
            callback: cause.callback(self.analysis).map(CallbackId::index),
            instance: match cause {
                Cause::OtherCallback(other, _) | Cause::ServiceExecution(other) => place(other),
                _ => None,
            },
            text: wait.description,
            duration: wait.duration,
            times: wait.times,
        }
    }

    fn since(&self, at: Nanos) -> i64 {
        at.0.saturating_sub(self.origin.0)
    }
}

/// For a page that does not show single executions.
pub(crate) fn nowhere(_: InstanceId) -> Option<()> {
    None
}
