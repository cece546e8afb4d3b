//! An ELF file, of which only what is asked for is read.
//!
//! Files are not mapped: who replaces a library in place would kill whoever looks into its map.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSegment, ReadCache, ReadRef, SegmentFlags};

/// No section that is of use is larger.
const MOST_BYTES: u64 = 2 << 30;

/// No table of symbols has longer names, all together.
const MOST_NAME_BYTES: usize = 512 << 20;

#[derive(Debug)]
pub struct Image {
    source: Source,
    /// What is loaded: where in the file, at which address, and whether it is code.
    pub(crate) segments: Vec<Segment>,
    build_id: Vec<u8>,
}

#[derive(Debug)]
enum Source {
    File(ReadCache<File>),
    Memory(Vec<u8>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    offset: u64,
    file_bytes: u64,
    address: u64,
    is_code: bool,
}

const EXECUTABLE: u32 = 1;

impl Image {
    /// A recording of somebody else may name anything: a pipe or a device is no program, and nobody waits for it.
    pub fn open(path: &Path) -> io::Result<Image> {
        let mut options = OpenOptions::new();
        let options = options.read(true).custom_flags(libc::O_NONBLOCK);
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Image::of(Source::File(ReadCache::new(file)))
    }

    /// The code that this kernel puts into every process, for asking the time.
    pub fn vdso() -> Option<Image> {
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
        let (begin, end) = line.split_once(' ')?.0.split_once('-')?;
        let [begin, end] = [begin, end].map(|it| u64::from_str_radix(it, 16).ok());
        let (begin, end) = (begin?, end?);
        let mut bytes = vec![0; usize::try_from(end.checked_sub(begin)?).ok()?];
        let memory = File::open("/proc/self/mem").ok()?;
        std::os::unix::fs::FileExt::read_exact_at(&memory, &mut bytes, begin).ok()?;
        Image::of(Source::Memory(bytes)).ok()
    }

    fn of(source: Source) -> io::Result<Image> {
        let mut image = Image {
            source,
            segments: Vec::new(),
            build_id: Vec::new(),
        };
        (image.segments, image.build_id) = match &image.source {
            Source::File(cache) => describe(cache),
            Source::Memory(bytes) => describe(bytes.as_slice()),
        }?;
        Ok(image)
    }

    /// What its linker called it by its contents; empty if it did not.
    pub fn build_id(&self) -> &[u8] {
        &self.build_id
    }

    /// As hexadecimal digits.
    pub fn build_id_text(&self) -> String {
        hexadecimal(&self.build_id)
    }

    /// The address that the linker gave to this place of the file.
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        address_of(&self.segments, offset)
    }

    /// A section's addresses and bytes.
    pub(crate) fn section(&self, name: &str) -> Option<(Range<u64>, Vec<u8>)> {
        match &self.source {
            Source::File(cache) => section(&parse(cache).ok()?, name),
            Source::Memory(bytes) => section(&parse(bytes.as_slice()).ok()?, name),
        }
    }

    pub(crate) fn section_addresses(&self, name: &str) -> Option<Range<u64>> {
        fn of<'f, R: ReadRef<'f>>(data: R, name: &str) -> Option<Range<u64>> {
            let file = parse(data).ok()?;
            let section = file.section_by_name(name)?;
            let begin = section.address();
            Some(begin..begin.checked_add(section.size())?)
        }
        match &self.source {
            Source::File(cache) => of(cache, name),
            Source::Memory(bytes) => of(bytes.as_slice(), name),
        }
    }

    /// Calls this with all functions of a table of symbols.
    pub(crate) fn symbols(&self, see: &mut dyn FnMut(u64, u64, &[u8])) {
        match &self.source {
            Source::File(cache) => {
                if let Ok(file) = parse(cache) {
                    symbols(&file, see);
                }
            }
            Source::Memory(bytes) => {
                if let Ok(file) = parse(bytes.as_slice()) {
                    symbols(&file, see);
                }
            }
        }
    }
}

