/* make.c: arrays from nothing: zeros, arange, linspace, eye, windows and the like.
 *
 * How it works: constants are broadcast numbers, ramps are arithmetic on an INDEX node, so that all of them fuse into what
 * uses them. arange and linspace compute with NumPy's formulas, element by element. */
#include "ir/graph/internal.h"

#include <math.h>
#include <string.h>

static kn_status check_shape(int ndim, const int64_t *shape, const char *op, message *m)
{
    char t[SHAPE_TEXT];
    int64_t size;
    for (int d = 0; d < ndim; d++)
        if (shape[d] < 0)
            return fail(m, KN_VALUE_ERROR, "%s: the shape %s has a negative extent", op, shape_text(t, ndim, shape));
    if (!shape_size(ndim, shape, &size))
        return fail(m, KN_VALUE_ERROR, "%s: the shape %s has too many elements", op, shape_text(t, ndim, shape));
    return KN_OK;
}

/* value as dtype t; a weak integer must fit. New reference. */
static node *fitting_number(node *value, kn_dtype t, const char *op, message *m)
{
    if (value->weak && !scalar_fits(value->attr.number, t)) {
        fail(m, KN_OVERFLOW_ERROR, "%s: the integer is out of bounds for %s", op, dtype_table[t].name);
        return NULL;
    }
    return node_cast(value, t, m);
}

node *spread(node *value, kn_dtype t, int ndim, const int64_t *shape, const char *op, message *m)
{
    char a[SHAPE_TEXT], b[SHAPE_TEXT];
    bool fits = value->ndim <= ndim;
    for (int d = 0; fits && d < value->ndim; d++)
        fits = value->shape[d] == 1 || value->shape[d] == shape[d + ndim - value->ndim];
    if (fits)
        return do_broadcast(fitting_number(value, t, op, m), ndim, shape, m);
    fail(m, KN_VALUE_ERROR, "%s: a value of shape %s does not broadcast to %s", op, shape_text(a, value->ndim, value->shape), shape_text(b, ndim, shape));
    return NULL;
}

/* ---- constants ---- */

static kn_status constant(const char *op, int ndim, const int64_t *shape, kn_dtype t, int64_t value, node **results, message *m)
{
    kn_status status = check_shape(ndim, shape, op, m);
    return status ? status : give(results, filled(typed_int(t ? t : KN_FLOAT64, value, m), ndim, shape, m), m);
}

kn_status op_zeros(const op_value *args, node **results, message *m) { return constant("zeros", args[0].v.shape.ndim, args[0].v.shape.dim, args[1].v.dtype, 0, results, m); }
kn_status op_ones(const op_value *args, node **results, message *m) { return constant("ones", args[0].v.shape.ndim, args[0].v.shape.dim, args[1].v.dtype, 1, results, m); }

static kn_status empty(const char *op, int ndim, const int64_t *shape, kn_dtype t, node **results, message *m)
{
    kn_status status = check_shape(ndim, shape, op, m);
    return status ? status : give(results, node_empty(t, ndim, shape, m), m);
}

kn_status op_empty(const op_value *args, node **results, message *m)
{
    return empty("empty", args[0].v.shape.ndim, args[0].v.shape.dim, args[1].v.dtype ? args[1].v.dtype : KN_FLOAT64, results, m);
}

static kn_status full(const char *op, int ndim, const int64_t *shape, node *value, kn_dtype t, node **results, message *m)
{
    kn_status status = check_shape(ndim, shape, op, m);
    return status ? status : give(results, spread(value, t ? t : (kn_dtype)value->dtype, ndim, shape, op, m), m);
}

kn_status op_full(const op_value *args, node **results, message *m) { return full("full", args[0].v.shape.ndim, args[0].v.shape.dim, args[1].v.array, args[2].v.dtype, results, m); }

/* Arguments from `at` on are those of the family: dtype, order, subok, shape, device. */
static void like(const op_value *args, int at, kn_dtype *t, int *ndim, const int64_t **shape)
{
    const node *a = args[0].v.array;
    bool given = args[at + 3].v.shape.ndim != SHAPE_NONE;
    *t = args[at].v.dtype ? args[at].v.dtype : (kn_dtype)a->dtype;
    *ndim = given ? args[at + 3].v.shape.ndim : a->ndim;
    *shape = given ? args[at + 3].v.shape.dim : a->shape;
}

