// mutexes: uses locks of all kinds in all ways, right and wrong, and prints what each call returned and what became of errno. Nothing of that may
// depend on time, nor on who interposes these functions. With an argument it also prints `wait TID OWNER` for each call that had to wait.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void ros_trace_rcl_init(const void *);

static bool tells;
static int tid(void) { return syscall(SYS_gettid); }

// The last holder, of whom others wait.
static atomic_int holder;

static void say(const char *what, int result) {
  printf("%s: %d, errno %d\n", what, result, errno);
  errno = 77;
}

static struct timespec after(clockid_t clock, long milliseconds) {
  struct timespec at;
  clock_gettime(clock, &at);
  at.tv_sec += milliseconds / 1000;
  at.tv_nsec += milliseconds % 1000 * 1000000;
  if (at.tv_nsec >= 1000000000) at.tv_sec++, at.tv_nsec -= 1000000000;
  return at;
}

static void waits(void) {
  if (tells) printf("wait %d %d\n", tid(), atomic_load(&holder));
}

// A call with a limit that had to wait.
static void say_limited(const char *what, int result) {
  int error = errno;
  if (result == ETIMEDOUT) waits();
  errno = error;
  say(what, result);
}

// The thread that is about to wait, and until it does.
static atomic_int waiting;
static void until_it_waits(void) {
  char name[64], text[512], state = 0;
  while (!atomic_load(&waiting)) usleep(100);
  snprintf(name, sizeof name, "/proc/self/task/%d/stat", atomic_load(&waiting));
  while (state != 'S') {
    FILE *file = fopen(name, "r");
    if (!file) break;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    char *end = strrchr(text, ')');
    state = end ? end[2] : 0;
    usleep(200);
  }
  atomic_store(&waiting, 0);
}

static const struct timespec WRONG = {1, 1000000000}, PAST = {1, 0};

// Everything that another thread can do with a mutex that is held, without getting it.
static void *others(void *given) {
  pthread_mutex_t *mutex = given;
  errno = 77;
  struct timespec soon = after(CLOCK_REALTIME, 5), soon_steady = after(CLOCK_MONOTONIC, 5);
  say("  other trylock", pthread_mutex_trylock(mutex));
  say_limited("  other timedlock", pthread_mutex_timedlock(mutex, &soon));
  say_limited("  other timedlock in the past", pthread_mutex_timedlock(mutex, &PAST));
  say("  other timedlock wrong", pthread_mutex_timedlock(mutex, &WRONG));
  say_limited("  other clocklock", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon_steady));
  say_limited("  other clocklock real", pthread_mutex_clocklock(mutex, CLOCK_REALTIME, &soon));
  say("  other clocklock wrong clock", pthread_mutex_clocklock(mutex, CLOCK_PROCESS_CPUTIME_ID, &soon));
  say("  other unlock", -(pthread_mutex_trylock(mutex) == 0));
  return NULL;
}

static void *get(void *given) {
  errno = 77;
  waits();
  atomic_store(&waiting, tid());
  int result = pthread_mutex_lock(given);
  say("  other lock", result);
  if (!result) say("  other unlock", pthread_mutex_unlock(given));
  return NULL;
}

static void *die(void *given) {
  pthread_mutex_lock(given);
  return NULL;
}

static void *in_thread(void *(*function)(void *), void *given) {
  pthread_t thread;
  void *result;
  pthread_create(&thread, NULL, function, given);
  pthread_join(thread, &result);
  return result;
}

