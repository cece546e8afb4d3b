//! `rostrace latency`: how long messages took along the paths that they really went, hop by hop and end to end; and
//! `rostrace paths`: the same for the paths that an architecture file names.

mod arguments;
mod declared;
mod inputs;
pub(crate) mod named_path;
mod row;

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};

use rostrace_analyze::flow_latency::{Include, PathLatency, path_latency};
use rostrace_analyze::flow_path::{Ends as PathEnds, FlowPath, FlowPaths};
use rostrace_analyze::{Analysis, Statistics, built_in};
use rostrace_architecture::from_trace_with_flows;
use rostrace_ctf::schema::Nanos;
use rostrace_trace::flow::DeliveryStatus;

use crate::args::LookFormat;
use crate::family::TAKE;
use crate::filter;
use crate::outcome::Outcome;
use crate::render::palette::Palette;
use crate::render::table::{Align, Table};
use crate::render::{damage, diagnostic, time, units};
use crate::source;
use crate::untold;
use crate::view::View;

pub(crate) use arguments::{EndArgument, Ends, LatencyArguments, PathsArguments};
pub(crate) use declared::{assumption, paths, search};

pub(crate) fn latency(arguments: &LatencyArguments) -> anyhow::Result<Outcome> {
    let from = Ends::of("--from", &arguments.from)?;
    let to = Ends::of("--to", &arguments.to)?;
    // Read whether it is needed or not: a wrong name must not pass for the right one.
    let architecture = (arguments.architecture.as_deref())
        .map(named_path::open)
        .transpose()?;
    let set = source::open(&arguments.input)?;
    let Some(model) = source::model(&set) else {
        return Ok(Outcome::Interrupted);
    };
    let window = Ends::times(&from, &to, arguments.skip).window(&set, &model)?;
    let view = View::within(&model, &arguments.entities, window.clone());
    diagnostic::notes(&view.hints());
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
        return declared::between(arguments, &architecture, &set, &analysis, &view, &from, &to);
    }
    if architecture.is_some() {
        diagnostic::note(
            "--architecture is for paths between two ends, so it was not used: name both with --from and --to, or ask `rostrace paths`",
        );
    }
    let include = Include {
        first_callback: arguments.include_first_callback,
        last_callback: arguments.include_last_callback,
    };
    let mut rows: Vec<(FlowPath, PathLatency)> = paths
        .into_iter()
        .map(|path| {
            let latency = path_latency(&analysis, &path, include);
            (path, latency)
        })
        .collect();
    // What hurts comes first.
    rows.sort_by_key(|(path, latency)| {
        let worst = latency.latency.map_or(i64::MIN, |latency| latency.p99);
        (std::cmp::Reverse(worst), path.title())
    });
    let begin = source::span(&set).map_or(Nanos(0), |span| span.begin);
    let headline = damage::headline(set.damage.iter().chain(&model.damage));
    let mut out = BufWriter::new(std::io::stdout().lock());
    match arguments.format {
        LookFormat::Table => {
            if let Some(headline) = &headline {
                writeln!(out, "{}", Palette::for_stdout().alarm(headline))?;
            }
            for (path, latency) in rows.iter().take(arguments.limit) {
                write_path(&mut out, &analysis, path, latency, begin)?;
            }
            inputs::write(&mut out, &analysis, &rows, arguments.limit)?;
        }
        LookFormat::Json => row::write_json(&mut out, &analysis, &rows)?,
        LookFormat::Csv => row::write_csv(&mut out, &rows)?,
    }
    out.flush()?;
    drop(out);
    if let (Some(headline), false) = (&headline, arguments.format == LookFormat::Table) {
        diagnostic::note(headline);
    }
    if rows.is_empty() {
        let by_filter = arguments.entities.nothing_fits("path").filter(|_| found);
        let none_arrived = if from.names.is_empty() && to.names.is_empty() {
            "no message was seen to reach a callback, so there is no path to follow; `rostrace topics` lists what was sent, `rostrace report` and the table `communications` of `rostrace export` say how long it took"
        } else {
            "no message that begins or ends there was seen to reach a callback; `rostrace topics` lists what was sent"
        };
        diagnostic::note(
            &by_filter.unwrap_or_else(|| nothing_found(&analysis, &from, &to, none_arrived)),
        );
    }
    if let Some(untold) = untold::sentence(&view) {
        diagnostic::note(&untold);
    }
    let more = rows.len().saturating_sub(arguments.limit);
    if more > 0 && arguments.format == LookFormat::Table {
        diagnostic::note(&format!(
            "{} not shown; --limit {} shows all, --from and --to choose",
            units::counted(more as u64, "more path"),
            rows.len()
        ));
    }
    Ok(Outcome::of(set.damage.iter().chain(&model.damage)))
}

