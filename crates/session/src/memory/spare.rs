//! Memory that the recorder makes for a process which may not make files of that size itself (`ulimit -f`): it takes one and gives it its
//! own name.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::memory::layout::Layout;
use crate::memory::new_file;

/// How many are there at once.
const SPARES: u32 = 2;
const PREFIX: &str = "spare-";

/// Whether a file in the folder of memories is one that no process has taken.
pub fn is_one(name: &OsStr) -> bool {
    name.as_bytes().starts_with(PREFIX.as_bytes())
}

/// The path of a spare, as bytes.
pub(crate) fn path(folder: &[u8], number: u32, path: &mut dyn FnMut(&[u8])) {
    path(folder);
    path(b"/");
    path(PREFIX.as_bytes());
    path(&[b'0' + (number % 10) as u8]);
}

/// The numbers that spares can have.
pub(crate) fn numbers() -> impl Iterator<Item = u32> {
    0..SPARES
}

/// Makes those that are not there. One that cannot be made is not there: few processes need one.
pub fn top_up(folder: &Path) {
    for number in numbers() {
        let mut bytes = Vec::new();
        path(folder.as_os_str().as_bytes(), number, &mut |piece| {
            bytes.extend(piece)
        });
        if let Ok(path) = CString::new(bytes) {
            let _ = new_file(&path, Layout::ORDINARY);
        }
    }
}
