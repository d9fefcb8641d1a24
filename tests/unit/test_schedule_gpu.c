/* Maps on GPUs: the kernels in the lockstep interpreter against the meaning of the graph node by node, for warps of 32 and 64
 * lanes; what the printed source looks like; that it compiles.
 * time-out: 600 */
#include <criterion/criterion.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "../support/nest_eval.c"
#include "../support/slices.c"
#include "../support/owned.h"
#include "../support/rtc.h"

TestSuite(gpu_map, .fini = drop_all);

#define SHAPE(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__}
static const char *const profiles_run[] = { "sm_90", "gfx90a" };

/* ---- graphs in few words ---- */

static node *in_of(kn_dtype t, int ndim, const int64_t *shape) {
    int64_t size = 1;
    for (int d = 0; d < ndim; d++) size *= shape[d];
    double *v = mem_array((size_t)size + 1, sizeof *v);
    cr_assert(v);
    for (int64_t i = 0; i < size; i++) {
        int64_t k = (i * 7919 + i / 13) % 101;
        v[i] = dtype_is_inexact(t) ? (double)(k - 50) / 8 : dtype_table[t].kind == 'u' || t == KN_BOOL ? (double)(k % 3 ? k : 0) : (double)(k - 50);
    }
    node *n = leaf_of(t, ndim, shape, v);
    mem_free(v);
    return n;
}
static node *f32(int ndim, const int64_t *shape) { return in_of(KN_FLOAT32, ndim, shape); }
static node *num_of(kn_dtype t, double v) { return node_scalar(t, (scalar){ .kind = SCALAR_FLOAT, .v.f = v }, false, NULL); }
static node *num(double v) { return num_of(KN_FLOAT32, v); }
static node *map1(int f, node *a) { return node_map(f, 0, 1, &a, (kn_dtype)a->dtype, NULL); }
static node *map2(int f, node *a, node *b) { return node_map(f, 0, 2, (node *[]){ a, b }, (kn_dtype)(a->kind == NODE_SCALAR ? b : a)->dtype, NULL); }
static node *add(node *a, node *b) { return map2(UFUNC_add, a, b); }
static node *sub(node *a, node *b) { return map2(UFUNC_subtract, a, b); }
static node *mul(node *a, node *b) { return map2(UFUNC_multiply, a, b); }
static node *compared(int f, node *a, node *b) { return node_map(f, 0, 2, (node *[]){ a, b }, KN_BOOL, NULL); }
static node *window_of(node *x, int ndim, const int64_t *shape, int64_t offset, const int64_t *strides) {
    window w = { .offset = offset, .strides = strides, .shape = shape, .ndim = ndim };
    return node_view(x, (kn_dtype)x->dtype, &w, NULL);
}
static node *turned(node *x) { return node_transpose(x, (int[]){ 1, 0 }, NULL); }
static node *gather(node *x, node *i) {
    static const int8_t from[1] = { -1 };
    return node_gather(x, from, 1, &i, i->ndim, i->shape, NULL);
}

/* The five-point stencil of an (m, n) array's inside. */
static node *stencil(node *x) {
    int64_t m = x->shape[0], n = x->shape[1], inside[2] = { m - 2, n - 2 }, strides[2] = { n, 1 };
    node *c = window_of(x, 2, inside, n + 1, strides), *up = window_of(x, 2, inside, 1, strides), *down = window_of(x, 2, inside, 2 * n + 1, strides);
    node *left = window_of(x, 2, inside, n, strides), *right = window_of(x, 2, inside, n + 2, strides);
    kn_dtype t = (kn_dtype)x->dtype;
    return add(c, mul(num_of(t, .25), sub(add(add(add(up, down), left), right), mul(num_of(t, 4), c))));
}

/* ---- running ---- */

static void right(int nroots, node *const *roots, const char *what) {
    case_slice c;
    slice_make(&c, nroots, roots);
    for (int i = 0; i < 2; i++) {
        const char *wrong = slice_check(&c, profiles_run[i], false, BY_KERNELS);
        cr_expect(!wrong, "%s for %s: %s\n%s", what, profiles_run[i], wrong, c.why.at ? c.why.at : "");
    }
    slice_free(&c);
}
static void check(node *root, const char *format, ...) {
    char what[160];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    right(1, &root, what);
}