#define LIKE(at) kn_dtype t; int ndim; const int64_t *shape; like(args, at, &t, &ndim, &shape)
kn_status op_zeros_like(const op_value *args, node **results, message *m) { LIKE(1); return constant("zeros_like", ndim, shape, t, 0, results, m); }
kn_status op_ones_like(const op_value *args, node **results, message *m) { LIKE(1); return constant("ones_like", ndim, shape, t, 1, results, m); }
kn_status op_empty_like(const op_value *args, node **results, message *m) { LIKE(1); return empty("empty_like", ndim, shape, t, results, m); }
kn_status op_full_like(const op_value *args, node **results, message *m) { LIKE(2); return full("full_like", ndim, shape, args[1].v.array, t, results, m); }

kn_status op_copy(const op_value *args, node **results, message *m) { return give(results, do_cast(kept(args[0].v.array), args[0].v.array->dtype, m), m); }
kn_status op_astype(const op_value *args, node **results, message *m)
{
    if (!args[1].v.dtype)
        return fail(m, KN_TYPE_ERROR, "astype: the dtype is missing");
    return give(results, node_cast(args[0].v.array, args[1].v.dtype, m), m);
}

/* ---- arange ---- */

static double real_value(const scalar *s)
{
    switch (s->kind) {
    case SCALAR_BOOL: return s->v.b;
    case SCALAR_INT: return (double)s->v.i;
    case SCALAR_UINT: return (double)s->v.u;
    case SCALAR_FLOAT: return s->v.f;
    default: return s->v.c.re;
    }
}

static double imaginary_value(const scalar *s) { return s->kind == SCALAR_COMPLEX ? s->v.c.im : 0; }
static bool is_whole(const scalar *s) { return s->kind <= SCALAR_INT; }
static int64_t whole_value(const scalar *s) { return s->kind == SCALAR_BOOL ? s->v.b : s->v.i; }

__extension__ typedef __int128 wide;

typedef struct ramp { bool whole; int64_t start, step; double fstart, fstep; int64_t n; } ramp;

static kn_status ramp_length(const scalar *start, const scalar *stop, const scalar *step, ramp *r, message *m)
{
    r->whole = is_whole(start) && is_whole(stop) && is_whole(step);
    r->fstart = real_value(start);
    r->fstep = real_value(step);
    if (r->fstep == 0)
        return fail(m, KN_ZERO_DIVISION_ERROR, "arange: the step is 0");
    if (r->whole) {
        r->start = whole_value(start);
        r->step = whole_value(step);
        wide span = (wide)whole_value(stop) - r->start, d = r->step;
        wide n = d > 0 ? (span + d - 1) / d : (-span - d - 1) / -d;
        if (n > INT64_MAX)
            return fail(m, KN_VALUE_ERROR, "arange: too many elements");
        r->n = span == 0 || (span > 0) != (d > 0) ? 0 : (int64_t)n;
        return KN_OK;
    }
    double n = ceil((real_value(stop) - r->fstart) / r->fstep);
    if (isnan(n))
        return fail(m, KN_VALUE_ERROR, "arange: the length is not a number");
    if (n > 0x1p62)
        return fail(m, KN_OVERFLOW_ERROR, "arange: too many elements");
    r->n = n > 0 ? (int64_t)n : 0;
    return KN_OK;
}

static double rounded(kn_dtype t, double v) { return t == KN_FLOAT64 || t == KN_COMPLEX128 ? v : (double)(float)v; }

/* start + i * delta with delta as NumPy finds it: the second element, rounded to the dtype, less the first. */
static node *float_ramp(const ramp *r, kn_dtype t, message *m)
{
    kn_dtype part = dtype_table[t].part, in = dtype_size(part) == 2 ? KN_FLOAT32 : part;
    _Alignas(16) unsigned char e[16];
    double start = r->whole ? (double)r->start : r->fstart, second = r->whole ? (double)r->start + (double)r->step : r->fstart + r->fstep;
    element_store(part, e, (scalar){.kind = SCALAR_FLOAT, .v.f = start});
    start = element_load(part, e).v.f;
    element_store(part, e, (scalar){.kind = SCALAR_FLOAT, .v.f = second});
    second = element_load(part, e).v.f;
    double delta = rounded(in, second - start);
    node *n = do_cast(node_index(r->n, m), in, m);
    n = do_binary(UFUNC_multiply, n, typed_float(in, delta, m), m);
    if (start != 0 || !(delta > 0))
        n = do_binary(UFUNC_add, typed_float(in, start, m), n, m);
    if (n && r->n > 1 && rounded(in, start + delta) != second) { /* the second element is as it was asked for */
        node *is_second = do_binary(UFUNC_equal, node_index(r->n, m), typed_int(KN_INT64, 1, m), m);
        n = do_where(is_second, typed_float(in, second, m), n, m);
    }
    return do_cast(n, t, m);
}

