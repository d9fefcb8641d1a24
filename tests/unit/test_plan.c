/* Plans: what becomes one kernel, what is stored, what is overwritten; every case gives the values that NumPy means. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <unistd.h>
#include "../support/nest_eval.c"
#include "../support/slices.c"
#include "../support/owned.h"

TestSuite(plan, .fini = drop_all);

#define SHAPE(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__}

/* ---- graphs in few words ---- */

static node *in_of(kn_dtype t, int ndim, const int64_t *shape) {
    int64_t size = 1;
    for (int d = 0; d < ndim; d++) size *= shape[d];
    double *v = mem_array((size_t)size + 1, sizeof *v);
    for (int64_t i = 0; i < size; i++) v[i] = (double)((i * 7 + ndim) % 11) - 4;
    node *n = leaf_of(t, ndim, shape, v);
    mem_free(v);
    return n;
}
static node *f64(int ndim, const int64_t *shape) { return in_of(KN_FLOAT64, ndim, shape); }
static node *num(double v) { return node_scalar(KN_FLOAT64, (scalar){ .kind = SCALAR_FLOAT, .v.f = v }, false, NULL); }
static node *map1(int f, node *a) { return node_map(f, 0, 1, &a, (kn_dtype)a->dtype, NULL); }
static node *map2(int f, node *a, node *b) { return node_map(f, 0, 2, (node *[]){ a, b }, (kn_dtype)(a->kind == NODE_SCALAR ? b : a)->dtype, NULL); }
static node *add(node *a, node *b) { return map2(UFUNC_add, a, b); }
static node *sub(node *a, node *b) { return map2(UFUNC_subtract, a, b); }
static node *mul(node *a, node *b) { return map2(UFUNC_multiply, a, b); }
static node *divide(node *a, node *b) { return map2(UFUNC_divide, a, b); }
static node *reduce(int r, node *a, uint64_t axes) { return node_reduce(r, a, axes, r == REDUCTION_argmax ? KN_INT64 : (kn_dtype)a->dtype, false, NULL); }
static node *like(node *a, node *b) {      /* a row result back over the last axis of b */
    int64_t shape[NDIM_MAX];
    memcpy(shape, b->shape, (size_t)b->ndim * sizeof *shape);
    shape[b->ndim - 1] = 1;
    return node_broadcast(node_reshape(a, b->ndim, shape, NULL), b->ndim, b->shape, NULL);
}
/* x[lo0 : hi0, ...], negative bounds count from the end; 0 as upper bound is the end */
static node *cut(node *x, const int64_t *lo, const int64_t *hi) {
    int64_t shape[NDIM_MAX], strides[NDIM_MAX], offset = 0, w = 1;
    for (int d = x->ndim; d-- > 0;) {
        int64_t end = hi[d] <= 0 ? x->shape[d] + hi[d] : hi[d];
        shape[d] = end - lo[d];
        strides[d] = w;
        offset += lo[d] * w;
        w *= x->shape[d];
    }
    window v = { .offset = offset, .strides = strides, .shape = shape, .ndim = x->ndim };
    return node_view(x, (kn_dtype)x->dtype, &v, NULL);
}
static node *put(node *x, const int64_t *lo, const int64_t *hi, node *value) {
    node *v = cut(x, lo, hi);
    int64_t shape[NDIM_MAX], strides[NDIM_MAX];
    memcpy(shape, v->shape, (size_t)v->ndim * sizeof *shape);
    int64_t offset = 0, w = 1;
    for (int d = x->ndim; d-- > 0;) {
        strides[d] = w;
        offset += lo[d] * w;
        w *= x->shape[d];
    }
    window where = { .offset = offset, .strides = strides, .shape = shape, .ndim = x->ndim };
    return node_write(x, &where, value, NULL);
}
#define AT(...) (const int64_t[]){__VA_ARGS__}

/* Checks the roots in every way; returns the number of kernels with fusion. */
static int kernels_of(int nroots, node *const *roots, node *overwritable) {
    case_slice c;
    slice_make(&c, nroots, roots);
    if (overwritable) slice_overwritable(&c, overwritable);
    const char *wrong = NULL;
    static const char *const how[] = { "nests", "nests backwards", "kernels" };
    int kernels = 0;
    wrong = slice_check(&c, "sm_90", false, BY_KERNELS);
    cr_expect(!wrong, "kernels for sm_90: %s\n%s", wrong, c.why.at ? c.why.at : "");
    for (int unfused = 1; unfused >= 0; unfused--)
        for (int i = 0; i < 3; i++) {
            wrong = slice_check(&c, "cpu", unfused, (how_to_run)i);
            cr_expect(!wrong, "%s, %s: %s\n%s", how[i], unfused ? "unfused" : "fused", wrong, c.why.at ? c.why.at : "");
            kernels = c.nkernels;
        }
    slice_free(&c);
    return kernels;
}
static int kernels(node *root) { return kernels_of(1, &root, NULL); }
#define EXPECT_KERNELS(n, ...) do { int k_ = (__VA_ARGS__); cr_expect(k_ == (n), "%d kernels, want %d", k_, (n)); } while (0)

