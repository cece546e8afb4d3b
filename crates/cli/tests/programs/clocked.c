// clocked MILLISECONDS, or 40 executions if they take longer: a node with a timer for each cause, named after it; each execution computes for a while and suffers its cause for a random time. What it knows of
// itself is on standard output at the end, one line for each execution in the order of their starts: `CAUSE CPU WALL CPU WALL VOLUNTARY INVOLUNTARY`,
// times in nanoseconds, with the tracepoints and without; it left its CPU so often without them. Causes: `spin` only computes; `sleep` sleeps; `read` waits for a byte in a pipe; `lock` waits for a mutex that another
// thread holds; `hog` shares CPU 0 with a thread that never stops; `nest` runs another callback, which sleeps, inside of its own.
#include "ros.h"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SPIN, SLEEP, READ, LOCK, HOG, NEST, INSIDE, CAUSES };
static const char *names[] = {"spin", "sleep", "read", "lock", "hog", "nest", "inside"};
static char callbacks[CAUSES], timers[CAUSES], nodes[CAUSES];
static struct execution { int cause; long whole_cpu, whole_wall, cpu, wall, voluntary, involuntary; } executions[100000];
static int count;

static void compute(long nanoseconds) {
  for (long begin = now(CLOCK_THREAD_CPUTIME_ID); now(CLOCK_THREAD_CPUTIME_ID) - begin < nanoseconds;) {
  }
}

static void wait_for(long nanoseconds) {
  struct timespec time = {0, nanoseconds};
  nanosleep(&time, NULL);
}

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static int ends[2];
static long duration;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *writer(void *unused) {
  (void)unused;
  wait_for(duration);
  if (write(ends[1], "x", 1) != 1) exit(1);
  return NULL;
}

static void *holder(void *unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  pthread_barrier_wait(&barrier);
  wait_for(duration);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static volatile bool is_over;
static void *hog(void *unused) {
  (void)unused;
  pin(0);
  while (!is_over) {
  }
  return NULL;
}

static long random_between(long least, long most) { return least + random() % (most - least); }

static void execute(int cause) {
  pthread_t other = 0;
  struct execution *execution = &executions[count++];
  execution->cause = cause;
  duration = random_between(2000000, 12000000);
  long computing = random_between(500000, 4000000);
  char byte;
  if (cause == READ) pthread_create(&other, NULL, writer, NULL);
  if (cause == LOCK) pthread_create(&other, NULL, holder, NULL), pthread_barrier_wait(&barrier);
  struct rusage before, after;
  long whole_wall = now(CLOCK_MONOTONIC), whole_cpu = now(CLOCK_THREAD_CPUTIME_ID);
  ros_trace_callback_start(&callbacks[cause], false);
  long wall = now(CLOCK_MONOTONIC);
  getrusage(RUSAGE_THREAD, &before);
  long cpu = now(CLOCK_THREAD_CPUTIME_ID);
  switch (cause) {
    case SPIN: compute(duration); break;
    case HOG: compute(4 * computing); break;
    case SLEEP: case INSIDE: compute(computing), wait_for(duration); break;
    case READ: if (read(ends[0], &byte, 1) != 1) exit(1); compute(computing); break;
    case LOCK: pthread_mutex_lock(&mutex), compute(computing), pthread_mutex_unlock(&mutex); break;
    case NEST: compute(computing), execute(INSIDE), compute(computing); break;
  }
  execution->cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
  getrusage(RUSAGE_THREAD, &after);
  execution->wall = now(CLOCK_MONOTONIC) - wall;
  ros_trace_callback_end(&callbacks[cause]);
  execution->whole_cpu = now(CLOCK_THREAD_CPUTIME_ID) - whole_cpu;
  execution->whole_wall = now(CLOCK_MONOTONIC) - whole_wall;
  execution->voluntary = after.ru_nvcsw - before.ru_nvcsw;
  execution->involuntary = after.ru_nivcsw - before.ru_nivcsw;
  if (other) pthread_join(other, NULL);
}

static void *hogged(void *unused) {
  (void)unused;
  pin(0);
  execute(HOG);
  return NULL;
}

int main(int words, char **arguments) {
  static char context, rmw;
  long milliseconds = words > 1 ? atol(arguments[1]) : 1000;
  srandom(4711);
  if (pipe(ends)) return 1;
  pthread_barrier_init(&barrier, NULL, 2);
  ros_trace_rcl_init(&context);
  for (int cause = 0; cause < CAUSES; cause++) {
    ros_trace_rcl_node_init(&nodes[cause], &rmw, names[cause], "/");
    make_timer(&timers[cause], 10000000, &callbacks[cause], names[cause], &nodes[cause]);
  }
  // On a busy machine little happens in that time: a few of each cause there must be.
  for (long begin = now(CLOCK_MONOTONIC); count < 90000 && (count < 40 || now(CLOCK_MONOTONIC) - begin < milliseconds * 1000000);) {
    for (int cause = 0; cause <= NEST; cause++) {
      if (cause != HOG) {
        execute(cause);
        continue;
      }
      pthread_t rival, thread;
      is_over = false;
      pthread_create(&rival, NULL, hog, NULL);
      pthread_create(&thread, NULL, hogged, NULL);
      pthread_join(thread, NULL);
      is_over = true;
      pthread_join(rival, NULL);
    }
  }
  for (int each = 0; each < count; each++) {
    struct execution *it = &executions[each];
    printf("%s %ld %ld %ld %ld %ld %ld\n", names[it->cause], it->whole_cpu, it->whole_wall, it->cpu, it->wall, it->voluntary,
           it->involuntary);
  }
  return 0;
}
