// on_cpu MILLISECONDS WHAT: a node whose timer's callback takes about 5 ms of a CPU, and that writes down for each execution how much the
// thread's own clock says: `ran NANOSECONDS of NANOSECONDS` on standard output at the end, one line for each. WHAT it does inside:
// `compute` nothing else; `sleep` also 5 ms of sleep; `hog` shares CPU 0 with a thread called `hog`, which never stops; `threads` the same as
// `compute`, but on another thread for each execution, after `ready` was said; `read` also reads from a pipe what a thread called `feeder`
// writes after 5 ms; `touch` also touches 16 MiB of new memory.
#include "ros.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;
static void end(int signal) { (void)signal, is_over = 1; }

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void *hog(void *unused) {
  (void)unused;
  pin(0);
  pthread_setname_np(pthread_self(), "hog");
  while (!is_over) {
  }
  return NULL;
}

static int wanted[2], fed[2];
static void *feed(void *unused) {
  char byte;
  pthread_setname_np(pthread_self(), "feeder");
  while (read(wanted[0], &byte, 1) == 1) {
    usleep(5000);
    if (write(fed[1], &byte, 1) != 1) break;
  }
  return unused;
}

static void be_fed(void) {
  char byte = 0;
  if (write(wanted[1], &byte, 1) != 1 || read(fed[0], &byte, 1) != 1) abort();
}

static void touch(void) {
  const size_t bytes = 16 << 20;
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) abort();
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
  munmap(memory, bytes);
}

static char callback;
static const char *what;
static long ran[100000][2];
static int count;

static void *execute(void *unused) {
  (void)unused;
  // The clock of the thread as near to the tracepoints as can be.
  ros_trace_callback_start(&callback, false);
  long cpu = now(CLOCK_THREAD_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
  while (now(CLOCK_THREAD_CPUTIME_ID) - cpu < 5000000) {
  }
  if (!strcmp(what, "sleep")) usleep(5000);
  if (!strcmp(what, "read")) be_fed();
  if (!strcmp(what, "touch")) touch();
  ran[count][0] = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
  ran[count][1] = now(CLOCK_MONOTONIC) - wall;
  ros_trace_callback_end(&callback);
  count++;
  return NULL;
}

int main(int words, char **arguments) {
  static char context, node, rmw, timer;
  long milliseconds = words > 1 ? atol(arguments[1]) : 300;
  what = words > 2 ? arguments[2] : "compute";
  struct sigaction action = {.sa_handler = end};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  ros_trace_rcl_init(&context);
  ros_trace_rcl_node_init(&node, &rmw, "on_cpu", "/");
  make_timer(&timer, 10000000, &callback, "OnCpu::work()", &node);
  pthread_t thread;
  if (!strcmp(what, "hog")) {
    pin(0);
    pthread_create(&thread, NULL, hog, NULL);
  }
  if (!strcmp(what, "read")) {
    if (pipe(wanted) || pipe(fed)) return 1;
    pthread_create(&thread, NULL, feed, NULL);
  }
  puts("ready");
  fflush(stdout);
  for (long begin = now(CLOCK_MONOTONIC); !is_over && count < 100000 && now(CLOCK_MONOTONIC) - begin < milliseconds * 1000000;) {
    if (!strcmp(what, "threads")) {
      pthread_create(&thread, NULL, execute, NULL);
      pthread_join(thread, NULL);
    } else {
      execute(NULL);
    }
    usleep(2000);
  }
  is_over = 1;
  printf("pid %d\n", (int)getpid());
  for (int each = 0; each < count; each++) printf("ran %ld of %ld\n", ran[each][0], ran[each][1]);
  return 0;
}