static const int64_t lengths[] = { 0, 1, 2, 3, 4, 5, 7, 16, 17, 31, 255, 256, 1023, 1024, 1025, 4096, 4099, 10007 };
#define LENGTHS (int)(sizeof lengths / sizeof *lengths)
static const int64_t matrices[][2] = { { 1, 33 }, { 3, 1 }, { 5, 31 }, { 4, 32 }, { 33, 33 }, { 64, 64 }, { 65, 63 }, { 2, 1000 }, { 3, 4096 }, { 2, 4099 }, { 300, 40 }, { 4000, 3 },
                                       { 3, 4000 }, { 1000, 7 }, { 70, 512 }, { 257, 128 }, { 2048, 8 }, { 130, 200 } };
#define MATRICES (int)(sizeof matrices / sizeof *matrices)

Test(gpu_map, lengths) {
    for (int i = 0; i < LENGTHS; i++) {
        node *a = f32(SHAPE(lengths[i])), *b = f32(SHAPE(lengths[i]));
        check(add(mul(a, b), num(2)), "a*b + 2 of %lld", (long long)lengths[i]);
        check(node_cast(add(a, b), KN_FLOAT64, NULL), "as float64, %lld", (long long)lengths[i]);
        check(compared(UFUNC_less, a, b), "a < b of %lld", (long long)lengths[i]);
        right(3, (node *[]){ add(a, b), mul(a, b), sub(a, b) }, "three results");
    }
    check(node_index(1000, NULL), "positions");
}

Test(gpu_map, every_dtype_in_every_shape) {
    for (int t = KN_BOOL; t <= KN_COMPLEX128; t++) {
        kn_dtype d = (kn_dtype)t;
        int op = t == KN_BOOL ? UFUNC_logical_or : UFUNC_add;
        for (int i = 0; i < LENGTHS; i += 2) {
            int64_t n = lengths[i];
            node *a = in_of(d, SHAPE(n)), *wide = in_of(d, SHAPE(n + 3)), *twice = in_of(d, SHAPE(2 * n + 1));
            check(map2(op, a, in_of(d, SHAPE(n))), "%s of %lld", dtype_table[t].name, (long long)n);
            check(map2(op, window_of(wide, SHAPE(n), 1, (const int64_t[]){ 1 }), a), "%s of %lld not aligned", dtype_table[t].name, (long long)n);
            if (n) check(map2(op, window_of(a, SHAPE(n), n - 1, (const int64_t[]){ -1 }), a), "%s of %lld backwards", dtype_table[t].name, (long long)n);
            if (n) check(map2(op, window_of(twice, SHAPE(n), 2 * n, (const int64_t[]){ -2 }), a), "%s of %lld by twos backwards", dtype_table[t].name, (long long)n);
        }
        for (int i = 0; i < MATRICES; i++) {
            int64_t m = matrices[i][0], n = matrices[i][1];
            node *a = in_of(d, 2, matrices[i]), *back = in_of(d, SHAPE(n, m));
            check(map2(op, turned(back), a), "%s (%lld, %lld) turned", dtype_table[t].name, (long long)m, (long long)n);
            check(turned(map2(op, a, a)), "%s (%lld, %lld) turned afterwards", dtype_table[t].name, (long long)m, (long long)n);
        }
    }
}

