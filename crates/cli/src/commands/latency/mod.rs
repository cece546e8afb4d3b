//! `rostrace latency`: how long messages took along the paths that they really went, hop by hop and end to end; and
//! `rostrace paths`: the same for the paths that an architecture file names.

mod arguments;
mod declared;
mod inputs;
pub(crate) mod named_path;
mod row;
mod stage;

use std::io::{BufWriter, Write};

use rostrace_analyze::flow_latency::{Include, PathLatency, path_latency};
use rostrace_analyze::flow_path::{Ends as PathEnds, FlowPath, FlowPaths};
use rostrace_analyze::table::Cell;
use rostrace_analyze::{Analysis, list};
use rostrace_architecture::from_trace_with_flows;
use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::flow::DeliveryStatus;

use crate::args::LookFormat;
use crate::capabilities::TAKE;
use crate::columns::Layout;
use crate::entity_filter::{node_names, topic_names};
use crate::listing;
use crate::missing_callbacks;
use crate::outcome::Outcome;
use crate::recorded::Recorded;
use crate::render::palette::Palette;
use crate::render::{damage, diagnostic, time};
use crate::source;
use crate::view::View;
use rostrace_base::text::visible;
use rostrace_base::units;

pub(crate) use arguments::{Ends, LatencyArguments, PathsArguments};
pub(crate) use declared::{assumption, paths, search};
use stage::Stage;

pub(crate) fn latency(arguments: &LatencyArguments) -> anyhow::Result<Outcome> {
    let layout = Layout::of(&list::LATENCY, &arguments.list, arguments.format)?;
    // Read whether it is needed or not: a wrong name must not pass for the right one.
    let architecture = (arguments.architecture.as_deref())
        .map(named_path::open)
        .transpose()?;
    let Recorded { set, model, .. } = Recorded::read(&arguments.input.traces)?;
    let view = View::new(&set, &model, &arguments.filter)?;
    let window = view.window().clone();
    let from = Ends::of("--from", &arguments.from, &model, architecture.as_ref())?;
    let to = Ends::of("--to", &arguments.to, &model, architecture.as_ref())?;
    diagnostic::notes(&view.notes());
    let analysis = Analysis::new(&model, window);
    diagnostic::notes(&shared_names(&analysis, &from, &to));
    let paths = FlowPaths::of(&analysis);
    let is_from = |name: &str| from.has(name);
    let is_to = |name: &str| to.has(name);
    let ends = PathEnds {
        from: (!from.names.is_empty()).then_some(&is_from as &dyn Fn(&str) -> bool),
        to: (!to.names.is_empty()).then_some(&is_to as &dyn Fn(&str) -> bool),
    };
    let mut paths = paths.paths(&ends);
    if !arguments.all {
        paths.retain(|path| !path.hops.iter().any(|hop| built_in::topic(&hop.topic)));
    }
    let found = !paths.is_empty();
    paths.retain(|path| view.has_path(path));
    let has_ends = !from.names.is_empty() && !to.names.is_empty();
    if has_ends && (paths.is_empty() || architecture.is_some()) {
        let architecture = architecture.unwrap_or_else(|| from_trace_with_flows(&model));
        return declared::between(
            arguments,
            &layout,
            &architecture,
            &set,
            &analysis,
            &view,
            (&from, &to),
        );
    }
    if architecture.is_some() {
        diagnostic::note(
            "--architecture is for paths between two ends, so it was not used: name both with --from and --to, or ask `rostrace paths`",
        );
    }
    let include = Include {
        first_callback: arguments.include.first_callback,
        last_callback: arguments.include.last_callback,
    };
    let mut rows: Vec<Observed> = paths
        .into_iter()
        .map(|path| {
            let latency = path_latency(&analysis, &path, include);
            let stages = row::stages_of(&analysis, &path, &latency);
            let title = path.title();
            Observed {
                path,
                latency,
                title,
                stages,
            }
        })
        .collect();
    // The worst comes first.
    rows.sort_by_cached_key(|it| {
        let worst = it.latency.latency.map_or(i64::MIN, |latency| latency.p99);
        (std::cmp::Reverse(worst), it.title.clone())
    });
    layout.sort(&mut rows, |it| stage::sort_cells(&it.title, &it.stages));
    let found_paths = rows.len();
    rows.truncate(limit(&layout, arguments.format));
    let begin = source::span(&set).map_or(Nanos(0), |span| span.begin);
    let headline = damage::headline(set.damage.iter().chain(&model.damage));
    let mut out = BufWriter::new(std::io::stdout().lock());
    match arguments.format {
        LookFormat::Table => {
            if let Some(headline) = &headline {
                writeln!(out, "{}", Palette::for_stdout().alarm(headline))?;
            }
            for row in &rows {
                write_path(&mut out, &analysis, &layout, row, begin)?;
            }
            inputs::write(&mut out, &analysis, &rows)?;
        }
        LookFormat::Json => {
            let whole = || row::json_rows(&analysis, &rows);
            listing::write_json(&mut out, &layout, stage_rows(&rows), whole)?;
        }
        LookFormat::Csv => listing::write_csv(&mut out, &layout, stage_rows(&rows))?,
    }
    out.flush()?;
    drop(out);
    if let (Some(headline), false) = (&headline, arguments.format == LookFormat::Table) {
        diagnostic::note(headline);
    }
    if found_paths == 0 {
        let entities = &arguments.filter.entities;
        let by_filter = entities.nothing_fits("path").filter(|_| found);
        let none_arrived = if from.names.is_empty() && to.names.is_empty() {
            "no message was seen to reach a callback, so there is no path to follow; `rostrace topics` lists what was sent, `rostrace report` and the table `communications` of `rostrace export` say how long it took"
        } else {
            "no message that begins or ends there was seen to reach a callback; `rostrace topics` lists what was sent"
        };
        diagnostic::note(&by_filter.unwrap_or_else(|| nothing_found(&analysis, none_arrived)));
    }
    if let Some(sentence) = missing_callbacks::sentence(&view) {
        diagnostic::note(&sentence);
    }
    tell_limit(
        found_paths - rows.len(),
        found_paths,
        "--from and --to choose",
    );
    Ok(Outcome::of(set.damage.iter().chain(&model.damage)))
}

