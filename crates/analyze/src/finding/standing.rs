//! That everything stood still, where other findings are due to that.

use std::collections::BTreeMap;

use rostrace_model::entity::CallbackId;

use super::phase::Phases;
use super::{Finding, FindingKind, Root, Runner};
use crate::analysis::Analysis;
use crate::standstill::{Scope, Standstill};

/// One for each machine or process; it is as bad as the worst of what it did.
pub(super) fn find(analysis: &Analysis<'_>, phases: &Phases<'_>, found: &mut Vec<Finding>) {
    let mut scopes: BTreeMap<Scope, Vec<&Finding>> = BTreeMap::new();
    for finding in found.iter() {
        if let Some(Root::Standstill(scope)) = finding.because.map(|it| it.root) {
            scopes.entry(scope).or_default().push(finding);
        }
    }
    let standing = scopes.into_iter();
    let standing =
        standing.filter_map(|(scope, caused)| of_scope(analysis, phases, scope, &caused));
    let mut standing: Vec<Finding> = standing.collect();
    found.append(&mut standing);
}

fn of_scope(
    analysis: &Analysis<'_>,
    phases: &Phases<'_>,
    scope: Scope,
    caused: &[&Finding],
) -> Option<Finding> {
    let model = analysis.model;
    let all = || {
        let all = analysis.standstills().list.iter();
        all.filter(move |it| it.scope == scope)
    };
    // How bad that is which it is known to have done: many a long one harms nobody.
    let harm = |it: &Standstill| {
        let victims = it.victims.iter().map(|(id, _)| analysis.instance(*id));
        let severities = victims.filter_map(|row| {
            let runner = Runner::of(model, row);
            let of_victim = caused.iter().filter(|finding| {
                finding.at == Some(row.start) && finding.subject(model) == Some(runner)
            });
            of_victim
                .map(|finding| finding.severity)
                .max_by(f64::total_cmp)
        });
        severities.fold(0.0, f64::max)
    };
    let harms = all().map(|it| (harm(it), it));
    let (_, worst) = harms.max_by(|(a, first), (b, second)| {
        let longer = first.duration().cmp(&second.duration());
        a.total_cmp(b).then(longer)
    })?;
    let mut victims: Vec<CallbackId> = Vec::new();
    for (id, _) in &worst.victims {
        let callback = analysis.instance(*id).callback;
        victims.extend(callback.filter(|callback| !victims.contains(callback)));
    }
    let running = worst.running.first();
    let kind = FindingKind::Standstill {
        scope,
        duration: worst.duration(),
        victims,
        processes: worst.held_up(model).1 as u64,
        running: running.map(|id| Runner::of(model, analysis.instance(*id))),
        meanwhile: worst.meanwhile(analysis),
        times: all().count() as u64,
    };
    let severities = caused.iter().map(|finding| finding.severity);
    let severity = severities.fold(0.0, f64::max);
    let phase = phases.at(worst.begin);
    let phase = phase.filter(|phase| !phases.is_as_bad_outside(*phase, &kind));
    let mut finding = Finding::new(kind, severity, Some(worst.begin));
    finding.phase = phase;
    Some(finding)
}
