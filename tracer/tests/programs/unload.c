// Loads the tracer by itself, emits events from a thread, and unloads it while that thread still lives: unload LIBRARY
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static void (*start)(const void *, bool);
static pthread_barrier_t emitted, closed;

static void *run(void *nothing) {
  for (long i = 0; i < 1000; i++) start((void *)i, false);
  pthread_barrier_wait(&emitted);
  pthread_barrier_wait(&closed);
  start((void *)1000, false);
  return nothing;  // the end of the thread is an event for the tracer
}

int main(int count, char **arguments) {
  pthread_t thread;
  pthread_barrier_init(&emitted, NULL, 2);
  pthread_barrier_init(&closed, NULL, 2);
  for (int round = 0; round < 3; round++) {
    void *library = dlopen(count > 1 ? arguments[1] : "", RTLD_NOW | RTLD_LOCAL);
    if (!library) return puts(dlerror()), 2;
    *(void **)&start = dlsym(library, "ros_trace_callback_start");
    if (!start || pthread_create(&thread, NULL, run, NULL)) return 3;
    pthread_barrier_wait(&emitted);
    dlclose(library);
    pthread_barrier_wait(&closed);
    pthread_join(thread, NULL);
  }
  return 0;
}
