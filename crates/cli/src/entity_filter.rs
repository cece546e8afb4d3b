//! `--node`, `--topic` and `--pid`, for every verb. What they mean is a [`Selection`]; what the range of time means is in `window`, and which
//! entities of a trace fit is in `view`.

use std::collections::BTreeSet;

use clap::Args;
use glob::Pattern;
use rostrace_analyze::Selection;
use rostrace_trace::Model;

use crate::filter;

#[derive(Debug, Default, Args)]
pub(crate) struct EntityFilter {
    /// Only this node and what it has to do with; may contain *, ? and […]; can be repeated
    #[arg(long = "node", alias = "nodes", value_name = "GLOB")]
    pub(crate) nodes: Vec<Pattern>,
    /// Only this topic and who has to do with it; may contain *, ? and […]; can be repeated
    #[arg(long = "topic", alias = "topics", value_name = "GLOB")]
    pub(crate) topics: Vec<Pattern>,
    /// Only this process and what it has to do with; can be repeated
    #[arg(long = "pid", visible_alias = "vpid", value_name = "N")]
    pub(crate) pids: Vec<i64>,
}

impl EntityFilter {
    /// Whether none was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.topics.is_empty() && self.pids.is_empty()
    }

    /// What they mean.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            nodes: self.nodes.clone(),
            topics: self.topics.clone(),
            pids: self.pids.clone(),
            paths: Vec::new(),
        }
    }

    /// A sentence for each pattern and each process that the trace does not have.
    pub(crate) fn hints(&self, model: &Model) -> Vec<String> {
        let nodes: BTreeSet<&str> = model.nodes.iter().map(|node| node.name.as_str()).collect();
        let publishers = model.publishers.iter().map(|it| it.topic.as_str());
        let subscriptions = model.subscriptions.iter().map(|it| it.topic.as_str());
        let topics: BTreeSet<&str> = publishers.chain(subscriptions).collect();
        let mut hints = Vec::new();
        for (what, patterns, names) in [
            ("node", &self.nodes, &nodes),
            ("topic", &self.topics, &topics),
        ] {
            for pattern in patterns {
                if !names.iter().any(|name| pattern.matches(name)) {
                    let mut hint = format!("no {what} of this trace is named `{pattern}`");
                    let similar = filter::similar(pattern.as_str(), names);
                    if !similar.is_empty() {
                        hint += &format!("; similar: {}", similar.join(", "));
                    }
                    hints.push(hint);
                }
            }
        }
        for pid in &self.pids {
            if !model.processes.iter().any(|it| it.pid == *pid) {
                hints.push(format!("no process of this trace has the pid {pid}"));
            }
        }
        hints
    }

    /// What to say when nothing is left; nothing if no option was given.
    pub(crate) fn nothing_fits(&self, noun: &str) -> Option<String> {
        (!self.is_empty()).then(|| format!("no {noun} fits {self}"))
    }
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
    fn nothing_left_is_told_with_what_was_asked_for() {
        let sentence = "no path fits --node /a --node /b* --topic /points --pid 7";
        assert_eq!(filter().nothing_fits("path").as_deref(), Some(sentence));
        assert_eq!(EntityFilter::default().nothing_fits("path"), None);
    }
}
