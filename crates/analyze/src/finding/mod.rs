//! Findings: of everything that was measured, the few things that a person should look at first.
//!
//! Each finding has a severity, so that a late callback can be weighed against a lost message: 1 is where the system no longer does what it was set to
//! do (an execution as long as its period, one that took a second, one message of ten lost, a thread without a pause, four times the usual latency), and from a half on it
//! is worth a look. `execution`, `topic`, `load`, `life` and `standing` find them, `cause` (and `reason`, of what did not come) says what they are due to, over all times that it happened, `group` puts those of one
//! cause together, and `ranking` orders callbacks by that, for every output.

mod cause;
mod delayed;
mod evidence;
mod execution;
mod group;
mod life;
mod load;
mod phase;
mod ranking;
mod reason;
mod standing;
mod tally;
mod topic;

use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_model::describe::names::{self, Names};
use rostrace_model::entity::{
    CallbackId, NodeId, ProcessId, PublisherId, SubscriptionId, ThreadId,
};
use rostrace_model::flow::CallbackInstance;

use crate::analysis::Analysis;
use crate::communication::DropCause;
use crate::standstill::{Meanwhile, Scope};
use crate::statistics::Statistics;
use crate::thread::Ran;

pub use cause::{Because, CauseLocation, Root, late_from};
pub use delayed::{Delayed, delayed_by};
pub use evidence::{Evidence, Measured};
pub(crate) use execution::{has_one_clock, period};
pub use group::{Group, groups};
pub use phase::Phase;
pub use ranking::Ranking;
pub use reason::Reason;

pub(crate) use phase::Phases;

use cause::Causes;

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub kind: FindingKind,
    pub severity: f64,
    /// When it was worst; nothing for what has no instant.
    pub at: Option<Nanos>,
    /// What most of it is due to, if that is a callback that ran, or a standstill.
    pub because: Option<Because>,
    /// Whether that is while the system started or ended, when much is late that is not later on.
    pub phase: Option<Phase>,
    /// It is what is left without standstills, which have a finding of their own: it may have been worse in one.
    pub is_apart: bool,
}

/// Something that ran: a callback, that of a client, or one without a name, which an address names in its process only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Runner {
    pub process: ProcessId,
    pub ran: Ran,
}

impl Runner {
    pub fn callback(model: &Model, callback: CallbackId) -> Runner {
        Runner {
            process: model.callbacks[callback.index()].process,
            ran: Ran::Callback(callback),
        }
    }

    /// As people call it.
    pub fn name(self, names: &Names) -> String {
        match self.ran {
            Ran::Callback(callback) => names.callback(callback).to_owned(),
            Ran::Client(client) => names.client(client).to_owned(),
            Ran::Unnamed(address) => names::unnamed_callback(address),
        }
    }

