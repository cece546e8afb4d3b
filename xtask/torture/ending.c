// Ends while threads emit: ending return|exit|_exit|quick_exit|abort|segv|handler|proper-handler|kill RATE. A library of its own has a destructor that takes 300 ms and
// allocates (slow_destructor.c), after which the program checks that nobody wrote into that memory.
#include "torture.h"

static uint64_t rate;

static void *work(void *unused) {
  for (;;) {
    emit();
    if (rate) usleep((useconds_t)(1000000 / rate));
  }
  return unused;
}

static void leave(int signal) { (void)signal; _exit(7); }
static void leave_properly(int signal) { (void)signal; exit(8); }

int main(int count, char **words) {
  const char *how = word_of(count, words, 1);
  rate = number_of(count, words, 2, 5000);
  plant_canaries();
  initialise();
  ready();
  pthread_t thread;
  for (int i = 0; i < 4; i++) start(&thread, work, NULL);
  usleep(50000);
  if (is(how, "segv") || is(how, "abort")) say("last words\n");
  ending();
  if (is(how, "return")) return verdict();
  if (is(how, "exit")) exit(verdict());
  if (is(how, "_exit")) _exit(verdict());
  if (is(how, "quick_exit")) quick_exit(verdict());
  if (is(how, "abort")) abort();
  if (is(how, "segv")) *(volatile int *)8 = 1;
  if (is(how, "handler")) { signal(SIGUSR1, leave); raise(SIGUSR1); }
  if (is(how, "proper-handler")) { signal(SIGUSR1, leave_properly); raise(SIGUSR1); }
  if (is(how, "kill")) kill(getpid(), SIGKILL);
  return 1;
}
