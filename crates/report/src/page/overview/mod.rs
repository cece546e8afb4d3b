//! The first screen: what was recorded, whether it can be trusted, what cannot be known from it, what to change (`change`), and the worst
//! findings (`finding`).

mod change;
mod command;
mod finding;
mod reason;
mod wanted;
mod what;

use std::borrow::Cow;
use std::collections::BTreeSet;

use rostrace_analyze::census::Census;
use rostrace_analyze::sim_time;
use rostrace_analyze::unknowable::unknowable;
use rostrace_model::describe::{built_in, names};
use rostrace_model::entity::{CallbackId, NodeId};
use serde::Serialize;

use super::Subject;
use super::columns::{ColumnReference, Columns};
use super::part::PagePart;
use super::simulated_clock::thinned;
use command::Commands;

#[derive(Debug, Serialize)]
struct Overview<'a> {
    /// As text: it has more digits than a number in a browser.
    begin_ns: String,
    /// What is shown begins so long after that.
    from: i64,
    duration: i64,
    sources: &'a [String],
    recorded: Recorded,
    hosts: Vec<&'a str>,
    distributions: Vec<String>,
    middlewares: Vec<&'a str>,
    /// The part of the recording that is shown, if it is not all.
    narrowed: bool,
    damage: Vec<Damaged<'a>>,
    /// When events are missing: from and to, in order.
    lost: Vec<(i64, i64)>,
    /// As a shell wants them.
    traces: String,
    unknown: Vec<Unknown>,
    /// What to say where simulated time rules.
    simulated_time: Option<String>,
    changes: change::Changes,
    findings: Vec<finding::GroupRow>,
    names: Vec<Named<'a>>,
    clock: Option<Clock>,
}

#[derive(Debug, Serialize)]
struct Recorded {
    events: u64,
    processes: usize,
    census: Census,
    executions: usize,
    messages: usize,
}

/// What is missing from the recording.
#[derive(Debug, Serialize)]
struct Damaged<'a> {
    message: &'a str,
    /// Whether events are missing, or something else is odd.
    is_loss: bool,
}

/// What cannot be known, and how to know it the next time.
#[derive(Debug, Serialize)]
struct Unknown {
    what: String,
    remedy: &'static str,
    command: &'static str,
}

/// What can be found by its name.
#[derive(Debug, Serialize)]
struct Named<'a> {
    kind: &'static str,
    name: Cow<'a, str>,
    link: String,
}

/// The simulated clock.
#[derive(Debug, Serialize)]
struct Clock {
    system: ColumnReference,
    simulated: ColumnReference,
}

pub(crate) fn part(subject: Subject<'_>) -> PagePart {
    let model = subject.analysis.model;
    let mut columns = Columns::default();
    let notes = thinned(&model.sim_times);
    let clock = (!notes.is_empty()).then(|| Clock {
        system: columns.add(notes.iter().map(|it| subject.time(it.time))),
        simulated: columns.add(notes.iter().map(|it| it.simulated as i64)),
    });
    let overview = Overview {
        begin_ns: subject.origin.to_string(),
        from: subject.begin - subject.origin,
        duration: subject.end - subject.begin,
        sources: &subject.options.sources,
        hosts: distinct(model.hosts.iter().map(|host| host.name.as_str())),
        distributions: distinct(
            model
                .processes
                .iter()
                .filter_map(|it| it.distribution.map(|it| it.to_string())),
        ),
        middlewares: distinct(
            model
                .processes
                .iter()
                .filter_map(|it| it.rmw_implementation.as_deref()),
        ),
        narrowed: !subject.analysis.selection.is_everything()
            || Some(subject.begin) != model.begin.map(|begin| begin.0)
            || Some(subject.end) != model.end.map(|end| end.0),
        recorded: Recorded {
            events: model.events,
            processes: model.processes.len(),
            census: Census::of(model),
            executions: model.instances.len(),
            messages: model.publications.len(),
        },
        damage: damage(subject),
        lost: lost(subject),
        traces: Commands::of(subject).traces,
        unknown: unknown(subject),
        simulated_time: sim_time::sentence(model),
        changes: change::changes(subject),
        findings: finding::groups(subject),
        names: named(subject),
        clock,
    };
    PagePart::new("overview", &overview, columns)
}

fn distinct<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let distinct: BTreeSet<T> = values.collect();
    distinct.into_iter().collect()
}

fn damage(subject: Subject<'_>) -> Vec<Damaged<'_>> {
    let shown = subject.options.damage.iter();
    let mut shown: Vec<_> = shown
        .map(|(message, is_loss)| Damaged {
            message,
            is_loss: *is_loss,
        })
        .collect();
    // What is lost comes before what is odd.
    shown.sort_by_key(|damage| !damage.is_loss);
    shown
}

/// As far as it is shown.
fn lost(subject: Subject<'_>) -> Vec<(i64, i64)> {
    let windows = subject.analysis.model.losses.windows().into_iter();
    let shown = windows.map(|(from, to)| (from.0.max(subject.begin), to.0.min(subject.end)));
    let shown = shown.filter(|(from, to)| from < to);
    shown
        .map(|(from, to)| (from - subject.origin, to - subject.origin))
        .collect()
}

fn unknown(subject: Subject<'_>) -> Vec<Unknown> {
    let unknown = unknowable(subject.analysis.model).into_iter();
    let row = |it: rostrace_analyze::unknowable::Unknowable| Unknown {
        what: it.what,
        remedy: it.remedy,
        command: it.command,
    };
    unknown.map(row).collect()
}

fn named(subject: Subject<'_>) -> Vec<Named<'_>> {
    let model = subject.analysis.model;
    let selection = &subject.analysis.selection;
    let mut named = Vec::new();
    for (index, node) in model.nodes.iter().enumerate() {
        if selection.has_node(model, Some(NodeId::from_index(index))) && !built_in::node(&node.name)
        {
            let link = format!("#nodes/{index}");
            named.push(Named {
                kind: "node",
                name: node.name.as_str().into(),
                link,
            });
        }
    }
    for (index, topic) in subject.shared.topics().iter().enumerate() {
        if selection.fits_topic(Some(topic)) {
            let link = format!("#topics/{index}");
            named.push(Named {
                kind: "topic",
                name: (*topic).into(),
                link,
            });
        }
    }
    for id in (0..model.callbacks.len()).map(CallbackId::from_index) {
        let is_own = built_in::node(names::of_node(model, model.node_of_callback(id)));
        if selection.has_callback(model, id) && !is_own {
            let link = format!("#callbacks/{}", id.index());
            named.push(Named {
                kind: "callback",
                name: subject.analysis.names.callback(id).into(),
                link,
            });
        }
    }
    for (index, (path, _)) in subject.shared.paths().iter().enumerate() {
        if selection.has_observed_path(path) {
            let link = format!("#paths/{index}");
            named.push(Named {
                kind: "path",
                name: path.title().into(),
                link,
            });
        }
    }
    named
}
