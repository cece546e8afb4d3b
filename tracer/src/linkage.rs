//! The linkage table of the program itself: where it keeps the addresses of the functions that it calls in libraries.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::loaded;

/// Of the only processor that this is written for.
pub(crate) const PAGE: usize = 4096;

/// The program that this process runs, as the dynamic linker loaded it. It is never unloaded.
#[derive(Debug)]
pub(crate) struct Program {
    /// Where it begins.
    pub(crate) start: usize,
    code_and_data: Range<usize>,
    slots: Vec<Slot>,
    /// What the linker made read-only after it had filled it in.
    protected: Range<usize>,
}

/// One function that the program calls.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) name: &'static CStr,
    address: &'static AtomicPtr<c_void>,
}

impl Program {
    /// None where there is no table: a program that is linked statically, or another kind of linker.
    pub(crate) fn find() -> Option<Program> {
        let mut found: Option<Object> = None;
        // SAFETY: the callback gets back the place that lives on this stack. What it describes stays loaded.
        unsafe {
            libc::dl_iterate_phdr(Some(first_object), (&raw mut found).cast());
            describe(&found?)
        }
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// What a call through this slot reaches.
    pub(crate) fn target(&self, slot: &Slot) -> Option<*const c_void> {
        let bound = slot.address.load(Ordering::Relaxed);
        // Until its first call a function is looked up by the program's own code.
        match self.code_and_data.contains(&(bound as usize)) {
            true => loaded::first(slot.name),
            false => Some(bound.cast_const()),
        }
    }

    /// From now on calls go elsewhere, but for one that another thread binds at this moment. Where the kernel does not allow to write there, all stay as they are.
    pub(crate) fn turn(&self, turned: &[(&Slot, *const c_void)]) -> std::io::Result<()> {
        let pages = self.protected.clone();
        let is_protected = |slot: &Slot| pages.contains(&(&raw const *slot.address as usize));
        let must_open = turned.iter().any(|(slot, _)| is_protected(slot));
        if must_open && let Err(error) = protect(&pages, libc::PROT_READ | libc::PROT_WRITE) {
            // A part of them may be open.
            let _ = protect(&pages, libc::PROT_READ);
            return Err(error);
        }
        for (slot, address) in turned {
            // Threads that call meanwhile read the old address or the new one.
            slot.address.store(address.cast_mut(), Ordering::Release);
        }
        if must_open {
            // Who was allowed to open them may close them.
            let _ = protect(&pages, libc::PROT_READ);
        }
        Ok(())
    }
}

fn protect(pages: &Range<usize>, protection: c_int) -> std::io::Result<()> {
    // SAFETY: whole pages of the program's table, which are only read but for what this file does.
    match unsafe { libc::mprotect(pages.start as *mut c_void, pages.len(), protection) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Where the linker put an object.
#[derive(Debug)]
struct Object {
    base: usize,
    headers: *const libc::Elf64_Phdr,
    count: usize,
}

/// The program is the first object, and the only one without a name. The linker is held meanwhile, so nothing else is done here.
unsafe extern "C" fn first_object(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    found: *mut c_void,
) -> c_int {
    // SAFETY: the linker passes a valid description, and `Program::find` passed the place.
    unsafe {
        let info = &*info;
        if info.dlpi_name.is_null() || *info.dlpi_name == 0 {
            *found.cast::<Option<Object>>() = Some(Object {
                base: info.dlpi_addr as usize,
                headers: info.dlpi_phdr,
                count: info.dlpi_phnum.into(),
            });
        }
    }
    1
}

/// # Safety
/// The object is loaded.
unsafe fn describe(object: &Object) -> Option<Program> {
    let base = object.base;
    // SAFETY: as long as the linker says.
    let headers = unsafe { std::slice::from_raw_parts(object.headers, object.count) };
    let memory = |header: &libc::Elf64_Phdr| {
        let start = base + header.p_vaddr as usize;
        start..start + header.p_memsz as usize
    };
    let of_kind = |kind| headers.iter().filter(move |header| header.p_type == kind);
    let start = of_kind(libc::PT_LOAD).map(|it| memory(it).start).min()?;
    let end = of_kind(libc::PT_LOAD).map(|it| memory(it).end).max()?;
    let page = |address: usize| address & !(PAGE - 1);
    let protected = of_kind(libc::PT_GNU_RELRO).next().map(memory);
    // SAFETY: the object is loaded, so these are its entries.
    let slots = unsafe { slots(memory(of_kind(libc::PT_DYNAMIC).next()?).start, base) }?;
    Some(Program {
        start: page(start),
        code_and_data: start..end,
        slots,
        // As the linker rounds it.
        protected: protected.map_or(0..0, |it| page(it.start)..page(it.end)),
    })
}

/// Entry of the dynamic section.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: usize,
}

/// Entry of the table of relocations.
#[repr(C)]
struct Relocation {
    offset: usize,
    kind: u32,
    symbol: u32,
    _addend: i64,
}

/// `DT_…` and `R_X86_64_JUMP_SLOT` of the ELF specification.
const END: i64 = 0;
const SIZE_OF_CALLS: i64 = 2;
const TEXTS: i64 = 5;
const SYMBOLS: i64 = 6;
const CALLS: i64 = 23;
const JUMP_SLOT: u32 = 7;

/// # Safety
/// `dynamic` is the address of the dynamic section of an object that is loaded at `base`.
unsafe fn slots(dynamic: usize, base: usize) -> Option<Vec<Slot>> {
    let (mut size, mut texts, mut symbols, mut calls) = (0, 0, 0, 0);
    let mut entry = dynamic as *const Dynamic;
    // SAFETY: the section ends with an entry that says so.
    unsafe {
        while (*entry).tag != END {
            let value = (*entry).value;
            match (*entry).tag {
                SIZE_OF_CALLS => size = value,
                TEXTS => texts = value,
                SYMBOLS => symbols = value,
                CALLS => calls = value,
                _ => {}
            }
            entry = entry.add(1);
        }
    }
    if [texts, symbols, calls].contains(&0) {
        return None;
    }
    // Some linkers write addresses where the file had offsets, others leave them.
    let address = |value: usize| if value < base { base + value } else { value };
    let (texts, symbols) = (
        address(texts) as *const c_char,
        address(symbols) as *const libc::Elf64_Sym,
    );
    let count = size / size_of::<Relocation>();
    // SAFETY: the linker has followed the same entries before; the tables are as long as they say and stay where they are.
    let slots = unsafe {
        std::slice::from_raw_parts(address(calls) as *const Relocation, count)
            .iter()
            .filter(|it| it.kind == JUMP_SLOT)
            .map(|it| Slot {
                name: CStr::from_ptr(
                    texts.add((*symbols.add(it.symbol as usize)).st_name as usize),
                ),
                address: &*((base + it.offset) as *const AtomicPtr<c_void>),
            })
            .collect()
    };
    Some(slots)
}
