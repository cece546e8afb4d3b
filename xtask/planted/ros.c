// As much of a client library as the programs need: what rclcpp, rcl and rmw would tell the tracer, on threads that really wait and really run.
#include "planted.h"

void ros_trace_rcl_init(const void *);
void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_rmw_publisher_init(const void *, const uint8_t *);
void ros_trace_rcl_publisher_init(const void *, const void *, const void *, const char *, size_t);
void ros_trace_rclcpp_publish(const void *, const void *);
void ros_trace_rclcpp_intra_publish(const void *, const void *);
void ros_trace_rcl_publish(const void *, const void *);
void ros_trace_rmw_publish(const void *, const void *, int64_t);
void ros_trace_rmw_subscription_init(const void *, const uint8_t *);
void ros_trace_rcl_subscription_init(const void *, const void *, const void *, const char *, size_t);
void ros_trace_rclcpp_subscription_init(const void *, const void *);
void ros_trace_rclcpp_subscription_callback_added(const void *, const void *);
void ros_trace_rmw_take(const void *, const void *, int64_t, bool);
void ros_trace_rcl_take(const void *);
void ros_trace_rclcpp_take(const void *);
void ros_trace_rcl_service_init(const void *, const void *, const void *, const char *);
void ros_trace_rclcpp_service_callback_added(const void *, const void *);
void ros_trace_rmw_take_request(const void *, const void *, const uint8_t *, int64_t, bool);
void ros_trace_rmw_send_response(const void *, const void *, const uint8_t *, int64_t, int64_t);
void ros_trace_rmw_client_init(const void *, const uint8_t *);
void ros_trace_rcl_client_init(const void *, const void *, const void *, const char *);
void ros_trace_rmw_send_request(const void *, const void *, int64_t);
void ros_trace_rmw_take_response(const void *, const void *, int64_t, int64_t, bool);
void ros_trace_rcl_timer_init(const void *, int64_t);
void ros_trace_rclcpp_timer_callback_added(const void *, const void *);
void ros_trace_rclcpp_timer_link_node(const void *, const void *);
void ros_trace_rclcpp_callback_register(const void *, const char *);
void ros_trace_callback_start(const void *, bool);
void ros_trace_callback_end(const void *);
void ros_trace_rclcpp_executor_get_next_ready(void);
void ros_trace_rclcpp_executor_wait_for_work(int64_t);
void ros_trace_rclcpp_executor_execute(const void *);
void ros_trace_rclcpp_ipb_to_subscription(const void *, const void *);
void ros_trace_rclcpp_buffer_to_ipb(const void *, const void *);
void ros_trace_rclcpp_construct_ring_buffer(const void *, uint64_t);
void ros_trace_rclcpp_ring_buffer_enqueue(const void *, uint64_t, uint64_t, bool);
void ros_trace_rclcpp_ring_buffer_dequeue(const void *, uint64_t, uint64_t);

// Of the library that stands for rclcpp: the tracer hears of groups when these are called.
void planted_executor(void *executor);
void planted_group(void *executor, void *group);
void planted_timer_in_group(void *group, void *handle);
void planted_subscription_in_group(void *group, void *handle);
void planted_service_in_group(void *group, void *handle);

enum { MOST_ENTITIES = 8, MOST_QUEUED = 64, HISTORY = 64 };
enum type { TIMER, SUBSCRIPTION, INTRA, SERVICE };

struct node {
  struct executor *executor;
  char handle[16];
  const char *name;
};

struct group {
  atomic_bool is_busy;
};

struct request {
  int64_t sequence;
  uint8_t gid[16];
  ns sent;
};

struct entity {
  enum type type;
  struct node *node;
  struct group *group;
  work *work;
  int socket;
  char handle[16], rmw[16], object[16], callback[16], message[64];
  // Of a timer.
  ns period, due, expected;
  // Of a queue, or a ring buffer: the oldest falls out when it is full.
  struct message queue[MOST_QUEUED];
  struct request requests[MOST_QUEUED];
  int first, queued, depth;
  pthread_mutex_t lock;
};

