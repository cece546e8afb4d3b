//! `rostrace callbacks`: what runs in each node, how often and how long.

use std::collections::{BTreeMap, HashMap};

use rostrace_analyze::names::{self, Names};
use rostrace_analyze::{Statistics, built_in};
use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::entity::{Address, CallbackId, CallbackOwner, ClientId, NodeId, ProcessId};
use serde::Serialize;

use crate::args::LookArguments;
use crate::family;
use crate::listing::{Reading, Row, cell};
use crate::outcome::Outcome;
use crate::render::table::{Align, Table};
use crate::render::units;
use crate::view::View;

/// One callback, as `--format json` shows it. Its field names are a contract.
#[derive(Debug, Serialize)]
struct CallbackRow<'m> {
    /// As people say it.
    name: String,
    host: &'m str,
    pid: i64,
    process: &'m str,
    node: Option<&'m str>,
    /// `timer`, `subscription`, `service`, `client`; `unknown` if the trace does not tell.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period_ns: Option<i64>,
    symbol: Option<&'m str>,
    /// Made by rclcpp or by a recorder.
    built_in: bool,
    count: u64,
    duration_ns: Option<Statistics>,
    period_ns_observed: Option<Statistics>,
    #[serde(skip)]
    created: Nanos,
    #[serde(skip)]
    owner: (ProcessId, Option<NodeId>),
}

pub(crate) fn callbacks(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let Some(reading) = Reading::of(arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let view = reading.view()?;
    let rows = rows(&view);
    let unnamed = rows.iter().filter(|row| is_unnamed(row, arguments.all));
    let lack = family::CALLBACKS.lack(&view.model.kinds).map(str::to_owned);
    let notes = reading.unnamed(unnamed.count(), "callback").into_iter();
    reading.print(
        &rows,
        || table(view.model, &rows, arguments.all),
        notes.chain(lack),
    )
}

/// Whether a row that is shown has an address for a name, or no node.
fn is_unnamed(row: &CallbackRow<'_>, all: bool) -> bool {
    (row.kind == "unknown" || row.node.is_none()) && (all || !row.built_in)
}

/// What was counted of one callback.
#[derive(Debug, Default)]
struct Runs {
    starts: Vec<Nanos>,
    durations: Vec<(i64, Nanos)>,
}

/// In the order of creation.
fn rows<'m>(view: &View<'m>) -> Vec<CallbackRow<'m>> {
    let model = view.model;
    let names = Names::of(model);
    let mut runs: Vec<Runs> = Vec::new();
    runs.resize_with(model.callbacks.len(), Runs::default);
    let mut unnamed: BTreeMap<(ProcessId, Address), Runs> = BTreeMap::new();
    for (_, instance) in view.instances() {
        let runs = match instance.callback {
            Some(callback) => &mut runs[callback.index()],
            None => {
                let process = model.process_of(instance.thread);
                unnamed.entry((process, instance.address)).or_default()
            }
        };
        let start = instance.start;
        runs.starts.push(start);
        runs.durations
            .extend(instance.end.map(|end| (end.0 - start.0, start)));
    }
    let mut rows = Vec::new();
    for (index, runs) in runs.into_iter().enumerate() {
        let id = CallbackId(index as u32);
        if view.has_callback(id) {
            rows.push(of_callback(model, id, &names, runs));
        }
    }
    for index in 0..model.clients.len() {
        let id = ClientId(index as u32);
        if view.has_client(id) {
            rows.push(of_client(model, id, &names));
        }
    }
    for ((process, address), runs) in unnamed {
        if view.has_unnamed(process) {
            let first = runs.starts.first().copied().unwrap_or(Nanos(0));
            let name = names::unnamed_callback(address);
            rows.push(CallbackRow::new(model, process, None, name, first, runs));
        }
    }
    rows.sort_by_key(|row| row.created);
    rows
}

impl<'m> CallbackRow<'m> {
    fn new(
        model: &'m Model,
        process: ProcessId,
        node: Option<NodeId>,
        name: String,
        created: Nanos,
        mut runs: Runs,
    ) -> CallbackRow<'m> {
        let periods = runs.starts.windows(2);
        let mut periods: Vec<_> = periods
            .map(|pair| (pair[1].0 - pair[0].0, pair[0]))
            .collect();
        CallbackRow {
            name,
            host: model.host_name(process),
            pid: model.processes[process.index()].pid,
            process: &model.processes[process.index()].name,
            node: model.node_name(node),
            kind: "unknown",
            topic: None,
            service: None,
            period_ns: None,
            symbol: None,
            built_in: model.node_name(node).is_some_and(built_in::node),
            count: runs.starts.len() as u64,
            period_ns_observed: Statistics::of(&mut periods),
            duration_ns: Statistics::of(&mut runs.durations),
            created,
            owner: (process, node),
        }
    }
}

