// What happens to a message on its way: a receiver that is busy, a sender that is slow, a queue that is full, a middleware that loses it.
#include "planted.h"

enum mark_of_message { USUAL, MARKED, HEAVY };

static const char *topic, *talker_name, *listener_name, *other_name;
static int messages[2], relayed[2];
static ns size, period, other_period;
static int variant, burst, depth;

// A message that nothing came before is not known to be lost.
static bool may_begin(void) { return is_time() && shared->received > 2; }

// The sender.
static struct publisher *output;
static int sent;

static void send_one(int mark, bool reaches) {
  struct message message = {.mark = mark, .number = ++sent};
  publish(output, &message, reaches);
}

static void (*talk)(struct run *);
static void talking(struct run *run) { talk(run); }
static void talker(void) {
  struct executor *executor = new_executor(1);
  struct node *node = new_node(executor, talker_name);
  output = new_publisher(node, topic, messages[0]);
  new_timer(node, period, talking, NULL);
  shared->subject_pid = getpid();
  spin(executor);
}

// The receiver: says how the marked message fared until its callback began.
static const char *busy_word = "busy", *idle_word;
static ns heavy;
static void listen_to(struct run *run) {
  shared->received++;
  if (run->message.mark == MARKED) {
    say_history(run->message.sent ? run->message.sent : run->message.publish, busy_word, idle_word, 0, 0);
    // By then those before it have arrived; it has not.
    ns early = run->begin.wall - 100 * MICROSECOND;
    subject("message", topic, early > run->message.publish ? early : run->message.publish);
    planted();
  }
  if (run->message.mark == HEAVY) {
    if (variant) {
      compute(heavy);
    } else {
      rest(heavy);
    }
  } else {
    usual_work();
  }
}

static void listener(void) {
  struct executor *executor = new_executor(1);
  new_subscription(new_node(executor, listener_name), topic, depth, messages[1], listen_to, NULL);
  spin(executor);
}

static void usual(struct run *run) {
  (void)run;
  usual_work();
}
static void bystander(void) {
  struct executor *executor = new_executor(1);
  new_timer(new_node(executor, name_of("/")), between(8, 30) * MILLISECOND, usual, NULL);
  spin(executor);
}

static void set_up(void (*how_to_talk)(struct run *)) {
  talk = how_to_talk;
  topic = name_of("/");
  talker_name = name_of("/");
  listener_name = name_of("/");
  other_name = name_of("/");
  period = between(6, 15) * MILLISECOND;
  other_period = between(7, 30) * MILLISECOND;
  size = between(8 * MILLISECOND, 60 * MILLISECOND);
  variant = (int)chance(2);
  depth = 10;
  channel(messages);
}
static void usual_roles(void (*receiver)(void)) {
  role(talker);
  role(receiver);
  if (chance(2)) role(bystander);
}

// The receiver's thread is busy with another callback when the message comes; nothing more is sent then.
static void be_long(struct run *run) {
  (void)run;
  if (!may_begin() || shared->busy_since) {
    usual_work();
    return;
  }
  shared->busy_since = now();
  // Until the message is there, and so long from then.
  while (!shared->flagged && !shared->over) rest(200 * MICROSECOND);
  if (variant) {
    compute(size);
  } else {
    rest(size);
  }
}
static void send_to_busy(struct run *run) {
  (void)run;
  usual_work();
  if (shared->flagged && !shared->planted) return;
  if (shared->busy_since && !shared->flagged) {
    send_one(MARKED, true);
    shared->flagged = now();
    return;
  }
  send_one(USUAL, true);
}
static void busy_listener(void) {
  struct executor *executor = new_executor(1);
  new_subscription(new_node(executor, listener_name), topic, depth, messages[1], listen_to, NULL);
  new_timer(new_node(executor, other_name), other_period, be_long, NULL);
  spin(executor);
}
static void set_up_busy(void) {
  set_up(send_to_busy);
  usual_roles(busy_listener);
}

// Two threads, and a callback of the same mutually exclusive group on the other one.
static struct mark group_begin, group_end;
static pid_t group_thread;
static void be_long_in_group(struct run *run) {
  bool is_it = !shared->busy_since;
  be_long(run);
  if (!is_it || !shared->busy_since) return;
  group_begin = run->begin;
  group_end = mark();
  group_thread = own_tid();
}
static void listen_in_group(struct run *run) {
  if (run->message.mark == MARKED) {
    if (group_begin.wall < shared->flagged) group_begin.wall = shared->flagged;
    // Whichever thread is the first to look for work gets the message.
    const char *word = group_thread == own_tid() ? "either" : "group";
    span(word, listener_name, group_begin, group_end, 0, 0);
  }
  listen_to(run);
}
static void group_listener(void) {
  struct executor *executor = new_executor(2);
  struct group *group = new_group(executor);
  // A group belongs to one node.
  struct node *node = new_node(executor, listener_name);
  new_subscription(node, topic, depth, messages[1], listen_in_group, group);
  new_timer(node, other_period, be_long_in_group, group);
  spin(executor);
}
static void set_up_group(void) {
  set_up(send_to_busy);
  busy_word = NULL;
  usual_roles(group_listener);
}

