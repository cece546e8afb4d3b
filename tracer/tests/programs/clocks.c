// Sets clocks to simulated times as the nodes of a process do; with -DRCL it is the library that has the function.
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

int rcl_set_ros_time_override(void *clock, int64_t nanoseconds);
struct allocator { void *functions[4], *state; };
int rcl_timer_init(void *timer, void *clock, void *context, int64_t period, void (*callback)(void), struct allocator allocator);
int rcl_timer_init2(void *timer, void *clock, void *context, int64_t period, void (*callback)(void), struct allocator allocator, _Bool autostart);
void ros_trace_rcl_init(const void *);

#ifdef RCL
int rcl_set_ros_time_override(void *clock, int64_t nanoseconds) { return clock && nanoseconds >= 0 ? 0 : 11; }
// Whether everything arrives: what is passed by value lies on the stack.
static int arrived(void *timer, void *clock, void *context, int64_t period, void (*callback)(void), struct allocator allocator) {
  return timer && clock && context && period == 5 && callback && allocator.functions[0] == (void *)1 && allocator.state == (void *)5 ? 0 : 11;
}
int rcl_timer_init(void *timer, void *clock, void *context, int64_t period, void (*callback)(void), struct allocator allocator) {
  return arrived(timer, clock, context, period, callback, allocator);
}
int rcl_timer_init2(void *timer, void *clock, void *context, int64_t period, void (*callback)(void), struct allocator allocator, _Bool autostart) {
  return arrived(timer, clock, context, period, callback, allocator) || !autostart ? 11 : 0;
}
#else
#define P(n) ((void *)(uintptr_t)(n))
static void tick(void) {}
int main(void) {
  int bad = 0;
  ros_trace_rcl_init(P(1));
  int ros = 1, steady = 3, broken = 77;
  struct allocator allocator = {{P(1), P(2), P(3), P(4)}, P(5)};
  bad += rcl_timer_init(P(30), &ros, P(2), 5, tick, allocator);
  bad += rcl_timer_init2(P(31), &steady, P(2), 5, tick, allocator, 1);
  bad += rcl_timer_init2(P(32), &ros, P(2), 5, tick, allocator, 0) != 11;
  bad += rcl_timer_init2(P(33), &broken, P(2), 5, tick, allocator, 1);
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
