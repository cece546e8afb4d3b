//! A node's means to receive messages of one topic, and the callback that they go to.

use super::{Endpoint, Extras};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    pub topic: String,
    /// None: messages are taken by hand, or nobody knows.
    pub callback: Option<String>,
    pub construction_order: u32,
    pub extras: Extras,
}

impl Subscription {
    pub fn new(
        topic: impl Into<String>,
        callback: Option<String>,
        construction_order: u32,
    ) -> Subscription {
        Subscription {
            topic: topic.into(),
            callback,
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
