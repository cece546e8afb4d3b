// condition_interposer: a library that stands before the C library's condition variables, as those of sanitizers and profilers do. At the end it says
// how many calls it saw. Its functions have no version, as those of any library that is not the C library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int waits, notifications;

#if defined(__x86_64__)
#define VERSION "GLIBC_2.3.2"
#else
#define VERSION "GLIBC_2.17"
#endif
#define ORIGINAL(name) ((__typeof__(&name))dlvsym(RTLD_NEXT, #name, VERSION))

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  atomic_fetch_add(&waits, 1);
  return ORIGINAL(pthread_cond_wait)(condition, mutex);
}
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *limit) {
  atomic_fetch_add(&waits, 1);
  return ORIGINAL(pthread_cond_timedwait)(condition, mutex, limit);
}
int pthread_cond_signal(pthread_cond_t *condition) {
  atomic_fetch_add(&notifications, 1);
  return ORIGINAL(pthread_cond_signal)(condition);
}
int pthread_cond_broadcast(pthread_cond_t *condition) {
  atomic_fetch_add(&notifications, 1);
  return ORIGINAL(pthread_cond_broadcast)(condition);
}

__attribute__((destructor)) static void tell(void) {
  fprintf(stderr, "%d waits, %d notifications\n", atomic_load(&waits), atomic_load(&notifications));
}
