// The functions of libtracetools that the programs of this folder call, and what several of them need.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
void ros_trace_rcl_init(const void *);
void ros_trace_rcl_node_init(const void *, const void *, const char *, const char *);
void ros_trace_rcl_timer_init(const void *, long);
void ros_trace_rclcpp_timer_callback_added(const void *, const void *);
void ros_trace_rclcpp_timer_link_node(const void *, const void *);
void ros_trace_rclcpp_callback_register(const void *, const char *);
void ros_trace_callback_start(const void *, bool);
void ros_trace_callback_end(const void *);
#ifdef __cplusplus
}
#endif

/// A timer of a node, and its callback, which is this function.
static inline void make_timer(const void *timer, long period, const void *callback, const char *function, const void *node) {
  ros_trace_rcl_timer_init(timer, period);
  ros_trace_rclcpp_timer_callback_added(timer, callback);
  ros_trace_rclcpp_callback_register(callback, function);
  ros_trace_rclcpp_timer_link_node(timer, node);
}

/// Nanoseconds.
static inline long now(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return at.tv_sec * 1000000000L + at.tv_nsec;
}
