//! The real libtracetools beside us: which version of ROS 2 this is, and whether LTTng wants the calls too.
//!
//! Decided once, at the first event: its caller is linked to libtracetools, so that is loaded by then, also in a Python
//! process that loads everything late.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};

use rostrace_session::tracetools::TracetoolsVersion;

use crate::abi::lttng;
use crate::abi::tracetools::NAMES;
use crate::dl::loaded;
use crate::once_box::OnceBox;
pub(crate) use crate::tracetools::Function;

/// What was found out.
#[derive(Debug)]
struct Original {
    /// Of the package tracetools.
    version: Vec<u8>,
    facts: TracetoolsVersion,
}

static ORIGINAL: OnceBox<Original> = OnceBox::new();
static PASSES_ON: AtomicBool = AtomicBool::new(false);
static FUNCTIONS: [AtomicPtr<c_void>; NAMES.len()] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; NAMES.len()];
static TESTS: [AtomicPtr<c_void>; NAMES.len()] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; NAMES.len()];
/// Where it is said whether a call is wanted there: not 0.
pub(crate) static WANTED: [AtomicPtr<AtomicI32>; NAMES.len()] =
    [const { AtomicPtr::new((&raw const NEVER).cast_mut()) }; NAMES.len()];
/// Of calls that are not passed on.
static NEVER: AtomicI32 = AtomicI32::new(0);
/// Of calls that nobody else can judge.
static ALWAYS: AtomicI32 = AtomicI32::new(1);

/// Which calls are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassedOn {
    None,
    All,
    /// Those that LTTng records, if the library has LTTng in it and tells; all if it does not tell.
    OfLttng,
    /// All, if it has LTTng in it.
    AllOfLttng,
}

/// Finds the real libtracetools.
pub(crate) fn decide(wanted: PassedOn) {
    ORIGINAL.get_or_init(|| {
        let library = loaded::library("libtracetools.so");
        let version = library
            .as_ref()
            .and_then(|library| package_version(prefix(library.path()?)?))
            .or_else(version_in_prefixes)
            .or_else(|| library.as_ref().map(version_by_symbols))
            .unwrap_or_else(|| version_of_distribution().unwrap_or(b"9.0.0".to_vec()));
        if let Some(library) = library {
            let has_lttng = || {
                library
                    .symbol(c"ros_trace_compile_status")
                    .is_some_and(|status| {
                        // SAFETY: the function takes nothing and returns a bool in every distribution.
                        unsafe {
                            std::mem::transmute::<*const c_void, extern "C" fn() -> bool>(status)()
                        }
                    })
            };
            match wanted {
                PassedOn::None => {}
                PassedOn::All => pass_on(&library, false),
                PassedOn::AllOfLttng if has_lttng() => pass_on(&library, false),
                PassedOn::OfLttng if has_lttng() => pass_on(&library, true),
                PassedOn::OfLttng | PassedOn::AllOfLttng => {}
            }
        }
        Original {
            facts: TracetoolsVersion::parse(&version),
            version,
        }
    });
}

/// Passes calls on to another library: all, or only those that LTTng records, if it tells. Several threads may do so at once.
pub(crate) fn pass_on(library: &loaded::Library, only_recorded: bool) {
    for (number, name) in NAMES.iter().enumerate() {
        let symbol = |prefix: &str| {
            let name = CString::new(format!("{prefix}{name}")).ok()?;
            library.symbol(&name)
        };
        if let Some(test) = symbol("ros_trace_enabled_") {
            TESTS[number].store(test.cast_mut(), Ordering::Relaxed);
        }
        if let Some(function) = symbol("ros_trace_") {
            FUNCTIONS[number].store(function.cast_mut(), Ordering::Relaxed);
            let reported = only_recorded.then(|| lttng::state(library, name)).flatten();
            let wanted = reported.unwrap_or(&ALWAYS);
            WANTED[number].store(std::ptr::from_ref(wanted).cast_mut(), Ordering::Release);
        }
    }
    PASSES_ON.store(true, Ordering::Release);
}

