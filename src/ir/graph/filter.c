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
