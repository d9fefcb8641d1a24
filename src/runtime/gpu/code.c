/* code.c: kernels of a GPU by the bytes of their IR: from memory, from the disk cache, else compiled; and their launch. */
#include <string.h>
#include "runtime/disk_cache.h"
#include "runtime/gpu/gpu.h"

#define EMITTER_VERSION 1                     /* raised whenever emitted source for the same IR changes */
#define MOST_CODE 4096
#define FEW_ARGS 96

struct gpu_code {
    uint32_t refs;
    gpu_code *next;
    uint64_t hash, last_use;
    char *bytes; size_t nbytes;
    void *module, *function;
    uint16_t block[3];
    bool faults, ordered;
    void *ticket;                             /* of ordered kernels: a word that is 0 between launches */
};

static void gpu_code_free(gpu *g, gpu_code *c) {
    if (c->module && !gpu_enter(g, NULL)) {
        g->call.stream_wait(g->stream);
        if (c->ticket) g->call.release(c->ticket);
        g->call.module_unload(c->module);
    }
    mem_free(c->bytes);
    mem_free(c);
}

void gpu_kernel_drop(device *d, void *code) {
    gpu_code *c = code;
    if (c && __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) == 0) gpu_code_free(gpu_of(d), c);
}

static gpu_code *lookup(gpu *g, uint64_t hash, const text *bytes) {
    for (gpu_code *c = g->chain[hash % GPU_CHAINS]; c; c = c->next)
        if (c->hash == hash && c->nbytes == bytes->len && !memcmp(c->bytes, bytes->at, bytes->len)) {
            c->last_use = ++g->clock;
            __atomic_fetch_add(&c->refs, 1, __ATOMIC_RELAXED);
            return c;
        }
    return NULL;
}

static gpu_code *evict_one(gpu *g) {
    gpu_code **oldest = NULL;
    for (int i = 0; i < GPU_CHAINS; i++)
        for (gpu_code **p = &g->chain[i]; *p; p = &(*p)->next) if (!oldest || (*p)->last_use < (*oldest)->last_use) oldest = p;
    gpu_code *c = oldest ? *oldest : NULL;
    if (c) { *oldest = c->next; g->ncode--; }
    return c;
}

static digest code_key(const gpu *g, const text *bytes) {
    text t = { 0 };
    text_addn(&t, bytes->at, bytes->len);
    text_add(&t, "%s emitter %d", g->arch, EMITTER_VERSION);
    text_addn(&t, (const char *)&device_digest, sizeof device_digest);
    digest d = t.failed ? (digest){ { 0 } } : digest_bytes(t.at, t.len);
    text_free(&t);
    return d;
}

/* The kernel under the one name that cached code has: the bytes that find it do not hold names. */
static kn_status compile(gpu *g, const kernel *k, text *binary, message *m) {
    text source = { 0 };
    kernel named = *k;
    strcpy(named.name, "kiln");
    kn_status status = source_print(&named, g->dialect, &source, m);
    if (!status) status = gpu_compile(g->dialect, source.at, k->name, g->arch, binary, m);
    text_free(&source);
    return status;
}

static kn_status load(gpu *g, gpu_code *c, const text *binary, message *m) {
    if (gpu_enter(g, m)) return KN_RUNTIME_ERROR;
    int status = g->call.module_load(&c->module, binary->at);
    if (!status) status = g->call.module_function(&c->function, c->module, "kiln");
    if (!status && c->ordered && !(status = g->call.allocate(&c->ticket, sizeof(uint32_t)))) status = g->call.fill(c->ticket, 0, sizeof(uint32_t), g->stream);
    return gpu_check(g, status, "loading a kernel", m);
}

