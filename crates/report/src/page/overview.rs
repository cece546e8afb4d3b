//! The first screen: what was recorded, whether it can be trusted, and what hurts most.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rostrace_analyze::census::Census;
use rostrace_analyze::finding::{self, Evidence, FindingKind};
use rostrace_analyze::thread::Ran;
use rostrace_analyze::{built_in, names, sim_time};
use rostrace_trace::entity::{CallbackId, NodeId};
use serde::Serialize;

use super::Subject;
use super::columns::{ColumnReference, Columns};
use super::part::Part;
use super::simulated_clock::thinned;

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
    /// What to say where simulated time rules.
    simulated_time: Option<String>,
    findings: Vec<Finding>,
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

/// Something that hurts. The page makes a sentence of it.
#[derive(Debug, Serialize)]
struct Finding {
    severity: f64,
    /// When it was worst.
    at: Option<i64>,
    link: String,
    #[serde(flatten)]
    what: What,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum What {
    LongExecution {
        callback: String,
        worst: i64,
        usual: i64,
        period: i64,
    },
    LateExecution {
        callback: String,
        worst: i64,
        usual: i64,
        period: i64,
    },
    SkippedFirings {
        callback: String,
        skipped: u64,
        fired: u64,
    },
    LostMessages {
        topic: String,
        from: String,
        to: String,
        lost: u64,
        sent: u64,
        cause: &'static str,
    },
    Pause {
        topic: String,
        node: String,
        longest: i64,
        usual: i64,
    },
    BusyThread {
        process: String,
        tid: i64,
        share: f64,
        mostly: Option<String>,
    },
    SlowPath {
        path: String,
        worst: i64,
        usual: i64,
    },
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

pub(crate) fn part(subject: Subject<'_>) -> Part {
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
        narrowed: !subject.options.selection.is_everything()
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
        simulated_time: sim_time::sentence(model),
        findings: foremost(subject),
        names: named(subject),
        clock,
    };
    Part::new("overview", &overview, columns)
}

fn distinct<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let distinct: BTreeSet<T> = values.collect();
    distinct.into_iter().collect()
}