// Many at once: the last one waits for those before it.
static void send_burst(struct run *run) {
  (void)run;
  usual_work();
  if (!may_begin() || shared->flagged) {
    if (!shared->flagged || shared->planted) send_one(USUAL, true);
    return;
  }
  shared->flagged = now();
  for (int each = 1; each < burst; each++) send_one(HEAVY, true);
  send_one(MARKED, true);
}
static void set_up_backlog(void) {
  set_up(send_burst);
  burst = (int)between(3, 7);
  heavy = between(4 * MILLISECOND, 15 * MILLISECOND);
  usual_roles(listener);
}

// A queue that is full: while the receiver is busy, more messages come than it keeps, and the oldest fall out.
static void send_too_many(struct run *run) {
  (void)run;
  usual_work();
  if (shared->flagged && !shared->planted) return;
  if (shared->busy_since && !shared->flagged) {
    int more = (int)between(1, 3);
    for (int each = 0; each < depth + more; each++) {
      struct message message = {.mark = each == depth + more - 1 ? MARKED : USUAL, .number = ++sent};
      publish(output, &message, true);
      if (each == 0) {
        say("lost %s %d", output->intra ? "ring_buffer_full" : "history_full", depth);
        subject("lost", topic, message.publish + 2 * MICROSECOND);
      }
      rest(between(100 * MICROSECOND, MILLISECOND));
    }
    shared->flagged = now();
    return;
  }
  send_one(USUAL, true);
}
static void note_arrival(struct run *run) {
  shared->received++;
  usual_work();
  if (run->message.mark == MARKED) planted();
}
static void overflowing_listener(void) {
  struct executor *executor = new_executor(1);
  new_subscription(new_node(executor, listener_name), topic, depth, messages[1], note_arrival, NULL);
  new_timer(new_node(executor, other_name), other_period, be_long, NULL);
  spin(executor);
}
static void set_up_overflow(void) {
  set_up(send_too_many);
  depth = (int)between(1, 4);
  usual_roles(overflowing_listener);
}

// The middleware loses one; those before and after it arrive.
static void send_and_lose(struct run *run) {
  (void)run;
  usual_work();
  if (!may_begin() || shared->flagged) {
    send_one(USUAL, true);
    if (shared->flagged && now() > shared->flagged + 4 * period) planted();
    return;
  }
  shared->flagged = now();
  struct message message = {.number = ++sent};
  publish(output, &message, false);
  say("lost middleware %d", depth);
  subject("lost", topic, message.publish + 2 * MICROSECOND);
}
static void set_up_lost(void) {
  set_up(send_and_lose);
  usual_roles(listener);
}

// A ring buffer of one process that is full: the receiver's thread is busy, and an older message is overwritten.
static struct entity *ring;
static atomic_bool has_ring;
static void ring_listener(void) {
  struct executor *executor = new_executor(1);
  ring = new_intra_subscription(new_node(executor, listener_name), topic, depth, note_arrival);
  new_timer(new_node(executor, other_name), other_period, be_long, NULL);
  has_ring = true;
  spin(executor);
}
static void ring_talker(void) {
  struct executor *executor = new_executor(1);
  struct node *node = new_node(executor, talker_name);
  while (!has_ring) rest(MILLISECOND);
  output = new_publisher(node, topic, -1);
  output->intra = ring;
  new_timer(node, period, talking, NULL);
  spin(executor);
}
static void set_up_overwritten(void) {
  set_up(send_too_many);
  depth = (int)between(1, 4);
  role(ring_talker);
  role_beside(ring_listener);
  if (chance(2)) role(bystander);
}

// The middleware takes long: somebody between them holds the message back, and the receiver has nothing else to do.
static void relay(void) {
  struct pollfd file = {.fd = messages[1], .events = POLLIN};
  struct message message;
  pthread_barrier_wait(&shared->ready);
  while (!shared->over) {
    if (poll(&file, 1, 20) != 1 || recv(messages[1], &message, sizeof message, MSG_DONTWAIT) != sizeof message) continue;
    if (message.mark == MARKED) rest(size);
    if (send(relayed[0], &message, sizeof message, 0) < 0) abort();
  }
}
static void relayed_listener(void) {
  struct executor *executor = new_executor(1);
  new_subscription(new_node(executor, listener_name), topic, depth, relayed[1], listen_to, NULL);
  spin(executor);
}
static bool is_marked_call;
static void send_marked(struct run *run) {
  (void)run;
  usual_work();
  if (shared->flagged && !shared->planted) return;
  if (!may_begin()) {
    send_one(USUAL, true);
    return;
  }
  shared->flagged = now();
  is_marked_call = true;
  send_one(MARKED, true);
  is_marked_call = false;
}
static void set_up_transport(void) {
  set_up(send_marked);
  channel(relayed);
  idle_word = "transit";
  role(talker);
  role(relayed_listener);
  role(relay);
}