Test(gpu_map, layouts) {
    for (int i = 0; i < MATRICES; i++) {
        int64_t m = matrices[i][0], n = matrices[i][1];
        node *x = f32(2, matrices[i]), *wide = f32(SHAPE(m, 2 * n + 3)), *t = f32(SHAPE(n, m)), *line = f32(SHAPE(n)), *column = f32(SHAPE(m)), *even = f32(SHAPE(m + 4, n + 4));
        node *odd = window_of(wide, 2, matrices[i], 1, (const int64_t[]){ 2 * n + 3, 1 }), *every = window_of(wide, 2, matrices[i], 2, (const int64_t[]){ 2 * n + 3, 2 });
        node *back = window_of(x, 2, matrices[i], m * n - 1, (const int64_t[]){ -n, -1 }), *up = window_of(x, 2, matrices[i], (m - 1) * n, (const int64_t[]){ -n, 1 });
        node *across = window_of(column, 2, matrices[i], 0, (const int64_t[]){ 1, 0 });
        check(add(odd, x), "(%lld, %lld) not aligned", (long long)m, (long long)n);
        check(add(every, x), "(%lld, %lld) by twos", (long long)m, (long long)n);
        check(add(back, x), "(%lld, %lld) backwards", (long long)m, (long long)n);
        check(add(up, x), "(%lld, %lld) upside down", (long long)m, (long long)n);
        check(add(mul(across, node_broadcast(line, 2, matrices[i], NULL)), x), "outer product (%lld, %lld)", (long long)m, (long long)n);
        check(mul(across, node_broadcast(line, 2, matrices[i], NULL)), "outer product alone (%lld, %lld)", (long long)m, (long long)n);
        check(add(turned(t), x), "(%lld, %lld) turned", (long long)m, (long long)n);
        check(add(turned(t), turned(f32(SHAPE(n, m)))), "(%lld, %lld) both turned", (long long)m, (long long)n);
        check(mul(add(turned(t), x), turned(f32(SHAPE(n, m)))), "(%lld, %lld) two turned", (long long)m, (long long)n);
        check(window_of(add(even, num(1)), 2, matrices[i], 2 * (n + 4) + 1, (const int64_t[]){ n + 4, 1 }), "(%lld, %lld) a part", (long long)m, (long long)n);
        right(2, (node *[]){ add(turned(t), x), turned(add(turned(t), x)) }, "a result both ways");
        right(3, (node *[]){ add(x, odd), turned(mul(x, odd)), sub(x, up) }, "one of three turned");
    }
}

Test(gpu_map, axes) {
    static const int perms[][4] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 0, 2, 1, 3 }, { 1, 0, 3, 2 }, { 0, 3, 1, 2 }, { 0, 2, 3, 1 }, { 2, 3, 0, 1 }, { 3, 0, 1, 2 } };
    static const int64_t shapes[][4] = { { 3, 4, 5, 6 }, { 2, 3, 33, 40 }, { 40, 3, 2, 17 }, { 1, 64, 3, 64 }, { 5, 32, 64, 3 }, { 2, 2, 2, 2 }, { 2, 5, 300, 8 }, { 2, 3, 40, 13 } };
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int k = 0; k < 8; k++) {
            int64_t to[4];
            for (int d = 0; d < 4; d++) to[d] = shapes[i][perms[k][d]];
            node *x = node_transpose(f32(4, shapes[i]), perms[k], NULL);
            check(add(x, f32(4, to)), "shape %d, axes %d", i, k);
            check(map1(UFUNC_negative, x), "shape %d, axes %d alone", i, k);
            node *z = node_transpose(in_of(KN_COMPLEX64, 4, shapes[i]), perms[k], NULL);
            check(mul(z, in_of(KN_COMPLEX64, 4, to)), "shape %d, axes %d, complex", i, k);
        }
    check(map1(UFUNC_negative, node_transpose(f32(SHAPE(2, 3, 2, 3, 2, 3, 2)), (int[]){ 6, 4, 2, 0, 5, 3, 1 }, NULL)), "seven axes");
}

Test(gpu_map, stencils) {
    static const int64_t sizes[][2] = { { 3, 3 }, { 5, 300 }, { 40, 7 }, { 66, 66 }, { 130, 143 } };
    for (int i = 0; i < 5; i++) {
        node *x = f32(2, sizes[i]);
        check(stencil(x), "five points of (%lld, %lld)", (long long)sizes[i][0], (long long)sizes[i][1]);
        check(stencil(in_of(KN_FLOAT64, 2, sizes[i])), "five points of (%lld, %lld), float64", (long long)sizes[i][0], (long long)sizes[i][1]);
        int64_t m = sizes[i][0], n = sizes[i][1];
        window inside = { .offset = n + 1, .strides = (const int64_t[]){ n, 1 }, .shape = (const int64_t[]){ m - 2, n - 2 }, .ndim = 2 };
        check(node_write(x, &inside, stencil(x), NULL), "a heat step on (%lld, %lld)", (long long)m, (long long)n);
    }
    for (int i = 4; i < LENGTHS; i++) {
        int64_t n = lengths[i];
        node *x = f32(SHAPE(n)), *p[4];
        for (int d = 0; d < 4; d++) p[d] = window_of(x, SHAPE(n - 3), d, (const int64_t[]){ 1 });
        check(sub(p[1], p[0]), "differences of %lld", (long long)n);
        check(add(sub(p[3], p[1]), mul(p[0], p[2])), "four neighbours of %lld", (long long)n);
        check(sub(p[2], p[1]), "differences of %lld, neither aligned", (long long)n);
    }
}

