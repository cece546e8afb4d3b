//! Which callback is worst: the one order that the first screen of a report, `callbacks` and `why` have.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{
    Finding, Group, Measured, Runner, WORTH_A_LOOK, WORTH_A_WORD, damped, findings, groups,
};
use crate::analysis::Analysis;
use crate::callback::CallbackSummary;
use rostrace_model::describe::built_in;

#[derive(Debug)]
pub struct Ranking {
    /// Whatever is not in it is not bad at all.
    ranks: BTreeMap<Runner, Rank>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Rank {
    severity: f64,
    /// How many findings are due to it.
    caused: usize,
    worst_over_period: f64,
    is_built_in: bool,
}

impl Ranking {
    /// Of the summaries of all callbacks, in their order.
    pub fn of(analysis: &Analysis<'_>, callbacks: &[CallbackSummary]) -> Ranking {
        let measured = Measured::of(analysis);
        let found = findings(analysis, measured.evidence(callbacks));
        Ranking::by(analysis, callbacks, &groups(analysis, callbacks, found))
    }

    /// By the groups of all findings.
    pub fn by(analysis: &Analysis<'_>, callbacks: &[CallbackSummary], groups: &[Group]) -> Ranking {
        let of_summary = |summary: &CallbackSummary| {
            let is_built_in = built_in::callback(analysis.model, summary.callback);
            let worst_over_period = summary.worst_over_period(analysis).filter(|_| !is_built_in);
            let worst_over_period = worst_over_period.unwrap_or(0.0);
            let rank = Rank {
                // What has no rhythm has no period to be measured by, so that this says little.
                severity: damped(worst_over_period).min(WORTH_A_WORD),
                caused: 0,
                worst_over_period,
                is_built_in,
            };
            (Runner::callback(analysis.model, summary.callback), rank)
        };
        let mut ranks: BTreeMap<Runner, Rank> = callbacks.iter().map(of_summary).collect();
        let mut raise = |finding: &Finding, severity: f64, caused: usize| {
            if let Some(runner) = finding.subject(analysis.model) {
                let rank = ranks.entry(runner).or_default();
                rank.severity = rank.severity.max(severity);
                rank.caused = rank.caused.max(caused);
            }
        };
        for group in groups {
            let caused = group.members.iter().filter(|it| group.has_root_of(it));
            raise(&group.head, group.severity, caused.count());
            for member in &group.members {
                raise(member, member.severity, 0);
            }
        }
        Ranking { ranks }
    }

    pub fn severity(&self, runner: Runner) -> f64 {
        self.rank(runner).severity
    }

    /// How many findings are due to it.
    pub fn caused(&self, runner: Runner) -> usize {
        self.rank(runner).caused
    }

    /// Whether it is something that has to be seen, also if nobody wrote it.
    pub fn is_notable(&self, runner: Runner) -> bool {
        self.severity(runner) >= WORTH_A_LOOK
    }

    /// The worse one first. Of two that are equally bad it is the one that the other is due to.
    pub fn order(&self, a: Runner, b: Runner) -> Ordering {
        let (first, second) = (self.rank(a), self.rank(b));
        (second.severity.total_cmp(&first.severity))
            .then((second.caused > 0).cmp(&(first.caused > 0)))
            .then(second.worst_over_period.total_cmp(&first.worst_over_period))
            .then(first.is_built_in.cmp(&second.is_built_in))
    }

    fn rank(&self, runner: Runner) -> Rank {
        self.ranks.get(&runner).copied().unwrap_or_default()
    }
}