struct executor {
  struct entity *entities[MOST_ENTITIES];
  int count, threads;
  pthread_mutex_t waiting;
  int wake;
  atomic_llong oversleep;
  // As large as the real one, whose address it stands for.
  char handle[1024];
};

// What a thread did last.
struct activity {
  bool is_callback;
  const struct entity *entity;
  struct mark begin, end;
};
static _Thread_local struct activity history[HISTORY];
static _Thread_local unsigned remembered;

static void remember(struct activity activity) { history[remembered++ % HISTORY] = activity; }

void say_history(ns from, const char *callback_word, const char *idle_word, pid_t culprit, ns culprit_cpu) {
  for (unsigned age = HISTORY; age > 0; age--) {
    if (age > remembered) continue;
    struct activity *it = &history[(remembered - age) % HISTORY];
    const char *word = it->is_callback ? callback_word : idle_word;
    if (!word || it->end.wall <= from) continue;
    struct mark begin = it->begin;
    if (begin.wall < from) begin.wall = from;
    span(word, it->entity ? it->entity->node->name : NULL, begin, it->end, culprit, culprit_cpu);
  }
}

// Different for all endpoints of all processes.
static void gid_of(const void *address, uint8_t gid[24]) {
  pid_t pid = getpid();
  memset(gid, 0, 24);
  memcpy(gid, &pid, sizeof pid);
  memcpy(gid + 8, &address, sizeof address);
}

static void *made(size_t size) {
  void *memory = calloc(1, size);
  if (!memory) abort();
  return memory;
}

struct executor *new_executor(int threads) {
  struct executor *executor = made(sizeof *executor);
  executor->threads = threads;
  executor->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  pthread_mutex_init(&executor->waiting, NULL);
  ros_trace_rcl_init(executor);
  return executor;
}

struct node *new_node(struct executor *executor, const char *name) {
  struct node *node = made(sizeof *node);
  node->executor = executor;
  node->name = name;
  ros_trace_rcl_node_init(node->handle, executor, name + 1, "/");
  return node;
}

const char *node_name(const struct entity *entity) { return entity->node->name; }

struct group *new_group(struct executor *executor) {
  struct group *group = made(sizeof *group);
  planted_executor(executor->handle);
  planted_group(executor->handle, group);
  return group;
}

static struct entity *new_entity(enum type type, struct node *node, work *work, struct group *group) {
  struct entity *entity = made(sizeof *entity);
  entity->type = type;
  entity->node = node;
  entity->work = work;
  entity->group = group;
  entity->socket = -1;
  pthread_mutex_init(&entity->lock, NULL);
  if (node->executor->count == MOST_ENTITIES) abort();
  node->executor->entities[node->executor->count++] = entity;
  return entity;
}

static void name_callback(struct entity *entity) {
  char symbol[128];
  snprintf(symbol, sizeof symbol, "%s::work()", entity->node->name + 1);
  ros_trace_rclcpp_callback_register(entity->callback, symbol);
}

struct entity *new_timer(struct node *node, ns period, work *work, struct group *group) {
  struct entity *timer = new_entity(TIMER, node, work, group);
  timer->period = period;
  ros_trace_rcl_timer_init(timer->handle, period);
  timer->due = now() + period;
  ros_trace_rclcpp_timer_callback_added(timer->handle, timer->callback);
  name_callback(timer);
  ros_trace_rclcpp_timer_link_node(timer->handle, node->handle);
  if (group) planted_timer_in_group(group, timer->handle);
  return timer;
}

