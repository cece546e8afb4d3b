//! Parts of the page: computed side by side, each packed for itself.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::Subject;
use super::columns::Columns;

#[derive(Debug)]
pub(crate) struct PagePart {
    pub(crate) name: &'static str,
    json: Vec<u8>,
    columns: Vec<u8>,
}

impl PagePart {
    pub(crate) fn new(name: &'static str, data: &impl Serialize, columns: Columns) -> PagePart {
        PagePart {
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
    parts: &[fn(Subject<'_>) -> PagePart],
    subject: Subject<'_>,
) -> Option<Vec<PackedPart>> {
    let is_stopped = || subject.options.is_stopped.is_some_and(|ask| ask());
    let packed = rostrace_base::parallel::on_all_processors(parts, |make| {
        (!is_stopped()).then(|| pack(&make(subject)))
    });
    packed.into_iter().collect()
}

fn pack(part: &PagePart) -> PackedPart {
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
