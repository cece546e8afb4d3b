//! Stream files that are gone, or were emptied: nothing in what is left of a trace is wrong then, there is only less of it.
//!
//! Something else must know of them. An index that a tracer wrote beside each stream file lists its packets; a channel has a file for
//! each processor; the packets of a stream are numbered from 0. LTTng writes an empty file with an empty index for a stream
//! without packets: that is none that is missing.

mod census;
mod channel;
mod cut;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use self::channel::{Channel, FileNaming, gaps, processors_in_name};
use super::Trace;
use crate::damage::{Damage, DamageKind, DamageRows};
use crate::schema::{Cycles, Nanos};
use crate::trace::stream::Stream;
use crate::trace::time::{Conversion, TimeBase};
use crate::value::Value;

use self::census::Listed;
pub(super) use self::census::{Census, FileNote, FileState, IndexNote};

/// Some streams that a trace should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingStreams {
    /// Index of their stream class in the schema, where it is known.
    pub class: Option<usize>,
    /// Whose they are, where that is known.
    pub processors: Vec<RangeInclusive<u64>>,
    /// When they may have had events; nothing if that cannot be known.
    pub window: Option<(Nanos, Nanos)>,
}

/// Notes in a trace which of its streams are missing, and tells it.
pub(super) fn find(trace: &mut Trace, census: &Census, damage: &mut DamageRows) {
    let mut search = MissingSearch {
        trace,
        census,
        first_packets: first_packets(trace),
        spans: Vec::new(),
        found: Vec::new(),
    };
    search.listed_or_empty();
    search.processors();
    search.first_packets();
    search.indexes();
    search.cut_files();
    search.everything();
    for (row, missing) in std::mem::take(&mut search.found) {
        damage.push(row);
        trace.missing.extend(missing);
    }
}

struct MissingSearch<'a> {
    trace: &'a Trace,
    census: &'a Census,
    /// Of each file: its stream, and the position in it of its first packet.
    first_packets: Vec<Option<(usize, usize)>>,
    /// When the streams of each folder begin and end; made when it is first asked for.
    spans: Vec<Option<(Nanos, Nanos)>>,
    found: Vec<(Damage, Option<MissingStreams>)>,
}

