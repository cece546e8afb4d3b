//! What happened in a range of time: by callback in numbers, and which lanes have anything in it at all.

use std::cmp::Reverse;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{DeliveryId, InstanceId};
use rostrace_model::flow::DeliveryStatus;
use serde::Serialize;

use super::Answer;
use super::occurrence::InstancePlace;
use crate::served::http::Query;
use crate::served::lane::Lane;
use crate::served::timeline::ServedTimeline;
use crate::served::track::Content;

#[derive(Debug, Serialize)]
struct Range {
    executions: usize,
    /// Nothing where the trace tells of no message whether it arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    drops: Option<usize>,
    /// Threads on which something ran.
    threads: usize,
    /// Those that ran longest first.
    rows: Vec<RangeRow>,
}

/// One callback in the range.
#[derive(Debug, Serialize)]
struct RangeRow {
    subject: u32,
    /// Executions of which at least a part is in it.
    count: usize,
    /// Time in them, as far as it is in it.
    busy: i64,
    /// The longest of them, with all of its duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<InstancePlace>,
    /// Messages for it that were published in it and did not arrive.
    drops: usize,
}

/// What has anything in view: the tracks of lanes.
#[derive(Debug, Serialize)]
struct Awake {
    tracks: Vec<u32>,
}

impl ServedTimeline<'_> {
    pub(super) fn range(&self, query: &Query) -> Option<Answer> {
        let (from, to) = self.bounds(query)?;
        let lanes = self.lanes.callbacks.iter().flat_map(|group| &group.lanes);
        let mut rows: Vec<RangeRow> = lanes
            .filter_map(|lane| self.row(lane, from, to))
            .filter(|row| row.count > 0 || row.drops > 0)
            .collect();
        rows.sort_by_key(|row| (Reverse(row.busy), Reverse(row.count), row.subject));
        let mut deliveries = self.analysis.model.deliveries.iter();
        // Of a subscription that the trace does not name, only what arrived is known.
        let is_known =
            deliveries.any(|it| it.status != DeliveryStatus::Unknown && it.subscription.is_some());
        let threads = self.lanes.threads.iter().flat_map(|group| &group.lanes);
        Some(Answer::json(&Range {
            executions: rows.iter().map(|row| row.count).sum(),
            drops: is_known.then(|| rows.iter().map(|row| row.drops).sum()),
            threads: threads.filter(|lane| self.runs(lane, from, to)).count(),
            rows,
        }))
    }

    pub(super) fn awake(&self, query: &Query) -> Option<Answer> {
        let (from, to) = self.bounds(query)?;
        let groups = self.lanes.threads.iter().chain(&self.lanes.callbacks);
        let lanes = groups.flat_map(|group| &group.lanes).filter(|lane| {
            self.runs(lane, from, to) || !self.drops_between(lane, from, to).is_empty()
        });
        Some(Answer::json(&Awake {
            tracks: lanes.map(|lane| lane.track).collect(),
        }))
    }

    fn bounds(&self, query: &Query) -> Option<(Nanos, Nanos)> {
        let from = self.origin.saturating_add(query.integer("from")?);
        let to = self.origin.saturating_add(query.integer("to")?);
        Some((Nanos(from), Nanos(to)))
    }

    fn row(&self, lane: &Lane, from: Nanos, to: Nanos) -> Option<RangeRow> {
        let subject = lane.subject?;
        let (_, track) = self.track(lane.track)?;
        let (mut count, mut busy, mut worst) = (0, 0i64, None);
        for row in &track.rows {
            let places = row.touching(from.0, to.0);
            if places.is_empty() {
                continue;
            }
            count += places.len();
            let last = places.end - 1;
            let summary = row.summary(places.clone(), |_| 0);
            // What they ran before the range began and after it ended is not in it.
            let before = from.0.saturating_sub(row.starts[places.start]).max(0);
            let after = row.end_of(last).saturating_sub(to.0).max(0);
            let inside = summary.sums[0].saturating_sub(before).saturating_sub(after);
            busy = busy.saturating_add(inside);
            let id = InstanceId(row.items[summary.longest]);
            worst = worst.max(Some((row.lengths[summary.longest], Reverse(id))));
        }
        Some(RangeRow {
            subject,
            count,
            busy,
            worst: worst.map(|(_, Reverse(id))| self.place(id)),
            drops: self.drops_between(lane, from, to).len(),
        })
    }

    /// Whether anything runs in a lane.
    fn runs(&self, lane: &Lane, from: Nanos, to: Nanos) -> bool {
        let rows = self.track(lane.track).map(|(_, track)| &track.rows);
        let mut rows = rows.into_iter().flatten();
        rows.any(|row| !row.touching(from.0, to.0).is_empty())
    }

    /// Messages for a lane that were published in a range and did not arrive.
    pub(super) fn drops_between(&self, lane: &Lane, from: Nanos, to: Nanos) -> &[DeliveryId] {
        let content = (lane.drops).and_then(|number| self.lanes.contents.get(number as usize));
        let Some(Content::Drops(drops)) = content else {
            return &[];
        };
        let published = |id: &DeliveryId| {
            let publication = self.analysis.delivery(*id).publication;
            self.analysis.publication(publication).publish
        };
        let first = drops.partition_point(|id| published(id) < from);
        let last = drops.partition_point(|id| published(id) <= to);
        &drops[first..last.max(first)]
    }
}
