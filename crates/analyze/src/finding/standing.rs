//! That everything stood still, where other findings are due to that.

use std::collections::BTreeMap;

use rostrace_trace::entity::CallbackId;

use super::phase::Phases;
use super::{Finding, FindingKind, Root, Runner};
use crate::analysis::Analysis;
use crate::standstill::Scope;

/// One for each machine or process; it is as bad as the worst of what it did.
pub(super) fn find(analysis: &Analysis<'_>, phases: &Phases<'_>, found: &mut Vec<Finding>) {
    let mut scopes: BTreeMap<Scope, f64> = BTreeMap::new();
    for finding in found.iter() {
        if let Some(Root::Standstill(scope)) = finding.because.map(|it| it.root) {
            let severity = scopes.entry(scope).or_default();
            *severity = severity.max(finding.severity);
        }
    }
    for (scope, severity) in scopes {
        let of_scope = || {
            let all = analysis.standstills().list.iter();
            all.filter(move |it| it.scope == scope)
        };
        let longest = of_scope().max_by_key(|it| (it.duration(), std::cmp::Reverse(it.begin)));
        let Some(longest) = longest else { continue };
        let (_, processes) = longest.held_up(analysis.model);
        let mut victims: Vec<CallbackId> = Vec::new();
        for (id, _) in &longest.victims {
            let callback = analysis.instance(*id).callback;
            victims.extend(callback.filter(|callback| !victims.contains(callback)));
        }
        let running = longest.running.first();
        let kind = FindingKind::Standstill {
            scope,
            longest: longest.duration(),
            victims,
            processes: processes as u64,
            running: running.map(|id| Runner::of(analysis.model, analysis.instance(*id))),
            meanwhile: longest.meanwhile(analysis),
            times: of_scope().count() as u64,
        };
        let phase = phases.at(longest.begin);
        let phase = phase.filter(|phase| !phases.is_as_bad_outside(*phase, &kind));
        let mut finding = Finding::new(kind, severity, Some(longest.begin));
        finding.phase = phase;
        found.push(finding);
    }
}
