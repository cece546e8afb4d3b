//! What a finding is due to: not one instance of it, but all. If most of the time that something was late passed while one callback ran, on its thread, in
//! its mutually exclusive group or on its processor, it is late because of that callback; if it passed while everything stood still, because of that. Where nothing accounts for most of all times, a standstill
//! may still account for the worst one, which is the one that a finding shows; and where it is many callbacks of one thread together, it is that thread. `tally` adds up.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{
    CallbackId, ClientCallbackId, InstanceId, PublicationId, PublisherId, SubscriptionId, ThreadId,
};

use super::execution::period;
use super::tally::{DelayTally, Obstacle, main};
use super::{Evidence, FindingKind, NOTICEABLE, Runner};
use crate::activity::Activity;
use crate::analysis::Analysis;
use crate::callback::{InstanceTiming, instance_timings};
use crate::communication::DropCause;
use crate::flow_latency::{FlowTimes, Include};
use crate::standstill::Scope;
use crate::thread::Ran;
use crate::why::{ByClock, Cause, NotOnCpu, Part, Relation, Why};

/// Why something was late, most of the times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Because {
    pub root: Root,
    pub location: CauseLocation,
    /// The longest execution that was in the way, or the longest standstill, and when it began.
    pub longest: i64,
    pub at: Nanos,
    /// Of so many times that it was late, this is what most of the time passed with in so many.
    pub times: u64,
    pub of: u64,
}

/// What something can be due to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    Runner(Runner),
    /// Everything stood still.
    Standstill(Scope),
    /// A thread was busy with callbacks, none of which accounts for most of that.
    Thread(ThreadId),
}

impl Root {
    pub fn runner(self) -> Option<Runner> {
        match self {
            Root::Runner(runner) => Some(runner),
            Root::Standstill(_) | Root::Thread(_) => None,
        }
    }
}

named! {
    /// Where the callback ran that was in the way.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum CauseLocation {
        /// It is the callback that was late itself: an earlier execution of it.
        Itself = "itself",
        SameThread = "same_thread",
        SameGroup = "same_group",
        SameProcessor = "same_processor",
        /// It is one of those that a path leads through, or that a topic is published by.
        OnTheWay = "on_the_way",
        /// On every thread: nothing ran at all.
        Everywhere = "everywhere",
    }
}

