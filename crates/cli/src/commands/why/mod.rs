//! `rostrace why`: the time of one execution, message or path, cut into waits with names; or of all of them, added up (`all`).

mod all;
mod arguments;
mod named_path;
mod not_arrived;
mod sampled;
mod subject;

use std::io::{BufWriter, Write};

use rostrace_analyze::finding::Delayed;
use rostrace_analyze::why::{AtLock, Cause, Explanation, NotOnCpu, Why, client_name, name_of};
use rostrace_analyze::{Analysis, sim_time};
use rostrace_ctf::schema::Nanos;
use rostrace_model::flow::LockKind;
use rostrace_model::scheduling::{Task, TaskId};
use serde::Serialize;

use crate::commands::latency::{Ends, assumption, named_path as named_paths};
use crate::outcome::{Outcome, wrong_usage};
use crate::recorded::Recorded;
use crate::render::palette::Palette;
use crate::render::table::{Align, Table};
use crate::render::{damage, diagnostic, time};
use crate::source;
use crate::view::View;
use not_arrived::NotArrived;
use rostrace_base::text::visible;
use rostrace_base::units;
use sampled::{Computed, FunctionRow, Sampled};
use subject::Subject;

pub(crate) use arguments::{WhyArguments, WhyFormat};
pub(crate) use subject::meant_callback;

