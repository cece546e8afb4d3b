//! What each distribution of ROS 2 says when something happens: the words of the test recordings.
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

    pub fn context_of(&mut self, handle: u64, version: &str) -> &mut Recording {
        self.init(
            "rcl_init",
            &[
                ("context_handle", Pointer(handle)),
                ("version", Text(version.to_owned())),
            ],
        )
    }

    pub fn node(&mut self, handle: u64, name: &str) -> &mut Recording {
        let (namespace, name) = name.rsplit_once('/').unwrap();
        let namespace = if namespace.is_empty() { "/" } else { namespace };
        self.init(
            "rcl_node_init",
            &[
                ("node_handle", Pointer(handle)),
                ("rmw_handle", Pointer(rmw(handle))),
                ("node_name", Text(name.to_owned())),
                ("namespace", Text(namespace.to_owned())),
            ],
        )
    }

    pub fn publisher(&mut self, handle: u64, node: u64, topic: &str) -> &mut Recording {
        self.init(
            "rcl_publisher_init",
            &[
                ("publisher_handle", Pointer(handle)),
                ("node_handle", Pointer(node)),
                ("rmw_publisher_handle", Pointer(rmw(handle))),
                ("topic_name", Text(topic.to_owned())),
                ("queue_depth", Unsigned(10)),
            ],
        )
    }

    /// A subscription of rcl alone, as clients other than rclcpp have them.
    pub fn rcl_subscription(&mut self, handle: u64, node: u64, topic: &str) -> &mut Recording {
        self.init(
            "rcl_subscription_init",
            &[
                ("subscription_handle", Pointer(handle)),
                ("node_handle", Pointer(node)),
                ("rmw_subscription_handle", Pointer(rmw(handle))),
                ("topic_name", Text(topic.to_owned())),
                ("queue_depth", Unsigned(10)),
            ],
        )
    }

    pub fn object(&mut self, handle: u64, object: u64) -> &mut Recording {
        self.init(
            "rclcpp_subscription_init",
            &[
                ("subscription_handle", Pointer(handle)),
                ("subscription", Pointer(object)),
            ],
        )
    }

    pub fn object_callback(&mut self, object: u64, callback: u64) -> &mut Recording {
        self.init(
            "rclcpp_subscription_callback_added",
            &[
                ("subscription", Pointer(object)),
                ("callback", Pointer(callback)),
            ],
        )
    }

    pub fn symbol(&mut self, callback: u64, symbol: &str) -> &mut Recording {
        self.init(
            "rclcpp_callback_register",
            &[
                ("callback", Pointer(callback)),
                ("symbol", Text(symbol.to_owned())),
            ],
        )
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

    /// A subscription with an intra-process twin: objects at the handle plus 1 and 2, the twin's callback at the
    /// callback plus 1, and from Iron on a ring buffer at the handle plus 3.
    pub fn intra_subscription(
        &mut self,
        handle: u64,
        node: u64,
        topic: &str,
        callback: u64,
        capacity: u64,
    ) -> &mut Recording {
        let twin = handle + 2;
        self.rcl_subscription(handle, node, topic);
        if self.flavour >= Flavour::Iron {
            self.ring_buffer(handle + 3, capacity)
                .init(
                    "rclcpp_buffer_to_ipb",
                    &[
                        ("buffer", Pointer(handle + 3)),
                        ("ipb", Pointer(handle + 4)),
                    ],
                )
                .init(
                    "rclcpp_ipb_to_subscription",
                    &[
                        ("ipb", Pointer(handle + 4)),
                        ("subscription", Pointer(twin)),
                    ],
                );
        }
        self.object_callback(twin, callback + 1)
            .symbol(callback + 1, &format!("on{topic}"))
            .object(handle, twin)
            .object(handle, handle + 1)
            .object_callback(handle + 1, callback)
            .symbol(callback, &format!("on{topic}"))
    }

    pub fn ring_buffer(&mut self, buffer: u64, capacity: u64) -> &mut Recording {
        self.init(
            "rclcpp_construct_ring_buffer",
            &[
                ("buffer", Pointer(buffer)),
                ("capacity", Unsigned(capacity)),
            ],
        )
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
            .init(
                "rclcpp_buffer_to_ipb",
                &[
                    ("buffer", Pointer(handle + 3)),
                    ("ipb", Pointer(handle + 4)),
                ],
            )
    }

    pub fn timer(&mut self, handle: u64, node: u64, period: i64, callback: u64) -> &mut Recording {
        self.init(
            "rcl_timer_init",
            &[
                ("timer_handle", Pointer(handle)),
                ("period", Signed(period)),
            ],
        )
        .init(
            "rclcpp_timer_callback_added",
            &[
                ("timer_handle", Pointer(handle)),
                ("callback", Pointer(callback)),
            ],
        )
        .symbol(callback, "tick")
        .init(
            "rclcpp_timer_link_node",
            &[
                ("timer_handle", Pointer(handle)),
                ("node_handle", Pointer(node)),
            ],
        )
    }

    pub fn service(&mut self, handle: u64, node: u64, name: &str, callback: u64) -> &mut Recording {
        self.init(
            "rcl_service_init",
            &[
                ("service_handle", Pointer(handle)),
                ("node_handle", Pointer(node)),
                ("rmw_service_handle", Pointer(rmw(handle))),
                ("service_name", Text(name.to_owned())),
            ],
        )
        .init(
            "rclcpp_service_callback_added",
            &[
                ("service_handle", Pointer(handle)),
                ("callback", Pointer(callback)),
            ],
        )
    }

    pub fn client(&mut self, handle: u64, node: u64, name: &str, gid: u8) -> &mut Recording {
        if self.flavour >= Flavour::Kilted {
            self.event(
                "ros2:rmw_client_init",
                &[
                    ("rmw_client_handle", Pointer(rmw(handle))),
                    ("gid", Gid(vec![gid; 16])),
                ],
            );
        }
        self.init(
            "rcl_client_init",
            &[
                ("client_handle", Pointer(handle)),
                ("node_handle", Pointer(node)),
                ("rmw_client_handle", Pointer(rmw(handle))),
                ("service_name", Text(name.to_owned())),
            ],
        )
    }

    pub fn state_machine(&mut self, machine: u64, node: u64) -> &mut Recording {
        self.init(
            "rcl_lifecycle_state_machine_init",
            &[
                ("node_handle", Pointer(node)),
                ("state_machine", Pointer(machine)),
            ],
        )
    }

    pub fn transition(&mut self, machine: u64, from: &str, to: &str) -> &mut Recording {
        self.event(
            "ros2:rcl_lifecycle_transition",
            &[
                ("state_machine", Pointer(machine)),
                ("start_label", Text(from.to_owned())),
                ("goal_label", Text(to.to_owned())),
            ],
        )
    }

    pub fn caret_init(&mut self, clock: u64, distribution: &str) -> &mut Recording {
        self.event(
            "ros2_caret:caret_init",
            &[
                ("clock_offset", Signed(clock as i64)),
                ("distribution", Text(distribution.to_owned())),
            ],
        )
    }

    /// A callback group is given to an executor, as CARET sees it on Jazzy.
    pub fn group_to_collector(&mut self, collector: u64, group: u64, kind: &str) -> &mut Recording {
        self.init(
            "callback_group_to_executor_entity_collector",
            &[
                ("entities_collector_addr", Pointer(collector)),
                ("callback_group_addr", Pointer(group)),
                ("group_type_name", Text(kind.to_owned())),
            ],
        )
    }

    pub fn executor(&mut self, executor: u64, collector: u64, kind: &str) -> &mut Recording {
        self.init(
            "executor_entity_collector_to_executor",
            &[
                ("executor_addr", Pointer(executor)),
                ("entities_collector_addr", Pointer(collector)),
            ],
        )
        .init(
            "construct_executor",
            &[
                ("executor_addr", Pointer(executor)),
                ("executor_type_name", Text(kind.to_owned())),
            ],
        )
    }

    pub fn group_timer(&mut self, group: u64, timer: u64) -> &mut Recording {
        self.init(
            "callback_group_add_timer",
            &[
                ("callback_group_addr", Pointer(group)),
                ("timer_handle", Pointer(timer)),
            ],
        )
    }
}