static void subscribe(struct entity *it, const char *topic) {
  uint8_t gid[24];
  gid_of(it->rmw, gid);
  ros_trace_rmw_subscription_init(it->rmw, gid);
  ros_trace_rcl_subscription_init(it->handle, it->node->handle, it->rmw, topic, (size_t)it->depth);
  ros_trace_rclcpp_subscription_init(it->handle, it->object);
  ros_trace_rclcpp_subscription_callback_added(it->object, it->callback);
  name_callback(it);
}

struct entity *new_subscription(struct node *node, const char *topic, int depth, int socket, work *work, struct group *group) {
  struct entity *it = new_entity(SUBSCRIPTION, node, work, group);
  it->depth = depth;
  it->socket = socket;
  subscribe(it, topic);
  if (group) planted_subscription_in_group(group, it->handle);
  return it;
}

struct entity *new_intra_subscription(struct node *node, const char *topic, int capacity, work *work) {
  struct entity *it = new_entity(INTRA, node, work, NULL);
  char *buffer = it->message, *ipb = it->message + 8, *second = it->message + 16;
  it->depth = capacity;
  // In the order of rclcpp: the second object is complete before it is tied to its subscription, and the callback that runs is its own.
  ros_trace_rclcpp_subscription_callback_added(second, it->callback);
  name_callback(it);
  ros_trace_rclcpp_construct_ring_buffer(buffer, (uint64_t)capacity);
  ros_trace_rclcpp_buffer_to_ipb(buffer, ipb);
  ros_trace_rclcpp_ipb_to_subscription(ipb, second);
  uint8_t gid[24];
  gid_of(it->rmw, gid);
  ros_trace_rmw_subscription_init(it->rmw, gid);
  ros_trace_rcl_subscription_init(it->handle, node->handle, it->rmw, topic, (size_t)capacity);
  ros_trace_rclcpp_subscription_init(it->handle, second);
  ros_trace_rclcpp_subscription_init(it->handle, it->object);
  ros_trace_rclcpp_subscription_callback_added(it->object, it->message + 24);
  return it;
}

struct entity *new_service(struct node *node, const char *name, int socket, work *work, struct group *group) {
  struct entity *it = new_entity(SERVICE, node, work, group);
  it->socket = socket;
  it->depth = MOST_QUEUED;
  ros_trace_rcl_service_init(it->handle, node->handle, it->rmw, name);
  ros_trace_rclcpp_service_callback_added(it->handle, it->callback);
  name_callback(it);
  if (group) planted_service_in_group(group, it->handle);
  return it;
}

void oversleep(struct executor *executor, ns time) { executor->oversleep = time; }

// What came off the sockets; the oldest falls out of a full queue, as with keep last.
static void receive(struct executor *executor) {
  for (int at = 0; at < executor->count; at++) {
    struct entity *it = executor->entities[at];
    if (it->socket < 0) continue;
    struct message message;
    struct request request;
    void *target = it->type == SERVICE ? (void *)&request : (void *)&message;
    size_t size = it->type == SERVICE ? sizeof request : sizeof message;
    while (recv(it->socket, target, size, MSG_DONTWAIT) == (ssize_t)size) {
      if (it->queued == it->depth) it->first = (it->first + 1) % it->depth, it->queued--;
      int place = (it->first + it->queued++) % it->depth;
      if (it->type == SERVICE) {
        it->requests[place] = request;
      } else {
        it->queue[place] = message;
      }
    }
  }
}

static bool is_free(const struct entity *it) { return !it->group || !it->group->is_busy; }

static struct entity *pick(struct executor *executor) {
  receive(executor);
  ros_trace_rclcpp_executor_get_next_ready();
  ns time = now();
  for (int at = 0; at < executor->count; at++) {
    struct entity *it = executor->entities[at];
    if (it->type != TIMER || it->due > time || !is_free(it)) continue;
    it->expected = it->due;
    // As rcl does: firings that were missed are skipped, the phase stays.
    while (it->due <= time) it->due += it->period;
    return it;
  }
  for (int at = 0; at < executor->count; at++) {
    struct entity *it = executor->entities[at];
    if (it->type == TIMER || !is_free(it)) continue;
    pthread_mutex_lock(&it->lock);
    bool has_work = it->queued > 0;
    pthread_mutex_unlock(&it->lock);
    if (has_work) return it;
  }
  return NULL;
}

