//! Finding traces: the folders that have a `metadata` file.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::trace::unpacked::place;

/// Folders deeper than this are not searched: a trace lies a handful of folders below its session.
const DEEPEST: usize = 32;

/// Below a trace folder, where LTTng keeps its indexes.
const INDEX_FOLDER: &str = "index";

/// A folder that has a file named `metadata`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// Path below the folder that was given; empty if it is that folder itself.
    pub(crate) below: PathBuf,
}

/// A file or folder that cannot be opened, and why.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) path: PathBuf,
    pub(crate) source: std::io::Error,
}

impl From<Unreadable> for Error {
    fn from(Unreadable { path, source }: Unreadable) -> Error {
        Error::Unreadable { path, source }
    }
}

/// What lies at or below a folder.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// All trace folders, by path.
    pub(crate) folders: Vec<Folder>,
    /// Folders beside them that cannot be searched.
    pub(crate) unreadable: Vec<Unreadable>,
}

/// Searches for traces at or below `root`. Below a trace folder nothing is searched.
pub(crate) fn find(root: &Path) -> Result<Findings, Error> {
    let meta = fs::metadata(place(root)).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Error::Missing {
            path: root.to_owned(),
        },
        _ => Error::Unreadable {
            path: root.to_owned(),
            source,
        },
    })?;
    // Who gives the metadata file itself means its folder.
    if meta.is_file() {
        return match root.parent() {
            Some(parent) if root.file_name().is_some_and(|name| name == "metadata") => {
                find(parent_or_dot(parent))
            }
            _ => Err(Error::NotAFolder {
                path: root.to_owned(),
            }),
        };
    }
    let mut findings = Findings::default();
    let mut seen = HashSet::new();
    search(root, Path::new(""), 0, &mut seen, &mut findings);
    if findings.folders.is_empty() {
        return Err(match findings.unreadable.into_iter().next() {
            Some(unreadable) => unreadable.into(),
            None => Error::NoTrace {
                path: root.to_owned(),
            },
        });
    }
    Ok(findings)
}

fn parent_or_dot(parent: &Path) -> &Path {
    if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    }
}

fn search(
    folder: &Path,
    below: &Path,
    depth: usize,
    seen: &mut HashSet<PathBuf>,
    findings: &mut Findings,
) {
    // Links may form circles.
    if depth > DEEPEST || fs::canonicalize(place(folder)).is_ok_and(|real| !seen.insert(real)) {
        return;
    }
    match fs::metadata(place(&folder.join("metadata"))) {
        // Also a FIFO or a device: to open it tells why it is not read.
        Ok(metadata) if !metadata.is_dir() => {
            findings.folders.push(Folder {
                path: folder.to_owned(),
                below: below.to_owned(),
            });
            return;
        }
        Err(source) if source.kind() == std::io::ErrorKind::PermissionDenied => {
            findings.unreadable.push(Unreadable {
                path: folder.to_owned(),
                source,
            });
            return;
        }
        _ => {}
    }
    let names = match names(folder) {
        Ok(names) => names,
        Err(unreadable) => return findings.unreadable.push(unreadable),
    };
    for name in names {
        let path = folder.join(&name);
        if place(&path).is_dir() {
            search(&path, &below.join(&name), depth + 1, seen, findings);
        }
    }
}

/// The entries of a folder in order of name.
fn names(folder: &Path) -> Result<Vec<std::ffi::OsString>, Unreadable> {
    let unreadable = |source| Unreadable {
        path: folder.to_owned(),
        source,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(place(folder)).map_err(unreadable)? {
        names.push(entry.map_err(unreadable)?.file_name());
    }
    names.sort();
    Ok(names)
}

/// The stream files of a trace folder: all visible files but the metadata, in order of name. What is no regular file, or cannot
/// even be looked at, such as a link to nothing, is among them: to open it tells why it is not read.
pub(crate) fn stream_files(folder: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    let mut files = Vec::new();
    for name in names(folder)? {
        let hidden = name.to_string_lossy().starts_with('.');
        let path = folder.join(&name);
        let is_folder = fs::metadata(place(&path)).is_ok_and(|metadata| metadata.is_dir());
        if !hidden && name != "metadata" && !is_folder {
            files.push(path);
        }
    }
    Ok(files)
}

/// The index file that belongs to a stream file.
pub(crate) fn index_file(stream_file: &Path) -> Option<PathBuf> {
    let mut name = stream_file.file_name()?.to_owned();
    name.push(".idx");
    Some(stream_file.parent()?.join(INDEX_FOLDER).join(name))
}

/// The stream files that a trace folder has indexes of, in order of name, whether they are there or not.
pub(crate) fn indexed_files(folder: &Path) -> Vec<PathBuf> {
    let names = names(&folder.join(INDEX_FOLDER)).unwrap_or_default();
    let stems = (names.iter().map(Path::new))
        .filter(|name| name.extension().is_some_and(|extension| extension == "idx"))
        .filter_map(Path::file_stem);
    stems.map(|name| folder.join(name)).collect()
}
