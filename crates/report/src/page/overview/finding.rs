//! What hurts most, for the page, which makes sentences of it: groups of one root cause, with where to look and what to type next.

use rostrace_analyze::finding::{self, Because, FindingKind, Group, Runner, WORTH_A_WORD};
use rostrace_analyze::names;
use rostrace_analyze::thread::Ran;
use rostrace_ctf::schema::Nanos;
use rostrace_trace::entity::CallbackId;
use serde::Serialize;

use super::command::Commands;
use super::wanted::is_wanted;
use crate::page::Subject;
use crate::process_name::process_names;

/// So many groups are told at most, and so many findings below the first of each.
const MOST_GROUPS: usize = 40;
const MOST_MEMBERS: usize = 12;
/// So many names of a list are told.
const MOST_NAMES: usize = 60;

/// Findings of one root cause.
#[derive(Debug, Serialize)]
pub(super) struct GroupRow {
    /// That of the worst of them.
    severity: f64,
    word: &'static str,
    head: FindingRow,
    members: Vec<FindingRow>,
    /// Members that are not told.
    more: usize,
}

/// Something that hurts.
#[derive(Debug, Serialize)]
pub(super) struct FindingRow {
    severity: f64,
    word: &'static str,
    /// When it was worst.
    at: Option<i64>,
    /// The page that has all of it.
    link: String,
    /// That very instant.
    instant: Option<String>,
    phase: Option<&'static str>,
    because: Option<BecauseRow>,
    commands: Vec<String>,
    #[serde(flatten)]
    what: What,
}

/// What it is due to.
#[derive(Debug, Serialize)]
struct BecauseRow {
    name: String,
    link: String,
    place: &'static str,
    longest: i64,
    times: u64,
    of: u64,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum What {
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
        usual: i64,
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
    },
    BusyThread {
        process: String,
        tid: i64,
        share: f64,
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
    LateNodes {
        nodes: Vec<String>,
        number: usize,
        after: i64,
    },
}

/// All groups that are worth a word, the worst first.
pub(super) fn groups(subject: Subject<'_>) -> Vec<GroupRow> {
    let is_told = |group: &Group| {
        let mut findings = group.findings();
        group.severity >= WORTH_A_WORD && findings.any(|it| is_wanted(subject, &it.kind))
    };
    let teller = Teller {
        subject,
        commands: Commands::of(subject),
        processes: process_names(subject.analysis.model)
            .into_iter()
            .map(|it| it.name)
            .collect(),
    };
    let groups = subject.shared.findings().iter();
    let told = groups.filter(|group| is_told(group)).take(MOST_GROUPS);
    told.map(|group| teller.group(group)).collect()
}

/// Tells findings to the page.
#[derive(Debug)]
struct Teller<'a> {
    subject: Subject<'a>,
    commands: Commands,
    /// What processes are called.
    processes: Vec<String>,
}

