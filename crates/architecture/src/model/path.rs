//! A chain of nodes with a name: what people want to measure.

use super::{Endpoint, Extras};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPath {
    pub name: String,
    pub steps: Vec<PathStep>,
    pub extras: Extras,
}

/// One node of a path: what it gets and what it gives. Between two steps lies a communication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStep {
    pub node: String,
    /// None at the start of a path.
    pub subscription: Option<Endpoint>,
    /// None at its end.
    pub publisher: Option<Endpoint>,
    pub extras: Extras,
}

impl NamedPath {
    pub fn new(name: impl Into<String>, steps: Vec<PathStep>) -> NamedPath {
        NamedPath {
            name: name.into(),
            steps,
            extras: Extras::default(),
        }
    }

    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|step| step.node.as_str())
    }
}

impl PathStep {
    pub fn new(
        node: impl Into<String>,
        subscription: Option<Endpoint>,
        publisher: Option<Endpoint>,
    ) -> PathStep {
        PathStep {
            node: node.into(),
            subscription,
            publisher,
            extras: Extras::default(),
        }
    }
}
