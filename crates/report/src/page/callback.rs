//! Callbacks: what each is, how long, how often and how late it ran, and its worst executions with their causes.

use std::cmp::Reverse;

use rostrace_analyze::callback::{InstanceTiming, instance_timings};
use rostrace_analyze::rate::recorded_bins;
use rostrace_analyze::table::{CALLBACK_PAGE, CallbackRow};
use rostrace_analyze::thread::Ran;
use rostrace_analyze::why::Why;
use rostrace_analyze::{Analysis, Statistics};
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::CallbackId;
use serde::Serialize;

use super::columns::{ColumnReference, Columns};
use super::distribution::RANKS;
use super::metrics::{Metrics, MetricsWriter};
use super::part::PagePart;
use super::series::Allowance;
use super::table::TableData;
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
    callbacks: TableData<Callback<'a>>,
}

/// What the page has of a callback beside its row. Of clients and of what the trace does not name, only the row is known.
#[derive(Debug, Default, Serialize)]
struct Callback<'a> {
    id: String,
    link: String,
    node_id: Option<usize>,
    process_id: usize,
    group: Option<Group>,
    executor: Option<Executor<'a>>,
    threads: Vec<i64>,
    chart: Option<ColumnReference>,
    #[serde(flatten)]
    metrics: Metrics,
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
    execution: InstanceTiming,
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

pub(crate) fn part(subject: Subject<'_>) -> PagePart {
    let analysis = subject.analysis;
    let summaries = subject.shared.callbacks();
    let mut rows = CallbackRow::of(analysis, summaries);
    let ranking = subject.shared.ranking();
    rows.sort_by(|a, b| ranking.order(a.runner, b.runner));
    let seconds = (subject.end.saturating_sub(subject.begin) / 1_000_000_000) as usize;
    let lengths = summaries.iter().flat_map(|summary| {
        let of = |statistics: &Option<Statistics>| statistics.map_or(0, |it| it.count as usize);
        let frequency = seconds.min(summary.count as usize * 2);
        let (duration, period) = (of(&summary.duration), of(&summary.period));
        [duration, period, of(&summary.lateness), frequency]
    });
    let ran = rows.iter().filter(|row| row.count > 0).count();
    let mut writer = CallbackWriter {
        subject,
        allowance: Allowance::shared(lengths.collect(), POINTS),
        strip: (STRIPS / ran.max(1)).clamp(8, LONGEST_STRIP),
        columns: Columns::default(),
        why: Why::new(analysis),
    };
    let mut callbacks = TableData::new(subject, &CALLBACK_PAGE);
    for (rank, row) in rows.iter().enumerate() {
        let worst = match rank < EXPLAINED_WELL {
            true => WORST,
            false => WORST_OF_OTHERS,
        };
        callbacks.push(row.cells(), writer.callback(row, rank, worst));
    }
    let callbacks = Callbacks {
        callbacks,
        ranks: RANKS,
    };
    PagePart::new("callbacks", &callbacks, writer.columns)
}

#[derive(Debug)]
struct CallbackWriter<'a> {
    subject: Subject<'a>,
    allowance: Allowance,
    /// Executions in a strip.
    strip: usize,
    columns: Columns,
    why: Why<'a>,
}

impl<'a> CallbackWriter<'a> {
    fn callback(&mut self, row: &CallbackRow<'a>, rank: usize, worst: usize) -> Callback<'a> {
        let analysis = self.subject.analysis;
        let model = analysis.model;
        let id = match row.runner.ran {
            Ran::Callback(id) => id.index().to_string(),
            Ran::Client(id) => format!("client_{}", id.index()),
            Ran::Unnamed(_) => format!("unnamed_{rank}"),
        };
        let known = Callback {
            link: format!("callbacks/{id}"),
            id,
            node_id: row.described.node.map(|node| node.index()),
            process_id: row.runner.process.index(),
            ..Callback::default()
        };
        let Ran::Callback(id) = row.runner.ran else {
            return known;
        };
        let runs = runs(analysis, id);
        let tid = |run: &Run| {
            let instance = analysis.instance(run.execution.instance);
            model.threads[instance.thread.index()].tid
        };
        let mut threads: Vec<i64> = runs.iter().map(tid).collect();
        threads.sort_unstable();
        threads.dedup();
        let metrics = self.metrics(&runs);
        Callback {
            group: analysis.group_of(id).map(|id| Group {
                id: id.index(),
                kind: model.callback_groups[id.index()].kind.name(),
            }),
            executor: analysis.executor_of(id).map(|id| Executor {
                id: id.index(),
                kind: model.executors[id.index()].kind.name(),
            }),
            threads,
            chart: metrics.chart("duration"),
            metrics,
            strip: self.strip(&runs),
            worst: self.worst(&runs, worst),
            ..known
        }
    }

    fn metrics(&mut self, runs: &[Run]) -> Metrics {
        let subject = self.subject;
        let starts: Vec<Nanos> = runs.iter().map(|run| run.start).collect();
        let frequencies: Vec<(i64, i64)> = recorded_bins(subject.analysis, &starts)
            .map(|bin| (subject.time(bin.begin), bin.count as i64))
            .collect();
        let mut writer = MetricsWriter {
            allowance: self.allowance,
            columns: &mut self.columns,
            metrics: Metrics::default(),
        };
        let durations = points(subject, runs, |run| Some(run.end?.0 - run.start.0));
        let periods = points(subject, runs, |run| run.execution.period);
        let latenesses = points(subject, runs, |run| lateness(subject.analysis, run));
        writer.durations("duration", &durations);
        writer.durations("period", &periods);
        writer.durations("lateness", &latenesses);
        writer.counts("frequency", &frequencies);
        writer.metrics
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
    let run = |execution: InstanceTiming| {
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
    let executions = instance_timings(analysis, callback).into_iter();
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
