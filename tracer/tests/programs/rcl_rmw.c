// Stands for librcl and librmw_implementation: the functions that the tracer interposes, without function.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct id { int8_t writer[16]; int64_t number; };
struct info { int64_t source, received; struct id id; };

int rcl_node_fini(void *node) { return node ? 0 : 11; }
int rcl_timer_fini(void *timer) { return timer ? 0 : 11; }
int rcl_publisher_fini(void *handle, void *node) { return handle && node ? 0 : 11; }
int rcl_subscription_fini(void *handle, void *node) { return handle && node ? 0 : 11; }
int rcl_service_fini(void *handle, void *node) { return handle && node ? 0 : 11; }
int rcl_client_fini(void *handle, void *node) { return handle && node ? 0 : 11; }
int rmw_send_request(const void *client, const void *request, int64_t *number) {
  *number = 41;
  return client && request ? 0 : 11;
}
static void fill(struct info *info) {
  info->source = 1000;
  info->received = 2000;
  memset(info->id.writer, 7, 16);
  info->id.number = 41;
}
int rmw_take_request(const void *service, struct info *info, void *request, bool *taken) {
  fill(info);
  *taken = true;
  return service && request ? 0 : 11;
}
int rmw_send_response(const void *service, struct id *id, void *response) { return service && id && response ? 0 : 11; }
int rmw_take_response(const void *client, struct info *info, void *response, bool *taken) {
  fill(info);
  *taken = true;
  return client && response ? 0 : 11;
}
struct bytes { uint8_t *buffer; size_t length, capacity; };
static uint8_t filled[64];
int rmw_publish_serialized_message(const void *publisher, const void *message, void *allocation) {
  return publisher && message && !allocation ? 0 : 11;
}
int rmw_take_serialized_message(const void *subscription, struct bytes *message, bool *taken, void *allocation) {
  *message = (struct bytes){filled, 33, sizeof filled};
  *taken = true;
  return subscription && !allocation ? 0 : 11;
}
struct message_info { int64_t source, received; uint64_t publication, reception; };
int rmw_take_serialized_message_with_info(const void *subscription, struct bytes *message, bool *taken, struct message_info *info, void *allocation) {
  *taken = info != 0;
  if (info) *info = (struct message_info){1000, 2000, 4, UINT64_MAX};
  *message = (struct bytes){filled, 44, sizeof filled};
  return subscription && !allocation ? 0 : 11;
}
// As Fast DDS, as Cyclone DDS, as one that knows nothing of it, and without a message.
int rmw_take_with_info(const void *subscription, void *message, bool *taken, struct message_info *info, void *allocation) {
  static const struct message_info infos[] = {{1000, 2000, 5, UINT64_MAX}, {1000, 2000, UINT64_MAX, UINT64_MAX}, {1000, 0, 0, 0}, {1000, 2000, 5, 6}};
  *info = infos[(uintptr_t)message];
  *taken = (uintptr_t)message != 3;
  return subscription && !allocation ? 0 : 11;
}
int rmw_take_loaned_message_with_info(const void *subscription, void **message, bool *taken, struct message_info *info, void *allocation) {
  *message = (void *)26;
  *taken = true;
  *info = (struct message_info){1000, 3000, 7, 8};
  return subscription && !allocation ? 0 : 11;
}
const char *rmw_get_implementation_identifier(void) { return "rmw_of_the_test"; }
