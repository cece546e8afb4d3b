//! What a finding says, in names and numbers, and the page that has all of it.

use rostrace_analyze::finding::FindingKind;
use rostrace_analyze::standstill::{Meanwhile, Scope};
use rostrace_model::describe::names;
use rostrace_model::entity::CallbackId;
use serde::Serialize;

use super::finding::Teller;
use super::reason::ReasonRow;
use crate::page::Subject;

/// So many names of a list are shown.
const MOST_NAMES: usize = 60;

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum What {
    Blocked {
        callback: String,
        worst: i64,
        ended: bool,
        usual: Option<i64>,
        share: f64,
        times: u64,
        tid: i64,
        process: String,
    },
    LongExecution {
        callback: String,
        worst: i64,
        usual: Option<i64>,
        period: Option<i64>,
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
    OverflowingQueue {
        topic: String,
        to: String,
        overwritten: u64,
        sent: u64,
        depth: u64,
    },
    Pause {
        topic: String,
        node: String,
        longest: i64,
        usual: i64,
    },
    SilentTopics {
        silence: &'static str,
        topics: Vec<String>,
        number: usize,
        of: u64,
        reasons: Vec<ReasonRow>,
    },
    BusyThread {
        process: String,
        tid: i64,
        share: f64,
        callbacks: u64,
        largest: Option<String>,
        largest_share: Option<f64>,
    },
    SlowPath {
        path: String,
        worst: i64,
        usual: i64,
    },
    EndedEarly {
        process: String,
        before_end: i64,
        end: &'static str,
        inside: Option<String>,
    },
    Standstill {
        /// The process, if it is not the whole machine.
        process: Option<String>,
        duration: i64,
        victims: Vec<String>,
        number: usize,
        processes: u64,
        running: Option<String>,
        meanwhile: Option<MeanwhileRow>,
        times: u64,
    },
    LateNodes {
        nodes: Vec<String>,
        number: usize,
        after: i64,
        reasons: Vec<ReasonRow>,
    },
}

/// What the kernel tells of a standstill.
#[derive(Debug, Serialize)]
pub(super) struct MeanwhileRow {
    idle: f64,
    busiest: Option<String>,
    share: f64,
    waited: usize,
    asleep: usize,
}

impl Teller<'_> {
    /// The page that has all of it, and the numbers of the sentence.
    pub(super) fn what(&self, kind: &FindingKind) -> (String, What) {
        let subject = self.subject;
        let model = subject.analysis.model;
        let node_name = |node| names::of_node(model, node).to_owned();
        match *kind {
            FindingKind::Blocked {
                runner,
                thread,
                worst,
                ended,
                usual,
                share,
                times,
            } => {
                let what = What::Blocked {
                    callback: self.runner(runner),
                    worst,
                    ended,
                    usual,
                    share,
                    times,
                    tid: model.threads[thread.index()].tid,
                    process: self.processes[runner.process.index()].clone(),
                };
                (self.runner_link(runner), what)
            }
            FindingKind::LongExecution {
                runner,
                worst,
                usual,
                period,
            } => {
                let what = What::LongExecution {
                    callback: self.runner(runner),
                    worst,
                    usual,
                    period,
                };
                (self.runner_link(runner), what)
            }
            FindingKind::LateExecution {
                callback,
                worst,
                usual,
                period,
            } => {
                let what = What::LateExecution {
                    callback: self.callback(callback),
                    worst,
                    usual,
                    period,
                };
                (callback_link(callback), what)
            }
            FindingKind::SkippedFirings {
                callback,
                skipped,
                fired,
            } => {
                let what = What::SkippedFirings {
                    callback: self.callback(callback),
                    skipped,
                    fired,
                };
                (callback_link(callback), what)
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
            FindingKind::OverflowingQueue {
                subscription,
                overwritten,
                sent,
                depth,
            } => {
                let to = &model.subscriptions[subscription.index()];
                let what = What::OverflowingQueue {
                    topic: to.topic.clone(),
                    to: node_name(to.node),
                    overwritten,
                    sent,
                    depth,
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
            FindingKind::SilentTopics {
                silence,
                ref topics,
                ref reasons,
                of,
            } => {
                let link = match topics.as_slice() {
                    [only] => topic_link(subject, only),
                    _ => "#topics".to_owned(),
                };
                let what = What::SilentTopics {
                    silence: silence.name(),
                    topics: topics.iter().take(MOST_NAMES).cloned().collect(),
                    number: topics.len(),
                    of,
                    reasons: self.reasons(reasons),
                };
                (link, what)
            }
            FindingKind::BusyThread {
                thread,
                share,
                callbacks,
                largest,
            } => {
                let process = model.process_of(thread).index();
                let what = What::BusyThread {
                    process: self.processes[process].clone(),
                    tid: model.threads[thread.index()].tid,
                    share,
                    callbacks,
                    largest: largest.map(|(runner, _)| self.runner(runner)),
                    largest_share: largest.map(|(_, share)| share),
                };
                (format!("#processes/{process}"), what)
            }
            FindingKind::SlowPath { path, worst, usual } => {
                let what = What::SlowPath {
                    path: subject.shared.paths()[path].0.title(),
                    worst,
                    usual,
                };
                (format!("#paths/{path}"), what)
            }
            FindingKind::EndedEarly {
                process,
                before_end,
                end,
                inside,
            } => {
                let what = What::EndedEarly {
                    process: self.processes[process.index()].clone(),
                    before_end,
                    end: end.name(),
                    inside: inside.map(|runner| self.runner(runner)),
                };
                (format!("#processes/{}", process.index()), what)
            }
            FindingKind::Standstill {
                scope,
                duration,
                ref victims,
                processes,
                running,
                meanwhile,
                times,
            } => {
                let tasks = subject.analysis.scheduling.as_ref();
                let row = |it: Meanwhile| MeanwhileRow {
                    idle: it.idle,
                    busiest: it.busiest.zip(tasks).map(|((task, _), tasks)| {
                        let task = tasks.task(task);
                        format!("{} {}", task.name, task.tid)
                    }),
                    share: it.busiest.map_or(0.0, |(_, share)| share),
                    waited: it.waited,
                    asleep: it.asleep,
                };
                let names = victims.iter().take(MOST_NAMES);
                let what = What::Standstill {
                    process: self.standing(scope),
                    duration,
                    victims: names.map(|it| self.callback(*it)).collect(),
                    number: victims.len(),
                    processes,
                    running: running.map(|runner| self.runner(runner)),
                    meanwhile: meanwhile.map(row),
                    times,
                };
                let link = match scope {
                    Scope::Machine(_) => "#processes".to_owned(),
                    Scope::Process(process) => format!("#processes/{}", process.index()),
                };
                (link, what)
            }
            FindingKind::LateNodes {
                ref nodes,
                ref reasons,
                after,
            } => {
                let link = format!("#nodes/{}", nodes.last().map_or(0, |node| node.index()));
                let names = nodes.iter().take(MOST_NAMES);
                let what = What::LateNodes {
                    nodes: names.map(|node| node_name(Some(*node))).collect(),
                    number: nodes.len(),
                    after,
                    reasons: self.reasons(reasons),
                };
                (link, what)
            }
        }
    }
}

pub(super) fn callback_link(id: CallbackId) -> String {
    format!("#callbacks/{}", id.index())
}

/// Topics are numbered in the order of their names.
fn topic_link(subject: Subject<'_>, topic: &str) -> String {
    let number = subject.shared.topics().binary_search(&topic);
    number.map_or("#topics".to_owned(), |number| format!("#topics/{number}"))
}
