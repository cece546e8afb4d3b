// Calls every function of libtracetools once, as the headers of ROS 2 declare them. Built with -DHUMBLE for one argument of rmw_publish.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define P(n) ((const void *)(uintptr_t)(n))
#ifdef HUMBLE
#define FORMS(name, ...) void ros_trace_##name(__VA_ARGS__);
#else
#define FORMS(name, ...) \
  void ros_trace_##name(__VA_ARGS__); \
  void ros_trace_do_##name(__VA_ARGS__); \
  bool ros_trace_enabled_##name(void);
#endif

FORMS(rcl_init, const void *)
FORMS(rcl_node_init, const void *, const void *, const char *, const char *)
FORMS(rmw_publisher_init, const void *, const uint8_t *)
FORMS(rcl_publisher_init, const void *, const void *, const void *, const char *, const size_t)
FORMS(rclcpp_publish, const void *, const void *)
FORMS(rcl_publish, const void *, const void *)
#ifdef HUMBLE
FORMS(rmw_publish, const void *)
#else
FORMS(rmw_publish, const void *, const void *, int64_t)
#endif
FORMS(rmw_subscription_init, const void *, const uint8_t *)
FORMS(rcl_subscription_init, const void *, const void *, const void *, const char *, const size_t)
FORMS(rclcpp_subscription_init, const void *, const void *)
FORMS(rclcpp_subscription_callback_added, const void *, const void *)
FORMS(rmw_take, const void *, const void *, int64_t, const bool)
FORMS(rcl_take, const void *)
FORMS(rclcpp_take, const void *)
FORMS(rcl_service_init, const void *, const void *, const void *, const char *)
FORMS(rclcpp_service_callback_added, const void *, const void *)
FORMS(rcl_client_init, const void *, const void *, const void *, const char *)
FORMS(rcl_timer_init, const void *, int64_t)
FORMS(rclcpp_timer_callback_added, const void *, const void *)
FORMS(rclcpp_timer_link_node, const void *, const void *)
FORMS(rclcpp_callback_register, const void *, const char *)
FORMS(callback_start, const void *, const bool)
FORMS(callback_end, const void *)
FORMS(rcl_lifecycle_state_machine_init, const void *, const void *)
FORMS(rcl_lifecycle_transition, const void *, const char *, const char *)
FORMS(rclcpp_executor_get_next_ready, void)
FORMS(rclcpp_executor_wait_for_work, const int64_t)
FORMS(rclcpp_executor_execute, const void *)
#ifndef HUMBLE
FORMS(rclcpp_intra_publish, const void *, const void *)
FORMS(rclcpp_ipb_to_subscription, const void *, const void *)
FORMS(rclcpp_buffer_to_ipb, const void *, const void *)
FORMS(rclcpp_construct_ring_buffer, const void *, const uint64_t)
FORMS(rclcpp_ring_buffer_enqueue, const void *, const uint64_t, const uint64_t, const bool)
FORMS(rclcpp_ring_buffer_dequeue, const void *, const uint64_t, const uint64_t)
FORMS(rclcpp_ring_buffer_clear, const void *)
FORMS(rmw_take_request, const void *, const void *, const uint8_t *, int64_t, const bool)
FORMS(rmw_send_response, const void *, const void *, const uint8_t *, int64_t, int64_t)
FORMS(rmw_client_init, const void *, const uint8_t *)
FORMS(rmw_send_request, const void *, const void *, int64_t)
FORMS(rmw_take_response, const void *, const void *, int64_t, int64_t, const bool)
FORMS(message_link_periodic_async, const void **, size_t, const void **, size_t)
FORMS(message_link_partial_sync, const void **, size_t, const void **, size_t)
#endif
bool ros_trace_compile_status(void);

int main(void) {
  static const uint8_t gid[24] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
  if (!ros_trace_compile_status()) return 3;
  ros_trace_rcl_init(P(1));
  ros_trace_rcl_node_init(P(2), P(3), "node", "/space");
  ros_trace_rmw_publisher_init(P(4), gid);
  ros_trace_rcl_publisher_init(P(5), P(2), P(4), "/topic", 7);
  ros_trace_rmw_subscription_init(P(6), gid);
  ros_trace_rcl_subscription_init(P(7), P(2), P(6), "/topic", 8);
  ros_trace_rclcpp_subscription_init(P(7), P(9));
  ros_trace_rclcpp_subscription_callback_added(P(9), P(10));
  ros_trace_rcl_service_init(P(11), P(2), P(12), "/service");
  ros_trace_rclcpp_service_callback_added(P(11), P(13));
  ros_trace_rcl_client_init(P(14), P(2), P(15), "/service");
  ros_trace_rcl_timer_init(P(16), -5);
  ros_trace_rclcpp_timer_callback_added(P(16), P(17));
  ros_trace_rclcpp_timer_link_node(P(16), P(2));
  ros_trace_rcl_lifecycle_state_machine_init(P(2), P(18));
  ros_trace_rclcpp_publish(P(0), P(19));
  ros_trace_rcl_publish(P(5), P(19));
#ifdef HUMBLE
  ros_trace_rmw_publish(P(19));
#else
  ros_trace_rmw_publish(P(4), P(19), 1234567890123);
#endif
  ros_trace_rmw_take(P(6), P(20), 1234567890123, true);
  ros_trace_rcl_take(P(20));
  ros_trace_rclcpp_take(P(20));
  ros_trace_callback_start(P(10), true);
  ros_trace_callback_end(P(10));
  ros_trace_rcl_lifecycle_transition(P(18), "inactive", "active");
  ros_trace_rclcpp_executor_get_next_ready();
  ros_trace_rclcpp_executor_wait_for_work(-1);
  ros_trace_rclcpp_executor_execute(P(16));
#ifdef HUMBLE
  ros_trace_rclcpp_callback_register(P(10), 0);
#else
  if (ros_trace_enabled_rclcpp_callback_register()) ros_trace_do_rclcpp_callback_register(P(10), 0);
  const void *subs[] = {P(7), P(8)}, *pubs[] = {P(5)};
  ros_trace_rclcpp_intra_publish(P(5), P(19));
  ros_trace_rclcpp_ipb_to_subscription(P(21), P(9));
  ros_trace_rclcpp_buffer_to_ipb(P(22), P(21));
  ros_trace_rclcpp_construct_ring_buffer(P(22), 3);
  ros_trace_rclcpp_ring_buffer_enqueue(P(22), 1, 2, true);
  ros_trace_rclcpp_ring_buffer_dequeue(P(22), 1, 2);
  ros_trace_rclcpp_ring_buffer_clear(P(22));
  if (ros_trace_enabled_rmw_take_request()) ros_trace_do_rmw_take_request(P(12), P(23), gid, -9, true);
  ros_trace_rmw_send_response(P(12), P(24), gid, 9, 99);
  ros_trace_rmw_client_init(P(15), gid);
  ros_trace_rmw_send_request(P(15), P(25), 9);
  ros_trace_rmw_take_response(P(15), P(26), 9, 99, false);
  ros_trace_message_link_periodic_async(subs, 2, pubs, 1);
  ros_trace_message_link_partial_sync(subs, 0, pubs, 1);
#endif
  return 0;
}
