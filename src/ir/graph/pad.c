/* pad.c: arrays with a border: constant, or made from what is inside.
 *
 * How it works: a border of one number is a write into memory that holds it; borders that repeat what is inside are one gather
 * for each axis; all others are joined to the array, axis by axis, so that later axes see the borders of earlier ones. */
#include "ir/graph/internal.h"

#include <string.h>

typedef enum { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_SYMMETRIC, PAD_WRAP, PAD_EMPTY, PAD_RAMP, PAD_MAXIMUM, PAD_MINIMUM, PAD_MEAN, PAD_MEDIAN, NPAD_MODES } pad_mode;
static const char *const pad_names[NPAD_MODES] = {"constant", "edge", "reflect", "symmetric", "wrap", "empty", "linear_ramp", "maximum", "minimum", "mean", "median"};
enum { ARG_MODE = 2, ARG_CONSTANTS, ARG_ENDS, ARG_LENGTHS, ARG_REFLECT };

/* Positions -before ... n+after-1 folded into 0 ... n-1. */
static node *folded(int64_t n, int64_t before, int64_t after, pad_mode mode, message *m)
{
    node *i = do_binary(UFUNC_subtract, node_index(before + n + after, m), typed_int(KN_INT64, before, m), m);
    if (n == 1 && mode == PAD_REFLECT)
        mode = PAD_EDGE;
    if (mode == PAD_EDGE)
        return do_binary(UFUNC_minimum, do_binary(UFUNC_maximum, i, typed_int(KN_INT64, 0, m), m), typed_int(KN_INT64, n - 1, m), m);
    int64_t period = mode == PAD_WRAP ? n : mode == PAD_REFLECT ? 2 * (n - 1) : 2 * n;
    i = do_binary(UFUNC_remainder, i, typed_int(KN_INT64, period, m), m);
    if (mode == PAD_WRAP || !i)
        return i;
    node *back = do_binary(UFUNC_subtract, typed_int(KN_INT64, mode == PAD_REFLECT ? period : period - 1, m), kept(i), m);
    return do_binary(UFUNC_minimum, i, back, m);
}

static node *pad_constant(node *a, const int64_t *width, node *value, message *m)
{
    int64_t shape[NDIM_MAX], strides[NDIM_MAX];
    window w = {.strides = strides, .shape = a->shape, .ndim = a->ndim};
    for (int d = 0; d < a->ndim; d++)
        shape[d] = width[2 * d] + a->shape[d] + width[2 * d + 1];
    strides_c_order(a->ndim, shape, 1, strides);
    for (int d = 0; d < a->ndim; d++)
        w.offset += width[2 * d] * strides[d];
    node *base = filled(value ? node_cast(value, a->dtype, m) : typed_int(a->dtype, 0, m), a->ndim, shape, m);
    node *r = base ? a->size ? node_write(base, &w, a, m) : kept(base) : NULL;
    node_drop(base);
    return r;
}

node *do_bordered(node *a, const int64_t *width, message *m)
{
    node *r = a ? pad_constant(a, width, NULL, m) : NULL;
    node_drop(a);
    return r;
}

/* ---- borders joined to the array ---- */

/* Of numbers for (axis, side): one, a pair, or a pair for each axis. NULL with a message when they are other than that. */
static node *number_at(node *numbers, int axis, int side, int ndim, kn_dtype t, const char *what, message *m)
{
    if (!numbers)
        return typed_int(t, 0, m);
    node *n = node_cast(numbers, t, m);
    if (n && n->ndim == 2 && n->shape[0] == ndim && n->shape[1] == 2)
        return do_element(do_element(n, 0, axis, m), 0, side, m);
    if (n && n->ndim == 2 && n->shape[0] == 1 && n->shape[1] == 2)
        return do_element(do_element(n, 0, 0, m), 0, side, m);
    if (n && n->ndim == 1 && (n->size == 2 || n->size == 1))
        return do_element(n, 0, n->size == 2 ? side : 0, m);
    if (!n || n->ndim == 0)
        return n;
    node_drop(n);
    fail(m, KN_VALUE_ERROR, "pad: %s must be a number, a pair, or a pair for each axis", what);
    return NULL;
}

/* x broadcast to r's shape, but n elements along the axis. Consumes x. */
static node *border_of(node *x, const node *r, int axis, int64_t n, message *m)
{
    int64_t shape[NDIM_MAX];
    memcpy(shape, r->shape, (size_t)r->ndim * sizeof *shape);
    shape[axis] = n;
    return do_broadcast(x, r->ndim, shape, m);
}

