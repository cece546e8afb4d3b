//! Callbacks: what each is, how long, how often and how late it ran, and its worst executions with their causes.

use std::cmp::Reverse;

use rostrace_analyze::Analysis;
use rostrace_analyze::callback::{CallbackSummary, Execution, executions};
use rostrace_analyze::finding::Runner;
use rostrace_analyze::rate::recorded_bins;
use rostrace_analyze::why::Why;
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::Description;
use rostrace_model::entity::CallbackId;
use serde::Serialize;

use super::columns::{ColumnReference, Columns};
use super::distribution::{Distribution, RANKS};
use super::numbers::Numbers;
use super::part::Part;
use super::series::{Allowance, Series};
use super::{MOST_WAITS, Subject};
use crate::explained::Explained;

/// Points of all series together.
const POINTS: usize = 240_000;
/// Executions of all strips together, and those of one.
const STRIPS: usize = 60_000;
const LONGEST_STRIP: usize = 240;
/// So many callbacks have all their worst executions explained, the others fewer.
const EXPLAINED_WELL: usize = 200;
const WORST: usize = 10;
const WORST_OF_OTHERS: usize = 2;

#[derive(Debug, Serialize)]
struct Callbacks<'a> {
    ranks: &'static [usize],
    callbacks: Vec<Callback<'a>>,
}

#[derive(Debug, Serialize)]
struct Callback<'a> {
    id: usize,
    name: &'a str,
    node: Option<usize>,
    node_name: &'a str,
    process: usize,
    pid: i64,
    /// `timer`, `subscription`, `service`, `client`; empty if the trace does not tell.
    kind: &'static str,
    /// The topic, or the name of the service.
    trigger: &'a str,
    /// What a timer is set to.
    set_period: Option<i64>,
    symbol: Option<&'a str>,
    group: Option<Group>,
    executor: Option<Executor<'a>>,
    threads: Vec<i64>,
    built_in: bool,
    count: u64,
    rate: Option<f64>,
    duration: Option<Numbers>,
    period: Option<Numbers>,
    gap: Option<Numbers>,
    jitter: Option<Numbers>,
    lateness: Option<Numbers>,
    skipped: u64,
    utilisation: Option<f64>,
    worst_over_period: Option<f64>,
    damaged: u64,
    series: OverTime,
    spread: Spread,
    strip: Option<Strip>,
    worst: Vec<Worst>,
}

#[derive(Debug, Serialize)]
struct Group {
    id: usize,
    kind: &'static str,
}

#[derive(Debug, Serialize)]
struct Executor<'a> {
    id: usize,
    kind: &'a str,
}

#[derive(Debug, Serialize)]
struct OverTime {
    duration: Option<Series>,
    period: Option<Series>,
    lateness: Option<Series>,
    frequency: Option<Series>,
}

#[derive(Debug, Serialize)]
struct Spread {
    duration: Option<Distribution>,
    period: Option<Distribution>,
    lateness: Option<Distribution>,
    frequency: Option<Distribution>,
}

/// Executions one after the other, around the worst one.
#[derive(Debug, Serialize)]
struct Strip {
    start: ColumnReference,
    /// -1 where the end is not known.
    duration: ColumnReference,
    /// When it should have begun; the start where nothing is known.
    due: ColumnReference,
    /// Whether these are all there are.
    whole: bool,
}

#[derive(Debug, Serialize)]
struct Worst {
    start: i64,
    duration: Option<i64>,
    tid: i64,
    why: Explained,
}

/// One execution, with when it should have begun: when its timer was due, or its message was published.
#[derive(Debug, Clone, Copy)]
struct Run {
    execution: Execution,
    due: Nanos,
    start: Nanos,
    end: Option<Nanos>,
}

impl Run {
    /// From when it should have begun to its end, as `rostrace why` ranks executions.
    fn total(&self) -> i64 {
        self.end.unwrap_or(self.start).0.saturating_sub(self.due.0)
    }
}

