/* session.c: a machine with the job's inputs: files, declared arrays, random values. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "frontend/command/command.h"
#include "frontend/language/machine.h"
#include "kiln.h"
#include "runtime/runtime.h"

static void print_out(const char *s, size_t n, void *arg) { fwrite(s, 1, n, arg); }

/* ---- inputs ---- */

static int64_t count_of(const binding *b) {
    int64_t n = 1;
    for (int d = 0; d < b->ndim; d++) if (mul_overflows(n, b->shape[d], &n)) return -1;
    return n;
}

typedef struct pages { void *at; size_t size; } pages;

static void unmap(void *data, void *arg) {
    pages *p = arg;
    (void)data;
    munmap(p->at, p->size);
    mem_free(p);
}

/* Zeroed memory for a declared array, which takes no room until it is written. NULL with *error. */
static pages *pages_for(const binding *b, kn_array *error) {
    int64_t n = count_of(b), bytes;
    if (n < 0 || mul_overflows(n, (int64_t)dtype_size(b->dtype), &bytes)) { *error = array_fail(KN_VALUE_ERROR, "%s: the array is too big", b->name); return NULL; }
    pages *p = mem_alloc(sizeof *p);
    if (!p) { *error = array_fail(KN_MEMORY_ERROR, "%s: out of memory", b->name); return NULL; }
    p->size = (size_t)bytes + 64;
    p->at = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->at != MAP_FAILED) return p;
    mem_free(p);
    *error = array_fail(KN_MEMORY_ERROR, "%s: the system has no room for %lld bytes", b->name, (long long)bytes);
    return NULL;
}

static kn_array array_on(const binding *b, pages *p) { return kn_from_memory(b->dtype, p->at, (kn_shape){ b->ndim, b->shape }, NULL, KN_BORROW, unmap, p); }

static kn_array declared(const binding *b) {
    kn_array error;
    pages *p = pages_for(b, &error);
    return p ? array_on(b, p) : error;
}

/* Splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

typedef struct fill { const binding *b; char *at; uint64_t seed; } fill;

/* Uniform in [low, high); integers in low ... high - 1, both bools. Every element has a number of its own, so that threads may share them. */
static void fill_part(void *arg, int64_t lo, int64_t hi) {
    const fill *f = arg;
    const binding *b = f->b;
    bool whole = dtype_is_integer(b->dtype) || b->dtype == KN_BOOL;
    double low = b->ranged ? b->low : 0, high = b->ranged ? b->high : b->dtype == KN_BOOL ? 2 : whole ? 100 : 1;
    size_t size = dtype_size(b->dtype);
    for (int64_t i = lo; i < hi; i++) {
        uint64_t state = f->seed + 0x9e3779b97f4a7c15u * 2 * (uint64_t)i;
        double re = low + (double)(next_random(&state) >> 11) * 0x1p-53 * (high - low), im = low + (double)(next_random(&state) >> 11) * 0x1p-53 * (high - low);
        char *to = f->at + (size_t)i * size;
        if (whole) element_store(b->dtype, to, (scalar){ SCALAR_INT, { .i = (int64_t)re } });
        else if (!dtype_is_complex(b->dtype)) element_store(b->dtype, to, (scalar){ SCALAR_FLOAT, { .f = re } });
        else element_store(b->dtype, to, (scalar){ SCALAR_COMPLEX, { .c = { re, im } } });
    }
}

static kn_array randomised(const binding *b, uint64_t seed) {
    kn_array error;
    pages *p = pages_for(b, &error);
    if (!p) return error;
    fill f = { b, p->at, seed };
    workers_run(fill_part, &f, count_of(b), 1 << 16);
    return array_on(b, p);
}

static bool read_all(FILE *f, text *t) {
    char part[65536];
    size_t n;
    while ((n = fread(part, 1, sizeof part, f)) > 0) text_addn(t, part, n);
    return !ferror(f) && !t->failed;
}

static kn_array raw(const binding *b) {
    int64_t n = count_of(b), bytes = 0;
    FILE *f = !strcmp(b->file, "-") ? stdin : fopen(b->file, "rb");
    text t = { 0 };
    if (!f) return array_fail(KN_FILE_ERROR, "%s: %s", b->file, strerror(errno));
    bool good = read_all(f, &t);
    if (f != stdin) fclose(f);
    kn_array a;
    if (!good) a = array_fail(KN_FILE_ERROR, "%s: it cannot be read", b->file);
    else if (n < 0 || mul_overflows(n, (int64_t)dtype_size(b->dtype), &bytes) || (size_t)bytes != t.len) a = array_fail(KN_VALUE_ERROR, "%s: it has %zu bytes, the declared array %lld", b->file, t.len, (long long)bytes);
    else a = kn_from_memory(b->dtype, t.at ? t.at : (char[]){ 0 }, (kn_shape){ b->ndim, b->shape }, NULL, KN_COPY, NULL, NULL);
    text_free(&t);
    return a;
}

