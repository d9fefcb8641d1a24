/* kernels.c: compiled kernels, found by the canonical bytes of their IR.
 *
 * How it works: a table in memory maps the bytes to an entry, which holds a copy of the IR and, once there is some, machine
 * code. Code comes from the disk cache or from LLVM; until then, and where neither is to be had, the interpreter runs
 * the IR. A tiny first run is interpreted, because compiling would take longer than it can ever give back.
 * What a kernel computes, and where its arguments come from, must not be put here. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/disk_cache.h"
#include "runtime/internal.h"

#define EMITTER_VERSION 1                 /* raised whenever emitted code for the same IR changes */
#define TABLE_SIZE 8192                   /* chains; a power of two */
#define MOST_KERNELS 4096
#define TINY_WORK 20000                   /* element operations that the interpreter does sooner than LLVM compiles */
#define TINY_RUNS 3                       /* tiny runs before it is worth compiling all the same */
#define PARALLEL_WORK 60000               /* element operations below which one thread is faster than waking another */

struct compiled {
    uint32_t refs;
    compiled *next;
    uint64_t hash, last_use;
    char *bytes; size_t nbytes;
    arena mem;
    kernel *ir;
    pthread_mutex_t mutex;                /* held while looking for code */
    int state;                    /* CODE_* */
    cpu_code *code;
    cpu_entry entry;
    uint32_t runs;
};
enum { CODE_UNKNOWN, CODE_WANTED, CODE_READY, CODE_NONE };   /* WANTED: not on disk; NONE: cannot be compiled here */

static struct {
    pthread_mutex_t mutex;
    compiled *chain[TABLE_SIZE];
    int count;
    uint64_t clock, built, compiled, from_disk, interpreted, launches;
} table = { .mutex = PTHREAD_MUTEX_INITIALIZER };
static int mode = -1;

#define COUNT(field) __atomic_fetch_add(&table.field, 1, __ATOMIC_RELAXED)

void jit_set(jit_mode m) { __atomic_store_n(&mode, (int)m, __ATOMIC_RELAXED); }

static jit_mode jit(void) {
    int m = __atomic_load_n(&mode, __ATOMIC_RELAXED);
    if (m < 0) {
        const char *s = getenv("KILN_JIT");
        m = s && !strcmp(s, "always") ? JIT_ALWAYS : s && !strcmp(s, "never") ? JIT_NEVER : JIT_AUTO;
        __atomic_store_n(&mode, m, __ATOMIC_RELAXED);
    }
    return (jit_mode)m;
}

static void compiled_free(compiled *c) {
    if (c->code) code_free(c->code);
    pthread_mutex_destroy(&c->mutex);
    mem_free(c->bytes);
    arena_free(&c->mem);
    mem_free(c);
}

void compiled_drop(compiled *c) {
    if (c && __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) == 0) compiled_free(c);
}

static void *copy_of(arena *a, const void *p, size_t n) {
    void *q = arena_alloc(a, n ? n : 1);
    if (q && n) memcpy(q, p, n);
    return q;
}

/* The IR without what only readers of source want. */
static kernel *kernel_copy(const kernel *k, arena *a) {
    kernel *c = copy_of(a, k, sizeof *k);
    if (!c) return NULL;
    c->mem = a;
    c->comment = NULL;
    c->names = NULL;
    strcpy(c->name, "kernel");            /* one entry name for all: the bytes that find an entry do not hold names */
    c->params = copy_of(a, k->params, k->nparams * sizeof *k->params);
    c->code = copy_of(a, k->code, k->ncode * sizeof *k->code);
    c->extra = copy_of(a, k->extra, k->nextra * sizeof *k->extra);
    c->texts = k->ntexts ? arena_zero(a, k->ntexts, sizeof *c->texts) : NULL;
    c->code_cap = k->ncode;
    c->extra_cap = k->nextra;
    if (!c->params || !c->code || !c->extra || (k->ntexts && !c->texts)) return NULL;
    for (uint32_t i = 0; i < k->nparams; i++) {
        const char *name = k->params[i].name;
        if (name && !(c->params[i].name = copy_of(a, name, strlen(name) + 1))) return NULL;
    }
    for (uint32_t i = 0; i < k->ntexts; i++) c->texts[i] = "";
    return c;
}

