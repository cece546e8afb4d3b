//! What one thread did, as the kernel saw it: a sorted table of changes, and what can be asked of it.
//!
//! A change takes sixteen bytes, since a busy machine makes millions of them; [`State`] is what people see of it.

use rostrace_ctf::schema::Nanos;

use super::task::TaskId;

/// A processor, by the kernel's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cpu(pub u16);

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Running {
        cpu: Cpu,
    },
    /// It could run, but no CPU is given to it.
    Waiting {
        /// The CPU that it was on, or is to run on.
        cpu: Option<Cpu>,
        ready: Ready,
    },
    /// It sleeps until something happens.
    Blocked(Sleep),
    /// Before the first and after the last event that tells it, where events were lost, and when it does not exist.
    Unknown,
}

/// Why a thread that waits for a CPU can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// By this one, as far as the trace tells.
    Woken { by: Option<TaskId> },
    /// It ran, and had to leave its CPU to this one.
    Preempted { by: TaskId },
}

/// How a thread sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sleep {
    /// For a lock, a message, time to pass: signals wake it.
    Interruptible,
    /// For a disk and the like (`D`).
    Uninterruptible,
    /// By a signal or a debugger.
    Stopped,
    /// Parked or idle: threads of the kernel.
    Other,
    /// The trace does not tell, nor when it was woken: until it runs again it seems to sleep.
    Unspecified,
}

/// A stretch of time in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    pub from: Nanos,
    pub to: Nanos,
    pub state: State,
}

impl Slice {
    pub fn duration(&self) -> Nanos {
        Nanos(self.to.0.saturating_sub(self.from.0))
    }
}

/// Where the time between two instants went. The first four sum to all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OffCpu {
    pub running: Nanos,
    pub waiting: Nanos,
    pub blocked: Nanos,
    pub unknown: Nanos,
    /// How often it had to leave its CPU although it could have gone on.
    pub preemptions: u64,
    /// How often it was woken.
    pub wakeups: u64,
}

/// The delay from being able to run to running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    pub ready: Nanos,
    pub running: Nanos,
    pub why: Ready,
}

/// The states of one thread over time.
#[derive(Debug, Default)]
pub struct Timeline {
    /// In the order of time. A state lasts until the next change; the last one is the end of what is known.
    changes: Vec<Change>,
}

#[derive(Debug, Clone, Copy)]
struct Change {
    at: Nanos,
    state: Packed,
}

/// A [`State`] in eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packed {
    tag: Tag,
    cpu: u16,
    task: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Running,
    Woken,
    Preempted,
    Interruptible,
    Uninterruptible,
    Stopped,
    Other,
    Unspecified,
    Unknown,
}

/// The number that no CPU has.
const NO_CPU: u16 = u16::MAX;
/// The number that no task has.
const NO_TASK: u32 = u32::MAX;

impl Packed {
    fn new(state: State) -> Packed {
        let packed = |tag: Tag| Packed {
            tag,
            cpu: NO_CPU,
            task: 0,
        };
        match state {
            State::Running { cpu } => Packed {
                cpu: cpu.0,
                ..packed(Tag::Running)
            },
            State::Waiting { cpu, ready } => {
                let (tag, task) = match ready {
                    Ready::Woken { by } => (Tag::Woken, by.map_or(NO_TASK, |by| by.0)),
                    Ready::Preempted { by } => (Tag::Preempted, by.0),
                };
                let cpu = cpu.map_or(NO_CPU, |cpu| cpu.0);
                Packed { tag, cpu, task }
            }
            State::Blocked(Sleep::Interruptible) => packed(Tag::Interruptible),
            State::Blocked(Sleep::Uninterruptible) => packed(Tag::Uninterruptible),
            State::Blocked(Sleep::Stopped) => packed(Tag::Stopped),
            State::Blocked(Sleep::Other) => packed(Tag::Other),
            State::Blocked(Sleep::Unspecified) => packed(Tag::Unspecified),
            State::Unknown => packed(Tag::Unknown),
        }
    }

    fn state(self) -> State {
        let waiting = |ready: Ready| State::Waiting {
            cpu: (self.cpu != NO_CPU).then_some(Cpu(self.cpu)),
            ready,
        };
        match self.tag {
            Tag::Running => State::Running { cpu: Cpu(self.cpu) },
            Tag::Woken => waiting(Ready::Woken {
                by: (self.task != NO_TASK).then_some(TaskId(self.task)),
            }),
            Tag::Preempted => waiting(Ready::Preempted {
                by: TaskId(self.task),
            }),
            Tag::Interruptible => State::Blocked(Sleep::Interruptible),
            Tag::Uninterruptible => State::Blocked(Sleep::Uninterruptible),
            Tag::Stopped => State::Blocked(Sleep::Stopped),
            Tag::Other => State::Blocked(Sleep::Other),
            Tag::Unspecified => State::Blocked(Sleep::Unspecified),
            Tag::Unknown => State::Unknown,
        }
    }