fn damage(subject: Subject<'_>) -> Vec<Damaged<'_>> {
    let told = subject.options.damage.iter();
    let mut told: Vec<_> = told
        .map(|(message, is_loss)| Damaged {
            message,
            is_loss: *is_loss,
        })
        .collect();
    // What is lost comes before what is odd.
    told.sort_by_key(|damage| !damage.is_loss);
    told
}

const FINDINGS_SHOWN: usize = 5;
const OF_ONE_KIND: usize = 2;
const WORTH_A_WORD: f64 = 0.1;

fn foremost(subject: Subject<'_>) -> Vec<Finding> {
    let (analysis, shared) = (subject.analysis, subject.shared);
    let evidence = Evidence {
        callbacks: shared.callbacks(),
        pairs: shared.pairs(),
        publishers: &shared.endpoints().publishers,
        threads: shared.threads(),
        paths: shared.paths(),
    };
    let mut all = finding::findings(analysis, evidence);
    all.retain(|finding| is_wanted(subject, &finding.kind));
    all.retain(|finding| finding.severity >= WORTH_A_WORD);
    let chosen = finding::foremost(&all, FINDINGS_SHOWN, OF_ONE_KIND);
    chosen
        .into_iter()
        .map(|finding| told(subject, finding))
        .collect()
}

fn is_wanted(subject: Subject<'_>, kind: &FindingKind) -> bool {
    let (model, selection) = (subject.analysis.model, &subject.options.selection);
    match *kind {
        FindingKind::LongExecution { callback, .. }
        | FindingKind::LateExecution { callback, .. }
        | FindingKind::SkippedFirings { callback, .. } => selection.has_callback(model, callback),
        FindingKind::LostMessages { subscription, .. } => {
            let subscription = &model.subscriptions[subscription.index()];
            selection.fits_topic(Some(&subscription.topic))
                && selection.has_node(model, subscription.node)
        }
        FindingKind::Pause { publisher, .. } => {
            let publisher = &model.publishers[publisher.index()];
            selection.fits_topic(Some(&publisher.topic))
                && selection.has_node(model, publisher.node)
        }
        FindingKind::BusyThread { thread, .. } => {
            let process = model.threads[thread.index()].process;
            selection.has_process(model, process)
        }
        FindingKind::SlowPath { path, .. } => {
            selection.has_observed_path(&subject.shared.paths()[path].0)
        }
    }
}

fn told(subject: Subject<'_>, finding: &finding::Finding) -> Finding {
    let (analysis, model) = (subject.analysis, subject.analysis.model);
    let callback_name = |id: CallbackId| analysis.names.callback(id).to_owned();
    let callback_link = |id: CallbackId| format!("#callbacks/{}", id.index());
    let node_name = |node| names::of_node(model, node).to_owned();
    let (link, what) = match finding.kind {
        FindingKind::LongExecution {
            callback,
            worst,
            usual,
            period,
        } => {
            let name = callback_name(callback);
            (
                callback_link(callback),
                What::LongExecution {
                    callback: name,
                    worst,
                    usual,
                    period,
                },
            )
        }
        FindingKind::LateExecution {
            callback,
            worst,
            usual,
            period,
        } => {
            let name = callback_name(callback);
            (
                callback_link(callback),
                What::LateExecution {
                    callback: name,
                    worst,
                    usual,
                    period,
                },
            )
        }
        FindingKind::SkippedFirings {
            callback,
            skipped,
            fired,
        } => {
            let name = callback_name(callback);
            (
                callback_link(callback),
                What::SkippedFirings {
                    callback: name,
                    skipped,
                    fired,
                },
            )
        }
        FindingKind::LostMessages {
            publisher,
            subscription,
            lost,
            sent,
            cause,
        } => {
            let to = &model.subscriptions[subscription.index()];
            let what = What::LostMessages {
                topic: to.topic.clone(),
                from: node_name(model.publishers[publisher.index()].node),
                to: node_name(to.node),
                lost,
                sent,
                cause: cause.name(),
            };
            (topic_link(subject, &to.topic), what)
        }
        FindingKind::Pause {
            publisher,
            longest,
            usual,
        } => {
            let from = &model.publishers[publisher.index()];
            let what = What::Pause {
                topic: from.topic.clone(),
                node: node_name(from.node),
                longest,
                usual,
            };
            (topic_link(subject, &from.topic), what)
        }
        FindingKind::BusyThread { thread, share } => {
            let summary = subject
                .shared
                .threads()
                .iter()
                .find(|it| it.thread == thread);
            let busiest = summary.and_then(|it| it.busiest()).map(|share| share.ran);
            let what = What::BusyThread {
                process: model.processes[model.threads[thread.index()].process.index()]
                    .name
                    .clone(),
                tid: model.threads[thread.index()].tid,
                share,
                mostly: busiest.and_then(|ran| match ran {
                    Ran::Callback(id) => Some(callback_name(id)),
                    _ => None,
                }),
            };
            ("#processes".to_owned(), what)
        }
        FindingKind::SlowPath { path, worst, usual } => {
            let title = subject.shared.paths()[path].0.title();
            (
                format!("#paths/{path}"),
                What::SlowPath {
                    path: title,
                    worst,
                    usual,
                },
            )
        }
    };
    Finding {
        severity: finding.severity,
        at: finding.at.map(|at| subject.time(at)),
        link,
        what,
    }
}

/// Topics are numbered in the order of their names.
fn topic_link(subject: Subject<'_>, topic: &str) -> String {
    let number = subject.shared.topics().binary_search(&topic);
    number.map_or("#topics".to_owned(), |number| format!("#topics/{number}"))
}

fn named(subject: Subject<'_>) -> Vec<Named<'_>> {
    let model = subject.analysis.model;
    let selection = &subject.options.selection;
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
