//! Texts and numbers as JSON, for readers that count as JavaScript does.

use std::io::{self, Write};

/// The largest whole number up to which JavaScript knows all.
const LARGEST: i64 = 1 << 53;

pub(super) fn is_exact(value: i64) -> bool {
    (-LARGEST..=LARGEST).contains(&value)
}

pub(super) fn text(bytes: &mut Vec<u8>, text: &str) -> io::Result<()> {
    serde_json::to_writer(bytes, text).map_err(io::Error::from)
}

/// What JavaScript cannot count becomes a text.
pub(super) fn integer(bytes: &mut Vec<u8>, value: i64) -> io::Result<()> {
    match is_exact(value) {
        true => write!(bytes, "{value}"),
        false => write!(bytes, "\"{value}\""),
    }
}

/// JSON knows no infinity.
pub(super) fn real(bytes: &mut Vec<u8>, value: f64) -> io::Result<()> {
    match value.is_finite() {
        true => serde_json::to_writer(bytes, &value).map_err(io::Error::from),
        false => write!(bytes, "\"{value}\""),
    }
}