pub(crate) fn part(subject: Subject<'_>) -> Part {
    let analysis = subject.analysis;
    let model = analysis.model;
    let selection = &subject.options.selection;
    let summaries: Vec<&CallbackSummary> = subject
        .shared
        .callbacks()
        .iter()
        .filter(|summary| selection.has_callback(model, summary.callback))
        .collect();
    let seconds = (subject.end.saturating_sub(subject.begin) / 1_000_000_000) as usize;
    let lengths = summaries.iter().flat_map(|summary| {
        let of = |statistics: &Option<rostrace_analyze::Statistics>| {
            statistics.map_or(0, |it| it.count as usize)
        };
        let frequency = seconds.min(summary.count as usize * 2);
        let (duration, period) = (of(&summary.duration), of(&summary.period));
        [duration, period, of(&summary.lateness), frequency]
    });
    let ran = summaries.iter().filter(|summary| summary.count > 0).count();
    let mut writer = Writer {
        subject,
        allowance: Allowance::shared(lengths.collect(), POINTS),
        strip: (STRIPS / ran.max(1)).clamp(8, LONGEST_STRIP),
        columns: Columns::default(),
        why: Why::new(analysis),
    };
    let mut ranks: Vec<usize> = (0..summaries.len()).collect();
    let ranking = subject.shared.ranking();
    let runner = |index: usize| Runner::callback(model, summaries[index].callback);
    ranks.sort_by(|a, b| ranking.order(runner(*a), runner(*b)));
    let callbacks = ranks.iter().enumerate().map(|(rank, index)| {
        let worst = match rank < EXPLAINED_WELL {
            true => WORST,
            false => WORST_OF_OTHERS,
        };
        writer.callback(summaries[*index], worst)
    });
    let callbacks = Callbacks {
        callbacks: callbacks.collect(),
        ranks: RANKS,
    };
    Part::new("callbacks", &callbacks, writer.columns)
}

#[derive(Debug)]
struct Writer<'a> {
    subject: Subject<'a>,
    allowance: Allowance,
    /// Executions in a strip.
    strip: usize,
    columns: Columns,
    why: Why<'a>,
}

