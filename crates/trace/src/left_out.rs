//! What a recording left out on purpose: our tracer says in the environment of a trace by which names nodes and topics were filtered
//! (`record --ignore-topic` and its like). Of what was left out a trace has the entities and nothing that happened to them, so that nothing
//! follows from their silence.

use std::collections::BTreeSet;

use rostrace_ctf::TraceSet;

/// Patterns are separated so.
const SEPARATOR: char = ':';

/// Sentences of what was left out, each once.
pub(crate) fn left_out(set: &TraceSet) -> Vec<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for trace in &set.traces {
        let names = |key: &str| {
            let text = trace.schema.environment_text(key)?;
            let names: Vec<&str> = text.split(SEPARATOR).filter(|it| !it.is_empty()).collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        let things = |nodes: Option<String>, topics: Option<String>| {
            let nodes = nodes.map(|names| format!("nodes {names}"));
            let topics = topics.map(|names| format!("topics {names}"));
            let things: Vec<String> = nodes.into_iter().chain(topics).collect();
            (!things.is_empty()).then(|| things.join(" and "))
        };
        let selected = things(
            names("rostrace_select_nodes"),
            names("rostrace_select_topics"),
        );
        let ignored = things(
            names("rostrace_ignore_nodes"),
            names("rostrace_ignore_topics"),
        );
        let sentence = match (selected, ignored) {
            // If anything is selected, only that counts.
            (Some(selected), _) => format!(
                "only {selected} were recorded, so nothing follows from the silence of others"
            ),
            (None, Some(ignored)) => format!(
                "{ignored} were left out of the recording, so nothing follows from their silence"
            ),
            (None, None) => continue,
        };
        found.insert(sentence);
    }
    found.into_iter().collect()
}
