//! Executions that kept a thread, ran long, began late or did not happen.

use std::collections::BTreeMap;

use rostrace_ctf::schema::Nanos;
use rostrace_model::describe::built_in;
use rostrace_model::entity::{CallbackId, CallbackOwner, InstanceId, ThreadId};

use super::cause::Rest;
use super::{
    Because, Finding, FindingKind, NOTICEABLE, Root, Runner, SECOND, damped, is_regular, recorded,
};
use crate::analysis::Analysis;
use crate::callback::{CallbackSummary, instance_timings};
use crate::clocks::UnsynchronisedHosts;
use crate::statistics::Statistics;
use crate::thread::Ran;

/// An execution that takes more of the recorded time keeps its thread, however short the recording is.
pub(super) const LARGE_SHARE: f64 = 0.05;

pub(super) fn find(
    analysis: &Analysis<'_>,
    callbacks: &[CallbackSummary],
    found: &mut Vec<Finding>,
) {
    let blocked = blocked(analysis, callbacks);
    for summary in callbacks {
        if built_in::callback(analysis.model, summary.callback) {
            continue;
        }
        let runner = Runner::callback(analysis.model, summary.callback);
        of_callback(analysis, summary, blocked.contains_key(&runner), found);
    }
    unnamed(analysis, &blocked, found);
    found.extend(blocked.into_values());
}

/// What ran long of callbacks that the trace does not name.
fn unnamed(analysis: &Analysis<'_>, blocked: &BTreeMap<Runner, Finding>, found: &mut Vec<Finding>) {
    let model = analysis.model;
    let mut runs: BTreeMap<Runner, Vec<InstanceId>> = BTreeMap::new();
    for (index, instance) in model.instances.iter().enumerate() {
        let runner = Runner::of(model, instance);
        let counts = instance.callback.is_none() && analysis.counts(instance.start);
        if counts && !blocked.contains_key(&runner) {
            let runs = runs.entry(runner).or_default();
            runs.push(InstanceId::from_index(index));
        }
    }
    for (runner, runs) in runs {
        let runs: Vec<_> = runs.into_iter().map(|id| analysis.instance(id)).collect();
        let mut durations: Vec<(i64, Nanos)> = (runs.iter())
            .filter_map(|run| Some((run.end?.0 - run.start.0, run.start)))
            .collect();
        let mut periods: Vec<(i64, Nanos)> = (runs.windows(2))
            .filter(|pair| !analysis.is_damaged(pair[0].start, pair[1].start))
            .map(|pair| (pair[1].start.0 - pair[0].start.0, pair[1].start))
            .collect();
        let period = Statistics::of(&mut periods).filter(is_regular);
        let duration = Statistics::of(&mut durations).filter(|it| it.max >= NOTICEABLE);
        if let Some((period, duration)) = period.zip(duration) {
            let kind = FindingKind::LongExecution {
                runner,
                worst: duration.max,
                usual: Some(duration.p50),
                period: Some(period.p50),
            };
            let severity = damped(duration.max as f64 / period.p50 as f64);
            found.push(Finding::new(kind, severity, Some(duration.worst)));
        }
    }
}

/// The period that a callback is set to or keeps, if any. A service has none: who asks again waits for the answer first.
pub(crate) fn period(analysis: &Analysis<'_>, summary: &CallbackSummary) -> Option<i64> {
    let set = match analysis.model.callbacks[summary.callback.index()].owner {
        CallbackOwner::Timer(id) => analysis.model.timers[id.index()].system_period(),
        CallbackOwner::Service(_) => return None,
        CallbackOwner::Subscription(_) | CallbackOwner::Unknown => None,
    };
    let set = set.map(|period| period.0);
    let observed = summary.period.filter(is_regular);
    let period = set.or(observed.map(|period| period.p50));
    period.filter(|period| *period > 0)
}

