// Helpers: threads that do something when they are wanted. And the one that most kinds want: somebody who takes a CPU away.
#include "planted.h"

bool is_helper_near;

bool is_wanted(void) {
  while (sem_wait(&shared->go)) {
  }
  return !shared->over;
}
void enter_helper(void) {
  shared->helper_tid = own_tid();
  shared->helper_pid = getpid();
  pthread_barrier_wait(&shared->ready);
}
void want_helper(ns time) {
  shared->size = time;
  shared->helper_ready = shared->helper_done = 0;
  sem_post(&shared->go);
}

static void move_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

void move_to_one_cpu(void) {
  int cpu = sched_getcpu();
  move_to(cpu);
  // Whoever wants this CPU has more right to it.
  struct sched_param none = {.sched_priority = 0};
  if (chance(2) || sched_setscheduler(0, SCHED_IDLE, &none)) setpriority(PRIO_PROCESS, (id_t)own_tid(), 19);
  shared->cpu = cpu;
}

// Its clock is that of its thread, or of its process where that is another one.
static ns hogs_own_cpu(void) { return is_helper_near ? own_cpu() : cpu_of_process(getpid()); }
ns hogs_cpu(void) { return is_helper_near ? cpu_of_thread(shared->helper_tid) : cpu_of_process(shared->helper_pid); }

static void have_cpu(void) {
  move_to(shared->cpu);
  if (shared->instant) rest_until(shared->instant);
  shared->cpu_at_due = 0;
  shared->helper_ready = 1;
  for (ns begin = own_cpu(); own_cpu() - begin < shared->size;)
    // What it had before somebody else was due was in nobody's way.
    if (shared->due && !shared->cpu_at_due && now() >= shared->due) shared->cpu_at_due = hogs_own_cpu();
  shared->helper_done = 1;
}

void hog(void) {
  enter_helper();
  while (is_wanted()) have_cpu();
}

void second_hog(void) {
  shared->second_tid = own_tid();
  shared->second_pid = getpid();
  pthread_barrier_wait(&shared->ready);
  for (;;) {
    while (sem_wait(&shared->go_second)) {
    }
    if (shared->over) return;
    move_to(shared->cpu);
    compute(shared->second_size);
    shared->second_done = 1;
  }
}
void want_second_hog(ns time) {
  shared->second_size = time;
  shared->second_done = 0;
  sem_post(&shared->go_second);
}
