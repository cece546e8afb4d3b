//! A trace as a timeline for other programs: Perfetto and Chrome.
//!
//! `story` tells what happened, track by track, and every format is a `sink` that hears of it and writes at once: nothing but the rows
//! of one thread is collected on the way. A [`Selection`] says what is wanted of a trace, the window of the analysis when.

pub mod chrome;
mod flow;
mod identity;
mod label;
mod lanes;
pub mod perfetto;
mod sink;
mod story;

use std::io;

use rostrace_analyze::{Analysis, Selection};
use rostrace_ctf::Damage;

/// How much was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    pub processes: u64,
    pub threads: u64,
    /// Executions of callbacks, each a slice.
    pub executions: u64,
    /// Of these, executions whose end the trace does not have.
    pub unfinished: u64,
    pub publications: u64,
    /// Messages as arrows, from where they were published to where they were received.
    pub messages: u64,
    pub drops: u64,
    pub phases: u64,
    pub timer_firings: u64,
    pub user_events: u64,
    /// How often a CPU was given to another thread.
    pub switches: u64,
    pub bytes: u64,
}

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Perfetto,
    Chrome,
}

impl Format {
    /// What the ending of a file's name says.
    pub fn of_file_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if ends(&[".perfetto-trace", ".pftrace", ".perfetto"]) {
            Some(Format::Perfetto)
        } else if ends(&[".json"]) {
            Some(Format::Chrome)
        } else {
            None
        }
    }

    /// Writes what is selected; damage is shown, whatever that is.
    pub fn write(
        self,
        analysis: &Analysis<'_>,
        selection: &Selection,
        damage: &[Damage],
        out: &mut impl io::Write,
    ) -> io::Result<Written> {
        match self {
            Format::Perfetto => perfetto::write(analysis, selection, damage, out),
            Format::Chrome => chrome::write(analysis, selection, damage, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn the_ending_of_a_name_says_the_format() {
        for (name, format) in [
            ("a.perfetto-trace", Some(Format::Perfetto)),
            ("a.PFTRACE", Some(Format::Perfetto)),
            ("a.json", Some(Format::Chrome)),
            ("a.bin", None),
        ] {
            assert_eq!(Format::of_file_name(name), format, "{name}");
        }
    }
}
