// A program that owns all descriptors and says so: descriptors close|replace|flicker MILLISECONDS
#include "torture.h"

static uint64_t until;
static void *work(void *unused) {
  while (!enough(until)) { emit(); usleep(100); }
  return unused;
}

int main(int count, char **words) {
  const char *kind = word_of(count, words, 1);
  until = now() + number_of(count, words, 2, 300) * 1000000u;
  plant_canaries();
  initialise();
  emit();
  ready();
  pthread_t all[3];
  for (int i = 0; i < 3; i++) start(&all[i], work, NULL);
  // What it writes into a descriptor that it just made must be what it reads from there: nobody else may write to it.
  char name[] = "/tmp/torture-XXXXXX";
  int own = mkstemp(name);
  unlink(name);
  for (int round = 0; !enough(until); round++) {
    if (is(kind, "close")) {
      for (int fd = 3; fd < 64; fd++) if (fd != own) close(fd);
    } else if (is(kind, "replace")) {
      for (int fd = 3; fd < 64; fd++) if (fd != own) dup2(own, fd);
      usleep(500);
      for (int fd = 3; fd < 64; fd++) if (fd != own) close(fd);
    } else {
      int some = dup(own);
      close(some);
    }
    usleep(1000);
  }
  for (int i = 0; i < 3; i++) pthread_join(all[i], NULL);
  if (lseek(own, 0, SEEK_END) != 0) { say("somebody wrote into my file\n"); return 3; }
  return verdict();
}
