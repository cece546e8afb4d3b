//! The first screen: what was recorded, whether it can be trusted, and what hurts most.

use rostrace_analyze::{built_in, names};
use rostrace_trace::entity::CallbackId;
use serde::Serialize;

use super::Subject;
use super::columns::{ColumnReference, Columns};
use super::part::Part;

#[derive(Debug, Serialize)]
struct Overview<'a> {
    /// As text: it has more digits than a number in a browser.
    begin_ns: String,
    duration: i64,
    sources: &'a [String],
    recorded: Recorded,
    damage: Vec<&'a str>,
    names: Vec<Named<'a>>,
    clock: Option<Clock>,
}

#[derive(Debug, Serialize)]
struct Recorded {
    events: u64,
    processes: usize,
    nodes: usize,
    topics: usize,
    callbacks: usize,
    executions: usize,
    messages: usize,
}

/// What can be found by its name.
#[derive(Debug, Serialize)]
struct Named<'a> {
    kind: &'static str,
    name: &'a str,
    link: String,
}

/// The simulated clock.
#[derive(Debug, Serialize)]
struct Clock {
    system: ColumnReference,
    simulated: ColumnReference,
}

pub(crate) fn part(subject: Subject<'_>) -> Part {
    let model = subject.analysis.model;
    let mut columns = Columns::default();
    let mut topics: Vec<&str> = model
        .publishers
        .iter()
        .map(|it| it.topic.as_str())
        .collect();
    topics.extend(model.subscriptions.iter().map(|it| it.topic.as_str()));
    topics.sort_unstable();
    topics.dedup();
    let clock = (!model.sim_times.is_empty()).then(|| Clock {
        system: columns.add(model.sim_times.iter().map(|it| subject.time(it.time))),
        simulated: columns.add(model.sim_times.iter().map(|it| it.simulated as i64)),
    });
    let overview = Overview {
        begin_ns: subject.begin.to_string(),
        duration: subject.end - subject.begin,
        sources: &subject.options.sources,
        recorded: Recorded {
            events: model.events,
            processes: model.processes.len(),
            nodes: model.nodes.len(),
            topics: topics.len(),
            callbacks: model.callbacks.len(),
            executions: model.instances.len(),
            messages: model.publications.len(),
        },
        damage: model
            .damage
            .iter()
            .map(|damage| damage.message.as_str())
            .collect(),
        names: named(subject),
        clock,
    };
    Part::new("overview", &overview, columns)
}

fn named(subject: Subject<'_>) -> Vec<Named<'_>> {
    let model = subject.analysis.model;
    let selection = &subject.options.selection;
    let callbacks = (0..model.callbacks.len()).map(CallbackId::from_index);
    callbacks
        .filter(|id| selection.wants_callback(model, *id))
        .filter(|id| !built_in::node(names::of_node(model, model.node_of_callback(*id))))
        .map(|id| Named {
            kind: "callback",
            name: subject.analysis.names.callback(id),
            link: format!("#callbacks/{}", id.index()),
        })
        .collect()
}
