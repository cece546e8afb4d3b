//! The entries of a tar archive.

use std::io::Read;

use tar::{Archive, EntryType};

use super::unpacking::{Unpacking, explained};
use crate::interrupt;

pub(super) fn unpack(reader: impl Read, unpacking: &mut Unpacking<'_>) -> anyhow::Result<()> {
    let mut archive = Archive::new(reader);
    for entry in archive.entries()? {
        let mut entry = entry.map_err(explained)?;
        let name = entry.path().map_err(explained)?.into_owned();
        let target = unpacking.entry(&name)?;
        match entry.header().entry_type() {
            EntryType::Directory => unpacking.folder(&target)?,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                unpacking.file(&target, &mut entry)?;
            }
            EntryType::XGlobalHeader => {}
            _ => unpacking.left_out += 1,
        }
        if interrupt::requested() {
            return Ok(());
        }
    }
    unpacking.finish(archive.into_inner())
}
