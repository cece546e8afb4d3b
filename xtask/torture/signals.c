// Handlers that emit: signals alarm|profile|malloc|altstack|nested|jump|first THREADS MILLISECONDS
//   alarm, profile   a timer at some kHz interrupts threads that emit, too
//   malloc           what is interrupted allocates and frees all the time, under the lock of its arena; only handlers emit, so one of them is
//                    the first that learns of a new recording, to which many entities must be described
//   altstack         on the smallest stack that the system allows, with the first event of its thread
//   nested           handlers that interrupt themselves
//   jump             siglongjmp out of a handler that may have interrupted a tracepoint
//   first            the first event of the process is in a handler that interrupted malloc
#include <setjmp.h>

#include "torture.h"

static const char *kind;
static uint64_t until;
static __thread struct lane *lane_of_handler;
static __thread volatile int depth;
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t can_jump;
static __thread uint64_t shots;

static void handler(int signal) {
  int before = errno;
  (void)signal;
  if (!lane_of_handler) lane_of_handler = new_lane();
  if (depth < 8) {
    depth++;
    emit_on(lane_of_handler);
    depth--;
  }
  errno = before;
  if (can_jump && ++shots % 5 == 0) {
    can_jump = 0;
    depth = 0;
    siglongjmp(back, 1);
  }
}

static void arm(int which, long us) {
  struct itimerval often = {{0, us}, {0, us}};
  setitimer(which, &often, NULL);
}

static void *work(void *unused) {
  static _Atomic unsigned seeds;
  unsigned seed = atomic_fetch_add(&seeds, 1);
  bool emits = !is(kind, "first") && !is(kind, "malloc") && !is(kind, "altstack"), allocates = is(kind, "malloc") || is(kind, "first");
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  char *stack = NULL;
  if (is(kind, "altstack")) {
    size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 1024;  // the frame of the kernel, and a little for the handler itself
    stack = mmap(NULL, size + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(stack, 4096, PROT_NONE);
    size = (size + 4095) / 4096 * 4096;
    stack_t mine = {.ss_sp = stack + 4096, .ss_size = size};
    if (sigaltstack(&mine, NULL)) _exit(2);
  }
  if (is(kind, "jump") && sigsetjmp(back, 1)) { /* back from a handler */ }
  if (is(kind, "jump")) can_jump = 1;
  static __thread bool armed;
  if (!armed) {
    armed = true;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer)) _exit(3);
    struct itimerspec often = {{0, 300000 + seed % 7 * 50000}, {0, 300000}};
    timer_settime(timer, 0, &often, NULL);
  }
  while (!enough(until)) {
    if (emits) for (int i = 0; i < 16; i++) emit();
    if (allocates) for (int i = 0; i < 16; i++) {
      char *block = malloc(1100 + (size_t)rand_r(&seed) % 30000);
      __asm__ volatile("" : : "r"(block) : "memory");  // or the compiler leaves both calls out
      free(block);
    }
    if (!emits && !allocates) usleep(100);
  }
  can_jump = 0;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  return unused;
}

int main(int count, char **words) {
  kind = word_of(count, words, 1);
  int threads = (int)number_of(count, words, 2, 3);
  plant_canaries();
  if (!is(kind, "first")) initialise();
  if (is(kind, "malloc")) for (uint64_t i = 1; i < 200; i++) emit_publisher(i, "/described/to/every/recording");
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  if (is(kind, "altstack")) action.sa_flags |= SA_ONSTACK;
  if (is(kind, "nested")) action.sa_flags |= SA_NODEFER;
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGPROF, &action, NULL);
  sigaction(SIGRTMIN, &action, NULL);
  until = now() + number_of(count, words, 3, 300) * 1000000u;
  ready();
  pthread_t all[64];
  for (int i = 0; i < threads; i++) start(&all[i], work, NULL);
  if (is(kind, "alarm")) arm(ITIMER_REAL, 200);
  if (is(kind, "profile")) arm(ITIMER_PROF, 1000);
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
  signal(SIGALRM, SIG_IGN), signal(SIGPROF, SIG_IGN);
  return verdict();
}
