//! The next, the previous, the longest or the latest execution of some callbacks.

use std::cmp::Reverse;

use rostrace_trace::entity::InstanceId;
use serde::Serialize;

use super::Answer;
use crate::served::http::Query;
use crate::served::timeline::ServedTimeline;
use crate::served::track::span;

#[derive(Debug, Serialize)]
struct Occurrence {
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<Place>,
}

/// An execution, and where it is.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    pub(super) id: u32,
    pub(super) subject: u32,
    pub(super) thread: u32,
    pub(super) start: i64,
    pub(super) length: i64,
}

impl ServedTimeline<'_> {
    pub(super) fn occurrence(&self, query: &Query) -> Option<Answer> {
        let analysis = self.analysis;
        let subjects = query.integers("subjects");
        let subjects: Vec<u32> = subjects.filter_map(|it| u32::try_from(it).ok()).collect();
        let lists = || {
            let shown = |number: &&u32| {
                let subject = self.subjects.list.get(**number as usize);
                subject.is_some_and(|subject| subject.shown)
            };
            let numbers = subjects.iter().filter(shown);
            numbers.map(|number| self.subjects.instances(analysis, *number))
        };
        let start = |id: InstanceId| analysis.instance(id).start.0;
        // Executions that start at once follow each other by their number.
        let order = |id: InstanceId| (start(id), id);
        let than = (
            self.origin
                .saturating_add(query.integer("from").unwrap_or(0)),
            InstanceId(u32::try_from(query.integer("than").unwrap_or(0)).ok()?),
        );
        let found = match query.text("direction")? {
            "next" => lists()
                .filter_map(|list| {
                    let after = list.partition_point(|id| order(*id) <= than);
                    list.get(after).copied()
                })
                .min_by_key(|id| order(*id)),
            "previous" => lists()
                .filter_map(|list| {
                    let before = list.partition_point(|id| order(*id) < than);
                    Some(list[before.checked_sub(1)?])
                })
                .max_by_key(|id| order(*id)),
            "longest" => first_most((lists().flatten()).map(|id| (span(analysis, *id).1, *id))),
            "latest" => {
                first_most((lists().flatten()).filter_map(|id| Some((self.lateness(*id)?, *id))))
            }
            _ => return None,
        };
        Some(Answer::json(&Occurrence {
            instance: found.map(|id| self.place(id)),
        }))
    }

    pub(super) fn place(&self, id: InstanceId) -> Place {
        let (start, length) = span(self.analysis, id);
        Place {
            id: id.0,
            subject: self.subjects.number_of(self.analysis, id),
            thread: self.analysis.instance(id).thread.0,
            start: self.since(start),
            length,
        }
    }
}

/// The first of those with the largest number; `max_by_key` would yield the last.
fn first_most(numbered: impl Iterator<Item = (i64, InstanceId)>) -> Option<InstanceId> {
    let ranked = numbered.map(|(number, id)| (number, Reverse(id)));
    ranked.max().map(|(_, Reverse(id))| id)
}
