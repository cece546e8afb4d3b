//! The files of a trace as they lie in their folders, and what indexes say of them.

use std::path::PathBuf;

use crate::packet::Index;

/// A stream file as it lies in its folder, or as something knows it.
#[derive(Debug)]
pub(in crate::trace) struct FileNote {
    pub(in crate::trace) path: PathBuf,
    pub(in crate::trace) state: FileState,
    pub(in crate::trace) index: IndexNote,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::trace) enum FileState {
    /// With content; its number in the trace.
    Present(u32),
    Empty,
    /// There is an index of this name, but no such file.
    Gone,
    /// That is said elsewhere.
    Unreadable,
}

/// What the index of a stream file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::trace) enum IndexNote {
    Absent,
    /// No valid index.
    Unusable,
    Lists(Listed),
}

/// The packets that an index lists, in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::trace) struct Listed {
    pub(super) packets: u64,
    /// In cycles.
    pub(super) window: (u64, u64),
    pub(super) class_id: u64,
    pub(super) first_sequence: Option<u64>,
}

impl IndexNote {
    pub(in crate::trace) fn of(index: &Index) -> IndexNote {
        let (first, last) = (index.entries.first(), index.entries.last());
        IndexNote::Lists(Listed {
            packets: index.entries.len() as u64,
            window: (
                first.map_or(0, |first| first.timestamp_begin),
                last.map_or(0, |last| last.timestamp_end),
            ),
            class_id: first.map_or(0, |first| first.stream_class_id),
            first_sequence: index.first_sequence,
        })
    }
}

/// The files of a trace, folder by folder.
#[derive(Debug, Default)]
pub(in crate::trace) struct Census {
    pub(in crate::trace) folders: Vec<Vec<FileNote>>,
}
