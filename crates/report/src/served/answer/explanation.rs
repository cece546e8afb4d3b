//! Why an execution ended when it did, in sentences and with links to what was in the way.

use std::collections::HashMap;

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
        let mut waits: Vec<Wait> = Vec::new();
        let mut longest: Vec<i64> = Vec::new();
        let mut places: HashMap<(&'static str, String), usize> = HashMap::new();
        let mut parts = Vec::new();
        for part in &explanation.parts {
            let (cause, text) = (part.cause.name(), part.told(self.analysis));
            let place = *places.entry((cause, text)).or_insert_with_key(|key| {
                longest.push(i64::MIN);
                waits.push(Wait {
                    cause,
                    text: key.1.clone(),
                    duration: 0,
                    times: 0,
                    instance: None,
                });
                waits.len() - 1
            });
            let wait = &mut waits[place];
            wait.duration = wait.duration.saturating_add(part.duration());
            wait.times += 1;
            if let Cause::OtherCallback(other, _) = part.cause
                && part.duration() > longest[place]
            {
                longest[place] = part.duration();
                wait.instance = Some(self.place(other));
            }
            if parts.len() < MOST_PARTS {
                parts.push((self.since(part.begin.0), part.duration(), place));
            }
        }
        WhyRow {
            begin: self.since(explanation.begin.0),
            total: explanation.end.0.saturating_sub(explanation.begin.0),
            damaged: explanation.damaged,
            waits,
            parts,
        }
    }

    /// What the callback of an execution is called.
    pub(super) fn name(&self, id: InstanceId) -> &str {
        let number = self.subjects.number_of(self.analysis, id) as usize;
        (self.subjects.list.get(number)).map_or("", |subject| subject.name.as_str())
    }
}
