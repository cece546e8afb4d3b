//! What holds in every trace, whatever it is of: parts add up, explanations have no gaps, rows fit their tables.

use std::collections::HashMap;

use rostrace_analyze::Analysis;
use rostrace_analyze::activity::Activity;
use rostrace_analyze::callback::instance_timings;
use rostrace_analyze::communication::{Arrival, pairs};
use rostrace_analyze::flow_latency::{FlowTimes, Include, path_latency};
use rostrace_analyze::flow_path::{Ends, FlowPaths};
use rostrace_analyze::table::TABLES;
use rostrace_analyze::why::{Cause, Explanation, Relation, Why};
use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{CallbackGroupType, CallbackId, DeliveryId, InstanceId, ThreadId};
use rostrace_model::flow::{DeliveryKind, DeliveryStatus, PhaseKind};

/// Counts of what was looked at, so that a test can tell that it was not nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Seen {
    pub deliveries: usize,
    pub flows: usize,
    pub instances: usize,
    pub parts: usize,
    pub rows: usize,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Seen) {
        self.deliveries += other.deliveries;
        self.flows += other.flows;
        self.instances += other.instances;
        self.parts += other.parts;
        self.rows += other.rows;
    }
}

pub fn hold(analysis: &Analysis<'_>, of: &str) -> Seen {
    let mut seen = Seen::default();
    deliveries_add_up(analysis, of, &mut seen);
    flows_add_up(analysis, of, &mut seen);
    executions_are_explained(analysis, of, &mut seen);
    rows_fit(analysis, of, &mut seen);
    seen
}

fn deliveries_add_up(analysis: &Analysis<'_>, of: &str, seen: &mut Seen) {
    let mut why = Why::new(analysis);
    let mut arrived = 0;
    for index in 0..analysis.model.deliveries.len() {
        let id = DeliveryId::from_index(index);
        let delivery = analysis.delivery(id);
        let arrival = analysis.arrival(id);
        let explained = why.communication(id);
        assert_eq!(arrival.is_some(), explained.is_some(), "{of} {id:?}");
        let Some(arrival) = arrival else {
            assert!(
                delivery.status != DeliveryStatus::Delivered || delivery.instance.is_none(),
                "{of} {id:?} arrived, and both instants are in the trace"
            );
            continue;
        };
        let publication = analysis.publication(delivery.publication);
        // Pairs are those of ends that have names.
        let ends = publication.publisher.zip(delivery.subscription);
        arrived += usize::from(ends.is_some());
        seen.deliveries += 1;
        assert_eq!(
            arrival.stages.latency(),
            arrival.received.0 - arrival.publish.0,
            "{of} {id:?}"
        );
        if delivery.kind == DeliveryKind::Inter {
            assert_eq!(arrival.publish, publication.publish, "{of} {id:?}");
        } else {
            assert!((publication.publish..=publication.last).contains(&arrival.publish));
        }
        if let Some(instance) = delivery.instance {
            assert_eq!(arrival.received, analysis.instance(instance).start);
        }
        let stages = arrival.stages;
        for stage in [stages.publish, stages.wait, stages.dispatch] {
            assert!(stage >= 0, "{of} {id:?} {stages:?}");
        }
        let is_before = arrival.received < arrival.publish;
        assert_eq!(stages.transport < 0, is_before, "{of} {id:?} {stages:?}");
        let explained = explained.unwrap();
        is_sound(analysis, &explained, delivery.instance, of, seen);
        assert_eq!(explained.begin, arrival.publish);
        assert_eq!(explained.end, arrival.received);
        if !is_before {
            agrees(&explained, arrival, &format!("{of} {id:?}"));
        }
    }
    let counted: u64 = pairs(analysis).iter().map(|pair| pair.arrived).sum();
    assert!(counted >= arrived as u64, "{of}");
    for pair in pairs(analysis) {
        let lost: u64 = pair.dropped.iter().sum();
        assert_eq!(pair.messages, pair.arrived + lost, "{of} {pair:?}");
        let Some(latency) = pair.latency else {
            continue;
        };
        assert!(latency.count + pair.historical <= pair.arrived);
        let means: f64 = pair.stages.iter().flatten().map(|stage| stage.mean).sum();
        assert!(is_close(means, latency.mean), "{of} {pair:?}");
        assert!(pair.damaged <= pair.arrived);
    }
}

