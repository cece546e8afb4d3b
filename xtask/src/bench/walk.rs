//! What only decoding can tell about a packet: how many events it has and which of them carry full timestamps.
//!
//! Each packet of the original is walked once, however often it is repeated, so the slow interpreter is fast enough, and
//! the generated trace does not depend on the decoder that is measured with it.

use std::path::Path;

use anyhow::{Context, Result};
use rostrace_ctf::{Value, metadata};
use rostrace_testkit::interpret::{Event, Interpreter};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Walked {
    pub(super) events: u64,
    /// Byte offsets, from the start of the packet, of the 64-bit timestamps in extended event headers. Ascending.
    pub(super) extended_timestamps: Vec<usize>,
}

/// Walks one packet: all its bytes, header and padding included.
pub(super) type Walker = Box<dyn Fn(&[u8]) -> Result<Walked>>;

/// In the packed "large" header the extended form is a 16-bit mark, a 32-bit id and the timestamp.
const TIMESTAMP_BEHIND: usize = 2 + 4;

/// Makes the walker for the packets of the trace in `trace`.
pub(super) fn walker(trace: &Path) -> Result<Walker> {
    let path = trace.join("metadata");
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let schema = metadata::read(&bytes)
        .with_context(|| format!("cannot understand {}", path.display()))?
        .schema;
    Ok(Box::new(move |packet| {
        let mut walked = Walked::default();
        for event in Interpreter::new(&schema, packet, 0) {
            let event = event?;
            walked.events += 1;
            if is_extended(&event) {
                walked
                    .extended_timestamps
                    .push(event.begin as usize / 8 + TIMESTAMP_BEHIND);
            }
        }
        Ok(walked)
    }))
}

/// The second member of LTTng's header is a variant of a compact and an extended form.
fn is_extended(event: &Event) -> bool {
    let members = event.header.as_ref().and_then(Value::members);
    matches!(members, Some([_, Value::Variant(1, _)]))
}