static void mutexes(void) {
  static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};
  for (int each = 0; each < 4 * 2 * 2 * 2; each++) {
    int type = types[each % 4], robust = each / 4 % 2, inherits = each / 8 % 2, shared = each / 16 % 2;
    printf("type %d%s%s%s\n", type, robust ? " robust" : "", inherits ? " inheriting" : "", shared ? " shared" : "");
    pthread_mutexattr_t about;
    pthread_mutexattr_init(&about);
    pthread_mutexattr_settype(&about, type);
    pthread_mutexattr_setrobust(&about, robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
    pthread_mutexattr_setprotocol(&about, inherits ? PTHREAD_PRIO_INHERIT : PTHREAD_PRIO_NONE);
    pthread_mutexattr_setpshared(&about, shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
    pthread_mutex_t mutex;
    say(" init", pthread_mutex_init(&mutex, &about));
    struct timespec soon = after(CLOCK_REALTIME, 1000), soon_steady = after(CLOCK_MONOTONIC, 1000);
    say(" lock", pthread_mutex_lock(&mutex));
    atomic_store(&holder, tid());
    if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK) {
      say(" again", pthread_mutex_lock(&mutex));
      say(" again timed", pthread_mutex_timedlock(&mutex, &soon));
      say(" again clock", pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon_steady));
      if (type == PTHREAD_MUTEX_RECURSIVE) {
        say(" unlock", pthread_mutex_unlock(&mutex));
        say(" unlock", pthread_mutex_unlock(&mutex));
        // Whether the clock was accepted depends on the system.
        if (pthread_mutex_trylock(&mutex) == 0) pthread_mutex_unlock(&mutex);
      }
    } else {
      struct timespec now = after(CLOCK_REALTIME, 3);
      say(" again timed", pthread_mutex_timedlock(&mutex, &now));
    }
    in_thread(others, &mutex);
    pthread_t waiting;
    fflush(stdout);
    pthread_create(&waiting, NULL, get, &mutex);
    until_it_waits();
    int more = 0;
    while (pthread_mutex_unlock(&mutex) == 0 && type == PTHREAD_MUTEX_RECURSIVE && ++more < 3) {
    }
    pthread_join(waiting, NULL);
    say(" timed", pthread_mutex_timedlock(&mutex, &soon));
    say(" unlock", pthread_mutex_unlock(&mutex));
    say(" timed in the past", pthread_mutex_timedlock(&mutex, &PAST));
    say(" unlock", pthread_mutex_unlock(&mutex));
    int wrong = pthread_mutex_timedlock(&mutex, &WRONG);
    say(" timed wrong", wrong);
    if (!wrong) say(" unlock", pthread_mutex_unlock(&mutex));
    int steady = pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon_steady);
    say(" clock", steady);
    if (!steady) say(" unlock", pthread_mutex_unlock(&mutex));
    int wrong_clock = pthread_mutex_clocklock(&mutex, 12345, &soon);
    say(" wrong clock", wrong_clock);
    if (!wrong_clock) say(" unlock", pthread_mutex_unlock(&mutex));
    if (robust) {
      in_thread(die, &mutex);
      say(" lock of a dead thread", pthread_mutex_lock(&mutex));
      say(" consistent", pthread_mutex_consistent(&mutex));
      say(" unlock", pthread_mutex_unlock(&mutex));
      in_thread(die, &mutex);
      say(" timedlock of a dead thread", pthread_mutex_timedlock(&mutex, &soon));
      say(" unlock without repair", pthread_mutex_unlock(&mutex));
      say(" lock for ever lost", pthread_mutex_lock(&mutex));
      say(" timedlock for ever lost", pthread_mutex_timedlock(&mutex, &soon));
    }
    pthread_mutex_destroy(&mutex);
  }
}

static pthread_rwlock_t rwlock;

static void *rwlock_others(void *unused) {
  (void)unused;
  errno = 77;
  struct timespec soon = after(CLOCK_REALTIME, 3), soon_steady = after(CLOCK_MONOTONIC, 3);
  int read = pthread_rwlock_timedrdlock(&rwlock, &soon);
  say("  other timedrdlock", read);
  if (!read) pthread_rwlock_unlock(&rwlock);
  say("  other timedwrlock", pthread_rwlock_timedwrlock(&rwlock, &soon));
  say("  other timedwrlock wrong", pthread_rwlock_timedwrlock(&rwlock, &WRONG));
  read = pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &soon_steady);
  say("  other clockrdlock", read);
  if (!read) pthread_rwlock_unlock(&rwlock);
  say("  other clockwrlock", pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &soon_steady));
  say("  other wrong clock", pthread_rwlock_clockwrlock(&rwlock, 12345, &soon_steady));
  return NULL;
}

static void *rwlock_get(void *unused) {
  (void)unused;
  errno = 77;
  waits();
  atomic_store(&waiting, tid());
  say("  other wrlock", pthread_rwlock_wrlock(&rwlock));
  say("  other unlock", pthread_rwlock_unlock(&rwlock));
  return NULL;
}

