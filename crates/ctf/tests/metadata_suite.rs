//! Reads the metadata of every recording at hand: the conformance suite and real traces of several tracers.
//!
//! The recordings are not part of this repository. They are looked for in a folder `shared` beside one of the
//! folders above this crate.

use std::path::{Path, PathBuf};

use rostrace_ctf::metadata::{self, Metadata, MetadataError};
use rostrace_ctf::schema::{
    Base, ByteOrder, EnvironmentValue, FieldClass, IntegerForm, Length, Origin, Role, Slot, Struct,
    Version,
};

/// The folder with the recordings, or a loud word that there is none.
fn shared() -> Option<PathBuf> {
    let found = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared"))
        .find(|shared| shared.join("ctf-suite").is_dir());
    if found.is_none() {
        eprintln!("SKIPPED: there is no ../shared/ctf-suite above this crate; nothing was tested");
    }
    found
}

/// All files named `metadata` below a folder, sorted.
fn metadata_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|name| name == "metadata") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> Result<Metadata, MetadataError> {
    metadata::read(&std::fs::read(path).unwrap())
}

fn all_read(folder: &Path, at_least: usize) {
    let files = metadata_files(folder);
    assert!(
        files.len() >= at_least,
        "only {} in {folder:?}",
        files.len()
    );
    let faults: Vec<String> = files
        .iter()
        .filter_map(|path| match read(path) {
            Err(error) => Some(format!("{}: {error}", path.display())),
            Ok(Metadata {
                cut_short: Some(cut),
                ..
            }) => Some(format!("{}: cut short: {cut}", path.display())),
            Ok(_) => None,
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_good_case_of_ctf_1_in_the_suite_is_read() {
    let Some(shared) = shared() else { return };
    all_read(&shared.join("ctf-suite/1/succeed"), 222);
}

#[test]
fn every_recording_of_a_real_tracer_is_read() {
    let Some(shared) = shared() else { return };
    all_read(&shared.join("traces"), 40);
}

#[test]
fn every_good_case_of_ctf_2_in_the_suite_is_read() {
    let Some(shared) = shared() else { return };
    all_read(&shared.join("ctf-suite/2/succeed"), 356);
}
