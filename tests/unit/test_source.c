/* Source: emitted CUDA and HIP source compiles, reads well, and computes what the interpreter computes.
 * time-out: 900 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../gpu/nests.h"
#include "../support/host_source.h"
#include "../support/made_kernels.h"
#include "../support/rtc.h"

/* ---- compiling ---- */

static void compiles_as(const kernel *k, dialect d, bool portable, const char *arch) {
    message m = { 0 };
    text source = { 0 }, log = { 0 }, binary = { 0 };
    cr_assert(kernel_ok(k));
    cr_assert_eq(kernel_verify(k, &m), KN_OK, "%s: %s", k->name, m.text);
    cr_assert_eq(source_print_as(k, d, portable, &source, &m), KN_OK, "%s: %s", k->name, m.text);
    bool good = rtc_compile(d, source.at, arch, &binary, &log);
    cr_assert(good && binary.len > 100, "%s for %s does not compile:\n%s\n%s", k->name, arch, log.at ? log.at : "", source.at);
    cr_assert(!strstr(source.at, "#include"), "%s includes a header", k->name);
    text_free(&source);
    text_free(&log);
    text_free(&binary);
}

static const struct { dialect d; const char *arch; int warp; } targets[] = {
    { DIALECT_CUDA, "sm_90", 32 }, { DIALECT_HIP, "gfx90a", 64 }, { DIALECT_CUDA, "sm_75", 32 }, { DIALECT_CUDA, "sm_120", 32 }, { DIALECT_HIP, "gfx1030", 32 } };
enum { TWO = 2, ALL = 5 };

/* Is there a compiler for this target, and does it know it? Absent ones are named once. */
static bool have(int target) {
    static int known[ALL];   /* 0 not asked, 1 yes, 2 no */
    const char *why;
    if (!known[target]) {
        known[target] = rtc_available(targets[target].d, &why) && rtc_knows(targets[target].d, targets[target].arch) ? 1 : 2;
        if (known[target] == 2) fprintf(stderr, "test_source: %s left out: %s\n", targets[target].arch, *why ? why : "the compiler does not know it");
    }
    return known[target] == 1;
}

Test(source, every_primitive_compiles) {
    for (int t = 0; t < MADE_TYPES; t++)
        for (int i = 0; i < TWO; i++) {
            arena mem = { 0 };
            uint32_t results[NKTYPES];
            if (have(i)) compiles_as(made_primitives(&mem, made_types[t], results), targets[i].d, false, targets[i].arch);
            arena_free(&mem);
        }
}

Test(source, programs_made_at_random_compile) {
    for (uint32_t seed = 1000; seed < 1020; seed++)
        for (int i = 0; i < TWO; i++) {
            arena mem = { 0 };
            if (have(i)) compiles_as(made_random(&mem, seed, (made_options){ .halves = true }), targets[i].d, false, targets[i].arch);
            arena_free(&mem);
        }
}

Test(source, hand_written_kernels_compile_everywhere) {
    for (int i = 0; i < ALL; i++) {
        if (!have(i)) continue;
        nest_shape s = { .threads = 256, .vectors = 2, .tile = 64, .warp = targets[i].warp, .relaxed = i % 2, .stream = STREAM_ALL, .kept = 2, .resident = 2 };
        kernel *(*const nests[])(arena *, nest_shape) = { nest_map, nest_softmax, nest_sum, nest_transpose, nest_scan };
        for (int n = 0; n < 5; n++) {
            arena mem = { 0 };
            compiles_as(nests[n](&mem, s), targets[i].d, false, targets[i].arch);
            arena_free(&mem);
        }
    }
}

/* ---- kernels for the parts of the IR that the others do not use ---- */

typedef struct open_kernel { kernel *k; kval block, thread, index; } open_kernel;

