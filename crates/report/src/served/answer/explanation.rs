//! Why an execution ended when it did, in sentences and with links to what was in the way.

use rostrace_analyze::why::{Cause, Explanation, Why};
use rostrace_trace::entity::InstanceId;
use serde::Serialize;

use super::occurrence::Place;
use crate::served::timeline::ServedTimeline;

/// More parts than this are not drawn; the sums are of all.
const MOST_PARTS: usize = 2000;

#[derive(Debug, Serialize)]
pub(super) struct WhyRow {
    begin: i64,
    total: i64,
    /// Events were lost meanwhile.
    damaged: bool,
    waits: Vec<Wait>,
    /// Begin, duration and wait of each part.
    parts: Vec<(i64, i64, usize)>,
}

/// All parts of one cause.
#[derive(Debug, Serialize)]
struct Wait {
    cause: &'static str,
    text: String,
    duration: i64,
    times: usize,
    /// The callback that ran meanwhile, at its longest.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<Place>,
}

impl ServedTimeline<'_> {
    pub(super) fn why(&self, id: InstanceId) -> WhyRow {
        let firing = self.firing(id);
        let explanation = Why::new(self.analysis).instance(id, firing.as_ref());
        self.why_row(&explanation)
    }

    fn why_row(&self, explanation: &Explanation) -> WhyRow {
        let waits = explanation.waits(self.analysis);
        let parts = explanation.parts.iter().zip(&waits.of_parts);
        let parts = parts
            .take(MOST_PARTS)
            .map(|(part, wait)| (self.since(part.begin.0), part.duration(), *wait));
        let parts = parts.collect();
        let waits = waits.list.into_iter().map(|wait| Wait {
            cause: wait.cause().name(),
            instance: match wait.cause() {
                Cause::OtherCallback(other, _) => Some(self.place(other)),
                _ => None,
            },
            text: wait.told,
            duration: wait.duration,
            times: wait.times,
        });
        WhyRow {
            begin: self.since(explanation.begin.0),
            total: explanation.end.0.saturating_sub(explanation.begin.0),
            damaged: explanation.damaged,
            waits: waits.collect(),
            parts,
        }
    }

    /// What the callback of an execution is called.
    pub(super) fn name(&self, id: InstanceId) -> &str {
        let number = self.subjects.number_of(self.analysis, id) as usize;
        (self.subjects.list.get(number)).map_or("", |subject| subject.name.as_str())
    }
}
