// Events of your own in a trace: moments, spans and counters, with typed fields.
//
//   ROSTRACE_INSTANT("replanned", ROSTRACE_TEXT("reason", "blocked"), ROSTRACE_INTEGER("obstacles", 3));
//   ROSTRACE_COUNTER("queue", 7);
//   rostrace_span span = ROSTRACE_SPAN_BEGIN("plan", ROSTRACE_REAL("horizon", 2.5));
//   ROSTRACE_SPAN_END("plan", span);
//   rostrace::Span planning("plan");   // C++: ends with its scope
//
// Nothing is linked: the tracer is found by name when the process has it (preloaded, or as libtracetools). While nothing is
// recorded an event costs the look at one number, without a call; its arguments are not even computed.
// With glibc before 2.34 link with -ldl. Define ROSTRACE_DISABLED to compile all of it away.
#ifndef ROSTRACE_H
#define ROSTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rostrace_kind { ROSTRACE_KIND_INTEGER = 0, ROSTRACE_KIND_REAL = 1, ROSTRACE_KIND_TEXT = 2 };

struct rostrace_field {
  const char *name;
  int32_t kind;
  union {
    int64_t integer;
    double real;
    const char *text;
  } value;
};

// Identity of a span in its process; 0 if it is not recorded.
typedef uint64_t rostrace_span;

struct rostrace_api {
  uint32_t version;
  const uint64_t *const *active;
  bool (*is_enabled)(void);
  void (*instant)(const char *name, const struct rostrace_field *fields, size_t count);
  rostrace_span (*span_begin)(const char *name, const struct rostrace_field *fields, size_t count);
  void (*span_end)(const char *name, rostrace_span span);
  void (*counter)(const char *name, double value);
};

#ifdef __cplusplus
}
#endif

#ifndef ROSTRACE_DISABLED

#include <dlfcn.h>

// What the inline check needs, in each source file: where the number is that is 0 while nothing is recorded.
struct rostrace_state_ {
  const uint64_t *const *active;
  const struct rostrace_api *api;
};

// Looks for the tracer; returns its functions if something is recorded. One lookup per source file and process.
__attribute__((noinline, cold, unused)) static const struct rostrace_api *rostrace_ask_(struct rostrace_state_ *state) {
  static const uint64_t never = 0;
  static const uint64_t *const nothing = &never;
  const struct rostrace_api *api = __atomic_load_n(&state->api, __ATOMIC_ACQUIRE);
  if (!api) {
    void *found = dlsym((void *)0 /* RTLD_DEFAULT */, "rostrace_user_api");
    const struct rostrace_api *(*ask)(void) = 0;
    if (found) __builtin_memcpy(&ask, &found, sizeof ask);
    if (ask && ask()->version == 2) api = ask();
    __atomic_store_n(&state->api, api, __ATOMIC_RELEASE);
    __atomic_store_n(&state->active, api ? api->active : &nothing, __ATOMIC_RELEASE);
  }
  return api && api->is_enabled() ? api : (const struct rostrace_api *)0;
}

// The tracer's functions while something is recorded, otherwise null.
static inline const struct rostrace_api *rostrace_recorder(void) {
  static const uint64_t unknown = 1;
  static const uint64_t *const first = &unknown;
  static struct rostrace_state_ state = {&first, (const struct rostrace_api *)0};
  const uint64_t *const *active = __atomic_load_n(&state.active, __ATOMIC_RELAXED);
  if (__builtin_expect(!__atomic_load_n(__atomic_load_n(active, __ATOMIC_RELAXED), __ATOMIC_RELAXED), 1))
    return (const struct rostrace_api *)0;
  return rostrace_ask_(&state);
}

static inline struct rostrace_field rostrace_integer(const char *name, int64_t value) {
  struct rostrace_field field;
  field.name = name;
  field.kind = ROSTRACE_KIND_INTEGER;
  field.value.integer = value;
  return field;
}

