/* The hand-written kernels on the reference interpreter, against plain C. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include "../gpu/nests.h"
#include "codegen/codegen.h"

static float *array_of(int n) {
    float *p = mem_aligned((size_t)(n + 16) * sizeof *p, 64);
    cr_assert(p);
    return p;
}

static float *random_array(int n, unsigned seed) {
    float *p = array_of(n);
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = 0.5f + (float)(seed >> 8) / 16777216.0f;
    }
    return p;
}

static float *poisoned(int n) {
    float *p = array_of(n);
    for (int i = 0; i < n; i++) p[i] = NAN;
    return p;
}

static uint64_t word(const void *p) { return (uint64_t)(uintptr_t)p; }

static void run(kernel *k, const uint64_t *args, int64_t blocks) {
    message m = { 0 };
    uint64_t fault = FAULT_NONE;
    cr_assert(kernel_ok(k));
    cr_assert_eq(kernel_verify(k, &m), KN_OK, "%s", m.text);
    cr_assert_eq(reference_run(k, args, 0, blocks, &fault, &m), KN_OK, "%s", m.text);
    cr_assert_eq(fault, FAULT_NONE);
}

static void expect(const char *what, int i, float got, double want, double tolerance) {
    cr_assert(fabs(got - want) <= tolerance * fabs(want), "%s[%d] is %.9g, not %.9g", what, i, got, want);
}

static void run_map(nest_shape s, int n) {
    arena mem = { 0 };
    float *a = random_array(n, 1), *b = random_array(n, 2), *c = random_array(n, 3), *out = poisoned(n);
    run(nest_map(&mem, s), (uint64_t[]){ word(a), word(b), word(c), word(out), (uint64_t)n }, (n + nest_chunk(&s) - 1) / nest_chunk(&s));
    for (int i = 0; i < n; i++) expect("out", i, out[i], sqrt((double)a[i] * a[i] + (double)b[i] * b[i]) * c[i] + exp(-(double)a[i]), 1e-6);
    mem_free(a), mem_free(b), mem_free(c), mem_free(out);
    arena_free(&mem);
}

Test(nests, map) {
    run_map((nest_shape){ .threads = 64, .vectors = 2, .warp = 32 }, 4 * 512);
    run_map((nest_shape){ .threads = 64, .vectors = 1, .warp = 64 }, 1001);
    run_map((nest_shape){ .threads = 32, .vectors = 4, .warp = 32, .stream = STREAM_ALL }, 3);
}

static void run_softmax(nest_shape s, int rows, int columns) {
    arena mem = { 0 };
    int n = rows * columns;
    float *x = random_array(n, 4), *out = poisoned(n);
    run(nest_softmax(&mem, s), (uint64_t[]){ word(x), word(out), (uint64_t)rows, (uint64_t)columns }, rows);
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int i = 0; i < columns; i++) sum += exp(x[r * columns + i]);
        for (int i = 0; i < columns; i++) expect("out", r * columns + i, out[r * columns + i], exp(x[r * columns + i]) / sum, 2e-6);
    }
    mem_free(x), mem_free(out);
    arena_free(&mem);
}

Test(nests, softmax) {
    run_softmax((nest_shape){ .threads = 64, .vectors = 2, .warp = 32 }, 3, 512);
    run_softmax((nest_shape){ .threads = 128, .vectors = 1, .warp = 32 }, 2, 300);
    run_softmax((nest_shape){ .threads = 64, .vectors = 1, .warp = 64 }, 2, 4);
}

Test(nests, softmax_of_nan) {
    arena mem = { 0 };
    nest_shape s = { .threads = 64, .vectors = 1, .warp = 32 };
    float *x = random_array(256, 5), *out = poisoned(256);
    x[17] = NAN;
    run(nest_softmax(&mem, s), (uint64_t[]){ word(x), word(out), 1, 256 }, 1);
    for (int i = 0; i < 256; i++) cr_assert(isnan(out[i]), "out[%d] is %g", i, out[i]);
    mem_free(x), mem_free(out);
    arena_free(&mem);
}

static void run_sum(nest_shape s, int n, double tolerance) {
    arena mem = { 0 };
    int blocks = (int)((n + nest_sum_chunk(&s) - 1) / nest_sum_chunk(&s));
    float *a = random_array(n, 6), *b = random_array(n, 7), *partial = poisoned(blocks), *out = poisoned(1);
    uint32_t count = 0;
    double want = 0;
    run(nest_sum(&mem, s), (uint64_t[]){ word(a), word(b), word(partial), word(&count), word(out), (uint64_t)n, (uint64_t)blocks }, blocks);
    for (int i = 0; i < n; i++) want += (double)(a[i] - b[i]) * (a[i] - b[i]);
    expect("out", 0, out[0], want, tolerance);
    cr_assert_eq(count, 0u);
    mem_free(a), mem_free(b), mem_free(partial), mem_free(out);
    arena_free(&mem);
}

Test(nests, sum) {
    run_sum((nest_shape){ .threads = 64, .vectors = 2, .tile = 2, .warp = 32 }, 20000, 5e-7);
    run_sum((nest_shape){ .threads = 64, .vectors = 1, .tile = 3, .warp = 64, .compensate = true }, 5001, 3e-7);
    run_sum((nest_shape){ .threads = 128, .vectors = 4, .tile = 1, .warp = 32 }, 7, 3e-7);
}

static void run_transpose(nest_shape s, int rows, int columns) {
    arena mem = { 0 };
    int n = rows * columns, tile_rows = (rows + s.tile - 1) / s.tile;
    float *x = random_array(n, 8), *y = random_array(n, 9), *out = poisoned(n);
    run(nest_transpose(&mem, s), (uint64_t[]){ word(x), word(y), word(out), (uint64_t)rows, (uint64_t)columns }, (columns + s.tile - 1) / s.tile);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            float want = x[c * rows + r] + y[r * columns + c];
            cr_assert_eq(out[r * columns + c], want, "out[%d][%d] is %.9g, not %.9g (%d rows of tiles)", r, c, out[r * columns + c], want, tile_rows);
        }
    mem_free(x), mem_free(y), mem_free(out);
    arena_free(&mem);
}

Test(nests, transpose) {
    run_transpose((nest_shape){ .threads = 64, .tile = 32, .warp = 32 }, 64, 96);
    run_transpose((nest_shape){ .threads = 128, .tile = 64, .warp = 32 }, 100, 76);
    run_transpose((nest_shape){ .threads = 96, .tile = 96, .warp = 32 }, 96, 96);
}

static void run_scan(nest_shape s, int n) {
    arena mem = { 0 };
    int tiles = (int)((n + nest_chunk(&s) - 1) / nest_chunk(&s));
    float *x = random_array(n, 10), *out = poisoned(n);
    uint64_t *words = mem_zero(3 * (size_t)tiles + 3, sizeof *words);
    double sum = 0;
    cr_assert(words);
    run(nest_scan(&mem, s), (uint64_t[]){ word(x), word(out), word(words), word(words + tiles), word(words + 2 * tiles), (uint64_t)n }, tiles);
    for (int i = 0; i < n; i++) {
        sum += x[i];
        expect("out", i, out[i], sum, 1e-6);
    }
    mem_free(x), mem_free(out), mem_free(words);
    arena_free(&mem);
}

Test(nests, scan) {
    run_scan((nest_shape){ .threads = 64, .vectors = 2, .warp = 32, .relaxed = true }, 5000);
    run_scan((nest_shape){ .threads = 128, .vectors = 1, .warp = 64 }, 511);
    run_scan((nest_shape){ .threads = 128, .vectors = 3, .warp = 32, .kept = 2, .relaxed = true }, 70 * 2560 + 3);
    /* more than a group of windows: 32*32 tiles of 128 elements */
    run_scan((nest_shape){ .threads = 32, .vectors = 1, .warp = 32, .relaxed = true }, 34 * 32 * 128 + 5);
}
