//! What can stop reading altogether. Damage that leaves something to read is not here but in `damage`.

use std::path::PathBuf;

use crate::metadata::MetadataError;

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
    #[error("{}: the metadata cannot be understood: {source}", path.display())]
    Metadata {
        path: PathBuf,
        source: MetadataError,
    },
}
