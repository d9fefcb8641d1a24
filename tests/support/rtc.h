/* rtc.h: the run-time compilers of CUDA and HIP, for tests: loaded when asked for; no GPU is needed. */
#ifndef KILN_RTC_H
#define KILN_RTC_H
#include "codegen/codegen.h"

/* Loads the compiler the first time; false with a sentence in `why` (may be NULL) where there is none. */
bool rtc_available(dialect d, const char **why);
/* "13.0" */
const char *rtc_version(dialect d);
/* Compiles with source_options. False: it does not compile, and log says why. binary and log are appended to; each may be
 * NULL. Not thread-safe. */
bool rtc_compile(dialect d, const char *source, const char *arch, text *binary, text *log);
/* Does the compiler know this architecture? */
bool rtc_knows(dialect d, const char *arch);
#endif
