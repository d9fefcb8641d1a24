/* filter.c: sums over windows of a signal, and steps along it: convolve, correlate, unwrap.
 *
 * How it works: the signal is bordered with zeros and seen through overlapping windows, which are a view; products and sums
 * over them are one kernel, and no window is ever stored. */
#include "ir/graph/internal.h"

#include <math.h>
#include <string.h>

/* Sums of n neighbours' products with v, over the signal with so many zeros around. Consumes both; one dtype. */
static node *windows_times(node *a, node *v, int64_t before, int64_t after, message *m)
{
    if (!a || !v)
        goto failed;
    int64_t n = v->size, width[2] = {before, after};
    a = do_bordered(a, width, m);
    if (!a)
        goto failed;
    layout l;
    layout_of_node(a, &l);
    l.ndim = 2;
    l.shape[0] = a->size - n + 1;
    l.shape[1] = n;
    l.strides[1] = l.strides[0];
    return do_reduce(REDUCTION_sum, do_binary(UFUNC_multiply, do_view(a, &l, m), v, m), 2, false, m);
failed:
    node_drop(a);
    node_drop(v);
    return NULL;
}

static kn_status window_mode(const char *name, const char *op, int64_t n, int64_t *before, int64_t *after, message *m)
{
    *before = *after = 0;
    if (strcmp(name, "full") == 0)
        *before = *after = n - 1;
    else if (strcmp(name, "same") == 0)
        *after = n - 1 - (*before = n / 2);
    else if (strcmp(name, "valid") != 0)
        return fail(m, KN_VALUE_ERROR, "%s: mode must be 'valid', 'same' or 'full', not '%s'", op, name);
    return KN_OK;
}

static kn_status signals(const op_value *args, int least, const char *op, message *m)
{
    for (int i = 0; i < 2; i++) {
        const node *x = args[i].v.array;
        if (x->ndim > 1 || x->ndim < least)
            return fail(m, KN_VALUE_ERROR, "%s: operands have one dimension, not %d", op, x->ndim);
        if (x->size == 0)
            return fail(m, KN_VALUE_ERROR, "%s: operand %d cannot be empty", op, i + 1);
    }
    return KN_OK;
}

kn_status op_convolve(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *v = args[1].v.array;
    int64_t before, after;
    if (v->size > a->size) {
        a = args[1].v.array;
        v = args[0].v.array;
    }
    kn_status status = signals(args, 0, "convolve", m);
    if (!status)
        status = window_mode(args[2].v.text ? args[2].v.text : "full", "convolve", v->size, &before, &after, m);
    if (status)
        return status;
    kn_dtype t = dtype_promote(a->dtype, v->dtype);
    return give(results, windows_times(do_cast(do_flat(kept(a), m), t, m), do_reversed(do_cast(do_flat(kept(v), m), t, m), 0, m), before, after, m), m);
}

kn_status op_correlate(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *v = args[1].v.array;
    int64_t before, after;
    kn_dtype t = dtype_promote(a->dtype, v->dtype);
    bool swapped = v->size > a->size;
    kn_status status = signals(args, 1, "correlate", m);
    if (!status)
        status = window_mode(args[2].v.text ? args[2].v.text : "valid", "correlate", swapped ? a->size : v->size, &before, &after, m);
    if (status)
        return status;
    node *x = do_cast(do_flat(kept(a), m), t, m), *y = do_cast(do_flat(kept(v), m), t, m);
    if (dtype_is_complex(t))
        y = do_unary(UFUNC_conjugate, y, m);
    node *r = swapped ? do_reversed(windows_times(y, x, before, after, m), 0, m) : windows_times(x, y, before, after, m);
    return give(results, r, m);
}

/* ---- unwrap ---- */

