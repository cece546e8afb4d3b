//! Metadata, stream file and index file together: nothing that they say can break the reader.
//!
//! The input has three parts, with [`SEPARATOR`] between them; the last two may be missing.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem;
use rostrace_ctf::{StreamBytes, TraceSet, metadata};
use rostrace_testkit::agreement::compare;

use super::Target;
use super::metadata::DICTIONARY;

pub(super) const TARGET: Target = Target {
    name: "folder",
    run,
    seeds,
    dictionary: DICTIONARY,
};

const SEPARATOR: &[u8] = b"\0\xFFfile\0";

fn run(data: &[u8]) {
    let (metadata, rest) = split(data);
    let (stream, index) = split(rest.unwrap_or_default());
    let Ok(metadata) = metadata::read(metadata) else {
        return;
    };
    let file = StreamBytes {
        name: PathBuf::from("stream"),
        bytes: stream.to_vec(),
        index: index.map(<[u8]>::to_vec),
    };
    let set = TraceSet::in_memory(Arc::new(metadata.schema), vec![file]);
    if let Err(error) = compare(&set, |_, _| true) {
        panic!("{error}");
    }
}

fn split(data: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memmem::find(data, SEPARATOR) {
        Some(at) => (&data[..at], Some(&data[at + SEPARATOR.len()..])),
        None => (data, None),
    }
}

/// The small traces of the target `packet`, and the beginning of a recording.
fn seeds(testdata: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut seeds = Vec::new();
    for seed in (super::packet::TARGET.seeds)(testdata)? {
        if let Some((4 | 5, stream)) = seed.split_first().map(|(first, rest)| (*first, rest)) {
            let text = match seed[0] {
                4 => super::schemas::EVERYTHING_OF_CTF_1,
                _ => super::schemas::EVERYTHING_OF_CTF_2,
            };
            seeds.push([text.as_bytes(), SEPARATOR, stream].concat());
        }
    }
    let folder = testdata.join("lifecycle_caret/ust/uid/0/64-bit");
    let mut stream = std::fs::read(folder.join("ros2_1"))?;
    stream.truncate(8192);
    let metadata = std::fs::read(folder.join("metadata"))?;
    let index = std::fs::read(folder.join("index/ros2_1.idx"))?;
    seeds.push([&metadata[..], SEPARATOR, &stream, SEPARATOR, &index].concat());
    Ok(seeds)
}
