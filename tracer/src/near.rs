//! The gate, once more, near the program.
//!
//! A program lies terabytes away from its libraries, and processors need several cycles more for a jump that far. So that a tracepoint
//! which is not recorded costs a program no more than it costs a library, the calls in its linkage table go to a page beside it, with the
//! same questions that every tracepoint asks first ([`gate::attends`], [`original::wants`]); only where something is to be done they go on to
//! the library, past those questions.
//!
//! No code is made up: the page is one of this library's own file, mapped a second time, and what it reads lies in the page behind it.
//! Wherever something is not as expected, calls stay as they were.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicI32;

use crate::linkage::{PAGE, Program};
use crate::{events, gate, loaded, original, tracetools};

/// Bytes from one entry to the next, in either page.
const STRIDE: usize = 96;
/// Programs call some ten of these functions; whatever is too much for the page stays a far call.
const ENTRIES: usize = PAGE / STRIDE;

/// What the code of one entry reads: the same offset in the next page.
#[derive(Debug)]
#[repr(C)]
struct Entry {
    question: gate::Question,
    /// Not 0 if the real function wants the call.
    passed_on: *const AtomicI32,
    target: *const c_void,
}

const _: () = assert!(size_of::<Entry>() <= STRIDE);

// Arguments stay where they are: only rax and r11 are used, which a call may change. The tests of `ros_trace_enabled_…` return no.
std::arch::global_asm!(
    ".section .text.rostrace_near, \"ax\", @progbits",
    ".balign {page}",
    ".global rostrace_near_code",
    ".hidden rostrace_near_code",
    ".type rostrace_near_code, @function",
    "rostrace_near_code:",
    ".cfi_startproc",
    ".rept {entries}",
    "2:",
    "endbr64",
    "mov rax, [rip + 2b + {page} + {attention}]",
    "cmp qword ptr [rax], 0",
    "jne 4f",
    "3:",
    "mov rax, [rip + 2b + {page} + {passed_on}]",
    "cmp dword ptr [rax], 0",
    "jne 5f",
    "xor eax, eax",
    "ret",
    "4:",
    "mov rax, [rip + 2b + {page} + {ordered}]",
    "mov rax, [rax]",
    "mov r11, [rip + 2b + {page} + {obeyed}]",
    "cmp rax, [r11]",
    "jne 5f",
    "mov r11, [rip + 2b + {page} + {enabled}]",
    "mov rax, [r11]",
    "test [rip + 2b + {page} + {bit}], rax",
    "je 3b",
    "5:",
    "jmp [rip + 2b + {page} + {target}]",
    ".org 2b + {stride}",
    ".endr",
    ".cfi_endproc",
    ".balign {page}",
    ".size rostrace_near_code, . - rostrace_near_code",
    ".text",
    page = const PAGE,
    entries = const ENTRIES,
    stride = const STRIDE,
    attention = const std::mem::offset_of!(Entry, question.attention),
    ordered = const std::mem::offset_of!(Entry, question.ordered),
    obeyed = const std::mem::offset_of!(Entry, question.obeyed),
    enabled = const std::mem::offset_of!(Entry, question.enabled),
    bit = const std::mem::offset_of!(Entry, question.bit),
    passed_on = const std::mem::offset_of!(Entry, passed_on),
    target = const std::mem::offset_of!(Entry, target),
);

unsafe extern "C" {
    static rostrace_near_code: [u8; PAGE];
}

/// Once, when it is known where orders come from. Nothing is said if it does not work: calls are a little slower then.
pub(crate) fn bring_near() {
    let Some(program) = Program::find() else {
        return;
    };
    let ours: Vec<_> = (program.slots().iter())
        .filter_map(|slot| {
            // Most functions are not ours: their names come first, since the linker is slow to say where calls lead.
            let call = Call::of(slot.name)?;
            let target = program.target(slot).filter(|it| loaded::is_own(*it))?;
            Some((slot, call.entry(target)))
        })
        .take(ENTRIES)
        .collect();
    if ours.is_empty() {
        return;
    }
    let Some(place) = map_beside(program.start) else {
        return;
    };
    let mut turned = Vec::new();
    for (number, (slot, entry)) in ours.into_iter().enumerate() {
        let code = place + number * STRIDE;
        // SAFETY: inside the second page, which is new and can be written.
        unsafe { ((code + PAGE) as *mut Entry).write(entry) };
        turned.push((slot, code as *const c_void));
    }
    // SAFETY: the second page, which nobody writes any more.
    unsafe { libc::mprotect((place + PAGE) as *mut c_void, PAGE, libc::PROT_READ) };
    if program.turn(&turned).is_err() {
        // SAFETY: no slot was turned, so nobody knows of the pages.
        unsafe { libc::munmap(place as *mut c_void, 2 * PAGE) };
    }
}

