// Callbacks that wait for each other: callbacks THREADS MILLISECONDS. Each locks what the others lock, is interrupted by a handler that is a callback too, and
// calls the functions that are observed on request: locks, condition variables, and the ends of callbacks, where CPU clocks are read.
#include "torture.h"

void ros_trace_callback_end(const void *);

static uint64_t until;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static uint64_t turns;

static void callback_begins(const void *callback) {
  uint64_t begin = (other_begin(), now());
  ros_trace_callback_start(callback, false);
  other_end(begin);
}

static void callback_ends(const void *callback) {
  uint64_t begin = (other_begin(), now());
  ros_trace_callback_end(callback);
  other_end(begin);
}

// A handler may come before its thread has a lane: it has its own.
static __thread struct lane *lane_of_handler;
static void handle(int number) {
  (void)number;
  if (!lane_of_handler) lane_of_handler = new_lane();
  callback_begins((void *)0x40);
  emit_on(lane_of_handler);
  callback_ends((void *)0x40);
}

static void one(uint64_t number) {
  const void *callback = (void *)(uintptr_t)(0x100 + number % 7 * 0x10);
  callback_begins(callback);
  emit();
  pthread_mutex_lock(&mutex);
  turns++;
  // Whoever has the lock keeps it for a moment, so that the others wait.
  if (number % 8 == 0) usleep(50);
  if (number % 16 == 0) pthread_cond_broadcast(&condition);
  if (number % 16 == 1) {
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 200000;
    if (soon.tv_nsec >= 1000000000) { soon.tv_sec++; soon.tv_nsec -= 1000000000; }
    pthread_cond_timedwait(&condition, &mutex, &soon);
  }
  pthread_mutex_unlock(&mutex);
  if (number % 4 == 0) pthread_rwlock_wrlock(&shared);
  else pthread_rwlock_rdlock(&shared);
  pthread_rwlock_unlock(&shared);
  callback_ends(callback);
}

static void *work(void *unused) {
  for (uint64_t number = 0; !enough(until); number++) {
    one(number);
    if (number % 50 == 0) pthread_kill(pthread_self(), SIGUSR1);
    usleep(20);
  }
  return unused;
}

int main(int count, char **words) {
  int threads = (int)number_of(count, words, 1, 4);
  plant_canaries();
  initialise();
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  until = now() + number_of(count, words, 2, 300) * 1000000u;
  pthread_t all[64];
  for (int i = 0; i < threads; i++) start(&all[i], work, NULL);
  ready();
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
  return verdict();
}