/* ---- one kernel each ---- */

Test(plan, a_chain_of_maps_is_one_kernel)
{
    node *a = f64(SHAPE(6, 5)), *b = f64(SHAPE(6, 5)), *c = f64(SHAPE(6, 5));
    node *root = map1(UFUNC_sqrt, add(add(mul(a, a), mul(b, b)), num(1)));
    EXPECT_KERNELS(1, kernels(add(mul(root, c), map1(UFUNC_exp, map1(UFUNC_negative, a)))));
}

Test(plan, sum_of_squares_is_one_kernel)
{
    node *a = f64(SHAPE(40)), *b = f64(SHAPE(40)), *d = sub(a, b);
    EXPECT_KERNELS(1, kernels(reduce(REDUCTION_sum, mul(d, d), 1)));
}

Test(plan, softmax_is_one_kernel)
{
    node *x = f64(SHAPE(40, 13)), *m = reduce(REDUCTION_max, x, 2), *e = map1(UFUNC_exp, sub(x, like(m, x)));
    EXPECT_KERNELS(1, kernels(divide(e, like(add(reduce(REDUCTION_sum, e, 2), num(1000)), x))));
}

Test(plan, softmax_over_axis_0_is_one_kernel)
{
    int64_t shape[] = { 1, 40 };
    node *x = f64(SHAPE(13, 40)), *m = reduce(REDUCTION_max, x, 1);
    node *e = map1(UFUNC_exp, sub(x, node_broadcast(node_reshape(m, 2, shape, NULL), 2, x->shape, NULL)));
    node *s = add(reduce(REDUCTION_sum, e, 1), num(1000));
    EXPECT_KERNELS(1, kernels(divide(e, node_broadcast(node_reshape(s, 2, shape, NULL), 2, x->shape, NULL))));
}

Test(plan, logsumexp_is_one_kernel)
{
    node *x = f64(SHAPE(40, 13)), *m = reduce(REDUCTION_max, x, 2), *e = map1(UFUNC_exp, sub(x, like(m, x)));
    EXPECT_KERNELS(1, kernels(add(m, map1(UFUNC_sqrt, reduce(REDUCTION_sum, mul(e, e), 2)))));
}

Test(plan, layer_norm_is_one_kernel)
{
    node *x = f64(SHAPE(64, 12)), *g = f64(SHAPE(12)), *b = f64(SHAPE(12));
    node *mean = divide(reduce(REDUCTION_sum, x, 2), num(12)), *d = sub(x, like(mean, x));
    node *var = divide(reduce(REDUCTION_sum, mul(d, d), 2), num(12));
    node *y = divide(d, like(map1(UFUNC_sqrt, add(var, num(1))), x));
    EXPECT_KERNELS(1, kernels(add(mul(y, node_broadcast(g, 2, x->shape, NULL)), node_broadcast(b, 2, x->shape, NULL))));
}

Test(plan, mean_and_variance_share_their_kernel)
{
    node *x = f64(SHAPE(64, 12)), *mean = divide(reduce(REDUCTION_sum, x, 2), num(12)), *d = sub(x, like(mean, x));
    node *var = divide(reduce(REDUCTION_sum, mul(d, d), 2), num(12));
    EXPECT_KERNELS(1, kernels_of(2, (node *[]){ mean, var }, NULL));
}

Test(plan, several_reductions_of_one_array_share_a_pass)
{
    node *x = f64(SHAPE(64, 12));
    EXPECT_KERNELS(1, kernels_of(3, (node *[]){ reduce(REDUCTION_sum, x, 2), reduce(REDUCTION_max, x, 2), reduce(REDUCTION_argmax, x, 2) }, NULL));
    EXPECT_KERNELS(1, kernels_of(2, (node *[]){ reduce(REDUCTION_sum, x, 3), reduce(REDUCTION_sum, mul(x, x), 3) }, NULL));
}

