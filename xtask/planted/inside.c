// What goes wrong inside a callback, or before its timer's callback begins: one execution of one node takes long, or is late.
#include "planted.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

static const char *victim, *topic;
static int messages[2], pipes[2];
static ns size, period;
static int variant;
static void (*cause)(void);

static struct message nothing;

// Publishes what sets the victim going, where that is no timer.
static struct publisher *output;
static void send_usual(struct run *run) {
  (void)run;
  usual_work();
  struct message message = nothing;
  publish(output, &message, true);
}
static void talker(void) {
  struct executor *executor = new_executor(1);
  struct node *node = new_node(executor, name_of("/"));
  output = new_publisher(node, topic, messages[0]);
  new_timer(node, between(12, 25) * MILLISECOND, send_usual, NULL);
  spin(executor);
}

static void suffer(struct run *run) {
  if (!is_time()) {
    usual_work();
    return;
  }
  compute(between(100 * MICROSECOND, 2 * MILLISECOND));
  struct mark middle = mark();
  span("compute", NULL, run->begin, middle, 0, 0);
  cause();
  struct mark after = mark();
  compute(between(100 * MICROSECOND, 2 * MILLISECOND));
  span("compute", NULL, after, mark(), 0, 0);
  subject("callback", victim, middle.wall);
  planted();
}

static void victim_role(void) {
  struct executor *executor = new_executor(1);
  struct node *node = new_node(executor, victim);
  shared->subject_pid = getpid();
  if (topic) {
    new_subscription(node, topic, 10, messages[1], suffer, NULL);
  } else {
    new_timer(node, period, suffer, NULL);
  }
  spin(executor);
}

// Another node that has nothing to do with it.
static void bystander_work(struct run *run) {
  (void)run;
  usual_work();
}
static void bystander(void) {
  struct executor *executor = new_executor(1);
  new_timer(new_node(executor, name_of("/")), between(8, 30) * MILLISECOND, bystander_work, NULL);
  spin(executor);
}

// Where the helper is: in the victim's process, in one of its own, or as chance wants.
enum place { NEAR, FAR, ANY };
static void add_helper(void (*run)(void), enum place place) {
  is_helper_near = place == NEAR || (place == ANY && chance(2));
  // Roles of one process stand together.
  if (is_helper_near) {
    role_beside(run);
  } else {
    role_in_own_process(run);
  }
}

static bool has_second;
static void set_up_with(void (*what)(void), void (*helper)(void), enum place place) {
  cause = what;
  victim = name_of("/");
  period = between(10, 25) * MILLISECOND;
  size = between(8 * MILLISECOND, 60 * MILLISECOND);
  variant = (int)chance(2);
  if (chance(2)) {
    topic = name_of("/");
    channel(messages);
  }
  role(victim_role);
  if (helper) add_helper(helper, place);
  if (has_second) role_in_own_process(second_hog);
  // Beside a helper of another process would be with that one.
  bool is_apart = has_second || (helper && !is_helper_near);
  if (topic) (is_apart ? role_in_own_process : role)(talker);
  if (chance(2)) role(bystander);
}
static void set_up(void (*what)(void)) { set_up_with(what, NULL, ANY); }

// Spinning.
static void spinning(void) {
  struct mark begin = mark();
  compute(size);
  span("compute", NULL, begin, mark(), 0, 0);
}
static void set_up_spin(void) { set_up(spinning); }

// Asleep.
static void sleeping(void) {
  struct mark begin = mark();
  rest(size);
  span("block", NULL, begin, mark(), 0, 0);
}
static void set_up_sleep(void) { set_up(sleeping); }

// A lock that another thread holds, at work or asleep.
static void holder(void) {
  enter_helper();
  while (is_wanted()) {
    pthread_mutex_lock(&shared->lock);
    shared->helper_ready = 1;
    if (variant) {
      compute(shared->size);
    } else {
      rest(shared->size);
    }
    pthread_mutex_unlock(&shared->lock);
  }
}
static void locked_out(void) {
  struct mark before = mark();
  want_helper(size);
  while (!shared->helper_ready) {
  }
  struct mark begin = mark();
  span("compute", NULL, before, begin, 0, 0);
  pthread_mutex_lock(&shared->lock);
  struct mark end = mark();
  span("block", NULL, begin, end, shared->helper_tid, 0);
  pthread_mutex_unlock(&shared->lock);
}
static void set_up_lock(void) {
  // A lock of one process, as most are.
  set_up_with(locked_out, holder, NEAR);
}

