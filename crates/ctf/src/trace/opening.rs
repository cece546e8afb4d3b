//! A trace on its way from files to streams of packets.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use super::{Content, StreamFile, Trace};
use crate::damage::Damage;
use crate::decoder::Decoder;
use crate::folder::{self, Folder, Unreadable};
use crate::packet::discover::{Discovery, Found};
use crate::packet::{Index, Packet};
use crate::schema::Schema;
use crate::stream::{self, Stream};

/// A stream file that is in memory only.
#[derive(Debug, Clone, Default)]
pub struct StreamBytes {
    pub name: PathBuf,
    pub bytes: Vec<u8>,
    /// The content of its index file.
    pub index: Option<Vec<u8>>,
}

/// Opens a trace of several folders that share one metadata. Files that cannot be read are told in `unreadable`; the others
/// are read all the same.
pub(super) fn open(
    schema: Arc<Schema>,
    folders: Vec<Folder>,
    metadata_path: PathBuf,
    damage: &mut Vec<Damage>,
    unreadable: &mut Vec<Unreadable>,
) -> Trace {
    let mut opening = Opening::new(schema.clone(), trace_name(&schema, &folders));
    for folder in &folders {
        let files = match folder::stream_files(&folder.path) {
            Ok(files) => files,
            Err(folder) => {
                unreadable.push(folder);
                continue;
            }
        };
        for path in files {
            match content(&path) {
                Ok(content) if content.is_empty() => {}
                Ok(content) => {
                    let index = folder::index_file(&path).and_then(|path| std::fs::read(path).ok());
                    opening.file(path, content, index.as_deref(), damage);
                }
                Err(source) => unreadable.push(Unreadable { path, source }),
            }
        }
    }
    opening.finish(folders, metadata_path, damage)
}

/// The bytes of a stream file: mapped, or copied where that is refused, as it is to more files than a process may map.
fn content(path: &Path) -> std::io::Result<Content> {
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(Content::Bytes(Vec::new()));
    }
    // SAFETY: the map is read-only and private to this process; bytes may still change under us if
    // somebody writes to the file, which can make values wrong but not memory, since every length is
    // checked at each use against the map's own size.
    match unsafe { Mmap::map(&file) } {
        Ok(map) => Ok(Content::Map(map)),
        Err(_) => std::fs::read(path).map(Content::Bytes),
    }
}

/// A trace without a folder: its schema, and stream files in memory.
pub(super) fn in_memory(
    schema: Arc<Schema>,
    files: Vec<StreamBytes>,
    damage: &mut Vec<Damage>,
) -> Trace {
    let mut opening = Opening::new(schema.clone(), trace_name(&schema, &[]));
    for file in files {
        let content = Content::Bytes(file.bytes);
        opening.file(file.name, content, file.index.as_deref(), damage);
    }
    opening.finish(Vec::new(), PathBuf::new(), damage)
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
