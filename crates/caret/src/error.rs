//! Why CARET's filters cannot be used, as sentences.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("could not read {path}: {cause}")]
    File { path: PathBuf, cause: io::Error },
    #[error(
        "{variable} contains `{expression}`: {reason}; use --select-node, --ignore-node, --select-topic or --ignore-topic instead"
    )]
    Expression {
        variable: &'static str,
        expression: String,
        reason: &'static str,
    },
    #[error("{path}, line {line}: {reason}")]
    FilterFile {
        path: PathBuf,
        line: usize,
        reason: String,
    },
}
