//! What can be wrong with metadata, said with the place where it is wrong.
//!
//! Lines and columns count from 1 in the text without packet framing (columns in bytes). Line 0 means that the fault
//! lies outside of the text: in the framing, or in what is missing altogether.

/// Why the metadata of a trace cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}{}", place(*line, *column), advice(hint))]
pub struct MetadataError {
    pub line: u32,
    pub column: u32,
    pub message: String,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

/// Something in the metadata that is odd, but does not keep anybody from reading the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub line: u32,
    pub column: u32,
    pub message: String,
}

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) column: u32,
}

pub(super) type Result<T> = std::result::Result<T, MetadataError>;

impl Position {
    /// For what has no place in the text.
    pub(super) const NOWHERE: Position = Position { line: 0, column: 0 };

    pub(super) fn error(self, message: impl Into<String>) -> MetadataError {
        MetadataError {
            line: self.line,
            column: self.column,
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn repeated_id(self, what: &str, id: u64) -> MetadataError {
        self.error(format!("there is already {what} with the id {id}"))
    }

    pub(super) fn warning(self, message: impl Into<String>) -> Warning {
        Warning {
            line: self.line,
            column: self.column,
            message: message.into(),
        }
    }
}

impl MetadataError {
    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> MetadataError {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", place(self.line, self.column), self.message)
    }
}

fn place(line: u32, column: u32) -> String {
    match line {
        0 => String::new(),
        _ => format!("line {line}, column {column}: "),
    }
}

fn advice(hint: &Option<String>) -> String {
    hint.as_ref()
        .map_or_else(String::new, |hint| format!("; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_a_sentence_with_its_place_and_a_hint() {
        let error = Position { line: 3, column: 7 }.error("expected ';', found '}'");
        assert_eq!(
            error.to_string(),
            "line 3, column 7: expected ';', found '}'"
        );
        let error = error.with_hint("end the block with '};'");
        assert_eq!(
            error.to_string(),
            "line 3, column 7: expected ';', found '}'; end the block with '};'"
        );
    }

    #[test]
    fn an_error_outside_of_the_text_has_no_place() {
        let error = Position::NOWHERE.error("the metadata is empty");
        assert_eq!(error.to_string(), "the metadata is empty");
    }
}