static int64_t truncated(double v)
{
    int64_t i;
    element_store(KN_INT64, &i, (scalar){.kind = SCALAR_FLOAT, .v.f = v});
    return i;
}

static node *whole_ramp(const ramp *r, kn_dtype t, message *m)
{
    int64_t start = r->whole ? r->start : truncated(r->fstart), second = r->whole ? (int64_t)((uint64_t)r->start + (uint64_t)r->step) : truncated(r->fstart + r->fstep);
    int64_t delta = (int64_t)((uint64_t)second - (uint64_t)start);
    if (t == KN_BOOL) {
        node *is_first = do_binary(UFUNC_equal, node_index(r->n, m), typed_int(KN_INT64, 0, m), m);
        return do_where(is_first, typed_int(t, start != 0, m), typed_int(t, second != 0, m), m);
    }
    node *n = do_cast(node_index(r->n, m), t, m);
    if (delta != 1)
        n = do_binary(UFUNC_multiply, n, typed_int(t, delta, m), m);
    return start ? do_binary(UFUNC_add, typed_int(t, start, m), n, m) : n;
}

/* As many elements as the shorter of the two parts of (stop - start) / step says. */
static kn_status complex_ramp(const scalar *start, const scalar *stop, const scalar *step, kn_dtype t, node **results, message *m)
{
    double a = real_value(start), b = imaginary_value(start), c = real_value(step), d = imaginary_value(step), x = real_value(stop) - a, y = imaginary_value(stop) - b, norm = c * c + d * d;
    if (norm == 0)
        return fail(m, KN_ZERO_DIVISION_ERROR, "arange: the step is 0");
    double re = ceil((x * c + y * d) / norm), im = ceil((y * c - x * d) / norm), count = im < re ? im : re;
    if (!(count <= 0x1p62))
        return fail(m, KN_VALUE_ERROR, "arange: too many elements");
    node *i = do_cast(node_index(count > 0 ? (int64_t)count : 0, m), t, m);
    i = do_binary(UFUNC_multiply, i, node_scalar(t, (scalar){.kind = SCALAR_COMPLEX, .v.c = {c, d}}, false, m), m);
    return give(results, do_binary(UFUNC_add, node_scalar(t, (scalar){.kind = SCALAR_COMPLEX, .v.c = {a, b}}, false, m), i, m), m);
}

kn_status op_arange(const op_value *args, node **results, message *m)
{
    static const scalar zero = {.kind = SCALAR_INT, .v.i = 0}, one = {.kind = SCALAR_INT, .v.i = 1};
    const node *first = args[0].v.array, *second = args[1].v.array, *third = args[2].v.array;
    const scalar *start = second ? &first->attr.number : &zero, *stop = second ? &second->attr.number : &first->attr.number, *step = third ? &third->attr.number : &one;
    kn_dtype t = args[3].v.dtype;
    ramp r = {0};
    if (!t) {
        t = KN_INT64; /* numbers with a dtype of their own are not weak here: NumPy starts from int64 */
        for (int i = 0; i < 3; i++)
            if (args[i].v.array)
                t = dtype_promote(t, args[i].v.array->dtype);
    }
    if (start->kind == SCALAR_COMPLEX || stop->kind == SCALAR_COMPLEX || step->kind == SCALAR_COMPLEX)
        return complex_ramp(start, stop, step, t, results, m);
    kn_status status = ramp_length(start, stop, step, &r, m);
    if (status)
        return status;
    for (int i = 0; i < 3; i++) {
        const node *x = args[i].v.array;
        if (x && x != second && x->weak && r.n > 0 && !scalar_fits(x->attr.number, t) && dtype_is_integer(t))
            return fail(m, KN_OVERFLOW_ERROR, "arange: the integer is out of bounds for %s", dtype_table[t].name);
    }
    if (t == KN_BOOL && r.n > 2)
        return fail(m, KN_TYPE_ERROR, "arange: no more than two values in bool");
    return give(results, dtype_is_inexact(t) ? float_ramp(&r, t, m) : whole_ramp(&r, t, m), m);
}

