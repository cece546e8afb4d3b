//! Parts cut where the kernel's scheduler says that their thread did not run, and who had the CPU instead.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{InstanceId, ThreadId};
use rostrace_model::scheduling::{Cpu, Occupation, Ready, Scheduling, Slice, State, TaskId};

use super::cause::{Cause, NotOnCpu};
use super::part::Part;

/// What a thread was about when a part passed: it decides what its sleep means.
#[derive(Debug, Clone, Copy)]
enum About {
    /// It had something to do: the execution of a callback, or the executor's work.
    Work(Option<InstanceId>),
    /// It waited for a lock, and is meant to sleep.
    Lock(Option<InstanceId>),
    /// It waited for a message, and is meant to sleep.
    Message,
    /// It waited for a timer that was due, and should have been woken.
    Timer,
}

impl About {
    fn of(cause: Cause) -> Option<About> {
        match cause {
            Cause::Execution(instance) | Cause::ServiceExecution(instance) => {
                Some(About::Work(Some(instance)))
            }
            Cause::Lock(_, instance) => Some(About::Lock(instance)),
            Cause::Publishing | Cause::Executor | Cause::Dispatch => Some(About::Work(None)),
            Cause::Middleware
            | Cause::MiddlewareOrExecutor
            | Cause::IntraProcessBuffer
            | Cause::NotTaken
            | Cause::Lost(_)
            | Cause::Call(..) => Some(About::Message),
            Cause::TimerLateness => Some(About::Timer),
            _ => None,
        }
    }

    fn instance(self) -> Option<InstanceId> {
        match self {
            About::Work(instance) | About::Lock(instance) => instance,
            About::Message | About::Timer => None,
        }
    }
}

/// A part, cut where its thread was not on a CPU. A thread that waits for a message is meant to sleep; that it was woken and did not get a
/// CPU is a wait of its own.
pub(super) fn on_cpu(scheduling: &Scheduling, part: &Part) -> Vec<Part> {
    let about = About::of(part.cause).filter(|_| part.duration() > 0);
    let Some((thread, about)) = part.thread.zip(about) else {
        return vec![*part];
    };
    let mut cut = Cut {
        part: *part,
        done: Vec::new(),
    };
    // What woke it before was not the message.
    let sleeps = scheduling.slices(thread, part.begin, part.end);
    let sleeps = sleeps.filter(|it| matches!(it.state, State::Blocked(_)));
    let last_sleep = sleeps.last();
    for slice in scheduling.slices(thread, part.begin, part.end) {
        match slice.state {
            State::Waiting { cpu, ready } => {
                let wait = Wait { cpu, ready, about };
                wait.cut(scheduling, thread, slice, &mut cut);
            }
            State::Blocked(_) => match about {
                About::Work(instance) => {
                    let by = waker(scheduling, thread, slice.to);
                    let state = by.map_or(NotOnCpu::Blocked, NotOnCpu::BlockedUntil);
                    cut.until(slice.to, Cause::NotOnCpu(state, instance));
                }
                About::Message if !scheduling.has_wakeups && last_sleep == Some(slice) => {
                    off_cpu_for_message(scheduling, thread, slice, &mut cut);
                }
                About::Lock(_) | About::Message => cut.until(slice.to, part.cause),
                About::Timer if scheduling.has_wakeups => {
                    let by = waker(scheduling, thread, slice.to);
                    let state = NotOnCpu::WokenLate(by);
                    cut.until(slice.to, Cause::NotOnCpu(state, None));
                }
                About::Timer => off_cpu(scheduling, thread, slice, &mut cut),
            },
            State::Running { .. } => match about {
                About::Work(_) | About::Lock(_) | About::Message => cut.until(slice.to, part.cause),
                About::Timer => cut.until(slice.to, Cause::WakingUp),
            },
            State::Unknown => cut.until(slice.to, part.cause),
        }
    }
    cut.done
}

/// A part on its way to being several.
struct Cut {
    part: Part,
    done: Vec<Part>,
}

impl Cut {
    fn until(&mut self, end: Nanos, cause: Cause) {
        let begin = self.done.last().map_or(self.part.begin, |last| last.end);
        if end <= begin {
            return;
        }
        match self.done.last_mut() {
            Some(last) if last.cause == cause => last.end = end,
            _ => self.done.push(Part {
                begin,
                end,
                cause,
                ..self.part
            }),
        }
    }
}

/// A time in which a thread could have run.
struct Wait {
    cpu: Option<Cpu>,
    ready: Ready,
    about: About,
}

