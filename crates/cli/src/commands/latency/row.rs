//! Paths as JSON and as CSV.

use std::io::Write;

use rostrace_analyze::communication::{DropCause, Stages};
use rostrace_analyze::flow_latency::{HopLatency, PathLatency};
use rostrace_analyze::flow_path::{FlowPath, Origin};
use rostrace_analyze::{Analysis, Statistics};
use serde::Serialize;
use serde_json::{Map, Value, json};

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

pub(super) fn write_json(
    out: &mut impl Write,
    analysis: &Analysis<'_>,
    rows: &[(FlowPath, PathLatency)],
) -> anyhow::Result<()> {
    let ages = super::inputs::json_rows(analysis, rows);
    let rows: Vec<PathRow<'_>> = rows
        .iter()
        .zip(ages)
        .map(|((path, latency), ages)| PathRow {
            path: path.title(),
            origin: origin(path),
            flows: path.flows.len(),
            assumed: latency.assumed,
            damaged: latency.damaged,
            one_clock: path.strangers(analysis).is_none(),
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
    serde_json::to_writer_pretty(&mut *out, &rows).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(())
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

/// The columns of a line for a stage, whether its path was observed or declared.
pub(super) const STAGE_COLUMNS: [&str; 15] = [
    "path",
    "stage",
    "kind",
    "name",
    "count",
    "min_ns",
    "mean_ns",
    "p50_ns",
    "p90_ns",
    "p95_ns",
    "p99_ns",
    "p99_9_ns",
    "max_ns",
    "standard_deviation_ns",
    "worst_at_ns",
];

/// One line for each stage of each path.
pub(super) fn write_csv(
    out: &mut impl Write,
    rows: &[(FlowPath, PathLatency)],
) -> anyhow::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(STAGE_COLUMNS.iter().chain(&["lost", "ended_here"]))?;
    for (path, latency) in rows {
        let title = path.title();
        let mut stage = 0;
        let mut write = |kind: &str,
                         name: &str,
                         of: Option<&Statistics>,
                         lost: Option<u64>,
                         ended: Option<u64>| {
            let mut cells = vec![
                title.clone(),
                stage.to_string(),
                kind.to_owned(),
                name.to_owned(),
            ];
            stage += 1;
            cells.extend(statistics_cells(of));
            for number in [lost, ended] {
                cells.push(number.map_or(String::new(), |number| number.to_string()));
            }
            csv.write_record(cells)
        };
        if let Some(first) = &latency.first_callback {
            write(
                "first_callback",
                origin(path).unwrap_or(""),
                Some(first),
                None,
                None,
            )?;
        }
        for (hop, of_hop) in path.hops.iter().zip(&latency.hops) {
            let outcome = &of_hop.outcome;
            write(
                "communication",
                &hop.topic,
                of_hop.communication.as_ref(),
                Some(outcome.lost()),
                Some(outcome.sent - outcome.arrived),
            )?;
            if of_hop.node.is_some() {
                let ended = Some(outcome.not_passed_on);
                write("node", &hop.node, of_hop.node.as_ref(), None, ended)?;
            }
        }
        if let (Some(last), Some(hop)) = (&latency.last_callback, path.hops.last()) {
            write("last_callback", &hop.callback, Some(last), None, None)?;
        }
        write("path", "", latency.latency.as_ref(), None, None)?;
    }
    csv.flush()?;
    Ok(())
}

/// Count, minimum, …, the instant of the worst: empty for no values.
pub(super) fn statistics_cells(statistics: Option<&Statistics>) -> Vec<String> {
    let Some(it) = statistics else {
        return vec![String::new(); 11];
    };
    vec![
        it.count.to_string(),
        it.min.to_string(),
        it.mean.to_string(),
        it.p50.to_string(),
        it.p90.to_string(),
        it.p95.to_string(),
        it.p99.to_string(),
        it.p99_9.to_string(),
        it.max.to_string(),
        it.standard_deviation.to_string(),
        it.worst.0.to_string(),
    ]
}
