// Which functions of the library others may call.
#ifndef TRACETOOLS__VISIBILITY_CONTROL_HPP_
#define TRACETOOLS__VISIBILITY_CONTROL_HPP_

#define TRACETOOLS_EXPORT __attribute__((visibility("default")))
#define TRACETOOLS_IMPORT
#define TRACETOOLS_PUBLIC TRACETOOLS_EXPORT
#define TRACETOOLS_LOCAL __attribute__((visibility("hidden")))
#define TRACETOOLS_PUBLIC_TYPE

#endif
