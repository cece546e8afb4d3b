//! Why an execution ended when it did, in sentences and with links to what was in the way.

use std::collections::HashMap;

use rostrace_analyze::why::{Cause, Explanation, NotOnCpu, Part, Why};
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
            let (cause, text) = (part.cause.name(), self.text(part));
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

    /// What a part was, for people.
    fn text(&self, part: &Part) -> String {
        let name = |id: InstanceId| self.name(id).to_owned();
        match part.cause {
            Cause::Publishing => "publishing: from the call to the middleware".to_owned(),
            Cause::Middleware => "middleware: the receiver was waiting for it".to_owned(),
            Cause::MiddlewareOrExecutor => {
                "middleware or executor: nothing tells what the executor did then".to_owned()
            }
            Cause::IntraProcessBuffer => "in the intra-process buffer".to_owned(),
            Cause::OtherCallback(id, relation) => {
                format!("waiting: {} ran ({})", name(id), relation.name())
            }
            Cause::Executor => "executor: looking for work, taking, dispatching".to_owned(),
            Cause::Dispatch => "dispatch: from the take to the callback".to_owned(),
            Cause::TimerLateness => "timer lateness: due, but its thread woke up late".to_owned(),
            Cause::Execution(id) => format!("execution of {}", name(id)),
            Cause::NotOnCpu(state, id) => {
                let of = id.map_or_else(|| "its thread".to_owned(), name);
                match state {
                    NotOnCpu::Preempted(task) => {
                        let by = self.analysis.scheduling.as_ref().map(|it| it.task(task));
                        let by = by.map(|by| format!(" by {} {}", by.name, by.tid));
                        format!("not on a CPU: {of} was preempted{}", by.unwrap_or_default())
                    }
                    NotOnCpu::Blocked => format!("not on a CPU: {of} slept"),
                    NotOnCpu::WaitingForCpu => {
                        format!("not on a CPU: {of} was woken and waited to be scheduled")
                    }
                }
            }
            Cause::Unknown => "unknown: the trace does not tell".to_owned(),
        }
    }

    /// What the callback of an execution is called.
    pub(super) fn name(&self, id: InstanceId) -> &str {
        let number = self.subjects.number_of(self.analysis, id) as usize;
        (self.subjects.list.get(number)).map_or("", |subject| subject.name.as_str())
    }
}
