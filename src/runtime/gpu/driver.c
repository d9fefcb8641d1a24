/* driver.c: libcuda and libamdhip64, loaded when a GPU is first asked for, and the device behind them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/gpu/gpu.h"
#include "runtime/runtime.h"

/* What differs: files, attributes' numbers, how an architecture is told. */
typedef struct platform {
    const char *files[4], *what, *install;
    kn_device kind;
    int attribute_units, attribute_major, attribute_minor;
    const char *usual_profile;
} platform;
static const platform platforms[NDIALECTS] = {
    [DIALECT_CUDA] = { { "libcuda.so.1", "libcuda.so" }, "NVIDIA", "install NVIDIA's driver", KN_CUDA, 16, 75, 76, "sm_90" },
    [DIALECT_HIP] = { { "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so" }, "AMD", "install ROCm's HIP run time", KN_HIP, 63, 23, 61, "gfx90a" },
};
enum { STREAM_NON_BLOCKING = 1 };

kn_status gpu_check(gpu *g, int status, const char *doing, message *m) {
    const char *word = NULL;
    if (!status) return KN_OK;
    if (g->call.error_name) g->call.error_name(status, &word);
    return fail(m, KN_RUNTIME_ERROR, "%s on %s: the driver says %s (%d)", doing, g->name[0] ? g->name : platforms[g->dialect].what, word ? word : "no word for it", status);
}

static void *symbol(void *library, const char *name, bool *good) {
    void *s = dlsym(library, name);
    *good &= s != NULL;
    return s;
}

