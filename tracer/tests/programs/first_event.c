// The first event of a process in an awkward moment: first_event fork STEPS | load LIBRARY. Ends with 0, or with a signal after 10 s.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void ros_trace_callback_start(const void *, bool);

volatile int loading;
static volatile int running;

static void *first_event(void *unused) {
  running = 1;
  ros_trace_callback_start(unused, false);
  return NULL;
}

static void *event_while_loading(void *unused) {
  while (!loading) usleep(100);
  return first_event(unused);
}

#ifdef LIBRARY
// The linker is held while this runs.
extern volatile int loading;
__attribute__((constructor)) static void constructed(void) {
  loading = 1;
  usleep(100000);
  ros_trace_callback_start(NULL, false);
}
#else
int main(int count, char **words) {
  alarm(10);
  pthread_t thread;
  if (count > 2 && !strcmp(words[1], "load")) {
    pthread_create(&thread, NULL, event_while_loading, NULL);
    if (!dlopen(words[2], RTLD_NOW)) return 1;
    return pthread_join(thread, NULL);
  }
  pthread_create(&thread, NULL, first_event, NULL);
  while (!running) {}
  for (volatile int i = 0; i < atoi(words[2]); i++) {}
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    ros_trace_callback_start(NULL, false);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  pthread_join(thread, NULL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
#endif
