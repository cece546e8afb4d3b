//! The functions of libtracetools, which every ROS 2 since Humble calls. Made from crates/tracepoints by `cargo xtask docs`: do not edit by hand.
//!
//! What a block becomes is written in `entry`. By hand, in `tracetools`, is what is done where arguments are not fields.

use std::ffi::{c_char, c_void};

use crate::abi::entry::{entry, functions, tracepoint, tracepoints};
use crate::abi::left_out::{self, Direction};
use crate::abi::original;
use crate::abi::tracetools::is_enabled;
use crate::control::gate;
use crate::events;
use crate::ring::emit::{Payload, Text, event as run, initialisation as init};

functions! {
    rcl_init rcl_node_init rcl_publisher_init rcl_subscription_init rcl_service_init rcl_client_init rcl_timer_init
    rcl_lifecycle_state_machine_init rcl_lifecycle_transition rcl_publish rcl_take rclcpp_subscription_init
    rclcpp_subscription_callback_added rclcpp_service_callback_added rclcpp_timer_callback_added rclcpp_timer_link_node
    rclcpp_callback_register callback_start callback_end rclcpp_publish rclcpp_take dispatch_subscription_callback
    rclcpp_executor_get_next_ready rclcpp_executor_wait_for_work rclcpp_executor_execute rclcpp_construct_ring_buffer rclcpp_buffer_to_ipb
    rclcpp_ipb_to_subscription rclcpp_intra_publish rclcpp_ring_buffer_enqueue rclcpp_ring_buffer_dequeue rclcpp_ring_buffer_clear
    message_construct dispatch_intra_process_subscription_callback rmw_publisher_init rmw_subscription_init rmw_client_init rmw_publish
    rmw_take rmw_send_request rmw_take_request rmw_send_response rmw_take_response message_link_periodic_async message_link_partial_sync
}