/// An observed path with what was found of it.
#[derive(Debug)]
pub(super) struct Observed {
    path: FlowPath,
    latency: PathLatency,
    title: String,
    stages: Vec<Stage>,
}

fn stage_rows(rows: &[Observed]) -> impl Iterator<Item = Vec<Cell<'_>>> {
    stage::rows(rows.iter().map(|it| (it.title.as_str(), &it.stages[..])))
}

/// How many paths are shown. Without a choice of their own people see the first few, programs all.
fn limit(layout: &Layout, format: LookFormat) -> usize {
    match (layout.limit, format) {
        (Some(limit), _) => limit,
        (None, LookFormat::Table) => DEFAULT_LIMIT,
        (None, _) => usize::MAX,
    }
}

const DEFAULT_LIMIT: usize = 5;

fn tell_limit(left_out: usize, all: usize, otherwise: &str) {
    if left_out > 0 {
        diagnostic::note(&format!(
            "{} not shown; --limit {all} shows all, {otherwise}",
            units::counted(left_out as u64, "more path"),
        ));
    }
}

/// Names that are those of a node and of a topic: which one was meant is not known, so both count.
pub(crate) fn shared_names(analysis: &Analysis<'_>, from: &Ends, to: &Ends) -> Vec<String> {
    let model = analysis.model;
    let (nodes, topics) = (node_names(model), topic_names(model));
    let ends = [("--from", from, "begin"), ("--to", to, "end")].into_iter();
    let ends = ends.flat_map(|(option, ends, verb)| {
        let shared = nodes.intersection(&topics).filter(|name| ends.has(name));
        shared.map(move |name| (option, *name, verb))
    });
    ends.map(|(option, name, verb)| {
        format!(
            "{option}: {name} is a node and a topic: paths that {verb} in the node and those that {verb} with the topic both count"
        )
    })
    .collect()
}

/// Why there is no path: nothing arrived, that is not known, or `otherwise`.
fn nothing_found(analysis: &Analysis<'_>, otherwise: &str) -> String {
    let nothing_arrived =
        "no message was seen to arrive in this trace, so there is no path to follow";
    let nothing = analysis.model.deliveries.is_empty();
    let lack = TAKE.lack(&analysis.model.kinds);
    let lack = lack.filter(|_| !is_shown(analysis));
    lack.unwrap_or(if nothing { nothing_arrived } else { otherwise })
        .to_owned()
}

/// Whether the trace tells of any message whether it arrived.
fn is_shown(analysis: &Analysis<'_>) -> bool {
    let mut deliveries = analysis.model.deliveries.iter();
    deliveries.any(|it| it.status != DeliveryStatus::Unknown)
}

fn write_path(
    out: &mut impl Write,
    analysis: &Analysis<'_>,
    layout: &Layout,
    row: &Observed,
    begin: Nanos,
) -> anyhow::Result<()> {
    let Observed { path, latency, .. } = row;
    let palette = Palette::for_stdout();
    writeln!(out, "{}", palette.heading(&visible(&row.title)))?;
    if let Some(unsynchronised_hosts) = path.unsynchronised_hosts(analysis) {
        writeln!(
            out,
            "   {}",
            palette.caution(&unsynchronised_hosts.sentence())
        )?;
    }
    stage::write_table(out, layout, &row.title, &row.stages)?;
    let sent = latency.hops.first().map_or(0, |hop| hop.outcome.sent);
    let ended = path.flows.len() as u64;
    let arrived = latency.hops.last().map_or(0, |hop| hop.outcome.arrived);
    let (of, messages) = (units::count(ended), units::counted(sent, "message"));
    // What a longer path tells of is not missing.
    let mut remark = match arrived.saturating_sub(ended) {
        0 => format!("   {of} of {messages} came through"),
        more => format!(
            "   {of} of {messages} ended there, {} went on from there",
            units::count(more)
        ),
    };
    if let Some(statistics) = &latency.latency {
        remark += &format!(
            "; the slowest began at {} ({})",
            time::time_of_day(statistics.worst),
            time::since(begin, statistics.worst)
        );
    }
    let lost: u64 = latency.hops.iter().map(|hop| hop.outcome.lost()).sum();
    if lost > 0 {
        remark += &format!("; {} lost on the way", units::count(lost));
    }
    if latency.damaged > 0 {
        remark += &format!(
            "; {} touched by lost events",
            units::counted(latency.damaged, "flow")
        );
    }
    writeln!(out, "{}", palette.dim(&remark))?;
    if let Some(assumption) = inputs::assumption(path, latency) {
        writeln!(out, "   {}", palette.caution(&assumption))?;
    }
    writeln!(out)?;
    Ok(())
}