fn of_callback(
    analysis: &Analysis<'_>,
    summary: &CallbackSummary,
    is_blocking: bool,
    found: &mut Vec<Finding>,
) {
    let callback = summary.callback;
    let runner = Runner::callback(analysis.model, callback);
    if let Some(period) = period(analysis, summary) {
        let share = |worst: i64| damped(worst as f64 / period as f64);
        let duration = summary.duration.filter(|it| it.max >= NOTICEABLE);
        if let Some(duration) = duration.filter(|_| !is_blocking) {
            let kind = FindingKind::LongExecution {
                runner,
                worst: duration.max,
                usual: Some(duration.p50),
                period: Some(period),
            };
            found.push(Finding::new(
                kind,
                share(duration.max),
                Some(duration.worst),
            ));
        }
        let lateness = summary.lateness.filter(|it| it.max >= NOTICEABLE);
        if let Some(lateness) = lateness.filter(|_| has_one_clock(analysis, callback)) {
            let kind = FindingKind::LateExecution {
                callback,
                worst: lateness.max,
                usual: lateness.p50,
                period,
            };
            found.push(Finding::new(
                kind,
                share(lateness.max),
                Some(lateness.worst),
            ));
        }
    }
    if summary.skipped > 0 {
        let (skipped, fired) = (summary.skipped, summary.count);
        let severity = damped(10.0 * skipped as f64 / (skipped + fired) as f64);
        let kind = FindingKind::SkippedFirings {
            callback,
            skipped,
            fired,
        };
        let executions = instance_timings(analysis, callback).into_iter();
        let skips = executions.filter_map(|it| Some((it.firing?.skipped, it.instance)));
        let most = skips.max_by_key(|(skipped, id)| (*skipped, std::cmp::Reverse(*id)));
        let at = most.map(|(_, id)| analysis.instance(id).start);
        found.push(Finding::new(kind, severity, at));
    }
}

/// What a callback did apart from standstills, if that is worth a finding of its own.
pub(super) fn rest(
    analysis: &Analysis<'_>,
    evidence: super::Evidence<'_>,
    of: &Finding,
    rest: Rest,
) -> Option<Finding> {
    let is_standstill = |because: Because| matches!(because.root, Root::Standstill(_));
    of.because.filter(|because| is_standstill(*because))?;
    let callback = match of.subject(analysis.model)?.ran {
        Ran::Callback(callback) => callback,
        Ran::Client(_) | Ran::Unnamed(_) => return None,
    };
    let summary = evidence.callbacks.get(callback.index())?;
    let period = period(analysis, summary)?;
    let (kind, worst) = match of.kind {
        FindingKind::LateExecution { usual, .. } => {
            let kind = FindingKind::LateExecution {
                callback,
                worst: rest.late,
                usual,
                period,
            };
            (kind, rest.late)
        }
        _ => {
            let usual = summary.duration.map(|it| it.p50);
            let worst = rest.late + usual.unwrap_or(0);
            let kind = FindingKind::LongExecution {
                runner: Runner::callback(analysis.model, callback),
                worst,
                usual,
                period: Some(period),
            };
            (kind, worst)
        }
    };
    let mut finding = Finding::new(kind, damped(worst as f64 / period as f64), Some(rest.at));
    finding.because = rest.because;
    finding.is_apart = true;
    Some(finding)
}

/// Whether all that a callback receives is from hosts whose clock is that of its own: else nothing can be said of how late it was.
pub(crate) fn has_one_clock(analysis: &Analysis<'_>, callback: CallbackId) -> bool {
    match analysis.model.callbacks[callback.index()].owner {
        CallbackOwner::Subscription(id) => {
            UnsynchronisedHosts::on_the_way(analysis, analysis.deliveries_to(id)).is_none()
        }
        _ => true,
    }
}

/// The longest execution of something.
#[derive(Debug)]
struct Longest {
    thread: ThreadId,
    start: Nanos,
    duration: i64,
    ended: bool,
    times: u64,
}

