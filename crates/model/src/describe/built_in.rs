//! What nobody wrote: the topics and services that rclcpp gives to every node, hidden ones, and what CARET's recorder adds to each process. Tables
//! fold them; JSON marks them. Actions have hidden names too, but their goals, feedback and results are the application's.

use super::Description;
use crate::Model;
use crate::entity::CallbackId;

/// Services of every node, below its name: parameters, type description, lifecycle.
const NODE_SERVICES: &[&str] = &[
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
    "get_type_description",
    "change_state",
    "get_state",
    "get_available_states",
    "get_available_transitions",
    "get_transition_graph",
];

const TOPICS: &[&str] = &[
    "/parameter_events",
    "/rosout",
    "/caret/start_record",
    "/caret/end_record",
    "/caret/status",
];

/// Functions that are registered as callbacks by rclcpp itself. Those of lifecycle services have no other name: their
/// service is made by rcl.
const SYMBOLS: &[&str] = &["rclcpp_lifecycle::LifecycleNode::LifecycleNodeInterfaceImpl::"];

/// The nodes by which CARET starts and stops a recording (one in each process, and one that tells them), that of `ros2 launch`, and hidden ones, as the other
/// commands of `ros2` make them.
pub fn node(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default();
    let launch = name.strip_prefix("/launch_ros_");
    name.starts_with("/caret_trace_")
        || name == "/caret_session_node"
        || launch.is_some_and(|pid| pid.bytes().all(|it| it.is_ascii_digit()))
        || last.starts_with('_')
}

pub fn topic(name: &str) -> bool {
    TOPICS.contains(&name) || is_hidden(name) || name.ends_with("/transition_event")
}

/// Whether a node has this service without having asked for it.
pub fn service(node: Option<&str>, name: &str) -> bool {
    let (owner, last) = name.rsplit_once('/').unwrap_or(("", name));
    is_hidden(name) || NODE_SERVICES.contains(&last) && node.is_none_or(|node| node == owner)
}

/// A client is made on purpose, also one of another node's parameters.
pub fn client(name: &str) -> bool {
    is_hidden(name)
}

pub(super) fn symbol(symbol: &str) -> bool {
    SYMBOLS.iter().any(|own| symbol.contains(own))
}

pub fn callback(model: &Model, id: CallbackId) -> bool {
    Description::of(model, id).built_in
}

/// ROS 2 hides names with a part that begins with an underscore. What an action consists of, and by what a container loads nodes, runs what somebody wrote.
fn is_hidden(name: &str) -> bool {
    let is_own = |part: &str| !matches!(part, "_action" | "_container");
    let mut parts = name.split('/').filter(|part| part.starts_with('_'));
    parts.any(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_node_has_is_built_in() {
        assert!(topic("/rosout"));
        assert!(topic("/count/_hidden/feedback"));
        assert!(topic("/talker/transition_event"));
        assert!(service(Some("/a/talker"), "/a/talker/get_parameters"));
        assert!(service(None, "/talker/change_state"));
        assert!(node("/caret_trace_a638fa97"));
        assert!(node("/launch_ros_26717"));
        assert!(node("/_ros2cli_14292"));
    }

    #[test]
    fn what_somebody_wrote_is_not() {
        assert!(!topic("/points"));
        assert!(!topic("/my_rosout"));
        assert!(!topic("/count/_action/feedback"));
        assert!(!client("/count/_action/send_goal"));
        assert!(!service(Some("/counter"), "/count/_action/send_goal"));
        assert!(!service(Some("/box"), "/box/_container/load_node"));
        assert!(!service(Some("/talker"), "/get_parameters"));
        assert!(!service(Some("/talker"), "/talker/add"));
        assert!(!client("/talker/get_parameters"));
        assert!(!node("/talker"));
        assert!(!node("/launch_ros_stack"));
    }
}
