// locks ROUNDS SEED: a node with three callbacks on three threads: `Locks::holder()` holds a lock for a random time, or notifies a condition
// variable after one; `Locks::waiter()` wants the lock meanwhile; `Locks::rival()` wants it too, in some rounds. Each round is of another kind,
// and all of it is written down, on standard output at the end, with times of CLOCK_MONOTONIC in nanoseconds:
//   `held ROUND TID BEGIN END`, `notified ROUND TID BEGIN END`, `waited ROUND KIND TID BEGIN END`
// The threads wait for each other without locks.
#include "ros.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MUTEX, THREE, RECURSIVE, CHECKED, ROBUST, INHERITING, TIMED, CLOCK, READ, WRITE, CONDITION, TIMED_CONDITION, KINDS };
static const char *const NAMES[] = {"mutex", "three", "recursive", "checked", "robust", "inheriting",
                                    "timed", "clock", "read", "write", "condition", "timed_condition"};

static struct timespec at(clockid_t clock, long later) {
  struct timespec at;
  clock_gettime(clock, &at);
  long nanos = at.tv_nsec + later;
  return (struct timespec){at.tv_sec + nanos / 1000000000, nanos % 1000000000};
}

static void rest(long nanos) {
  struct timespec time = {0, nanos};
  nanosleep(&time, NULL);
}

static int tid(void) { return syscall(SYS_gettid); }

static char callbacks[3], timers[3];
static pthread_mutex_t mutex[KINDS];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool is_there;
/// What the round is, how long the lock is held, and how far everybody is.
static int kind;
static long held_for;
static atomic_int round_number, is_held, is_waiting, are_done;
static int rounds;

static char lines[1 << 20];
static atomic_int used;
static void line(const char *what, int number, const char *name, long begin, long end) {
  char text[200];
  int length = snprintf(text, sizeof text, "%s %d %s%s%d %ld %ld\n", what, number, name, *name ? " " : "", tid(), begin, end);
  int place = atomic_fetch_add(&used, length);
  for (int each = 0; each < length; each++) lines[place + each] = text[each];
}

static void begin(int which) { ros_trace_callback_start(&callbacks[which], false); }
static void end(int which) { ros_trace_callback_end(&callbacks[which]); }

static void holder(int number) {
  begin(0);
  if (kind == CONDITION) {
    // The waiter has the mutex until it waits.
    while (atomic_load(&is_waiting) < 1) rest(50000);
    rest(held_for);
    pthread_mutex_lock(&mutex[kind]);
    is_there = true;
    long from = now(CLOCK_MONOTONIC);
    pthread_cond_signal(&condition);
    line("notified", number, "", from, now(CLOCK_MONOTONIC));
    pthread_mutex_unlock(&mutex[kind]);
    end(0);
    return;
  }
  if (kind == TIMED_CONDITION) {
    end(0);
    return;
  }
  if (kind == READ || kind == WRITE) pthread_rwlock_wrlock(&lock);
  else pthread_mutex_lock(&mutex[kind]);
  long from = now(CLOCK_MONOTONIC);
  atomic_store(&is_held, 1);
  while (atomic_load(&is_waiting) < (kind == THREE ? 2 : 1)) rest(50000);
  rest(held_for);
  long until = now(CLOCK_MONOTONIC);
  if (kind == READ || kind == WRITE) pthread_rwlock_unlock(&lock);
  else pthread_mutex_unlock(&mutex[kind]);
  line("held", number, "", from, until);
  end(0);
}

static void rival(int number) {
  if (kind != THREE) return;
  while (!atomic_load(&is_held)) rest(50000);
  begin(2);
  atomic_fetch_add(&is_waiting, 1);
  pthread_mutex_lock(&mutex[kind]);
  long from = now(CLOCK_MONOTONIC);
  rest(held_for / 2);
  long until = now(CLOCK_MONOTONIC);
  pthread_mutex_unlock(&mutex[kind]);
  line("held", number, "", from, until);
  end(2);
}

