// Control loops with real-time priority and four tracepoints in each turn, while a bag is written to the same disk: realtime BAG MILLISECONDS TIMES THREADS RATE WORK
// The loops never write themselves, so whatever they wait for is the tracer's or the system's. BAG may be "-"; TIMES gets the nanoseconds of every tracepoint, as 32 bits each.
// Of each that took SLOW nanoseconds or more it says also what the system did to the thread meanwhile: page faults, waits, preemptions.
// WORK is done in the place of each tracepoint, in nanoseconds, and subtracted: what happens to any code that takes so long.
// Compiled a second time with LTTng's provider in the place of libtracetools.
#include <sys/resource.h>

#include "torture.h"

enum { TRACEPOINTS = 4, SLOW = 50000, SLOW_MOST = 64 };
static volatile bool over;
static uint64_t until, rate, first, work;
static pthread_barrier_t begin;
struct slow { uint64_t nanos; long faults, waits, preemptions; };
struct times { uint32_t *at; uint64_t count, most, offset, slow_count; struct slow slow[SLOW_MOST]; };

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

static uint64_t busy(uint64_t nanos) {
  uint64_t begin = now(), took = 0;
  while (took < nanos) took = now() - begin;
  return took - nanos;
}

static void note_slow(struct times *times, uint64_t nanos, const struct rusage *before) {
  struct rusage after;
  if (getrusage(RUSAGE_THREAD, &after)) return;
  // When all places are taken, the shortest goes.
  struct slow *place = times->slow;
  if (times->slow_count < SLOW_MOST) place += times->slow_count++;
  else for (struct slow *it = place; it < times->slow + SLOW_MOST; it++) if (it->nanos < place->nanos) place = it;
  if (place->nanos > nanos) return;
  *place = (struct slow){
      nanos,
      after.ru_minflt + after.ru_majflt - before->ru_minflt - before->ru_majflt,
      after.ru_nvcsw - before->ru_nvcsw,
      after.ru_nivcsw - before->ru_nivcsw,
  };
}

static void *control(void *argument) {
  struct times *times = argument;
  struct sched_param highest = {sched_get_priority_max(SCHED_FIFO) - 1}, normal = {0};
  bool is_real_time = pthread_setschedparam(pthread_self(), SCHED_FIFO, &highest) == 0;
  pthread_barrier_wait(&begin);
  for (uint64_t due = first + times->offset; sleep_until(due), !enough(until); due += 1000000000u / rate) {
    for (int i = 0; i < TRACEPOINTS; i++) {
      struct rusage before;
      getrusage(RUSAGE_THREAD, &before);
      uint64_t nanos = work ? busy(work) : emit();
      if (nanos >= SLOW) note_slow(times, nanos, &before);
      if (times->count < times->most) times->at[times->count++] = nanos < UINT32_MAX ? (uint32_t)nanos : UINT32_MAX;
    }
  }
  pthread_setschedparam(pthread_self(), SCHED_OTHER, &normal);
  return is_real_time ? argument : NULL;
}

int main(int count, char **words) {
  enum { MOST = 512 };
  uint64_t milliseconds = number_of(count, words, 2, 3000), threads = number_of(count, words, 4, 1);
  const char *bag = word_of(count, words, 1), *file = word_of(count, words, 3);
  rate = number_of(count, words, 5, 1000);
  work = number_of(count, words, 6, 0);
  if (threads > MOST || !rate) return 2;
  static pthread_t all[MOST], writer;
  static struct times times[MOST];
  if (!is(bag, "-")) start(&writer, write_bag, (void *)(uintptr_t)bag);
  pthread_barrier_init(&begin, NULL, (unsigned)threads + 1);
  for (uint64_t i = 0; i < threads; i++) {
    // One after the other: timers that fire together are one interrupt, which takes as long as they are many.
    times[i].offset = 1000000000u / rate * i / threads;
    times[i].most = is(file, "") ? 0 : TRACEPOINTS * (rate * milliseconds / 1000 + 2);
    times[i].at = calloc(times[i].most + 1, sizeof *times[i].at);
    if (!times[i].at) return 2;
    memset(times[i].at, 1, (times[i].most + 1) * sizeof *times[i].at);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    if (pthread_create(&all[i], &small, control, &times[i])) return 2;
  }
  mlockall(MCL_CURRENT);
  first = now();
  until = first + milliseconds * 1000000u;
  pthread_barrier_wait(&begin);
  ready();
  bool is_real_time = true;
  for (uint64_t i = 0; i < threads; i++) {
    void *result;
    pthread_join(all[i], &result);
    is_real_time &= result != NULL;
  }
  over = true;
  if (!is(bag, "-")) pthread_join(writer, NULL);
  FILE *kept = is(file, "") ? NULL : fopen(file, "w");
  for (uint64_t i = 0; kept && i < threads; i++) fwrite(times[i].at, sizeof *times[i].at, times[i].count, kept);
  if (kept && fclose(kept)) return 2;
  for (uint64_t i = 0; i < threads; i++)
    for (uint64_t j = 0; j < times[i].slow_count; j++) {
      struct slow *it = &times[i].slow[j];
      printf("slow %llu %ld %ld %ld\n", (unsigned long long)it->nanos, it->faults, it->waits, it->preemptions);
    }
  fflush(stdout);
  say(is_real_time ? "real time\n" : "no real time\n");
  return 0;
}
