// lock: what a mutex that is free costs, locked and given back: nanoseconds, the best of several rounds, for a plain one, a recursive one and a
// read-write lock to read. Run as it is and with librostrace_locks.so preloaded, it tells what that adds.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e9 + at.tv_nsec;
}

#define BEST(name, take, give)                            \
  do {                                                    \
    double best = 1e9;                                    \
    for (int round = 0; round < 50; round++) {            \
      double begin = now();                               \
      for (int each = 0; each < 200000; each++) take, give; \
      double cost = (now() - begin) / 200000;             \
      if (cost < best) best = cost;                       \
    }                                                     \
    printf("%s %.2f\n", name, best);                      \
  } while (0)

// So that the C library does not take the program for one with a single thread.
static void *wait(void *mutex) { return pthread_mutex_lock(mutex), NULL; }

int main(void) {
  static pthread_mutex_t last = PTHREAD_MUTEX_INITIALIZER, plain = PTHREAD_MUTEX_INITIALIZER;
  static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_t thread;
  pthread_mutex_lock(&last);
  pthread_create(&thread, NULL, wait, &last);
  BEST("mutex", pthread_mutex_lock(&plain), pthread_mutex_unlock(&plain));
  BEST("recursive", pthread_mutex_lock(&recursive), pthread_mutex_unlock(&recursive));
  BEST("read", pthread_rwlock_rdlock(&lock), pthread_rwlock_unlock(&lock));
  pthread_mutex_unlock(&last);
  pthread_join(thread, NULL);
  return 0;
}