Test(plan, stencil_is_one_kernel)
{
    node *x = f64(SHAPE(9, 8)), *a = mul(x, num(3));
    node *s = add(cut(a, AT(0, 1), AT(-2, -1)), cut(a, AT(2, 1), AT(0, -1)));
    s = add(add(s, cut(a, AT(1, 0), AT(-1, -2))), cut(a, AT(1, 2), AT(-1, 0)));
    EXPECT_KERNELS(1, kernels(sub(s, mul(num(4), cut(a, AT(1, 1), AT(-1, -1))))));
}

Test(plan, transposition_and_sum_is_one_kernel)
{
    node *x = f64(SHAPE(6, 4)), *y = f64(SHAPE(4, 6));
    EXPECT_KERNELS(1, kernels(add(node_transpose(x, (int[]){ 1, 0 }, NULL), y)));
    EXPECT_KERNELS(1, kernels(add(node_transpose(mul(x, x), (int[]){ 1, 0 }, NULL), y)));
}

Test(plan, reshape_transpose_reshape_is_one_kernel_without_division)
{
    node *x = f64(SHAPE(5, 6)), *r = node_reshape(mul(x, num(2)), SHAPE(5, 2, 3), NULL);
    node *t = node_reshape(node_transpose(r, (int[]){ 0, 2, 1 }, NULL), SHAPE(5, 6), NULL);
    EXPECT_KERNELS(1, kernels(mul(t, num(2))));
}

Test(plan, a_reshape_that_fits_no_atoms_is_an_element_number)
{
    node *x = f64(SHAPE(5, 6)), *y = f64(SHAPE(5, 6));
    node *t = node_transpose(node_reshape(mul(x, x), SHAPE(6, 5), NULL), (int[]){ 1, 0 }, NULL);
    EXPECT_KERNELS(1, kernels(add(t, y)));
}

Test(plan, axes_that_do_not_fit_are_stored_first)
{
    node *x = f64(SHAPE(5, 6)), *b = f64(SHAPE(6)), *sum = add(x, node_broadcast(b, 2, x->shape, NULL));
    node *t = node_transpose(node_reshape(sum, SHAPE(6, 5), NULL), (int[]){ 1, 0 }, NULL);
    EXPECT_KERNELS(2, kernels(mul(t, num(2))));
}

Test(plan, gather_is_one_kernel)
{
    node *a = f64(SHAPE(30)), *b = f64(SHAPE(12));
    node *i = leaf_of(KN_INT64, SHAPE(12), (double[]){ 3, -1, 0, 29, -30, 5, 5, 7, 1, 2, 2, 28 });
    node *g = node_gather(a, (int8_t[]){ -1 }, 1, &i, SHAPE(12), NULL);
    EXPECT_KERNELS(1, kernels(add(mul(g, num(2)), b)));
}

Test(plan, gather_at_a_running_sum)
{
    node *a = f64(SHAPE(30)), *i = leaf_of(KN_INT64, SHAPE(12), (double[]){ 3, -1, 0, 7, -3, 5, 5, 1, 1, 2, 2, 3 });
    node *at = node_scan(REDUCTION_sum, i, 0, NULL), *g = node_gather(a, (int8_t[]){ -1 }, 1, &at, SHAPE(12), NULL);
    cr_expect_leq(kernels(add(g, num(1))), 2);
}

Test(plan, an_index_out_of_range_is_a_fault)
{
    node *a = f64(SHAPE(30)), *i = leaf_of(KN_INT64, SHAPE(3), (double[]){ 3, 30, 1 });
    EXPECT_KERNELS(1, kernels(node_gather(a, (int8_t[]){ -1 }, 1, &i, SHAPE(3), NULL)));
}

Test(plan, gather_of_rows_of_a_pending_value)
{
    node *a = mul(f64(SHAPE(7, 5)), num(2)), *i = leaf_of(KN_INT64, SHAPE(3), (double[]){ 6, -7, 2 });
    node *g = node_gather(a, (int8_t[]){ -1, 1 }, 1, (node *[]){ node_broadcast(node_reshape(i, SHAPE(3, 1), NULL), SHAPE(3, 5), NULL) }, SHAPE(3, 5), NULL);
    EXPECT_KERNELS(2, kernels(add(g, num(1))));
}

/* ---- where kernels are cut ---- */

Test(plan, a_full_reduction_over_much_is_cut_from_its_broadcast)
{
    node *x = f64(SHAPE(300, 300)), *s = reduce(REDUCTION_sum, x, 3);
    EXPECT_KERNELS(2, kernels(divide(x, node_broadcast(add(s, num(1)), 2, x->shape, NULL))));
}