static void wait_for_work(struct executor *executor) {
  struct pollfd files[MOST_ENTITIES + 1];
  nfds_t count = 0;
  ns until = now() + 150 * MILLISECOND;
  for (int at = 0; at < executor->count; at++) {
    struct entity *it = executor->entities[at];
    if (!is_free(it)) continue;
    if (it->type == TIMER && it->due < until) until = it->due;
    if (it->socket >= 0) files[count++] = (struct pollfd){.fd = it->socket, .events = POLLIN};
  }
  files[count++] = (struct pollfd){.fd = executor->wake, .events = POLLIN};
  struct activity idle = {.begin = mark()};
  ns timeout = until > idle.begin.wall ? until - idle.begin.wall : 0;
  ros_trace_rclcpp_executor_wait_for_work(timeout);
  timeout += atomic_exchange(&executor->oversleep, 0);
  struct timespec time = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
  ppoll(files, count, &time, NULL);
  uint64_t woken;
  if (read(executor->wake, &woken, sizeof woken) < 0) woken = 0;
  idle.end = mark();
  remember(idle);
}

static void wake(struct executor *executor) {
  uint64_t one = 1;
  if (write(executor->wake, &one, sizeof one) < 0) abort();
}

static void respond(struct entity *it, const struct request *request);

static void execute(struct entity *it) {
  struct run run = {.entity = it, .expected = it->expected};
  struct activity busy = {.is_callback = true, .entity = it};
  struct request request;
  ros_trace_rclcpp_executor_execute(it->handle);
  if (it->type != TIMER) {
    pthread_mutex_lock(&it->lock);
    run.message = it->queue[it->first];
    request = it->requests[it->first];
    if (it->type == INTRA) ros_trace_rclcpp_ring_buffer_dequeue(it->message, (uint64_t)it->first, (uint64_t)it->queued - 1);
    it->first = (it->first + 1) % it->depth;
    it->queued--;
    pthread_mutex_unlock(&it->lock);
  }
  if (it->type == SUBSCRIPTION) {
    ros_trace_rmw_take(it->rmw, it->message, run.message.stamp, true);
    ros_trace_rcl_take(it->message);
    ros_trace_rclcpp_take(it->message);
  } else if (it->type == SERVICE) {
    ros_trace_rmw_take_request(it->rmw, it->message, request.gid, request.sequence, true);
    run.message.sent = request.sent;
  }
  ns before = now();
  ros_trace_callback_start(it->callback, it->type == INTRA);
  busy.begin = run.begin = mark();
  run.begin.slack = busy.begin.slack = run.begin.wall - before;
  it->work(&run);
  busy.end = mark();
  ros_trace_callback_end(it->callback);
  busy.end.slack = now() - busy.end.wall + busy.end.slack;
  remember(busy);
  if (it->type == SERVICE) respond(it, &request);
}

static void *turn(void *argument) {
  struct executor *executor = argument;
  seed_with(chance(0) ^ (uint64_t)own_tid());
  while (!shared->over) {
    pthread_mutex_lock(&executor->waiting);
    struct entity *ready;
    while (!(ready = pick(executor)) && !shared->over) wait_for_work(executor);
    if (ready && ready->group) ready->group->is_busy = true;
    pthread_mutex_unlock(&executor->waiting);
    if (!ready) break;
    execute(ready);
    if (ready->group) {
      ready->group->is_busy = false;
      wake(executor);
    }
  }
  return NULL;
}

