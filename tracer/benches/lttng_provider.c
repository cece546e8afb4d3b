// libtracetools as far as the benchmark needs it, on LTTng-UST.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

bool ros_trace_compile_status(void) { return true; }
void ros_trace_callback_start(const void *callback, const bool is_intra_process) {
  lttng_ust_tracepoint(ros2, callback_start, callback, is_intra_process);
}
