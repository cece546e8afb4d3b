//! Another copy of the tracer in the same process: a program in Rust has one inside, as a crate, and one is preloaded.
//!
//! The linker gives the program's copy those tracepoints that libraries on its command line call, and no others, so each would record
//! a part. The copy that is a library has all of them: the one inside a program leaves everything to it.

use crate::api::user::CApi;
use crate::dl::loaded::{self, Library};
use crate::once_box::OnceBox;

/// Names that the tracer has as a library.
const NAMES: [&str; 2] = ["librostrace_tracer.so", "libtracetools.so"];

/// The library, and its functions for applications.
#[derive(Debug)]
pub(crate) struct Sibling {
    pub(crate) library: Library,
    pub(crate) api: &'static CApi,
}

// SAFETY: a handle of the dynamic linker, which any thread may use.
unsafe impl Send for Sibling {}
// SAFETY: as above.
unsafe impl Sync for Sibling {}

/// The copy that records in the place of this one, if this one is part of a program.
pub(crate) fn sibling() -> Option<&'static Sibling> {
    static SIBLING: OnceBox<Option<Sibling>> = OnceBox::new();
    let find = || {
        loaded::own_file()?;
        (!is_library()).then(|| NAMES.iter().find_map(|name| of(name)))?
    };
    SIBLING.get_or_init(find).as_ref()
}

/// Whether this copy is the library.
pub(crate) fn is_library() -> bool {
    loaded::own_file().is_some_and(is_name_of_library)
}

/// Whether a file's name is that of the library.
pub(crate) fn is_name_of_library(file: &[u8]) -> bool {
    NAMES.iter().any(|name| file.starts_with(name.as_bytes()))
}

fn of(name: &str) -> Option<Sibling> {
    let library = loaded::library(name)?;
    let ask = library.symbol(c"rostrace_user_api")?;
    // SAFETY: the function of that name takes nothing and returns the functions, which live as long as the process.
    let api = unsafe {
        std::mem::transmute::<*const std::ffi::c_void, extern "C" fn() -> &'static CApi>(ask)()
    };
    api.is_known().then_some(Sibling { library, api })
}
