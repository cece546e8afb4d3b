//! What each distribution of ROS 2 says when something is made: the words of the test recordings. Those of what happens then are in
//! `run_time`.
//!
//! The fields are those of the tracepoint table, for each distribution those that it has. Handles are given by the test;
//! the handle of the rmw layer is that of rcl plus [`RMW`].

use super::recording::{Payload::*, Recording};

/// Which release, and whether it is CARET's fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flavour {
    Galactic,
    /// With CARET's library of the time.
    GalacticFork,
    Humble,
    /// With CARET's library.
    HumbleFork,
    Iron,
    Jazzy,
    Kilted,
    Lyrical,
}

/// From the handle of rcl to that of rmw.
pub const RMW: u64 = 0x1_0000_0000;

pub fn rmw(handle: u64) -> u64 {
    handle + RMW
}

impl Flavour {
    pub fn version(self) -> &'static str {
        match self {
            Flavour::Galactic | Flavour::GalacticFork => "2.3.0",
            Flavour::Humble | Flavour::HumbleFork => "4.1.1",
            Flavour::Iron => "6.3.2",
            Flavour::Jazzy => "8.2.3",
            Flavour::Kilted => "8.6.0",
            Flavour::Lyrical => "8.10.1",
        }
    }
}

/// Initialisation.
impl Recording {
    /// From here on CARET's library tells of the initialisation.
    pub fn by_caret(&mut self) -> &mut Recording {
        self.caret = true;
        self
    }

    /// From here on ros2_tracing tells of the initialisation.
    pub fn by_ros2(&mut self) -> &mut Recording {
        self.caret = false;
        self
    }

    /// From here on what CARET tells happened that long ago.
    pub fn replaying(&mut self, ago: Option<u64>) -> &mut Recording {
        self.happened = ago;
        self
    }

    /// An initialisation event of the provider at hand.
    pub fn init(&mut self, name: &str, fields: &[(&str, super::Payload)]) -> &mut Recording {
        if !self.caret {
            return self.event(&format!("ros2:{name}"), fields);
        }
        let happened = self.now() - self.happened.unwrap_or(0);
        let mut fields = fields.to_vec();
        fields.retain(|(name, _)| *name != "version");
        fields.push(("init_timestamp", Signed(happened as i64)));
        self.event(&format!("ros2_caret:{name}"), &fields)
    }

    pub fn context(&mut self, handle: u64) -> &mut Recording {
        let version = self.flavour.version();
        self.context_of(handle, version)
    }

    pub fn node(&mut self, handle: u64, name: &str) -> &mut Recording {
        let (namespace, name) = name.rsplit_once('/').unwrap();
        let namespace = if namespace.is_empty() { "/" } else { namespace };
        self.rcl_node(handle, name, namespace)
    }

    /// A process with one context and this node.
    pub fn process_of(&mut self, pid: i64, name: &str, node: (u64, &str)) -> &mut Recording {
        self.process(pid, name).context(1).node(node.0, node.1)
    }

    /// A subscription with its object (at the handle plus 1) and callback.
    pub fn subscription(
        &mut self,
        handle: u64,
        node: u64,
        topic: &str,
        callback: u64,
    ) -> &mut Recording {
        self.rcl_subscription(handle, node, topic)
            .object(handle, handle + 1)
            .object_callback(handle + 1, callback)
            .symbol(callback, &format!("on{topic}"))
    }

    /// A subscription with an intra-process subscription: objects at the handle plus 1 and 2, that one's callback at the
    /// callback plus 1, and from Iron on a ring buffer at the handle plus 3.
    pub fn intra_subscription(
        &mut self,
        handle: u64,
        node: u64,
        topic: &str,
        callback: u64,
        capacity: u64,
    ) -> &mut Recording {
        let intra = handle + 2;
        self.rcl_subscription(handle, node, topic);
        if self.flavour >= Flavour::Iron {
            self.ring_buffer(handle + 3, capacity)
                .buffer_of(handle + 3, handle + 4)
                .intra_object(handle + 4, intra);
        }
        self.object_callback(intra, callback + 1)
            .symbol(callback + 1, &format!("on{topic}"))
            .object(handle, intra)
            .object(handle, handle + 1)
            .object_callback(handle + 1, callback)
            .symbol(callback, &format!("on{topic}"))
    }

    /// A publisher that keeps messages for subscriptions of its process that come later, in a ring buffer at the handle plus 3.
    pub fn latching_publisher(
        &mut self,
        handle: u64,
        node: u64,
        topic: &str,
        capacity: u64,
    ) -> &mut Recording {
        self.publisher(handle, node, topic)
            .ring_buffer(handle + 3, capacity)
            .buffer_of(handle + 3, handle + 4)
    }

    pub fn client(&mut self, handle: u64, node: u64, name: &str, gid: u8) -> &mut Recording {
        if self.flavour >= Flavour::Kilted {
            self.rmw_client(handle, gid);
        }
        self.rcl_client(handle, node, name)
    }
}

