//! `rostrace architecture graph`: a picture of nodes and topics, of a file or of a trace.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use glob::Pattern;
use rostrace_analyze::hub_topic;
use rostrace_architecture::draw::{Folding, LeftOut, Picture, dot, mermaid, svg};
use rostrace_architecture::{Architecture, from_trace};

use super::arguments::{GraphArguments, GraphFormat};
use super::file;
use crate::foreign;
use crate::name;
use crate::outcome::{Outcome, wrong_usage};
use crate::recorded::Recorded;
use crate::render::diagnostic;
use rostrace_base::units;

/// So many nodes can be drawn with their topics as figures: the report's graph does the same.
const NODES_WITH_TOPICS: usize = 14;
/// Topics that are named where they are left out.
const MOST_NAMED: usize = 4;

pub(super) fn graph(arguments: &GraphArguments) -> anyhow::Result<Outcome> {
    let format = match (arguments.format, &arguments.output) {
        (Some(format), _) => format,
        (None, Some(output)) => format_of(output)?,
        (None, None) => GraphFormat::Dot,
    };
    if let Some(output) = &arguments.output {
        file::expect_free(output, arguments.force)?;
    }
    let (mut architecture, outcome) = read(&arguments.inputs)?;
    choose(&mut architecture, arguments)?;
    let with_topics = arguments.draw_topics
        || arguments.clusters
        || architecture.nodes.len() <= NODES_WITH_TOPICS;
    let picture = if with_topics {
        Picture::new(&architecture, arguments.clusters)
    } else {
        // Who asks for topics by name gets them.
        let is_chosen = |topic: &str| arguments.topics.iter().any(|it| it.matches(topic));
        let is_hidden = |topic: &str, publishing: usize, subscribing: usize| {
            hub_topic::reason(topic, publishing, subscribing).is_some() && !is_chosen(topic)
        };
        let folding = Folding {
            all_open: arguments.unfold,
            is_hidden: &is_hidden,
        };
        let (picture, left_out) = Picture::folded(&architecture, &folding);
        tell(&left_out);
        picture
    };
    let text = match format {
        GraphFormat::Svg => svg(&picture),
        GraphFormat::Dot => dot(&picture),
        GraphFormat::Mermaid => mermaid(&picture),
    };
    match &arguments.output {
        Some(output) => {
            file::save(text.as_bytes(), output)?;
            diagnostic::note(&format!(
                "{}: {} and {}",
                output.display(),
                units::counted(architecture.nodes.len() as u64, "node"),
                units::counted(architecture.topics().len() as u64, "topic"),
            ));
        }
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(outcome)
}

fn read(inputs: &[PathBuf]) -> anyhow::Result<(Architecture, Outcome)> {
    if let [input] = inputs
        && !input.is_dir()
        && !foreign::is_recognised(input)
    {
        let architecture = file::open(input)?.architecture;
        return Ok((architecture, Outcome::Fine));
    }
    let recorded = Recorded::read(inputs)?;
    Ok((from_trace(&recorded.model), recorded.outcome()))
}

/// Drops what was not asked for.
fn choose(architecture: &mut Architecture, arguments: &GraphArguments) -> anyhow::Result<()> {
    let meant = |option: &str, noun: &str, patterns: &[Pattern], names: &BTreeSet<&str>| {
        let meant = (patterns.iter()).map(|pattern| name::meant(option, noun, pattern, names));
        meant.collect::<anyhow::Result<Vec<Pattern>>>()
    };
    let nodes: BTreeSet<&str> = architecture.node_names().collect();
    let topics: BTreeSet<&str> = architecture.topics().into_iter().collect();
    let only = meant("--node", "node", &arguments.nodes, &nodes)?;
    let topics = meant("--topic", "topic", &arguments.topics, &topics)?;
    let around = meant("--around", "node", &arguments.around, &nodes)?;
    let fits = |patterns: &[Pattern], name: &str| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
    };
    for node in &mut architecture.nodes {
        node.publishers.retain(|it| fits(&topics, &it.topic));
        node.subscriptions.retain(|it| fits(&topics, &it.topic));
    }
    if !around.is_empty() {
        let near = near(architecture, &around, arguments.depth);
        architecture.nodes.retain(|node| near.contains(&node.name));
        drop_loose_topics(architecture, &around);
    }
    let has_topics = !topics.is_empty();
    architecture.nodes.retain(|node| {
        let is_used = !node.publishers.is_empty() || !node.subscriptions.is_empty();
        fits(&only, &node.name) && (is_used || !has_topics)
    });
    Ok(())
}

/// Of a node's neighbours, only what ties them to it or to each other is of interest.
fn drop_loose_topics(architecture: &mut Architecture, around: &[Pattern]) {
    let ends = architecture.nodes_by_topic();
    let is_centre = |node: &&str| around.iter().any(|pattern| pattern.matches(node));
    let kept: BTreeSet<String> = (ends.iter())
        .filter(|(topic, (from, to))| {
            let has_both = !from.is_empty() && !to.is_empty();
            let is_hub = hub_topic::reason(topic, from.len(), to.len()).is_some();
            (has_both && !is_hub) || from.iter().chain(to).any(is_centre)
        })
        .map(|(topic, _)| (*topic).to_owned())
        .collect();
    for node in &mut architecture.nodes {
        node.publishers.retain(|it| kept.contains(&it.topic));
        node.subscriptions.retain(|it| kept.contains(&it.topic));
    }
}

/// The nodes that are at most so many topics away, in either direction. What everybody has leads nowhere.
fn near(architecture: &Architecture, around: &[Pattern], depth: usize) -> BTreeSet<String> {
    let mut of_topic = architecture.nodes_by_topic();
    of_topic.retain(|topic, (from, to)| hub_topic::reason(topic, from.len(), to.len()).is_none());
    let mut near: BTreeSet<&str> = (architecture.node_names())
        .filter(|node| around.iter().any(|pattern| pattern.matches(node)))
        .collect();
    for _ in 0..depth {
        let before = near.clone();
        for (from, to) in of_topic.values() {
            if from.iter().any(|node| before.contains(node)) {
                near.extend(to);
            }
            if to.iter().any(|node| before.contains(node)) {
                near.extend(from);
            }
        }
    }
    near.into_iter().map(str::to_owned).collect()
}

fn tell(left_out: &LeftOut) {
    if !left_out.topics.is_empty() {
        let counted = units::counted(left_out.topics.len() as u64, "topic");
        let named = left_out.topics.iter().take(MOST_NAMED).cloned();
        let mut named = named.collect::<Vec<String>>().join(", ");
        if left_out.topics.len() > MOST_NAMED {
            named += ", …";
        }
        diagnostic::note(&format!(
            "{counted} not drawn, since they would tie everything to everything: {named}; --topic draws those that it names"
        ));
    }
    if left_out.nodes > 0 {
        diagnostic::note(&format!(
            "{} without connections to others not drawn; --topics draws them",
            units::counted(left_out.nodes as u64, "node")
        ));
    }
}

fn format_of(output: &Path) -> anyhow::Result<GraphFormat> {
    let extension = output.extension().unwrap_or_default().to_string_lossy();
    Ok(match extension.to_ascii_lowercase().as_str() {
        "svg" => GraphFormat::Svg,
        "dot" | "gv" => GraphFormat::Dot,
        "mmd" | "mermaid" => GraphFormat::Mermaid,
        _ => wrong_usage!(
            "{}: the name does not tell a format; end it in .svg, .dot or .mmd, or say --format",
            output.display()
        ),
    })
}
