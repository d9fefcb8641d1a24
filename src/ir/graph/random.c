/* random.c: random numbers as nodes: an elementwise function of the element's number, the generator's key and the counter
 * of the draw's first element.
 *
 * How it works: key and counter are numbers of the graph, so that no draw means a new kernel, and the numbers are made
 * inside the kernels that use them. A draw of n elements takes n counters: equal draws follow each other as one long one
 * would. The functions themselves are in src/device/philox.kn. */
#include "ir/graph/internal.h"

#include <math.h>
#include <string.h>

/* ---- draws ---- */

static node *typed_uint(uint64_t v, message *m)
{
    return node_scalar(KN_UINT64, (scalar){SCALAR_UINT, {.u = v}}, false, m);
}

/* One number an element of the function f; range is looked at by random_integer alone. */
static node *draw(ufunc_number f, random_stream *g, int ndim, const int64_t *shape, uint64_t range, message *m)
{
    int64_t n;
    if (!shape_size(ndim, shape, &n)) {
        fail(m, KN_VALUE_ERROR, "%s: the array would be too large", ufuncs[f].name);
        return NULL;
    }
    uint64_t first = __atomic_fetch_add(&g->next, (uint64_t)n, __ATOMIC_RELAXED);
    node *in[4] = {do_reshape(node_index(n, m), ndim, shape, m), typed_uint(g->key, m), typed_uint(first, m), typed_uint(range, m)};
    bool whole = in[0] && in[1] && in[2] && in[3];
    node *r = whole ? node_map(f, 0, ufuncs[f].nin, in, ufuncs[f].loops[0].out[0], m) : NULL;
    for (int i = 0; i < 4; i++)
        node_drop(in[i]);
    return r;
}

static kn_status check_size(const char *name, const op_value *size, message *m)
{
    for (int d = 0; d < size->v.shape.ndim; d++)
        if (size->v.shape.dim[d] < 0)
            return fail(m, KN_VALUE_ERROR, "%s: negative dimensions are not allowed", name);
    return KN_OK;
}

static kn_status check_float(const char *name, kn_dtype t, message *m)
{
    return t == KN_FLOAT64 || t == KN_FLOAT32 ? KN_OK : fail(m, KN_TYPE_ERROR, "%s: unsupported dtype %s; float64 and float32 can be drawn", name, dtype_table[t].name);
}

static kn_status draw_float(const char *name, ufunc_number f, const op_value *g, const op_value *size, kn_dtype t, node **results, message *m)
{
    kn_status status = check_size(name, size, m);
    if (!status)
        status = check_float(name, t, m);
    return status ? status : give(results, do_cast(draw(f, g->v.rng, size->v.shape.ndim, size->v.shape.dim, 0, m), t, m), m);
}

/* r * scale + shift */
static kn_status moved(node **results, double scale, double shift, message *m)
{
    node *r = do_binary(UFUNC_multiply, results[0], weak_float(scale, m), m);
    return give(results, do_binary(UFUNC_add, r, weak_float(shift, m), m), m);
}

/* ---- handlers ---- */

kn_status op_random(const op_value *args, node **results, message *m)
{
    return draw_float("random", args[2].v.dtype == KN_FLOAT32 ? UFUNC_random_float32 : UFUNC_random_float64, &args[0], &args[1], args[2].v.dtype, results, m);
}

kn_status op_uniform(const op_value *args, node **results, message *m)
{
    double low = args[1].v.number, range = args[2].v.number - low;
    kn_dtype t = args[4].v.dtype;
    if (!isfinite(range))
        return fail(m, KN_OVERFLOW_ERROR, "uniform: high - low range exceeds valid bounds");
    kn_status status = draw_float("uniform", t == KN_FLOAT32 ? UFUNC_random_float32 : UFUNC_random_float64, &args[0], &args[3], t, results, m);
    return status ? status : moved(results, range, low, m);
}

kn_status op_standard_normal(const op_value *args, node **results, message *m)
{
    return draw_float("standard_normal", UFUNC_random_normal, &args[0], &args[1], args[2].v.dtype, results, m);
}

