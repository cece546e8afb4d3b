//! A trace on its way from files to streams of packets.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use super::missing::{self, Census, FileNote, FileState, IndexNote};
use super::recording::TraceFolder;
use super::{FileContent, StreamFile, Trace};
use crate::damage::{Damage, DamageRows};
use crate::packet::discover::{Discovery, Finding, Found};
use crate::packet::{Index, Packet};
use crate::schema::Schema;
use crate::trace::decoder::Decoder;
use crate::trace::folder::{self, Folder, Unreadable};
use crate::trace::input_file;
use crate::trace::stream::{self, Stream};

/// A stream file that is in memory only.
#[derive(Debug, Clone, Default)]
pub struct StreamBytes {
    pub name: PathBuf,
    pub bytes: Vec<u8>,
    /// The content of its index file.
    pub index: Option<Vec<u8>>,
}

/// Opens a trace of several folders that share one metadata. Files that cannot be read are reported in `unreadable`; the others
/// are read all the same.
pub(super) fn open(
    schema: Arc<Schema>,
    folders: Vec<(Folder, TraceFolder)>,
    metadata_path: PathBuf,
    damage: &mut DamageRows,
    unreadable: &mut Vec<Unreadable>,
) -> Trace {
    let (folders, parts): (Vec<Folder>, Vec<TraceFolder>) = folders.into_iter().unzip();
    let mut opening = Opening::new(schema.clone(), trace_name(&schema, &folders));
    let mut census = Census::default();
    for (number, folder) in folders.iter().enumerate() {
        opening.folder = number;
        let mut notes = Vec::new();
        match folder::stream_files(&folder.path) {
            Ok(files) => {
                for path in files {
                    notes.push(opening.file_of_folder(path, damage, unreadable));
                }
            }
            Err(folder) => unreadable.push(folder),
        }
        let names: HashSet<PathBuf> = notes.iter().map(|note| note.path.clone()).collect();
        for path in folder::indexed_files(&folder.path) {
            if !names.contains(&path) {
                let (_, index) = index_of(&path, unreadable);
                let state = FileState::Gone;
                notes.push(FileNote { path, state, index });
            }
        }
        census.folders.push(notes);
    }
    let mut trace = opening.finish(folders, parts, metadata_path, damage);
    missing::find(&mut trace, &census, damage);
    trace
}

/// The index of a stream file.
fn index_of(stream_file: &Path, unreadable: &mut Vec<Unreadable>) -> (Option<Index>, IndexNote) {
    let Some(path) = folder::index_file(stream_file) else {
        return (None, IndexNote::Absent);
    };
    match content(&path) {
        Ok(content) => match Index::parse(&content) {
            Some(index) => {
                let note = IndexNote::of(&index);
                (Some(index), note)
            }
            None => (None, IndexNote::Unusable),
        },
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            (None, IndexNote::Absent)
        }
        Err(source) => {
            unreadable.push(Unreadable { path, source });
            (None, IndexNote::Unusable)
        }
    }
}

/// The bytes of a stream file: mapped, or copied where that is refused, as it is to more files than a process may map.
fn content(path: &Path) -> std::io::Result<FileContent> {
    let (file, size) = input_file::open(path)?;
    if size == 0 {
        return Ok(FileContent::Bytes(Vec::new()));
    }
    // SAFETY: the map is read-only and private to this process; bytes may still change under us if
    // somebody writes to the file, which can make values wrong but not memory, since every length is
    // checked at each use against the map's own size.
    match unsafe { Mmap::map(&file) } {
        Ok(map) => Ok(FileContent::Map(map)),
        Err(_) => input_file::read(path, size).map(FileContent::Bytes),
    }
}

/// A trace without a folder: its schema, and stream files in memory.
pub(super) fn in_memory(
    schema: Arc<Schema>,
    files: Vec<StreamBytes>,
    damage: &mut DamageRows,
) -> Trace {
    let mut opening = Opening::new(schema.clone(), trace_name(&schema, &[]));
    for file in files {
        let content = FileContent::Bytes(file.bytes);
        let index = file.index.as_deref().and_then(Index::parse);
        opening.file(file.name, content, index.as_ref(), damage);
    }
    opening.finish(Vec::new(), Vec::new(), PathBuf::new(), damage)
}

/// A trace whose stream files are being looked through.
struct Opening {
    name: String,
    schema: Arc<Schema>,
    decoder: Decoder,
    /// The place of the folder whose files are looked through.
    folder: usize,
    files: Vec<StreamFile>,
    found: Vec<Found>,
}

impl Opening {
    fn new(schema: Arc<Schema>, name: String) -> Opening {
        Opening {
            name,
            decoder: Decoder::new(schema.clone()),
            schema,
            folder: 0,
            files: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Reads a file that lies in a folder of the trace.
    fn file_of_folder(
        &mut self,
        path: PathBuf,
        damage: &mut DamageRows,
        unreadable: &mut Vec<Unreadable>,
    ) -> FileNote {
        let (index, note) = index_of(&path, unreadable);
        let state = match content(&path) {
            Ok(content) if content.is_empty() => FileState::Empty,
            Ok(content) => {
                let number = self.files.len() as u32;
                self.file(path.clone(), content, index.as_ref(), damage);
                FileState::Present(number)
            }
            Err(source) => {
                let path = path.clone();
                unreadable.push(Unreadable { path, source });
                FileState::Unreadable
            }
        };
        FileNote {
            path,
            state,
            index: note,
        }
    }

    /// Finds the packets of a file.
    fn file(
        &mut self,
        path: PathBuf,
        content: FileContent,
        index: Option<&Index>,
        damage: &mut DamageRows,
    ) {
        let number = self.files.len() as u32;
        let name = &self.name;
        let mut report = |finding: Finding| {
            damage.push(Damage {
                offset: Some(finding.offset),
                begin: finding.window.map(|(begin, _)| begin),
                end: finding.window.map(|(_, end)| end),
                ..Damage::new(finding.kind, name, &path, finding.message)
            });
        };
        let mut discovery = Discovery::new(
            &content,
            number,
            &self.schema,
            &self.decoder.heads,
            index,
            &mut report,
        );
        discovery.run();
        self.found.extend(discovery.packets);
        let folder = self.folder;
        self.files.push(StreamFile {
            path,
            folder,
            content,
        });
    }

    /// Puts the packets together to streams.
    fn finish(
        self,
        folders: Vec<Folder>,
        parts: Vec<TraceFolder>,
        metadata_path: PathBuf,
        damage: &mut DamageRows,
    ) -> Trace {
        let cut_of = |file: u32| {
            let folder = self.files[file as usize].folder;
            let part: &TraceFolder = parts.get(folder)?;
            part.kept.is_some().then_some(folder)
        };
        let mut streams = stream::assemble(self.found, &self.decoder.sequential, cut_of);
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
            missing: Vec::new(),
            parts,
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
