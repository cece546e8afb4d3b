//! Events that say what things are, declared once: which node a publisher belongs to, which topic it has, what a callback is
//! called. Programs emit them when they make the thing, mostly long before the part of a trace that one wants to see.

/// Events of one provider; names may contain `*`.
struct Provider {
    name: &'static str,
    events: &'static [&'static str],
}

const INITIALISATION: &[Provider] = &[
    // ros2_tracing, Foxy to Lyrical.
    Provider {
        name: "ros2",
        events: &[
            "rcl_init",
            "rcl_node_init",
            "rmw_publisher_init",
            "rcl_publisher_init",
            "rmw_subscription_init",
            "rcl_subscription_init",
            "rclcpp_subscription_init",
            "rclcpp_subscription_callback_added",
            "rcl_service_init",
            "rclcpp_service_callback_added",
            "rmw_client_init",
            "rcl_client_init",
            "rcl_timer_init",
            "rclcpp_timer_callback_added",
            "rclcpp_timer_link_node",
            "rclcpp_callback_register",
            "rcl_lifecycle_state_machine_init",
            "rclcpp_ipb_to_subscription",
            "rclcpp_buffer_to_ipb",
            "rclcpp_construct_ring_buffer",
        ],
    },
    // CARET of all versions, with what it knows of Agnocast and TILDE.
    Provider {
        name: "ros2_caret",
        events: &[
            "*_init",
            "rmw_implementation",
            "rclcpp_*_callback_added",
            "rclcpp_timer_link_node",
            "rclcpp_callback_register",
            "rclcpp_construct_ring_buffer",
            "rclcpp_buffer_to_ipb",
            "rclcpp_ipb_to_subscription",
            "*construct_executor",
            "construct_static_executor",
            "*add_callback_group*",
            "callback_group_*",
            "executor_entity_collector_to_executor",
            "tilde_subscribe_added",
        ],
    },
    // Which libraries a process has, and where.
    Provider {
        name: "lttng_ust_statedump",
        events: &["*"],
    },
];

/// Patterns that the names of these events match.
pub(super) fn patterns() -> Vec<String> {
    (INITIALISATION.iter())
        .flat_map(|Provider { name, events }| {
            events.iter().map(move |event| format!("{name}:{event}"))
        })
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
            "ros2_caret:caret_init",
            "ros2_caret:rmw_implementation",
            "ros2_caret:rclcpp_subscription_callback_added",
            "ros2_caret:construct_executor",
            "ros2_caret:construct_static_executor",
            "ros2_caret:add_callback_group",
            "ros2_caret:add_callback_group_static_executor",
            "ros2_caret:callback_group_to_executor_entity_collector",
            "ros2_caret:callback_group_add_timer",
            "ros2_caret:agnocast_add_callback_group",
            "ros2_caret:agnocast_construct_executor",
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
            "ros2:rclcpp_publish",
            "ros2:rcl_lifecycle_transition",
            "ros2:rclcpp_ring_buffer_enqueue",
            "ros2:message_link_partial_sync",
            "ros2_caret:dds_write",
            "ros2_caret:sim_time",
            "ros2_caret:tilde_publish",
            "sched_switch",
        ] {
            assert!(!is_kept(name), "{name}");
        }
    }
}
