// What the programs with planted causes share: clocks, chance, the log of the truth, and as much of a client library as they need.
//
// `planted KIND SEED LOG` is a small system of nodes with random names and usual work, in which one thing of a random size goes wrong. What
// went wrong, where, when and for how long is written into LOG, as the program's own clocks say; the judge (xtask/src/planted) compares it with
// what `rostrace why` makes of the recording. `truth.c` has the clocks and the log, `ros.c` the client library, `hog.c` who helps, `main.c` the table of kinds.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int64_t ns;
enum { MICROSECOND = 1000, MILLISECOND = 1000000 };

// Clocks: CLOCK_MONOTONIC, the thread's own CPU clock, and the time of day.
ns now(void);
ns own_cpu(void);
ns realtime(void);
// CPU clock of another thread of this process, or of another process.
ns cpu_of_thread(pid_t tid);
ns cpu_of_process(pid_t pid);
pid_t own_tid(void);

// Chance: decided by the seed alone, as long as one thread asks.
void seed_with(uint64_t seed);
uint64_t chance(uint64_t below);
ns between(ns least, ns most);

// Time spent: on a CPU by the thread's own clock, or asleep.
void compute(ns time);
void rest(ns time);
void rest_until(ns instant);
// A little of what every callback does.
void usual_work(void);

// Both clocks at one instant, as well as they can be read together: they were read within `slack`. And how long this thread has slept because
// it wanted to: what it neither computed nor slept, others took.
struct mark {
  ns wall, cpu, asleep, slack;
};
struct mark mark(void);

// The log. A span is what a thread did from one instant to another: the judge knows what each word means.
void open_log(const char *path);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void span(const char *what, const char *name, struct mark from, struct mark to, pid_t culprit, ns culprit_cpu);
// What is to be asked for: `callback` with a node, `message` or `lost` with a topic; at an instant at which it is in progress.
void subject(const char *kind, const char *name, ns at);

// A random word that no other name of this program is.
const char *name_of(const char *prefix);

struct message {
  int64_t stamp;
  ns publish;  // begin of the call
  ns sent;
  int mark;    // what is special about it, to sender and receiver
  int number;
};

struct executor;
struct node;
struct group;
struct entity;

// One execution, as its callback sees it.
struct run {
  struct entity *entity;
  struct mark begin;  // right after callback_start
  ns expected;        // of a timer: when it was due
  struct message message;
};
typedef void work(struct run *);

struct executor *new_executor(int threads);
struct node *new_node(struct executor *, const char *name);
struct group *new_group(struct executor *);
struct entity *new_timer(struct node *, ns period, work *, struct group *);
struct entity *new_subscription(struct node *, const char *topic, int depth, int socket, work *, struct group *);
// Messages come through a ring buffer of this process.
struct entity *new_intra_subscription(struct node *, const char *topic, int capacity, work *);
struct entity *new_service(struct node *, const char *name, int socket, work *, struct group *);
const char *node_name(const struct entity *);
// The next wait of this executor lasts so much longer than it should.
void oversleep(struct executor *, ns time);
// Executes until the moment that `end_all` is called.
void spin(struct executor *);

struct publisher {
  void *handle, *rmw;
  int socket;
  struct entity *intra;
  char buffer[64];
  void (*before)(void);  // between the call and the middleware
};
struct publisher *new_publisher(struct node *, const char *topic, int socket);
// `reaches` is false for a message that the middleware loses.
void publish(struct publisher *, struct message *, bool reaches);

struct client {
  void *handle, *rmw;
  int socket;
  int64_t sequence;
  char buffer[64];
};
struct client *new_client(struct node *, const char *service, int socket);
// Sends a request and waits for its response on this thread.
void call(struct client *);

// What this thread did from an instant to now, as spans: other callbacks as `callback_word`, waiting as `idle_word`; null leaves them out.
// The culprit had a CPU for so long since then.
void say_history(ns from, const char *callback_word, const char *idle_word, pid_t culprit, ns culprit_cpu);

// Datagrams, the first end for the sender.
void channel(int ends[2]);

// Memory that all processes of a program share.
struct shared {
  pthread_barrier_t ready;
  atomic_bool over;
  atomic_llong begin;       // everything is set up
  atomic_llong planted;     // the cause is over, since then
  // A helper: what it does is the kind's.
  sem_t go;
  atomic_int helper_tid, helper_pid, helper_done, helper_ready, cpu, subject_pid;
  atomic_llong size, instant, due, cpu_at_due;
  sem_t go_second;
  atomic_int second_tid, second_pid, second_done;
  atomic_llong second_size;
  pthread_mutex_t lock;
  atomic_llong busy_since, flagged, received;
};
extern struct shared *shared;
// The cause is over: a little later the program ends.
void planted(void);

// Roles: each is a thread; each in a process of its own, or all in one.
void role(void (*run)(void));
void role_in_own_process(void (*run)(void));
// In the process of the role before.
void role_beside(void (*run)(void));
// With the first role's process, or alone, as chance wants.
bool is_beside_first(void);

// Helpers (hog.c) wait until they are wanted: one for so much time.
extern bool is_helper_near;  // a thread of the process that wants it
void enter_helper(void);
bool is_wanted(void);
void want_helper(ns time);
// Who takes the CPU of the thread that has moved to one, which then has less right to it. A second one is in a process of its own.
void move_to_one_cpu(void);
void hog(void);
ns hogs_cpu(void);
void second_hog(void);
void want_second_hog(ns time);

// Begins after all usual things have happened a few times.
bool is_time(void);

struct kind {
  const char *name;
  void (*set_up)(void);
};
extern const struct kind inside_kinds[], message_kinds[], service_kinds[];
