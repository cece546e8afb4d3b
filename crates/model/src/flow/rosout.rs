//! Who said something on `/rosout`. Up to Humble rcl publishes log messages with a copy of the publisher on its stack, so that the address
//! in `rcl_publish` is that of no publisher, and another one with each depth of the stack.

use std::collections::HashMap;

use rostrace_ctf::schema::Nanos;

use super::Publication;
use crate::entity::{Address, Entities, NodeId, ProcessId, PublisherId};

const ROSOUT: &str = "/rosout";

/// The publishers of `/rosout`, by process, in the order of creation.
pub(super) struct Rosout(HashMap<ProcessId, Vec<RosoutPublisher>>);

struct RosoutPublisher {
    id: PublisherId,
    node: Option<NodeId>,
    created: Nanos,
}

impl Rosout {
    pub(super) fn of(entities: &Entities) -> Rosout {
        let mut found: HashMap<ProcessId, Vec<RosoutPublisher>> = HashMap::new();
        for (index, publisher) in entities.publishers.iter().enumerate() {
            if publisher.topic == ROSOUT {
                found
                    .entry(publisher.process)
                    .or_default()
                    .push(RosoutPublisher {
                        id: PublisherId::of(index),
                        node: publisher.node,
                        created: publisher.created,
                    });
            }
        }
        for publishers in found.values_mut() {
            publishers.sort_by_key(|publisher| publisher.created);
        }
        Rosout(found)
    }

    /// The publisher of a message that no known one sent: rclcpp had nothing to do with it, and the middleware does not tell whose it is.
    /// `node` is the one whose callback it happened in; without it, the first of the process stands for all of them.
    pub(super) fn publisher(
        &self,
        process: ProcessId,
        publication: &Publication,
        node: Option<NodeId>,
    ) -> Option<PublisherId> {
        let by_rcl_alone = publication.rcl.is_some()
            && publication.rclcpp.is_none()
            && publication.intra.is_none()
            && publication.rmw_handle == Address(0);
        if !by_rcl_alone {
            return None;
        }
        let publishers = self.0.get(&process)?;
        let there = |it: &&RosoutPublisher| it.created <= publication.publish;
        let of_node = (publishers.iter())
            .filter(there)
            .find(|it| node.is_some() && it.node == node);
        let found = of_node.or_else(|| publishers.iter().find(there));
        found.map(|publisher| publisher.id)
    }
}
