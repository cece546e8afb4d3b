//! Nodes and paths: from observed causality, and nodes also from what is declared.

use std::io;

use super::describe::{pid, publisher};
use super::recurring::{CASE, HOST, PID, RESPONSE_START, RESPONSE_TIME, STAGE};
use super::statistics_columns::statistics_cells;
use super::{Cell, Column, Role, Sink, Table, cells, columns};
use crate::analysis::Analysis;
use crate::declared::response_time::Case;
use crate::flow_end::{answerable, courses, response_times};
use crate::flow_latency::{FlowTimes, Include, PathLatency, path_latency};
use crate::flow_path::{FlowPath, FlowPaths, Origin};
use crate::node_latency;

const PATH: Column = Column::integer("path", "Number of the path.").role(Role::Path);

pub(super) const NODE_LATENCIES: Table = Table {
    name: "node_latencies",
    about: "One message that went out of a node because of one that came in, and who says so. Every pair is there once, by the first of: what was observed, what the program declared (`message_link_*`), the message contexts of the file that `--architecture` names, what is assumed of messages that a node stored.",
    columns: columns! {
        HOST,
        PID,
        node "node" "Node.",
        topic "input_topic" "Topic of the message that came in.",
        topic "output_topic" "Topic of the message that went out.",
        time? "input_publish_ns" "When the message that came in was published; nothing if that is not in the trace.",
        time "received_ns" "When the callback that received it started, or when it was taken by hand.",
        time "publish_ns" "When the message that went out was published.",
        duration "latency_ns" "Received to publish.",
        text "basis" "`observed`: it was published inside the callback that received the other; `taken`: inside the callback that had taken the other by hand, the newest of its subscription; `message_link_periodic_async`, `message_link_partial_sync`: the program declared it; `use_latest_message`, `callback_chain`, `inherit_unique_stamp`, `tilde`: the message context of the architecture file; `assumed`: it was stored since the output before, as it was for most outputs of this kind.",
        flag "damaged" "Whether events were lost meanwhile.",
    },
    rows: node_latencies,
};

fn node_latencies(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    let model = analysis.model;
    node_latency::node_latencies(analysis, &mut |row| {
        let output = analysis.publication(row.output);
        let input = row.input.map(|input| analysis.publication(input).publish);
        let subscription = &model.subscriptions[row.subscription.index()];
        take(&cells! {
            model.host_name(subscription.process), pid(model, subscription.process),
            model.node_name(row.node).unwrap_or_default(), subscription.topic.as_str(),
            publisher(model, output.publisher).1, input, row.received, output.publish,
            row.latency(analysis), row.basis.name(), row.is_damaged(analysis),
        })
    })
}

pub(super) const PATHS: Table = Table {
    name: "paths",
    about: "One path that messages were observed to take, or assumed where a node stored them, from a publication that no message caused to an execution that caused no other.",
    columns: columns! {
        = Column::integer("path", "Number of the path, for the tables of its stages and flows.").role(Role::Path),
        text "title" "Nodes and topics on the way.",
        text? "origin" "Callback that published the first message; nothing outside of callbacks.",
        integer "hops" "Messages on the way.",
        integer "sent" "First messages that were published.",
        integer "flows" "Messages that came through to the end.",
        integer "assumed" "Flows of which a node stored a message on the way, and is assumed to have made its next output from it.",
        statistics "latency" "latency: first publish to the start of the last callback",
        count "damaged" "Flows during which events were lost.",
    },
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
        let mut cells: Vec<Cell<'_>> = Vec::from(cells! {
            number as i64, title.as_str(), origin, path.hops.len() as i64, sent,
            path.flows.len() as i64, latency.assumed,
        });
        cells.extend(statistics_cells(latency.latency.as_ref()));
        cells.push(latency.damaged.into());
        take(&cells)?;
    }
    Ok(())
}

pub(super) const PATH_STAGES: Table = Table {
    name: "path_stages",
    about: "One stage of an observed path, summarised over all its flows. The means of the stages add up to that of the path.",
    columns: columns! {
        PATH,
        STAGE,
        text "kind" "`communication`: publish to callback; `node`: start of the callback to the next publish.",
        topic "topic" "Topic of a communication; empty for a node.",
        node "node" "Node that receives, or that the time passes in.",
        integer? "sent" "Messages that came as far as this communication.",
        integer? "arrived" "Messages that arrived.",
        integer? "lost" "Messages that were lost or overwritten here.",
        integer? "not_passed_on" "Executions that published nothing for the next stage.",
        integer? "assumed" "Flows whose message was stored here, and is assumed to be used for the next stage's.",
        statistics "duration" "duration of the stage",
    },
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
        let mut cells: Vec<Cell<'_>> = Vec::from(cells! {
            number as i64, stage, "communication", hop.topic.as_str(), hop.node.as_str(),
            outcome.sent, outcome.arrived, outcome.lost(), outcome.not_passed_on, of_hop.assumed,
        });
        cells.extend(statistics_cells(of_hop.communication.as_ref()));
        take(&cells)?;
        stage += 1;
        if let Some(node) = &of_hop.node {
            let mut cells: Vec<Cell<'_>> = Vec::from(cells! {
                number as i64, stage, "node", "", hop.node.as_str(),
            });
            cells.extend([Cell::Nothing; 5]);
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
    columns: columns! {
        PATH,
        integer "flow" "Number of the flow in its path, in the order of time.",
        STAGE,
        text "kind" "`communication` or `node`.",
        time "begin_ns" "When the stage began.",
        time "end_ns" "When it ended.",
        duration "duration_ns" "End less begin.",
        flag "damaged" "Whether events were lost during the flow.",
    },
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
                take(&cells! {
                    number as i64, of_path as i64, stage - 1, kind, begin, at, duration,
                    times.damaged,
                })
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
    columns: &[PATH, CASE, RESPONSE_START, RESPONSE_TIME],
    rows: response_time_rows,
};

fn response_time_rows(analysis: &Analysis<'_>, take: Sink<'_>) -> io::Result<()> {
    for (number, path) in FlowPaths::observed(analysis).iter().enumerate() {
        let courses = answerable(analysis, courses(analysis, path));
        let times = response_times(&courses);
        for case in Case::EVERY {
            for (start, response) in times.case(case) {
                take(&cells! {
                    number as i64, case.name(), start, response,
                })?;
            }
        }
    }
    Ok(())
}
