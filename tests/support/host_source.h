/* host_source.h: emitted CUDA source, compiled for this machine's processor and run, one thread after the other: for kernels whose threads
 * do not talk to each other. What C leaves undefined stops the program. */
#ifndef KILN_HOST_SOURCE_H
#define KILN_HOST_SOURCE_H
#include <stdbool.h>
#include <stdint.h>

typedef struct host_program host_program;
/* Compiles `n` sources into one library; NULL with the compiler's complaints in `why` when that fails. */
host_program *host_compile(const char *const *sources, int n, char *why, int size);
/* Runs a kernel over all blocks; args as for reference_run. False: no such kernel. */
bool host_run(host_program *p, const char *name, int blocks, int threads, void **args, int nargs);
void host_free(host_program *p);
#endif