// The call of publish itself takes long: it computes, or waits, before the middleware has the message.
static void long_call(void) {
  if (!is_marked_call) return;
  struct mark begin = mark();
  if (variant) {
    compute(size);
  } else {
    rest(size);
  }
  span("publish", talker_name, begin, mark(), 0, 0);
}
static void send_slowly(struct run *run) {
  output->before = long_call;
  send_marked(run);
}
static void set_up_publisher(void) {
  set_up(send_slowly);
  usual_roles(listener);
}

// Where the hog is: beside the role before it, or apart; and then the others.
static void add_hog_and(void (*other)(void)) {
  is_helper_near = chance(2);
  if (is_helper_near) {
    role_beside(hog);
    role(other);
  } else {
    role_in_own_process(hog);
    role_in_own_process(other);
  }
}

// A sender that loses its CPU in the middle of publish.
static void preempted_call(void) {
  if (!is_marked_call) return;
  move_to_one_cpu();
  ns before = hogs_cpu();
  struct mark begin = mark();
  want_helper(size);
  while (!shared->helper_done) {
  }
  struct mark end = mark();
  span("publish_hog", talker_name, begin, end, shared->helper_tid, hogs_cpu() - before);
}
static void send_preempted(struct run *run) {
  output->before = preempted_call;
  send_marked(run);
}
static void set_up_preempted_publisher(void) {
  set_up(send_preempted);
  role(talker);
  add_hog_and(listener);
}

// A receiver that waits for messages, and has no CPU when one comes.
static void send_to_starved(struct run *run) {
  (void)run;
  usual_work();
  if (shared->flagged && !shared->planted) return;
  if (!shared->busy_since || shared->planted) {
    send_one(USUAL, true);
    return;
  }
  if (!shared->helper_ready) return;
  struct message message = {.mark = MARKED, .number = ++sent};
  shared->flagged = now();
  publish(output, &message, true);
  shared->due = message.sent;
}
static void listen_starved(struct run *run) {
  shared->received++;
  if (run->message.mark == MARKED) {
    ns had = shared->cpu_at_due ? hogs_cpu() - shared->cpu_at_due : 0;
    if (run->begin.wall - run->message.sent < 4 * MILLISECOND) {
      // It had the CPU after all: another time.
      shared->flagged = shared->busy_since = shared->helper_ready = shared->due = 0;
      return;
    }
    say_history(run->message.sent, "busy", "starve", shared->helper_tid, had);
    ns early = run->begin.wall - 100 * MICROSECOND;
    subject("message", topic, early > run->message.publish ? early : run->message.publish);
    planted();
  } else if (may_begin() && !shared->busy_since) {
    move_to_one_cpu();
    // With so little right to the CPU it has then had more than its share, and waits long for the next.
    compute(5 * MILLISECOND);
    // By then this thread waits for work again.
    shared->instant = now() + 3 * MILLISECOND;
    want_helper(size);
    shared->busy_since = now();
  } else if (!shared->busy_since) {
    // Later it would not be done in time.
    usual_work();
  }
}
static void starved_listener(void) {
  struct executor *executor = new_executor(1);
  new_subscription(new_node(executor, listener_name), topic, depth, messages[1], listen_starved, NULL);
  spin(executor);
}
static void set_up_starved_listener(void) {
  set_up(send_to_starved);
  size += period;
  role(starved_listener);
  add_hog_and(talker);
}

// A message in the ring buffer of its process, whose thread is busy with another callback.
static void buffered_listener(void) {
  struct executor *executor = new_executor(1);
  ring = new_intra_subscription(new_node(executor, listener_name), topic, depth, listen_to);
  new_timer(new_node(executor, other_name), other_period, be_long, NULL);
  has_ring = true;
  spin(executor);
}
static void set_up_buffered(void) {
  set_up(send_to_busy);
  role(ring_talker);
  role_beside(buffered_listener);
  if (chance(2)) role(bystander);
}

const struct kind message_kinds[] = {
    {"busy", set_up_busy},           {"group", set_up_group},         {"backlog", set_up_backlog},
    {"overflow", set_up_overflow},   {"lost", set_up_lost},           {"overwritten", set_up_overwritten},
    {"transport", set_up_transport}, {"publisher", set_up_publisher}, {"preempted_publisher", set_up_preempted_publisher},
    {"starved_listener", set_up_starved_listener}, {"buffered", set_up_buffered},
    {NULL, NULL},
};
