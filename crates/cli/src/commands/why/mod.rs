//! `rostrace why`: the time of one execution, message or path, cut into waits with names.

mod arguments;
mod subject;

use std::collections::HashMap;
use std::io::{BufWriter, Write};

use rostrace_analyze::why::{Cause, Explanation, NotOnCpu, Part, Why};
use rostrace_analyze::{Analysis, names};
use rostrace_ctf::schema::Nanos;
use rostrace_trace::entity::{ClientCallbackId, InstanceId};
use serde::Serialize;

use crate::commands::latency::Ends;
use crate::outcome::Outcome;
use crate::render::palette::Palette;
use crate::render::printable::printable;
use crate::render::table::{Align, Table};
use crate::render::{damage, diagnostic, time, units};
use crate::source;
use crate::window::Limits;
use subject::Subject;

pub(crate) use arguments::{WhyArguments, WhyFormat};

pub(crate) fn why(arguments: &WhyArguments) -> anyhow::Result<Outcome> {
    let from = Ends::of("--from", &arguments.from)?;
    let to = Ends::of("--to", &arguments.to)?;
    let set = source::open(&arguments.input)?;
    let Some(model) = source::model(&set) else {
        return Ok(Outcome::Interrupted);
    };
    let limits = Limits {
        from: from.time,
        to: to.time,
        skip_start: arguments.skip_start,
        skip_end: arguments.skip_end,
    };
    let analysis = source::analysis(&set, &model, limits.window(&set, &model)?);
    let span = source::span(&set);
    let at = arguments.at.map(|at| at.resolve(span)).transpose()?;
    let outcome = Outcome::of(set.damage.iter().chain(&model.damage));
    let mut why = Why::new(&analysis);
    let subject = Subject::find(&analysis, arguments, &from, &to, at)?;
    let Some(explanation) = subject.explain(&mut why) else {
        diagnostic::note("the trace does not have the instants of this, so it cannot be explained");
        return Ok(outcome);
    };
    let begin = span.map_or(Nanos(0), |span| span.begin);
    let mut out = BufWriter::new(std::io::stdout().lock());
    match arguments.format {
        WhyFormat::Table => {
            if let Some(headline) = damage::headline(set.damage.iter().chain(&model.damage)) {
                writeln!(out, "{}", Palette::for_stdout().alarm(&headline))?;
            }
            write_table(&mut out, &analysis, &subject, &explanation, begin)?;
            if arguments.parts {
                write_parts(&mut out, &analysis, &explanation)?;
            }
        }
        WhyFormat::Json => {
            let row = json(&analysis, &subject, &explanation);
            serde_json::to_writer_pretty(&mut out, &row).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    Ok(outcome)
}

/// What a part was, for people.
fn cause(analysis: &Analysis<'_>, part: &Part) -> String {
    let name = |instance: InstanceId| match analysis.instance(instance).callback {
        Some(callback) => analysis.names.callback(callback).to_owned(),
        None => names::unnamed_callback(analysis.instance(instance).address),
    };
    match part.cause {
        Cause::Publishing => "publishing: from the call to the middleware".to_owned(),
        Cause::Middleware => "middleware: the receiver was waiting for it".to_owned(),
        Cause::MiddlewareOrExecutor => {
            "middleware or executor: nothing tells what the executor did then".to_owned()
        }
        Cause::IntraProcessBuffer => "in the intra-process buffer".to_owned(),
        Cause::OtherCallback(instance, relation) => {
            format!("waiting: {} ran ({})", name(instance), relation.name())
        }
        Cause::ClientCallback(id, relation) => {
            let name = client_name(analysis, id);
            format!("waiting: {name} ran ({})", relation.name())
        }
        Cause::Executor => "executor: looking for work, taking, dispatching".to_owned(),
        Cause::Dispatch => "dispatch: from the take to the callback".to_owned(),
        Cause::TimerLateness => "timer lateness: due, but its thread woke up late".to_owned(),
        Cause::Execution(instance) => format!("execution of {}", name(instance)),
        Cause::NotOnCpu(state, instance) => {
            let of = instance.map_or("its thread".to_owned(), name);
            match state {
                NotOnCpu::Preempted(task) => {
                    let by = analysis.scheduling.as_ref().map(|it| it.task(task));
                    let by = by.map_or(String::new(), |by| format!(" by {} {}", by.name, by.tid));
                    format!("not on a CPU: {of} was preempted{by}")
                }
                NotOnCpu::Blocked => format!("not on a CPU: {of} slept"),
                NotOnCpu::WaitingForCpu => {
                    format!("not on a CPU: {of} was woken and waited to be scheduled")
                }
            }
        }
        Cause::Unknown => "unknown: the trace does not tell".to_owned(),
    }
}

fn client_name(analysis: &Analysis<'_>, id: ClientCallbackId) -> String {
    let callback = analysis.client_callback(id);
    match callback.client {
        Some(client) => analysis.names.client(client).to_owned(),
        None => names::unnamed_callback(callback.rmw_handle),
    }
}

/// All parts of one cause in one hop.
#[derive(Debug)]
struct Wait {
    hop: usize,
    cause: String,
    duration: i64,
    times: usize,
}

/// In the order in which they first occur.
fn waits(analysis: &Analysis<'_>, explanation: &Explanation) -> Vec<Wait> {
    let mut waits: Vec<Wait> = Vec::new();
    let mut places: HashMap<(usize, String), usize> = HashMap::new();
    for part in &explanation.parts {
        let key = (part.hop, cause(analysis, part));
        let place = *places.entry(key.clone()).or_insert_with(|| {
            waits.push(Wait {
                hop: key.0,
                cause: key.1,
                duration: 0,
                times: 0,
            });
            waits.len() - 1
        });
        waits[place].duration += part.duration();
        waits[place].times += 1;
    }
    waits
}

fn write_table(
    out: &mut impl Write,
    analysis: &Analysis<'_>,
    subject: &Subject,
    explanation: &Explanation,
    begin: Nanos,
) -> anyhow::Result<()> {
    let palette = Palette::for_stdout();
    let total = explanation.end.0 - explanation.begin.0;
    writeln!(
        out,
        "{}",
        palette.heading(&printable(&subject.title(analysis)))
    )?;
    let after = units::duration(explanation.begin.0.saturating_sub(begin.0).unsigned_abs());
    writeln!(
        out,
        "{} from {} at {} (+{after}) to {}",
        units::signed_duration(total),
        subject.begin(analysis, explanation.begin),
        time::time_of_day(explanation.begin),
        subject.end()
    )?;
    if explanation.damaged {
        writeln!(
            out,
            "{}",
            palette.alarm("events were lost meanwhile: what ran then may be missing here")
        )?;
    }
    let mut table = Table::new(&[
        ("", Align::Left),
        ("time", Align::Right),
        ("share", Align::Right),
        ("times", Align::Right),
    ]);
    let share = |duration: i64| {
        let share = (total > 0).then(|| units::share(duration as f64 / total as f64));
        share.unwrap_or_default()
    };
    let mut hop = None;
    for wait in waits(analysis, explanation) {
        if subject.hops() > 1 && hop != Some(wait.hop) {
            table.row([subject.hop(analysis, wait.hop)]);
        }
        hop = Some(wait.hop);
        let times = match wait.times {
            1 => String::new(),
            times => units::count(times as u64),
        };
        table.row([
            format!("  {}", wait.cause),
            units::signed_duration(wait.duration),
            share(wait.duration),
            times,
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
            cause(analysis, part),
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
    parts: Vec<PartRow>,
}

#[derive(Debug, Serialize)]
struct PartRow {
    hop: usize,
    cause: &'static str,
    /// The callback that ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    callback: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relation: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preempted_by: Option<String>,
    begin_ns: i64,
    duration_ns: i64,
}

fn json(analysis: &Analysis<'_>, subject: &Subject, explanation: &Explanation) -> WhyRow {
    let parts = explanation.parts.iter().map(|part| {
        let (instance, relation) = match part.cause {
            Cause::OtherCallback(instance, relation) => (Some(instance), Some(relation.name())),
            Cause::Execution(instance) | Cause::NotOnCpu(_, Some(instance)) => {
                (Some(instance), None)
            }
            _ => (None, None),
        };
        let task = match part.cause {
            Cause::NotOnCpu(NotOnCpu::Preempted(task), _) => {
                let scheduling = analysis.scheduling.as_ref();
                scheduling.map(|scheduling| scheduling.task(task).name.clone())
            }
            _ => None,
        };
        let callback = instance.and_then(|instance| analysis.instance(instance).callback);
        let callback = callback.map(|id| analysis.names.callback(id).to_owned());
        let (callback, relation) = match part.cause {
            Cause::ClientCallback(id, relation) => {
                (Some(client_name(analysis, id)), Some(relation.name()))
            }
            _ => (callback, relation),
        };
        PartRow {
            hop: part.hop,
            cause: part.cause.name(),
            callback,
            relation,
            preempted_by: task,
            begin_ns: part.begin.0,
            duration_ns: part.duration(),
        }
    });
    WhyRow {
        subject: subject.title(analysis),
        kind: subject.kind(),
        begin_ns: explanation.begin.0,
        end_ns: explanation.end.0,
        total_ns: explanation.end.0 - explanation.begin.0,
        damaged: explanation.damaged,
        parts: parts.collect(),
    }
}
