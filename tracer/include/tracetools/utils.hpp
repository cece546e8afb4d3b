// Names of callbacks: what `rclcpp_callback_register` records as symbol.
#ifndef TRACETOOLS__UTILS_HPP_
#define TRACETOOLS__UTILS_HPP_

#include <cstddef>
#include <functional>
#include <typeinfo>

#include "tracetools/visibility_control.hpp"

namespace tracetools {
namespace detail {

// Both return memory that the caller frees, or null if there is no name.
TRACETOOLS_PUBLIC char *demangle_symbol(const char *mangled);
TRACETOOLS_PUBLIC char *get_symbol_funcptr(const void *function);

}  // namespace detail

// A function has the name of the function, any other target that of its type.
template <typename Result, typename... Arguments>
char *get_symbol(std::function<Result(Arguments...)> callback) {
  using Plain = Result (*)(Arguments...);
  const Plain *plain = callback.template target<Plain>();
  if (plain != nullptr) {
    return detail::get_symbol_funcptr(reinterpret_cast<const void *>(*plain));
  }
  return detail::demangle_symbol(callback.target_type().name());
}

// Lambdas, bind expressions and other objects have the name of their type.
template <typename Callback>
char *get_symbol(Callback &&callback) {
  (void)callback;
  return detail::demangle_symbol(typeid(callback).name());
}

}  // namespace tracetools

#endif
