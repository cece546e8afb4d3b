// C++: exceptions, thread-local objects whose destructors emit, static objects that emit after main: exceptions THREADS MILLISECONDS
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

extern "C" {
void exceptions_emit(void);
int exceptions_verdict(void);
bool exceptions_enough(void);
void exceptions_begin(unsigned long long ms);
void exceptions_ending(void);
}

struct Emits { ~Emits() { exceptions_emit(); } };
static thread_local Emits late;
static Emits last;

static int depths(int n) {
  Emits here;
  (void)here;
  if (n == 0) throw std::runtime_error("thrown through destructors that emit");
  return depths(n - 1) + 1;
}

int main(int count, char **words) {
  int threads = count > 1 ? atoi(words[1]) : 2;
  exceptions_begin(count > 2 ? strtoull(words[2], nullptr, 0) : 300);
  std::atomic<bool> failed{false};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; i++)
    all.emplace_back([&] {
      (void)&late;
      exceptions_emit();
      while (!exceptions_enough()) {
        bool caught = false;
        try { depths(5); } catch (const std::runtime_error &) { caught = true; }
        if (!caught) failed = true;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  for (auto &thread : all) thread.join();
  if (failed) return 2;
  int result = exceptions_verdict();
  exceptions_ending();
  return result;
}
