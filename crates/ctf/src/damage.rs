//! Damage: what is missing or broken in a trace, as rows.
//!
//! Nothing of this stops reading. Every reader carries the rows to the end, and they are shown before any result. A file in which
//! everything is broken has more of it than anybody can read: [`DamageRows`] sums it up.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::schema::Nanos;

/// One thing that is wrong, where and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Damage {
    pub kind: DamageKind,
    /// The trace's name, as in [`crate::Trace::name`].
    pub trace: String,
    /// The file that it was found in; for losses, that of the packet which tells it.
    pub path: PathBuf,
    /// Bytes from the start of the file.
    pub offset: Option<u64>,
    /// When, as far as it is known.
    pub begin: Option<Nanos>,
    pub end: Option<Nanos>,
    /// How many events or packets, where the tracer counted them.
    pub count: Option<u64>,
    /// A sentence.
    pub message: String,
    /// Where the row stands for many: see [`DamageRows`].
    pub more: Option<More>,
}

/// That a row stands for several places of one file, from its own offset on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct More {
    pub places: u64,
    pub last_offset: Option<u64>,
}

impl Damage {
    /// Something that is wrong with a file. The caller adds where in it, when, and how much.
    pub fn new(kind: DamageKind, trace: &str, path: &Path, message: impl Into<String>) -> Damage {
        Damage {
            kind,
            trace: trace.to_owned(),
            path: path.to_owned(),
            offset: None,
            begin: None,
            end: None,
            count: None,
            message: message.into(),
            more: None,
        }
    }

    /// In how many places it was found.
    pub fn places(&self) -> u64 {
        self.more.map_or(1, |more| more.places)
    }
}

named! {
/// What is wrong; the names are those in JSON and tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DamageKind {
    /// The tracer counted events that it could not record.
    DiscardedEvents = "discarded_events",
    /// Packets are missing from the sequence.
    LostPackets = "lost_packets",
    /// The file ends inside a packet.
    CutPacket = "cut_packet",
    /// A packet that the tracer never closed.
    OpenPacket = "open_packet",
    /// Bytes that are no packet.
    CorruptPacket = "corrupt_packet",
    /// A packet whose events can be decoded up to a point only.
    UndecodableEvents = "undecodable_events",
    /// The time goes back inside a stream.
    TimeGoesBack = "time_goes_back",
    /// Packets stand in the file in another order than that of time.
    UnorderedPackets = "unordered_packets",
    /// The packets carry the UUID of another trace.
    ForeignPackets = "foreign_packets",
    /// A file that is no stream of this trace.
    NotAStream = "not_a_stream",
    /// The index lists packets that the file does not have, or a stream does not begin with its first one.
    MissingPackets = "missing_packets",
    /// A stream file that is gone or empty.
    MissingStream = "missing_stream",
    /// A stream file whose index is gone, beside others that have one.
    MissingIndex = "missing_index",
    /// The end of the metadata is missing.
    MetadataCut = "metadata_cut",
    /// A trace of which nothing can be read.
    UnreadableTrace = "unreadable_trace",
    /// A stream file, or a folder that may hold a trace, that cannot be opened.
    UnreadableFile = "unreadable_file",
    /// Clocks without a common origin: times of different traces cannot be compared.
    IncomparableClocks = "incomparable_clocks",
}
}

impl DamageKind {
    /// Whether data is gone, and not only out of order or in doubt.
    pub fn is_loss(self) -> bool {
        !matches!(
            self,
            DamageKind::TimeGoesBack
                | DamageKind::UnorderedPackets
                | DamageKind::ForeignPackets
                | DamageKind::MissingIndex
                | DamageKind::IncomparableClocks
        )
    }
}

/// So many rows of one kind are kept for each file, as long as there are not too many in all; then one of each kind.
const MOST_OF_FILE: usize = 1_000;
const MOST_IN_ALL: usize = 10_000;

