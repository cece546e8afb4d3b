// Files and processes are used up: limits files|own-files|processes|none MILLISECONDS. Limits on the size of files are set before the program starts.
// `own-files`: all descriptors but the output are the program's own file, number 2 too, into which nobody else may write.
#include "torture.h"

static uint64_t until;
static pthread_barrier_t begin;

static void *work(void *unused) {
  pthread_barrier_wait(&begin);
  while (!enough(until)) { emit(); usleep(100); }
  return unused;
}

int main(int count, char **words) {
  const char *kind = word_of(count, words, 1);
  plant_canaries();
  pthread_barrier_init(&begin, NULL, 5);
  pthread_t all[4];
  for (int i = 0; i < 4; i++) start(&all[i], work, NULL);
  int own = -1;
  if (is(kind, "own-files")) {
    char name[] = "/tmp/torture-XXXXXX";
    own = mkstemp(name);
    unlink(name);
    dup2(own, 2);
  }
  if (is(kind, "files") || own >= 0) {
    struct rlimit few = {64, 64};
    setrlimit(RLIMIT_NOFILE, &few);
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
  }
  if (is(kind, "processes")) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_NPROC, &none);
  }
  initialise();
  until = now() + number_of(count, words, 2, 300) * 1000000u;
  ready();
  pthread_barrier_wait(&begin);
  for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
  if (own >= 0 && lseek(own, 0, SEEK_END) != 0) { say("somebody wrote into my file\n"); return 3; }
  return verdict();
}
