//! Observed paths as JSON, and their stages.

use rostrace_analyze::communication::{DropCause, Stages};
use rostrace_analyze::flow_latency::{HopLatency, PathLatency};
use rostrace_analyze::flow_path::{FlowPath, Origin};
use rostrace_analyze::{Analysis, Statistics};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Observed;
use super::stage::Stage;

/// One path, as `--format json` shows it. Its field names are a contract.
#[derive(Debug, Serialize)]
struct PathRow<'p> {
    path: String,
    /// The callback that published the first message; nothing outside of callbacks.
    origin: Option<&'p str>,
    flows: usize,
    /// Flows of which a node stored a message, and is assumed to have made its next output from it.
    assumed: u64,
    /// Flows that touch a time in which events were lost.
    damaged: u64,
    /// False where it leads from one host to another whose clock is not known to agree: latencies are wrong by what they differ.
    one_clock: bool,
    latency_ns: Option<Statistics>,
    first_callback_ns: Option<Statistics>,
    hops: Vec<Value>,
    last_callback_ns: Option<Statistics>,
    /// How old all inputs were of the executions that it ends in, where several of the paths end in the same one.
    input_ages_ns: Value,
}

pub(super) fn json_rows<'p>(
    analysis: &Analysis<'_>,
    rows: &'p [Observed],
) -> impl Serialize + use<'p> {
    let ages = super::inputs::json_rows(analysis, rows);
    let rows: Vec<PathRow<'p>> = rows
        .iter()
        .zip(ages)
        .map(|(Observed { path, latency, .. }, ages)| PathRow {
            path: path.title(),
            origin: origin(path),
            flows: path.flows.len(),
            assumed: latency.assumed,
            damaged: latency.damaged,
            one_clock: path.unsynchronised_hosts(analysis).is_none(),
            latency_ns: latency.latency,
            first_callback_ns: latency.first_callback,
            hops: path
                .hops
                .iter()
                .zip(&latency.hops)
                .map(|(hop, of_hop)| {
                    json!({
                        "publishing_node": hop.publishing_node,
                        "topic": hop.topic,
                        "service": hop.service,
                        "callback": hop.callback,
                        "node": hop.node,
                        "communication_ns": of_hop.communication,
                        "stages_ns": stages(of_hop),
                        "node_ns": of_hop.node,
                        "sent": of_hop.outcome.sent,
                        "arrived": of_hop.outcome.arrived,
                        "dropped": dropped(of_hop),
                        "not_passed_on": of_hop.outcome.not_passed_on,
                        "assumed": of_hop.assumed,
                    })
                })
                .collect(),
            last_callback_ns: latency.last_callback,
            input_ages_ns: ages,
        })
        .collect();
    rows
}

fn origin(path: &FlowPath) -> Option<&str> {
    match &path.origin {
        Origin::Callback { name, .. } => Some(name),
        Origin::Outside => None,
    }
}

fn stages(hop: &HopLatency) -> Map<String, Value> {
    let names = Stages::NAMES.iter().zip(&hop.stages);
    names
        .map(|(name, stage)| ((*name).to_owned(), json!(stage)))
        .collect()
}

fn dropped(hop: &HopLatency) -> Map<String, Value> {
    let causes = DropCause::EVERY.iter().zip(hop.outcome.dropped);
    causes
        .map(|(cause, number)| (cause.name().to_owned(), json!(number)))
        .collect()
}

/// The stages of an observed path.
pub(super) fn stages_of(
    analysis: &Analysis<'_>,
    path: &FlowPath,
    latency: &PathLatency,
) -> Vec<Stage> {
    // Of a sum that is wrong nothing is a share.
    let whole = latency
        .latency
        .filter(|_| path.unsynchronised_hosts(analysis).is_none());
    let mean = whole.map_or(0.0, |it| it.mean);
    let mut stages = Vec::new();
    if let Some(first) = &latency.first_callback {
        stages.push(Stage {
            shown: origin(path).unwrap_or("outside of callbacks").to_owned(),
            ..Stage::new("first_callback", origin(path).unwrap_or(""), Some(first))
        });
    }
    let services = path.hops.iter().skip(1).map(|next| next.service.as_deref());
    let services = services.chain(std::iter::once(None));
    for ((hop, of_hop), service) in path.hops.iter().zip(&latency.hops).zip(services) {
        let outcome = &of_hop.outcome;
        stages.push(Stage {
            ended: Some(outcome.sent - outcome.arrived),
            lost: Some(outcome.lost()),
            ..Stage::new("communication", &hop.topic, of_hop.communication.as_ref())
        });
        if of_hop.node.is_some() {
            stages.push(Stage {
                ended: Some(outcome.not_passed_on),
                shown: match service {
                    Some(service) => format!("{}, then {service}", hop.node),
                    None => hop.node.clone(),
                },
                ..Stage::new("node", &hop.node, of_hop.node.as_ref())
            });
        }
    }
    if let (Some(last), Some(hop)) = (&latency.last_callback, path.hops.last()) {
        stages.push(Stage::new("last_callback", &hop.callback, Some(last)));
    }
    stages.push(Stage::whole(latency.latency.as_ref()));
    stages.into_iter().map(|it| it.of_whole(mean)).collect()
}
