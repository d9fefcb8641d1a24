/* memory.c: device memory in size classes, kept for reuse.
 *
 * How it works: as pool.c has it for the host: eight classes a doubling, freed blocks wait in a list by class. Everything on a
 * device runs in order, so a block that is given back can be used again at once, whatever still runs. When the driver has
 * no more, what waits is given back to it, and it is asked once more. */
#include <string.h>
#include "runtime/gpu/gpu.h"

#define LEAST_BYTES 512
#define LARGE ((size_t)1 << 30)               /* from here on a class is two MiB wide, so that little is wasted */
#define LARGE_STEP ((size_t)1 << 21)

struct gpu_block {
    buffer b;
    gpu_block *next;
    size_t size;
    int class;
};

static int class_of(size_t n, size_t *size) {
    if (n < LEAST_BYTES) n = LEAST_BYTES;
    if (n >= LARGE) {
        *size = (n + LARGE_STEP - 1) / LARGE_STEP * LARGE_STEP;
        return GPU_CLASSES - 1;
    }
    int top = 63 - __builtin_clzll((unsigned long long)n);
    size_t step = (size_t)1 << (top - 3), base = (size_t)1 << top, k = (n - base + step - 1) / step;
    if (k == 8) { top++; k = 0; }
    *size = ((size_t)1 << top) + k * ((size_t)1 << (top - 3));
    return (top - 9) * 8 + (int)k;
}

static void block_release(gpu *g, gpu_block *k) {
    if (!gpu_enter(g, NULL)) {
        g->call.stream_wait(g->stream);
        g->call.release(k->b.data);
    }
    mem_free(k);
}

void gpu_trim(gpu *g) {
    gpu_block *all = NULL;
    pthread_mutex_lock(&g->memory_mutex);
    for (int c = 0; c < GPU_CLASSES; c++)
        while (g->free[c]) {
            gpu_block *k = g->free[c];
            g->free[c] = k->next;
            g->cached -= (int64_t)k->size;
            k->next = all;
            all = k;
        }
    pthread_mutex_unlock(&g->memory_mutex);
    while (all) {
        gpu_block *next = all->next;
        block_release(g, all);
        all = next;
    }
}

static void block_return(buffer *b) {
    gpu_block *k = (gpu_block *)b;
    gpu *g = b->owner;
    pthread_mutex_lock(&g->memory_mutex);
    g->live -= (int64_t)k->size;
    bool keep = g->limit < 0 || g->cached + (int64_t)k->size <= g->limit;
    if (keep) {
        k->next = g->free[k->class];
        g->free[k->class] = k;
        g->cached += (int64_t)k->size;
    }
    pthread_mutex_unlock(&g->memory_mutex);
    if (!keep) block_release(g, k);
}

/* A kept block of the class that is large enough. Mutex held. */
static gpu_block *kept(gpu *g, int class, size_t size) {
    for (gpu_block **p = &g->free[class]; *p; p = &(*p)->next) {
        gpu_block *k = *p;
        if (k->size < size || k->size > size + size / 8) continue;
        *p = k->next;
        g->cached -= (int64_t)k->size;
        return k;
    }
    return NULL;
}

static gpu_block *block_new(gpu *g, size_t size, message *m) {
    gpu_block *k = mem_zero(1, sizeof *k);
    void *data = NULL;
    if (!k) { fail_memory(m, "taking device memory"); return NULL; }
    int status = gpu_enter(g, m) ? -1 : g->call.allocate(&data, size);
    if (status > 0) {
        gpu_trim(g);
        status = g->call.allocate(&data, size);
    }
    if (!status) {
        k->b.data = data;
        k->size = size;
        return k;
    }
    size_t free_bytes = 0, total = 0;
    g->call.memory_info(&free_bytes, &total);
    pthread_mutex_lock(&g->memory_mutex);
    fail(m, KN_MEMORY_ERROR, "out of memory on %s: %zu bytes were asked for, %lld bytes are in use by arrays, %lld are kept for reuse, %zu of %zu are free", g->name, size,
         (long long)g->live, (long long)g->cached, free_bytes, total);
    pthread_mutex_unlock(&g->memory_mutex);
    mem_free(k);
    return NULL;
}

buffer *gpu_memory(device *d, int64_t bytes, message *m) {
    gpu *g = gpu_of(d);
    size_t size;
    if (bytes < 0 || bytes > (int64_t)1 << 46) { fail(m, KN_MEMORY_ERROR, "an array of %lld bytes is larger than memory", (long long)bytes); return NULL; }
    int class = class_of((size_t)bytes, &size);
    pthread_mutex_lock(&g->memory_mutex);
    gpu_block *k = kept(g, class, size);
    pthread_mutex_unlock(&g->memory_mutex);
    if (!k && !(k = block_new(g, size, m))) return NULL;
    k->class = class;
    k->b = (buffer){ .refs = 1, .device = (uint8_t)d->kind, .aligned = true, .data = k->b.data, .size = (size_t)bytes, .destroy = block_return, .owner = g };
    pthread_mutex_lock(&g->memory_mutex);
    g->live += (int64_t)k->size;
    if (g->live > g->peak) g->peak = g->live;
    pthread_mutex_unlock(&g->memory_mutex);
    return &k->b;
}
