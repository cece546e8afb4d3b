//! One of a node's publishers or subscriptions: its topic, and which one of that topic.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    pub topic: String,
    /// Counts a node's publishers (or subscriptions) of this topic, from 0.
    pub construction_order: u32,
}

impl Endpoint {
    pub fn new(topic: impl Into<String>, construction_order: u32) -> Endpoint {
        Endpoint {
            topic: topic.into(),
            construction_order,
        }
    }
}

/// `/topic`, or `/topic #1` for the second of its kind.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.construction_order {
            0 => f.write_str(&self.topic),
            order => write!(f, "{} #{order}", self.topic),
        }
    }
}
