//! Callbacks, summarised: those of the model, those of clients, and those that the trace does not name.

use std::collections::BTreeMap;

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::describe::{CallbackKind, Description, names};
use rostrace_model::entity::{Address, CallbackId, ClientId, ProcessId};

use super::describe::{kind, pid};
use super::page::{CALLBACK, LOSSES, PageColumn, PageTable, Room};
use super::recurring::{BUILT_IN, HOST, PID, PROCESS};
use super::statistics_columns::{frequency_cells, statistics_cells};
use super::{Cell, Column, Role, Table, cells, columns};
use crate::analysis::Analysis;
use crate::callback::{self, CallbackSummary};
use crate::finding::Runner;
use crate::list::{List, titles};
use crate::rate::Frequency;
use crate::statistics::Statistics;
use crate::thread::Ran;

pub(super) const KIND: Column = Column::text(
    "kind",
    "`timer`, `subscription`, `service` or `client`; empty if unknown.",
)
.role(Role::Kind);

pub(super) const SET_PERIOD: Column =
    Column::duration("period_ns", "What a timer is set to.").optional();

pub(super) const CALLBACKS: Table = Table {
    name: "callbacks",
    about: "One callback of one process, summarised. What the trace does not name has a row for each address.",
    columns: columns! {
        integer? "callback" "Number of the callback, for `callback_instances`; nothing for clients and for what the trace does not name.",
        text "name" "As people say it: `/fusion ← /points`, `/planner · timer 100 ms`.",
        HOST,
        PID,
        PROCESS,
        node? "node" "Node that it belongs to; nothing if the trace does not name it.",
        KIND,
        topic? "topic" "Of a subscription: what it receives.",
        text? "service" "Of a service or client: its name.",
        SET_PERIOD,
        text? "symbol" "Function that is called, as far as the trace tells.",
        count "count" "Executions.",
        count? "answers" "Of a client: responses that its callback got, where the recorder tells. They have no `callback_start`, which `count` counts.",
        hertz? "rate_hz" "Executions per second between the first and the last; the exported table `rates` has them second by second.",
        frequency "frequency" "number of starts in a second",
        statistics "duration" "duration: start to end",
        statistics "period_observed" "time from one start to the next" "period_ns_observed",
        statistics "gap" "time from an end to the next start; negative where executions overlap",
        statistics "jitter" "observed period less the one that the timer is set to",
        statistics "lateness" "time from when it should have begun (a timer was due, a message was published, a request was sent) to its start",
        count "skipped" "Firings of a timer that were due and never happened.",
        share? "utilisation" "Time in the callback, divided by the time in which its process was observed.",
        share? "worst_over_period" "Longest duration or largest lateness, whichever is larger, divided by the period.",
        count "damaged" "Executions that touch a time in which events were lost.",
        BUILT_IN,
    },
    rows: |analysis, take| {
        CallbackRow::all(analysis)
            .iter()
            .try_for_each(|row| take(&row.cells()))
    },
};

pub const CALLBACK_LIST: List = List {
    verb: "callbacks",
    noun: "callback",
    columns: CALLBACKS.columns,
    table: titles! {
        "callback": "name", "process": "process", "count": "count",
        "period": "period_observed_p50_ns", "mean": "duration_mean_ns", "p99": "duration_p99_ns",
        "max": "duration_max_ns", "late p99": "lateness_p99_ns", "late max": "lateness_max_ns",
        "worst / period": "worst_over_period",
    },
    dispensable: &["process", "mean", "late p99", "period"],
};

