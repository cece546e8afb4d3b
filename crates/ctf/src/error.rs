//! What can stop reading altogether. Damage that leaves something to read is not here but in `damage`.

use std::path::PathBuf;

use crate::metadata::MetadataError;
use crate::schema::Nanos;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: no such file or folder", path.display())]
    Missing { path: PathBuf },
    #[error("{}: no trace here: neither this folder nor one below it has a file named `metadata`", path.display())]
    NoTrace { path: PathBuf },
    #[error("{}: is a file, but a trace is a folder with a file named `metadata`; if it is packed, unpack it", path.display())]
    NotAFolder { path: PathBuf },
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "{} and {} have a part of one trace in common, from {} to {} ns since 1970, which would count twice; give one of them, or cut them so that they do not overlap",
        first.display(), second.display(), begin.0, end.0
    )]
    OverlappingCuts {
        first: PathBuf,
        second: PathBuf,
        begin: Nanos,
        end: Nanos,
    },
    #[error("{}: the metadata cannot be understood: {source}", path.display())]
    Metadata {
        path: PathBuf,
        source: MetadataError,
    },
}
