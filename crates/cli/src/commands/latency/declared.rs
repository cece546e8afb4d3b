//! Paths by declaration: those that an architecture file names, and those between two ends where observation alone finds none.

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use rostrace_analyze::clocks::UnsynchronisedHosts;
use rostrace_analyze::declared::Style;
use rostrace_analyze::declared::paths::Ends as IncludedEnds;
use rostrace_analyze::declared::response_time::Case;
use rostrace_analyze::declared::summary::{
    DeclaredPath, StageKind, assume_latest_message, declared_path, title,
};
use rostrace_analyze::declared::tables::Indexed;
use rostrace_analyze::{Analysis, list};
use rostrace_architecture::search::{EdgeFilter, Search, SearchGraph, SearchOptions};
use rostrace_architecture::{Architecture, NamedPath, Node};
use rostrace_ctf::TraceSet;
use rostrace_model::describe::built_in;
use serde_json::{Value, json};

use super::stage::{self, Stage};
use super::{Ends, LatencyArguments, PathsArguments, named_path, nothing_found};
use crate::args::LookFormat;
use crate::capabilities::TAKE;
use crate::columns::Layout;
use crate::listing;
use crate::outcome::{Outcome, wrong_usage};
use crate::recorded::Recorded;
use crate::render::palette::Palette;
use crate::render::{damage, diagnostic, time};
use crate::view::View;
use rostrace_base::text::visible;
use rostrace_base::units;

/// Pairs of ends that are looked at: patterns may fit hundreds of nodes.
const MOST_PAIRS: usize = 64;

/// Paths of which the figures are computed where they are sorted by them.
const MOST_SORTED: usize = 100;

/// Paths of one pair among which those that fit are chosen.
const MOST_LOOKED_AT: usize = 1_000;

/// One path with what was found of it.
struct DeclaredAnswer {
    path: NamedPath,
    result: Result<DeclaredPath, String>,
    /// Nodes that are taken to use the newest input, since nothing says what they use.
    assumed: Vec<String>,
    /// Where it leads from one host to another whose clock is not known to agree.
    clocks: Option<String>,
}

pub(crate) fn paths(arguments: &PathsArguments) -> anyhow::Result<Outcome> {
    let layout = Layout::of(&list::PATHS, &arguments.list, arguments.format)?;
    let Some(file) = &arguments.architecture else {
        wrong_usage!(
            "paths are named in an architecture file: give it with --architecture FILE. To make one from this trace: \
             `rostrace architecture create {} -o architecture.yaml`, then name a path in it with `rostrace architecture add-path`. \
             `rostrace latency` needs no file: it finds paths by itself",
            shown(&arguments.input.traces)
        );
    };
    let architecture = named_path::open(file)?;
    let named = named_path::named(&architecture, file, &arguments.paths)?;
    let Recorded { set, model, .. } = Recorded::read(&arguments.input.traces)?;
    let view = View::new(&set, &model, &arguments.filter)?;
    diagnostic::notes(&view.notes());
    let named = named_path::in_view(&architecture, named, &view)?;
    let analysis = Analysis::new(&model, view.window().clone());
    let indexed = Indexed::new(&model, Style::Own);
    let ends = IncludedEnds {
        first_callback: arguments.include.first_callback,
        last_callback: arguments.include.last_callback,
    };
    let answers: Vec<DeclaredAnswer> = named
        .into_iter()
        .map(|path| {
            let path = path.clone();
            answer(&indexed, &analysis, &architecture, path, ends, Vec::new())
        })
        .collect();
    print(&set, &analysis, &layout, answers, arguments.format)
}

/// As they are written on a command line.
fn shown(traces: &[PathBuf]) -> String {
    let traces = traces.iter().map(|it| it.display().to_string());
    visible(&traces.collect::<Vec<String>>().join(" ")).into_owned()
}

