/* elementwise.c: elementwise operations that are made of several functions: clip, round, isclose, diff and the like. */
#include "ir/graph/internal.h"

#include <math.h>
#include <string.h>

/* A Python integer at or beyond the end of an integer dtype's range does not limit it. */
static bool is_no_limit(const node *limit, kn_dtype t, bool upper)
{
    if (!limit->weak || !dtype_is_integer(t) || (limit->attr.number.kind != SCALAR_INT && limit->attr.number.kind != SCALAR_UINT) || scalar_fits(limit->attr.number, t))
        return false;
    bool negative = limit->attr.number.kind == SCALAR_INT && limit->attr.number.v.i < 0;
    return negative != upper;
}

kn_status op_clip(const op_value *args, node **results, message *m)
{
    node *r = kept(args[0].v.array), *low = args[1].v.array, *high = args[2].v.array;
    if (low && is_no_limit(low, r->dtype, false))
        low = NULL;
    if (high && is_no_limit(high, r->dtype, true))
        high = NULL;
    if (low) /* NaN wins in both steps */
        r = do_binary(UFUNC_maximum, r, kept(low), m);
    if (high)
        r = do_binary(UFUNC_minimum, r, kept(high), m);
    if (r && r->weak)
        r = do_cast(r, r->dtype, m);
    return give(results, r, m);
}

kn_status op_angle(const op_value *args, node **results, message *m)
{
    node *im = do_imag(kept(args[0].v.array), m), *re = do_real(kept(args[0].v.array), m);
    node *r = do_binary(UFUNC_arctan2, im, re, m);
    return give(results, args[1].v.flag ? do_binary(UFUNC_multiply, r, weak_float(180 / M_PI, m), m) : r, m);
}

/* Through the float64 product with a power of ten, as NumPy does. */
static node *rounded_scaled(node *a, int64_t decimals, message *m)
{
    int64_t digits = decimals < 0 ? -decimals : decimals;
    double scale = pow(10, digits > 400 ? 400 : (double)digits);
    ufunc_number there = decimals < 0 ? UFUNC_divide : UFUNC_multiply, back = decimals < 0 ? UFUNC_multiply : UFUNC_divide;
    kn_dtype t = a->dtype;
    node *r = do_unary(UFUNC_rint, do_binary(there, kept(a), weak_float(scale, m), m), m);
    r = do_binary(back, r, weak_float(scale, m), m);
    return dtype_is_integer(t) ? do_cast(r, t, m) : r;
}

kn_status op_round(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    int64_t decimals = args[1].v.integer;
    if (dtype_is_integer(a->dtype) && decimals >= 0)
        return give(results, node_cast(a, a->dtype, m), m);
    if (decimals == 0)
        return give(results, do_unary(UFUNC_rint, kept(a), m), m);
    if (!dtype_is_complex(a->dtype))
        return give(results, rounded_scaled(a, decimals, m), m);
    node *re = do_real(kept(a), m), *im = do_imag(kept(a), m);
    node *x = re ? rounded_scaled(re, decimals, m) : NULL, *y = im ? rounded_scaled(im, decimals, m) : NULL;
    node_drop(re);
    node_drop(im);
    return give(results, complex_of(x, y, a->dtype, m), m);
}

/* re + i im, for finite parts. Consumes both. */
node *complex_of(node *re, node *im, kn_dtype t, message *m)
{
    node *unit = node_scalar(t, (scalar){.kind = SCALAR_COMPLEX, .v.c = {0, 1}}, false, m);
    return do_binary(UFUNC_add, do_cast(re, t, m), do_binary(UFUNC_multiply, do_cast(im, t, m), unit, m), m);
}

/* ---- infinities and NaN ---- */

static double largest(kn_dtype t)
{
    const dtype_info *d = &dtype_table[t];
    int bias = (1 << (d->exponent - 1)) - 1;
    return ldexp(2 - ldexp(1, -(int)d->mantissa), bias);
}

static node *replaced(node *x, node *nan, node *high, node *low, message *m)
{
    kn_dtype t = x->dtype;
    node *by_nan = nan ? node_cast(nan, t, m) : typed_float(t, 0, m), *by_high = high ? node_cast(high, t, m) : typed_float(t, largest(t), m);
    node *by_low = low ? node_cast(low, t, m) : typed_float(t, -largest(t), m);
    node *r = do_where(do_unary(UFUNC_isnan, kept(x), m), by_nan, kept(x), m);
    r = do_where(do_binary(UFUNC_equal, kept(x), typed_float(t, INFINITY, m), m), by_high, r, m);
    return do_where(do_binary(UFUNC_equal, kept(x), typed_float(t, -INFINITY, m), m), by_low, r, m);
}

