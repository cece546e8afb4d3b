//! Finding traces: the folders that have a `metadata` file.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Folders deeper than this are not searched: a trace lies a handful of folders below its session.
const DEEPEST: usize = 32;

/// A folder that has a file named `metadata`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// Path below the folder that was given; empty if it is that folder itself.
    pub(crate) below: PathBuf,
}

/// All trace folders at or below `root`, by path. Below a trace folder nothing is searched.
pub(crate) fn find(root: &Path) -> Result<Vec<Folder>, Error> {
    let meta = fs::metadata(root).map_err(|source| match source.kind() {
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
            _ => Err(Error::NoTrace {
                path: root.to_owned(),
            }),
        };
    }
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    search(root, Path::new(""), 0, &mut seen, &mut found)?;
    if found.is_empty() {
        return Err(Error::NoTrace {
            path: root.to_owned(),
        });
    }
    Ok(found)
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
    found: &mut Vec<Folder>,
) -> Result<(), Error> {
    // Links may form circles.
    if depth > DEEPEST || fs::canonicalize(folder).is_ok_and(|real| !seen.insert(real)) {
        return Ok(());
    }
    if folder.join("metadata").is_file() {
        found.push(Folder {
            path: folder.to_owned(),
            below: below.to_owned(),
        });
        return Ok(());
    }
    for name in names(folder)? {
        let path = folder.join(&name);
        if path.is_dir() {
            search(&path, &below.join(&name), depth + 1, seen, found)?;
        }
    }
    Ok(())
}

/// The entries of a folder in order of name.
fn names(folder: &Path) -> Result<Vec<std::ffi::OsString>, Error> {
    let unreadable = |source| Error::Unreadable {
        path: folder.to_owned(),
        source,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        names.push(entry.map_err(unreadable)?.file_name());
    }
    names.sort();
    Ok(names)
}

/// The stream files of a trace folder: all visible regular files but the metadata, in order of name.
pub(crate) fn stream_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for name in names(folder)? {
        let hidden = name.to_string_lossy().starts_with('.');
        let path = folder.join(&name);
        if !hidden && name != "metadata" && path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// The index file that belongs to a stream file.
pub(crate) fn index_file(stream_file: &Path) -> Option<PathBuf> {
    let mut name = stream_file.file_name()?.to_owned();
    name.push(".idx");
    Some(stream_file.parent()?.join("index").join(name))
}
