// The library of ending.c: its destructor runs after those of preloaded libraries, takes 300 ms and uses memory that others may have given back.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int slow_destructor_is_here;

static void nap(void) {
  struct timespec pause = {0, 30000000};
  nanosleep(&pause, NULL);
}

__attribute__((destructor)) static void slow(void) {
  enum { BLOCKS = 40, SIZE = 256 << 10 };
  unsigned char *blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (blocks[i] == MAP_FAILED) _exit(96);
    memset(blocks[i], 0x5A, SIZE);
  }
  for (int i = 0; i < 10; i++) nap();
  for (int i = 0; i < BLOCKS; i++)
    for (int k = 0; k < SIZE; k++)
      if (blocks[i][k] != 0x5A) {
        static const char text[] = "canary: memory of the destructor was overwritten\n";
        if (write(1, text, sizeof text - 1) < 0) _exit(96);
        _exit(95);
      }
}
