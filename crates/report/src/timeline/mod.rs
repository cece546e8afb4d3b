//! A trace as a timeline for other programs: Perfetto, Chrome and the Firefox Profiler.
//!
//! `model` tells what happened, track by track, and every format is a `sink` that hears of it and writes at once: nothing but the rows
//! of one thread is collected on the way. A [`Selection`] says what is wanted of a trace, the window of the analysis when.

pub mod chrome;
mod counting_writer;
pub mod firefox;
mod flow;
mod identity;
mod json;
mod label;
mod lanes;
mod model;
pub mod perfetto;
mod sink;

use std::io;

use flate2::Compression;
use flate2::write::GzEncoder;
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
    Firefox,
}

impl Format {
    /// What the ending of a file's name says, be it packed or not.
    pub fn of_file_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(PACKED).unwrap_or(&name);
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if ends(&[".perfetto-trace", ".pftrace", ".perfetto"]) {
            Some(Format::Perfetto)
        } else if ends(&[".firefox.json", ".profile.json", "/profile.json"])
            || name == "profile.json"
        {
            Some(Format::Firefox)
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
            Format::Firefox => firefox::write(analysis, selection, damage, out),
        }
    }

    /// The same, packed with gzip: all programs that read one of the formats unpack it themselves.
    pub fn write_packed(
        self,
        analysis: &Analysis<'_>,
        selection: &Selection,
        damage: &[Damage],
        out: &mut impl io::Write,
    ) -> io::Result<Written> {
        let mut counted = Counted { out, bytes: 0 };
        let mut packed = GzEncoder::new(&mut counted, Compression::new(PACKING));
        let mut written = self.write(analysis, selection, damage, &mut packed)?;
        packed.finish()?;
        written.bytes = counted.bytes;
        Ok(written)
    }
}

/// Whether the name of a file says that it is packed.
pub fn is_packed(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(PACKED)
}

const PACKED: &str = ".gz";

/// More takes several times as long and saves little.
const PACKING: u32 = 3;

struct Counted<'o, W> {
    out: &'o mut W,
    bytes: u64,
}

impl<W: io::Write> io::Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        self.bytes += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
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
            ("a.json.gz", Some(Format::Chrome)),
            ("a.firefox.json", Some(Format::Firefox)),
            ("there/profile.json.gz", Some(Format::Firefox)),
            ("profile.json", Some(Format::Firefox)),
            ("a.Profile.json", Some(Format::Firefox)),
            ("a.gz", None),
            ("a.bin", None),
        ] {
            assert_eq!(Format::of_file_name(name), format, "{name}");
        }
    }
}
