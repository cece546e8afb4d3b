//! `rostrace architecture paths`: the ways from node to node, shortest first, and how many were not listed.

use std::io::{BufWriter, Write};

use rostrace_architecture::search::{
    EdgeFilter, Ending, FoundPath, Search, SearchGraph, SearchOptions, Total,
};
use serde::Serialize;

use super::arguments::{ListFormat, PathsArguments};
use super::file;
use crate::outcome::Outcome;
use crate::render::diagnostic;
use crate::render::table::{Align, Table};

#[derive(Serialize)]
struct FoundPaths<'g> {
    paths: Vec<FoundPathRow<'g>>,
    /// Paths that exist, as far as is known.
    total: u128,
    total_is_exact: bool,
    /// Communications that `--max-construction-order` left out.
    left_out_communications: usize,
}

#[derive(Serialize)]
struct FoundPathRow<'g> {
    nodes: Vec<&'g str>,
    /// One less than nodes.
    topics: Vec<&'g str>,
}

pub(super) fn paths(arguments: &PathsArguments) -> anyhow::Result<Outcome> {
    let architecture = file::open(&arguments.file)?.architecture;
    let meant = |option: &str, node: &String| file::node(&architecture, option, node);
    let from = meant("--from", &arguments.from)?;
    let to = meant("--to", &arguments.to)?;
    let via = arguments.via.iter().map(|node| meant("--via", node));
    let via = via.collect::<anyhow::Result<Vec<&str>>>()?;
    let names = [&[from], &via[..], &[to]].concat();
    // Filters are about the nodes between: those that were named are wanted in any case.
    let keep_node = |node: &str| {
        names.contains(&node) || kept(node, &arguments.nodes, &arguments.without_nodes)
    };
    let keep_topic = |topic: &str| kept(topic, &arguments.topics, &arguments.without_topics);
    let filter = EdgeFilter {
        keep_node: &keep_node,
        keep_topic: &keep_topic,
        construction_order: arguments.max_construction_order,
    };
    let graph = SearchGraph::new(&architecture, &filter);
    let options = SearchOptions {
        max_depth: usize::from(arguments.max_depth),
        repeat_nodes: !arguments.simple,
        ..SearchOptions::default()
    };
    let mut search = Search::new(&graph, &names, options)?;
    let found: Vec<FoundPath<'_>> = search.by_ref().take(arguments.max_paths).collect();
    // One more, to know whether there is one more.
    let more = search.next().is_some();
    let known = found.len() as u128 + u128::from(more);
    let (total, total_is_exact) = match (search.ending(), search.total()) {
        (Some(Ending::Complete), _) if !more => (known, true),
        (_, Total::Exactly(count)) => (count, true),
        (_, Total::AtLeast(count)) => (count.max(known), false),
    };
    let answer = FoundPaths {
        paths: found.iter().map(row).collect(),
        total,
        total_is_exact,
        left_out_communications: graph.left_out,
    };
    tell(&answer, search.ending() == Some(Ending::GaveUp));
    print(&answer, arguments.format)?;
    Ok(Outcome::Fine)
}

fn kept(name: &str, only: &[glob::Pattern], without: &[glob::Pattern]) -> bool {
    let matches = |pattern: &glob::Pattern| pattern.matches(name);
    (only.is_empty() || only.iter().any(matches)) && !without.iter().any(matches)
}

fn row<'g>(path: &FoundPath<'g>) -> FoundPathRow<'g> {
    FoundPathRow {
        nodes: path.nodes().to_vec(),
        topics: (path.edges().iter())
            .map(|edge| edge.publisher.topic.as_str())
            .collect(),
    }
}

/// What the list does not show.
fn tell(answer: &FoundPaths<'_>, gave_up: bool) {
    let left_out = answer.total.saturating_sub(answer.paths.len() as u128);
    match (left_out, answer.total_is_exact) {
        (0, _) => {}
        (count, true) => diagnostic::note(&format!(
            "{count} more paths are not listed; --max-paths lists more"
        )),
        (count, false) => diagnostic::note(&format!(
            "at least {count} more paths are not listed; --max-paths lists more"
        )),
    }
    if gave_up {
        diagnostic::note("the search was given up; --max-depth or --simple make it shorter");
    }
    if answer.left_out_communications > 0 {
        diagnostic::note(&format!(
            "{} communications are left out because of the construction_order of their callbacks; --max-construction-order 0 includes them",
            answer.left_out_communications
        ));
    }
}

fn print(answer: &FoundPaths<'_>, format: ListFormat) -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match format {
        ListFormat::Json => {
            serde_json::to_writer_pretty(&mut out, answer).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
        ListFormat::Table if answer.paths.is_empty() => writeln!(out, "No paths.")?,
        ListFormat::Table => {
            let mut table = Table::new(&[
                ("", Align::Right),
                ("topics", Align::Right),
                ("path", Align::Left),
            ]);
            for (index, path) in answer.paths.iter().enumerate() {
                let mut text = String::new();
                for (place, node) in path.nodes.iter().enumerate() {
                    if place > 0 {
                        text += &format!(" →({})→ ", path.topics[place - 1]);
                    }
                    text += node;
                }
                table.row([(index + 1).to_string(), path.topics.len().to_string(), text]);
            }
            write!(out, "{table}")?;
        }
    }
    out.flush()?;
    Ok(())
}
