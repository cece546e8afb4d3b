// loops SEED EXECUTIONS LOG: a node whose timer's callback usually computes a little, and in some executions much longer, in one of several
// functions. Which one, and when, is written into LOG: `slow INSTANT FUNCTION`, with the time of day in nanoseconds.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void ros_trace_rcl_init(const void *);
void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_rcl_timer_init(const void *, int64_t);
void ros_trace_rclcpp_timer_callback_added(const void *, const void *);
void ros_trace_rclcpp_timer_link_node(const void *, const void *);
void ros_trace_rclcpp_callback_register(const void *, const char *);
void ros_trace_callback_start(const void *, bool);
void ros_trace_callback_end(const void *);

static int64_t read_clock(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static uint64_t state;
static uint64_t chance(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

static volatile double sum;

// Each computes something else for so many nanoseconds of a CPU, in a frame of its own.
#define LOOP(name, step)                                                                        \
  __attribute__((noinline)) static void name(int64_t time) {                                    \
    volatile double cells[32];                                                                  \
    for (int64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);                                   \
         read_clock(CLOCK_THREAD_CPUTIME_ID) - begin < time;)                                   \
      for (int i = 1; i < 2000; i++) {                                                          \
        cells[i % 32] = i;                                                                      \
        sum = step;                                                                             \
      }                                                                                         \
  }
LOOP(filter_points, sum * 0.5 + cells[(i + 1) % 32])
LOOP(match_features, sum * 0.25 - cells[(i + 7) % 32])
LOOP(fit_plane, sum / 3 + cells[i % 32])
LOOP(plan_route, sum * 0.125 + 1 / cells[i % 32])
LOOP(blur_image, sum * sum / (1 + cells[i % 32] * sum))
LOOP(sort_candidates, cells[(i * 3) % 32] - sum * 0.75)

// One that is deep inside, and one that comes by a pointer.
__attribute__((noinline)) static void descend(int depth, int64_t time) {
  if (depth == 0) {
    fit_plane(time);
  } else {
    descend(depth - 1, time);
  }
  sum = sum + 1;
}
__attribute__((noinline)) static void plan_deep(int64_t time) { descend(12, time), sum = sum + 1; }
__attribute__((noinline)) static void usual_work(int64_t time) {
  for (int64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID); read_clock(CLOCK_THREAD_CPUTIME_ID) - begin < time;) sum = sum + 1;
}

static const struct {
  const char *name;
  void (*run)(int64_t);
} loops[] = {
    {"filter_points", filter_points}, {"match_features", match_features}, {"fit_plane", plan_deep},
    {"plan_route", plan_route},       {"blur_image", blur_image},         {"sort_candidates", sort_candidates},
};

int main(int count, char **words) {
  static char context, node, rmw, timer, callback;
  FILE *log = count == 4 ? fopen(words[3], "w") : NULL;
  if (!log) return 2;
  state = strtoull(words[1], NULL, 10);
  ros_trace_rcl_init(&context);
  ros_trace_rcl_node_init(&node, &rmw, "loops", "/");
  ros_trace_rcl_timer_init(&timer, 10000000);
  ros_trace_rclcpp_timer_callback_added(&timer, &callback);
  ros_trace_rclcpp_callback_register(&callback, "Loops::work()");
  ros_trace_rclcpp_timer_link_node(&timer, &node);
  for (int left = atoi(words[2]); left > 0; left--) {
    bool is_slow = chance(3) == 0;
    uint64_t which = chance(sizeof loops / sizeof *loops);
    ros_trace_callback_start(&callback, false);
    int64_t begin = read_clock(CLOCK_REALTIME);
    usual_work(200000 + (int64_t)chance(600000));
    if (is_slow) loops[which].run(8000000 + (int64_t)chance(20000000));
    ros_trace_callback_end(&callback);
    if (is_slow) fprintf(log, "slow %ld %s\n", (long)begin, loops[which].name);
    usleep(3000);
  }
  return fclose(log) != 0;
}
