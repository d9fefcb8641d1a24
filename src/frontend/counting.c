/* counting.c: how often values occur: bincount, histogram, histogram2d, histogram_bin_edges.
 *
 * How it works: the range of the data decides the shape or the edges, and is evaluated at the call; the counts are a scatter
 * that adds, and stay pending. */
#include <math.h>
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "frontend/selections.h"
#include "runtime/runtime.h"

/* zeros(n) with `what` (a number or one a position) added at the positions, which are in range. Consumes at and what. */
static node *counted(node *at, node *what, int64_t n, message *m) {
    static const int8_t from[1] = { -1 };
    node *r = NULL;
    if (at && what) {
        node *zeros = filled(node_scalar((kn_dtype)what->dtype, (scalar){ SCALAR_INT, { .i = 0 } }, false, m), 1, &n, m);
        what = do_broadcast(what, 1, at->shape, m);
        r = zeros && what ? at->size ? node_scatter(zeros, what, SCATTER_COMBINE, UFUNC_add, from, 1, &at, m) : node_keep(zeros) : NULL;
        node_drop(zeros);
    }
    node_drop(at);
    node_drop(what);
    return r;
}

/* The smallest and largest element, evaluated; a must have elements. */
static kn_status range_of(node *a, scalar *low, scalar *high, message *m) {
    uint64_t axes = a->ndim ? UINT64_MAX >> (64 - a->ndim) : 0;
    node *ends[2] = { do_reduce(REDUCTION_min, node_keep(a), axes, false, m), do_reduce(REDUCTION_max, node_keep(a), axes, false, m) };
    kn_status status = ends[0] && ends[1] ? evaluate(ends, 2, m) : m->status;
    for (int i = 0; i < 2 && !status; i++) {
        host_window h;
        if ((status = node_host(ends[i], &h, m))) break;
        *(i ? high : low) = element_load(h.dtype, h.data);
        host_drop(&h);
    }
    node_drop(ends[0]);
    node_drop(ends[1]);
    return status;
}

/* ---- bincount ---- */

kn_status op_bincount(const op_value *args, node **results, message *m) {
    node *x = args[0].v.array, *weights = args[1].v.array;
    int64_t n = args[2].v.integer;
    scalar low = { SCALAR_INT, { .i = 0 } }, high = { SCALAR_INT, { .i = -1 } };
    if (x->ndim != 1) return fail(m, KN_VALUE_ERROR, "bincount: x must have one dimension, not %d", x->ndim);
    if (n < 0) return fail(m, KN_VALUE_ERROR, "bincount: 'minlength' must not be negative");
    if (!dtype_is_integer((kn_dtype)x->dtype) && x->dtype != KN_BOOL && x->size) return fail(m, KN_TYPE_ERROR, "bincount: %s cannot be cast safely to int64", dtype_table[x->dtype].name);
    if (weights && (weights->ndim != 1 || weights->size != x->size)) return fail(m, KN_VALUE_ERROR, "bincount: the weights and list don't have the same length");
    if (weights && !dtype_can_cast((kn_dtype)weights->dtype, KN_FLOAT64, CAST_SAFE)) return fail(m, KN_TYPE_ERROR, "bincount: weights of %s cannot be cast safely to float64", dtype_table[weights->dtype].name);
    node *at = node_cast(x, KN_INT64, m);
    kn_status status = at ? at->size ? range_of(at, &low, &high, m) : KN_OK : m->status;
    if (!status && low.v.i < 0) status = fail(m, KN_VALUE_ERROR, "bincount: 'list' argument must have no negative elements");
    if (status) {
        node_drop(at);
        return status;
    }
    if (high.v.i >= n) n = high.v.i + 1;
    node *what = weights ? node_cast(weights, KN_FLOAT64, m) : typed_int(KN_INT64, 1, m);
    return give(results, counted(at, what, n, m), m);
}

/* ---- edges ---- */

