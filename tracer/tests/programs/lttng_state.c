// A libtracetools that looks as one with LTTng-UST 2.13, as far as it tells what is recorded. Says what it is called for.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifndef SIZE
#define SIZE sizeof(struct lttng_ust_tracepoint)
#endif
#ifndef EVENT
#define EVENT "callback_start"
#endif
#define PUBLIC __attribute__((visibility("default")))

struct lttng_ust_tracepoint {
  uint32_t struct_size;
  const char *provider_name;
  const char *event_name;
  int state;
  void *probes;
  int *tracepoint_provider_ref;
  const char *signature;
};

struct lttng_ust_tracepoint lttng_ust_tracepoint_ros2___callback_start = {SIZE, "ros2", EVENT, 0, 0, 0, 0};

PUBLIC void lttng_records(bool records) { lttng_ust_tracepoint_ros2___callback_start.state = records; }
PUBLIC bool ros_trace_compile_status(void) { return true; }
PUBLIC void ros_trace_rcl_node_init(void) {}
PUBLIC void ros_trace_callback_start(void) { puts("callback_start"); }
PUBLIC bool ros_trace_enabled_callback_start(void) { return lttng_ust_tracepoint_ros2___callback_start.state; }
// Of this one nothing is said, so that all calls arrive.
PUBLIC void ros_trace_callback_end(void) { puts("callback_end"); }
PUBLIC void ros_trace_do_callback_end(void) {}