/// The parts of an explanation are those of the latency, computed by other means: segment by segment. A standstill takes from them what it accounts for.
fn agrees(explained: &Explanation, arrival: &Arrival, of: &str) {
    let mut sums: HashMap<&str, i64> = HashMap::new();
    for part in &explained.parts {
        let stage = match part.cause {
            Cause::Publishing => "publish",
            Cause::Transport
            | Cause::Middleware
            | Cause::PublishingOrMiddleware
            | Cause::MiddlewareOrExecutor
            | Cause::IntraProcessBuffer => "transport",
            Cause::OtherCallback(..) | Cause::Unended(_) | Cause::Executor | Cause::NotTaken => {
                "wait"
            }
            Cause::Dispatch => "dispatch",
            Cause::Standstill(..) => "standstill",
            other => panic!("{of}: {other:?} is no part of a communication"),
        };
        *sums.entry(stage).or_default() += part.duration();
    }
    let sum = |stage: &str| sums.get(stage).copied().unwrap_or(0);
    let stood = sum("standstill");
    let sums = ["publish", "transport", "wait", "dispatch"].map(sum);
    let stages = arrival.stages.values();
    let taken: Vec<i64> = stages
        .iter()
        .zip(sums)
        .map(|(all, sum)| all - sum)
        .collect();
    assert!(taken.iter().all(|it| *it >= 0), "{of}: {taken:?}");
    assert_eq!(taken.iter().sum::<i64>(), stood, "{of}: {taken:?}");
}

/// Contiguous, adding up, and whoever is blamed ran at that time, on that thread or in that group.
pub(super) fn is_sound(
    analysis: &Analysis<'_>,
    explained: &Explanation,
    receiver: Option<InstanceId>,
    of: &str,
    seen: &mut Seen,
) {
    seen.parts += explained.parts.len();
    let mut at = explained.begin;
    let mut sum = 0;
    for part in &explained.parts {
        assert_eq!(part.begin, at, "{of} {explained:?}");
        // Time goes back only between hosts whose clocks differ.
        let hosts = &analysis.model.hosts;
        assert!(
            part.duration() > 0 || part.cause == Cause::Unknown && hosts.len() > 1,
            "{of} {explained:?}"
        );
        at = part.end;
        sum += part.duration();
        let Cause::OtherCallback(id, relation) = part.cause else {
            continue;
        };
        let other = analysis.instance(id);
        assert_ne!(Some(id), receiver, "{of}: it cannot have waited for itself");
        assert!(other.start <= part.begin, "{of} {part:?} {other:?}");
        // What has no end cannot be said to have been in the way.
        assert!(Some(part.end) <= other.end, "{of} {part:?} {other:?}");
        let Some(receiver) = receiver.map(|id| analysis.instance(id)) else {
            continue;
        };
        match relation {
            Relation::SameThread => {
                assert!(
                    explained.parts.iter().any(|it| it.hop != part.hop)
                        || other.thread == receiver.thread
                );
            }
            Relation::SameGroup => {
                let group = |callback: Option<CallbackId>| analysis.group_of(callback.unwrap());
                let of_other = group(other.callback).unwrap();
                if explained.parts.iter().all(|it| it.hop == part.hop) {
                    assert_ne!(other.thread, receiver.thread);
                    assert_eq!(Some(of_other), group(receiver.callback), "{of}");
                }
                let kind = analysis.model.callback_groups[of_other.index()].kind;
                assert_eq!(kind, CallbackGroupType::MutuallyExclusive);
            }
        }
    }
    assert_eq!(at, explained.end, "{of} {explained:?}");
    assert_eq!(sum, explained.end.0 - explained.begin.0);
}

