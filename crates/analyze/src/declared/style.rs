//! Whose rules apply where CARET's and ours part.

/// The two ways to make tables of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// As CARET makes them, defects included, so that tables can be compared with its own row by row: what ran without its library is left
    /// out, lost messages inside a process are invisible, timers fire from their creation on, a path that cannot be followed ends early.
    Caret,
    /// As the trace has it: nothing is left out, and what is not known is missing or an error.
    #[default]
    Own,
}