/* Steps d moved by whole periods into the interval around 0. Borrows d. */
static node *shortest(node *d, node *period, message *m)
{
    bool whole = dtype_is_integer(d->dtype);
    node *high = whole ? do_binary(UFUNC_floor_divide, kept(period), weak_int(2, m), m) : do_binary(UFUNC_divide, kept(period), weak_int(2, m), m);
    node *low = high ? do_unary(UFUNC_negative, do_cast(kept(high), d->dtype, m), m) : NULL;
    high = do_cast(high, d->dtype, m);
    node *r = low ? do_binary(UFUNC_add, do_binary(UFUNC_remainder, do_binary(UFUNC_subtract, kept(d), kept(low), m), kept(period), m), kept(low), m) : NULL;
    node *at_edge = do_binary(UFUNC_logical_and, do_binary(UFUNC_equal, kept(r), low, m), do_binary(UFUNC_greater, kept(d), weak_int(0, m), m), m);
    if (whole)
        at_edge = do_binary(UFUNC_logical_and, at_edge, do_binary(UFUNC_equal, do_binary(UFUNC_remainder, kept(period), weak_int(2, m), m), weak_int(0, m), m), m);
    return do_where(at_edge, high, r, m);
}

kn_status op_unwrap(const op_value *args, node **results, message *m)
{
    node *p = args[0].v.array, *discont = args[1].v.array;
    int axis;
    kn_status status = p->ndim ? axis_one(args[2].v.axis, p->ndim, "unwrap", &axis, m) : fail(m, KN_VALUE_ERROR, "unwrap: needs at least one dimension");
    if (status)
        return status;
    if (dtype_is_complex(p->dtype) || p->dtype == KN_BOOL)
        return fail(m, KN_TYPE_ERROR, "unwrap: takes real numbers, not %s", dtype_table[p->dtype].name);
    node *period = args[3].v.array ? kept(args[3].v.array) : weak_float(2 * M_PI, m);
    if (!period)
        return give(results, NULL, m);
    kn_dtype t = nodes_dtype(2, (node *[]){p, period});
    int64_t n = p->shape[axis];
    node *x = node_cast(p, t, m);
    if (n < 2) {
        node_drop(period);
        return give(results, x, m);
    }
    node *d = do_binary(UFUNC_subtract, do_slice(kept(p), axis, 1, n - 1, m), do_slice(kept(p), axis, 0, n - 1, m), m);
    d = do_cast(d, t, m);
    node *limit = discont ? kept(discont) : do_binary(UFUNC_divide, kept(period), weak_int(2, m), m);
    node *change = d ? do_binary(UFUNC_subtract, shortest(d, period, m), kept(d), m) : NULL;
    node *small = do_binary(UFUNC_less, do_unary(UFUNC_absolute, d, m), limit, m);
    change = do_scan(REDUCTION_sum, do_where(small, weak_int(0, m), change, m), axis, m);
    node_drop(period);
    node *rest = do_binary(UFUNC_add, x ? do_slice(kept(x), axis, 1, n - 1, m) : NULL, change, m);
    return give(results, do_join(2, (node *[]){do_slice(x, axis, 0, 1, m), rest}, axis, "unwrap", m), m);
}

/* ---- gradient ---- */

/* w[0] * f[i] + w[1] * f[i + 1] + w[2] * f[i + 2] for n elements from i on. Consumes the weights. */
static node *weighted_neighbours(node *f, int axis, int64_t i, int64_t n, node *const *w, message *m)
{
    node *r = NULL;
    for (int k = 0; k < 3; k++) {
        node *part = do_binary(UFUNC_multiply, w[k], do_slice(kept(f), axis, i + k, n, m), m);
        r = k ? do_binary(UFUNC_add, r, part, m) : part;
    }
    return r;
}

/* Products of d and e with these factors: p * d + q * e. */
static node *combination(double p, node *d, double q, node *e, message *m)
{
    return do_binary(UFUNC_add, do_binary(UFUNC_multiply, weak_float(p, m), kept(d), m), do_binary(UFUNC_multiply, weak_float(q, m), kept(e), m), m);
}

static node *quotient(node *a, node *b, node *c, message *m) { return do_binary(UFUNC_divide, a, do_binary(UFUNC_multiply, b, c, m), m); }

/* The derivative between three points d and e apart, at the point `where` of them (0, 1, 2): the weights of their values. */
static void three_point_weights(node *d, node *e, int where, node **w, message *m)
{
    node *both = combination(1, d, 1, e, m);
    switch (where) {
    case 0:
        w[0] = quotient(combination(-2, d, -1, e, m), kept(d), kept(both), m);
        w[1] = quotient(kept(both), kept(d), kept(e), m);
        w[2] = quotient(do_unary(UFUNC_negative, kept(d), m), kept(e), kept(both), m);
        break;
    case 1:
        w[0] = quotient(do_unary(UFUNC_negative, kept(e), m), kept(d), kept(both), m);
        w[1] = quotient(combination(-1, d, 1, e, m), kept(d), kept(e), m);
        w[2] = quotient(kept(d), kept(e), kept(both), m);
        break;
    default:
        w[0] = quotient(kept(e), kept(d), kept(both), m);
        w[1] = quotient(do_unary(UFUNC_negative, kept(both), m), kept(d), kept(e), m);
        w[2] = quotient(combination(1, d, 2, e, m), kept(e), kept(both), m);
    }
    node_drop(both);
}