Test(plan, a_full_reduction_over_little_is_not)
{
    node *x = f64(SHAPE(30, 30)), *s = reduce(REDUCTION_sum, x, 3);
    EXPECT_KERNELS(1, kernels(divide(x, node_broadcast(add(s, num(1)), 2, x->shape, NULL))));
}

Test(plan, reductions_over_different_axes_are_different_kernels)
{
    node *x = f64(SHAPE(40, 50));
    EXPECT_KERNELS(2, kernels_of(2, (node *[]){ reduce(REDUCTION_sum, x, 1), reduce(REDUCTION_sum, x, 2) }, NULL));
}

Test(plan, results_with_common_inputs_share_a_kernel)
{
    node *a = f64(SHAPE(50)), *b = f64(SHAPE(50)), *s = add(a, b);
    EXPECT_KERNELS(1, kernels_of(3, (node *[]){ s, sub(a, b), mul(s, num(2)) }, NULL));
    EXPECT_KERNELS(2, kernels_of(2, (node *[]){ s, add(f64(SHAPE(50)), num(1)) }, NULL));
}

Test(plan, an_expensive_value_read_often_is_stored)
{
    node *v = f64(SHAPE(30)), *x = f64(SHAPE(400, 30));
    node *e = map1(UFUNC_exp, map1(UFUNC_exp, v));
    EXPECT_KERNELS(2, kernels(add(x, node_broadcast(e, 2, x->shape, NULL))));
    EXPECT_KERNELS(1, kernels(add(x, node_broadcast(mul(v, num(2)), 2, x->shape, NULL))));
}

Test(plan, long_chains_are_cut_into_kernels_of_bounded_size)
{
    node *x = f64(SHAPE(3)), *y = x;
    for (int i = 0; i < 3000; i++) y = add(y, num(1));
    int k = kernels(y);
    cr_expect(k >= 5 && k <= 12, "%d kernels", k);
}

Test(plan, sums_of_many_arrays_are_cut_by_the_number_of_operands)
{
    node *y = f64(SHAPE(3));
    for (int i = 0; i < 100; i++) y = add(y, f64(SHAPE(3)));
    int k = kernels(y);
    cr_expect(k >= 3 && k <= 8, "%d kernels", k);
}

Test(plan, kernels_of_gpus_have_parameters_of_bounded_size)
{
    node *x = f64(SHAPE(3)), *y = x;
    for (int i = 0; i < 550; i++) y = add(mul(y, num(i)), num(1));
    case_slice c;
    message m = { 0 };
    slice_make(&c, 1, &y);
    plan *p = plan_build(&c.s, profile_named("sm_90"), NULL, &m);
    cr_assert(p != NULL, "%s", m.text);
    for (int i = 0; i < p->nsteps; i++) cr_expect(p->steps[i].nargs <= 500, "step %d has %d parameters", i, p->steps[i].nargs);
    cr_expect(p->nsteps <= 6, "%d steps", p->nsteps);
    plan_free(p);
    slice_free(&c);
}

/* ---- scans, scatters, writes ---- */

Test(plan, scans_are_fused_on_both_sides)
{
    node *x = f64(SHAPE(5, 9)), *s = node_scan(REDUCTION_sum, mul(x, num(2)), 1, NULL);
    EXPECT_KERNELS(1, kernels(add(s, x)));
    EXPECT_KERNELS(1, kernels(node_scan(REDUCTION_max, x, 0, NULL)));
}

Test(plan, the_last_of_equal_positions_wins)
{
    node *a = f64(SHAPE(8)), *v = f64(SHAPE(6)), *i = leaf_of(KN_INT64, SHAPE(6), (double[]){ 2, 5, 2, -8, 5, 2 });
    EXPECT_KERNELS(1, kernels(node_scatter(a, v, SCATTER_SET, -1, (int8_t[]){ -1 }, 1, &i, NULL)));
    EXPECT_KERNELS(1, kernels(node_scatter(a, v, SCATTER_COMBINE, UFUNC_add, (int8_t[]){ -1 }, 1, &i, NULL)));
    node *w = node_scatter(mul(a, num(2)), mul(v, num(3)), SCATTER_COMBINE, UFUNC_multiply, (int8_t[]){ -1 }, 1, &i, NULL);
    EXPECT_KERNELS(2, kernels_of(1, &w, NULL));
}

