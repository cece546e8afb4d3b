//! Processes, executors and threads: how busy they were as time passed, with whose callbacks, and what the kernel and the allocator tell of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rostrace_analyze::table::{
    Cell, EXECUTOR_PAGE, ExecutorRow, PROCESS_PAGE, ProcessRow, THREAD_PAGE, process_work,
    threads_of,
};
use rostrace_analyze::thread::{self, Ran, ThreadSummary, part as share_of, process_observed};
use rostrace_analyze::utilisation::over_time;
use rostrace_analyze::{Analysis, Statistics, blind_spot, spin};
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::names;
use rostrace_model::entity::{ProcessId, ThreadId};
use serde::Serialize;

use super::Subject;
use super::columns::{ColumnReference, Columns};
use super::distribution::{Distribution, RANKS};
use super::memory::{Memory, memory};
use super::numbers::numbers;
use super::part::PagePart;
use super::series::{Allowance, Series};
use super::table::TableData;

/// Points of all series together.
const POINTS: usize = 100_000;
/// About so many stretches of time, in which shares are shown.
const STRETCHES: i64 = 150;
/// Callbacks that are told apart on one thread.
const MOST_SHARES: usize = 24;
/// Shares are whole numbers of this.
const MILLION: i64 = 1_000_000;

#[derive(Debug, Serialize)]
struct Processes<'a> {
    ranks: &'static [usize],
    /// Length of the stretches of time, and when each begins.
    width: i64,
    t: ColumnReference,
    processes: TableData<Process<'a>>,
    executors: TableData<Executor>,
    /// Why executors are missing, if they are.
    not_seen: Vec<String>,
    threads: TableData<Thread<'a>>,
    memory: Vec<Memory<'a>>,
}

/// What the page has of a process beside its row.
#[derive(Debug, Serialize)]
struct Process<'a> {
    id: usize,
    link: String,
    node_ids: Vec<usize>,
    node_names: Vec<&'a str>,
    /// Share in callbacks over time, in millionths; several threads together may have more than the whole.
    chart: ColumnReference,
}

/// What the page has of an executor beside its row.
#[derive(Debug, Serialize)]
struct Executor {
    id: String,
    links: BTreeMap<&'static str, String>,
    process_id: usize,
    chart: ColumnReference,
}

/// What the page has of a thread beside its row.
#[derive(Debug, Serialize)]
struct Thread<'a> {
    id: usize,
    link: String,
    process_id: usize,
    ran: Vec<Share<'a>>,
    chart: ColumnReference,
    over_time: OverTime,
    spin_cycles: Option<Spins>,
    delays: Option<Delays>,
}

#[derive(Debug, Serialize)]
struct Share<'a> {
    /// Nothing for one without a name, and for the rest.
    callback: Option<usize>,
    name: Cow<'a, str>,
    executions: u64,
    /// Nothing if no execution has an end.
    busy: Option<i64>,
    of_busy: Option<f64>,
    of_process: Option<f64>,
}

/// What a thread did, in millionths of each stretch.
#[derive(Debug, Serialize)]
struct OverTime {
    callbacks: ColumnReference,
    executor: ColumnReference,
    waiting: ColumnReference,
}

#[derive(Debug, Serialize)]
struct Spins {
    duration: Option<Statistics>,
    /// Executions in one cycle, at most.
    most_callbacks: u64,
    waiting: i64,
    executor: i64,
    callbacks: i64,
    unobserved: i64,
    series: Option<Series>,
    spread: Option<Distribution>,
}

/// From ready to running, as the kernel's scheduler tells it.
#[derive(Debug, Serialize)]
struct Delays {
    delay: Option<Statistics>,
    series: Option<Series>,
    spread: Option<Distribution>,
}