    /// What ran in an execution.
    pub fn of(model: &Model, instance: &CallbackInstance) -> Runner {
        Runner {
            process: model.process_of(instance.thread),
            ran: match instance.callback {
                Some(callback) => Ran::Callback(callback),
                None => Ran::Unnamed(instance.address),
            },
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum FindingKind {
    /// A single execution kept its thread for so long that nothing else happened there.
    Blocked {
        runner: Runner,
        thread: ThreadId,
        /// How long it ran; at least so long if its end is not in the recording.
        worst: i64,
        ended: bool,
        /// Of all its executions that ended.
        usual: Option<i64>,
        /// Of the recorded time.
        share: f64,
        /// How many executions of it were long enough to count.
        times: u64,
    },
    /// A callback ran long against its period, or so long that others had to wait.
    LongExecution {
        runner: Runner,
        worst: i64,
        /// Nothing if its executions were not compared.
        usual: Option<i64>,
        period: Option<i64>,
    },
    /// A callback began late against its period.
    LateExecution {
        callback: CallbackId,
        worst: i64,
        usual: i64,
        period: i64,
    },
    /// A timer left out firings.
    SkippedFirings {
        callback: CallbackId,
        skipped: u64,
        fired: u64,
    },
    /// Messages were lost.
    LostMessages {
        publisher: PublisherId,
        subscription: SubscriptionId,
        lost: u64,
        sent: u64,
        cause: DropCause,
    },
    /// The queue of a subscription pushes most messages out.
    OverflowingQueue {
        subscription: SubscriptionId,
        overwritten: u64,
        sent: u64,
        depth: u64,
    },
    /// A topic paused.
    Pause {
        publisher: PublisherId,
        longest: i64,
        usual: i64,
    },
    /// Topics on which nothing comes, in the order of their names.
    SilentTopics {
        silence: Silence,
        topics: Vec<String>,
        /// Why, where the recording tells, and of how many of them; the commonest first.
        reasons: Vec<(Reason, u64)>,
        /// How many topics the application both publishes and subscribes to.
        of: u64,
    },
    /// A thread had hardly time left.
    BusyThread {
        thread: ThreadId,
        share: f64,
        /// How many callbacks it ran.
        callbacks: u64,
        /// What took the largest part of that time, and how large it is.
        largest: Option<(Runner, f64)>,
    },
    /// A path took much longer than usual.
    SlowPath {
        /// Its place in the evidence.
        path: usize,
        worst: i64,
        usual: i64,
    },
    /// A process was gone, or did nothing any more, while others went on.
    EndedEarly {
        process: ProcessId,
        /// From its last event to the end of the recording.
        before_end: i64,
        end: ProcessEnd,
        /// What it was running then.
        inside: Option<Runner>,
    },
    /// Everything stood still at once.
    Standstill {
        scope: Scope,
        /// Of the worst one: the one that the worst of what is due to them is due to.
        duration: i64,
        /// The callbacks that it held up, in the order of time.
        victims: Vec<CallbackId>,
        processes: u64,
        /// What was under way all the time and is not known to have been held up.
        running: Option<Runner>,
        /// What the kernel tells of it.
        meanwhile: Option<Meanwhile>,
        /// How many there were.
        times: u64,
    },
    /// Nodes that were created long after the others, in the order of their creation.
    LateNodes {
        nodes: Vec<NodeId>,
        /// Why, where the recording tells, and of how many of them; the commonest first.
        reasons: Vec<(Reason, u64)>,
        /// From when half of all nodes existed to the last of these.
        after: i64,
    },
}

named! {
    /// How nothing comes on a topic that has a publisher and a subscription.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Silence {
        Never = "never",
        /// One message and no more, though the same node went on publishing elsewhere. Nothing tells whether that is by design.
        Once = "once",
        /// It had a rhythm and stopped for good.
        Stopped = "stopped",
    }
}

named! {
    /// What is known of how a process ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ProcessEnd {
        /// It destroyed its nodes.
        Orderly = "orderly",
        /// Others destroyed theirs at their end, this one did not: it crashed or was killed.
        Abrupt = "abrupt",
        /// The recorder does not tell of ends, but what had a rhythm stopped.
        Unknown = "unknown",
    }
}

impl FindingKind {
    /// What ran long.
    pub fn runner(&self) -> Option<Runner> {
        match *self {
            FindingKind::Blocked { runner, .. } | FindingKind::LongExecution { runner, .. } => {
                Some(runner)
            }
            _ => None,
        }
    }

    /// What others can be due to.
    pub fn root(&self) -> Option<Root> {
        match *self {
            FindingKind::Standstill { scope, .. } => Some(Root::Standstill(scope)),
            FindingKind::BusyThread { thread, .. } => Some(Root::Thread(thread)),
            _ => self.runner().map(Root::Runner),
        }
    }

    /// A single long execution, and not a large part of the recording: what is done once, before everything else, is not so bad.
    fn is_one_off(&self) -> bool {
        matches!(*self, FindingKind::Blocked { times: 1, share, .. } if share <= execution::LARGE_SHARE)
    }

    fn is_orderly_end(&self) -> bool {
        let end = ProcessEnd::Orderly;
        matches!(*self, FindingKind::EndedEarly { end: how, .. } if how == end)
    }

