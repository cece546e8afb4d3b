//! Findings for the page, which makes sentences of them: groups of one root cause, with where to look and what to type next.

use rostrace_analyze::finding::{self, Because, FindingKind, Group, Root, Runner, WORTH_A_WORD};
use rostrace_analyze::standstill::Scope;
use rostrace_analyze::thread::Ran;
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::CallbackId;
use serde::Serialize;

use super::command::Commands;
use super::wanted::is_wanted;
use super::what::{What, callback_link};
use crate::page::Subject;
use crate::process_name::process_names;

/// So many groups are shown at most, and so many findings below the first of each.
const MOST_GROUPS: usize = 40;
const MOST_MEMBERS: usize = 12;

/// Findings of one root cause.
#[derive(Debug, Serialize)]
pub(super) struct GroupRow {
    /// That of the worst of them.
    severity: f64,
    word: &'static str,
    head: FindingRow,
    members: Vec<FindingRow>,
    /// Members that are not shown.
    more: usize,
}

/// Something that is not as it should be.
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
    /// Without what standstills did.
    apart: bool,
    because: Option<BecauseRow>,
    /// Whether it is due to something in its group.
    follows: bool,
    commands: Vec<String>,
    #[serde(flatten)]
    what: What,
}

/// What it is due to.
#[derive(Debug, Serialize)]
struct BecauseRow {
    name: String,
    link: String,
    location: &'static str,
    longest: i64,
    times: u64,
    of: u64,
}

/// All groups that are worth a word, the worst first.
pub(super) fn groups(subject: Subject<'_>) -> Vec<GroupRow> {
    let is_shown = |group: &Group| {
        let mut findings = group.findings();
        group.severity >= WORTH_A_WORD && findings.any(|it| is_wanted(subject, &it.kind))
    };
    let teller = Teller::of(subject);
    let groups = subject.shared.findings().iter();
    let shown = groups.filter(|group| is_shown(group)).take(MOST_GROUPS);
    shown.map(|group| teller.group(group)).collect()
}

/// Tells findings to the page.
#[derive(Debug)]
pub(super) struct Teller<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) commands: Commands,
    /// What processes are called.
    pub(super) processes: Vec<String>,
}

impl<'a> Teller<'a> {
    pub(super) fn of(subject: Subject<'a>) -> Teller<'a> {
        let processes = process_names(subject.analysis.model).into_iter();
        Teller {
            subject,
            commands: Commands::of(subject),
            processes: processes.map(|it| it.name).collect(),
        }
    }

    fn group(&self, group: &Group) -> GroupRow {
        let is_shown = |it: &&finding::Finding| it.severity >= WORTH_A_WORD;
        let shown = group.members.iter().filter(is_shown);
        let wanted = shown.filter(|it| is_wanted(self.subject, &it.kind));
        let members: Vec<FindingRow> = wanted
            .map(|it| FindingRow {
                follows: group.has_root_of(it),
                ..self.finding(it)
            })
            .collect();
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
            apart: finding.is_apart,
            because: because.map(|because| self.because(because)),
            follows: false,
            commands: self.commands_for(&finding.kind, at, because),
            what,
        }
    }

    pub(super) fn runner(&self, runner: Runner) -> String {
        runner.name(&self.subject.analysis.names)
    }

    pub(super) fn runner_link(&self, runner: Runner) -> String {
        match runner.ran {
            Ran::Callback(callback) => callback_link(callback),
            Ran::Client(_) | Ran::Unnamed(_) => format!("#processes/{}", runner.process.index()),
        }
    }

    fn because(&self, because: &Because) -> BecauseRow {
        let (name, link) = match because.root {
            Root::Runner(runner) => (self.runner(runner), self.runner_link(runner)),
            Root::Standstill(scope) => (
                self.standing(scope)
                    .unwrap_or_else(|| "everything".to_owned()),
                format!("#schedule/{}", self.standing_instant(scope, because.at)),
            ),
            Root::Thread(thread) => {
                let model = self.subject.analysis.model;
                let process = model.process_of(thread).index();
                (
                    format!("thread {}", model.threads[thread.index()].tid),
                    format!("#processes/{process}"),
                )
            }
        };
        BecauseRow {
            name,
            link,
            location: match because.root {
                Root::Thread(_) => "busy_thread",
                _ => because.location.name(),
            },
            longest: because.longest,
            times: because.times,
            of: because.of,
        }
    }

    pub(super) fn callback(&self, id: CallbackId) -> String {
        self.subject.analysis.names.callback(id).to_owned()
    }

    /// The process that stood still, if it is not the whole machine.
    pub(super) fn standing(&self, scope: Scope) -> Option<String> {
        match scope {
            Scope::Machine(_) => None,
            Scope::Process(process) => Some(self.processes[process.index()].clone()),
        }
    }

    fn standing_instant(&self, scope: Scope, at: Nanos) -> String {
        let at = self.subject.time(at);
        match scope {
            Scope::Machine(_) => format!("application//at/{at}"),
            Scope::Process(process) => format!("process/{}/at/{at}", process.index()),
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
            FindingKind::Standstill {
                scope: Scope::Process(process),
                ..
            } => format!("process/{}", process.index()),
            FindingKind::Standstill {
                scope: Scope::Machine(_),
                ..
            } => "application/".to_owned(),
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
            let runner = because.and_then(|because| Some((because.root.runner()?, because.at)));
            runner.map(|(runner, at)| commands.why_callback(&self.runner(runner), Some(at)))
        };
        let topic = |subscription: rostrace_model::entity::SubscriptionId| {
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
                let ends = hops.first().zip(hops.last());
                let ends = ends.map(|(first, last)| (&first.publishing_node, &last.node));
                // Only what has a name can be asked for.
                match ends.filter(|(from, to)| from.starts_with('/') && to.starts_with('/')) {
                    Some((from, to)) => commands.why_path(from, to, at),
                    None => cause().unwrap_or_else(|| commands.list("latency")),
                }
            }
            // One of those that were held up, to see that it was.
            FindingKind::Standstill { victims, .. } => match victims.first() {
                Some(first) => commands.why_callback(&self.callback(*first), at),
                None => commands.list("callbacks"),
            },
            FindingKind::EndedEarly { .. } => commands.list("processes"),
            FindingKind::LateNodes { .. } => commands.list("nodes"),
        };
        // Nothing can be seen of what never happened.
        let has_instant = at.is_some() || because.is_some();
        match has_instant {
            true => vec![first, timeline],
            false => vec![first],
        }
    }
}
