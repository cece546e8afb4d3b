//! What is given in the place of a trace, recognised by its first bytes: packed traces are unpacked, and of everything else is said what it is and what to do.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::bail;
use rostrace_ctf::{Error, unpacked};

use crate::archive::{self, Archive, Compression};

/// Enough to see what a file is; the mark of a tar archive is the last one.
const HEAD: usize = 512;
const TAR_MARK: (usize, &[u8]) = (257, b"ustar");

/// Files that are known by how they begin.
const KINDS: &[(&[u8], ForeignKind)] = &[
    (b"\x1f\x8b", tar(Compression::Gzip)),
    (b"\x28\xb5\x2f\xfd", tar(Compression::Zstandard)),
    (b"\x89MCAP0\r\n", ForeignKind::Bag("an MCAP file")),
    (
        b"SQLite format 3\0",
        ForeignKind::Bag("an SQLite database, as rosbag2 writes them"),
    ),
    (b"#ROSBAG V", ForeignKind::Bag("a bag of ROS 1")),
    (b"\xfd7zXZ\0", tar(Compression::Xz)),
    (b"BZh", tar(Compression::Bzip2)),
    (b"PK\x03\x04", ForeignKind::Packed(Archive::Zip)),
    (b"PK\x05\x06", ForeignKind::Packed(Archive::Zip)),
    (
        b"7z\xbc\xaf\x27\x1c",
        ForeignKind::Unknown("a 7-Zip archive", UNPACK),
    ),
    (b"PAR1", ForeignKind::Unknown("a Parquet file", RESULT)),
    (b"ARROW1", ForeignKind::Unknown("an Arrow file", RESULT)),
    (
        b"<!DOCTYPE html",
        ForeignKind::Unknown("a page, such as a report", RESULT),
    ),
    (
        b"\x75\xd1\x1d\xc1",
        ForeignKind::Unknown("the metadata of a trace", METADATA),
    ),
    (
        b"\xc1\xfc\x1f\xc1",
        ForeignKind::Unknown("a single stream of a trace", METADATA),
    ),
    (
        b"\xc1\x1f\xfc\xc1",
        ForeignKind::Unknown("a single stream of a trace", METADATA),
    ),
];

const UNPACK: &str = "unpack it and give the folder; .tar, .tar.gz, .tar.zst, .tar.xz, .tar.bz2 and .zip are read as they are";
const RESULT: &str = "give the trace that it was made from";
const METADATA: &str = "give the folder that it is in";
const BAG: &str = "it has the messages, but not when callbacks ran; record the system, or the bag's playback, with `rostrace record -- ros2 launch …`";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ForeignKind {
    Packed(Archive),
    /// Messages, not events.
    Bag(&'static str),
    /// What it is, and what to do.
    Unknown(&'static str, &'static str),
}

/// A tar archive as far as anybody knows before it is unpacked.
const fn tar(compression: Compression) -> ForeignKind {
    ForeignKind::Packed(Archive::Tar(compression))
}

impl ForeignKind {
    fn of(head: &[u8]) -> Option<ForeignKind> {
        let (at, mark) = TAR_MARK;
        if head.get(at..).is_some_and(|it| it.starts_with(mark)) {
            return Some(tar(Compression::None));
        }
        let known = KINDS.iter().find(|(begin, _)| head.starts_with(begin));
        known.map(|(_, kind)| *kind)
    }

    fn describe(self) -> (&'static str, &'static str) {
        match self {
            ForeignKind::Packed(_) => ("an archive", UNPACK),
            ForeignKind::Bag(what) => (what, BAG),
            ForeignKind::Unknown(what, instead) => (what, instead),
        }
    }
}

/// Whether a file is something that is given in the place of a trace, and not a text that people write.
pub(crate) fn is_recognised(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    head(path, Compression::None).is_some_and(|it| ForeignKind::of(&it).is_some())
        || path.file_name().is_some_and(|name| name == "metadata")
}

/// Unpacks an archive, so that it can be read as a folder, and tells whether this is one.
pub(crate) fn unpack(path: &Path) -> anyhow::Result<bool> {
    if !fs::metadata(path).is_ok_and(|it| it.is_file()) {
        return Ok(false);
    }
    if unpacked::archive_of(path).is_some() {
        return Ok(true);
    }
    let Some(ForeignKind::Packed(archive)) =
        head(path, Compression::None).and_then(|it| ForeignKind::of(&it))
    else {
        return Ok(false);
    };
    if let Archive::Tar(compression) = archive
        && compression != Compression::None
    {
        let Some(inside) = head(path, compression) else {
            bail!("{}: cannot be unpacked: it is damaged", path.display());
        };
        match ForeignKind::of(&inside) {
            Some(ForeignKind::Packed(Archive::Tar(Compression::None))) => {}
            Some(kind) => {
                let (what, instead) = kind.describe();
                bail!("{}: this is {what}, packed: {instead}", path.display());
            }
            None => bail!(
                "{}: is packed, but what is in it is no tar archive; a trace is a folder, and tar packs folders",
                path.display()
            ),
        }
    }
    archive::unpack(path, archive)?;
    Ok(true)
}

/// The beginning of a file, unpacked.
fn head(path: &Path, compression: Compression) -> Option<Vec<u8>> {
    let reader = compression.reader(BufReader::new(File::open(path).ok()?));
    let mut head = Vec::new();
    reader.ok()?.take(HEAD as u64).read_to_end(&mut head).ok()?;
    Some(head)
}

/// The same error, with what is there instead of a trace, if that is known.
pub(crate) fn explained(error: Error) -> anyhow::Error {
    let shown = match &error {
        Error::NotAFolder { path } => {
            let kind = head(path, Compression::None).and_then(|it| ForeignKind::of(&it));
            kind.map(|kind| (path, kind.describe()))
        }
        Error::NoTrace { path } => match (folder(path), unpacked::archive_of(path)) {
            (Some(what), _) => Some((path, (what, BAG))),
            (None, Some(archive)) => {
                return anyhow::anyhow!(
                    "{}: no trace is in this archive: none of its folders has a file named `metadata`",
                    archive.display()
                );
            }
            (None, None) => None,
        },
        _ => None,
    };
    match shown {
        Some((path, (what, instead))) => {
            anyhow::anyhow!("{}: this is {what}, no trace: {instead}", path.display())
        }
        None => error.into(),
    }
}

/// A folder that has no trace.
fn folder(path: &Path) -> Option<&'static str> {
    let description = rostrace_ctf::input_file::read(&path.join("metadata.yaml"), 1 << 20);
    let description = description.unwrap_or_default();
    let is_bag = String::from_utf8_lossy(&description).contains("rosbag2_bagfile_information");
    let entries = fs::read_dir(unpacked::place(path)).ok()?.flatten();
    let mut names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
    let has_bag = names.any(|it| it.ends_with(".mcap") || it.ends_with(".db3"));
    (is_bag || has_bag).then_some("a bag of rosbag2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        assert_eq!(
            ForeignKind::of(b"\x1f\x8b\x08"),
            Some(tar(Compression::Gzip))
        );
        assert!(matches!(
            ForeignKind::of(b"\x89MCAP0\r\n..."),
            Some(ForeignKind::Bag(_))
        ));
        let mut block = [0; 512];
        block[257..262].copy_from_slice(b"ustar");
        assert_eq!(ForeignKind::of(&block), Some(tar(Compression::None)));
        assert_eq!(ForeignKind::of(b""), None);
        assert_eq!(ForeignKind::of(b"hello"), None);
    }
}
