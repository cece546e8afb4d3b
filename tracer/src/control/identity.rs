//! Who this process is: name, start, name space, machine. Asked without allocation.

use std::ffi::CStr;

use rostrace_session::Identity;

/// Reads the beginning of a small file.
fn read<'b>(path: &CStr, bytes: &'b mut [u8]) -> &'b [u8] {
    // SAFETY: the path ends with a zero, the place is as large as is said, and the descriptor is closed.
    let read = unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return b"";
        }
        let read = libc::read(file, bytes.as_mut_ptr().cast(), bytes.len());
        libc::close(file);
        read
    };
    &bytes[..usize::try_from(read).unwrap_or(0)]
}

/// Ticks after boot at which the process started; 0 if `/proc` is not there.
fn start_time() -> u64 {
    let mut bytes = [0; 1024];
    let stat = read(c"/proc/self/stat", &mut bytes);
    // The name in parentheses may hold anything, also parentheses.
    let Some(at) = stat.iter().rposition(|byte| *byte == b')') else {
        return 0;
    };
    let mut words = stat[at + 1..]
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty());
    let word = words.nth(19).unwrap_or_default();
    word.iter()
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0_u64, |number, byte| {
            number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'))
        })
}

pub(crate) fn identity() -> Identity {
    let mut name = [0; 16];
    let mut bytes = [0; 32];
    let comm = read(c"/proc/self/comm", &mut bytes);
    let comm = comm.strip_suffix(b"\n").unwrap_or(comm);
    for (place, byte) in name.iter_mut().zip(comm) {
        *place = *byte;
    }
    // SAFETY: `stat` is filled in when the call succeeds; zeroes are a valid value.
    let pid_namespace = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        match libc::stat(c"/proc/self/ns/pid".as_ptr(), &mut stat) {
            0 => stat.st_ino,
            _ => 0,
        }
    };
    Identity {
        pid: std::process::id(),
        start_time: start_time(),
        pid_namespace,
        name,
    }
}

/// Up to the first zero.
pub(crate) fn host_name(bytes: &mut [u8; 256]) -> &[u8] {
    // SAFETY: writes at most the given number of bytes.
    unsafe { libc::gethostname(bytes.as_mut_ptr().cast(), bytes.len() - 1) };
    let end = bytes.iter().position(|byte| *byte == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

/// The name of the program without its folder, as it was called.
pub(crate) fn program_name() -> &'static [u8] {
    unsafe extern "C" {
        static program_invocation_short_name: *const libc::c_char;
    }
    // SAFETY: the C library sets it before the program begins, to a text that ends with a zero; programs may set it to another one.
    unsafe {
        if program_invocation_short_name.is_null() {
            return b"";
        }
        CStr::from_ptr(program_invocation_short_name).to_bytes()
    }
}