impl Wait {
    /// Whoever had the CPU that the thread waited for kept it off; that can have been several, one after the other.
    fn cut(&self, scheduling: &Scheduling, thread: ThreadId, slice: Slice, cut: &mut Cut) {
        let rows = self.cpu.into_iter();
        let rows =
            rows.flat_map(|cpu| scheduling.occupations_for(thread, cpu, slice.from, slice.to));
        for row in rows {
            cut.until(row.to, self.because(scheduling, row.task));
        }
        cut.until(slice.to, self.because(scheduling, None));
    }

    fn because(&self, scheduling: &Scheduling, task: Option<TaskId>) -> Cause {
        let state = match (self.ready, task) {
            // The CPU was not busy: it took that long until the thread was moved to it, or it woke up.
            (_, Some(idle)) if scheduling.task(idle).is_idle() => {
                NotOnCpu::WaitingForCpu(Some(idle))
            }
            (Ready::Preempted { by }, other) => NotOnCpu::Preempted(other.unwrap_or(by)),
            (Ready::Woken { .. }, other) => NotOnCpu::WaitingForCpu(other),
        };
        Cause::NotOnCpu(state, self.about.instance())
    }
}

/// Who woke a thread that slept until then, as far as the trace tells.
fn waker(scheduling: &Scheduling, thread: ThreadId, at: Nanos) -> Option<TaskId> {
    match scheduling.timeline(thread)?.state(at) {
        State::Waiting {
            ready: Ready::Woken { by },
            ..
        } => by,
        _ => None,
    }
}

/// Without wake-ups it is not known until when the thread slept, and from when on it waited for a CPU. Whoever had the CPU that it then got
/// may have kept it off.
fn off_cpu(scheduling: &Scheduling, thread: ThreadId, slice: Slice, cut: &mut Cut) {
    for row in before_it_ran(scheduling, thread, slice) {
        cut.until(row.from, Cause::NotOnCpu(NotOnCpu::OffCpu(None), None));
        let task = row.task.filter(|task| scheduling.task(*task).is_recorded());
        cut.until(row.to, Cause::NotOnCpu(NotOnCpu::OffCpu(task), None));
    }
    cut.until(slice.to, Cause::NotOnCpu(NotOnCpu::OffCpu(None), None));
}

/// The same of a thread that waited for a message.
fn off_cpu_for_message(scheduling: &Scheduling, thread: ThreadId, slice: Slice, cut: &mut Cut) {
    for row in before_it_ran(scheduling, thread, slice) {
        cut.until(row.from, cut.part.cause);
        if let Some(task) = row.task {
            cut.until(row.to, Cause::NotOnCpu(NotOnCpu::IdleOrOffCpu(task), None));
        }
    }
    cut.until(slice.to, cut.part.cause);
}

/// Who had the CPU that a thread got at the end of a sleep, without a pause until then. Where the CPU may have been idle meanwhile, the thread would
/// have got it sooner: what was before that has kept it from nothing.
fn before_it_ran(scheduling: &Scheduling, thread: ThreadId, slice: Slice) -> Vec<Occupation> {
    let timeline = scheduling.timeline(thread);
    let Some(State::Running { cpu }) = timeline.map(|it| it.state(slice.to)) else {
        return Vec::new();
    };
    let rows = scheduling.occupations_for(thread, cpu, slice.from, slice.to);
    let mut rows: Vec<Occupation> = rows.collect();
    let known = |row: &Occupation| {
        let task = row.task.map(|task| scheduling.task(task));
        task.filter(|task| task.is_recorded() && !task.is_idle())
    };
    let timeline_of =
        |row: &Occupation| scheduling.timeline_of_tid(known(row)?.host, known(row)?.tid);
    // The switch to the thread itself, which takes its time.
    rows.pop_if(|last| {
        timeline_of(last)
            .zip(timeline)
            .is_some_and(|(its, own)| std::ptr::eq(its, own))
    });
    let mut first = rows.len();
    while let Some(before) = first.checked_sub(1) {
        // Who had to leave the CPU left it to somebody, and whoever waits for it does not find it idle.
        let neighbours = [before.checked_sub(1), Some(before + 1)].into_iter();
        let mut neighbours = neighbours.flatten().filter_map(|it| rows.get(it));
        let from = rows[before].from;
        let is_waiting = |row: &Occupation| {
            timeline_of(row).is_some_and(|it| matches!(it.state(from), State::Waiting { .. }))
        };
        if known(&rows[before]).is_none() && !neighbours.any(is_waiting) {
            break;
        }
        first = before;
    }
    rows.drain(..first);
    rows
}
