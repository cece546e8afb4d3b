//! What is wrong with a file, and where.

use std::cell::RefCell;
use std::fmt;

use rostrace_base::yaml::Position;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// Something in the file has no effect.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    pub position: Option<Position>,
    pub message: String,
}

/// `line 12, column 5: what is wrong`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "{position}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// A file that cannot be used, and everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// At least one.
    pub errors: Vec<Problem>,
    pub warnings: Vec<Problem>,
    /// What a check finds in the part that could be read: one error does not hide the others.
    pub others: Vec<Problem>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}

/// Problems as they are found. Shared by everything that reads, hence the cell.
#[derive(Debug, Default)]
pub(super) struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    pub(super) fn error(&self, at: Option<Position>, message: impl Into<String>) {
        self.add(Severity::Error, at, message.into());
    }

    pub(super) fn warning(&self, at: Position, message: impl Into<String>) {
        self.add(Severity::Warning, Some(at), message.into());
    }

    fn add(&self, severity: Severity, position: Option<Position>, message: String) {
        self.0.borrow_mut().push(Problem {
            severity,
            position,
            message,
        });
    }

    /// Errors and warnings, each in the order of the file.
    pub(super) fn sorted(self) -> (Vec<Problem>, Vec<Problem>) {
        let mut problems = self.0.into_inner();
        problems.sort_by_key(|problem| problem.position);
        (problems.into_iter()).partition(|problem| problem.severity == Severity::Error)
    }
}