static open_kernel start_kernel(arena *mem, const char *name, const kparam *params, uint32_t n, int warp) {
    open_kernel o = { kernel_new(mem, name, params, n), 0, 0, 0 };
    cr_assert(o.k);
    o.k->block[0] = 64;
    o.k->block[1] = o.k->block[2] = 1;
    o.k->warp = (uint16_t)warp;
    kval zero = kb_const_int(o.k, T_I32, 0), one = kb_const_int(o.k, T_I32, 1), size = kb_const_int(o.k, T_I32, 64);
    o.block = kb_for(o.k, LOOP_GRID, T_I32, zero, kb_const_int(o.k, T_I32, 3), one);
    o.thread = kb_for(o.k, LOOP_BLOCK, T_I32, zero, size, one);
    o.index = kb_op(o.k, KOP_add, T_I32, kb_op(o.k, KOP_mul, T_I32, o.block, size, 0), o.thread, 0);
    return o;
}

static kernel *end_kernel(open_kernel *o) {
    kb_end(o->k, o->thread);
    kb_end(o->k, o->block);
    return o->k;
}

static kparam array(const char *name, ktype type, bool read, bool written) {
    return (kparam){ .name = name, .type = type, .array = true, .read = read, .written = written, .aligned = true };
}

static kval i32(kernel *k, int64_t v) { return kb_const_int(k, T_I32, v); }
static kval load(kernel *k, ktype t, kval from, kval at) { return kb_inst(k, K_LOAD, t, 0, from, at, 0); }
static void store(kernel *k, kval to, kval at, kval v) { kb_inst(k, K_STORE, T_VOID, 0, to, at, v); }

static kernel *atomics(arena *mem, ktype t, int warp) {
    kparam params[] = { array("to", t, true, true), array("from", t, true, false) };
    open_kernel o = start_kernel(mem, arena_text(mem, "atomics_%s", ktype_table[t].name), params, 2, warp);
    kval v = load(o.k, t, 1, o.index), sum = v;
    for (int how = ATOMIC_ADD; how <= ATOMIC_EXCHANGE; how++) {
        if (ktype_table[t].is_float && how >= ATOMIC_AND && how <= ATOMIC_XOR) continue;
        kval old = kb_inst(o.k, K_ATOMIC, t, (uint8_t)how, 0, i32(o.k, how), v);
        if (how % 2) sum = kb_op(o.k, KOP_add, t, sum, old, 0);
    }
    sum = kb_op(o.k, KOP_add, t, sum, kb_cas(o.k, 0, i32(o.k, 9), v, sum), 0);
    store(o.k, 0, o.index, sum);
    for (int ordered = LOAD_ACQUIRE; ordered <= LOAD_RELAXED; ordered += LOAD_RELAXED - LOAD_ACQUIRE)
        kb_inst(o.k, K_STORE, T_VOID, (uint8_t)ordered, 0, o.index, kb_inst(o.k, K_LOAD, t, (uint8_t)ordered, 0, o.thread, 0));
    return end_kernel(&o);
}

/* Elements of every storage type, alone and as vectors, with each hint. */
static kernel *memory(arena *mem, ktype t, int warp) {
    kparam params[] = { array("to", t, true, true), array("from", t, true, false), array("other", t, true, false) };
    params[2].aliased = true;
    open_kernel o = start_kernel(mem, arena_text(mem, "memory_%s", ktype_table[t].name), params, 3, warp);
    kernel *k = o.k;
    ktype v = ktype_value(t);
    kval inside = kb_op(k, KOP_lt, T_BOOL, o.index, i32(k, 100), 0);
    store(k, 0, o.index, load(k, v, 1, o.index));
    kb_inst(k, K_STORE, T_VOID, STORE_STREAM, 0, o.index, kb_inst(k, K_LOAD, v, LOAD_STREAM, 1, o.index, inside + 1));
    store(k, 0, o.thread, kb_inst(k, K_LOAD, v, LOAD_READONLY, 2, o.index, 0));
    kval shared = kb_inst(k, K_SHARED, t, 0, 64, 0, 0);
    store(k, shared, o.thread, load(k, v, 0, o.thread));
    kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    for (uint8_t n = 2; n <= 16; n *= 2) {
        kval part = kb_inst(k, K_LOCAL, t, 0, n, 0, 0), at = kb_op(k, KOP_mul, T_I32, o.index, i32(k, n), 0);
        kb_inst(k, K_VLOAD, T_VOID, (uint8_t)(n | (n & 4 ? LOAD_STREAM : 0)), 1, at, part);
        store(k, part, i32(k, 1), load(k, v, shared, i32(k, n)));
        kb_inst(k, K_VSTORE, T_VOID, (uint8_t)(n | (n & 4 ? STORE_STREAM : 0)), 0, at, part);
    }
    return end_kernel(&o);
}

