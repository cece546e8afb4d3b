//! What is said while a system runs: executions, messages on their ways, calls of services.

use super::recording::{Payload::*, Recording};
use super::ros::{Flavour, rmw};

impl Recording {
    pub fn start(&mut self, callback: u64) -> &mut Recording {
        self.start_with(callback, false)
    }

    /// An execution with nothing in it.
    pub fn run(&mut self, callback: u64) -> &mut Recording {
        self.start(callback).end(callback)
    }

    /// An execution from one instant to another.
    pub fn run_between(&mut self, start: u64, end: u64, callback: u64) -> &mut Recording {
        self.at(start).start(callback).at(end).end(callback)
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

    /// What the layer of the middleware says; the stamp where it is reported.
    pub fn rmw_publish(&mut self, publisher: u64, message: u64, stamp: i64) -> &mut Recording {
        match self.flavour {
            Flavour::Galactic => self,
            Flavour::GalacticFork | Flavour::HumbleFork => self.dds_write(message, stamp),
            Flavour::Humble | Flavour::Iron => {
                self.event("ros2:rmw_publish", &[("message", Pointer(message))])
            }
            _ => self.rmw_publish_with_stamp(publisher, message, stamp),
        }
    }

    /// A typed message, through all layers.
    pub fn publish(&mut self, publisher: u64, message: u64, stamp: i64) -> &mut Recording {
        self.rclcpp_publish(publisher, message)
            .rcl_publish(publisher, message)
            .rmw_publish(publisher, message, stamp)
    }

    /// A message is taken and its callback run.
    pub fn receive(&mut self, subscription: u64, stamp: i64, callback: u64) -> &mut Recording {
        self.rmw_take(subscription, 0x7000, stamp).run(callback)
    }

    /// A message of a ring buffer is fetched and its callback run.
    pub fn receive_intra(&mut self, buffer: u64, index: u64, callback: u64) -> &mut Recording {
        self.dequeue(buffer, index)
            .start_with(callback, true)
            .end(callback)
    }

    pub fn send_response(&mut self, service: u64, gid: u8, sequence: i64) -> &mut Recording {
        let stamp = super::stamp(self.now());
        self.rmw_send_response(service, gid, sequence, stamp)
    }
}

words! {
    pub fn start_with(callback: u64, intra: bool) = event "ros2:callback_start" {
        callback: Pointer(callback), is_intra_process: Flag(intra)
    };
    pub fn end(callback: u64) = event "ros2:callback_end" { callback: Pointer(callback) };
    pub fn get_next_ready() = event "ros2:rclcpp_executor_get_next_ready" {};
    pub fn wait_for_work() = event "ros2:rclcpp_executor_wait_for_work" { timeout: Signed(-1) };
    pub fn execute(handle: u64) = event "ros2:rclcpp_executor_execute" { handle: Pointer(handle) };
    pub fn rcl_publish(publisher: u64, message: u64) = event "ros2:rcl_publish" {
        publisher_handle: Pointer(publisher), message: Pointer(message)
    };
    pub fn rmw_take(subscription: u64, message: u64, stamp: i64) = event "ros2:rmw_take" {
        rmw_subscription_handle: Pointer(rmw(subscription)), message: Pointer(message),
        source_timestamp: Signed(stamp), taken: Flag(true)
    };
    pub fn rmw_take_in_vain(subscription: u64) = event "ros2:rmw_take" {
        rmw_subscription_handle: Pointer(rmw(subscription)), message: Pointer(0x7), source_timestamp: Signed(0),
        taken: Flag(false)
    };
    pub fn dispatch(callback: u64, stamp: i64) = event "ros2:dispatch_subscription_callback" {
        message: Pointer(0x7000), callback: Pointer(callback), source_stamp: Unsigned(stamp as u64),
        message_timestamp: Unsigned(0)
    };
    /// A reader got data; the stamp is that of the first message that it has and that was not taken.
    pub fn data_available(stamp: i64) = event "ros2_caret:on_data_available" { source_stamp: Unsigned(stamp as u64) };
    pub fn dispatch_intra(callback: u64, message: u64) = event "ros2:dispatch_intra_process_subscription_callback" {
        message: Pointer(message), callback: Pointer(callback), message_timestamp: Unsigned(0)
    };
    pub fn construct(original: u64, copy: u64) = event "ros2:message_construct" {
        original_message: Pointer(original), constructed_message: Pointer(copy)
    };
    pub fn enqueue(buffer: u64, index: u64, overwritten: bool) = event "ros2:rclcpp_ring_buffer_enqueue" {
        buffer: Pointer(buffer), index: Unsigned(index), size: Unsigned(1), overwritten: Flag(overwritten)
    };
    pub fn dequeue(buffer: u64, index: u64) = event "ros2:rclcpp_ring_buffer_dequeue" {
        buffer: Pointer(buffer), index: Unsigned(index), size: Unsigned(0)
    };
    pub fn hook_state(hook: &str, state: &str, library: &str) = event "rostrace:hook_state" {
        hook: Text(hook.into()), state: Text(state.into()), library: Text(library.into())
    };
    pub fn send_request(client: u64, sequence: i64) = event "ros2:rmw_send_request" {
        rmw_client_handle: Pointer(rmw(client)), request: Pointer(0x9), sequence_number: Signed(sequence)
    };
    /// As our own tracer tells it, before the middleware is called.
    pub fn begin_request(client: u64) = event "rostrace:rmw_send_request_begin" {
        rmw_client_handle: Pointer(rmw(client)), request: Pointer(0x9)
    };
    pub fn take_response(client: u64, sequence: i64, stamp: i64) = event "ros2:rmw_take_response" {
        rmw_client_handle: Pointer(rmw(client)), response: Pointer(0x9), sequence_number: Signed(sequence),
        source_timestamp: Signed(stamp), taken: Flag(true)
    };
    fn dds_write(message: u64, stamp: i64) = event "ros2_caret:dds_write" {
        message: Pointer(message)
    }, event "ros2_caret:dds_bind_addr_to_stamp" {
        addr: Pointer(message), source_stamp: Unsigned(stamp as u64)
    };
    fn rmw_publish_with_stamp(publisher: u64, message: u64, stamp: i64) = event "ros2:rmw_publish" {
        rmw_publisher_handle: Pointer(rmw(publisher)), message: Pointer(message), timestamp: Signed(stamp)
    };
    pub fn take_request(service: u64, gid: u8, sequence: i64) = event "ros2:rmw_take_request" {
        rmw_service_handle: Pointer(rmw(service)), request: Pointer(0x9), client_gid: Gid(vec![gid; 16]),
        sequence_number: Signed(sequence), taken: Flag(true)
    };
    fn rmw_send_response(service: u64, gid: u8, sequence: i64, stamp: i64) = event "ros2:rmw_send_response" {
        rmw_service_handle: Pointer(rmw(service)), response: Pointer(0x9), client_gid: Gid(vec![gid; 16]),
        sequence_number: Signed(sequence), timestamp: Signed(stamp)
    };
    pub fn client_callback_start(client: u64, sequence: i64) = event "rostrace:client_callback_start" {
        rmw_client_handle: Pointer(rmw(client)), sequence_number: Signed(sequence)
    };
    pub fn client_callback_end(client: u64, sequence: i64) = event "rostrace:client_callback_end" {
        rmw_client_handle: Pointer(rmw(client)), sequence_number: Signed(sequence)
    };
}
