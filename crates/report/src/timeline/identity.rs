//! The numbers that processes, threads and CPUs are shown under.
//!
//! The programs that show timelines know one machine, on which a number means one thread. A trace may be of several machines and
//! containers, and numbers come back. So whoever comes second gets a number that no kernel gives, above `STAND_INS`, and its name says the
//! true one.

use std::collections::HashMap;

use rostrace_analyze::Analysis;
use rostrace_model::entity::{HostId, ProcessId, ThreadId};
use rostrace_model::scheduling::Cpu;

/// Linux gives at most 4 194 304.
pub(super) const STAND_INS: i64 = 5_000_000;

/// Who wakes a thread is not in the model, and the format asks for somebody.
pub(super) const UNKNOWN_WAKER: i64 = STAND_INS - 1;

#[derive(Debug)]
pub(super) struct Identities {
    processes: Vec<Shown>,
    threads: Vec<i64>,
    /// What the kernel calls the threads of the model that it tells of.
    kernel_names: HashMap<ThreadId, String>,
    /// The threads that the kernel's events tell of.
    kernel_threads: HashMap<(HostId, i64), i64>,
    /// The first number of each host's CPUs.
    first_cpu: Vec<u32>,
}

#[derive(Debug)]
struct Shown {
    pid: i64,
    name: String,
}

impl Identities {
    pub(super) fn of(analysis: &Analysis<'_>) -> Identities {
        let model = analysis.model;
        let mut pids = Numbers::default();
        let several_hosts = model.hosts.len() > 1;
        let processes: Vec<Shown> = (model.processes.iter())
            .map(|process| {
                let pid = pids.take(process.pid);
                let host = &model.hosts[process.host.index()].name;
                let mut name = match process.name.as_str() {
                    "" => "process".to_owned(),
                    name => name.to_owned(),
                };
                if several_hosts && !host.is_empty() {
                    name = format!("{name} on {host}");
                }
                if pid != process.pid {
                    name = format!("{name} (pid {})", process.pid);
                }
                Shown { pid, name }
            })
            .collect();
        // A main thread has the number of its process, and nobody else has it.
        let mut numbers = pids;
        let mut has_main = vec![false; processes.len()];
        let threads: Vec<i64> = (model.threads.iter())
            .map(|thread| {
                let process = thread.process.index();
                let is_main = thread.tid == model.processes[process].pid;
                if is_main && !std::mem::replace(&mut has_main[process], true) {
                    processes[process].pid
                } else {
                    numbers.take(thread.tid)
                }
            })
            .collect();
        let mut kernel_threads = HashMap::new();
        let mut kernel_names = HashMap::new();
        let mut first_cpu = Vec::new();
        if let Some(scheduling) = &analysis.scheduling {
            let mut names: HashMap<(HostId, i64), &str> = HashMap::new();
            for task in &scheduling.tasks {
                // The last name of a thread is the one that it wants.
                names.insert((task.host, task.tid), &task.name);
            }
            for (index, tid) in scheduling.kernel_tids().into_iter().enumerate() {
                if let Some(tid) = tid {
                    let process = model.threads[index].process;
                    let host = model.processes[process.index()].host;
                    kernel_threads.insert((host, tid), threads[index]);
                    if let Some(name) = names.get(&(host, tid)) {
                        kernel_names.insert(ThreadId::from_index(index), (*name).to_owned());
                    }
                }
            }
            for (host, tid) in scheduling.kernel_threads() {
                (kernel_threads.entry((host, tid))).or_insert_with(|| match tid {
                    0 => 0,
                    tid => numbers.take(tid),
                });
            }
            let mut next = 0;
            for host in 0..model.hosts.len() {
                first_cpu.push(next);
                next += scheduling.cpus(HostId::from_index(host)) as u32;
            }
        }
        Identities {
            processes,
            threads,
            kernel_names,
            kernel_threads,
            first_cpu,
        }
    }

    pub(super) fn pid(&self, process: ProcessId) -> i64 {
        self.processes[process.index()].pid
    }

    pub(super) fn process_name(&self, process: ProcessId) -> &str {
        &self.processes[process.index()].name
    }

    pub(super) fn tid(&self, thread: ThreadId) -> i64 {
        self.threads[thread.index()]
    }

    pub(super) fn kernel_name(&self, thread: ThreadId) -> Option<&str> {
        self.kernel_names.get(&thread).map(String::as_str)
    }

    pub(super) fn kernel_tid(&self, host: HostId, tid: i64) -> i64 {
        self.kernel_threads.get(&(host, tid)).copied().unwrap_or(0)
    }

    pub(super) fn cpu(&self, host: HostId, cpu: Cpu) -> u32 {
        let first = self.first_cpu.get(host.index()).copied();
        first.unwrap_or(0) + u32::from(cpu.0)
    }
}

/// Numbers that are given once.
#[derive(Debug, Default)]
struct Numbers {
    given: std::collections::HashSet<i64>,
    stand_ins: i64,
}

impl Numbers {
    fn take(&mut self, wanted: i64) -> i64 {
        if wanted > 0 && wanted <= i64::from(i32::MAX) && self.given.insert(wanted) {
            return wanted;
        }
        loop {
            let number = STAND_INS + self.stand_ins;
            self.stand_ins += 1;
            if self.given.insert(number) {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_given_once_and_whoever_comes_second_gets_one_that_no_kernel_gives() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.take(17), 17);
        assert_eq!(numbers.take(STAND_INS), STAND_INS);
        assert_eq!(numbers.take(17), STAND_INS + 1);
        assert_eq!(numbers.take(0), STAND_INS + 2);
        assert_eq!(numbers.take(-4), STAND_INS + 3);
    }
}
