/* On a GPU: emitted source computes, bit for bit, what the interpreter computes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "nests.h"
#include "../support/cuda.h"
#include "../support/made_kernels.h"
#include "../support/rtc.h"

typedef struct buffers { ktype type[40]; void *host[40]; gpu_memory device[40]; size_t count[40]; int n; } buffers;

static void *add_buffer(buffers *b, ktype t, size_t count) {
    size_t bytes = count * ktype_table[t].size;
    int i = b->n++;
    b->type[i] = t;
    b->count[i] = count;
    b->host[i] = mem_zero(bytes + 64, 1);
    cr_assert(b->host[i] && gpu_alloc(&b->device[i], bytes + 64), "%s", gpu_error());
    return b->host[i];
}

/* Both runs start from the same memory. */
static void upload(const buffers *b) {
    for (int i = 0; i < b->n; i++) cr_assert(gpu_write(b->device[i], b->host[i], b->count[i] * ktype_table[b->type[i]].size), "%s", gpu_error());
}

static bool is_nan_at(ktype t, const void *p, size_t i) {
    return t == T_F32 ? isnan(((const float *)p)[i]) : t == T_F64 && isnan(((const double *)p)[i]);
}

static void compare(const char *name, const buffers *b) {
    for (int i = 0; i < b->n; i++) {
        size_t size = ktype_table[b->type[i]].size;
        char *got = mem_zero(b->count[i], size);
        cr_assert(got && gpu_read(got, b->device[i], b->count[i] * size), "%s", gpu_error());
        for (size_t j = 0; j < b->count[i]; j++) {
            const char *g = got + j * size, *w = (const char *)b->host[i] + j * size;
            if (!memcmp(g, w, size) || (is_nan_at(b->type[i], got, j) && is_nan_at(b->type[i], b->host[i], j))) continue;
            uint64_t x = 0, y = 0;
            memcpy(&x, g, size);
            memcpy(&y, w, size);
            cr_assert(false, "%s: %s result %zu, element %zu: %llx, not %llx", name, ktype_table[b->type[i]].name, j / MADE_COUNT, j % MADE_COUNT, (unsigned long long)x, (unsigned long long)y);
        }
        mem_free(got);
    }
}

static void free_buffers(buffers *b) {
    for (int i = 0; i < b->n; i++) {
        mem_free(b->host[i]);
        gpu_free(b->device[i]);
    }
}

typedef struct launch { unsigned x, y, threads; bool portable; } launch;

/* Runs it here and there; scalars follow the arrays. */
static void run_as(const kernel *k, launch l, buffers *b, const uint64_t *scalars, int nscalars) {
    message m = { 0 };
    text source = { 0 }, cubin = { 0 }, log = { 0 };
    gpu_kernel g;
    uint64_t words[48], fault = FAULT_NONE;
    void *args[48];
    cr_assert_eq(kernel_verify(k, &m), KN_OK, "%s: %s", k->name, m.text);
    cr_assert_eq(source_print_as(k, DIALECT_CUDA, l.portable, &source, &m), KN_OK, "%s", m.text);
    cr_assert(rtc_compile(DIALECT_CUDA, source.at, gpu_arch(), &cubin, &log), "%s\n%s", log.at, source.at);
    cr_assert(gpu_load(&g, cubin.at, k->name, (int)l.threads), "%s", gpu_error());
    upload(b);
    for (int i = 0; i < b->n; i++) args[i] = &b->device[i];
    for (int i = 0; i < nscalars; i++) args[b->n + i] = (void *)&scalars[i];
    gpu_memory ticket;
    cr_assert(gpu_alloc(&ticket, 64) && gpu_fill(ticket, 0, 16), "%s", gpu_error());
    args[b->n + nscalars] = &ticket;   /* looked at by ordered kernels alone */
    cr_assert(gpu_launch(&g, l.x, l.y, l.threads, args) && gpu_wait(), "%s: %s", k->name, gpu_error());
    for (int i = 0; i < b->n; i++) words[i] = (uint64_t)(uintptr_t)b->host[i];
    memcpy(words + b->n, scalars, (size_t)nscalars * sizeof *words);
    cr_assert_eq(reference_run(k, words, 0, l.x, &fault, &m), KN_OK, "%s", m.text);
    compare(k->name, b);
    gpu_unload(&g);
    gpu_free(ticket);
    text_free(&source);
    text_free(&cubin);
    text_free(&log);
}

static void run_and_compare(const kernel *k, buffers *b, const uint64_t *scalars, int nscalars) {
    run_as(k, (launch){ MADE_BLOCKS, 1, MADE_THREADS, false }, b, scalars, nscalars);
}

static bool have_gpu(void) {
    const char *why;
    if (gpu_open(&why) && rtc_available(DIALECT_CUDA, &why)) return true;
    fprintf(stderr, "test_source_values: not run: %s\n", why);
    return false;
}

Test(gpu, primitives) {
    if (!have_gpu()) return;
    for (int t = 0; t < MADE_TYPES; t++) {
        arena mem = { 0 };
        uint32_t results[NKTYPES];
        buffers b = { 0 };
        kernel *k = made_primitives(&mem, made_types[t], results);
        for (int i = 0; i < 3; i++) add_buffer(&b, made_types[t], MADE_COUNT);
        made_inputs(made_types[t], 77u + (uint32_t)t, b.host[0], b.host[1], b.host[2]);
        for (int r = 0; r < NKTYPES; r++) if (results[r]) add_buffer(&b, (ktype)r, (size_t)results[r] * MADE_COUNT);
        run_and_compare(k, &b, (uint64_t[]){ MADE_COUNT }, 1);
        free_buffers(&b);
        arena_free(&mem);
    }
}

