// The tracepoints of ROS 2, for programs on systems without tracetools. The functions are those of Jazzy and later.
//
// While nothing is recorded by rostrace's tracer, a tracepoint that is not of initialisation is the look at one number, without a call,
// and its arguments are not computed. With another libtracetools every tracepoint is a call.
#ifndef TRACETOOLS__TRACETOOLS_H_
#define TRACETOOLS__TRACETOOLS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracetools/config.h"
#include "tracetools/visibility_control.hpp"

#ifndef TRACETOOLS_DISABLED

// With as many arguments as the event has, none included.
#define TRACETOOLS_TRACEPOINT(event, ...) (tracetools_skips_##event() ? (void)0 : (ros_trace_##event)(__VA_ARGS__))
#define TRACETOOLS_TRACEPOINT_ENABLED(event) (!tracetools_skips_##event() && (ros_trace_enabled_##event)())
// For callers that have asked before.
#define TRACETOOLS_DO_TRACEPOINT(event, ...) (ros_trace_do_##event)(__VA_ARGS__)

#else

#define TRACETOOLS_TRACEPOINT(event, ...) ((void)0)
#define TRACETOOLS_TRACEPOINT_ENABLED(event) false
#define TRACETOOLS_DO_TRACEPOINT(event, ...) ((void)0)

#endif

// The names up to Jazzy.
#define TRACEPOINT(...) TRACETOOLS_TRACEPOINT(__VA_ARGS__)
#define TRACEPOINT_ENABLED(event) TRACETOOLS_TRACEPOINT_ENABLED(event)
#define DO_TRACEPOINT(...) TRACETOOLS_DO_TRACEPOINT(__VA_ARGS__)

