//! Traces: folders of metadata and stream files, found, grouped and made ready to read.
//!
//! Folders with the same UUID are one trace: rotated chunks, snapshots and per-process folders of one
//! session. A [`TraceSet`] is everything that was named on the command line, read as one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use crate::damage::{Damage, DamageKind};
use crate::decoder::Decoder;
use crate::error::Error;
use crate::folder::{self, Folder};
use crate::layout::Layout;
use crate::loss::{Loss, Losses};
use crate::metadata;
use crate::packet::discover::{Discovery, Found};
use crate::packet::head::Head;
use crate::packet::{Index, Packet};
use crate::schema::{Clock, Cycles, Identity, Nanos, Origin, Schema, Uuid};
use crate::stream::{self, Stream};
use crate::time::{Conversion, TimeBase};

/// Several traces, read as one.
#[derive(Debug)]
pub struct TraceSet {
    pub traces: Vec<Trace>,
    /// What was found wrong so far. Reading events can find more.
    pub damage: Vec<Damage>,
    /// Unknown attributes and the like in the metadata.
    pub warnings: Vec<String>,
}

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
    files: Vec<StreamFile>,
    pub(crate) decoder: Decoder,
}

#[derive(Debug)]
struct StreamFile {
    path: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Map(Mmap),
    Bytes(Vec<u8>),
}

/// A stream file that is in memory only.
#[derive(Debug, Clone, Default)]
pub struct StreamBytes {
    pub name: PathBuf,
    pub bytes: Vec<u8>,
    /// The content of its index file.
    pub index: Option<Vec<u8>>,
}

/// A stream of a set, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId {
    pub trace: usize,
    pub stream: usize,
}

impl TraceSet {
    /// Opens all traces at or below the given folders. A trace that cannot be read is damage, unless it is the only
    /// one.
    pub fn open(paths: &[impl AsRef<Path>]) -> Result<TraceSet, Error> {
        let mut folders = Vec::new();
        for path in paths {
            folders.extend(folder::find(path.as_ref())?);
        }
        folders.sort_by(|a, b| a.path.cmp(&b.path));
        folders.dedup_by(|a, b| a.path == b.path);
        let mut set = TraceSet {
            traces: Vec::new(),
            damage: Vec::new(),
            warnings: Vec::new(),
        };
        let mut groups: Vec<Group> = Vec::new();
        let alone = folders.len() == 1;
        for folder in folders {
            match set.read_metadata(&folder) {
                Ok(schema) => Group::add(&mut groups, folder, schema),
                Err(error) if alone => return Err(error),
                Err(error) => set.damage.push(Damage {
                    kind: DamageKind::UnreadableTrace,
                    trace: folder.below.display().to_string(),
                    path: folder.path.join("metadata"),
                    offset: None,
                    begin: None,
                    end: None,
                    count: None,
                    message: error.to_string(),
                }),
            }
        }
        for group in groups {
            let trace = Trace::open(group, &mut set.damage)?;
            set.traces.push(trace);
        }
        set.rank_streams();
        set.compare_clocks();
        Ok(set)
    }

    /// A trace without a folder: its schema, and stream files in memory.
    pub fn in_memory(schema: Arc<Schema>, files: Vec<StreamBytes>) -> TraceSet {
        let mut damage = Vec::new();
        let mut opening = Opening::new(schema.clone(), trace_name(&schema, &[]));
        for file in files {
            let content = Content::Bytes(file.bytes);
            opening.file(file.name, content, file.index.as_deref(), &mut damage);
        }
        let trace = opening.finish(Vec::new(), PathBuf::new(), &mut damage);
        let mut set = TraceSet {
            traces: vec![trace],
            damage,
            warnings: Vec::new(),
        };
        set.rank_streams();
        set.compare_clocks();
        set
    }