/// Names that are those of a node and of a topic: which one was meant is not known, so both count.
pub(crate) fn shared_names(analysis: &Analysis<'_>, from: &Ends<'_>, to: &Ends<'_>) -> Vec<String> {
    let model = analysis.model;
    let nodes: BTreeSet<&str> = model.nodes.iter().map(|it| it.name.as_str()).collect();
    let publishers = model.publishers.iter().map(|it| it.topic.as_str());
    let subscriptions = model.subscriptions.iter().map(|it| it.topic.as_str());
    let topics: BTreeSet<&str> = publishers.chain(subscriptions).collect();
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

/// Why there is no path: an end that the trace does not have, or `otherwise`.
fn nothing_found(
    analysis: &Analysis<'_>,
    from: &Ends<'_>,
    to: &Ends<'_>,
    otherwise: &str,
) -> String {
    let nothing_arrived =
        "no message was seen to arrive in this trace, so there is no path to follow";
    unknown_end(analysis, from, to).unwrap_or_else(|| {
        let nothing = analysis.model.deliveries.is_empty();
        let lack = TAKE.lack(&analysis.model.kinds);
        let lack = lack.filter(|_| !is_told(analysis));
        lack.unwrap_or(if nothing { nothing_arrived } else { otherwise })
            .to_owned()
    })
}

/// Whether the trace tells of any message whether it arrived.
fn is_told(analysis: &Analysis<'_>) -> bool {
    let mut deliveries = analysis.model.deliveries.iter();
    deliveries.any(|it| it.status != DeliveryStatus::Unknown)
}

/// A sentence for an end that the trace does not have.
pub(crate) fn unknown_end(
    analysis: &Analysis<'_>,
    from: &Ends<'_>,
    to: &Ends<'_>,
) -> Option<String> {
    let model = analysis.model;
    let nodes = model.nodes.iter().map(|node| node.name.as_str());
    let publishers = model.publishers.iter().map(|it| it.topic.as_str());
    let subscriptions = model.subscriptions.iter().map(|it| it.topic.as_str());
    let names = nodes.chain(publishers).chain(subscriptions);
    let names: BTreeSet<&str> = names.collect();
    let mut ends = [("--from", from), ("--to", to)]
        .into_iter()
        .flat_map(|(option, ends)| ends.names.iter().map(move |pattern| (option, pattern)));
    let (option, pattern) =
        ends.find(|(_, pattern)| !names.iter().any(|name| pattern.matches(name)))?;
    let mut sentence = format!("{option}: no node and no topic of this trace is named `{pattern}`");
    let similar = filter::similar(pattern.as_str(), &names);
    if !similar.is_empty() {
        sentence += &format!("; similar: {}", similar.join(", "));
    }
    Some(sentence)
}

/// What a narrow terminal does without.
const DISPENSABLE: &[&str] = &["min", "p90", "mean", "share"];

/// What stands above the durations of stages, and the number of messages that came no further.
fn columns() -> [(&'static str, Align); 9] {
    [
        ("", Align::Left),
        ("min", Align::Right),
        ("mean", Align::Right),
        ("p50", Align::Right),
        ("p90", Align::Right),
        ("p99", Align::Right),
        ("max", Align::Right),
        ("share", Align::Right),
        ("ended here", Align::Right),
    ]
}

fn write_path(
    out: &mut impl Write,
    analysis: &Analysis<'_>,
    path: &FlowPath,
    latency: &PathLatency,
    begin: Nanos,
) -> anyhow::Result<()> {
    let palette = Palette::for_stdout();
    let title = crate::render::printable::printable(&path.title()).into_owned();
    writeln!(out, "{}", palette.heading(&title))?;
    let mut table = Table::new(&columns()).dispensable(DISPENSABLE);
    let strangers = path.strangers(analysis);
    if let Some(strangers) = &strangers {
        writeln!(out, "   {}", palette.caution(&strangers.sentence()))?;
    }
    // Of a sum that is wrong nothing is a share.
    let mean = latency.latency.filter(|_| strangers.is_none());
    let mean = mean.map_or(0.0, |latency| latency.mean);
    if let Some(first) = &latency.first_callback {
        let name = match &path.origin {
            rostrace_analyze::flow_path::Origin::Callback { name, .. } => name.as_str(),
            rostrace_analyze::flow_path::Origin::Outside => "outside of callbacks",
        };
        table.row(line(&format!("  {name}"), Some(first), mean, ""));
    }
    for (hop, of_hop) in path.hops.iter().zip(&latency.hops) {
        let outcome = &of_hop.outcome;
        let count = |number| match number {
            0 => String::new(),
            number => units::count(number),
        };
        let missing = count(outcome.sent - outcome.arrived);
        table.row(line(
            &format!("  {}", hop.topic),
            of_hop.communication.as_ref(),
            mean,
            &missing,
        ));
        if of_hop.node.is_some() {
            table.row(line(
                &format!("  {}", hop.node),
                of_hop.node.as_ref(),
                mean,
                &count(outcome.not_passed_on),
            ));
        }
    }
    if let (Some(last), Some(hop)) = (&latency.last_callback, path.hops.last()) {
        table.row(line(&format!("  {}", hop.callback), Some(last), mean, ""));
    }
    table.row(line("  end to end", latency.latency.as_ref(), mean, ""));
    write!(out, "{table}")?;
    let sent = latency.hops.first().map_or(0, |hop| hop.outcome.sent);
    let mut remark = format!(
        "   {} of {} came through",
        units::count(path.flows.len() as u64),
        units::counted(sent, "message")
    );
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

fn line(name: &str, statistics: Option<&Statistics>, whole: f64, ended: &str) -> Vec<String> {
    let Some(it) = statistics else {
        return vec![name.to_owned()];
    };
    let share = (whole > 0.0).then(|| units::share(it.mean / whole));
    let mut cells = vec![name.to_owned()];
    let values = [
        it.min,
        it.mean.round() as i64,
        it.p50,
        it.p90,
        it.p99,
        it.max,
    ];
    cells.extend(values.map(units::signed_duration));
    cells.push(share.unwrap_or_default());
    cells.push(ended.to_owned());
    cells
}
