//! Files that appear complete or not at all: they grow under another name in the same folder, and are renamed when all is written.
//! Until then an error, Ctrl-C or a full disk leaves nothing behind, and a file that is to be replaced stays as it is.
//!
//! Pipes and devices cannot be replaced and are written as they are: a new file in the place of `/dev/null` would be a disaster.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use tempfile::TempPath;

#[derive(Debug)]
pub(crate) enum NewFile {
    Grown {
        /// Removed when this is dropped.
        temporary: TempPath,
        /// Where it will be.
        target: PathBuf,
    },
    /// A pipe or a device took it.
    Sent,
}

impl NewFile {
    pub(crate) fn write(
        target: PathBuf,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> anyhow::Result<NewFile> {
        let shown = target.display();
        let failed = || format!("{shown}: cannot be written");
        if target.is_dir() {
            bail!("{shown}: this is a folder, not a file");
        }
        if target.exists() && !target.is_file() {
            let file = File::options().write(true).open(&target);
            file.and_then(|file| write(&file)).with_context(failed)?;
            return Ok(NewFile::Sent);
        }
        // Behind a link, the file that it leads to.
        let place = target.canonicalize().unwrap_or_else(|_| target.clone());
        let folder = folder_of(&place);
        // Temporary files are private; this one has the rights that new files have.
        let temporary = tempfile::Builder::new()
            .prefix(".rostrace-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .map_err(|error| {
                // The error itself would name a file that nobody knows.
                let (folder, cause) = (folder.display(), error.kind());
                anyhow!("{folder}: no file can be made in this folder: {cause}")
            })?;
        write(temporary.as_file()).with_context(failed)?;
        if let Ok(before) = place.metadata() {
            let keep = temporary.as_file().set_permissions(before.permissions());
            keep.with_context(failed)?;
        }
        Ok(NewFile::Grown {
            temporary: temporary.into_temp_path(),
            target: place,
        })
    }

    /// The file is complete: puts it in its place.
    pub(crate) fn publish(self) -> anyhow::Result<()> {
        let NewFile::Grown { temporary, target } = self else {
            return Ok(());
        };
        let put = temporary.persist(&target);
        put.map_err(|error| error.error)
            .with_context(|| format!("{}: the new file cannot be put here", target.display()))
    }
}

/// What can be said of a place before anything is written there.
pub(crate) fn expect_place(target: &Path) -> anyhow::Result<()> {
    if target.is_dir() {
        bail!("{}: this is a folder, not a file", target.display());
    }
    let folder = folder_of(target);
    if !folder.is_dir() {
        bail!("{}: there is no such folder", folder.display());
    }
    Ok(())
}

pub(crate) fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new("."))
}
