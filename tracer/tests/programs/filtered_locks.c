// filtered_locks: takes free locks of all kinds while every system call but those that end the process would kill it.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
  pthread_mutexattr_t robust;
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, kept;
  pthread_mutex_init(&kept, &robust);
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) _exit(7);
  for (int round = 0; round < 3; round++) {
    pthread_mutex_lock(&plain), pthread_mutex_unlock(&plain);
    pthread_mutex_lock(&kept), pthread_mutex_unlock(&kept);
    pthread_rwlock_rdlock(&lock), pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock), pthread_rwlock_unlock(&lock);
    pthread_cond_signal(&condition), pthread_cond_broadcast(&condition);
  }
  _exit(0);
}
