/* reduce.c: reductions and running reductions by NumPy's rules: sum, max, mean, var, argmax, cumsum and their relatives.
 *
 * How it works: a handler chooses the dtype that is accumulated in, replaces what `where` leaves out by the identity, makes
 * one REDUCE or SCAN node, and lets `initial` take part afterwards. mean is the sum over n, so that both share one pass;
 * var is one reduction with a state of three. What combining means stands in reductions.def. */
#include "ir/graph/internal.h"

#include <math.h>
#include <string.h>

const reduction_info reductions[] = {
#define REDUCTION_UFUNC(u) UFUNC_##u
#define UFUNC_NONE (-1)
#define REDUCTION(name, nstate, lift, combine, finish, identity, ufunc, indexed, ordered) {#name, nstate, lift, combine, finish, identity, UFUNC_##ufunc, indexed, ordered},
#include "ir/graph/reductions.def"
};
const int nreductions = NREDUCTIONS;

int reduction_named(const char *name)
{
    for (int r = 0; r < NREDUCTIONS; r++)
        if (strcmp(reductions[r].name, name) == 0)
            return r;
    return -1;
}

/* ---- pieces ---- */

/* The arguments that reductions have in common; those a row lacks keep their defaults. */
typedef struct request { const char *name; node *a; kn_axis axis; kn_dtype dtype; bool keepdims; node *initial, *where; uint64_t axes; int64_t count; } request;

static kn_status request_axes(request *q, message *m)
{
    kn_status status = axes_normalise(q->axis, q->a->ndim, &q->axes, NULL, NULL, q->name, m);
    q->count = 1;
    for (int d = 0; d < q->a->ndim; d++)
        if (q->axes >> d & 1)
            q->count *= q->a->shape[d];
    return status;
}

static kn_status sum_request(request *q, const char *name, const op_value *args, message *m)
{
    *q = (request){.name = name, .a = args[0].v.array, .axis = args[1].v.axis, .dtype = args[2].v.dtype, .keepdims = args[4].v.flag, .initial = args[5].v.array, .where = args[6].v.array};
    return request_axes(q, m);
}

static kn_status extreme_request(request *q, const char *name, const op_value *args, message *m)
{
    *q = (request){.name = name, .a = args[0].v.array, .axis = args[1].v.axis, .keepdims = args[3].v.flag, .initial = args[4].v.array, .where = args[5].v.array};
    return request_axes(q, m);
}

static kn_status truth_request(request *q, const char *name, const op_value *args, message *m)
{
    *q = (request){.name = name, .a = args[0].v.array, .axis = args[1].v.axis, .dtype = KN_BOOL, .keepdims = args[3].v.flag, .where = args[4].v.array};
    return request_axes(q, m);
}

static kn_status mean_request(request *q, const char *name, const op_value *args, message *m)
{
    *q = (request){.name = name, .a = args[0].v.array, .axis = args[1].v.axis, .dtype = args[2].v.dtype, .keepdims = args[4].v.flag, .where = args[5].v.array};
    return request_axes(q, m);
}

node *keep_dims(node *reduced, const node *before, uint64_t axes, message *m)
{
    int64_t shape[NDIM_MAX];
    for (int d = 0; d < before->ndim; d++)
        shape[d] = axes >> d & 1 ? 1 : before->shape[d];
    return do_reshape(reduced, before->ndim, shape, m);
}

static bool is_short_float(kn_dtype t) { return t == KN_FLOAT16 || t == KN_BFLOAT16; }

/* On bools, sums are "any" and products "all". */
static reduction_number reduction_on(reduction_number r, kn_dtype t)
{
    if (t != KN_BOOL)
        return (r == REDUCTION_fmax || r == REDUCTION_fmin) && !dtype_is_inexact(t) ? r == REDUCTION_fmax ? REDUCTION_max : REDUCTION_min : r;
    switch (r) {
    case REDUCTION_sum: case REDUCTION_max: case REDUCTION_fmax: case REDUCTION_bitwise_or: return REDUCTION_any;
    case REDUCTION_prod: case REDUCTION_min: case REDUCTION_fmin: case REDUCTION_bitwise_and: return REDUCTION_all;
    case REDUCTION_bitwise_xor: return REDUCTION_logical_xor;
    default: return r;
    }
}