pub(crate) fn why(arguments: &WhyArguments) -> anyhow::Result<Outcome> {
    if arguments.format == WhyFormat::Csv && !arguments.all {
        wrong_usage!("--format csv lists what --all adds up; one explanation is a table or JSON");
    }
    let architecture = (arguments.architecture.as_deref())
        .map(named_paths::open)
        .transpose()?;
    let Recorded { set, model, .. } = Recorded::read(&arguments.input.traces)?;
    let view = View::new(&set, &model, &arguments.filter)?;
    let from = Ends::of("--from", &arguments.from, &model, architecture.as_ref())?;
    let to = Ends::of("--to", &arguments.to, &model, architecture.as_ref())?;
    diagnostic::notes(&view.notes());
    diagnostic::notes(&Vec::from_iter(sim_time::sentence(&model)));
    let analysis = source::analysis(&set, &model, view.window().clone());
    let span = source::span(&set);
    let at = arguments.at.map(|at| at.resolve(span)).transpose()?;
    let outcome = Outcome::of(set.damage.iter().chain(&model.damage));
    if arguments.all {
        let headline = damage::headline(set.damage.iter().chain(&model.damage));
        let begin = span.map_or(Nanos(0), |span| span.begin);
        let question = all::Question {
            analysis: &analysis,
            view: &view,
            arguments,
            architecture: architecture.as_ref(),
            ends: (&from, &to),
            begin,
        };
        question.answer(headline.as_deref())?;
        return Ok(outcome);
    }
    let mut why = Why::new(&analysis);
    let subject = Subject::find(
        &analysis,
        &view,
        arguments,
        architecture.as_ref(),
        (&from, &to),
        at,
    )?;
    let Some(explanation) = subject.explain(&mut why) else {
        diagnostic::note("the trace does not have the instants of this, so it cannot be explained");
        return Ok(outcome);
    };
    let begin = span.map_or(Nanos(0), |span| span.begin);
    let profile = source::profile(&set, &analysis, &arguments.symbols);
    let sampled = Sampled::of(&analysis, profile.as_ref());
    let mut out = BufWriter::new(std::io::stdout().lock());
    match arguments.format {
        WhyFormat::Table => {
            if let Some(headline) = damage::headline(set.damage.iter().chain(&model.damage)) {
                writeln!(out, "{}", Palette::for_stdout().alarm(&headline))?;
            }
            write_table(&mut out, &analysis, &subject, &explanation, &sampled, begin)?;
            write_delayed(&mut out, &analysis, &subject.delayed(&analysis), begin)?;
            if arguments.parts {
                write_parts(&mut out, &analysis, &explanation)?;
            }
            if let Some(not_arrived) = subject.not_arrived() {
                writeln!(out, "\n{}", not_arrived.sentence(begin))?;
            }
        }
        // Refused above.
        WhyFormat::Csv => {}
        WhyFormat::Json => {
            let row = json(&analysis, &subject, &explanation, &sampled);
            serde_json::to_writer_pretty(&mut out, &row).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    Ok(outcome)
}

fn write_table(
    out: &mut impl Write,
    analysis: &Analysis<'_>,
    subject: &Subject,
    explanation: &Explanation,
    sampled: &Sampled<'_, '_>,
    begin: Nanos,
) -> anyhow::Result<()> {
    let palette = Palette::for_stdout();
    let total = explanation.end.0 - explanation.begin.0;
    writeln!(
        out,
        "{}",
        palette.heading(&visible(&subject.title(analysis)))
    )?;
    writeln!(
        out,
        "{} from {} at {} ({}) to {}",
        units::signed_duration(total),
        subject.begin(analysis, explanation.begin),
        time::time_of_day(explanation.begin),
        time::since(begin, explanation.begin),
        subject.end(analysis)
    )?;
    if let Subject::Lost(lost, _) = subject {
        writeln!(out, "{}", palette.caution(&lost.sentence(analysis)))?;
    }
    let assumed = subject.assumed(analysis);
    if !assumed.is_empty() {
        writeln!(out, "{}", palette.dim(&assumption(&assumed)))?;
    }
    if explanation.damaged {
        writeln!(
            out,
            "{}",
            palette.alarm("events were lost meanwhile: what ran then may be missing here")
        )?;
    }
    let unsynchronised_hosts = subject.unsynchronised_hosts(analysis);
    if let Some(unsynchronised_hosts) = &unsynchronised_hosts {
        writeln!(out, "{}", palette.caution(&unsynchronised_hosts.sentence()))?;
    }
    let mut table = Table::new(&[
        ("", Align::Left),
        ("time", Align::Right),
        ("share", Align::Right),
        ("times", Align::Right),
    ]);
    let share = |duration: i64| {
        let share = (total > 0 && unsynchronised_hosts.is_none())
            .then(|| units::share(duration as f64 / total as f64));
        share.unwrap_or_default()
    };
    let mut hop = None;
    let (waits, rest) = explanation.waits(analysis).noticeable(total);
    for wait in waits {
        let computed = sampled.of_wait(explanation, &wait);
        if subject.hops() > 1 && hop != Some(wait.hop) {
            table.row([subject.hop(analysis, wait.hop)]);
        }
        hop = Some(wait.hop);
        let times = match wait.times {
            1 => String::new(),
            times => units::count(times as u64),
        };
        table.row([
            format!("  {}", wait.description),
            units::signed_duration(wait.duration),
            share(wait.duration),
            times,
        ]);
        for (sentence, duration) in computed.iter().flat_map(Computed::lines) {
            table.row([format!("    {sentence}"), duration]);
        }
    }
    if let Some(rest) = rest {
        table.row([
            format!(
                "  {} below 0.1 % each",
                units::counted(rest.waits as u64, "other cause")
            ),
            units::signed_duration(rest.duration),
            share(rest.duration),
            units::count(rest.times as u64),
        ]);
    }
    let total = [
        "  total".to_owned(),
        units::signed_duration(total),
        share(total),
    ];
    table.row(total);
    write!(out, "{table}")?;
    Ok(())
}

/// Of many that were late because of it, the latest ones.
const MOST_DELAYED: usize = 10;

fn write_delayed(
    out: &mut impl Write,
    analysis: &Analysis<'_>,
    delayed: &[Delayed],
    begin: Nanos,
) -> anyhow::Result<()> {
    if delayed.is_empty() {
        return Ok(());
    }
    let number = units::counted(delayed.len() as u64, "other execution");
    let heading = format!("It made {number} late");
    writeln!(out, "\n{}", Palette::for_stdout().heading(&heading))?;
    let mut table = Table::new(&[
        ("", Align::Left),
        ("late", Align::Right),
        ("by this", Align::Right),
        ("at", Align::Right),
    ]);
    let mut worst: Vec<&Delayed> = delayed.iter().collect();
    worst.sort_by_key(|it| std::cmp::Reverse(it.lateness));
    for it in worst.iter().take(MOST_DELAYED) {
        let start = analysis.instance(it.instance).start;
        table.row([
            format!("  {}", subject::execution_name(analysis, it.instance)),
            units::signed_duration(it.lateness),
            units::signed_duration(it.waited),
            time::since(begin, start).to_string(),
        ]);
    }
    write!(out, "{table}")?;
    if worst.len() > MOST_DELAYED {
        let more = units::count((worst.len() - MOST_DELAYED) as u64);
        writeln!(
            out,
            "  and {more} that were less late; --format json has all"
        )?;
    }
    Ok(())
}

fn write_parts(
    out: &mut impl Write,
    analysis: &Analysis<'_>,
    explanation: &Explanation,
) -> anyhow::Result<()> {
    let mut table = Table::new(&[
        ("after", Align::Right),
        ("time", Align::Right),
        ("", Align::Left),
    ]);
    for part in &explanation.parts {
        table.row([
            units::signed_duration(part.begin.0 - explanation.begin.0),
            units::signed_duration(part.duration()),
            part.describe(analysis),
        ]);
    }
    writeln!(out)?;
    write!(out, "{table}")?;
    Ok(())
}

/// As `--format json` shows it. Its field names are a contract.
#[derive(Debug, Serialize)]
struct WhyRow {
    subject: String,
    kind: &'static str,
    begin_ns: i64,
    end_ns: i64,
    total_ns: i64,
    damaged: bool,
    /// Of one message: whether it arrived, and why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    arrived: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drop_cause: Option<&'static str>,
    /// Messages that did not arrive, of those that this one was chosen from.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_arrived: Option<NotArrived>,
    /// Nodes that are taken to have used the newest input, since nothing says what they use.
    assumed_latest_message: Vec<String>,
    parts: Vec<PartRow>,
    /// Executions that began late because of this one.
    delayed: Vec<DelayedRow>,
}

#[derive(Debug, Serialize)]
struct DelayedRow {
    callback: String,
    begin_ns: i64,
    lateness_ns: i64,
    /// How much of that passed with this execution.
    waited_ns: i64,
}

#[derive(Debug, Serialize)]
struct PartRow {
    hop: usize,
    cause: &'static str,
    /// As the table says it.
    sentence: String,
    /// Name and id of the process, and id of the thread that ran, or that it is said of; absent where it passed on no thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<i64>,
    /// The callback that ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    callback: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preempted_by: Option<String>,
    /// The thread that ran instead, where it is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    preempted_by_tid: Option<i64>,
    /// `unknown` where the duration is a sum over an execution, and `begin_ns` only puts the parts one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<LockRow>,
    /// Who had the CPU that the thread waited for, or got next.
    #[serde(skip_serializing_if = "Option::is_none")]
    ran_instead: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ran_instead_tid: Option<i64>,
    /// The system call, page fault or interrupt that the thread was in.
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<String>,
    /// Who ended its sleep.
    #[serde(skip_serializing_if = "Option::is_none")]
    woken_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    woken_by_tid: Option<i64>,
    begin_ns: i64,
    duration_ns: i64,
    /// Samples of the call stack meanwhile, where some were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<usize>,
    /// The functions that they were in, those with most samples first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    functions: Vec<FunctionRow>,
}

/// What a thread waited for.
#[derive(Debug, Serialize)]
struct LockRow {
    kind: &'static str,
    address: String,
    /// The thread that held it, or notified; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_tid: Option<i64>,
    /// What that thread executed then.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_callback: Option<String>,
    timed_out: bool,
}

impl LockRow {
    fn of(analysis: &Analysis<'_>, lock: AtLock) -> LockRow {
        LockRow {
            kind: match lock.kind {
                LockKind::Mutex => "mutex",
                LockKind::Read => "read_lock",
                LockKind::Write => "write_lock",
                LockKind::Condition => "condition_variable",
            },
            address: analysis.lock_wait(lock.wait).lock.to_string(),
            by_tid: lock.by.map(|by| by.tid),
            by_callback: (lock.ran).map(|ran| subject::execution_name(analysis, ran)),
            timed_out: lock.timed_out,
        }
    }
}

fn json(
    analysis: &Analysis<'_>,
    subject: &Subject,
    explanation: &Explanation,
    sampled: &Sampled<'_, '_>,
) -> WhyRow {
    let parts = explanation.parts.iter().map(|part| {
        let relation = match part.cause {
            Cause::OtherCallback(_, relation) | Cause::ClientCallback(_, relation) => {
                Some(relation.name())
            }
            _ => None,
        };
        let state = match part.cause {
            Cause::NotOnCpu(state, _) => Some(state),
            _ => None,
        };
        let task = |task: TaskId| Some(analysis.scheduling.as_ref()?.task(task));
        let instead = state.and_then(NotOnCpu::ran_instead).and_then(task);
        let waker = state.and_then(NotOnCpu::woken_by).and_then(task);
        let name = |task: Option<&Task>| task.map(|task| task.name.clone());
        let tid = |task: Option<&Task>| task.filter(|task| task.is_recorded()).map(|task| task.tid);
        let is_preempted = matches!(state, Some(NotOnCpu::Preempted(_)));
        let preempting = instead.filter(|_| is_preempted);
        let callback = match part.cause {
            Cause::ClientCallback(id, _) => Some(client_name(analysis, id)),
            cause => {
                let callback = cause.callback(analysis);
                callback.map(|id| analysis.names.callback(id).to_owned())
            }
        };
        let thread = part.culprit_thread(analysis);
        let thread = thread.map(|id| &analysis.model.threads[id.index()]);
        let process = thread.map(|thread| &analysis.model.processes[thread.process.index()]);
        let computed = sampled.of_part(part);
        PartRow {
            samples: computed.as_ref().map(Computed::samples),
            functions: computed.iter().flat_map(Computed::rows).collect(),
            hop: part.hop,
            cause: part.cause.name(),
            sentence: part.describe(analysis),
            process: process.map(|process| process.name.clone()),
            pid: process.map(|process| process.pid),
            tid: thread.map(|thread| thread.tid),
            callback,
            relation,
            position: part.cause.is_sum(analysis).then_some("unknown"),
            lock: match part.cause {
                Cause::Lock(lock, _) => Some(LockRow::of(analysis, lock)),
                _ => None,
            },
            preempted_by: name(preempting),
            preempted_by_tid: tid(preempting),
            ran_instead: name(instead),
            ran_instead_tid: tid(instead),
            inside: part.cause.inside().map(|it| name_of(analysis, it)),
            woken_by: name(waker),
            woken_by_tid: tid(waker),
            begin_ns: part.begin.0,
            duration_ns: part.duration(),
        }
    });
    let delayed = subject.delayed(analysis).into_iter();
    let delayed = delayed.map(|it| DelayedRow {
        callback: subject::execution_name(analysis, it.instance),
        begin_ns: analysis.instance(it.instance).start.0,
        lateness_ns: it.lateness,
        waited_ns: it.waited,
    });
    WhyRow {
        subject: subject.title(analysis),
        kind: subject.kind(),
        begin_ns: explanation.begin.0,
        end_ns: explanation.end.0,
        total_ns: explanation.end.0 - explanation.begin.0,
        damaged: explanation.damaged,
        arrived: match subject {
            Subject::Message(..) => Some(true),
            Subject::Lost(..) => Some(false),
            _ => None,
        },
        drop_cause: match subject {
            Subject::Lost(lost, _) => Some(lost.cause.name()),
            _ => None,
        },
        not_arrived: subject.not_arrived().cloned(),
        assumed_latest_message: subject.assumed(analysis),
        parts: parts.collect(),
        delayed: delayed.collect(),
    }
}
