/* matrix.c: what is made of matrices besides products: norms, powers, chains of products, singular values.
 *
 * How it works: a norm is a reduction of magnitudes; which one, the order and the number of axes say. A chain is multiplied in
 * the order that needs the fewest multiplications. Singular values are a family of libraries. */
#include "ir/graph/internal.h"

#include <math.h>
#include <string.h>

/* ---- norms ---- */

static uint64_t bit(int axis) { return (uint64_t)1 << axis; }

/* The real square of magnitudes. Consumes x. */
static node *squares(node *x, message *m)
{
    if (!x || !dtype_is_complex(x->dtype))
        return do_unary(UFUNC_square, x, m);
    node *re = do_unary(UFUNC_square, do_real(kept(x), m), m);
    return do_binary(UFUNC_add, re, do_unary(UFUNC_square, do_imag(x, m), m), m);
}

static node *euclidean(node *x, uint64_t axes, message *m) { return do_unary(UFUNC_sqrt, do_reduce(REDUCTION_sum, squares(x, m), axes, true, m), m); }

/* The largest (0 of nothing) or smallest along an axis, which stays with extent 1. Consumes x, which is not negative. */
static node *extreme_along(reduction_number r, node *x, int axis, message *m)
{
    if (!x || x->shape[axis])
        return do_reduce(r, x, bit(axis), true, m);
    if (r == REDUCTION_max)
        return do_reduce(REDUCTION_sum, x, bit(axis), true, m);
    fail(m, KN_VALUE_ERROR, "norm: there is no smallest of no elements");
    node_drop(x);
    return NULL;
}

/* Of vectors along an axis, which stays with extent 1. Consumes x. */
static node *vector_norm(node *x, double order, int axis, message *m)
{
    if (isinf(order))
        return extreme_along(order > 0 ? REDUCTION_max : REDUCTION_min, do_unary(UFUNC_absolute, x, m), axis, m);
    if (isnan(order) || order == 2)
        return euclidean(x, bit(axis), m);
    if (order == 0) {
        kn_dtype t = x ? dtype_table[x->dtype].part : KN_FLOAT64;
        return do_reduce(REDUCTION_sum, do_cast(do_binary(UFUNC_not_equal, x, weak_int(0, m), m), t, m), bit(axis), true, m);
    }
    node *size = do_unary(UFUNC_absolute, x, m);
    if (order == 1)
        return do_reduce(REDUCTION_sum, size, bit(axis), true, m);
    node *sum = do_reduce(REDUCTION_sum, do_binary(UFUNC_power, size, weak_float(order, m), m), bit(axis), true, m);
    return do_binary(UFUNC_power, sum, weak_float(1 / order, m), m);
}

/* Of matrices in two axes. Consumes x. */
static node *matrix_norm(node *x, double order, int rows, int columns, message *m)
{
    if (isnan(order))
        return euclidean(x, bit(rows) | bit(columns), m);
    if (fabs(order) == 1 || isinf(order)) {
        int along = isinf(order) ? columns : rows;
        node *sums = do_reduce(REDUCTION_sum, do_unary(UFUNC_absolute, x, m), bit(along), true, m);
        return extreme_along(order > 0 ? REDUCTION_max : REDUCTION_min, sums, along == rows ? columns : rows, m);
    }
    node_drop(x);
    if (fabs(order) == 2)
        fail(m, KN_NOT_AVAILABLE, "norm: the orders 2 and -2 of matrices need singular values; use svd");
    else
        fail(m, KN_VALUE_ERROR, "norm: invalid norm order %g for matrices", order);
    return NULL;
}

kn_status op_norm(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    double order = args[1].v.number;
    int axes[NDIM_MAX], n;
    bool all = args[2].v.axis == INT64_MIN, keepdims = args[3].v.flag;
    kn_status status = axes_normalise(args[2].v.axis, a->ndim, NULL, axes, &n, "norm", m);
    if (status)
        return status;
    node *x = node_cast(a, dtype_is_inexact(a->dtype) ? (kn_dtype)a->dtype : KN_FLOAT64, m), *r = NULL;
    if (all && isnan(order)) /* of all elements as one vector */
        r = euclidean(x, a->ndim ? UINT64_MAX >> (64 - a->ndim) : 0, m);
    else if (n == 1)
        r = vector_norm(x, order, axes[0], m);
    else if (n == 2)
        r = matrix_norm(x, order, axes[0], axes[1], m);
    else {
        node_drop(x);
        return fail(m, KN_VALUE_ERROR, "norm: improper number of dimensions to norm, %d; one or two", n);
    }
    if (!r || keepdims)
        return give(results, r, m);
    int64_t shape[NDIM_MAX];
    int ndim = 0;
    uint64_t gone = 0;
    for (int i = 0; i < n; i++)
        gone |= bit(axes[i]);
    for (int d = 0; d < a->ndim; d++)
        if (!(gone >> d & 1))
            shape[ndim++] = r->shape[d];
    return give(results, do_reshape(r, ndim, shape, m), m);
}

/* ---- powers and chains ---- */

kn_status op_matrix_power(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    int64_t n = args[1].v.integer;
    if (a->ndim < 2 || a->shape[a->ndim - 1] != a->shape[a->ndim - 2])
        return fail(m, KN_VALUE_ERROR, "matrix_power: the last two dimensions of the array must be square");
    if (n < 0)
        return fail(m, KN_NOT_AVAILABLE, "matrix_power: negative powers need the inverse; invert first");
    if (n == 0) {
        int64_t size = a->shape[a->ndim - 1];
        node *i = node_index(size, m), *row = i ? do_expand(kept(i), 0, m) : NULL, *same = do_binary(UFUNC_equal, i ? do_expand(i, 1, m) : NULL, row, m);
        return give(results, do_broadcast(do_cast(same, a->dtype, m), a->ndim, a->shape, m), m);
    }
    node *power = kept(a), *r = NULL;
    for (; n; n /= 2) {
        if (n % 2)
            r = r ? do_product(r, kept(power), m) : kept(power);
        if (n > 1)
            power = power ? do_product(kept(power), power, m) : NULL;
        if (!r && !power)
            break;
    }
    node_drop(power);
    return give(results, r, m);
}

