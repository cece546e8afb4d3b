// One tracepoint of ROS 2 as LTTng-UST records it, for comparison.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ros2
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_provider.h"
#if !defined(LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_PROVIDER_H
#include <lttng/tracepoint.h>
#include <stdbool.h>
LTTNG_UST_TRACEPOINT_EVENT(
    ros2, callback_start,
    LTTNG_UST_TP_ARGS(const void *, callback_arg, bool, is_intra_process_arg),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer_hex(const void *, callback, callback_arg)
        lttng_ust_field_integer(int, is_intra_process, is_intra_process_arg ? 1 : 0)))
#endif
#include <lttng/tracepoint-event.h>
