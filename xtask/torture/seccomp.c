// After its start the program forbids itself calls, on pain of death: seccomp files|memory|threads|all thread|process MILLISECONDS. Its own threads, which emit, then make none of them.
// `thread`: each of its threads for itself, so that others in the process may still; `process`: for all threads, whoever they belong to.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "torture.h"

static uint64_t until;
static pthread_barrier_t begin;

static const char *kind;
static bool for_all;
static void forbid_all(void);

static void *work(void *unused) {
  if (!for_all) forbid_all();
  pthread_barrier_wait(&begin);
  while (!enough(until)) { emit(); usleep(100); }
  pthread_barrier_wait(&begin);
  for (;;) pause();
  return unused;
}

#define FORBID(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define LOAD BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void forbid(struct sock_filter *filter, unsigned short size) {
  struct sock_fprog program = {size, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, for_all ? SECCOMP_FILTER_FLAG_TSYNC : 0, &program)) _exit(4);
}

static void forbid_all(void) {
  bool all = is(kind, "all");
  struct sock_filter files[] = {LOAD, FORBID(SYS_openat), FORBID(SYS_mkdirat), FORBID(SYS_renameat2), FORBID(SYS_fallocate), ALLOW};
  struct sock_filter memory[] = {LOAD, FORBID(SYS_mmap), FORBID(SYS_munmap), FORBID(SYS_mremap), ALLOW};
  struct sock_filter more[] = {LOAD, FORBID(SYS_clone), FORBID(SYS_clone3), ALLOW};
  if (all || is(kind, "files")) forbid(files, sizeof files / sizeof *files);
  if (all || is(kind, "memory")) forbid(memory, sizeof memory / sizeof *memory);
  if (all || is(kind, "threads")) forbid(more, sizeof more / sizeof *more);
}

int main(int count, char **words) {
  kind = word_of(count, words, 1);
  for_all = is(word_of(count, words, 2), "process");
  plant_canaries();
  initialise();
  pthread_barrier_init(&begin, NULL, 5);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) start(&threads[i], work, NULL);
  forbid_all();
  until = now() + number_of(count, words, 3, 300) * 1000000u;
  ready();
  pthread_barrier_wait(&begin);
  pthread_barrier_wait(&begin);
  // Not through exit(): what libraries do there may need such calls, and is a matter between them and the filter.
  _exit(verdict());
}
