//! Nodes and paths, from observed causality.

use std::io;

use rostrace_trace::entity::InstanceId;

use super::describe::{node_of, pid, publisher};
use super::statistics_columns::{columns, statistics_cells, statistics_columns};
use super::{Cell, Column, Sink, Table};
use crate::analysis::Analysis;
use crate::declared::response_time::Case;
use crate::flow_latency::{self, FlowTimes, Include, PathLatency, flow_spans, path_latency};
use crate::flow_path::{FlowPath, FlowPaths, Origin};

pub(super) const NODE_LATENCIES: Table = Table {
    name: "node_latencies",
    about: "One message that went out of a node because of one that came in: it was published inside the callback that received the other.",
    columns: &[
        Column::text("host", "Name of the machine."),
        Column::integer("pid", "Process."),
        Column::text("node", "Node."),
        Column::text("input_topic", "Topic of the message that came in."),
        Column::text("output_topic", "Topic of the message that went out."),
        Column::time(
            "input_publish_ns",
            "When the message that came in was published.",
        ),
        Column::time(
            "callback_start_ns",
            "When the callback that received it started.",
        ),
        Column::time(
            "publish_ns",
            "When the message that went out was published.",
        ),
        Column::duration("latency_ns", "Start of the callback to the publish."),
        Column::flag("damaged", "Whether events were lost meanwhile."),
    ],
    rows: node_latencies,
};

fn node_latencies(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    let paths = FlowPaths::of(analysis);
    for (index, instance) in model.instances.iter().enumerate() {
        let id = InstanceId::from_index(index);
        let Some(cause) = paths.cause(id).filter(|_| analysis.counts(instance.start)) else {
            continue;
        };
        let input = analysis.publication(analysis.delivery(cause).publication);
        let process = model.process_of(instance.thread);
        for output in analysis.publications_in(id) {
            let late = analysis.begins_late(*output);
            let output = analysis.publication(*output);
            take(&[
                model.host_name(process).into(),
                pid(model, process).into(),
                node_of(model, instance.callback).into(),
                publisher(model, input.publisher).1.into(),
                publisher(model, output.publisher).1.into(),
                input.publish.into(),
                instance.start.into(),
                output.publish.into(),
                (output.publish.0 - instance.start.0).into(),
                (late || analysis.is_damaged(instance.start, output.publish)).into(),
            ])?;
        }
    }
    Ok(())
}

pub(super) const PATHS: Table = Table {
    name: "paths",
    about: "One path that messages were observed to take, from a publication that no message caused to an execution that caused no other.",
    columns: columns![
        [
            Column::integer(
                "path",
                "Number of the path, for the tables of its stages and flows."
            ),
            Column::text("title", "Nodes and topics on the way."),
            Column::text(
                "origin",
                "Callback that published the first message; nothing outside of callbacks."
            )
            .optional(),
            Column::integer("hops", "Messages on the way."),
            Column::integer("sent", "First messages that were published."),
            Column::integer("flows", "Messages that came through to the end."),
        ],
        statistics_columns!(
            "latency",
            "latency: first publish to the start of the last callback"
        ),
        [Column::integer(
            "damaged",
            "Flows during which events were lost."
        )],
    ],
    rows: paths,
};

fn paths(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    for (number, path) in FlowPaths::observed(analysis).iter().enumerate() {
        let latency = path_latency(analysis, path, Include::default());
        let origin = match &path.origin {
            Origin::Callback { name, .. } => Some(name.as_str()),
            Origin::Outside => None,
        };
        let title = path.title();
        let sent = latency.hops.first().map_or(0, |hop| hop.outcome.sent);
        let mut cells: Vec<Cell<'_>> = vec![
            (number as i64).into(),
            title.as_str().into(),
            origin.into(),
            (path.hops.len() as i64).into(),
            sent.into(),
            (path.flows.len() as i64).into(),
        ];
        cells.extend(statistics_cells(latency.latency.as_ref()));
        cells.push(latency.damaged.into());
        take(&cells)?;
    }
    Ok(())
}

