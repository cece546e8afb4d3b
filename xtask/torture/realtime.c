// A control loop at 1 kHz with real-time priority and four tracepoints in each turn, while a bag is written to the same disk: realtime BAG MILLISECONDS
// The loop never writes itself, so whatever it waits for is the tracer's. Compiled a second time with LTTng's provider in the place of libtracetools.
#include "torture.h"

static volatile bool over;
static void *write_bag(void *path) {
  enum { BLOCK = 1 << 20, BLOCKS = 48 };
  char *block = malloc(BLOCK);
  memset(block, 'b', BLOCK);
  int bag = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  for (int i = 0; !over; i++) {
    if (pwrite(bag, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK) < 0) usleep(1000);
    if (i % 4 == 3) fsync(bag);
  }
  close(bag);
  free(block);
  return NULL;
}

int main(int count, char **words) {
  uint64_t until = now() + number_of(count, words, 2, 3000) * 1000000u, due = now();
  pthread_t writer;
  start(&writer, write_bag, (void *)(uintptr_t)word_of(count, words, 1));
  struct sched_param highest = {sched_get_priority_max(SCHED_FIFO) - 1};
  bool is_real_time = sched_setscheduler(0, SCHED_FIFO, &highest) == 0;
  mlockall(MCL_CURRENT);
  ready();
  while (!enough(until)) {
    for (int i = 0; i < 4; i++) emit();
    due += 1000000;
    sleep_until(due);
  }
  struct sched_param normal = {0};
  sched_setscheduler(0, SCHED_OTHER, &normal);
  over = true;
  pthread_join(writer, NULL);
  say(is_real_time ? "real time\n" : "no real time\n");
  return 0;
}