Test(plan, on_a_gpu_the_last_wins_in_any_order)
{
    double at[200];
    for (int i = 0; i < 200; i++) at[i] = (i * 37) % 60 - 30;
    node *a = f64(SHAPE(60)), *v = f64(SHAPE(200)), *i = leaf_of(KN_INT64, SHAPE(200), at), *k = in_of(KN_INT64, SHAPE(60));
    node *set = node_scatter(a, mul(v, num(2)), SCATTER_SET, -1, (int8_t[]){ -1 }, 1, &i, NULL);
    node *count = node_scatter(k, node_cast(v, KN_INT64, NULL), SCATTER_COMBINE, UFUNC_add, (int8_t[]){ -1 }, 1, &i, NULL);
    node *most = node_scatter(k, node_cast(v, KN_INT64, NULL), SCATTER_COMBINE, UFUNC_maximum, (int8_t[]){ -1 }, 1, &i, NULL);
    node *z = node_scatter(in_of(KN_COMPLEX128, SHAPE(60)), in_of(KN_COMPLEX128, SHAPE(200)), SCATTER_SET, -1, (int8_t[]){ -1 }, 1, &i, NULL);
    node *roots[] = { set, count, most, z };
    for (int r = 0; r < 4; r++) {
        case_slice c;
        slice_make(&c, 1, &roots[r]);
        for (int how = 0; how < 3; how++) {
            const char *wrong = slice_check(&c, "sm_90", false, (how_to_run)how);
            cr_expect(!wrong, "root %d, way %d: %s", r, how, wrong);
            cr_expect(c.nkernels == (r == 0 || r == 3 ? 2 : 1), "root %d: %d kernels", r, c.nkernels);
        }
        slice_free(&c);
    }
}

Test(plan, a_window_is_written_in_place_where_nobody_reads_the_old_value)
{
    node *a = f64(SHAPE(20, 10)), *b = f64(SHAPE(5, 3));
    node *w = put(a, AT(2, 4), AT(7, 7), mul(b, b));
    case_slice c;
    slice_make(&c, 1, &w);
    slice_overwritable(&c, a);
    const char *wrong = slice_check(&c, "cpu", false, BY_KERNELS);
    cr_expect(!wrong, "%s", wrong);
    cr_expect(c.nsteps == 1, "%d steps", c.nsteps);
    slice_free(&c);
    EXPECT_KERNELS(1, kernels(w));
    EXPECT_KERNELS(1, kernels_of(1, (node *[]){ put(a, AT(2, 4), AT(7, 7), add(cut(a, AT(2, 4), AT(7, 7)), b)) }, a));
}

Test(plan, overlapping_reads_see_the_old_values)
{
    node *a = f64(SHAPE(20));
    node *w = put(a, AT(1), AT(0), add(cut(a, AT(1), AT(0)), cut(a, AT(0), AT(-1))));
    kernels_of(1, &w, a);
    kernels_of(1, &w, NULL);
    node *flip = put(a, AT(0), AT(10), cut(a, AT(10), AT(20)));
    EXPECT_KERNELS(1, kernels_of(1, &flip, a));
}

Test(plan, readers_come_before_the_writer)
{
    node *a = f64(SHAPE(20)), *old = reduce(REDUCTION_sum, a, 1);
    node *w = put(a, AT(3), AT(9), num(7)->kind == NODE_SCALAR ? node_broadcast(num(7), SHAPE(6), NULL) : NULL);
    kernels_of(2, (node *[]){ w, old }, a);
    kernels_of(2, (node *[]){ old, w }, a);
    node *x = add(w, num(1)), *late = mul(cut(a, AT(0), AT(6)), cut(x, AT(0), AT(6)));
    kernels_of(2, (node *[]){ late, w }, a);
}

Test(plan, a_heat_step_copies_only_the_edge)
{
    node *u = f64(SHAPE(300, 400));
    node *n = cut(u, AT(0, 1), AT(-2, -1)), *s = cut(u, AT(2, 1), AT(0, -1)), *w = cut(u, AT(1, 0), AT(-1, -2)), *e = cut(u, AT(1, 2), AT(-1, 0));
    node *m = cut(u, AT(1, 1), AT(-1, -1));
    node *step = put(u, AT(1, 1), AT(-1, -1), add(m, mul(num(.125), sub(add(add(n, s), add(w, e)), mul(num(4), m)))));
    EXPECT_KERNELS(2, kernels_of(1, &step, u));
}

Test(plan, writes_follow_each_other_in_one_memory)
{
    node *z = node_empty(KN_FLOAT64, SHAPE(12), NULL), *a = f64(SHAPE(5)), *b = f64(SHAPE(7));
    node *w = put(put(z, AT(0), AT(5), mul(a, num(2))), AT(5), AT(12), add(b, num(1)));
    case_slice c;
    slice_make(&c, 1, &w);
    const char *wrong = slice_check(&c, "cpu", false, BY_KERNELS);
    cr_expect(!wrong, "%s", wrong);
    cr_expect(c.nsteps == 2, "%d steps", c.nsteps);
    slice_free(&c);
    EXPECT_KERNELS(2, kernels(w));
}

