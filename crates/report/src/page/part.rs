//! Parts of the page: computed side by side, each packed for itself.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::Subject;
use super::columns::Columns;

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    json: Vec<u8>,
    columns: Vec<u8>,
}

impl Part {
    pub(crate) fn new(name: &'static str, data: &impl Serialize, columns: Columns) -> Part {
        Part {
            name,
            // Maps with keys that are no texts are the only thing that JSON cannot hold, and no part has one.
            json: serde_json::to_vec(data).unwrap_or_else(|_| b"null".to_vec()),
            columns: columns.bytes,
        }
    }
}

/// A part as it is in the file.
#[derive(Debug)]
pub(crate) struct PackedPart {
    pub(crate) name: &'static str,
    pub(crate) json: String,
    pub(crate) columns: String,
}

/// All parts, in their order; nothing if that was stopped.
pub(crate) fn packed(
    parts: &[fn(Subject<'_>) -> Part],
    subject: Subject<'_>,
) -> Option<Vec<PackedPart>> {
    let is_stopped = || subject.options.is_stopped.is_some_and(|ask| ask());
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(parts.len()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(make) = parts.get(number).filter(|_| !is_stopped()) else {
                break;
            };
            let packed = pack(&make(subject));
            done.lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .push((number, packed));
        }
    };
    thread::scope(|scope| {
        let workers = thread::available_parallelism()
            .map_or(1, usize::from)
            .min(parts.len());
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(number, _)| *number);
    (done.len() == parts.len()).then(|| done.into_iter().map(|(_, part)| part).collect())
}

fn pack(part: &Part) -> PackedPart {
    PackedPart {
        name: part.name,
        json: compressed(&part.json),
        columns: compressed(&part.columns),
    }
}

/// Quick rather than small: columns are dense already.
const LEVEL: Compression = Compression::new(4);

/// Compressed, and written in letters that mean nothing to HTML.
fn compressed(content: &[u8]) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), LEVEL);
    let written = encoder.write_all(content).and_then(|()| encoder.finish());
    STANDARD.encode(written.expect("memory takes what is written"))
}
