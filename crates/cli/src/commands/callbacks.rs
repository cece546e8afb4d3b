//! `rostrace callbacks`: what runs in each node, how often, how long and how late, with what hurts most first.

use std::collections::BTreeMap;

use rostrace_analyze::callback::{self, CallbackSummary};
use rostrace_analyze::finding::{Ranking, Runner};
use rostrace_analyze::list::{self, List};
use rostrace_analyze::names::{self, Names};
use rostrace_analyze::thread::Ran;
use rostrace_analyze::{Analysis, Statistics, blind_spot, sim_time};
use rostrace_ctf::schema::Nanos;
use rostrace_trace::Model;
use rostrace_trace::describe::Description;
use rostrace_trace::entity::{Address, ClientId, NodeId, ProcessId};
use serde::Serialize;

use crate::args::LookArguments;
use crate::cell::Cell;
use crate::family;
use crate::listing::{Reading, Row};
use crate::outcome::Outcome;
use crate::untold;
use crate::view::View;
use rostrace_base::units;

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
    /// Of a client: responses that its callback got, where the recorder tells. They have no `callback_start`, which `count` counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<u64>,
    duration_ns: Option<Statistics>,
    period_ns_observed: Option<Statistics>,
    /// From when it should have begun to its start: a timer was due, a message was published.
    lateness_ns: Option<Statistics>,
    /// Of a timer: the observed period less the one that it is set to.
    jitter_ns: Option<Statistics>,
    /// From an end to the next start.
    gap_ns: Option<Statistics>,
    /// Firings of a timer that were due and never happened.
    skipped: u64,
    /// Time in the callback, divided by the time in which its process was observed.
    utilisation: Option<f64>,
    /// Longest duration or largest lateness, whichever is larger, divided by the period.
    hurt: Option<f64>,
    /// Executions that touch a time in which events were lost.
    damaged: u64,
    #[serde(skip)]
    created: Nanos,
    /// What the order of what is worst knows it by.
    #[serde(skip)]
    runner: Runner,
    /// Nobody wrote it, and it is as any other of its kind.
    #[serde(skip)]
    is_folded: bool,
    #[serde(skip)]
    owner: (ProcessId, Option<NodeId>),
}

pub(crate) fn callbacks(arguments: &LookArguments) -> anyhow::Result<Outcome> {
    let Some(reading) = Reading::of(&list::CALLBACKS, arguments)? else {
        return Ok(Outcome::Interrupted);
    };
    let view = reading.view()?;
    let analysis = Analysis::new(view.model, view.window().clone());
    print(&reading, &view, &analysis)
}

/// The list of a trace that was read and analysed.
pub(crate) fn print(
    reading: &Reading<'_>,
    view: &View<'_>,
    analysis: &Analysis<'_>,
) -> anyhow::Result<Outcome> {
    let (rows, first) = rows(view, analysis);
    let unnamed = rows
        .iter()
        .filter(|row| is_unnamed(row, reading.arguments.all));
    let lack = || family::CALLBACKS.lack(&view.model.kinds).map(str::to_owned);
    let lack = untold::sentence(view).or_else(lack);
    let notes = reading.unnamed(unnamed.count(), "callback").into_iter();
    reading.print(
        rows,
        notes
            .chain(first)
            .chain(lack)
            .chain(sim_time::sentence(view.model))
            .chain(blind_spot::sentences(view.model)),
    )
}

/// Whether a row that is shown has an address for a name, or no node.
fn is_unnamed(row: &CallbackRow<'_>, all: bool) -> bool {
    (row.kind == "unknown" || row.node.is_none()) && (all || !row.built_in)
}