/* ---- assignments that are choices ---- */

static node *joined(int n, node *const *in, int axis)
{
    int64_t shape[NDIM_MAX], lo[NDIM_MAX] = { 0 }, hi[NDIM_MAX] = { 0 };
    memcpy(shape, in[0]->shape, (size_t)in[0]->ndim * sizeof *shape);
    for (int i = 1; i < n; i++) shape[axis] += in[i]->shape[axis];
    node *all = node_empty((kn_dtype)in[0]->dtype, in[0]->ndim, shape, NULL);
    for (int i = 0; i < n; i++) {
        hi[axis] = lo[axis] + in[i]->shape[axis];
        all = put(all, lo, hi, in[i]);
        lo[axis] = hi[axis];
    }
    return all;
}

static node *rolled(node *x, int64_t by, int axis)
{
    int64_t lo[NDIM_MAX] = { 0 }, hi[NDIM_MAX] = { 0 };
    lo[axis] = x->shape[axis] - by;
    node *last = cut(x, lo, hi);
    hi[axis] = lo[axis];
    lo[axis] = 0;
    return joined(2, (node *[]){ last, cut(x, lo, hi) }, axis);
}

Test(plan, arrays_joined_for_one_reader_are_not_stored)
{
    node *a = f64(SHAPE(3, 7)), *b = f64(SHAPE(2, 7)), *c = f64(SHAPE(1, 7));
    EXPECT_KERNELS(1, kernels(add(joined(3, (node *[]){ mul(a, a), b, c }, 0), num(1))));
    EXPECT_KERNELS(1, kernels(reduce(REDUCTION_sum, joined(2, (node *[]){ a, node_transpose(f64(SHAPE(7, 3)), (int[]){ 1, 0 }, NULL) }, 1), 2)));
    EXPECT_KERNELS(3, kernels(joined(3, (node *[]){ mul(a, a), b, c }, 0)));
}

Test(plan, a_periodic_stencil_is_one_kernel)
{
    node *u = f64(SHAPE(12, 10)), *s = add(add(rolled(u, 1, 0), rolled(u, 11, 0)), add(rolled(u, 1, 1), rolled(u, 9, 1)));
    EXPECT_KERNELS(1, kernels(sub(s, mul(num(4), u))));
    node *p = mul(u, u);
    EXPECT_KERNELS(1, kernels(add(rolled(rolled(p, 2, 0), 3, 1), u)));
}

Test(plan, a_padded_array_is_a_choice)
{
    node *z = node_broadcast(num(0), SHAPE(8, 9), NULL), *a = f64(SHAPE(6, 7)), *p = put(z, AT(1, 1), AT(-1, -1), mul(a, num(2)));
    EXPECT_KERNELS(1, kernels(add(p, f64(SHAPE(8, 9)))));
    EXPECT_KERNELS(1, kernels(add(node_transpose(p, (int[]){ 1, 0 }, NULL), f64(SHAPE(9, 8)))));
}

Test(plan, an_index_that_is_not_chosen_is_no_fault)
{
    node *a = f64(SHAPE(5)), *i = leaf_of(KN_INT64, SHAPE(4), (double[]){ 0, 4, 1, 2 });
    node *shifted = node_map(UFUNC_add, 0, 2, (node *[]){ i, node_scalar(KN_INT64, (scalar){ .kind = SCALAR_INT, .v.i = -5 }, false, NULL) }, KN_INT64, NULL);
    node *g = node_gather(a, (int8_t[]){ -1 }, 1, &shifted, SHAPE(4), NULL);
    EXPECT_KERNELS(1, kernels(add(joined(2, (node *[]){ g, f64(SHAPE(9)) }, 0), num(1))));
    node *bad = node_gather(a, (int8_t[]){ -1 }, 1, (node *[]){ leaf_of(KN_INT64, SHAPE(4), (double[]){ 0, 5, 1, 2 }) }, SHAPE(4), NULL);
    EXPECT_KERNELS(1, kernels(add(joined(2, (node *[]){ bad, f64(SHAPE(9)) }, 0), num(1))));
}

/* ---- dtypes ---- */

