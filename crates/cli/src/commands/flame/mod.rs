//! `rostrace flame`: the functions that callbacks compute in, and what slow executions do more.

mod arguments;
mod folded;
mod picture;
mod pprof;
mod speedscope;
mod text;

use std::cmp::Reverse;
use std::io::{BufWriter, Write};

use anyhow::bail;
use rostrace_analyze::Analysis;
use rostrace_analyze::profile::{CallTree, Difference, Hot, Profile, slow_and_usual};
use rostrace_base::units;
use rostrace_model::entity::{CallbackId, InstanceId};
use rostrace_model::sampling::Sample;
use serde::Serialize;

use crate::commands::why::meant_callback;
use crate::new_file::NewFile;
use crate::outcome::Outcome;
use crate::recorded::Recorded;
use crate::render::{damage, diagnostic};
use crate::source;
use crate::view::View;

pub(crate) use arguments::{FlameArguments, FlameFormat, HELP};

/// A callback and those of its executions that were asked for.
#[derive(Debug)]
struct Flame {
    callback: String,
    executions: usize,
    /// From start to end, all of them together.
    duration: i64,
    tree: CallTree,
    hot: Hot,
    difference: Option<Difference>,
}

pub(crate) fn flame(arguments: &FlameArguments) -> anyhow::Result<Outcome> {
    let recorded = match &arguments.output {
        Some(output) => Recorded::read_apart(&arguments.input.traces, output)?,
        None => Recorded::read(&arguments.input.traces)?,
    };
    let Recorded { set, model, .. } = &recorded;
    let view = View::new(set, model, &arguments.filter)?;
    diagnostic::notes(&view.notes());
    let analysis = source::analysis(set, model, view.window().clone());
    let Some(profile) = source::profile(set, &analysis, &arguments.symbols) else {
        bail!("this trace has no samples of call stacks; `rostrace record --sample` takes them");
    };
    let callbacks = callbacks(&analysis, &view, arguments)?;
    let flames = flames(&analysis, &profile, arguments, &callbacks)?;
    let without_names = profile.without_names();
    if !without_names.is_empty() {
        diagnostic::note(&format!(
            "no names of functions for {}: the files are not at hand as they were recorded, or have been stripped; --symbols names \
             a folder that has them, or what was stripped from them",
            without_names.join(", ")
        ));
    }
    let write = |out: &mut dyn Write| -> std::io::Result<()> {
        match arguments.chosen_format() {
            FlameFormat::Text => text::write(out, &flames, &profile),
            FlameFormat::Json => write_json(out, &flames, &profile),
            FlameFormat::Speedscope => speedscope::write(out, &flames, &profile),
            FlameFormat::Folded => folded::write(out, &flames),
            FlameFormat::Pprof => pprof::write(out, &flames, &profile),
            FlameFormat::Svg => picture::svg(out, &flames, &profile),
            FlameFormat::Html => picture::html(out, &flames, &profile),
        }
    };
    let outcome = Outcome::of(set.damage.iter().chain(&model.damage));
    if arguments.output.is_none()
        && let Some(headline) = damage::headline(set.damage.iter().chain(&model.damage))
    {
        diagnostic::note(&headline);
    }
    match &arguments.output {
        Some(output) => NewFile::write(output.clone(), |file| {
            let mut out = BufWriter::new(file);
            write(&mut out)?;
            out.flush()
        })?
        .publish()?,
        None => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            write(&mut out)?;
            out.flush()?;
        }
    }
    Ok(outcome)
}

fn callbacks(
    analysis: &Analysis<'_>,
    view: &View<'_>,
    arguments: &FlameArguments,
) -> anyhow::Result<Vec<CallbackId>> {
    let pattern = (arguments.callback.as_ref())
        .map(|pattern| meant_callback(analysis, pattern))
        .transpose()?;
    let all = (0..analysis.model.callbacks.len()).map(CallbackId::from_index);
    let chosen = all.filter(|id| {
        let node = analysis.model.node_of_callback(*id);
        let node = analysis.model.node_name(node).unwrap_or("");
        let is_meant = pattern.as_ref().is_none_or(|pattern| {
            pattern.matches(analysis.names.callback(*id)) || pattern.matches(node)
        });
        is_meant && view.has_callback(*id)
    });
    Ok(chosen.collect())
}