// Who has the CPU instead.
static void preempted(void) {
  struct mark before = mark();
  move_to_one_cpu();
  ns hog_before = hogs_cpu();
  struct mark begin = mark();
  span("compute", NULL, before, begin, 0, 0);
  want_helper(size);
  while (!shared->helper_done) {
  }
  struct mark end = mark();
  span("hog", NULL, begin, end, shared->helper_tid, hogs_cpu() - hog_before);
}
static void set_up_hog(void) {
  set_up_with(preempted, hog, ANY);
}

// Two of them, which share the CPU among themselves.
static void preempted_by_two(void) {
  struct mark before = mark();
  move_to_one_cpu();
  ns first = hogs_cpu(), second = cpu_of_process(shared->second_pid);
  struct mark begin = mark();
  span("compute", NULL, before, begin, 0, 0);
  ns share = size / 3 + (ns)chance((uint64_t)size / 3);
  want_helper(share);
  want_second_hog(size - share);
  while (!shared->helper_done || !shared->second_done) {
  }
  struct mark end = mark();
  span("hog", NULL, begin, end, shared->helper_tid, hogs_cpu() - first);
  span("also", NULL, end, end, shared->second_tid, cpu_of_process(shared->second_pid) - second);
}
static void set_up_two_hogs(void) {
  has_second = true;
  set_up_with(preempted_by_two, hog, ANY);
}

// Priority inversion: who holds the lock has less right to its CPU than somebody who has nothing to do with it.
static void preempted_holder(void) {
  enter_helper();
  while (is_wanted()) {
    pthread_mutex_lock(&shared->lock);
    move_to_one_cpu();
    shared->helper_ready = 1;
    want_second_hog(shared->size);
    compute(between(100 * MICROSECOND, MILLISECOND));
    while (!shared->second_done) {
    }
    pthread_mutex_unlock(&shared->lock);
  }
}
static void set_up_inversion(void) {
  has_second = true;
  set_up_with(locked_out, preempted_holder, NEAR);
}

// A condition variable that another thread notifies, at work or asleep until then.
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void notifier(void) {
  enter_helper();
  while (is_wanted()) {
    if (variant) {
      compute(shared->size);
    } else {
      rest(shared->size);
    }
    pthread_mutex_lock(&shared->lock);
    shared->helper_done = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&shared->lock);
  }
}
static void waiting(void) {
  pthread_mutex_lock(&shared->lock);
  struct mark begin = mark();
  want_helper(size);
  while (!shared->helper_done) pthread_cond_wait(&condition, &shared->lock);
  span("block", NULL, begin, mark(), shared->helper_tid, 0);
  pthread_mutex_unlock(&shared->lock);
}
static void set_up_condition(void) {
  set_up_with(waiting, notifier, NEAR);
}

// Page faults: memory that is touched for the first time. The kernel fills it, on this CPU.
static void faulting(void) {
  size_t bytes = (size_t)between(24, 96) << 20;
  struct mark begin = mark();
  volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) abort();
  madvise((void *)memory, bytes, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
  munmap((void *)memory, bytes);
  span("compute", "faults", begin, mark(), 0, 0);
}
static void set_up_faults(void) { set_up(faulting); }

