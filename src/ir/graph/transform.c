/* transform.c: Fourier transforms, sorting and what is made of them. The transforms and sorts themselves are opaque nodes.
 *
 * How it works: a transform takes complex64 for float16, bfloat16, float32 and complex64, else complex128; several axes are
 * one transform each. Attributes: axis, n, norm of a transform; axis, stable of a sort. */
#include "ir/graph/internal.h"

#include <string.h>

const family_op family_ops[] = {
#define FAMILY_OP(name, nout) {#name, nout},
    FAMILY_OPS
#undef FAMILY_OP
};
const int nfamily_ops = NFAMILY_OPS;

int family_op_named(const char *name)
{
    for (int i = 0; i < NFAMILY_OPS; i++)
        if (strcmp(family_ops[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- one axis ---- */

static bool is_single(kn_dtype t) { return t == KN_FLOAT16 || t == KN_BFLOAT16 || t == KN_FLOAT32 || t == KN_COMPLEX64; }

static kn_fft_norm other_way(kn_fft_norm n) { return n == KN_NORM_BACKWARD ? KN_NORM_FORWARD : n == KN_NORM_FORWARD ? KN_NORM_BACKWARD : n; }

/* Consumes a. */
static node *transform(family_number f, node *a, int64_t n, kn_axis axis_given, kn_fft_norm norm, message *m)
{
    const char *op = family_ops[f].name;
    int axis;
    int64_t shape[NDIM_MAX];
    node *r = NULL;
    if (!a || axis_one(axis_given, a->ndim, op, &axis, m))
        goto done;
    bool real_in = f == FAMILY_rfft, real_out = f == FAMILY_irfft, single = is_single(a->dtype);
    if (n == INT_NONE)
        n = real_out ? 2 * (a->shape[axis] - 1) : a->shape[axis];
    if (n < 1) {
        fail(m, KN_VALUE_ERROR, "%s: cannot transform %lld points", op, (long long)n);
        goto done;
    }
    if (real_in && dtype_is_complex(a->dtype)) {
        fail(m, KN_TYPE_ERROR, "%s: takes real numbers, not %s", op, dtype_table[a->dtype].name);
        goto done;
    }
    a = do_cast(a, real_in ? single ? KN_FLOAT32 : KN_FLOAT64 : single ? KN_COMPLEX64 : KN_COMPLEX128, m);
    if (!a)
        return NULL;
    memcpy(shape, a->shape, (size_t)a->ndim * sizeof *shape);
    shape[axis] = real_in ? n / 2 + 1 : n;
    kn_dtype t = real_out ? single ? KN_FLOAT32 : KN_FLOAT64 : single ? KN_COMPLEX64 : KN_COMPLEX128;
    r = node_opaque(f, 0, 1, &a, t, a->ndim, shape, (const int64_t[]){axis, n, norm}, 3, m);
done:
    node_drop(a);
    return r;
}

static kn_status one(family_number f, const op_value *args, node **results, message *m)
{
    return give(results, transform(f, kept(args[0].v.array), args[1].v.integer, args[2].v.axis, args[3].v.norm, m), m);
}

kn_status op_fft(const op_value *args, node **results, message *m) { return one(FAMILY_fft, args, results, m); }
kn_status op_ifft(const op_value *args, node **results, message *m) { return one(FAMILY_ifft, args, results, m); }
kn_status op_rfft(const op_value *args, node **results, message *m) { return one(FAMILY_rfft, args, results, m); }
kn_status op_irfft(const op_value *args, node **results, message *m) { return one(FAMILY_irfft, args, results, m); }

kn_status op_hfft(const op_value *args, node **results, message *m)
{
    node *a = do_unary(UFUNC_conjugate, kept(args[0].v.array), m);
    return give(results, transform(FAMILY_irfft, a, args[1].v.integer, args[2].v.axis, other_way(args[3].v.norm), m), m);
}

kn_status op_ihfft(const op_value *args, node **results, message *m)
{
    node *r = transform(FAMILY_rfft, kept(args[0].v.array), args[1].v.integer, args[2].v.axis, other_way(args[3].v.norm), m);
    return give(results, do_unary(UFUNC_conjugate, r, m), m);
}

/* ---- several axes ---- */

typedef struct axes_request { int n, axes[NDIM_MAX]; int64_t length[NDIM_MAX]; } axes_request;

static kn_status request_of(const op_value *args, const char *op, bool real_out, axes_request *q, message *m)
{
    const node *a = args[0].v.array;
    int given = args[1].v.shape.ndim;
    kn_axis axes = args[2].v.axis;
    if (axes == INT64_MIN && given != SHAPE_NONE) { /* the last axes, as many as lengths */
        if (given > a->ndim)
            return fail(m, KN_VALUE_ERROR, "%s: %d lengths for an array of %d dimensions", op, given, a->ndim);
        for (q->n = 0; q->n < given; q->n++)
            q->axes[q->n] = a->ndim - given + q->n;
    } else {
        q->n = axis_unpack(axes, q->axes, NDIM_MAX);
        if (q->n > NDIM_MAX)
            return fail(m, KN_VALUE_ERROR, "%s: too many axes", op);
        if (q->n < 0)
            for (q->n = 0; q->n < a->ndim; q->n++)
                q->axes[q->n] = q->n;
    }
    if (given != SHAPE_NONE && given != q->n)
        return fail(m, KN_VALUE_ERROR, "%s: %d lengths for %d axes", op, given, q->n);
    for (int i = 0; i < q->n; i++) { /* an axis may come several times */
        kn_status status = axis_one(q->axes[i], a->ndim, op, &q->axes[i], m);
        if (status)
            return status;
        q->length[i] = given != SHAPE_NONE ? args[1].v.shape.dim[i] : -1;
        if (q->length[i] == -1)
            q->length[i] = real_out && i == q->n - 1 ? 2 * (a->shape[q->axes[i]] - 1) : a->shape[q->axes[i]];
    }
    return KN_OK;
}

static kn_status several(const char *op, family_number along_last, family_number along_others, const op_value *args, node **results, message *m)
{
    axes_request q;
    bool last_first = along_last != FAMILY_irfft;
    kn_status status = request_of(args, op, !last_first, &q, m);
    if (status)
        return status;
    if (q.n == 0) /* nothing to transform; of real numbers there would be a last axis */
        return along_last != along_others ? fail(m, KN_INDEX_ERROR, "%s: needs at least one axis", op) : give(results, kept(args[0].v.array), m);
    node *r = kept(args[0].v.array);
    int last = q.n - 1;
    if (last_first)
        r = transform(along_last, r, q.length[last], q.axes[last], args[3].v.norm, m);
    for (int i = last; i-- > 0 && r;) {
        int at = last_first ? i : last - 1 - i;
        r = transform(along_others, r, q.length[at], q.axes[at], args[3].v.norm, m);
    }
    if (!last_first && r)
        r = transform(along_last, r, q.length[last], q.axes[last], args[3].v.norm, m);
    return give(results, r, m);
}

kn_status op_fftn(const op_value *args, node **results, message *m) { return several("fftn", FAMILY_fft, FAMILY_fft, args, results, m); }
kn_status op_ifftn(const op_value *args, node **results, message *m) { return several("ifftn", FAMILY_ifft, FAMILY_ifft, args, results, m); }
kn_status op_rfftn(const op_value *args, node **results, message *m) { return several("rfftn", FAMILY_rfft, FAMILY_fft, args, results, m); }
kn_status op_irfftn(const op_value *args, node **results, message *m) { return several("irfftn", FAMILY_irfft, FAMILY_ifft, args, results, m); }

/* ---- frequencies, shifts ---- */

kn_status op_fftfreq(const op_value *args, node **results, message *m)
{
    int64_t n = args[0].v.integer;
    if (n < 1)
        return fail(m, KN_VALUE_ERROR, "fftfreq: n must be positive, got %lld", (long long)n);
    node *i = node_index(n, m), *upper = do_binary(UFUNC_less, kept(i), typed_int(KN_INT64, (n - 1) / 2 + 1, m), m);
    node *negative = do_binary(UFUNC_subtract, kept(i), typed_int(KN_INT64, n, m), m);
    i = do_where(upper, i, negative, m);
    return give(results, do_binary(UFUNC_multiply, i, weak_float(1.0 / ((double)n * args[1].v.number), m), m), m);
}

kn_status op_rfftfreq(const op_value *args, node **results, message *m)
{
    int64_t n = args[0].v.integer;
    if (n < 1)
        return fail(m, KN_VALUE_ERROR, "rfftfreq: n must be positive, got %lld", (long long)n);
    return give(results, do_binary(UFUNC_multiply, node_index(n / 2 + 1, m), weak_float(1.0 / ((double)n * args[1].v.number), m), m), m);
}

static kn_status shift(const char *op, bool back, const op_value *args, node **results, message *m)
{
    node *r = args[0].v.array;
    int list[NDIM_MAX], n;
    kn_status status = r->ndim ? axes_normalise(args[1].v.axis, r->ndim, NULL, list, &n, op, m) : fail(m, KN_VALUE_ERROR, "%s: needs at least one dimension", op);
    if (status)
        return status;
    kept(r);
    for (int i = 0; i < n && r; i++) {
        int64_t half = r->shape[list[i]] / 2;
        node *next = rolled(r, back ? -half : half, list[i], m);
        node_drop(r);
        r = next;
    }
    return give(results, r, m);
}

kn_status op_fftshift(const op_value *args, node **results, message *m) { return shift("fftshift", false, args, results, m); }
kn_status op_ifftshift(const op_value *args, node **results, message *m) { return shift("ifftshift", true, args, results, m); }

/* ---- sorting ---- */

static node *sorted(family_number f, node *a, kn_axis axis_given, bool stable, message *m)
{
    const char *op = family_ops[f].name;
    int axis = 0;
    bool flat = axis_given == INT64_MIN || (f == FAMILY_argsort && a->ndim == 0 && (axis_given == 0 || axis_given == -1));
    if (!flat && axis_one(axis_given, a->ndim, op, &axis, m))
        return NULL;
    node *x = flat ? node_reshape(a, 1, &a->size, m) : kept(a);
    node *r = x ? node_opaque(f, 0, 1, &x, f == FAMILY_argsort ? KN_INT64 : (kn_dtype)x->dtype, x->ndim, x->shape, (const int64_t[]){axis, stable}, 2, m) : NULL;
    node_drop(x);
    return r;
}

static kn_status sort_kind(const op_value *args, const char *op, bool *stable, message *m)
{
    static const char *const kinds[] = {"quicksort", "heapsort", "mergesort", "stable"};
    const char *kind = args[2].v.text;
    int i = 0;
    while (kind && i < 4 && strcmp(kinds[i], kind) != 0)
        i++;
    if (i == 4)
        return fail(m, KN_VALUE_ERROR, "%s: kind must be quicksort, heapsort, mergesort or stable, not '%s'", op, kind);
    *stable = (kind && i >= 2) || (args[4].v.integer != INT_NONE && args[4].v.integer != 0);
    return KN_OK;
}

kn_status op_sort(const op_value *args, node **results, message *m)
{
    bool stable;
    kn_status status = sort_kind(args, "sort", &stable, m);
    return status ? status : give(results, sorted(FAMILY_sort, args[0].v.array, args[1].v.axis, stable, m), m);
}

kn_status op_argsort(const op_value *args, node **results, message *m)
{
    bool stable;
    kn_status status = sort_kind(args, "argsort", &stable, m);
    return status ? status : give(results, sorted(FAMILY_argsort, args[0].v.array, args[1].v.axis, true, m), m);
}

node *do_sort(node *a, int axis, message *m)
{
    node *r = a ? sorted(FAMILY_sort, a, axis, false, m) : NULL;
    node_drop(a);
    return r;
}

node *do_argsort(node *a, int axis, message *m)
{
    node *r = a ? sorted(FAMILY_argsort, a, axis, true, m) : NULL;
    node_drop(a);
    return r;
}

/* a's elements at positions that go with the other axes. Borrows both, which have one shape. */
static node *along_axis(node *a, node *at, int axis, message *m)
{
    int8_t from[NDIM_MAX];
    for (int d = 0; d < a->ndim; d++)
        from[d] = (int8_t)(d == axis ? -1 : d);
    return at ? node_gather(a, from, 1, &at, a->ndim, a->shape, m) : NULL;
}

/* ---- what follows from sorting ---- */

/* Positions that a partition is asked for must be in range; what is sorted is partitioned everywhere. */
static kn_status partitioned(family_number f, const char *op, const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    bool flat = args[2].v.axis == INT64_MIN;
    int axis = 0;
    kn_status status = flat ? KN_OK : axis_one(args[2].v.axis, a->ndim, op, &axis, m);
    int64_t n = status ? 0 : flat ? a->size : a->shape[axis];
    for (int i = 0; i < args[1].v.shape.ndim && !status; i++) {
        int64_t k = args[1].v.shape.dim[i];
        if (a->size && (k < -n || k >= n))
            status = fail(m, KN_VALUE_ERROR, "%s: kth(=%lld) out of bounds (%lld)", op, (long long)k, (long long)n);
    }
    return status ? status : give(results, sorted(f, a, args[2].v.axis, f == FAMILY_argsort, m), m);
}

kn_status op_partition(const op_value *args, node **results, message *m) { return partitioned(FAMILY_sort, "partition", args, results, m); }
kn_status op_argpartition(const op_value *args, node **results, message *m) { return partitioned(FAMILY_argsort, "argpartition", args, results, m); }

kn_status op_sort_complex(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    bool small = a->dtype == KN_INT8 || a->dtype == KN_UINT8 || a->dtype == KN_INT16 || a->dtype == KN_UINT16 || a->dtype == KN_COMPLEX64;
    return give(results, do_cast(sorted(FAMILY_sort, a, -1, false, m), small ? KN_COMPLEX64 : KN_COMPLEX128, m), m);
}

/* Sorted by the first key, then, stably, by each next one: the last decides before all. */
kn_status op_lexsort(const op_value *args, node **results, message *m)
{
    int n = args[0].v.list.n, axis;
    node *const *keys = args[0].v.list.at, *order = NULL;
    if (n < 1)
        return fail(m, KN_TYPE_ERROR, "lexsort: needs at least one key");
    for (int i = 1; i < n; i++)
        if (keys[i]->ndim != keys[0]->ndim || memcmp(keys[i]->shape, keys[0]->shape, (size_t)keys[0]->ndim * sizeof *keys[0]->shape) != 0)
            return fail(m, KN_VALUE_ERROR, "lexsort: all keys need to be the same shape");
    if (keys[0]->ndim == 0)
        return give(results, typed_int(KN_INT64, 0, m), m);
    kn_status status = axis_one(args[1].v.axis, keys[0]->ndim, "lexsort", &axis, m);
    if (status)
        return status;
    for (int i = 0; i < n; i++) {
        node *key = i ? along_axis(keys[i], order, axis, m) : kept(keys[0]), *next = do_argsort(key, axis, m);
        if (i) {
            node *both = next ? along_axis(order, next, axis, m) : NULL;
            node_drop(next);
            node_drop(order);
            next = both;
        }
        order = next;
        if (!order)
            break;
    }
    return give(results, order, m);
}
