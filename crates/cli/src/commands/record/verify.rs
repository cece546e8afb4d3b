//! What was written, read back: is everything there that the processes counted?

use rostrace_ctf::DamageKind;
use rostrace_record::Summary;
use rostrace_tracepoints::Kind;

use crate::outcome::Outcome;
use crate::recorded::Recorded;
use crate::render::diagnostic;
use rostrace_base::units;

/// What the recorder heard from the kernel.
const KERNEL: [Kind; 17] = [
    Kind::ContextSwitchIn,
    Kind::ContextSwitchOut,
    Kind::ThreadName,
    Kind::ThreadExit,
    Kind::SchedSwitch,
    Kind::SchedWaking,
    Kind::SchedWakeup,
    Kind::SchedWakeupNew,
    Kind::SchedMigrateTask,
    Kind::SyscallEntry,
    Kind::SyscallExit,
    Kind::PageFault,
    Kind::PageFaultDone,
    Kind::IrqHandlerEntry,
    Kind::IrqHandlerExit,
    Kind::IrqSoftirqEntry,
    Kind::IrqSoftirqExit,
];

/// What the trace says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verified {
    /// Of processes.
    pub(crate) events: u64,
    /// How often their threads left a CPU.
    pub(crate) switches: u64,
    /// Executions whose thread had its CPU clock read at both ends.
    pub(crate) measured: u64,
    pub(crate) lost: u64,
    pub(crate) bytes: u64,
    pub(crate) outcome: Outcome,
}

/// Everything that is not as it should be is shown.
pub(crate) fn verify(recorded: &Recorded, summary: &Summary) -> Verified {
    let Recorded { set, model, .. } = recorded;
    let mut lost = 0;
    let mut outcome = Outcome::Fine;
    for damage in recorded.damage() {
        if damage.kind == DamageKind::DiscardedEvents {
            lost += damage.count.unwrap_or(0);
        } else {
            diagnostic::note(&damage.message);
        }
        if damage.kind.is_loss() {
            outcome = Outcome::LostData;
        }
    }
    // A flight recorder deletes on purpose. What processes that were killed counted last may be less than they wrote.
    if !summary.is_flight && model.events < summary.events {
        let missing = summary.events - model.events;
        diagnostic::note(&format!(
            "{} that the processes counted are not in the trace",
            units::counted(missing, "event")
        ));
        lost += missing;
        outcome = Outcome::LostData;
    }
    // Processes that never could begin to write have counted what they missed.
    if !summary.is_flight && summary.discarded > lost {
        lost = summary.discarded;
        outcome = Outcome::LostData;
    }
    let of_kernel = KERNEL.iter().map(|kind| model.kinds[kind.index()]);
    Verified {
        events: model.events - of_kernel.sum::<u64>(),
        switches: model.kinds[Kind::ContextSwitchOut.index()]
            + model.kinds[Kind::SchedSwitch.index()],
        measured: model.measured_executions.len() as u64,
        lost,
        bytes: set.bytes(),
        outcome,
    }
}