pub const CALLBACK_PAGE: PageTable = PageTable {
    table: &CALLBACKS,
    joined: &[],
    shown: &[
        PageColumn::new("name", "callback"),
        PageColumn::alarm("worst_over_period", "worst / period", 0.5, 1.0).defined(CALLBACK),
        PageColumn::new("count", "count"),
        PageColumn::new("rate_hz", "frequency")
            .defined(CALLBACK)
            .room(Room::Normal),
        PageColumn::new("duration_p50_ns", "duration p50").defined(CALLBACK),
        PageColumn::new("duration_p99_ns", "duration p99").room(Room::Medium),
        PageColumn::new("duration_max_ns", "duration max"),
        PageColumn::chart("duration", "duration over time").room(Room::Medium),
        PageColumn::new("period_observed_p50_ns", "period p50")
            .defined(CALLBACK)
            .room(Room::Wide),
        PageColumn::new("period_observed_max_ns", "period max").room(Room::Wide),
        PageColumn::new("lateness_p99_ns", "lateness p99")
            .defined("timer")
            .room(Room::Wide),
        PageColumn::new("lateness_max_ns", "lateness max"),
        PageColumn::new("utilisation", "utilisation")
            .defined(CALLBACK)
            .room(Room::Normal),
        PageColumn::none_wanted("damaged", "damaged")
            .defined(LOSSES)
            .room(Room::Wide),
    ],
    filter: "Filter by callback, node or topic",
    sort: "worst_over_period",
};

/// One callback.
#[derive(Debug)]
pub struct CallbackRow<'a> {
    pub name: String,
    pub host: &'a str,
    pub pid: i64,
    pub process: &'a str,
    pub described: Description<'a>,
    pub created: Nanos,
    /// What the order of what is worst knows it by.
    pub runner: Runner,
    pub answers: Option<u64>,
    pub count: u64,
    pub worst_over_period: Option<f64>,
    rate: Option<f64>,
    frequency: Option<Frequency>,
    duration: Option<Statistics>,
    period: Option<Statistics>,
    gap: Option<Statistics>,
    jitter: Option<Statistics>,
    lateness: Option<Statistics>,
    skipped: u64,
    utilisation: Option<f64>,
    damaged: u64,
}