kn_status op_nan_to_num(const op_value *args, node **results, message *m)
{
    node *x = args[0].v.array, *nan = args[2].v.array, *high = args[3].v.array, *low = args[4].v.array;
    if (!dtype_is_inexact(x->dtype))
        return give(results, node_cast(x, x->dtype, m), m);
    if (!dtype_is_complex(x->dtype))
        return give(results, replaced(x, nan, high, low, m), m);
    node *re = do_real(kept(x), m), *im = do_imag(kept(x), m);
    node *a = re ? replaced(re, nan, high, low, m) : NULL, *b = im ? replaced(im, nan, high, low, m) : NULL;
    node_drop(re);
    node_drop(im);
    return give(results, complex_of(a, b, x->dtype, m), m);
}

static kn_status is_infinity(const char *op, bool negative, const op_value *args, node **results, message *m)
{
    node *x = args[0].v.array;
    if (dtype_is_complex(x->dtype))
        return fail(m, KN_TYPE_ERROR, "%s: complex numbers have no sign", op);
    node *sign = do_unary(UFUNC_signbit, dtype_is_inexact(x->dtype) ? kept(x) : node_cast(x, KN_FLOAT64, m), m);
    if (!negative)
        sign = do_unary(UFUNC_logical_not, sign, m);
    return give(results, do_binary(UFUNC_logical_and, do_unary(UFUNC_isinf, kept(x), m), sign, m), m);
}

kn_status op_isneginf(const op_value *args, node **results, message *m) { return is_infinity("isneginf", true, args, results, m); }
kn_status op_isposinf(const op_value *args, node **results, message *m) { return is_infinity("isposinf", false, args, results, m); }

static kn_status has_imaginary(ufunc_number f, const op_value *args, node **results, message *m)
{
    node *x = args[0].v.array;
    node *im = do_imag(kept(x), m);
    return give(results, im ? do_binary(f, im, typed_int(dtype_table[x->dtype].part, 0, m), m) : NULL, m);
}

kn_status op_isreal(const op_value *args, node **results, message *m) { return has_imaginary(UFUNC_equal, args, results, m); }
kn_status op_iscomplex(const op_value *args, node **results, message *m) { return has_imaginary(UFUNC_not_equal, args, results, m); }

/* ---- closeness and equality ---- */

static node *close(node *a, node *b, const op_value *args, message *m)
{
    node *y = dtype_is_inexact(b->dtype) ? kept(b) : node_cast(b, KN_FLOAT64, m);
    if (!y)
        return NULL;
    node *distance = do_unary(UFUNC_absolute, do_binary(UFUNC_subtract, kept(a), kept(y), m), m);
    node *allowed = do_binary(UFUNC_multiply, weak_float(args[2].v.number, m), do_unary(UFUNC_absolute, kept(y), m), m);
    allowed = do_binary(UFUNC_add, weak_float(args[3].v.number, m), allowed, m);
    node *r = do_binary(UFUNC_logical_and, do_binary(UFUNC_less_equal, distance, allowed, m), do_unary(UFUNC_isfinite, kept(y), m), m);
    r = do_binary(UFUNC_logical_or, r, do_binary(UFUNC_equal, kept(a), kept(y), m), m);
    if (args[4].v.flag)
        r = do_binary(UFUNC_logical_or, r, do_binary(UFUNC_logical_and, do_unary(UFUNC_isnan, kept(a), m), do_unary(UFUNC_isnan, kept(y), m), m), m);
    node_drop(y);
    return r;
}

static node *all_of(node *n, message *m)
{
    if (!n || n->ndim == 0)
        return n;
    node *r = reduce_axes(REDUCTION_all, n, UINT64_MAX >> (64 - n->ndim), KN_BOOL, false, m);
    node_drop(n);
    return r;
}

kn_status op_isclose(const op_value *args, node **results, message *m) { return give(results, close(args[0].v.array, args[1].v.array, args, m), m); }
kn_status op_allclose(const op_value *args, node **results, message *m) { return give(results, all_of(close(args[0].v.array, args[1].v.array, args, m), m), m); }

static node *equal_everywhere(node *a, node *b, bool equal_nan, message *m)
{
    node *r = do_binary(UFUNC_equal, kept(a), kept(b), m);
    if (equal_nan)
        r = do_binary(UFUNC_logical_or, r, do_binary(UFUNC_logical_and, do_unary(UFUNC_isnan, kept(a), m), do_unary(UFUNC_isnan, kept(b), m), m), m);
    return all_of(r, m);
}

kn_status op_array_equal(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array;
    bool same = a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
    return give(results, same ? equal_everywhere(a, b, args[2].v.flag, m) : weak_bool(false, m), m);
}

kn_status op_array_equiv(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array;
    int ndim;
    int64_t shape[NDIM_MAX];
    bool fit = !shape_broadcast(2, (int[]){a->ndim, b->ndim}, (const int64_t *const[]){a->shape, b->shape}, &ndim, shape, "array_equiv", NULL);
    return give(results, fit ? equal_everywhere(a, b, false, m) : weak_bool(false, m), m);
}