/// What happens.
impl Recording {
    pub fn start(&mut self, callback: u64) -> &mut Recording {
        self.start_with(callback, false)
    }

    pub fn start_with(&mut self, callback: u64, intra: bool) -> &mut Recording {
        self.event(
            "ros2:callback_start",
            &[
                ("callback", Pointer(callback)),
                ("is_intra_process", Flag(intra)),
            ],
        )
    }

    pub fn end(&mut self, callback: u64) -> &mut Recording {
        self.event("ros2:callback_end", &[("callback", Pointer(callback))])
    }

    /// An execution with nothing in it.
    pub fn run(&mut self, callback: u64) -> &mut Recording {
        self.start(callback).end(callback)
    }

    pub fn get_next_ready(&mut self) -> &mut Recording {
        self.event("ros2:rclcpp_executor_get_next_ready", &[])
    }

    pub fn wait_for_work(&mut self) -> &mut Recording {
        self.event(
            "ros2:rclcpp_executor_wait_for_work",
            &[("timeout", Signed(-1))],
        )
    }

    pub fn execute(&mut self, handle: u64) -> &mut Recording {
        self.event(
            "ros2:rclcpp_executor_execute",
            &[("handle", Pointer(handle))],
        )
    }

    pub fn intra_publish(&mut self, publisher: u64, message: u64) -> &mut Recording {
        let mut fields = vec![
            ("publisher_handle", Pointer(publisher)),
            ("message", Pointer(message)),
        ];
        if self.flavour == Flavour::GalacticFork {
            fields.push(("message_timestamp", Unsigned(0)));
        }
        self.event("ros2:rclcpp_intra_publish", &fields)
    }

