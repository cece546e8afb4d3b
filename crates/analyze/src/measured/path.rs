//! Paths that messages really took.

use super::series::Series;
use crate::analysis::Analysis;
use crate::flow_latency::{FlowTimes, Include};
use crate::flow_path::{Ends, FlowPath, FlowPaths, Hop, Origin};
use crate::selection::Selection;
use rostrace_model::describe::built_in;

#[derive(Debug, Clone)]
pub struct MeasuredPath {
    pub origin: Origin,
    pub hops: Vec<Hop>,
    pub name: String,
    /// First publication to the start of the last callback.
    pub latency: Series,
}

pub(super) fn measured(
    analysis: &Analysis<'_>,
    selection: &Selection,
    with_built_in: bool,
) -> Vec<MeasuredPath> {
    let ends = Ends {
        from: None,
        to: None,
    };
    // A path of one hop is a communication, which has a row of its own.
    let mut paths = measured_paths(analysis, &ends, with_built_in);
    paths.retain(|path| path.hops.len() > 1 && is_wanted(path, selection));
    paths
}

/// The paths with these ends, each with the latency of every message that came through, in the order of their names.
pub fn measured_paths(
    analysis: &Analysis<'_>,
    ends: &Ends<'_>,
    with_built_in: bool,
) -> Vec<MeasuredPath> {
    let mut paths = FlowPaths::of(analysis).paths(ends);
    paths.retain(FlowPath::is_named);
    if !with_built_in {
        let is_own = |hop: &Hop| built_in::topic(&hop.topic) || built_in::node(&hop.node);
        paths.retain(|path| !path.hops.iter().any(is_own));
    }
    let paths = paths.into_iter();
    let mut paths: Vec<MeasuredPath> = paths.map(|path| of_path(analysis, path)).collect();
    paths.sort_by(|a, b| {
        let callbacks = |path: &MeasuredPath| -> Vec<String> {
            path.hops.iter().map(|hop| hop.callback.clone()).collect()
        };
        (a.name.cmp(&b.name)).then_with(|| callbacks(a).cmp(&callbacks(b)))
    });
    paths
}

fn of_path(analysis: &Analysis<'_>, path: FlowPath) -> MeasuredPath {
    let mut latency = Series::default();
    for flow in &path.flows {
        if let Some(times) = FlowTimes::of(analysis, flow, Include::default()) {
            latency.push(times.latency(), times.begin);
            latency.damaged += u64::from(times.damaged);
        }
    }
    latency.sort();
    MeasuredPath {
        name: path.title(),
        origin: path.origin,
        hops: path.hops,
        latency,
    }
}

fn is_wanted(path: &MeasuredPath, selection: &Selection) -> bool {
    let mut nodes = path
        .hops
        .iter()
        .flat_map(|hop| [&hop.publishing_node, &hop.node]);
    let mut topics = path.hops.iter().map(|hop| &hop.topic);
    // A path leads through several processes: choosing one of them says nothing about it.
    selection.pids.is_empty()
        && nodes.any(|node| selection.fits_node(Some(node)))
        && topics.any(|topic| selection.fits_topic(Some(topic)))
}
