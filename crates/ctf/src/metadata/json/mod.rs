//! The metadata language of CTF 2: a JSON text sequence (RFC 7464), one fragment after the other.
//!
//! `value` reads JSON, `fragment` the fragments, `class` and `dependent` the field classes.

mod class;
mod dependent;
mod fragment;
mod object;
#[cfg(test)]
mod tests;
mod value;

use super::ast::AstTrace;
use super::error::{Result, Warning};
use fragment::Fragments;
use value::{Fragment, Reader};

const RECORD_SEPARATOR: char = '\x1E';

/// The syntax tree, and why only a part of the text was used if so.
pub(super) fn read(
    text: &str,
    cut: Option<String>,
    warnings: &mut Vec<Warning>,
) -> Result<(AstTrace, Option<String>)> {
    let reader = Reader::new(text);
    let mut fragments = Fragments::new(warnings);
    let mut cut_short = cut;
    let mut pieces = text.split(RECORD_SEPARATOR).peekable();
    while let Some(piece) = pieces.next() {
        // Repeated separators are skipped.
        if piece.trim_ascii().is_empty() {
            continue;
        }
        match reader.fragment(piece)? {
            Fragment::Complete(value) => fragments.add(&value)?,
            Fragment::Unfinished(error) if pieces.peek().is_none() => {
                cut_short = Some(match cut_short {
                    Some(cut) => format!("{cut}; {error}"),
                    None => error.to_string(),
                });
            }
            Fragment::Unfinished(error) => return Err(error),
        }
    }
    Ok((fragments.into_trace()?, cut_short))
}