Test(source, every_structure_compiles) {
    static const ktype wide[] = { T_I32, T_I64, T_U32, T_U64, T_F32, T_F64 };
    for (int i = 0; i < TWO; i++) {
        if (!have(i)) continue;
        for (int t = T_BOOL; t < NKTYPES; t++) {
            arena mem = { 0 };
            if (t != T_F16 && t != T_BF16) compiles_as(made_lanes(&mem, (ktype)t, targets[i].warp), targets[i].d, false, targets[i].arch);
            compiles_as(memory(&mem, (ktype)t, targets[i].warp), targets[i].d, false, targets[i].arch);
            arena_free(&mem);
        }
        for (int t = 0; t < 6; t++) {
            arena mem = { 0 };
            compiles_as(atomics(&mem, wide[t], targets[i].warp), targets[i].d, false, targets[i].arch);
            arena_free(&mem);
        }
    }
}

/* ---- device functions ---- */

enum { CALLS_AT_ONCE = 20 };

/* A kernel that calls some of the library's functions with values loaded from memory. */
static kernel *calls(arena *mem, uint32_t first, uint32_t n, int warp) {
    kparam params[NKTYPES] = { 0 };
    kval from[NKTYPES] = { 0 };
    uint32_t nparams = 0;
    for (int t = 0; t < MADE_TYPES; t++) {
        from[made_types[t]] = nparams;
        params[nparams++] = array(arena_text(mem, "v_%s", ktype_table[made_types[t]].name), made_types[t], true, true);
    }
    open_kernel o = start_kernel(mem, arena_text(mem, "calls_%u", first), params, nparams, warp);
    for (uint32_t f = first; f < first + n; f++) {
        const kfunction *g = &device_functions[f];
        kval args[64];
        for (uint32_t j = 0; j < g->nparams; j++) args[j] = load(o.k, g->param_types[j], from[g->param_types[j]], kb_op(o.k, KOP_add, T_I32, o.index, i32(o.k, j), 0));
        kval call = kb_call(o.k, (int)f, args, g->nparams);
        for (int r = 0; r < g->nresults; r++) store(o.k, from[g->result_types[r]], o.index, kb_result(o.k, call, r));
    }
    for (int t = 0; t < MADE_TYPES; t++) store(o.k, from[made_types[t]], o.index, load(o.k, made_types[t], from[made_types[t]], o.index));
    return end_kernel(&o);
}

Test(source, device_functions_compile) {
    cr_assert(ndevice_functions > 0);
    for (uint32_t f = 0; f < ndevice_functions; f += CALLS_AT_ONCE) {
        uint32_t n = ndevice_functions - f < CALLS_AT_ONCE ? ndevice_functions - f : CALLS_AT_ONCE;
        for (int i = 0; i < TWO; i++) {
            arena mem = { 0 };
            kernel *k = calls(&mem, f, n, targets[i].warp);
            if (have(i)) compiles_as(k, targets[i].d, f / CALLS_AT_ONCE % 2 == (uint32_t)i, targets[i].arch);
            arena_free(&mem);
        }
    }
}

/* ---- values ---- */

typedef struct memory_set { void *array[32]; size_t bytes[32]; int n; } memory_set;

