//! The services of a lifecycle node. rcl makes them with the node's state machine, and rclcpp adopts each under a handle of its own, which is
//! that of no init event: what ties them together is the type of request that the callback takes.

use super::{Entities, ServiceId};
use crate::entity::{CallbackId, CallbackOwner};

/// Where the callbacks of these services are defined.
const OWNER: &str = "LifecycleNodeInterfaceImpl";

/// The type of a request, and the services of that type in the order in which rclcpp adopts them.
const SERVICES: &[(&str, &[&str])] = &[
    ("::ChangeState_Request", &["change_state"]),
    ("::GetState_Request", &["get_state"]),
    ("::GetAvailableStates_Request", &["get_available_states"]),
    (
        "::GetAvailableTransitions_Request",
        &["get_available_transitions", "get_transition_graph"],
    ),
];

/// Gives a callback of which nobody knows what it is for to the service that its symbol tells: of the youngest lifecycle node of its process, for
/// rclcpp adopts the services of a node before it makes the next one.
pub(super) fn adopt(all: &mut Entities, id: CallbackId) {
    let callback = &all.callbacks[id.index()];
    let Some(symbol) = callback.symbol.as_deref() else {
        return;
    };
    if callback.owner != CallbackOwner::Unknown || !symbol.contains(OWNER) {
        return;
    }
    let of_type = SERVICES
        .iter()
        .find(|(request, _)| symbol.contains(request));
    let Some((_, names)) = of_type else { return };
    let machines = all.state_machines.iter().rev();
    let mut nodes = machines
        .filter(|it| it.process == callback.process && it.created <= callback.created)
        .filter_map(|it| it.node);
    let Some(node) = nodes.next() else { return };
    let is_free = |name: &str| {
        all.services.iter().position(|service| {
            service.node == Some(node)
                && service.callback.is_none()
                && service.name.rsplit('/').next() == Some(name)
        })
    };
    if let Some(service) = names.iter().find_map(|name| is_free(name)) {
        all.services[service].callback = Some(id);
        all.callbacks[id.index()].owner = CallbackOwner::Service(ServiceId::of(service));
    }
}
