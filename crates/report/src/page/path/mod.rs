//! Paths: those that messages were observed to take, and those that an architecture file declares.
//!
//! All of them are in the table; the worst have details ([`detail`]), made from what [`observed`] and [`declared`] know of them.

mod declared;
mod detail;
mod material;
mod observed;
mod sample;
mod worst;

use std::cmp::Reverse;

use rostrace_analyze::Statistics;
use rostrace_analyze::communication::DropCause;
use rostrace_analyze::declared::response_time::Case;
use serde::Serialize;

use super::Subject;
use super::columns::Columns;
use super::part::PagePart;
use detail::{Budget, Detail};

/// Paths with details.
const DETAILED: usize = 60;

/// How a message's way ended, by its number in the columns: those of [`DropCause::EVERY`] begin with 1.
const CAME_THROUGH: u8 = 0;
const NOT_PASSED_ON: u8 = 6;
const ENDED: u8 = 7;

#[derive(Debug, Serialize)]
struct Paths {
    paths: Vec<PathEntry>,
    details: Vec<Detail>,
    cases: [&'static str; 4],
    ends: Vec<&'static str>,
}

/// A path in the table.
#[derive(Debug, Serialize)]
struct PathEntry {
    /// Of an observed path the number that it has in the exported tables; declared ones have a `d` before theirs.
    id: String,
    title: String,
    declared: bool,
    /// Why a declared path cannot be followed.
    error: Option<String>,
    hops: usize,
    /// First messages.
    sent: u64,
    /// Messages that came through.
    flows: u64,
    /// Messages that were lost on the way.
    lost: u64,
    /// Messages that ended for another reason: nothing was published for the next hop, or a newer one was used.
    ended: u64,
    /// Flows during which events were lost.
    damaged: u64,
    /// Flows of which a node stored a message, and is assumed to have made its next output from it.
    assumed: u64,
    /// How old all inputs were of the executions that it ends in, where other paths end in the same ones.
    inputs: Option<Inputs>,
    /// What to know where it leads from one host to another whose clock is not known to agree: then nothing is a share.
    clocks: Option<String>,
    latency: Option<Statistics>,
    /// By [`Case::EVERY`].
    response_times: [Option<Statistics>; 4],
    detailed: bool,
}

/// The inputs of executions in which several paths end.
#[derive(Debug, Clone, Copy, Serialize)]
struct Inputs {
    paths: usize,
    executions: usize,
    fused: usize,
    newest: Option<Statistics>,
    oldest: Option<Statistics>,
}

pub(crate) fn part(subject: Subject<'_>) -> PagePart {
    let mut columns = Columns::default();
    let declared = declared::Declared::of(subject);
    let observed = observed::Observed::of(subject);
    let mut paths: Vec<PathEntry> = declared.as_ref().map_or_else(Vec::new, |it| it.rows());
    let first_observed = paths.len();
    paths.extend(observed.rows());
    let chosen = chosen(&paths);
    let budget = Budget::for_details(chosen.len());
    let mut details = Vec::with_capacity(chosen.len());
    for place in chosen {
        let material = match place.checked_sub(first_observed) {
            None => declared.as_ref().and_then(|it| it.material(place)),
            Some(place) => Some(observed.material(place)),
        };
        let Some(material) = material else { continue };
        paths[place].detailed = true;
        let id = paths[place].id.clone();
        details.push(Detail::of(subject, id, material, &budget, &mut columns));
    }
    let causes = DropCause::EVERY.iter().map(|cause| cause.name());
    let data = Paths {
        paths,
        details,
        cases: Case::EVERY.map(Case::name),
        ends: ["came_through"]
            .into_iter()
            .chain(causes)
            .chain(["not_passed_on", "ended"])
            .collect(),
    };
    PagePart::new("paths", &data, columns)
}

/// What was declared comes first; of the rest what is slow, and what many messages take.
fn chosen(paths: &[PathEntry]) -> Vec<usize> {
    let p99 = |place: &usize| paths[*place].latency.map_or(i64::MIN, |it| it.p99);
    let mut by_latency: Vec<usize> = (0..paths.len()).collect();
    by_latency.sort_by_key(|place| (!paths[*place].declared, Reverse(p99(place))));
    let mut by_flows = by_latency.clone();
    by_flows.sort_by_key(|place| Reverse(paths[*place].flows));
    let slow = by_latency.iter().copied().take(DETAILED * 2 / 3);
    let mut chosen: Vec<usize> = slow.collect();
    for place in by_flows.into_iter().chain(by_latency) {
        if chosen.len() < DETAILED && !chosen.contains(&place) {
            chosen.push(place);
        }
    }
    chosen.sort_unstable();
    chosen
}
