//! `--node`, `--topic` and `--pid`, for every verb. What they mean is a [`Selection`]; what the range of time means is in `window`, and which
//! entities of a trace fit is in `view`.

use std::collections::BTreeSet;

use clap::Args;
use glob::Pattern;
use rostrace_analyze::Selection;
use rostrace_model::Model;

use crate::name;
use crate::outcome::wrong_usage;

#[derive(Debug, Default, Args)]
pub(crate) struct EntityFilter {
    /// Only this node and what is connected to it; may contain *, ? and […]; can be repeated
    #[arg(long = "node", alias = "nodes", value_name = "GLOB", value_parser = name::pattern)]
    pub(crate) nodes: Vec<Pattern>,
    /// Only this topic and what is connected to it; may contain *, ? and […]; can be repeated
    #[arg(long = "topic", alias = "topics", value_name = "GLOB", value_parser = name::pattern)]
    pub(crate) topics: Vec<Pattern>,
    /// Only this process and what is connected to it; can be repeated
    #[arg(long = "pid", visible_alias = "vpid", value_name = "N")]
    pub(crate) pids: Vec<i64>,
}

impl EntityFilter {
    /// Whether none was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.topics.is_empty() && self.pids.is_empty()
    }

    /// What they mean in this trace. Fails for a name or a process that it does not have.
    pub(crate) fn selection(&self, model: &Model) -> anyhow::Result<Selection> {
        let (nodes, topics) = (node_names(model), topic_names(model));
        let meant = |option: &str, noun: &str, patterns: &[Pattern], names: &BTreeSet<&str>| {
            let patterns = patterns.iter();
            let meant = patterns.map(|pattern| name::meant(option, noun, pattern, names));
            meant.collect::<anyhow::Result<Vec<Pattern>>>()
        };
        for pid in &self.pids {
            if !model.processes.iter().any(|it| it.pid == *pid) {
                wrong_usage!(
                    "--pid: no process of this trace has the pid {pid}; `rostrace processes` lists them"
                );
            }
        }
        Ok(Selection {
            nodes: meant("--node", "node of this trace", &self.nodes, &nodes)?,
            topics: meant("--topic", "topic of this trace", &self.topics, &topics)?,
            ..self.as_written()
        })
    }

    /// The same where nothing has to fit.
    pub(crate) fn as_written(&self) -> Selection {
        Selection {
            nodes: self.nodes.clone(),
            topics: self.topics.clone(),
            pids: self.pids.clone(),
            paths: Vec::new(),
        }
    }

    /// What to say when nothing is left; nothing if no option was given.
    pub(crate) fn nothing_fits(&self, noun: &str) -> Option<String> {
        (!self.is_empty()).then(|| format!("no {noun} fits {self}"))
    }
}

pub(crate) fn node_names(model: &Model) -> BTreeSet<&str> {
    model.nodes.iter().map(|node| node.name.as_str()).collect()
}

pub(crate) fn topic_names(model: &Model) -> BTreeSet<&str> {
    let publishers = model.publishers.iter().map(|it| it.topic.as_str());
    let subscriptions = model.subscriptions.iter().map(|it| it.topic.as_str());
    publishers.chain(subscriptions).collect()
}

/// As it was written on the command line.
impl std::fmt::Display for EntityFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nodes = self.nodes.iter().map(|node| format!("--node {node}"));
        let topics = self.topics.iter().map(|topic| format!("--topic {topic}"));
        let pids = self.pids.iter().map(|pid| format!("--pid {pid}"));
        let all: Vec<String> = nodes.chain(topics).chain(pids).collect();
        f.write_str(&all.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter() -> EntityFilter {
        EntityFilter {
            nodes: vec![Pattern::new("/a").unwrap(), Pattern::new("/b*").unwrap()],
            topics: vec![Pattern::new("/points").unwrap()],
            pids: vec![7],
        }
    }

    #[test]
    fn nothing_left_is_shown_with_what_was_asked_for() {
        let sentence = "no path fits --node /a --node /b* --topic /points --pid 7";
        assert_eq!(filter().nothing_fits("path").as_deref(), Some(sentence));
        assert_eq!(EntityFilter::default().nothing_fits("path"), None);
    }
}
