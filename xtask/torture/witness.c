// Runs a program and writes down how it ended: witness STATUS OUTPUT [-l RESOURCE=NUMBER]... -- PROGRAM...
//
// `rostrace record` does not pass the exit status of its command on. Linked statically, so that no preloaded library is in here. The program writes into a
// pipe, since limits on the size of files hold for its output too. Waits for all descendants, daemons included, so that a recording covers them.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct { const char *name; int resource; } RESOURCES[] = {
    {"as", RLIMIT_AS}, {"fsize", RLIMIT_FSIZE}, {"nofile", RLIMIT_NOFILE}, {"nproc", RLIMIT_NPROC}, {"memlock", RLIMIT_MEMLOCK}, {"stack", RLIMIT_STACK}, {"core", RLIMIT_CORE}};

static void limit(const char *text) {
  const char *value = strchr(text, '=');
  for (size_t i = 0; value && i < sizeof RESOURCES / sizeof *RESOURCES; i++)
    if (strlen(RESOURCES[i].name) == (size_t)(value - text) && !strncmp(text, RESOURCES[i].name, (size_t)(value - text))) {
      struct rlimit wanted = {strtoull(value + 1, NULL, 0), strtoull(value + 1, NULL, 0)};
      if (!setrlimit(RESOURCES[i].resource, &wanted)) return;
    }
  _exit(97);
}

int main(int count, char **words) {
  if (count < 5) return 98;
  FILE *status = fopen(words[1], "we");
  int output = open(words[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), ends[2];
  if (!status || output < 0 || pipe2(ends, O_CLOEXEC)) return 98;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  pid_t program = fork();
  if (program == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    int at = 3;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (; at < count && strcmp(words[at], "--"); at++)
      if (strcmp(words[at], "-l")) limit(words[at]);
    execv(words[at + 1], words + at + 1);
    _exit(99);
  }
  close(ends[1]);
  fprintf(status, "pid %d\n", program);
  fflush(status);
  char bytes[4096];
  ssize_t size;
  while ((size = read(ends[0], bytes, sizeof bytes)) > 0 || (size < 0 && errno == EINTR))
    if (size > 0 && write(output, bytes, (size_t)size) < 0) return 98;
  int how;
  pid_t child;
  while ((child = wait(&how)) > 0 || errno == EINTR)
    if (child == program) { fprintf(status, "status %d\n", how); fflush(status); }
  fprintf(status, "all gone\n");
  return 0;
}
