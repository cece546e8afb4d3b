// Uses the tracepoints as tracer/include declares them: for each line of standard input 100 events, then prints how often their
// arguments were computed so far. Also compiled as C++.
#include <stdio.h>

#include "tracetools/tracetools.h"

static int computed;

static const void *compute(void) {
  computed++;
  return &computed;
}

int main(void) {
  char line[16];
  TRACETOOLS_TRACEPOINT(rcl_node_init, compute(), compute(), "planner", "/");
  computed = 0;
  while (fgets(line, sizeof line, stdin)) {
    for (int i = 0; i < 99; i++) TRACETOOLS_TRACEPOINT(callback_start, compute(), false);
    if (TRACETOOLS_TRACEPOINT_ENABLED(callback_end)) TRACETOOLS_DO_TRACEPOINT(callback_end, compute());
    TRACEPOINT(rclcpp_executor_get_next_ready);
    printf("%d\n", computed);
    fflush(stdout);
  }
  return 0;
}