/* Rounded once at the end instead of at every step. */
static bool widens(reduction_number r) { return r == REDUCTION_sum || r == REDUCTION_prod || r == REDUCTION_hypot || r == REDUCTION_logaddexp || r == REDUCTION_logaddexp2; }

node *reduce_axes(reduction_number r, node *a, uint64_t axes, kn_dtype t, bool keepdims, message *m)
{
    bool wide = is_short_float(t) && widens(r);
    kn_dtype in = wide ? KN_FLOAT32 : t;
    node *x = node_cast(a, in, m), *n = NULL;
    r = reduction_on(r, t);
    if (x && axes == 0)
        n = kept(x); /* axis=(): every element is its own result */
    else if (x)
        n = node_reduce((int)r, x, axes, in, reductions[r].ordered, m);
    node_drop(x);
    n = do_cast(n, t, m);
    return n && keepdims ? keep_dims(n, a, axes, m) : n;
}

node *do_reduce(reduction_number r, node *a, uint64_t axes, bool keepdims, message *m)
{
    node *n = a ? reduce_axes(r, a, axes, a->dtype, keepdims, m) : NULL;
    node_drop(a);
    return n;
}

node *do_scan(reduction_number r, node *a, int axis, message *m)
{
    node *n = a ? scan_axis(r, a, axis, a->dtype, "a running reduction", m) : NULL;
    node_drop(a);
    return n;
}

/* ---- identities, where, initial ---- */

static const char *const extreme_words[] = {"lowest", "highest", "nan", "-inf"};

/* What leaves every other operand as it is, as an element of t. */
static node *identity_node(reduction_number r, kn_dtype t, message *m)
{
    const char *s = reductions[reduction_on(r, t)].identity;
    const dtype_info *d = &dtype_table[t];
    if (!s)
        return NULL;
    if (strcmp(s, extreme_words[2]) == 0)
        return typed_float(t, NAN, m);
    if (strcmp(s, extreme_words[3]) == 0)
        return typed_float(t, -INFINITY, m);
    bool low = strncmp(s, "lowest", 6) == 0, high = strncmp(s, "highest", 7) == 0;
    if (!low && !high)
        return typed_int(t, s[0] == '-' ? -1 : s[0] - '0', m);
    if (d->kind == KIND_COMPLEX) {
        double v = low ? -INFINITY : INFINITY;
        return node_scalar(t, (scalar){.kind = SCALAR_COMPLEX, .v.c = {v, v}}, false, m);
    }
    if (d->kind == KIND_FLOAT)
        return typed_float(t, low ? -INFINITY : INFINITY, m);
    if (d->kind == KIND_UINT)
        return node_scalar(t, (scalar){.kind = SCALAR_UINT, .v.u = low ? 0 : UINT64_MAX >> (64 - 8 * d->size)}, false, m);
    int64_t most = INT64_MAX >> (64 - 8 * d->size);
    return typed_int(t, low ? -most - 1 : most, m);
}

/* a where the mask holds, else `other`; the mask must broadcast to a. Consumes other. */
static node *masked(const request *q, node *a, node *other, message *m)
{
    char x[SHAPE_TEXT], y[SHAPE_TEXT];
    node *n = do_where(kept(q->where), kept(a), other, m);
    if (n && (n->ndim != a->ndim || memcmp(n->shape, a->shape, (size_t)a->ndim * sizeof *a->shape) != 0)) {
        fail(m, KN_VALUE_ERROR, "%s: where of shape %s does not broadcast to the array's %s", q->name, shape_text(x, q->where->ndim, q->where->shape), shape_text(y, a->ndim, a->shape));
        node_drop(n);
        return NULL;
    }
    return n;
}

static bool has_identity(reduction_number r)
{
    const char *s = reductions[r].identity;
    return s && r != REDUCTION_max && r != REDUCTION_min && r != REDUCTION_fmax && r != REDUCTION_fmin && r != REDUCTION_lcm;
}