/// Of each callback, the one with most samples first.
fn flames(
    analysis: &Analysis<'_>,
    profile: &Profile,
    arguments: &FlameArguments,
    callbacks: &[CallbackId],
) -> anyhow::Result<Vec<Flame>> {
    let counted = |callback: CallbackId| -> Vec<InstanceId> {
        let all = analysis.instances_of(callback).iter().copied();
        all.filter(|id| analysis.counts(analysis.instance(*id).start))
            .collect()
    };
    let mut flames = Vec::new();
    if let Some(rank) = arguments.rank {
        let all = callbacks.iter().flat_map(|id| counted(*id));
        let mut all: Vec<InstanceId> = all
            .filter(|id| analysis.instance(*id).end.is_some())
            .collect();
        all.sort_by_key(|id| {
            (
                Reverse(duration(analysis, *id)),
                analysis.instance(*id).start,
            )
        });
        let Some(instance) = all.get(rank as usize - 1) else {
            let found = units::counted(all.len() as u64, "execution");
            bail!("--rank {rank}: there are only {found} to choose from");
        };
        let callback = analysis.instance(*instance).callback;
        let name = callback.map_or("", |id| analysis.names.callback(id));
        flames.push(flame_of(analysis, profile, name, &[*instance], None));
    } else {
        for callback in callbacks {
            let all = counted(*callback);
            let parts = slow_and_usual(analysis, &all);
            let chosen = match (&parts, arguments.slow, arguments.usual) {
                (_, false, false) => &all,
                (Some((slow, _)), true, _) => slow,
                (Some((_, usual)), _, true) => usual,
                (None, ..) => continue,
            };
            let name = analysis.names.callback(*callback);
            flames.push(flame_of(analysis, profile, name, chosen, Some(&all)));
        }
    }
    flames.retain(|flame| flame.hot.samples > 0);
    if flames.is_empty() {
        bail!(
            "no sample was taken in these executions: they may be too short or too few (--slow and --usual need ten), or not have computed"
        );
    }
    flames.sort_by_key(|flame| Reverse(flame.hot.samples));
    Ok(flames)
}

fn flame_of(
    analysis: &Analysis<'_>,
    profile: &Profile,
    name: &str,
    chosen: &[InstanceId],
    all: Option<&[InstanceId]>,
) -> Flame {
    let samples = || -> Vec<&Sample> {
        let of = |id: &InstanceId| profile.of_instance(analysis, *id);
        chosen.iter().flat_map(of).collect()
    };
    Flame {
        callback: name.to_owned(),
        executions: chosen.len(),
        duration: chosen.iter().map(|id| duration(analysis, *id)).sum(),
        tree: CallTree::of(profile, samples().into_iter()),
        hot: Hot::of(profile, samples().into_iter()),
        difference: all.and_then(|all| Difference::of(analysis, profile, all)),
    }
}

fn duration(analysis: &Analysis<'_>, instance: InstanceId) -> i64 {
    let row = analysis.instance(instance);
    row.end.map_or(0, |end| end.0 - row.start.0)
}

/// As `--format json` shows it. Its field names are a contract.
#[derive(Debug, Serialize)]
struct FlameRow<'f> {
    callback: &'f str,
    executions: usize,
    duration_ns: i64,
    samples: usize,
    /// What each sample stands for.
    period_ns: i64,
    functions: Vec<FunctionRow<'f>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<DifferenceRows<'f>>,
}

#[derive(Debug, Serialize)]
struct FunctionRow<'f> {
    name: &'f str,
    file: &'f str,
    /// In it, and in what it called of libraries.
    samples: usize,
    /// In it and everything that it called.
    samples_inside: usize,
}

#[derive(Debug, Serialize)]
struct DifferenceRows<'f> {
    slow_executions: usize,
    usual_executions: usize,
    slow_ns: f64,
    usual_ns: f64,
    slow_unsampled_ns: f64,
    usual_unsampled_ns: f64,
    functions: Vec<DifferentRow<'f>>,
}

#[derive(Debug, Serialize)]
struct DifferentRow<'f> {
    name: &'f str,
    file: &'f str,
    slow_ns: f64,
    usual_ns: f64,
}

fn write_json(out: &mut dyn Write, flames: &[Flame], profile: &Profile) -> std::io::Result<()> {
    let rows: Vec<FlameRow<'_>> = flames.iter().map(|flame| row(flame, profile)).collect();
    serde_json::to_writer_pretty(&mut *out, &rows)?;
    out.write_all(b"\n")
}

fn row<'f>(flame: &'f Flame, profile: &Profile) -> FlameRow<'f> {
    let functions = flame.hot.functions.iter().map(|it| FunctionRow {
        name: &it.function.name,
        file: &it.function.file,
        samples: it.samples,
        samples_inside: it.samples_inside,
    });
    let difference = flame.difference.as_ref().map(|it| DifferenceRows {
        slow_executions: it.slow.count,
        usual_executions: it.usual.count,
        slow_ns: it.slow.duration,
        usual_ns: it.usual.duration,
        slow_unsampled_ns: it.slow.unsampled,
        usual_unsampled_ns: it.usual.unsampled,
        functions: (it.rows.iter())
            .map(|row| DifferentRow {
                name: &row.function.name,
                file: &row.function.file,
                slow_ns: row.slow,
                usual_ns: row.usual,
            })
            .collect(),
    });
    FlameRow {
        callback: &flame.callback,
        executions: flame.executions,
        duration_ns: flame.duration,
        samples: flame.hot.samples,
        period_ns: profile.period(),
        functions: functions.collect(),
        difference,
    }
}
