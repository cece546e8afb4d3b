//! Finding the callers of a function that was interrupted: from registers and a copy of the stack, by the tables that compilers write for
//! exceptions (`.eh_frame`), and by frame pointers where there are none.
//!
//! `framehop` does the work, on x86-64 and 64-bit ARM; elsewhere only the interrupted function itself is known.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::image::{Image, Segment, address_of};

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{
    CacheAarch64 as NativeCache, UnwindRegsAarch64 as NativeRegisters,
    UnwinderAarch64 as NativeUnwinder,
};
#[cfg(not(target_arch = "aarch64"))]
use framehop::x86_64::{
    CacheX86_64 as NativeCache, UnwindRegsX86_64 as NativeRegisters,
    UnwinderX86_64 as NativeUnwinder,
};
use framehop::{ExplicitModuleSectionInfo, Module, Unwinder as _};

/// Callers that are further out than this are not looked for.
const MOST_FRAMES: usize = 512;

/// What a thread had in its registers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Registers {
    pub instruction: u64,
    pub stack: u64,
    pub frame: u64,
    /// Where the function returns to; x86 has that on the stack.
    pub link: u64,
}

/// What one file says of its callers' places on the stack. The processes that use it share it.
#[derive(Debug, Clone, Default)]
pub struct UnwindTables {
    frames: Option<(Range<u64>, Section)>,
    index: Option<(Range<u64>, Section)>,
    code: Option<Range<u64>>,
    got: Option<Range<u64>>,
    segments: Vec<Segment>,
    build_id: String,
}

#[derive(Clone, Default)]
struct Section(Arc<[u8]>);

impl Deref for Section {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl UnwindTables {
    pub fn of(image: &Image) -> UnwindTables {
        let section = |name: &str| {
            let (addresses, bytes) = image.section(name)?;
            Some((addresses, Section(bytes.into())))
        };
        UnwindTables {
            frames: section(".eh_frame"),
            index: section(".eh_frame_hdr"),
            code: image.section_addresses(".text"),
            got: image.section_addresses(".got"),
            segments: image.segments.clone(),
            build_id: image.build_id_text(),
        }
    }

    /// The address that the linker gave to this place of the file.
    pub fn linked_at(&self, offset: u64) -> Option<u64> {
        address_of(&self.segments, offset)
    }

    /// As hexadecimal digits; empty if the file has none.
    pub fn build_id(&self) -> &str {
        &self.build_id
    }
}

/// What was found out about addresses; one serves all processes.
pub struct UnwindCache(NativeCache);

impl Default for UnwindCache {
    fn default() -> UnwindCache {
        UnwindCache(NativeCache::new())
    }
}

impl fmt::Debug for UnwindCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnwindCache")
    }
}

/// The code of one process.
#[derive(Clone)]
pub struct Unwinder(NativeUnwinder<Section>);

impl Default for Unwinder {
    fn default() -> Unwinder {
        Unwinder(NativeUnwinder::new())
    }
}

impl fmt::Debug for Unwinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unwinder")
    }
}

impl Unwinder {
    /// Code is at these addresses now; `linked_at` is what the linker called the first of them.
    pub fn map(&mut self, addresses: Range<u64>, linked_at: u64, tables: &UnwindTables) {
        let split = |section: &Option<(Range<u64>, Section)>| match section {
            Some((addresses, bytes)) => (Some(addresses.clone()), Some(bytes.clone())),
            None => (None, None),
        };
        let (eh_frame_svma, eh_frame) = split(&tables.frames);
        let (eh_frame_hdr_svma, eh_frame_hdr) = split(&tables.index);
        let sections = ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: tables.code.clone(),
            got_svma: tables.got.clone(),
            eh_frame_svma,
            eh_frame,
            eh_frame_hdr_svma,
            eh_frame_hdr,
            ..ExplicitModuleSectionInfo::default()
        };
        let base = addresses.start.wrapping_sub(linked_at);
        self.0
            .add_module(Module::new(String::new(), addresses, base, sections));
    }

    /// What begins at this address is no longer there.
    pub fn unmap(&mut self, begin: u64) {
        self.0.remove_module(begin);
    }

    /// Adds where the thread was and where each function returns to, the innermost first. Returns whether the outermost function was found.
    pub fn callers(
        &self,
        cache: &mut UnwindCache,
        registers: Registers,
        stack: &[u8],
        frames: &mut Vec<u64>,
    ) -> bool {
        let mut read = |address: u64| {
            let at = address.checked_sub(registers.stack).ok_or(())?;
            let at = usize::try_from(at).map_err(|_| ())?;
            let word = stack.get(at..).and_then(|rest| rest.first_chunk::<8>());
            word.map(|word| u64::from_ne_bytes(*word)).ok_or(())
        };
        #[cfg(target_arch = "aarch64")]
        let native = NativeRegisters::new(registers.link, registers.stack, registers.frame);
        #[cfg(not(target_arch = "aarch64"))]
        let native = NativeRegisters::new(registers.instruction, registers.stack, registers.frame);
        let mut found = self
            .0
            .iter_frames(registers.instruction, native, &mut cache.0, &mut read);
        for _ in 0..MOST_FRAMES {
            match found.next() {
                Ok(Some(frame)) => frames.push(frame.address()),
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
        false
    }
}