pub(super) const PATH_STAGES: Table = Table {
    name: "path_stages",
    about: "One stage of an observed path, summarised over all its flows. The means of the stages add up to that of the path.",
    columns: columns![
        [
            Column::integer("path", "Number of the path."),
            Column::integer("stage", "Number of the stage, from 0."),
            Column::text(
                "kind",
                "`communication`: publish to callback; `node`: start of the callback to the next publish."
            ),
            Column::text("topic", "Topic of a communication; empty for a node."),
            Column::text("node", "Node that receives, or that the time passes in."),
            Column::integer("sent", "Messages that came as far as this communication.").optional(),
            Column::integer("arrived", "Messages that arrived.").optional(),
            Column::integer("lost", "Messages that were lost or overwritten here.").optional(),
            Column::integer(
                "not_passed_on",
                "Executions that published nothing for the next stage."
            )
            .optional(),
        ],
        statistics_columns!("duration", "duration of the stage"),
    ],
    rows: path_stages,
};

fn path_stages(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    for (number, path) in FlowPaths::observed(analysis).iter().enumerate() {
        let latency = path_latency(analysis, path, Include::default());
        stages_of(number, path, &latency, take)?;
    }
    Ok(())
}

fn stages_of(
    number: usize,
    path: &FlowPath,
    latency: &PathLatency,
    take: Sink<'_>,
) -> io::Result<()> {
    let mut stage = 0i64;
    for (hop, of_hop) in path.hops.iter().zip(&latency.hops) {
        let outcome = &of_hop.outcome;
        let mut cells: Vec<Cell<'_>> = vec![
            (number as i64).into(),
            stage.into(),
            "communication".into(),
            hop.topic.as_str().into(),
            hop.node.as_str().into(),
            outcome.sent.into(),
            outcome.arrived.into(),
            outcome.lost().into(),
            outcome.not_passed_on.into(),
        ];
        cells.extend(statistics_cells(of_hop.communication.as_ref()));
        take(&cells)?;
        stage += 1;
        if let Some(node) = &of_hop.node {
            let mut cells: Vec<Cell<'_>> = vec![
                (number as i64).into(),
                stage.into(),
                "node".into(),
                "".into(),
                hop.node.as_str().into(),
            ];
            cells.extend([Cell::Nothing; 4]);
            cells.extend(statistics_cells(Some(node)));
            take(&cells)?;
            stage += 1;
        }
    }
    Ok(())
}

pub(super) const PATH_FLOWS: Table = Table {
    name: "path_flows",
    about: "One stage of one message along an observed path. The durations of a flow add up to its latency exactly.",
    columns: &[
        Column::integer("path", "Number of the path."),
        Column::integer(
            "flow",
            "Number of the flow in its path, in the order of time.",
        ),
        Column::integer("stage", "Number of the stage, from 0."),
        Column::text("kind", "`communication` or `node`."),
        Column::time("begin_ns", "When the stage began."),
        Column::time("end_ns", "When it ended."),
        Column::duration("duration_ns", "End less begin."),
        Column::flag("damaged", "Whether events were lost during the flow."),
    ],
    rows: path_flows,
};

fn path_flows(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    for (number, path) in FlowPaths::observed(analysis).iter().enumerate() {
        for (of_path, flow) in path.flows.iter().enumerate() {
            let times = FlowTimes::of(analysis, flow, Include::default());
            let Some(times) = times else { continue };
            let mut at = times.begin.0;
            let mut stage = 0i64;
            let mut row = |kind: &str, duration: i64| {
                let begin = at;
                at += duration;
                stage += 1;
                take(&[
                    (number as i64).into(),
                    (of_path as i64).into(),
                    (stage - 1).into(),
                    kind.into(),
                    begin.into(),
                    at.into(),
                    duration.into(),
                    times.damaged.into(),
                ])
            };
            for (hop, arrival) in times.communications.iter().enumerate() {
                row("communication", arrival.stages.latency())?;
                if let Some(node) = times.nodes.get(hop) {
                    row("node", *node)?;
                }
            }
        }
    }
    Ok(())
}

pub(super) const RESPONSE_TIMES: Table = Table {
    name: "response_times",
    about: "One response time of an observed path.",
    columns: &[
        Column::integer("path", "Number of the path."),
        Column::text(
            "case",
            "`all`, `best`, `worst` or `worst_with_external_latency`.",
        ),
        Column::time("start_ns", "Publication that it is counted from."),
        Column::duration(
            "response_time_ns",
            "From there to the start of the last callback.",
        ),
    ],
    rows: response_times,
};

fn response_times(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    for (number, path) in FlowPaths::observed(analysis).iter().enumerate() {
        let times = flow_latency::response_times(&flow_spans(analysis, path));
        for case in Case::EVERY {
            for (start, response) in times.case(case) {
                take(&[
                    (number as i64).into(),
                    case.name().into(),
                    start.into(),
                    response.into(),
                ])?;
            }
        }
    }
    Ok(())
}
