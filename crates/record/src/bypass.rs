//! Which calls inside a library nobody can observe, found in its file.
//!
//! The tracer sees a call where the dynamic linker fills in an address. A library that was linked with `-Bsymbolic-functions`, with link-time
//! optimisation or without semantic interposition calls its own functions without asking. Inside a process the tracer finds that
//! out itself (`hooks/visibility` of the tracer has the rule); this is for those who ask before anything runs. Any bytes may come in.

use std::collections::BTreeSet;
use std::path::Path;

use crate::elf::{u16_at, u32_at, u64_at};

/// Larger files are not looked at; librclcpp.so has 3 MB.
const MOST_BYTES: u64 = 512 << 20;

const DYNAMIC_SYMBOLS: u32 = 11;
const RELOCATIONS: u32 = 4;
const DYNAMIC: u32 = 6;
const DT_SYMBOLIC: u64 = 16;
const DT_FLAGS: u64 = 30;
const DF_SYMBOLIC: u64 = 2;

/// A section: where it is, how long, and the number of the one that belongs to it.
#[derive(Debug, Clone, Copy)]
struct Section {
    kind: u32,
    at: usize,
    bytes: usize,
    link: u32,
}

/// Those of the functions, which the library calls itself wherever it has them, whose calls cannot be seen. None if the file cannot be
/// judged.
pub fn bypassed<'f>(library: &Path, functions: &[&'f str]) -> Option<BTreeSet<&'f str>> {
    let is_small = std::fs::metadata(library).is_ok_and(|meta| meta.len() <= MOST_BYTES);
    let bytes = is_small.then(|| std::fs::read(library).ok())??;
    in_bytes(&bytes, functions)
}

fn in_bytes<'f>(bytes: &[u8], functions: &[&'f str]) -> Option<BTreeSet<&'f str>> {
    // 64 bits, little endian.
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    // Address in a table, address in the table of calls, and an address anywhere.
    let kinds: [u32; 3] = match u16_at(bytes, 18)? {
        62 => [6, 7, 1],
        183 => [1025, 1026, 257],
        _ => return None,
    };
    let sections = sections(bytes)?;
    let symbols = sections.iter().position(|it| it.kind == DYNAMIC_SYMBOLS)?;
    let table = sections[symbols];
    let texts = sections.get(table.link as usize)?;
    let texts = bytes.get(texts.at..texts.at.checked_add(texts.bytes)?)?;
    let name = |symbol: usize| -> Option<&'f str> {
        let at = table.at.checked_add(symbol.checked_mul(24)?)?;
        let text = texts.get(u32_at(bytes, at)? as usize..)?;
        let end = text.iter().position(|byte| *byte == 0)?;
        let is_it = |function: &&&str| function.as_bytes() == &text[..end];
        functions.iter().find(is_it).copied()
    };
    let mut defined = BTreeSet::new();
    for symbol in 1..table.bytes / 24 {
        let is_here = u16_at(bytes, table.at.checked_add(symbol * 24)?.checked_add(6)?)? != 0;
        if is_here {
            defined.extend(name(symbol));
        }
    }
    if is_symbolic(bytes, &sections) {
        return Some(defined);
    }
    for section in sections.iter().filter(|it| it.kind == RELOCATIONS) {
        if section.link as usize != symbols {
            continue;
        }
        for relocation in 0..section.bytes / 24 {
            let info = u64_at(bytes, section.at.checked_add(relocation * 24 + 8)?)?;
            if info >> 32 != 0
                && kinds.contains(&(info as u32))
                && let Some(name) = name((info >> 32) as usize)
            {
                defined.remove(name);
            }
        }
    }
    Some(defined)
}

/// Whether the library looks into itself first, whoever comes before it.
fn is_symbolic(bytes: &[u8], sections: &[Section]) -> bool {
    let Some(dynamic) = sections.iter().find(|it| it.kind == DYNAMIC) else {
        return false;
    };
    (0..dynamic.bytes / 16).any(|entry| {
        let at = dynamic.at.saturating_add(entry * 16);
        match (u64_at(bytes, at), u64_at(bytes, at.saturating_add(8))) {
            (Some(DT_SYMBOLIC), _) => true,
            (Some(DT_FLAGS), Some(flags)) => flags & DF_SYMBOLIC != 0,
            _ => false,
        }
    })
}

fn sections(bytes: &[u8]) -> Option<Vec<Section>> {
    let table = usize::try_from(u64_at(bytes, 40)?).ok()?;
    let size = usize::from(u16_at(bytes, 58)?);
    let count = usize::from(u16_at(bytes, 60)?);
    let mut sections = Vec::with_capacity(count);
    for number in 0..count {
        let at = table.checked_add(number * size)?;
        let place = |field: usize| u64_at(bytes, at.checked_add(field)?);
        sections.push(Section {
            kind: u32_at(bytes, at.checked_add(4)?)?,
            at: usize::try_from(place(24)?).ok()?,
            bytes: usize::try_from(place(32)?).ok()?,
            link: u32_at(bytes, at.checked_add(40)?)?,
        });
    }
    Some(sections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new() -> Folder {
            use std::sync::atomic::{AtomicU32, Ordering};
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("rostrace-bypass-{}-{number}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const FUNCTIONS: &[&str] = &["inner", "outer", "absent"];

    fn library(folder: &Path, options: &[&str]) -> std::path::PathBuf {
        let source = folder.join("library.c");
        let text = "int inner(int x) { return x + 1; }\nint outer(int x) { return inner(x) * 2; }\nint most(int x) { return outer(x); }\n";
        std::fs::write(&source, text).unwrap();
        let made = folder.join(format!("lib{}.so", options.len()));
        let status = Command::new("cc")
            .args(["-shared", "-fPIC", "-O0", "-o"])
            .args([&made, &source])
            .args(options)
            .status()
            .unwrap();
        assert!(status.success());
        made
    }

    #[test]
    fn a_library_that_calls_itself_directly_is_recognised() {
        let folder = Folder::new();
        let ordinary = library(&folder.0, &[]);
        assert_eq!(bypassed(&ordinary, FUNCTIONS), Some(BTreeSet::new()));
        let direct = library(&folder.0, &["-Wl,-Bsymbolic-functions"]);
        let expected = BTreeSet::from(["inner", "outer"]);
        assert_eq!(bypassed(&direct, FUNCTIONS), Some(expected.clone()));
        let symbolic = library(&folder.0, &["-Wl,-Bsymbolic", "-O0"]);
        assert_eq!(bypassed(&symbolic, FUNCTIONS), Some(expected));
    }

    #[test]
    fn cut_and_changed_files_are_read_without_harm() {
        let folder = Folder::new();
        let mut bytes = std::fs::read(library(&folder.0, &[])).unwrap();
        for end in 0..bytes.len() {
            let _ = in_bytes(&bytes[..end], FUNCTIONS);
        }
        for at in (0..512).chain(bytes.len().saturating_sub(2048)..bytes.len()) {
            for value in [0, 0x7f, 0xff] {
                let before = std::mem::replace(&mut bytes[at], value);
                let _ = in_bytes(&bytes, FUNCTIONS);
                bytes[at] = before;
            }
        }
        assert_eq!(bypassed(Path::new("/dev/null"), FUNCTIONS), None);
    }
}