/* From the end value towards the edge, which it does not reach. Consumes end. */
static node *ramp(node *r, int axis, int side, int64_t width, node *end, message *m)
{
    op_value v[16];
    node *out = NULL, *edge = do_element(kept(r), axis, side ? r->shape[axis] - 1 : 0, m);
    op_defaults(OPERATION_linspace, v);
    v[0].v.array = end;
    v[1].v.array = edge;
    v[2].v.integer = width;
    v[op_param_named(OPERATION_linspace, "endpoint")].v.flag = false;
    v[op_param_named(OPERATION_linspace, "dtype")].v.dtype = r->dtype;
    v[op_param_named(OPERATION_linspace, "axis")].v.axis = axis;
    if (end && edge && op_linspace(v, &out, m))
        out = NULL;
    node_drop(end);
    node_drop(edge);
    return side ? do_reversed(out, axis, m) : out;
}

static node *statistic(node *x, pad_mode mode, int axis, message *m)
{
    op_value v[16];
    node *out = NULL;
    int op = mode == PAD_MEAN ? OPERATION_mean : OPERATION_median;
    if (!x || mode == PAD_MAXIMUM || mode == PAD_MINIMUM)
        return do_reduce(mode == PAD_MAXIMUM ? REDUCTION_max : REDUCTION_min, x, (uint64_t)1 << axis, true, m);
    op_defaults(op, v);
    v[0].v.array = x;
    v[op_param_named(op, "axis")].v.axis = axis;
    v[op_param_named(op, "keepdims")].v.flag = true;
    if ((op == OPERATION_mean ? op_mean : op_median)(v, &out, m))
        out = NULL;
    kn_dtype t = x->dtype;
    node_drop(x);
    return do_cast(out && dtype_is_integer(t) ? do_unary(UFUNC_rint, out, m) : out, t, m);
}

/* What the first or last elements have as their largest, mean ... lengths: how many take part. */
static node *statistic_border(node *r, pad_mode mode, int axis, int side, int64_t width, const op_value *lengths, message *m)
{
    int n = lengths->v.shape.ndim;
    int64_t extent = r->shape[axis], length = n == SHAPE_NONE || n == 0 ? extent : lengths->v.shape.dim[n == 1 ? 0 : n == 2 ? side : 2 * axis + side];
    length = length > extent ? extent : length;
    if (length < 0)
        length = 0;
    if (length == 0 && (mode == PAD_MAXIMUM || mode == PAD_MINIMUM)) {
        fail(m, KN_VALUE_ERROR, "pad: stat_length of 0 yields no value for padding");
        return NULL;
    }
    return border_of(statistic(do_slice(kept(r), axis, side ? extent - length : 0, length, m), mode, axis, m), r, axis, width, m);
}

/* What lies beyond the edge when the array is turned about it: 2 edge - x. At most as much as there is. */
static node *turned(node *r, int axis, int side, int64_t n, bool with_edge, message *m)
{
    int64_t extent = r->shape[axis], skip = with_edge ? 0 : 1;
    node *edge = do_slice(kept(r), axis, side ? extent - 1 : 0, 1, m), *part = do_reversed(do_slice(kept(r), axis, side ? extent - skip - n : skip, n, m), axis, m);
    return do_binary(UFUNC_subtract, do_binary(UFUNC_multiply, typed_int(r->dtype, 2, m), edge, m), part, m);
}

/* Consumes r. */
static node *turned_borders(node *r, int axis, int64_t before, int64_t after, bool with_edge, message *m)
{
    while (r && (before || after)) {
        int64_t most = r->shape[axis] - (with_edge ? 0 : 1), left = before < most ? before : most, right = after < most ? after : most;
        if (most < 1)
            return do_join(3, (node *[]){border_of(do_slice(kept(r), axis, 0, 1, m), r, axis, before, m), r, border_of(do_slice(kept(r), axis, 0, 1, m), r, axis, after, m)}, axis, "pad", m);
        r = do_join(3, (node *[]){turned(r, axis, 0, left, with_edge, m), r, turned(r, axis, 1, right, with_edge, m)}, axis, "pad", m);
        before -= left;
        after -= right;
    }
    return r;
}