/// Damage as it is found. Of many rows of one kind in one file the first are kept as they are, and what follows becomes one row, so that
/// memory follows the number of files, not that of broken packets.
#[derive(Debug, Clone, Default)]
pub struct DamageRows {
    rows: Vec<Damage>,
    /// The rows that stand for many, and where they are by file and kind.
    sums: Vec<Damage>,
    files: HashMap<PathBuf, Vec<OfFile>>,
    /// Of the rows that were summed up, in which data is gone, by name of the trace: adjoining windows are one.
    windows: BTreeMap<String, Vec<(Nanos, Nanos)>>,
    losses: u64,
}

#[derive(Debug, Clone, Copy)]
struct OfFile {
    kind: DamageKind,
    rows: usize,
    sum: Option<usize>,
}

impl DamageRows {
    pub fn push(&mut self, row: Damage) {
        if row.kind.is_loss() {
            self.losses += row.places();
        }
        if !self.files.contains_key(&row.path) {
            self.files.insert(row.path.clone(), Vec::new());
        }
        let most = match self.rows.len() {
            ..MOST_IN_ALL => MOST_OF_FILE,
            _ => 1,
        };
        let Some(of_file) = self.files.get_mut(&row.path) else {
            return;
        };
        let place = match of_file.iter().position(|it| it.kind == row.kind) {
            Some(place) => place,
            None => {
                of_file.push(OfFile {
                    kind: row.kind,
                    rows: 0,
                    sum: None,
                });
                of_file.len() - 1
            }
        };
        let of_kind = &mut of_file[place];
        if of_kind.rows < most {
            of_kind.rows += 1;
            self.rows.push(row);
            return;
        }
        if let Some(window) = row.begin.zip(row.end).filter(|_| row.kind.is_loss()) {
            if !self.windows.contains_key(&row.trace) {
                self.windows.insert(row.trace.clone(), Vec::new());
            }
            let windows = self.windows.get_mut(&row.trace);
            windows.into_iter().for_each(|it| add_window(it, window));
        }
        match of_kind.sum {
            Some(sum) => self.sums[sum].add(&row),
            None => {
                of_kind.sum = Some(self.sums.len());
                self.sums.push(row);
            }
        }
    }

    pub fn extend(&mut self, rows: impl IntoIterator<Item = Damage>) {
        rows.into_iter().for_each(|row| self.push(row));
    }

    /// Adds what another reader of the same files found.
    pub fn append(&mut self, other: DamageRows) {
        self.extend(other.rows);
        self.extend(other.sums);
        for (trace, windows) in other.windows {
            let own = self.windows.entry(trace).or_default();
            windows
                .into_iter()
                .for_each(|window| add_window(own, window));
        }
    }

    /// In how many places something was found that is a loss.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// All rows, those that stand for many at the end.
    pub fn into_rows(self) -> Vec<Damage> {
        self.into_rows_and_windows().0
    }

    /// With the windows of time of those rows that stand for many: from the first to the last place much may be whole.
    pub(crate) fn into_rows_and_windows(self) -> (Vec<Damage>, LossWindows) {
        let mut rows = self.rows;
        rows.extend(self.sums.into_iter().map(Damage::with_sum_reported));
        (rows, self.windows)
    }
}

/// By name of the trace.
type LossWindows = BTreeMap<String, Vec<(Nanos, Nanos)>>;

fn add_window(windows: &mut Vec<(Nanos, Nanos)>, (begin, end): (Nanos, Nanos)) {
    match windows.last_mut() {
        Some(last) if last.0 <= begin && begin <= last.1 => last.1 = last.1.max(end),
        _ => windows.push((begin, end)),
    }
}

impl Damage {
    /// Lets this row stand for another one, too.
    fn add(&mut self, other: &Damage) {
        let last_offset = other.more.and_then(|more| more.last_offset);
        self.more = Some(More {
            places: self.places() + other.places(),
            last_offset: last_offset.or(other.offset),
        });
        self.begin = self.begin.zip(other.begin).map(|(a, b)| a.min(b));
        self.end = self.end.zip(other.end).map(|(a, b)| a.max(b));
        self.count = match (self.count, other.count) {
            (Some(a), Some(b)) => a.checked_add(b),
            (a, b) => a.or(b),
        };
    }

