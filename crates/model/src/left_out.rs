//! What a recording left out on purpose: our tracer says in the environment of a trace by which names nodes and topics were filtered
//! (`record --ignore-topic` and its like). Of what was left out a trace has the entities and nothing that happened to them, so that nothing
//! follows from their silence.

use std::collections::BTreeSet;

use rostrace_ctf::TraceSet;

/// Patterns are separated so.
const SEPARATOR: char = ':';

/// What was left out of the traces of a set. One that left nothing out has no row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    rows: BTreeSet<Filters>,
}

/// The filters of one recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Filters {
    select_nodes: Vec<String>,
    select_topics: Vec<String>,
    ignore_nodes: Vec<String>,
    ignore_topics: Vec<String>,
}

impl LeftOut {
    pub(crate) fn of(set: &TraceSet) -> LeftOut {
        let mut found = LeftOut::default();
        for trace in &set.traces {
            let names = |key: &str| -> Vec<String> {
                let text = trace.schema.environment_text(key).unwrap_or_default();
                let names = text.split(SEPARATOR).filter(|it| !it.is_empty());
                names.map(str::to_owned).collect()
            };
            let filters = Filters {
                select_nodes: names("rostrace_select_nodes"),
                select_topics: names("rostrace_select_topics"),
                ignore_nodes: names("rostrace_ignore_nodes"),
                ignore_topics: names("rostrace_ignore_topics"),
            };
            if filters != Filters::default() {
                found.rows.insert(filters);
            }
        }
        found
    }

    /// Sentences of what was left out, each once.
    pub fn sentences(&self) -> Vec<String> {
        self.rows.iter().map(Filters::sentence).collect()
    }

    /// Whether what a node does with a topic was left out of some recording. The rule is that of the tracer's filters: if anything is selected, only that;
    /// otherwise all but what is ignored.
    pub fn has_topic(&self, topic: &str, node: Option<&str>) -> bool {
        self.rows.iter().any(|it| it.has_topic(topic, node))
    }
}

impl Filters {
    fn sentence(&self) -> String {
        let things = |nodes: &[String], topics: &[String]| {
            let named = |noun: &str, names: &[String]| {
                (!names.is_empty()).then(|| format!("{noun} {}", names.join(", ")))
            };
            let things: Vec<String> = (named("nodes", nodes).into_iter())
                .chain(named("topics", topics))
                .collect();
            (!things.is_empty()).then(|| things.join(" and "))
        };
        let selected = things(&self.select_nodes, &self.select_topics);
        let ignored = things(&self.ignore_nodes, &self.ignore_topics);
        match (selected, ignored) {
            // If anything is selected, only that counts.
            (Some(selected), _) => format!(
                "only {selected} were recorded, so nothing follows from the silence of others"
            ),
            (None, ignored) => format!(
                "{} were left out of the recording, so nothing follows from their silence",
                ignored.unwrap_or_default()
            ),
        }
    }

    fn has_topic(&self, topic: &str, node: Option<&str>) -> bool {
        let any = |patterns: &[String], text: &str| {
            let mut patterns = patterns.iter();
            patterns.any(|pattern| matches(pattern.as_bytes(), text.as_bytes()))
        };
        if !self.select_nodes.is_empty() || !self.select_topics.is_empty() {
            let is_selected = node.is_some_and(|node| any(&self.select_nodes, node));
            return !is_selected && !any(&self.select_topics, topic);
        }
        any(&self.ignore_topics, topic) || node.is_some_and(|node| any(&self.ignore_nodes, node))
    }
}

/// As the tracer's filters match: `*` is any text, `?` any byte.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=text.len()).any(|skip| matches(rest, &text[skip..])),
        (Some((b'?', rest)), Some((_, text))) => matches(rest, text),
        (Some((byte, rest)), Some((other, text))) => byte == other && matches(rest, text),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    fn left_out(filters: Filters) -> LeftOut {
        LeftOut {
            rows: BTreeSet::from([filters]),
        }
    }

    #[test]
    fn a_topic_is_left_out_by_its_name_or_by_its_node() {
        let ignoring = left_out(Filters {
            ignore_topics: names(&["/camera/*", "/t?"]),
            ignore_nodes: names(&["/noisy"]),
            ..Filters::default()
        });
        assert!(ignoring.has_topic("/camera/image", Some("/driver")));
        assert!(ignoring.has_topic("/tf", None));
        assert!(ignoring.has_topic("/points", Some("/noisy")));
        assert!(!ignoring.has_topic("/points", Some("/driver")));
        assert!(!ignoring.has_topic("/a/camera/image", Some("/driver")));
        let sentences = ignoring.sentences();
        assert_eq!(
            sentences,
            [
                "nodes /noisy and topics /camera/*, /t? were left out of the recording, so nothing follows from their silence"
            ]
        );
    }

    #[test]
    fn where_something_is_selected_all_else_is_left_out() {
        let selecting = left_out(Filters {
            select_topics: names(&["/points"]),
            select_nodes: names(&["/planner"]),
            ignore_topics: names(&["/points"]),
            ..Filters::default()
        });
        assert!(!selecting.has_topic("/points", Some("/driver")));
        assert!(selecting.has_topic("/image", Some("/driver")));
        assert!(!selecting.has_topic("/image", Some("/planner")));
        assert!(!LeftOut::default().has_topic("/image", None));
    }
}