/// What hurts most comes first, as in a report; what never ran twice, or is built in, in the order of creation at the end. With a sentence on why the first
/// one is first, if that is for what it did to others.
fn rows<'m>(view: &View<'m>, analysis: &Analysis<'_>) -> (Vec<CallbackRow<'m>>, Option<String>) {
    let model = view.model;
    let summaries = callback::summaries(analysis);
    let ranking = Ranking::of(analysis, &summaries);
    let mut rows = Vec::new();
    for summary in &summaries {
        if view.has_callback(summary.callback) {
            let mut row = of_callback(model, analysis, summary);
            row.is_folded = row.built_in && !ranking.is_notable(row.runner);
            rows.push(row);
        }
    }
    let mut answers: BTreeMap<ClientId, Runs> = BTreeMap::new();
    for answer in &model.client_callbacks {
        if let Some(client) = answer.client.filter(|_| analysis.counts(answer.start)) {
            let runs = answers.entry(client).or_default();
            runs.add(answer.start, answer.end);
        }
    }
    for index in 0..model.clients.len() {
        let id = ClientId(index as u32);
        if view.has_client(id) {
            rows.push(of_client(model, id, &analysis.names, answers.remove(&id)));
        }
    }
    rows.extend(unnamed(view));
    rows.sort_by(|a, b| {
        (a.is_folded.cmp(&b.is_folded))
            .then(ranking.order(a.runner, b.runner))
            .then(a.built_in.cmp(&b.built_in))
            .then(a.created.cmp(&b.created))
    });
    let first = rows.first().and_then(|row| {
        let caused = ranking.caused(row.runner);
        let what = match caused {
            0 => return None,
            1 => "something else was late because of it",
            _ => "others were late because of it",
        };
        Some(format!(
            "`{}` comes first: {what}; `rostrace why` with the same trace says more",
            row.name
        ))
    });
    (rows, first)
}

/// Callbacks that the trace does not name: each address is taken for one.
fn unnamed<'m>(view: &View<'m>) -> impl Iterator<Item = CallbackRow<'m>> {
    let model = view.model;
    let mut runs: BTreeMap<(ProcessId, Address), Runs> = BTreeMap::new();
    for (_, instance) in view.instances() {
        let process = model.process_of(instance.thread);
        if instance.callback.is_some() || !view.has_unnamed(process) {
            continue;
        }
        let runs = runs.entry((process, instance.address)).or_default();
        runs.add(instance.start, instance.end);
    }
    runs.into_iter().map(|((process, address), mut runs)| {
        let first = runs.starts.first().copied().unwrap_or(Nanos(0));
        let name = names::unnamed_callback(address);
        let mut row = CallbackRow::new(model, process, None, Ran::Unnamed(address), name, first);
        row.count = runs.starts.len() as u64;
        row.period_ns_observed = runs.periods(model);
        row.duration_ns = Statistics::of(&mut runs.durations);
        row
    })
}

/// What was counted at one address, or for one client.
#[derive(Debug, Default)]
struct Runs {
    starts: Vec<Nanos>,
    durations: Vec<(i64, Nanos)>,
}

impl Runs {
    fn add(&mut self, start: Nanos, end: Option<Nanos>) {
        self.starts.push(start);
        let duration = end.map(|end| (end.0 - start.0, start));
        self.durations.extend(duration);
    }

    /// Where executions may be missing between two, there is none.
    fn periods(&self, model: &Model) -> Option<Statistics> {
        let periods = self.starts.windows(2);
        let periods = periods.filter(|pair| !model.losses.between(pair[0], pair[1]));
        let mut periods: Vec<_> = periods
            .map(|pair| (pair[1].0 - pair[0].0, pair[0]))
            .collect();
        Statistics::of(&mut periods)
    }
}

impl<'m> CallbackRow<'m> {
    fn new(
        model: &'m Model,
        process: ProcessId,
        node: Option<NodeId>,
        ran: Ran,
        name: String,
        created: Nanos,
    ) -> CallbackRow<'m> {
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
            built_in: false,
            count: 0,
            answers: None,
            period_ns_observed: None,
            duration_ns: None,
            lateness_ns: None,
            jitter_ns: None,
            gap_ns: None,
            skipped: 0,
            utilisation: None,
            hurt: None,
            damaged: 0,
            created,
            runner: Runner { process, ran },
            is_folded: false,
            owner: (process, node),
        }
    }

    fn describe(&mut self, described: &Description<'m>) {
        self.kind = described.kind.name();
        self.topic = described.topic;
        self.service = described.service;
        self.period_ns = described.period.map(|period| period.0);
        self.symbol = described.symbol;
        self.built_in = described.built_in;
    }
}

