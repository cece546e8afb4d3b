//! What a finding is due to: not one instance of it, but all. If most of the time that something was late passed while one callback ran, on its thread, in
//! its mutually exclusive group or on its processor, it is late because of that callback.

use std::collections::BTreeMap;

use rostrace_ctf::schema::Nanos;
use rostrace_trace::entity::{
    CallbackId, ClientCallbackId, InstanceId, PublicationId, PublisherId, SubscriptionId, ThreadId,
};

use super::execution::period;
use super::{Evidence, FindingKind, NOTICEABLE, Runner};
use crate::activity::Doing;
use crate::analysis::Analysis;
use crate::callback::executions;
use crate::communication::DropCause;
use crate::flow_latency::{FlowTimes, Include};
use crate::thread::Ran;
use crate::why::{Cause, NotOnCpu, Part, Relation, Why};

/// Why something was late, most of the times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Because {
    pub runner: Runner,
    pub place: Place,
    /// The longest execution that was in the way, and when it began.
    pub longest: i64,
    pub at: Nanos,
    /// Of so many times that it was late, this is what most of the time passed with in so many.
    pub times: u64,
    pub of: u64,
}

/// Where the callback ran that was in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// It is the callback that was late itself: an earlier execution of it.
    Itself,
    SameThread,
    SameGroup,
    SameProcessor,
    /// It is one of those that a path leads through, or that a topic is published by.
    OnTheWay,
}

impl Place {
    pub fn name(self) -> &'static str {
        match self {
            Place::Itself => "itself",
            Place::SameThread => "same_thread",
            Place::SameGroup => "same_group",
            Place::SameProcessor => "same_processor",
            Place::OnTheWay => "on_the_way",
        }
    }
}

/// What is due to a smaller part is not due to it.
const MOST: f64 = 0.5;
/// An execution is late from this part of its period on.
const LATE: i64 = 10;
/// So many instances say as much as all; they are taken evenly from all.
const MOST_INSTANCES: usize = 5_000;
/// How many messages back the reason of a pause is looked for.
const MOST_HOPS: usize = 8;

/// Finds what findings are due to.
#[derive(Debug)]
pub(super) struct Causes<'a> {
    analysis: &'a Analysis<'a>,
    evidence: Evidence<'a>,
    why: Why<'a>,
}

/// Time of callbacks that were in the way, while it is added up.
#[derive(Debug, Default)]
struct Tally {
    runners: BTreeMap<Runner, Sum>,
    /// All the time that something was late, whatever it is due to.
    late: i64,
    of: u64,
}

#[derive(Debug)]
struct Sum {
    time: i64,
    times: u64,
    longest: i64,
    at: Nanos,
    place: Place,
}

/// A callback that was in the way for so long.
#[derive(Debug, Clone, Copy)]
struct Obstacle {
    runner: Runner,
    place: Place,
    time: i64,
    /// Of the whole execution.
    duration: i64,
    start: Nanos,
}

impl Tally {
    /// One time that it was late by so much.
    fn add(&mut self, late: i64, obstacles: &[Obstacle]) {
        self.late = self.late.saturating_add(late);
        self.of += 1;
        let mut of_this: BTreeMap<Runner, i64> = BTreeMap::new();
        for obstacle in obstacles {
            *of_this.entry(obstacle.runner).or_default() += obstacle.time;
            let sum = self.runners.entry(obstacle.runner).or_insert(Sum {
                time: 0,
                times: 0,
                longest: -1,
                at: obstacle.start,
                place: obstacle.place,
            });
            sum.time = sum.time.saturating_add(obstacle.time);
            if obstacle.duration > sum.longest {
                sum.longest = obstacle.duration;
                sum.at = obstacle.start;
                sum.place = obstacle.place;
            }
        }
        let main = of_this.into_iter().max_by_key(|(_, time)| *time);
        if let Some((runner, time)) = main
            && time as f64 >= MOST * late as f64
            && let Some(sum) = self.runners.get_mut(&runner)
        {
            sum.times += 1;
        }
    }

