// The name of visibility_control.hpp from Kilted on.
#include "tracetools/visibility_control.hpp"