/* Distances from element i on, n of them, shaped to multiply along the axis; a number is all of them. */
static node *distances(node *dx, const node *f, int axis, int64_t i, int64_t n, message *m)
{
    int64_t shape[NDIM_MAX];
    if (dx->ndim == 0)
        return kept(dx);
    for (int d = 0; d < f->ndim; d++)
        shape[d] = d == axis ? n : 1;
    return do_reshape(do_slice(kept(dx), 0, i, n, m), f->ndim, shape, m);
}

/* The derivative at n points from `from` on, each the point `where` of three. */
static node *by_three_points(node *f, node *dx, int axis, int64_t from, int64_t n, int where, message *m)
{
    node *d = distances(dx, f, axis, from, n, m), *e = distances(dx, f, axis, from + 1, n, m), *w[3] = {NULL, NULL, NULL}, *r = NULL;
    if (d && e) {
        if (where == 1 && dx->ndim == 0) { /* as it is written for equal distances */
            node *rise = do_binary(UFUNC_subtract, do_slice(kept(f), axis, from + 2, n, m), do_slice(kept(f), axis, from, n, m), m);
            r = do_binary(UFUNC_divide, rise, do_binary(UFUNC_multiply, weak_float(2, m), kept(d), m), m);
        } else {
            three_point_weights(d, e, where, w, m);
            r = weighted_neighbours(f, axis, from, n, w, m);
        }
    }
    node_drop(d);
    node_drop(e);
    return r;
}

static node *by_two_points(node *f, node *dx, int axis, int64_t from, message *m)
{
    node *rise = do_binary(UFUNC_subtract, do_slice(kept(f), axis, from + 1, 1, m), do_slice(kept(f), axis, from, 1, m), m);
    return do_binary(UFUNC_divide, rise, distances(dx, f, axis, from, 1, m), m);
}

node *gradient_along(node *a, int axis, node *spacing, bool second_order, message *m)
{
    int64_t n = a->shape[axis];
    if (n < (second_order ? 3 : 2)) {
        fail(m, KN_VALUE_ERROR, "gradient: axis %d has %lld elements; it needs at least edge_order + 1", axis, (long long)n);
        return NULL;
    }
    if (spacing && (spacing->ndim > 1 || (spacing->ndim == 1 && spacing->size != n))) {
        fail(m, KN_VALUE_ERROR, "gradient: distances must be numbers, or coordinates as many as the axis has elements");
        return NULL;
    }
    kn_dtype t = dtype_is_inexact(a->dtype) ? (kn_dtype)a->dtype : KN_FLOAT64;
    node *f = a->dtype == KN_BOOL ? kept(a) : node_cast(a, t, m), *dx = spacing ? kept(spacing) : weak_float(1, m), *parts[3] = {NULL, NULL, NULL};
    if (spacing && spacing->ndim == 1) {
        dx = do_cast(dx, dtype_is_inexact(dx->dtype) ? (kn_dtype)dx->dtype : KN_FLOAT64, m);
        dx = dx ? do_binary(UFUNC_subtract, do_slice(kept(dx), 0, 1, n - 1, m), do_slice(dx, 0, 0, n - 1, m), m) : NULL;
    }
    if (f && dx) {
        parts[0] = do_cast(second_order ? by_three_points(f, dx, axis, 0, 1, 0, m) : by_two_points(f, dx, axis, 0, m), t, m);
        parts[1] = do_cast(by_three_points(f, dx, axis, 0, n - 2, 1, m), t, m);
        parts[2] = do_cast(second_order ? by_three_points(f, dx, axis, n - 3, 1, 2, m) : by_two_points(f, dx, axis, n - 2, m), t, m);
    }
    node_drop(f);
    node_drop(dx);
    return do_join(3, parts, axis, "gradient", m);
}