/* ---- linspace and relatives ---- */

typedef struct spacing { const char *name; int64_t num; bool endpoint; kn_dtype dtype; kn_axis axis; } spacing;

/* 0 ... n-1 of dtype t along a new first axis before `rank` others. */
static node *steps(int64_t n, kn_dtype t, int rank, message *m)
{
    int64_t shape[NDIM_MAX];
    shape[0] = n;
    for (int d = 1; d <= rank; d++)
        shape[d] = 1;
    return do_reshape(do_cast(node_index(n, m), t, m), rank + 1, shape, m);
}

/* value on one place of the first axis, n elsewhere. Consumes both. */
static node *with_element(node *n, int64_t place, node *value, message *m)
{
    if (!n || !value) {
        node_drop(n);
        node_drop(value);
        return NULL;
    }
    node *here = do_binary(UFUNC_equal, steps(n->shape[0], KN_INT64, n->ndim - 1, m), typed_int(KN_INT64, place, m), m);
    return do_where(here, value, n, m);
}

static node *first_axis_to(node *n, kn_axis axis, const char *name, message *m)
{
    if (!n || axis == 0)
        return n;
    layout in, out;
    op_value args[3] = {{.kind = PARAM_ARRAY}, {.kind = PARAM_AXIS, .v.axis = 0}, {.kind = PARAM_AXIS, .v.axis = axis}};
    (void)name;
    layout_of_node(n, &in);
    if (view_moveaxis(&in, args, &out, m)) {
        node_drop(n);
        return NULL;
    }
    return do_view(n, &out, m);
}

/* The values before they are converted to the dtype asked for; *t: the dtype computed in. Borrows start and stop. */
static node *spaced(const spacing *s, node *start, node *stop, kn_dtype t, message *m)
{
    int64_t div = s->endpoint ? s->num - 1 : s->num;
    node *from = node_cast(start, t, m), *to = node_cast(stop, t, m);
    node *delta = do_binary(UFUNC_subtract, kept(to), kept(from), m);
    if (!delta) {
        node_drop(from);
        node_drop(to);
        return NULL;
    }
    int rank = delta->ndim;
    node *i = steps(s->num, t, rank, m), *y;
    if (div > 0) { /* where the step underflows to 0, dividing first still reaches the end */
        node *by = typed_int(t, div, m), *step = do_binary(UFUNC_divide, kept(delta), kept(by), m);
        node *tiny = do_binary(UFUNC_equal, kept(step), typed_int(t, 0, m), m);
        node *divided = do_binary(UFUNC_multiply, do_binary(UFUNC_divide, kept(i), by, m), delta, m);
        y = do_where(tiny, divided, do_binary(UFUNC_multiply, i, step, m), m);
    } else {
        y = do_binary(UFUNC_multiply, i, delta, m);
    }
    y = do_binary(UFUNC_add, y, from, m);
    if (s->endpoint && s->num > 1)
        return with_element(y, s->num - 1, to, m);
    node_drop(to);
    return y;
}

/* What linspace computes in: floats as they are, all else float64. */
static kn_dtype spaced_dtype(node *start, node *stop)
{
    kn_dtype t = nodes_dtype(2, (node *[]){start, stop});
    return dtype_is_inexact(t) ? t : start->weak && stop->weak ? KN_FLOAT64 : dtype_promote(t, KN_FLOAT64);
}

static kn_status check_spacing(const spacing *s, message *m)
{
    return s->num < 0 ? fail(m, KN_VALUE_ERROR, "%s: the number of samples, %lld, must not be negative", s->name, (long long)s->num) : KN_OK;
}

