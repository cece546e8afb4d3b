//! Where the tracer library is: `librostrace_tracer.so`, which the dynamic linker loads into every process of a command; and that for locks, which it
//! loads only if they are to be recorded.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rostrace_session::VERSION;

use crate::elf::Elf;
use crate::error::Error;

/// Names the library, wherever it is.
const VARIABLE: &str = "ROSTRACE_TRACER";
const NAME: &str = "librostrace_tracer.so";
const LOCKS: &str = "librostrace_locks.so";
/// The first version of glibc that has all functions for threads in itself.
const LOCKS_NEED: (u32, u32) = (2, 34);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracerLibrary(PathBuf);

impl TracerLibrary {
    /// What `ROSTRACE_TRACER` names; else beside this program; else where an installation has it. `built` is a further folder:
    /// cargo may keep what it builds on the way, libraries too, apart from finished programs.
    pub fn find(built: Option<&Path>) -> Result<TracerLibrary, Error> {
        if let Some(named) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
            let path = std::path::absolute(&named).unwrap_or_else(|_| PathBuf::from(&named));
            return match path.is_file() {
                true => Ok(TracerLibrary(path)),
                false => Err(Error::NamedLibraryMissing(path)),
            };
        }
        let program = std::env::current_exe()
            .and_then(std::fs::canonicalize)
            .unwrap_or_default();
        TracerLibrary::beside(&program, built)
    }

    /// Cargo puts a library that something depends on into `deps`, and one that was asked for also beside the program, where it
    /// stays when the other becomes newer.
    fn beside(program: &Path, built: Option<&Path>) -> Result<TracerLibrary, Error> {
        let folder = program.parent().unwrap_or(Path::new("/"));
        let mut new = vec![folder.join(NAME), folder.join("deps").join(NAME)];
        new.extend(built.map(|folder| folder.join(NAME)));
        let installed = ["../lib", "../lib/rostrace"].map(|place| folder.join(place).join(NAME));
        let found = newest(&new);
        let found = found.or_else(|| installed.iter().find(|place| age(place).is_some()));
        match found {
            Some(path) => Ok(TracerLibrary(
                std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()),
            )),
            None => Err(Error::NoLibrary(new.into_iter().chain(installed).collect())),
        }
    }

    /// Refuses one of another version: processes with it could not attach to our sessions.
    pub fn check(&self) -> Result<(), Error> {
        // One that cannot be read at all is complained of by the dynamic linker.
        match Elf::read(&self.0).map(|elf| elf.control_layout) {
            Some(Some(VERSION)) | None => Ok(()),
            Some(layout) => Err(Error::OtherLibrary {
                path: self.0.clone(),
                layout: match layout {
                    Some(layout) => format!("layout {layout}"),
                    None => "a layout that it does not name".to_owned(),
                },
            }),
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The library for locks, which is beside this one; cargo may have put either of them a folder deeper.
    pub fn locks(&self) -> Result<PathBuf, Error> {
        let version = c_library();
        if version < LOCKS_NEED {
            return Err(Error::OldCLibrary(version.0, version.1));
        }
        let folder = self.0.parent().unwrap_or(Path::new("/"));
        let mut places = vec![folder.join(LOCKS), folder.join("deps").join(LOCKS)];
        if folder.ends_with("deps") {
            places.extend(folder.parent().map(|outer| outer.join(LOCKS)));
        }
        match newest(&places) {
            Some(path) => Ok(path.clone()),
            None => Err(Error::NoLocksLibrary(places)),
        }
    }
}

/// The version of glibc.
fn c_library() -> (u32, u32) {
    // SAFETY: the text lives as long as the process.
    let text = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    let text = text.to_string_lossy();
    let mut numbers = text.split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// When a file was written, if it is there.
fn age(path: &Path) -> Option<SystemTime> {
    let meta = std::fs::metadata(path).ok().filter(|meta| meta.is_file())?;
    meta.modified().ok()
}

fn newest(places: &[PathBuf]) -> Option<&PathBuf> {
    let there = places.iter().filter(|place| age(place).is_some());
    there.max_by_key(|place| age(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_beside_the_program_or_in_the_installation() {
        let folder = std::env::temp_dir().join(format!("rostrace-library-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        for inner in ["bin/deps", "lib", "built"] {
            std::fs::create_dir_all(folder.join(inner)).unwrap();
        }
        let program = folder.join("bin/rostrace");
        let found = || TracerLibrary::beside(&program, Some(&folder.join("built"))).map(|it| it.0);
        let error = found().unwrap_err().to_string();
        assert!(
            error.contains("cargo build --release -p rostrace-tracer"),
            "{error}"
        );
        for place in ["lib", "bin/deps", "bin", "built"] {
            let path = folder.join(place).join(NAME);
            std::fs::write(&path, "").unwrap();
            assert_eq!(found().unwrap(), std::fs::canonicalize(&path).unwrap());
            let locks = path.with_file_name(LOCKS);
            let library = TracerLibrary(path);
            assert!(matches!(library.locks(), Err(Error::NoLocksLibrary(_))));
            std::fs::write(&locks, "").unwrap();
            assert_eq!(library.locks().unwrap(), locks);
            std::fs::remove_file(locks).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