void spin(struct executor *executor) {
  pthread_barrier_wait(&shared->ready);
  ns begin = now();
  long long none = 0;
  atomic_compare_exchange_strong(&shared->begin, &none, begin);
  for (int at = 0; at < executor->count; at++) {
    struct entity *it = executor->entities[at];
    while (it->type == TIMER && it->due < begin) it->due += it->period;
  }
  pthread_t others[4];
  for (int thread = 1; thread < executor->threads; thread++) pthread_create(&others[thread], NULL, turn, executor);
  turn(executor);
  wake(executor);
  for (int thread = 1; thread < executor->threads; thread++) pthread_join(others[thread], NULL);
}

struct publisher *new_publisher(struct node *node, const char *topic, int socket) {
  struct publisher *publisher = made(sizeof *publisher);
  uint8_t gid[24];
  publisher->handle = made(16);
  publisher->rmw = made(16);
  publisher->socket = socket;
  gid_of(publisher->rmw, gid);
  ros_trace_rmw_publisher_init(publisher->rmw, gid);
  ros_trace_rcl_publisher_init(publisher->handle, node->handle, publisher->rmw, topic, 10);
  return publisher;
}

static void put_into_ring(struct entity *it, const struct message *message) {
  pthread_mutex_lock(&it->lock);
  bool is_full = it->queued == it->depth;
  if (is_full) it->first = (it->first + 1) % it->depth, it->queued--;
  int place = (it->first + it->queued++) % it->depth;
  it->queue[place] = *message;
  ros_trace_rclcpp_ring_buffer_enqueue(it->message, (uint64_t)place, (uint64_t)it->queued, is_full);
  pthread_mutex_unlock(&it->lock);
  wake(it->node->executor);
}

void publish(struct publisher *publisher, struct message *message, bool reaches) {
  message->publish = now();
  if (publisher->intra) {
    ros_trace_rclcpp_intra_publish(publisher->handle, publisher->buffer);
    put_into_ring(publisher->intra, message);
    return;
  }
  ros_trace_rclcpp_publish(publisher->handle, publisher->buffer);
  if (publisher->before) publisher->before();
  ros_trace_rcl_publish(publisher->handle, publisher->buffer);
  message->stamp = realtime();
  ros_trace_rmw_publish(publisher->rmw, publisher->buffer, message->stamp);
  message->sent = now();
  if (reaches && send(publisher->socket, message, sizeof *message, MSG_DONTWAIT) < 0) say("trouble a message could not be sent: %s", strerror(errno));
}

struct client *new_client(struct node *node, const char *service, int socket) {
  struct client *client = made(sizeof *client);
  uint8_t gid[24];
  client->handle = made(16);
  client->rmw = made(16);
  client->socket = socket;
  gid_of(client->rmw, gid);
  ros_trace_rmw_client_init(client->rmw, gid);
  ros_trace_rcl_client_init(client->handle, node->handle, client->rmw, service);
  return client;
}

void call(struct client *client) {
  struct request request = {.sequence = ++client->sequence};
  uint8_t gid[24];
  gid_of(client->rmw, gid);
  memcpy(request.gid, gid, sizeof request.gid);
  ros_trace_rmw_send_request(client->rmw, client->buffer, request.sequence);
  request.sent = now();
  if (send(client->socket, &request, sizeof request, 0) < 0) abort();
  int64_t stamp;
  struct pollfd file = {.fd = client->socket, .events = POLLIN};
  // The server may have ended before.
  while (poll(&file, 1, 500) == 0)
    if (shared->over) return;
  if (recv(client->socket, &stamp, sizeof stamp, MSG_DONTWAIT) != sizeof stamp) abort();
  ros_trace_rmw_take_response(client->rmw, client->buffer, request.sequence, stamp, true);
}

static void respond(struct entity *it, const struct request *request) {
  int64_t stamp = realtime();
  ros_trace_rmw_send_response(it->rmw, it->message, request->gid, request->sequence, stamp);
  if (send(it->socket, &stamp, sizeof stamp, 0) < 0) abort();
}

void channel(int ends[2]) {
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) {
    perror("socketpair");
    exit(2);
  }
}