Test(plan, complex_values_are_pairs)
{
    node *a = in_of(KN_COMPLEX128, SHAPE(6, 4)), *b = in_of(KN_COMPLEX128, SHAPE(6, 4));
    window re = { .offset = 0, .strides = AT(8, 2), .shape = AT(6, 4), .ndim = 2, .part = true }, im = re;
    im.offset = 1;
    EXPECT_KERNELS(1, kernels(mul(add(a, b), map1(UFUNC_conjugate, a))));
    EXPECT_KERNELS(1, kernels(add(node_view(a, KN_FLOAT64, &re, NULL), node_view(b, KN_FLOAT64, &im, NULL))));
    EXPECT_KERNELS(1, kernels(add(node_view(add(a, b), KN_FLOAT64, &re, NULL), node_view(mul(a, b), KN_FLOAT64, &im, NULL))));
    EXPECT_KERNELS(1, kernels(reduce(REDUCTION_sum, node_transpose(mul(a, b), (int[]){ 1, 0 }, NULL), 1)));
}

Test(plan, float16_rounds_after_every_operation)
{
    node *a = in_of(KN_FLOAT16, SHAPE(30)), *b = in_of(KN_FLOAT16, SHAPE(30));
    EXPECT_KERNELS(1, kernels(add(mul(a, b), divide(a, map2(UFUNC_add, b, node_scalar(KN_FLOAT16, (scalar){ .kind = SCALAR_FLOAT, .v.f = 16 }, false, NULL))))));
}

Test(plan, casts_follow_the_library)
{
    double odd[] = { 1.5, -2.5, 300, -300, 1e10, -1e10, 1e19, 1.7e19, -1e30, 5e9, 0, -0.0 };
    static const kn_dtype types[] = { KN_BOOL, KN_INT8, KN_INT16, KN_INT32, KN_INT64, KN_UINT8, KN_UINT16, KN_UINT32, KN_UINT64, KN_FLOAT16, KN_BFLOAT16, KN_FLOAT32, KN_FLOAT64, KN_COMPLEX64, KN_COMPLEX128 };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            node *x = leaf_of(types[i], SHAPE(12), odd);
            if (i != j) EXPECT_KERNELS(1, kernels(node_cast(x, types[j], NULL)));
        }
}

Test(plan, squares_need_no_power)
{
    node *a = f64(SHAPE(9)), *i = in_of(KN_INT64, SHAPE(9));
    EXPECT_KERNELS(1, kernels(map2(UFUNC_power, a, num(2))));
    EXPECT_KERNELS(1, kernels(map2(UFUNC_power, i, node_scalar(KN_INT64, (scalar){ .kind = SCALAR_INT, .v.i = 2 }, false, NULL))));
}

/* ---- what was computed before ---- */

Test(plan, a_value_that_is_ready_is_a_leaf_whatever_made_it)
{
    node *x = f64(SHAPE(12)), *y = add(x, x), *late = f64(SHAPE(12));
    y->value = buffer_keep(late->value);
    y->state = NODE_READY;
    for (int i = 0; i < 2; i++) node_drop(y->in[i]);
    y->nin = 0;
    node *z = mul(y, y);
    for (int i = 0; i < 900; i++) z = add(z, y);
    int k = kernels(z);
    cr_expect(k >= 1 && k <= 4, "%d kernels", k);
    EXPECT_KERNELS(1, kernels(node_transpose(node_reshape(y, SHAPE(3, 4), NULL), (int[]){ 1, 0 }, NULL)));
}

/* ---- shapes at the edge ---- */

Test(plan, nothing_is_done_for_empty_arrays)
{
    node *e = f64(SHAPE(0, 4));
    EXPECT_KERNELS(0, kernels(mul(e, e)));
    EXPECT_KERNELS(0, kernels(reduce(REDUCTION_sum, e, 2)));
    EXPECT_KERNELS(1, kernels(reduce(REDUCTION_sum, e, 1)));
    EXPECT_KERNELS(1, kernels(reduce(REDUCTION_prod, e, 3)));
}

Test(plan, single_elements_are_numbers)
{
    node *a = f64(1, AT(1)), *z = node_reshape(a, 0, NULL, NULL);
    EXPECT_KERNELS(1, kernels(mul(z, z)));
    EXPECT_KERNELS(1, kernels(reduce(REDUCTION_sum, mul(a, a), 1)));
    EXPECT_KERNELS(1, kernels(reduce(REDUCTION_argmax, node_broadcast(a, SHAPE(1, 1), NULL), 2)));
}

