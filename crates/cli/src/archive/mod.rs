//! Packed traces: an archive is unpacked into a private folder that is removed when the program ends, and then read as any other. All messages name what
//! is in it by its name and the path inside (`rostrace_ctf::unpacked`).
//!
//! An archive may come from anybody: `unpacking` says what of it is made, and how much. `tar` and `zip` read the two kinds of archives, `compression` undoes
//! what the former are packed with, and `private_folder` has the folders.

mod compression;
mod private_folder;
mod tar;
mod unpacking;
mod zip;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::Context;
use rostrace_ctf::unpacked;

use crate::interrupt;
use crate::outcome::INTERRUPTED;
use crate::progress::Progress;
use crate::render::diagnostic;
pub(crate) use compression::Compression;
use private_folder::PrivateFolder;
pub(crate) use private_folder::{remove_abandoned, remove_all};
use rostrace_base::units;
use unpacking::Unpacking;

/// What kind of archive a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Archive {
    Tar(Compression),
    Zip,
}

/// Unpacks an archive; from then on it is read as a folder. The caller has recognised it.
pub(crate) fn unpack(path: &Path, archive: Archive) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| format!("{}: cannot be read", path.display()))?;
    let size = file.metadata().map_or(0, |it| it.len());
    let folder = PrivateFolder::create()
        .context("no folder can be made to unpack into; TMPDIR names its place")?;
    let bar = Progress::new("unpacking", size);
    let packed = BufReader::new(Counted {
        file,
        read: 0,
        bar: &bar,
    });
    let mut unpacking = Unpacking::new(&folder, size);
    let unpacked = match archive {
        Archive::Tar(compression) => compression
            .reader(packed)
            .map_err(anyhow::Error::from)
            .and_then(|reader| tar::unpack(reader, &mut unpacking)),
        Archive::Zip => zip::unpack(packed, &mut unpacking),
    };
    drop(bar);
    if interrupt::requested() {
        remove_all();
        std::process::exit(i32::from(INTERRUPTED));
    }
    unpacked.with_context(|| path.display().to_string())?;
    if unpacking.left_out > 0 {
        diagnostic::note(&format!(
            "{}: {} left out: only regular files of an archive are read, no links and no devices",
            path.display(),
            match unpacking.left_out {
                1 => "1 entry was".to_owned(),
                more => format!("{} entries were", units::count(more)),
            }
        ));
    }
    unpacked::register(path, &folder.path);
    Ok(())
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

impl Seek for Counted<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.read = self.file.seek(to)?;
        Ok(self.read)
    }
}