fn of_callback<'m>(
    model: &'m Model,
    analysis: &Analysis<'_>,
    summary: &CallbackSummary,
) -> CallbackRow<'m> {
    let id = summary.callback;
    let callback = &model.callbacks[id.index()];
    let described = Description::of(model, id);
    let name = analysis.names.callback(id).to_owned();
    let mut row = CallbackRow::new(
        model,
        callback.process,
        described.node,
        Ran::Callback(id),
        name,
        callback.created,
    );
    row.count = summary.count;
    row.duration_ns = summary.duration;
    row.period_ns_observed = summary.period;
    row.lateness_ns = summary.lateness;
    row.jitter_ns = summary.jitter;
    row.gap_ns = summary.gap;
    row.skipped = summary.skipped;
    row.utilisation = summary.utilisation;
    row.hurt = summary.hurt(analysis);
    row.damaged = summary.damaged;
    row.describe(&described);
    row
}

/// rclcpp does not trace what runs when a response arrives; our own tracer does.
fn of_client<'m>(
    model: &'m Model,
    id: ClientId,
    names: &Names,
    answers: Option<Runs>,
) -> CallbackRow<'m> {
    let client = &model.clients[id.index()];
    let name = names.client(id).to_owned();
    let mut row = CallbackRow::new(
        model,
        client.process,
        client.node,
        Ran::Client(id),
        name,
        client.created,
    );
    row.describe(&Description::of_client(model, id));
    row.is_folded = row.built_in;
    if let Some(mut answers) = answers {
        row.answers = Some(answers.starts.len() as u64);
        row.period_ns_observed = answers.periods(model);
        row.duration_ns = Statistics::of(&mut answers.durations);
    }
    row
}

impl Row for CallbackRow<'_> {
    const LIST: &'static List = &list::CALLBACKS;

    fn cells(&self) -> Vec<Cell> {
        let mut cells = vec![
            self.name.as_str().into(),
            self.host.into(),
            self.pid.into(),
            self.process.into(),
            self.node.into(),
            self.kind.into(),
            self.topic.into(),
            self.service.into(),
            self.period_ns.into(),
            self.symbol.into(),
            self.built_in.into(),
            self.count.into(),
        ];
        for statistics in [self.duration_ns, self.period_ns_observed, self.lateness_ns] {
            cells.extend(Cell::summary(statistics.as_ref()));
        }
        cells.extend([
            self.skipped.into(),
            self.utilisation.into(),
            self.hurt.into(),
            self.damaged.into(),
        ]);
        cells
    }

    /// A client ran as often as it got answers.
    fn table_cells(&self, _all: bool) -> Vec<Cell> {
        let mut cells = self.cells();
        if let (Some(answers), Some(count)) = (self.answers, list::CALLBACKS.column("count")) {
            cells[count] = answers.into();
        }
        cells
    }

    fn shown(&self, title: &str, _all: bool) -> Option<String> {
        (title == "process").then(|| format!("{} {}", self.process, self.pid))
    }

    fn is_folded(&self) -> bool {
        self.is_folded
    }

    /// One line for each node.
    fn folded(rows: &[&Self]) -> Vec<Vec<(&'static str, String)>> {
        let mut of_owners: BTreeMap<(ProcessId, Option<NodeId>), Vec<&Self>> = BTreeMap::new();
        for row in rows {
            of_owners.entry(row.owner).or_default().push(row);
        }
        let lines = of_owners.into_values().map(|rows| {
            let number = units::counted(rows.len() as u64, "built-in callback");
            let node = rows[0].node.unwrap_or(names::UNKNOWN_NODE);
            let count = rows.iter().map(|row| row.count).sum();
            vec![
                ("callback", format!("{node} · {number}")),
                ("process", format!("{} {}", rows[0].process, rows[0].pid)),
                ("count", units::count(count)),
            ]
        });
        lines.collect()
    }

    /// It took or waited longer than its period.
    fn is_conspicuous(&self) -> bool {
        !self.built_in && self.hurt.is_some_and(|hurt| hurt >= 1.0)
    }
}