static void *array_for(memory_set *s, ktype t, size_t count) {
    s->bytes[s->n] = count * ktype_table[t].size;
    void *p = mem_aligned(s->bytes[s->n] + 64, 64);
    cr_assert(p);
    memset(p, 0, s->bytes[s->n]);
    return s->array[s->n++] = p;
}

static void free_set(memory_set *s) {
    for (int i = 0; i < s->n; i++) mem_free(s->array[i]);
}

static bool is_nan_at(ktype t, const void *p, size_t i) {
    return t == T_F32 ? isnan(((const float *)p)[i]) : t == T_F64 && isnan(((const double *)p)[i]);
}

static void expect_same(const char *name, ktype t, const void *got, const void *want, size_t count) {
    size_t size = ktype_table[t].size;
    for (size_t i = 0; i < count; i++) {
        const char *g = (const char *)got + i * size, *w = (const char *)want + i * size;
        if (!memcmp(g, w, size) || (is_nan_at(t, got, i) && is_nan_at(t, want, i))) continue;
        uint64_t a = 0, b = 0;
        memcpy(&a, g, size);
        memcpy(&b, w, size);
        cr_assert(false, "%s: %s result %zu, element %zu: %llx, not %llx", name, ktype_table[t].name, i / MADE_COUNT, i % MADE_COUNT, (unsigned long long)a, (unsigned long long)b);
    }
}

static const char *printed(arena *mem, const kernel *k) {
    message m = { 0 };
    text source = { 0 };
    cr_assert_eq(kernel_verify(k, &m), KN_OK, "%s: %s", k->name, m.text);
    cr_assert_eq(source_print(k, DIALECT_CUDA, &source, &m), KN_OK, "%s: %s", k->name, m.text);
    const char *s = arena_text(mem, "%s", source.at);
    text_free(&source);
    return s;
}

static void run_both(host_program *p, const kernel *k, void **host, void **reference, int n) {
    message m = { 0 };
    uint64_t words[32], fault = FAULT_NONE;
    for (int i = 0; i < n; i++) words[i] = (uint64_t)(uintptr_t)reference[i];
    cr_assert_eq(reference_run(k, words, 0, MADE_BLOCKS, &fault, &m), KN_OK, "%s", m.text);
    cr_assert(host_run(p, k->name, MADE_BLOCKS, MADE_THREADS, host, n), "%s is not there", k->name);
}

/* On this machine's processor: what C leaves undefined, signed overflow above all, stops the test. */
Test(source, primitives_give_the_interpreters_values) {
    arena mem = { 0 };
    kernel *k[MADE_TYPES];
    const char *source[MADE_TYPES];
    uint32_t results[MADE_TYPES][NKTYPES];
    char why[4000];
    for (int t = 0; t < MADE_TYPES; t++) {
        k[t] = made_primitives(&mem, made_types[t], results[t]);
        source[t] = printed(&mem, k[t]);
        /* float16 is PTX on CUDA; here it is the identity on both sides */
        for (char *s = strstr(source[t], "asm("); s; s = strstr(s, "asm(")) memcpy(s, "//  ", 4);
    }
    host_program *p = host_compile(source, MADE_TYPES, why, sizeof why);
    cr_assert(p, "%s", why);
    for (int t = 0; t < MADE_TYPES; t++) {
        memory_set host = { 0 }, reference = { 0 };
        memory_set *both[] = { &host, &reference };
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < 3; i++) array_for(both[side], made_types[t], MADE_COUNT);
            made_inputs(made_types[t], (uint32_t)t, both[side]->array[0], both[side]->array[1], both[side]->array[2]);
            for (int r = 0; r < NKTYPES; r++) if (results[t][r]) array_for(both[side], (ktype)r, (size_t)results[t][r] * MADE_COUNT);
        }
        int n = host.n;
        host.array[n] = reference.array[n] = (void *)(uintptr_t)MADE_COUNT;
        run_both(p, k[t], host.array, reference.array, n + 1);
        for (int r = 0, at = 3; r < NKTYPES; r++) {
            if (!results[t][r]) continue;
            /* the result of round_f16 cannot be compared here */
            size_t count = (size_t)results[t][r] * MADE_COUNT;
            if (!(r == T_F32 && ktype_table[made_types[t]].is_float)) expect_same(k[t]->name, (ktype)r, host.array[at], reference.array[at], count);
            at++;
        }
        free_set(&host);
        free_set(&reference);
    }
    host_free(p);
    arena_free(&mem);
}

