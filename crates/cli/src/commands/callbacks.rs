//! `rostrace callbacks`: what runs in each node, how often and how long.

use std::io::{BufWriter, Write};

use rostrace_trace::Model;
use rostrace_trace::entity::{CallbackId, CallbackOwner};
use serde::Serialize;

use crate::args::{LookArguments, LookFormat};
use crate::outcome::Outcome;
use crate::render::table::{Align, Table};
use crate::render::units;
use crate::source;
use crate::statistics::Statistics;

/// One callback, as `--format json` shows it.
#[derive(Debug, Serialize)]
struct CallbackRow<'m> {
    host: &'m str,
    pid: i64,
    process: &'m str,
    node: Option<&'m str>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period_ns: Option<i64>,
    symbol: Option<&'m str>,
    count: u64,
    duration_ns: Option<Statistics>,
    period_ns_observed: Option<Statistics>,
}

pub(crate) fn callbacks(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let set = source::open(&arguments.input)?;
    let Some(model) = source::model(&set) else {
        return Ok(Outcome::Interrupted);
    };
    let rows = rows(&model);
    let mut out = BufWriter::new(std::io::stdout().lock());
    match arguments.format {
        LookFormat::Json => {
            serde_json::to_writer_pretty(&mut out, &rows).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        LookFormat::Table => write!(out, "{}", table(&rows))?,
    }
    out.flush()?;
    Ok(Outcome::of(set.damage.iter().chain(&model.damage)))
}

fn rows(model: &Model) -> Vec<CallbackRow<'_>> {
    let mut durations: Vec<Vec<i64>> = vec![Vec::new(); model.callbacks.len()];
    let mut starts: Vec<Vec<i64>> = vec![Vec::new(); model.callbacks.len()];
    for instance in &model.instances {
        let Some(callback) = instance.callback else {
            continue;
        };
        starts[callback.index()].push(instance.start.0);
        durations[callback.index()].extend(instance.end.map(|end| end.0 - instance.start.0));
    }
    let mut rows = Vec::new();
    for (index, callback) in model.callbacks.iter().enumerate() {
        let process = &model.processes[callback.process.index()];
        let mut row = CallbackRow {
            host: model.host_name(callback.process),
            pid: process.pid,
            process: &process.name,
            node: model.node_name(model.node_of_callback(CallbackId(index as u32))),
            kind: "unknown",
            topic: None,
            service: None,
            period_ns: None,
            symbol: callback.symbol.as_deref(),
            count: starts[index].len() as u64,
            duration_ns: Statistics::of(std::mem::take(&mut durations[index])),
            period_ns_observed: Statistics::of(
                starts[index]
                    .windows(2)
                    .map(|pair| pair[1] - pair[0])
                    .collect(),
            ),
        };
        match callback.owner {
            CallbackOwner::Timer(id) => {
                row.kind = "timer";
                row.period_ns = Some(model.timers[id.index()].period.0);
            }
            CallbackOwner::Subscription(id) => {
                row.kind = "subscription";
                row.topic = Some(&model.subscriptions[id.index()].topic);
            }
            CallbackOwner::Service(id) => {
                row.kind = "service";
                row.service = Some(&model.services[id.index()].name);
            }
            CallbackOwner::Client(id) => {
                row.kind = "client";
                row.service = Some(&model.clients[id.index()].name);
            }
            CallbackOwner::Unknown => {}
        }
        rows.push(row);
    }
    rows
}

fn table(rows: &[CallbackRow<'_>]) -> Table {
    let mut table = Table::new(&[
        ("callback", Align::Left),
        ("process", Align::Left),
        ("count", Align::Right),
        ("mean", Align::Right),
        ("p99", Align::Right),
        ("max", Align::Right),
        ("period", Align::Right),
    ]);
    for row in rows {
        let node = row.node.unwrap_or("(unknown node)");
        let name = match (row.topic, row.service, row.period_ns) {
            (Some(topic), ..) => format!("{node} ← {topic}"),
            (_, Some(service), _) => format!("{node} · service {service}"),
            (.., Some(period)) => {
                format!("{node} · timer {}", units::duration(period.unsigned_abs()))
            }
            _ => format!("{node} · {}", row.symbol.unwrap_or("unknown callback")),
        };
        let duration = |of: fn(&Statistics) -> i64| {
            row.duration_ns
                .as_ref()
                .map_or(String::new(), |statistics| {
                    units::duration(of(statistics).unsigned_abs())
                })
        };
        table.row([
            name,
            format!("{} {}", row.process, row.pid),
            row.count.to_string(),
            duration(|statistics| statistics.mean as i64),
            duration(|statistics| statistics.p99),
            duration(|statistics| statistics.max),
            row.period_ns_observed
                .as_ref()
                .map_or(String::new(), |period| {
                    units::duration(period.p50.unsigned_abs())
                }),
        ]);
    }
    table
}