node *reduce_request(reduction_number r, const char *name, node *a, uint64_t axes, int64_t count, kn_dtype t, bool keepdims, node *initial, node *where, message *m)
{
    request q = {.name = name, .a = a, .where = where};
    bool own_identity = has_identity(r);
    node *x = do_cast(kept(a), t, m);
    if (x && where) {
        if (!own_identity && !initial) {
            fail(m, KN_VALUE_ERROR, "%s: where needs initial, since %s has no identity", name, name);
            node_drop(x);
            return NULL;
        }
        node *other = reductions[r].identity ? identity_node(r, t, m) : do_cast(kept(initial), t, m);
        node *chosen = other ? masked(&q, x, other, m) : NULL;
        node_drop(x);
        x = chosen;
    }
    if (!x)
        return NULL;
    if (count == 0 && !own_identity && !initial) {
        fail(m, KN_VALUE_ERROR, "%s: there is no element to reduce, and %s has no identity; give initial", name, name);
        node_drop(x);
        return NULL;
    }
    node *n = reduce_axes(r, x, axes, t, keepdims, m);
    node_drop(x);
    if (!initial || !n)
        return n;
    node *first = NULL;
    char shape[SHAPE_TEXT];
    if (initial->ndim != 0)
        fail(m, KN_VALUE_ERROR, "%s: initial must be a number, not an array of shape %s", name, shape_text(shape, initial->ndim, initial->shape));
    else
        first = node_cast(initial, t, m);
    int op = reductions[r].ufunc;
    if (t == KN_BOOL) /* the ufunc's loop on bools may have another dtype */
        op = reductions[reduction_on(r, t)].ufunc;
    if (!first || op < 0) {
        node_drop(first);
        node_drop(n);
        return NULL;
    }
    return do_binary((ufunc_number)op, first, n, m);
}

static node *run(const request *q, reduction_number r, kn_dtype t, message *m)
{
    return reduce_request(r, q->name, q->a, q->axes, q->count, t, q->keepdims, q->initial, q->where, m);
}

/* ---- sum, prod, max, min, any, all ---- */

/* What sums are accumulated in: small integers in 64 bits. */
kn_dtype sum_dtype(kn_dtype t, kn_dtype asked)
{
    if (asked)
        return asked;
    switch (dtype_kind_of(t)) {
    case KIND_BOOL: case KIND_INT: return KN_INT64;
    case KIND_UINT: return KN_UINT64;
    default: return t;
    }
}

static kn_status sum_like(const char *name, reduction_number r, const op_value *args, node **results, message *m)
{
    request q;
    kn_status status = sum_request(&q, name, args, m);
    return status ? status : give(results, run(&q, r, sum_dtype(q.a->dtype, q.dtype), m), m);
}

kn_status op_sum(const op_value *args, node **results, message *m) { return sum_like("sum", REDUCTION_sum, args, results, m); }
kn_status op_prod(const op_value *args, node **results, message *m) { return sum_like("prod", REDUCTION_prod, args, results, m); }

/* Of complex numbers the first NaN wins, wherever lanes and blocks meet: so it is looked up where argmax finds it. */
static node *first_extreme(const request *q, reduction_number r, message *m)
{
    int64_t count, shape[NDIM_MAX];
    int8_t from[NDIM_MAX];
    node *rows = axes_last(kept(q->a), q->axes, &count, m), *found = NULL;
    int last = rows ? rows->ndim - 1 : 0;
    node *at = rows ? node_reduce(r == REDUCTION_max ? REDUCTION_argmax : REDUCTION_argmin, rows, (uint64_t)1 << last, KN_INT64, false, m) : NULL;
    for (int d = 0; d <= last; d++) {
        from[d] = (int8_t)(d == last ? -1 : d);
        shape[d] = at && d < last ? at->shape[d] : 1;
    }
    if (at)
        found = node_gather(rows, from, 1, &at, last, shape, m);
    node_drop(at);
    node_drop(rows);
    found = found && q->keepdims ? keep_dims(found, q->a, q->axes, m) : found;
    return found && q->initial ? do_binary((ufunc_number)reductions[r].ufunc, node_cast(q->initial, q->a->dtype, m), found, m) : found;
}