    fn read_metadata(&mut self, folder: &Folder) -> Result<Arc<Schema>, Error> {
        let path = folder.path.join("metadata");
        let bytes = std::fs::read(&path).map_err(|source| Error::Unreadable {
            path: path.clone(),
            source,
        })?;
        let metadata = metadata::read(&bytes).map_err(|source| Error::Metadata {
            path: path.clone(),
            source,
        })?;
        for warning in metadata.warnings {
            self.warnings.push(format!(
                "{}: line {}, column {}: {}",
                path.display(),
                warning.line,
                warning.column,
                warning.message
            ));
        }
        if let Some(message) = metadata.cut_short {
            self.damage.push(Damage {
                kind: DamageKind::MetadataCut,
                trace: folder.below.display().to_string(),
                path,
                offset: None,
                begin: None,
                end: None,
                count: None,
                message,
            });
        }
        Ok(Arc::new(metadata.schema))
    }

    /// All streams of all traces.
    pub fn streams(&self) -> impl Iterator<Item = StreamId> + '_ {
        self.traces.iter().enumerate().flat_map(|(trace, streams)| {
            (0..streams.streams.len()).map(move |stream| StreamId { trace, stream })
        })
    }

    pub fn stream(&self, id: StreamId) -> &Stream {
        &self.traces[id.trace].streams[id.stream]
    }

    pub fn trace_of(&self, id: StreamId) -> &Trace {
        &self.traces[id.trace]
    }

    /// Bytes in all packets.
    pub fn bytes(&self) -> u64 {
        let packets = self.streams().flat_map(|id| &self.stream(id).packets);
        packets.map(|packet| packet.size).sum()
    }

    /// Who comes first at equal times: trace UUID (a trace with one before one without), trace name, ids of stream
    /// class and stream.
    fn rank_streams(&mut self) {
        let mut ids: Vec<StreamId> = self.streams().collect();
        let key = |id: &StreamId| {
            let trace = &self.traces[id.trace];
            let stream = &trace.streams[id.stream];
            let uuid = trace.schema.uuid;
            let class_id = trace.schema.streams[stream.class].id;
            (
                uuid.is_none(),
                uuid,
                trace.name.clone(),
                class_id,
                stream.id,
            )
        };
        ids.sort_by_cached_key(key);
        let mut ranks = Vec::with_capacity(ids.len());
        for (place, id) in ids.iter().enumerate() {
            let same = place > 0 && key(&ids[place - 1]) == key(id);
            let rank = if same { ranks[place - 1] } else { place as u32 };
            ranks.push(rank);
        }
        for (id, rank) in ids.into_iter().zip(ranks) {
            self.traces[id.trace].streams[id.stream].rank = rank;
        }
    }

    fn compare_clocks(&mut self) {
        let mut clocks = self.traces.iter().flat_map(|trace| {
            trace
                .streams
                .iter()
                .map(move |stream| (trace, trace.clock_of(stream)))
        });
        let Some((first_trace, first)) = clocks.next() else {
            return;
        };
        let odd = clocks.find(|(_, clock)| !comparable(first, *clock));
        if let Some((trace, _)) = odd {
            let message = format!(
                "the clocks of `{}` and `{}` have no common origin: the order of events between them is arbitrary",
                first_trace.name, trace.name
            );
            self.damage.push(Damage {
                kind: DamageKind::IncomparableClocks,
                trace: trace.name.clone(),
                path: trace.metadata_path.clone(),
                offset: None,
                begin: None,
                end: None,
                count: None,
                message,
            });
        }
    }
}

/// Two clocks can be compared if both count from 1970, or if they are the same clock.
fn comparable(a: Option<&Clock>, b: Option<&Clock>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => match (&a.origin, &b.origin) {
            (Origin::UnixEpoch, Origin::UnixEpoch) => true,
            (Origin::Custom(a), Origin::Custom(b)) => a == b,
            (Origin::Unknown, Origin::Unknown) => {
                a.uuid == b.uuid && a.identity.uid == b.identity.uid
            }
            _ => false,
        },
        _ => false,
    }
}

/// Folders that are one trace, with the metadata that serves for all.
struct Group {
    key: Option<GroupKey>,
    folders: Vec<Folder>,
    schema: Arc<Schema>,
    metadata_path: PathBuf,
}

#[derive(PartialEq, Eq)]
enum GroupKey {
    Uuid(Uuid),
    Identity(Identity),
}

