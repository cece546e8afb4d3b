//! Files that appear complete or not at all: they grow under another name in the same folder, and are renamed when all is written.
//! Until then an error, Ctrl-C or a full disk leaves nothing behind, and a file that is to be replaced stays as it is.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use tempfile::TempPath;

#[derive(Debug)]
pub(crate) struct NewFile {
    /// Removed when this is dropped.
    temporary: TempPath,
    /// Where it will be.
    target: PathBuf,
}

impl NewFile {
    pub(crate) fn write(
        target: PathBuf,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> anyhow::Result<NewFile> {
        let folder = target.parent().unwrap_or(Path::new("."));
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
        let shown = target.display();
        write(temporary.as_file()).with_context(|| format!("{shown}: cannot be written"))?;
        Ok(NewFile {
            temporary: temporary.into_temp_path(),
            target,
        })
    }

    /// The file is complete: puts it in its place.
    pub(crate) fn publish(self) -> anyhow::Result<()> {
        let shown = self.target.display();
        let put = self.temporary.persist(&self.target);
        put.map_err(|error| error.error)
            .with_context(|| format!("{shown}: the new file cannot be put here"))
    }
}