/* More elements than one a thread. */
Test(gpu_map, large) {
    int64_t n = ((int64_t)1 << 20) + 5, shape[2] = { 1031, 1033 }, m = 1031 * 1033;
    node *x = f32(SHAPE(2 * n)), *every = window_of(x, SHAPE(n), 0, (const int64_t[]){ 2 });
    check(map1(UFUNC_negative, every), "every second of many");
    node *y = f32(SHAPE(m)), *t = window_of(y, 2, shape, 1032, (const int64_t[]){ 1033, -1 });
    check(add(t, f32(2, shape)), "many, rows backwards");
    check(stencil(f32(2, shape)), "a large stencil");
}

Test(gpu_map, joins_and_writes) {
    for (int i = 1; i < LENGTHS; i++) {
        int64_t n = lengths[i];
        node *x = f32(SHAPE(3 * n + 2)), *v = f32(SHAPE(n));
        window in = { .offset = n, .strides = (const int64_t[]){ 1 }, .shape = (const int64_t[]){ n }, .ndim = 1 }, by = { .offset = 1, .strides = (const int64_t[]){ 3 }, .shape = (const int64_t[]){ n }, .ndim = 1 };
        check(node_write(x, &in, mul(v, num(2)), NULL), "a part of %lld replaced", (long long)n);
        check(add(node_write(x, &in, mul(v, num(2)), NULL), num(1)), "a part of %lld chosen", (long long)n);
        check(node_write(x, &by, v, NULL), "every third of %lld", (long long)n);
        check(add(node_write(add(x, x), &by, v, NULL), x), "every third of %lld chosen", (long long)n);
    }
}

Test(gpu_map, in_place) {
    for (int i = 1; i < LENGTHS; i++) {
        int64_t n = lengths[i];
        node *x = f32(SHAPE(2 * n)), *other = f32(SHAPE(n));
        window half = { .offset = n, .strides = (const int64_t[]){ 1 }, .shape = (const int64_t[]){ n }, .ndim = 1 }, all = { .offset = 0, .strides = (const int64_t[]){ 1 }, .shape = (const int64_t[]){ 2 * n }, .ndim = 1 };
        node *roots[2] = { node_write(x, &half, add(mul(window_of(x, SHAPE(n), n, (const int64_t[]){ 1 }), num(3)), other), NULL), node_write(x, &all, map1(UFUNC_negative, x), NULL) };
        for (int r = 0; r < 2; r++) {
            case_slice c;
            slice_make(&c, 1, &roots[r]);
            slice_overwritable(&c, x);
            for (int k = 0; k < 2; k++) {
                const char *wrong = slice_check(&c, profiles_run[k], false, BY_KERNELS);
                cr_expect(!wrong, "in place, %lld, %d: %s", (long long)n, r, wrong);
            }
            slice_free(&c);
        }
    }
}

