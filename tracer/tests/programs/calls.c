// Calls what rcl_rmw.c defines, as rclcpp and rcl do.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct id { int8_t writer[16]; int64_t number; };
struct info { int64_t source, received; struct id id; };
int rcl_node_fini(void *);
int rcl_timer_fini(void *);
int rcl_publisher_fini(void *, void *);
int rcl_subscription_fini(void *, void *);
int rcl_service_fini(void *, void *);
int rcl_client_fini(void *, void *);
int rmw_send_request(const void *, const void *, int64_t *);
int rmw_take_request(const void *, struct info *, void *, bool *);
int rmw_send_response(const void *, struct id *, void *);
int rmw_take_response(const void *, struct info *, void *, bool *);
struct bytes { uint8_t *buffer; size_t length, capacity; };
int rmw_publish_serialized_message(const void *, const void *, void *);
int rmw_take_serialized_message(const void *, struct bytes *, bool *, void *);
struct message_info { int64_t source, received; uint64_t publication, reception; };
int rmw_take_serialized_message_with_info(const void *, struct bytes *, bool *, struct message_info *, void *);
int rmw_take_with_info(const void *, void *, bool *, struct message_info *, void *);
int rmw_take_loaned_message_with_info(const void *, void **, bool *, struct message_info *, void *);
const char *rmw_get_implementation_identifier(void);
void ros_trace_rcl_publisher_init(const void *, const void *, const void *, const char *, const size_t);

#define P(n) ((void *)(uintptr_t)(n))

int main(void) {
  struct info info;
  struct message_info about = {0};
  bool taken = false;
  int64_t number = 0;
  int bad = 0;
  ros_trace_rcl_publisher_init(P(1), P(9), P(10), "/topic", 1);
  bad += strcmp(rmw_get_implementation_identifier(), "rmw_of_the_test") != 0;
  bad += rmw_send_request(P(20), P(21), &number) || number != 41;
  bad += rmw_take_request(P(22), &info, P(23), &taken) || !taken;
  bad += rmw_send_response(P(22), &info.id, P(24));
  bad += rmw_take_response(P(20), &info, P(25), &taken);
  uint8_t some[16];
  struct bytes local = {some, 12, 16}, broken = {some, 17, 16};
  bad += rmw_publish_serialized_message(P(10), &local, 0);
  bad += rmw_take_serialized_message(P(11), &local, &taken, 0) || local.length != 33;
  bad += rmw_take_serialized_message_with_info(P(11), &local, &taken, &about, 0) || local.length != 44;
  bad += rmw_take_serialized_message_with_info(P(11), &local, &taken, 0, 0) || taken;
  bad += rmw_publish_serialized_message(P(10), &broken, 0);
  // With a number, without one, without anything, and none at all.
  void *message = P(1);
  for (int kind = 0; kind < 4; kind++) {
    about = (struct message_info){0};
    bad += rmw_take_with_info(P(11), P(kind), &taken, &about, 0) || taken != (kind != 3);
  }
  bad += rmw_take_loaned_message_with_info(P(12), &message, &taken, &about, 0) || message != P(26);
  bad += rcl_publisher_fini(P(1), P(9)) + rcl_subscription_fini(P(2), P(9)) + rcl_service_fini(P(3), P(9));
  bad += rcl_client_fini(P(4), P(9)) + rcl_timer_fini(P(5)) + rcl_node_fini(P(9));
  bad += rcl_timer_fini(0) != 11;
  return bad;
}
