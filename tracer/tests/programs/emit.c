// Emits events as ROS 2 does, in the ways that the tests ask for: emit MODE [NUMBER...]
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void ros_trace_rcl_init(const void *);
void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_rcl_publisher_init(const void *, const void *, const void *, const char *, size_t);
void ros_trace_rcl_timer_init(const void *, int64_t);
void ros_trace_rclcpp_callback_register(const void *, const char *);
void ros_trace_callback_start(const void *, bool);
void ros_trace_callback_end(const void *);
void ros_trace_rclcpp_executor_get_next_ready(void);
__attribute__((weak)) int rcl_node_fini(void *);

static void *address(uint64_t number) { return (void *)number; }

static void initialise(void) {
  ros_trace_rcl_init(address(0x10));
  ros_trace_rcl_node_init(address(0x20), address(0x21), "talker", "/ns");
  ros_trace_rcl_publisher_init(address(0x30), address(0x20), address(0x31), "/ns/chatter", 10);
  ros_trace_rcl_timer_init(address(0x40), 100000000);
  ros_trace_rclcpp_callback_register(address(0x50), "Talker::tick()");
}

// Until an instant, not for a while: what is left of a sleep that signals interrupt all the time can grow.
static void pause_us(long us) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += us * 1000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

// Emits so many events, with a pause after every `burst` of them if that is not 0.
static void run(uint64_t count, uint64_t burst, long us) {
  for (uint64_t i = 0; i < count; i++) {
    ros_trace_callback_start(address(0x50), i & 1);
    if (burst && i % burst == burst - 1) pause_us(us);
  }
}

struct work { uint64_t count, burst; long us; };

static void *work(void *argument) {
  struct work *w = argument;
  run(w->count, w->burst, w->us);
  return NULL;
}

static void threads(int n, struct work *w) {
  pthread_t *all = calloc(n, sizeof *all);
  for (int i = 0; i < n; i++)
    if (pthread_create(&all[i], NULL, work, w)) { perror("pthread_create"); exit(9); }
  for (int i = 0; i < n; i++) pthread_join(all[i], NULL);
  free(all);
}

static volatile uint64_t in_handler;
static void handler(int signal) {
  (void)signal;
  ros_trace_callback_end(address(0x50));
  in_handler++;
}

static pthread_key_t late_key;
static void late(void *value) {
  (void)value;
  ros_trace_callback_end(address(0x60));
}
static void *with_key(void *argument) {
  pthread_setspecific(late_key, argument);
  ros_trace_callback_start(address(0x60), false);
  return NULL;
}
__attribute__((destructor)) static void last(void) { if (getenv("LAST")) ros_trace_callback_end(address(0x70)); }

static void stamps(void) {
  // Tells the reader of our output what was emitted so far; unbuffered, so it survives SIGKILL.
  static uint64_t emitted;
  for (;;) {
    for (int i = 0; i < 97; i++) { ros_trace_callback_start(address(emitted + 1), false); emitted++; }
    if (pwrite(1, &emitted, sizeof emitted, 0) < 0) exit(8);
  }
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  uint64_t a = argc > 2 ? strtoull(argv[2], 0, 0) : 0, b = argc > 3 ? strtoull(argv[3], 0, 0) : 0;
  uint64_t c = argc > 4 ? strtoull(argv[4], 0, 0) : 0, d = argc > 5 ? strtoull(argv[5], 0, 0) : 0;
  if (!strcmp(mode, "nothing")) return 0;
  initialise();
  errno = 77;
  if (!strcmp(mode, "run")) {  // threads, events each, burst, pause
    struct work w = {b, c, (long)d};
    if (a == 0) run(b, c, (long)d); else threads((int)a, &w);
  } else if (!strcmp(mode, "short-threads")) {  // one after the other
    struct work w = {b, 0, 0};
    for (uint64_t i = 0; i < a; i++) threads(1, &w);
  } else if (!strcmp(mode, "until-killed")) {
    stamps();
  } else if (!strcmp(mode, "fork")) {  // events in parent, child and grandchild
    run(a, 0, 0);
    pid_t child = fork();
    if (child == 0) {
      run(a + 1, 0, 0);
      pid_t grandchild = fork();
      if (grandchild == 0) { run(a + 2, 0, 0); exit(0); }
      waitpid(grandchild, 0, 0);
      exit(0);
    }
    waitpid(child, 0, 0);
    run(a, 0, 0);
  } else if (!strcmp(mode, "raw-fork")) {  // behind the back of the C library
    run(a, 0, 0);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);  // AArch64 has no SYS_fork
    if (child == 0) { run(a + 1, 0, 0); _exit(0); }
    waitpid(child, 0, 0);
    run(a, 0, 0);
  } else if (!strcmp(mode, "signals")) {  // events, with a handler that emits too
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    run(a, b, (long)c);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%llu\n", (unsigned long long)(a + in_handler));
    fflush(stdout);
  } else if (!strcmp(mode, "late")) {
    pthread_t thread;
    pthread_key_create(&late_key, late);
    pthread_create(&thread, NULL, with_key, &thread);
    pthread_join(thread, NULL);
    setenv("LAST", "1", 1);
    return 0;
  } else if (!strcmp(mode, "quick-exit")) {
    run(a, 0, 0);
    _exit(0);
  } else if (!strcmp(mode, "exec")) {  // becomes the program again, which only runs
    run(a, 0, 0);
    execl(argv[0], argv[0], "run", "1", argv[2], (char *)NULL);
    return 8;
  } else if (!strcmp(mode, "wait") || !strcmp(mode, "rosout") || !strcmp(mode, "locked")) {  // events every millisecond until standard input ends
    for (int i = 0; *mode == 'l' && i < 2; i++) mlockall(MCL_CURRENT);  // may be forbidden
    for (uint64_t node = 0x200; *mode == 'r' && node <= 0x400; node += 0x100) {  // three nodes, of which the second ends
      ros_trace_rcl_node_init(address(node), address(node + 1), "node", "/");
      ros_trace_rcl_publisher_init(address(0x7000), address(node), address(node + 2), "/rosout", 1000);
      if (node == 0x300 && rcl_node_fini) rcl_node_fini(address(node));
    }
    struct timeval none = {0, 0};
    for (;;) {
      run(1, 0, 0);
      pause_us(1000);
      fd_set set; FD_ZERO(&set); FD_SET(0, &set); none.tv_usec = 0;
      char byte;
      if (select(1, &set, 0, 0, &none) > 0 && read(0, &byte, 1) <= 0) break;
    }
  } else if (!strcmp(mode, "threads-of-process")) {  // how many threads there are while it runs
    run(a, 0, 0);
    pause_us(20000);
    fflush(stdout);
    if (system("ls /proc/$PPID/task | wc -l; ls /proc/$PPID/fd | wc -l")) return 7;
  }
  if (!strcmp(mode, "run") && a == 0 && errno != 77) return 6;
  return 0;
}
