//! Traces: folders of metadata and stream files, found, grouped (`set`) and made ready to read (`opening`).
//!
//! Folders with the same UUID are one trace: rotated chunks, snapshots and per-process folders of one
//! session. A [`TraceSet`] is everything that was named on the command line, read as one.

pub(crate) mod decoder;
mod folder;
pub mod input_file;
pub(crate) mod loss;
mod missing;
mod opening;
mod recording;
mod set;
pub(crate) mod stream;
pub(crate) mod time;
pub mod unpacked;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use crate::damage::{Damage, DamageKind, DamageRows};
use crate::layout::Layout;
use crate::packet::Packet;
use crate::packet::head::Head;
use crate::schema::{Clock, Cycles, Nanos, Schema};
use decoder::Decoder;
use loss::Losses;
use recording::TraceFolder;

pub use loss::Loss;
pub use missing::MissingStreams;
pub use opening::StreamBytes;
pub(crate) use recording::{KEPT, kept_text, within};
pub use recording::{Recording, Stretch};
pub use set::{StreamId, TraceSet};
pub use stream::Stream;
pub use time::{Conversion, TimeBase};

/// All folders of one trace.
#[derive(Debug)]
pub struct Trace {
    /// Host name and, for a trace of one folder, its path below the folder that was named.
    pub name: String,
    pub schema: Arc<Schema>,
    pub folders: Vec<PathBuf>,
    /// Path of the first folder below the one that was named; empty if it is that folder itself.
    pub below: PathBuf,
    /// The metadata file that serves for all folders: the one that declares most.
    pub metadata_path: PathBuf,
    pub streams: Vec<Stream>,
    /// Streams that it should have, too.
    pub missing: Vec<MissingStreams>,
    /// The same folders, with what they say of how they came to be.
    parts: Vec<TraceFolder>,
    files: Vec<StreamFile>,
    pub(crate) decoder: Decoder,
}

#[derive(Debug)]
struct StreamFile {
    path: PathBuf,
    /// The place of its folder.
    folder: usize,
    content: FileContent,
}

#[derive(Debug)]
enum FileContent {
    Map(Mmap),
    Bytes(Vec<u8>),
}

impl std::ops::Deref for FileContent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            FileContent::Map(map) => map,
            FileContent::Bytes(bytes) => bytes,
        }
    }
}

impl Trace {
    fn report_stream(&self, stream: &Stream, damage: &mut DamageRows) {
        if stream.unordered > 0 {
            let number = stream.unordered;
            let message = format!("{number} packets stand in the wrong order; sorted by time");
            let (kind, path) = (DamageKind::UnorderedPackets, self.path_of(stream));
            damage.push(Damage {
                count: Some(number),
                ..Damage::new(kind, &self.name, path, message)
            });
        }
        for loss in self.losses(stream) {
            damage.push(self.loss_row(stream, &loss));
        }
    }

    /// A loss as a row.
    pub(crate) fn loss_row(&self, stream: &Stream, loss: &Loss) -> Damage {
        let time = self.time_base(stream, Conversion::Exact);
        let what = match loss.kind {
            DamageKind::LostPackets => "packet",
            _ => "event",
        };
        let packet = stream.packets.get(loss.packet);
        let message = match loss.count {
            Some(1) => format!("the tracer lost 1 {what}"),
            Some(count) => format!("the tracer lost {count} {what}s"),
            None => format!("the tracer lost an unknown number of {what}s"),
        };
        let row = match packet {
            Some(packet) => self.damage_of_packet(loss.kind, packet, message),
            None => Damage::new(loss.kind, &self.name, self.path_of(stream), message),
        };
        Damage {
            begin: loss.window.map(|(from, _)| time.nanos(from)),
            end: loss.window.map(|(_, to)| time.nanos(to)),
            count: loss.count,
            ..row
        }
    }

    /// Something that is wrong with a packet.
    pub fn damage_of_packet(&self, kind: DamageKind, packet: &Packet, message: String) -> Damage {
        Damage {
            offset: Some(packet.offset),
            ..Damage::new(kind, &self.name, self.path_of_packet(packet), message)
        }
    }

    /// What a packet says of itself.
    pub(crate) fn head(&self, packet: &Packet) -> Option<Head> {
        let mut registers = self.decoder.heads.registers();
        let head = self.decoder.heads.read(self.data(packet), &mut registers);
        head.ok()
    }

    /// What the tracer itself counted as lost in a stream.
    pub fn losses(&self, stream: &Stream) -> Vec<Loss> {
        self.loss_finder(stream).find()
    }

    /// The packet's end, repaired where its tracer is known to write it wrongly.
    pub(crate) fn packet_end(&self, stream: &Stream, number: usize, head: &Head) -> Option<Cycles> {
        self.loss_finder(stream).end_of(number, head)
    }

    fn loss_finder<'a>(&'a self, stream: &'a Stream) -> Losses<'a> {
        Losses {
            decoder: &self.decoder,
            stream,
            trace: self,
        }
    }

    /// The bytes of a packet.
    pub fn data(&self, packet: &Packet) -> &[u8] {
        let content = &self.files[packet.file as usize].content;
        content
            .get(packet.offset as usize..(packet.offset + packet.size) as usize)
            .unwrap_or_default()
    }

    /// The layouts of a stream class's events, in the order of declaration.
    pub fn layouts(&self, stream_class: usize) -> &[Layout] {
        &self.decoder.streams[stream_class].events
    }

    /// The stream's first file.
    pub fn path_of(&self, stream: &Stream) -> &Path {
        match stream.packets.first() {
            Some(packet) => self.path_of_packet(packet),
            None => &self.metadata_path,
        }
    }

    /// All files that the trace is read from.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let metadata = self.folders.iter().map(|folder| folder.join("metadata"));
        metadata.chain(self.files.iter().map(|file| file.path.clone()))
    }

    pub fn path_of_packet(&self, packet: &Packet) -> &Path {
        &self.files[packet.file as usize].path
    }

    pub fn clock_of(&self, stream: &Stream) -> Option<&Clock> {
        self.schema.streams[stream.class]
            .clock
            .and_then(|clock| self.schema.clocks.get(clock))
    }

    pub fn time_base(&self, stream: &Stream, conversion: Conversion) -> TimeBase<'_> {
        TimeBase::new(self.clock_of(stream), conversion)
    }

    /// When what is left of a stream begins, if its first packet is not the first one that was written: a flight recorder keeps
    /// the newest.
    pub fn forgotten_until(&self, stream: &Stream) -> Option<Nanos> {
        let roles = self.head(stream.packets.first()?)?.roles;
        let begin = roles.timestamp_begin?;
        let time = self.time_base(stream, Conversion::Exact);
        (roles.packet_sequence? > 0).then(|| time.nanos(Cycles(begin)))
    }

    /// Whether a stream tells what was there when the recording began, with the times at which it came to be: our own tracer has one
    /// in each process. These times are not part of what was recorded.
    pub fn is_statedump(&self, stream: &Stream) -> bool {
        stream.id == 0 && self.schema.environment_text("tracer_name") == Some("rostrace")
    }

    /// When the stream's packets begin and end, if they say so.
    pub fn span(&self, stream: &Stream) -> Option<(Nanos, Nanos)> {
        let (first, last) = (stream.packets.first()?, stream.packets.len() - 1);
        let time = self.time_base(stream, Conversion::Exact);
        let begin = self.head(first)?.roles.timestamp_begin?;
        let end = self.packet_end(stream, last, &self.head(&stream.packets[last])?)?;
        Some((time.nanos(Cycles(begin)), time.nanos(end)))
    }
}
