// No memory: memory malloc|address-space|locked MILLISECONDS
//   malloc          the program's own malloc fails from some point on, for everybody
//   address-space   RLIMIT_AS a little above what is in use
//   locked          mlockall of all that will come, with a limit, without the right to ignore it
// Then threads emit that were there before, and describe entities.
#include <linux/capability.h>
#include <malloc.h>

#include "torture.h"

static _Atomic bool none_left;
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
void *malloc(size_t size) { return atomic_load(&none_left) ? (errno = ENOMEM, NULL) : __libc_malloc(size); }
void *calloc(size_t a, size_t b) { return atomic_load(&none_left) ? (errno = ENOMEM, NULL) : __libc_calloc(a, b); }
void *realloc(void *p, size_t size) { return atomic_load(&none_left) ? (errno = ENOMEM, NULL) : __libc_realloc(p, size); }
void *memalign(size_t a, size_t size) { return atomic_load(&none_left) ? (errno = ENOMEM, NULL) : __libc_memalign(a, size); }
void *aligned_alloc(size_t a, size_t size) { return memalign(a, size); }
int posix_memalign(void **p, size_t a, size_t size) { return (*p = memalign(a, size)) ? 0 : ENOMEM; }

static uint64_t until;
static pthread_barrier_t begin;

static void *work(void *unused) {
  pthread_barrier_wait(&begin);
  for (uint64_t i = 0; !enough(until); i++) {
    emit();
    if (i % 100 == 0 && i < 5000) emit_publisher(i, "/made/without/memory");
    usleep(100);
  }
  return unused;
}

static uint64_t address_space(void) {
  char line[256];
  int file = open("/proc/self/statm", O_RDONLY);
  ssize_t size = read(file, line, sizeof line - 1);
  close(file);
  line[size > 0 ? size : 0] = 0;
  return strtoull(line, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

int main(int count, char **words) {
  const char *kind = word_of(count, words, 1);
  mallopt(M_ARENA_MAX, 1);
  plant_canaries();
  if (!is(kind, "malloc")) initialise();
  pthread_barrier_init(&begin, NULL, 5);
  pthread_t all[4];
  pthread_attr_t small;  // so that all fits into the usual limit of 8 MB
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  for (int i = 0; i < 4; i++)
    if (pthread_create(&all[i], &small, work, NULL)) return 2;
  usleep(10000);
  if (is(kind, "malloc")) atomic_store(&none_left, true);
  if (is(kind, "address-space")) {
    struct rlimit limit = {address_space() + (64 << 10), address_space() + (64 << 10)};
    if (setrlimit(RLIMIT_AS, &limit)) return 2;
  }
  if (is(kind, "locked")) {
    struct rlimit limit;
    getrlimit(RLIMIT_MEMLOCK, &limit);
    uint64_t wanted = address_space() + (256 << 10);
    if (limit.rlim_max > wanted) limit.rlim_cur = limit.rlim_max = wanted;
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct nothing[2] = {{0, 0, 0}, {0, 0, 0}};
    if (setrlimit(RLIMIT_MEMLOCK, &limit) || syscall(SYS_capset, &head, nothing)) return 2;
    if (mlockall(MCL_CURRENT | MCL_FUTURE)) { say("mlockall failed\n"); return 3; }
  }
  until = now() + number_of(count, words, 2, 300) * 1000000u;
  ready();
  pthread_barrier_wait(&begin);
  for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
  atomic_store(&none_left, false);
  return verdict();
}
