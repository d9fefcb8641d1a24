/* device.c: the devices there are, the thread's current one, copies between them, and the CPU as a device. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/device.h"
#include "runtime/gpu/gpu.h"
#include "runtime/runtime.h"

/* ---- the CPU ---- */

static buffer *cpu_memory(device *d, int64_t bytes, message *m) { (void)d; return pool_buffer(bytes, m); }

typedef struct copy_job { char *to; const char *from; } copy_job;
static void copy_part(void *arg, int64_t lo, int64_t hi) {
    copy_job *j = arg;
    memcpy(j->to + lo, j->from + lo, (size_t)(hi - lo));
}

static kn_status cpu_copy(device *d, void *to, const void *from, size_t n, message *m) {
    copy_job j = { to, from };
    (void)d;
    (void)m;
    if (to != from) workers_run(copy_part, &j, (int64_t)n, 1 << 20);
    return KN_OK;
}

static kn_status cpu_clear(device *d, void *to, size_t n, message *m) {
    (void)d;
    (void)m;
    memset(to, 0, n);
    return KN_OK;
}

static void *cpu_kernel(device *d, const kernel *k, message *m) { (void)d; return compiled_find(k, m); }
static void cpu_kernel_drop(device *d, void *code) { (void)d; compiled_drop(code); }

static kn_status cpu_launch(device *d, void *code, const plan_step *s, const uint64_t *args, uint64_t *fault, message *m) {
    (void)d;
    return compiled_run(code, args, s->grid[0], s->serial, s->work, fault, m);
}

static void *cpu_queue(device *d, message *m) {
    (void)d;
    (void)m;
    return NULL;
}

static kn_status cpu_wait(device *d, message *m) {
    (void)d;
    (void)m;
    return KN_OK;
}

static kn_status cpu_finish(device *d, uint64_t *fault, message *m) {
    (void)d;
    (void)fault;
    (void)m;
    return KN_OK;
}

static device cpu = {
    .kind = KN_CPU, .profile = "cpu", .what = "CPU", .memory = cpu_memory, .upload = cpu_copy, .download = cpu_copy, .copy = cpu_copy, .clear = cpu_clear,
    .kernel = cpu_kernel, .kernel_drop = cpu_kernel_drop, .launch = cpu_launch, .queue = cpu_queue, .wait = cpu_wait, .finish = cpu_finish,
};

device *device_cpu(void) { return &cpu; }

/* ---- which there are ---- */

static _Thread_local device *current;

device *device_open(kn_device kind, message *m) {
    switch (kind) {
    case KN_CURRENT_DEVICE: return device_current();
    case KN_CPU: return &cpu;
    case KN_CUDA: return gpu_open(DIALECT_CUDA, m);
    case KN_HIP: return gpu_open(DIALECT_HIP, m);
    case KN_REFERENCE: fail(m, KN_NOT_AVAILABLE, "the reference interpreter is no device of its own; KILN_JIT=never makes the CPU use it"); return NULL;
    default: fail(m, KN_VALUE_ERROR, "there is no device number %d", (int)kind); return NULL;
    }
}

device *device_current(void) {
    static const struct { const char *name; kn_device kind; } names[] = { { "cuda", KN_CUDA }, { "hip", KN_HIP } };
    const char *asked = current ? NULL : getenv("KILN_DEVICE");
    for (size_t i = 0; asked && i < sizeof names / sizeof *names; i++) if (!strcmp(asked, names[i].name)) current = device_open(names[i].kind, NULL);
    if (!current) current = &cpu;
    return current;
}

kn_status device_choose(kn_device kind, message *m) {
    message why = { 0 };
    device *d = device_open(kind, &why);
    if (!d) return fail(m, why.status, "%s", why.text);
    current = d;
    return KN_OK;
}

/* ---- copies ---- */

static buffer *copied(device *to, const buffer *b, message *m) {
    device *from = device_open((kn_device)b->device, m);
    buffer *c = from ? to->memory(to, (int64_t)b->size, m) : NULL, *between = NULL;
    if (!c) return NULL;
    kn_status status;
    if (from->kind == KN_CPU) {
        status = to->upload(to, c->data, b->data, b->size, m);
    } else if (to->kind == KN_CPU) {
        status = from->download(from, c->data, b->data, b->size, m);
    } else {
        between = cpu.memory(&cpu, (int64_t)b->size, m);
        status = between ? from->download(from, between->data, b->data, b->size, m) : KN_MEMORY_ERROR;
        if (!status) status = to->upload(to, c->data, between->data, b->size, m);
        buffer_drop(between);
    }
    if (!status) return c;
    buffer_drop(c);
    return NULL;
}

buffer *device_reach(device *d, buffer *b, message *m) {
    if (b->device == d->kind) return buffer_keep(b);
    pthread_mutex_lock(&graph_mutex);
    buffer *c = b->copy && b->copy->device == d->kind ? buffer_keep(b->copy) : NULL;
    pthread_mutex_unlock(&graph_mutex);
    if (c || !(c = copied(d, b, m)) || b->shared) return c;
    pthread_mutex_lock(&graph_mutex);
    buffer *before = b->copy;
    b->copy = buffer_keep(c);
    pthread_mutex_unlock(&graph_mutex);
    buffer_drop(before);
    return c;
}
