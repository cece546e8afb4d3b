// Callbacks of all kinds, registered as rclcpp does with our headers.
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "tracetools/tracetools.h"
#include "tracetools/utils.hpp"

namespace robot {
struct Message {};
void on_message(std::shared_ptr<const Message>) {}
struct Node {
  void tick() {}
};
}  // namespace robot
extern "C" void plain_c(int) {}

static void add(const void *callback, char *symbol) {
  if (TRACETOOLS_TRACEPOINT_ENABLED(rclcpp_callback_register)) {
    TRACETOOLS_DO_TRACEPOINT(rclcpp_callback_register, callback, symbol);
  }
  std::free(symbol);
}

int main() {
  robot::Node node;
  auto lambda = [](int) {};
  std::function<void(std::shared_ptr<const robot::Message>)> function = robot::on_message;
  std::function<void(int)> with_c = plain_c;
  add(&function, tracetools::get_symbol(function));
  add(&lambda, tracetools::get_symbol(lambda));
  auto bound = std::bind(&robot::Node::tick, &node);
  add(&bound, tracetools::get_symbol(bound));
  add(&with_c, tracetools::get_symbol(with_c));
  // Names of templates are this long.
  std::string long_symbol(10000, 's');
  TRACETOOLS_TRACEPOINT(rclcpp_callback_register, &long_symbol, long_symbol.c_str());
  TRACETOOLS_TRACEPOINT(rclcpp_executor_get_next_ready);
  TRACEPOINT(callback_start, &lambda, false);
  return 0;
}
