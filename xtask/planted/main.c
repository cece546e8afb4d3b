// planted KIND SEED LOG: see planted.h. `planted --list` says the kinds.
#include "planted.h"

struct shared *shared;

enum { MOST_ROLES = 6 };
static struct {
  void (*run)(void);
  bool is_beside;  // in the process of the one before
} roles[MOST_ROLES];
static int role_count;
static bool is_one_process;
static ns calm_until;

static void add(void (*run)(void), bool is_beside) {
  if (role_count == MOST_ROLES) abort();
  roles[role_count].run = run;
  roles[role_count].is_beside = is_beside && role_count > 0;
  role_count++;
}

void role(void (*run)(void)) { add(run, is_one_process); }
void role_in_own_process(void (*run)(void)) { add(run, false); }
void role_beside(void (*run)(void)) { add(run, true); }
bool is_beside_first(void) { return is_one_process; }

void planted(void) {
  long long none = 0;
  atomic_compare_exchange_strong(&shared->planted, &none, now());
}

bool is_time(void) { return !shared->planted && now() > shared->begin + calm_until; }

static uint64_t seed;

static void *as_thread(void *argument) {
  int role = (int)(intptr_t)argument;
  seed_with(seed ^ (uint64_t)(role + 1));
  char name[16];
  snprintf(name, sizeof name, "%.15s", name_of(""));
  pthread_setname_np(pthread_self(), name);
  roles[role].run();
  return NULL;
}

// Half an hour of a busy machine at most, and never for ever.
static void *end_all(void *unused) {
  ns limit = now() + 30000 * (ns)MILLISECOND, calm = between(60, 200) * MILLISECOND;
  while (now() < limit && !(shared->planted && now() > shared->planted + calm)) rest(5 * MILLISECOND);
  if (!shared->planted) say("trouble nothing was planted in time");
  shared->over = true;
  for (int each = 0; each < 8; each++) {
    sem_post(&shared->go);
    sem_post(&shared->go_second);
  }
  return unused;
}

int main(int count, char **words) {
  const struct kind *tables[] = {inside_kinds, message_kinds, service_kinds};
  if (count == 2 && !strcmp(words[1], "--list")) {
    for (int table = 0; table < 3; table++)
      for (const struct kind *kind = tables[table]; kind->name; kind++) puts(kind->name);
    return 0;
  }
  const struct kind *kind = NULL;
  for (int table = 0; table < 3 && count == 4; table++)
    for (const struct kind *it = tables[table]; it->name; it++)
      if (!strcmp(it->name, words[1])) kind = it;
  if (!kind) {
    fputs("planted KIND SEED LOG\n", stderr);
    return 2;
  }
  seed_with(strtoull(words[2], NULL, 10));
  open_log(words[3]);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) abort();
  is_one_process = chance(2);
  calm_until = between(80, 200) * MILLISECOND;
  ns before = now(), real = realtime(), after = now();
  say("clock %ld %ld", (long)(before + (after - before) / 2), (long)real);
  kind->set_up();
  pthread_mutexattr_t mutex;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->lock, &mutex);
  pthread_barrierattr_t barrier;
  pthread_barrierattr_init(&barrier);
  pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->ready, &barrier, (unsigned)role_count);
  sem_init(&shared->go, 1, 0);
  sem_init(&shared->go_second, 1, 0);
  seed = chance(0);
  // Processes are made before anything is traced in them, so that each is what it seems.
  for (int first = 0; first < role_count;) {
    int after_last = first + 1;
    while (after_last < role_count && roles[after_last].is_beside) after_last++;
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      pthread_t threads[MOST_ROLES];
      for (int each = first; each < after_last; each++) {
        pthread_create(&threads[each], NULL, as_thread, (void *)(intptr_t)each);
      }
      for (int each = first; each < after_last; each++) pthread_join(threads[each], NULL);
      exit(0);
    }
    first = after_last;
  }
  end_all(NULL);
  int status, worst = 0;
  while (wait(&status) > 0)
    if (status) worst = 4;
  return worst;
}