Test(gpu, lanes) {
    if (!have_gpu()) return;
    for (int t = 0; t < MADE_TYPES; t++) {
        arena mem = { 0 };
        buffers b = { 0 };
        char other[8 * MADE_COUNT];
        add_buffer(&b, made_types[t], MADE_COUNT);
        add_buffer(&b, made_types[t], MADE_COUNT);
        add_buffer(&b, T_U64, MADE_COUNT);
        made_inputs(made_types[t], 5, other, b.host[1], other);
        run_and_compare(made_lanes(&mem, made_types[t], 32), &b, NULL, 0);
        free_buffers(&b);
        arena_free(&mem);
    }
}

Test(gpu, programs_made_at_random) {
    if (!have_gpu()) return;
    for (uint32_t seed = 1; seed <= 100; seed++) {
        arena mem = { 0 };
        buffers b = { 0 };
        char other[8 * MADE_COUNT], another[8 * MADE_COUNT];
        float r = -2.75f;
        uint64_t scalars[3] = { (uint64_t)-12345, 98765432101234, 0 };
        memcpy(&scalars[2], &r, sizeof r);
        for (int t = 0; t < MADE_TYPES; t++) {
            add_buffer(&b, made_types[t], MADE_COUNT);
            made_inputs(made_types[t], seed, b.host[b.n - 1], other, another);
            add_buffer(&b, made_types[t], (size_t)MADE_OUTPUTS * MADE_COUNT);
        }
        run_and_compare(made_random(&mem, seed, (made_options){ .halves = true }), &b, scalars, 3);
        free_buffers(&b);
        arena_free(&mem);
    }
}

/* ---- the hand-written kernels, with Kiln's own exp, so that every bit is the same ---- */

static void add_floats(buffers *b, size_t n, unsigned seed) {
    float *p = add_buffer(b, T_F32, n);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (float)(seed >> 8) / 4194304.0f - 2;
    }
}

static unsigned blocks_for(int64_t n, int64_t chunk) { return (unsigned)((n + chunk - 1) / chunk); }

static void run_nests(nest_shape s, int n, int rows, int columns) {
    arena mem = { 0 };
    unsigned threads = (unsigned)s.threads, sum_blocks = blocks_for(n, nest_sum_chunk(&s)), tiles = blocks_for(n, nest_chunk(&s)), side = (unsigned)s.tile;
    buffers map = { 0 }, softmax = { 0 }, sum = { 0 }, transpose = { 0 }, scan = { 0 };
    for (unsigned i = 0; i < 4; i++) add_floats(&map, (size_t)n, i);
    run_as(nest_map(&mem, s), (launch){ tiles, 1, threads, true }, &map, (uint64_t[]){ (uint64_t)n }, 1);
    for (unsigned i = 0; i < 2; i++) add_floats(&softmax, (size_t)(rows * columns), i + 10);
    run_as(nest_softmax(&mem, s), (launch){ (unsigned)rows, 1, threads, true }, &softmax, (uint64_t[]){ (uint64_t)rows, (uint64_t)columns }, 2);
    for (unsigned i = 0; i < 2; i++) add_floats(&sum, (size_t)n, i + 20);
    add_floats(&sum, sum_blocks, 22);
    add_buffer(&sum, T_U32, 1);
    add_floats(&sum, 1, 23);
    run_as(nest_sum(&mem, s), (launch){ sum_blocks, 1, threads, true }, &sum, (uint64_t[]){ (uint64_t)n, sum_blocks }, 2);
    for (unsigned i = 0; i < 3; i++) add_floats(&transpose, (size_t)(rows * columns), i + 30);
    run_as(nest_transpose(&mem, s), (launch){ blocks_for(columns, side), blocks_for(rows, side), threads, true }, &transpose, (uint64_t[]){ (uint64_t)rows, (uint64_t)columns }, 2);
    for (unsigned i = 0; i < 2; i++) add_floats(&scan, (size_t)n, i + 40);
    for (unsigned i = 0; i < 3; i++) add_buffer(&scan, T_U64, tiles + 1);
    run_as(nest_scan(&mem, s), (launch){ tiles, 1, threads, true }, &scan, (uint64_t[]){ (uint64_t)n }, 1);
    free_buffers(&map);
    free_buffers(&softmax);
    free_buffers(&sum);
    free_buffers(&transpose);
    free_buffers(&scan);
    arena_free(&mem);
}

Test(gpu, hand_written_kernels) {
    if (!have_gpu()) return;
    run_nests((nest_shape){ .threads = 256, .vectors = 2, .tile = 64, .warp = 32, .relaxed = true, .stream = STREAM_ALL }, 100003, 100, 204);
    run_nests((nest_shape){ .threads = 128, .vectors = 1, .tile = 32, .warp = 32, .compensate = true }, 70000, 64, 512);
    run_nests((nest_shape){ .threads = 128, .vectors = 1, .tile = 32, .warp = 32, .kept = 2, .resident = 2 }, 300001, 4, 12);
    run_nests((nest_shape){ .threads = 64, .vectors = 4, .tile = 32, .warp = 32 }, 5, 33 * 4, 8);
}
