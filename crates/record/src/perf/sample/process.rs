//! The code of one recorded process: which files are mapped where, and what they tell of the callers of their functions.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;

use rostrace_session::keep::{CodeMapping, SchedBuffer};
use rostrace_symbols::{Image, UnwindTables, Unwinder};

use super::record::Mapping;

/// What is known of files: all processes share it.
#[derive(Debug, Default)]
pub(super) struct Files {
    tables: HashMap<FileKey, Arc<UnwindTables>>,
    vdso: Option<Arc<UnwindTables>>,
}

/// Code of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Code {
    end: u64,
    offset: u64,
    path: Vec<u8>,
}

/// Device and number of a file, and when it was changed last: it may be written anew, and its number be used again.
type FileKey = (u64, u64, i64, i64);

#[derive(Debug, Default)]
pub(super) struct Process {
    pub(super) unwinder: Unwinder,
    /// By the first address.
    code: BTreeMap<u64, Code>,
}

impl Process {
    /// One that runs, with everything that it has mapped.
    pub(super) fn running(
        pid: u32,
        time: u64,
        files: &mut Files,
        buffer: &mut SchedBuffer,
    ) -> Process {
        let mut process = Process::default();
        let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        for line in maps.split(|byte| *byte == b'\n') {
            if let Some(mapping) = code_of(line) {
                process.map(pid, time, &mapping, files, buffer);
            }
        }
        process
    }

    /// Code of a file is at these addresses from now on.
    pub(super) fn map(
        &mut self,
        pid: u32,
        time: u64,
        mapping: &Mapping<'_>,
        files: &mut Files,
        buffer: &mut SchedBuffer,
    ) {
        let (begin, end) = (mapping.begin, mapping.begin.saturating_add(mapping.bytes));
        let is_file = mapping.path.starts_with(b"/") && !mapping.path.starts_with(b"//");
        if end <= begin || !is_file && mapping.path != b"[vdso]" {
            return;
        }
        let code = Code {
            end,
            offset: mapping.offset,
            path: mapping.path.to_vec(),
        };
        if self.code.get(&begin) == Some(&code) {
            return;
        }
        // What was there before is gone.
        let overlapping = self.code.range(..end).filter(|(_, it)| it.end > begin);
        for begin in overlapping.map(|(begin, _)| *begin).collect::<Vec<u64>>() {
            self.unwinder.unmap(begin);
            self.code.remove(&begin);
        }
        let tables = files.tables(pid, mapping.path);
        let linked_at = tables.as_ref().and_then(|it| it.linked_at(mapping.offset));
        if let (Some(tables), Some(linked_at)) = (&tables, linked_at) {
            self.unwinder.map(begin..end, linked_at, tables);
        }
        buffer.code_mapping(
            time,
            &CodeMapping {
                pid,
                begin,
                end,
                offset: mapping.offset,
                linked_at: linked_at.unwrap_or(0),
                path: mapping.path,
                build_id: tables.as_ref().map_or("", |it| it.build_id()),
            },
        );
        self.code.insert(begin, code);
    }

    /// Whether code of a file is at this address.
    pub(super) fn has_code_at(&self, address: u64) -> bool {
        let before = self.code.range(..=address).next_back();
        before.is_some_and(|(_, code)| address < code.end)
    }
}

impl Files {
    fn tables(&mut self, pid: u32, path: &[u8]) -> Option<Arc<UnwindTables>> {
        if path == b"[vdso]" {
            let vdso = || Some(Arc::new(UnwindTables::of(&Image::vdso()?)));
            self.vdso = self.vdso.take().or_else(vdso);
            return self.vdso.clone();
        }
        // In a container, the same path is another file.
        let path = Path::new(OsStr::from_bytes(path));
        let inside =
            PathBuf::from(format!("/proc/{pid}/root")).join(path.strip_prefix("/").unwrap_or(path));
        let path = [inside.as_path(), path]
            .into_iter()
            .find(|path| path.is_file())?;
        let file = File::open(path).ok()?;
        let metadata = file.metadata().ok()?;
        let key = (
            metadata.dev(),
            metadata.ino(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        );
        if let Some(known) = self.tables.get(&key) {
            return Some(Arc::clone(known));
        }
        let tables = Arc::new(UnwindTables::of(&Image::open(path).ok()?));
        self.tables.insert(key, Arc::clone(&tables));
        Some(tables)
    }
}

/// A line of `/proc/PID/maps`, if it is code: `7f00-7f10 r-xp 00001000 fe:01 1234   /usr/lib/x.so`.
fn code_of(line: &[u8]) -> Option<Mapping<'_>> {
    let mut rest = line;
    let mut next = || {
        let end = rest.iter().position(|byte| *byte == b' ')?;
        let (word, behind) = rest.split_at(end);
        rest = behind.trim_ascii_start();
        std::str::from_utf8(word).ok()
    };
    let (begin, end) = next()?.split_once('-')?;
    let [begin, end] = [begin, end].map(|it| u64::from_str_radix(it, 16).ok());
    let (begin, end) = (begin?, end?);
    if !next()?.contains('x') {
        return None;
    }
    let offset = u64::from_str_radix(next()?, 16).ok()?;
    next()?;
    next()?;
    Some(Mapping {
        begin,
        bytes: end.checked_sub(begin)?,
        offset,
        path: rest,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_among_what_is_mapped() {
        let line =
            b"7f12a000-7f12c000 r-xp 00001000 fe:01 1234                     /usr/lib/my lib.so";
        let mapping = code_of(line).unwrap();
        assert_eq!(
            (mapping.begin, mapping.bytes, mapping.offset),
            (0x7f12a000, 0x2000, 0x1000)
        );
        assert_eq!(mapping.path, b"/usr/lib/my lib.so");
        assert!(code_of(b"7f12a000-7f12c000 rw-p 00000000 00:00 0 ").is_none());
        assert!(code_of(b"").is_none());
    }

    #[test]
    fn this_process_has_code_where_its_functions_are() {
        let (mut files, mut buffer) = (Files::default(), SchedBuffer::new(1 << 20));
        let process = Process::running(std::process::id(), 1, &mut files, &mut buffer);
        assert!(process.has_code_at(code_of as *const () as u64));
        assert!(!process.has_code_at(&raw const files as u64));
    }
}