Test(gpu_map, gathers_and_scatters) {
    for (int i = 1; i < LENGTHS; i++) {
        int64_t n = lengths[i];
        double *at = mem_array((size_t)n, sizeof *at);
        for (int64_t k = 0; k < n; k++) at[k] = (double)(k * 7 % 100) - 50;
        node *index = leaf_of(KN_INT64, SHAPE(n), at), *x = f32(SHAPE(100));
        mem_free(at);
        check(add(mul(gather(x, index), num(2)), f32(SHAPE(n))), "%lld gathered", (long long)n);
        check(gather(in_of(KN_COMPLEX128, SHAPE(100)), index), "%lld complex gathered", (long long)n);
        static const int8_t from[1] = { -1 };
        check(node_scatter(x, f32(SHAPE(n)), SCATTER_SET, -1, from, 1, &index, NULL), "%lld scattered: the last one stays", (long long)n);
        check(node_scatter(in_of(KN_INT32, SHAPE(100)), in_of(KN_INT32, SHAPE(n)), SCATTER_COMBINE, UFUNC_add, from, 1, &index, NULL), "%lld added", (long long)n);
        check(node_scatter(x, f32(SHAPE(n)), SCATTER_COMBINE, UFUNC_add, from, 1, &index, NULL), "%lld added in order", (long long)n);
    }
    check(gather(f32(SHAPE(9)), leaf_of(KN_INT64, SHAPE(4), (double[]){ 0, 9, 1, 2 })), "out of bounds");
}

/* ---- what is printed ---- */

static plan *planned(case_slice *c, node *root, const char *profile) {
    message m = { 0 };
    slice_make(c, 1, &root);
    plan *p = plan_build(&c->s, profile_named(profile), NULL, &m);
    cr_assert(p, "%s", m.text);
    return p;
}

typedef struct printed { text source; int64_t grid[3]; } printed;

/* The source of the only kernel. */
static printed source_of(node *root, const char *profile) {
    case_slice c;
    message m = { 0 };
    printed s = { 0 };
    plan *p = planned(&c, root, profile);
    cr_assert_eq(p->nsteps, 1);
    cr_assert_eq(p->steps[0].kind, STEP_KERNEL);
    cr_assert_eq(kernel_verify(p->steps[0].code, &m), KN_OK, "%s", m.text);
    cr_assert_eq(source_print(p->steps[0].code, profile_named(profile)->target == TARGET_HIP ? DIALECT_HIP : DIALECT_CUDA, &s.source, &m), KN_OK, "%s", m.text);
    memcpy(s.grid, p->steps[0].grid, sizeof s.grid);
    plan_free(p);
    slice_free(&c);
    return s;
}

static int times(const text *t, const char *what) {
    int n = 0;
    for (const char *at = t->at; (at = strstr(at, what)); at++) n++;
    return n;
}

/* Words in `has` are there, words in `lacks` are not; each list ends with NULL. */
static void shows(node *root, const char *const *has, const char *const *lacks) {
    printed s = source_of(root, "sm_90");
    for (; *has; has++) cr_expect(times(&s.source, *has), "'%s' is missing:\n%s", *has, s.source.at);
    const char *body = strstr(s.source.at, "__global__");
    for (; *lacks; lacks++) cr_expect(!strstr(body, *lacks), "'%s' is there:\n%s", *lacks, s.source.at);
    text_free(&s.source);
}
#define WORDS(...) (const char *const[]){ __VA_ARGS__, NULL }

static node *map3(int64_t n) {
    node *a = f32(SHAPE(n)), *b = f32(SHAPE(n)), *c = f32(SHAPE(n));
    return add(mul(map1(UFUNC_sqrt, add(mul(a, a), mul(b, b))), c), map1(UFUNC_exp, map1(UFUNC_negative, a)));
}

/* Two small arrays, broadcast to any size. */
static node *outer(int64_t m, int64_t n) {
    int64_t shape[2] = { m, n };
    return mul(window_of(f32(SHAPE(m)), 2, shape, 0, (const int64_t[]){ 1, 0 }), window_of(f32(SHAPE(n)), 2, shape, 0, (const int64_t[]){ 0, 1 }));
}