    pub fn rclcpp_publish(&mut self, publisher: u64, message: u64) -> &mut Recording {
        let mut fields = vec![("message", Pointer(message))];
        match self.flavour {
            Flavour::Galactic | Flavour::GalacticFork | Flavour::HumbleFork => {
                fields.insert(0, ("publisher_handle", Pointer(publisher)));
            }
            _ => {}
        }
        if self.flavour == Flavour::GalacticFork {
            fields.push(("message_timestamp", Unsigned(0)));
        }
        self.event("ros2:rclcpp_publish", &fields)
    }

    pub fn rcl_publish(&mut self, publisher: u64, message: u64) -> &mut Recording {
        self.event(
            "ros2:rcl_publish",
            &[
                ("publisher_handle", Pointer(publisher)),
                ("message", Pointer(message)),
            ],
        )
    }

    /// What the layer of the middleware says; the stamp where it is told.
    pub fn rmw_publish(&mut self, publisher: u64, message: u64, stamp: i64) -> &mut Recording {
        match self.flavour {
            Flavour::Galactic => self,
            Flavour::GalacticFork | Flavour::HumbleFork => self
                .event("ros2_caret:dds_write", &[("message", Pointer(message))])
                .event(
                    "ros2_caret:dds_bind_addr_to_stamp",
                    &[
                        ("addr", Pointer(message)),
                        ("source_stamp", Unsigned(stamp as u64)),
                    ],
                ),
            Flavour::Humble | Flavour::Iron => {
                self.event("ros2:rmw_publish", &[("message", Pointer(message))])
            }
            _ => self.event(
                "ros2:rmw_publish",
                &[
                    ("rmw_publisher_handle", Pointer(rmw(publisher))),
                    ("message", Pointer(message)),
                    ("timestamp", Signed(stamp)),
                ],
            ),
        }
    }

    /// A typed message, through all layers.
    pub fn publish(&mut self, publisher: u64, message: u64, stamp: i64) -> &mut Recording {
        self.rclcpp_publish(publisher, message)
            .rcl_publish(publisher, message)
            .rmw_publish(publisher, message, stamp)
    }

    pub fn rmw_take(&mut self, subscription: u64, message: u64, stamp: i64) -> &mut Recording {
        self.event(
            "ros2:rmw_take",
            &[
                ("rmw_subscription_handle", Pointer(rmw(subscription))),
                ("message", Pointer(message)),
                ("source_timestamp", Signed(stamp)),
                ("taken", Flag(true)),
            ],
        )
    }

    pub fn rmw_take_in_vain(&mut self, subscription: u64) -> &mut Recording {
        self.event(
            "ros2:rmw_take",
            &[
                ("rmw_subscription_handle", Pointer(rmw(subscription))),
                ("message", Pointer(0x7)),
                ("source_timestamp", Signed(0)),
                ("taken", Flag(false)),
            ],
        )
    }

    /// A message is taken and its callback run.
    pub fn receive(&mut self, subscription: u64, stamp: i64, callback: u64) -> &mut Recording {
        self.rmw_take(subscription, 0x7000, stamp).run(callback)
    }

