//! What is to be recorded, in the words of people, and the command that is made of it.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use glob::Pattern;
use rostrace_session::{Command, DIRECTORY_BYTES, FILTER_BYTES, Filters, Settings};

use crate::error::Error;
use crate::event_selection;
use crate::perf::KernelChoice;

#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The folder of the trace; absolute, and not there yet.
    pub output: PathBuf,
    /// Only these events, and those of initialisation; empty for all.
    pub events: Vec<Pattern>,
    /// Without the chattiest events.
    pub light: bool,
    /// Only these processes of a session, by pid in their own name space; empty for all.
    pub pids: Vec<u32>,
    /// How it is found out when the threads of these processes computed.
    pub switches: Switches,
    /// With waits for locks, of processes that were started with the library for them.
    pub locks: bool,
    /// With more of what the kernel does, where the system allows it.
    pub kernel: KernelChoice,
    /// With so many samples of their call stacks in each second that a thread computes.
    pub sample_hertz: Option<u32>,
    /// Recorded at most so long, also if the recorder is killed.
    pub duration: Option<Duration>,
    /// Processes of other users are to make their folders in it too.
    pub is_for_all_users: bool,
    pub settings: Settings,
}

/// How it is found out when threads computed, were preempted and were blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switches {
    /// By context switches, and where the system refuses them by clocks.
    Auto,
    /// By context switches alone, which cost the processes nothing.
    Perf,
    /// By the CPU clocks of threads alone, read at both ends of callbacks.
    Clocks,
    /// Not at all.
    Off,
}

impl Plan {
    /// Everything, into this folder.
    pub fn to(output: PathBuf) -> Plan {
        Plan {
            output,
            events: Vec::new(),
            light: false,
            pids: Vec::new(),
            switches: Switches::Off,
            locks: false,
            kernel: KernelChoice::default(),
            sample_hertz: None,
            duration: None,
            is_for_all_users: false,
            settings: Settings {
                keep_free: 64 << 20,
                ..Settings::default()
            },
        }
    }

    pub(crate) fn command(&self) -> Result<Command, Error> {
        let directory = self.output.as_os_str().as_bytes().to_vec();
        // The tracer adds the name of the process.
        if directory.len() >= DIRECTORY_BYTES {
            return Err(Error::PathTooLong(self.output.clone()));
        }
        let filters = &self.settings.filters;
        for (name, list) in [
            ("--select-node", &filters.select_nodes),
            ("--ignore-node", &filters.ignore_nodes),
            ("--select-topic", &filters.select_topics),
            ("--ignore-topic", &filters.ignore_topics),
            ("CARET_IGNORE_PROCESSES", &filters.ignore_processes),
        ] {
            if list.len() >= FILTER_BYTES {
                return Err(Error::FilterTooLong(name));
            }
        }
        let mut command = Command {
            mask: event_selection::mask(&self.events, self.light, self.locks)?,
            vocabulary: rostrace_tracepoints::vocabulary(),
            chosen_only: !self.pids.is_empty(),
            settings: self.settings.clone(),
            ..Command::record(directory)
        };
        // Whether they have to be read is known when context switches were tried.
        command.read_clocks(self.switches == Switches::Clocks);
        Ok(command)
    }
}

/// Patterns as the tracer takes them.
pub(crate) fn joined(patterns: &[String]) -> Result<Vec<u8>, Error> {
    if let Some(pattern) = patterns.iter().find(|pattern| pattern.contains(':')) {
        return Err(Error::SeparatorInPattern(pattern.clone()));
    }
    Ok(patterns.join(":").into_bytes())
}

/// The filters of these patterns, in which `*` and `?` stand for any text and any byte.
pub fn filters(
    select_nodes: &[String],
    ignore_nodes: &[String],
    select_topics: &[String],
    ignore_topics: &[String],
) -> Result<Filters, Error> {
    Ok(Filters {
        select_nodes: joined(select_nodes)?,
        ignore_nodes: joined(ignore_nodes)?,
        select_topics: joined(select_topics)?,
        ignore_topics: joined(ignore_topics)?,
        ignore_processes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_into_the_control_page_is_refused() {
        let long = Plan::to(format!("/{}", "x".repeat(2000)).into());
        assert!(matches!(long.command(), Err(Error::PathTooLong(_))));
        let mut many = Plan::to("/tmp/trace".into());
        many.settings.filters = filters(&[], &vec!["/node".to_owned(); 1000], &[], &[]).unwrap();
        assert!(matches!(
            many.command(),
            Err(Error::FilterTooLong("--ignore-node"))
        ));
        assert!(filters(&["/a:/b".to_owned()], &[], &[], &[]).is_err());
    }
}
