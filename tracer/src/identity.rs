//! Who this process is: name, start, name space, machine.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rostrace_session::Identity;

/// The name of the program as the kernel shows it, at most 15 bytes.
pub(crate) fn name() -> Vec<u8> {
    let mut name = fs::read("/proc/self/comm").unwrap_or_default();
    while name.last() == Some(&b'\n') {
        name.pop();
    }
    name
}

/// The same, fit for the name of a folder.
pub(crate) fn file_name() -> String {
    let name: String = (name().iter())
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'+' => *byte as char,
            _ => '_',
        })
        .collect();
    match name.trim_start_matches('.') {
        "" => "process".to_owned(),
        name => name.to_owned(),
    }
}

/// Ticks after boot at which the process started; 0 if `/proc` is not there.
pub(crate) fn start_time() -> u64 {
    let stat = fs::read("/proc/self/stat").unwrap_or_default();
    // The name in parentheses may hold anything, also parentheses.
    let after = match stat.iter().rposition(|byte| *byte == b')') {
        Some(at) => &stat[at + 1..],
        None => return 0,
    };
    let text = String::from_utf8_lossy(after);
    text.split_ascii_whitespace()
        .nth(19)
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

pub(crate) fn identity(process: u32) -> Identity {
    let mut short = [0; 16];
    for (place, byte) in short.iter_mut().zip(name()) {
        *place = byte;
    }
    Identity {
        pid: process,
        start_time: start_time(),
        pid_namespace: fs::metadata("/proc/self/ns/pid").map_or(0, |meta| meta.ino()),
        name: short,
    }
}

pub(crate) fn host_name() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: writes at most the given number of bytes.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}

/// The same for all traces since the machine was started: their clocks are one clock.
pub(crate) fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|id| id.len() == 36)
}