static void random_memory(memory_set *s, uint32_t seed) {
    for (int t = 0; t < MADE_TYPES; t++) {
        char *a = array_for(s, made_types[t], MADE_COUNT);
        char b[8 * MADE_COUNT], c[8 * MADE_COUNT];
        made_inputs(made_types[t], seed, a, b, c);
        array_for(s, made_types[t], (size_t)MADE_OUTPUTS * MADE_COUNT);
    }
    float r = -2.75f;
    s->array[22] = (void *)(intptr_t)-12345;
    s->array[23] = (void *)(intptr_t)98765432101234;
    s->array[24] = NULL;
    memcpy(&s->array[24], &r, sizeof r);
}

Test(source, programs_made_at_random_give_the_interpreters_values) {
    enum { PROGRAMS = 40 };
    arena mem = { 0 };
    kernel *k[PROGRAMS];
    const char *source[PROGRAMS];
    char why[4000];
    const char *first = getenv("KILN_TEST_SEED");   /* to look at other programs by hand */
    uint32_t seed = first ? (uint32_t)atoi(first) : 1;
    for (uint32_t i = 0; i < PROGRAMS; i++) source[i] = printed(&mem, k[i] = made_random(&mem, seed + i, (made_options){ 0 }));
    host_program *p = host_compile(source, PROGRAMS, why, sizeof why);
    cr_assert(p, "%s", why);
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        memory_set host = { 0 }, reference = { 0 };
        random_memory(&host, i);
        random_memory(&reference, i);
        run_both(p, k[i], host.array, reference.array, 25);
        for (int t = 0; t < MADE_TYPES; t++) expect_same(k[i]->name, made_types[t], host.array[2 * t + 1], reference.array[2 * t + 1], (size_t)MADE_OUTPUTS * MADE_COUNT);
        free_set(&host);
        free_set(&reference);
    }
    host_free(p);
    arena_free(&mem);
}

/* ---- what the source looks like: tests/golden ---- */

static char *file_text(const char *path) {
    FILE *f = fopen(path, "r");
    char *s = calloc(1, 1 << 16);
    cr_assert(s);
    if (f) {
        s[fread(s, 1, (1 << 16) - 1, f)] = 0;
        fclose(f);
    }
    return s;
}

/* KILN_UPDATE_GOLDEN=1 writes the files anew; look at the difference before it is committed. */
static void reads_as(const kernel *k, dialect d, const char *file) {
    char path[128];
    message m = { 0 };
    text source = { 0 };
    snprintf(path, sizeof path, "tests/golden/%s", file);
    cr_assert_eq(kernel_verify(k, &m), KN_OK, "%s: %s", k->name, m.text);
    cr_assert_eq(source_print(k, d, &source, &m), KN_OK, "%s: %s", k->name, m.text);
    if (getenv("KILN_UPDATE_GOLDEN")) {
        FILE *f = fopen(path, "w");
        cr_assert(f, "%s cannot be written", path);
        fputs(source.at, f);
        fclose(f);
    }
    char *want = file_text(path);
    cr_assert_str_eq(source.at, want, "%s reads otherwise:\n%s", path, source.at);
    free(want);
    text_free(&source);
}

