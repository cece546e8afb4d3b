// The world is another one than at the start: folders chroot|gone|user MILLISECONDS
//   chroot   the root is an empty folder
//   gone     the working folder is removed
//   user     the program gives up root
#include <sys/stat.h>

#include "torture.h"

static uint64_t until;
static void *work(void *unused) {
  while (!enough(until)) { emit(); usleep(100); }
  return unused;
}

int main(int count, char **words) {
  const char *kind = word_of(count, words, 1);
  until = now() + number_of(count, words, 2, 300) * 1000000u;
  plant_canaries();
  char folder[] = "/tmp/torture-root-XXXXXX";
  // Nothing is left behind: a folder that somebody is in can be removed.
  if (!mkdtemp(folder) || chdir(folder) || (!is(kind, "gone") && rmdir(folder))) return 2;
  if (is(kind, "chroot") && (chroot(".") || chdir("/"))) return 2;
  if (is(kind, "gone")) rmdir(folder);
  if (is(kind, "user") && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))) return 2;
  initialise();
  ready();
  pthread_t all[3];
  for (int i = 0; i < 3; i++) start(&all[i], work, NULL);
  for (int i = 0; i < 3; i++) pthread_join(all[i], NULL);
  return verdict();
}
