/* gpu.h: NVIDIA and AMD GPUs as devices. CUDA's driver interface and HIP's run-time interface are twins; what differs between
 * them stands in the tables of driver.c and compiler.c. Sectioned by the file that owns each part.
 *
 * How it works: one device of each kind, its primary context, one stream; everything asked of a device goes to that stream
 * in order, so memory that is given back may be handed out again at once. Source comes from the kernel's IR, code from the
 * disk cache or from NVRTC or hiprtc, which are loaded only when there is none. */
#ifndef KILN_GPU_H
#define KILN_GPU_H
#include <pthread.h>
#include "codegen/codegen.h"
#include "runtime/device.h"

/* Opens the first device, once; NULL with a sentence when there is none. */
device *gpu_open(dialect d, message *m);

struct runtime_counts;
void gpu_count(struct runtime_counts *out);      /* adds what the open devices did */

/* ---- driver.c: the entry points ---- */
/* The name in CUDA, the name in HIP, the parameters. Addresses are 64-bit words in CUDA and pointers in HIP: one register
 * either way. */
#define GPU_CALLS(X) \
    X(init, "cuInit", "hipInit", (unsigned)) \
    X(device_count, "cuDeviceGetCount", "hipGetDeviceCount", (int *)) \
    X(device_name, "cuDeviceGetName", "hipDeviceGetName", (char *, int, int)) \
    X(driver_version, "cuDriverGetVersion", "hipDriverGetVersion", (int *)) \
    X(error_name, "cuGetErrorName", "hipDrvGetErrorName", (int, const char **)) \
    X(memory_info, "cuMemGetInfo_v2", "hipMemGetInfo", (size_t *, size_t *)) \
    X(allocate, "cuMemAlloc_v2", "hipMalloc", (void **, size_t)) \
    X(release, "cuMemFree_v2", "hipFree", (void *)) \
    X(upload, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", (void *, const void *, size_t, void *)) \
    X(download, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", (void *, const void *, size_t, void *)) \
    X(copy, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync", (void *, const void *, size_t, void *)) \
    X(fill, "cuMemsetD8Async", "hipMemsetD8Async", (void *, unsigned char, size_t, void *)) \
    X(module_load, "cuModuleLoadData", "hipModuleLoadData", (void **, const void *)) \
    X(module_unload, "cuModuleUnload", "hipModuleUnload", (void *)) \
    X(module_function, "cuModuleGetFunction", "hipModuleGetFunction", (void **, void *, const char *)) \
    X(launch, "cuLaunchKernel", "hipModuleLaunchKernel", (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)) \
    X(stream_create, "cuStreamCreate", "hipStreamCreateWithFlags", (void **, unsigned)) \
    X(stream_wait, "cuStreamSynchronize", "hipStreamSynchronize", (void *))

typedef struct gpu_calls {
#define DECLARE(name, cuda, hip, parameters) int (*name) parameters;
    GPU_CALLS(DECLARE)
#undef DECLARE
    /* Where the two are not alike. */
    int (*attribute)(int *, int, int);
    int (*context_retain)(void **, int);          /* CUDA */
    int (*context_set)(void *);                   /* CUDA */
    int (*device_set)(int);                       /* HIP */
} gpu_calls;

typedef struct gpu_block gpu_block;
typedef struct gpu_code gpu_code;
#define GPU_CHAINS 1024
#define GPU_CLASSES (8 * 48)
typedef struct gpu {
    device d;                                     /* first: a device is a gpu */
    dialect dialect;
    gpu_calls call;
    const device_profile *profile;
    char name[96], arch[32], driver[24], what[192];
    int units;
    void *context, *stream;
    pthread_mutex_t memory_mutex;                 /* memory.c */
    gpu_block *free[GPU_CLASSES];
    int64_t cached, live, peak, limit;
    pthread_mutex_t code_mutex;                   /* code.c */
    gpu_code *chain[GPU_CHAINS];
    int ncode;
    uint64_t clock, compiled, from_disk, launches;
    void *fault;                                  /* one word on the device, all ones while nothing is wrong */
} gpu;
static inline gpu *gpu_of(device *d) { return (gpu *)d; }

/* Finds libcuda or libamdhip64 and its entry points. */
kn_status gpu_load(gpu *g, message *m);
/* Opens device 0: names, context, stream. */
kn_status gpu_start(gpu *g, message *m);
/* Before any other call of a thread: makes the device the thread's. */
kn_status gpu_enter(gpu *g, message *m);
/* KN_OK, or a sentence with the driver's own word for a status. */
kn_status gpu_check(gpu *g, int status, const char *doing, message *m);

/* ---- memory.c ---- */
buffer *gpu_memory(device *d, int64_t bytes, message *m);
void gpu_trim(gpu *g);                            /* gives unused memory back to the driver */

/* ---- code.c: kernels ---- */
void *gpu_kernel(device *d, const kernel *k, message *m);
void gpu_kernel_drop(device *d, void *code);
kn_status gpu_launch(device *d, void *code, const plan_step *s, const uint64_t *args, uint64_t *fault, message *m);
kn_status gpu_finish(device *d, uint64_t *fault, message *m);

/* ---- compiler.c: NVRTC and hiprtc ---- */
/* Source to a cubin or code object for an architecture. KN_NOT_AVAILABLE: the compiler is not installed; KN_RUNTIME_ERROR: it
 * refused the source, and m tells where. */
kn_status gpu_compile(dialect d, const char *source, const char *name, const char *arch, text *binary, message *m);
const char *gpu_compiler_version(dialect d);      /* "13.0"; NULL before it is loaded, or without it */
kn_status gpu_compiler_available(dialect d, message *m);
#endif
