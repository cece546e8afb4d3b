//! Limits and room of this machine.

use std::path::Path;

use super::{Check, Verdict};
use crate::limits::limit;
use crate::perf;
use crate::storage;
use crate::thread_clock;

const GROUP: &str = "machine";

/// A process of ROS 2 with a few hundred files, and files of ours for its threads.
const ENOUGH_FILES: u64 = 1024;
const ENOUGH_BYTES: u64 = 1 << 30;

pub(super) fn checks() -> Vec<Check> {
    vec![files(), file_size(), disk(), context_switches()]
}

fn context_switches() -> Check {
    let name = "context switches";
    match perf::probe() {
        Ok(()) => match perf::probe_machine() {
            Ok(()) => Check::new(
                GROUP,
                name,
                Verdict::Ok,
                "can be recorded of all threads of the machine, with who woke them: `rostrace why` tells computing, preempted, blocked and \
                 woken late apart, and names who ran instead; `record --kernel` adds interrupts, system calls and page faults",
            ),
            Err(refusal) => {
                let found = format!(
                    "can be recorded of recorded threads: `rostrace why` tells computing, preempted and blocked apart. Who else ran, and who \
                     woke a thread, cannot: {}",
                    refusal.reason
                );
                let check = Check::new(GROUP, name, Verdict::Ok, found);
                match refusal.fix {
                    Some(fix) => check.fix(fix),
                    None => check,
                }
            }
        },
        Err(refusal) => {
            let instead = match thread_clock::cost() {
                Some(cost) => format!(
                    "`record` reads the CPU clocks of threads instead when callbacks begin and end, for about {:.1} µs each: \
                     `rostrace why` tells computing, preempted and blocked apart in sum",
                    cost.as_nanos() as f64 / 1000.0
                ),
                None => "The CPU clocks of threads cannot be read either. Everything else can be recorded".to_owned(),
            };
            let found = format!("cannot be recorded: {}. {instead}", refusal.reason);
            let check = Check::new(GROUP, name, Verdict::Missing, found);
            match refusal.fix {
                Some(fix) => check.fix(fix),
                None => check,
            }
        }
    }
}

fn files() -> Check {
    let name = "open files";
    match limit(libc::RLIMIT_NOFILE) {
        Some(found) if found.current < ENOUGH_FILES => Check::new(
            GROUP,
            name,
            Verdict::Warning,
            format!(
                "a process may have {} at once, which large nodes may need for themselves",
                found.current
            ),
        )
        .fix(format!("ulimit -n {}", found.highest.min(65_536))),
        Some(found) => Check::new(
            GROUP,
            name,
            Verdict::Ok,
            format!("a process may have {} at once", found.current),
        ),
        None => Check::new(GROUP, name, Verdict::Warning, "the limit is not known"),
    }
}

fn file_size() -> Check {
    let name = "size of files";
    match limit(libc::RLIMIT_FSIZE) {
        Some(found) if found.current != libc::RLIM_INFINITY => Check::new(
            GROUP,
            name,
            Verdict::Warning,
            format!(
                "files may not be larger than {} MiB: more events are lost",
                found.current >> 20
            ),
        )
        .fix("ulimit -f unlimited"),
        _ => Check::new(GROUP, name, Verdict::Ok, "not limited"),
    }
}

fn disk() -> Check {
    let name = "disk";
    match storage::space(Path::new(".")) {
        Ok(space) if space.free < ENOUGH_BYTES => Check::new(
            GROUP,
            name,
            Verdict::Warning,
            format!("{} MiB are free in this folder", space.free >> 20),
        )
        .fix("choose another disk: rostrace record -o /path/on/another/disk …"),
        Ok(space) => Check::new(
            GROUP,
            name,
            Verdict::Ok,
            format!("{} GiB are free in this folder", space.free >> 30),
        ),
        Err(error) => Check::new(GROUP, name, Verdict::Warning, error.to_string()),
    }
}
