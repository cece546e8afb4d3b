// Events that are larger than a packet, as the first ones of fresh threads: large SIZE_KB EVENTS
#include "torture.h"

static char *text;
static uint64_t events;
static void *work(void *unused) {
  for (uint64_t i = 0; i < events; i++) {
    uint64_t begin = (other_begin(), now());
    static _Atomic uint64_t callbacks;
    ros_trace_rclcpp_callback_register((void *)(uintptr_t)(0x5000 + atomic_fetch_add(&callbacks, 1) * 64), text);
    other_end(begin);
  }
  return unused;
}
static void *small(void *unused) {
  for (int i = 0; i < 100; i++) emit();
  return unused;
}

int main(int count, char **words) {
  uint64_t size = number_of(count, words, 1, 128) << 10;
  events = number_of(count, words, 2, 20);
  plant_canaries();
  text = malloc(size + 1);
  memset(text, 'y', size);
  text[size] = 0;
  ready();
  for (int i = 0; i < 3; i++) {
    pthread_t a, b;
    start(&a, work, NULL);
    start(&b, small, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
  }
  return verdict();
}