impl Group {
    fn add(groups: &mut Vec<Group>, folder: Folder, schema: Arc<Schema>) {
        let key = match (schema.uuid, &schema.identity) {
            (_, identity) if identity.uid.is_some() => Some(GroupKey::Identity(identity.clone())),
            (Some(uuid), _) => Some(GroupKey::Uuid(uuid)),
            _ => None,
        };
        let metadata_path = folder.path.join("metadata");
        let same = groups
            .iter_mut()
            .find(|group| key.is_some() && group.key == key);
        match same {
            Some(group) => {
                if schema.declarations() > group.schema.declarations() {
                    group.schema = schema;
                    group.metadata_path = metadata_path;
                }
                group.folders.push(folder);
            }
            None => groups.push(Group {
                key,
                folders: vec![folder],
                schema,
                metadata_path,
            }),
        }
    }
}

/// A trace whose stream files are being looked through.
struct Opening {
    name: String,
    schema: Arc<Schema>,
    decoder: Decoder,
    files: Vec<StreamFile>,
    found: Vec<Found>,
}

impl Opening {
    fn new(schema: Arc<Schema>, name: String) -> Opening {
        Opening {
            name,
            decoder: Decoder::new(schema.clone()),
            schema,
            files: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Finds the packets of a file.
    fn file(
        &mut self,
        path: PathBuf,
        content: Content,
        index: Option<&[u8]>,
        damage: &mut Vec<Damage>,
    ) {
        let index = index.and_then(Index::parse);
        let number = self.files.len() as u32;
        let mut discovery = Discovery::new(
            &content,
            number,
            &self.decoder.heads,
            self.schema.uuid,
            index.as_ref(),
        );
        discovery.run();
        let Discovery {
            packets, findings, ..
        } = discovery;
        self.found.extend(packets);
        damage.extend(findings.into_iter().map(|finding| Damage {
            kind: finding.kind,
            trace: self.name.clone(),
            path: path.clone(),
            offset: Some(finding.offset),
            begin: None,
            end: None,
            count: None,
            message: finding.message,
        }));
        self.files.push(StreamFile { path, content });
    }

    /// Puts the packets together to streams.
    fn finish(
        self,
        folders: Vec<Folder>,
        metadata_path: PathBuf,
        damage: &mut Vec<Damage>,
    ) -> Trace {
        let mut streams = stream::assemble(self.found, &self.decoder.sequential);
        for stream in &mut streams {
            drop_duplicates(stream, &self.decoder, &self.files);
        }
        let trace = Trace {
            name: self.name,
            schema: self.schema,
            below: folders
                .first()
                .map(|folder| folder.below.clone())
                .unwrap_or_default(),
            folders: folders.into_iter().map(|folder| folder.path).collect(),
            metadata_path,
            streams,
            files: self.files,
            decoder: self.decoder,
        };
        for stream in &trace.streams {
            trace.report_stream(stream, damage);
        }
        trace
    }
}

impl std::ops::Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Content::Map(map) => map,
            Content::Bytes(bytes) => bytes,
        }
    }
}

impl Trace {
    fn open(group: Group, damage: &mut Vec<Damage>) -> Result<Trace, Error> {
        let Group {
            folders,
            schema,
            metadata_path,
            ..
        } = group;
        let mut opening = Opening::new(schema.clone(), trace_name(&schema, &folders));
        for folder in &folders {
            for path in folder::stream_files(&folder.path)? {
                let unreadable = |source| Error::Unreadable {
                    path: path.clone(),
                    source,
                };
                let file = File::open(&path).map_err(unreadable)?;
                if file.metadata().map_err(unreadable)?.len() == 0 {
                    continue;
                }
                // SAFETY: the map is read-only and private to this process; bytes may still change under us if
                // somebody writes to the file, which can make values wrong but not memory, since every length is
                // checked at each use against the map's own size.
                let map = unsafe { Mmap::map(&file) }.map_err(unreadable)?;
                let index = folder::index_file(&path).and_then(|path| std::fs::read(path).ok());
                opening.file(path, Content::Map(map), index.as_deref(), damage);
            }
        }
        Ok(opening.finish(folders, metadata_path, damage))
    }