/* What an axis of a histogram is divided into. */
typedef struct axis_bins { bool uniform, exact_ends /* a given range makes float64 edges */; int64_t n; node *first, *last, *edges; kn_dtype dtype; } axis_bins;

static void bins_free(axis_bins *b) {
    node_drop(b->first);
    node_drop(b->last);
    node_drop(b->edges);
}

static double real_of(scalar s) {
    switch (s.kind) {
    case SCALAR_BOOL: return s.v.b;
    case SCALAR_INT: return (double)s.v.i;
    case SCALAR_UINT: return (double)s.v.u;
    default: return s.v.f;
    }
}

/* The ends: a given pair, else the data's smallest and largest; half a unit further out where they are equal. */
static kn_status ends_of(node *a, node *range, const char *name, axis_bins *b, message *m) {
    scalar end[2] = { { SCALAR_FLOAT, { .f = 0 } }, { SCALAR_FLOAT, { .f = 1 } } };
    kn_dtype t = KN_FLOAT64;
    kn_status status = KN_OK;
    if (range) {
        host_window h;
        if (range->size != 2 || range->ndim != 1) return fail(m, KN_VALUE_ERROR, "%s: range is a pair of numbers", name);
        if ((status = node_host(range, &h, m))) return status;
        for (int i = 0; i < 2; i++) end[i] = element_load(h.dtype, h.data + i * h.strides[0]);
        host_drop(&h);
        if (real_of(end[0]) > real_of(end[1])) return fail(m, KN_VALUE_ERROR, "%s: max must be larger than min in range parameter.", name);
    } else if (a->size) {
        t = (kn_dtype)a->dtype;
        if ((status = range_of(a, &end[0], &end[1], m))) return status;
    }
    double low = real_of(end[0]), high = real_of(end[1]);
    if (!isfinite(low) || !isfinite(high)) return fail(m, KN_VALUE_ERROR, "%s: %s range of [%g, %g] is not finite", name, range ? "supplied" : "autodetected", low, high);
    if (low == high) {
        end[0] = (scalar){ SCALAR_FLOAT, { .f = low - 0.5 } };
        end[1] = (scalar){ SCALAR_FLOAT, { .f = high + 0.5 } };
        if (!dtype_is_inexact(t)) t = KN_FLOAT64;
    }
    b->dtype = dtype_is_inexact((kn_dtype)a->dtype) && !(range && b->exact_ends) ? (kn_dtype)a->dtype : KN_FLOAT64;
    bool weak = range || !a->size;
    for (int i = 0; i < 2 && weak; i++) end[i] = (scalar){ SCALAR_FLOAT, { .f = real_of(end[i]) } };
    b->first = node_scalar(t, end[0], weak, m);
    b->last = node_scalar(t, end[1], weak, m);
    return b->first && b->last ? KN_OK : m->status;
}

static node *even_edges(const axis_bins *b, message *m) {
    op_value v[MOST_OPERANDS];
    node *r = NULL;
    op_defaults(OPERATION_linspace, v);
    v[0].v.array = b->first;
    v[1].v.array = b->last;
    v[2].v.integer = b->n + 1;
    int dtype = op_param_named(OPERATION_linspace, "dtype");
    v[dtype].v.dtype = b->dtype;
    v[dtype].given = true;
    return op_nodes(OPERATION_linspace, v, &r, m) ? NULL : r;
}

/* Edges that were given must rise. */
static node *given_edges(node *edges, message *m) {
    int64_t n = edges->size;
    if (n < 2) return node_cast(edges, (kn_dtype)edges->dtype, m);
    node *rise = do_binary(UFUNC_less_equal, do_slice(node_keep(edges), 0, 0, n - 1, m), do_slice(node_keep(edges), 0, 1, n - 1, m), m);
    return do_require(do_reduce(REDUCTION_all, rise, 1, false, m), node_cast(edges, (kn_dtype)edges->dtype, m), REQUIREMENT_rising, m);
}

