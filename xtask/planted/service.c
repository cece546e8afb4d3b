// A callback that waits for the answer of a service: the service itself is slow, or its server is busy with something else first.
#include "planted.h"

static const char *victim, *service, *server_name, *other_name;
static int channel_of_service[2];
static ns size, period, other_period;
static int variant;
static bool is_server_busy;
static int server_threads = 1;
static struct client *client;

static void take_long(void) {
  if (variant) {
    compute(size);
  } else {
    rest(size);
  }
}

static void ask(struct run *run) {
  bool is_it = is_time() && (!is_server_busy || shared->busy_since) && !shared->flagged;
  if (!is_it) {
    usual_work();
    if (!chance(3)) call(client);
    return;
  }
  compute(between(100 * MICROSECOND, 2 * MILLISECOND));
  struct mark begin = mark();
  span("compute", NULL, run->begin, begin, 0, 0);
  shared->flagged = begin.wall;
  call(client);
  struct mark end = mark();
  compute(between(100 * MICROSECOND, 2 * MILLISECOND));
  span("compute", NULL, end, mark(), 0, 0);
  subject("callback", victim, begin.wall);
  planted();
}

static void serve(struct run *run) {
  bool is_it = shared->flagged && run->message.sent >= shared->flagged && !shared->planted;
  if (!is_it) {
    usual_work();
    return;
  }
  say_history(run->message.sent, "queued", NULL, 0, 0);
  if (is_server_busy) {
    usual_work();
  } else {
    take_long();
  }
  span("served", server_name, run->begin, mark(), 0, 0);
}

static void be_long(struct run *run) {
  (void)run;
  static ns pause;
  if (!is_server_busy || !is_time() || shared->busy_since || now() < pause) {
    usual_work();
    return;
  }
  shared->busy_since = now();
  // Until the request is there, and so long from then. A usual one may have come just before, which would wait for ever.
  while (!shared->flagged && now() - shared->busy_since < 100 * MILLISECOND) rest(200 * MICROSECOND);
  if (shared->flagged) {
    take_long();
  } else {
    shared->busy_since = 0;
    // Its turn comes before that of a service, always.
    pause = now() + 5 * other_period;
  }
}

static void asker(void) {
  struct executor *executor = new_executor(1);
  struct node *node = new_node(executor, victim);
  client = new_client(node, service, channel_of_service[0]);
  new_timer(node, period, ask, NULL);
  spin(executor);
}
static void server(void) {
  struct executor *executor = new_executor(server_threads);
  // Each node has a group, as in rclcpp; with one thread nobody notices.
  struct group *own = server_threads > 1 ? new_group(executor) : NULL, *others = server_threads > 1 ? new_group(executor) : NULL;
  new_service(new_node(executor, server_name), service, channel_of_service[1], serve, own);
  new_timer(new_node(executor, other_name), other_period, be_long, others);
  spin(executor);
}

static void set_up(bool is_busy) {
  is_server_busy = is_busy;
  victim = name_of("/");
  service = name_of("/");
  server_name = name_of("/");
  other_name = name_of("/");
  period = between(10, 25) * MILLISECOND;
  other_period = between(7, 30) * MILLISECOND;
  size = between(8 * MILLISECOND, 60 * MILLISECOND);
  variant = (int)chance(2);
  channel(channel_of_service);
  role(asker);
  role(server);
}
static void set_up_service(void) { set_up(false); }
static void set_up_server(void) { set_up(true); }
// Its other thread goes on with other things meanwhile.
static void set_up_threads(void) {
  server_threads = 2;
  set_up(false);
}

const struct kind service_kinds[] = {{"service", set_up_service}, {"server", set_up_server}, {"threads", set_up_threads}, {NULL, NULL}};
