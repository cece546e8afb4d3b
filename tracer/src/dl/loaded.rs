//! Libraries that are loaded in this process, and their symbols, found without loading anything and without memory of our own.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rostrace_session::{NOTE_NAME, NOTE_TYPE};

use crate::dl::elf::Object;

/// The longest path that the kernel opens, with its zero.
const LONGEST_PATH: usize = 4096;

/// All objects that the linker has loaded, in the order in which it did. None is loaded or unloaded while this exists.
#[derive(Debug)]
pub(crate) struct Objects(());

/// Runs something while the linker's list of objects is held. Who loads a library waits meanwhile, and so may who throws an exception:
/// it must not take long, and must not load anything itself.
pub(crate) fn holding<R>(work: impl FnOnce(&Objects) -> R) -> Option<R> {
    struct Held<W, R> {
        work: Option<W>,
        result: Option<R>,
    }
    /// For the first object; there always is one.
    unsafe extern "C" fn first<W: FnOnce(&Objects) -> R, R>(
        _info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        held: *mut c_void,
    ) -> c_int {
        // SAFETY: `holding` passed it.
        let held = unsafe { &mut *held.cast::<Held<W, R>>() };
        if let Some(work) = held.work.take() {
            held.result = Some(work(&Objects(())));
        }
        1
    }
    fn callback<W: FnOnce(&Objects) -> R, R>(
        _: &Held<W, R>,
    ) -> unsafe extern "C" fn(*mut libc::dl_phdr_info, libc::size_t, *mut c_void) -> c_int {
        first::<W, R>
    }
    let mut held = Held {
        work: Some(work),
        result: None,
    };
    let callback = callback(&held);
    // SAFETY: the callback gets back what lives on this stack.
    unsafe { libc::dl_iterate_phdr(Some(callback), (&raw mut held).cast()) };
    held.result
}

