// A libtracetools on LTTng-UST, as far as lines.c needs one.
#include "lttng_provider.c"

bool ros_trace_enabled_callback_start(void) { return lttng_ust_tracepoint_enabled(ros2, callback_start); }
void ros_trace_rcl_node_init(void) {}
void ros_trace_do_callback_end(void) {}
