// How this libtracetools was built: rostrace's tracer always can record.
#ifndef TRACETOOLS__CONFIG_H_
#define TRACETOOLS__CONFIG_H_
#endif