static compiled *compiled_new(const kernel *k, text *bytes, uint64_t hash, message *m) {
    compiled *c = mem_zero(1, sizeof *c);
    if (!c) { fail_memory(m, "keeping a kernel"); return NULL; }
    pthread_mutex_init(&c->mutex, NULL);
    c->refs = 1;
    c->hash = hash;
    c->ir = kernel_copy(k, &c->mem);
    c->bytes = mem_alloc(bytes->len + 1);
    if (!c->ir || !c->bytes) { compiled_free(c); fail_memory(m, "keeping a kernel"); return NULL; }
    memcpy(c->bytes, bytes->at, bytes->len);
    c->nbytes = bytes->len;
    return c;
}

/* Unlinks the entry that was used longest ago. */
static compiled *evict_one(void) {
    compiled **oldest = NULL;
    for (int i = 0; i < TABLE_SIZE; i++)
        for (compiled **p = &table.chain[i]; *p; p = &(*p)->next)
            if (!oldest || (*p)->last_use < (*oldest)->last_use) oldest = p;
    compiled *c = oldest ? *oldest : NULL;
    if (c) { *oldest = c->next; table.count--; }
    return c;
}

static compiled *lookup(uint64_t hash, const text *bytes) {
    for (compiled *c = table.chain[hash & (TABLE_SIZE - 1)]; c; c = c->next)
        if (c->hash == hash && c->nbytes == bytes->len && !memcmp(c->bytes, bytes->at, bytes->len)) {
            c->last_use = ++table.clock;
            __atomic_fetch_add(&c->refs, 1, __ATOMIC_RELAXED);
            return c;
        }
    return NULL;
}

compiled *compiled_find(const kernel *k, message *m) {
    text bytes = { 0 };
    kernel_bytes(k, &bytes);
    if (bytes.failed) { text_free(&bytes); fail_memory(m, "looking up a kernel"); return NULL; }
    uint64_t hash = hash_bytes(bytes.at, bytes.len, 0);
    pthread_mutex_lock(&table.mutex);
    compiled *c = lookup(hash, &bytes);
    pthread_mutex_unlock(&table.mutex);
    if (!c) {
        compiled *made = compiled_new(k, &bytes, hash, m), *gone = NULL;
        pthread_mutex_lock(&table.mutex);
        c = made ? lookup(hash, &bytes) : NULL;      /* another thread may have been faster */
        if (made && !c) {
            if (table.count >= MOST_KERNELS) gone = evict_one();
            c = made;
            c->refs = 2;
            c->last_use = ++table.clock;
            c->next = table.chain[hash & (TABLE_SIZE - 1)];
            table.chain[hash & (TABLE_SIZE - 1)] = c;
            table.count++;
            table.built++;
            made = NULL;
        }
        pthread_mutex_unlock(&table.mutex);
        if (made) compiled_free(made);
        compiled_drop(gone);
    }
    text_free(&bytes);
    return c;
}

/* ---- code: from disk, from LLVM ---- */

/* False when there is no memory to make it. */
static bool code_key(const compiled *c, digest *key) {
    text t = { 0 };
    const char *features = cpu_features();
    text_addn(&t, c->bytes, c->nbytes);
    text_addn(&t, features, strlen(features) + 1);
    text_add(&t, "emitter %d", EMITTER_VERSION);
    text_addn(&t, (const char *)&device_digest, sizeof device_digest);
    bool made = !t.failed;
    if (made) *key = digest_bytes(t.at, t.len);
    text_free(&t);
    return made;
}

static kn_status install(compiled *c, const text *object) {
    kn_status status = code_load(object->at, object->len, c->ir->name, &c->code, NULL);
    if (!status) c->entry = code_entry(c->code);
    return status;
}

static void code_from_disk(compiled *c) {
    text object = { 0 };
    digest key;
    bool got = code_key(c, &key) && disk_cache_get("cpu", key, &object) && !install(c, &object);
    text_free(&object);
    if (got) COUNT(from_disk);
    __atomic_store_n(&c->state, got ? CODE_READY : CODE_WANTED, __ATOMIC_RELEASE);
}