/* Standard input as a file, since readers go back and forth in theirs. */
static kn_array from_standard_input(const binding *b) {
    char path[TEMPORARY_PATH];
    text t = { 0 };
    FILE *f = temporary_open(path, "");
    if (!f) return array_fail(KN_FILE_ERROR, "%s: a temporary file cannot be made: %s", b->name, strerror(errno));
    bool good = read_all(stdin, &t) && fwrite(t.at ? t.at : "", 1, t.len, f) == t.len;
    good = fclose(f) == 0 && good;
    text_free(&t);
    kn_array a = good ? b->member ? kn_load_named(path, b->member) : kn_load(path) : array_fail(KN_FILE_ERROR, "%s: standard input cannot be read", b->name);
    remove(path);
    return a;
}

static kn_array input(const binding *b, input_kind inputs, uint64_t seed) {
    if (b->file && b->declared) return raw(b);
    if (b->file && !strcmp(b->file, "-")) return from_standard_input(b);
    if (b->file) return b->member ? kn_load_named(b->file, b->member) : kn_load(b->file);
    if (inputs == INPUT_FILES) return array_fail(KN_VALUE_ERROR, "%s: run needs values: name it with a file (emit, explain and bench take declared arrays)", b->name);
    return inputs == INPUT_RANDOM ? randomised(b, seed) : declared(b);
}

static int bind_inputs(session *s, const job *j, input_kind inputs) {
    for (int i = 0; i < j->nbindings; i++) {
        kn_array a = input(&j->bindings[i], inputs, j->seed + 1000003u * (uint64_t)(i + 1));
        value v = array_value(s->m, a, false);
        bool good = !absent(v) && machine_let(s->m, j->bindings[i].name, v);
        value_drop(s->m, v);
        if (!good) return complain_of(s->m);
    }
    return EXIT_GOOD;
}

/* ---- opening and closing ---- */

static int choose_device(const job *j) {
    static const struct { const char *name; kn_device kind; } names[] = { { "cpu", KN_CPU }, { "reference", KN_CPU }, { "cuda", KN_CUDA }, { "hip", KN_HIP }, { "cuda:0", KN_CUDA }, { "hip:0", KN_HIP } };
    if (!j->device) return EXIT_GOOD;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(j->device, names[i].name)) continue;
        if (!strcmp(j->device, "reference")) jit_set(JIT_NEVER);
        return kn_set_device(names[i].kind) ? complain(EXIT_PROGRAM, "--device %s: %s", j->device, kn_error()) : EXIT_GOOD;
    }
    return complain(EXIT_USAGE, "--device %s: cpu, cuda, hip and reference are known", j->device);
}

int session_open(session *s, const job *j, input_kind inputs) {
    message why = { 0 };
    *s = (session){ .scope = kn_scope_open() };
    frontend_prepare();
    int status = choose_device(j);
    if (status) return status;
    if (!(s->m = machine_new(&why))) return complain(EXIT_PROGRAM, "%s", why.text);
    s->m->output = print_out;
    s->m->output_arg = stdout;
    s->m->seed = j->seed;
    s->m->limits.steps = j->steps;
    s->m->limits.seconds = j->seconds;
    status = bind_inputs(s, j, inputs);
    if (status || !j->program) return status;
    return syntax_parse(j->program, j->length, j->program_name, NULL, &s->tree, NULL, &why) ? complain(EXIT_PROGRAM, "%s", why.text) : EXIT_GOOD;
}

void session_close(session *s) {
    if (s->m) machine_free(s->m);
    syntax_free(s->tree);
    kn_scope_close(s->scope);
}

/* ---- what is left to compute ---- */

static bool pending(kn_array a) {
    slot *s = slot_of(a);
    return s && s->kind == SLOT_ARRAY && !node_ready(s->c->value);
}

static void collect(value v, kn_array *roots, int *n, int depth) {
    if (v.kind == VALUE_ARRAY && pending(as_array(v)->array) && *n < MOST_ROOTS) roots[(*n)++] = as_array(v)->array;
    if (depth == 8) return;
    if (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST) for (size_t i = 0; i < as_sequence(v)->n; i++) collect(as_sequence(v)->at[i], roots, n, depth + 1);
    const pair *p;
    size_t at = 0;
    while (v.kind == VALUE_DICT && (p = dict_next(v, &at))) collect(p->item, roots, n, depth + 1);
}

int session_roots(session *s, value last, kn_array *roots) {
    int n = 0;
    collect(last, roots, &n, 0);
    if (n) return n;
    for (uint32_t i = 0; i < s->m->state->nglobals; i++) collect(s->m->state->globals[i].v, roots, &n, 0);
    return n;
}
