//! Libraries that are loaded in this process, and their symbols, found without loading anything.

use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::linker::Looking;

/// A library that the process has loaded. The handle is kept: what was loaded stays.
#[derive(Debug)]
pub(crate) struct Library {
    path: PathBuf,
    handle: *mut c_void,
}

/// The loaded library whose file has this name, or this name and a version. Never ourselves.
pub(crate) fn library(name: &str) -> Option<Library> {
    let mut search = Search {
        name,
        own: own_base(),
        found: Vec::new(),
    };
    // SAFETY: the callback gets back the search that lives on this stack.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found.into_iter().find_map(|path| {
        let text = CString::new(path.as_os_str().as_bytes()).ok()?;
        // SAFETY: the path ends with a zero; with NOLOAD nothing is run.
        let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Library { path, handle })
    })
}

impl Library {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn symbol(&self, name: &CStr) -> Option<*const c_void> {
        // SAFETY: the handle is open and the name ends with a zero.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        (!address.is_null() && !is_own(address)).then_some(address.cast_const())
    }
}

/// What a call by this name reaches: the first definition in the order of search, be it ours.
pub(crate) fn first(name: &CStr) -> Option<*const c_void> {
    // SAFETY: the name ends with a zero.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address.cast_const())
}

/// What a call would have reached without us: the next definition in the order of search, or that of one of these
/// libraries, which may have been loaded where a search does not see it.
pub(crate) fn original(name: &CStr, libraries: &[&str]) -> Option<*const c_void> {
    let _looking = Looking::begin();
    // SAFETY: the name ends with a zero.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() && !is_own(next) {
        return Some(next.cast_const());
    }
    libraries
        .iter()
        .find_map(|file| library(file)?.symbol(name))
}

/// Whether both are in the same library.
pub(crate) fn are_together(one: *const c_void, other: *const c_void) -> bool {
    base_of(one) == base_of(other)
}

/// Whether this library has it.
pub(crate) fn is_own(address: *const c_void) -> bool {
    base_of(address) == own_base()
}

fn own_base() -> usize {
    base_of(own_base as *const c_void)
}

/// The name of the file that this code is in, without its folder; None if the linker does not know.
pub(crate) fn own_file() -> Option<&'static [u8]> {
    own_path()?.to_bytes().rsplit(|byte| *byte == b'/').next()
}

/// The file that this code is in, as the linker found it.
pub(crate) fn own_path() -> Option<&'static CStr> {
    // SAFETY: `info` is filled in when the call succeeds; zeroes are a valid value. The name lives as long as this code is loaded.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(own_base as *const c_void, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        Some(CStr::from_ptr(info.dli_fname))
    }
}

/// Where the object begins that an address belongs to.
fn base_of(address: *const c_void) -> usize {
    // SAFETY: `info` is filled in when the call succeeds; zeroes are a valid value.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        match libc::dladdr(address, &mut info) {
            0 => 0,
            _ => info.dli_fbase as usize,
        }
    }
}

struct Search<'a> {
    name: &'a str,
    own: usize,
    found: Vec<PathBuf>,
}

unsafe extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the linker passes a valid description, and `library` passed the search.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search<'_>>()) };
    if info.dlpi_name.is_null() || info.dlpi_addr as usize == search.own {
        return 0;
    }
    // SAFETY: the name ends with a zero.
    let path = Path::new(OsStr::from_bytes(
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes(),
    ));
    let file = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
    let rest = file.strip_prefix(search.name.as_bytes());
    if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b".")) {
        search.found.push(path.to_owned());
    }
    0
}

/// Where something that was loaded from a file is in it.
#[cfg(target_arch = "x86_64")]
pub(crate) fn offset_in_file(address: *const c_void) -> Option<u64> {
    let mut search = (address as u64, None);
    // SAFETY: the callback gets back the search that lives on this stack.
    unsafe { libc::dl_iterate_phdr(Some(look_for_address), (&raw mut search).cast()) };
    search.1
}

#[cfg(target_arch = "x86_64")]
unsafe extern "C" fn look_for_address(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the linker passes a valid description, and `offset_in_file` passed the search.
    let (info, (address, found), headers) = unsafe {
        let info = &*info;
        (
            info,
            &mut *search.cast::<(u64, Option<u64>)>(),
            std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()),
        )
    };
    let in_object = address.wrapping_sub(info.dlpi_addr);
    *found = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD)
        .filter(|header| (header.p_vaddr..header.p_vaddr + header.p_filesz).contains(&in_object))
        .map(|header| in_object - header.p_vaddr + header.p_offset)
        .next();
    c_int::from(found.is_some())
}
