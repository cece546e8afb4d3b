// Uses every form of rostrace.h. Also compiled as C++.
#include "rostrace.h"

int main(void) {
  ROSTRACE_INSTANT("bare");
  ROSTRACE_INSTANT("full", ROSTRACE_TEXT("reason", "blocked"), ROSTRACE_INTEGER("obstacles", -3), ROSTRACE_REAL("speed", 2.5),
                   ROSTRACE_INTEGER("lanes", 4));
  ROSTRACE_COUNTER("queue", 7);
  rostrace_span outer = ROSTRACE_SPAN_BEGIN("outer", ROSTRACE_INTEGER("depth", 1));
  rostrace_span inner = ROSTRACE_SPAN_BEGIN("inner");
  ROSTRACE_SPAN_END("inner", inner);
  ROSTRACE_SPAN_END("outer", outer);
#ifdef __cplusplus
  { rostrace::Span scope("scope"); }
#endif
  return 0;
}
