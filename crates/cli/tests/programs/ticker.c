// ticker MILLISECONDS EXIT_CODE: a node whose timer fires every millisecond, until the time is over or Ctrl-C.
// TICKER_NODE names it, TICKER_CHILD makes a child that does the same, TICKER_FLOOD makes it fire without a pause,
// and with TICKER_DEAF Ctrl-C is ignored. TICKER_FILES makes it use up its file descriptors: `early` around the first tracepoint,
// `late` once it runs, `asked` at SIGHUP, until the next one. TICKER_OWN makes it handle SIGUSR2, and say so at its end. TICKER_DEATH makes
// it, or its child, die in the middle: in code of its `own`, by `abort`, or in the `tracer`, which gets a bad address. TICKER_LAST is for how many
// milliseconds another timer, "Ticker::last()", goes on after Ctrl-C. TICKER_EXEC makes it become itself again so often, and say how often it ticked.
// With TICKER_LEADER its first thread ends at once, and another one does all of it.
#include "ros.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;
static void end(int signal) { (void)signal, is_over = 1; }

static volatile sig_atomic_t is_asked;
static void ask(int signal) { (void)signal, is_asked = 1; }

static volatile sig_atomic_t is_own;
static void own(int signal) { (void)signal, is_own = 1; }

static int files[4096], held;
static void hold_files(void) {
  while (held < 4096 && (files[held] = dup(0)) >= 0) held++;
}
static void give_files_back(void) {
  while (held > 0) close(files[--held]);
}

static void die(const char *where, const void *callback) {
  if (!strcmp(where, "own")) *(volatile int *)16 = 1;
  if (!strcmp(where, "abort")) abort();
  if (!strcmp(where, "tracer")) ros_trace_rclcpp_callback_register(callback, (const char *)16);
}

static double milliseconds_now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e3 + at.tv_nsec / 1e6;
}

static int tick(int count, char **arguments) {
  static char context, node, rmw, timer, callback, last, last_callback;
  double milliseconds = count > 1 ? atof(arguments[1]) : 300;
  const char *name = getenv("TICKER_NODE") ? getenv("TICKER_NODE") : "ticker";
  struct sigaction action = {.sa_handler = getenv("TICKER_DEAF") ? SIG_IGN : end};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  const char *when = getenv("TICKER_FILES") ? getenv("TICKER_FILES") : "";
  struct sigaction asked = {.sa_handler = ask}, owned = {.sa_handler = own};
  if (!strcmp(when, "asked")) sigaction(SIGHUP, &asked, NULL);
  if (getenv("TICKER_OWN")) sigaction(SIGUSR2, &owned, NULL);
  pid_t child = getenv("TICKER_CHILD") ? fork() : -1;
  if (!strcmp(when, "early")) hold_files();
  ros_trace_rcl_init(&context);
  give_files_back();
  ros_trace_rcl_node_init(&node, &rmw, child == 0 ? "child" : name, "/");
  make_timer(&timer, 1000000, &callback, "Ticker::tick()", &node);
  puts("ready");
  fflush(stdout);
  const char *death = getenv("TICKER_DEATH"), *again = getenv("TICKER_EXEC");
  long ticks = 0;
  for (double begin = milliseconds_now(); !is_over && milliseconds_now() - begin < milliseconds;) {
    if (death && child <= 0 && milliseconds_now() - begin > milliseconds / 2) die(death, &callback);
    ros_trace_callback_start(&callback, false);
    ros_trace_callback_end(&callback);
    ticks++;
    if (!getenv("TICKER_FLOOD")) usleep(1000);
    if (!strcmp(when, "late")) hold_files();
    if (is_asked) {
      is_asked = 0;
      if (held) {
        give_files_back();
      } else {
        hold_files();
      }
    }
  }
  if (is_over && getenv("TICKER_LAST")) {
    make_timer(&last, 1000000, &last_callback, "Ticker::last()", &node);
    for (double begin = milliseconds_now(); milliseconds_now() - begin < atof(getenv("TICKER_LAST"));) {
      ros_trace_callback_start(&last_callback, false);
      ros_trace_callback_end(&last_callback);
      usleep(1000);
    }
  }
  if (again) {
    printf("ticks %ld\n", ticks);
    fflush(stdout);
    char left[32];
    snprintf(left, sizeof left, "%ld", atol(again) - 1);
    setenv("TICKER_EXEC", left, 1);
    if (atol(again) > 0) execv(arguments[0], arguments);
  }
  if (is_own) puts("own handler ran");
  if (child > 0) waitpid(child, NULL, 0);
  return count > 2 ? atoi(arguments[2]) : 0;
}

static int word_count;
static char **words;
static void *beside(void *unused) {
  (void)unused;
  exit(tick(word_count, words));
}

int main(int count, char **arguments) {
  if (!getenv("TICKER_LEADER")) return tick(count, arguments);
  pthread_t thread;
  word_count = count;
  words = arguments;
  pthread_create(&thread, NULL, beside, NULL);
  pthread_exit(NULL);
}
