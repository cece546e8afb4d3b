//! What the tracer says on standard error, once in a process: only that it was asked to record and cannot, where the recorder might
//! never hear of it. Put together without allocation.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

use rostrace_session::{ControlError, VERSION};

use crate::control::path::PathBuffer;

/// Commands come from a recorder of another version.
pub(crate) fn other_version(control: &CStr, error: ControlError) {
    let ControlError::Version(version) = error else {
        return;
    };
    let mut text = beginning();
    text.push(control.to_bytes());
    text.push(b": This is a control file of another version of rostrace (layout ");
    text.push_number(version.into());
    text.push(b"; this one knows layout ");
    text.push_number(VERSION.into());
    text.push(b"). The tracer library and rostrace must be of the same version.\n");
    say(&text);
}

/// Something that the recording needs could not be made.
pub(crate) fn impossible(doing: &[u8], path: &[u8], error: i32) {
    let mut text = beginning();
    text.push(b"It could not ");
    text.push(doing);
    text.push(b" ");
    text.push(path);
    text.push(b": ");
    push_error(&mut text, error);
    text.push(b".\n");
    say(&text);
}

/// The control file cannot even be opened.
pub(crate) fn no_file_can_be_opened(error: i32) {
    let mut text = beginning();
    text.push(b"The control file cannot be opened, and events are lost until it can: ");
    push_error(&mut text, error);
    text.push(b". `ulimit -n 65536` before the start allows more files.\n");
    say(&text);
}

fn beginning() -> PathBuffer {
    let mut text = PathBuffer::new();
    text.push(b"rostrace: process ");
    text.push_number(std::process::id().into());
    text.push(b" is not recorded. ");
    text
}

fn push_error(text: &mut PathBuffer, error: i32) {
    let mut reason = [0; 128];
    // SAFETY: the place is as large as is said; this is the version of POSIX, which writes there.
    let known = unsafe { libc::strerror_r(error, reason.as_mut_ptr().cast(), reason.len()) } == 0;
    if known && let Ok(reason) = CStr::from_bytes_until_nul(&reason) {
        text.push(reason.to_bytes());
        text.push(b" ");
    }
    text.push(b"(os error ");
    text.push_number(error.unsigned_abs().into());
    text.push(b")");
}

/// What standard error was when the library was loaded.
static STANDARD_ERROR: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Device and inode of standard error.
fn standard_error() -> [u64; 2] {
    // SAFETY: `stat` is filled in when the call succeeds; zeroes are a valid value.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        match libc::fstat(2, &mut stat) {
            0 => [stat.st_dev, stat.st_ino],
            _ => [0; 2],
        }
    }
}

/// Programs may close it and open a file of their own under its number, in which nothing of ours has a place.
pub(crate) fn remember_standard_error() {
    for (place, number) in STANDARD_ERROR.iter().zip(standard_error()) {
        place.store(number, Ordering::Relaxed);
    }
}

/// In one piece; nothing is done if that fails.
fn say(text: &PathBuffer) {
    let before = STANDARD_ERROR
        .each_ref()
        .map(|it| it.load(Ordering::Relaxed));
    if before != standard_error() {
        return;
    }
    let bytes = text.as_bytes();
    // SAFETY: the text lives during the call.
    unsafe { libc::write(2, bytes.as_ptr().cast(), bytes.len()) };
}