pub(crate) fn part(subject: Subject<'_>) -> PagePart {
    let analysis = subject.analysis;
    let model = analysis.model;
    let selection = &analysis.selection;
    let wanted = |process: ProcessId| selection.has_process_with_nodes(model, process);
    let all = subject.shared.threads();
    let summaries: Vec<ThreadSummary> = all
        .iter()
        .filter(|it| wanted(it.process))
        .cloned()
        .collect();
    let mut writer = ProcessWriter::new(subject, &summaries);
    let mut threads = TableData::new(subject, &THREAD_PAGE);
    threads.take(
        |take| threads_of(analysis, &summaries, take),
        |place| Some(writer.thread(&summaries[place])),
    );
    let mut executors = TableData::new(subject, &EXECUTOR_PAGE);
    for row in ExecutorRow::all(analysis) {
        executors.push(row.cells(), writer.executor(&summaries, &row));
    }
    let work = process_work(model, all);
    let mut processes = TableData::new(subject, &PROCESS_PAGE);
    for row in ProcessRow::all(analysis) {
        let busy = work[row.id.index()].busy;
        let observed = process_observed(analysis, row.id);
        let (begin, end) = thread::process_span(analysis, row.id);
        let joined = [
            busy.into(),
            observed.into(),
            share_of(busy, observed).into(),
            analysis.is_lossy(begin, end).into(),
        ];
        let cells = row.cells().into_iter().chain(joined);
        processes.push(cells, writer.process(&summaries, row.id));
    }
    let begins: Vec<i64> = (0..writer.stretches as i64)
        .map(|it| subject.begin - subject.origin + it * writer.width)
        .collect();
    let is_wanted = |memory: &rostrace_model::memory::ProcessMemory| {
        let limited = !selection.pids.is_empty() || !selection.nodes.is_empty();
        memory.process.map_or(!limited, wanted)
    };
    let memory = memory(subject, writer.allowance, &mut writer.columns, is_wanted);
    let processes = Processes {
        memory,
        ranks: RANKS,
        width: writer.width,
        t: writer.columns.add(begins),
        processes,
        executors,
        not_seen: blind_spot::sentences(model),
        threads,
    };
    PagePart::new("processes", &processes, writer.columns)
}

#[derive(Debug)]
struct ProcessWriter<'a> {
    subject: Subject<'a>,
    allowance: Allowance,
    width: i64,
    stretches: usize,
    /// Nanoseconds in callbacks in each stretch, by thread.
    busy: BTreeMap<ThreadId, Vec<i64>>,
    columns: Columns,
}

