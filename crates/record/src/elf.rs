//! As much of ELF as is needed to say whether a program can be traced, and what a library needs. Any bytes may come in.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rostrace_session::{NOTE_NAME, NOTE_TYPE};

/// Nothing behind this is looked at; the dynamic section of real libraries comes earlier.
const MOST_BYTES: u64 = 64 << 20;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const PT_NOTE: u32 = 4;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;

/// What a file says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Elf {
    pub(crate) is_64_bit: bool,
    /// `e_machine`: 62 for x86-64, 183 for AArch64.
    pub(crate) machine: u16,
    /// Whether a dynamic linker starts it.
    pub(crate) has_interpreter: bool,
    /// Whether there is a dynamic section at all.
    pub(crate) is_dynamic: bool,
    /// File names of the libraries that it needs.
    pub(crate) needed: Vec<String>,
    /// The layout of the control page that a tracer library knows.
    pub(crate) control_layout: Option<u32>,
}

impl Elf {
    /// None for anything that is not ELF in little endian.
    pub(crate) fn read(path: &Path) -> Option<Elf> {
        let mut bytes = Vec::new();
        let file = File::open(path).ok()?;
        file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        Elf::parse(&bytes)
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Elf> {
        if bytes.get(..4)? != b"\x7fELF" || *bytes.get(5)? != 1 {
            return None;
        }
        let is_64_bit = *bytes.get(4)? == 2;
        let mut elf = Elf {
            is_64_bit,
            machine: u16_at(bytes, 18)?,
            ..Elf::default()
        };
        if !is_64_bit {
            // Enough to say that our library does not fit.
            return Some(elf);
        }
        let table = u64_at(bytes, 32)?;
        let size = u64::from(u16_at(bytes, 54)?);
        let count = u64::from(u16_at(bytes, 56)?);
        let mut loads = Vec::new();
        let mut dynamic = None;
        for number in 0..count {
            let at = table.checked_add(number.checked_mul(size)?)?;
            let at = usize::try_from(at).ok()?;
            let (offset, address, bytes_in_file) = (
                u64_at(bytes, at + 8)?,
                u64_at(bytes, at + 16)?,
                u64_at(bytes, at + 32)?,
            );
            match u32_at(bytes, at)? {
                PT_LOAD => loads.push((address, offset, bytes_in_file)),
                PT_DYNAMIC => dynamic = Some((offset, bytes_in_file)),
                PT_NOTE if elf.control_layout.is_none() => {
                    elf.control_layout = control_layout(bytes, offset, bytes_in_file);
                }
                PT_INTERP => elf.has_interpreter = true,
                _ => {}
            }
        }
        if let Some((offset, size)) = dynamic {
            elf.is_dynamic = true;
            elf.needed = needed(bytes, offset, size, &loads).unwrap_or_default();
        }
        Some(elf)
    }

    /// Whether it needs a library of this name, of whatever version.
    pub(crate) fn needs(&self, name: &str) -> bool {
        self.needed.iter().any(|needed| needed.starts_with(name))
    }
}

fn needed(bytes: &[u8], offset: u64, size: u64, loads: &[(u64, u64, u64)]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut strings = None;
    for entry in 0..size / 16 {
        let at = usize::try_from(offset.checked_add(entry * 16)?).ok()?;
        match (u64_at(bytes, at)?, u64_at(bytes, at + 8)?) {
            (0, _) => break,
            (DT_NEEDED, name) => names.push(name),
            (DT_STRTAB, address) => strings = Some(address),
            _ => {}
        }
    }
    let address = strings?;
    let inside = |(from, _, size): &&(u64, u64, u64)| address >= *from && address - from < *size;
    let (from, in_file, _) = loads.iter().find(inside)?;
    let table = in_file.checked_add(address - from)?;
    let text = |name: u64| -> Option<String> {
        let at = usize::try_from(table.checked_add(name)?).ok()?;
        let rest = bytes.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    };
    Some(names.into_iter().filter_map(text).collect())
}

/// Looks for the tracer's note among those of a segment.
fn control_layout(bytes: &[u8], offset: u64, size: u64) -> Option<u32> {
    let mut at = usize::try_from(offset).ok()?;
    let end = at.checked_add(usize::try_from(size).ok()?)?;
    while at < end {
        let name_bytes = u32_at(bytes, at)?;
        let description_bytes = u32_at(bytes, at + 4)?;
        let kind = u32_at(bytes, at + 8)?;
        let name = at + 12;
        let padded = |bytes: u32| Some(usize::try_from(bytes).ok()?.checked_add(3)? & !3);
        let description = name.checked_add(padded(name_bytes)?)?;
        if kind == NOTE_TYPE && bytes.get(name..description)? == NOTE_NAME {
            return u32_at(bytes, description);
        }
        at = description.checked_add(padded(description_bytes)?)?;
    }
    None
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_program_needs_the_c_library() {
        let elf = Elf::read(&std::env::current_exe().unwrap()).unwrap();
        assert!(elf.is_64_bit && elf.has_interpreter && elf.is_dynamic);
        assert!(elf.needs("libc.so"), "{elf:?}");
    }

    #[test]
    fn notes_of_others_are_passed_over() {
        let mut notes = Vec::new();
        for (name, kind, layout) in [(*b"GNU\0\0\0\0\0\0\0\0\0", 3, 1), (NOTE_NAME, NOTE_TYPE, 7)] {
            for number in [9_u32, 4, kind] {
                notes.extend(number.to_le_bytes());
            }
            notes.extend(name);
            notes.extend(u32::to_le_bytes(layout));
        }
        let size = notes.len() as u64;
        assert_eq!(control_layout(&notes, 0, size), Some(7));
        assert_eq!(control_layout(&notes, 0, size / 2), None);
        for end in 0..notes.len() {
            assert_eq!(control_layout(&notes[..end], 0, size), None);
        }
        assert_eq!(control_layout(&[0xff; 64], 0, u64::MAX), None);
    }

    #[test]
    fn cut_and_changed_files_are_read_without_harm() {
        let mut bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        bytes.truncate(1 << 20);
        for end in (0..4096).chain([5000, 10_000, 100_000]) {
            let _ = Elf::parse(&bytes[..end.min(bytes.len())]);
        }
        for at in 0..2048.min(bytes.len()) {
            for value in [0, 0x7f, 0xff] {
                let before = std::mem::replace(&mut bytes[at], value);
                let _ = Elf::parse(&bytes);
                bytes[at] = before;
            }
        }
        assert_eq!(Elf::parse(b"#!/bin/sh\n"), None);
    }
}
