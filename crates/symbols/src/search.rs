//! Where the file of a program is found, and what was separated from it when it was stripped: by its build id, so that a file that was
//! built anew since is not taken for it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::image::Image;

/// Folders within folders that are looked into.
const DEPTH: usize = 24;

#[derive(Debug)]
pub(crate) struct Search {
    /// Where somebody said that files are.
    folders: Vec<PathBuf>,
    /// What is in them, by build id; found when it is first needed.
    contents: Option<FxHashMap<String, Vec<PathBuf>>>,
    system: Vec<PathBuf>,
}

impl Search {
    pub(crate) fn new(folders: Vec<PathBuf>) -> Search {
        let mut system = vec![PathBuf::from("/usr/lib/debug/.build-id")];
        system.extend(folders.iter().map(|folder| folder.join(".build-id")));
        Search {
            folders,
            contents: None,
            system,
        }
    }

    /// All that is there of a program: what it was recorded as first, then what has its debug information.
    pub(crate) fn images(&mut self, path: &str, build_id: &str) -> Vec<Image> {
        if path == "[vdso]" {
            let own = Image::vdso().filter(|image| image.build_id_text() == build_id);
            return Vec::from_iter(own);
        }
        let mut candidates = vec![PathBuf::from(path)];
        // A recording of somebody else may have anything there, such as a path.
        let is_plain = build_id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let named = build_id.split_at_checked(2);
        if let Some((first, rest)) = named.filter(|it| is_plain && !it.1.is_empty()) {
            let of_system = self.system.iter();
            candidates.extend(of_system.map(|it| it.join(first).join(format!("{rest}.debug"))));
            if let Some(cache) = debuginfod_cache() {
                candidates.push(cache.join(build_id).join("debuginfo"));
                candidates.push(cache.join(build_id).join("executable"));
            }
            let folders = &self.folders;
            let contents = self.contents.get_or_insert_with(|| contents(folders));
            candidates.extend(contents.get(build_id).into_iter().flatten().cloned());
        }
        candidates.dedup();
        let images = candidates.iter().filter_map(|path| Image::open(path).ok());
        images
            .filter(|image| image.build_id_text() == build_id)
            .collect()
    }
}

fn debuginfod_cache() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("DEBUGINFOD_CACHE_PATH") {
        return Some(path.into());
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("debuginfod_client"))
}

/// The programs below these folders, by build id.
fn contents(folders: &[PathBuf]) -> FxHashMap<String, Vec<PathBuf>> {
    let mut found: FxHashMap<String, Vec<PathBuf>> = FxHashMap::default();
    let mut waiting: Vec<(PathBuf, usize)> = folders.iter().map(|it| (it.clone(), 0)).collect();
    while let Some((folder, depth)) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            // Links to folders may lead in circles; those to files do not.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEPTH => waiting.push((path, depth + 1)),
                Ok(kind) if !kind.is_dir() && path.is_file() && is_elf(&path) => {
                    if let Ok(image) = Image::open(&path)
                        && !image.build_id().is_empty()
                    {
                        found.entry(image.build_id_text()).or_default().push(path);
                    }
                }
                _ => {}
            }
        }
    }
    found.values_mut().for_each(|paths| paths.sort());
    found
}

fn is_elf(path: &Path) -> bool {
    let mut begin = [0; 4];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == *b"\x7fELF"
}