static kn_status whole_number(node *n, const char *name, int64_t *out, message *m) {
    host_window h;
    if (!dtype_is_integer((kn_dtype)n->dtype)) return fail(m, KN_TYPE_ERROR, "%s: bins must be an integer, a string, or an array", name);
    kn_status status = node_host(n, &h, m);
    if (status) return status;
    *out = (int64_t)real_of(element_load(h.dtype, h.data));
    host_drop(&h);
    return *out < 1 ? fail(m, KN_VALUE_ERROR, "%s: bins must be positive, when an integer", name) : KN_OK;
}

/* bins: a number of them, or edges; NULL: 10. Borrows all. */
static kn_status bins_of(node *a, node *bins, node *range, const char *name, axis_bins *b, message *m) {
    b->n = 10;
    b->uniform = !bins || bins->ndim == 0;
    if (dtype_is_complex((kn_dtype)a->dtype)) return fail(m, KN_TYPE_ERROR, "%s: takes real numbers, not %s", name, dtype_table[a->dtype].name);
    if (bins && bins->ndim > 1) return fail(m, KN_VALUE_ERROR, "%s: bins must be 1d, when an array", name);
    if (!b->uniform) {
        b->edges = given_edges(bins, m);
        b->n = bins->size - 1;
        return b->edges ? KN_OK : m->status;
    }
    kn_status status = bins ? whole_number(bins, name, &b->n, m) : KN_OK;
    if (!status) status = ends_of(a, range, name, b, m);
    if (!status && !(b->edges = even_edges(b, m))) status = m->status;
    return status;
}

/* ---- which bin ---- */

/* Positions among even bins: by division, then corrected against the edges. -1: outside. Consumes x. */
static node *even_place(node *x, const axis_bins *b, message *m) {
    node *low = do_cast(node_keep(b->first), b->dtype, m), *high = do_cast(node_keep(b->last), b->dtype, m);
    node *inside = x ? do_binary(UFUNC_logical_and, do_binary(UFUNC_greater_equal, node_keep(x), node_keep(b->first), m), do_binary(UFUNC_less_equal, node_keep(x), node_keep(b->last), m), m) : NULL;
    x = do_cast(x, b->dtype, m);
    node *share = do_binary(UFUNC_divide, x && low ? do_binary(UFUNC_subtract, node_keep(x), node_keep(low), m) : NULL, high && low ? do_binary(UFUNC_subtract, high, low, m) : NULL, m);
    share = do_binary(UFUNC_multiply, share, weak_int(b->n, m), m);
    node *at = do_cast(do_where(inside ? node_keep(inside) : NULL, share, typed_float(b->dtype, 0, m), m), KN_INT64, m);
    at = do_binary(UFUNC_minimum, at, typed_int(KN_INT64, b->n - 1, m), m);
    node *left = do_gather(node_keep(b->edges), 0, at ? node_keep(at) : NULL, m), *right = do_gather(node_keep(b->edges), 0, at ? do_binary(UFUNC_add, node_keep(at), typed_int(KN_INT64, 1, m), m) : NULL, m);
    node *less = do_cast(do_binary(UFUNC_less, x ? node_keep(x) : NULL, left, m), KN_INT64, m);
    node *last = at ? do_binary(UFUNC_not_equal, node_keep(at), typed_int(KN_INT64, b->n - 1, m), m) : NULL;
    node *more = do_cast(do_binary(UFUNC_logical_and, do_binary(UFUNC_greater_equal, x, right, m), last, m), KN_INT64, m);
    at = do_binary(UFUNC_add, do_binary(UFUNC_subtract, at, less, m), more, m);
    return do_where(inside, at, typed_int(KN_INT64, -1, m), m);
}

