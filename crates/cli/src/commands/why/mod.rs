//! `rostrace why`: the time of one execution, message or path, cut into waits with names.

mod arguments;
mod named_path;
mod sampled;
mod subject;

use std::io::{BufWriter, Write};

use rostrace_analyze::finding::Delayed;
use rostrace_analyze::why::{Cause, Explanation, NotOnCpu, Why, client_name};
use rostrace_analyze::{Analysis, sim_time};
use rostrace_ctf::schema::Nanos;
use serde::Serialize;

use crate::commands::latency::{Ends, assumption, named_path as named_paths};
use crate::outcome::Outcome;
use crate::recorded::Recorded;
use crate::render::palette::Palette;
use crate::render::table::{Align, Table};
use crate::render::{damage, diagnostic, time};
use crate::source;
use crate::view::View;
use rostrace_base::text::visible;
use rostrace_base::units;
use sampled::{Computed, FunctionRow, Sampled};
use subject::Subject;

pub(crate) use arguments::{WhyArguments, WhyFormat};
pub(crate) use subject::meant_callback;

pub(crate) fn why(arguments: &WhyArguments) -> anyhow::Result<Outcome> {
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
        }
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
    begin_ns: i64,
    duration_ns: i64,
    /// Samples of the call stack meanwhile, where some were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<usize>,
    /// The functions that they were in, those with most samples first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    functions: Vec<FunctionRow>,
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
        let task = match part.cause {
            Cause::NotOnCpu(NotOnCpu::Preempted(task), _) => {
                let scheduling = analysis.scheduling.as_ref();
                scheduling.map(|scheduling| scheduling.task(task))
            }
            _ => None,
        };
        let callback = match part.cause {
            Cause::ClientCallback(id, _) => Some(client_name(analysis, id)),
            cause => {
                let callback = cause.callback(analysis);
                callback.map(|id| analysis.names.callback(id).to_owned())
            }
        };
        let computed = sampled.of_part(part);
        PartRow {
            samples: computed.as_ref().map(Computed::samples),
            functions: computed.iter().flat_map(Computed::rows).collect(),
            hop: part.hop,
            cause: part.cause.name(),
            callback,
            relation,
            preempted_by: task.map(|task| task.name.clone()),
            preempted_by_tid: (task.filter(|task| task.is_recorded())).map(|task| task.tid),
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
        assumed_latest_message: subject.assumed(analysis),
        parts: parts.collect(),
        delayed: delayed.collect(),
    }
}
