// Threads that live for about a millisecond, and names that come late: churn AT_ONCE EVENTS MILLISECONDS
#include "torture.h"

static uint64_t events;

static void *work(void *unused) {
  for (uint64_t i = 0; i < events; i++) emit();
  if (events % 3 == 0) usleep(1000);
  return unused;
}

int main(int count, char **words) {
  int at_once = (int)number_of(count, words, 1, 4);
  events = number_of(count, words, 2, 20);
  uint64_t until = now() + number_of(count, words, 3, 300) * 1000000u;
  plant_canaries();
  initialise();
  ready();
  while (!enough(until) && atomic_load(&report->lanes) < LANES - 1000) {
    pthread_t all[64];
    for (int i = 0; i < at_once; i++) start(&all[i], work, NULL);
    for (int i = 0; i < at_once; i++) pthread_join(all[i], NULL);
  }
  return verdict();
}
