/* pool.c: host memory for arrays: blocks in size classes, kept for reuse.
 *
 * How it works: a block is a header (which holds the buffer record itself, so that one allocation serves both) followed by
 * 64-byte aligned data. Freed blocks wait in a list by class, eight classes a doubling, so at most an eighth is wasted.
 * Large blocks come from mmap with huge pages asked for: page faults cost more than the arithmetic of most kernels.
 * Nothing about nodes or devices other than the host may be put here. */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/runtime.h"
#include "runtime/internal.h"

#define HEADER 128
#define MAP_FROM ((size_t)1 << 22)      /* blocks of this size and more are mapped */
#define NCLASSES (8 * 48)

typedef struct block block;
struct block {
    buffer b;
    block *next;
    size_t size;                         /* of the data */
    void *raw;                           /* what the allocator gave; NULL: mapped */
    int class;
};
_Static_assert(sizeof(block) <= HEADER, "the header holds the block record");

static struct {
    pthread_mutex_t mutex;
    block *free[NCLASSES];
    int64_t cached, limit, live, peak, count;
} pool = { .mutex = PTHREAD_MUTEX_INITIALIZER, .limit = -1 };

/* The class that holds n bytes, and its size. */
static int class_of(size_t n, size_t *size) {
    if (n < 64) n = 64;
    int top = 63 - __builtin_clzll((unsigned long long)n);
    size_t step = (size_t)1 << (top - 3), base = (size_t)1 << top;
    size_t k = (n - base + step - 1) / step;
    if (k == 8) { top++; k = 0; }
    *size = ((size_t)1 << top) + k * ((size_t)1 << (top - 3));
    return (top - 6) * 8 + (int)k;
}

static int64_t default_limit(void) {
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? pages / 4 * size : (int64_t)1 << 30;
}

/* Zeroed pages, huge ones where the system gives them. */
static void *map_pages(size_t size) {
    void *probe = mem_alloc(1);          /* so that a test's failing allocation reaches mapped blocks too */
    if (!probe) return NULL;
    mem_free(probe);
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(p, size, MADV_HUGEPAGE);
#endif
    return p;
}

static void block_release(block *k) {
    if (k->raw) mem_free(k->raw);
    else munmap(k, k->size + HEADER);
}

static void pool_return(buffer *b) {
    block *k = (block *)b, *gone = NULL;
    pthread_mutex_lock(&pool.mutex);
    pool.live -= (int64_t)k->size;
    pool.count--;
    if (pool.limit < 0) pool.limit = default_limit();
    if (pool.cached + (int64_t)k->size <= pool.limit) {
        k->next = pool.free[k->class];
        pool.free[k->class] = k;
        pool.cached += (int64_t)k->size;
    } else {
        gone = k;
    }
    pthread_mutex_unlock(&pool.mutex);
    if (gone) block_release(gone);
}

static block *block_new(size_t size) {
    block *k;
    void *raw = NULL;
    if (size >= MAP_FROM) {
        k = map_pages(size + HEADER);
        if (!k) return NULL;
    } else {
        raw = mem_alloc(size + HEADER + 64);
        if (!raw) return NULL;
        k = (block *)(((uintptr_t)raw + 63) & ~(uintptr_t)63);
    }
    memset(k, 0, sizeof *k);
    k->raw = raw;
    k->size = size;
    return k;
}

buffer *pool_buffer(int64_t bytes, message *m) {
    if (bytes < 0 || bytes > (int64_t)1 << 46) { fail(m, KN_MEMORY_ERROR, "an array of %lld bytes is larger than memory", (long long)bytes); return NULL; }
    size_t size;
    int class = class_of((size_t)bytes, &size);
    pthread_mutex_lock(&pool.mutex);
    block *k = pool.free[class];
    if (k) {
        pool.free[class] = k->next;
        pool.cached -= (int64_t)k->size;
    }
    pthread_mutex_unlock(&pool.mutex);
    if (!k && !(k = block_new(size))) {
        pool_trim();
        if (!(k = block_new(size))) {
            fail(m, KN_MEMORY_ERROR, "out of memory: %lld bytes were asked for, %lld bytes are in use by arrays", (long long)bytes, (long long)pool.live);
            return NULL;
        }
    }
    k->class = class;
    k->b = (buffer){ .refs = 1, .device = KN_CPU, .aligned = true, .data = (char *)k + HEADER, .size = (size_t)bytes, .destroy = pool_return };
    pthread_mutex_lock(&pool.mutex);
    pool.live += (int64_t)k->size;
    pool.count++;
    if (pool.live > pool.peak) pool.peak = pool.live;
    pthread_mutex_unlock(&pool.mutex);
    return &k->b;
}

void pool_trim(void) {
    for (int c = 0; c < NCLASSES; c++) {
        pthread_mutex_lock(&pool.mutex);
        block *k = pool.free[c];
        pool.free[c] = NULL;
        for (block *j = k; j; j = j->next) pool.cached -= (int64_t)j->size;
        pthread_mutex_unlock(&pool.mutex);
        while (k) {
            block *next = k->next;
            block_release(k);
            k = next;
        }
    }
}

void pool_limit(int64_t bytes) {
    pthread_mutex_lock(&pool.mutex);
    pool.limit = bytes < 0 ? default_limit() : bytes;
    bool over = pool.cached > pool.limit;
    pthread_mutex_unlock(&pool.mutex);
    if (over) pool_trim();
}

void pool_count(runtime_counts *out) {
    pthread_mutex_lock(&pool.mutex);
    out->bytes_live = (uint64_t)pool.live;
    out->bytes_peak = (uint64_t)pool.peak;
    out->bytes_cached = (uint64_t)pool.cached;
    out->buffers_live = (uint64_t)pool.count;
    pthread_mutex_unlock(&pool.mutex);
}

void pool_peak_reset(void) {
    pthread_mutex_lock(&pool.mutex);
    pool.peak = pool.live;
    pthread_mutex_unlock(&pool.mutex);
}

static void host_return(buffer *b) { mem_free(b); }

buffer *host_buffer(void *data, size_t size, bool readonly, void (*destroy)(buffer *), void *owner, message *m) {
    buffer *b = mem_alloc(sizeof *b);
    if (!b) { fail_memory(m, "taking in host memory"); return NULL; }
    *b = (buffer){ .refs = 1, .device = KN_CPU, .readonly = readonly, .aligned = (uintptr_t)data % 64 == 0, .data = data, .size = size,
                   .destroy = destroy ? destroy : host_return, .owner = owner };
    return b;
}