fn answer(
    indexed: &Indexed<'_>,
    analysis: &Analysis<'_>,
    architecture: &Architecture,
    path: NamedPath,
    ends: IncludedEnds,
    assumed: Vec<String>,
) -> DeclaredAnswer {
    let counts = |time| analysis.counts(time);
    let result = declared_path(indexed, architecture, &path, ends, counts);
    let unsynchronised_hosts = UnsynchronisedHosts::on_declared_path(analysis.model, &path);
    DeclaredAnswer {
        result: result.map_err(|error| error.to_string()),
        clocks: unsynchronised_hosts.map(|it| it.sentence()),
        path,
        assumed,
    }
}

/// What was taken for granted, as a part of a sentence.
pub(crate) fn assumption(nodes: &[String]) -> String {
    format!(
        "assumed: {} published the newest message that it had received",
        nodes.join(", ")
    )
}

/// The paths between two ends, by an architecture file or by what the trace shows. Where nothing says how a node makes its
/// output, it is taken to use the newest input, and the answer says so.
pub(super) fn between(
    arguments: &LatencyArguments,
    layout: &Layout,
    architecture: &Architecture,
    set: &TraceSet,
    analysis: &Analysis<'_>,
    view: &View<'_>,
    (from, to): (&Ends, &Ends),
) -> anyhow::Result<Outcome> {
    // Sorted by figures, the shortest ones need not be the first.
    let most = match layout.is_sorted() {
        true => MOST_SORTED,
        false => layout.limit.unwrap_or(super::DEFAULT_LIMIT),
    };
    let found = search(architecture, from, to, most, view);
    let indexed = Indexed::new(analysis.model, Style::Own);
    let ends = IncludedEnds {
        first_callback: arguments.include.first_callback,
        last_callback: arguments.include.last_callback,
    };
    let mut answers = Vec::new();
    let fused = analysis.stored_inputs().node_paths(analysis);
    for path in found {
        let mut assuming = architecture.clone();
        let assumed = assume_latest_message(&mut assuming, &path, &fused);
        answers.push(answer(&indexed, analysis, &assuming, path, ends, assumed));
    }
    if answers.is_empty() {
        let by_filter = arguments
            .filter
            .entities
            .nothing_fits("path between these ends");
        let nodes = &architecture.nodes;
        let is_loop = nodes
            .iter()
            .any(|node| begins(node, from) && ends_in(node, to));
        let no_way = if is_loop { BROKEN } else { NO_WAY };
        diagnostic::note(&by_filter.unwrap_or_else(|| nothing_found(analysis, no_way)));
    }
    print(set, analysis, layout, answers, arguments.format)
}

const BROKEN: &str = "no message was seen to go this way without a break: a callback on the way, for example that of a timer, \
                      publishes what an earlier one stored, which no event tells";
const NO_WAY: &str = "no topics were found that lead from what --from names, directly or through other nodes, to what --to names; \
                      `rostrace topics` lists who sends to whom";

fn begins(node: &Node, from: &Ends) -> bool {
    from.has(&node.name) || node.publishers.iter().any(|it| from.has(&it.topic))
}

fn ends_in(node: &Node, to: &Ends) -> bool {
    to.has(&node.name) || node.subscriptions.iter().any(|it| to.has(&it.topic))
}

