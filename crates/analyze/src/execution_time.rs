//! What the time of one execution was spent with, whoever tells: the kernel's scheduler, or the CPU clock of its thread.

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::InstanceId;
use rostrace_model::flow::OffCpuReason;

use crate::analysis::Analysis;

named! {
    /// Who tells it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Source {
        /// Each time that the thread got a CPU and lost it.
        ContextSwitches = "context switches",
        /// The CPU clock of the thread, read at both ends.
        ThreadClock = "thread clock",
    }
}

/// The four durations add up to that of the execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutionTime {
    pub running: Nanos,
    pub waiting: Nanos,
    pub blocked: Nanos,
    /// By context switches: it may have been anything. By the clock: waiting or blocked.
    pub unknown: Nanos,
    /// How often it had to leave its CPU although it could have gone on.
    pub preemptions: u64,
    pub source: Source,
}

impl ExecutionTime {
    /// Nothing if the trace has neither, or no end of the execution.
    pub fn of(analysis: &Analysis<'_>, instance: InstanceId) -> Option<ExecutionTime> {
        let row = analysis.instance(instance);
        let end = row.end?;
        let measured = analysis.model.measured_execution(instance);
        let scheduling = (analysis.scheduling.as_ref())
            .filter(|scheduling| measured.is_none() || scheduling.timeline(row.thread).is_some());
        if let Some(scheduling) = scheduling {
            let sums = scheduling.off_cpu(row.thread, row.start, end);
            return Some(ExecutionTime {
                running: sums.running,
                waiting: sums.waiting,
                blocked: sums.blocked,
                unknown: sums.unknown,
                preemptions: sums.preemptions,
                source: Source::ContextSwitches,
            });
        }
        let measured = measured?;
        let duration = Nanos(end.0 - row.start.0);
        let (at_ends, times) = measured.preempted_at_ends();
        let off = measured.off_between();
        let mut time = ExecutionTime {
            running: Nanos(duration.0 - off.0 - at_ends.0),
            waiting: at_ends,
            blocked: Nanos(0),
            unknown: Nanos(0),
            preemptions: measured.involuntary + times,
            source: Source::ThreadClock,
        };
        let place = match measured.reason() {
            OffCpuReason::Preempted | OffCpuReason::Interrupted => &mut time.waiting,
            OffCpuReason::Blocked => &mut time.blocked,
            OffCpuReason::PreemptedOrBlocked => &mut time.unknown,
        };
        place.0 += off.0;
        Some(time)
    }

    /// Whether it is known how long it ran.
    pub fn knows_running(&self) -> bool {
        self.source == Source::ThreadClock || self.unknown.0 == 0
    }
}
