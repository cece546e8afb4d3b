// named NODE TOPIC SYMBOL: two nodes of this name in namespaces of their own; a timer of the first publishes on the topic, and the
// second subscribes to it. Its callback is registered under the symbol. Half of a second, then it ends.
#include "ros.h"
#include <stdint.h>

void ros_trace_rcl_publisher_init(const void *, const void *, const void *, const char *, unsigned long);
void ros_trace_rcl_subscription_init(const void *, const void *, const void *, const char *, unsigned long);
void ros_trace_rclcpp_subscription_init(const void *, const void *);
void ros_trace_rclcpp_subscription_callback_added(const void *, const void *);
void ros_trace_rclcpp_publish(const void *, const void *);
void ros_trace_rcl_publish(const void *, const void *);
void ros_trace_rmw_publish(const void *, const void *, int64_t);
void ros_trace_rmw_take(const void *, const void *, int64_t, bool);

static void rest(long microseconds) {
  struct timespec time = {.tv_nsec = microseconds * 1000};
  nanosleep(&time, 0);
}

int main(int count, char **names) {
  static char context, talker, listener, rmw, publisher, rmw_publisher, reader, rmw_reader, subscription, timer, tick, hear, message;
  if (count < 4) return 2;
  ros_trace_rcl_init(&context);
  ros_trace_rcl_node_init(&talker, &rmw, names[1], "/talking");
  ros_trace_rcl_node_init(&listener, &rmw, names[1], "/listening");
  ros_trace_rcl_publisher_init(&publisher, &talker, &rmw_publisher, names[2], 10);
  make_timer(&timer, 10000000, &tick, names[3], &talker);
  ros_trace_rcl_subscription_init(&reader, &listener, &rmw_reader, names[2], 10);
  ros_trace_rclcpp_subscription_init(&reader, &subscription);
  ros_trace_rclcpp_subscription_callback_added(&subscription, &hear);
  ros_trace_rclcpp_callback_register(&hear, names[3]);
  for (int round = 0; round < 50; round++) {
    ros_trace_callback_start(&tick, false);
    int64_t stamp = now(CLOCK_REALTIME);
    ros_trace_rclcpp_publish(&publisher, &message);
    ros_trace_rcl_publish(&publisher, &message);
    ros_trace_rmw_publish(&rmw_publisher, &message, stamp);
    ros_trace_callback_end(&tick);
    rest(500);
    ros_trace_rmw_take(&rmw_reader, &message, stamp, true);
    ros_trace_callback_start(&hear, false);
    rest(1000);
    ros_trace_callback_end(&hear);
    rest(8000);
  }
  return 0;
}
