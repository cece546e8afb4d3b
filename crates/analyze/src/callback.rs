//! Callbacks summarised: how long, how often, how late, and how much of the time.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackId, CallbackOwner, InstanceId};

use crate::analysis::Analysis;
use crate::rate::{Frequency, recorded_bins, recorded_per_second};
use crate::statistics::Statistics;
use crate::thread::process_observed;
use crate::timer::{self, Firing};

/// What is known of one callback.
#[derive(Debug)]
pub struct CallbackSummary {
    pub callback: CallbackId,
    pub count: u64,
    /// Executions per second between the first start and the last; nothing for fewer than two.
    pub rate: Option<f64>,
    /// Starts in each second.
    pub frequency: Option<Frequency>,
    /// Start to end.
    pub duration: Option<Statistics>,
    /// Start to next start.
    pub period: Option<Statistics>,
    /// End to next start; negative where executions overlap.
    pub gap: Option<Statistics>,
    /// Of a timer: the period less the one that it is set to.
    pub jitter: Option<Statistics>,
    /// When it should have begun to when it did: of a timer since it was due, of a subscription since the message was published, of a service since
    /// the request was sent.
    pub lateness: Option<Statistics>,
    /// Firings of a timer that never happened.
    pub skipped: u64,
    /// Time in the callback, divided by the time that counts and in which its process was observed.
    pub utilisation: Option<f64>,
    /// Executions that touch a time in which events were lost.
    pub damaged: u64,
}

impl CallbackSummary {
    /// How bad it is at worst: its longest duration or its largest lateness, as a share of its period. Nothing for what
    /// never ran, or has no period.
    pub fn worst_over_period(&self, analysis: &Analysis<'_>) -> Option<f64> {
        let set = match analysis.model.callbacks[self.callback.index()].owner {
            CallbackOwner::Timer(id) => analysis.model.timers[id.index()].system_period(),
            _ => None,
        };
        let set = set.map(|period| period.0);
        let period = set.or(self.period.map(|period| period.p50))?;
        let worst = [self.duration, self.lateness];
        let worst = worst.iter().flatten().map(|it| it.max).max()?;
        (period > 0).then(|| worst as f64 / period as f64)
    }
}

/// One execution, with what has to be known of the ones before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceTiming {
    pub instance: InstanceId,
    /// Since the start of the one before.
    pub period: Option<i64>,
    /// Since the end of the one before.
    pub gap: Option<i64>,
    pub firing: Option<Firing>,
}

impl InstanceTiming {
    /// How much later it began than it should have: of a timer since it was due, of a service since the request was sent, else since its message was published.
    pub fn lateness(&self, analysis: &Analysis<'_>) -> Option<i64> {
        if let Some(firing) = self.firing {
            return Some(firing.lateness);
        }
        if let Some((_, sent)) = analysis.asked_by(self.instance) {
            return Some(analysis.instance(self.instance).start.0 - sent.0);
        }
        let arrival = analysis.arrival(analysis.received_by(self.instance)?)?;
        (!arrival.historical).then(|| arrival.stages.latency())
    }

    /// When it should have begun, where that is known: a timer when it was due, a message when it was published, a service when it was asked.
    pub fn due(&self, analysis: &Analysis<'_>) -> Option<Nanos> {
        let start = analysis.instance(self.instance).start;
        Some(Nanos(start.0 - self.lateness(analysis)?))
    }
}

/// The executions of a callback that count, in the order of time. Those before the range are looked at, so that the first one
/// has a period too.
pub fn instance_timings(analysis: &Analysis<'_>, callback: CallbackId) -> Vec<InstanceTiming> {
    let firings = match analysis.model.callbacks[callback.index()].owner {
        CallbackOwner::Timer(id) => timer::firings(analysis, id),
        _ => Vec::new(),
    };
    let mut firings = firings.into_iter().peekable();
    let mut timings = Vec::new();
    let mut before: Option<InstanceId> = None;
    for id in analysis.instances_of(callback) {
        let firing = firings.next_if(|firing| firing.instance == *id);
        let instance = analysis.instance(*id);
        let last = before.replace(*id).map(|before| analysis.instance(before));
        if !analysis.counts(instance.start) {
            continue;
        }
        // Executions may be missing between the two.
        let last = last.filter(|last| !analysis.is_damaged(last.start, instance.start));
        timings.push(InstanceTiming {
            instance: *id,
            period: last.map(|last| instance.start.0 - last.start.0),
            gap: last
                .and_then(|last| last.end)
                .map(|end| instance.start.0 - end.0),
            firing,
        });
    }
    timings
}

/// One for each callback of the model, in their order.
pub fn summaries(analysis: &Analysis<'_>) -> Vec<CallbackSummary> {
    let callbacks = (0..analysis.model.callbacks.len()).map(CallbackId::from_index);
    callbacks
        .map(|callback| summary(analysis, callback))
        .collect()
}

fn summary(analysis: &Analysis<'_>, callback: CallbackId) -> CallbackSummary {
    let model = analysis.model;
    let set = match model.callbacks[callback.index()].owner {
        CallbackOwner::Timer(id) => model.timers[id.index()].system_period(),
        _ => None,
    };
    let set = set.map(|period| period.0);
    let mut durations: Vec<(i64, Nanos)> = Vec::new();
    let mut periods = Vec::new();
    let mut gaps = Vec::new();
    let mut jitters = Vec::new();
    let mut latenesses = Vec::new();
    let mut skipped = 0;
    let mut damaged = 0;
    let timings = instance_timings(analysis, callback);
    for timing in &timings {
        let id = timing.instance;
        let instance = analysis.instance(id);
        let at = instance.start;
        if let Some(end) = instance.end {
            let duration = end.0 - at.0;
            durations.push((duration, at));
        }
        periods.extend(timing.period.map(|period| (period, at)));
        gaps.extend(timing.gap.map(|gap| (gap, at)));
        let jitter = timing
            .period
            .zip(set)
            .map(|(period, set)| period.saturating_sub(set));
        jitters.extend(jitter.map(|jitter| (jitter, at)));
        skipped += timing.firing.map_or(0, |firing| firing.skipped);
        if let Some(lateness) = timing.lateness(analysis) {
            latenesses.push((lateness, at));
        }
        damaged += u64::from(analysis.is_execution_damaged(id));
    }
    let busy: i64 = durations.iter().map(|(duration, _)| duration).sum();
    let process = analysis.model.callbacks[callback.index()].process;
    let observed = process_observed(analysis, process);
    let start = |timing: &InstanceTiming| analysis.instance(timing.instance).start;
    let starts: Vec<Nanos> = timings.iter().map(start).collect();
    let ends = timings.first().zip(timings.last());
    let count = timings.len() as u64;
    CallbackSummary {
        callback,
        count,
        rate: ends.and_then(|(first, last)| {
            recorded_per_second(analysis.model, count, start(first), start(last))
        }),
        frequency: Frequency::of(recorded_bins(analysis, &starts)),
        duration: Statistics::of(&mut durations),
        period: Statistics::of(&mut periods),
        gap: Statistics::of(&mut gaps),
        jitter: Statistics::of(&mut jitters),
        lateness: Statistics::of(&mut latenesses),
        skipped,
        utilisation: (observed > 0 && (busy > 0 || timings.is_empty()))
            .then(|| busy as f64 / observed as f64),
        damaged,
    }
}
