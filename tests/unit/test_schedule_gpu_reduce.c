/* Reductions, rows and scans on GPUs: the kernels in the lockstep interpreter, on warps of 32 and 64 lanes, against the
 * meaning of the graph node by node. Numbers are such that float sums are exact, whatever the order, except where accuracy
 * is the question. Structure is checked in the kernel IR.
 * time-out: 600 */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "../support/nest_eval.c"
#include "../support/slices.c"
#include "../support/owned.h"
#include "../support/rtc.h"

TestSuite(gpu_reduce, .fini = drop_all);

#define SHAPE(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__}
static const char *const profiles_run[] = { "sm_90", "gfx90a" };

/* ---- graphs in few words ---- */

/* Multiples of 1/8 between -1 and 1; small integers; no two neighbours alike. */
static node *in_of(kn_dtype t, int ndim, const int64_t *shape) {
    int64_t size = 1;
    for (int d = 0; d < ndim; d++) size *= shape[d];
    double *v = mem_array((size_t)size + 1, sizeof *v);
    cr_assert(v);
    for (int64_t i = 0; i < size; i++) {
        int64_t k = (i * 7919 + i / 13) % 17;
        v[i] = dtype_is_inexact(t) ? (double)(k - 8) / 8 : dtype_table[t].kind == 'u' || t == KN_BOOL ? (double)k : (double)(k - 8);
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
static bool is_position(int r) { return r == REDUCTION_argmax || r == REDUCTION_argmin; }
static node *reduce(int r, node *a, uint64_t axes) { return node_reduce(r, a, axes, is_position(r) ? KN_INT64 : (kn_dtype)a->dtype, false, NULL); }
/* Reduced, and back over the axes. */
static node *spread(int r, node *a, uint64_t axes, double scale) {
    int64_t shape[NDIM_MAX];
    for (int d = 0; d < a->ndim; d++) shape[d] = axes >> d & 1 ? 1 : a->shape[d];
    node *n = node_reshape(reduce(r, a, axes), a->ndim, shape, NULL);
    if (scale != 1) n = map2(UFUNC_multiply, n, num_of((kn_dtype)a->dtype, scale));
    return node_broadcast(n, a->ndim, a->shape, NULL);
}
static node *softmax(node *x, uint64_t axes) {
    node *e = map1(UFUNC_exp, map2(UFUNC_subtract, x, spread(REDUCTION_max, x, axes, 1)));
    return map2(UFUNC_divide, e, spread(REDUCTION_sum, e, axes, 1));
}
static node *layer_norm(node *x, node *gain, node *shift) {
    double share = 1. / (double)x->shape[x->ndim - 1];
    node *d = map2(UFUNC_subtract, x, spread(REDUCTION_sum, x, (uint64_t)1 << (x->ndim - 1), share));
    node *v = spread(REDUCTION_sum, map2(UFUNC_multiply, d, d), (uint64_t)1 << (x->ndim - 1), share);
    node *y = map2(UFUNC_divide, d, map1(UFUNC_sqrt, map2(UFUNC_add, v, num_of((kn_dtype)x->dtype, 1e-5))));
    return map2(UFUNC_add, map2(UFUNC_multiply, y, node_broadcast(gain, x->ndim, x->shape, NULL)), node_broadcast(shift, x->ndim, x->shape, NULL));
}
static node *window_of(node *x, int ndim, const int64_t *shape, int64_t offset, const int64_t *strides) {
    window w = { .offset = offset, .strides = strides, .shape = shape, .ndim = ndim };
    return node_view(x, (kn_dtype)x->dtype, &w, NULL);
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

/* The plan of one root; the arena of the slice must live on. */
static plan *planned(case_slice *c, node *root, const char *profile) {
    message m = { 0 };
    slice_make(c, 1, &root);
    plan *p = plan_build(&c->s, profile_named(profile), NULL, &m);
    cr_assert(p, "%s", m.text);
    return p;
}
static kernel *only_kernel(const plan *p) {
    cr_assert_eq(p->nsteps, 1);
    cr_assert_eq(p->steps[0].kind, STEP_KERNEL);
    return p->steps[0].code;
}

/* Runs all steps so many times on the same memory, which counters must survive; the first result. */
static const char *run_plan(case_slice *c, const plan *p, int times) {
    message m = { 0 };
    char **leaves = arena_zero(&c->mem, (size_t)c->s.nleaves + 1, sizeof *leaves), **memory = arena_zero(&c->mem, (size_t)p->nmemory + 1, sizeof *memory);
    scalar *scalars = arena_zero(&c->mem, (size_t)c->s.nscalars + 1, sizeof *scalars);
    for (int i = 0; i < c->s.nleaves; i++) leaves[i] = copy_of_leaf(c, c->s.leaves[i]);
    for (int i = 0; i < c->s.nscalars; i++) scalars[i] = c->s.scalars[i]->attr.number;
    for (int i = 0; i < p->nmemory; i++) {
        memory[i] = arena_zero(&c->mem, (size_t)p->memory[i].bytes + 64, 1);
        if (!p->memory[i].zeroed) memset(memory[i], 0xa5, (size_t)p->memory[i].bytes);
    }
    for (int i = 0; i < times * p->nsteps; i++) {
        const plan_step *s = &p->steps[i % p->nsteps];
        uint64_t args[128], fault = FAULT_NONE;
        for (int j = 0; j < s->nargs; j++) args[j] = word_of(&s->args[j], scalars, leaves, memory);
        cr_assert_eq(reference_run(s->code, args, 0, s->grid[0], &fault, &m), KN_OK, "%s", m.text);
    }
    for (int i = 0; i < p->nmemory && times > 1; i++)
        for (int64_t b = 0; p->memory[i].zeroed && b < p->memory[i].bytes; b++) cr_assert_eq(memory[i][b], 0, "a counter is not 0 again");
    return memory[p->results[0].at.index] + p->results[0].at.offset;
}

/* ---- shapes ---- */

static const int64_t lengths[] = { 1, 2, 3, 7, 31, 32, 33, 64, 127, 1000, 1024, 1025, 4096, 4099, 8192, 20011, 70000 };
#define LENGTHS (int)(sizeof lengths / sizeof *lengths)
static const int64_t matrices[][2] = { { 1, 33 }, { 3, 1 }, { 5, 31 }, { 4, 32 }, { 33, 33 }, { 2, 1000 }, { 3, 4096 }, { 1, 5000 }, { 2, 20011 }, { 300, 40 },
                                       { 4000, 3 }, { 3, 4000 }, { 1000, 7 }, { 70, 512 }, { 257, 128 }, { 2, 17000 }, { 2048, 8 } };
#define MATRICES (int)(sizeof matrices / sizeof *matrices)

Test(gpu_reduce, full) {
    for (int i = 0; i < LENGTHS; i++) {
        node *x = f32(SHAPE(lengths[i])), *y = f32(SHAPE(lengths[i])), *d = map2(UFUNC_subtract, x, map2(UFUNC_multiply, y, num(.5)));
        check(reduce(REDUCTION_sum, x, 1), "sum of %lld", (long long)lengths[i]);
        check(map1(UFUNC_negative, reduce(REDUCTION_sum, map2(UFUNC_multiply, d, d), 1)), "sum of squares of %lld", (long long)lengths[i]);
        check(reduce(REDUCTION_argmax, x, 1), "argmax of %lld", (long long)lengths[i]);
    }
}

Test(gpu_reduce, rows_and_columns) {
    static const int ops[] = { REDUCTION_sum, REDUCTION_max, REDUCTION_argmin };
    for (int i = 0; i < MATRICES; i++)
        for (int o = 0; o < 3; o++)
            for (uint64_t axes = 1; axes < 4; axes++)
                check(reduce(ops[o], f32(2, matrices[i]), axes), "%s of (%lld, %lld) over %d", reductions[ops[o]].name, (long long)matrices[i][0], (long long)matrices[i][1], (int)axes);
}

Test(gpu_reduce, every_set_of_axes_of_four) {
    for (uint64_t axes = 1; axes < 16; axes++) {
        check(reduce(REDUCTION_sum, f32(SHAPE(5, 6, 7, 9)), axes), "sum over axes %d", (int)axes);
        check(reduce(REDUCTION_sum, f32(SHAPE(3, 16, 5, 32)), axes), "sum over axes %d", (int)axes);
        check(reduce(REDUCTION_argmax, f32(SHAPE(40, 3, 2, 12)), axes), "argmax over axes %d", (int)axes);
    }
    check(reduce(REDUCTION_sum, f32(SHAPE(40, 30, 50)), 5), "sum over the outer axes");
    check(reduce(REDUCTION_sum, f32(SHAPE(4, 3000, 8)), 2), "sum over the middle axis");
}

/* ---- kinds ---- */

Test(gpu_reduce, every_dtype) {
    for (int t = KN_BOOL; t <= KN_COMPLEX128; t++)
        for (int r = REDUCTION_sum; r <= REDUCTION_argmin; r++) {
            node *x = in_of((kn_dtype)t, SHAPE(9, 260)), *y = in_of((kn_dtype)t, SHAPE(9000));
            bool logical = r == REDUCTION_any || r == REDUCTION_all, narrow = t == KN_FLOAT16 || t == KN_BFLOAT16;
            if (logical != (t == KN_BOOL) && logical) continue;
            if (t == KN_BOOL && (r == REDUCTION_sum || r == REDUCTION_prod)) continue;
            if (narrow && (r == REDUCTION_sum || r == REDUCTION_prod || is_position(r))) continue;
            if (dtype_is_inexact((kn_dtype)t) && r == REDUCTION_prod) continue;
            for (uint64_t axes = 1; axes < 3; axes++) check(reduce(r, x, axes), "%s of %s over %d", reductions[r].name, dtype_table[t].name, (int)axes);
            check(reduce(r, y, 1), "%s of %s", reductions[r].name, dtype_table[t].name);
        }
}

Test(gpu_reduce, other_reductions) {
    static const int ops[] = { REDUCTION_fmax, REDUCTION_fmin, REDUCTION_bitwise_and, REDUCTION_bitwise_xor, REDUCTION_gcd };
    for (int o = 0; o < 5; o++) {
        kn_dtype t = o < 2 ? KN_FLOAT64 : KN_INT32;
        check(reduce(ops[o], in_of(t, SHAPE(700)), 1), "%s", reductions[ops[o]].name);
        check(reduce(ops[o], in_of(t, SHAPE(70, 30)), 1), "%s", reductions[ops[o]].name);
        check(reduce(ops[o], in_of(t, SHAPE(70, 30)), 2), "%s", reductions[ops[o]].name);
    }
}

Test(gpu_reduce, variance) {
    for (int i = 0; i < MATRICES; i++)
        for (uint64_t axes = 1; axes < 4; axes++) check(reduce(REDUCTION_var, in_of(KN_FLOAT64, 2, matrices[i]), axes), "var over %d", (int)axes);
}

Test(gpu_reduce, left_to_right_stays_so) {
    check(reduce(REDUCTION_subtract, f32(SHAPE(40, 33)), 2), "subtract.reduce");
    check(reduce(REDUCTION_divide, in_of(KN_FLOAT64, SHAPE(3, 5)), 1), "divide.reduce");
}

Test(gpu_reduce, nan_and_infinity) {
    for (int64_t n = 5; n < 20000; n *= 9) {
        double *v = mem_zero((size_t)n, sizeof *v);
        for (int64_t i = 0; i < n; i++) v[i] = (double)(i % 7);
        v[n / 2] = INFINITY;
        node *inf = leaf_of(KN_FLOAT32, SHAPE(n), v);
        v[n - 1] = NAN;
        node *nan = leaf_of(KN_FLOAT32, SHAPE(n), v);
        mem_free(v);
        static const int ops[] = { REDUCTION_sum, REDUCTION_max, REDUCTION_min, REDUCTION_argmax, REDUCTION_argmin, REDUCTION_fmax };
        for (int o = 0; o < 6; o++) {
            check(reduce(ops[o], inf, 1), "%s with an infinity among %lld", reductions[ops[o]].name, (long long)n);
            check(reduce(ops[o], nan, 1), "%s with a NaN among %lld", reductions[ops[o]].name, (long long)n);
        }
    }
}

Test(gpu_reduce, nothing) {
    static const int ops[] = { REDUCTION_sum, REDUCTION_prod };
    for (int o = 0; o < 2; o++) {
        check(reduce(ops[o], f32(SHAPE(0)), 1), "of nothing");
        check(reduce(ops[o], f32(SHAPE(0, 5)), 1), "of no rows");
        check(reduce(ops[o], f32(SHAPE(5, 0)), 2), "of empty rows");
        check(reduce(ops[o], f32(SHAPE(5, 0)), 1), "of no columns");
        check(node_scan(ops[o], f32(SHAPE(5, 0)), 0, NULL), "scan of no columns");
        check(node_scan(ops[o], f32(SHAPE(0, 5)), 0, NULL), "scan of no rows");
    }
    check(softmax(f32(SHAPE(0, 5)), 2), "softmax of no rows");
}

/* ---- layouts ---- */

Test(gpu_reduce, layouts) {
    for (int i = 0; i < MATRICES; i++)
        for (uint64_t axes = 1; axes < 4; axes++) {
            int64_t m = matrices[i][0], n = matrices[i][1];
            node *x = f32(2, matrices[i]), *wide = f32(SHAPE(m, 2 * n + 3)), *t = f32(SHAPE(n, m)), *line = f32(SHAPE(n));
            node *odd = window_of(wide, 2, matrices[i], 1, (const int64_t[]){ 2 * n + 3, 1 }), *every = window_of(wide, 2, matrices[i], 2, (const int64_t[]){ 2 * n + 3, 2 });
            node *back = window_of(x, 2, matrices[i], m * n - 1, (const int64_t[]){ -n, -1 });
            check(reduce(REDUCTION_sum, node_transpose(t, (int[]){ 1, 0 }, NULL), axes), "sum of (%lld, %lld) turned, over %d", (long long)m, (long long)n, (int)axes);
            check(reduce(REDUCTION_sum, odd, axes), "sum of (%lld, %lld) not aligned, over %d", (long long)m, (long long)n, (int)axes);
            check(reduce(REDUCTION_argmax, every, axes), "argmax of (%lld, %lld) with steps, over %d", (long long)m, (long long)n, (int)axes);
            check(reduce(REDUCTION_argmax, back, axes), "argmax of (%lld, %lld) backwards, over %d", (long long)m, (long long)n, (int)axes);
            node *both = map2(UFUNC_add, map2(UFUNC_multiply, x, node_broadcast(line, 2, matrices[i], NULL)), node_transpose(t, (int[]){ 1, 0 }, NULL));
            check(reduce(REDUCTION_sum, both, axes), "sum of (%lld, %lld) of three layouts, over %d", (long long)m, (long long)n, (int)axes);
        }
}

Test(gpu_reduce, narrow_and_mixed_vectors) {
    static const int64_t sizes[] = { 16, 64, 100, 1000, 40000 };
    for (int i = 0; i < 5; i++) {
        node *h = in_of(KN_FLOAT16, SHAPE(sizes[i])), *x = f32(SHAPE(sizes[i])), *b = in_of(KN_INT8, SHAPE(sizes[i]));
        check(reduce(REDUCTION_sum, map2(UFUNC_multiply, node_cast(h, KN_FLOAT32, NULL), x), 1), "float16 and float32, %lld", (long long)sizes[i]);
        check(reduce(REDUCTION_sum, node_cast(b, KN_INT64, NULL), 1), "int8 as int64, %lld", (long long)sizes[i]);
        check(reduce(REDUCTION_sum, in_of(KN_COMPLEX64, SHAPE(sizes[i])), 1), "complex64, %lld", (long long)sizes[i]);
    }
}

/* ---- several at once, and what is stored on the way ---- */

Test(gpu_reduce, several_in_one_pass) {
    static const int64_t shapes[][2] = { { 40, 12 }, { 3, 9000 }, { 9000, 3 }, { 200, 300 } };
    for (int i = 0; i < 4; i++)
        for (uint64_t axes = 1; axes < 4; axes++) {
            node *x = f32(2, shapes[i]), *roots[5] = { reduce(REDUCTION_sum, x, axes), reduce(REDUCTION_max, x, axes), reduce(REDUCTION_argmin, x, axes),
                                                     reduce(REDUCTION_sum, map2(UFUNC_multiply, x, x), axes), map2(UFUNC_add, x, num(2)) };
            right(4, roots, "sum, max, argmin, sum of squares");
            right(2, (node *[]){ roots[4], reduce(REDUCTION_sum, roots[4], axes) }, "what is summed is stored too");
        }
}

/* ---- rows ---- */

Test(gpu_reduce, softmax_of_rows) {
    static const int64_t shapes[][2] = { { 1, 1 }, { 40, 2 }, { 33, 5 }, { 5, 13 }, { 7, 31 }, { 9, 32 }, { 3, 100 }, { 2, 256 }, { 3, 511 }, { 2, 1000 }, { 2, 1024 },
                                         { 2, 2049 }, { 3, 4096 }, { 2, 5000 }, { 1, 8192 }, { 1, 8191 }, { 2, 17000 }, { 1, 40000 }, { 260, 260 } };
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (uint64_t axes = 1; axes < 4; axes++) check(softmax(f32(2, shapes[i]), axes), "softmax of (%lld, %lld) over %d", (long long)shapes[i][0], (long long)shapes[i][1], (int)axes);
}

Test(gpu_reduce, softmax_of_other_layouts_and_types) {
    for (int64_t n = 12; n < 3000; n *= 6) {
        node *t = f32(SHAPE(n, 6)), *wide = f32(SHAPE(6, n + 1)), *d = in_of(KN_FLOAT64, SHAPE(6, n)), *three = f32(SHAPE(3, n, 2));
        check(softmax(node_transpose(t, (int[]){ 1, 0 }, NULL), 2), "softmax of %lld turned", (long long)n);
        check(softmax(window_of(wide, SHAPE(6, n), 1, (const int64_t[]){ n + 1, 1 }), 2), "softmax of %lld not aligned", (long long)n);
        check(softmax(d, 2), "softmax of %lld float64", (long long)n);
        check(softmax(three, 2), "softmax of %lld in the middle", (long long)n);
        check(softmax(three, 5), "softmax of %lld around the middle", (long long)n);
    }
}

Test(gpu_reduce, layer_norm_of_rows) {
    static const int64_t shapes[][2] = { { 40, 8 }, { 5, 31 }, { 3, 768 }, { 2, 4096 }, { 2, 5001 }, { 1, 17000 } };
    for (int i = 0; i < 6; i++) {
        int64_t n = shapes[i][1];
        node *x = in_of(KN_FLOAT64, 2, shapes[i]);
        check(layer_norm(x, in_of(KN_FLOAT64, SHAPE(n)), in_of(KN_FLOAT64, SHAPE(n))), "layer norm of (%lld, %lld)", (long long)shapes[i][0], (long long)n);
    }
}

Test(gpu_reduce, chains_with_results) {
    for (int i = 0; i < MATRICES; i += 2)
        for (uint64_t axes = 1; axes < 4; axes++) {
            node *x = in_of(KN_FLOAT64, 2, matrices[i]), *d = map2(UFUNC_subtract, x, spread(REDUCTION_max, x, axes, 1));
            check(map1(UFUNC_sqrt, reduce(REDUCTION_sum, map2(UFUNC_multiply, d, d), axes)), "distance from the maximum over %d", (int)axes);
            node *e = map1(UFUNC_exp, d), *sums = reduce(REDUCTION_sum, e, axes);
            right(3, (node *[]){ reduce(REDUCTION_max, x, axes), sums, e }, "maxima, sums and what was summed");
        }
}

/* ---- exactness and order ---- */

static double random_number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (1 << 24) - .5;
}

/* NumPy's pairwise sum: at most this many roundings on the way of any element. */
static double roundings(int64_t n) { return 10 + log2((double)n); }

Test(gpu_reduce, sums_stay_within_the_pairwise_bound) {
    static const int64_t shapes[][2] = { { 1, 300 }, { 1, 1024 }, { 1, 70000 }, { 1, 300000 }, { 1, 300007 }, { 3, 9000 }, { 300, 17 }, { 5000, 5 }, { 300, 1500 } };
    for (int i = 0; i < 9; i++)
        for (uint64_t axes = 1; axes < 4; axes++) {
            int64_t m = shapes[i][0], n = shapes[i][1];
            double *v = mem_zero((size_t)(m * n), sizeof *v);
            uint64_t seed = (uint64_t)i;
            for (int64_t j = 0; j < m * n; j++) v[j] = (float)(random_number(&seed) + (j % 3 ? 0 : 1e3));
            case_slice c;
            plan *p = planned(&c, reduce(REDUCTION_sum, leaf_of(KN_FLOAT32, 2, shapes[i], v), axes), profiles_run[i % 2]);
            const float *got = (const float *)(const void *)run_plan(&c, p, 2);
            int64_t results = axes == 1 ? n : axes == 2 ? m : 1;
            for (int64_t r = 0; r < results; r++) {
                double sum = 0, sizes = 0;
                int64_t count = axes == 1 ? m : axes == 2 ? n : m * n;
                for (int64_t j = 0; j < count; j++) {
                    double x = axes == 1 ? v[j * n + r] : axes == 2 ? v[r * n + j] : v[j];
                    sum += x;
                    sizes += fabs(x);
                }
                cr_expect(fabs(got[r] - sum) <= roundings(count) * 0x1p-24 * sizes, "(%lld, %lld) over %d, result %lld: %.9g, not %.9g", (long long)m, (long long)n, (int)axes, (long long)r, got[r], sum);
            }
            plan_free(p);
            slice_free(&c);
            mem_free(v);
        }
}

/* The order of a sum is in its kernel, and kernels for one kind of device are the same for all of them. */
Test(gpu_reduce, kernels_do_not_depend_on_the_device) {
    static const char *const same[] = { "sm_75", "sm_80", "sm_90", "sm_120" };
    for (int i = 0; i < MATRICES; i++)
        for (uint64_t axes = 1; axes < 4; axes++) {
            text first = { 0 };
            int64_t grid = 0;
            for (int d = 0; d < 4; d++) {
                case_slice c;
                text bytes = { 0 };
                plan *p = planned(&c, reduce(REDUCTION_sum, f32(2, matrices[i]), axes), same[d]);
                kernel_bytes(only_kernel(p), &bytes);
                if (!d) {
                    text_addn(&first, bytes.at, bytes.len);
                    grid = p->steps[0].grid[0];
                }
                cr_expect(bytes.len == first.len && !memcmp(bytes.at, first.at, first.len) && p->steps[0].grid[0] == grid, "another kernel for %s", same[d]);
                text_free(&bytes);
                plan_free(p);
                slice_free(&c);
            }
            text_free(&first);
        }
}

/* ---- structure ---- */

/* Does the value vary inside a thread only with loops that are unrolled? */
static bool is_static_index(const kernel *k, kval v) {
    const kinst *x = &k->code[v];
    if (x->op == K_CONST) return true;
    if (x->op == K_FOR) return loop_kind(x) == LOOP_UNROLL;
    return x->op < NKOPS && is_static_index(k, x->a) && (kop_arity((kop)x->op) < 2 || is_static_index(k, x->b));
}

static int count_loads(const kernel *k, uint32_t param, bool *arrays_are_registers) {
    int loads = 0;
    *arrays_are_registers = true;
    for (uint32_t i = 0; i < k->ncode; i++) {
        const kinst *x = &k->code[i];
        if (x->op != K_LOAD && x->op != K_VLOAD && x->op != K_STORE) continue;
        loads += x->op != K_STORE && x->a == param;
        if (x->op != K_VLOAD && k->code[x->a].op == K_LOCAL && !is_static_index(k, x->b)) *arrays_are_registers = false;
    }
    return loads;
}

Test(gpu_reduce, rows_are_read_once_and_kept_in_registers) {
    static const int64_t sizes[] = { 2, 7, 31, 32, 100, 1000, 1024, 4096, 5001, 8192 };
    for (int i = 0; i < 10; i++)
        for (int which = 0; which < 2; which++) {
            case_slice c;
            bool registers;
            node *x = f32(SHAPE(500, sizes[i]));
            plan *p = planned(&c, which ? softmax(x, 2) : layer_norm(x, f32(SHAPE(sizes[i])), f32(SHAPE(sizes[i]))), "sm_90");
            const kernel *k = only_kernel(p);
            cr_expect_eq(count_loads(k, 0, &registers), 1, "rows of %lld are read %d times", (long long)sizes[i], count_loads(k, 0, &registers));
            cr_expect(registers, "rows of %lld: an array that is no register", (long long)sizes[i]);
            plan_free(p);
            slice_free(&c);
        }
}

Test(gpu_reduce, large_sums_are_one_launch_with_vectors) {
    static const int64_t sizes[] = { 1 << 20, 1000000, 1000003 };
    for (int i = 0; i < 3; i++) {
        case_slice c;
        bool registers;
        double *v = mem_zero((size_t)sizes[i], sizeof *v);
        plan *p = planned(&c, reduce(REDUCTION_sum, leaf_of(KN_FLOAT32, SHAPE(sizes[i]), v), 1), "sm_90");
        mem_free(v);
        const kernel *k = only_kernel(p);
        int vectors = 0;
        for (uint32_t j = 0; j < k->ncode; j++) vectors += k->code[j].op == K_VLOAD;
        cr_expect_eq(vectors, 1);
        count_loads(k, 0, &registers);
        cr_expect(registers);
        cr_expect_gt(p->steps[0].grid[0], 100);
        plan_free(p);
        slice_free(&c);
    }
}

/* ---- scans ---- */

static node *scan(int r, node *a, int axis) { return node_scan(r, a, axis, NULL); }

/* Of 1 and -1, so that products are exact. */
static node *signs_of(kn_dtype t, int ndim, const int64_t *shape) {
    int64_t size = 1;
    for (int d = 0; d < ndim; d++) size *= shape[d];
    double *v = mem_array((size_t)size + 1, sizeof *v);
    for (int64_t i = 0; i < size; i++) v[i] = (i * 7919 + i / 13) % 17 < 9 ? 1 : -1;
    node *n = leaf_of(t, ndim, shape, v);
    mem_free(v);
    return n;
}

Test(gpu_reduce, scan_of_one_axis) {
    for (int i = 0; i < LENGTHS; i++) {
        node *x = f32(SHAPE(lengths[i])), *y = f32(SHAPE(lengths[i]));
        check(scan(REDUCTION_sum, x, 0), "cumsum of %lld", (long long)lengths[i]);
        check(scan(REDUCTION_max, in_of(KN_INT16, SHAPE(lengths[i])), 0), "cummax of %lld", (long long)lengths[i]);
        check(map2(UFUNC_add, map2(UFUNC_multiply, scan(REDUCTION_sum, map2(UFUNC_multiply, x, y), 0), num(.5)), y), "cumsum of %lld with more around it", (long long)lengths[i]);
    }
}

Test(gpu_reduce, scan_of_two_axes) {
    for (int i = 0; i < MATRICES; i++)
        for (int axis = 0; axis < 2; axis++) {
            check(scan(REDUCTION_sum, f32(2, matrices[i]), axis), "cumsum of (%lld, %lld) along %d", (long long)matrices[i][0], (long long)matrices[i][1], axis);
            check(scan(REDUCTION_prod, signs_of(KN_FLOAT32, 2, matrices[i]), axis), "cumprod of (%lld, %lld) along %d", (long long)matrices[i][0], (long long)matrices[i][1], axis);
        }
    check(scan(REDUCTION_sum, f32(SHAPE(300, 5000)), 1), "cumsum of many long rows");
    check(scan(REDUCTION_sum, in_of(KN_FLOAT64, SHAPE(300, 5000)), 1), "cumsum of many long rows of float64");
    for (int axis = 0; axis < 3; axis++) check(scan(REDUCTION_sum, f32(SHAPE(20, 30, 12)), axis), "cumsum of three axes along %d", axis);
    check(scan(REDUCTION_sum, f32(SHAPE(3, 5000, 4)), 1), "cumsum of a long axis in the middle");
}

Test(gpu_reduce, scan_of_every_dtype) {
    for (int t = KN_BOOL; t <= KN_COMPLEX128; t++)
        for (int r = REDUCTION_sum; r <= REDUCTION_all; r++) {
            bool logical = r == REDUCTION_any || r == REDUCTION_all, narrow = t == KN_FLOAT16 || t == KN_BFLOAT16;
            if (logical != (t == KN_BOOL) || (narrow && r < REDUCTION_max)) continue;
            node *(*make)(kn_dtype, int, const int64_t *) = r == REDUCTION_prod && dtype_is_inexact((kn_dtype)t) ? signs_of : in_of;
            if (r == REDUCTION_prod && dtype_is_complex((kn_dtype)t)) continue;
            check(scan(r, make((kn_dtype)t, SHAPE(20000)), 0), "scan by %s of %s", reductions[r].name, dtype_table[t].name);
            check(scan(r, make((kn_dtype)t, SHAPE(5, 100)), 1), "scan by %s of rows of %s", reductions[r].name, dtype_table[t].name);
            check(scan(r, make((kn_dtype)t, SHAPE(30, 16)), 0), "scan by %s of columns of %s", reductions[r].name, dtype_table[t].name);
        }
}

/* More than a group of windows: 32 * 32 tiles. */
Test(gpu_reduce, scan_of_many_tiles) {
    int64_t n = 33 * 32 * 19456 + 5000;
    case_slice c;
    double *v = mem_array((size_t)n, sizeof *v);
    for (int64_t i = 0; i < n; i++) v[i] = (double)(i % 3 - 1);
    plan *p = planned(&c, scan(REDUCTION_sum, leaf_of(KN_FLOAT32, SHAPE(n), v), 0), "sm_90");
    const float *got = (const float *)(const void *)run_plan(&c, p, 1);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += v[i];
        cr_assert_eq(got[i], sum, "element %lld is %g, not %g", (long long)i, got[i], sum);
    }
    mem_free(v);
    plan_free(p);
    slice_free(&c);
}

Test(gpu_reduce, scans_of_scans_and_after_reductions) {
    static const int64_t shapes[][2] = { { 40, 12 }, { 5, 300 }, { 2, 20000 }, { 300, 40 } };
    for (int i = 0; i < 4; i++)
        for (int axis = 0; axis < 2; axis++) {
            node *x = f32(2, shapes[i]), *once = scan(REDUCTION_sum, x, axis);
            check(scan(REDUCTION_max, once, axis), "cummax of cumsum along %d", axis);
            check(map2(UFUNC_add, scan(REDUCTION_sum, scan(REDUCTION_max, once, axis), axis), once), "three scans along %d", axis);
            check(map2(UFUNC_subtract, once, spread(REDUCTION_max, x, (uint64_t)1 << axis, 1)), "cumsum less the maximum along %d", axis);
            check(scan(REDUCTION_sum, map2(UFUNC_subtract, x, spread(REDUCTION_max, x, (uint64_t)1 << axis, 1)), axis), "cumsum after the maximum along %d", axis);
            right(2, (node *[]){ once, scan(REDUCTION_max, x, axis) }, "two scans at once");
            right(2, (node *[]){ once, reduce(REDUCTION_sum, x, (uint64_t)1 << axis) }, "a scan and its end");
        }
}

/* ---- compilers ---- */

static void compiles(node *root, const char *profile) {
    case_slice c;
    message m = { 0 };
    dialect d = profile_named(profile)->target == TARGET_HIP ? DIALECT_HIP : DIALECT_CUDA;
    plan *p = planned(&c, root, profile);
    for (int i = 0; i < p->nsteps; i++) {
        text source = { 0 }, log = { 0 };
        cr_assert_eq(source_print(p->steps[i].code, d, &source, &m), KN_OK, "%s", m.text);
        cr_expect(rtc_compile(d, source.at, profile, NULL, &log), "for %s:\n%s\n%s", profile, log.at ? log.at : "", source.at);
        text_free(&source);
        text_free(&log);
    }
    plan_free(p);
    slice_free(&c);
}

Test(gpu_reduce, sources_compile) {
    static const char *const targets[] = { "sm_75", "sm_90", "sm_120", "gfx90a", "gfx1030" };
    for (int t = 0; t < 5; t++) {
        const char *why = "";
        dialect d = profile_named(targets[t])->target == TARGET_HIP ? DIALECT_HIP : DIALECT_CUDA;
        if (!rtc_available(d, &why) || !rtc_knows(d, targets[t])) {
            fprintf(stderr, "test_schedule_gpu_reduce: %s left out: %s\n", targets[t], *why ? why : "the compiler does not know it");
            continue;
        }
        compiles(reduce(REDUCTION_sum, f32(SHAPE(300000)), 1), targets[t]);
        compiles(reduce(REDUCTION_argmax, in_of(KN_COMPLEX64, SHAPE(9, 3000)), 2), targets[t]);
        compiles(reduce(REDUCTION_var, in_of(KN_FLOAT64, SHAPE(700, 33)), 1), targets[t]);
        compiles(reduce(REDUCTION_max, in_of(KN_FLOAT16, SHAPE(50, 640)), 2), targets[t]);
        compiles(reduce(REDUCTION_any, in_of(KN_BOOL, SHAPE(50, 640)), 3), targets[t]);
        compiles(reduce(REDUCTION_sum, in_of(KN_INT64, SHAPE(3000, 5)), 1), targets[t]);
        compiles(softmax(f32(SHAPE(60, 4096)), 2), targets[t]);
        compiles(softmax(f32(SHAPE(60, 100)), 1), targets[t]);
        compiles(scan(REDUCTION_sum, f32(SHAPE(100000)), 0), targets[t]);
        compiles(scan(REDUCTION_max, in_of(KN_FLOAT64, SHAPE(2, 100000)), 1), targets[t]);
        compiles(scan(REDUCTION_prod, in_of(KN_INT8, SHAPE(90, 100)), 1), targets[t]);
        compiles(layer_norm(f32(SHAPE(60, 1000)), f32(SHAPE(1000)), f32(SHAPE(1000))), targets[t]);
    }
}
