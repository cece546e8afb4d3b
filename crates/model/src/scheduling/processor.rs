//! Which thread each CPU was given to, and which CPU the packets of a stream are of.

use rostrace_ctf::schema::Nanos;
use rostrace_ctf::value::Value;
use rostrace_ctf::{Packet, Stream, Trace};

use super::task::TaskId;
use super::timeline::Cpu;

/// A stretch of time on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupation {
    pub from: Nanos,
    pub to: Nanos,
    /// Nobody knows who it was where this is absent; an idle CPU has a task too, and so has what is known not to be recorded.
    pub task: Option<TaskId>,
}

/// What one CPU did.
#[derive(Debug, Default)]
pub(super) struct Processor {
    /// In the order of time.
    changes: Vec<(Nanos, Option<TaskId>)>,
}

impl Processor {
    pub(super) fn push(&mut self, at: Nanos, task: Option<TaskId>) {
        let last = self.changes.last();
        if last.map_or(task.is_none(), |(_, last)| *last == task) {
            return;
        }
        let at = last.map_or(at, |(last, _)| at.max(*last));
        self.changes.push((at, task));
    }

    /// Who has it now.
    pub(super) fn now(&self) -> Option<TaskId> {
        self.changes.last().and_then(|(_, task)| *task)
    }

    pub(super) fn occupations(
        &self,
        from: Nanos,
        to: Nanos,
    ) -> impl Iterator<Item = Occupation> + '_ {
        let begun = self.changes.partition_point(|(at, _)| *at <= from);
        let first = begun.checked_sub(1).map(|last| self.changes[last].1);
        let head = (from, first.flatten());
        let end = self.changes.partition_point(|(at, _)| *at < to).max(begun);
        let rest = &self.changes[begun..end];
        let nexts = rest.iter().map(|(at, _)| *at).chain([to]);
        std::iter::once(head)
            .chain(rest.iter().copied())
            .zip(nexts)
            .map(|((from, task), to)| Occupation { from, to, task })
            .filter(|row| row.from < row.to)
    }
}

/// Of streams that are of no CPU.
pub(super) const NO_CPU: Cpu = Cpu(u16::MAX - 1);

/// The CPU that a packet was filled on. Traces that do not say it have a stream per CPU.
pub(super) fn cpu_of(trace: &Trace, stream: &Stream, packet: &Packet) -> Cpu {
    let number = context_number(trace, stream, packet, "cpu_id").unwrap_or(stream.id);
    u16::try_from(number).map_or(NO_CPU, Cpu)
}

/// A number in a packet's context.
pub(super) fn context_number(
    trace: &Trace,
    stream: &Stream,
    packet: &Packet,
    name: &str,
) -> Option<u64> {
    let class = trace.schema.streams[stream.class].packet_context.as_ref()?;
    let place = (class.members.iter()).position(|member| &*member.name == name)?;
    match trace.packet_context(packet)?.members()?.get(place)? {
        Value::Unsigned(number) => Some(*number),
        Value::Signed(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}
