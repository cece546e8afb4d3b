//! Parts cut where the kernel's scheduler says that their thread did not run, and who had the CPU instead.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::{InstanceId, ThreadId};
use rostrace_model::scheduling::{Cpu, Ready, Scheduling, Slice, State, TaskId};

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
    let timeline = scheduling.timeline(thread);
    let then = timeline.map_or(State::Unknown, |it| it.state(slice.to));
    let cause = |task: Option<TaskId>| {
        let task = task.filter(|task| {
            let task = scheduling.task(*task);
            task.is_recorded() && !task.is_idle()
        });
        Cause::NotOnCpu(NotOnCpu::OffCpu(task), None)
    };
    if let State::Running { cpu } = then {
        for row in scheduling.occupations_for(thread, cpu, slice.from, slice.to) {
            cut.until(row.to, cause(row.task));
        }
    }
    cut.until(slice.to, cause(None));
}