words! {
    pub fn context_of(handle: u64, version: &str) = init "rcl_init" {
        context_handle: Pointer(handle), version: Text(version.to_owned())
    };
    pub fn publisher(handle: u64, node: u64, topic: &str) = init "rcl_publisher_init" {
        publisher_handle: Pointer(handle), node_handle: Pointer(node), rmw_publisher_handle: Pointer(rmw(handle)),
        topic_name: Text(topic.to_owned()), queue_depth: Unsigned(10)
    };
    /// A subscription of rcl alone, as clients other than rclcpp have them.
    pub fn rcl_subscription(handle: u64, node: u64, topic: &str) = init "rcl_subscription_init" {
        subscription_handle: Pointer(handle), node_handle: Pointer(node), rmw_subscription_handle:
        Pointer(rmw(handle)), topic_name: Text(topic.to_owned()), queue_depth: Unsigned(10)
    };
    pub fn object(handle: u64, object: u64) = init "rclcpp_subscription_init" {
        subscription_handle: Pointer(handle), subscription: Pointer(object)
    };
    pub fn object_callback(object: u64, callback: u64) = init "rclcpp_subscription_callback_added" {
        subscription: Pointer(object), callback: Pointer(callback)
    };
    pub fn symbol(callback: u64, symbol: &str) = init "rclcpp_callback_register" {
        callback: Pointer(callback), symbol: Text(symbol.to_owned())
    };
    pub fn ring_buffer(buffer: u64, capacity: u64) = init "rclcpp_construct_ring_buffer" {
        buffer: Pointer(buffer), capacity: Unsigned(capacity)
    };
    pub fn state_machine(machine: u64, node: u64) = init "rcl_lifecycle_state_machine_init" {
        node_handle: Pointer(node), state_machine: Pointer(machine)
    };
    pub fn transition(machine: u64, from: &str, to: &str) = event "ros2:rcl_lifecycle_transition" {
        state_machine: Pointer(machine), start_label: Text(from.to_owned()), goal_label: Text(to.to_owned())
    };
    pub fn caret_init(clock: u64, distribution: &str) = event "ros2_caret:caret_init" {
        clock_offset: Signed(clock as i64), distribution: Text(distribution.to_owned())
    };
    /// A callback group is given to an executor, as CARET sees it on Jazzy.
    pub fn group_to_collector(collector: u64, group: u64, kind: &str) = init "callback_group_to_executor_entity_collector" {
        entities_collector_addr: Pointer(collector), callback_group_addr: Pointer(group), group_type_name:
        Text(kind.to_owned())
    };
    fn rcl_node(handle: u64, name: &str, namespace: &str) = init "rcl_node_init" {
        node_handle: Pointer(handle), rmw_handle: Pointer(rmw(handle)), node_name: Text(name.to_owned()),
        namespace: Text(namespace.to_owned())
    };
    fn buffer_of(buffer: u64, ipb: u64) = init "rclcpp_buffer_to_ipb" { buffer: Pointer(buffer), ipb: Pointer(ipb) };
    fn intra_object(ipb: u64, object: u64) = init "rclcpp_ipb_to_subscription" {
        ipb: Pointer(ipb), subscription: Pointer(object)
    };
    pub fn timer(handle: u64, node: u64, period: i64, callback: u64) = init "rcl_timer_init" {
        timer_handle: Pointer(handle), period: Signed(period)
    }, init "rclcpp_timer_callback_added" {
        timer_handle: Pointer(handle), callback: Pointer(callback)
    }, init "rclcpp_callback_register" {
        callback: Pointer(callback), symbol: Text("tick".to_owned())
    }, init "rclcpp_timer_link_node" {
        timer_handle: Pointer(handle), node_handle: Pointer(node)
    };
    pub fn service(handle: u64, node: u64, name: &str, callback: u64) = init "rcl_service_init" {
        service_handle: Pointer(handle), node_handle: Pointer(node), rmw_service_handle: Pointer(rmw(handle)),
        service_name: Text(name.to_owned())
    }, init "rclcpp_service_callback_added" {
        service_handle: Pointer(handle), callback: Pointer(callback)
    };
    fn rmw_client(handle: u64, gid: u8) = event "ros2:rmw_client_init" {
        rmw_client_handle: Pointer(rmw(handle)), gid: Gid(vec![gid; 16])
    };
    fn rcl_client(handle: u64, node: u64, name: &str) = init "rcl_client_init" {
        client_handle: Pointer(handle), node_handle: Pointer(node), rmw_client_handle: Pointer(rmw(handle)),
        service_name: Text(name.to_owned())
    };
    pub fn executor(executor: u64, collector: u64, kind: &str) = init "executor_entity_collector_to_executor" {
        executor_addr: Pointer(executor), entities_collector_addr: Pointer(collector)
    }, init "construct_executor" {
        executor_addr: Pointer(executor), executor_type_name: Text(kind.to_owned())
    };
    pub fn group_timer(group: u64, timer: u64) = init "callback_group_add_timer" {
        callback_group_addr: Pointer(group), timer_handle: Pointer(timer)
    };
    pub fn group_subscription(group: u64, subscription: u64) = init "callback_group_add_subscription" {
        callback_group_addr: Pointer(group), subscription_handle: Pointer(subscription)
    };
    pub fn group_client(group: u64, client: u64) = init "callback_group_add_client" {
        callback_group_addr: Pointer(group), client_handle: Pointer(client)
    };
}