Test(gpu_map, contiguous_operands_are_accessed_as_vectors) {
    printed s = source_of(map3(1 << 16), "sm_90");
    cr_expect_eq(times(&s.source, "(const float4 *)&"), 3, "%s", s.source.at);
    cr_expect_eq(times(&s.source, "*(float4 *)&out["), 1, "%s", s.source.at);
    cr_expect_eq(times(&s.source, "else"), 0, "a multiple of the vector needs nothing else:\n%s", s.source.at);
    text_free(&s.source);
    shows(map3((1 << 16) + 1), WORDS("float4", "else"), WORDS("/", "%", "(int)", "long long"));
    shows(add(in_of(KN_FLOAT16, SHAPE(1 << 16)), in_of(KN_FLOAT16, SHAPE(1 << 16))), WORDS("f16x8"), WORDS("f16x4"));
    shows(add(in_of(KN_INT8, SHAPE(1 << 16)), in_of(KN_INT8, SHAPE(1 << 16))), WORDS("i8x16"), WORDS("else"));
    shows(add(in_of(KN_FLOAT64, SHAPE(1 << 16)), in_of(KN_FLOAT64, SHAPE(1 << 16))), WORDS("double2"), WORDS("else"));
    shows(mul(in_of(KN_COMPLEX64, SHAPE(1 << 16)), in_of(KN_COMPLEX64, SHAPE(1 << 16))), WORDS("float4", "mul_c64"), WORDS("else"));
    shows(compared(UFUNC_less, f32(SHAPE(1 << 16)), f32(SHAPE(1 << 16))), WORDS("float4", "u8x4"), WORDS("else"));
    shows(outer(1000, 1024), WORDS("float4", "blockIdx.y"), WORDS("/", "%"));
    shows(outer(1000, 64), WORDS("float4", "threadIdx.y"), WORDS("/", "%"));
}

Test(gpu_map, nothing_is_divided) {
    static const int64_t shapes[][3] = { { 20, 30, 40 }, { 64, 64, 64 }, { 3, 1000, 7 } };
    static const int perms[][3] = { { 0, 2, 1 }, { 2, 1, 0 }, { 1, 0, 2 }, { 1, 2, 0 } };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            node *x = node_transpose(f32(3, shapes[i]), perms[k], NULL);
            printed s = source_of(node_reshape(add(x, num(1)), SHAPE(x->size), NULL), "sm_90");
            const char *body = strstr(s.source.at, "__global__");
            for (const char *at = strpbrk(body, "/%"); at; at = strpbrk(at + 1, "/%"))   /* except to take threads apart, by constants */
                cr_expect(at >= body + 8 && !strncmp(at - 7, "thread", 6) && at[2] >= '0' && at[2] <= '9', "shape %d, axes %d:\n%s", i, k, s.source.at);
            text_free(&s.source);
        }
}

Test(gpu_map, what_is_turned_goes_through_a_tile) {
    shows(add(turned(f32(SHAPE(1024, 512))), f32(SHAPE(512, 1024))), WORDS("__shared__ float a_tile[4160]", "__syncthreads", "* 65", "float4"), WORDS("if ("));
    shows(add(turned(f32(SHAPE(1023, 511))), f32(SHAPE(511, 1023))), WORDS("__shared__ float a_tile[4160]", "if ("), WORDS("float4"));
    shows(turned(add(f32(SHAPE(512, 512)), f32(SHAPE(512, 512)))), WORDS("__shared__ float out_tile[4160]"), WORDS("a_tile"));
    shows(turned(in_of(KN_COMPLEX128, SHAPE(512, 512))), WORDS("__shared__ double", "double2"), WORDS("if ("));
    shows(add(turned(f32(SHAPE(1024, 3))), f32(SHAPE(3, 1024))), WORDS("float4"), WORDS("__shared__"));
}

Test(gpu_map, short_rows_are_taken_whole) {
    shows(node_transpose(f32(SHAPE(64, 1000, 8)), (int[]){ 0, 2, 1 }, NULL), WORDS("a_rows[8]"), WORDS("__shared__", "row < rows && at"));
    shows(node_transpose(f32(SHAPE(64, 1000, 3)), (int[]){ 0, 2, 1 }, NULL), WORDS("a_rows[4]", "< rows"), WORDS("__shared__"));
}

Test(gpu_map, rows_of_a_stencil_are_loaded_once) {
    printed s = source_of(stencil(f32(SHAPE(1200, 1200))), "sm_90");
    cr_expect_eq(times(&s.source, " = a["), 5, "%s", s.source.at);
    cr_expect_eq(times(&s.source, "#pragma unroll"), 2);
    text_free(&s.source);
}

