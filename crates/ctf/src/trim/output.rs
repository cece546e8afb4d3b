//! Where the files of the new trace go.
//!
//! Each trace keeps its path below the folder that was named, and each stream the name of its first file, unless two would
//! then be the same. Nothing is created before there is something to write.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::metadata;
use crate::schema::Nanos;
use crate::trace::input_file::{self, LARGEST_METADATA};
use crate::trace::{KEPT, Trace, TraceSet, kept_text, within};
use crate::writer::{FinishedPacket, IndexEntry, WriteError, index_file};

/// Packets are mostly larger than this and then written without a detour.
const BUFFER: usize = 64 * 1024;

/// The folder of one trace.
#[derive(Debug)]
pub(super) struct TraceOutput {
    folder: PathBuf,
    metadata: PathBuf,
    /// What the cut says of itself: the times that it keeps. Nothing if it keeps all of them.
    kept: Option<String>,
    created: bool,
    /// File names in use.
    names: BTreeSet<String>,
    /// Names of streams of which nothing is kept.
    empty: Vec<String>,
}

/// The file of one stream, and its index.
#[derive(Debug)]
pub(super) struct StreamOutput {
    path: PathBuf,
    index: Option<PathBuf>,
    file: BufWriter<File>,
    entries: Vec<IndexEntry>,
    pub(super) bytes: u64,
}

/// The folders of all traces of a set.
///
/// `time` is what is kept, nothing if that is everything.
pub(super) fn of_traces(
    set: &TraceSet,
    folder: &Path,
    time: Option<(Nanos, Nanos)>,
) -> Vec<TraceOutput> {
    let kept = |number: usize| {
        let mut recordings = set.recordings.iter();
        let recording = recordings.find(|it| it.traces.contains(&number))?;
        Some(kept_text(&within(&recording.stretches, time?)))
    };
    let below: Vec<PathBuf> = set.traces.iter().map(|trace| trace.below.clone()).collect();
    let places = if are_apart(&below) {
        below
    } else {
        with_names_of_roots(&set.traces)
    };
    (places.iter().zip(&set.traces).enumerate())
        .map(|(number, (place, trace))| TraceOutput {
            folder: folder.join(place),
            metadata: trace.metadata_path.clone(),
            kept: kept(number),
            created: false,
            names: BTreeSet::new(),
            empty: Vec::new(),
        })
        .collect()
}

/// Whether no folder is, or is in, another one: readers do not search below a trace.
fn are_apart(places: &[PathBuf]) -> bool {
    (places.iter().enumerate()).all(|(number, place)| {
        let mut others = (places.iter().enumerate()).filter(|(other, _)| *other != number);
        others.all(|(_, other)| !other.starts_with(place))
    })
}

/// Each trace below the name of the folder that was named on the command line, numbered where even that is the same.
fn with_names_of_roots(traces: &[Trace]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    for trace in traces {
        let depth = trace.below.components().count();
        let first = trace.folders.first();
        let root = first.and_then(|folder| folder.ancestors().nth(depth));
        let name = root.and_then(|root| fs::canonicalize(root).ok());
        let name = (name.as_deref())
            .and_then(Path::file_name)
            .map_or("trace".into(), |name| name.to_string_lossy().into_owned());
        let free = (1u32..).map(|number| match number {
            1 => Path::new(&name).join(&trace.below),
            _ => Path::new(&format!("{name}-{number}")).join(&trace.below),
        });
        let apart = |place: &PathBuf| {
            (places.iter()).all(|other| !other.starts_with(place) && !place.starts_with(other))
        };
        let place = { free }.find(apart).unwrap_or_default();
        places.push(place);
    }
    places
}

impl TraceOutput {
    /// The folder and its metadata.
    pub(super) fn create(&mut self) -> Result<(), WriteError> {
        if self.created {
            return Ok(());
        }
        create_folder(&self.folder)?;
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| WriteError::File { path, error }
        };
        let metadata =
            input_file::read(&self.metadata, LARGEST_METADATA).map_err(failed(&self.metadata))?;
        let more =
            (self.kept.as_ref()).and_then(|kept| metadata::with_environment(&metadata, KEPT, kept));
        let metadata = more.unwrap_or(metadata);
        let path = self.folder.join("metadata");
        (create_file(&path)?.write_all(&metadata)).map_err(failed(&path))?;
        self.created = true;
        Ok(())
    }

    /// Notes that nothing is kept of a stream whose first file has this name.
    pub(super) fn leave_empty(&mut self, name: String) {
        self.empty.push(name);
    }

    /// Completes the folder, if there is one: streams of which nothing is kept get an empty file and an empty index, as LTTng
    /// writes them, so that they are not taken for lost.
    pub(super) fn finish(&mut self) -> Result<(), WriteError> {
        if self.created {
            for name in std::mem::take(&mut self.empty) {
                self.stream(&name, true)?.finish()?;
            }
        }
        Ok(())
    }

    /// A file for a stream whose first file has this name.
    pub(super) fn stream(&mut self, name: &str, index: bool) -> Result<StreamOutput, WriteError> {
        self.create()?;
        let mut free = name.to_owned();
        let mut number = 1;
        while !self.names.insert(free.clone()) {
            number += 1;
            free = format!("{name}-{number}");
        }
        let path = self.folder.join(&free);
        let index = index.then(|| self.folder.join("index").join(format!("{free}.idx")));
        Ok(StreamOutput {
            file: BufWriter::with_capacity(BUFFER, create_file(&path)?),
            path,
            index,
            entries: Vec::new(),
            bytes: 0,
        })
    }
}

impl StreamOutput {
    pub(super) fn packet(&mut self, packet: &FinishedPacket) -> Result<(), WriteError> {
        (self.file.write_all(&packet.bytes)).map_err(|error| self.failed(error))?;
        if self.index.is_some() {
            self.entries.push(IndexEntry {
                offset: self.bytes,
                ..packet.entry
            });
        }
        self.bytes += packet.bytes.len() as u64;
        Ok(())
    }

    /// Completes the file, and writes its index.
    pub(super) fn finish(mut self) -> Result<(), WriteError> {
        self.file.flush().map_err(|error| self.failed(error))?;
        let Some(path) = self.index else {
            return Ok(());
        };
        if let Some(folder) = path.parent() {
            create_folder(folder)?;
        }
        (create_file(&path)?.write_all(&index_file(&self.entries)))
            .map_err(|error| WriteError::File { path, error })
    }

    fn failed(&self, error: std::io::Error) -> WriteError {
        WriteError::File {
            path: self.path.clone(),
            error,
        }
    }
}

fn create_folder(path: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(path).map_err(|error| WriteError::File {
        path: path.to_owned(),
        error,
    })
}

fn create_file(path: &Path) -> Result<File, WriteError> {
    File::create_new(path).map_err(|error| WriteError::File {
        path: path.to_owned(),
        error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_inside_another_one_would_not_be_found() {
        let places = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert!(are_apart(&places(&[""])));
        assert!(are_apart(&places(&["kernel", "ust/uid/0/64-bit"])));
        assert!(!are_apart(&places(&["", "ust"])));
        assert!(!are_apart(&places(&["ust/a", "ust/a"])));
        assert!(!are_apart(&places(&["ust", "ust/a"])));
        assert!(are_apart(&places(&["ust/a", "ust/ab"])));
    }
}
