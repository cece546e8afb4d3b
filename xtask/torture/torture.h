// What all torture programs share: numbered events, their account in shared memory, and canaries.
//
// Every event of a program has a lane (one for each thread, one more for its signal handlers) and a running number in it; both are the
// message of `rclcpp_publish`, so that the judge can look for holes in a trace. `begun` grows before each call and `returned` after it, in a file
// that is mapped and that the judge made (TORTURE_REPORT): it is right even when the program is killed. What a program prints must be the same in every run.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void ros_trace_rcl_init(const void *);
void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_rcl_publisher_init(const void *, const void *, const void *, const char *, size_t);
void ros_trace_rclcpp_callback_register(const void *, const char *);
void ros_trace_callback_start(const void *, bool);
void ros_trace_rclcpp_publish(const void *, const void *);

// The layout is known to `xtask/src/torture/report.rs` too.
enum { LANES = 65535, LANE_SHIFT = 40 };
struct lane {
  _Atomic uint64_t begun, returned;
  _Atomic uint64_t late;  // of these, begun after the program said that it ends
  _Atomic uint64_t unused;
};
struct report {
  _Atomic uint64_t lanes;         // handed out
  _Atomic uint64_t others;        // events that describe entities, begun
  _Atomic uint64_t worst;         // nanoseconds of the longest call
  _Atomic uint64_t ending;        // main has nothing left to do but to end
  _Atomic uint64_t ready;         // the program does what it is for
  _Atomic uint64_t stop;          // set by the judge: it is enough
  _Atomic uint64_t others_returned;
  _Atomic uint64_t ends, ends_returned;  // calls that end an entity, of which tracers may make events
  _Atomic uint64_t unused[55];
  struct lane lane[LANES];
};
static struct report *report;

static inline uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void sleep_until(uint64_t nanos) {
  struct timespec until = {(time_t)(nanos / 1000000000u), (long)(nanos % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}
static inline void sleep_ms(uint64_t ms) { sleep_until(now() + ms * 1000000u); }

__attribute__((constructor(101))) static void open_report(void) {
  const char *path = getenv("TORTURE_REPORT");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  void *memory = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, file < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) _exit(90);
  report = memory;
}

// A lane of one's own; from any thread, process or handler.
static inline struct lane *new_lane(void) {
  uint64_t number = atomic_fetch_add(&report->lanes, 1);
  if (number >= LANES) _exit(91);
  return &report->lane[number];
}

static inline void note_worst(uint64_t nanos) {
  uint64_t worst = atomic_load_explicit(&report->worst, memory_order_relaxed);
  while (nanos > worst && !atomic_compare_exchange_weak(&report->worst, &worst, nanos)) {
  }
}

// Lane 0 of the pointer is none, so that no event has the address 0.
static inline const void *numbered(struct lane *lane, uint64_t number) {
  return (const void *)(uintptr_t)(((uint64_t)(lane - report->lane) + 1) << LANE_SHIFT | number);
}

// The provider of LTTng that the benchmarks have knows one event only.
#ifdef TORTURE_LTTNG
static inline void tracepoint(const void *number) { ros_trace_callback_start(number, false); }
#else
static inline void tracepoint(const void *number) { ros_trace_rclcpp_publish((void *)0x1000000, number); }
#endif

// Returns the nanoseconds that it took.
static inline uint64_t emit_on(struct lane *lane) {
  if (atomic_load_explicit(&report->ending, memory_order_relaxed)) atomic_fetch_add(&lane->late, 1);
  uint64_t number = atomic_fetch_add(&lane->begun, 1) + 1;
  uint64_t begin = now();
  tracepoint(numbered(lane, number));
  uint64_t nanos = now() - begin;
  note_worst(nanos);
  atomic_fetch_add(&lane->returned, 1);
  return nanos;
}

// Local-exec, so that a handler can use it.
static __thread struct lane *lane_of_thread;
static inline uint64_t emit(void) {
  if (!lane_of_thread) lane_of_thread = new_lane();
  return emit_on(lane_of_thread);
}

// Events that describe entities: the judge counts them, but cannot number them.
static inline void other_begin(void) { atomic_fetch_add(&report->others, 1); }
static inline void other_end(uint64_t begin) {
  note_worst(now() - begin);
  atomic_fetch_add(&report->others_returned, 1);
}
static inline void emit_publisher(uint64_t number, const char *topic) {
  uint64_t begin = (other_begin(), now());
  ros_trace_rcl_publisher_init((void *)(uintptr_t)(0x1000000 + number * 64), (void *)0x20, (void *)(uintptr_t)(0x1000010 + number * 64), topic, 10);
  other_end(begin);
}
static inline void initialise(void) {
  uint64_t begin = (other_begin(), now());
  ros_trace_rcl_init((void *)0x10);
  other_end(begin);
  begin = (other_begin(), now());
  ros_trace_rcl_node_init((void *)0x20, (void *)0x21, "torture", "/");
  other_end(begin);
  emit_publisher(0, "/torture");
}

static inline void ready(void) { atomic_store(&report->ready, 1); }
static inline bool enough(uint64_t until) { return atomic_load_explicit(&report->stop, memory_order_relaxed) || now() > until; }
// From here on the recording may be over; the pause is for events that were already on their way.
static inline void ending(void) {
  atomic_store(&report->ending, 1);
  sleep_ms(5);
}

// Memory that nobody but this program may write to.
enum { CANARIES = 64, CANARY_WORDS = 2048 };
static uint64_t *canaries[CANARIES];
static inline void plant_canaries(void) {
  for (int i = 0; i < CANARIES; i++) {
    canaries[i] = malloc(CANARY_WORDS * sizeof(uint64_t));
    if (!canaries[i]) _exit(92);
    for (int k = 0; k < CANARY_WORDS; k++) canaries[i][k] = 0xC0FFEE0000000000u + (uint64_t)(i * CANARY_WORDS + k);
  }
}
static inline bool canaries_live(void) {
  for (int i = 0; i < CANARIES && canaries[i]; i++)
    for (int k = 0; k < CANARY_WORDS; k++)
      if (canaries[i][k] != 0xC0FFEE0000000000u + (uint64_t)(i * CANARY_WORDS + k)) return false;
  return true;
}

static inline void start(pthread_t *thread, void *(*work)(void *), void *argument) {
  int error = pthread_create(thread, NULL, work, argument);
  if (error) { fprintf(stderr, "pthread_create: %s\n", strerror(error)); _exit(93); }
}

// Written at once, without stdio's buffers.
static inline void say(const char *text) {
  if (write(1, text, strlen(text)) < 0) _exit(94);
}
static inline int verdict(void) {
  if (!canaries_live()) { say("canary: overwritten\n"); return 95; }
  say("verdict: as it should be\n");
  return 0;
}
static inline uint64_t number_of(int count, char **words, int at, uint64_t otherwise) {
  return at < count ? strtoull(words[at], NULL, 0) : otherwise;
}
static inline const char *word_of(int count, char **words, int at) { return at < count ? words[at] : ""; }
static inline bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }
