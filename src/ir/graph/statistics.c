/* statistics.c: order statistics and moments of several variables: median, quantiles, cov, corrcoef.
 *
 * How it works: the axes that are summed up become the last one, which is sorted; a quantile is then read, or interpolated,
 * at a position that is computed like any other value. NaNs are sorted to the end: they are either looked for there, or
 * counted out row by row. */
#include "ir/graph/internal.h"

#include <math.h>
#include <string.h>

/* Rows of values, each sorted. */
typedef struct rows {
    node *sorted;                 /* outer axes, then one of n elements */
    node *count;                  /* how many of each row count: a number, or int64 with the outer axes and one more */
    uint64_t axes;                /* of the original array */
    int64_t n;
    bool may_be_nan;              /* a NaN makes its row's result NaN; it stands last */
} rows;

static void rows_free(rows *r)
{
    node_drop(r->sorted);
    node_drop(r->count);
    r->sorted = r->count = NULL;
}

node *axes_last(node *a, uint64_t set, int64_t *count, message *m)
{
    int order[NDIM_MAX], n = 0;
    int64_t shape[NDIM_MAX];
    *count = 1;
    if (!a)
        return NULL;
    for (int d = 0; d < a->ndim; d++)
        if (!(set >> d & 1)) {
            shape[n] = a->shape[d];
            order[n++] = d;
        }
    int outer = n;
    for (int d = 0; d < a->ndim; d++)
        if (set >> d & 1) {
            *count *= a->shape[d];
            order[n++] = d;
        }
    shape[outer] = *count;
    return do_reshape(do_transpose(a, order, m), outer + 1, shape, m);
}

static uint64_t axis_bit(int axis) { return (uint64_t)1 << axis; }

/* Sorts what the axes take together. skip_nan: NaNs do not count. */
static kn_status rows_of(node *a, kn_axis axis, bool skip_nan, const char *op, rows *r, message *m)
{
    *r = (rows){.may_be_nan = dtype_is_inexact(a->dtype) && !skip_nan};
    kn_status status = axes_normalise(axis, a->ndim, &r->axes, NULL, NULL, op, m);
    if (status)
        return status;
    node *x = axes_last(kept(a), r->axes, &r->n, m);
    if (x && skip_nan && dtype_is_inexact(a->dtype)) {
        node *number = do_unary(UFUNC_logical_not, do_unary(UFUNC_isnan, kept(x), m), m);
        r->count = do_reduce(REDUCTION_sum, do_cast(number, KN_INT64, m), axis_bit(x->ndim - 1), true, m);
    } else {
        r->count = typed_int(KN_INT64, r->n, m);
    }
    int last = x ? x->ndim - 1 : 0;
    r->sorted = r->n > 1 ? do_sort(x, last, m) : x;
    if (r->sorted && r->count)
        return KN_OK;
    rows_free(r);
    return m && m->status ? m->status : KN_MEMORY_ERROR;
}

/* Elements at positions: a vector of them for every row, or rows of their own. Consumes at. */
static node *rows_at(const rows *r, node *at, message *m)
{
    int ndim = r->sorted->ndim;
    int64_t shape[NDIM_MAX];
    int8_t from[NDIM_MAX];
    if (!at)
        return NULL;
    for (int d = 0; d < ndim; d++)
        from[d] = (int8_t)d;
    from[ndim - 1] = -1;
    memcpy(shape, r->sorted->shape, (size_t)ndim * sizeof *shape);
    shape[ndim - 1] = at->ndim ? at->shape[at->ndim - 1] : 1;
    at = do_broadcast(do_cast(at, KN_INT64, m), ndim, shape, m);
    node *n = at ? node_gather(r->sorted, from, 1, &at, ndim, shape, m) : NULL;
    node_drop(at);
    return n;
}

/* What there is at the end of each row, where it is NaN; else the result. Consumes result. */
static node *nan_wins(const rows *r, node *result, message *m)
{
    if (!result || !r->may_be_nan)
        return result;
    node *last = do_cast(do_slice(kept(r->sorted), r->sorted->ndim - 1, r->n - 1, 1, m), result->dtype, m);
    return do_where(last ? do_unary(UFUNC_isnan, kept(last), m) : NULL, last, result, m);
}

/* A result of one number a row, with or without the axes that went. Consumes n. */
static node *row_result(const rows *r, const node *a, node *n, bool keepdims, message *m)
{
    n = n ? do_element(n, n->ndim - 1, 0, m) : NULL;
    return n && keepdims ? keep_dims(n, a, r->axes, m) : n;
}

/* ---- median ---- */

static node *nothing(const node *a, uint64_t axes, kn_dtype t, bool keepdims, message *m)
{
    int64_t shape[NDIM_MAX];
    int n = 0;
    for (int d = 0; d < a->ndim; d++)
        if (!(axes >> d & 1) || keepdims)
            shape[n++] = axes >> d & 1 ? 1 : a->shape[d];
    return filled(typed_float(t, NAN, m), n, shape, m);
}

/* The middle of each row, of two the mean, computed in `in`. */
static node *middle(const rows *r, kn_dtype in, message *m)
{
    node *two = typed_int(KN_INT64, 2, m), *less = do_binary(UFUNC_subtract, kept(r->count), typed_int(KN_INT64, 1, m), m);
    node *high = do_binary(UFUNC_floor_divide, kept(r->count), kept(two), m), *low = do_binary(UFUNC_floor_divide, less, kept(two), m);
    low = do_binary(UFUNC_maximum, low, typed_int(KN_INT64, 0, m), m);
    high = do_binary(UFUNC_minimum, high, typed_int(KN_INT64, r->n - 1, m), m);
    node_drop(two);
    node *one = do_binary(UFUNC_equal, kept(low), kept(high), m), *a = do_cast(rows_at(r, low, m), in, m), *b = do_cast(rows_at(r, high, m), in, m);
    node *mean = do_binary(UFUNC_divide, do_binary(UFUNC_add, a, kept(b), m), typed_int(in, 2, m), m);
    return do_where(one, b, mean, m);
}

static kn_status median(const char *op, bool skip_nan, const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    rows r;
    kn_status status = rows_of(a, args[1].v.axis, skip_nan, op, &r, m);
    if (status)
        return status;
    kn_dtype out = dtype_is_inexact(a->dtype) ? (kn_dtype)a->dtype : KN_FLOAT64, in = dtype_size(out) == 2 ? KN_FLOAT32 : out;
    bool keepdims = args[4].v.flag;
    node *n = r.n == 0 ? nothing(a, r.axes, out, keepdims, m) : row_result(&r, a, nan_wins(&r, middle(&r, in, m), m), keepdims, m);
    rows_free(&r);
    return give(results, do_cast(n, out, m), m);
}

kn_status op_median(const op_value *args, node **results, message *m) { return median("median", false, args, results, m); }
kn_status op_nanmedian(const op_value *args, node **results, message *m) { return median("nanmedian", true, args, results, m); }

/* ---- quantiles ---- */

/* Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996): a quantile's position
 * among n sorted values, from 0 on, is n q + alpha + q (1 - alpha - beta) - 1 with the methods that interpolate. */
