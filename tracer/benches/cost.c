// What a tracepoint costs its caller: cost THREADS EVENTS_PER_SECOND SECONDS. Prints nanoseconds per call.
//
// Calls come in small bursts at a fixed rate, as callbacks do, and each is timed alone. The cost of timing, measured the same way, is
// subtracted. With 0 threads: a tight loop, for calls that cost less than timing them: per call with the loop ("plain"), the loop alone, the
// difference (p50), the difference for a tracepoint as our header compiles it ("header") and for an event of rostrace.h ("user"), and
// what one call adds to 10 to 30 ns of work of three kinds: arithmetic that waits for its own results ("waiting"), that does not
// ("busy"), and branches that nobody can foresee ("branches"). With "application" in the place of threads: one thread, as many events,
// about a microsecond of work behind each, as fast as it goes and without timing anything.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "rostrace.h"
#include "tracetools/tracetools.h"

// Once, so that there is a trace when only this event is recorded. LTTng's provider has none.
__attribute__((weak)) void ros_trace_callback_end(const void *callback);

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

// The mean without the tenth at either end: finer than the steps of the counter.
static double middle(const uint32_t *sorted, uint64_t count) {
  uint64_t from = count / 10, to = count - from;
  double sum = 0;
  for (uint64_t i = from; i < to; i++) sum += sorted[i];
  return sum / (double)(to - from);
}

static double per_tick;
static uint64_t rate;
static double seconds;

struct result { uint32_t *ticks; uint64_t count; };

static inline uint64_t ticks(void) {
  unsigned unused;
  uint64_t t = __rdtscp(&unused);
  __asm__ volatile("lfence" ::: "memory");
  return t;
}

static void *run(void *argument) {
  enum { BURST = 50 };
  struct result *r = argument;
  uint64_t most = (uint64_t)(rate * seconds) / BURST * BURST;
  r->ticks = malloc(most * sizeof *r->ticks);
  for (uint64_t i = 0; i < most; i++) r->ticks[i] = 1;
  ros_trace_callback_start((void *)1, false);
  uint64_t begin = now();
  for (uint64_t i = 0; i < most; i += BURST) {
    for (int k = 0; k < BURST; k++) {
      uint64_t t = ticks();
      ros_trace_callback_start((void *)(uintptr_t)i, false);
      r->ticks[i + k] = (uint32_t)(ticks() - t);
    }
    uint64_t due = begin + (uint64_t)((i + BURST) * (1e9 / rate));
    while (now() < due) __builtin_ia32_pause();
  }
  r->count = most;
  return NULL;
}

// The median of many short loops: one that is interrupted counts for nothing.
enum { BATCH = 10000 };
#define LOOP(body)                                                                   \
  ({                                                                                 \
    uint32_t *times = malloc(batches * sizeof *times);                               \
    for (uint64_t b = 0; b < batches; b++) {                                         \
      uint64_t begin = now();                                                        \
      for (uint64_t i = 0; i < BATCH; i++) {                                         \
        __asm__ volatile("" ::"r"(i) : "memory");                                    \
        body;                                                                        \
      }                                                                              \
      times[b] = (uint32_t)(now() - begin);                                          \
    }                                                                                \
    qsort(times, batches, sizeof *times, by_value);                                  \
    double median = (double)times[batches / 2] / BATCH;                              \
    free(times);                                                                     \
    median;                                                                          \
  })

static uint64_t words[64], state = 88172645463325252ull;

static inline void wait_for_results(void) {
  uint64_t x = state;
  for (int k = 0; k < 20; k++) { x = x * 0x9E3779B97F4A7C15ull + k; __asm__ volatile("" : "+r"(x)); }
  state = x;
}

static inline void keep_busy(void) {
  uint64_t a = 1, b = 2, c = 3, d = 4;
  for (int k = 0; k < 64; k += 4) {
    a += words[k] * 7; b ^= words[k + 1] * 5; c += words[k + 2] ^ a; d -= words[k + 3];
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
  }
  words[0] = a + b + c + d;
}

static inline void branch(void) {
  uint64_t x = state;
  for (int k = 0; k < 8; k++) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    if (x & 1) words[k]++; else words[k + 8]--;
  }
  state = x;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  rate = argc > 2 ? strtoull(argv[2], 0, 0) : 100000;
  seconds = argc > 3 ? atof(argv[3]) : 2;
  if (argc > 1 && !strcmp(argv[1], "application")) {
    uint64_t events = (uint64_t)(rate * seconds);
    for (uint64_t i = 0; i < events; i++) {
      ros_trace_callback_start((void *)(uintptr_t)i, false);
      for (int k = 0; k < 40; k++) wait_for_results();
    }
    printf("events %llu p50 0 p99.9 0\n", (unsigned long long)events);
    return 0;
  }
  if (ros_trace_callback_end) ros_trace_callback_end((void *)1);
  struct timespec pause = {0, 300000000};
  ros_trace_callback_start((void *)1, false);
  nanosleep(&pause, 0);
  uint64_t a = now(), ta = __rdtsc();
  nanosleep(&pause, 0);
  per_tick = (double)(now() - a) / (double)(__rdtsc() - ta);
  enum { EMPTY = 100000 };
  static uint32_t empty[EMPTY];
  for (int i = 0; i < EMPTY; i++) { uint64_t t = ticks(); empty[i] = (uint32_t)(ticks() - t); }
  qsort(empty, EMPTY, sizeof *empty, by_value);
  double timing = empty[EMPTY / 2] * per_tick, timing_middle = middle(empty, EMPTY) * per_tick;
  if (threads == 0) {
    uint64_t batches = (uint64_t)(rate * seconds) / BATCH;
    double loop = LOOP((void)0);
    double plain = LOOP(ros_trace_callback_start((void *)(uintptr_t)i, false));
    double header = LOOP(TRACETOOLS_TRACEPOINT(callback_start, (void *)(uintptr_t)i, false));
    double user = LOOP(ROSTRACE_INSTANT("cost", ROSTRACE_INTEGER("i", i)));
    batches = batches / 10 + 1;
    #define ADDED(work) (LOOP(work(); ros_trace_callback_start((void *)(uintptr_t)i, false)) - LOOP(work()))
    double waiting = ADDED(wait_for_results), busy = ADDED(keep_busy), branches = ADDED(branch);
    printf("events %llu p50 %.2f p99.9 %.2f plain %.2f loop %.2f header %.2f user %.2f waiting %.2f busy %.2f branches %.2f\n",
           (unsigned long long)(rate * seconds), plain - loop, plain - loop, plain, loop, header - loop, user - loop, waiting, busy, branches);
    return 0;
  }
  pthread_t all[64];
  struct result results[64] = {{0}};
  for (int i = 0; i < threads; i++) pthread_create(&all[i], 0, run, &results[i]);
  uint64_t count = 0;
  for (int i = 0; i < threads; i++) { pthread_join(all[i], 0); count += results[i].count; }
  uint32_t *merged = malloc(count * sizeof *merged);
  uint64_t at = 0;
  for (int i = 0; i < threads; i++) for (uint64_t k = 0; k < results[i].count; k++) merged[at++] = results[i].ticks[k];
  qsort(merged, count, sizeof *merged, by_value);
  #define AT(p) (merged[(uint64_t)((count - 1) * (p))] * per_tick - timing)
  printf("events %llu p50 %.1f middle %.1f p90 %.1f p99 %.1f p99.9 %.1f max %.0f timing %.1f\n", (unsigned long long)count,
         AT(.5), middle(merged, count) * per_tick - timing_middle, AT(.9), AT(.99), AT(.999), AT(1.), timing);
  return 0;
}
