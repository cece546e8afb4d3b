//! What is to be recorded, in the words of people, and the command that is made of it.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use glob::Pattern;
use rostrace_session::{Command, DIRECTORY_BYTES, FILTER_BYTES, Filters, Room, State};

use crate::error::Error;
use crate::event_selection;

/// What a flight recorder keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flight {
    Nanos(u64),
    /// Of each process.
    Bytes(u64),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The folder of the trace; absolute, and not there yet.
    pub output: PathBuf,
    /// Only these events, and those of initialisation; empty for all.
    pub events: Vec<Pattern>,
    /// Without the chattiest events.
    pub light: bool,
    pub filters: Filters,
    /// Keep only the newest.
    pub flight: Option<Flight>,
    /// A signal by which processes ask for a snapshot, if they do nothing else with it; 0 for none.
    pub flight_signal: u8,
    /// Bytes of memory for events of a process that are not on the disk yet; None for what is usual.
    pub buffer: Option<u64>,
    /// Bytes that a process may write; 0 for no limit.
    pub process_bytes: u64,
    /// Only these processes of a session, by pid in their own name space; empty for all.
    pub pids: Vec<u32>,
    /// Bytes that must stay free on the disk.
    pub keep_free: u64,
    /// Recorded at most so long, also if the recorder is killed.
    pub duration: Option<Duration>,
    /// Processes of other users are to make their folders in it too.
    pub is_for_all_users: bool,
}

impl Plan {
    /// Everything, into this folder.
    pub fn to(output: PathBuf) -> Plan {
        Plan {
            output,
            events: Vec::new(),
            light: false,
            filters: Filters::default(),
            flight: None,
            flight_signal: 0,
            buffer: None,
            process_bytes: 0,
            pids: Vec::new(),
            keep_free: 64 << 20,
            duration: None,
            is_for_all_users: false,
        }
    }

    pub(crate) fn command(&self) -> Result<Command, Error> {
        let directory = self.output.as_os_str().as_bytes().to_vec();
        // The tracer adds the name of the process.
        if directory.len() >= DIRECTORY_BYTES {
            return Err(Error::PathTooLong(self.output.clone()));
        }
        let filters = &self.filters;
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
        Ok(Command {
            state: match self.flight {
                Some(_) => State::Flight,
                None => State::Recording,
            },
            mask: event_selection::mask(&self.events, self.light)?,
            vocabulary: rostrace_tracepoints::vocabulary(),
            chosen_only: !self.pids.is_empty(),
            flight_signal: self.flight_signal,
            room: self.room(),
            filters: filters.clone(),
            ..Command::record(directory)
        })
    }

    fn room(&self) -> Room {
        let usual = Room::default();
        let (flight_nanos, flight_bytes) = match self.flight {
            Some(Flight::Nanos(nanos)) => (nanos, 0),
            Some(Flight::Bytes(bytes)) => (0, bytes),
            None => (0, 0),
        };
        Room {
            memory_bytes: self.buffer.unwrap_or(usual.memory_bytes),
            process_bytes: self.process_bytes,
            flight_bytes,
            flight_nanos,
            keep_free: self.keep_free,
        }
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
    fn a_command_says_what_the_plan_says() {
        let plan = Plan {
            flight: Some(Flight::Bytes(1 << 20)),
            process_bytes: 7,
            pids: vec![1],
            ..Plan::to("/tmp/trace".into())
        };
        let command = plan.command().unwrap();
        assert_eq!(command.state, State::Flight);
        assert_eq!(command.directory, b"/tmp/trace");
        assert_eq!(command.room.flight_bytes, 1 << 20);
        assert_eq!(command.room.process_bytes, 7);
        assert!(command.chosen_only);
    }

    #[test]
    fn what_does_not_fit_into_the_control_page_is_refused() {
        let long = Plan::to(format!("/{}", "x".repeat(2000)).into());
        assert!(matches!(long.command(), Err(Error::PathTooLong(_))));
        let many = Plan {
            filters: filters(&[], &vec!["/node".to_owned(); 1000], &[], &[]).unwrap(),
            ..Plan::to("/tmp/trace".into())
        };
        assert!(matches!(
            many.command(),
            Err(Error::FilterTooLong("--ignore-node"))
        ));
        assert!(filters(&["/a:/b".to_owned()], &[], &[], &[]).is_err());
    }
}
