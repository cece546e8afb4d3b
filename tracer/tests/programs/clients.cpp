// Stands for librclcpp and librclcpp_action where they execute clients. With -DMAIN: a program that does what executors do.
// With -DLYRICAL: as Lyrical has it.
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>

struct Info { int64_t source, received; int8_t writer[16]; int64_t number; };
extern "C" int rmw_take_response(const void *client, Info *info, void *response, bool *taken);

namespace rclcpp {
struct ClientBase {
  int64_t waiting = 0;  // number of the response; 0 for none
  std::function<void()> callback;
};
#ifdef LYRICAL
using Shared = const std::shared_ptr<ClientBase> &;
#else
using Shared = std::shared_ptr<ClientBase>;
#endif
struct Executor { static void execute_client(Shared); };
}
namespace rclcpp_action {
struct ClientBase {
  rclcpp::ClientBase goal;
  std::function<void()> callback;
  void take();
  virtual void execute(std::shared_ptr<void> &);        // up to Iron
  virtual void execute(const std::shared_ptr<void> &);  // from Jazzy on
};
}

#ifndef MAIN
extern "C" int rmw_take_response(const void *client, Info *info, void *, bool *taken) {
  info->number = static_cast<const rclcpp::ClientBase *>(client)->waiting;
  *taken = info->number != 0;
  return 0;
}
static bool take(const rclcpp::ClientBase &client) {
  Info info;
  int response;
  bool taken;
  return rmw_take_response(&client, &info, &response, &taken) == 0 && taken;
}
void rclcpp::Executor::execute_client(Shared client) { if (take(*client)) client->callback(); }
void rclcpp_action::ClientBase::take() { ::take(goal); }
void rclcpp_action::ClientBase::execute(std::shared_ptr<void> &) { callback(); }
void rclcpp_action::ClientBase::execute(const std::shared_ptr<void> &) { callback(); }
#else
int main() {
  int ran = 0;
  auto client = [&](int64_t number, std::function<void()> callback) {
    auto made = std::make_shared<rclcpp::ClientBase>();
    made->waiting = number;
    made->callback = callback;
    return made;
  };
  auto inner = client(2, [&] { ++ran; });
  auto outer = client(1, [&] { ++ran; rclcpp::Executor::execute_client(inner); });
  rclcpp::Executor::execute_client(outer);
  rclcpp::Executor::execute_client(client(0, [&] { ran += 100; }));
  // Exceptions pass through, and end the callback.
  try { rclcpp::Executor::execute_client(client(3, [&] { ++ran; throw std::runtime_error("no"); })); } catch (const std::runtime_error &) { ++ran; }
  rclcpp_action::ClientBase action;
  action.callback = [&] { ++ran; };
  auto data = std::shared_ptr<void>();
  auto *called = &action;
  __asm__("" : "+r"(called));  // through the table of virtual functions
  action.goal.waiting = 4;
  called->take();
  called->execute(data);
  called->execute(data);  // feedback: no response was taken
  action.goal.waiting = 5;
  called->take();
  called->execute(static_cast<const std::shared_ptr<void> &>(data));
  return ran == 7 && outer.use_count() == 1 ? 0 : 1;
}
#endif
