//! Inside a node, one callback writes a variable that another reads: how data goes on without a message.

use super::Extras;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariablePassing {
    /// None: `UNDEFINED`. Such an entry has no effect; it is kept for the person who will complete it.
    pub write: Option<String>,
    pub read: Option<String>,
    pub extras: Extras,
}

impl VariablePassing {
    pub fn pair(&self) -> Option<(&str, &str)> {
        Some((self.write.as_deref()?, self.read.as_deref()?))
    }
}