typedef enum { METHOD_INTERPOLATES, METHOD_LINEAR, METHOD_MIDPOINT, METHOD_AVERAGES, METHOD_LOWER, METHOD_HIGHER, METHOD_NEAREST, METHOD_INVERTED, METHOD_CLOSEST } method_kind;
static const struct quantile_method { const char *name; method_kind kind; double alpha, beta; } methods[] = {
    {"linear", METHOD_LINEAR, 1, 1},
    {"lower", METHOD_LOWER, 0, 0},
    {"higher", METHOD_HIGHER, 0, 0},
    {"nearest", METHOD_NEAREST, 0, 0},
    {"midpoint", METHOD_MIDPOINT, 0, 0},
    {"inverted_cdf", METHOD_INVERTED, 0, 0},
    {"averaged_inverted_cdf", METHOD_AVERAGES, 0, 0},
    {"closest_observation", METHOD_CLOSEST, 0, 0},
    {"interpolated_inverted_cdf", METHOD_INTERPOLATES, 0, 1},
    {"hazen", METHOD_INTERPOLATES, 0.5, 0.5},
    {"weibull", METHOD_INTERPOLATES, 0, 0},
    {"median_unbiased", METHOD_INTERPOLATES, 1.0 / 3, 1.0 / 3},
    {"normal_unbiased", METHOD_INTERPOLATES, 3.0 / 8, 3.0 / 8},
};

static kn_status method_named(const char *name, const char *op, const struct quantile_method **method, message *m)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!name || strcmp(methods[i].name, name) == 0) {
            *method = &methods[i];
            return KN_OK;
        }
    return fail(m, KN_VALUE_ERROR, "%s: '%s' is not a valid method; use linear, lower, higher, nearest, midpoint, inverted_cdf, averaged_inverted_cdf, closest_observation, interpolated_inverted_cdf, hazen, weibull, "
                "median_unbiased or normal_unbiased", op, name);
}

static bool reads_one(const struct quantile_method *k, const node *q) { return k->kind >= METHOD_LOWER || (k->kind == METHOD_LINEAR && dtype_is_integer(q->dtype)); }

static node *fraction_is_zero(const node *v, message *m)
{
    node *x = kept((node *)v);
    return do_binary(UFUNC_equal, do_unary(UFUNC_floor, kept(x), m), x, m);
}

/* v where it is whole, else the whole number above; `odd`: the whole number must be odd, too. Consumes v. */
static node *whole_or_next(node *v, bool odd, message *m)
{
    node *floor = do_unary(UFUNC_floor, kept(v), m), *stays = v && floor ? fraction_is_zero(v, m) : NULL;
    if (odd)
        stays = do_binary(UFUNC_logical_and, stays, do_binary(UFUNC_equal, do_binary(UFUNC_remainder, kept(floor), weak_int(2, m), m), weak_int(1, m), m), m);
    node_drop(v);
    return do_where(stays, floor, floor ? do_binary(UFUNC_add, kept(floor), weak_int(1, m), m) : NULL, m);
}

/* The position of quantile q among n values, as a real number of q's dtype. Borrows both. */
static node *position(const struct quantile_method *k, node *count, node *q, message *m)
{
    node *n = node_cast(count, dtype_is_inexact(q->dtype) ? (kn_dtype)q->dtype : KN_INT64, m);
    if (!n)
        return NULL;
    node *among = do_binary(UFUNC_multiply, do_binary(UFUNC_subtract, kept(n), weak_int(1, m), m), kept(q), m);
    node *nq = do_binary(UFUNC_multiply, n, kept(q), m);
    if (k->kind == METHOD_LINEAR || k->kind == METHOD_LOWER || k->kind == METHOD_HIGHER || k->kind == METHOD_NEAREST || k->kind == METHOD_MIDPOINT) {
        node_drop(nq);
        if (k->kind != METHOD_MIDPOINT)
            return among;
        node *below = do_unary(UFUNC_floor, kept(among), m), *above = do_unary(UFUNC_ceil, among, m);
        return do_binary(UFUNC_multiply, weak_float(0.5, m), do_binary(UFUNC_add, below, above, m), m);
    }
    node_drop(among);
    if (k->kind == METHOD_INTERPOLATES)
        nq = do_binary(UFUNC_add, nq, do_binary(UFUNC_add, weak_float(k->alpha, m), do_binary(UFUNC_multiply, kept(q), weak_float(1 - k->alpha - k->beta, m), m), m), m);
    nq = do_binary(UFUNC_subtract, nq, weak_int(1, m), m);
    return k->kind == METHOD_CLOSEST ? do_binary(UFUNC_subtract, nq, weak_float(0.5, m), m) : nq;
}

