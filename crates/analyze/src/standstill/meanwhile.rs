//! What the kernel's scheduler tells of a standstill: whether threads waited for a CPU, and who had the CPUs.

use std::collections::BTreeMap;

use rostrace_model::scheduling::{State, TaskId};

use super::{Scope, Standstill};
use crate::analysis::Analysis;

/// Who had the CPUs, and what those that were held up did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meanwhile {
    /// The part of all CPUs' time in which they had nothing to do.
    pub idle: f64,
    /// Who had most of the rest, and the part of all CPUs' time that it had.
    pub busiest: Option<(TaskId, f64)>,
    /// Threads of those that were held up that waited for a CPU for most of the time, or were not woken.
    pub waited: usize,
    pub asleep: usize,
}

impl Standstill {
    /// Nothing where the trace does not tell it.
    pub fn meanwhile(&self, analysis: &Analysis<'_>) -> Option<Meanwhile> {
        let scheduling = analysis.scheduling.as_ref()?;
        let model = analysis.model;
        let host = match self.scope {
            Scope::Machine(host) => host,
            Scope::Process(process) => model.processes[process.index()].host,
        };
        let (mut idle, mut known) = (0, 0);
        let mut busy: BTreeMap<TaskId, i64> = BTreeMap::new();
        for cpu in 0..scheduling.cpus(host) {
            let cpu = rostrace_model::scheduling::Cpu(u16::try_from(cpu).ok()?);
            for it in scheduling.occupations(host, cpu, self.begin, self.end) {
                let Some(task) = it.task else { continue };
                let time = it.to.0 - it.from.0;
                known += time;
                let task_row = scheduling.task(task);
                if !task_row.is_recorded() {
                    // That may be idleness as well as somebody else's work.
                    return None;
                }
                match task_row.is_idle() {
                    true => idle += time,
                    false => *busy.entry(task).or_default() += time,
                }
            }
        }
        if known == 0 {
            return None;
        }
        let share = |time: i64| time as f64 / known as f64;
        let busiest = busy.into_iter().max_by_key(|(_, time)| *time);
        let (mut waited, mut asleep) = (0, 0);
        let mut threads: Vec<_> = (self.victims.iter())
            .map(|(id, _)| analysis.instance(*id).thread)
            .collect();
        threads.sort();
        threads.dedup();
        for thread in threads {
            let (mut ready, mut blocked) = (0, 0);
            for slice in scheduling.slices(thread, self.begin, self.end) {
                match slice.state {
                    State::Waiting { .. } => ready += slice.duration().0,
                    State::Blocked(_) => blocked += slice.duration().0,
                    State::Running { .. } | State::Unknown => {}
                }
            }
            waited += usize::from(2 * ready > self.duration());
            asleep += usize::from(2 * blocked > self.duration());
        }
        Some(Meanwhile {
            idle: share(idle),
            busiest: busiest.map(|(task, time)| (task, share(time))),
            waited,
            asleep,
        })
    }
}
