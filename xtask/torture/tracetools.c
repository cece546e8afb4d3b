// A libtracetools whose functions do nothing: what programs are linked to, as real ones are.
#include <stdbool.h>
#include <stddef.h>
bool ros_trace_compile_status(void) { return false; }
void ros_trace_rcl_init(const void *a) { (void)a; }
void ros_trace_rcl_node_init(const void *a, const void *b, const char *c, const char *d) { (void)a, (void)b, (void)c, (void)d; }
void ros_trace_rcl_publisher_init(const void *a, const void *b, const void *c, const char *d, size_t e) { (void)a, (void)b, (void)c, (void)d, (void)e; }
void ros_trace_rclcpp_callback_register(const void *a, const char *b) { (void)a, (void)b; }
void ros_trace_callback_start(const void *a, bool b) { (void)a, (void)b; }
void ros_trace_callback_end(const void *a) { (void)a; }
void ros_trace_rclcpp_publish(const void *a, const void *b) { (void)a, (void)b; }