impl MissingSearch<'_> {
    /// Files that an index knows, and empty ones of which no index says that they always were.
    fn listed_or_empty(&mut self) {
        for (folder, notes) in self.census.folders.iter().enumerate() {
            for note in notes {
                let what = match note.state {
                    FileState::Present(_) | FileState::Unreadable => continue,
                    FileState::Empty => "is empty",
                    FileState::Gone => "is gone",
                };
                let (message, count, class, window) = match note.index {
                    IndexNote::Lists(listed) if listed.packets == 0 => continue,
                    IndexNote::Lists(listed) => (
                        match listed.packets {
                            1 => format!("the stream file {what}; its index lists a packet"),
                            number => {
                                format!("the stream file {what}; its index lists {number} packets")
                            }
                        },
                        Some(listed.packets),
                        self.class(listed.class_id),
                        self.window(&listed),
                    ),
                    _ => (format!("the stream file {what}"), None, None, None),
                };
                let window = window.or_else(|| self.span(folder));
                let missing = MissingStreams {
                    class,
                    processors: processors_in_name(&note.path),
                    window,
                };
                self.tell(note.path.clone(), count, message, missing);
            }
        }
    }

    /// Files of some processors where a channel has those of others. LTTng-UST makes one for each processor that the machine can
    /// have, so none is left out; the kernel tracer one for each that is in use, which other channels show.
    fn processors(&mut self) {
        let environment = |name| self.trace.schema.environment_text(name);
        let is_complete = match environment("tracer_name") {
            Some("lttng-ust") => true,
            Some("lttng-modules") => false,
            _ => return,
        };
        for (folder, notes) in self.census.folders.iter().enumerate() {
            let mut channels: BTreeMap<String, Channel> = BTreeMap::new();
            // `NAME_2_2` can be the third part of the third processor, or a channel `NAME_2`: files that can be only one of them decide.
            let read: Vec<Vec<(String, FileNaming, usize)>> =
                notes.iter().map(|note| self.channels_of(note)).collect();
            let in_parts: BTreeSet<&str> = read
                .iter()
                .filter_map(|readings| match &readings[..] {
                    [(name, FileNaming::ProcessorAndPart, _)] => Some(name.as_str()),
                    _ => None,
                })
                .collect();
            for readings in &read {
                let is_in_parts = |(name, naming, _): &&(String, FileNaming, usize)| {
                    *naming == FileNaming::ProcessorAndPart && in_parts.contains(name.as_str())
                };
                let reading = readings.iter().find(is_in_parts).or(readings.first());
                if let Some((name, naming, class)) = reading {
                    let channel = Channel {
                        naming: *naming,
                        class: *class,
                        processors: BTreeSet::new(),
                    };
                    channels.entry(name.clone()).or_insert(channel);
                }
            }
            for note in notes {
                for naming in [FileNaming::Processor, FileNaming::ProcessorAndPart] {
                    if let Some((name, processor)) = naming.split(&note.path)
                        && let Some(channel) = channels.get_mut(name)
                        && channel.naming == naming
                    {
                        channel.processors.insert(processor);
                    }
                }
            }
            let everywhere: BTreeSet<u64> = match is_complete {
                true => BTreeSet::new(),
                false => (channels.values())
                    .flat_map(|channel| channel.processors.iter().copied())
                    .collect(),
            };
            for (name, channel) in channels {
                let absent = match is_complete {
                    true => gaps(&channel.processors),
                    false => (everywhere.difference(&channel.processors))
                        .map(|&number| number..=number)
                        .collect(),
                };
                let Some(first) = absent.first().map(|range| *range.start()) else {
                    continue;
                };
                let count: u64 = absent
                    .iter()
                    .map(|range| range.end() - range.start() + 1)
                    .sum();
                let message = match count {
                    1 => format!(
                        "the stream of CPU {first} is gone, but the channel has those of other CPUs"
                    ),
                    _ => format!(
                        "the streams of {count} CPUs are gone, first that of CPU {first}, but the channel has those of other CPUs"
                    ),
                };
                let missing = MissingStreams {
                    class: Some(channel.class),
                    processors: absent,
                    window: self.span(folder),
                };
                let path = self.trace.folders[folder].join(channel.naming.name(&name, first));
                self.tell(path, None, message, missing);
            }
        }
    }

    /// Packets are numbered from 0 in each stream. Where the tracer's own list begins with a later one it is no loss: older
    /// packets were in another chunk of the session, or overwritten.
    fn first_packets(&mut self) {
        let census = self.census;
        let mut notes_of_files = HashMap::new();
        let mut names = HashSet::new();
        for (folder, notes) in census.folders.iter().enumerate() {
            for (place, note) in notes.iter().enumerate() {
                if let FileState::Present(file) = note.state {
                    notes_of_files.insert(file, (folder, place));
                }
                names.insert((folder, note.path.file_name()));
            }
        }
        let streams = self.trace.streams.iter();
        let firsts: Vec<First<'_>> = streams
            .filter_map(|stream| first(self.trace, census, stream, &notes_of_files))
            .collect();
        // Of each class a stream that has its beginning.
        let mut complete: BTreeMap<usize, &First<'_>> = BTreeMap::new();
        for first in firsts.iter().filter(|first| first.sequence == 0) {
            complete.entry(first.class).or_insert(first);
        }
        for first in firsts.iter().filter(|first| first.sequence > 0) {
            let sister = complete.get(&first.class);
            let expected = match (first.note.index, sister) {
                (IndexNote::Lists(listed), _) if listed.packets > 0 => listed.first_sequence,
                (_, Some(sister)) if matches!(sister.note.index, IndexNote::Lists(_)) => Some(0),
                _ => None,
            };
            if let Some(expected) = expected.filter(|&expected| expected < first.sequence) {
                let begin = match first.note.index {
                    IndexNote::Lists(listed) => self.window(&listed).map(|(begin, _)| begin),
                    _ => sister.map(|sister| sister.begin),
                };
                let count = first.sequence - expected;
                let message = match count {
                    1 => "the first packet of the stream is gone".to_owned(),
                    _ => format!("the first {count} packets of the stream are gone"),
                };
                let (kind, path) = (DamageKind::MissingPackets, &first.note.path);
                let row = Damage {
                    offset: Some(first.offset),
                    begin,
                    end: Some(first.begin),
                    count: Some(count),
                    ..Damage::new(kind, &self.trace.name, path, message)
                };
                self.found.push((row, None));
            }
            if let Some(sister) = sister.filter(|sister| sister.folder != first.folder)
                && sister.begin < first.begin
            {
                let name = first.note.path.file_name();
                if names.insert((sister.folder, name)) {
                    self.earlier_chunk(first, sister.folder);
                }
            }
        }
    }

    /// A chunk of the session that has the beginning of a sister stream, but nothing under the name of this one.
    fn earlier_chunk(&mut self, first: &First<'_>, folder: usize) {
        let name = first.note.path.file_name().unwrap_or_default();
        let path = self.trace.folders[folder].join(name);
        let missing = MissingStreams {
            class: Some(first.class),
            processors: processors_in_name(&path),
            window: self.span(folder),
        };
        let message = format!(
            "the stream file is gone: its first {} packets are in none of the trace's folders",
            first.sequence
        );
        self.tell(path, Some(first.sequence), message, missing);
    }

    /// Streams without an index beside streams that have one: all that they have is read, but nothing vouches for its end.
    fn indexes(&mut self) {
        let class = |note: &FileNote| match note.state {
            FileState::Present(file) => Some(self.first_packet(file)?.0.class),
            _ => None,
        };
        let mut rows = Vec::new();
        for notes in &self.census.folders {
            let (indexed, unindexed): (Vec<_>, Vec<_>) = (notes.iter())
                .filter(|note| note.index != IndexNote::Unusable)
                .partition(|note| note.index != IndexNote::Absent);
            let indexed: BTreeSet<usize> = indexed.into_iter().filter_map(class).collect();
            for note in unindexed {
                if !class(note).is_some_and(|class| indexed.contains(&class)) {
                    continue;
                }
                let message = "the index of this stream file is gone; if packets are missing from its end, nothing tells";
                let kind = DamageKind::MissingIndex;
                rows.push(Damage::new(kind, &self.trace.name, &note.path, message));
            }
        }
        self.found.extend(rows.into_iter().map(|row| (row, None)));
    }

    /// A trace is recorded into files: metadata alone is what is left of one. And the stream of our own tracer that has all names
    /// is there before all others.
    fn everything(&mut self) {
        let own = self.trace.schema.environment_text("tracer_name") == Some("rostrace");
        for (folder, notes) in self.census.folders.iter().enumerate() {
            let path = &self.trace.folders[folder];
            let missing = |window| MissingStreams {
                class: None,
                processors: Vec::new(),
                window,
            };
            if notes.is_empty() {
                let message = "the trace has metadata but not one stream file: its events are gone";
                self.tell(path.clone(), None, message, missing(None));
            }
            let is_named = |note: &FileNote, prefix: &str| {
                let name = note.path.file_name().unwrap_or_default();
                name.to_string_lossy().starts_with(prefix)
            };
            let has = |prefix| notes.iter().any(|note| is_named(note, prefix));
            if own && has("thread_") && !has("init_") {
                let message =
                    "the stream of initialisation is gone, which has the names of everything";
                let window = self.span(folder);
                self.tell(path.join("init_0"), None, message, missing(window));
            }
        }
    }

    fn tell(
        &mut self,
        path: PathBuf,
        count: Option<u64>,
        message: impl Into<String>,
        missing: MissingStreams,
    ) {
        let row = Damage {
            begin: missing.window.map(|(begin, _)| begin),
            end: missing.window.map(|(_, end)| end),
            count,
            ..Damage::new(DamageKind::MissingStream, &self.trace.name, &path, message)
        };
        self.found.push((row, Some(missing)));
    }

    fn class(&self, id: u64) -> Option<usize> {
        let mut classes = self.trace.schema.streams.iter();
        classes.position(|class| class.id == id)
    }

    /// When the packets of an index were.
    fn window(&self, listed: &Listed) -> Option<(Nanos, Nanos)> {
        let class = &self.trace.schema.streams[self.class(listed.class_id)?];
        let clock = self.trace.schema.clocks.get(class.clock?)?;
        let time = TimeBase::new(Some(clock), Conversion::Exact);
        let (begin, end) = listed.window;
        Some((time.nanos(Cycles(begin)), time.nanos(Cycles(end))))
    }

    /// When the streams of a folder that are there begin and end.
    fn span(&mut self, folder: usize) -> Option<(Nanos, Nanos)> {
        if self.spans.is_empty() {
            self.spans = spans(self.trace, self.census);
        }
        self.spans.get(folder).copied().flatten()
    }

    /// The stream, and the position in it, of a file's first packet.
    fn first_packet(&self, file: u32) -> Option<(&Stream, usize)> {
        let (stream, number) = (*self.first_packets.get(file as usize)?)?;
        Some((&self.trace.streams[stream], number))
    }

    /// The channels that a file can be of, if it is that of one processor: the packets name it, and so does the file.
    fn channels_of(&self, note: &FileNote) -> Vec<(String, FileNaming, usize)> {
        let Some((class, processor)) = self.class_and_processor(note) else {
            return Vec::new();
        };
        let namings = [FileNaming::Processor, FileNaming::ProcessorAndPart];
        namings
            .into_iter()
            .filter_map(|naming| {
                let (name, named) = naming.split(&note.path)?;
                (named == processor).then(|| (name.to_owned(), naming, class))
            })
            .collect()
    }

    /// What the first packet of a file says.
    fn class_and_processor(&self, note: &FileNote) -> Option<(usize, u64)> {
        let FileState::Present(file) = note.state else {
            return None;
        };
        let (stream, number) = self.first_packet(file)?;
        let packet = &stream.packets[number];
        let context = self.trace.schema.streams[stream.class]
            .packet_context
            .as_ref()?;
        let place = (context.members.iter()).position(|member| &*member.name == "cpu_id")?;
        match self.trace.packet_context(packet)?.members()?.get(place)? {
            Value::Unsigned(number) => Some((stream.class, *number)),
            _ => None,
        }
    }
}