fn flows_add_up(analysis: &Analysis<'_>, of: &str, seen: &mut Seen) {
    let mut why = Why::new(analysis);
    let ends = Ends {
        from: None,
        to: None,
    };
    let every = [(false, false), (true, false), (false, true), (true, true)];
    for path in FlowPaths::of(analysis).paths(&ends) {
        let title = format!("{of} {}", path.title());
        for flow in &path.flows {
            seen.flows += 1;
            assert_eq!(flow.deliveries.len(), path.hops.len(), "{title}");
            for (first_callback, last_callback) in every {
                let include = Include {
                    first_callback,
                    last_callback,
                };
                let times = FlowTimes::of(analysis, flow, include).unwrap();
                let arrivals = times.communications.iter().map(|it| it.stages.latency());
                let ends = times.first_callback.into_iter().chain(times.last_callback);
                let sum: i64 = arrivals.chain(ends).chain(times.nodes.clone()).sum();
                assert_eq!(sum, times.latency(), "{title} {times:?}");
                let parts = times.nodes.iter().copied();
                let parts = parts.chain(times.first_callback).chain(times.last_callback);
                for part in parts {
                    assert!(part >= 0, "{title} {times:?}");
                }
            }
            let times = FlowTimes::of(analysis, flow, Include::default()).unwrap();
            let explained = why.flow(flow).unwrap();
            let last = analysis.delivery(*flow.deliveries.last().unwrap()).instance;
            is_sound(analysis, &explained, last, &title, seen);
            assert_eq!((explained.begin, explained.end), (times.begin, times.end));
            assert_eq!(explained.damaged, times.damaged);
        }
        let latency = path_latency(analysis, &path, Include::default());
        let whole = latency.latency.unwrap();
        assert_eq!(whole.count as usize, path.flows.len(), "{title}");
        let mut sum = 0.0;
        for (number, hop) in latency.hops.iter().enumerate() {
            let communication = hop.communication.unwrap();
            let stages: f64 = hop.stages.iter().flatten().map(|stage| stage.mean).sum();
            assert!(is_close(stages, communication.mean), "{title}");
            sum += communication.mean + hop.node.map_or(0.0, |node| node.mean);
            assert_eq!(hop.node.is_some(), number + 1 < latency.hops.len());
            let outcome = &hop.outcome;
            let dropped: u64 = outcome.dropped.iter().sum();
            assert_eq!(outcome.sent, outcome.arrived + dropped, "{title}");
        }
        assert!(is_close(sum, whole.mean), "{title}: {sum} {}", whole.mean);
        let last = latency.hops.last().unwrap();
        assert!(last.outcome.arrived >= whole.count, "{title} {last:?}");
    }
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e6)
}

fn executions_are_explained(analysis: &Analysis<'_>, of: &str, seen: &mut Seen) {
    let model = analysis.model;
    let mut why = Why::new(analysis);
    for index in 0..model.callbacks.len() {
        for execution in instance_timings(analysis, CallbackId::from_index(index)) {
            seen.instances += 1;
            let id = execution.instance;
            let instance = analysis.instance(id);
            let explained = why.instance(id, execution.firing.as_ref());
            is_sound(analysis, &explained, Some(id), of, seen);
            assert_eq!(
                explained.end,
                instance.end.unwrap_or(instance.start),
                "{of}"
            );
            let received = analysis.received_by(id);
            let arrival = received.and_then(|it| analysis.arrival(it));
            let begin = match (&execution.firing, arrival) {
                (Some(firing), _) => firing.expected,
                (None, Some(arrival)) if !arrival.historical => arrival.publish,
                _ => (analysis.asked_by(id)).map_or(instance.start, |(_, sent)| sent),
            };
            assert_eq!(explained.begin, begin, "{of} {explained:?}");
            if let Some(firing) = execution.firing {
                assert!(firing.lateness >= 0, "{of} {firing:?}");
                assert_eq!(firing.expected.0 + firing.lateness, instance.start.0);
            }
        }
    }
}

