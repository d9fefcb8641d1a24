/* cuda.h: as much of the CUDA driver interface as tests and benchmarks need, by dlopen. */
#ifndef KILN_TEST_CUDA_H
#define KILN_TEST_CUDA_H
#include <stdbool.h>
#include <stddef.h>

typedef unsigned long long gpu_memory;
typedef struct gpu_kernel { void *module, *function; int registers, spilled, blocks_per_unit; } gpu_kernel;

/* False with a sentence where there is no GPU. */
bool gpu_open(const char **why);
const char *gpu_name(void);
const char *gpu_arch(void);            /* "sm_90" */
const char *gpu_driver(void);          /* "13.0" */
int gpu_units(void);

/* All of these return false, and gpu_error() says why, when a call fails. */
const char *gpu_error(void);
bool gpu_alloc(gpu_memory *m, size_t bytes);
bool gpu_free(gpu_memory m);
bool gpu_fill(gpu_memory m, unsigned word, size_t words);               /* on the stream */
bool gpu_copy(gpu_memory to, gpu_memory from, size_t bytes);            /* on the stream */
bool gpu_read(void *to, gpu_memory from, size_t bytes);                 /* waits */
bool gpu_write(gpu_memory to, const void *from, size_t bytes);          /* waits */
bool gpu_host_alloc(void **p, size_t bytes);                            /* page-locked */
bool gpu_load(gpu_kernel *k, const void *cubin, const char *name, int threads);
bool gpu_unload(gpu_kernel *k);
bool gpu_launch(const gpu_kernel *k, unsigned gx, unsigned gy, unsigned threads, void **args);
bool gpu_launch_grid(const gpu_kernel *k, const unsigned *grid, const unsigned *block, void **args);   /* three axes each */
bool gpu_wait(void);
/* Milliseconds between two marks on the stream; marks are numbered from 0 to 255. */
bool gpu_mark(int number);
bool gpu_between(int from, int to, float *ms);
#endif
