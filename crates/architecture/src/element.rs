//! A part of an architecture, by its index: what a finding or a position is about.

/// Indices count as in the lists of [`crate::Architecture`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    Path(usize),
    /// Path, step.
    PathStep(usize, usize),
    Executor(usize),
    /// Executor, entry of its list.
    ExecutorGroup(usize, usize),
    Node(usize),
    /// Node, then the entry of the node's list; likewise below.
    CallbackGroup(usize, usize),
    Callback(usize, usize),
    VariablePassing(usize, usize),
    Publisher(usize, usize),
    Subscription(usize, usize),
    MessageContext(usize, usize),
}
