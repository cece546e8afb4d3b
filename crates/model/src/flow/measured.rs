//! Executions that were measured by the CPU clock of their thread, where the kernel did not tell its context switches: how long they
//! computed in all. When they did not is not known.

use rostrace_ctf::schema::Nanos;

use crate::entity::InstanceId;

/// What the tracer read when an execution had begun and when it was about to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredExecution {
    pub instance: InstanceId,
    /// Between the two readings.
    pub elapsed: Nanos,
    /// How far the CPU clock of the thread went meanwhile.
    pub computed: Nanos,
    /// How often the thread left its CPU to wait for something.
    pub voluntary: u64,
    /// How often it had to leave its CPU although it could have gone on.
    pub involuntary: u64,
}

/// Why a thread did not compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OffCpuReason {
    /// It could have gone on, and waited for a CPU each time.
    Preempted,
    /// It waited for something each time; that it may have waited for a CPU after that is part of it.
    Blocked,
    /// Both happened, and how long each took is not known.
    PreemptedOrBlocked,
    /// It never left its CPU: interrupts, or a virtual machine that was not given one itself.
    Interrupted,
}

/// Two clocks differ by as much: one may be adjusted by up to half a thousandth, and they are not read in the same instant.
const THOUSANDTH: i64 = 1000;
const INSTANT: i64 = 2000;

impl MeasuredExecution {
    /// How long the thread did not compute in all; 0 where that is less than the clocks can tell.
    pub fn off_cpu(&self) -> Nanos {
        let off = self.elapsed.0.saturating_sub(self.computed.0).max(0);
        let is_noise = off <= self.elapsed.0 / THOUSANDTH + INSTANT;
        let never_left = self.voluntary == 0 && self.involuntary == 0;
        Nanos(if never_left && is_noise { 0 } else { off })
    }

    /// Why it did not compute, if there was such a time.
    pub fn reason(&self) -> OffCpuReason {
        match (self.voluntary, self.involuntary) {
            (0, 0) => OffCpuReason::Interrupted,
            (0, _) => OffCpuReason::Preempted,
            (_, 0) => OffCpuReason::Blocked,
            _ => OffCpuReason::PreemptedOrBlocked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_thread_did_not_compute_is_told_by_how_it_left_its_cpu() {
        let of = |computed: i64, voluntary: u64, involuntary: u64| {
            let measured = MeasuredExecution {
                instance: InstanceId(0),
                elapsed: Nanos(10_000_000),
                computed: Nanos(computed),
                voluntary,
                involuntary,
            };
            (measured.off_cpu().0, measured.reason())
        };
        assert_eq!(of(4_000_000, 0, 3), (6_000_000, OffCpuReason::Preempted));
        assert_eq!(of(4_000_000, 2, 0), (6_000_000, OffCpuReason::Blocked));
        let both = OffCpuReason::PreemptedOrBlocked;
        assert_eq!(of(4_000_000, 2, 3), (6_000_000, both));
        let never = OffCpuReason::Interrupted;
        assert_eq!(of(9_000_000, 0, 0), (1_000_000, never));
        // What the two clocks differ by is no time off the CPU.
        assert_eq!(of(9_995_000, 0, 0), (0, never));
        assert_eq!(of(10_005_000, 0, 0), (0, never));
        assert_eq!(of(10_005_000, 0, 1).0, 0);
    }
}
