// Clocks, chance and the log of the truth.
#include <stdarg.h>

#include "planted.h"

static ns read_clock(clockid_t clock) {
  struct timespec at;
  if (clock_gettime(clock, &at)) return 0;
  return (ns)at.tv_sec * 1000000000 + at.tv_nsec;
}

ns now(void) { return read_clock(CLOCK_MONOTONIC); }
ns own_cpu(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
ns realtime(void) { return read_clock(CLOCK_REALTIME); }
// As the kernel builds the numbers of these clocks.
ns cpu_of_thread(pid_t tid) { return read_clock((clockid_t)(~(unsigned)tid << 3 | 6)); }
ns cpu_of_process(pid_t pid) { return read_clock((clockid_t)(~(unsigned)pid << 3 | 2)); }
pid_t own_tid(void) { return (pid_t)syscall(SYS_gettid); }

static _Thread_local uint64_t state;

void seed_with(uint64_t seed) { state = seed; }

uint64_t chance(uint64_t below) {
  state += 0x9E3779B97F4A7C15u;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  mixed ^= mixed >> 31;
  return below ? mixed % below : 0;
}

ns between(ns least, ns most) { return least + (ns)chance((uint64_t)(most - least) + 1); }

void compute(ns time) {
  for (ns begin = own_cpu(); own_cpu() - begin < time;) {
  }
}

static _Thread_local ns asleep;

void rest_until(ns instant) {
  ns begin = now();
  struct timespec at = {.tv_sec = instant / 1000000000, .tv_nsec = instant % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) {
  }
  asleep += now() - begin;
}

void rest(ns time) { rest_until(now() + time); }

void usual_work(void) {
  compute(between(50 * MICROSECOND, 600 * MICROSECOND));
  if (!chance(4)) rest(between(50 * MICROSECOND, 300 * MICROSECOND));
}

struct mark mark(void) {
  ns before = now(), cpu = own_cpu(), after = now();
  return (struct mark){after, cpu, asleep, after - before};
}

static int log_file = -1;

void open_log(const char *path) {
  log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log_file < 0) {
    perror(path);
    exit(2);
  }
}

// One line, one write: lines of several processes do not mix.
void say(const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  if (size < 0 || size >= (int)sizeof line - 1) exit(3);
  line[size] = '\n';
  if (write(log_file, line, (size_t)size + 1) != size + 1) exit(3);
}

void span(const char *what, const char *name, struct mark from, struct mark to, pid_t culprit, ns culprit_cpu) {
  say("span %s %s %d %ld %ld %ld %ld %ld %d %ld", what, name ? name : "-", own_tid(), (long)from.wall, (long)to.wall, (long)(to.cpu - from.cpu),
      (long)(to.asleep - from.asleep), (long)(from.slack + to.slack), culprit, (long)culprit_cpu);
}

void subject(const char *kind, const char *name, ns at) { say("subject %s %s %ld", kind, name, (long)at); }

const char *name_of(const char *prefix) {
  static const char *const words[] = {"lidar", "camera", "fusion", "planner", "arm",   "wheel",  "map",   "pose",  "grid", "route", "drive", "state",
                                      "brake", "imu",    "radar",  "gripper", "cloud", "tracker", "dock",  "power", "scan", "speech", "limit", "joint"};
  static atomic_int count;
  char *name = malloc(64);
  // The number keeps names apart; how it looks is chance.
  snprintf(name, 64, "%s%s_%d%c", prefix, words[chance(sizeof words / sizeof *words)], (int)(100 * count++ + (int)chance(100)), (int)('a' + chance(26)));
  return name;
}