Test(source, hand_written_kernels_read_well) {
    arena mem = { 0 };
    reads_as(nest_map(&mem, (nest_shape){ .threads = 256, .vectors = 2, .warp = 32 }), DIALECT_CUDA, "map.cu");
    reads_as(nest_map(&mem, (nest_shape){ .threads = 256, .vectors = 1, .warp = 64, .stream = STREAM_ALL }), DIALECT_HIP, "map.hip");
    reads_as(nest_softmax(&mem, (nest_shape){ .threads = 512, .vectors = 2, .warp = 32 }), DIALECT_CUDA, "softmax.cu");
    reads_as(nest_sum(&mem, (nest_shape){ .threads = 512, .vectors = 2, .tile = 16, .warp = 32, .compensate = true }), DIALECT_CUDA, "sum.cu");
    reads_as(nest_transpose(&mem, (nest_shape){ .threads = 256, .tile = 64, .warp = 32 }), DIALECT_CUDA, "transpose.cu");
    reads_as(nest_scan(&mem, (nest_shape){ .threads = 256, .vectors = 8, .kept = 11, .resident = 4, .warp = 32, .relaxed = true, .stream = STREAM_ALL }), DIALECT_CUDA, "scan.cu");
    arena_free(&mem);
}

static kval op2(kernel *k, kop op, kval a, kval b) { return kb_op(k, op, kb_type(k, a), a, b, 0); }

/* float16 and bfloat16: rounded after every operation, and once by the store. */
static kernel *halves(arena *mem, ktype half) {
    kparam params[] = { array("a", half, true, false), array("b", half, true, false), array("out", half, false, true) };
    open_kernel o = start_kernel(mem, "multiply_add", params, 3, 32);
    o.k->comment = "a*b + a*0.5";
    kop round = half == T_F16 ? KOP_round_f16 : KOP_round_bf16;
    kval a = load(o.k, T_F32, 0, o.index), b = load(o.k, T_F32, 1, o.index);
    kval left = kb_op(o.k, round, T_F32, op2(o.k, KOP_mul, a, b), 0, 0), right = kb_op(o.k, round, T_F32, op2(o.k, KOP_mul, a, kb_const_float(o.k, T_F32, .5)), 0, 0);
    store(o.k, 2, o.index, kb_op(o.k, round, T_F32, op2(o.k, KOP_add, left, right), 0, 0));
    return end_kernel(&o);
}

/* Data wraps around, indices do not; an index from memory is checked. */
static kernel *gather(arena *mem) {
    kparam params[] = { array("a", T_I32, true, false), array("at", T_I64, true, false), array("out", T_I32, false, true), { .name = "size", .type = T_I64 }, { .name = "n", .type = T_I32 } };
    open_kernel o = start_kernel(mem, "gather", params, 5, 32);
    kernel *k = o.k;
    k->comment = "a[at]*a[at] + 7";
    kval inside = kb_inst(k, K_IF, T_VOID, 0, kb_op(k, KOP_lt, T_BOOL, o.index, 4, 0), 0, 0), zero = kb_const_int(k, T_I64, 0);
    kval at = load(k, T_I64, 1, o.index);
    kb_name(k, at, "where");
    kval below = kb_op(k, KOP_lt, T_BOOL, at, zero, 0), from = kb_op(k, KOP_select, T_I64, below, op2(k, KOP_add, at, 3), at);
    kb_name(k, from, "from");
    kval outside = op2(k, KOP_or, kb_op(k, KOP_lt, T_BOOL, from, zero, 0), kb_op(k, KOP_ge, T_BOOL, from, 3, 0));
    kb_inst(k, K_FAULT, T_VOID, 0, outside, at, 2);
    kval v = kb_inst(k, K_LOAD, T_I32, 0, 0, from, kb_op(k, KOP_not, T_BOOL, outside, 0, 0) + 1);
    store(k, 2, o.index, op2(k, KOP_add, op2(k, KOP_mul, v, v), i32(k, 7)));
    kb_end(k, inside);
    return end_kernel(&o);
}