pub(crate) fn passes_on() -> bool {
    PASSES_ON.load(Ordering::Acquire)
}

/// Whether the real function has anything to do. Calls nothing.
#[inline(always)]
pub(crate) fn wants(function: Function) -> bool {
    // SAFETY: points to a static, or into a library that is never unloaded.
    unsafe { &*WANTED[function as usize].load(Ordering::Acquire) }.load(Ordering::Relaxed) != 0
}

/// The real function, if it has anything to do.
#[inline(always)]
pub(crate) fn function(function: Function) -> Option<*const c_void> {
    if !wants(function) {
        return None;
    }
    let address = FUNCTIONS[function as usize].load(Ordering::Relaxed);
    (!address.is_null()).then_some(address.cast_const())
}

/// Whether LTTng records the event.
pub(crate) fn is_enabled(function: Function) -> bool {
    if !wants(function) {
        return false;
    }
    let test = TESTS[function as usize].load(Ordering::Relaxed);
    if test.is_null() {
        return false;
    }
    // SAFETY: the function of that name takes nothing and returns a bool.
    unsafe { std::mem::transmute::<*const c_void, extern "C" fn() -> bool>(test)() }
}

/// Version of the package tracetools, `8.2.4`.
pub(crate) fn version() -> &'static [u8] {
    ORIGINAL
        .get()
        .map_or(b"9.0.0", |original| &original.version)
}

/// What depends on it.
pub(crate) fn facts() -> TracetoolsVersion {
    let unknown = TracetoolsVersion { major: 9, minor: 0 };
    ORIGINAL.get().map_or(unknown, |original| original.facts)
}

/// From Jazzy on `rmw_publish` has publisher, message and source timestamp.
pub(crate) fn stamps_publications() -> bool {
    facts().stamps_publications()
}

pub(crate) fn gid_bytes() -> usize {
    facts().gid_bytes()
}

pub(crate) fn traces_services() -> bool {
    facts().traces_services()
}

pub(crate) fn has_unknown_symbols() -> bool {
    facts().has_unknown_symbols()
}

/// `/opt/ros/jazzy` of `/opt/ros/jazzy/lib/libtracetools.so`.
fn prefix(library: &Path) -> Option<&Path> {
    library.parent()?.parent()
}

fn package_version(prefix: &Path) -> Option<Vec<u8>> {
    let text = std::fs::read_to_string(prefix.join("share/tracetools/package.xml")).ok()?;
    let (_, after) = text.split_once("<version>")?;
    let (version, _) = after.split_once("</version>")?;
    Some(version.trim().as_bytes().to_vec())
}

fn version_in_prefixes() -> Option<Vec<u8>> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH")?;
    prefixes
        .as_bytes()
        .split(|byte| *byte == b':')
        .find_map(|prefix| package_version(Path::new(OsStr::from_bytes(prefix))))
}

/// Iron and Jazzy export the same functions: there the environment decides.
fn version_by_symbols(library: &loaded::Library) -> Vec<u8> {
    let has = |name: &CStr| library.symbol(name).is_some();
    if !has(c"ros_trace_enabled_rcl_init") {
        b"4.1.1".to_vec()
    } else if has(c"ros_trace_message_link_partial_sync") {
        b"8.10.0".to_vec()
    } else if has(c"ros_trace_rmw_client_init") {
        b"8.6.0".to_vec()
    } else if version_of_distribution().as_deref() == Some(b"6.3.1") {
        b"6.3.1".to_vec()
    } else {
        b"8.2.0".to_vec()
    }
}

fn version_of_distribution() -> Option<Vec<u8>> {
    let version: &[u8] = match std::env::var_os("ROS_DISTRO")?.as_bytes() {
        b"humble" => b"4.1.1",
        b"iron" => b"6.3.1",
        b"jazzy" => b"8.2.0",
        b"kilted" => b"8.6.0",
        b"lyrical" => b"8.10.0",
        b"rolling" => b"9.0.0",
        _ => return None,
    };
    Some(version.to_vec())
}