#ifdef __cplusplus
extern "C" {
#endif

// Whether tracepoints do something, and whether they can be recorded in this process.
TRACETOOLS_PUBLIC bool ros_trace_compile_status(void);
TRACETOOLS_PUBLIC bool ros_trace_runtime_status(void);

// Of rostrace's tracer: where the address of the number is that is 0 while nothing is recorded.
__attribute__((weak)) const uint64_t *const *rostrace_active(void);

__attribute__((noinline, cold, unused)) static const uint64_t *const *tracetools_find_active_(void) {
  static const uint64_t unknown = 1;
  static const uint64_t *const always = &unknown;
  return rostrace_active ? rostrace_active() : &always;
}

static inline bool tracetools_is_idle_(void) {
  static const uint64_t *const *found;
  const uint64_t *const *active = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (__builtin_expect(!active, 0)) {
    active = tracetools_find_active_();
    __atomic_store_n(&found, active, __ATOMIC_RELAXED);
  }
  return __builtin_expect(!__atomic_load_n(__atomic_load_n(active, __ATOMIC_RELAXED), __ATOMIC_RELAXED), 1);
}

// Events of initialisation are remembered for recordings that begin later.
#define TRACETOOLS_INIT_(event, ...)                                      \
  static inline bool tracetools_skips_##event(void) { return false; }     \
  TRACETOOLS_DECLARE_(event, __VA_ARGS__)
#define TRACETOOLS_RUN_(event, ...)                                                   \
  static inline bool tracetools_skips_##event(void) { return tracetools_is_idle_(); } \
  TRACETOOLS_DECLARE_(event, __VA_ARGS__)
#define TRACETOOLS_DECLARE_(event, ...)                        \
  TRACETOOLS_PUBLIC void ros_trace_##event(__VA_ARGS__);       \
  TRACETOOLS_PUBLIC bool ros_trace_enabled_##event(void);      \
  TRACETOOLS_PUBLIC void ros_trace_do_##event(__VA_ARGS__);

TRACETOOLS_INIT_(rcl_init, const void *context_handle)
TRACETOOLS_INIT_(
    rcl_node_init, const void *node_handle, const void *rmw_handle, const char *node_name, const char *node_namespace)
TRACETOOLS_INIT_(rmw_publisher_init, const void *rmw_publisher_handle, const uint8_t *gid)
TRACETOOLS_INIT_(
    rcl_publisher_init, const void *publisher_handle, const void *node_handle, const void *rmw_publisher_handle, const char *topic_name, const size_t queue_depth)
TRACETOOLS_RUN_(rclcpp_publish, const void *publisher_handle, const void *message)
TRACETOOLS_RUN_(rclcpp_intra_publish, const void *publisher_handle, const void *message)
TRACETOOLS_RUN_(rcl_publish, const void *publisher_handle, const void *message)
TRACETOOLS_RUN_(rmw_publish, const void *rmw_publisher_handle, const void *message, int64_t timestamp)
TRACETOOLS_INIT_(rmw_subscription_init, const void *rmw_subscription_handle, const uint8_t *gid)
TRACETOOLS_INIT_(
    rcl_subscription_init, const void *subscription_handle, const void *node_handle, const void *rmw_subscription_handle, const char *topic_name, const size_t queue_depth)
TRACETOOLS_INIT_(rclcpp_subscription_init, const void *subscription_handle, const void *subscription)
TRACETOOLS_INIT_(rclcpp_subscription_callback_added, const void *subscription, const void *callback)
TRACETOOLS_RUN_(
    rmw_take, const void *rmw_subscription_handle, const void *message, int64_t source_timestamp, const bool taken)
TRACETOOLS_RUN_(rcl_take, const void *message)
TRACETOOLS_RUN_(rclcpp_take, const void *message)
TRACETOOLS_INIT_(
    rcl_service_init, const void *service_handle, const void *node_handle, const void *rmw_service_handle, const char *service_name)
TRACETOOLS_INIT_(rclcpp_service_callback_added, const void *service_handle, const void *callback)
TRACETOOLS_RUN_(
    rmw_take_request, const void *rmw_service_handle, const void *request, const uint8_t *client_gid, int64_t sequence_number, const bool taken)
TRACETOOLS_RUN_(
    rmw_send_response, const void *rmw_service_handle, const void *response, const uint8_t *client_gid, int64_t sequence_number, int64_t timestamp)
TRACETOOLS_INIT_(rmw_client_init, const void *rmw_client_handle, const uint8_t *gid)
TRACETOOLS_INIT_(
    rcl_client_init, const void *client_handle, const void *node_handle, const void *rmw_client_handle, const char *service_name)
TRACETOOLS_RUN_(
    rmw_send_request, const void *rmw_client_handle, const void *request, int64_t sequence_number)
TRACETOOLS_RUN_(
    rmw_take_response, const void *rmw_client_handle, const void *response, int64_t sequence_number, int64_t source_timestamp, const bool taken)
TRACETOOLS_INIT_(rcl_timer_init, const void *timer_handle, int64_t period)
TRACETOOLS_INIT_(rclcpp_timer_callback_added, const void *timer_handle, const void *callback)
TRACETOOLS_INIT_(rclcpp_timer_link_node, const void *timer_handle, const void *node_handle)
TRACETOOLS_INIT_(rclcpp_callback_register, const void *callback, const char *function_symbol)
TRACETOOLS_RUN_(callback_start, const void *callback, const bool is_intra_process)
TRACETOOLS_RUN_(callback_end, const void *callback)
TRACETOOLS_INIT_(rcl_lifecycle_state_machine_init, const void *node_handle, const void *state_machine)
TRACETOOLS_RUN_(
    rcl_lifecycle_transition, const void *state_machine, const char *start_label, const char *goal_label)
TRACETOOLS_RUN_(rclcpp_executor_get_next_ready, void)
TRACETOOLS_RUN_(rclcpp_executor_wait_for_work, const int64_t timeout)
TRACETOOLS_RUN_(rclcpp_executor_execute, const void *handle)
TRACETOOLS_INIT_(rclcpp_ipb_to_subscription, const void *ipb, const void *subscription)
TRACETOOLS_INIT_(rclcpp_buffer_to_ipb, const void *buffer, const void *ipb)
TRACETOOLS_INIT_(rclcpp_construct_ring_buffer, const void *buffer, const uint64_t capacity)
TRACETOOLS_RUN_(
    rclcpp_ring_buffer_enqueue, const void *buffer, const uint64_t index, const uint64_t size, const bool overwritten)
TRACETOOLS_RUN_(
    rclcpp_ring_buffer_dequeue, const void *buffer, const uint64_t index, const uint64_t size)
TRACETOOLS_RUN_(rclcpp_ring_buffer_clear, const void *buffer)
TRACETOOLS_INIT_(
    message_link_periodic_async, const void **subs, size_t num_subs, const void **pubs, size_t num_pubs)
TRACETOOLS_INIT_(
    message_link_partial_sync, const void **subs, size_t num_subs, const void **pubs, size_t num_pubs)

#undef TRACETOOLS_INIT_
#undef TRACETOOLS_RUN_
#undef TRACETOOLS_DECLARE_

#ifdef __cplusplus
}
#endif

#endif