impl<'a> ProcessWriter<'a> {
    fn new(subject: Subject<'a>, threads: &[ThreadSummary]) -> ProcessWriter<'a> {
        let length = (subject.end - subject.begin).max(1);
        let width = round(length / STRETCHES);
        // Spins and delays are about as many as phases and switches; memory has a value once a millisecond.
        let analysis = subject.analysis;
        let lengths = threads
            .iter()
            .flat_map(|it| [analysis.phases_on(it.thread).len(), it.executions as usize]);
        let memory = analysis.memory.iter().flat_map(|memory| &memory.processes);
        let lengths = lengths.chain(memory.map(|it| it.series.len()));
        ProcessWriter {
            subject,
            allowance: Allowance::shared(lengths.collect(), POINTS),
            width,
            // What is left over belongs to the last one: a share of next to nothing would be a peak that is none.
            stretches: (length / width).max(1) as usize,
            busy: BTreeMap::new(),
            columns: Columns::default(),
        }
    }

    fn thread(&mut self, summary: &ThreadSummary) -> (Vec<Cell<'a>>, Thread<'a>) {
        let analysis = self.subject.analysis;
        let process = summary.process.index();
        let over_time = self.over_time(summary.thread);
        let (spins, delays) = (self.spins(summary.thread), self.delays(summary.thread));
        let spin = spins.as_ref().and_then(|it| it.duration);
        let delay = delays.as_ref().and_then(|it| it.delay);
        let joined = vec![
            analysis.model.processes[process].name.as_str().into(),
            spin.map(|it| it.count).into(),
            spin.map(|it| it.max).into(),
            delay.map(|it| it.p99).into(),
            delay.map(|it| it.max).into(),
        ];
        let details = Thread {
            id: summary.thread.index(),
            link: format!("processes/{process}"),
            process_id: process,
            ran: shares(analysis, summary),
            chart: over_time.callbacks,
            over_time,
            spin_cycles: spins,
            delays,
        };
        (joined, details)
    }

    fn over_time(&mut self, thread: ThreadId) -> OverTime {
        let (begin, end) = (Nanos(self.subject.begin), Nanos(self.subject.end));
        let activities = self.subject.analysis.activities();
        let mut stretches: Vec<_> = over_time(activities, thread, begin, end, self.width).collect();
        if stretches.len() > self.stretches
            && let Some(rest) = stretches.pop()
            && let Some(last) = stretches.last_mut()
        {
            last.end = rest.end;
            last.time.callbacks += rest.time.callbacks;
            last.time.executor += rest.time.executor;
            last.time.waiting += rest.time.waiting;
            last.time.unobserved += rest.time.unobserved;
        }
        let busy = stretches.iter().map(|it| it.time.callbacks).collect();
        self.busy.insert(thread, busy);
        let mut shares = |part: fn(&thread::TimeSpent) -> i64| {
            let shares = stretches.iter().map(|it| {
                let length = (it.end.0 - it.begin.0).max(1);
                millionths(part(&it.time), length)
            });
            self.columns.add(shares)
        };
        OverTime {
            callbacks: shares(|time| time.callbacks),
            executor: shares(|time| time.executor),
            waiting: shares(|time| time.waiting),
        }
    }

    fn spins(&mut self, thread: ThreadId) -> Option<Spins> {
        let subject = self.subject;
        let analysis = subject.analysis;
        let spins: Vec<_> = spin::spins(analysis, analysis.activities(), thread).collect();
        if spins.is_empty() {
            return None;
        }
        let sum = |part: fn(&spin::Spin) -> i64| spins.iter().map(part).sum();
        let values = spins.iter().map(|it| (it.end.0 - it.begin.0, it.begin));
        let (duration, series, spread) = self.described(values.collect());
        Some(Spins {
            duration,
            most_callbacks: spins.iter().map(|it| it.callbacks).max().unwrap_or(0),
            waiting: sum(|it| it.time.waiting),
            executor: sum(|it| it.time.executor),
            callbacks: sum(|it| it.time.callbacks),
            unobserved: sum(|it| it.time.unobserved),
            series,
            spread,
        })
    }

    fn delays(&mut self, thread: ThreadId) -> Option<Delays> {
        let analysis = self.subject.analysis;
        let delays = analysis.scheduling.as_ref()?.latencies(thread);
        let delays = delays
            .filter(|delay| analysis.counts(delay.ready))
            .map(|delay| (delay.running.0 - delay.ready.0, delay.ready));
        let (delay, series, spread) = self.described(delays.collect());
        delay.is_some().then_some(Delays {
            delay,
            series,
            spread,
        })
    }

    /// Values with their instants, in the order of time.
    fn described(
        &mut self,
        mut values: Vec<(i64, Nanos)>,
    ) -> (Option<Statistics>, Option<Series>, Option<Distribution>) {
        let subject = self.subject;
        let points: Vec<(i64, i64)> = values
            .iter()
            .map(|(value, at)| (subject.time(*at), *value))
            .collect();
        let statistics = Statistics::of(&mut values);
        let values = points.iter().map(|point| point.1).collect();
        (
            numbers(subject, statistics.as_ref()),
            self.allowance.series(&mut self.columns, &points),
            Distribution::of(&mut self.columns, values),
        )
    }

    /// How busy some threads were together, in millionths of each stretch.
    fn together(&mut self, threads: impl Iterator<Item = ThreadId>) -> ColumnReference {
        let mut sums = vec![0i64; self.stretches];
        for thread in threads {
            let busy = self.busy.get(&thread).into_iter().flatten();
            for (sum, busy) in sums.iter_mut().zip(busy) {
                *sum += busy;
            }
        }
        let length = self.subject.end - self.subject.begin;
        let width = self.width;
        let last = self.stretches - 1;
        let shares = sums
            .iter()
            .enumerate()
            .map(|(number, busy)| match number == last {
                true => millionths(*busy, (length - number as i64 * width).max(1)),
                false => millionths(*busy, width),
            });
        self.columns.add(shares)
    }

    fn executor(&mut self, threads: &[ThreadSummary], row: &ExecutorRow<'_>) -> Executor {
        // A thread of several executors cannot be told apart.
        let own = |it: &&ThreadSummary| match row.id {
            Some(id) => it.executor == Some(id),
            None => row.thread_ids.contains(&it.thread),
        };
        let own = threads.iter().filter(own).map(|it| it.thread);
        let process_id = row.process_id.index();
        Executor {
            id: row.executor.clone(),
            links: BTreeMap::from([("process", format!("processes/{process_id}"))]),
            process_id,
            chart: self.together(own),
        }
    }

    fn process(&mut self, threads: &[ThreadSummary], id: ProcessId) -> Process<'a> {
        let nodes = self.subject.analysis.model.nodes.iter().enumerate();
        let nodes = nodes.filter(|(_, node)| node.process == id);
        let (node_ids, node_names) = nodes.map(|(index, it)| (index, it.name.as_str())).unzip();
        let own = threads.iter().filter(|it| it.process == id);
        Process {
            id: id.index(),
            link: format!("processes/{}", id.index()),
            node_ids,
            node_names,
            chart: self.together(own.map(|it| it.thread)),
        }
    }
}

