// Stands for librclcpp: callback groups have no tracepoints, so the tracer interposes these functions, here as there.
#include <stdbool.h>
#include <stddef.h>

struct shared_pointer {
  void *object, *control;
};
// Returned in memory, as an object of C++ with a destructor is.
struct returned {
  void *words[3];
};

// The object of a member is its rcl handle itself.
struct returned _ZN6rclcpp9TimerBase16get_timer_handleEv(void *object) { return (struct returned){{object, NULL, NULL}}; }
struct returned _ZN6rclcpp16SubscriptionBase23get_subscription_handleEv(void *object) { return (struct returned){{object, NULL, NULL}}; }
struct returned _ZN6rclcpp11ServiceBase18get_service_handleEv(void *object) { return (struct returned){{object, NULL, NULL}}; }

const int *_ZNK6rclcpp13CallbackGroup4typeEv(const void *group) {
  static const int mutually_exclusive = 0;
  (void)group;
  return &mutually_exclusive;
}

void _ZN6rclcpp13CallbackGroup9add_timerESt10shared_ptrINS_9TimerBaseEE(void *group, struct shared_pointer *member) { (void)group, (void)member; }
void _ZN6rclcpp13CallbackGroup16add_subscriptionESt10shared_ptrINS_16SubscriptionBaseEE(void *group, struct shared_pointer *member) { (void)group, (void)member; }
void _ZN6rclcpp13CallbackGroup11add_serviceESt10shared_ptrINS_11ServiceBaseEE(void *group, struct shared_pointer *member) { (void)group, (void)member; }

#define ADD_TO_MAP                                                                                                                                      \
  _ZN6rclcpp8Executor25add_callback_group_to_mapESt10shared_ptrINS_13CallbackGroupEES1_INS_15node_interfaces17NodeBaseInterfaceEERSt3mapISt8weak_ptrIS2_ES8_IS5_ESt10owner_lessIS9_ESaISt4pairIKS9_SA_EEEb
void ADD_TO_MAP(void *executor, struct shared_pointer *group, struct shared_pointer *node, void *map, bool notify) {
  (void)executor, (void)group, (void)node, (void)map, (void)notify;
}

#define MULTI_THREADED _ZN6rclcpp9executors21MultiThreadedExecutorC1ERKNS_15ExecutorOptionsEmbNSt6chrono8durationIlSt5ratioILl1ELl1000000000EEEE
void MULTI_THREADED(void *executor, const void *options, size_t threads, bool yields, long timeout) {
  (void)executor, (void)options, (void)threads, (void)yields, (void)timeout;
}

void planted_executor(void *executor) { MULTI_THREADED(executor, NULL, 2, false, -1); }

void planted_group(void *executor, void *group) {
  struct shared_pointer pointer = {group, NULL}, node = {NULL, NULL};
  ADD_TO_MAP(executor, &pointer, &node, NULL, true);
}

void planted_timer_in_group(void *group, void *handle) {
  struct shared_pointer pointer = {handle, NULL};
  _ZN6rclcpp13CallbackGroup9add_timerESt10shared_ptrINS_9TimerBaseEE(group, &pointer);
}

void planted_service_in_group(void *group, void *handle) {
  struct shared_pointer pointer = {handle, NULL};
  _ZN6rclcpp13CallbackGroup11add_serviceESt10shared_ptrINS_11ServiceBaseEE(group, &pointer);
}

void planted_subscription_in_group(void *group, void *handle) {
  struct shared_pointer pointer = {handle, NULL};
  _ZN6rclcpp13CallbackGroup16add_subscriptionESt10shared_ptrINS_16SubscriptionBaseEE(group, &pointer);
}