/// Who kept a thread for a second or more, or for a large part of the recording: of anything that runs, whatever its period, built in or not.
fn blocked(analysis: &Analysis<'_>, callbacks: &[CallbackSummary]) -> BTreeMap<Runner, Finding> {
    let model = analysis.model;
    let (.., length) = recorded(analysis);
    let share = |duration: i64| match length {
        0 => 0.0,
        _ => duration as f64 / length as f64,
    };
    let is_long = |duration: i64| {
        duration >= SECOND || duration >= NOTICEABLE && share(duration) > LARGE_SHARE
    };
    let mut longest: BTreeMap<Runner, Longest> = BTreeMap::new();
    let mut add = |ran: Ran, thread: ThreadId, start: Nanos, duration: i64, ended: bool| {
        if !is_long(duration) || !analysis.counts(start) {
            return;
        }
        let process = model.process_of(thread);
        let this = Longest {
            thread,
            start,
            duration,
            ended,
            times: 0,
        };
        let most = longest.entry(Runner { process, ran }).or_insert(this);
        most.times += 1;
        if duration > most.duration {
            let times = most.times;
            *most = Longest {
                thread,
                start,
                duration,
                ended,
                times,
            };
        }
    };
    for (index, instance) in model.instances.iter().enumerate() {
        let ran = Runner::of(model, instance).ran;
        let ran_for = match instance.end {
            Some(end) => Some((end.0 - instance.start.0, true)),
            None => at_least(analysis, InstanceId::from_index(index)).map(|it| (it, false)),
        };
        if let Some((duration, ended)) = ran_for {
            add(ran, instance.thread, instance.start, duration, ended);
        }
    }
    for callback in &model.client_callbacks {
        let ran = match callback.client {
            Some(client) => Ran::Client(client),
            None => Ran::Unnamed(callback.rmw_handle),
        };
        if let Some(end) = callback.end {
            let duration = end.0 - callback.start.0;
            add(ran, callback.thread, callback.start, duration, true);
        }
    }
    let finding = |runner: Runner, most: Longest| {
        let usual = match runner.ran {
            Ran::Callback(id) => callbacks.get(id.index()).and_then(|it| it.duration),
            Ran::Client(_) | Ran::Unnamed(_) => None,
        };
        let share = share(most.duration);
        let seconds = most.duration as f64 / SECOND as f64;
        let kind = FindingKind::Blocked {
            runner,
            thread: most.thread,
            worst: most.duration,
            ended: most.ended,
            usual: usual.map(|it| it.p50),
            share,
            times: most.times,
        };
        let severity = damped(seconds.max(share / LARGE_SHARE));
        Finding::new(kind, severity, Some(most.start))
    };
    let found = longest.into_iter();
    found
        .map(|(runner, most)| (runner, finding(runner, most)))
        .collect()
}

/// How long an execution without an end was under way for certain: until its process was last heard of, if its thread did nothing else meanwhile. A service that
/// answers later has no end either; it is over when its executor goes on, so without phases of the executor nothing is known of it.
pub(super) fn at_least(analysis: &Analysis<'_>, id: InstanceId) -> Option<i64> {
    let model = analysis.model;
    let instance = analysis.instance(id);
    let thread = instance.thread;
    let is_last = analysis.instances_on(thread).last() == Some(&id);
    let phases = analysis.phases_on(thread);
    let last_phase = phases.last().map(|id| model.phases[id.index()].time);
    let clients = analysis.client_callbacks_on(thread).last();
    let last_client = clients.map(|id| analysis.client_callback(*id).start);
    let went_on = last_phase.max(last_client) > Some(instance.start);
    let may_have_answered = phases.is_empty()
        && instance.callback.is_none_or(|callback| {
            let owner = model.callbacks[callback.index()].owner;
            let is_service = matches!(owner, CallbackOwner::Service(_) | CallbackOwner::Unknown);
            let mut executions = analysis.instances_of(callback).iter();
            is_service && !executions.any(|id| analysis.instance(*id).end.is_some())
        });
    let (_, until) = model.processes[model.process_of(thread).index()].recorded();
    let until = until.min(*analysis.window.end());
    let is_known =
        is_last && !went_on && !may_have_answered && !analysis.is_damaged(instance.start, until);
    is_known.then(|| until.0.saturating_sub(instance.start.0))
}
