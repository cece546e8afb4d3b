//! Which callback is worst: the one order that the first screen of a report, `callbacks` and `why` have.

use std::cmp::Ordering;

use rostrace_trace::entity::CallbackId;

use super::{Finding, Group, Measured, WORTH_A_LOOK, WORTH_A_WORD, damped, findings, groups};
use crate::analysis::Analysis;
use crate::built_in;
use crate::callback::CallbackSummary;

#[derive(Debug)]
pub struct Ranking {
    /// By callback.
    places: Vec<Place>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Place {
    severity: f64,
    /// How many findings are due to it.
    caused: usize,
    hurt: f64,
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
            let hurt = summary.hurt(analysis).filter(|_| !is_built_in);
            let hurt = hurt.unwrap_or(0.0);
            Place {
                // What has no rhythm has no period to be measured by, so that this says little.
                severity: damped(hurt).min(WORTH_A_WORD),
                caused: 0,
                hurt,
                is_built_in,
            }
        };
        let mut places: Vec<Place> = callbacks.iter().map(of_summary).collect();
        let mut raise = |finding: &Finding, severity: f64, caused: usize| {
            let place = finding.callback().and_then(|it| places.get_mut(it.index()));
            if let Some(place) = place {
                place.severity = place.severity.max(severity);
                place.caused = place.caused.max(caused);
            }
        };
        for group in groups {
            let caused = group.members.iter().filter(|it| it.because.is_some());
            raise(&group.head, group.severity, caused.count());
            for member in &group.members {
                raise(member, member.severity, 0);
            }
        }
        Ranking { places }
    }

    pub fn severity(&self, callback: CallbackId) -> f64 {
        self.place(callback).severity
    }

    /// How many findings are due to it.
    pub fn caused(&self, callback: CallbackId) -> usize {
        self.place(callback).caused
    }

    /// Whether it is something that has to be seen, also if nobody wrote it.
    pub fn is_notable(&self, callback: CallbackId) -> bool {
        self.severity(callback) >= WORTH_A_LOOK
    }

    /// The worse one first. Of two that are equally bad it is the one that the other is due to.
    pub fn order(&self, a: CallbackId, b: CallbackId) -> Ordering {
        let (first, second) = (self.place(a), self.place(b));
        (second.severity.total_cmp(&first.severity))
            .then((second.caused > 0).cmp(&(first.caused > 0)))
            .then(second.hurt.total_cmp(&first.hurt))
            .then(first.is_built_in.cmp(&second.is_built_in))
    }

    fn place(&self, callback: CallbackId) -> Place {
        let place = self.places.get(callback.index());
        place.copied().unwrap_or_default()
    }
}
