//! What a budget is: whom it is about, and which limits it sets.

use glob::Pattern;
use rostrace_base::yaml::Position;

use super::key::{Bound, Measure, SubjectKind};
use super::quantity::Quantity;

#[derive(Debug, Clone)]
pub struct Budget {
    pub at: Position,
    pub target: Target,
    /// That nothing fits is no failure.
    pub optional: bool,
    pub allowed: Option<Allowed>,
    /// In the order of the file.
    pub limits: Vec<Limit>,
}

#[derive(Debug, Clone)]
pub enum Target {
    Callback {
        /// Fits the node, or the name as people say it.
        name: Pattern,
        trigger: Option<Pattern>,
    },
    Topic {
        name: Pattern,
        publisher: Option<Pattern>,
        subscriber: Option<Pattern>,
    },
    /// As messages were seen to go, from a node or topic to another.
    Path { from: Pattern, to: Pattern },
    /// As an architecture file names it.
    NamedPath(String),
}

/// So much may be beyond `min` and `max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowed {
    /// Of all values.
    pub ratio: f64,
    /// So many in a row; nothing if any.
    pub run: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    pub at: Position,
    pub measure: Measure,
    pub bound: Bound,
    pub value: Quantity,
}

impl Target {
    pub fn kind(&self) -> SubjectKind {
        match self {
            Target::Callback { .. } => SubjectKind::Callback,
            Target::Topic { .. } => SubjectKind::Topic,
            Target::Path { .. } | Target::NamedPath(_) => SubjectKind::Path,
        }
    }

    /// `callback /fusion ← /points`
    pub fn description(&self) -> String {
        match self {
            Target::Callback { name, trigger } => match trigger {
                Some(trigger) => format!("callback {name} for {trigger}"),
                None => format!("callback {name}"),
            },
            Target::Topic { name, .. } => format!("topic {name}"),
            Target::Path { from, to } => format!("path from {from} to {to}"),
            Target::NamedPath(name) => format!("path {name}"),
        }
    }
}
