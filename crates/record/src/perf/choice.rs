//! What is recorded of the kernel beyond context switches, where the system allows it.

use super::tracepoint::Tracepoint;

/// Context switches and wake-ups are always recorded: few of them happen for each callback, and nothing explains more. What is here happens far
/// more often, costs the recorded programs time, or is seldom needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KernelChoice {
    /// Nothing of other programs: context switches of recorded threads only.
    pub recorded_threads_only: bool,
    pub interrupts: bool,
    /// Of recorded threads.
    pub system_calls: bool,
    /// Of recorded threads.
    pub page_faults: bool,
}

impl KernelChoice {
    /// Whether more was chosen than what is always recorded.
    pub fn is_more(self) -> bool {
        self.interrupts || self.system_calls || self.page_faults
    }

    pub(super) fn tracepoints(self) -> impl Iterator<Item = Tracepoint> {
        use Tracepoint::*;
        let always = [
            SchedSwitch,
            SchedWaking,
            SchedWakeup,
            SchedWakeupNew,
            SchedMigrateTask,
        ];
        let chosen = |is_chosen: bool, list: &'static [Tracepoint]| {
            list.iter().copied().filter(move |_| is_chosen)
        };
        (always.into_iter())
            .chain(chosen(
                self.interrupts,
                &[IrqHandlerEntry, IrqHandlerExit, SoftirqEntry, SoftirqExit],
            ))
            .chain(chosen(
                self.system_calls,
                &[SystemCallEntry, SystemCallExit],
            ))
            .chain(chosen(self.page_faults, &[PageFault]))
    }
}