    pub fn dispatch(&mut self, callback: u64, stamp: i64) -> &mut Recording {
        self.event(
            "ros2:dispatch_subscription_callback",
            &[
                ("message", Pointer(0x7000)),
                ("callback", Pointer(callback)),
                ("source_stamp", Unsigned(stamp as u64)),
                ("message_timestamp", Unsigned(0)),
            ],
        )
    }

    pub fn dispatch_intra(&mut self, callback: u64, message: u64) -> &mut Recording {
        self.event(
            "ros2:dispatch_intra_process_subscription_callback",
            &[
                ("message", Pointer(message)),
                ("callback", Pointer(callback)),
                ("message_timestamp", Unsigned(0)),
            ],
        )
    }

    pub fn construct(&mut self, original: u64, copy: u64) -> &mut Recording {
        self.event(
            "ros2:message_construct",
            &[
                ("original_message", Pointer(original)),
                ("constructed_message", Pointer(copy)),
            ],
        )
    }

    pub fn enqueue(&mut self, buffer: u64, index: u64, overwritten: bool) -> &mut Recording {
        self.event(
            "ros2:rclcpp_ring_buffer_enqueue",
            &[
                ("buffer", Pointer(buffer)),
                ("index", Unsigned(index)),
                ("size", Unsigned(1)),
                ("overwritten", Flag(overwritten)),
            ],
        )
    }

    pub fn dequeue(&mut self, buffer: u64, index: u64) -> &mut Recording {
        self.event(
            "ros2:rclcpp_ring_buffer_dequeue",
            &[
                ("buffer", Pointer(buffer)),
                ("index", Unsigned(index)),
                ("size", Unsigned(0)),
            ],
        )
    }

    /// A message of a ring buffer is fetched and its callback run.
    pub fn receive_intra(&mut self, buffer: u64, index: u64, callback: u64) -> &mut Recording {
        self.dequeue(buffer, index)
            .start_with(callback, true)
            .end(callback)
    }
}

/// Services of Kilted.
impl Recording {
    pub fn send_request(&mut self, client: u64, sequence: i64) -> &mut Recording {
        self.event(
            "ros2:rmw_send_request",
            &[
                ("rmw_client_handle", Pointer(rmw(client))),
                ("request", Pointer(0x9)),
                ("sequence_number", Signed(sequence)),
            ],
        )
    }

    pub fn take_request(&mut self, service: u64, gid: u8, sequence: i64) -> &mut Recording {
        self.event(
            "ros2:rmw_take_request",
            &[
                ("rmw_service_handle", Pointer(rmw(service))),
                ("request", Pointer(0x9)),
                ("client_gid", Gid(vec![gid; 16])),
                ("sequence_number", Signed(sequence)),
                ("taken", Flag(true)),
            ],
        )
    }

    pub fn send_response(&mut self, service: u64, gid: u8, sequence: i64) -> &mut Recording {
        let stamp = super::stamp(self.now());
        self.event(
            "ros2:rmw_send_response",
            &[
                ("rmw_service_handle", Pointer(rmw(service))),
                ("response", Pointer(0x9)),
                ("client_gid", Gid(vec![gid; 16])),
                ("sequence_number", Signed(sequence)),
                ("timestamp", Signed(stamp)),
            ],
        )
    }

    pub fn take_response(&mut self, client: u64, sequence: i64, stamp: i64) -> &mut Recording {
        self.event(
            "ros2:rmw_take_response",
            &[
                ("rmw_client_handle", Pointer(rmw(client))),
                ("response", Pointer(0x9)),
                ("sequence_number", Signed(sequence)),
                ("source_timestamp", Signed(stamp)),
                ("taken", Flag(true)),
            ],
        )
    }

    pub fn client_callback_start(&mut self, client: u64, sequence: i64) -> &mut Recording {
        self.client_callback("rostrace:client_callback_start", client, sequence)
    }

    pub fn client_callback_end(&mut self, client: u64, sequence: i64) -> &mut Recording {
        self.client_callback("rostrace:client_callback_end", client, sequence)
    }

    fn client_callback(&mut self, name: &str, client: u64, sequence: i64) -> &mut Recording {
        self.event(
            name,
            &[
                ("rmw_client_handle", Pointer(rmw(client))),
                ("sequence_number", Signed(sequence)),
            ],
        )
    }
}
