// hot MILLISECONDS: a node whose timer's callback usually spends about 2 ms in `filter::PassThrough<float>::apply`, and in every fourth
// execution another 12 ms in `filter::VoxelGrid<float>::applyFilter`. It says on standard output when these were, in nanoseconds since 1970:
// `slow TIME`; and `ready` before. With INLINED, the compiler puts all of it into one function.
#include "ros.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#ifdef INLINED
#define OF_ITS_OWN [[gnu::always_inline]] inline
#else
#define OF_ITS_OWN [[gnu::noinline]]
#endif

static long used() { return now(CLOCK_THREAD_CPUTIME_ID); }

static volatile double sum;

namespace filter {
template <class T> struct PassThrough {
  OF_ITS_OWN void apply(long nanoseconds) {
    for (long begin = used(); used() - begin < nanoseconds;)
      for (int i = 1; i < 2000; i++) sum = sum + T(i) / T(i + 1);
  }
};

template <class T> struct VoxelGrid {
  // Its own frame is in the way of whoever looks for callers without a table or a frame pointer.
  OF_ITS_OWN void applyFilter(long nanoseconds) {
    volatile T cells[64];
    for (long begin = used(); used() - begin < nanoseconds;)
      for (int i = 1; i < 2000; i++) {
        cells[i % 64] = T(i);
        sum = sum * 0.5 + cells[(i + 1) % 64];
      }
  }
};
} // namespace filter

static char callback;

OF_ITS_OWN static void on_timer(bool is_slow) {
  filter::PassThrough<float>().apply(2000000);
  if (is_slow) filter::VoxelGrid<float>().applyFilter(12000000);
  sum = sum + 1;
}

static volatile std::sig_atomic_t is_over;
static void end(int) { is_over = 1; }

int main(int words, char **arguments) {
  static char context, node, rmw, timer;
  long milliseconds = words > 1 ? atol(arguments[1]) : 1000;
  std::signal(SIGINT, end);
  ros_trace_rcl_init(&context);
  ros_trace_rcl_node_init(&node, &rmw, "hot", "/");
  make_timer(&timer, 20000000, &callback, "Hot::on_timer()", &node);
  std::puts("ready");
  std::fflush(stdout);
  int ran = 0;
  for (long left = milliseconds / 20; left > 0 && !is_over; left--) {
    bool is_slow = ran % 4 == 3;
    ros_trace_callback_start(&callback, false);
    long begin = now(CLOCK_REALTIME);
    on_timer(is_slow);
    ros_trace_callback_end(&callback);
    if (is_slow) std::printf("slow %ld\n", begin);
    ran++;
    usleep(5000);
  }
}