/* Between 0 and n - 1, int64. Consumes at. */
static node *in_row(node *at, node *n, message *m)
{
    at = do_binary(UFUNC_minimum, do_cast(at, KN_INT64, m), do_binary(UFUNC_subtract, kept(n), weak_int(1, m), m), m);
    return do_binary(UFUNC_maximum, at, typed_int(KN_INT64, 0, m), m);
}

static node *one_position(const struct quantile_method *k, node *n, node *q, message *m)
{
    node *v = position(k, n, q, m);
    switch (k->kind) {
    case METHOD_LOWER: v = do_unary(UFUNC_floor, v, m); break;
    case METHOD_HIGHER: v = do_unary(UFUNC_ceil, v, m); break;
    case METHOD_NEAREST: v = do_unary(UFUNC_rint, v, m); break;
    case METHOD_INVERTED: v = whole_or_next(v, false, m); break;
    case METHOD_CLOSEST: v = whole_or_next(v, true, m); break;
    default: break;
    }
    return v ? in_row(v, n, m) : NULL;
}

/* How far between its neighbours a quantile lies. Consumes v, low. */
static node *share(const struct quantile_method *k, node *v, node *low, message *m)
{
    kn_dtype t = v->dtype;
    if (k->kind == METHOD_INTERPOLATES || k->kind == METHOD_LINEAR)
        return do_cast(do_binary(UFUNC_subtract, v, low, m), t, m);
    bool midpoint = k->kind == METHOD_MIDPOINT;
    node *whole = midpoint ? fraction_is_zero(v, m) : do_binary(UFUNC_equal, kept(v), kept(low), m);
    node_drop(v);
    node_drop(low);
    return do_where(whole, typed_float(t, midpoint ? 0 : 0.5, m), typed_float(t, midpoint ? 0.5 : 1, m), m);
}

/* a + (b - a) t, from b's side where that is nearer. weak: t is a number beside the operands. Consumes all. */
static node *between(node *a, node *b, node *t, bool weak, message *m)
{
    node *rest = do_binary(UFUNC_subtract, weak_int(1, m), kept(t), m), *near_b = do_binary(UFUNC_greater_equal, kept(t), weak_float(0.5, m), m);
    if (weak && a && dtype_is_inexact(a->dtype)) {
        t = do_cast(t, a->dtype, m);
        rest = do_cast(rest, a->dtype, m);
    }
    node *step = do_binary(UFUNC_subtract, kept(b), kept(a), m);
    node *from_a = do_binary(UFUNC_add, a, do_binary(UFUNC_multiply, kept(step), t, m), m);
    node *from_b = do_binary(UFUNC_subtract, b, do_binary(UFUNC_multiply, step, rest, m), m);
    return do_where(near_b, from_b, from_a, m);
}

/* Quantiles of every row along the last axis. q has one dimension. */
static node *interpolated(const rows *r, const struct quantile_method *k, node *q, bool weak, message *m)
{
    node *n = r->count;
    if (reads_one(k, q))
        return rows_at(r, one_position(k, n, q, m), m);
    node *v = position(k, n, q, m), *floor = v ? do_unary(UFUNC_floor, kept(v), m) : NULL;
    if (!floor) {
        node_drop(v);
        return NULL;
    }
    node *last = do_binary(UFUNC_subtract, kept(n), weak_int(1, m), m), *above = do_binary(UFUNC_greater_equal, kept(v), last, m);
    node *next = do_binary(UFUNC_add, kept(floor), weak_int(1, m), m);
    next = do_where(do_binary(UFUNC_less, kept(v), weak_int(0, m), m), typed_int(floor->dtype, 0, m), next, m);
    node *low = in_row(do_where(above, next ? kept(next) : NULL, kept(floor), m), n, m);
    node *a = rows_at(r, low, m), *b = rows_at(r, next ? in_row(next, n, m) : NULL, m);
    return between(a, b, share(k, v, floor, m), weak, m);
}