    fn is_waiting(self) -> bool {
        matches!(self.tag, Tag::Woken | Tag::Preempted)
    }
}

impl Timeline {
    /// A change of state, not before the last one.
    pub(super) fn push(&mut self, at: Nanos, state: State) {
        let state = Packed::new(state);
        if self.last().is_some_and(|last| last.state == state)
            || self.changes.is_empty() && state.tag == Tag::Unknown
        {
            return;
        }
        // Where a stream's time goes back, the order of the events is still right.
        let at = self.last().map_or(at, |last| last.at.max(at));
        self.changes.push(Change { at, state });
    }

    pub(super) fn state_now(&self) -> State {
        self.last()
            .map_or(State::Unknown, |last| last.state.state())
    }

    fn last(&self) -> Option<&Change> {
        self.changes.last()
    }

    /// Gives back what the table took too much.
    pub(super) fn shrink(&mut self) {
        self.changes.shrink_to_fit();
    }

    /// The state at one instant.
    pub fn state(&self, at: Nanos) -> State {
        let begun = self.changes.partition_point(|change| change.at <= at);
        begun
            .checked_sub(1)
            .map_or(State::Unknown, |last| self.changes[last].state.state())
    }

    /// Whether nothing is heard of the thread after an instant, and nothing is known of it then: as far as the trace tells, it has ended.
    pub fn is_over(&self, at: Nanos) -> bool {
        let begun = self.changes.partition_point(|change| change.at <= at);
        begun == self.changes.len() && self.state_now() == State::Unknown
    }

    /// The states between two instants, without gaps: the durations sum to `to - from`.
    pub fn slices(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = Slice> + '_ {
        let mut next = self.changes.partition_point(|change| change.at <= from);
        let mut state = next
            .checked_sub(1)
            .map_or(Packed::new(State::Unknown), |last| self.changes[last].state);
        let mut begin = from;
        std::iter::from_fn(move || {
            if begin >= to {
                return None;
            }
            let this = state;
            let mut end = to;
            // Of several changes at one instant the last one counts.
            while let Some(change) = self.changes.get(next).filter(|change| change.at < to) {
                next += 1;
                state = change.state;
                let lasts = (self.changes.get(next)).is_none_or(|after| after.at > change.at);
                if lasts && state != this {
                    end = change.at;
                    break;
                }
            }
            let slice = Slice {
                from: begin,
                to: end,
                state: this.state(),
            };
            begin = end;
            Some(slice)
        })
    }

    /// Where the time between two instants went.
    pub fn off_cpu(&self, from: Nanos, to: Nanos) -> OffCpu {
        let mut sums = OffCpu::default();
        for slice in self.slices(from, to) {
            let sum = match slice.state {
                State::Running { .. } => &mut sums.running,
                State::Waiting { .. } => &mut sums.waiting,
                State::Blocked(_) => &mut sums.blocked,
                State::Unknown => &mut sums.unknown,
            };
            sum.0 = sum.0.saturating_add(slice.duration().0);
        }
        let begin = self.changes.partition_point(|change| change.at < from);
        let end = self.changes.partition_point(|change| change.at < to);
        for number in begin..end.max(begin) {
            let waited = number > 0 && self.changes[number - 1].state.is_waiting();
            match self.changes[number].state.tag {
                // A thread that waits can be moved to another CPU.
                _ if waited => {}
                Tag::Woken => sums.wakeups += 1,
                Tag::Preempted => sums.preemptions += 1,
                _ => {}
            }
        }
        sums
    }

    /// Each time that the thread could run and then did.
    pub fn latencies(&self) -> impl Iterator<Item = Latency> + '_ {
        let mut waiting: Option<(Nanos, Ready)> = None;
        self.changes.iter().filter_map(move |change| {
            match change.state.state() {
                State::Waiting { ready, .. } => {
                    waiting.get_or_insert((change.at, ready));
                    return None;
                }
                State::Running { .. } => {}
                State::Blocked(_) | State::Unknown => waiting = None,
            }
            waiting.take().map(|(ready, why)| Latency {
                ready,
                running: change.at,
                why,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_takes_sixteen_bytes() {
        assert_eq!(size_of::<Change>(), 16);
    }

    #[test]
    fn every_state_survives_packing() {
        let states = [
            State::Running { cpu: Cpu(7) },
            State::Waiting {
                cpu: None,
                ready: Ready::Woken { by: None },
            },
            State::Waiting {
                cpu: Some(Cpu(0)),
                ready: Ready::Woken {
                    by: Some(TaskId(0)),
                },
            },
            State::Waiting {
                cpu: Some(Cpu(3)),
                ready: Ready::Preempted { by: TaskId(9) },
            },
            State::Blocked(Sleep::Interruptible),
            State::Blocked(Sleep::Uninterruptible),
            State::Blocked(Sleep::Stopped),
            State::Blocked(Sleep::Other),
            State::Blocked(Sleep::Unspecified),
            State::Unknown,
        ];
        for state in states {
            assert_eq!(Packed::new(state).state(), state);
        }
    }
}
