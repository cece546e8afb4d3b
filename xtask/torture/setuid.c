// A setuid program that has a tracer in it as its libtracetools: whoever starts it must not say where it writes. Prints whether it has its rights.
#include "torture.h"

int main(void) {
  initialise();
  for (int i = 0; i < 1000; i++) { emit(); usleep(100); }
  say(geteuid() == 0 && getuid() != 0 ? "with the rights of root\n" : "without rights\n");
  return 0;
}
