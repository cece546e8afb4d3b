// A function that tracers interpose lies where they may not look for it: hooks plain|local|deep|namespace LIBRARY. Its answer must come through in any case.
//   local       the library that has it was loaded for nobody else
//   deep        loaded to prefer its own names
//   namespace   loaded into another link namespace, with its own copy of everything
#include <dlfcn.h>

#include "torture.h"

int main(int count, char **words) {
  const char *kind = word_of(count, words, 1);
  initialise();
  ready();
  emit();
  void *library = is(kind, "plain")       ? dlopen(word_of(count, words, 2), RTLD_NOW | RTLD_GLOBAL)
                  : is(kind, "local")     ? dlopen(word_of(count, words, 2), RTLD_NOW | RTLD_LOCAL)
                  : is(kind, "deep")      ? dlopen(word_of(count, words, 2), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
                                          : dlmopen(LM_ID_NEWLM, word_of(count, words, 2), RTLD_NOW);
  if (!library) { say(dlerror()); return 97; }
  int (*call)(void *, void *);
  *(void **)&call = dlsym(library, "node_fini");
  atomic_fetch_add(&report->ends, 1);  // whether an event comes of it is in doubt
  if (!call || call((void *)1, (void *)2) != 23) { say("rcl_publisher_fini failed\n"); return 2; }
  emit();
  return verdict();
}
