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
    let holds = |it: &&Segment| (begin(it)..it.offset + it.file_bytes).contains(&offset);
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
    let bytes = section.uncompressed_data().ok()?.into_owned();
    let begin = section.address();
    Some((begin..begin.checked_add(section.size())?, bytes))
}

fn symbols<'f, R: ReadRef<'f>>(file: &Elf<'f, R>, see: &mut dyn FnMut(u64, u64, &[u8])) {
    use object::ObjectSymbol;
    let is_function = |kind| matches!(kind, object::SymbolKind::Text | object::SymbolKind::Unknown);
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        if symbol.is_definition()
            && is_function(symbol.kind())
            && let Ok(name) = symbol.name_bytes()
        {
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
}
