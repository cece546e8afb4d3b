//! The next, the previous, the longest or the latest execution of some callbacks, or of all.

use std::cmp::Reverse;

use rostrace_model::entity::InstanceId;
use serde::Serialize;

use super::Answer;
use crate::served::http::Query;
use crate::served::timeline::ServedTimeline;
use crate::served::track::span;

#[derive(Debug, Serialize)]
struct Occurrence {
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<InstancePlace>,
}

/// An execution, and where it is.
#[derive(Debug, Serialize)]
pub(super) struct InstancePlace {
    pub(super) id: u32,
    pub(super) subject: u32,
    pub(super) thread: u32,
    pub(super) start: i64,
    pub(super) length: i64,
}

impl ServedTimeline<'_> {
    pub(super) fn occurrence(&self, query: &Query) -> Option<Answer> {
        let analysis = self.analysis;
        let subjects: Vec<u32> = match query.text("subjects") {
            // What is meant by no list is the whole: it would be longer than an address may be.
            None => (0..self.subjects.list.len() as u32).collect(),
            Some(_) => (query.integers("subjects"))
                .filter_map(|it| u32::try_from(it).ok())
                .collect(),
        };
        // The second longest has one before it, and so on.
        let rank = usize::try_from(query.integer("rank").unwrap_or(0)).ok()?;
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
            "longest" => ranked(
                (lists().flatten()).map(|id| (span(analysis, *id).1, *id)),
                rank,
            ),
            "latest" => ranked(
                (lists().flatten()).filter_map(|id| Some((self.lateness(*id)?, *id))),
                rank,
            ),
            _ => return None,
        };
        Some(Answer::json(&Occurrence {
            instance: found.map(|id| self.place(id)),
        }))
    }

    pub(super) fn place(&self, id: InstanceId) -> InstancePlace {
        let (start, length) = span(self.analysis, id);
        InstancePlace {
            id: id.0,
            subject: self.subjects.number_of(self.analysis, id),
            thread: self.analysis.instance(id).thread.0,
            start: self.since(start),
            length,
        }
    }
}

/// The one with the largest number, or the one with so many before it; of those with the same number the first.
fn ranked(numbered: impl Iterator<Item = (i64, InstanceId)>, before: usize) -> Option<InstanceId> {
    let mut all: Vec<_> = numbered.map(|(number, id)| (Reverse(number), id)).collect();
    if before >= all.len() {
        return None;
    }
    let (_, (_, id), _) = all.select_nth_unstable(before);
    Some(*id)
}