kn_status op_linspace(const op_value *args, node **results, message *m)
{
    spacing s = {"linspace", args[2].v.integer, args[3].v.flag, args[5].v.dtype, args[6].v.axis};
    kn_status status = check_spacing(&s, m);
    if (status)
        return status;
    kn_dtype in = spaced_dtype(args[0].v.array, args[1].v.array), out = s.dtype ? s.dtype : in;
    node *y = first_axis_to(spaced(&s, args[0].v.array, args[1].v.array, in, m), s.axis, s.name, m);
    if (dtype_is_integer(out) && !dtype_is_complex(in))
        y = do_unary(UFUNC_floor, y, m);
    return give(results, do_cast(y, out, m), m);
}

kn_status op_logspace(const op_value *args, node **results, message *m)
{
    spacing s = {"logspace", args[2].v.integer, args[3].v.flag, args[5].v.dtype, args[6].v.axis};
    kn_status status = check_spacing(&s, m);
    if (status)
        return status;
    node *y = spaced(&s, args[0].v.array, args[1].v.array, spaced_dtype(args[0].v.array, args[1].v.array), m);
    node *base = args[4].v.array ? kept(args[4].v.array) : weak_float(10, m);
    y = first_axis_to(do_binary(UFUNC_power, base, y, m), s.axis, s.name, m);
    return give(results, s.dtype ? do_cast(y, s.dtype, m) : y, m);
}

kn_status op_geomspace(const op_value *args, node **results, message *m)
{
    spacing s = {"geomspace", args[2].v.integer, args[3].v.flag, args[4].v.dtype, args[5].v.axis};
    kn_status status = check_spacing(&s, m);
    if (status)
        return status;
    node *ends[2] = {args[0].v.array, args[1].v.array};
    for (int i = 0; i < 2; i++)
        if (ends[i]->kind == NODE_SCALAR && real_value(&ends[i]->attr.number) == 0 && !dtype_is_complex(ends[i]->dtype))
            return fail(m, KN_VALUE_ERROR, "geomspace: a geometric sequence cannot include zero");
    kn_dtype t = spaced_dtype(ends[0], ends[1]), out = s.dtype ? s.dtype : t;
    node *start = node_cast(ends[0], t, m), *stop = node_cast(ends[1], t, m);
    if (!broadcast_pair(&start, &stop, s.name, m))
        return give(results, NULL, m);
    node *sign = do_unary(UFUNC_sign, kept(start), m);
    start = do_binary(UFUNC_divide, start, kept(sign), m);
    stop = do_binary(UFUNC_divide, stop, kept(sign), m);
    node *low = do_unary(UFUNC_log10, kept(start), m), *high = do_unary(UFUNC_log10, kept(stop), m);
    node *y = low && high ? do_binary(UFUNC_power, weak_float(10, m), spaced(&s, low, high, t, m), m) : NULL;
    node_drop(low);
    node_drop(high);
    if (s.num > 1 && s.endpoint)
        y = with_element(y, s.num - 1, stop, m);
    else
        node_drop(stop);
    if (s.num > 0)
        y = with_element(y, 0, start, m);
    else
        node_drop(start);
    y = do_binary(UFUNC_multiply, y, sign, m);
    return give(results, do_cast(first_axis_to(y, s.axis, s.name, m), out, m), m);
}

/* ---- matrices ---- */

/* rows[:, None] + k  compared with  columns */
static node *compared(ufunc_number f, int64_t rows, int64_t cols, int64_t k, message *m)
{
    node *i = do_reshape(node_index(rows, m), 2, (const int64_t[]){rows, 1}, m), *j = node_index(cols, m);
    if (k)
        i = do_binary(UFUNC_add, i, typed_int(KN_INT64, k, m), m);
    return do_binary(f, i, j, m);
}

static kn_status square_like(const char *op, ufunc_number f, int64_t rows, int64_t cols, int64_t k, kn_dtype t, node **results, message *m)
{
    if (cols == INT_NONE)
        cols = rows;
    if (rows < 0 || cols < 0)
        return fail(m, KN_VALUE_ERROR, "%s: negative extents are not allowed", op);
    return give(results, do_cast(compared(f, rows, cols, k, m), t ? t : KN_FLOAT64, m), m);
}

