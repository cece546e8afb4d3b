//! `--node`, `--topic` and `--pid`: the one place that says what they mean, for every verb. What the range of time means is in
//! `window`, and which entities of a trace fit is in `view`.
//!
//! Several patterns of one option are alternatives; different options must all be met. What has several nodes, topics or
//! processes (a message, a path, a row of a table) meets an option if one of them does.

use std::collections::BTreeSet;

use clap::Args;
use glob::Pattern;
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
    /// Whether everything fits.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.topics.is_empty() && self.pids.is_empty()
    }

    /// A node that the trace does not name fits no pattern.
    pub(crate) fn fits_node(&self, node: Option<&str>) -> bool {
        fits(&self.nodes, node)
    }

    pub(crate) fn fits_topic(&self, topic: Option<&str>) -> bool {
        fits(&self.topics, topic)
    }

    pub(crate) fn fits_pid(&self, pid: i64) -> bool {
        self.pids.is_empty() || self.pids.contains(&pid)
    }

    /// Whether every option that was given is met by one of these.
    pub(crate) fn fits_any<'n>(
        &self,
        nodes: impl IntoIterator<Item = Option<&'n str>>,
        topics: impl IntoIterator<Item = Option<&'n str>>,
        pids: impl IntoIterator<Item = i64>,
    ) -> bool {
        self.fits_any_node(nodes) && self.fits_any_topic(topics) && self.fits_any_pid(pids)
    }

    pub(crate) fn fits_any_node<'n>(
        &self,
        nodes: impl IntoIterator<Item = Option<&'n str>>,
    ) -> bool {
        self.nodes.is_empty() || nodes.into_iter().any(|node| self.fits_node(node))
    }

    pub(crate) fn fits_any_topic<'n>(
        &self,
        topics: impl IntoIterator<Item = Option<&'n str>>,
    ) -> bool {
        self.topics.is_empty() || topics.into_iter().any(|topic| self.fits_topic(topic))
    }

    pub(crate) fn fits_any_pid(&self, pids: impl IntoIterator<Item = i64>) -> bool {
        self.pids.is_empty() || pids.into_iter().any(|pid| self.fits_pid(pid))
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

fn fits(patterns: &[Pattern], name: Option<&str>) -> bool {
    patterns.is_empty()
        || name.is_some_and(|name| patterns.iter().any(|pattern| pattern.matches(name)))
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
    fn patterns_are_alternatives_and_options_must_all_be_met() {
        let filter = filter();
        let points = [Some("/points")];
        assert!(filter.fits_any([Some("/c"), Some("/a")], points, [7, 8]));
        assert!(filter.fits_any([Some("/b1")], points, [7]));
        assert!(!filter.fits_any([Some("/c")], points, [7]));
        assert!(!filter.fits_any([Some("/a")], [Some("/other")], [7]));
        assert!(!filter.fits_any([Some("/a")], points, [8]));
        assert!(!filter.fits_any([Some("/a")], [], [7]));
    }

    #[test]
    fn what_has_no_name_fits_no_pattern_but_fits_where_none_is_given() {
        let filter = filter();
        assert!(!filter.fits_node(None) && !filter.fits_topic(None));
        let nothing = EntityFilter::default();
        assert!(nothing.fits_node(None) && nothing.fits_any([], [], []));
    }

    #[test]
    fn nothing_left_is_told_with_what_was_asked_for() {
        let sentence = "no path fits --node /a --node /b* --topic /points --pid 7";
        assert_eq!(filter().nothing_fits("path").as_deref(), Some(sentence));
        assert_eq!(EntityFilter::default().nothing_fits("path"), None);
    }
}