/* The first value at which the weights up to it reach q. Weights have the rows' shape before sorting, or are one row. */
static node *weighted(node *a, uint64_t axes, node *weights, node *q, bool skip_nan, message *m)
{
    int64_t n, nw;
    node *x = axes_last(kept(a), axes, &n, m), *w = axes_last(kept(weights), weights->ndim == a->ndim ? axes : 1, &nw, m);
    if (!x || !w)
        goto failed;
    w = do_require(do_binary(UFUNC_greater_equal, kept(w), weak_int(0, m), m), w, REQUIREMENT_weights, m);
    w = do_broadcast(do_cast(w, KN_FLOAT64, m), x->ndim, x->shape, m);
    if (w && skip_nan && dtype_is_inexact(x->dtype))
        w = do_where(do_unary(UFUNC_isnan, kept(x), m), typed_float(KN_FLOAT64, 0, m), w, m);
    int last = x->ndim - 1;
    node *order = do_argsort(kept(x), last, m);
    rows values = {.sorted = x, .n = n, .may_be_nan = dtype_is_inexact(x->dtype) && !skip_nan}, by = {.sorted = w};
    x = order ? rows_at(&values, kept(order), m) : NULL;
    node_drop(values.sorted);
    values.sorted = x;
    node *sum = order && w ? do_scan(REDUCTION_sum, rows_at(&by, order, m), last, m) : NULL;
    if (!order || !w)
        node_drop(order);
    node_drop(w);
    w = NULL;
    node *total = sum ? do_slice(kept(sum), last, n - 1, 1, m) : NULL, *reached = do_binary(UFUNC_divide, sum, total, m);
    if (!x || !reached)
        goto failed_later;
    if (dtype_is_inexact(q->dtype))
        reached = do_cast(reached, q->dtype, m);
    reached = do_where(do_binary(UFUNC_equal, kept(reached), weak_int(0, m), m), weak_int(-1, m), reached, m);
    int64_t shape[NDIM_MAX];
    for (int d = 0; d < last; d++)
        shape[d] = 1;
    shape[last] = q->size;
    shape[last + 1] = 1;
    node *before = do_binary(UFUNC_less, reached ? do_expand(reached, last, m) : NULL, node_reshape(q, last + 2, shape, m), m);
    node *at = do_reduce(REDUCTION_sum, do_cast(before, KN_INT64, m), axis_bit(last + 1), false, m);
    node *r = rows_at(&values, do_binary(UFUNC_minimum, at, typed_int(KN_INT64, n - 1, m), m), m);
    r = nan_wins(&values, r, m);
    node_drop(values.sorted);
    return r;
failed_later:
    node_drop(reached);
failed:
    node_drop(x);
    node_drop(w);
    return NULL;
}

/* (outer..., q) to q's axes, then the outer ones, with those that went when they are kept. Consumes n. */
static node *quantiles_first(node *n, const node *a, uint64_t axes, const node *q, bool keepdims, message *m)
{
    int order[NDIM_MAX], ndim = 0;
    int64_t shape[2 * NDIM_MAX];
    if (!n)
        return NULL;
    order[0] = n->ndim - 1;
    for (int d = 1; d < n->ndim; d++)
        order[d] = d - 1;
    for (int d = 0; d < q->ndim; d++)
        shape[ndim++] = q->shape[d];
    for (int d = 0; d < a->ndim; d++)
        if (!(axes >> d & 1) || keepdims)
            shape[ndim++] = axes >> d & 1 ? 1 : a->shape[d];
    if (ndim > NDIM_MAX) {
        fail(m, KN_VALUE_ERROR, "quantile: the result has more than %d dimensions", NDIM_MAX);
        node_drop(n);
        return NULL;
    }
    return do_reshape(do_transpose(n, order, m), ndim, shape, m);
}

