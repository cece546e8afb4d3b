// The C half of exceptions.cpp: the account of events.
#include "torture.h"
static uint64_t until;
void exceptions_emit(void) { emit(); }
int exceptions_verdict(void) { return verdict(); }
bool exceptions_enough(void) { return enough(until); }
void exceptions_begin(unsigned long long ms) {
  plant_canaries();
  initialise();
  until = now() + ms * 1000000u;
  ready();
}
void exceptions_ending(void) { ending(); }
