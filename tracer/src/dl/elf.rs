//! A program or library as it lies in memory: its symbols, what it needs, and what the dynamic linker filled in for it.
//!
//! Everything is read through the tables that the dynamic linker follows itself, but nothing is believed: what does not lie inside the
//! object's own segments is not there. Nothing is allocated and no function is called, so it can be asked on any thread. Who asks holds
//! the linker's list of objects meanwhile (`loaded::holding`), so that no object is unloaded.

use std::ffi::CStr;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `DT_…` of the ELF specification and of GNU.
mod tag {
    pub(super) const END: i64 = 0;
    pub(super) const NEEDED: i64 = 1;
    pub(super) const CALLS_SIZE: i64 = 2;
    pub(super) const HASH: i64 = 4;
    pub(super) const TEXTS: i64 = 5;
    pub(super) const SYMBOLS: i64 = 6;
    pub(super) const RELOCATIONS: i64 = 7;
    pub(super) const RELOCATIONS_SIZE: i64 = 8;
    pub(super) const TEXTS_SIZE: i64 = 10;
    pub(super) const OWN_NAME: i64 = 14;
    pub(super) const SYMBOLIC: i64 = 16;
    pub(super) const CALLS: i64 = 23;
    pub(super) const FLAGS: i64 = 30;
    pub(super) const GNU_HASH: i64 = 0x6fff_fef5;
    pub(super) const VERSIONS: i64 = 0x6fff_fff0;
}

/// `DF_SYMBOLIC`
const FLAG_SYMBOLIC: usize = 2;
/// Of a version that is not the one that callers get.
const HIDDEN: u16 = 0x8000;
/// `STT_NOTYPE` and `STT_FUNC`. What `STT_GNU_IFUNC` leads to is known only to who calls it.
const KINDS_OF_FUNCTIONS: [u8; 2] = [0, 2];

/// Relocations that put the address of a function somewhere: where it is called, where it is kept, in a table of virtual functions.
#[cfg(target_arch = "x86_64")]
mod relocation {
    pub(super) const JUMP_SLOT: u32 = 7;
    pub(super) const GLOB_DAT: u32 = 6;
    pub(super) const ADDRESS: u32 = 1;
}
#[cfg(target_arch = "aarch64")]
mod relocation {
    pub(super) const JUMP_SLOT: u32 = 1026;
    pub(super) const GLOB_DAT: u32 = 1025;
    pub(super) const ADDRESS: u32 = 257;
}
/// Of other processors none is known.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod relocation {
    pub(super) const JUMP_SLOT: u32 = u32::MAX;
    pub(super) const GLOB_DAT: u32 = u32::MAX;
    pub(super) const ADDRESS: u32 = u32::MAX;
}

/// A symbol that is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name<'a> {
    pub(crate) bytes: &'a [u8],
    /// Of `DT_GNU_HASH`.
    hash: u32,
}

impl<'a> Name<'a> {
    pub(crate) const fn of(name: &'a CStr) -> Name<'a> {
        let bytes = name.to_bytes();
        let mut hash = 5381_u32;
        let mut at = 0;
        while at < bytes.len() {
            hash = hash.wrapping_mul(33).wrapping_add(bytes[at] as u32);
            at += 1;
        }
        Name { bytes, hash }
    }

    /// Of `DT_HASH`.
    fn old_hash(self) -> u32 {
        let mut hash = 0_u32;
        for byte in self.bytes {
            hash = (hash << 4).wrapping_add((*byte).into());
            let high = hash & 0xf000_0000;
            hash = (hash ^ (high >> 24)) & !high;
        }
        hash
    }
}

/// Entry of the dynamic section.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct DynamicEntry {
    tag: i64,
    value: usize,
}

/// Entry of a table of relocations.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Relocation {
    offset: usize,
    kind: u32,
    symbol: u32,
    addend: i64,
}

/// A place that the linker fills in with the address of a function.
#[derive(Debug)]
pub(crate) struct Import<'a> {
    /// The function's name.
    pub(crate) name: &'a [u8],
    /// What it holds now. Before the first call of a function this may be the object's own code that looks for it.
    pub(crate) value: usize,
}