static kn_status check_weights(const node *a, const node *w, uint64_t axes, const struct quantile_method *k, const char *op, message *m)
{
    bool same = w->ndim == a->ndim && memcmp(w->shape, a->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
    if (k->kind != METHOD_INVERTED)
        return fail(m, KN_VALUE_ERROR, "%s: Only method 'inverted_cdf' supports weights. Got: %s.", op, k->name);
    if (same)
        return KN_OK;
    if ((axes & (axes - 1)) || a->ndim == 0)
        return fail(m, KN_TYPE_ERROR, "%s: Axis must be specified when shapes of a and weights differ.", op);
    int axis = __builtin_ctzll(axes);
    return w->ndim == 1 && w->shape[0] == a->shape[axis] ? KN_OK : fail(m, KN_VALUE_ERROR, "%s: Shape of weights must be consistent with shape of a along specified axis.", op);
}

static kn_status check_quantile(const node *q, double most, const char *op, message *m)
{
    if (q->ndim > 2)
        return fail(m, KN_VALUE_ERROR, "%s: q must be a scalar or 1d", op);
    if (dtype_is_complex(q->dtype))
        return fail(m, KN_TYPE_ERROR, "%s: q must be real, not %s", op, dtype_table[q->dtype].name);
    if (q->kind != NODE_SCALAR)
        return KN_OK;
    const scalar *s = &q->attr.number;
    double v = s->kind == SCALAR_FLOAT ? s->v.f : s->kind == SCALAR_UINT ? (double)s->v.u : s->kind == SCALAR_INT ? (double)s->v.i : s->v.b;
    return v >= 0 && v <= most ? KN_OK : fail(m, KN_VALUE_ERROR, "%s", requirements[most == 1 ? REQUIREMENT_quantile : REQUIREMENT_percentile].sentence);
}

/* Quantiles asked for, from 0 to 1, one dimension. */
static node *asked_for(node *q, bool percent, message *m)
{
    node *x = do_flat(node_cast(q, q->dtype, m), m), *low = x ? do_binary(UFUNC_greater_equal, kept(x), weak_int(0, m), m) : NULL;
    node *high = low ? do_binary(UFUNC_less_equal, kept(x), weak_int(percent ? 100 : 1, m), m) : NULL;
    x = do_require(do_binary(UFUNC_logical_and, low, high, m), x, percent ? REQUIREMENT_percentile : REQUIREMENT_quantile, m);
    return percent ? do_binary(UFUNC_divide, x, weak_int(100, m), m) : x;
}

static node *quantiles_of_nothing(const rows *r, const node *a, int64_t n, message *m)
{
    int64_t shape[NDIM_MAX];
    memcpy(shape, r->sorted->shape, (size_t)r->sorted->ndim * sizeof *shape);
    shape[r->sorted->ndim - 1] = n;
    return filled(typed_float(dtype_is_inexact(a->dtype) ? (kn_dtype)a->dtype : KN_FLOAT64, NAN, m), r->sorted->ndim, shape, m);
}

static kn_status quantiles(const char *op, bool percent, bool skip_nan, const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *given = args[1].v.array, *weights = args[7].v.array, *n = NULL;
    const struct quantile_method *k = NULL;
    rows r = {0};
    kn_status status = dtype_is_complex(a->dtype) ? fail(m, KN_TYPE_ERROR, "%s: a must be an array of real numbers", op) : check_quantile(given, percent ? 100 : 1, op, m);
    if (!status)
        status = method_named(args[5].v.text, op, &k, m);
    if (!status)
        status = rows_of(a, args[2].v.axis, skip_nan, op, &r, m);
    if (!status && weights)
        status = check_weights(a, weights, r.axes, k, op, m);
    if (!status && r.n == 0 && !skip_nan)
        status = fail(m, KN_INDEX_ERROR, "%s: there are no elements along the axes", op);
    node *q = status ? NULL : asked_for(given, percent, m);
    if (q && r.n == 0)
        n = quantiles_of_nothing(&r, a, q->size, m);
    else if (q)
        n = weights ? weighted(a, r.axes, weights, q, skip_nan, m) : nan_wins(&r, interpolated(&r, k, q, given->weak, m), m);
    if (n)
        n = quantiles_first(n, a, r.axes, given, args[6].v.flag, m);
    node_drop(q);
    rows_free(&r);
    return status ? status : give(results, n, m);
}

kn_status op_quantile(const op_value *args, node **results, message *m) { return quantiles("quantile", false, false, args, results, m); }
kn_status op_percentile(const op_value *args, node **results, message *m) { return quantiles("percentile", true, false, args, results, m); }
kn_status op_nanquantile(const op_value *args, node **results, message *m) { return quantiles("nanquantile", false, true, args, results, m); }
kn_status op_nanpercentile(const op_value *args, node **results, message *m) { return quantiles("nanpercentile", true, true, args, results, m); }

/* ---- covariances ---- */

/* Variables as rows, observations as columns. */
static node *observations(node *x, bool rowvar, kn_dtype t, const char *op, message *m)
{
    if (x->ndim > 2) {
        fail(m, KN_VALUE_ERROR, "%s: arrays have more than 2 dimensions", op);
        return NULL;
    }
    node *r = node_cast(x, t, m);
    while (r && r->ndim < 2)
        r = do_expand(r, 0, m);
    return r && !rowvar && r->shape[0] != 1 ? do_transpose(r, (int[]){1, 0}, m) : r;
}

/* What the products are divided by, as a number beside dtype t. Borrows all. */
static node *degrees_of_freedom(const node *x, node *w, node *aweights, int64_t ddof, message *m)
{
    if (!w) {
        double n = (double)x->shape[1] - (double)ddof;
        return typed_float(KN_FLOAT64, n > 0 ? n : 0, m);
    }
    node *sum = do_cast(do_reduce(REDUCTION_sum, kept(w), 1, false, m), KN_FLOAT64, m), *less = typed_float(KN_FLOAT64, (double)ddof, m);
    if (aweights && sum) {
        node *squares = do_reduce(REDUCTION_sum, do_cast(do_binary(UFUNC_multiply, kept(w), kept(aweights), m), KN_FLOAT64, m), 1, false, m);
        less = do_binary(UFUNC_divide, do_binary(UFUNC_multiply, less, squares, m), kept(sum), m);
    }
    return do_binary(UFUNC_maximum, do_binary(UFUNC_subtract, sum, less, m), weak_int(0, m), m);
}

static kn_status observation_weights(const node *x, node *f, node *a, node **w, message *m)
{
    *w = NULL;
    for (int i = 0; i < 2; i++) {
        node *given = i ? a : f;
        if (!given)
            continue;
        if (given->ndim > 1)
            return fail(m, KN_RUNTIME_ERROR, "cov: weights have one dimension");
        if (given->size != x->shape[1])
            return fail(m, KN_RUNTIME_ERROR, "cov: %lld weights for %lld observations", (long long)given->size, (long long)x->shape[1]);
        node *sound = do_require(do_binary(UFUNC_greater_equal, kept(given), weak_int(0, m), m), kept(given), REQUIREMENT_weights, m);
        if (i == 0)
            sound = do_require(do_binary(UFUNC_equal, do_unary(UFUNC_rint, kept(given), m), kept(given), m), sound, REQUIREMENT_whole_weights, m);
        *w = *w ? do_binary(UFUNC_multiply, *w, sound, m) : sound;
        if (!*w)
            return m && m->status ? m->status : KN_MEMORY_ERROR;
    }
    return KN_OK;
}

static node *squeezed(node *c, message *m)
{
    return c && c->shape[0] == 1 ? do_reshape(c, 0, NULL, m) : c;
}

/* Consumes x and w. */
static node *covariance(node *x, node *w, node *aweights, int64_t ddof, message *m)
{
    kn_dtype t = x->dtype;
    node *sum = w ? do_reduce(REDUCTION_sum, do_binary(UFUNC_multiply, kept(x), kept(w), m), 2, true, m) : do_reduce(REDUCTION_sum, kept(x), 2, true, m);
    node *n = w ? do_reduce(REDUCTION_sum, kept(w), 1, false, m) : typed_float(dtype_table[t].part, (double)x->shape[1], m);
    node *fact = degrees_of_freedom(x, w, aweights, ddof, m);
    node *d = do_binary(UFUNC_subtract, x, do_binary(UFUNC_divide, sum, n, m), m);
    node *other = w ? do_binary(UFUNC_multiply, kept(d), w, m) : kept(d);
    if (other && dtype_is_complex(t))
        other = do_unary(UFUNC_conjugate, other, m);
    node *products = do_product(d, do_transpose(other, (int[]){1, 0}, m), m);
    node *scale = do_cast(do_binary(UFUNC_divide, weak_float(1, m), fact, m), dtype_table[t].part, m);
    return squeezed(do_cast(do_binary(UFUNC_multiply, products, scale, m), t, m), m);
}

typedef struct cov_request { node *x, *y; bool rowvar; int64_t ddof; node *fweights, *aweights; kn_dtype dtype; } cov_request;

static node *cov_of(const cov_request *q, const char *op, message *m)
{
    kn_dtype t = q->dtype ? q->dtype : dtype_promote(q->y ? dtype_promote(q->x->dtype, q->y->dtype) : (kn_dtype)q->x->dtype, KN_FLOAT64);
    node *x = observations(q->x, q->rowvar || q->x->ndim == 1, t, op, m), *w;
    if (x && q->y)
        x = do_join(2, (node *[]){x, observations(q->y, q->rowvar, t, op, m)}, 0, op, m);
    if (x && x->shape[0] == 0) {
        node_drop(x);
        return node_empty(KN_FLOAT64, 2, (const int64_t[]){0, 0}, m);
    }
    if (!x || observation_weights(x, q->fweights, q->aweights, &w, m)) {
        node_drop(x);
        return NULL;
    }
    return covariance(x, w, q->aweights, q->ddof, m);
}

kn_status op_cov(const op_value *args, node **results, message *m)
{
    int64_t ddof = args[4].v.integer != INT_NONE ? args[4].v.integer : args[3].v.flag ? 0 : 1;
    cov_request q = {args[0].v.array, args[1].v.array, args[2].v.flag, ddof, args[5].v.array, args[6].v.array, args[7].v.dtype};
    return give(results, cov_of(&q, "cov", m), m);
}

static node *within_one(node *c, message *m)
{
    return do_binary(UFUNC_minimum, do_binary(UFUNC_maximum, c, weak_int(-1, m), m), weak_int(1, m), m);
}

kn_status op_corrcoef(const op_value *args, node **results, message *m)
{
    cov_request q = {args[0].v.array, args[1].v.array, args[2].v.flag, 1, NULL, NULL, args[3].v.dtype};
    node *c = cov_of(&q, "corrcoef", m);
    if (!c || c->size == 0)
        return give(results, c, m);
    if (c->ndim == 0)
        return give(results, do_binary(UFUNC_divide, c, kept(c), m), m);
    int64_t n = c->shape[0], step = n + 1;
    kn_dtype t = c->dtype;
    node *d = node_view(c, c->dtype, &(window){.strides = &step, .shape = &n, .ndim = 1}, m);
    d = do_unary(UFUNC_sqrt, do_real(d, m), m);
    c = do_binary(UFUNC_divide, c, d ? do_expand(kept(d), 1, m) : NULL, m);
    c = do_binary(UFUNC_divide, c, d, m);
    if (!c || !dtype_is_complex(t))
        return give(results, within_one(c, m), m);
    node *re = within_one(do_real(kept(c), m), m), *im = within_one(do_imag(c, m), m);
    return give(results, complex_of(re, im, t, m), m);
}
