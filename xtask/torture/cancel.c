// Threads that are cancelled while they emit, also without a cancellation point: cancel deferred|asynchronous MILLISECONDS
#include "torture.h"

static bool asynchronous;

static void *work(void *unused) {
  int before;
  struct lane *lane = new_lane();
  // Asynchronous cancellation is for code that holds nothing, which a tracepoint must not claim to be: only the loop beside it is interrupted.
  for (;;) {
    emit_on(lane);
    if (asynchronous) {
      pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
      for (volatile int i = 0; i < 300; i++) {
      }
      pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before);
    } else {
      pthread_testcancel();
    }
  }
  return unused;
}

int main(int count, char **words) {
  asynchronous = is(word_of(count, words, 1), "asynchronous");
  uint64_t until = now() + number_of(count, words, 2, 300) * 1000000u;
  plant_canaries();
  initialise();
  ready();
  unsigned seed = 1;
  while (!enough(until)) {
    pthread_t all[8];
    for (int i = 0; i < 8; i++) start(&all[i], work, NULL);
    usleep(rand_r(&seed) % 3000);
    for (int i = 0; i < 8; i++) pthread_cancel(all[i]);
    for (int i = 0; i < 8; i++) {
      void *result;
      pthread_join(all[i], &result);
      if (result != PTHREAD_CANCELED) { say("a thread was not cancelled\n"); return 1; }
    }
  }
  return verdict();
}