impl<'a> Writer<'a> {
    fn callback(&mut self, summary: &CallbackSummary, worst: usize) -> Callback<'a> {
        let subject = self.subject;
        let analysis = subject.analysis;
        let model = analysis.model;
        let id = summary.callback;
        let row = &model.callbacks[id.index()];
        let described = Description::of(model, id);
        let runs = runs(analysis, id);
        let numbers = |statistics: &Option<rostrace_analyze::Statistics>| {
            Numbers::of(subject, statistics.as_ref())
        };
        let tid = |run: &Run| {
            let instance = analysis.instance(run.execution.instance);
            model.threads[instance.thread.index()].tid
        };
        let mut threads: Vec<i64> = runs.iter().map(tid).collect();
        threads.sort_unstable();
        threads.dedup();
        let (series, spread) = self.over_time(&runs);
        Callback {
            id: id.index(),
            name: analysis.names.callback(id),
            node: described.node.map(|node| node.index()),
            node_name: described.node_name.unwrap_or_default(),
            process: row.process.index(),
            pid: model.processes[row.process.index()].pid,
            kind: described.kind.name(),
            trigger: described.topic_or_service().unwrap_or_default(),
            set_period: described.period.map(|period| period.0),
            symbol: described.symbol,
            group: analysis.group_of(id).map(|id| Group {
                id: id.index(),
                kind: model.callback_groups[id.index()].kind.name(),
            }),
            executor: analysis.executor_of(id).map(|id| Executor {
                id: id.index(),
                kind: model.executors[id.index()].kind.name(),
            }),
            threads,
            built_in: described.built_in,
            count: summary.count,
            rate: summary.rate,
            duration: numbers(&summary.duration),
            period: numbers(&summary.period),
            gap: numbers(&summary.gap),
            jitter: numbers(&summary.jitter),
            lateness: numbers(&summary.lateness),
            skipped: summary.skipped,
            utilisation: summary.utilisation,
            worst_over_period: summary.worst_over_period(analysis),
            damaged: summary.damaged,
            series,
            spread,
            strip: self.strip(&runs),
            worst: self.worst(&runs, worst),
        }
    }

    fn over_time(&mut self, runs: &[Run]) -> (OverTime, Spread) {
        let subject = self.subject;
        let durations = points(subject, runs, |run| Some(run.end?.0 - run.start.0));
        let periods = points(subject, runs, |run| run.execution.period);
        let latenesses = points(subject, runs, |run| lateness(subject.analysis, run));
        let starts: Vec<Nanos> = runs.iter().map(|run| run.start).collect();
        let frequencies: Vec<(i64, i64)> = recorded_bins(subject.analysis, &starts)
            .map(|bin| (subject.time(bin.begin), bin.count as i64))
            .collect();
        let (allowance, columns) = (self.allowance, &mut self.columns);
        let series = OverTime {
            duration: allowance.series(columns, &durations),
            period: allowance.series(columns, &periods),
            lateness: allowance.series(columns, &latenesses),
            frequency: allowance.series(columns, &frequencies),
        };
        let values = |points: Vec<(i64, i64)>| points.into_iter().map(|it| it.1).collect();
        let spread = Spread {
            duration: Distribution::of(columns, values(durations)),
            period: Distribution::of(columns, values(periods)),
            lateness: Distribution::of(columns, values(latenesses)),
            frequency: Distribution::of_counts(columns, values(frequencies)),
        };
        (series, spread)
    }

    fn strip(&mut self, runs: &[Run]) -> Option<Strip> {
        let worst = (0..runs.len()).max_by_key(|index| (runs[*index].total(), Reverse(*index)))?;
        let last = runs.len().saturating_sub(self.strip);
        let from = worst.saturating_sub(self.strip / 2).min(last);
        let shown = &runs[from..runs.len().min(from + self.strip)];
        let subject = self.subject;
        let duration = |run: &Run| run.end.map_or(-1, |end| end.0 - run.start.0);
        let columns = &mut self.columns;
        Some(Strip {
            start: columns.add(shown.iter().map(|run| subject.time(run.start))),
            duration: columns.add(shown.iter().map(duration)),
            due: columns.add(shown.iter().map(|run| subject.time(run.due))),
            whole: shown.len() == runs.len(),
        })
    }

    /// Those that took longest from when they should have begun to their end.
    fn worst(&mut self, runs: &[Run], number: usize) -> Vec<Worst> {
        let analysis = self.subject.analysis;
        let mut runs: Vec<&Run> = runs.iter().collect();
        runs.sort_by_key(|run| (Reverse(run.total()), run.due));
        runs.truncate(number);
        let explain = |run: &Run| {
            let execution = &run.execution;
            let instance = analysis.instance(execution.instance);
            let why = self
                .why
                .instance(execution.instance, execution.firing.as_ref());
            Worst {
                start: self.subject.time(run.start),
                duration: run.end.map(|end| end.0 - run.start.0),
                tid: analysis.model.threads[instance.thread.index()].tid,
                why: self.subject.explainer().longest(&why, MOST_WAITS),
            }
        };
        runs.into_iter().map(explain).collect()
    }
}

fn runs(analysis: &Analysis<'_>, callback: CallbackId) -> Vec<Run> {
    let run = |execution: Execution| {
        let instance = analysis.instance(execution.instance);
        let arrival = || {
            let delivery = analysis.received_by(execution.instance)?;
            let arrival = analysis.arrival(delivery)?;
            (!arrival.historical).then_some(arrival.publish)
        };
        let due = execution.firing.map(|it| it.expected).or_else(arrival);
        Run {
            execution,
            due: due.unwrap_or(instance.start),
            start: instance.start,
            end: instance.end,
        }
    };
    let executions = executions(analysis, callback).into_iter();
    executions.map(run).collect()
}

/// As the table `callbacks` has it: of a timer since it was due, of a message since it was published.
fn lateness(analysis: &Analysis<'_>, run: &Run) -> Option<i64> {
    if let Some(firing) = run.execution.firing {
        return Some(firing.lateness);
    }
    let arrival = analysis.arrival(analysis.received_by(run.execution.instance)?)?;
    (!arrival.historical).then(|| arrival.stages.latency())
}

fn points(
    subject: Subject<'_>,
    runs: &[Run],
    value: impl Fn(&Run) -> Option<i64>,
) -> Vec<(i64, i64)> {
    let point = |run: &Run| Some((subject.time(run.start), value(run)?));
    runs.iter().filter_map(point).collect()
}
