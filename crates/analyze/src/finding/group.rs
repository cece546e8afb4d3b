//! Findings of one root cause, together: what ran long, and below it everything that was late because of it.

use std::collections::{BTreeMap, BTreeSet};

use rostrace_model::entity::ThreadId;

use super::{Because, Finding, FindingKind, Root, Runner};
use crate::analysis::Analysis;
use crate::callback::CallbackSummary;
use crate::standstill::Scope;
use crate::thread::Ran;

#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What all of it is due to, or the only finding.
    pub head: Finding,
    /// The worst first.
    pub members: Vec<Finding>,
    /// That of the worst of them: a short execution can do great harm.
    pub severity: f64,
}

impl Group {
    fn new(head: Finding, members: Vec<Finding>) -> Group {
        let severities = members.iter().map(|it| it.severity);
        let severity = severities.fold(head.severity, f64::max);
        Group {
            head,
            members,
            severity,
        }
    }

    /// Whether something in it is what a finding is due to.
    pub fn has_root_of(&self, finding: &Finding) -> bool {
        finding.because.is_some_and(|because| {
            let mut roots = self.findings().map(|it| it.kind.root());
            roots.any(|root| root == Some(because.root))
        })
    }

    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&self.head).chain(&self.members)
    }
}

/// Findings of one callback.
#[derive(Debug, Default)]
struct Gathered {
    /// That it ran long itself.
    long: Option<Finding>,
    /// That it was late itself, for no known cause.
    own: Vec<Finding>,
    /// What it made late.
    caused: Vec<Finding>,
}

/// All findings, each in one group, the worst first.
pub fn groups(
    analysis: &Analysis<'_>,
    callbacks: &[CallbackSummary],
    findings: Vec<Finding>,
) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut gathered: BTreeMap<Runner, Gathered> = BTreeMap::new();
    let is_path = |finding: &Finding| matches!(finding.kind, FindingKind::SlowPath { .. });
    let (paths, findings): (Vec<Finding>, Vec<Finding>) = findings.into_iter().partition(is_path);
    let mut standing: BTreeMap<Scope, Vec<Finding>> = BTreeMap::new();
    let mut busy_threads: Vec<(ThreadId, Finding)> = Vec::new();
    let busy: BTreeSet<ThreadId> = findings.iter().filter_map(busy_thread).collect();
    for finding in findings {
        let scope = match (&finding.kind, finding.because.map(|it| it.root)) {
            (FindingKind::Standstill { scope, .. }, _) => Some(*scope),
            (_, Some(Root::Standstill(scope))) => Some(scope),
            _ => None,
        };
        if let Some(scope) = scope {
            standing.entry(scope).or_default().push(finding);
            continue;
        }
        if let Some(Root::Thread(thread)) = finding.because.map(|it| it.root)
            && busy.contains(&thread)
        {
            busy_threads.push((thread, finding));
            continue;
        }
        let victim = finding.kind.victim();
        let victim = victim.map(|callback| Runner::callback(analysis.model, callback));
        match (finding.kind.runner(), &finding.because, victim) {
            (Some(runner), ..) => gathered.entry(runner).or_default().long = Some(finding),
            (
                None,
                Some(Because {
                    root: Root::Runner(runner),
                    ..
                }),
                _,
            ) => {
                let of_cause = gathered.entry(*runner).or_default();
                of_cause.caused.push(finding);
            }
            (None, _, Some(victim)) => gathered.entry(victim).or_default().own.push(finding),
            (None, _, None) => groups.push(Group::new(finding, Vec::new())),
        }
    }
    for (runner, mut of_runner) in gathered {
        if of_runner.caused.is_empty() {
            let mut all: Vec<Finding> = of_runner.long.into_iter().chain(of_runner.own).collect();
            all.sort_by(|a, b| b.severity.total_cmp(&a.severity));
            let mut all = all.into_iter();
            let head = all.next();
            groups.extend(head.map(|head| Group::new(head, all.collect())));
            continue;
        }
        let head = of_runner
            .long
            .unwrap_or_else(|| long(callbacks, runner, &of_runner.caused));
        // That a single execution kept its thread busy has been said.
        if matches!(head.kind, FindingKind::Blocked { times: 1, .. }) {
            let is_said = |it: &Finding| matches!(it.kind, FindingKind::BusyThread { .. });
            of_runner.caused.retain(|finding| !is_said(finding));
        }
        of_runner.caused.append(&mut of_runner.own);
        groups.push(Group::new(head, of_runner.caused));
    }
    for (_, mut all) in standing {
        let is_head = |it: &Finding| matches!(it.kind, FindingKind::Standstill { .. });
        let head = all.iter().position(is_head);
        let head = head.map(|place| all.remove(place));
        match head {
            Some(head) => groups.push(Group::new(head, all)),
            None => groups.extend(all.into_iter().map(|it| Group::new(it, Vec::new()))),
        }
    }
    // Below what says that the thread is busy, wherever that stands.
    for (thread, finding) in busy_threads {
        let is_place =
            |group: &&mut Group| group.findings().any(|it| busy_thread(it) == Some(thread));
        match groups.iter_mut().find(is_place) {
            Some(group) => {
                group.severity = group.severity.max(finding.severity);
                group.members.push(finding);
            }
            None => groups.push(Group::new(finding, Vec::new())),
        }
    }
    for path in paths {
        let cause = path.because.map(|because| because.root);
        let of_cause = groups.iter_mut().find(|group| {
            // A path must not change the order of callbacks, which is the same where nobody asks for paths.
            cause.is_some() && group.head.kind.root() == cause && group.severity >= path.severity
        });
        match of_cause {
            Some(group) => group.members.push(path),
            None => groups.push(Group::new(path, Vec::new())),
        }
    }
    for group in &mut groups {
        let members = &mut group.members;
        members.sort_by(|a, b| b.severity.total_cmp(&a.severity));
    }
    groups.sort_by(|a, b| b.severity.total_cmp(&a.severity));
    groups
}

fn busy_thread(finding: &Finding) -> Option<ThreadId> {
    match finding.kind {
        FindingKind::BusyThread { thread, .. } => Some(thread),
        _ => None,
    }
}

/// A cause that is no finding by itself: it has no period, or a far longer one.
fn long(callbacks: &[CallbackSummary], runner: Runner, caused: &[Finding]) -> Finding {
    let because = caused.iter().filter_map(|it| it.because);
    let longest = because.max_by_key(|because| because.longest);
    let (worst, at) = longest.map_or((0, None), |it| (it.longest, Some(it.at)));
    let summary = match runner.ran {
        Ran::Callback(callback) => callbacks.get(callback.index()),
        Ran::Client(_) | Ran::Unnamed(_) => None,
    };
    let duration = summary.and_then(|summary| summary.duration);
    let kind = FindingKind::LongExecution {
        runner,
        worst: duration.map_or(worst, |it| it.max),
        usual: duration.map(|it| it.p50),
        period: None,
    };
    Finding::new(kind, 0.0, duration.map(|it| it.worst).or(at))
}
