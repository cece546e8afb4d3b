//! What the compiler tells of one program: which functions were put into others, and the lines of the source.

use std::sync::Arc;

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, RunTimeEndian, SectionId};

use crate::image::Image;

pub(crate) struct DebugLines(Context<EndianArcSlice<RunTimeEndian>>);

/// A function that an address is in.
#[derive(Debug)]
pub(crate) struct Found {
    /// As the linker calls it.
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) line: Option<u32>,
}

impl DebugLines {
    /// Of the first of these files that tells.
    pub(crate) fn of(images: &[Image]) -> Option<DebugLines> {
        let image = (images.iter()).find(|image| {
            image
                .section_addresses(SectionId::DebugInfo.name())
                .is_some()
                && image.section(SectionId::DebugAbbrev.name()).is_some()
        })?;
        let load = |id: SectionId| -> Result<EndianArcSlice<RunTimeEndian>, gimli::Error> {
            let bytes = image.section(id.name()).map(|(_, bytes)| bytes);
            let bytes: Arc<[u8]> = bytes.unwrap_or_default().into();
            Ok(EndianArcSlice::new(bytes, RunTimeEndian::Little))
        };
        let dwarf = Dwarf::load(load).ok()?;
        Some(DebugLines(Context::from_dwarf(dwarf).ok()?))
    }

    /// The functions at an address, the innermost first: all but the last were put into the next one.
    pub(crate) fn functions(&self, address: u64) -> Vec<Found> {
        let mut found = Vec::new();
        let Ok(mut frames) = self.0.find_frames(address).skip_all_loads() else {
            return found;
        };
        while let Ok(Some(frame)) = frames.next() {
            let name =
                (frame.function.as_ref()).and_then(|it| Some(it.raw_name().ok()?.into_owned()));
            found.push(Found {
                name: name.map(String::into_bytes),
                line: frame.location.and_then(|it| it.line),
            });
        }
        found
    }
}

impl std::fmt::Debug for DebugLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DebugLines")
    }
}