    fn report_stream(&self, stream: &Stream, damage: &mut Vec<Damage>) {
        if stream.unordered > 0 {
            damage.push(Damage {
                kind: DamageKind::UnorderedPackets,
                trace: self.name.clone(),
                path: self.path_of(stream).to_owned(),
                offset: None,
                begin: None,
                end: None,
                count: Some(stream.unordered),
                message: format!(
                    "{} packets stand in the wrong order; sorted by time",
                    stream.unordered
                ),
            });
        }
        for loss in self.losses(stream) {
            damage.push(self.loss_row(stream, &loss));
        }
    }

    /// A loss as a row.
    pub(crate) fn loss_row(&self, stream: &Stream, loss: &Loss) -> Damage {
        let time = self.time_base(stream, Conversion::Exact);
        let window = loss
            .window
            .map(|(from, to)| (time.nanos(from), time.nanos(to)));
        let what = if loss.kind == DamageKind::LostPackets {
            "packet"
        } else {
            "event"
        };
        let message = match loss.count {
            Some(1) => format!("the tracer lost 1 {what}"),
            Some(count) => format!("the tracer lost {count} {what}s"),
            None => format!("the tracer lost an unknown number of {what}s"),
        };
        Damage {
            kind: loss.kind,
            trace: self.name.clone(),
            path: self.path_of(stream).to_owned(),
            offset: stream.packets.get(loss.packet).map(|packet| packet.offset),
            begin: window.map(|(from, _)| from),
            end: window.map(|(_, to)| to),
            count: loss.count,
            message,
        }
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

    /// The bytes of a whole stream file.
    pub(crate) fn file_data(&self, file: u32) -> &[u8] {
        &self.files[file as usize].content
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

    /// When the stream's packets begin and end, if they say so.
    pub fn span(&self, stream: &Stream) -> Option<(Nanos, Nanos)> {
        let (first, last) = (stream.packets.first()?, stream.packets.len() - 1);
        let time = self.time_base(stream, Conversion::Exact);
        let mut registers = self.decoder.heads.registers();
        let begin = self
            .decoder
            .heads
            .read(self.data(first), &mut registers)
            .ok()?
            .roles
            .timestamp_begin?;
        let head = self
            .decoder
            .heads
            .read(self.data(&stream.packets[last]), &mut registers)
            .ok()?;
        let end = self.packet_end(stream, last, &head)?;
        Some((time.nanos(Cycles(begin)), time.nanos(end)))
    }
}

fn trace_name(schema: &Schema, folders: &[Folder]) -> String {
    let below = match folders {
        [folder] => folder.below.display().to_string(),
        _ => String::new(),
    };
    match schema.environment_text("hostname") {
        Some(host) if below.is_empty() => host.to_owned(),
        Some(host) => format!("{host}/{below}"),
        None => below,
    }
}

/// Overlapping snapshots hold the same packets: of two equal neighbours one is dropped. Packets of different
/// files are equal if their heads are, packets of one file only if all their bytes are: a tracer with a coarse clock can
/// write several at the same time.
fn drop_duplicates(stream: &mut Stream, decoder: &Decoder, files: &[StreamFile]) {
    if stream.sequential {
        return;
    }
    let mut registers = decoder.heads.registers();
    let data_of = |packet: &Packet| {
        let range = packet.offset as usize..(packet.offset + packet.size) as usize;
        files[packet.file as usize]
            .content
            .get(range)
            .unwrap_or_default()
    };
    stream.packets.dedup_by(|later, kept| {
        if later.begin != kept.begin || later.size != kept.size || later.begin == 0 {
            return false;
        }
        let (later_data, kept_data) = (data_of(later), data_of(kept));
        if later.file == kept.file {
            return later_data == kept_data;
        }
        let later = decoder.heads.read(later_data, &mut registers);
        let kept = decoder.heads.read(kept_data, &mut registers);
        match (later, kept) {
            (Ok(later), Ok(kept)) => later.roles == kept.roles,
            _ => false,
        }
    });
}
