// A library that tells the time in the place of the C library, as those for tests of time do. Says at the end how often it was asked.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int asked;

int clock_gettime(clockid_t clock, struct timespec *time) {
  asked++;
  return (int)syscall(SYS_clock_gettime, clock, time);
}

__attribute__((destructor)) static void tell(void) { fprintf(stderr, "asked %d times\n", asked); }
