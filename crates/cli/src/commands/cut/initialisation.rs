//! Events that say what things are: which node a publisher belongs to, which topic it has, what a callback is called. Programs
//! emit them when they make the thing, mostly long before the part of a trace that one wants to see.

use rostrace_tracepoints::{Phase, TRACEPOINTS};

/// Patterns that the names of these events match.
pub(super) fn patterns() -> Vec<String> {
    let describing = TRACEPOINTS
        .iter()
        .filter(|tracepoint| tracepoint.phase == Phase::Init);
    describing
        .map(|tracepoint| tracepoint.full_name.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_kept(name: &str) -> bool {
        (patterns().iter()).any(|pattern| glob::Pattern::new(pattern).unwrap().matches(name))
    }

    #[test]
    fn what_names_things_is_kept() {
        for name in [
            "ros2:rcl_node_init",
            "ros2:rclcpp_callback_register",
            "ros2:message_link_partial_sync",
            "ros2_caret:caret_init",
            "ros2_caret:rmw_implementation",
            "ros2_caret:rclcpp_subscription_callback_added",
            "ros2_caret:construct_static_executor",
            "ros2_caret:callback_group_to_executor_entity_collector",
            "ros2_caret:agnocast_subscription_init",
            "lttng_ust_statedump:bin_info",
        ] {
            assert!(is_kept(name), "{name}");
        }
    }

    #[test]
    fn what_happens_again_and_again_is_not() {
        for name in [
            "ros2:callback_start",
            "ros2:rcl_lifecycle_transition",
            "ros2:rclcpp_ring_buffer_enqueue",
            "ros2_caret:dds_write",
            "ros2_caret:sim_time",
            "sched_switch",
        ] {
            assert!(!is_kept(name), "{name}");
        }
    }
}
