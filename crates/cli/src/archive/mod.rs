//! Packed traces: a tar archive, plain or compressed, is unpacked into a private folder that is removed when the program ends, and then read as any other.
//!
//! An archive may come from anybody. So only folders and regular files are made, under names that stay below the private folder, and never more of them
//! than a recording of that size can have.

mod compression;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, bail};
use tar::EntryType;
use tempfile::TempDir;

use crate::interrupt;
use crate::outcome::INTERRUPTED;
use crate::progress::Progress;
use crate::render::diagnostic;
pub(crate) use compression::Compression;
use rostrace_base::units;

/// What an archive may unpack to: so many bytes, and so many times its own size. Streams are mostly zeros where a tracer was idle, and zeros pack well.
const ALWAYS_ALLOWED: u64 = 1 << 30;
const MOST_TIMES: u64 = 200;

/// A process leaves a file for each of its processors and channels.
const MOST_ENTRIES: u64 = 200_000;

/// Folders that were unpacked; they are needed as long as the traces in them are.
static UNPACKED: Mutex<Vec<TempDir>> = Mutex::new(Vec::new());

/// Removes everything that was unpacked.
pub(crate) fn remove_all() {
    if let Ok(mut unpacked) = UNPACKED.lock() {
        unpacked.clear();
    }
}

/// Unpacks an archive, and tells where. The caller has recognised it.
pub(crate) fn unpack(path: &Path, compression: Compression) -> anyhow::Result<PathBuf> {
    let file = File::open(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let size = file.metadata().map_or(0, |it| it.len());
    let folder = tempfile::Builder::new().prefix("rostrace-").tempdir();
    let folder = folder.context("no folder can be made to unpack into; TMPDIR names its place")?;
    // Messages name files below it.
    let root = folder
        .path()
        .join(path.file_name().unwrap_or(path.as_os_str()));
    fs::create_dir(&root).with_context(|| format!("{}: cannot be made", root.display()))?;
    let bar = Progress::new("unpacking", size);
    let counted = Counted {
        file,
        read: 0,
        bar: &bar,
    };
    let unpacked = compression
        .reader(BufReader::new(counted))
        .map_err(anyhow::Error::from)
        .and_then(|reader| unpack_tar(reader, &root, allowed(size)));
    drop(bar);
    if interrupt::requested() {
        drop(folder);
        remove_all();
        std::process::exit(i32::from(INTERRUPTED));
    }
    let left_out = unpacked.with_context(|| path.display().to_string())?;
    if left_out > 0 {
        diagnostic::note(&format!(
            "{}: {} left out: only regular files of an archive are read, no links and no devices",
            path.display(),
            match left_out {
                1 => "1 entry was".to_owned(),
                more => format!("{} entries were", units::count(more)),
            }
        ));
    }
    if let Ok(mut unpacked) = UNPACKED.lock() {
        unpacked.push(folder);
    }
    Ok(root)
}

fn allowed(size: u64) -> u64 {
    ALWAYS_ALLOWED.saturating_add(size.saturating_mul(MOST_TIMES))
}

/// How many entries were left out.
fn unpack_tar(reader: impl Read, root: &Path, allowed: u64) -> anyhow::Result<u64> {
    let mut archive = tar::Archive::new(reader);
    let mut left_out = 0;
    let mut left = allowed;
    for (number, entry) in archive.entries()?.enumerate() {
        let mut entry = entry.map_err(explained)?;
        if number as u64 >= MOST_ENTRIES {
            bail!("has more than {MOST_ENTRIES} entries, which no recording has");
        }
        let name = entry.path().map_err(explained)?.into_owned();
        let Some(target) = below(root, &name) else {
            bail!(
                "has an entry `{}`, which would lie outside of the archive; it is not unpacked",
                name.display()
            );
        };
        match entry.header().entry_type() {
            EntryType::Directory => fs::create_dir_all(&target).map_err(explained)?,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                if let Some(folder) = target.parent() {
                    fs::create_dir_all(folder).map_err(explained)?;
                }
                // No entry ever became a link, so that whatever is there already is ours.
                let mut file = OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(true)
                    .mode(0o600)
                    .open(&target)
                    .map_err(explained)?;
                left -= copy(&mut entry, &mut file, left, allowed)?;
            }
            EntryType::XGlobalHeader => {}
            _ => left_out += 1,
        }
        if interrupt::requested() {
            return Ok(left_out);
        }
    }
    // What is behind the last entry says whether all of it was right.
    let mut rest = archive.into_inner().take(left);
    io::copy(&mut rest, &mut io::sink()).map_err(explained)?;
    Ok(left_out)
}

fn copy(entry: &mut impl Read, file: &mut File, left: u64, allowed: u64) -> anyhow::Result<u64> {
    let mut buffer = vec![0; 1 << 18];
    let mut copied: u64 = 0;
    loop {
        let length = entry.read(&mut buffer).map_err(explained)?;
        copied += length as u64;
        if copied > left {
            bail!(
                "would unpack to more than {}, far more than a recording of its size; if it is one, unpack it by hand",
                units::bytes(allowed)
            );
        }
        if length == 0 || interrupt::requested() {
            return Ok(copied);
        }
        file.write_all(&buffer[..length]).map_err(explained)?;
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

fn explained(error: io::Error) -> anyhow::Error {
    let sentence = match error.kind() {
        io::ErrorKind::StorageFull => {
            "does not fit where it is unpacked; TMPDIR names another place, or unpack it by hand"
        }
        _ => "cannot be unpacked, since it is damaged or ends in the middle",
    };
    anyhow::Error::from(error).context(sentence)
}

/// A file whose reading is shown.
struct Counted<'b> {
    file: File,
    read: u64,
    bar: &'b Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.read += length as u64;
        self.bar.done(self.read);
        Ok(length)
    }
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
        let folder = tempfile::tempdir().unwrap();
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(1 << 20);
        builder
            .append_data(&mut header, "stream", io::repeat(0).take(1 << 20))
            .unwrap();
        let bytes = builder.into_inner().unwrap();
        let error = unpack_tar(&bytes[..], folder.path(), 1000).unwrap_err();
        assert!(error.to_string().contains("more than 1000 B"), "{error}");
        assert!(unpack_tar(&bytes[..], folder.path(), 1 << 20).is_ok());
    }
}