kn_status op_eye(const op_value *args, node **results, message *m) { return square_like("eye", UFUNC_equal, args[0].v.integer, args[1].v.integer, args[2].v.integer, args[3].v.dtype, results, m); }
kn_status op_identity(const op_value *args, node **results, message *m) { return square_like("identity", UFUNC_equal, args[0].v.integer, INT_NONE, 0, args[1].v.dtype, results, m); }
kn_status op_tri(const op_value *args, node **results, message *m) { return square_like("tri", UFUNC_greater_equal, args[0].v.integer, args[1].v.integer, args[2].v.integer, args[3].v.dtype, results, m); }

static kn_status triangle(const op_value *args, bool lower, node **results, message *m)
{
    node *a = args[0].v.array;
    int64_t k = args[1].v.integer, rows = a->ndim > 1 ? a->shape[a->ndim - 2] : a->ndim ? a->shape[0] : 0, cols = a->ndim ? a->shape[a->ndim - 1] : 0;
    if (a->ndim == 0)
        return fail(m, KN_VALUE_ERROR, "%s: needs at least 1 dimension", lower ? "tril" : "triu");
    node *mask = compared(UFUNC_greater_equal, rows, cols, lower ? k : k - 1, m), *zero = typed_int(a->dtype, 0, m);
    return give(results, lower ? do_where(mask, kept(a), zero, m) : do_where(mask, zero, kept(a), m), m);
}

kn_status op_tril(const op_value *args, node **results, message *m) { return triangle(args, true, results, m); }
kn_status op_triu(const op_value *args, node **results, message *m) { return triangle(args, false, results, m); }

/* A square matrix with the one-dimensional v on diagonal k. Consumes v. */
static node *diagonal_matrix(node *v, int64_t k, message *m)
{
    if (!v)
        return NULL;
    int64_t n = v->shape[0] + (k < 0 ? -k : k), shape[2] = {n, n}, strides[1] = {n + 1};
    node *zeros = filled(typed_int(v->dtype, 0, m), 2, shape, m);
    window w = {.offset = k < 0 ? -k * n : k, .strides = strides, .shape = v->shape, .ndim = 1};
    node *r = zeros ? node_write(zeros, &w, v, m) : NULL;
    node_drop(zeros);
    node_drop(v);
    return r;
}

kn_status op_diag(const op_value *args, node **results, message *m)
{
    node *v = args[0].v.array;
    if (v->ndim == 1)
        return give(results, diagonal_matrix(kept(v), args[1].v.integer, m), m);
    if (v->ndim != 2)
        return fail(m, KN_VALUE_ERROR, "diag: takes one or two dimensions, got %d", v->ndim);
    layout in, out;
    layout_of_node(v, &in);
    kn_status status = diagonal_layout(&in, args[1].v.integer, 0, 1, &out, "diag", m);
    return status ? status : give(results, node_of_layout(v, &out, m), m);
}

kn_status op_diagflat(const op_value *args, node **results, message *m)
{
    node *v = args[0].v.array;
    return give(results, diagonal_matrix(node_reshape(v, 1, &v->size, m), args[1].v.integer, m), m);
}

kn_status op_vander(const op_value *args, node **results, message *m)
{
    node *x = args[0].v.array;
    int64_t n = args[1].v.integer;
    if (x->ndim != 1)
        return fail(m, KN_VALUE_ERROR, "vander: x must have one dimension, got %d", x->ndim);
    if (n == INT_NONE)
        n = x->shape[0];
    if (n < 0)
        return fail(m, KN_VALUE_ERROR, "vander: negative extents are not allowed");
    node *powers = node_index(n, m);
    if (!args[2].v.flag)
        powers = do_binary(UFUNC_subtract, typed_int(KN_INT64, n - 1, m), powers, m);
    kn_dtype t = dtype_promote(x->dtype, KN_INT64);
    return give(results, do_binary(UFUNC_power, do_expand(node_cast(x, t, m), 1, m), do_cast(powers, t, m), m), m);
}