    fn because(self) -> Option<Because> {
        let (runner, sum) = self.runners.into_iter().max_by_key(|(_, sum)| sum.time)?;
        let is_most = self.late > 0 && sum.time as f64 >= MOST * self.late as f64;
        (is_most && sum.times > 0).then_some(Because {
            runner,
            place: sum.place,
            longest: sum.longest,
            at: sum.at,
            times: sum.times,
            of: self.of,
        })
    }
}

/// At most so many of them, evenly.
fn spread<T>(all: Vec<T>) -> impl Iterator<Item = T> {
    let step = all.len().div_ceil(MOST_INSTANCES).max(1);
    all.into_iter().step_by(step)
}

impl<'a> Causes<'a> {
    pub(super) fn new(analysis: &'a Analysis<'a>, evidence: Evidence<'a>) -> Causes<'a> {
        Causes {
            analysis,
            evidence,
            why: Why::new(analysis),
        }
    }

    pub(super) fn of(&mut self, kind: &FindingKind) -> Option<Because> {
        let tally = match kind {
            FindingKind::LateExecution { callback, .. } => self.late(*callback)?,
            FindingKind::SkippedFirings { callback, .. } => self.skipped(*callback)?,
            FindingKind::LostMessages { subscription, .. }
            | FindingKind::OverflowingQueue { subscription, .. } => self.lost(*subscription)?,
            FindingKind::Pause {
                publisher, usual, ..
            } => self.pause(*publisher, *usual)?,
            FindingKind::SlowPath { path, usual, .. } => self.path(*path, *usual)?,
            FindingKind::BusyThread { thread, .. } => return self.busy(*thread),
            // What ran long did so by itself, and what did not come or left is not explained by what ran.
            FindingKind::Blocked { .. }
            | FindingKind::LongExecution { .. }
            | FindingKind::SilentTopics { .. }
            | FindingKind::EndedEarly { .. }
            | FindingKind::LateNodes { .. } => return None,
        };
        tally.because()
    }

    fn late(&mut self, callback: CallbackId) -> Option<Tally> {
        let analysis = self.analysis;
        let summary = self.evidence.callbacks.get(callback.index())?;
        let limit = NOTICEABLE.max(period(analysis, summary)? / LATE);
        let mut tally = Tally::default();
        let late = executions(analysis, callback).into_iter();
        let late = late.filter_map(|execution| {
            let lateness = match execution.firing {
                Some(firing) => Some(firing.lateness),
                None => crate::callback::message_lateness(analysis, execution.instance),
            };
            lateness
                .filter(|lateness| *lateness >= limit)
                .map(|lateness| (execution, lateness))
        });
        for (execution, lateness) in spread(late.collect()) {
            let id = execution.instance;
            let explained = self.why.instance(id, execution.firing.as_ref());
            let own = Cause::Execution(id);
            let parts = explained.parts.iter().filter(|part| part.cause != own);
            let obstacles: Vec<Obstacle> = parts
                .filter_map(|part| self.obstacle(part, Some(callback)))
                .collect();
            tally.add(lateness, &obstacles);
        }
        Some(tally)
    }

    /// What ran on the thread while firings were due that never happened: those are left out that were due until the one before could begin at last.
    fn skipped(&self, callback: CallbackId) -> Option<Tally> {
        let analysis = self.analysis;
        let mut tally = Tally::default();
        let all = executions(analysis, callback);
        let skips = all.windows(2).filter_map(|pair| {
            let firing = pair[1].firing.filter(|firing| firing.skipped > 0)?;
            let before = analysis.instance(pair[0].instance);
            let due = pair[0].firing.map_or(before.start, |it| it.expected);
            Some((before.thread, due, firing.expected))
        });
        for (thread, from, to) in spread(skips.collect()) {
            let ran = self.ran(thread, from, to, Some(callback), Place::SameThread);
            tally.add(to.0.saturating_sub(from.0), &ran);
        }
        Some(tally)
    }

    /// What ran on the receiving thread between the publication of messages that were pushed out and what it received next.
    fn lost(&self, subscription: SubscriptionId) -> Option<Tally> {
        let analysis = self.analysis;
        let callback = analysis.model.subscriptions[subscription.index()].callback?;
        let runs = analysis.instances_of(callback);
        let mut tally = Tally::default();
        let deliveries = analysis.deliveries_to(subscription).iter();
        let pushed_out = deliveries.filter(|id| {
            let publication = analysis.delivery(**id).publication;
            analysis.counts(analysis.publication(publication).publish)
                && matches!(
                    analysis.drop_cause(**id),
                    Some(DropCause::HistoryFull | DropCause::RingBufferFull)
                )
        });
        for id in spread(pushed_out.collect()) {
            let publication = analysis.delivery(*id).publication;
            let publish = analysis.publication(publication).publish;
            let next = runs.partition_point(|run| analysis.instance(*run).start <= publish);
            let Some(next) = runs.get(next).map(|run| analysis.instance(*run)) else {
                continue;
            };
            let ran = self.ran(
                next.thread,
                publish,
                next.start,
                Some(callback),
                Place::SameThread,
            );
            tally.add(next.start.0 - publish.0, &ran);
        }
        Some(tally)
    }

    /// What ran on the publishing thread when the next message was to come, or on that of what the publishing callback waited for.
    fn pause(&self, publisher: PublisherId, usual: i64) -> Option<Tally> {
        let analysis = self.analysis;
        let mut published: Vec<(Nanos, PublicationId)> = (analysis.publications_of(publisher))
            .iter()
            .map(|id| (analysis.publication(*id).publish, *id))
            .collect();
        published.sort();
        let mut tally = Tally::default();
        let pauses = published.windows(2).filter(|pair| {
            pair[1].0.0 - pair[0].0.0 >= 2 * usual.max(NOTICEABLE)
                && analysis.counts(pair[1].0)
                && !analysis.is_damaged(pair[0].0, pair[1].0)
        });
        for pair in spread(pauses.collect()) {
            let (from, to) = (Nanos(pair[0].0.0 + usual), pair[1].0);
            let late = to.0 - from.0;
            let mut publication = Some(pair[1].1);
            let mut obstacles = Vec::new();
            for _ in 0..MOST_HOPS {
                let Some(row) = publication.map(|id| analysis.publication(id)) else {
                    break;
                };
                let callback = row.instance.and_then(|id| analysis.instance(id).callback);
                obstacles = self.ran(row.thread, from, to, callback, Place::OnTheWay);
                let busy: i64 = obstacles.iter().map(|it| it.time).sum();
                if busy as f64 >= MOST * late as f64 {
                    break;
                }
                let received = row.instance.and_then(|id| analysis.received_by(id));
                let model = analysis.model;
                let process = model.process_of(row.thread);
                publication = received
                    .map(|id| analysis.delivery(id).publication)
                    .filter(|id| {
                        let sender = analysis.publication(*id).thread;
                        model.have_one_clock(process, model.process_of(sender))
                    });
            }
            tally.add(late, &obstacles);
        }
        Some(tally)
    }

    /// What the slow ones of a path waited for, and what ran longer than usual on their way.
    fn path(&mut self, path: usize, usual: i64) -> Option<Tally> {
        let analysis = self.analysis;
        let (path, _) = self.evidence.paths.get(path)?;
        let mut tally = Tally::default();
        let slow = path.flows.iter().filter_map(|flow| {
            let times = FlowTimes::of(analysis, flow, Include::default())?;
            let latency = times.latency();
            let is_slow = latency >= 2 * usual.max(NOTICEABLE / 2) && analysis.counts(times.begin);
            is_slow.then_some((flow, latency))
        });
        for (flow, latency) in spread(slow.collect()) {
            let Some(explained) = self.why.flow(flow) else {
                continue;
            };
            let parts = explained.parts.iter();
            let obstacles: Vec<Obstacle> = parts
                .filter_map(|part| self.obstacle(part, None))
                .filter(|obstacle| obstacle.time > 0)
                .collect();
            tally.add(latency - usual, &obstacles);
        }
        Some(tally)
    }

    /// Whose executions took most of a thread's time.
    fn busy(&self, thread: ThreadId) -> Option<Because> {
        let analysis = self.analysis;
        let summary = self
            .evidence
            .threads
            .iter()
            .find(|it| it.thread == thread)?;
        let share = summary.busiest()?;
        let is_most = share.busy? as f64 >= MOST * summary.time.callbacks as f64;
        let runner = Runner {
            process: summary.process,
            ran: share.ran,
        };
        let instances = analysis.instances_on(thread).iter();
        let longest = instances
            .filter(|id| Runner::of(analysis.model, analysis.instance(**id)) == runner)
            .filter_map(|id| {
                let row = analysis.instance(*id);
                Some((row.end?.0 - row.start.0, row.start))
            })
            .max_by_key(|(duration, _)| *duration)?;
        is_most.then_some(Because {
            runner,
            place: Place::SameThread,
            longest: longest.0,
            at: longest.1,
            times: share.executions,
            of: summary.executions,
        })
    }

    /// What a part of an explanation was spent with, if that is the run of a callback. `late` is the callback that was late; without one,
    /// callbacks on the way count as far as they ran longer than they usually do.
    fn obstacle(&self, part: &Part, late: Option<CallbackId>) -> Option<Obstacle> {
        let placed = |relation: Relation| match relation {
            Relation::SameThread => Place::SameThread,
            Relation::SameGroup => Place::SameGroup,
        };
        match part.cause {
            Cause::OtherCallback(id, relation) => {
                self.run_of(id, part.duration(), placed(relation), late)
            }
            Cause::ClientCallback(id, relation) => {
                self.client_run(id, part.duration(), placed(relation))
            }
            Cause::Execution(id) if late.is_none() => {
                let callback = self.analysis.instance(id).callback;
                let summary = callback.and_then(|it| self.evidence.callbacks.get(it.index()));
                let usual = summary.and_then(|it| it.duration).map_or(0, |it| it.p50);
                let excess = part.duration() - usual;
                self.run_of(id, excess, Place::OnTheWay, late)
            }
            Cause::NotOnCpu(NotOnCpu::Preempted(task), _) => {
                let scheduling = self.analysis.scheduling.as_ref()?;
                let tid = scheduling.task(task).tid;
                let model = self.analysis.model;
                let own = model.process_of(part.thread?);
                let mut threads = model.threads.iter();
                let thread = threads.position(|thread| {
                    thread.tid == tid && model.have_one_clock(own, thread.process)
                })?;
                let thread = ThreadId::from_index(thread);
                let ran = self.ran(thread, part.begin, part.end, late, Place::SameProcessor);
                ran.into_iter().max_by_key(|it| it.time)
            }
            _ => None,
        }
    }

    fn run_of(
        &self,
        id: InstanceId,
        time: i64,
        place: Place,
        late: Option<CallbackId>,
    ) -> Option<Obstacle> {
        let row = self.analysis.instance(id);
        let is_itself = late.is_some() && row.callback == late && place != Place::OnTheWay;
        Some(Obstacle {
            runner: Runner::of(self.analysis.model, row),
            place: if is_itself { Place::Itself } else { place },
            time,
            duration: row.end?.0 - row.start.0,
            start: row.start,
        })
    }

    fn client_run(&self, id: ClientCallbackId, time: i64, place: Place) -> Option<Obstacle> {
        let row = self.analysis.client_callback(id);
        Some(Obstacle {
            runner: Runner {
                process: self.analysis.model.process_of(row.thread),
                ran: match row.client {
                    Some(client) => Ran::Client(client),
                    None => Ran::Unnamed(row.rmw_handle),
                },
            },
            place,
            time,
            duration: row.end?.0 - row.start.0,
            start: row.start,
        })
    }

    /// What ran on a thread in a span.
    fn ran(
        &self,
        thread: ThreadId,
        from: Nanos,
        to: Nanos,
        late: Option<CallbackId>,
        place: Place,
    ) -> Vec<Obstacle> {
        let segments = self.analysis.activity().segments(thread, from, to);
        let ran = segments.filter_map(|segment| match segment.doing {
            Doing::Callback(id) => self.run_of(id, segment.duration(), place, late),
            Doing::Client(id) => self.client_run(id, segment.duration(), place),
            Doing::Unended(_) | Doing::Waiting | Doing::Executor | Doing::Unobserved => None,
        });
        ran.collect()
    }
}
