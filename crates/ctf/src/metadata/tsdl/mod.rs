//! TSDL, the metadata language of CTF 1.8: `token` → `parser` → `evaluator`.
//!
//! Tracers write metadata while they run. When they die, the text may end anywhere: then the complete top-level blocks
//! are used and the caller is told.

mod attribute;
mod block;
mod class;
mod compound;
mod evaluator;
mod parser;
mod scope;
mod syntax;
#[cfg(test)]
mod tests;
mod token;
mod type_parser;

use super::ast::AstTrace;
use super::error::{Position, Result, Warning};

/// The syntax tree, and why only a part of the text was used if so.
pub(super) fn read(
    text: &str,
    cut: Option<String>,
    warnings: &mut Vec<Warning>,
) -> Result<(AstTrace, Option<String>)> {
    check_signature(text)?;
    let parsed = parser::parse(text);
    let cut_short = match (parsed.fault, cut) {
        (Some(fault), _) if !fault.at_end => return Err(fault.error),
        (Some(fault), cut) => Some(match cut {
            Some(cut) => format!("{cut}; {}", fault.error),
            None => fault.error.to_string(),
        }),
        (None, cut) => cut,
    };
    let trace = evaluator::evaluate(&parsed.items, cut_short.is_some(), warnings)?;
    Ok((trace, cut_short))
}

/// `/* CTF 1.8`, if present, must say this version.
fn check_signature(text: &str) -> Result<()> {
    let version = text
        .trim_start()
        .strip_prefix("/*")
        .and_then(|rest| rest.trim_start().strip_prefix("CTF"))
        .map(str::trim_start)
        .map(|rest| {
            rest.split(|c: char| !c.is_ascii_digit() && c != '.')
                .next()
                .unwrap_or_default()
        })
        .filter(|version| version.contains('.'));
    match version {
        Some("1.8") | None => Ok(()),
        Some(version) if version.starts_with("1.8.") => Ok(()),
        Some(version) => Err(Position { line: 1, column: 1 }
            .error(format!("the metadata is of CTF version {version}"))
            .with_hint("of the versions with this language only 1.8 is known")),
    }
}
