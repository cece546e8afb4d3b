// With -DRMW: stands for a middleware in which something happens while a request is sent. Otherwise: a program that sends one.
#include <stdint.h>

int rmw_send_request(const void *client, const void *request, int64_t *number);

#ifdef RMW
void ros_trace_rcl_publish(const void *publisher, const void *message);

int rmw_send_request(const void *client, const void *request, int64_t *number) {
  ros_trace_rcl_publish(client, request);
  *number = 1;
  return 0;
}
#else
int main(void) {
  int64_t number = 0;
  return rmw_send_request((void *)1, (void *)2, &number) || number != 1;
}
#endif
