//! The tracepoints of ROS 2 as safe functions, for client libraries in Rust such as rclrs and r2r. Made from crates/tracepoints by
//! `cargo xtask docs`: do not edit by hand.
//!
//! ```
//! use rostrace_tracer::ros;
//!
//! let callback = 0x5000 as *const std::ffi::c_void;
//! ros::rclcpp_callback_register(callback, c"robot::tick");
//! ros::callback_start(callback, false);
//! ros::callback_end(callback);
//! ```

#![allow(clippy::not_unsafe_ptr_arg_deref)] // Addresses are only written down.

use std::ffi::{CStr, c_void};

use crate::abi::functions::*;

macro_rules! safe {
    ($($(#[$about:meta])* $name:ident($($parameter:ident: $kind:ty),*) => $function:ident($($argument:expr),*);)*) => {
        $(
            $(#[$about])*
            #[inline]
            #[allow(clippy::too_many_arguments)]
            pub fn $name($($parameter: $kind),*) {
                // SAFETY: texts end with a zero, gids and lists are as long as is said, addresses are not followed.
                unsafe { $function($($argument),*) }
            }
        )*
    };
}

safe! {
    /// A ROS context was initialised.
    rcl_init(context_handle: *const c_void) => ros_trace_rcl_init(context_handle);
    /// A node was created.
    rcl_node_init(node_handle: *const c_void, rmw_handle: *const c_void, node_name: &CStr, namespace: &CStr)
        => ros_trace_rcl_node_init(node_handle, rmw_handle, node_name.as_ptr(), namespace.as_ptr());
    /// A publisher was created.
    rcl_publisher_init(publisher_handle: *const c_void, node_handle: *const c_void, rmw_publisher_handle: *const c_void, topic_name: &CStr, queue_depth: u64)
        => ros_trace_rcl_publisher_init(publisher_handle, node_handle, rmw_publisher_handle, topic_name.as_ptr(), queue_depth);
    /// A subscription was created.
    rcl_subscription_init(subscription_handle: *const c_void, node_handle: *const c_void, rmw_subscription_handle: *const c_void, topic_name: &CStr, queue_depth: u64)
        => ros_trace_rcl_subscription_init(subscription_handle, node_handle, rmw_subscription_handle, topic_name.as_ptr(), queue_depth);
    /// A service was created.
    rcl_service_init(service_handle: *const c_void, node_handle: *const c_void, rmw_service_handle: *const c_void, service_name: &CStr)
        => ros_trace_rcl_service_init(service_handle, node_handle, rmw_service_handle, service_name.as_ptr());
    /// A client of a service was created.
    rcl_client_init(client_handle: *const c_void, node_handle: *const c_void, rmw_client_handle: *const c_void, service_name: &CStr)
        => ros_trace_rcl_client_init(client_handle, node_handle, rmw_client_handle, service_name.as_ptr());
    /// A timer was created.
    rcl_timer_init(timer_handle: *const c_void, period: i64) => ros_trace_rcl_timer_init(timer_handle, period);
    /// A node got the state machine of a lifecycle node.
    rcl_lifecycle_state_machine_init(node_handle: *const c_void, state_machine: *const c_void)
        => ros_trace_rcl_lifecycle_state_machine_init(node_handle, state_machine);
    /// A lifecycle node changed its state and announced it.
    rcl_lifecycle_transition(state_machine: *const c_void, start_label: &CStr, goal_label: &CStr)
        => ros_trace_rcl_lifecycle_transition(state_machine, start_label.as_ptr(), goal_label.as_ptr());
    /// rcl hands a message to the middleware.
    rcl_publish(publisher_handle: *const c_void, message: *const c_void) => ros_trace_rcl_publish(publisher_handle, message);
    /// rcl returns from a take, successful or not.
    rcl_take(message: *const c_void) => ros_trace_rcl_take(message);
    /// An object of rclcpp was tied to its rcl subscription; with intra-process communication there are two.
    rclcpp_subscription_init(subscription_handle: *const c_void, subscription: *const c_void)
        => ros_trace_rclcpp_subscription_init(subscription_handle, subscription);
    /// A subscription object got its callback.
    rclcpp_subscription_callback_added(subscription: *const c_void, callback: *const c_void)
        => ros_trace_rclcpp_subscription_callback_added(subscription, callback);
    /// A service got its callback.
    rclcpp_service_callback_added(service_handle: *const c_void, callback: *const c_void) => ros_trace_rclcpp_service_callback_added(service_handle, callback);
    /// A timer got its callback.
    rclcpp_timer_callback_added(timer_handle: *const c_void, callback: *const c_void) => ros_trace_rclcpp_timer_callback_added(timer_handle, callback);
    /// A timer was added to a node.
    rclcpp_timer_link_node(timer_handle: *const c_void, node_handle: *const c_void) => ros_trace_rclcpp_timer_link_node(timer_handle, node_handle);
    /// A callback object got its name.
    rclcpp_callback_register(callback: *const c_void, symbol: &CStr) => ros_trace_rclcpp_callback_register(callback, symbol.as_ptr());
    /// A callback of a timer, subscription or service begins.
    callback_start(callback: *const c_void, is_intra_process: bool) => ros_trace_callback_start(callback, is_intra_process);
    /// A callback has returned.
    callback_end(callback: *const c_void) => ros_trace_callback_end(callback);
    /// rclcpp hands a message to rcl.
    rclcpp_publish(message: *const c_void) => ros_trace_rclcpp_publish(std::ptr::null(), message);
    /// rclcpp returns from a take, successful or not.
    rclcpp_take(message: *const c_void) => ros_trace_rclcpp_take(message);
    /// A message that came through the middleware is about to be given to its callback.
    dispatch_subscription_callback(message: *const c_void, callback: *const c_void, source_stamp: u64, message_timestamp: u64)
        => ros_trace_dispatch_subscription_callback(message, callback, source_stamp, message_timestamp);
    /// An executor begins to look for something that is ready.
    rclcpp_executor_get_next_ready() => ros_trace_rclcpp_executor_get_next_ready();
    /// An executor begins to wait for work.
    rclcpp_executor_wait_for_work(timeout: i64) => ros_trace_rclcpp_executor_wait_for_work(timeout);
    /// An executor begins to execute a timer or a subscription.
    rclcpp_executor_execute(handle: *const c_void) => ros_trace_rclcpp_executor_execute(handle);
    /// A ring buffer for intra-process messages was created.
    rclcpp_construct_ring_buffer(buffer: *const c_void, capacity: u64) => ros_trace_rclcpp_construct_ring_buffer(buffer, capacity);
    /// A ring buffer became part of an intra-process buffer.
    rclcpp_buffer_to_ipb(buffer: *const c_void, ipb: *const c_void) => ros_trace_rclcpp_buffer_to_ipb(buffer, ipb);
    /// An intra-process buffer was given to its subscription.
    rclcpp_ipb_to_subscription(ipb: *const c_void, subscription: *const c_void) => ros_trace_rclcpp_ipb_to_subscription(ipb, subscription);
    /// rclcpp hands a message to the subscriptions of its own process.
    rclcpp_intra_publish(publisher_handle: *const c_void, message: *const c_void) => ros_trace_rclcpp_intra_publish(publisher_handle, message);
    /// A message was put into a ring buffer.
    rclcpp_ring_buffer_enqueue(buffer: *const c_void, index: u64, size: u64, overwritten: bool)
        => ros_trace_rclcpp_ring_buffer_enqueue(buffer, index, size, overwritten);
    /// A message was taken out of a ring buffer.
    rclcpp_ring_buffer_dequeue(buffer: *const c_void, index: u64, size: u64) => ros_trace_rclcpp_ring_buffer_dequeue(buffer, index, size);
    /// A ring buffer was asked to forget its messages.
    rclcpp_ring_buffer_clear(buffer: *const c_void) => ros_trace_rclcpp_ring_buffer_clear(buffer);
    /// The intra-process manager has copied a message.
    message_construct(original_message: *const c_void, constructed_message: *const c_void) => ros_trace_message_construct(original_message, constructed_message);
    /// A message of the own process is about to be given to its callback.
    dispatch_intra_process_subscription_callback(message: *const c_void, callback: *const c_void, message_timestamp: u64)
        => ros_trace_dispatch_intra_process_subscription_callback(message, callback, message_timestamp);
    /// The middleware has created a publisher.
    rmw_publisher_init(rmw_publisher_handle: *const c_void, gid: &[u8; 24]) => ros_trace_rmw_publisher_init(rmw_publisher_handle, gid.as_ptr());
    /// The middleware has created a subscription.
    rmw_subscription_init(rmw_subscription_handle: *const c_void, gid: &[u8; 24]) => ros_trace_rmw_subscription_init(rmw_subscription_handle, gid.as_ptr());
    /// The middleware has created a client.
    rmw_client_init(rmw_client_handle: *const c_void, gid: &[u8; 24]) => ros_trace_rmw_client_init(rmw_client_handle, gid.as_ptr());
    /// The middleware is about to write a message.
    rmw_publish(rmw_publisher_handle: *const c_void, message: *const c_void, timestamp: i64) => ros_trace_rmw_publish(rmw_publisher_handle, message, timestamp);
    /// The middleware returns from a take, successful or not.
    rmw_take(rmw_subscription_handle: *const c_void, message: *const c_void, source_timestamp: i64, taken: bool)
        => ros_trace_rmw_take(rmw_subscription_handle, message, source_timestamp, taken);
    /// A client is sending a request; Fast DDS says so after the write, Cyclone DDS before it.
    rmw_send_request(rmw_client_handle: *const c_void, request: *const c_void, sequence_number: i64)
        => ros_trace_rmw_send_request(rmw_client_handle, request, sequence_number);
    /// A service returns from taking a request, successful or not.
    rmw_take_request(rmw_service_handle: *const c_void, request: *const c_void, client_gid: &[u8; 24], sequence_number: i64, taken: bool)
        => ros_trace_rmw_take_request(rmw_service_handle, request, client_gid.as_ptr(), sequence_number, taken);
    /// A service is about to write its response.
    rmw_send_response(rmw_service_handle: *const c_void, response: *const c_void, client_gid: &[u8; 24], sequence_number: i64, timestamp: i64)
        => ros_trace_rmw_send_response(rmw_service_handle, response, client_gid.as_ptr(), sequence_number, timestamp);
    /// A client returns from taking a response, successful or not.
    rmw_take_response(rmw_client_handle: *const c_void, response: *const c_void, sequence_number: i64, source_timestamp: i64, taken: bool)
        => ros_trace_rmw_take_response(rmw_client_handle, response, sequence_number, source_timestamp, taken);
    /// The application says that it publishes later, or on another thread, what these subscriptions stored.
    message_link_periodic_async(subs: &[*const c_void], pubs: &[*const c_void])
        => ros_trace_message_link_periodic_async(subs.as_ptr(), subs.len(), pubs.as_ptr(), pubs.len());
    /// The application says that it publishes when the last of these inputs has arrived.
    message_link_partial_sync(subs: &[*const c_void], pubs: &[*const c_void])
        => ros_trace_message_link_partial_sync(subs.as_ptr(), subs.len(), pubs.as_ptr(), pubs.len());
}