impl<'a> CallbackRow<'a> {
    /// Those that are selected, in the order of the model; those of clients and those without a name behind them.
    pub fn all(analysis: &Analysis<'a>) -> Vec<CallbackRow<'a>> {
        CallbackRow::of(analysis, &callback::summaries(analysis))
    }

    /// The same, where the callbacks have been summarised.
    pub fn of(analysis: &Analysis<'a>, summaries: &[CallbackSummary]) -> Vec<CallbackRow<'a>> {
        let model = analysis.model;
        let selection = &analysis.selection;
        let selected = summaries.iter();
        let selected = selected.filter(|it| selection.has_callback(model, it.callback));
        let mut rows: Vec<CallbackRow<'a>> = selected
            .map(|summary| CallbackRow::of_callback(analysis, summary))
            .collect();
        rows.extend(CallbackRow::of_clients(analysis));
        rows.extend(CallbackRow::unnamed(analysis));
        rows
    }

    fn new(
        model: &'a Model,
        process: ProcessId,
        ran: Ran,
        name: String,
        created: Nanos,
    ) -> CallbackRow<'a> {
        CallbackRow {
            name,
            host: model.host_name(process),
            pid: pid(model, process),
            process: &model.processes[process.index()].name,
            described: Description::default(),
            created,
            runner: Runner { process, ran },
            answers: None,
            count: 0,
            worst_over_period: None,
            rate: None,
            frequency: None,
            duration: None,
            period: None,
            gap: None,
            jitter: None,
            lateness: None,
            skipped: 0,
            utilisation: None,
            damaged: 0,
        }
    }

    fn of_callback(analysis: &Analysis<'a>, summary: &CallbackSummary) -> CallbackRow<'a> {
        let model = analysis.model;
        let id = summary.callback;
        let callback = &model.callbacks[id.index()];
        let name = analysis.names.callback(id).to_owned();
        let ran = Ran::Callback(id);
        CallbackRow {
            described: Description::of(model, id),
            count: summary.count,
            worst_over_period: summary.worst_over_period(analysis),
            rate: summary.rate,
            frequency: summary.frequency,
            duration: summary.duration,
            period: summary.period,
            gap: summary.gap,
            jitter: summary.jitter,
            lateness: summary.lateness,
            skipped: summary.skipped,
            utilisation: summary.utilisation,
            damaged: summary.damaged,
            ..CallbackRow::new(model, callback.process, ran, name, callback.created)
        }
    }

    /// rclcpp does not trace what runs when a response arrives; our own tracer does.
    fn of_clients(analysis: &Analysis<'a>) -> Vec<CallbackRow<'a>> {
        let model = analysis.model;
        let mut answers: BTreeMap<ClientId, Runs> = BTreeMap::new();
        for answer in &model.client_callbacks {
            if let Some(client) = answer.client.filter(|_| analysis.counts(answer.start)) {
                let runs = answers.entry(client).or_default();
                runs.add(answer.start, answer.end);
            }
        }
        let clients = (0..model.clients.len()).map(ClientId::from_index);
        let clients = clients.filter(|id| analysis.selection.has_client(model, *id));
        let rows = clients.map(|id| {
            let client = &model.clients[id.index()];
            let name = analysis.names.client(id).to_owned();
            let ran = Ran::Client(id);
            let mut row = CallbackRow {
                described: Description::of_client(model, id),
                ..CallbackRow::new(model, client.process, ran, name, client.created)
            };
            if let Some(answers) = answers.remove(&id) {
                row.answers = Some(answers.starts.len() as u64);
                row.ran(model, answers);
            }
            row
        });
        rows.collect()
    }

    /// Callbacks that the trace does not name: each address is taken for one.
    fn unnamed(analysis: &Analysis<'a>) -> Vec<CallbackRow<'a>> {
        let model = analysis.model;
        let mut runs: BTreeMap<(ProcessId, Address), Runs> = BTreeMap::new();
        for instance in &model.instances {
            let process = model.process_of(instance.thread);
            if instance.callback.is_none()
                && analysis.counts(instance.start)
                && analysis.selection.has_unnamed(model, process)
            {
                let runs = runs.entry((process, instance.address)).or_default();
                runs.add(instance.start, instance.end);
            }
        }
        let rows = runs.into_iter().map(|((process, address), runs)| {
            let first = runs.starts.first().copied().unwrap_or(Nanos(0));
            let name = names::unnamed_callback(address);
            let mut row = CallbackRow::new(model, process, Ran::Unnamed(address), name, first);
            row.count = runs.starts.len() as u64;
            row.ran(model, runs);
            row
        });
        rows.collect()
    }

    fn ran(&mut self, model: &Model, mut runs: Runs) {
        self.period = runs.periods(model);
        self.duration = Statistics::of(&mut runs.durations);
    }

    /// Whether it has an address for a name, or no node.
    pub fn is_unnamed(&self) -> bool {
        self.described.kind == CallbackKind::Unknown || self.described.node.is_none()
    }

    /// In the order of the columns.
    pub fn cells(&self) -> Vec<Cell<'_>> {
        let described = &self.described;
        let callback = match self.runner.ran {
            Ran::Callback(CallbackId(number)) => Some(i64::from(number)),
            Ran::Client(_) | Ran::Unnamed(_) => None,
        };
        let mut cells: Vec<Cell<'_>> = Vec::from(cells! {
            callback, &self.name, self.host, self.pid, self.process, described.node_name,
            kind(described), described.topic, described.service, described.period, described.symbol,
            self.count, self.answers, self.rate,
        });
        cells.extend(frequency_cells(self.frequency.as_ref()));
        let all = [
            &self.duration,
            &self.period,
            &self.gap,
            &self.jitter,
            &self.lateness,
        ];
        for statistics in all {
            cells.extend(statistics_cells(statistics.as_ref()));
        }
        cells.extend(cells! {
            self.skipped, self.utilisation, self.worst_over_period, self.damaged,
            described.built_in,
        });
        cells
    }
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