fn of_callback<'m>(model: &'m Model, id: CallbackId, names: &Names, runs: Runs) -> CallbackRow<'m> {
    let callback = &model.callbacks[id.index()];
    let node = model.node_of_callback(id);
    let name = names.callback(id).to_owned();
    let mut row = CallbackRow::new(model, callback.process, node, name, callback.created, runs);
    row.symbol = callback.symbol.as_deref();
    let built_in = match callback.owner {
        CallbackOwner::Timer(id) => {
            row.kind = "timer";
            row.period_ns = Some(model.timers[id.index()].period.0);
            false
        }
        CallbackOwner::Subscription(id) => {
            let topic = &model.subscriptions[id.index()].topic;
            row.kind = "subscription";
            row.topic = Some(topic);
            built_in::topic(topic)
        }
        CallbackOwner::Service(id) => {
            let service = &model.services[id.index()].name;
            row.kind = "service";
            row.service = Some(service);
            built_in::service(row.node, service)
        }
        CallbackOwner::Client(id) => {
            let service = &model.clients[id.index()].name;
            row.kind = "client";
            row.service = Some(service);
            built_in::client(service)
        }
        CallbackOwner::Unknown => row.symbol.is_some_and(built_in::symbol),
    };
    row.built_in |= built_in;
    row
}

/// rclcpp does not trace what runs when a response arrives.
fn of_client<'m>(model: &'m Model, id: ClientId, names: &Names) -> CallbackRow<'m> {
    let client = &model.clients[id.index()];
    let name = names.client(id).to_owned();
    let mut row = CallbackRow::new(
        model,
        client.process,
        client.node,
        name,
        client.created,
        Runs::default(),
    );
    row.kind = "client";
    row.service = Some(&client.name);
    row.built_in |= built_in::client(&client.name);
    row
}

impl Row for CallbackRow<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "name",
        "host",
        "pid",
        "process",
        "node",
        "kind",
        "topic",
        "service",
        "period_ns",
        "symbol",
        "built_in",
        "count",
        "duration_min_ns",
        "duration_mean_ns",
        "duration_p50_ns",
        "duration_p90_ns",
        "duration_p99_ns",
        "duration_max_ns",
        "period_observed_min_ns",
        "period_observed_mean_ns",
        "period_observed_p50_ns",
        "period_observed_p90_ns",
        "period_observed_p99_ns",
        "period_observed_max_ns",
    ];

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![
            self.name.clone(),
            self.host.to_owned(),
            self.pid.to_string(),
            self.process.to_owned(),
            cell(self.node),
            self.kind.to_owned(),
            cell(self.topic),
            cell(self.service),
            cell(self.period_ns),
            cell(self.symbol),
            u8::from(self.built_in).to_string(),
            self.count.to_string(),
        ];
        for statistics in [self.duration_ns, self.period_ns_observed] {
            cells.extend([
                cell(statistics.map(|it| it.min)),
                cell(statistics.map(|it| it.mean)),
                cell(statistics.map(|it| it.p50)),
                cell(statistics.map(|it| it.p90)),
                cell(statistics.map(|it| it.p99)),
                cell(statistics.map(|it| it.max)),
            ]);
        }
        cells
    }
}

/// Node by node; what is built in is one line at the end of its node, unless all is asked for.
fn table(model: &Model, rows: &[CallbackRow<'_>], all: bool) -> Table {
    let mut table = Table::new(&[
        ("callback", Align::Left),
        ("process", Align::Left),
        ("count", Align::Right),
        ("min", Align::Right),
        ("mean", Align::Right),
        ("p99", Align::Right),
        ("max", Align::Right),
        ("period", Align::Right),
    ]);
    let mut order: Vec<(ProcessId, Option<NodeId>)> = Vec::new();
    let mut groups: HashMap<_, Vec<&CallbackRow<'_>>> = HashMap::new();
    for row in rows {
        groups.entry(row.owner).or_insert_with(|| {
            order.push(row.owner);
            Vec::new()
        });
        groups.entry(row.owner).or_default().push(row);
    }
    for owner in order {
        let group = groups.remove(&owner).unwrap_or_default();
        let (folded, shown): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|row| row.built_in && !all);
        for row in shown {
            table.row(line(row));
        }
        if let Some(first) = folded.first() {
            let number = units::counted(folded.len() as u64, "built-in callback");
            let count: u64 = folded.iter().map(|row| row.count).sum();
            table.row([
                format!("{} · {number}", names::of_node(model, owner.1)),
                format!("{} {}", first.process, first.pid),
                units::count(count),
            ]);
        }
    }
    table
}

fn line(row: &CallbackRow<'_>) -> [String; 8] {
    let duration = |of: fn(&Statistics) -> i64| {
        let nanos = row.duration_ns.as_ref().map(of);
        cell(nanos.map(|nanos| units::duration(nanos.unsigned_abs())))
    };
    let period = row.period_ns_observed.map(|period| period.p50);
    [
        row.name.clone(),
        format!("{} {}", row.process, row.pid),
        units::count(row.count),
        duration(|statistics| statistics.min),
        duration(|statistics| statistics.mean as i64),
        duration(|statistics| statistics.p99),
        duration(|statistics| statistics.max),
        cell(period.map(|nanos| units::duration(nanos.unsigned_abs()))),
    ]
}