Test(plan, views_can_be_results)
{
    node *x = f64(SHAPE(4, 6)), *y = mul(x, num(2));
    EXPECT_KERNELS(1, kernels(node_transpose(x, (int[]){ 1, 0 }, NULL)));
    EXPECT_KERNELS(0, kernels(node_reshape(x, SHAPE(24), NULL)));
    EXPECT_KERNELS(1, kernels_of(2, (node *[]){ y, node_reshape(y, SHAPE(24), NULL) }, NULL));
    node *window_of = node_view(y, KN_FLOAT64, &(window){ .offset = 3, .strides = AT(1, 1), .shape = AT(5, 4), .ndim = 2 }, NULL);
    kernels(window_of);
    EXPECT_KERNELS(1, kernels(node_index(7, NULL)));
    EXPECT_KERNELS(1, kernels(node_broadcast(num(3), SHAPE(2, 3), NULL)));
}

Test(plan, a_diagonal_of_a_pending_value)
{
    node *x = f64(SHAPE(5, 5)), *y = mul(x, x);
    EXPECT_KERNELS(1, kernels(add(node_view(y, KN_FLOAT64, &(window){ .strides = AT(6), .shape = AT(5), .ndim = 1 }, NULL), num(1))));
    EXPECT_KERNELS(1, kernels(add(node_view(y, KN_FLOAT64, &(window){ .offset = 4, .strides = AT(4), .shape = AT(5), .ndim = 1 }, NULL), num(1))));
    EXPECT_KERNELS(1, kernels(add(node_view(y, KN_FLOAT64, &(window){ .offset = 24, .strides = AT(-5, -1), .shape = AT(5, 5), .ndim = 2 }, NULL), x)));
}

/* ---- failures ---- */

Test(plan, every_failed_allocation_is_an_error_and_nothing_else)
{
    node *x = f64(SHAPE(64, 12)), *mean = divide(reduce(REDUCTION_sum, x, 2), num(12)), *d = sub(x, like(mean, x));
    node *i = leaf_of(KN_INT64, SHAPE(64), (double[64]){ 1, 2, 3 });
    node *g = node_gather(reduce(REDUCTION_sum, mul(d, d), 2), (int8_t[]){ -1 }, 1, &i, SHAPE(64), NULL);
    node *w = put(x, AT(1, 1), AT(-1, -1), mul(cut(d, AT(1, 1), AT(-1, -1)), cut(like(g, x), AT(0, 0), AT(-2, -2))));
    case_slice c;
    slice_make(&c, 1, &w);
    bool done = false;
    for (int n = 1; n < 3000 && !done; n++) {
        message m = { 0 };
        plan_options o = { .explain = n % 2 };
        mem_fail_after(n, n % 3 == 0);
        plan *p = plan_build(&c.s, profile_named("cpu"), &o, &m);
        mem_fail_after(-1, false);
        if (p) done = true;
        else cr_assert(m.status == KN_MEMORY_ERROR, "allocation %d: %s", n, m.text);
        plan_free(p);
    }
    cr_expect(done);
    slice_free(&c);
}

Test(plan, a_plan_in_words)
{
    node *x = f64(SHAPE(40, 13)), *m = reduce(REDUCTION_max, x, 2), *e = map1(UFUNC_exp, sub(x, like(m, x)));
    node *y = divide(e, like(reduce(REDUCTION_sum, e, 2), x));
    case_slice c;
    slice_make(&c, 1, &y);
    cr_expect(!slice_check(&c, "cpu", false, BY_NESTS));
    cr_expect(strstr(c.why.at, "exp(a - max(a)) / sum(exp(a - max(a)))") != NULL, "%s", c.why.at);
    cr_expect(strstr(c.why.at, "40 elements of 13 each, 3 passes; moves") != NULL, "%s", c.why.at);
    slice_free(&c);
}

Test(plan, the_dump_switch_writes_what_the_passes_made)
{
    char path[] = "/tmp/kiln_dump_XXXXXX", found[20000];
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    setenv("KILN_DUMP", "fuse,plan,kernel", 1);
    setenv("KILN_DUMP_FILE", path, 1);
    node *x = f64(SHAPE(12)), *y = reduce(REDUCTION_sum, mul(x, x), 1);
    case_slice c;
    slice_make(&c, 1, &y);
    plan_free(plan_build(&c.s, profile_named("cpu"), NULL, NULL));
    unsetenv("KILN_DUMP");
    ssize_t n = read(fd, found, sizeof found - 1);
    close(fd);
    unlink(path);
    cr_assert(n > 0);
    found[n] = 0;
    cr_expect(strstr(found, "graph\n") && strstr(found, "reduce sum") && strstr(found, "result %") && strstr(found, "kernel "), "%s", found);
    slice_free(&c);
}