tracepoints! {
    /// A ROS context was initialised.
    init RCL_INIT rcl_init: ros_trace_rcl_init, ros_trace_do_rcl_init, ros_trace_enabled_rcl_init {
        fn(context_handle: *const c_void) by trace_rcl_init;
    }
    /// A node was created.
    init RCL_NODE_INIT rcl_node_init: ros_trace_rcl_node_init, ros_trace_do_rcl_node_init, ros_trace_enabled_rcl_node_init {
        fn(node_handle: *const c_void, rmw_handle: *const c_void, node_name: *const c_char, namespace: *const c_char);
        let node_name_text = Text::of(node_name);
        let namespace_text = Text::of(namespace);
        [8 + 8 + node_name_text.size() + namespace_text.size()] .pointer(node_handle).pointer(rmw_handle).text(node_name_text).text(namespace_text)
    }
    /// A publisher was created.
    init RCL_PUBLISHER_INIT rcl_publisher_init: ros_trace_rcl_publisher_init, ros_trace_do_rcl_publisher_init, ros_trace_enabled_rcl_publisher_init {
        fn(publisher_handle: *const c_void, node_handle: *const c_void, rmw_publisher_handle: *const c_void, topic_name: *const c_char, queue_depth: u64);
        let topic_name_text = Text::of(topic_name);
        [8 + 8 + 8 + topic_name_text.size() + 8] .pointer(publisher_handle).pointer(node_handle).pointer(rmw_publisher_handle).text(topic_name_text).unsigned(queue_depth)
    }
    /// A subscription was created.
    init RCL_SUBSCRIPTION_INIT rcl_subscription_init: ros_trace_rcl_subscription_init, ros_trace_do_rcl_subscription_init, ros_trace_enabled_rcl_subscription_init {
        fn(subscription_handle: *const c_void, node_handle: *const c_void, rmw_subscription_handle: *const c_void, topic_name: *const c_char, queue_depth: u64);
        let topic_name_text = Text::of(topic_name);
        [8 + 8 + 8 + topic_name_text.size() + 8] .pointer(subscription_handle).pointer(node_handle).pointer(rmw_subscription_handle).text(topic_name_text).unsigned(queue_depth)
    }
    /// A service was created.
    init RCL_SERVICE_INIT rcl_service_init: ros_trace_rcl_service_init, ros_trace_do_rcl_service_init, ros_trace_enabled_rcl_service_init {
        fn(service_handle: *const c_void, node_handle: *const c_void, rmw_service_handle: *const c_void, service_name: *const c_char);
        let service_name_text = Text::of(service_name);
        [8 + 8 + 8 + service_name_text.size()] .pointer(service_handle).pointer(node_handle).pointer(rmw_service_handle).text(service_name_text)
    }
    /// A client of a service was created.
    init RCL_CLIENT_INIT rcl_client_init: ros_trace_rcl_client_init, ros_trace_do_rcl_client_init, ros_trace_enabled_rcl_client_init {
        fn(client_handle: *const c_void, node_handle: *const c_void, rmw_client_handle: *const c_void, service_name: *const c_char);
        let service_name_text = Text::of(service_name);
        [8 + 8 + 8 + service_name_text.size()] .pointer(client_handle).pointer(node_handle).pointer(rmw_client_handle).text(service_name_text)
    }
    /// A timer was created.
    init RCL_TIMER_INIT rcl_timer_init: ros_trace_rcl_timer_init, ros_trace_do_rcl_timer_init, ros_trace_enabled_rcl_timer_init {
        fn(timer_handle: *const c_void, period: i64);
        [8 + 8] .pointer(timer_handle).signed(period)
    }
    /// A node got the state machine of a lifecycle node.
    init RCL_LIFECYCLE_STATE_MACHINE_INIT rcl_lifecycle_state_machine_init: ros_trace_rcl_lifecycle_state_machine_init, ros_trace_do_rcl_lifecycle_state_machine_init, ros_trace_enabled_rcl_lifecycle_state_machine_init {
        fn(node_handle: *const c_void, state_machine: *const c_void);
        [8 + 8] .pointer(node_handle).pointer(state_machine)
    }
    /// A lifecycle node changed its state and announced it.
    run RCL_LIFECYCLE_TRANSITION rcl_lifecycle_transition: ros_trace_rcl_lifecycle_transition, ros_trace_do_rcl_lifecycle_transition, ros_trace_enabled_rcl_lifecycle_transition {
        fn(state_machine: *const c_void, start_label: *const c_char, goal_label: *const c_char) unless gate::refuses(state_machine as u64);
        let start_label_text = Text::of(start_label);
        let goal_label_text = Text::of(goal_label);
        [8 + start_label_text.size() + goal_label_text.size()] .pointer(state_machine).text(start_label_text).text(goal_label_text)
    }
    /// rcl hands a message to the middleware.
    run RCL_PUBLISH rcl_publish: ros_trace_rcl_publish, ros_trace_do_rcl_publish, ros_trace_enabled_rcl_publish {
        fn(publisher_handle: *const c_void, message: *const c_void) unless left_out::refuses(publisher_handle, message, Direction::Published);
        [8 + 8] .pointer(publisher_handle).pointer(message)
    }
    /// rcl returns from a take, successful or not.
    run RCL_TAKE rcl_take: ros_trace_rcl_take, ros_trace_do_rcl_take, ros_trace_enabled_rcl_take {
        fn(message: *const c_void) unless left_out::has(message, Direction::Taken);
        [8] .pointer(message)
    }
    /// An object of rclcpp was tied to its rcl subscription; with intra-process communication there are two.
    init RCLCPP_SUBSCRIPTION_INIT rclcpp_subscription_init: ros_trace_rclcpp_subscription_init, ros_trace_do_rclcpp_subscription_init, ros_trace_enabled_rclcpp_subscription_init {
        fn(subscription_handle: *const c_void, subscription: *const c_void);
        [8 + 8] .pointer(subscription_handle).pointer(subscription)
    }
    /// A subscription object got its callback.
    init RCLCPP_SUBSCRIPTION_CALLBACK_ADDED rclcpp_subscription_callback_added: ros_trace_rclcpp_subscription_callback_added, ros_trace_do_rclcpp_subscription_callback_added, ros_trace_enabled_rclcpp_subscription_callback_added {
        fn(subscription: *const c_void, callback: *const c_void);
        [8 + 8] .pointer(subscription).pointer(callback)
    }
    /// A service got its callback.
    init RCLCPP_SERVICE_CALLBACK_ADDED rclcpp_service_callback_added: ros_trace_rclcpp_service_callback_added, ros_trace_do_rclcpp_service_callback_added, ros_trace_enabled_rclcpp_service_callback_added {
        fn(service_handle: *const c_void, callback: *const c_void);
        [8 + 8] .pointer(service_handle).pointer(callback)
    }
    /// A timer got its callback.
    init RCLCPP_TIMER_CALLBACK_ADDED rclcpp_timer_callback_added: ros_trace_rclcpp_timer_callback_added, ros_trace_do_rclcpp_timer_callback_added, ros_trace_enabled_rclcpp_timer_callback_added {
        fn(timer_handle: *const c_void, callback: *const c_void);
        [8 + 8] .pointer(timer_handle).pointer(callback)
    }
    /// A timer was added to a node.
    init RCLCPP_TIMER_LINK_NODE rclcpp_timer_link_node: ros_trace_rclcpp_timer_link_node, ros_trace_do_rclcpp_timer_link_node, ros_trace_enabled_rclcpp_timer_link_node {
        fn(timer_handle: *const c_void, node_handle: *const c_void);
        [8 + 8] .pointer(timer_handle).pointer(node_handle)
    }
    /// A callback object got its name.
    init RCLCPP_CALLBACK_REGISTER rclcpp_callback_register: ros_trace_rclcpp_callback_register, ros_trace_do_rclcpp_callback_register, ros_trace_enabled_rclcpp_callback_register {
        fn(callback: *const c_void, symbol: *const c_char);
        let symbol_text = Text::of_symbol(symbol);
        [8 + symbol_text.size()] .pointer(callback).text(symbol_text)
    }
    /// A callback of a timer, subscription or service begins.
    run CALLBACK_START callback_start: ros_trace_callback_start, ros_trace_do_callback_start, ros_trace_enabled_callback_start {
        fn(callback: *const c_void, is_intra_process: bool) by trace_callback_start;
    }
    /// A callback has returned.
    run CALLBACK_END callback_end: ros_trace_callback_end, ros_trace_do_callback_end, ros_trace_enabled_callback_end {
        fn(callback: *const c_void) by trace_callback_end;
    }
    /// rclcpp hands a message to rcl.
    run RCLCPP_PUBLISH rclcpp_publish: ros_trace_rclcpp_publish, ros_trace_do_rclcpp_publish, ros_trace_enabled_rclcpp_publish {
        fn(publisher_handle: *const c_void, message: *const c_void) by trace_rclcpp_publish;
    }
    /// rclcpp returns from a take, successful or not.
    run RCLCPP_TAKE rclcpp_take: ros_trace_rclcpp_take, ros_trace_do_rclcpp_take, ros_trace_enabled_rclcpp_take {
        fn(message: *const c_void) unless left_out::has(message, Direction::Taken);
        [8] .pointer(message)
    }
    /// A message that came through the middleware is about to be given to its callback.
    run DISPATCH_SUBSCRIPTION_CALLBACK dispatch_subscription_callback: ros_trace_dispatch_subscription_callback, ros_trace_do_dispatch_subscription_callback, ros_trace_enabled_dispatch_subscription_callback {
        fn(message: *const c_void, callback: *const c_void, source_stamp: u64, message_timestamp: u64);
        [8 + 8 + 8 + 8] .pointer(message).pointer(callback).unsigned(source_stamp).unsigned(message_timestamp)
    }
    /// An executor begins to look for something that is ready.
    run RCLCPP_EXECUTOR_GET_NEXT_READY rclcpp_executor_get_next_ready: ros_trace_rclcpp_executor_get_next_ready, ros_trace_do_rclcpp_executor_get_next_ready, ros_trace_enabled_rclcpp_executor_get_next_ready {
        fn();
        [0]
    }
    /// An executor begins to wait for work.
    run RCLCPP_EXECUTOR_WAIT_FOR_WORK rclcpp_executor_wait_for_work: ros_trace_rclcpp_executor_wait_for_work, ros_trace_do_rclcpp_executor_wait_for_work, ros_trace_enabled_rclcpp_executor_wait_for_work {
        fn(timeout: i64);
        [8] .signed(timeout)
    }
    /// An executor begins to execute a timer or a subscription.
    run RCLCPP_EXECUTOR_EXECUTE rclcpp_executor_execute: ros_trace_rclcpp_executor_execute, ros_trace_do_rclcpp_executor_execute, ros_trace_enabled_rclcpp_executor_execute {
        fn(handle: *const c_void) unless gate::refuses(handle as u64);
        [8] .pointer(handle)
    }
    /// A ring buffer for intra-process messages was created.
    init RCLCPP_CONSTRUCT_RING_BUFFER rclcpp_construct_ring_buffer: ros_trace_rclcpp_construct_ring_buffer, ros_trace_do_rclcpp_construct_ring_buffer, ros_trace_enabled_rclcpp_construct_ring_buffer {
        fn(buffer: *const c_void, capacity: u64);
        [8 + 8] .pointer(buffer).unsigned(capacity)
    }
    /// A ring buffer became part of an intra-process buffer.
    init RCLCPP_BUFFER_TO_IPB rclcpp_buffer_to_ipb: ros_trace_rclcpp_buffer_to_ipb, ros_trace_do_rclcpp_buffer_to_ipb, ros_trace_enabled_rclcpp_buffer_to_ipb {
        fn(buffer: *const c_void, ipb: *const c_void);
        [8 + 8] .pointer(buffer).pointer(ipb)
    }
    /// An intra-process buffer was given to its subscription.
    init RCLCPP_IPB_TO_SUBSCRIPTION rclcpp_ipb_to_subscription: ros_trace_rclcpp_ipb_to_subscription, ros_trace_do_rclcpp_ipb_to_subscription, ros_trace_enabled_rclcpp_ipb_to_subscription {
        fn(ipb: *const c_void, subscription: *const c_void);
        [8 + 8] .pointer(ipb).pointer(subscription)
    }
    /// rclcpp hands a message to the subscriptions of its own process.
    run RCLCPP_INTRA_PUBLISH rclcpp_intra_publish: ros_trace_rclcpp_intra_publish, ros_trace_do_rclcpp_intra_publish, ros_trace_enabled_rclcpp_intra_publish {
        fn(publisher_handle: *const c_void, message: *const c_void) unless gate::refuses(publisher_handle as u64);
        [8 + 8] .pointer(publisher_handle).pointer(message)
    }
    /// A message was put into a ring buffer.
    run RCLCPP_RING_BUFFER_ENQUEUE rclcpp_ring_buffer_enqueue: ros_trace_rclcpp_ring_buffer_enqueue, ros_trace_do_rclcpp_ring_buffer_enqueue, ros_trace_enabled_rclcpp_ring_buffer_enqueue {
        fn(buffer: *const c_void, index: u64, size: u64, overwritten: bool) unless gate::refuses(buffer as u64);
        [8 + 8 + 8 + 4] .pointer(buffer).unsigned(index).unsigned(size).flag(overwritten)
    }
    /// A message was taken out of a ring buffer.
    run RCLCPP_RING_BUFFER_DEQUEUE rclcpp_ring_buffer_dequeue: ros_trace_rclcpp_ring_buffer_dequeue, ros_trace_do_rclcpp_ring_buffer_dequeue, ros_trace_enabled_rclcpp_ring_buffer_dequeue {
        fn(buffer: *const c_void, index: u64, size: u64) unless gate::refuses(buffer as u64);
        [8 + 8 + 8] .pointer(buffer).unsigned(index).unsigned(size)
    }
    /// A ring buffer was asked to forget its messages.
    run RCLCPP_RING_BUFFER_CLEAR rclcpp_ring_buffer_clear: ros_trace_rclcpp_ring_buffer_clear, ros_trace_do_rclcpp_ring_buffer_clear, ros_trace_enabled_rclcpp_ring_buffer_clear {
        fn(buffer: *const c_void) unless gate::refuses(buffer as u64);
        [8] .pointer(buffer)
    }
    /// The intra-process manager has copied a message.
    run MESSAGE_CONSTRUCT message_construct: ros_trace_message_construct, ros_trace_do_message_construct, ros_trace_enabled_message_construct {
        fn(original_message: *const c_void, constructed_message: *const c_void) unless gate::refuses(original_message as u64);
        [8 + 8] .pointer(original_message).pointer(constructed_message)
    }
    /// A message of the own process is about to be given to its callback.
    run DISPATCH_INTRA_PROCESS_SUBSCRIPTION_CALLBACK dispatch_intra_process_subscription_callback: ros_trace_dispatch_intra_process_subscription_callback, ros_trace_do_dispatch_intra_process_subscription_callback, ros_trace_enabled_dispatch_intra_process_subscription_callback {
        fn(message: *const c_void, callback: *const c_void, message_timestamp: u64);
        [8 + 8 + 8] .pointer(message).pointer(callback).unsigned(message_timestamp)
    }
    /// The middleware has created a publisher.
    init RMW_PUBLISHER_INIT rmw_publisher_init: ros_trace_rmw_publisher_init, ros_trace_do_rmw_publisher_init, ros_trace_enabled_rmw_publisher_init {
        fn(rmw_publisher_handle: *const c_void, gid: *const u8);
        let gid_bytes = original::gid_bytes();
        [8 + gid_bytes] .pointer(rmw_publisher_handle).gid(gid, gid_bytes)
    }
    /// The middleware has created a subscription.
    init RMW_SUBSCRIPTION_INIT rmw_subscription_init: ros_trace_rmw_subscription_init, ros_trace_do_rmw_subscription_init, ros_trace_enabled_rmw_subscription_init {
        fn(rmw_subscription_handle: *const c_void, gid: *const u8);
        let gid_bytes = original::gid_bytes();
        [8 + gid_bytes] .pointer(rmw_subscription_handle).gid(gid, gid_bytes)
    }
    /// The middleware has created a client.
    init RMW_CLIENT_INIT rmw_client_init: ros_trace_rmw_client_init, ros_trace_do_rmw_client_init, ros_trace_enabled_rmw_client_init {
        fn(rmw_client_handle: *const c_void, gid: *const u8);
        let gid_bytes = 16;
        [8 + gid_bytes] .pointer(rmw_client_handle).gid(gid, gid_bytes)
    }
    /// The middleware is about to write a message.
    run RMW_PUBLISH rmw_publish: ros_trace_rmw_publish, ros_trace_do_rmw_publish, ros_trace_enabled_rmw_publish {
        fn(first: *const c_void, message: *const c_void, stamp: i64) by trace_rmw_publish;
    }
    /// The middleware returns from a take, successful or not.
    run RMW_TAKE rmw_take: ros_trace_rmw_take, ros_trace_do_rmw_take, ros_trace_enabled_rmw_take {
        fn(rmw_subscription_handle: *const c_void, message: *const c_void, source_timestamp: i64, taken: bool) unless left_out::refuses(rmw_subscription_handle, message, Direction::Taken);
        [8 + 8 + 8 + 4] .pointer(rmw_subscription_handle).pointer(message).signed(source_timestamp).flag(taken)
    }
    /// A client is sending a request; Fast DDS says so after the write, Cyclone DDS before it.
    run RMW_SEND_REQUEST rmw_send_request: ros_trace_rmw_send_request, ros_trace_do_rmw_send_request, ros_trace_enabled_rmw_send_request {
        fn(rmw_client_handle: *const c_void, request: *const c_void, sequence_number: i64) unless gate::refuses(rmw_client_handle as u64);
        [8 + 8 + 8] .pointer(rmw_client_handle).pointer(request).signed(sequence_number)
    }
    /// A service returns from taking a request, successful or not.
    run RMW_TAKE_REQUEST rmw_take_request: ros_trace_rmw_take_request, ros_trace_do_rmw_take_request, ros_trace_enabled_rmw_take_request {
        fn(rmw_service_handle: *const c_void, request: *const c_void, client_gid: *const u8, sequence_number: i64, taken: bool) unless gate::refuses(rmw_service_handle as u64);
        let client_gid_bytes = 16;
        [8 + 8 + client_gid_bytes + 8 + 4] .pointer(rmw_service_handle).pointer(request).gid(client_gid, client_gid_bytes).signed(sequence_number).flag(taken)
    }
    /// A service is about to write its response.
    run RMW_SEND_RESPONSE rmw_send_response: ros_trace_rmw_send_response, ros_trace_do_rmw_send_response, ros_trace_enabled_rmw_send_response {
        fn(rmw_service_handle: *const c_void, response: *const c_void, client_gid: *const u8, sequence_number: i64, timestamp: i64) unless gate::refuses(rmw_service_handle as u64);
        let client_gid_bytes = 16;
        [8 + 8 + client_gid_bytes + 8 + 8] .pointer(rmw_service_handle).pointer(response).gid(client_gid, client_gid_bytes).signed(sequence_number).signed(timestamp)
    }
    /// A client returns from taking a response, successful or not.
    run RMW_TAKE_RESPONSE rmw_take_response: ros_trace_rmw_take_response, ros_trace_do_rmw_take_response, ros_trace_enabled_rmw_take_response {
        fn(rmw_client_handle: *const c_void, response: *const c_void, sequence_number: i64, source_timestamp: i64, taken: bool) unless gate::refuses(rmw_client_handle as u64);
        [8 + 8 + 8 + 8 + 4] .pointer(rmw_client_handle).pointer(response).signed(sequence_number).signed(source_timestamp).flag(taken)
    }
    /// The application says that it publishes later, or on another thread, what these subscriptions stored.
    init MESSAGE_LINK_PERIODIC_ASYNC message_link_periodic_async: ros_trace_message_link_periodic_async, ros_trace_do_message_link_periodic_async, ros_trace_enabled_message_link_periodic_async {
        fn(subs: *const *const c_void, num_subs: usize, pubs: *const *const c_void, num_pubs: usize);
        let subs_count = Payload::count(subs, num_subs);
        let pubs_count = Payload::count(pubs, num_pubs);
        [8 + 8 * subs_count + 8 + 8 * pubs_count] .pointers(subs, subs_count).pointers(pubs, pubs_count)
    }
    /// The application says that it publishes when the last of these inputs has arrived.
    init MESSAGE_LINK_PARTIAL_SYNC message_link_partial_sync: ros_trace_message_link_partial_sync, ros_trace_do_message_link_partial_sync, ros_trace_enabled_message_link_partial_sync {
        fn(subs: *const *const c_void, num_subs: usize, pubs: *const *const c_void, num_pubs: usize);
        let subs_count = Payload::count(subs, num_subs);
        let pubs_count = Payload::count(pubs, num_pubs);
        [8 + 8 * subs_count + 8 + 8 * pubs_count] .pointers(subs, subs_count).pointers(pubs, pubs_count)
    }
}
