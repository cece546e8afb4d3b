// Loads libraries as its arguments say and lets them call what the tracer interposes.
//
// local PATH, global PATH, deep PATH, lazy PATH, namespace PATH: loads a library; call: calls its functions; close: unloads it.
// event: has an event; wait: until standard input ends.
// own: calls those that the program was linked with. nobody NAME: calls a function that nothing in the process defines.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void call_all(void) __attribute__((weak));
void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);

int main(int count, char **arguments) {
  void *handle = 0;
  for (int at = 1; at < count; ++at) {
    const char *step = arguments[at];
    if (!strcmp(step, "event")) {
      ros_trace_rcl_node_init((void *)1, (void *)2, "node", "/");
    } else if (!strcmp(step, "wait")) {
      while (getchar() != EOF) {
      }
    } else if (!strcmp(step, "own")) {
      call_all();
    } else if (!strcmp(step, "call")) {
      void (*call)(void) = (void (*)(void))dlsym(handle, "call_all");
      call();
    } else if (!strcmp(step, "close")) {
      printf("close %d\n", dlclose(handle));
    } else if (!strcmp(step, "nobody")) {
      int (*function)(void *) = (int (*)(void *))dlsym(RTLD_DEFAULT, arguments[++at]);
      printf("nobody %d\n", function ? function(0) : -1);
    } else {
      const char *path = arguments[++at];
      int flags = !strcmp(step, "global") ? RTLD_NOW | RTLD_GLOBAL
                  : !strcmp(step, "deep") ? RTLD_NOW | RTLD_DEEPBIND
                  : !strcmp(step, "lazy") ? RTLD_LAZY
                                          : RTLD_NOW;
      handle = !strcmp(step, "namespace") ? dlmopen(LM_ID_NEWLM, path, flags) : dlopen(path, flags);
      if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
      }
      // Whoever asks why something failed is told what failed here, not of what the tracer looked for in vain.
      const char *complaint = dlerror();
      if (complaint) printf("complaint: %s\n", complaint);
    }
    fflush(stdout);
  }
  return 0;
}