pub(crate) fn address_of(segments: &[Segment], offset: u64) -> Option<u64> {
    // The kernel maps whole pages.
    let begin = |it: &Segment| it.offset & !0xfff;
    let end = |it: &Segment| it.offset.saturating_add(it.file_bytes);
    let holds = |it: &&Segment| (begin(it)..end(it)).contains(&offset);
    let holding = || segments.iter().filter(holds);
    let segment = holding().find(|it| it.is_code).or(holding().next())?;
    let behind = offset.wrapping_sub(segment.offset);
    Some(segment.address.wrapping_add(behind))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

type Elf<'f, R> = ElfFile64<'f, object::Endianness, R>;

fn parse<'f, R: ReadRef<'f>>(data: R) -> io::Result<Elf<'f, R>> {
    Elf::parse(data).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn describe<'f, R: ReadRef<'f>>(data: R) -> io::Result<(Vec<Segment>, Vec<u8>)> {
    let file = parse(data)?;
    let segments = file.segments().map(|segment| {
        let (offset, file_bytes) = segment.file_range();
        let flags = match segment.flags() {
            SegmentFlags::Elf { p_flags, .. } => p_flags.0,
            _ => 0,
        };
        Segment {
            offset,
            file_bytes,
            address: segment.address(),
            is_code: flags & EXECUTABLE != 0,
        }
    });
    let segments = segments.collect();
    let build_id = file.build_id().ok().flatten().unwrap_or_default().to_vec();
    Ok((segments, build_id))
}

fn section<'f, R: ReadRef<'f>>(file: &Elf<'f, R>, name: &str) -> Option<(Range<u64>, Vec<u8>)> {
    let section = file.section_by_name(name)?;
    if section.size() == 0 || section.size() > MOST_BYTES {
        return None;
    }
    // A file of debug information declares sections that only the program has.
    let (_, bytes_in_file) = section.file_range()?;
    if bytes_in_file == 0 {
        return None;
    }
    // It may say that it was compressed from any size.
    let data = section.compressed_data().ok()?;
    if data.uncompressed_size > MOST_BYTES {
        return None;
    }
    let bytes = data.decompress().ok()?.into_owned();
    let begin = section.address();
    Some((begin..begin.checked_add(section.size())?, bytes))
}

fn symbols<'f, R: ReadRef<'f>>(file: &Elf<'f, R>, see: &mut dyn FnMut(u64, u64, &[u8])) {
    use object::ObjectSymbol;
    let is_function = |kind| matches!(kind, object::SymbolKind::Text | object::SymbolKind::Unknown);
    let mut name_bytes = 0;
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        if symbol.is_definition()
            && is_function(symbol.kind())
            && let Ok(name) = symbol.name_bytes()
        {
            // Names may overlap, so that together they are longer than the file.
            name_bytes += name.len();
            if name_bytes > MOST_NAME_BYTES {
                return;
            }
            see(symbol.address(), symbol.size(), name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_or_a_device_is_no_program_and_nobody_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the name ends with a zero.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            let error = Image::open(path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
    }

    /// A file of two sections: the names of both, and debug information that says it was compressed from so many bytes.
    fn compressed_from(bytes: u64) -> Vec<u8> {
        fn section(name: u32, kind: u32, flags: u64, offset: u64, size: u64) -> Vec<u8> {
            let mut header = [name.to_le_bytes(), kind.to_le_bytes()].concat();
            header.extend(
                [flags, 0, offset, size, 0, 1, 0]
                    .map(u64::to_le_bytes)
                    .concat(),
            );
            header
        }
        let names = b"\0.debug_info\0.names\0";
        // Compressed by zlib, from so much, for this alignment: and then nothing but zeroes.
        let mut data = [1_u64, bytes, 1].map(u64::to_le_bytes).concat();
        data.extend([0x78, 0x9c, 0x63, 0x00, 0x01, 0x00, 0x00, 0x00, 0xff, 0xff]);
        let (names_at, data_at) = (64, 64 + names.len() as u64);
        let sections_at = data_at + data.len() as u64;
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        file.extend([3_u16, 62].map(u16::to_le_bytes).concat());
        file.extend(1_u32.to_le_bytes());
        file.extend([0, 0, sections_at].map(u64::to_le_bytes).concat());
        file.extend(0_u32.to_le_bytes());
        file.extend([64_u16, 56, 0, 64, 3, 2].map(u16::to_le_bytes).concat());
        file.extend(names);
        file.extend(&data);
        file.extend(section(0, 0, 0, 0, 0));
        file.extend(section(1, 1, 0x800, data_at, data.len() as u64));
        file.extend(section(13, 3, 0, names_at, names.len() as u64));
        file
    }

    #[test]
    fn a_section_is_not_larger_than_any_that_is_of_use_whatever_it_says_it_was_compressed_from() {
        let folder = tempfile::tempdir().unwrap();
        let is_read = |bytes| {
            let path = folder.path().join("program");
            std::fs::write(&path, compressed_from(bytes)).unwrap();
            let image = Image::open(&path).unwrap();
            assert!(image.section_addresses(".debug_info").is_some());
            image.section(".debug_info").map(|(_, bytes)| bytes.len())
        };
        assert_eq!(is_read(1), Some(1));
        assert_eq!(is_read(MOST_BYTES + 1), None);
    }
}
