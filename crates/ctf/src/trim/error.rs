//! What makes trimming impossible.

use std::path::PathBuf;

use crate::layout::decode::DecodeError;
use crate::writer::WriteError;

#[derive(Debug, thiserror::Error)]
pub enum TrimError {
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(
        "{}, byte {offset}: an event of this packet cannot be written again: {source}", path.display()
    )]
    Event {
        path: PathBuf,
        offset: u64,
        source: WriteError,
    },
    #[error(
        "{}, byte {offset}: the fields of an event of this packet cannot be read, so it cannot be written again: \
         {source}",
        path.display()
    )]
    Unreadable {
        path: PathBuf,
        offset: u64,
        source: DecodeError,
    },
    #[error(
        "{}: the packets of this stream do not tell the whole time, so its events cannot be told apart in time \
         without those before them; keep the trace from its start, and do not select by event, process or thread",
        path.display()
    )]
    TimeUnknown { path: PathBuf },
}
