// Stands for libtracetools: the functions that ticker.c and named.c call, without function.
void ros_trace_rcl_init(const void *a) { (void)a; }
void ros_trace_rcl_node_init(const void *a, const void *b, const char *c, const char *d) { (void)a, (void)b, (void)c, (void)d; }
void ros_trace_rcl_timer_init(const void *a, long b) { (void)a, (void)b; }
void ros_trace_rclcpp_timer_callback_added(const void *a, const void *b) { (void)a, (void)b; }
void ros_trace_rclcpp_timer_link_node(const void *a, const void *b) { (void)a, (void)b; }
void ros_trace_rclcpp_callback_register(const void *a, const char *b) { (void)a, (void)b; }
void ros_trace_callback_start(const void *a, _Bool b) { (void)a, (void)b; }
void ros_trace_callback_end(const void *a) { (void)a; }
void ros_trace_rcl_publisher_init(const void *a, const void *b, const void *c, const char *d, unsigned long e) { (void)a, (void)b, (void)c, (void)d, (void)e; }
void ros_trace_rcl_subscription_init(const void *a, const void *b, const void *c, const char *d, unsigned long e) { (void)a, (void)b, (void)c, (void)d, (void)e; }
void ros_trace_rclcpp_subscription_init(const void *a, const void *b) { (void)a, (void)b; }
void ros_trace_rclcpp_subscription_callback_added(const void *a, const void *b) { (void)a, (void)b; }
void ros_trace_rclcpp_publish(const void *a, const void *b) { (void)a, (void)b; }
void ros_trace_rcl_publish(const void *a, const void *b) { (void)a, (void)b; }
void ros_trace_rmw_publish(const void *a, const void *b, long c) { (void)a, (void)b, (void)c; }
void ros_trace_rmw_take(const void *a, const void *b, long c, _Bool d) { (void)a, (void)b, (void)c, (void)d; }