static void waiter(int number) {
  if (kind != CONDITION && kind != TIMED_CONDITION)
    while (!atomic_load(&is_held)) rest(50000);
  begin(1);
  // Something else, before and after.
  for (long from = now(CLOCK_MONOTONIC); now(CLOCK_MONOTONIC) - from < 300000;) {
  }
  struct timespec limit;
  int result = 0;
  long from;
  if (kind == CONDITION || kind == TIMED_CONDITION) {
    pthread_mutex_lock(&mutex[kind]);
    is_there = false;
    atomic_fetch_add(&is_waiting, 1);
    limit = at(CLOCK_REALTIME, held_for);
    from = now(CLOCK_MONOTONIC);
    if (kind == CONDITION)
      while (!is_there) pthread_cond_wait(&condition, &mutex[kind]);
    else
      result = pthread_cond_timedwait(&condition, &mutex[kind], &limit);
    line("waited", number, NAMES[kind], from, now(CLOCK_MONOTONIC));
    pthread_mutex_unlock(&mutex[kind]);
  } else {
    limit = at(kind == CLOCK ? CLOCK_MONOTONIC : CLOCK_REALTIME, held_for / 2);
    atomic_fetch_add(&is_waiting, 1);
    from = now(CLOCK_MONOTONIC);
    switch (kind) {
    case TIMED: result = pthread_mutex_timedlock(&mutex[kind], &limit); break;
    case CLOCK: result = pthread_mutex_clocklock(&mutex[kind], CLOCK_MONOTONIC, &limit); break;
    case READ: result = pthread_rwlock_rdlock(&lock); break;
    case WRITE: result = pthread_rwlock_wrlock(&lock); break;
    default: result = pthread_mutex_lock(&mutex[kind]);
    }
    long until = now(CLOCK_MONOTONIC);
    line("waited", number, NAMES[kind], from, until);
    if (result != ETIMEDOUT) {
      if (result) abort();
      if (kind == RECURSIVE && pthread_mutex_lock(&mutex[kind])) abort();
      if (kind == RECURSIVE) pthread_mutex_unlock(&mutex[kind]);
      if (kind == CHECKED && pthread_mutex_lock(&mutex[kind]) != EDEADLK) abort();
      if (kind == READ || kind == WRITE) pthread_rwlock_unlock(&lock);
      else pthread_mutex_unlock(&mutex[kind]);
    }
  }
  for (long from = now(CLOCK_MONOTONIC); now(CLOCK_MONOTONIC) - from < 200000;) {
  }
  end(1);
}

static void *run(void *function) {
  int seen = 0;
  for (;;) {
    int number;
    while ((number = atomic_load(&round_number)) == seen) rest(100000);
    if (number < 0) return NULL;
    seen = number;
    ((void (*)(int))function)(number);
    atomic_fetch_add(&are_done, 1);
  }
}

int main(int words, char **arguments) {
  static char context, node, rmw;
  static const char *const symbols[] = {"Locks::holder()", "Locks::waiter()", "Locks::rival()"};
  rounds = words > 1 ? atoi(arguments[1]) : 24;
  srand(words > 2 ? atoi(arguments[2]) : 1);
  ros_trace_rcl_init(&context);
  ros_trace_rcl_node_init(&node, &rmw, "locks", "/");
  for (int each = 0; each < 3; each++) {
    make_timer(&timers[each], 10000000 * (each + 1), &callbacks[each], symbols[each], &node);
  }
  for (int each = 0; each < KINDS; each++) {
    pthread_mutexattr_t about;
    pthread_mutexattr_init(&about);
    if (each == RECURSIVE) pthread_mutexattr_settype(&about, PTHREAD_MUTEX_RECURSIVE);
    if (each == CHECKED) pthread_mutexattr_settype(&about, PTHREAD_MUTEX_ERRORCHECK);
    if (each == ROBUST) pthread_mutexattr_setrobust(&about, PTHREAD_MUTEX_ROBUST);
    if (each == INHERITING) pthread_mutexattr_setprotocol(&about, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex[each], &about);
  }
  pthread_t threads[3];
  void *functions[] = {holder, waiter, rival};
  for (int each = 0; each < 3; each++) pthread_create(&threads[each], NULL, run, functions[each]);
  puts("ready");
  fflush(stdout);
  for (int number = 1; number <= rounds; number++) {
    kind = (number - 1) % KINDS;
    held_for = 3000000 + rand() % 5000000;
    atomic_store(&is_held, 0);
    atomic_store(&is_waiting, 0);
    atomic_store(&are_done, 0);
    atomic_store(&round_number, number);
    while (atomic_load(&are_done) < 3) rest(100000);
  }
  atomic_store(&round_number, -1);
  for (int each = 0; each < 3; each++) pthread_join(threads[each], NULL);
  fwrite(lines, 1, used, stdout);
  return 0;
}
