// Threads with the smallest stack that there is (16 KB), whose first events describe entities with long names: stack NAME_SIZE MILLISECONDS
#include <limits.h>

#include "torture.h"

static char topic[1 << 16];
static _Atomic uint64_t publishers;

static void *work(void *unused) {
  emit_publisher(atomic_fetch_add(&publishers, 1), topic);
  for (int i = 0; i < 20; i++) emit();
  return unused;
}

int main(int count, char **words) {
  uint64_t size = number_of(count, words, 1, 200);
  uint64_t until = now() + number_of(count, words, 2, 300) * 1000000u;
  memset(topic, 'x', size);
  topic[0] = '/';
  plant_canaries();
  pthread_attr_t small;
  pthread_attr_init(&small);
  if (pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN)) return 2;
  ready();
  while (!enough(until) && atomic_load(&publishers) < 5000) {
    pthread_t all[4];
    for (int i = 0; i < 4; i++)
      if (pthread_create(&all[i], &small, work, NULL)) return 3;
    for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
  }
  return verdict();
}