static void rwlocks(void) {
  for (int kind = 0; kind < 3; kind++) {
    printf("rwlock %d\n", kind);
    pthread_rwlockattr_t about;
    pthread_rwlockattr_init(&about);
    pthread_rwlockattr_setkind_np(&about, kind);
    pthread_rwlock_init(&rwlock, &about);
    struct timespec soon = after(CLOCK_REALTIME, 1000);
    say(" rdlock", pthread_rwlock_rdlock(&rwlock));
    say(" rdlock again", pthread_rwlock_rdlock(&rwlock));
    in_thread(rwlock_others, NULL);
    say(" unlock", pthread_rwlock_unlock(&rwlock));
    say(" unlock", pthread_rwlock_unlock(&rwlock));
    say(" wrlock", pthread_rwlock_wrlock(&rwlock));
    atomic_store(&holder, tid());
    say(" wrlock again", pthread_rwlock_wrlock(&rwlock));
    say(" rdlock again", pthread_rwlock_rdlock(&rwlock));
    say(" timedwrlock again", pthread_rwlock_timedwrlock(&rwlock, &soon));
    in_thread(rwlock_others, NULL);
    pthread_t waiting;
    fflush(stdout);
    pthread_create(&waiting, NULL, rwlock_get, NULL);
    until_it_waits();
    pthread_rwlock_unlock(&rwlock);
    pthread_join(waiting, NULL);
    say(" timedrdlock wrong", pthread_rwlock_timedrdlock(&rwlock, &WRONG));
    say(" timedwrlock in the past", pthread_rwlock_timedwrlock(&rwlock, &PAST));
    pthread_rwlock_destroy(&rwlock);
  }
}

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_int in_wait;
static bool is_there;

static void unlock(void *mutex) {
  // A thread that is cancelled in a wait has the mutex again.
  say("  unlock when cancelled", pthread_mutex_unlock(mutex));
}

static void *wait_for_ever(void *unused) {
  (void)unused;
  errno = 77;
  pthread_mutex_lock(&guard);
  pthread_cleanup_push(unlock, &guard);
  atomic_store(&in_wait, 1);
  for (;;) pthread_cond_wait(&condition, &guard);
  pthread_cleanup_pop(1);
  return NULL;
}

static void *wait_until_there(void *unused) {
  (void)unused;
  errno = 77;
  pthread_mutex_lock(&guard);
  atomic_fetch_add(&in_wait, 1);
  int result = 0;
  while (!is_there) result |= pthread_cond_wait(&condition, &guard);
  pthread_mutex_unlock(&guard);
  if (result || errno != 77) puts("  a wait failed");
  return NULL;
}

static void conditions(void) {
  struct timespec soon = after(CLOCK_REALTIME, 3), soon_steady = after(CLOCK_MONOTONIC, 3);
  errno = 77;
  puts("conditions");
  pthread_mutex_lock(&guard);
  say(" timedwait", pthread_cond_timedwait(&condition, &guard, &soon));
  say(" timedwait in the past", pthread_cond_timedwait(&condition, &guard, &PAST));
  say(" timedwait wrong", pthread_cond_timedwait(&condition, &guard, &WRONG));
  say(" clockwait", pthread_cond_clockwait(&condition, &guard, CLOCK_MONOTONIC, &soon_steady));
  say(" clockwait wrong clock", pthread_cond_clockwait(&condition, &guard, 12345, &soon_steady));
  pthread_mutex_unlock(&guard);
  say(" signal nobody", pthread_cond_signal(&condition));
  say(" broadcast nobody", pthread_cond_broadcast(&condition));
  pthread_t thread, threads[3];
  void *result;
  pthread_create(&thread, NULL, wait_for_ever, NULL);
  while (!atomic_load(&in_wait)) usleep(100);
  pthread_mutex_lock(&guard);
  pthread_mutex_unlock(&guard);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  say(" cancelled", result == PTHREAD_CANCELED);
  say(" the mutex is free", pthread_mutex_trylock(&guard));
  pthread_mutex_unlock(&guard);
  for (int all = 0; all < 2; all++) {
    is_there = false;
    atomic_store(&in_wait, 0);
    for (int each = 0; each < 3; each++) pthread_create(&threads[each], NULL, wait_until_there, NULL);
    while (atomic_load(&in_wait) < 3) usleep(100);
    pthread_mutex_lock(&guard);
    is_there = true;
    if (all) say(" broadcast", pthread_cond_broadcast(&condition));
    else
      for (int each = 0; each < 3; each++) say(" signal", pthread_cond_signal(&condition));
    pthread_mutex_unlock(&guard);
    for (int each = 0; each < 3; each++) pthread_join(threads[each], NULL);
  }
  puts(" all were woken");
}

// In a child that has only this thread.
static void forked(void) {
  pthread_mutex_lock(&guard);
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    errno = 77;
    struct timespec soon = after(CLOCK_REALTIME, 3);
    say("child timedlock", pthread_mutex_timedlock(&guard, &soon));
    say("child unlock", pthread_mutex_unlock(&guard));
    say("child lock", pthread_mutex_lock(&guard));
    fflush(stdout);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  say("child", status);
  pthread_mutex_unlock(&guard);
}

int main(int words, char **arguments) {
  (void)arguments;
  tells = words > 1;
  ros_trace_rcl_init(&tells);
  errno = 77;
  mutexes();
  rwlocks();
  conditions();
  forked();
  return 0;
}