/* Both parts of a complex element are one access. */
static kernel *complex_product(arena *mem) {
    kparam params[] = { array("z", T_F32, true, false), array("w", T_F32, true, false), array("out", T_F32, false, true) };
    open_kernel o = start_kernel(mem, "complex_multiply", params, 3, 32);
    kernel *k = o.k;
    k->comment = "z*w";
    kval at = op2(k, KOP_mul, o.index, i32(k, 2)), next = op2(k, KOP_add, at, i32(k, 1)), part[2][2];
    kb_name(k, at, "at");
    for (kval x = 0; x < 2; x++) {
        part[x][0] = kb_inst(k, K_LOAD, T_F32, LOAD_PAIR0, x, at, 0);
        part[x][1] = kb_inst(k, K_LOAD, T_F32, LOAD_PAIR1, x, next, 0);
        kb_name(k, part[x][0], x ? "y" : "x");
    }
    kval re = op2(k, KOP_sub, op2(k, KOP_mul, part[0][0], part[1][0]), op2(k, KOP_mul, part[0][1], part[1][1]));
    kval im = op2(k, KOP_add, op2(k, KOP_mul, part[0][0], part[1][1]), op2(k, KOP_mul, part[0][1], part[1][0]));
    kb_inst(k, K_STORE, T_VOID, STORE_PAIR0, 2, at, re);
    kb_inst(k, K_STORE, T_VOID, STORE_PAIR1, 2, next, im);
    return end_kernel(&o);
}

Test(source, small_kernels_read_well) {
    arena mem = { 0 };
    reads_as(halves(&mem, T_F16), DIALECT_CUDA, "half.cu");
    reads_as(halves(&mem, T_F16), DIALECT_HIP, "half.hip");
    reads_as(halves(&mem, T_BF16), DIALECT_CUDA, "bfloat.cu");
    reads_as(gather(&mem), DIALECT_CUDA, "gather.cu");
    reads_as(complex_product(&mem), DIALECT_CUDA, "complex.cu");
    reads_as(complex_product(&mem), DIALECT_HIP, "complex.hip");
    for (int i = 0; i < TWO; i++) {
        if (!have(i)) continue;
        compiles_as(halves(&mem, T_F16), targets[i].d, false, targets[i].arch);
        compiles_as(halves(&mem, T_BF16), targets[i].d, false, targets[i].arch);
        compiles_as(gather(&mem), targets[i].d, false, targets[i].arch);
        compiles_as(complex_product(&mem), targets[i].d, false, targets[i].arch);
    }
    arena_free(&mem);
}

Test(source, kernels_for_a_processor_are_refused) {
    arena mem = { 0 };
    message m = { 0 };
    text source = { 0 };
    kparam params[] = { array("out", T_F32, false, true), { .name = "n", .type = T_I32 } };
    kernel *k = kernel_new(&mem, "lanes", params, 2);
    k->lanes = 8;
    kval lane = kb_for(k, LOOP_LANE, T_I32, i32(k, 0), 1, i32(k, 1));
    store(k, 0, lane, kb_const_float(k, T_F32, 1));
    kb_end(k, lane);
    cr_assert_eq(source_print(k, DIALECT_CUDA, &source, &m), KN_NOT_AVAILABLE);
    cr_assert(strstr(m.text, "vector lanes"), "%s", m.text);
    cr_assert(!source.len);
    text_free(&source);
    arena_free(&mem);
}

/* Every allocation on the way may fail. */
Test(source, failing_memory_is_reported) {
    arena mem = { 0 };
    kernel *k = nest_scan(&mem, (nest_shape){ .threads = 64, .vectors = 2, .warp = 32 });
    for (int n = 1; n < 400; n++) {
        text source = { 0 };
        message m = { 0 };
        mem_fail_after(n, true);
        kn_status status = source_print(k, DIALECT_CUDA, &source, &m);
        mem_fail_after(-1, false);
        text_free(&source);
        if (status == KN_OK) {
            arena_free(&mem);
            return;
        }
        cr_assert_eq(status, KN_MEMORY_ERROR, "allocation %d: %s", n, m.text);
    }
    cr_assert(false, "400 allocations");
}
