// Sets clocks to simulated times as the nodes of a process do; with -DRCL it is the library that has the function.
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

int rcl_set_ros_time_override(void *clock, int64_t nanoseconds);
void ros_trace_rcl_init(const void *);

#ifdef RCL
int rcl_set_ros_time_override(void *clock, int64_t nanoseconds) { return clock && nanoseconds >= 0 ? 0 : 11; }
#else
#define P(n) ((void *)(uintptr_t)(n))
int main(void) {
  int bad = 0;
  ros_trace_rcl_init(P(1));
  bad += rcl_set_ros_time_override(P(10), 0);      // nothing is known yet
  bad += rcl_set_ros_time_override(P(10), 1000);
  bad += rcl_set_ros_time_override(P(20), 1000);   // another node of the process
  bad += rcl_set_ros_time_override(P(10), 2000);
  bad += rcl_set_ros_time_override(P(20), 1000);   // and it lags behind
  bad += rcl_set_ros_time_override(P(10), 2000);   // the simulation stands still
  bad += rcl_set_ros_time_override(P(10), 500);    // and is set back
  bad += rcl_set_ros_time_override(P(10), -1) != 11;
  bad += rcl_set_ros_time_override(0, 3000) != 11;
  usleep(1100000);
  bad += rcl_set_ros_time_override(P(20), 4000);   // the first node is no more
  return bad;
}
#endif