Test(gpu_map, indices_are_as_wide_as_needed) {
    shows(outer(40000, 40000), WORDS("const int row"), WORDS("long long"));
    shows(outer(70000, 70000), WORDS("long long row"), WORDS("int row"));
    static const int64_t tall[2] = { (int64_t)1 << 24, 40 }, wide[2] = { 40, (int64_t)1 << 24 };
    for (int i = 0; i < 2; i++) {
        const int64_t *shape = i ? wide : tall;
        node *a = window_of(f32(SHAPE(7)), SHAPE(shape[0], shape[1]), 0, (const int64_t[]){ 0, 0 });
        printed s = source_of(map1(UFUNC_negative, node_transpose(node_reshape(a, SHAPE(shape[0], 8, shape[1] / 8), NULL), (int[]){ 1, 0, 2 }, NULL)), "sm_90");
        for (int d = 1; d < 3; d++) cr_expect_leq(s.grid[d], 65535);
        text_free(&s.source);
    }
    printed s = source_of(outer((int64_t)1 << 25, 256), "sm_90");
    cr_expect_eq(s.grid[1], 65535);
    cr_expect(times(&s.source, "+= gridDim.y"), "%s", s.source.at);
    text_free(&s.source);
}

/* ---- compilers ---- */

static void compiles(node *root, const char *profile) {
    case_slice c;
    message m = { 0 };
    dialect d = profile_named(profile)->target == TARGET_HIP ? DIALECT_HIP : DIALECT_CUDA;
    plan *p = planned(&c, root, profile);
    for (int i = 0; i < p->nsteps; i++) {
        text source = { 0 }, log = { 0 };
        if (p->steps[i].kind != STEP_KERNEL) continue;
        cr_assert_eq(source_print(p->steps[i].code, d, &source, &m), KN_OK, "%s", m.text);
        cr_expect(rtc_compile(d, source.at, profile, NULL, &log), "for %s:\n%s\n%s", profile, log.at ? log.at : "", source.at);
        text_free(&source);
        text_free(&log);
    }
    plan_free(p);
    slice_free(&c);
}

/* Every dtype in layouts that take turns, so that all targets together see each kind of kernel. */
Test(gpu_map, sources_compile) {
    static const char *const targets[] = { "sm_75", "sm_90", "sm_120", "gfx90a", "gfx1030" };
    for (int k = 0; k < 5; k++) {
        const char *why = "";
        dialect d = profile_named(targets[k])->target == TARGET_HIP ? DIALECT_HIP : DIALECT_CUDA;
        if (!rtc_available(d, &why) || !rtc_knows(d, targets[k])) {
            fprintf(stderr, "test_schedule_gpu: %s left out: %s\n", targets[k], *why ? why : "the compiler does not know it");
            continue;
        }
        for (int t = KN_BOOL; t <= KN_COMPLEX128; t++) {
            kn_dtype type = (kn_dtype)t;
            int op = t == KN_BOOL ? UFUNC_logical_or : UFUNC_add;
            node *x = in_of(type, SHAPE(64, 96)), *y = in_of(type, SHAPE(96, 64)), *z = in_of(type, SHAPE(65, 97)), *v = in_of(type, SHAPE(1001));
            node *index = leaf_of(KN_INT64, SHAPE(1001), NULL);
            node *all[] = { map2(op, v, v), map2(op, turned(y), x), turned(map2(op, x, x)), map2(op, window_of(z, SHAPE(64, 96), 98, (const int64_t[]){ 97, 1 }), x), gather(v, index),
                            map2(op, window_of(v, SHAPE(1000), 1000, (const int64_t[]){ -1 }), window_of(v, SHAPE(1000), 1, (const int64_t[]){ 1 })) };
            for (int i = 0; i < 6; i++) if (k == 1 || (i + t) % 4 == k % 4) compiles(all[i], targets[k]);
        }
        compiles(stencil(f32(SHAPE(1200, 1200))), targets[k]);
        compiles(map3(10007), targets[k]);
        compiles(outer(70000, 70000), targets[k]);
        compiles(outer((int64_t)1 << 25, 256), targets[k]);
    }
}
