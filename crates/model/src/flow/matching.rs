//! Which publication a take fetched.
//!
//! Between processes a publication and a take belong together if topic and source timestamp are the same. Where the publishing side
//! has no stamps (plain Humble and Iron), the middleware made its stamp after the publication's last event and before the next
//! one of its thread. If one publication of the topic alone was on its window at that instant and had no stamp yet, it is the one.

use std::collections::HashSet;

use rostrace_ctf::schema::Nanos;

use super::Match;
use crate::entity::{Address, ProcessId, PublicationId, PublisherId, SubscriptionId, TakeId};
use crate::import::{Imported, LATEST_STAMP};

/// For takes of one topic the publications that they fetched. All ids are in the order of time.
pub(super) fn match_takes(
    imported: &Imported,
    publications: &[PublicationId],
    takes: &[TakeId],
) -> Vec<(TakeId, PublicationId, Match)> {
    let publication = |id: PublicationId| &imported.publications[id.index()];
    let mut stamped: Vec<(i64, PublicationId)> = publications
        .iter()
        .filter_map(|id| Some((publication(*id).source_timestamp?, *id)))
        .collect();
    stamped.sort_unstable();
    let mut taken: Vec<(i64, SubscriptionId, TakeId)> = takes
        .iter()
        .filter_map(|id| {
            let take = &imported.takes[id.index()];
            Some((take.source_timestamp, take.subscription?, *id))
        })
        .collect();
    taken.sort_unstable();
    let mut matched = Vec::with_capacity(taken.len());
    let mut rest = Vec::new();
    for group in taken.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let stamp = group[0].0;
        let begin = stamped.partition_point(|(other, _)| *other < stamp);
        let count = stamped[begin..].partition_point(|(other, _)| *other == stamp);
        let candidates = &stamped[begin..begin + count];
        let publisher =
            |(_, id): &(i64, PublicationId)| -> Option<PublisherId> { publication(*id).publisher };
        let by = match candidates {
            [] => {
                rest.extend(group.iter().map(|(stamp, _, take)| (*stamp, *take)));
                continue;
            }
            // Nobody knows which of them did not arrive.
            _ if group.len() < candidates.len() => continue,
            // A subscription gets the messages of one publisher in their order.
            [first, others @ ..] if others.iter().all(|it| publisher(it) == publisher(first)) => {
                Match::SourceTimestamp
            }
            _ => Match::Ambiguous,
        };
        let pairs = group.iter().zip(candidates);
        matched.extend(pairs.map(|((_, _, take), (_, publication))| (*take, *publication, by)));
    }
    match_by_instant(imported, publications, &rest, &mut matched);
    matched
}

/// For takes of unnamed subscriptions, and those of unnamed publishers: the one publication that has the same stamp. Where several have it,
/// nobody knows which topic was meant.
pub(super) fn match_stamps(imported: &Imported) -> Vec<(TakeId, PublicationId)> {
    let publications = imported.publications.iter().enumerate();
    let mut stamped: Vec<(i64, PublicationId)> = publications
        .filter_map(|(index, row)| Some((row.source_timestamp?, PublicationId::of(index))))
        .collect();
    stamped.sort_unstable();
    let mut matched = Vec::new();
    // A subscription gets a message once.
    let mut fetched: HashSet<(ProcessId, Address, PublicationId)> = HashSet::new();
    for (index, take) in imported.takes.iter().enumerate() {
        if take.publication.is_some() || take.source_timestamp == 0 {
            continue;
        }
        let begin = stamped.partition_point(|(stamp, _)| *stamp < take.source_timestamp);
        let same = stamped[begin..].iter();
        let mut same = same.take_while(|(stamp, _)| *stamp == take.source_timestamp);
        let (Some((_, publication)), None) = (same.next(), same.next()) else {
            continue;
        };
        // Where both have names, they are of different topics.
        let publisher = imported.publications[publication.index()].publisher;
        if take.subscription.is_some() && publisher.is_some() {
            continue;
        }
        let process = imported.population.process_of(take.thread);
        let by = match take.rmw_handle.non_null() {
            Some(handle) => handle,
            None => take.dispatched,
        };
        if fetched.insert((process, by, *publication)) {
            matched.push((TakeId::of(index), *publication));
        }
    }
    matched
}

/// For publications without stamps: the only one that was on its window when the stamp was made and does not have
/// another one. In the order of time, since a publication that is still on its window mostly has its stamp already.
fn match_by_instant(
    imported: &Imported,
    publications: &[PublicationId],
    takes: &[(i64, TakeId)],
    matched: &mut Vec<(TakeId, PublicationId, Match)>,
) {
    if takes.is_empty() {
        return;
    }
    let windows = StampWindows::new(imported, publications);
    let mut stamped: HashSet<PublicationId> = HashSet::new();
    for group in takes.chunk_by(|a, b| a.0 == b.0) {
        let stamp = group[0].0;
        let mut fitting = windows
            .at(stamp)
            .filter(|window| !stamped.contains(&window.publication));
        let (Some(window), None) = (fitting.next(), fitting.next()) else {
            continue;
        };
        let publication = window.publication;
        // Another publication that could have made the stamp may be lost.
        let from = Nanos(stamp.saturating_sub(LATEST_STAMP));
        if !imported.losses.across_threads(from, Nanos(stamp)) {
            stamped.insert(publication);
            let takes = group.iter();
            matched.extend(takes.map(|(_, take)| (*take, publication, Match::Instant)));
        }
    }
}

/// When the stamps of publications can have been made.
struct StampWindows(Vec<StampWindow>);

struct StampWindow {
    begin: i64,
    end: i64,
    /// Of this one and all that begin before it.
    latest_end: i64,
    publication: PublicationId,
}

impl StampWindows {
    fn new(imported: &Imported, publications: &[PublicationId]) -> StampWindows {
        let mut windows: Vec<StampWindow> = publications
            .iter()
            .map(|id| (*id, &imported.publications[id.index()]))
            .filter(|(_, row)| row.source_timestamp.is_none())
            .filter(|(_, row)| row.rcl.or(row.rclcpp).or(row.rmw).is_some())
            .map(|(publication, row)| StampWindow {
                begin: row.last.0,
                end: row.until.0,
                latest_end: 0,
                publication,
            })
            .collect();
        windows.sort_unstable_by_key(|window| (window.begin, window.publication));
        let mut latest = i64::MIN;
        for window in &mut windows {
            latest = latest.max(window.end);
            window.latest_end = latest;
        }
        StampWindows(windows)
    }

    /// Those that a stamp lies on, the last one first.
    fn at(&self, stamp: i64) -> impl Iterator<Item = &StampWindow> {
        let begun = self.0.partition_point(|window| window.begin <= stamp);
        self.0[..begun]
            .iter()
            .rev()
            .take_while(move |window| window.latest_end >= stamp)
            .filter(move |window| window.end >= stamp)
    }
}
