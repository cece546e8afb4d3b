// Threads that emit at a rate (0: as fast as they can): steady THREADS RATE MILLISECONDS. The quiet program beside which recordings come and go.
#include "torture.h"

static uint64_t rate, until;

static void *work(void *unused) {
  uint64_t pause = rate ? 1000000000u / rate : 0, due = now();
  while (!enough(until)) {
    for (int i = 0; i < (rate ? 1 : 64); i++) emit();
    due += pause;
    if (pause) sleep_until(due);
  }
  return unused;
}

int main(int count, char **words) {
  int threads = (int)number_of(count, words, 1, 4);
  rate = number_of(count, words, 2, 1000);
  plant_canaries();
  initialise();
  until = now() + number_of(count, words, 3, 300) * 1000000u;
  pthread_t all[512];
  for (int i = 0; i < threads; i++) start(&all[i], work, NULL);
  ready();
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
  return verdict();
}