/// The first packet of a stream.
struct First<'a> {
    class: usize,
    sequence: u64,
    begin: Nanos,
    offset: u64,
    folder: usize,
    note: &'a FileNote,
}

fn first<'a>(
    trace: &'a Trace,
    census: &'a Census,
    stream: &Stream,
    notes_of_files: &HashMap<u32, (usize, usize)>,
) -> Option<First<'a>> {
    let packet = stream.packets.first()?;
    let head = trace.head(packet)?;
    let &(folder, place) = notes_of_files.get(&packet.file)?;
    let time = trace.time_base(stream, Conversion::Exact);
    Some(First {
        class: stream.class,
        sequence: head.roles.packet_sequence?,
        begin: time.nanos(Cycles(head.roles.timestamp_begin?)),
        offset: packet.offset,
        folder,
        note: &census.folders[folder][place],
    })
}

fn first_packets(trace: &Trace) -> Vec<Option<(usize, usize)>> {
    let mut firsts = vec![None; trace.files.len()];
    for (number, stream) in trace.streams.iter().enumerate() {
        for (place, packet) in stream.packets.iter().enumerate() {
            firsts[packet.file as usize].get_or_insert((number, place));
        }
    }
    firsts
}

fn spans(trace: &Trace, census: &Census) -> Vec<Option<(Nanos, Nanos)>> {
    let mut folder_of = vec![0; trace.files.len()];
    for (folder, notes) in census.folders.iter().enumerate() {
        for note in notes {
            if let FileState::Present(file) = note.state {
                folder_of[file as usize] = folder;
            }
        }
    }
    let mut spans: Vec<Option<(Nanos, Nanos)>> = vec![None; census.folders.len()];
    let mut registers = trace.decoder.heads.registers();
    for stream in &trace.streams {
        let time = trace.time_base(stream, Conversion::Exact);
        if !time.has_clock() {
            continue;
        }
        for (number, packet) in stream.packets.iter().enumerate() {
            let folder = folder_of[packet.file as usize];
            let next = stream.packets.get(number + 1);
            let is_inner = next.is_some_and(|next| folder_of[next.file as usize] == folder)
                && number > 0
                && folder_of[stream.packets[number - 1].file as usize] == folder;
            if is_inner {
                continue;
            }
            let Ok(head) = trace.decoder.heads.read(trace.data(packet), &mut registers) else {
                continue;
            };
            let Some(begin) = head.roles.timestamp_begin else {
                continue;
            };
            let begin = time.nanos(Cycles(begin));
            let end = trace.packet_end(stream, number, &head);
            let end = end.map_or(begin, |end| time.nanos(end));
            let span = spans[folder].get_or_insert((begin, end));
            *span = (span.0.min(begin), span.1.max(end));
        }
    }
    spans
}
