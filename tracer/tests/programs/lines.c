// Does what the lines of standard input say, and answers each with a line.
//   start      the first event of the process
//   emit N     N callbacks
//   enabled    whether callbacks are recorded
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_callback_start(const void *, bool);
void ros_trace_do_callback_end(const void *);
bool ros_trace_enabled_callback_start(void);

static void emit(unsigned long count) {
  for (unsigned long i = 0; i < count; i++) {
    ros_trace_callback_start((const void *)(0x1000 + i), i % 2);
    ros_trace_do_callback_end((const void *)(0x1000 + i));
  }
}

int main(void) {
  char line[64], word[16];
  while (fgets(line, sizeof line, stdin)) {
    char *number = strchr(line, ' ');
    unsigned long value = number ? strtoul(number, NULL, 0) : 0, answer = value;
    sscanf(line, "%15s", word);
    if (!strcmp(word, "start")) ros_trace_rcl_node_init(line, line, "planner", "/");
    if (!strcmp(word, "emit")) emit(value);
    if (!strcmp(word, "enabled")) answer = ros_trace_enabled_callback_start();
    printf("%lx\n", answer);
    fflush(stdout);
  }
  return 0;
}