fn rows_fit(analysis: &Analysis<'_>, of: &str, seen: &mut Seen) {
    for table in TABLES {
        (table.rows)(analysis, &mut |cells| {
            seen.rows += 1;
            assert_eq!(cells.len(), table.columns.len(), "{of} {}", table.name);
            for (cell, column) in cells.iter().zip(table.columns) {
                assert!(
                    cell.fits(column.kind, column.optional),
                    "{of}: {cell:?} in {}.{}",
                    table.name,
                    column.name
                );
            }
            Ok(())
        })
        .unwrap();
    }
}

/// What a thread did at an instant, found by looking at everything on it.
fn activity_at(analysis: &Analysis<'_>, thread: ThreadId, at: i64) -> Activity {
    let model = analysis.model;
    let phases: Vec<_> = (model.phases.iter())
        .filter(|phase| phase.thread == thread)
        .collect();
    let mut outermost: Vec<(i64, i64, InstanceId)> = Vec::new();
    for (index, instance) in model.instances.iter().enumerate() {
        let start = instance.start.0;
        let inside = outermost.last().is_some_and(|(_, end, _)| start < *end);
        if instance.thread != thread || inside {
            continue;
        }
        // What has no end is over when something else happens.
        let others = model.instances[index + 1..]
            .iter()
            .filter(|other| other.thread == thread)
            .map(|other| other.start.0);
        let signs = phases.iter().map(|phase| phase.time.0);
        let sign = signs.filter(|it| *it > start).chain(others).min();
        let end = instance.end.map_or(sign.unwrap_or(start), |end| end.0);
        outermost.push((start, end, InstanceId::from_index(index)));
    }
    let running = outermost
        .iter()
        .find(|(start, end, _)| (*start..*end).contains(&at));
    if let Some((_, _, id)) = running {
        return match analysis.instance(*id).end {
            Some(_) => Activity::Callback(*id),
            None if phases.is_empty() => Activity::Unobserved,
            None => Activity::Unended(*id),
        };
    }
    let inside = |time: i64| {
        let mut spans = outermost.iter();
        spans.any(|(start, end, _)| *start < time && time < *end)
    };
    let phase = (phases.iter())
        .filter(|phase| phase.time.0 <= at && !inside(phase.time.0))
        .max_by_key(|phase| phase.time);
    let ended = outermost.iter().map(|it| it.1).filter(|end| *end <= at);
    let ended = ended.max().unwrap_or(i64::MIN);
    match phase {
        Some(phase) if phase.time.0 >= ended => match phase.kind {
            PhaseKind::WaitForWork => Activity::Waiting,
            _ => Activity::Executor,
        },
        _ if ended > i64::MIN && !phases.is_empty() => Activity::Executor,
        _ => Activity::Unobserved,
    }
}

/// Segments have no gaps, and each is what one sees when one looks at its ends.
pub fn segments_are_what_threads_did(analysis: &Analysis<'_>, spans: &[(i64, i64)]) {
    let activities = analysis.activities();
    for index in 0..analysis.model.threads.len() {
        let thread = ThreadId::from_index(index);
        for (from, to) in spans {
            let (from, to) = (*from, *to);
            let spans: Vec<_> = activities.spans(thread, Nanos(from), Nanos(to)).collect();
            let mut at = from;
            let mut idle = 0;
            for span in &spans {
                assert_eq!(span.begin.0, at);
                assert!(span.duration() > 0);
                at = span.end.0;
                for instant in [span.begin.0, (span.begin.0 + at) / 2, at - 1] {
                    assert_eq!(
                        span.activity,
                        activity_at(analysis, thread, instant),
                        "{instant}"
                    );
                }
                if span.activity.is_idle() {
                    idle += span.duration();
                }
            }
            assert_eq!(at, to.max(from));
            assert_eq!(idle, activities.idle(thread, Nanos(from), Nanos(to)));
        }
    }
}