    fn with_sum_reported(mut self) -> Damage {
        if let Some(more) = self.more {
            let until = match more.last_offset {
                Some(offset) => format!(", the last at byte {offset}"),
                None => String::new(),
            };
            self.message = format!(
                "{} places like this{until}; in the first {}",
                more.places, self.message
            );
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kind: DamageKind, file: &str, offset: u64) -> Damage {
        Damage {
            offset: Some(offset),
            begin: Some(Nanos(offset as i64 * 10)),
            end: Some(Nanos(offset as i64 * 10 + 5)),
            count: Some(2),
            ..Damage::new(kind, "trace", Path::new(file), "something is wrong")
        }
    }

    #[test]
    fn rows_are_bounded_by_files_and_kinds_whatever_is_broken() {
        let mut rows = DamageRows::default();
        let kinds = [DamageKind::CorruptPacket, DamageKind::TimeGoesBack];
        for offset in 0..1_000_000 {
            let file = if offset % 3 == 0 { "a" } else { "b" };
            rows.push(row(kinds[offset as usize % 2], file, offset));
        }
        assert_eq!(rows.losses(), 500_000);
        assert!(rows.rows.capacity() + rows.sums.capacity() < 10_000);
        let rows = rows.into_rows();
        assert_eq!(rows.len(), 4 * (MOST_OF_FILE + 1));
        assert_eq!(rows.iter().map(Damage::places).sum::<u64>(), 1_000_000);
        let counted: u64 = rows.iter().filter_map(|row| row.count).sum();
        assert_eq!(counted, 2_000_000);
        let sums = rows.iter().filter(|row| row.more.is_some());
        let last = sums
            .max_by_key(|row| row.more.unwrap().last_offset)
            .unwrap();
        assert_eq!(last.more.unwrap().last_offset, Some(999_999));
        let message = "places like this, the last at byte 999999; in the first something is wrong";
        assert!(last.message.ends_with(message), "{}", last.message);
    }

    #[test]
    fn thousands_of_broken_files_have_a_row_each() {
        let mut rows = DamageRows::default();
        for offset in 0..200_000 {
            let file = format!("file {}", offset / 10);
            rows.push(row(DamageKind::CorruptPacket, &file, offset));
        }
        assert!(rows.into_rows().len() < MOST_IN_ALL + 2 * 20_000);
    }

    #[test]
    fn few_rows_stay_as_they_are() {
        let mut rows = DamageRows::default();
        let expected: Vec<Damage> = (0..MOST_OF_FILE as u64)
            .map(|offset| row(DamageKind::LostPackets, "a", offset))
            .collect();
        rows.extend(expected.clone());
        let (rows, windows) = rows.into_rows_and_windows();
        assert_eq!(rows, expected);
        assert!(windows.is_empty());
    }

    #[test]
    fn losses_that_are_summed_up_keep_their_windows() {
        let mut rows = DamageRows::default();
        for offset in 0..MOST_OF_FILE as u64 {
            rows.push(row(DamageKind::LostPackets, "a", offset));
        }
        let mut adjoining = row(DamageKind::LostPackets, "a", 2_000);
        rows.push(adjoining.clone());
        adjoining.begin = adjoining.end;
        adjoining.end = Some(Nanos(20_100));
        rows.push(adjoining);
        rows.push(row(DamageKind::LostPackets, "a", 3_000));
        let (_, windows) = rows.into_rows_and_windows();
        let expected = [(20_000, 20_100), (30_000, 30_005)];
        let expected = expected.map(|(begin, end)| (Nanos(begin), Nanos(end)));
        let windows: Vec<_> = windows.into_values().flatten().collect();
        assert_eq!(windows, expected);
    }
}