/* One side's border, n elements along the axis. */
static node *side_of(node *r, pad_mode mode, int axis, int side, int64_t n, const op_value *args, message *m)
{
    switch (mode) {
    case PAD_CONSTANT: return border_of(number_at(args[ARG_CONSTANTS].v.array, axis, side, r->ndim, r->dtype, "constant_values", m), r, axis, n, m);
    case PAD_EMPTY: return border_of(typed_int(r->dtype, 0, m), r, axis, n, m);
    case PAD_RAMP: return ramp(r, axis, side, n, number_at(args[ARG_ENDS].v.array, axis, side, r->ndim, r->dtype, "end_values", m), m);
    default: return statistic_border(r, mode, axis, side, n, &args[ARG_LENGTHS], m);
    }
}

/* Consumes r. */
static node *padded_axis(node *r, pad_mode mode, int axis, const int64_t *width, const op_value *args, message *m)
{
    bool folds = mode == PAD_EDGE || mode == PAD_WRAP || mode == PAD_REFLECT || mode == PAD_SYMMETRIC, odd = folds && strcmp(args[ARG_REFLECT].v.text ? args[ARG_REFLECT].v.text : "even", "odd") == 0;
    if (!width[0] && !width[1])
        return r;
    if (r->shape[axis] == 0 && mode != PAD_CONSTANT && mode != PAD_EMPTY) {
        fail(m, KN_VALUE_ERROR, "pad: axis %d is empty, so mode '%s' has nothing to take", axis, pad_names[mode]);
        node_drop(r);
        return NULL;
    }
    if (odd && (mode == PAD_REFLECT || mode == PAD_SYMMETRIC))
        return turned_borders(r, axis, width[0], width[1], mode == PAD_SYMMETRIC, m);
    if (folds)
        return do_gather(r, axis, folded(r->shape[axis], width[0], width[1], mode, m), m);
    node *parts[3];
    int n = 0;
    if (width[0])
        parts[n++] = side_of(r, mode, axis, 0, width[0], args, m);
    parts[n++] = r;
    if (width[1])
        parts[n++] = side_of(r, mode, axis, 1, width[1], args, m);
    return do_join(n, parts, axis, "pad", m);
}

static kn_status pad_widths(const op_value *args, int ndim, int64_t *width, message *m)
{
    int n = args[1].v.shape.ndim;
    const int64_t *given = args[1].v.shape.dim;
    if (n != 1 && n != 2 && n != 2 * ndim)
        return fail(m, KN_VALUE_ERROR, "pad: %d widths for %d axes; give one, two, or two an axis", n, ndim);
    for (int i = 0; i < 2 * ndim; i++) {
        width[i] = given[n == 1 ? 0 : n == 2 ? i % 2 : i];
        if (width[i] < 0)
            return fail(m, KN_VALUE_ERROR, "pad: widths must not be negative");
    }
    return KN_OK;
}

kn_status op_pad(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *value = args[ARG_CONSTANTS].v.array;
    const char *name = args[ARG_MODE].v.text ? args[ARG_MODE].v.text : pad_names[0], *reflect = args[ARG_REFLECT].v.text;
    int64_t width[2 * NDIM_MAX];
    int mode = 0, lengths = args[ARG_LENGTHS].v.shape.ndim;
    while (mode < NPAD_MODES && strcmp(pad_names[mode], name) != 0)
        mode++;
    if (mode == NPAD_MODES)
        return fail(m, KN_VALUE_ERROR, "pad: there is no mode '%s'; there are constant, edge, reflect, symmetric, wrap, linear_ramp, maximum, mean, median, minimum and empty", name);
    if (reflect && strcmp(reflect, "even") != 0 && strcmp(reflect, "odd") != 0)
        return fail(m, KN_VALUE_ERROR, "pad: reflect_type must be even or odd, not '%s'", reflect);
    if (lengths != SHAPE_NONE && lengths != 1 && lengths != 2 && lengths != 2 * a->ndim)
        return fail(m, KN_VALUE_ERROR, "pad: %d lengths for %d axes; give one, two, or two an axis", lengths, a->ndim);
    kn_status status = pad_widths(args, a->ndim, width, m);
    if (status)
        return status;
    if (mode == PAD_CONSTANT && (!value || value->ndim == 0))
        return give(results, pad_constant(a, width, value, m), m);
    node *r = kept(a);
    for (int d = 0; d < a->ndim && r; d++)
        r = padded_axis(r, (pad_mode)mode, d, width + 2 * d, args, m);
    return give(results, r, m);
}