/* Positions among given edges; what equals the last edge is in the last bin. -1: outside. Consumes x. */
static node *searched_place(node *x, const axis_bins *b, message *m) {
    if (!x || b->n < 1) {
        node *none = x ? filled(typed_int(KN_INT64, -1, m), 1, x->shape, m) : NULL;
        node_drop(x);
        return none;
    }
    node *last = do_element(node_keep(b->edges), 0, b->n, m);
    node *at = do_binary(UFUNC_subtract, do_search(node_keep(b->edges), node_keep(x), true, m), typed_int(KN_INT64, 1, m), m);
    at = do_where(do_binary(UFUNC_equal, node_keep(x), last ? node_keep(last) : NULL, m), typed_int(KN_INT64, b->n - 1, m), at, m);
    node *inside = do_binary(UFUNC_less, x, last, m);       /* false for NaN */
    node *end = at ? do_binary(UFUNC_equal, node_keep(at), typed_int(KN_INT64, b->n - 1, m), m) : NULL;
    return do_where(do_binary(UFUNC_logical_or, inside, end, m), at, typed_int(KN_INT64, -1, m), m);
}

static node *data_of(node *a, message *m) { return do_flat(node_cast(a, a->dtype == KN_BOOL ? KN_UINT8 : (kn_dtype)a->dtype, m), m); }

static node *place_in(node *a, const axis_bins *b, message *m) { return (b->uniform ? even_place : searched_place)(data_of(a, m), b, m); }

/* ---- histograms ---- */

/* Counts of bins, in the order of places; outside: -1. weights: NULL or one a value. Consumes at. */
static node *tally(node *at, node *weights, int64_t n, message *m) {
    node *inside = at ? do_binary(UFUNC_greater_equal, node_keep(at), typed_int(KN_INT64, 0, m), m) : NULL;
    kn_dtype t = weights ? dtype_is_complex((kn_dtype)weights->dtype) ? KN_COMPLEX128 : KN_FLOAT64 : KN_INT64;
    node *what = weights ? do_flat(node_cast(weights, t, m), m) : typed_int(t, 1, m);
    what = do_where(inside, what, typed_int(t, 0, m), m);
    node *r = counted(do_binary(UFUNC_maximum, at, typed_int(KN_INT64, 0, m), m), what, n, m);
    return weights ? do_cast(r, (kn_dtype)weights->dtype, m) : r;
}

/* Divided by the sum and the widths of bins. Consumes h. */
static node *density_of(node *h, node *edges, message *m) {
    int64_t n = edges->size;
    node *width = do_binary(UFUNC_subtract, do_slice(node_keep(edges), 0, 1, n - 1, m), do_slice(node_keep(edges), 0, 0, n - 1, m), m);
    node *sum = h ? do_reduce(REDUCTION_sum, node_keep(h), 1, false, m) : NULL;
    return do_binary(UFUNC_divide, do_binary(UFUNC_divide, h, do_cast(width, KN_FLOAT64, m), m), sum, m);
}

static kn_status check_weights(const node *a, const node *weights, const char *name, message *m) {
    bool same = !weights || (weights->ndim == a->ndim && !memcmp(weights->shape, a->shape, (size_t)a->ndim * sizeof *a->shape));
    return same ? KN_OK : fail(m, KN_VALUE_ERROR, "%s: weights should have the same shape as a.", name);
}

kn_status op_histogram(const op_value *args, node **results, message *m) {
    node *a = args[0].v.array, *weights = args[4].v.array;
    axis_bins b = { 0 };
    kn_status status = check_weights(a, weights, "histogram", m);
    if (!status) status = bins_of(a, args[1].v.array, args[2].v.array, "histogram", &b, m);
    if (!status) {
        node *h = tally(place_in(a, &b, m), weights, b.n > 0 ? b.n : 0, m);
        results[0] = args[3].v.flag && b.n > 0 ? density_of(h, b.edges, m) : h;
        results[1] = results[0] ? node_keep(b.edges) : NULL;
        if (!results[0]) status = m->status;
    }
    bins_free(&b);
    return status;
}

