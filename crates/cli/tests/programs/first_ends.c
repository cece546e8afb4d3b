// first_ends: a node whose first thread ends at once, while another one computes for 300 milliseconds of its own CPU clock.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

void ros_trace_rcl_init(const void *);
void ros_trace_callback_start(const void *, bool);
void ros_trace_callback_end(const void *);

static long computed(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void *compute(void *nothing) {
  // The recorder is to see the end of the first thread before the samples.
  nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
  ros_trace_callback_start((void *)0x40, false);
  // Not in the kernel, where nothing is sampled: it is asked for the time now and then.
  while (computed() < 300000000)
    for (volatile int step = 0; step < 100000; step++)
      ;
  ros_trace_callback_end((void *)0x40);
  return nothing;
}

int main(void) {
  ros_trace_rcl_init((void *)0x10);
  pthread_t thread;
  pthread_create(&thread, NULL, compute, NULL);
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  pthread_exit(NULL);
}
