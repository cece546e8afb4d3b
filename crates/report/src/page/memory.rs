//! Memory that processes allocated, where the trace has the calls of the allocator.

use rostrace_model::memory::ProcessMemory;
use serde::Serialize;

use super::Subject;
use super::columns::Columns;
use super::series::{Allowance, Series};

#[derive(Debug, Serialize)]
pub(crate) struct Memory<'a> {
    id: usize,
    /// Nothing if the trace tells no process: then it is that of a thread.
    process: Option<usize>,
    pid: Option<i64>,
    tid: Option<i64>,
    name: &'a str,
    allocations: u64,
    allocated: u64,
    frees: u64,
    freed: u64,
    /// Blocks that are older than the recording, or whose allocation was lost.
    unknown_frees: u64,
    peak: Option<u64>,
    peak_at: Option<i64>,
    /// Events were lost.
    uncertain: bool,
    bytes: Option<Series>,
}

/// Those of processes that are wanted, and those of which no process is known.
pub(crate) fn memory<'a>(
    subject: Subject<'a>,
    allowance: Allowance,
    columns: &mut Columns,
    wanted: impl Fn(&ProcessMemory) -> bool,
) -> Vec<Memory<'a>> {
    let memory = subject.analysis.memory.iter();
    let processes = memory.flat_map(|memory| &memory.processes);
    processes
        .filter(|it| wanted(it))
        .enumerate()
        .map(|(id, it)| one(subject, allowance, columns, id, it))
        .collect()
}

fn one<'a>(
    subject: Subject<'a>,
    allowance: Allowance,
    columns: &mut Columns,
    id: usize,
    memory: &'a ProcessMemory,
) -> Memory<'a> {
    let analysis = subject.analysis;
    let counted = memory.series.iter().filter(|it| analysis.counts(it.time));
    let points: Vec<(i64, i64)> = counted
        .map(|it| (subject.time(it.time), it.bytes as i64))
        .collect();
    let pid = |id: rostrace_model::entity::ProcessId| analysis.model.processes[id.index()].pid;
    Memory {
        id,
        process: memory.process.map(|id| id.index()),
        pid: memory.process.map(pid),
        tid: memory.tid,
        name: &memory.name,
        allocations: memory.totals.allocations,
        allocated: memory.totals.allocated_bytes,
        frees: memory.totals.frees,
        freed: memory.totals.freed_bytes,
        unknown_frees: memory.totals.unknown_frees,
        peak: memory.peak.map(|it| it.bytes),
        peak_at: memory.peak.map(|it| subject.time(it.time)),
        uncertain: memory.uncertain,
        bytes: allowance.series(columns, &points),
    }
}