/// An object, and what its dynamic section says.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    base: usize,
    /// As the linker calls it; that of the program is empty.
    name: &'a CStr,
    headers: &'a [libc::Elf64_Phdr],
    entries: &'a [DynamicEntry],
    texts: &'a [u8],
    symbols: usize,
    versions: usize,
    hash: usize,
    gnu_hash: usize,
    own_name: Option<usize>,
    calls: Range<usize>,
    relocations: Range<usize>,
    is_symbolic: bool,
}

impl<'a> Object<'a> {
    /// # Safety
    /// The linker described the object so, and it stays loaded for `'a`.
    pub(crate) unsafe fn of(info: &'a libc::dl_phdr_info) -> Object<'a> {
        // SAFETY: as long as the linker says, and the name ends with a zero.
        let (headers, name) = unsafe {
            let headers = match info.dlpi_phdr.is_null() {
                true => &[][..],
                false => std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()),
            };
            let name = match info.dlpi_name.is_null() {
                true => c"",
                false => CStr::from_ptr(info.dlpi_name),
            };
            (headers, name)
        };
        let mut object = Object {
            base: info.dlpi_addr as usize,
            name,
            headers,
            entries: &[],
            texts: &[],
            symbols: 0,
            versions: 0,
            hash: 0,
            gnu_hash: 0,
            own_name: None,
            calls: 0..0,
            relocations: 0..0,
            is_symbolic: false,
        };
        object.read_dynamic_section();
        object
    }

    fn read_dynamic_section(&mut self) {
        let header = self.headers.iter().find(|it| it.p_type == libc::PT_DYNAMIC);
        let Some(header) = header else {
            return;
        };
        let start = self.base.wrapping_add(header.p_vaddr as usize);
        let count = header.p_memsz as usize / size_of::<DynamicEntry>();
        let Some(entries) = self.table::<DynamicEntry>(start, count) else {
            return;
        };
        let end = entries.iter().position(|entry| entry.tag == tag::END);
        self.entries = &entries[..end.unwrap_or(count)];
        let (mut texts, mut texts_size, mut calls_size, mut relocations_size) = (0, 0, 0, 0);
        for entry in self.entries {
            let address = self.address(entry.value);
            match entry.tag {
                tag::TEXTS => texts = address,
                tag::TEXTS_SIZE => texts_size = entry.value,
                tag::SYMBOLS => self.symbols = address,
                tag::VERSIONS => self.versions = address,
                tag::HASH => self.hash = address,
                tag::GNU_HASH => self.gnu_hash = address,
                tag::OWN_NAME => self.own_name = Some(entry.value),
                tag::CALLS => self.calls.start = address,
                tag::CALLS_SIZE => calls_size = entry.value,
                tag::RELOCATIONS => self.relocations.start = address,
                tag::RELOCATIONS_SIZE => relocations_size = entry.value,
                tag::SYMBOLIC => self.is_symbolic = true,
                tag::FLAGS => self.is_symbolic |= entry.value & FLAG_SYMBOLIC != 0,
                _ => {}
            }
        }
        self.calls.end = self.calls.start.saturating_add(calls_size);
        self.relocations.end = self.relocations.start.saturating_add(relocations_size);
        self.texts = self.table(texts, texts_size).unwrap_or_default();
    }

    /// Some linkers write addresses where the file had offsets, others leave them.
    fn address(&self, value: usize) -> usize {
        match value < self.base {
            true => self.base.wrapping_add(value),
            false => value,
        }
    }