/// The shortest paths between any two nodes that fit, at most `most`.
pub(crate) fn search(
    architecture: &Architecture,
    from: &Ends,
    to: &Ends,
    most: usize,
    view: &View<'_>,
) -> Vec<NamedPath> {
    let filter = EdgeFilter {
        keep_topic: &|topic| !built_in::topic(topic),
        ..EdgeFilter::default()
    };
    let graph = SearchGraph::new(architecture, &filter);
    let mut starts: BTreeSet<&str> = BTreeSet::new();
    let mut goals: BTreeSet<&str> = BTreeSet::new();
    for node in &architecture.nodes {
        if begins(node, from) {
            starts.insert(&node.name);
        }
        if ends_in(node, to) {
            goals.insert(&node.name);
        }
    }
    let options = SearchOptions {
        repeat_nodes: false,
        max_steps: 200_000,
        ..SearchOptions::default()
    };
    let pairs = starts
        .iter()
        .flat_map(|start| goals.iter().map(move |goal| (*start, *goal)));
    let mut found: Vec<NamedPath> = Vec::new();
    for (start, goal) in pairs.filter(|(start, goal)| start != goal).take(MOST_PAIRS) {
        let Ok(search) = Search::new(&graph, &[start, goal], options) else {
            continue;
        };
        let fits = |path: &NamedPath| {
            let first = path.steps.first().and_then(|step| step.publisher.as_ref());
            let last = path
                .steps
                .last()
                .and_then(|step| step.subscription.as_ref());
            let is_end = |ends: &Ends, node: &str, topic: Option<&str>| {
                ends.has(node) || topic.is_some_and(|topic| ends.has(topic))
            };
            is_end(from, start, first.map(|it| it.topic.as_str()))
                && is_end(to, goal, last.map(|it| it.topic.as_str()))
                && view.has_named_path(path)
        };
        let paths = search.take(MOST_LOOKED_AT).map(|path| path.named(""));
        found.extend(paths.filter(fits).take(most));
    }
    found.sort_by_key(|path| path.steps.len());
    found.truncate(most);
    found
}

fn print(
    set: &TraceSet,
    analysis: &Analysis<'_>,
    layout: &Layout,
    mut answers: Vec<DeclaredAnswer>,
    format: LookFormat,
) -> anyhow::Result<Outcome> {
    let mut with_stages: Vec<(DeclaredAnswer, String, Vec<Stage>)> = (answers.drain(..))
        .map(|answer| {
            let (title, stages) = (title(&answer.path), stages(&answer));
            (answer, title, stages)
        })
        .collect();
    layout.sort(&mut with_stages, |(_, title, stages)| {
        stage::sort_cells(title, stages)
    });
    let found = with_stages.len();
    with_stages.truncate(layout.limit.unwrap_or(usize::MAX));
    let answers = with_stages;
    let rows = || {
        let paths = answers
            .iter()
            .map(|(_, title, stages)| (title.as_str(), &stages[..]));
        stage::rows(paths)
    };
    let all_damage = || set.damage.iter().chain(&analysis.model.damage);
    let headline = damage::headline(all_damage());
    let mut out = BufWriter::new(std::io::stdout().lock());
    match format {
        LookFormat::Table => {
            if let Some(headline) = &headline {
                writeln!(out, "{}", Palette::for_stdout().alarm(headline))?;
            }
            for (answer, title, stages) in &answers {
                write_answer(&mut out, layout, answer, (title, stages))?;
            }
        }
        LookFormat::Json => listing::write_json(&mut out, layout, rows(), || {
            answers
                .iter()
                .map(|(it, ..)| json_of(it))
                .collect::<Vec<_>>()
        })?,
        LookFormat::Csv => listing::write_csv(&mut out, layout, rows())?,
    }
    out.flush()?;
    drop(out);
    if let (Some(headline), false) = (&headline, format == LookFormat::Table) {
        diagnostic::note(headline);
    }
    let has_unknown_arrival = |answer: &DeclaredAnswer| match &answer.result {
        Ok(path) => path.unknown_arrival.is_some(),
        Err(_) => false,
    };
    for (answer, ..) in &answers {
        if let Err(error) = &answer.result {
            diagnostic::note(error);
        }
    }
    let lack = TAKE.lack(&analysis.model.kinds);
    if let Some(lack) = lack.filter(|_| answers.iter().any(|(it, ..)| has_unknown_arrival(it))) {
        diagnostic::note(lack);
    }
    super::tell_limit(found - answers.len(), found, "--path chooses");
    let is_refused =
        |answer: &DeclaredAnswer| answer.result.is_err() || has_unknown_arrival(answer);
    Ok(match answers.iter().any(|(it, ..)| is_refused(it)) {
        true => Outcome::Refused,
        false => Outcome::of(all_damage()),
    })
}

