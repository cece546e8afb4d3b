//! Names of callbacks: the two C++ functions that libtracetools exports beside its tracepoints.
//!
//! Stock Humble has them return a constant, so that no callback has a name. The result is always memory from `malloc`: callers from Iron
//! on free it, those before do not know that they could.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::abi::original;
use crate::dl::scope;

type Demangle =
    unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;

/// `tracetools::detail::demangle_symbol(char const*)`
///
/// # Safety
/// The name is null or ends with a zero.
#[unsafe(export_name = "_ZN10tracetools6detail15demangle_symbolEPKc")]
pub(crate) unsafe extern "C" fn demangle_symbol(mangled: *const c_char) -> *mut c_char {
    // SAFETY: as the caller promises.
    unsafe { demangled_or(mangled, mangled, c"UNKNOWN_demangling_failed") }
}

/// `tracetools::detail::get_symbol_funcptr(void*)`, up to Humble.
///
/// # Safety
/// None; the address may be anything.
#[unsafe(export_name = "_ZN10tracetools6detail18get_symbol_funcptrEPv")]
pub(crate) unsafe extern "C" fn get_symbol_funcptr(function: *mut c_void) -> *mut c_char {
    symbol_of(function)
}

/// `tracetools::detail::get_symbol_funcptr(void const*)`, from Iron on.
///
/// # Safety
/// None; the address may be anything.
#[unsafe(export_name = "_ZN10tracetools6detail18get_symbol_funcptrEPKv")]
pub(crate) unsafe extern "C" fn get_symbol_funcptr_const(function: *const c_void) -> *mut c_char {
    symbol_of(function)
}

fn symbol_of(function: *const c_void) -> *mut c_char {
    // SAFETY: `info` is filled in when the call succeeds; its name, if any, lives as long as the library it is in.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let found = libc::dladdr(function, &mut info) != 0 && !info.dli_sname.is_null();
        let name = if found {
            info.dli_sname
        } else {
            std::ptr::null()
        };
        demangled_or(name, name, c"UNKNOWN")
    }
}

/// The readable form. Where there is none: up to Humble the name as it is, or a text if there is no name; null afterwards.
///
/// # Safety
/// The names are null or end with a zero.
unsafe fn demangled_or(
    mangled: *const c_char,
    otherwise: *const c_char,
    unknown: &CStr,
) -> *mut c_char {
    // SAFETY: as the caller promises; results are from `malloc`.
    unsafe {
        if !mangled.is_null()
            && let Some(demangle) = demangler()
        {
            let mut status = 0;
            let text = demangle(
                mangled,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                &mut status,
            );
            // Without a name there is no text that would have to be freed.
            if status == 0 && !text.is_null() {
                return text;
            }
        }
        if !original::has_unknown_symbols() {
            return std::ptr::null_mut();
        }
        libc::strdup(if otherwise.is_null() {
            unknown.as_ptr()
        } else {
            otherwise
        })
    }
}

/// That of the C++ library which the program uses; whoever asks for C++ names has one.
fn demangler() -> Option<Demangle> {
    static KNOWN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let mut found = KNOWN.load(Ordering::Acquire).cast_const();
    if found.is_null() {
        let libraries = ["libstdc++.so", "libc++abi.so"];
        let looked_up = scope::original(c"__cxa_demangle", &libraries, std::ptr::null())?;
        found = looked_up.address;
        if looked_up.is_kept {
            KNOWN.store(found.cast_mut(), Ordering::Release);
        }
    }
    // SAFETY: the function of that name is defined by the C++ ABI.
    Some(unsafe { std::mem::transmute::<*const c_void, Demangle>(found) })
}
