/* cuda.c: see cuda.h. Everything goes to one stream of one context. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "cuda.h"

#define CALLS(X) \
    X(cuInit, (unsigned)) X(cuDeviceGet, (int *, int)) X(cuDeviceGetName, (char *, int, int)) X(cuDeviceGetAttribute, (int *, int, int)) \
    X(cuDriverGetVersion, (int *)) X(cuDevicePrimaryCtxRetain, (void **, int)) X(cuCtxSetCurrent, (void *)) X(cuGetErrorName, (int, const char **)) \
    X(cuMemAlloc_v2, (gpu_memory *, size_t)) X(cuMemFree_v2, (gpu_memory)) X(cuMemsetD32Async, (gpu_memory, unsigned, size_t, void *)) \
    X(cuMemcpyDtoDAsync_v2, (gpu_memory, gpu_memory, size_t, void *)) X(cuMemcpyDtoH_v2, (void *, gpu_memory, size_t)) \
    X(cuMemcpyHtoD_v2, (gpu_memory, const void *, size_t)) X(cuMemAllocHost_v2, (void **, size_t)) X(cuModuleLoadData, (void **, const void *)) \
    X(cuModuleUnload, (void *)) X(cuModuleGetFunction, (void **, void *, const char *)) X(cuFuncGetAttribute, (int *, int, void *)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, void *, int, size_t)) \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)) \
    X(cuStreamCreate, (void **, unsigned)) X(cuStreamSynchronize, (void *)) X(cuEventCreate, (void **, unsigned)) X(cuEventRecord, (void *, void *)) \
    X(cuEventElapsedTime, (float *, void *, void *))

#define DECLARE(name, types) static int (*name##_call) types;
CALLS(DECLARE)

enum { ATTRIBUTE_UNITS = 16, ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76, FUNCTION_LOCAL_BYTES = 3, FUNCTION_REGISTERS = 4 };

static char error[160], name[96], arch[16], driver[16];
static void *stream, *events[256];
static int units;

static bool good(int status, const char *call) {
    const char *what = "unknown";
    if (!status) return true;
    cuGetErrorName_call(status, &what);
    snprintf(error, sizeof error, "%s: %s", call, what);
    return false;
}
#define TRY(call, ...) do { if (!good(call##_call(__VA_ARGS__), #call)) return false; } while (0)

static bool find_symbols(void *library) {
#define FIND(symbol, types) if (!(*(void **)&symbol##_call = dlsym(library, #symbol))) { snprintf(error, sizeof error, "%s is missing", #symbol); return false; }
    CALLS(FIND)
    return true;
}

static bool open_device(void) {
    int device, version, major, minor;
    void *context;
    TRY(cuInit, 0);
    TRY(cuDeviceGet, &device, 0);
    TRY(cuDeviceGetName, name, (int)sizeof name, device);
    TRY(cuDriverGetVersion, &version);
    TRY(cuDeviceGetAttribute, &major, ATTRIBUTE_MAJOR, device);
    TRY(cuDeviceGetAttribute, &minor, ATTRIBUTE_MINOR, device);
    TRY(cuDeviceGetAttribute, &units, ATTRIBUTE_UNITS, device);
    snprintf(arch, sizeof arch, "sm_%d%d", major, minor);
    snprintf(driver, sizeof driver, "%d.%d", version / 1000, version % 1000 / 10);
    TRY(cuDevicePrimaryCtxRetain, &context, device);
    TRY(cuCtxSetCurrent, context);
    TRY(cuStreamCreate, &stream, 1);
    for (int i = 0; i < 256; i++) TRY(cuEventCreate, &events[i], 0);
    return true;
}

bool gpu_open(const char **why) {
    static int state;   /* 0 not tried, 1 open, 2 none */
    *why = error;
    if (state) return state == 1;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) snprintf(error, sizeof error, "no libcuda.so.1 here");
    state = library && find_symbols(library) && open_device() ? 1 : 2;
    return state == 1;
}

const char *gpu_error(void) { return error; }
const char *gpu_name(void) { return name; }
const char *gpu_arch(void) { return arch; }
const char *gpu_driver(void) { return driver; }
int gpu_units(void) { return units; }

bool gpu_alloc(gpu_memory *m, size_t bytes) { TRY(cuMemAlloc_v2, m, bytes); return true; }
bool gpu_free(gpu_memory m) { TRY(cuMemFree_v2, m); return true; }
bool gpu_fill(gpu_memory m, unsigned word, size_t words) { TRY(cuMemsetD32Async, m, word, words, stream); return true; }
bool gpu_copy(gpu_memory to, gpu_memory from, size_t bytes) { TRY(cuMemcpyDtoDAsync_v2, to, from, bytes, stream); return true; }
bool gpu_wait(void) { TRY(cuStreamSynchronize, stream); return true; }
bool gpu_read(void *to, gpu_memory from, size_t bytes) { TRY(cuStreamSynchronize, stream); TRY(cuMemcpyDtoH_v2, to, from, bytes); return true; }
bool gpu_write(gpu_memory to, const void *from, size_t bytes) { TRY(cuStreamSynchronize, stream); TRY(cuMemcpyHtoD_v2, to, from, bytes); return true; }
bool gpu_host_alloc(void **p, size_t bytes) { TRY(cuMemAllocHost_v2, p, bytes); return true; }

bool gpu_load(gpu_kernel *k, const void *cubin, const char *entry, int threads) {
    TRY(cuModuleLoadData, &k->module, cubin);
    TRY(cuModuleGetFunction, &k->function, k->module, entry);
    TRY(cuFuncGetAttribute, &k->registers, FUNCTION_REGISTERS, k->function);
    TRY(cuFuncGetAttribute, &k->spilled, FUNCTION_LOCAL_BYTES, k->function);
    TRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, &k->blocks_per_unit, k->function, threads, 0);
    return true;
}

bool gpu_unload(gpu_kernel *k) { TRY(cuModuleUnload, k->module); return true; }

bool gpu_launch_grid(const gpu_kernel *k, const unsigned *grid, const unsigned *block, void **args) {
    TRY(cuLaunchKernel, k->function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, stream, args, NULL);
    return true;
}

bool gpu_launch(const gpu_kernel *k, unsigned gx, unsigned gy, unsigned threads, void **args) {
    return gpu_launch_grid(k, (unsigned[]){ gx, gy, 1 }, (unsigned[]){ threads, 1, 1 }, args);
}

bool gpu_mark(int number) { TRY(cuEventRecord, events[number & 255], stream); return true; }
bool gpu_between(int from, int to, float *ms) { TRY(cuEventElapsedTime, ms, events[from & 255], events[to & 255]); return true; }