static kn_status extreme(const char *name, reduction_number r, const op_value *args, node **results, message *m)
{
    request q;
    kn_status status = extreme_request(&q, name, args, m);
    bool ordered = (r == REDUCTION_max || r == REDUCTION_min) && dtype_is_complex(q.a->dtype) && q.axes && !q.where && q.count > 0 && (!q.initial || q.initial->ndim == 0);
    if (!status && ordered)
        return give(results, first_extreme(&q, r, m), m);
    return status ? status : give(results, run(&q, r, q.a->dtype, m), m);
}

kn_status op_max(const op_value *args, node **results, message *m) { return extreme("max", REDUCTION_max, args, results, m); }
kn_status op_min(const op_value *args, node **results, message *m) { return extreme("min", REDUCTION_min, args, results, m); }
kn_status op_nanmax(const op_value *args, node **results, message *m) { return extreme("nanmax", REDUCTION_fmax, args, results, m); }
kn_status op_nanmin(const op_value *args, node **results, message *m) { return extreme("nanmin", REDUCTION_fmin, args, results, m); }

static kn_status truth(const char *name, reduction_number r, const op_value *args, node **results, message *m)
{
    request q;
    kn_status status = truth_request(&q, name, args, m);
    return status ? status : give(results, run(&q, r, KN_BOOL, m), m);
}

kn_status op_any(const op_value *args, node **results, message *m) { return truth("any", REDUCTION_any, args, results, m); }
kn_status op_all(const op_value *args, node **results, message *m) { return truth("all", REDUCTION_all, args, results, m); }

kn_status op_ptp(const op_value *args, node **results, message *m)
{
    request q = {.name = "ptp", .a = args[0].v.array, .axis = args[1].v.axis, .keepdims = args[3].v.flag};
    kn_status status = request_axes(&q, m);
    if (status)
        return status;
    node *high = run(&q, REDUCTION_max, q.a->dtype, m), *low = high ? run(&q, REDUCTION_min, q.a->dtype, m) : NULL;
    return give(results, do_binary(UFUNC_subtract, high, low, m), m);
}

kn_status op_count_nonzero(const op_value *args, node **results, message *m)
{
    request q = {.name = "count_nonzero", .a = args[0].v.array, .axis = args[1].v.axis, .keepdims = args[2].v.flag};
    kn_status status = request_axes(&q, m);
    if (status)
        return status;
    node *truths = q.a = node_cast(q.a, KN_BOOL, m);
    status = give(results, truths ? run(&q, REDUCTION_sum, KN_INT64, m) : NULL, m);
    node_drop(truths);
    return status;
}

kn_status op_trace(const op_value *args, node **results, message *m)
{
    layout in, out;
    layout_of_node(args[0].v.array, &in);
    kn_status status = diagonal_layout(&in, args[1].v.integer, args[2].v.axis, args[3].v.axis, &out, "trace", m);
    if (status)
        return status;
    node *diagonal = node_of_layout(args[0].v.array, &out, m);
    if (!diagonal)
        return give(results, NULL, m);
    request q = {.name = "trace", .a = diagonal, .axis = -1};
    status = request_axes(&q, m);
    if (!status)
        status = give(results, run(&q, REDUCTION_sum, sum_dtype(diagonal->dtype, args[4].v.dtype), m), m);
    node_drop(diagonal);
    return status;
}

/* ---- mean, var, std ---- */

/* Accumulated in and given back as. */
static void mean_dtypes(const request *q, kn_dtype *in, kn_dtype *out)
{
    *out = q->dtype ? q->dtype : dtype_is_inexact(q->a->dtype) ? (kn_dtype)q->a->dtype : KN_FLOAT64;
    *in = is_short_float(*out) ? KN_FLOAT32 : *out;
}

