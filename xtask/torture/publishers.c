// Entities in bulk, made and unmade, with events between: publishers COUNT THREADS PAUSE_US MILLISECONDS
#include "torture.h"

int rcl_publisher_fini(void *publisher, void *node);  // rcl.c

static uint64_t publishers, until, pause_us;
static void *work(void *argument) {
  uint64_t first = (uint64_t)(uintptr_t)argument * 1000000u;
  for (uint64_t i = 0; i < publishers && !enough(until); i++) {
    char topic[96];
    snprintf(topic, sizeof topic, "/torture/%llu/with/a/rather/long/name/as/robots/have/them", (unsigned long long)(first + i));
    emit_publisher(first + i, topic);
    if (i % 4 == 3) {
      atomic_fetch_add(&report->ends, 1);
      if (rcl_publisher_fini((void *)(uintptr_t)(0x1000000 + (first + i) * 64), (void *)0x20) != 23) { say("rcl_publisher_fini failed\n"); _exit(2); }
      atomic_fetch_add(&report->ends_returned, 1);
    }
    emit();
    if (i % 200 == 0) usleep(1000);
  }
  while (!enough(until)) { emit(); usleep((useconds_t)pause_us); }
  return NULL;
}

int main(int count, char **words) {
  publishers = number_of(count, words, 1, 2500);
  int threads = (int)number_of(count, words, 2, 4);
  pause_us = number_of(count, words, 3, 500);
  until = now() + number_of(count, words, 4, 400) * 1000000u;
  plant_canaries();
  initialise();
  ready();
  pthread_t all[16];
  for (int i = 0; i < threads; i++) start(&all[i], work, (void *)(uintptr_t)(i + 1));
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
  return verdict();
}
