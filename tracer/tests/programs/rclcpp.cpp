// Stands for librclcpp: classes with the names and signatures that the tracer interposes. With -DMAIN: a program that uses them.
// With -DLYRICAL: as Lyrical has them.
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <cstdio>

struct rcl_timer_t { int x; };
struct rcl_subscription_t { int x; };
struct rcl_service_t { int x; };
struct rcl_client_t { int x; };

#ifdef LYRICAL
template<typename T> using Shared = const std::shared_ptr<T> &;
#else
template<typename T> using Shared = std::shared_ptr<T>;
#endif

namespace rclcpp {
struct ExecutorOptions { int x = 0; };
namespace node_interfaces { struct NodeBaseInterface { int x = 0; }; }

struct TimerBase { std::shared_ptr<rcl_timer_t> handle = std::make_shared<rcl_timer_t>(); std::shared_ptr<const rcl_timer_t> get_timer_handle(); };
struct SubscriptionBase { std::shared_ptr<rcl_subscription_t> handle = std::make_shared<rcl_subscription_t>(); std::shared_ptr<rcl_subscription_t> get_subscription_handle(); };
struct ServiceBase { std::shared_ptr<rcl_service_t> handle = std::make_shared<rcl_service_t>(); std::shared_ptr<rcl_service_t> get_service_handle(); };
struct ClientBase { std::shared_ptr<rcl_client_t> handle = std::make_shared<rcl_client_t>(); std::shared_ptr<rcl_client_t> get_client_handle(); };

enum class CallbackGroupType { MutuallyExclusive, Reentrant };
struct CallbackGroup {
  CallbackGroupType type_;
  int members = 0;
  explicit CallbackGroup(CallbackGroupType type) : type_(type) {}
  const CallbackGroupType &type() const;
  void add_timer(Shared<TimerBase>);
  void add_subscription(Shared<SubscriptionBase>);
  void add_service(Shared<ServiceBase>);
  void add_client(Shared<ClientBase>);
};
using WeakMap = std::map<std::weak_ptr<CallbackGroup>, std::weak_ptr<node_interfaces::NodeBaseInterface>, std::owner_less<std::weak_ptr<CallbackGroup>>>;
using WeakSet = std::set<std::weak_ptr<CallbackGroup>, std::owner_less<std::weak_ptr<CallbackGroup>>>;

namespace executors {
struct ExecutorNotifyWaitable { int x = 0; };
struct ExecutorEntitiesCollector {
  int x;
  explicit ExecutorEntitiesCollector(Shared<ExecutorNotifyWaitable>);
  void add_callback_group_to_collection(Shared<CallbackGroup>, WeakSet &);
};
struct StaticExecutorEntitiesCollector {
  int x = 0;
  bool add_callback_group(std::shared_ptr<CallbackGroup>, std::shared_ptr<node_interfaces::NodeBaseInterface>, WeakMap &);
};
}
struct Executor {
  int before = 0;
  executors::ExecutorEntitiesCollector collector;
  explicit Executor(const ExecutorOptions &);
  void add_callback_group_to_map(std::shared_ptr<CallbackGroup>, std::shared_ptr<node_interfaces::NodeBaseInterface>, WeakMap &, bool);
};
namespace executors {
struct SingleThreadedExecutor : Executor { explicit SingleThreadedExecutor(const ExecutorOptions &); };
struct MultiThreadedExecutor : Executor {
  size_t threads;
  MultiThreadedExecutor(const ExecutorOptions &, size_t, bool, std::chrono::nanoseconds);
};
namespace cbg_executor {
struct CBGScheduler {
  struct CallbackGroupHandle { virtual ~CallbackGroupHandle() = default; int x = 5; };
  virtual ~CBGScheduler() = default;
  virtual std::unique_ptr<CallbackGroupHandle> get_handle_for_callback_group(const std::shared_ptr<CallbackGroup> &) = 0;
};
struct FirstInFirstOutScheduler : CBGScheduler { std::unique_ptr<CallbackGroupHandle> get_handle_for_callback_group(const std::shared_ptr<CallbackGroup> &) override; };
}
struct EventsCBGExecutor : Executor {
  size_t threads;
  std::unique_ptr<cbg_executor::CBGScheduler> scheduler;
  std::shared_ptr<CallbackGroup> added;
  std::unique_ptr<cbg_executor::CBGScheduler::CallbackGroupHandle> handle;
  EventsCBGExecutor(const ExecutorOptions &, size_t, std::chrono::nanoseconds);
  void sync_callback_groups();
};
struct StaticSingleThreadedExecutor : Executor {
  std::shared_ptr<StaticExecutorEntitiesCollector> entities = std::make_shared<StaticExecutorEntitiesCollector>();
  WeakMap map;
  explicit StaticSingleThreadedExecutor(const ExecutorOptions &);
  void add_node(std::shared_ptr<node_interfaces::NodeBaseInterface>, bool);
  void add_callback_group(std::shared_ptr<CallbackGroup>, std::shared_ptr<node_interfaces::NodeBaseInterface>, bool);
};
}
namespace experimental { namespace executors {
struct EventsQueue { int x = 0; };
struct EventsExecutor : Executor {
  std::shared_ptr<rclcpp::executors::ExecutorEntitiesCollector> own;
#ifdef LYRICAL
  EventsExecutor(const ExecutorOptions &, std::unique_ptr<EventsQueue>, bool);
#else
  EventsExecutor(std::unique_ptr<EventsQueue>, bool, const ExecutorOptions &);
#endif
};
} }
}