/* How many elements each result comes from, as an operand beside dtype t: a number, or a sum over the mask. */
static node *count_of(const request *q, kn_dtype t, message *m)
{
    kn_dtype real = dtype_table[t].part;
    if (!q->where)
        return dtype_is_inexact(t) ? typed_float(real, (double)q->count, m) : typed_int(t, q->count, m);
    node *mask = node_cast(q->where, KN_BOOL, m), *wide = NULL, *n = NULL;
    if (mask)
        wide = node_broadcast(mask, q->a->ndim, q->a->shape, m);
    if (wide)
        n = reduce_axes(REDUCTION_sum, wide, q->axes, KN_INT64, q->keepdims, m);
    node_drop(wide);
    node_drop(mask);
    return do_cast(n, dtype_is_inexact(t) ? real : t, m);
}

static node *mean_of(const request *q, message *m)
{
    kn_dtype in, out;
    mean_dtypes(q, &in, &out);
    node *sum = run(q, REDUCTION_sum, in, m), *n = sum ? count_of(q, in, m) : NULL;
    return do_cast(do_binary(UFUNC_divide, sum, n, m), out, m);
}

kn_status op_mean(const op_value *args, node **results, message *m)
{
    request q;
    kn_status status = mean_request(&q, "mean", args, m);
    return status ? status : give(results, mean_of(&q, m), m);
}

/* |x|**2, without a square root for complex numbers. */
static node *magnitude_squared(node *x, message *m)
{
    if (!x || !dtype_is_complex(x->dtype))
        return do_unary(UFUNC_square, x, m);
    node *re = do_unary(UFUNC_square, do_real(kept(x), m), m), *im = do_unary(UFUNC_square, do_imag(x, m), m);
    return do_binary(UFUNC_add, re, im, m);
}

/* The sum of squared deviations in dtype `in`: in one pass, or from a mean that is given or that a mask asks for. */
static node *deviations(const request *q, kn_dtype in, node *mean, message *m)
{
    if (!mean && !q->where && q->axes) {
        if (!dtype_is_complex(in))
            return reduce_axes(REDUCTION_var, q->a, q->axes, in, q->keepdims, m);
        kn_dtype part = dtype_table[in].part;
        node *a = node_cast(q->a, in, m), *re = do_real(kept(a), m), *im = do_imag(a, m);
        node *x = re ? reduce_axes(REDUCTION_var, re, q->axes, part, q->keepdims, m) : NULL, *y = im ? reduce_axes(REDUCTION_var, im, q->axes, part, q->keepdims, m) : NULL;
        node_drop(re);
        node_drop(im);
        return do_binary(UFUNC_add, x, y, m);
    }
    node *middle = kept(mean);
    if (!middle) {
        request inner = *q;
        inner.keepdims = true;
        inner.dtype = in;
        middle = mean_of(&inner, m);
    }
    request squares = *q;
    squares.a = magnitude_squared(do_binary(UFUNC_subtract, node_cast(q->a, in, m), do_cast(middle, in, m), m), m);
    node *sum = squares.a ? run(&squares, REDUCTION_sum, squares.a->dtype, m) : NULL;
    node_drop(squares.a);
    return sum;
}

static kn_status ddof_of(const op_value *args, const char *name, double *ddof, message *m)
{
    *ddof = args[4].v.number;
    if (isnan(args[8].v.number))
        return KN_OK;
    if (args[4].v.number != 0)
        return fail(m, KN_VALUE_ERROR, "%s: ddof and correction are two names of one option; give one", name);
    *ddof = args[8].v.number;
    return KN_OK;
}

static kn_status var_request(request *q, const char *name, const op_value *args, double *ddof, message *m)
{
    *q = (request){.name = name, .a = args[0].v.array, .axis = args[1].v.axis, .dtype = args[2].v.dtype, .keepdims = args[5].v.flag, .where = args[6].v.array};
    kn_status status = ddof_of(args, name, ddof, m);
    return status ? status : request_axes(q, m);
}

/* Degrees of freedom, never negative. Consumes n. */
static node *freedom(node *n, double ddof, message *m)
{
    if (!n)
        return NULL;
    kn_dtype t = dtype_table[n->dtype].part;
    return do_binary(UFUNC_maximum, do_binary(UFUNC_subtract, n, typed_float(t, ddof, m), m), typed_float(t, 0, m), m);
}