/// A function of libtracetools whose event is one that happens again and again.
#[derive(Debug)]
struct Call {
    event: u16,
    function: usize,
    /// Not whether the event is wanted: the event itself.
    is_event: bool,
}

impl Call {
    fn of(function: &CStr) -> Option<Call> {
        let name = function.to_str().ok()?.strip_prefix("ros_trace_")?;
        let (name, is_event) = match name.strip_prefix("enabled_") {
            Some(name) => (name, false),
            None => (name.strip_prefix("do_").unwrap_or(name), true),
        };
        let is_it = |event: &events::Event| event.name.strip_prefix("ros2:") == Some(name);
        let event = events::EVENTS.iter().position(is_it)?;
        let happens = !events::EVENTS[event].is_initialisation;
        happens.then_some(Call {
            event: u16::try_from(event).ok()?,
            function: tracetools::NAMES.iter().position(|it| *it == name)?,
            is_event,
        })
    }

    fn entry(&self, target: *const c_void) -> Entry {
        Entry {
            question: gate::question(self.event),
            passed_on: original::wanted(self.function),
            // The function itself would ask the same once more.
            target: match self.is_event {
                true => tracetools::work(self.function),
                false => target,
            },
        }
    }
}

/// The page of code with a page behind it that can be written, a little below the program: what is above belongs to its heap.
fn map_beside(program: usize) -> Option<usize> {
    const STEP: usize = 1 << 20;
    const TRIES: usize = 64;
    let (file, offset) = own_code()?;
    let place = (0..TRIES).find_map(|step| {
        let place = program.checked_sub(2 * PAGE + step * STEP)?;
        map(place, 2 * PAGE, libc::MAP_FIXED_NOREPLACE, None)
    })?;
    let code = map(place, PAGE, libc::MAP_FIXED, Some((&file, offset)));
    if code.is_none() {
        // SAFETY: they were mapped just now, and nobody knows of them.
        unsafe { libc::munmap(place as *mut c_void, 2 * PAGE) };
    }
    code
}

/// The file of this library, and where the code is in it. None if that is another file by now, as after an update.
fn own_code() -> Option<(File, libc::off_t)> {
    let address = &raw const rostrace_near_code;
    let path = OsStr::from_bytes(loaded::own_path()?.to_bytes());
    let offset = loaded::offset_in_file(address.cast())?;
    let file = File::open(path).ok()?;
    // Read, not mapped: a file that is shorter than that would be a fault.
    let mut code = vec![0; PAGE];
    file.read_exact_at(&mut code, offset).ok()?;
    // SAFETY: the page is part of this library.
    let is_own = unsafe { code == *address };
    is_own.then_some((file, offset.try_into().ok()?))
}

/// Pages of a file to be run, or new ones to be written; None unless they are where they were wanted.
fn map(
    place: usize,
    bytes: usize,
    option: c_int,
    file: Option<(&File, libc::off_t)>,
) -> Option<usize> {
    let (protection, source, descriptor, offset) = match file {
        Some((file, offset)) => (libc::PROT_EXEC, 0, file.as_raw_fd(), offset),
        None => (libc::PROT_WRITE, libc::MAP_ANONYMOUS, -1, 0),
    };
    let (protection, options) = (
        libc::PROT_READ | protection,
        libc::MAP_PRIVATE | source | option,
    );
    // SAFETY: nothing is replaced that somebody else mapped: either the kernel refuses to, or the pages are our own.
    unsafe {
        let pages = libc::mmap(
            place as *mut c_void,
            bytes,
            protection,
            options,
            descriptor,
            offset,
        );
        if pages == libc::MAP_FAILED {
            return None;
        }
        if pages as usize != place {
            // Kernels before 4.17 take the place for a wish.
            libc::munmap(pages, bytes);
            return None;
        }
        Some(place)
    }
}