/// The longest shares of a thread, and the rest as one.
fn shares<'a>(analysis: &'a Analysis<'_>, summary: &ThreadSummary) -> Vec<Share<'a>> {
    let observed = process_observed(analysis, summary.process);
    let share = |callback, name, executions, busy: Option<i64>| Share {
        callback,
        name,
        executions,
        busy,
        of_busy: busy.and_then(|busy| share_of(busy, summary.time.callbacks)),
        of_process: busy.and_then(|busy| share_of(busy, observed)),
    };
    let shown = summary.shares.len().min(MOST_SHARES);
    let mut shares: Vec<Share<'a>> = summary.shares[..shown]
        .iter()
        .map(|it| {
            let (callback, name) = match it.ran {
                Ran::Callback(id) => (Some(id.index()), analysis.names.callback(id).into()),
                Ran::Client(id) => (None, analysis.names.client(id).into()),
                Ran::Unnamed(address) => (None, names::unnamed_callback(address).into()),
            };
            share(callback, name, it.executions, it.busy)
        })
        .collect();
    let rest = &summary.shares[shown..];
    if !rest.is_empty() {
        let name = format!("{} other callbacks", rest.len());
        let executions = rest.iter().map(|it| it.executions).sum();
        let busy = rest.iter().filter_map(|it| it.busy);
        let busy = busy.reduce(|sum, busy| sum + busy);
        shares.push(share(None, name.into(), executions, busy));
    }
    shares
}

fn millionths(part: i64, whole: i64) -> i64 {
    (i128::from(part) * i128::from(MILLION) / i128::from(whole)) as i64
}

/// The next of 1, 2, 5, 10, 20 … milliseconds.
fn round(width: i64) -> i64 {
    let mut unit = 1_000_000;
    loop {
        for steps in [1, 2, 5] {
            if unit * steps >= width || unit > i64::MAX / 100 {
                return unit * steps;
            }
        }
        unit *= 10;
    }
}