    /// The callback that began late or not at all.
    fn victim(&self) -> Option<CallbackId> {
        match *self {
            FindingKind::LateExecution { callback, .. }
            | FindingKind::SkippedFirings { callback, .. } => Some(callback),
            _ => None,
        }
    }
}

impl Finding {
    fn new(kind: FindingKind, severity: f64, at: Option<Nanos>) -> Finding {
        Finding {
            kind,
            severity,
            at,
            because: None,
            phase: None,
            is_apart: false,
        }
    }

    /// What it is about, whether that ran long or began late.
    fn subject(&self, model: &Model) -> Option<Runner> {
        let victim = self.kind.victim();
        let late = || victim.map(|callback| Runner::callback(model, callback));
        self.kind.runner().or_else(late)
    }

    pub fn word(&self) -> &'static str {
        word(self.severity)
    }
}

/// A severity as a word.
pub fn word(severity: f64) -> &'static str {
    match severity {
        _ if severity >= SEVERE => "severe",
        _ if severity >= WORTH_A_LOOK => "noticeable",
        _ => "minor",
    }
}

/// From here on the system no longer does what it was set to do.
pub const SEVERE: f64 = 1.0;
pub const WORTH_A_LOOK: f64 = 0.5;
/// What is less is not reported at all.
pub const WORTH_A_WORD: f64 = 0.1;

/// What is shorter matters to nobody, in nanoseconds.
const NOTICEABLE: i64 = 1_000_000;

/// With fewer, nothing is usual.
const ENOUGH: u64 = 5;

const SECOND: i64 = 1_000_000_000;

/// Everything that could be said, the worst first. What belongs to rclcpp itself is left out, unless it kept a thread for long.
pub fn findings(analysis: &Analysis<'_>, evidence: Evidence<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    execution::find(analysis, evidence.callbacks, &mut found);
    topic::find(analysis, evidence, &mut found);
    load::find(analysis, evidence, &mut found);
    life::find(analysis, &mut found);
    let phases = Phases::of(analysis);
    let mut causes = Causes::new(analysis, evidence);
    let mut rests = Vec::new();
    for finding in &mut found {
        let phase = finding.at.and_then(|at| phases.at(at));
        finding.phase = phase.filter(|phase| !phases.is_as_bad_outside(*phase, &finding.kind));
        if finding.phase == Some(Phase::StartUp) && finding.kind.is_one_off() {
            finding.severity /= 2.0;
        }
        // Somebody is the first to leave when all do.
        if finding.phase == Some(Phase::Shutdown) && finding.kind.is_orderly_end() {
            finding.severity /= 2.0;
        }
        // What is not reported needs no cause.
        if finding.severity >= WORTH_A_WORD {
            let (because, rest) = causes.of(&finding.kind);
            finding.because = because;
            rests.extend(rest.and_then(|rest| execution::rest(analysis, evidence, finding, rest)));
        }
    }
    for finding in &mut rests {
        let phase = finding.at.and_then(|at| phases.at(at));
        finding.phase = phase.filter(|phase| !phases.is_as_bad_outside(*phase, &finding.kind));
    }
    found.append(&mut rests);
    standing::find(analysis, &phases, &mut found);
    // What was found late comes from what is listed first, in the order of the tables.
    found.sort_by(|a, b| b.severity.total_cmp(&a.severity));
    found
}

/// Ten times too much is worse than twice, but not so much that nothing else is worth a word.
fn damped(times: f64) -> f64 {
    if times <= 1.0 {
        times
    } else {
        1.0 + times.log2()
    }
}

/// Whether something keeps to a rhythm most of the time. What comes as it likes has no period, and no pauses.
fn is_regular(period: &Statistics) -> bool {
    period.count >= ENOUGH && period.p50 > 0 && period.p90 <= 2 * period.p50
}

/// From when to when the recording goes, in the range that counts, and how much of that was recorded.
fn recorded(analysis: &Analysis<'_>) -> (Nanos, Nanos, i64) {
    let model = analysis.model;
    let (begin, end) = (
        model.begin.unwrap_or_default(),
        model.end.unwrap_or_default(),
    );
    let begin = begin.max(*analysis.window.start());
    let end = end.min(*analysis.window.end()).max(begin);
    let length = end.0.saturating_sub(begin.0) - model.losses.paused(begin, end);
    (begin, end, length)
}
