//! What may come out of an archive. It may come from anybody, so only folders and regular files are made, under names that stay below the private folder,
//! and never more of them than a recording of that size can have.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use anyhow::bail;

use super::private_folder::PrivateFolder;
use crate::interrupt;
use rostrace_base::units;

/// What an archive may unpack to: so many bytes, and so many times its own size. Streams are mostly zeros where a tracer was idle, and zeros pack well.
const ALWAYS_ALLOWED: u64 = 1 << 30;
const MOST_TIMES: u64 = 200;

/// A process leaves a file for each of its processors and channels.
const MOST_ENTRIES: u64 = 200_000;

/// An archive on its way to a folder.
pub(super) struct Unpacking<'f> {
    folder: &'f PrivateFolder,
    entries: u64,
    /// Bytes that may be written in all, and those that still may.
    allowed: u64,
    left: u64,
    /// Entries that are neither folders nor regular files.
    pub(super) left_out: u64,
}

impl<'f> Unpacking<'f> {
    pub(super) fn new(folder: &'f PrivateFolder, size: u64) -> Unpacking<'f> {
        let allowed = ALWAYS_ALLOWED.saturating_add(size.saturating_mul(MOST_TIMES));
        Unpacking {
            folder,
            entries: 0,
            allowed,
            left: allowed,
            left_out: 0,
        }
    }

    /// Where the next entry goes.
    pub(super) fn entry(&mut self, name: &Path) -> anyhow::Result<PathBuf> {
        self.entries += 1;
        if self.entries > MOST_ENTRIES {
            bail!("has more than {MOST_ENTRIES} entries, which no recording has");
        }
        let Some(target) = below(&self.folder.path, name) else {
            bail!(
                "has an entry `{}`, which would lie outside of the archive; it is not unpacked",
                name.display()
            );
        };
        Ok(target)
    }

    pub(super) fn folder(&self, target: &Path) -> anyhow::Result<()> {
        let _held = self.folder.hold();
        fs::create_dir_all(target).map_err(explained)
    }

    pub(super) fn file(&mut self, target: &Path, content: &mut impl Read) -> anyhow::Result<()> {
        if let Some(folder) = target.parent() {
            self.folder(folder)?;
        }
        // No entry ever became a link, so that whatever is there already is ours.
        let mut file = {
            let _held = self.folder.hold();
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            options.open(target).map_err(explained)?
        };
        let mut buffer = vec![0; 1 << 18];
        loop {
            let length = content.read(&mut buffer).map_err(explained)?;
            let Some(left) = self.left.checked_sub(length as u64) else {
                bail!(
                    "would unpack to more than {}, far more than a recording of its size; if it is one, unpack it by hand",
                    units::bytes(self.allowed)
                );
            };
            self.left = left;
            if length == 0 || interrupt::requested() {
                return Ok(());
            }
            file.write_all(&buffer[..length]).map_err(explained)?;
        }
    }

    /// Reads what is behind the last entry, which says whether all of it was right.
    pub(super) fn finish(&self, rest: impl Read) -> anyhow::Result<()> {
        io::copy(&mut rest.take(self.left), &mut io::sink()).map_err(explained)?;
        Ok(())
    }
}

/// The place of an entry, if it is below the root.
fn below(root: &Path, name: &Path) -> Option<PathBuf> {
    let mut target = root.to_owned();
    for component in name.components() {
        match component {
            Component::Normal(part) => target.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(target)
}

pub(super) fn explained(error: io::Error) -> anyhow::Error {
    let sentence = match error.kind() {
        io::ErrorKind::StorageFull => {
            "does not fit where it is unpacked; TMPDIR names another place, or unpack it by hand"
        }
        io::ErrorKind::OutOfMemory => {
            "would take far more memory to unpack than such files do; unpack it by hand"
        }
        _ => "cannot be unpacked, since it is damaged or ends in the middle",
    };
    anyhow::Error::from(error).context(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_lies_below_its_archive() {
        let root = Path::new("/private");
        let found = |name: &str| below(root, Path::new(name));
        assert_eq!(found("a/./b"), Some(PathBuf::from("/private/a/b")));
        assert_eq!(found("./a"), Some(PathBuf::from("/private/a")));
        for outside in ["../a", "a/../../b", "/etc/passwd", "a/.."] {
            assert_eq!(found(outside), None, "{outside}");
        }
    }

    #[test]
    fn a_bomb_is_stopped_before_it_fills_the_disk() {
        let folder = PrivateFolder::create().unwrap();
        let target = folder.path.join("session/stream");
        let mut unpacking = Unpacking::new(&folder, 0);
        unpacking.allowed = 1 << 20;
        unpacking.left = 1 << 20;
        let megabyte = || io::repeat(0).take(1 << 20);
        unpacking.file(&target, &mut megabyte()).unwrap();
        let error = unpacking.file(&target, &mut megabyte()).unwrap_err();
        assert!(error.to_string().contains("more than 1.0 MiB"), "{error}");
        super::super::remove_all();
    }
}
