//! `dump` as text: byte for byte what babeltrace2 prints.

use std::io::Write;

use anyhow::bail;
use rostrace_ctf::{Selection, TraceSet};

use crate::outcome::Outcome;

/// How times are printed; the names are those of babeltrace2's options.
#[derive(Debug, Clone)]
pub(crate) struct TextOptions {
    pub(crate) clock_seconds: bool,
    pub(crate) clock_cycles: bool,
    pub(crate) clock_date: bool,
    pub(crate) clock_gmt: bool,
    /// The time since the event before.
    pub(crate) delta: bool,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions {
            clock_seconds: false,
            clock_cycles: false,
            clock_date: false,
            clock_gmt: false,
            delta: true,
        }
    }
}

pub(crate) fn dump(
    set: &TraceSet,
    options: &TextOptions,
    selection: &Selection,
    limit: Option<u64>,
    out: &mut dyn Write,
) -> anyhow::Result<Outcome> {
    let _ = (set, options, selection, limit, out);
    bail!("text is not built yet; use --format json or --format csv")
}