kn_status gpu_load(gpu *g, message *m) {
    const platform *p = &platforms[g->dialect];
    void *library = NULL;
    bool good = true, hip = g->dialect == DIALECT_HIP;
    for (int i = 0; !library && p->files[i]; i++) library = dlopen(p->files[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail(m, KN_NOT_AVAILABLE, "no %s GPU can be used: %s is not there; %s", p->what, p->files[0], p->install);
#define FIND(name, cuda, hip_name, parameters) *(void **)&g->call.name = symbol(library, hip ? hip_name : cuda, &good);
    GPU_CALLS(FIND)
#undef FIND
    *(void **)&g->call.attribute = symbol(library, hip ? "hipDeviceGetAttribute" : "cuDeviceGetAttribute", &good);
    if (hip) {
        *(void **)&g->call.device_set = symbol(library, "hipSetDevice", &good);
    } else {
        *(void **)&g->call.context_retain = symbol(library, "cuDevicePrimaryCtxRetain", &good);
        *(void **)&g->call.context_set = symbol(library, "cuCtxSetCurrent", &good);
    }
    return good ? KN_OK : fail(m, KN_NOT_AVAILABLE, "no %s GPU can be used: %s lacks functions that Kiln needs; a newer driver has them", p->what, p->files[0]);
}

kn_status gpu_enter(gpu *g, message *m) {
    static _Thread_local gpu *entered;
    if (entered == g && g->dialect == DIALECT_HIP) return KN_OK;
    int status = g->dialect == DIALECT_HIP ? g->call.device_set(0) : g->call.context_set(g->context);   /* others may have set another one */
    if (!status) entered = g;
    return gpu_check(g, status, "selecting the device", m);
}

/* The profile of the architecture, or of the newest one before it. */
static const device_profile *profile_for(const gpu *g, int capability) {
    const device_profile *best = profile_named(g->arch);
    target_kind target = g->dialect == DIALECT_HIP ? TARGET_HIP : TARGET_CUDA;
    for (int i = 0, most = -1; !best && i < nprofiles; i++) {
        if (profiles[i].target != target) continue;
        int of = atoi(profiles[i].name + strcspn(profiles[i].name, "0123456789"));
        if (of <= capability && of > most) { most = of; best = &profiles[i]; }
    }
    return best ? best : profile_named(platforms[g->dialect].usual_profile);
}

kn_status gpu_start(gpu *g, message *m) {
    const platform *p = &platforms[g->dialect];
    int count = 0, version = 0, major = 0, minor = 0, status = g->call.init(0);
    if (!status) status = g->call.device_count(&count);
    if (status || !count) return fail(m, KN_NOT_AVAILABLE, "no %s GPU can be used: the driver finds no device", p->what);
    if (g->call.context_retain && (status = g->call.context_retain(&g->context, 0))) return gpu_check(g, status, "opening the device", m);
    if (gpu_enter(g, m)) return KN_RUNTIME_ERROR;
    g->call.device_name(g->name, (int)sizeof g->name, 0);
    g->call.driver_version(&version);
    g->call.attribute(&g->units, p->attribute_units, 0);
    g->call.attribute(&major, p->attribute_major, 0);
    g->call.attribute(&minor, p->attribute_minor, 0);
    snprintf(g->driver, sizeof g->driver, "%d.%d", version / 1000, version % 1000 / 10);
    if (g->dialect == DIALECT_CUDA) snprintf(g->arch, sizeof g->arch, "sm_%d%d", major, minor);
    else snprintf(g->arch, sizeof g->arch, "gfx%d%x", major, minor);
    snprintf(g->what, sizeof g->what, "%s, %s, driver %s", g->name, g->arch, g->driver);
    g->profile = profile_for(g, 10 * major + minor);
    if (!g->profile) return fail(m, KN_NOT_AVAILABLE, "no schedule knows %s", g->arch);
    if ((status = g->call.stream_create(&g->stream, STREAM_NON_BLOCKING))) return gpu_check(g, status, "making a stream", m);
    if ((status = g->call.allocate(&g->fault, sizeof(uint64_t)))) return gpu_check(g, status, "taking memory", m);
    return gpu_check(g, g->call.fill(g->fault, 0xff, sizeof(uint64_t), g->stream), "clearing memory", m);
}

/* ---- as a device ---- */

static kn_status gpu_upload(device *d, void *to, const void *from, size_t n, message *m) {
    gpu *g = gpu_of(d);
    if (!n || gpu_enter(g, m)) return n ? KN_RUNTIME_ERROR : KN_OK;
    int status = g->call.upload(to, from, n, g->stream);
    if (!status) status = g->call.stream_wait(g->stream);      /* page-locked memory is read later */
    return gpu_check(g, status, "copying to the device", m);
}

static kn_status gpu_download(device *d, void *to, const void *from, size_t n, message *m) {
    gpu *g = gpu_of(d);
    if (!n || gpu_enter(g, m)) return n ? KN_RUNTIME_ERROR : KN_OK;
    int status = g->call.download(to, from, n, g->stream);
    if (!status) status = g->call.stream_wait(g->stream);
    return gpu_check(g, status, "copying from the device", m);
}

static kn_status gpu_copy(device *d, void *to, const void *from, size_t n, message *m) {
    gpu *g = gpu_of(d);
    if (!n || to == from || gpu_enter(g, m)) return n && to != from ? KN_RUNTIME_ERROR : KN_OK;
    return gpu_check(g, g->call.copy(to, from, n, g->stream), "copying on the device", m);
}

static kn_status gpu_clear(device *d, void *to, size_t n, message *m) {
    gpu *g = gpu_of(d);
    if (!n || gpu_enter(g, m)) return n ? KN_RUNTIME_ERROR : KN_OK;
    return gpu_check(g, g->call.fill(to, 0, n, g->stream), "clearing memory", m);
}

static void *gpu_queue(device *d, message *m) { return gpu_enter(gpu_of(d), m) ? NULL : gpu_of(d)->stream; }

static kn_status gpu_wait(device *d, message *m) {
    gpu *g = gpu_of(d);
    return gpu_enter(g, m) ? KN_RUNTIME_ERROR : gpu_check(g, g->call.stream_wait(g->stream), "waiting for the device", m);
}

/* Never closed: a device outlives whoever still holds memory on it. */
static struct { pthread_mutex_t mutex; gpu g; int state; /* 0: not tried, 1: open, 2: none */ message why; } opened[NDIALECTS] = {
    { .mutex = PTHREAD_MUTEX_INITIALIZER }, { .mutex = PTHREAD_MUTEX_INITIALIZER },
};

device *gpu_open(dialect which, message *m) {
    gpu *g = &opened[which].g;
    pthread_mutex_lock(&opened[which].mutex);
    if (!opened[which].state) {
        g->dialect = which;
        g->limit = -1;
        pthread_mutex_init(&g->memory_mutex, NULL);
        pthread_mutex_init(&g->code_mutex, NULL);
        bool good = !gpu_load(g, &opened[which].why) && !gpu_start(g, &opened[which].why);
        if (good)
            g->d = (device){ .kind = platforms[which].kind, .profile = g->profile->name, .what = g->what, .memory = gpu_memory, .upload = gpu_upload, .download = gpu_download,
                             .copy = gpu_copy, .clear = gpu_clear, .kernel = gpu_kernel, .kernel_drop = gpu_kernel_drop, .launch = gpu_launch, .queue = gpu_queue, .wait = gpu_wait, .finish = gpu_finish };
        __atomic_store_n(&opened[which].state, good ? 1 : 2, __ATOMIC_RELEASE);
    }
    bool good = opened[which].state == 1;
    pthread_mutex_unlock(&opened[which].mutex);
    if (good) return &g->d;
    fail(m, opened[which].why.status, "%s", opened[which].why.text);
    return NULL;
}

void gpu_count(runtime_counts *out) {
    for (int i = 0; i < NDIALECTS; i++) {
        gpu *g = &opened[i].g;
        if (__atomic_load_n(&opened[i].state, __ATOMIC_ACQUIRE) != 1) continue;
        out->launches += __atomic_load_n(&g->launches, __ATOMIC_RELAXED);
        out->kernels_compiled += __atomic_load_n(&g->compiled, __ATOMIC_RELAXED);
        out->kernels_from_disk += __atomic_load_n(&g->from_disk, __ATOMIC_RELAXED);
        pthread_mutex_lock(&g->memory_mutex);
        out->bytes_live += (uint64_t)g->live;
        out->bytes_peak += (uint64_t)g->peak;
        out->bytes_cached += (uint64_t)g->cached;
        pthread_mutex_unlock(&g->memory_mutex);
    }
}