static kn_status variance(const char *name, const op_value *args, bool root, node **results, message *m)
{
    request q;
    double ddof;
    kn_dtype in, out;
    kn_status status = var_request(&q, name, args, &ddof, m);
    if (status)
        return status;
    mean_dtypes(&q, &in, &out);
    if (!dtype_is_inexact(in))
        in = KN_FLOAT64;
    kn_dtype real = dtype_table[in].part;
    node *m2 = deviations(&q, in, args[7].v.array, m), *n = NULL;
    if (m2)
        n = q.where ? freedom(count_of(&q, real, m), ddof, m) : typed_float(real, (double)q.count - ddof > 0 ? (double)q.count - ddof : 0, m);
    node *v = do_cast(do_binary(UFUNC_divide, m2, n, m), dtype_table[out].part, m);
    return give(results, root ? do_cast(do_unary(UFUNC_sqrt, v, m), dtype_table[out].part, m) : v, m);
}

kn_status op_var(const op_value *args, node **results, message *m) { return variance("var", args, false, results, m); }
kn_status op_std(const op_value *args, node **results, message *m) { return variance("std", args, true, results, m); }

kn_status op_average(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *weights = args[2].v.array;
    request q = {.name = "average", .a = a, .axis = args[1].v.axis, .keepdims = args[4].v.flag};
    int axis;
    kn_status status = request_axes(&q, m);
    if (status)
        return status;
    if (!weights)
        return give(results, mean_of(&q, m), m);
    kn_dtype t = dtype_promote(a->dtype, weights->dtype);
    if (!dtype_is_inexact(a->dtype))
        t = dtype_promote(t, KN_FLOAT64);
    node *w = node_cast(weights, t, m);
    bool same = w && w->ndim == a->ndim && memcmp(w->shape, a->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
    if (w && !same) {
        int list[NDIM_MAX], n;
        status = axes_normalise(q.axis, a->ndim, NULL, list, &n, q.name, m);
        axis = n == 1 && q.axis != INT64_MIN ? list[0] : -1;
        if (status || axis < 0 || w->ndim != 1 || w->shape[0] != a->shape[axis]) {
            node_drop(w);
            return status ? status : fail(m, q.axis == INT64_MIN ? KN_TYPE_ERROR : KN_VALUE_ERROR, "average: weights must have the array's shape, or its length along the one axis given");
        }
        int64_t shape[NDIM_MAX];
        for (int d = 0; d < a->ndim; d++)
            shape[d] = d == axis ? a->shape[d] : 1;
        w = do_broadcast(do_reshape(w, a->ndim, shape, m), a->ndim, a->shape, m);
    }
    request products = q, scale = q;
    scale.a = w;
    products.a = w ? do_binary(UFUNC_multiply, node_cast(a, t, m), kept(w), m) : NULL;
    node *sum = products.a ? run(&products, REDUCTION_sum, t, m) : NULL, *total = sum ? run(&scale, REDUCTION_sum, t, m) : NULL;
    node_drop(products.a);
    node_drop(w);
    return give(results, do_binary(UFUNC_divide, sum, total, m), m);
}

/* ---- positions ---- */

static node *position_of(const char *name, reduction_number r, node *a, kn_axis axis, bool keepdims, message *m)
{
    int list[NDIM_MAX] = {0}, n;
    bool flat = axis == INT64_MIN;
    if (axes_normalise(axis, a->ndim, NULL, list, &n, name, m))
        return NULL;
    if (!flat && n != 1) {
        fail(m, KN_TYPE_ERROR, "%s: takes one axis", name);
        return NULL;
    }
    node *x = flat ? node_reshape(a, 1, &a->size, m) : kept(a);
    int along = flat ? 0 : list[0];
    if (x && x->shape[along] == 0) {
        fail(m, KN_VALUE_ERROR, "%s: there is no element to choose from", name);
        node_drop(x);
        return NULL;
    }
    if (x && x->dtype == KN_BOOL)
        x = do_cast(x, KN_UINT8, m);
    node *p = x ? node_reduce((int)r, x, (uint64_t)1 << along, KN_INT64, false, m) : NULL;
    node_drop(x);
    uint64_t axes = flat ? a->ndim ? UINT64_MAX >> (64 - a->ndim) : 0 : (uint64_t)1 << along;
    return p && keepdims ? keep_dims(p, a, axes, m) : p;
}

static kn_status position(const char *name, reduction_number r, const op_value *args, bool skip_nan, node **results, message *m)
{
    node *a = kept(args[0].v.array);
    if (skip_nan && dtype_is_inexact(a->dtype)) {
        node *missing = do_unary(UFUNC_isnan, kept(a), m);
        a = do_where(missing, identity_node(r, a->dtype, m), a, m);
    }
    kn_status status = give(results, a ? position_of(name, r, a, args[1].v.axis, args[3].v.flag, m) : NULL, m);
    node_drop(a);
    return status;
}

kn_status op_argmax(const op_value *args, node **results, message *m) { return position("argmax", REDUCTION_argmax, args, false, results, m); }
kn_status op_argmin(const op_value *args, node **results, message *m) { return position("argmin", REDUCTION_argmin, args, false, results, m); }
kn_status op_nanargmax(const op_value *args, node **results, message *m) { return position("nanargmax", REDUCTION_argmax, args, true, results, m); }
kn_status op_nanargmin(const op_value *args, node **results, message *m) { return position("nanargmin", REDUCTION_argmin, args, true, results, m); }

/* ---- without NaNs ---- */

/* a with NaN replaced; a itself where there can be none. */
static node *without_nan(node *a, int64_t by, message *m)
{
    if (!dtype_is_inexact(a->dtype))
        return kept(a);
    return do_where(do_unary(UFUNC_isnan, kept(a), m), typed_int(a->dtype, by, m), kept(a), m);
}

static kn_status nan_sum(const char *name, reduction_number r, int64_t by, const op_value *args, node **results, message *m)
{
    op_value changed[7];
    memcpy(changed, args, sizeof changed);
    changed[0].v.array = without_nan(args[0].v.array, by, m);
    kn_status status = changed[0].v.array ? sum_like(name, r, changed, results, m) : give(results, NULL, m);
    node_drop(changed[0].v.array);
    return status;
}

kn_status op_nansum(const op_value *args, node **results, message *m) { return nan_sum("nansum", REDUCTION_sum, 0, args, results, m); }
kn_status op_nanprod(const op_value *args, node **results, message *m) { return nan_sum("nanprod", REDUCTION_prod, 1, args, results, m); }

/* The mask of what counts: not NaN, and within `where`. New reference; NULL with the message, or with no error when all counts. */
static node *present_mask(const request *q, message *m)
{
    node *mask = do_unary(UFUNC_logical_not, do_unary(UFUNC_isnan, kept(q->a), m), m);
    if (mask && q->where)
        mask = do_binary(UFUNC_logical_and, mask, kept(q->where), m);
    return mask;
}

kn_status op_nanmean(const op_value *args, node **results, message *m)
{
    request q;
    kn_status status = mean_request(&q, "nanmean", args, m);
    if (status)
        return status;
    node *mask = dtype_is_inexact(q.a->dtype) ? q.where = present_mask(&q, m) : NULL;
    if (dtype_is_inexact(q.a->dtype) && !mask)
        return give(results, NULL, m);
    status = give(results, mean_of(&q, m), m);
    node_drop(mask);
    return status;
}

static kn_status nan_variance(const char *name, const op_value *args, bool root, node **results, message *m)
{
    op_value changed[9];
    memcpy(changed, args, sizeof changed);
    request q = {.a = args[0].v.array, .where = args[6].v.array};
    node *mask = dtype_is_inexact(q.a->dtype) ? present_mask(&q, m) : NULL;
    if (dtype_is_inexact(q.a->dtype) && !mask)
        return give(results, NULL, m);
    if (mask)
        changed[6].v.array = mask;
    kn_status status = variance(name, changed, root, results, m);
    node_drop(mask);
    return status;
}

kn_status op_nanvar(const op_value *args, node **results, message *m) { return nan_variance("nanvar", args, false, results, m); }
kn_status op_nanstd(const op_value *args, node **results, message *m) { return nan_variance("nanstd", args, true, results, m); }

/* ---- running reductions ---- */

node *scan_axis(reduction_number r, node *a, int64_t axis, kn_dtype t, const char *name, message *m)
{
    int along = 0, list[NDIM_MAX], n;
    bool wide = is_short_float(t) && widens(r);
    node *x = axis == INT64_MIN ? node_reshape(a, 1, &a->size, m) : kept(a);
    if (x && axis != INT64_MIN) {
        kn_status status = axes_normalise(axis, a->ndim, NULL, list, &n, name, m);
        if (status || n != 1) {
            if (!status)
                fail(m, KN_TYPE_ERROR, "%s: takes one axis", name);
            node_drop(x);
            return NULL;
        }
        along = list[0];
    }
    x = do_cast(x, wide ? KN_FLOAT32 : t, m);
    node *s = x ? x->size == 0 ? kept(x) : node_scan((int)reduction_on(r, t), x, along, m) : NULL;
    if (s && s->kind == NODE_SCAN && (r == REDUCTION_hypot || r == REDUCTION_gcd || r == REDUCTION_lcm)) { /* the first element stays as it is, sign and all */
        int64_t shape[NDIM_MAX];
        for (int d = 0; d < x->ndim; d++)
            shape[d] = d == along ? x->shape[d] : 1;
        node *first = do_binary(UFUNC_equal, do_reshape(node_index(x->shape[along], m), x->ndim, shape, m), typed_int(KN_INT64, 0, m), m);
        s = do_where(first, kept(x), s, m);
    }
    node_drop(x);
    return do_cast(s, t, m);
}

static kn_status scan(const char *name, reduction_number r, int64_t nan_as, bool skip_nan, const op_value *args, node **results, message *m)
{
    node *a = skip_nan ? without_nan(args[0].v.array, nan_as, m) : kept(args[0].v.array);
    kn_status status = give(results, a ? scan_axis(r, a, args[1].v.axis, sum_dtype(a->dtype, args[2].v.dtype), name, m) : NULL, m);
    node_drop(a);
    return status;
}

kn_status op_cumsum(const op_value *args, node **results, message *m) { return scan("cumsum", REDUCTION_sum, 0, false, args, results, m); }
kn_status op_cumprod(const op_value *args, node **results, message *m) { return scan("cumprod", REDUCTION_prod, 1, false, args, results, m); }
kn_status op_nancumsum(const op_value *args, node **results, message *m) { return scan("nancumsum", REDUCTION_sum, 0, true, args, results, m); }
kn_status op_nancumprod(const op_value *args, node **results, message *m) { return scan("nancumprod", REDUCTION_prod, 1, true, args, results, m); }

static kn_status cumulative(const char *name, reduction_number r, const op_value *args, node **results, message *m)
{
    node *given = args[0].v.array;
    kn_axis axis = args[1].v.axis;
    if (axis == INT64_MIN && given->ndim > 1)
        return fail(m, KN_VALUE_ERROR, "%s: an array of %d dimensions needs an axis", name, given->ndim);
    if (axis == INT64_MIN)
        axis = 0;
    node *a = given->ndim ? kept(given) : do_flat(kept(given), m);
    if (!a)
        return give(results, NULL, m);
    node *s = scan_axis(r, a, axis, sum_dtype(a->dtype, args[2].v.dtype), name, m);
    int ndim = a->ndim, along = (int)(axis < 0 ? axis + ndim : axis);
    node_drop(a);
    if (!s || !args[4].v.flag)
        return give(results, s, m);
    int64_t shape[NDIM_MAX];
    memcpy(shape, s->shape, (size_t)ndim * sizeof *shape);
    shape[along] = 1;
    node *first = filled(identity_node(r, s->dtype, m), ndim, shape, m);
    node *joined = first ? join_nodes(2, (node *[]){first, s}, along, s->dtype, name, m) : NULL;
    node_drop(first);
    node_drop(s);
    return give(results, joined, m);
}

kn_status op_cumulative_sum(const op_value *args, node **results, message *m) { return cumulative("cumulative_sum", REDUCTION_sum, args, results, m); }
kn_status op_cumulative_prod(const op_value *args, node **results, message *m) { return cumulative("cumulative_prod", REDUCTION_prod, args, results, m); }