impl Objects {
    /// Shows one object after the other, with its number, until it is enough. The linker lets who holds the list ask for it again.
    pub(crate) fn each<B>(
        &self,
        show: impl FnMut(usize, &Object<'_>) -> ControlFlow<B>,
    ) -> Option<B> {
        struct Showing<S, B> {
            show: S,
            number: usize,
            result: Option<B>,
        }
        unsafe extern "C" fn next<S: FnMut(usize, &Object<'_>) -> ControlFlow<B>, B>(
            info: *mut libc::dl_phdr_info,
            _size: libc::size_t,
            showing: *mut c_void,
        ) -> c_int {
            // SAFETY: the linker passes a valid description of an object that stays meanwhile, and `each` passed the rest.
            let (object, showing) =
                unsafe { (Object::of(&*info), &mut *showing.cast::<Showing<S, B>>()) };
            let number = showing.number;
            showing.number += 1;
            match (showing.show)(number, &object) {
                ControlFlow::Continue(()) => 0,
                ControlFlow::Break(result) => {
                    showing.result = Some(result);
                    1
                }
            }
        }
        fn callback<S: FnMut(usize, &Object<'_>) -> ControlFlow<B>, B>(
            _: &Showing<S, B>,
        ) -> unsafe extern "C" fn(*mut libc::dl_phdr_info, libc::size_t, *mut c_void) -> c_int
        {
            next::<S, B>
        }
        let mut showing = Showing {
            show,
            number: 0,
            result: None,
        };
        let callback = callback(&showing);
        // SAFETY: the callback gets back what lives on this stack.
        unsafe { libc::dl_iterate_phdr(Some(callback), (&raw mut showing).cast()) };
        showing.result
    }

    /// One object by its number.
    pub(crate) fn with<R>(&self, number: usize, work: impl FnOnce(&Object<'_>) -> R) -> Option<R> {
        let mut work = Some(work);
        self.each(|at, object| match work.take_if(|_| at == number) {
            Some(work) => ControlFlow::Break(work(object)),
            None => ControlFlow::Continue(()),
        })
    }
}

/// How often the linker has loaded an object so far, and unloaded one.
pub(crate) fn changes() -> (u64, u64) {
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        changes: *mut c_void,
    ) -> c_int {
        // SAFETY: the linker passes a valid description, and `changes` passed the place.
        unsafe { *changes.cast() = ((*info).dlpi_adds, (*info).dlpi_subs) };
        1
    }
    let mut changes = (0, 0);
    // SAFETY: the callback gets back the place that lives on this stack.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut changes).cast()) };
    changes
}

/// As the note has it, without the zeroes that fill it up.
const OWNER: &[u8] = b"rostrace";
const _: () = assert!(matches!(NOTE_NAME.split_at(OWNER.len()), (OWNER, _)));

/// Whether the object has the tracer in it: this library, another copy of it, or a program that has one inside.
pub(crate) fn is_tracer(object: &Object<'_>) -> bool {
    object.has_note(OWNER, NOTE_TYPE)
}

/// Whether the file has this name, or this name and a version.
pub(crate) fn is_called(file: &[u8], name: &str) -> bool {
    let rest = file.strip_prefix(name.as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
}

/// A library that the process has loaded. The handle is kept: what was loaded stays.
#[derive(Debug)]
pub(crate) struct Library {
    handle: *mut c_void,
}

/// The loaded library whose file has this name, or this name and a version. Never ourselves.
pub(crate) fn library(name: &str) -> Option<Library> {
    let own = own_base();
    (0..)
        .map_while(|nth| {
            nth_path(nth, |object| {
                !object.contains(own) && is_called(object.file_name(), name)
            })
        })
        .find_map(|path| Library::open(&path))
}

/// A path on the stack.
pub(crate) struct PathBytes([u8; LONGEST_PATH]);

impl PathBytes {
    /// None for the program itself, which has no path, and for one that is too long to be opened.
    pub(crate) fn of(object: &Object<'_>) -> Option<PathBytes> {
        let path = object.path().to_bytes_with_nul();
        let mut bytes = [0; LONGEST_PATH];
        bytes.get_mut(..path.len())?.copy_from_slice(path);
        (path.len() > 1).then_some(PathBytes(bytes))
    }
}

/// The path of the nth of the objects for which this holds.
fn nth_path(nth: usize, mut holds: impl FnMut(&Object<'_>) -> bool) -> Option<PathBytes> {
    let mut seen = 0;
    holding(|objects| {
        objects.each(|_, object| {
            if !holds(object) {
                return ControlFlow::Continue(());
            }
            seen += 1;
            match seen > nth {
                true => ControlFlow::Break(PathBytes::of(object)),
                false => ControlFlow::Continue(()),
            }
        })
    })??
}

impl Library {
    /// Only one that is loaded already.
    pub(crate) fn open(path: &PathBytes) -> Option<Library> {
        // SAFETY: the path ends with a zero; with NOLOAD nothing is run.
        let handle =
            unsafe { libc::dlopen(path.0.as_ptr().cast(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if handle.is_null() {
            forget_complaint();
        }
        (!handle.is_null()).then_some(Library { handle })
    }

    /// Where the linker found it.
    pub(crate) fn path(&self) -> Option<&Path> {
        /// The public beginning of glibc's `struct link_map`.
        #[repr(C)]
        struct LinkMap {
            base: usize,
            name: *const c_char,
        }
        let mut map: *const LinkMap = std::ptr::null();
        // SAFETY: the handle is open; its name lives as long as it is.
        unsafe {
            let request = libc::RTLD_DI_LINKMAP;
            let found = libc::dlinfo(self.handle, request, (&raw mut map).cast()) == 0;
            let name = (found && !map.is_null()).then(|| (*map).name)?;
            let name = (!name.is_null()).then(|| CStr::from_ptr(name))?;
            Some(Path::new(OsStr::from_bytes(name.to_bytes())))
        }
    }

    pub(crate) fn symbol(&self, name: &CStr) -> Option<*const c_void> {
        // SAFETY: the handle is open and the name ends with a zero.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if address.is_null() {
            forget_complaint();
        }
        (!address.is_null() && !is_own(address)).then_some(address.cast_const())
    }
}

/// What the linker has to say when it did not find something is for us, not for the program that asks next.
pub(crate) fn forget_complaint() {
    // SAFETY: takes nothing; the text that it returns is not used.
    unsafe { libc::dlerror() };
}

/// What a call by this name reaches: the first definition in the order of search, be it ours.
pub(crate) fn first(name: &CStr) -> Option<*const c_void> {
    // SAFETY: the name ends with a zero.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address.cast_const())
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

/// Whether a library with one of these file names, or one of them and a version, is loaded. Does not allocate.
pub(crate) fn is_any(names: &[&str]) -> bool {
    let mut search = (names, false);
    // SAFETY: the callback gets back the search that lives on this stack.
    unsafe { libc::dl_iterate_phdr(Some(look_for_any), (&raw mut search).cast()) };
    search.1
}

unsafe extern "C" fn look_for_any(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the linker passes a valid description, and `is_any` passed the search.
    let (info, (names, found)) = unsafe { (&*info, &mut *search.cast::<(&[&str], bool)>()) };
    if info.dlpi_name.is_null() {
        return 0;
    }
    // SAFETY: the name ends with a zero.
    let path = unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes();
    let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    *found = names.iter().any(|name| {
        let rest = file.strip_prefix(name.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
    });
    c_int::from(*found)
}