static gpu_code *code_new(gpu *g, const kernel *k, const text *bytes, uint64_t hash, message *m) {
    gpu_code *c = mem_zero(1, sizeof *c);
    text binary = { 0 };
    const char *kind = g->dialect == DIALECT_CUDA ? "cubin" : "hsaco";
    if (!c || !(c->bytes = mem_alloc(bytes->len + 1))) { mem_free(c); fail_memory(m, "keeping a kernel"); return NULL; }
    memcpy(c->bytes, bytes->at, bytes->len);
    c->nbytes = bytes->len;
    c->hash = hash;
    c->refs = 1;
    c->faults = k->faults;
    c->ordered = k->ordered;
    memcpy(c->block, k->block, sizeof c->block);
    digest key = code_key(g, bytes);
    bool good = disk_cache_get(kind, key, &binary) && !load(g, c, &binary, NULL);
    if (good) {
        __atomic_fetch_add(&g->from_disk, 1, __ATOMIC_RELAXED);
    } else {
        text_free(&binary);
        good = !compile(g, k, &binary, m) && !load(g, c, &binary, m);
        if (good) {
            __atomic_fetch_add(&g->compiled, 1, __ATOMIC_RELAXED);
            disk_cache_put(kind, key, gpu_compiler_version(g->dialect), binary.at, binary.len);
        }
    }
    text_free(&binary);
    if (good) return c;
    gpu_code_free(g, c);
    return NULL;
}

void *gpu_kernel(device *d, const kernel *k, message *m) {
    gpu *g = gpu_of(d);
    text bytes = { 0 };
    kernel_bytes(k, &bytes);
    if (bytes.failed) { text_free(&bytes); fail_memory(m, "looking up a kernel"); return NULL; }
    uint64_t hash = hash_bytes(bytes.at, bytes.len, 0);
    pthread_mutex_lock(&g->code_mutex);
    gpu_code *c = lookup(g, hash, &bytes), *gone = NULL, *made = NULL;
    pthread_mutex_unlock(&g->code_mutex);
    if (!c && (made = code_new(g, k, &bytes, hash, m))) {
        pthread_mutex_lock(&g->code_mutex);
        if (!(c = lookup(g, hash, &bytes))) {          /* another thread may have been faster */
            if (g->ncode >= MOST_CODE) gone = evict_one(g);
            c = made;
            made = NULL;
            c->refs = 2;
            c->last_use = ++g->clock;
            c->next = g->chain[hash % GPU_CHAINS];
            g->chain[hash % GPU_CHAINS] = c;
            g->ncode++;
        }
        pthread_mutex_unlock(&g->code_mutex);
        gpu_kernel_drop(d, made);
        gpu_kernel_drop(d, gone);
    }
    text_free(&bytes);
    return c;
}

kn_status gpu_launch(device *d, void *code, const plan_step *s, const uint64_t *args, uint64_t *fault, message *m) {
    gpu *g = gpu_of(d);
    gpu_code *c = code;
    void *few[FEW_ARGS + 2], **all = few;
    (void)fault;
    if (gpu_enter(g, m)) return KN_RUNTIME_ERROR;
    if (s->nargs > FEW_ARGS && !(all = mem_array((size_t)s->nargs + 2, sizeof *all))) return fail_memory(m, "launching a kernel");
    int n = 0;
    for (; n < s->nargs; n++) all[n] = (void *)&args[n];
    if (c->faults) all[n++] = &g->fault;
    if (c->ordered) all[n++] = &c->ticket;
    int status = g->call.launch(c->function, (unsigned)s->grid[0], (unsigned)s->grid[1], (unsigned)s->grid[2], c->block[0], c->block[1], c->block[2], 0, g->stream, all, NULL);
    __atomic_fetch_add(&g->launches, 1, __ATOMIC_RELAXED);
    if (all != few) mem_free(all);
    return gpu_check(g, status, "launching a kernel", m);
}

kn_status gpu_finish(device *d, uint64_t *fault, message *m) {
    gpu *g = gpu_of(d);
    uint64_t found = FAULT_NONE;
    kn_status status = d->download(d, &found, g->fault, sizeof found, m);
    if (status || found == FAULT_NONE) return status;
    if (found < *fault) *fault = found;
    return gpu_check(g, g->call.fill(g->fault, 0xff, sizeof found, g->stream), "clearing memory", m);
}