kn_status op_normal(const op_value *args, node **results, message *m)
{
    if (signbit(args[2].v.number))
        return fail(m, KN_VALUE_ERROR, "normal: scale < 0");
    kn_status status = draw_float("normal", UFUNC_random_normal, &args[0], &args[3], args[4].v.dtype, results, m);
    return status ? status : moved(results, args[2].v.number, args[1].v.number, m);
}

kn_status op_standard_exponential(const op_value *args, node **results, message *m)
{
    return draw_float("standard_exponential", UFUNC_random_exponential, &args[0], &args[1], args[2].v.dtype, results, m);
}

kn_status op_exponential(const op_value *args, node **results, message *m)
{
    if (signbit(args[1].v.number))
        return fail(m, KN_VALUE_ERROR, "exponential: scale < 0");
    kn_status status = draw_float("exponential", UFUNC_random_exponential, &args[0], &args[2], KN_FLOAT64, results, m);
    return status ? status : give(results, do_binary(UFUNC_multiply, results[0], weak_float(args[1].v.number, m), m), m);
}

/* What an integer dtype holds; the largest uint64 that an argument can name is the largest int64. */
static bool integer_bounds(kn_dtype t, int64_t *low, int64_t *high)
{
    if (t != KN_BOOL && !dtype_is_integer(t))
        return false;
    int bits = 8 * dtype_table[t].size;
    bool is_signed = dtype_kind_of(t) == KIND_INT;
    *low = is_signed ? INT64_MIN >> (64 - bits) : 0;
    *high = t == KN_BOOL ? 1 : is_signed || bits == 64 ? INT64_MAX >> (64 - bits) : (int64_t)(UINT64_MAX >> (64 - bits));
    return true;
}

/* integers(high), integers(low, high): low up to high, which is a value only with endpoint. */
kn_status op_integers(const op_value *args, node **results, message *m)
{
    bool one = args[2].v.integer == INT_NONE, endpoint = args[5].v.flag;
    int64_t low = one ? 0 : args[1].v.integer, high = one ? args[1].v.integer : args[2].v.integer, least, most;
    kn_dtype t = args[4].v.dtype;
    const char *name = dtype_table[t].name;
    if (!integer_bounds(t, &least, &most))
        return fail(m, KN_TYPE_ERROR, "integers: unsupported dtype %s; integer dtypes and bool can be drawn", name);
    if (low < least)
        return fail(m, KN_VALUE_ERROR, "integers: low is out of bounds for %s", name);
    if (high > most && (endpoint || high - 1 > most))
        return fail(m, KN_VALUE_ERROR, "integers: high is out of bounds for %s", name);
    if (low > high || (low == high && !endpoint))
        return fail(m, KN_VALUE_ERROR, "integers: low %s high", endpoint ? ">" : ">=");
    kn_status status = check_size("integers", &args[3], m);
    if (status)
        return status;
    uint64_t range = (uint64_t)high - (uint64_t)low + (endpoint ? 1 : 0);
    node *r = do_cast(draw(UFUNC_random_integer, args[0].v.rng, args[3].v.shape.ndim, args[3].v.shape.dim, range, m), KN_INT64, m);
    return give(results, do_cast(do_binary(UFUNC_add, r, typed_int(KN_INT64, low, m), m), t, m), m);
}

/* A copy of x, shuffled along an axis; of a number n: of 0, 1, ... n-1. Sorted by 64 random bits. */
kn_status op_permutation(const op_value *args, node **results, message *m)
{
    node *x = args[1].v.array;
    int axis = 0;
    bool number = x->kind == NODE_SCALAR && x->attr.number.kind == SCALAR_INT && x->attr.number.v.i >= 0;
    if (x->ndim == 0 && !number)
        return fail(m, KN_TYPE_ERROR, "permutation: x must be an integer that is not negative, or at least 1-dimensional");
    x = number ? node_index(x->attr.number.v.i, m) : node_keep(x);
    if (!x || axis_one(args[2].v.axis, x->ndim, "permutation", &axis, m)) {
        node_drop(x);
        return give(results, NULL, m);
    }
    node *order = do_argsort(draw(UFUNC_random_integer, args[0].v.rng, 1, &x->shape[axis], 0, m), 0, m);
    return give(results, do_gather(x, axis, order, m), m);
}