// A page that somebody else has to bring, as a file's from a slow disk.
static int userfault = -1;
static char *page;
static void pager(void) {
  enter_helper();
  struct uffd_msg message;
  struct pollfd file = {.fd = userfault, .events = POLLIN};
  while (!shared->over && userfault >= 0) {
    if (poll(&file, 1, 20) != 1 || read(userfault, &message, sizeof message) != sizeof message) continue;
    rest(shared->size);
    static char content[4096];
    struct uffdio_copy copy = {.dst = message.arg.pagefault.address & ~(uint64_t)4095, .src = (uint64_t)(uintptr_t)content, .len = 4096};
    ioctl(userfault, UFFDIO_COPY, &copy);
  }
}
static void waiting_for_page(void) {
  struct mark before = mark();
  shared->size = size;
  struct mark begin = mark();
  span("compute", NULL, before, begin, 0, 0);
  *(volatile char *)page = 1;
  span("block", NULL, begin, mark(), 0, 0);
}
static void page_victim(void) {
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  userfault = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1 /* UFFD_USER_MODE_ONLY */);
  struct uffdio_api api = {.api = UFFD_API};
  struct uffdio_register area = {.range = {.start = (uint64_t)(uintptr_t)page, .len = 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (userfault < 0 || ioctl(userfault, UFFDIO_API, &api) || ioctl(userfault, UFFDIO_REGISTER, &area)) {
    say("impossible this system does not allow userfaultfd: %s", strerror(errno));
    userfault = -1;
    planted();
  }
  victim_role();
}
static void set_up_page(void) {
  cause = waiting_for_page;
  victim = name_of("/");
  period = between(10, 25) * MILLISECOND;
  size = between(8 * MILLISECOND, 60 * MILLISECOND);
  role(page_victim);
  role_beside(pager);
  if (chance(2)) role(bystander);
}

// Pages of a file that memory no longer has: the disk brings each when it is touched.
enum { PAGES = 4096, PAGE = 4096 };
static volatile char *pages;
static void reading_pages(void) {
  struct rusage before, after;
  getrusage(RUSAGE_THREAD, &before);
  struct mark begin = mark();
  // Not in their order, in which more are brought than are wanted.
  for (int at = 0; at < PAGES && now() - begin.wall < size; at++) (void)pages[(size_t)(at * 97 % PAGES) * PAGE];
  struct mark end = mark();
  getrusage(RUSAGE_THREAD, &after);
  // The clock of a thread counts the switch to it as well, of which the kernel tells when it is over: with hundreds of them that matters.
  end.slack += (after.ru_nvcsw - before.ru_nvcsw) * 20 * MICROSECOND;
  span("block", "pages", begin, end, 0, 0);
}
static void pages_victim(void) {
  static char block[1 << 16];
  static unsigned char is_there[PAGES];
  char path[64];
  snprintf(path, sizeof path, "planted-%d", getpid());
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) abort();
  for (size_t written = 0; written < (size_t)PAGES * PAGE; written += sizeof block)
    if (write(file, block, sizeof block) != sizeof block) abort();
  fsync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ, MAP_SHARED, file, 0);
  unlink(path);
  if (pages == MAP_FAILED || madvise((void *)pages, (size_t)PAGES * PAGE, MADV_RANDOM)) abort();
  int missing = 0;
  if (mincore((void *)pages, (size_t)PAGES * PAGE, is_there)) abort();
  for (int page = 0; page < PAGES; page++) missing += !(is_there[page] & 1);
  if (missing < PAGES / 2) {
    say("impossible this file system keeps its pages in memory");
    planted();
  }
  victim_role();
}
static void set_up_pages(void) {
  cause = reading_pages;
  victim = name_of("/");
  period = between(10, 25) * MILLISECOND;
  size = between(8 * MILLISECOND, 60 * MILLISECOND);
  role(pages_victim);
  if (chance(2)) role(bystander);
}

// Blocking I/O: an answer that is long in coming, or a disk.
static void answerer(void) {
  enter_helper();
  while (is_wanted()) {
    rest(shared->size);
    if (write(pipes[1], "x", 1) != 1) abort();
  }
}
static void reading(void) {
  char byte;
  struct mark begin = mark();
  want_helper(size);
  if (read(pipes[0], &byte, 1) != 1) abort();
  span("block", NULL, begin, mark(), 0, 0);
}
static void writing(void) {
  static char block[1 << 16];
  char path[64];
  snprintf(path, sizeof path, "planted-%d", getpid());
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) abort();
  struct mark begin = mark();
  for (ns megabytes = size / MILLISECOND; megabytes > 0; megabytes--) {
    for (int each = 0; each < 16; each++)
      if (write(file, block, sizeof block) != sizeof block) abort();
    fdatasync(file);
  }
  close(file);
  unlink(path);
  span("block", "disk", begin, mark(), 0, 0);
}
static void set_up_io(void) {
  if (chance(3)) {
    if (pipe(pipes)) abort();
    set_up_with(reading, answerer, ANY);
  } else {
    set_up(writing);
  }
}

