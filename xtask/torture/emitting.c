// The library of loading.c.
void ros_trace_rclcpp_publish(const void *, const void *);
void emitting_call(const void *number) { ros_trace_rclcpp_publish((void *)0x1000000, number); }