kn_status op_histogram_bin_edges(const op_value *args, node **results, message *m) {
    axis_bins b = { 0 };
    kn_status status = check_weights(args[0].v.array, args[3].v.array, "histogram_bin_edges", m);
    if (!status) status = bins_of(args[0].v.array, args[1].v.array, args[2].v.array, "histogram_bin_edges", &b, m);
    if (!status) status = give(results, node_keep(b.edges), m);
    bins_free(&b);
    return status;
}

/* What is given for one of two axes: both have one number or one list of edges, or each a number of its own. */
static node *for_axis(node *given, int axis, bool pair_of_pairs, message *m) {
    if (!given) return NULL;
    if (pair_of_pairs) return given->ndim == 2 && given->shape[0] == 2 ? do_element(node_keep(given), 0, axis, m) : node_keep(given);
    return given->ndim == 1 && given->size == 2 ? do_element(node_keep(given), 0, axis, m) : node_keep(given);
}

kn_status op_histogram2d(const op_value *args, node **results, message *m) {
    node *in[2] = { args[0].v.array, args[1].v.array }, *weights = args[5].v.array, *at = NULL;
    axis_bins b[2];
    kn_dtype t = dtype_promote((kn_dtype)in[0]->dtype, (kn_dtype)in[1]->dtype);
    memset(b, 0, sizeof b);
    b[0].exact_ends = b[1].exact_ends = true;
    if (!dtype_is_inexact(t)) t = KN_FLOAT64;
    if (in[0]->ndim != 1 || in[1]->ndim != 1 || in[0]->size != in[1]->size) return fail(m, KN_VALUE_ERROR, "histogram2d: x and y must have the same length.");
    kn_status status = check_weights(in[0], weights, "histogram2d", m);
    for (int i = 0; i < 2 && !status; i++) {
        node *bins = for_axis(args[2].v.array, i, false, m), *range = for_axis(args[3].v.array, i, true, m), *wide = node_cast(in[i], t, m);
        status = wide ? bins_of(wide, bins, range, "histogram2d", &b[i], m) : m->status;
        node *here = status ? NULL : searched_place(wide ? node_keep(wide) : NULL, &b[i], m);
        node *outside = i && at && here ? do_binary(UFUNC_logical_or, do_binary(UFUNC_less, node_keep(at), weak_int(0, m), m), do_binary(UFUNC_less, node_keep(here), weak_int(0, m), m), m) : NULL;
        at = i ? do_where(outside, typed_int(KN_INT64, -1, m), do_binary(UFUNC_add, do_binary(UFUNC_multiply, at, typed_int(KN_INT64, b[1].n, m), m), here, m), m) : here;
        if (!status && !at) status = m->status;
        node_drop(bins);
        node_drop(range);
        node_drop(wide);
    }
    if (!status) {
        node *h = do_reshape(do_cast(tally(at, weights, b[0].n * b[1].n, m), weights && dtype_is_complex((kn_dtype)weights->dtype) ? KN_COMPLEX128 : KN_FLOAT64, m), 2, (int64_t[]){ b[0].n, b[1].n }, m);
        at = NULL;
        if (args[4].v.flag && h) {
            node *sum = do_reduce(REDUCTION_sum, node_keep(h), 3, false, m);
            for (int i = 0; i < 2; i++) {
                int64_t n = b[i].n;
                node *width = do_binary(UFUNC_subtract, do_slice(node_keep(b[i].edges), 0, 1, n, m), do_slice(node_keep(b[i].edges), 0, 0, n, m), m);
                h = do_binary(UFUNC_divide, h, i ? width : do_reshape(width, 2, (int64_t[]){ n, 1 }, m), m);
            }
            h = do_binary(UFUNC_divide, h, sum, m);
        }
        results[0] = h;
        results[1] = h ? node_keep(b[0].edges) : NULL;
        results[2] = h ? node_keep(b[1].edges) : NULL;
        if (!h) status = m->status;
    }
    node_drop(at);
    bins_free(&b[0]);
    bins_free(&b[1]);
    return status;
}
