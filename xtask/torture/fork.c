// Processes that come from processes, while other threads emit: fork storm|thread|raw|vfork|spawn|double|daemon CHILDREN EVENTS
#include <spawn.h>

#include "torture.h"

static volatile bool over;
static uint64_t events;
extern char **environ;

static void *beside(void *unused) {
  while (!over) { emit(); usleep(50); }
  return unused;
}

static void run(void) { for (uint64_t i = 0; i < events; i++) emit(); }

// A forked child is another thread of another process: its numbers go on in a lane of its own.
static void child(int depth) {
  lane_of_thread = NULL;
  run();
  if (depth > 0) {
    pid_t next = fork();
    if (next == 0) { child(depth - 1); exit(0); }
    int status;
    if (waitpid(next, &status, 0) != next || status != 0) _exit(1);
  }
}

static int await(pid_t pid) {
  int status = -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

static const char *kind;
static uint64_t children;

static void *spread(void *failed) {
  for (uint64_t i = 0; i < children; i++) {
    pid_t pid = -1;
    if (is(kind, "raw")) {
      pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
      if (pid == 0) { child(0); _exit(0); }
    } else if (is(kind, "vfork")) {
      pid = vfork();
      if (pid == 0) { emit(); _exit(0); }
    } else if (is(kind, "spawn")) {
      char *words[] = {"/bin/true", NULL};
      if (posix_spawn(&pid, words[0], NULL, NULL, words, environ)) pid = -1;
    } else {
      pid = fork();
      if (pid == 0) { child(is(kind, "double") ? 2 : 0); exit(0); }
    }
    if (pid < 0 || await(pid) != 0) *(bool *)failed = true;
    emit();
  }
  return NULL;
}

int main(int count, char **words) {
  kind = word_of(count, words, 1);
  children = number_of(count, words, 2, 10);
  events = number_of(count, words, 3, 50);
  plant_canaries();
  initialise();
  ready();
  bool failed = false;
  if (is(kind, "daemon")) {
    emit();
    if (fork() == 0) {
      setsid();
      if (fork() == 0) {
        lane_of_thread = NULL;
        int null = open("/dev/null", O_RDWR);
        for (int i = 0; i < 3; i++) dup2(null, i);
        for (uint64_t i = 0; i < 50; i++) { run(); usleep(2000); }
        exit(0);
      }
      exit(0);
    }
    wait(NULL);
    return verdict();
  }
  pthread_t others[3], forker;
  for (int i = 0; i < 3; i++) start(&others[i], beside, NULL);
  if (is(kind, "thread")) {
    start(&forker, spread, &failed);
    pthread_join(forker, NULL);
  } else {
    spread(&failed);
  }
  over = true;
  for (int i = 0; i < 3; i++) pthread_join(others[i], NULL);
  if (failed) { say("a child failed\n"); return 1; }
  return verdict();
}