impl Teller<'_> {
    fn group(&self, group: &Group) -> GroupRow {
        let is_told = |it: &&finding::Finding| it.severity >= WORTH_A_WORD;
        let told = group.members.iter().filter(is_told);
        let wanted = told.filter(|it| is_wanted(self.subject, &it.kind));
        let members: Vec<FindingRow> = wanted.map(|it| self.finding(it)).collect();
        let more = members.len().saturating_sub(MOST_MEMBERS);
        GroupRow {
            severity: group.severity,
            word: finding::word(group.severity),
            head: self.finding(&group.head),
            members: members.into_iter().take(MOST_MEMBERS).collect(),
            more,
        }
    }

    fn finding(&self, finding: &finding::Finding) -> FindingRow {
        let at = finding.at;
        let because = finding.because.as_ref();
        let (link, what) = self.what(&finding.kind);
        FindingRow {
            severity: finding.severity,
            word: finding.word(),
            at: at.map(|at| self.subject.time(at)),
            link,
            instant: at.and_then(|at| self.instant(&finding.kind, at)),
            phase: finding.phase.map(|phase| phase.name()),
            because: because.map(|because| self.because(because)),
            commands: self.commands_for(&finding.kind, at, because),
            what,
        }
    }

    fn runner(&self, runner: Runner) -> String {
        let names = &self.subject.analysis.names;
        match runner.ran {
            Ran::Callback(callback) => names.callback(callback).to_owned(),
            Ran::Client(client) => names.client(client).to_owned(),
            Ran::Unnamed(address) => names::unnamed_callback(address),
        }
    }

    fn runner_link(&self, runner: Runner) -> String {
        match runner.ran {
            Ran::Callback(callback) => callback_link(callback),
            Ran::Client(_) | Ran::Unnamed(_) => format!("#processes/{}", runner.process.index()),
        }
    }

    fn because(&self, because: &Because) -> BecauseRow {
        BecauseRow {
            name: self.runner(because.runner),
            link: self.runner_link(because.runner),
            place: because.place.name(),
            longest: because.longest,
            times: because.times,
            of: because.of,
        }
    }

    fn callback(&self, id: CallbackId) -> String {
        self.subject.analysis.names.callback(id).to_owned()
    }

    /// The page that has all of it, and the numbers of the sentence.
    fn what(&self, kind: &FindingKind) -> (String, What) {
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
            } => {
                let link = match topics.as_slice() {
                    [only] => topic_link(subject, only),
                    _ => "#topics".to_owned(),
                };
                let what = What::SilentTopics {
                    silence: silence.name(),
                    topics: topics.iter().take(MOST_NAMES).cloned().collect(),
                    number: topics.len(),
                };
                (link, what)
            }
            FindingKind::BusyThread { thread, share } => {
                let process = model.process_of(thread).index();
                let what = What::BusyThread {
                    process: self.processes[process].clone(),
                    tid: model.threads[thread.index()].tid,
                    share,
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
            FindingKind::LateNodes { ref nodes, after } => {
                let link = format!("#nodes/{}", nodes.last().map_or(0, |node| node.index()));
                let names = nodes.iter().take(MOST_NAMES);
                let what = What::LateNodes {
                    nodes: names.map(|node| node_name(Some(*node))).collect(),
                    number: nodes.len(),
                    after,
                };
                (link, what)
            }
        }
    }

    /// The schedule at an instant, of what it is about.
    fn instant(&self, kind: &FindingKind, at: Nanos) -> Option<String> {
        let model = self.subject.analysis.model;
        let at = self.subject.time(at);
        let of = match kind {
            FindingKind::Blocked { runner, thread, .. } => match runner.ran {
                Ran::Callback(callback) => format!("callback/{}", callback.index()),
                Ran::Client(_) | Ran::Unnamed(_) => format!("thread/{}", thread.index()),
            },
            FindingKind::LongExecution { runner, .. } => match runner.ran {
                Ran::Callback(callback) => format!("callback/{}", callback.index()),
                Ran::Client(_) | Ran::Unnamed(_) => format!("process/{}", runner.process.index()),
            },
            FindingKind::LateExecution { callback, .. }
            | FindingKind::SkippedFirings { callback, .. } => {
                format!("callback/{}", callback.index())
            }
            FindingKind::LostMessages { subscription, .. }
            | FindingKind::OverflowingQueue { subscription, .. } => {
                let callback = model.subscriptions[subscription.index()].callback?;
                format!("callback/{}", callback.index())
            }
            FindingKind::Pause { publisher, .. } => {
                let process = model.publishers[publisher.index()].process;
                format!("process/{}", process.index())
            }
            FindingKind::BusyThread { thread, .. } => format!("thread/{}", thread.index()),
            FindingKind::EndedEarly { process, .. } => format!("process/{}", process.index()),
            FindingKind::SlowPath { path, .. } => format!("path/{path}"),
            FindingKind::SilentTopics { .. } | FindingKind::LateNodes { .. } => {
                "application/".to_owned()
            }
        };
        Some(format!("#schedule/{of}/at/{at}"))
    }

    /// What to type next: first what explains it, then what shows it.
    fn commands_for(
        &self,
        kind: &FindingKind,
        at: Option<Nanos>,
        because: Option<&Because>,
    ) -> Vec<String> {
        let model = self.subject.analysis.model;
        let commands = &self.commands;
        let timeline = commands.timeline(at.or(because.map(|because| because.at)));
        let cause = || {
            because.map(|because| {
                commands.why_callback(&self.runner(because.runner), Some(because.at))
            })
        };
        let topic = |subscription: rostrace_trace::entity::SubscriptionId| {
            commands.topic(&model.subscriptions[subscription.index()].topic)
        };
        let first = match kind {
            FindingKind::Blocked { runner, .. } | FindingKind::LongExecution { runner, .. } => {
                commands.why_callback(&self.runner(*runner), at)
            }
            FindingKind::LateExecution { callback, .. }
            | FindingKind::SkippedFirings { callback, .. } => {
                commands.why_callback(&self.callback(*callback), at)
            }
            FindingKind::LostMessages { subscription, .. }
            | FindingKind::OverflowingQueue { subscription, .. } => {
                cause().unwrap_or_else(|| topic(*subscription))
            }
            FindingKind::Pause { publisher, .. } => cause()
                .unwrap_or_else(|| commands.topic(&model.publishers[publisher.index()].topic)),
            FindingKind::SilentTopics { topics, .. } => match topics.as_slice() {
                [only] => commands.topic(only),
                _ => commands.list("topics"),
            },
            FindingKind::BusyThread { .. } => cause().unwrap_or_else(|| commands.list("executors")),
            FindingKind::SlowPath { path, .. } => {
                let hops = &self.subject.shared.paths()[*path].0.hops;
                match (hops.first(), hops.last()) {
                    (Some(first), Some(last)) => {
                        commands.why_path(&first.publishing_node, &last.node, at)
                    }
                    _ => commands.list("latency"),
                }
            }
            FindingKind::EndedEarly { .. } => commands.list("processes"),
            FindingKind::LateNodes { .. } => commands.list("nodes"),
        };
        vec![first, timeline]
    }
}

fn callback_link(id: CallbackId) -> String {
    format!("#callbacks/{}", id.index())
}

/// Topics are numbered in the order of their names.
fn topic_link(subject: Subject<'_>, topic: &str) -> String {
    let number = subject.shared.topics().binary_search(&topic);
    number.map_or("#topics".to_owned(), |number| format!("#topics/{number}"))
}