kn_status op_indices(const op_value *args, node **results, message *m)
{
    int ndim = args[0].v.shape.ndim;
    const int64_t *shape = args[0].v.shape.dim;
    node *parts[NDIM_MAX], *all = NULL;
    int64_t one[NDIM_MAX], whole[NDIM_MAX];
    int made = 0;
    kn_status status = check_shape(ndim, shape, "indices", m);
    if (status)
        return status;
    if (ndim + 1 > NDIM_MAX)
        return fail(m, KN_VALUE_ERROR, "indices: an array has at most %d dimensions", NDIM_MAX);
    whole[0] = 1;
    for (int d = 0; d < ndim; d++)
        whole[d + 1] = shape[d];
    for (; made < ndim; made++) {
        for (int d = 0; d <= ndim; d++)
            one[d] = d == made + 1 ? shape[made] : 1;
        parts[made] = do_broadcast(do_reshape(do_cast(node_index(shape[made], m), args[1].v.dtype, m), ndim + 1, one, m), ndim + 1, whole, m);
        if (!parts[made])
            break;
    }
    whole[0] = 0;
    if (ndim == 0)
        all = node_empty(args[1].v.dtype, 1, whole, m);
    else if (made == ndim)
        all = join_nodes(ndim, parts, 0, args[1].v.dtype, "indices", m);
    while (made-- > 0)
        node_drop(parts[made]);
    return give(results, all, m);
}

/* ---- windows of signal processing ---- */

/* a + b * cos(c * pi * n / (M - 1)) for n = 1-M, 3-M, ... M-1 */
static node *cosine(int64_t points, double b, double c, message *m)
{
    node *n = do_binary(UFUNC_add, do_binary(UFUNC_multiply, do_cast(node_index(points, m), KN_FLOAT64, m), weak_float(2, m), m), weak_float((double)(1 - points), m), m);
    n = do_binary(UFUNC_divide, do_binary(UFUNC_multiply, weak_float(c * M_PI, m), n, m), weak_float((double)(points - 1), m), m);
    return do_binary(UFUNC_multiply, weak_float(b, m), do_unary(UFUNC_cos, n, m), m);
}

static node *trivial_window(int64_t points, message *m)
{
    int64_t n = points < 1 ? 0 : points;
    return filled(typed_int(KN_FLOAT64, 1, m), 1, &n, m);
}

static kn_status cosine_window(const op_value *args, double a, double b, double c, node **results, message *m)
{
    int64_t points = args[0].v.integer;
    if (points <= 1)
        return give(results, trivial_window(points, m), m);
    node *w = do_binary(UFUNC_add, weak_float(a, m), cosine(points, b, 1, m), m);
    return give(results, c != 0 ? do_binary(UFUNC_add, w, cosine(points, c, 2, m), m) : w, m);
}

kn_status op_hanning(const op_value *args, node **results, message *m) { return cosine_window(args, .5, .5, 0, results, m); }
kn_status op_hamming(const op_value *args, node **results, message *m) { return cosine_window(args, .54, .46, 0, results, m); }
kn_status op_blackman(const op_value *args, node **results, message *m) { return cosine_window(args, .42, .5, .08, results, m); }

kn_status op_bartlett(const op_value *args, node **results, message *m)
{
    int64_t points = args[0].v.integer;
    if (points <= 1)
        return give(results, trivial_window(points, m), m);
    node *n = do_binary(UFUNC_add, do_binary(UFUNC_multiply, do_cast(node_index(points, m), KN_FLOAT64, m), weak_float(2, m), m), weak_float((double)(1 - points), m), m);
    n = do_binary(UFUNC_divide, n, weak_float((double)(points - 1), m), m);
    return give(results, do_binary(UFUNC_subtract, weak_float(1, m), do_unary(UFUNC_fabs, n, m), m), m);
}

kn_status op_kaiser(const op_value *args, node **results, message *m)
{
    int64_t points = args[0].v.integer;
    double alpha = (double)(points - 1) / 2, beta = args[1].v.number;
    if (points <= 1)
        return give(results, trivial_window(points, m), m);
    node *x = do_binary(UFUNC_divide, do_binary(UFUNC_subtract, do_cast(node_index(points, m), KN_FLOAT64, m), weak_float(alpha, m), m), weak_float(alpha, m), m);
    x = do_unary(UFUNC_sqrt, do_binary(UFUNC_subtract, weak_float(1, m), do_unary(UFUNC_square, x, m), m), m);
    x = do_unary(UFUNC_i0, do_binary(UFUNC_multiply, weak_float(beta, m), x, m), m);
    return give(results, do_binary(UFUNC_divide, x, do_unary(UFUNC_i0, typed_float(KN_FLOAT64, beta, m), m), m), m);
}
