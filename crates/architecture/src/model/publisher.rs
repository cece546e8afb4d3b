//! A node's means to send messages of one topic, and the callbacks that use it.

use super::{Endpoint, Extras};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publisher {
    pub topic: String,
    /// Names of callbacks of the same node; empty if nobody has said.
    pub callbacks: Vec<String>,
    pub construction_order: u32,
    pub extras: Extras,
}

impl Publisher {
    pub fn new(
        topic: impl Into<String>,
        callbacks: Vec<String>,
        construction_order: u32,
    ) -> Publisher {
        Publisher {
            topic: topic.into(),
            callbacks,
            construction_order,
            extras: Extras::default(),
        }
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::new(&self.topic, self.construction_order)
    }

    pub(crate) fn is(&self, endpoint: &Endpoint) -> bool {
        self.topic == endpoint.topic && self.construction_order == endpoint.construction_order
    }
}
