//! Executions that were measured by the CPU clock of their thread, where the kernel did not tell its context switches: how long they
//! computed in all. When they did not is not known.
//!
//! A reading is made just after the start and one just before the end. What passes in a reading is the tracer's own work, which waits for
//! nothing but a CPU; of what passes between them, the counts of the thread tell what it waited for.

use rostrace_ctf::schema::Nanos;

use crate::entity::InstanceId;

/// What the tracer read when an execution had begun and when it was about to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredExecution {
    pub instance: InstanceId,
    /// From its start until the first reading was made, and from when the second one began to its end.
    pub readings: [Nanos; 2],
    /// Between the two.
    pub between: Nanos,
    /// How far the CPU clock of the thread went meanwhile.
    pub computed: Nanos,
    /// How often the thread left its CPU meanwhile to wait for something.
    pub voluntary: u64,
    /// How often it had to leave its CPU meanwhile although it could have gone on.
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

/// A reading takes about a microsecond, with slow system calls two or three.
const READING: i64 = 3000;
/// Two clocks differ by as much: one may be adjusted by up to half a thousandth, and they are not read in the same instant.
const THOUSANDTH: i64 = 1000;
const INSTANT: i64 = 2000;

impl MeasuredExecution {
    /// How long the thread waited for a CPU while its clock was read, and how often at least.
    pub fn preempted_at_ends(&self) -> (Nanos, u64) {
        let waits = self.readings.map(|reading| (reading.0 - READING).max(0));
        let times = waits.iter().filter(|wait| **wait > 0).count() as u64;
        (Nanos(waits[0].saturating_add(waits[1])), times)
    }

    /// How long the thread did not compute between the readings; 0 where that is less than the clocks can tell.
    pub fn off_between(&self) -> Nanos {
        let off = self.between.0.saturating_sub(self.computed.0).max(0);
        let is_noise = off <= self.between.0 / THOUSANDTH + INSTANT;
        let never_left = self.voluntary == 0 && self.involuntary == 0;
        Nanos(if never_left && is_noise { 0 } else { off })
    }

    /// In all.
    pub fn off_cpu(&self) -> Nanos {
        Nanos(self.off_between().0 + self.preempted_at_ends().0.0)
    }

    /// Why it did not compute between the readings, if there was such a time.
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

    fn measured(computed: i64, voluntary: u64, involuntary: u64) -> MeasuredExecution {
        MeasuredExecution {
            instance: InstanceId(0),
            readings: [Nanos(1000), Nanos(2000)],
            between: Nanos(10_000_000),
            computed: Nanos(computed),
            voluntary,
            involuntary,
        }
    }

    #[test]
    fn why_a_thread_did_not_compute_is_reported_by_how_it_left_its_cpu() {
        let of = |computed: i64, voluntary: u64, involuntary: u64| {
            let measured = measured(computed, voluntary, involuntary);
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

    #[test]
    fn who_waits_while_its_clock_is_read_waits_for_a_cpu() {
        let mut measured = measured(4_000_000, 1, 0);
        assert_eq!(measured.preempted_at_ends(), (Nanos(0), 0));
        measured.readings[0] = Nanos(2_003_000);
        assert_eq!(measured.preempted_at_ends(), (Nanos(2_000_000), 1));
        assert_eq!(measured.off_between(), Nanos(6_000_000));
        assert_eq!(measured.reason(), OffCpuReason::Blocked);
        assert_eq!(measured.off_cpu(), Nanos(8_000_000));
    }
}