// The whole process is stopped by another one.
static void stopper(void) {
  enter_helper();
  while (is_wanted()) {
    rest(between(MILLISECOND, 3 * MILLISECOND));
    kill(shared->subject_pid, SIGSTOP);
    rest(shared->size);
    shared->helper_done = 1;
    kill(shared->subject_pid, SIGCONT);
  }
}
static void stopped(void) {
  struct mark begin = mark(), last = begin, gap_begin = begin, gap_end = begin;
  want_helper(size);
  // The longest time in which this thread did not look at the clock.
  bool is_over = false;
  while (!is_over) {
    is_over = shared->helper_done;
    ns wall = now();
    if (wall - last.wall > gap_end.wall - gap_begin.wall) {
      gap_begin = last;
      gap_end = mark();
      gap_begin.cpu = gap_end.cpu;
      last = gap_end;
    } else {
      last.wall = wall;
    }
  }
  struct mark end = mark();
  gap_begin.slack = 0;
  span("compute", NULL, begin, gap_begin, 0, 0);
  span("stop", NULL, gap_begin, gap_end, 0, 0);
  span("compute", NULL, gap_end, end, 0, 0);
}
static void set_up_stop(void) {
  set_up_with(stopped, stopper, FAR);
}

// A timer's thread that wakes up late: nobody has its CPU, it is only woken too late.
static struct executor *late_executor;
static bool is_expected;
static void be_late(struct run *run) {
  usual_work();
  if (is_expected && run->begin.wall - run->expected > size / 2) {
    ns hog_had = variant && shared->cpu_at_due ? hogs_cpu() - shared->cpu_at_due : 0;
    say_history(run->expected, "busy", variant ? "starve" : "late", variant ? shared->helper_tid : 0, hog_had);
    span("compute", NULL, run->begin, mark(), 0, 0);
    subject("callback", victim, run->begin.wall);
    is_expected = false;
    planted();
    return;
  }
  is_expected = false;
  if (is_time()) {
    is_expected = true;
    if (variant) {
      // The hog begins before the timer is due, and goes on beyond.
      move_to_one_cpu();
      ns early = between(500 * MICROSECOND, 2 * MILLISECOND);
      shared->due = run->expected + period;
      shared->instant = shared->due - early;
      size += early;
      want_helper(size);
    } else {
      oversleep(late_executor, size);
    }
  }
}
static void late_role(void) {
  late_executor = new_executor(1);
  new_timer(new_node(late_executor, victim), period, be_late, NULL);
  spin(late_executor);
}
static void set_up_late(void) {
  victim = name_of("/");
  period = between(10, 40) * MILLISECOND;
  size = between(8 * MILLISECOND, 60 * MILLISECOND);
  role(late_role);
  if (chance(2)) role(bystander);
}
// A timer whose thread runs something else when it is due.
static void be_in_the_way(struct run *run) {
  (void)run;
  if (!is_time() || is_expected) {
    usual_work();
    return;
  }
  is_expected = true;
  if (variant) {
    compute(size);
  } else {
    rest(size);
  }
}
static void be_held_up(struct run *run) {
  usual_work();
  // It may have run before the other one began.
  if (!is_expected || shared->planted || run->begin.wall - run->expected < 4 * MILLISECOND) return;
  say_history(run->expected, "busy", NULL, 0, 0);
  span("compute", NULL, run->begin, mark(), 0, 0);
  subject("callback", victim, run->begin.wall);
  planted();
}
static void busy_role(void) {
  struct executor *executor = new_executor(1);
  new_timer(new_node(executor, victim), period, be_held_up, NULL);
  new_timer(new_node(executor, name_of("/")), between(15 * MILLISECOND, 40 * MILLISECOND), be_in_the_way, NULL);
  spin(executor);
}
static void set_up_busy_timer(void) {
  victim = name_of("/");
  period = between(10, 25) * MILLISECOND;
  size = period + between(8 * MILLISECOND, 50 * MILLISECOND);
  variant = (int)chance(2);
  role(busy_role);
  if (chance(2)) role(bystander);
}

static void set_up_starved(void) {
  victim = name_of("/");
  period = between(10, 40) * MILLISECOND;
  size = between(8 * MILLISECOND, 60 * MILLISECOND);
  variant = 1;
  role(late_role);
  add_helper(hog, ANY);
  if (chance(2)) role_in_own_process(bystander);
}

const struct kind inside_kinds[] = {
    {"spin", set_up_spin},           {"sleep", set_up_sleep},         {"lock", set_up_lock},       {"inversion", set_up_inversion},
    {"condition", set_up_condition}, {"hog", set_up_hog},             {"two_hogs", set_up_two_hogs}, {"faults", set_up_faults},
    {"page", set_up_page},           {"pages", set_up_pages},         {"io", set_up_io},           {"stop", set_up_stop},
    {"late", set_up_late},           {"starved", set_up_starved},     {"busy_timer", set_up_busy_timer}, {NULL, NULL},
};
