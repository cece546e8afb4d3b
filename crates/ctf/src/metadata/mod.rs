//! From the bytes of a trace's `metadata` file to its [`Schema`].
//!
//! `framing` takes the text out of packets, `tsdl` and `json` read the two languages into one syntax tree (`ast`),
//! and `build` and `lower` make the schema of it: references become slots, reserved names and declared roles become roles.
//! No input makes this panic, loop or allocate without bound.

mod ast;
mod build;
mod environment;
mod error;
mod framing;
mod json;
mod lower;
mod reference;
mod role;
mod tsdl;

pub(crate) use environment::with_environment;

pub use error::{MetadataError, Warning};

use crate::schema::Schema;
use framing::Language;

/// What the metadata of a trace says.
#[derive(Debug, Clone)]
pub struct Metadata {
    pub schema: Schema,
    /// TSDL without packet framing, or the JSON text sequence.
    pub text: String,
    pub warnings: Vec<Warning>,
    /// Present when the end of the metadata is missing and only complete top-level blocks were used; says what
    /// was found at the end.
    pub cut_short: Option<String>,
}

/// Reads the content of a `metadata` file.
pub fn read(bytes: &[u8]) -> Result<Metadata, MetadataError> {
    let framed = framing::unframe(bytes)?;
    let mut warnings = framed.warnings;
    // Only comments and string literals may hold bytes that are no UTF-8, and there nothing depends on them.
    let text = String::from_utf8_lossy(&framed.text).into_owned();
    if framed.language == Language::Json && text.as_bytes() != framed.text {
        warnings
            .push(error::Position::NOWHERE.warning("the metadata holds bytes that are no UTF-8"));
    }
    let (ast, cut_short) = match framed.language {
        Language::Tsdl => tsdl::read(&text, framed.cut, &mut warnings)?,
        Language::Json => json::read(&text, framed.cut, &mut warnings)?,
    };
    let schema = build::build(ast, &mut warnings)?;
    Ok(Metadata {
        schema,
        text,
        warnings,
        cut_short,
    })
}

/// Lines of the form `what => why`, for tests.
#[cfg(test)]
fn table(cases: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = cases.trim().lines();
    lines.map(|line| line.trim().split_once(" => ").expect("a row of the table"))
}