#ifndef MAIN
namespace rclcpp {
std::shared_ptr<const rcl_timer_t> TimerBase::get_timer_handle() { return handle; }
std::shared_ptr<rcl_subscription_t> SubscriptionBase::get_subscription_handle() { return handle; }
std::shared_ptr<rcl_service_t> ServiceBase::get_service_handle() { return handle; }
std::shared_ptr<rcl_client_t> ClientBase::get_client_handle() { return handle; }
const CallbackGroupType &CallbackGroup::type() const { return type_; }
void CallbackGroup::add_timer(Shared<TimerBase> one) { members += one != nullptr; }
void CallbackGroup::add_subscription(Shared<SubscriptionBase> one) { members += one != nullptr; }
void CallbackGroup::add_service(Shared<ServiceBase> one) { members += one != nullptr; }
void CallbackGroup::add_client(Shared<ClientBase> one) { members += one != nullptr; }
Executor::Executor(const ExecutorOptions &options) : collector(std::make_shared<executors::ExecutorNotifyWaitable>()) { before = options.x; }
void Executor::add_callback_group_to_map(std::shared_ptr<CallbackGroup> group, std::shared_ptr<node_interfaces::NodeBaseInterface> node, WeakMap &map, bool) {
  if (!map.emplace(group, node).second) throw std::runtime_error("the group was added before");
}
namespace experimental { namespace executors {
#ifdef LYRICAL
EventsExecutor::EventsExecutor(const ExecutorOptions &options, std::unique_ptr<EventsQueue> queue, bool) : Executor(options) {
#else
EventsExecutor::EventsExecutor(std::unique_ptr<EventsQueue> queue, bool, const ExecutorOptions &options) : Executor(options) {
#endif
  if (!queue) throw std::invalid_argument("no queue");
  own = std::make_shared<rclcpp::executors::ExecutorEntitiesCollector>(std::make_shared<rclcpp::executors::ExecutorNotifyWaitable>());
}
} }
namespace executors {
StaticSingleThreadedExecutor::StaticSingleThreadedExecutor(const ExecutorOptions &options) : Executor(options) {}
void StaticSingleThreadedExecutor::add_node(std::shared_ptr<node_interfaces::NodeBaseInterface> node, bool) { static auto group = std::make_shared<CallbackGroup>(CallbackGroupType::Reentrant); entities->add_callback_group(group, node, map); }
void StaticSingleThreadedExecutor::add_callback_group(std::shared_ptr<CallbackGroup> group, std::shared_ptr<node_interfaces::NodeBaseInterface> node, bool) { entities->add_callback_group(group, node, map); }
ExecutorEntitiesCollector::ExecutorEntitiesCollector(Shared<ExecutorNotifyWaitable> waitable) : x(waitable->x) {}
void ExecutorEntitiesCollector::add_callback_group_to_collection(Shared<CallbackGroup> group, WeakSet &set) { set.insert(group); }
bool StaticExecutorEntitiesCollector::add_callback_group(std::shared_ptr<CallbackGroup> group, std::shared_ptr<node_interfaces::NodeBaseInterface> node, WeakMap &map) { map[group] = node; return true; }
SingleThreadedExecutor::SingleThreadedExecutor(const ExecutorOptions &options) : Executor(options) {}
MultiThreadedExecutor::MultiThreadedExecutor(const ExecutorOptions &options, size_t n, bool, std::chrono::nanoseconds) : Executor(options), threads(n) {}
EventsCBGExecutor::EventsCBGExecutor(const ExecutorOptions &options, size_t n, std::chrono::nanoseconds) : Executor(options), threads(n), scheduler(std::make_unique<cbg_executor::FirstInFirstOutScheduler>()) {}
void EventsCBGExecutor::sync_callback_groups() { if (added) handle = scheduler->get_handle_for_callback_group(added); added.reset(); }
std::unique_ptr<cbg_executor::CBGScheduler::CallbackGroupHandle> cbg_executor::FirstInFirstOutScheduler::get_handle_for_callback_group(const std::shared_ptr<CallbackGroup> &group) { return group ? std::make_unique<CallbackGroupHandle>() : nullptr; }
}
}
#else
static auto events_executor(void *place, std::unique_ptr<rclcpp::experimental::executors::EventsQueue> queue, const rclcpp::ExecutorOptions &options) {
  using rclcpp::experimental::executors::EventsExecutor;
#ifdef LYRICAL
  return new (place) EventsExecutor(options, std::move(queue), false);
#else
  return new (place) EventsExecutor(std::move(queue), false, options);
#endif
}

int main() {
  using namespace rclcpp;
  ExecutorOptions options;
  executors::SingleThreadedExecutor single(options);
  executors::MultiThreadedExecutor multi(options, 3, true, std::chrono::nanoseconds(5));
  if (multi.threads != 3) return 2;
  auto exclusive = std::make_shared<CallbackGroup>(CallbackGroupType::MutuallyExclusive);
  auto reentrant = std::make_shared<CallbackGroup>(CallbackGroupType::Reentrant);
  auto node = std::make_shared<node_interfaces::NodeBaseInterface>();
  WeakMap map;
  WeakSet set;
  single.add_callback_group_to_map(exclusive, node, map, true);
  multi.collector.add_callback_group_to_collection(reentrant, set);
  executors::StaticExecutorEntitiesCollector collector;
  if (!collector.add_callback_group(reentrant, node, map)) return 3;
  // Exceptions pass through.
  int caught = 0;
  try { single.add_callback_group_to_map(exclusive, node, map, true); } catch (const std::runtime_error &) { ++caught; }
  alignas(64) static char place[2][sizeof(experimental::executors::EventsExecutor)];
  try { events_executor(place[0], nullptr, options); } catch (const std::invalid_argument &) { ++caught; }
  if (caught != 2) return 7;
  auto &events = *events_executor(place[1], std::make_unique<experimental::executors::EventsQueue>(), options);
  executors::EventsCBGExecutor by_group(options, 4, std::chrono::nanoseconds(-1));
  by_group.added = reentrant;
  by_group.sync_callback_groups();
  by_group.sync_callback_groups();
  if (by_group.threads != 4 || !by_group.handle || by_group.handle->x != 5) return 8;
  by_group.scheduler->get_handle_for_callback_group(exclusive);  // no executor takes it up
  executors::StaticSingleThreadedExecutor fixed(options);
  fixed.add_callback_group(exclusive, node, true);
  if (map.size() != 2 || set.size() != 1) return 4;
  auto timer = std::make_shared<TimerBase>();
  auto subscription = std::make_shared<SubscriptionBase>();
  auto service = std::make_shared<ServiceBase>();
  auto client = std::make_shared<ClientBase>();
  exclusive->add_timer(timer);
  exclusive->add_subscription(subscription);
  reentrant->add_service(service);
  reentrant->add_client(client);
  if (exclusive->members != 2 || reentrant->members != 2) return 5;
  // Nobody holds a share that should not.
  if (timer->handle.use_count() != 1 || subscription->handle.use_count() != 1 || timer.use_count() != 1) return 6;
  std::printf("construct_executor: executor_addr = %#lX, executor_type_name = \"single_threaded_executor\"\n", (long)&single);
  std::printf("construct_executor: executor_addr = %#lX, executor_type_name = \"multi_threaded_executor\"\n", (long)&multi);
  std::printf("executor_entity_collector_to_executor: executor_addr = %#lX, entities_collector_addr = %#lX\n", (long)&single, (long)&single.collector);
  std::printf("executor_entity_collector_to_executor: executor_addr = %#lX, entities_collector_addr = %#lX\n", (long)&multi, (long)&multi.collector);
  std::printf("construct_executor: executor_addr = %#lX, executor_type_name = \"events_executor\"\n", (long)&events);
  std::printf("executor_entity_collector_to_executor: executor_addr = %#lX, entities_collector_addr = %#lX\n", (long)&events, (long)&events.collector);
  std::printf("executor_entity_collector_to_executor: executor_addr = %#lX, entities_collector_addr = %#lX\n", (long)&events, (long)events.own.get());
  std::printf("executor_entity_collector_to_executor: executor_addr = %#lX, entities_collector_addr = %#lX\n", (long)place[0], (long)place[0] + (long)&events.collector - (long)&events);
  std::printf("construct_executor: executor_addr = %#lX, executor_type_name = \"events_cbg_executor\"\n", (long)&by_group);
  std::printf("add_callback_group: executor_addr = %#lX, callback_group_addr = %#lX, group_type_name = \"reentrant\"\n", (long)&by_group, (long)reentrant.get());
  std::printf("executor_entity_collector_to_executor: executor_addr = %#lX, entities_collector_addr = %#lX\n", (long)&by_group, (long)&by_group.collector);
  std::printf("construct_executor: executor_addr = %#lX, executor_type_name = \"static_single_threaded_executor\"\n", (long)&fixed);
  std::printf("executor_entity_collector_to_executor: executor_addr = %#lX, entities_collector_addr = %#lX\n", (long)&fixed, (long)&fixed.collector);
  std::printf("construct_static_executor: executor_addr = %#lX, entities_collector_addr = %#lX, executor_type_name = \"static_single_threaded_executor\"\n", (long)&fixed, (long)fixed.entities.get());
  std::printf("add_callback_group_static_executor: entities_collector_addr = %#lX, callback_group_addr = %#lX, group_type_name = \"mutually_exclusive\"\n", (long)fixed.entities.get(), (long)exclusive.get());
  std::printf("add_callback_group: executor_addr = %#lX, callback_group_addr = %#lX, group_type_name = \"mutually_exclusive\"\n", (long)&single, (long)exclusive.get());
  std::printf("callback_group_to_executor_entity_collector: entities_collector_addr = %#lX, callback_group_addr = %#lX, group_type_name = \"reentrant\"\n", (long)&multi.collector, (long)reentrant.get());
  std::printf("add_callback_group_static_executor: entities_collector_addr = %#lX, callback_group_addr = %#lX, group_type_name = \"reentrant\"\n", (long)&collector, (long)reentrant.get());
  std::printf("callback_group_add_timer: callback_group_addr = %#lX, timer_handle = %#lX\n", (long)exclusive.get(), (long)timer->handle.get());
  std::printf("callback_group_add_subscription: callback_group_addr = %#lX, subscription_handle = %#lX\n", (long)exclusive.get(), (long)subscription->handle.get());
  std::printf("callback_group_add_service: callback_group_addr = %#lX, service_handle = %#lX\n", (long)reentrant.get(), (long)service->handle.get());
  std::printf("callback_group_add_client: callback_group_addr = %#lX, client_handle = %#lX\n", (long)reentrant.get(), (long)client->handle.get());
}
#endif