#define CHAIN_MOST 64

/* Products of factors lo ... hi, split where the table says. */
static node *chain(node *const *in, int8_t (*split)[CHAIN_MOST], int lo, int hi, message *m)
{
    if (lo == hi)
        return kept(in[lo]);
    node *left = chain(in, split, lo, split[lo][hi], m), *right = left ? chain(in, split, split[lo][hi] + 1, hi, m) : NULL;
    return do_product(left, right, m);
}

/* The order with the fewest multiplications: dynamic programming over all ranges. dims: rows of each factor, then columns of the last. */
static void cheapest_order(int n, const double *dims, int8_t (*split)[CHAIN_MOST])
{
    double cost[CHAIN_MOST][CHAIN_MOST];
    for (int i = 0; i < n; i++)
        cost[i][i] = 0;
    for (int length = 2; length <= n; length++)
        for (int lo = 0; lo + length <= n; lo++) {
            int hi = lo + length - 1;
            cost[lo][hi] = INFINITY;
            split[lo][hi] = (int8_t)lo;
            for (int k = lo; k < hi; k++) {
                double c = cost[lo][k] + cost[k + 1][hi] + dims[lo] * dims[k + 1] * dims[hi + 1];
                if (c < cost[lo][hi]) {
                    cost[lo][hi] = c;
                    split[lo][hi] = (int8_t)k;
                }
            }
        }
}

kn_status op_multi_dot(const op_value *args, node **results, message *m)
{
    int n = args[0].v.list.n;
    node *const *in = args[0].v.list.at;
    double dims[CHAIN_MOST + 1];
    int8_t split[CHAIN_MOST][CHAIN_MOST];
    node *factors[CHAIN_MOST];
    if (n < 2 || n > CHAIN_MOST)
        return fail(m, KN_VALUE_ERROR, "multi_dot: takes 2 to %d arrays, not %d", CHAIN_MOST, n);
    if (n == 2)
        return op_dot((op_value[]){{.kind = PARAM_ARRAY, .v.array = in[0]}, {.kind = PARAM_ARRAY, .v.array = in[1]}, {.kind = PARAM_ARRAY}}, results, m);
    bool row = in[0]->ndim == 1, column = in[n - 1]->ndim == 1;
    for (int i = 0; i < n; i++)
        if (in[i]->ndim != 2 && !(i == 0 && row) && !(i == n - 1 && column))
            return fail(m, KN_VALUE_ERROR, "multi_dot: array %d has %d dimensions; it must have two", i, in[i]->ndim);
    int made = 0;
    kn_status status = KN_OK;
    for (; made < n && !status; made++) {
        node *f = factors[made] = in[made]->ndim == 2 ? kept(in[made]) : do_expand(kept(in[made]), made == 0 ? 0 : 1, m);
        if (!f)
            break;
        if (made && factors[made - 1]->shape[1] != f->shape[0])
            status = fail(m, KN_VALUE_ERROR, "multi_dot: array %d has %lld columns, but the next one %lld rows", made - 1, (long long)factors[made - 1]->shape[1], (long long)f->shape[0]);
        dims[made] = (double)f->shape[0];
        dims[made + 1] = (double)f->shape[1];
    }
    node *r = NULL;
    if (!status && made == n) {
        cheapest_order(n, dims, split);
        r = chain(factors, split, 0, n - 1, m);
    }
    while (made-- > 0)
        node_drop(factors[made]);
    if (status)
        return status;
    int64_t shape[2];
    int ndim = 0;
    if (r && !row)
        shape[ndim++] = r->shape[0];
    if (r && !column)
        shape[ndim++] = r->shape[1];
    return give(results, do_reshape(r, ndim, shape, m), m);
}

/* ---- singular values ---- */

kn_status op_svd(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    bool full = args[1].v.flag;
    int64_t shape[3][NDIM_MAX];
    if (a->ndim < 2)
        return fail(m, KN_VALUE_ERROR, "svd: an array of %d dimensions; it must have at least two", a->ndim);
    if (a->dtype == KN_FLOAT16)
        return fail(m, KN_TYPE_ERROR, "svd: not defined for float16; convert to float32");
    int n = a->ndim, sizes[3] = {n, n - 1, n};
    int64_t rows = a->shape[n - 2], columns = a->shape[n - 1], least = rows < columns ? rows : columns;
    kn_dtype t = dtype_is_inexact(a->dtype) && a->dtype != KN_BFLOAT16 ? (kn_dtype)a->dtype : KN_FLOAT64, types[3] = {t, dtype_table[t].part, t};
    for (int i = 0; i < 3; i++)
        memcpy(shape[i], a->shape, (size_t)n * sizeof *a->shape);
    shape[0][n - 1] = full ? rows : least;
    shape[1][n - 2] = least;
    shape[2][n - 2] = full ? columns : least;
    node *x = node_cast(a, t, m);
    int made = 0;
    for (; x && made < 3; made++)
        if (!(results[made] = node_opaque(FAMILY_svd, made, 1, &x, types[made], sizes[made], shape[made], (const int64_t[]){full}, 1, m)))
            break;
    node_drop(x);
    if (made == 3)
        return KN_OK;
    while (made-- > 0)
        node_drop(results[made]);
    return m && m->status ? m->status : KN_MEMORY_ERROR;
}