/// How late an execution has to be to count as late: a tenth of its period, and so much that anybody notices.
pub fn late_from(period: i64) -> i64 {
    NOTICEABLE.max(period / 10)
}

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

    /// What most of it is due to, and what is left of it without standstills: how bad that was, when, and what it is due to.
    pub(super) fn of(&mut self, kind: &FindingKind) -> (Option<Because>, Option<Rest>) {
        let occasions = match *kind {
            FindingKind::LateExecution { callback, .. } => self.late(callback),
            FindingKind::Blocked { runner, worst, .. }
            | FindingKind::LongExecution { runner, worst, .. } => self.long(runner, worst),
            _ => return (self.of_all(kind), None),
        };
        let mut all = DelayTally::default();
        let mut rest = DelayTally::default();
        let mut worst = None;
        for it in occasions {
            all.add(it.late, &it.obstacles);
            if !matches!(main(it.late, &it.obstacles), Some(Root::Standstill(_))) {
                rest.add(it.late, &it.obstacles);
                worst = worst.max(Some((it.late, it.at)));
            }
        }
        let rest = worst.map(|(late, at)| Rest {
            late,
            at,
            because: rest.because(),
        });
        (all.because(), rest)
    }

    fn of_all(&mut self, kind: &FindingKind) -> Option<Because> {
        let tally = match kind {
            FindingKind::SkippedFirings { callback, .. } => self.skipped(*callback)?,
            FindingKind::LostMessages { subscription, .. }
            | FindingKind::OverflowingQueue { subscription, .. } => self.lost(*subscription)?,
            FindingKind::Pause {
                publisher, usual, ..
            } => self.pause(*publisher, *usual)?,
            FindingKind::SlowPath { path, usual, .. } => self.path(*path, *usual)?,
            FindingKind::BusyThread { thread, .. } => return self.busy(*thread),
            // What did not come or left is not explained by what ran.
            FindingKind::Blocked { .. }
            | FindingKind::LongExecution { .. }
            | FindingKind::LateExecution { .. }
            | FindingKind::Standstill { .. }
            | FindingKind::SilentTopics { .. }
            | FindingKind::EndedEarly { .. }
            | FindingKind::LateNodes { .. } => return None,
        };
        tally.because()
    }

    fn late(&mut self, callback: CallbackId) -> Vec<Occasion> {
        let late = self.late_instances(callback);
        let late = spread(late).map(|(timing, late)| self.occasion(&timing, late));
        late.collect()
    }

    /// The executions of a callback that began late, and by how much.
    pub(super) fn late_instances(&self, callback: CallbackId) -> Vec<(InstanceTiming, i64)> {
        let analysis = self.analysis;
        let summary = self.evidence.callbacks.get(callback.index());
        let Some(period) = summary.and_then(|summary| period(analysis, summary)) else {
            return Vec::new();
        };
        let limit = late_from(period);
        let late = instance_timings(analysis, callback).into_iter();
        let late = late.filter_map(|timing| {
            let lateness = timing.lateness(analysis)?;
            (lateness >= limit).then_some((timing, lateness))
        });
        late.collect()
    }

    /// What was in the way of an execution that began late.
    pub(super) fn occasion(&mut self, timing: &InstanceTiming, late: i64) -> Occasion {
        let id = timing.instance;
        let row = self.analysis.instance(id);
        let explained = self.why.instance(id, timing.firing.as_ref());
        let waited = explained.parts.iter().filter(|it| it.end <= row.start);
        let obstacles = waited.filter_map(|part| self.obstacle(part, row.callback));
        Occasion {
            late,
            at: row.start,
            obstacles: obstacles.collect(),
        }
    }

    /// The executions of a callback that took longer than usual, with the standstills among that.
    fn long(&self, runner: Runner, worst: i64) -> Vec<Occasion> {
        let analysis = self.analysis;
        let Ran::Callback(callback) = runner.ran else {
            return Vec::new();
        };
        let Some(summary) = self.evidence.callbacks.get(callback.index()) else {
            return Vec::new();
        };
        let usual = summary.duration.map_or(0, |it| it.p50);
        let limit = late_from(period(analysis, summary).unwrap_or(worst));
        let all = instance_timings(analysis, callback).into_iter();
        let long = all.filter_map(|timing| {
            let row = analysis.instance(timing.instance);
            let end = row.end?;
            let duration = end.0 - row.start.0;
            (duration >= limit && duration > usual).then(|| {
                let obstacles = self.standing(row.thread, row.start, end);
                let obstacles =
                    obstacles.filter(|(_, running)| !running.contains(&timing.instance));
                Occasion {
                    late: duration - usual,
                    at: row.start,
                    obstacles: obstacles.map(|(obstacle, _)| obstacle).collect(),
                }
            })
        });
        long.collect()
    }

    /// What ran on the thread while firings were due that never happened: those are left out that were due until the one before could begin at last.
    fn skipped(&self, callback: CallbackId) -> Option<DelayTally> {
        let analysis = self.analysis;
        let mut tally = DelayTally::default();
        let all = instance_timings(analysis, callback);
        let skips = all.windows(2).filter_map(|pair| {
            let firing = pair[1].firing.filter(|firing| firing.skipped > 0)?;
            let before = analysis.instance(pair[0].instance);
            let due = pair[0].firing.map_or(before.start, |it| it.expected);
            Some((before.thread, due, firing.expected))
        });
        for (thread, from, to) in spread(skips.collect()) {
            let ran = self.ran(thread, from, to, Some(callback), CauseLocation::SameThread);
            tally.add(to.0.saturating_sub(from.0), &ran);
        }
        Some(tally)
    }

    /// What ran on the receiving thread between the publication of messages that were pushed out and what it received next.
    fn lost(&self, subscription: SubscriptionId) -> Option<DelayTally> {
        let analysis = self.analysis;
        let callback = analysis.model.subscriptions[subscription.index()].callback?;
        let runs = analysis.instances_of(callback);
        let mut tally = DelayTally::default();
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
                CauseLocation::SameThread,
            );
            tally.add(next.start.0 - publish.0, &ran);
        }
        Some(tally)
    }

    /// What ran on the publishing thread when the next message was to come, or on that of what the publishing callback waited for.
    fn pause(&self, publisher: PublisherId, usual: i64) -> Option<DelayTally> {
        let analysis = self.analysis;
        let mut published: Vec<(Nanos, PublicationId)> = (analysis.publications_of(publisher))
            .iter()
            .map(|id| (analysis.publication(*id).publish, *id))
            .collect();
        published.sort();
        let mut tally = DelayTally::default();
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
                obstacles = self.ran(row.thread, from, to, callback, CauseLocation::OnTheWay);
                let busy: i64 = obstacles.iter().map(|it| it.time).sum();
                if 2 * busy >= late {
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
    fn path(&mut self, path: usize, usual: i64) -> Option<DelayTally> {
        let analysis = self.analysis;
        let (path, _) = self.evidence.paths.get(path)?;
        let mut tally = DelayTally::default();
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
        let is_most = 2 * share.busy? >= summary.time.callbacks;
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
            root: Root::Runner(runner),
            location: CauseLocation::SameThread,
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
            Relation::SameThread => CauseLocation::SameThread,
            Relation::SameGroup => CauseLocation::SameGroup,
        };
        match part.cause {
            Cause::OtherCallback(id, relation) => {
                self.run_of(id, part.duration(), placed(relation), late)
            }
            Cause::ClientCallback(id, relation) => {
                self.client_run(id, part.duration(), placed(relation))
            }
            Cause::ServiceExecution(id) => {
                self.run_of(id, part.duration(), CauseLocation::OnTheWay, late)
            }
            Cause::Execution(id) | Cause::ByClock(ByClock::Computing, id) if late.is_none() => {
                let callback = self.analysis.instance(id).callback;
                let summary = callback.and_then(|it| self.evidence.callbacks.get(it.index()));
                let usual = summary.and_then(|it| it.duration).map_or(0, |it| it.p50);
                let excess = part.duration() - usual;
                let run = self.run_of(id, excess, CauseLocation::OnTheWay, late)?;
                // That it ran is what its thread is for.
                Some(Obstacle {
                    thread: None,
                    ..run
                })
            }
            Cause::Standstill(id, _) => {
                let standstill = self.analysis.standstills().get(id);
                Some(Obstacle::standing(standstill, part.duration()))
            }
            Cause::NotOnCpu(state @ (NotOnCpu::Preempted(_) | NotOnCpu::WaitingForCpu(_)), _) => {
                let task = state.ran_instead()?;
                let scheduling = self.analysis.scheduling.as_ref()?;
                let tid = scheduling.task(task).tid;
                let model = self.analysis.model;
                let own = model.process_of(part.thread?);
                let mut threads = model.threads.iter();
                let thread = threads.position(|thread| {
                    thread.tid == tid && model.have_one_clock(own, thread.process)
                })?;
                let thread = ThreadId::from_index(thread);
                let ran = self.ran(
                    thread,
                    part.begin,
                    part.end,
                    late,
                    CauseLocation::SameProcessor,
                );
                ran.into_iter().max_by_key(|it| it.time)
            }
            _ => None,
        }
    }

    fn run_of(
        &self,
        id: InstanceId,
        time: i64,
        location: CauseLocation,
        late: Option<CallbackId>,
    ) -> Option<Obstacle> {
        let row = self.analysis.instance(id);
        let is_itself =
            late.is_some() && row.callback == late && location != CauseLocation::OnTheWay;
        Some(Obstacle {
            root: Root::Runner(Runner::of(self.analysis.model, row)),
            location: if is_itself {
                CauseLocation::Itself
            } else {
                location
            },
            time,
            duration: row.end?.0 - row.start.0,
            start: row.start,
            instance: Some(id),
            thread: Some(row.thread),
        })
    }

    fn client_run(
        &self,
        id: ClientCallbackId,
        time: i64,
        location: CauseLocation,
    ) -> Option<Obstacle> {
        let row = self.analysis.client_callback(id);
        Some(Obstacle {
            root: Root::Runner(Runner {
                process: self.analysis.model.process_of(row.thread),
                ran: match row.client {
                    Some(client) => Ran::Client(client),
                    None => Ran::Unnamed(row.rmw_handle),
                },
            }),
            location,
            time,
            duration: row.end?.0 - row.start.0,
            start: row.start,
            instance: None,
            thread: Some(row.thread),
        })
    }

    /// What ran on a thread in a span, and the standstills in it.
    fn ran(
        &self,
        thread: ThreadId,
        from: Nanos,
        to: Nanos,
        late: Option<CallbackId>,
        location: CauseLocation,
    ) -> Vec<Obstacle> {
        let mut all: Vec<Obstacle> = Vec::new();
        let spans = self.analysis.activities().spans(thread, from, to);
        for span in spans {
            let standing = self.standing(thread, span.begin, span.end);
            let standing = standing.filter(|(_, running)| match span.activity {
                Activity::Callback(id) => !running.contains(&id),
                _ => true,
            });
            let standing: Vec<Obstacle> = standing.map(|(obstacle, _)| obstacle).collect();
            let stood: i64 = standing.iter().map(|it| it.time).sum();
            let ran = span.duration() - stood;
            all.extend(standing);
            all.extend(match span.activity {
                Activity::Callback(id) => self.run_of(id, ran, location, late),
                Activity::Client(id) => self.client_run(id, ran, location),
                Activity::Unended(_)
                | Activity::Waiting
                | Activity::Executor
                | Activity::Unobserved => None,
            });
        }
        all
    }

    /// The standstills of a thread in a span, with what ran in spite of them.
    fn standing(
        &self,
        thread: ThreadId,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = (Obstacle, &'a [InstanceId])> {
        let standstills = self.analysis.standstills();
        let mut at = from;
        let rows = standstills.on(self.analysis.model, thread, from, to);
        rows.map(move |(id, begin, end)| {
            // That of a process may overlap that of its machine.
            let time = end.0.saturating_sub(begin.max(at).0).max(0);
            at = at.max(end);
            let standstill = standstills.get(id);
            (
                Obstacle::standing(standstill, time),
                &standstill.running[..],
            )
        })
    }
}

/// One time that something was late or long.
#[derive(Debug)]
pub(super) struct Occasion {
    pub(super) late: i64,
    pub(super) at: Nanos,
    pub(super) obstacles: Vec<Obstacle>,
}

/// What is left of a finding without standstills.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest {
    /// Of what ran long, beyond what is usual.
    pub(super) late: i64,
    pub(super) at: Nanos,
    pub(super) because: Option<Because>,
}
