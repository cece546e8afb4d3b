//! A folder that appears when it is complete, or not at all.
//!
//! Everything is written to a folder beside it, which is then renamed. Until then an error, Ctrl-C or a full disk leaves
//! nothing behind, and a folder that is to be replaced stays as it is.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use tempfile::TempDir;

#[derive(Debug)]
pub(crate) struct NewFolder {
    /// Where it will be.
    target: PathBuf,
    /// Removed with all that is in it when this is dropped.
    beside: TempDir,
    /// In `beside`: the folder that grows.
    path: PathBuf,
}

impl NewFolder {
    /// Refuses what must not be overwritten: a folder with something in it, unless it is forced and has nothing but traces,
    /// and anything that is, contains or is in one of the inputs.
    pub(crate) fn prepare(
        output: &Path,
        inputs: &[PathBuf],
        force: bool,
    ) -> anyhow::Result<NewFolder> {
        let shown = output.display();
        let target =
            real_path(output).with_context(|| format!("{shown}: no folder can be written here"))?;
        for input in inputs {
            let folder = if input.is_file() {
                input.parent().unwrap_or(input)
            } else {
                input
            };
            let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            if target.starts_with(&real) || real.starts_with(&target) {
                bail!(
                    "{shown}: the new trace must not be in the trace that is read ({}), nor around it",
                    input.display()
                );
            }
        }
        match fs::read_dir(&target).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Ok(false) if !force => {
                bail!("{shown}: this folder is not empty; --force replaces it if it is a trace")
            }
            Ok(false) => {
                if let Some(foreign) = not_of_a_trace(&target)? {
                    bail!(
                        "{shown}: --force replaces traces only, and {} does not belong to one",
                        foreign.display()
                    );
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                bail!("{shown}: this is a file, not a folder")
            }
            Err(error) => return Err(error).with_context(|| format!("{shown}: cannot be read")),
        }
        let parent = target.parent().unwrap_or(Path::new("/"));
        let beside = tempfile::Builder::new()
            .prefix(".rostrace-")
            .tempdir_in(parent)
            .map_err(|error| {
                // The error itself would name a folder that nobody knows.
                let (parent, cause) = (parent.display(), error.kind());
                anyhow!("{parent}: no folder can be made in this folder: {cause}")
            })?;
        // Temporary folders are private; this one has the rights that new folders have.
        let path = beside.path().join("new");
        fs::create_dir(&path)
            .with_context(|| format!("{}: cannot make this folder", path.display()))?;
        Ok(NewFolder {
            target,
            beside,
            path,
        })
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder is complete: puts it in its place.
    pub(crate) fn publish(self) -> anyhow::Result<()> {
        let shown = self.target.display();
        // An empty folder is replaced by the renaming itself.
        let old = self.beside.path().join("old");
        let is_full = fs::read_dir(&self.target).is_ok_and(|mut entries| entries.next().is_some());
        if is_full {
            fs::rename(&self.target, &old)
                .with_context(|| format!("{shown}: the old folder cannot be moved away"))?;
        }
        fs::rename(&self.path, &self.target)
            .inspect_err(|_| {
                if is_full {
                    let _ = fs::rename(&old, &self.target);
                }
            })
            .with_context(|| format!("{shown}: the new folder cannot be put here"))
    }
}

/// The path without links, `.` and `..`, though its last part need not exist yet. The folders above it are made.
fn real_path(path: &Path) -> anyhow::Result<PathBuf> {
    if let Ok(real) = fs::canonicalize(path) {
        return Ok(real);
    }
    let name = path.file_name().context("a name is missing")?;
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent)?;
    Ok(fs::canonicalize(parent)?.join(name))
}

/// A file that is neither in a trace folder nor in the folder of its indexes.
fn not_of_a_trace(folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    let is_trace = |folder: &Path| folder.join("metadata").is_file();
    let is_index = folder.file_name().is_some_and(|name| name == "index")
        && folder.parent().is_some_and(is_trace);
    let may_have_files = is_trace(folder) || is_index;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let foreign = if kind.is_dir() {
            not_of_a_trace(&entry.path())?
        } else {
            (!kind.is_file() || !may_have_files).then(|| entry.path())
        };
        if foreign.is_some() {
            return Ok(foreign);
        }
    }
    Ok(None)
}
