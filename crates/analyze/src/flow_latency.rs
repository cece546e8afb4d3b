//! How long messages took along an observed path, hop by hop. The parts of a flow add up to its latency exactly.

use rostrace_ctf::schema::Nanos;

use crate::analysis::Analysis;
use crate::communication::Arrival;
use crate::flow_end::{HopOutcome, outcomes};
use crate::flow_path::{Flow, FlowPath};
use crate::statistics::Statistics;

/// Which ends of a path belong to its latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Include {
    /// From the start of the callback that published the first message, not from the publication.
    pub first_callback: bool,
    /// To the end of the last callback, not to its start.
    pub last_callback: bool,
}

/// The instants and durations of one flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowTimes {
    pub begin: Nanos,
    pub end: Nanos,
    /// Start of the callback that published the first message, if there was one and it is included.
    pub first_callback: Option<i64>,
    /// By hop: publish to callback.
    pub communications: Vec<Arrival>,
    /// Between hops: start of the callback to the next publish.
    pub nodes: Vec<i64>,
    pub last_callback: Option<i64>,
    /// Whether events were lost on the way.
    pub damaged: bool,
}

impl FlowTimes {
    /// Nothing if an instant of it is not in the trace.
    pub fn of(analysis: &Analysis<'_>, flow: &Flow, include: Include) -> Option<FlowTimes> {
        let deliveries = flow.deliveries.iter().map(|id| analysis.delivery(*id));
        let arrivals: Option<Vec<Arrival>> = flow
            .deliveries
            .iter()
            .map(|id| analysis.arrival(*id).copied())
            .collect();
        let arrivals = arrivals?;
        let (first, last) = (arrivals.first()?, arrivals.last()?);
        let nodes = arrivals
            .windows(2)
            .map(|pair| pair[1].publish.0 - pair[0].received.0)
            .collect();
        let origin = analysis
            .publication(deliveries.clone().next()?.publication)
            .instance;
        let first_callback = origin
            .filter(|_| include.first_callback)
            .map(|instance| first.publish.0 - analysis.instance(instance).start.0);
        let end = analysis
            .delivery(*flow.deliveries.last()?)
            .instance
            .and_then(|instance| analysis.instance(instance).end);
        let last_callback = end
            .filter(|_| include.last_callback)
            .map(|end| end.0 - last.received.0);
        let begin = Nanos(first.publish.0 - first_callback.unwrap_or(0));
        let end = Nanos(last.received.0 + last_callback.unwrap_or(0));
        Some(FlowTimes {
            begin,
            end,
            first_callback,
            damaged: analysis.is_damaged(begin, end)
                || deliveries
                    .clone()
                    .any(|it| analysis.begins_late(it.publication)),
            communications: arrivals,
            nodes,
            last_callback,
        })
    }

    pub fn latency(&self) -> i64 {
        self.end.0 - self.begin.0
    }
}

/// A path summarised.
#[derive(Debug)]
pub struct PathLatency {
    pub latency: Option<Statistics>,
    pub first_callback: Option<Statistics>,
    pub hops: Vec<HopLatency>,
    pub last_callback: Option<Statistics>,
    /// Flows that touch a time in which events were lost.
    pub damaged: u64,
    /// Flows that go on from a stored message somewhere, which is assumed and not seen.
    pub assumed: u64,
}

#[derive(Debug)]
pub struct HopLatency {
    /// Publish to callback.
    pub communication: Option<Statistics>,
    /// By [`Stages::NAMES`].
    pub stages: [Option<Statistics>; 4],
    /// Start of the callback to the publish of the next hop; nothing for the last one.
    pub node: Option<Statistics>,
    /// Flows whose message was stored here, and is assumed to be used for the next hop's.
    pub assumed: u64,
    pub outcome: HopOutcome,
}

pub fn path_latency(analysis: &Analysis<'_>, path: &FlowPath, include: Include) -> PathLatency {
    let hops = path.hops.len();
    let mut latencies = Vec::new();
    let mut ends: [Vec<(i64, Nanos)>; 2] = Default::default();
    let mut messages: Vec<Vec<(i64, Nanos)>> = vec![Vec::new(); hops];
    let mut stages: Vec<[Vec<(i64, Nanos)>; 4]> = vec![Default::default(); hops];
    let mut nodes: Vec<Vec<(i64, Nanos)>> = vec![Vec::new(); hops];
    let mut damaged = 0;
    let mut assumed = 0;
    let mut stored = vec![0; hops];
    for flow in &path.flows {
        let Some(times) = FlowTimes::of(analysis, flow, include) else {
            continue;
        };
        let (begin, latency) = (times.begin, times.latency());
        let mut is_assumed = false;
        for (stored, assumed) in stored.iter_mut().zip(flow.assumed(analysis)) {
            *stored += u64::from(assumed);
            is_assumed |= assumed;
        }
        assumed += u64::from(is_assumed);
        damaged += u64::from(times.damaged);
        latencies.push((latency, begin));
        for (values, value) in ends
            .iter_mut()
            .zip([times.first_callback, times.last_callback])
        {
            values.extend(value.map(|value| (value, begin)));
        }
        for (hop, arrival) in times.communications.iter().enumerate() {
            messages[hop].push((arrival.stages.latency(), begin));
            for (values, value) in stages[hop].iter_mut().zip(arrival.stages.values()) {
                values.push((value, begin));
            }
        }
        for (hop, node) in times.nodes.iter().enumerate() {
            nodes[hop].push((*node, begin));
        }
    }
    let outcomes = outcomes(analysis, path);
    let rows = messages.into_iter().zip(stages).zip(nodes).zip(outcomes);
    let hops = rows.zip(stored).map(
        |((((mut messages, mut stages), mut nodes), outcome), assumed)| HopLatency {
            communication: Statistics::of(&mut messages),
            stages: stages.each_mut().map(|it| Statistics::of(it)),
            node: Statistics::of(&mut nodes),
            assumed,
            outcome,
        },
    );
    let hops = hops.collect();
    let [mut first, mut last] = ends;
    PathLatency {
        latency: Statistics::of(&mut latencies),
        first_callback: Statistics::of(&mut first),
        hops,
        last_callback: Statistics::of(&mut last),
        damaged,
        assumed,
    }
}
