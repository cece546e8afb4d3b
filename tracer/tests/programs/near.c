// Does what the lines of standard input say, and answers each with a line: near [no-mprotect | no-code].
//   start      the first event of the process
//   user       an event of rostrace.h
//   emit N     N callbacks
//   enabled    whether callbacks are recorded
//   slot HEX   what is written at this address
//   fork N     a child that has N callbacks
//   lttng N    the library that is like LTTng records, or does not
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rostrace.h"

void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_callback_start(const void *, bool);
void ros_trace_do_callback_end(const void *);
bool ros_trace_enabled_callback_start(void);

// From now on the kernel refuses a system call whose third argument has a bit, unless it is about more bytes.
static void refuse(unsigned call, unsigned bit, unsigned bytes) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, bytes, 3, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bit, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) abort();
}

static void emit(unsigned long count) {
  for (unsigned long i = 0; i < count; i++) {
    ros_trace_callback_start((const void *)(0x1000 + i), i % 2);
    ros_trace_do_callback_end((const void *)(0x1000 + i));
  }
}

int main(int count, char **words) {
  // Stacks of threads are made writable too.
  if (count > 1 && !strcmp(words[1], "no-mprotect")) refuse(SYS_mprotect, PROT_WRITE, 4096);
  if (count > 1 && !strcmp(words[1], "no-code")) refuse(SYS_mmap, PROT_EXEC, 4096);
  char line[64], word[16];
  while (fgets(line, sizeof line, stdin)) {
    char *number = strchr(line, ' ');
    unsigned long value = number ? strtoul(number, NULL, 0) : 0, answer = value;
    sscanf(line, "%15s", word);
    if (!strcmp(word, "start")) ros_trace_rcl_node_init(line, line, "planner", "/");
    if (!strcmp(word, "user")) ROSTRACE_INSTANT("told");
    if (!strcmp(word, "emit")) emit(value);
    if (!strcmp(word, "enabled")) answer = ros_trace_enabled_callback_start();
    if (!strcmp(word, "slot")) answer = *(unsigned long *)value;
    if (!strcmp(word, "lttng")) ((void (*)(bool))dlsym(RTLD_DEFAULT, "lttng_records"))(value);
    if (!strcmp(word, "fork")) {
      pid_t child = fork();
      if (child == 0) {
        emit(value);
        exit(0);
      }
      waitpid(child, NULL, 0);
    }
    printf("%lx\n", answer);
    fflush(stdout);
  }
  return 0;
}
