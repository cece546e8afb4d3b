//! The entries of a zip archive.

use std::io::{self, Read, Seek};
use std::path::PathBuf;

use zip::ZipArchive;
use zip::result::ZipError;

use super::unpacking::{Unpacking, explained};
use crate::interrupt;

/// Of a file's mode: what kind of file it is, and the two kinds that are unpacked. Programs that know nothing of modes leave it empty.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

pub(super) fn unpack(
    reader: impl Read + Seek,
    unpacking: &mut Unpacking<'_>,
) -> anyhow::Result<()> {
    let mut archive = ZipArchive::new(reader).map_err(understood)?;
    for number in 0..archive.len() {
        let mut entry = archive.by_index(number).map_err(understood)?;
        let name = PathBuf::from(entry.name().map_err(understood)?.into_owned());
        let target = unpacking.entry(&name)?;
        match entry.unix_mode().unwrap_or(0) & KIND {
            0 | FOLDER if entry.is_dir() => unpacking.folder(&target)?,
            0 | REGULAR => unpacking.file(&target, &mut entry)?,
            _ => unpacking.left_out += 1,
        }
        if interrupt::requested() {
            break;
        }
    }
    Ok(())
}

fn understood(error: ZipError) -> anyhow::Error {
    match error {
        ZipError::Io(error) => explained(error),
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            anyhow::Error::from(error)
                .context("is packed in a way that is not known here; unpack it by hand")
        }
        other => explained(io::Error::other(other)),
    }
}