    /// Elements at an address, if all of them lie in one segment of the object that can be read.
    fn table<T: Copy>(&self, address: usize, count: usize) -> Option<&'a [T]> {
        let end = address.checked_add(count.checked_mul(size_of::<T>())?)?;
        let is_inside = (self.segments())
            .filter(|(_, flags)| flags & libc::PF_R != 0)
            .any(|(segment, _)| segment.start <= address && end <= segment.end);
        if address == 0 || !is_inside || !address.is_multiple_of(align_of::<T>()) {
            return None;
        }
        // SAFETY: mapped and readable for as long as the object is loaded; the types are numbers, of which any bytes are a value.
        Some(unsafe { std::slice::from_raw_parts(address as *const T, count) })
    }

    fn element<T: Copy>(&self, address: usize, index: usize) -> Option<T> {
        let address = address.checked_add(index.checked_mul(size_of::<T>())?)?;
        self.table(address, 1).map(|found| found[0])
    }

    fn segments(&self) -> impl Iterator<Item = (Range<usize>, u32)> {
        let loaded = self.headers.iter().filter(|it| it.p_type == libc::PT_LOAD);
        loaded.map(|header| {
            let start = self.base.wrapping_add(header.p_vaddr as usize);
            let end = start.saturating_add(header.p_memsz as usize);
            (start..end, header.p_flags)
        })
    }

    /// From its first byte to its last; other objects may lie in holes of it.
    pub(crate) fn range(&self) -> Range<usize> {
        let start = self.segments().map(|(segment, _)| segment.start).min();
        let end = self.segments().map(|(segment, _)| segment.end).max();
        start.unwrap_or(0)..end.unwrap_or(0)
    }

    pub(crate) fn contains(&self, address: usize) -> bool {
        self.segments()
            .any(|(segment, _)| segment.contains(&address))
    }

    /// Where the linker found it; empty for the program itself.
    pub(crate) fn path(&self) -> &'a CStr {
        self.name
    }

    /// The name of its file without the folder.
    pub(crate) fn file_name(&self) -> &'a [u8] {
        let path = self.name.to_bytes();
        let folder = path.iter().rposition(|byte| *byte == b'/');
        &path[folder.map_or(0, |slash| slash + 1)..]
    }

    /// The name by which others need it: what it calls itself, or its file.
    pub(crate) fn own_name(&self) -> &'a [u8] {
        let own = self.own_name.and_then(|at| self.text(at));
        own.unwrap_or_else(|| self.file_name())
    }

    /// Names of libraries that it was linked with.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &'a [u8]> {
        let needed = (self.entries.iter()).filter(|entry| entry.tag == tag::NEEDED);
        needed.filter_map(|entry| self.text(entry.value))
    }

    /// Whether it looks for symbols in itself first.
    pub(crate) fn is_symbolic(&self) -> bool {
        self.is_symbolic
    }

    /// Whether it has a note of this owner and kind.
    pub(crate) fn has_note(&self, owner: &[u8], kind: u32) -> bool {
        let notes = self.headers.iter().filter(|it| it.p_type == libc::PT_NOTE);
        notes.into_iter().any(|header| {
            let start = self.base.wrapping_add(header.p_vaddr as usize);
            let bytes = self.table::<u8>(start, header.p_memsz as usize);
            let align = match header.p_align {
                8 => 8,
                _ => 4,
            };
            notes_of(bytes.unwrap_or_default(), align)
                .any(|(name, found)| found == kind && name.strip_suffix(b"\0") == Some(owner))
        })
    }

    fn text(&self, at: usize) -> Option<&'a [u8]> {
        let rest = self.texts.get(at..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some(&rest[..end])
    }

    /// Whether the text at this place is this one.
    fn is_text(&self, at: usize, wanted: &[u8]) -> bool {
        (self.texts.get(at..))
            .and_then(|rest| rest.strip_prefix(wanted))
            .is_some_and(|rest| rest.first() == Some(&0))
    }

    /// Where it defines a function of this name for others.
    pub(crate) fn function(&self, name: Name<'_>) -> Option<usize> {
        match self.gnu_hash {
            0 => self.function_by_old_hash(name),
            _ => self.function_by_gnu_hash(name),
        }
    }

    fn function_by_gnu_hash(&self, name: Name<'_>) -> Option<usize> {
        let [buckets, first, filters, shift] = *self.table::<u32>(self.gnu_hash, 4)? else {
            return None;
        };
        if buckets == 0 || filters == 0 {
            return None;
        }
        let bit = |hash: u32| 1_u64 << (hash % 64);
        let filter_table = self.gnu_hash + 16;
        let filter: u64 =
            self.element(filter_table, (name.hash / 64) as usize % filters as usize)?;
        let wanted = bit(name.hash) | bit(name.hash.checked_shr(shift).unwrap_or(0));
        if filter & wanted != wanted {
            return None;
        }
        let bucket_table = filter_table + 8 * filters as usize;
        let chain_table = bucket_table + 4 * buckets as usize;
        let mut symbol: u32 = self.element(bucket_table, (name.hash % buckets) as usize)?;
        if symbol < first {
            return None;
        }
        let mut hidden = None;
        loop {
            let hash: u32 = self.element(chain_table, (symbol - first) as usize)?;
            if hash | 1 == name.hash | 1
                && let Some(found) = self.defined(symbol, name)
            {
                match self.is_hidden(symbol) {
                    false => return Some(found),
                    true => hidden = Some(found),
                }
            }
            if hash & 1 == 1 {
                return hidden;
            }
            symbol = symbol.checked_add(1)?;
        }
    }

    fn function_by_old_hash(&self, name: Name<'_>) -> Option<usize> {
        let [buckets, chains] = *self.table::<u32>(self.hash, 2)? else {
            return None;
        };
        if buckets == 0 {
            return None;
        }
        let bucket_table = self.hash + 8;
        let chain_table = bucket_table + 4 * buckets as usize;
        let mut symbol: u32 = self.element(bucket_table, (name.old_hash() % buckets) as usize)?;
        let mut hidden = None;
        // A chain is never longer than all symbols, unless it is a circle.
        for _ in 0..chains {
            if symbol == 0 {
                break;
            }
            if let Some(found) = self.defined(symbol, name) {
                match self.is_hidden(symbol) {
                    false => return Some(found),
                    true => hidden = Some(found),
                }
            }
            symbol = self.element(chain_table, symbol as usize)?;
        }
        hidden
    }

    /// The function behind this symbol, if it has this name and is defined here.
    fn defined(&self, symbol: u32, name: Name<'_>) -> Option<usize> {
        let symbol: Symbol = self.element(self.symbols, symbol as usize)?;
        let is_global = matches!(symbol.info >> 4, 1 | 2 | 10);
        let is_function = KINDS_OF_FUNCTIONS.contains(&(symbol.info & 15));
        let is_it = is_global
            && is_function
            && symbol.section != 0
            && symbol.value != 0
            && self.is_text(symbol.name as usize, name.bytes);
        let address = self.base.wrapping_add(symbol.value);
        (is_it && self.contains(address)).then_some(address)
    }

    fn is_hidden(&self, symbol: u32) -> bool {
        let version: Option<u16> = self.element(self.versions, symbol as usize);
        version.is_some_and(|version| version & HIDDEN != 0)
    }

    /// The functions whose addresses the linker fills in, as far as their names begin with one of these four bytes.
    pub(crate) fn imports(&self, beginnings: &[[u8; 4]]) -> impl Iterator<Item = Import<'a>> {
        let tables = [self.calls.clone(), self.relocations.clone()];
        let relocations = tables.into_iter().flat_map(|table| {
            let count = table.len() / size_of::<Relocation>();
            let table = self.table::<Relocation>(table.start, count);
            table.unwrap_or_default().iter()
        });
        relocations.filter_map(move |it| {
            let puts_address = match it.kind {
                relocation::JUMP_SLOT | relocation::GLOB_DAT => true,
                relocation::ADDRESS => it.addend == 0,
                _ => false,
            };
            if !puts_address || it.symbol == 0 {
                return None;
            }
            let symbol: Symbol = self.element(self.symbols, it.symbol as usize)?;
            let beginning = self.texts.get(symbol.name as usize..)?.first_chunk()?;
            if !beginnings.contains(beginning) {
                return None;
            }
            let place = self.base.wrapping_add(it.offset);
            self.table::<usize>(place, 1)?;
            // SAFETY: such a place was found there. Another thread may be filling it in.
            let place = unsafe { &*(place as *const AtomicUsize) };
            Some(Import {
                name: self.text(symbol.name as usize)?,
                value: place.load(Ordering::Relaxed),
            })
        })
    }
}

/// `Elf64_Sym`
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    _visibility: u8,
    section: u16,
    value: usize,
    _size: u64,
}

/// Owner and kind of each note.
fn notes_of(mut bytes: &[u8], align: usize) -> impl Iterator<Item = (&[u8], u32)> {
    std::iter::from_fn(move || {
        let number = |at: usize| {
            let four: &[u8; 4] = bytes.get(at..)?.first_chunk()?;
            Some(u32::from_ne_bytes(*four))
        };
        let (name, description, kind) = (number(0)? as usize, number(4)? as usize, number(8)?);
        let owner = bytes.get(12..12_usize.checked_add(name)?)?;
        let up = |size: usize| size.checked_next_multiple_of(align);
        let end = up(12 + name)?.checked_add(up(description)?)?;
        bytes = bytes.get(end..).unwrap_or_default();
        Some((owner, kind))
    })
}
