// Becomes itself again and again, with threads that emit meanwhile: exec TIMES EVENTS
#include "torture.h"

static void *beside(void *unused) {
  for (;;) emit();
  return unused;
}

int main(int count, char **words) {
  uint64_t times = number_of(count, words, 1, 3), events = number_of(count, words, 2, 100);
  initialise();
  ready();
  for (uint64_t i = 0; i < events; i++) emit();
  if (times == 0) return verdict();
  pthread_t thread;
  start(&thread, beside, NULL);
  usleep(2000);
  char left[32];
  snprintf(left, sizeof left, "%llu", (unsigned long long)times - 1);
  execl("/proc/self/exe", words[0], left, word_of(count, words, 2), (char *)NULL);
  return 1;
}