/* What fails for lack of memory is tried again at the next run. */
static void code_from_llvm(compiled *c) {
    text object = { 0 };
    message m = { 0 };
    digest key;
    kn_status status = llvm_compile(c->ir, NULL, &object, &m);
    if (!status) status = object.failed ? KN_MEMORY_ERROR : install(c, &object);
    if (!status) {
        COUNT(compiled);
        if (code_key(c, &key)) disk_cache_put("cpu", key, llvm_version(), object.at, object.len);
    }
    text_free(&object);
    __atomic_store_n(&c->state, !status ? CODE_READY : status == KN_MEMORY_ERROR ? CODE_WANTED : CODE_NONE, __ATOMIC_RELEASE);
}

/* Afterwards the state tells whether there is code. */
static int find_code(compiled *c, int64_t work) {
    jit_mode how = jit();
    int state = __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
    if (how == JIT_NEVER) return CODE_NONE;
    if (state >= CODE_READY) return state;
    if (state == CODE_WANTED && how == JIT_AUTO && work > 0 && work <= TINY_WORK && __atomic_load_n(&c->runs, __ATOMIC_RELAXED) < TINY_RUNS) return state;
    pthread_mutex_lock(&c->mutex);
    if (__atomic_load_n(&c->state, __ATOMIC_RELAXED) == CODE_UNKNOWN) code_from_disk(c);
    bool tiny = how == JIT_AUTO && work > 0 && work <= TINY_WORK && __atomic_load_n(&c->runs, __ATOMIC_RELAXED) < TINY_RUNS;
    if (__atomic_load_n(&c->state, __ATOMIC_RELAXED) == CODE_WANTED && !tiny) code_from_llvm(c);
    state = __atomic_load_n(&c->state, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&c->mutex);
    return state;
}

/* ---- running ---- */

typedef struct job {
    compiled *c;
    const uint64_t *args;
    uint64_t *fault;
    bool interpret;
    message m;
    pthread_mutex_t mutex;
} job;

static void run_part(void *arg, int64_t lo, int64_t hi) {
    job *j = arg;
    if (!j->interpret) { j->c->entry(j->args, lo, hi, j->fault); return; }
    message m = { 0 };
    if (reference_run(j->c->ir, j->args, lo, hi, j->fault, &m)) {
        pthread_mutex_lock(&j->mutex);
        if (!j->m.status) j->m = m;
        pthread_mutex_unlock(&j->mutex);
    }
}

kn_status compiled_run(compiled *c, const uint64_t *args, int64_t grid, bool serial, int64_t work, uint64_t *fault, message *m) {
    job j = { .c = c, .args = args, .fault = fault, .interpret = find_code(c, work) != CODE_READY };
    __atomic_fetch_add(&c->runs, 1, __ATOMIC_RELAXED);
    COUNT(launches);
    if (j.interpret) COUNT(interpreted);
    if (!j.interpret && (serial || grid <= 1 || (work > 0 && work < PARALLEL_WORK))) {
        c->entry(args, 0, grid, fault);
        return KN_OK;
    }
    pthread_mutex_init(&j.mutex, NULL);
    if (serial || grid <= 1) run_part(&j, 0, grid);
    else workers_run(run_part, &j, grid, work > grid ? 1 + PARALLEL_WORK / (work / grid + 1) : 1);
    pthread_mutex_destroy(&j.mutex);
    return j.m.status ? fail(m, j.m.status, "%s", j.m.text) : KN_OK;
}

void kernels_count(runtime_counts *out) {
    out->kernels_built = __atomic_load_n(&table.built, __ATOMIC_RELAXED);
    out->kernels_compiled = __atomic_load_n(&table.compiled, __ATOMIC_RELAXED);
    out->kernels_from_disk = __atomic_load_n(&table.from_disk, __ATOMIC_RELAXED);
    out->kernels_interpreted = __atomic_load_n(&table.interpreted, __ATOMIC_RELAXED);
    out->launches = __atomic_load_n(&table.launches, __ATOMIC_RELAXED);
}

void kernels_forget(void) {
    for (int i = 0; i < TABLE_SIZE; i++) {
        pthread_mutex_lock(&table.mutex);
        compiled *c = table.chain[i];
        table.chain[i] = NULL;
        for (compiled *j = c; j; j = j->next) table.count--;
        pthread_mutex_unlock(&table.mutex);
        while (c) {
            compiled *next = c->next;
            compiled_drop(c);
            c = next;
        }
    }
}