/* ---- differences ---- */

/* a from `from` on along axis, without the last `less` elements. */
static node *shifted(node *a, int axis, int64_t from, int64_t less, message *m)
{
    int64_t n = a->shape[axis] > from + less ? a->shape[axis] - from - less : 0;
    return do_slice(kept(a), axis, from, n, m);
}

/* Consumes a. */
static node *differences(node *a, int axis, message *m)
{
    if (!a)
        return NULL;
    ufunc_number f = a->dtype == KN_BOOL ? UFUNC_not_equal : UFUNC_subtract;
    node *r = do_binary(f, shifted(a, axis, 1, 0, m), shifted(a, axis, 0, 1, m), m);
    node_drop(a);
    return r;
}

/* What prepend and append add: numbers count as one element along the axis. */
static node *border(node *x, const node *a, int axis, message *m)
{
    int64_t shape[NDIM_MAX];
    if (x->ndim)
        return kept(x);
    /* a number with its default dtype: it has become an array */
    memcpy(shape, a->shape, (size_t)a->ndim * sizeof *shape);
    shape[axis] = 1;
    return do_broadcast(node_cast(x, x->dtype, m), a->ndim, shape, m);
}

static node *with_borders(node *a, node *before, node *after, int axis, const char *op, message *m)
{
    node *parts[3];
    int n = 0;
    if (before)
        parts[n++] = border(before, a, axis, m);
    parts[n++] = kept(a);
    if (after)
        parts[n++] = border(after, a, axis, m);
    return do_join(n, parts, axis, op, m);
}

kn_status op_diff(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    int64_t n = args[1].v.integer;
    int axis;
    if (n < 0)
        return fail(m, KN_VALUE_ERROR, "diff: the order must not be negative, got %lld", (long long)n);
    if (a->ndim == 0)
        return fail(m, KN_VALUE_ERROR, "diff: needs at least one dimension");
    kn_status status = axis_one(args[2].v.axis, a->ndim, "diff", &axis, m);
    if (status)
        return status;
    if (n == 0)
        return give(results, kept(a), m);
    node *r = with_borders(a, args[3].v.array, args[4].v.array, axis, "diff", m);
    for (int64_t i = 0; i < n && r && (i == 0 || r->shape[axis] > 0); i++)
        r = differences(r, axis, m);
    return give(results, r, m);
}

kn_status op_ediff1d(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *ends[2] = {args[2].v.array, args[1].v.array}, *flat[2] = {NULL, NULL};
    node *d = differences(node_reshape(a, 1, &a->size, m), 0, m);
    for (int i = 0; i < 2 && d; i++) {
        if (!ends[i])
            continue;
        if (!ends[i]->weak && !dtype_can_cast(ends[i]->dtype, d->dtype, CAST_SAME_KIND)) {
            node_drop(d);
            node_drop(flat[0]);
            return fail(m, KN_TYPE_ERROR, "ediff1d: %s cannot be cast to %s", dtype_table[ends[i]->dtype].name, dtype_table[a->dtype].name);
        }
        flat[i] = do_reshape(node_cast(ends[i], d->dtype, m), 1, &ends[i]->size, m);
    }
    node *r = d ? with_borders(d, flat[0], flat[1], 0, "ediff1d", m) : NULL;
    node_drop(d);
    node_drop(flat[0]);
    node_drop(flat[1]);
    return give(results, r, m);
}

kn_status op_trapezoid(const op_value *args, node **results, message *m)
{
    node *y = args[0].v.array, *x = args[1].v.array, *d;
    int axis, along;
    kn_status status = axis_one(args[3].v.axis, y->ndim, "trapezoid", &axis, m);
    if (status)
        return status;
    if (!x) {
        d = args[2].v.array ? kept(args[2].v.array) : weak_float(1, m);
    } else if (x->ndim == 1) {
        int64_t shape[NDIM_MAX];
        d = differences(kept(x), 0, m);
        for (int i = 0; i < y->ndim && d; i++)
            shape[i] = i == axis ? d->shape[0] : 1;
        d = do_reshape(d, y->ndim, shape, m);
    } else {
        status = axis_one(args[3].v.axis, x->ndim, "trapezoid", &along, m);
        if (status)
            return status;
        d = differences(kept(x), along, m);
    }
    node *pairs = do_binary(UFUNC_add, shifted(y, axis, 1, 0, m), shifted(y, axis, 0, 1, m), m);
    node *areas = do_binary(UFUNC_divide, do_binary(UFUNC_multiply, d, pairs, m), weak_float(2, m), m);
    node *r = areas ? reduce_axes(REDUCTION_sum, areas, (uint64_t)1 << axis, areas->dtype, false, m) : NULL;
    node_drop(areas);
    return give(results, r, m);
}
