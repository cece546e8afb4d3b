//! CPUs: which thread each was given to, and when threads were woken.

use std::io;

use rostrace_ctf::schema::Nanos;
use rostrace_model::entity::HostId;
use rostrace_model::scheduling::{Cpu, Ready, Scheduling, Sleep, State, TaskId};

use super::super::identity::STAND_INS;
use super::super::label::{Common, Labels};
use super::super::sink::{Argument, Running, Sink, Switch, TrackKind, Waking};
use super::{TimelineModel, labelled};

impl<S: Sink> TimelineModel<'_, S> {
    pub(super) fn cpus(&mut self) -> io::Result<()> {
        let Some(scheduling) = &self.analysis.scheduling else {
            return Ok(());
        };
        for index in 0..self.analysis.model.hosts.len() {
            let host = HostId::from_index(index);
            if self.sink.knows_cpus() {
                self.switches(scheduling, host)?;
                self.wakings(scheduling, host)?;
            } else {
                self.occupations(scheduling, host)?;
            }
            self.interrupts(host)?;
        }
        Ok(())
    }

    fn running<'s>(&self, scheduling: &'s Scheduling, task: TaskId) -> Running<'s> {
        let task = scheduling.task(task);
        Running {
            tid: self.identities.kernel_tid(task.host, task.tid),
            name: &task.name,
        }
    }

    fn switches(&mut self, scheduling: &Scheduling, host: HostId) -> io::Result<()> {
        let nobody = Running { tid: 0, name: "" };
        for number in 0..scheduling.cpus(host) {
            let cpu = Cpu(number as u16);
            let shown = self.identities.cpu(host, cpu);
            let mut before: Option<TaskId> = None;
            let rows = scheduling.occupations(host, cpu, self.begin, self.end);
            for row in rows {
                // Where nobody knows who it was the CPU seems to be idle: the format has no word for it.
                let task = row.task.filter(|task| scheduling.task(*task).is_recorded());
                let next = task.map(|task| self.running(scheduling, task));
                let previous = before.map(|task| self.running(scheduling, task));
                let busy = before.filter(|task| !scheduling.task(*task).is_idle());
                let previous_state = busy.map_or(0, |task| {
                    let tid = scheduling.task(task).tid;
                    let timeline = scheduling.timeline_of_tid(host, tid);
                    // Where nobody knows who came next, it is the trace that ended.
                    let is_over = timeline.is_some_and(|it| it.is_over(row.from));
                    if is_over && row.task.is_some() {
                        return ENDED;
                    }
                    let state = timeline.map_or(State::Unknown, |it| it.state(row.from));
                    state_number(state)
                });
                before = task;
                if task.is_none() && previous.is_none() {
                    continue;
                }
                self.written.switches += 1;
                self.sink.switch(&Switch {
                    cpu: shown,
                    at: row.from,
                    previous: previous.unwrap_or(nobody),
                    previous_state,
                    next: next.unwrap_or(nobody),
                })?;
            }
            if let Some(task) = before {
                let previous = self.running(scheduling, task);
                if previous.tid != 0 {
                    // The recording ends; the thread would have gone on.
                    self.sink.switch(&Switch {
                        cpu: shown,
                        at: self.end,
                        previous,
                        previous_state: 0,
                        next: nobody,
                    })?;
                }
            }
        }
        Ok(())
    }

    fn wakings(&mut self, scheduling: &Scheduling, host: HostId) -> io::Result<()> {
        if !scheduling.has_wakeups {
            return Ok(());
        }
        let mut name_of = std::collections::HashMap::new();
        for task in scheduling.tasks.iter().filter(|task| task.host == host) {
            name_of.entry(task.tid).or_insert(task.name.as_str());
        }
        for (of, tid) in scheduling.kernel_threads() {
            let Some(timeline) = scheduling.timeline_of_tid(of, tid).filter(|_| of == host) else {
                continue;
            };
            let woken = Running {
                tid: self.identities.kernel_tid(host, tid),
                name: name_of.get(&tid).copied().unwrap_or_default(),
            };
            for latency in timeline.latencies() {
                let counts = (self.begin..=self.end).contains(&latency.ready);
                if !matches!(latency.why, Ready::Woken { .. }) || !counts || woken.tid == 0 {
                    continue;
                }
                let cpu = match timeline.state(latency.running) {
                    State::Running { cpu } => cpu,
                    _ => continue,
                };
                self.sink.waking(&Waking {
                    cpu: self.identities.cpu(host, cpu),
                    at: latency.ready,
                    woken,
                })?;
            }
        }
        Ok(())
    }

    /// For formats that know no CPUs: tracks of a process that stands for the machine.
    fn occupations(&mut self, scheduling: &Scheduling, host: HostId) -> io::Result<()> {
        let cpus = scheduling.cpus(host);
        if cpus == 0 {
            return Ok(());
        }
        let name = &self.analysis.model.hosts[host.index()].name;
        let machine = self.track(
            None,
            TrackKind::Process {
                pid: STAND_INS * 2 + host.index() as i64,
                name: &format!(
                    "CPUs of {}",
                    if name.is_empty() { "the machine" } else { name }
                ),
            },
        )?;
        for number in 0..cpus {
            let cpu = Cpu(number as u16);
            let track = self.track(Some(machine), TrackKind::Named(&format!("CPU {number}")))?;
            for row in scheduling.occupations(host, cpu, self.begin, self.end) {
                let task = row.task.map(|task| scheduling.task(task));
                let Some(task) = task.filter(|task| !task.is_idle() && task.is_recorded()) else {
                    continue;
                };
                self.written.switches += 1;
                let tid = self.identities.kernel_tid(host, task.tid);
                let arguments = [("tid", Argument::Integer(tid))];
                let mut event =
                    labelled(&self.labels, track, row.from, Labels::common(Common::Cpu));
                event.end = Some(Nanos(row.to.0.max(row.from.0)));
                event.name = Some(&task.name);
                event.arguments = &arguments;
                self.sink.event(&event)?;
            }
            self.sink.close(track)?;
        }
        Ok(())
    }
}

/// The thread is no more.
const ENDED: i64 = 16;

/// As `sched_switch` says it.
fn state_number(state: State) -> i64 {
    match state {
        State::Running { .. } | State::Waiting { .. } => 0,
        State::Blocked(Sleep::Uninterruptible) => 2,
        State::Blocked(Sleep::Stopped) => 4,
        State::Blocked(Sleep::Other) => 64,
        State::Blocked(Sleep::Interruptible | Sleep::Unspecified) | State::Unknown => 1,
    }
}
