//! A trace folder of a schema: metadata, stream files packet by packet, and index files if wanted. Whatever cannot be written is a panic.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rostrace_ctf::schema::{Schema, Uuid};
use rostrace_ctf::writer::{
    EventRecord, IndexEntry, PacketEnd, PacketStart, PacketWriter, index_file, metadata_packets,
};

use crate::tsdl::tsdl;

/// The size of packets is a multiple of so many bytes.
const PACKET_MULTIPLE: u32 = 4096;

/// How a trace folder is written.
#[derive(Debug, Clone, Default)]
pub struct TraceOptions {
    pub metadata: MetadataForm,
    /// Whether each stream file gets its `index/NAME.idx`.
    pub index: bool,
}

#[derive(Debug, Clone, Default)]
pub enum MetadataForm {
    /// TSDL, readable with an editor.
    #[default]
    PlainText,
    /// TSDL in packets, as LTTng writes it.
    Packets,
}

/// Creates the files of one trace folder.
#[derive(Debug)]
pub struct TraceWriter {
    folder: PathBuf,
    schema: Arc<Schema>,
    index: bool,
}

/// A stream file that is being written.
#[derive(Debug)]
pub struct StreamFile {
    schema: Arc<Schema>,
    stream: usize,
    instance: u64,
    path: PathBuf,
    index: Option<PathBuf>,
    open: Option<PacketWriter>,
    /// What a reader's clock shows after the packets so far.
    clock: u64,
    bytes: Vec<u8>,
    entries: Vec<IndexEntry>,
}

impl TraceWriter {
    /// Creates the folder if needed, and its `metadata`.
    pub fn create(folder: &Path, schema: Arc<Schema>, options: TraceOptions) -> TraceWriter {
        let text = tsdl(&schema);
        let metadata = match options.metadata {
            MetadataForm::PlainText => text.into_bytes(),
            MetadataForm::Packets => {
                let uuid = schema.uuid.unwrap_or(Uuid([0; 16]));
                metadata_packets(&text, uuid, schema.byte_order)
            }
        };
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("metadata"), metadata).unwrap();
        TraceWriter {
            folder: folder.to_owned(),
            schema,
            index: options.index,
        }
    }

    /// The file of a stream. `stream` is an index into [`Schema::streams`], `instance` tells the streams of one class apart.
    pub fn stream(&self, name: &str, stream: usize, instance: u64) -> StreamFile {
        StreamFile {
            schema: Arc::clone(&self.schema),
            stream,
            instance,
            path: self.folder.join(name),
            index: (self.index).then(|| self.folder.join("index").join(format!("{name}.idx"))),
            open: None,
            clock: 0,
            bytes: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl StreamFile {
    pub fn begin_packet(&mut self, start: PacketStart<'_>) {
        let schema = Arc::clone(&self.schema);
        let packet = PacketWriter::begin(schema, self.stream, self.instance, self.clock, start);
        self.open = Some(packet.unwrap());
    }

    pub fn event(&mut self, record: &EventRecord<'_>) {
        self.open.as_mut().unwrap().event(record).unwrap();
    }

    pub fn close_packet(&mut self, end: PacketEnd) {
        let packet = self.open.take().unwrap();
        let packet = packet.finish(end, PACKET_MULTIPLE).unwrap();
        self.entries.push(IndexEntry {
            offset: self.bytes.len() as u64,
            ..packet.entry
        });
        self.bytes.extend(packet.bytes);
        self.clock = packet.clock;
    }

    /// Writes the file, and its index if there is to be one.
    pub fn finish(self) {
        fs::write(self.path, self.bytes).unwrap();
        if let Some(path) = self.index {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, index_file(&self.entries)).unwrap();
        }
    }
}