static inline struct rostrace_field rostrace_real(const char *name, double value) {
  struct rostrace_field field;
  field.name = name;
  field.kind = ROSTRACE_KIND_REAL;
  field.value.real = value;
  return field;
}

static inline struct rostrace_field rostrace_text(const char *name, const char *value) {
  struct rostrace_field field;
  field.name = name;
  field.kind = ROSTRACE_KIND_TEXT;
  field.value.text = value;
  return field;
}

#define ROSTRACE_INTEGER(name, value) rostrace_integer((name), (int64_t)(value))
#define ROSTRACE_REAL(name, value) rostrace_real((name), (double)(value))
#define ROSTRACE_TEXT(name, value) rostrace_text((name), (value))

// The first element only makes an empty list of fields possible.
#define ROSTRACE_INSTANT(...) ROSTRACE_WITH_FIELDS_(instant, __VA_ARGS__)
#define ROSTRACE_WITH_FIELDS_(function, name, ...)                                               \
  do {                                                                                           \
    const struct rostrace_api *rostrace_api_ = rostrace_recorder();                              \
    if (__builtin_expect(rostrace_api_ != 0, 0)) {                                               \
      const struct rostrace_field rostrace_fields_[] = {rostrace_integer("", 0), ##__VA_ARGS__}; \
      rostrace_api_->function((name), rostrace_fields_ + 1,                                      \
                              sizeof rostrace_fields_ / sizeof rostrace_fields_[0] - 1);         \
    }                                                                                            \
  } while (0)

#define ROSTRACE_SPAN_BEGIN(name, ...)                                                              \
  __extension__({                                                                                   \
    const struct rostrace_api *rostrace_api_ = rostrace_recorder();                                 \
    rostrace_span rostrace_span_ = 0;                                                               \
    if (__builtin_expect(rostrace_api_ != 0, 0)) {                                                  \
      const struct rostrace_field rostrace_fields_[] = {rostrace_integer("", 0), ##__VA_ARGS__};    \
      rostrace_span_ = rostrace_api_->span_begin((name), rostrace_fields_ + 1,                      \
                                                 sizeof rostrace_fields_ / sizeof rostrace_fields_[0] - 1); \
    }                                                                                               \
    rostrace_span_;                                                                                 \
  })

static inline void rostrace_span_end(const char *name, rostrace_span span) {
  const struct rostrace_api *api = span ? rostrace_recorder() : (const struct rostrace_api *)0;
  if (api) api->span_end(name, span);
}
#define ROSTRACE_SPAN_END(name, span) rostrace_span_end((name), (span))

static inline void rostrace_counter(const char *name, double value) {
  const struct rostrace_api *api = rostrace_recorder();
  if (__builtin_expect(api != 0, 0)) api->counter(name, value);
}
#define ROSTRACE_COUNTER(name, value) rostrace_counter((name), (double)(value))

#else

static inline void rostrace_span_end(const char *name, rostrace_span span) { (void)name, (void)span; }
#define ROSTRACE_INTEGER(name, value) 0
#define ROSTRACE_REAL(name, value) 0
#define ROSTRACE_TEXT(name, value) 0
#define ROSTRACE_INSTANT(...) ((void)0)
#define ROSTRACE_SPAN_BEGIN(...) ((rostrace_span)0)
#define ROSTRACE_SPAN_END(name, span) rostrace_span_end((name), (span))
#define ROSTRACE_COUNTER(name, value) ((void)0)

#endif

#ifdef __cplusplus
namespace rostrace {

// Something that takes time; it ends with its scope. The name must outlive it.
class Span {
 public:
  explicit Span(const char *name) : name_(name), span_(ROSTRACE_SPAN_BEGIN(name)) {}
  ~Span() { rostrace_span_end(name_, span_); }
  Span(const Span &) = delete;
  Span &operator=(const Span &) = delete;

 private:
  const char *name_;
  rostrace_span span_;
};

}  // namespace rostrace
#endif

#endif
