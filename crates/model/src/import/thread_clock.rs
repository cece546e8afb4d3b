//! The CPU clocks of threads, as the tracer read them at the ends of executions.

use rostrace_ctf::schema::Nanos;
use rostrace_tracepoints::field;

use super::{Import, Imported};
use crate::binding::Fields;
use crate::entity::ThreadId;
use crate::flow::MeasuredExecution;

/// The readings of one execution.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocked {
    begin: Reading,
    end: Option<Reading>,
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    time: Nanos,
    cpu_time: u64,
    voluntary: u64,
    involuntary: u64,
}

impl Import {
    /// The first reading of an execution is that of its begin. One whose begin was lost is left alone at its end, and tells nothing.
    pub(super) fn thread_clock(&mut self, thread: ThreadId, time: Nanos, fields: &Fields<'_>) {
        use field::thread_clock::*;
        let address = fields.address(CALLBACK);
        let instances = &self.out.instances;
        let mut innermost_first = self.out.population.state(thread).open.iter().rev();
        let Some(id) = innermost_first.find(|id| instances[id.index()].address == address) else {
            return;
        };
        let [cpu_time, voluntary, involuntary] =
            [CPU_TIME, VOLUNTARY, INVOLUNTARY].map(|it| fields.number(it).unwrap_or(0));
        let reading = Reading {
            time,
            cpu_time,
            voluntary,
            involuntary,
        };
        self.out
            .clocked
            .entry(*id)
            .and_modify(|clocked| clocked.end = Some(reading))
            .or_insert(Clocked {
                begin: reading,
                end: None,
            });
    }
}

impl Imported {
    /// Those of which both ends are known, in the order of their numbers.
    pub(crate) fn measured_executions(&self) -> Vec<MeasuredExecution> {
        let measured = self.clocked.iter().filter_map(|(id, clocked)| {
            let row = &self.instances[id.index()];
            let (begin, end) = (clocked.begin, clocked.end?);
            Some(MeasuredExecution {
                instance: *id,
                readings: [
                    Nanos(begin.time.0.saturating_sub(row.start.0)),
                    Nanos(row.end?.0.saturating_sub(end.time.0)),
                ],
                between: Nanos(end.time.0.saturating_sub(begin.time.0)),
                // Clocks of threads never go back; what a damaged trace says is not trusted.
                computed: i64::try_from(end.cpu_time.checked_sub(begin.cpu_time)?)
                    .map(Nanos)
                    .ok()?,
                voluntary: end.voluntary.checked_sub(begin.voluntary)?,
                involuntary: end.involuntary.checked_sub(begin.involuntary)?,
            })
        });
        let mut measured: Vec<MeasuredExecution> = measured.collect();
        measured.sort_unstable_by_key(|it| it.instance);
        measured
    }
}