/// Nothing for a path that cannot be followed.
fn stages(answer: &DeclaredAnswer) -> Vec<Stage> {
    let Ok(path) = &answer.result else {
        return Vec::new();
    };
    // Of a sum that is wrong nothing is a share.
    let mean = path.latency.filter(|_| answer.clocks.is_none());
    let mean = mean.map_or(0.0, |latency| latency.mean);
    let mut stages = Vec::new();
    for stage in &path.stages {
        let shown = match stage.kind {
            StageKind::Communication | StageKind::Callback => stage.name.clone(),
            StageKind::VariablePassing => format!("{}, stored", stage.name),
        };
        // Whether they ended is not known where arrivals are not recorded.
        let ended = path
            .unknown_arrival
            .is_none()
            .then_some(stage.ended_here as u64);
        let stage = Stage::new(stage.kind.name(), &stage.name, stage.duration.as_ref());
        let stage = Stage {
            shown,
            ended,
            ..stage
        };
        stages.push(stage.of_whole(mean));
    }
    stages.push(Stage::whole(path.latency.as_ref()).of_whole(mean));
    for (place, (case, times)) in Case::EVERY.iter().zip(&path.response_times).enumerate() {
        stages.push(Stage {
            shown: format!("response time, {}", case.name().replace('_', " ")),
            is_shown: place > 0,
            ..Stage::new("response_time", case.name(), times.as_ref())
        });
    }
    stages
}

fn write_answer(
    out: &mut impl Write,
    layout: &Layout,
    answer: &DeclaredAnswer,
    (title, stages): (&str, &[Stage]),
) -> anyhow::Result<()> {
    let palette = Palette::for_stdout();
    writeln!(out, "{}", palette.heading(&visible(title)))?;
    let Ok(path) = &answer.result else {
        writeln!(out, "   cannot be followed\n")?;
        return Ok(());
    };
    if let Some(clocks) = &answer.clocks {
        writeln!(out, "   {}", palette.caution(clocks))?;
    }
    stage::write_table(out, layout, title, stages)?;
    let mut remark = match path.not_known() {
        Some(sentence) => format!("   {sentence}"),
        None => format!(
            "   {} of {} came through",
            units::count(path.complete as u64),
            units::counted(path.begun as u64, "message")
        ),
    };
    if let Some(latency) = &path.latency {
        remark += &format!(
            "; the slowest began at {}",
            time::time_of_day(latency.worst)
        );
    }
    if !answer.assumed.is_empty() {
        remark += &format!("; {}", assumption(&answer.assumed));
    }
    writeln!(out, "{}\n", palette.dim(&remark))?;
    Ok(())
}

fn json_of(answer: &DeclaredAnswer) -> Value {
    let nodes: Vec<&str> = answer.path.node_names().collect();
    let mut row = json!({
        "path": title(&answer.path),
        "name": answer.path.name,
        "nodes": nodes,
        "assumed_latest_message": answer.assumed,
        "one_clock": answer.clocks.is_none(),
    });
    match &answer.result {
        Err(error) => row["error"] = json!(error),
        Ok(path) => {
            row["begun"] = json!(path.begun);
            let complete = path.unknown_arrival.is_none().then_some(path.complete);
            row["complete"] = json!(complete);
            if let Some(topic) = &path.unknown_arrival {
                row["arrival_not_known"] = json!(topic);
            }
            row["latency_ns"] = json!(path.latency);
            row["stages"] = path
                .stages
                .iter()
                .map(|stage| {
                    json!({
                        "kind": stage.kind.name(),
                        "name": stage.name,
                        "duration_ns": stage.duration,
                        "ended_here": stage.ended_here,
                    })
                })
                .collect();
            for (case, times) in Case::EVERY.iter().zip(&path.response_times) {
                row["response_time_ns"][case.name()] = json!(times);
            }
        }
    }
    row
}
