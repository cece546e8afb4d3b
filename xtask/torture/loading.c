// Libraries that emit come and go, with threads inside: loading LIBRARY MILLISECONDS
#include <dlfcn.h>

#include "torture.h"

static volatile bool over;
static void *beside(void *unused) {
  while (!over) { emit(); usleep(20); }
  return unused;
}

int main(int count, char **words) {
  uint64_t until = now() + number_of(count, words, 2, 300) * 1000000u;
  plant_canaries();
  initialise();
  ready();
  pthread_t others[2];
  for (int i = 0; i < 2; i++) start(&others[i], beside, NULL);
  while (!enough(until)) {
    void *library = dlopen(word_of(count, words, 1), RTLD_NOW | RTLD_LOCAL);
    if (!library) { say("the library was not found\n"); return 2; }
    void (*call)(const void *);
    *(void **)&call = dlsym(library, "emitting_call");
    struct lane *lane = new_lane();
    if (atomic_load(&report->lanes) > LANES - 1000) break;
    for (int i = 0; i < 50; i++) {
      uint64_t number = atomic_fetch_add(&lane->begun, 1) + 1;
      call(numbered(lane, number));
      atomic_fetch_add(&lane->returned, 1);
    }
    dlclose(library);
  }
  over = true;
  for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
  return verdict();
}
