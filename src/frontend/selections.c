/* selections.c: operations whose result's shape depends on values: compress, extract, nonzero, unique.
 *
 * How it works: what decides the shape is evaluated at the call; the rest is composed of other operations and stays
 * pending. Operations that need a library or a generator which is not there yet say so here. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "frontend/selections.h"
#include "runtime/runtime.h"

/* ---- composing ---- */

/* A single-result operation of up to two arrays (its first parameters) and an axis; INT64_MIN + 1: none. Consumes nothing. */
#define NO_AXIS (INT64_MIN + 1)
static node *apply(int op, node *a, node *b, kn_axis axis, message *m) {
    op_value v[MOST_OPERANDS];
    node *result = NULL;
    op_defaults(op, v);
    node *in[2] = { a, b };
    for (int i = 0; i < 2 && in[i]; i++) {
        v[i].v.array = in[i];
        v[i].given = true;
    }
    int at = axis == NO_AXIS ? -1 : op_param_named(op, "axis");
    if (at >= 0) {
        v[at].v.axis = axis;
        v[at].given = true;
    }
    return op_nodes(op, v, &result, m) ? NULL : result;
}

static node *flattened(node *a, message *m) { return do_flat(node_keep(a), m); }

static void drop_all(node **nodes, int n) { for (int i = 0; i < n; i++) node_drop(nodes[i]); }

static int64_t integer_at(const node *n, int64_t i) { return ((const int64_t *)(const void *)((const char *)n->value->data + n->offset))[i]; }

/* ---- where something is true ---- */

static kn_status op_compress(const op_value *args, node **results, message *m) {
    node *condition = args[0].v.array, *a = args[1].v.array, *at = NULL;
    kn_axis axis = args[2].v.axis;
    int n;
    if (condition->ndim != 1) return fail(m, KN_VALUE_ERROR, "compress: condition must be a 1-d array");
    if (mask_positions(condition, &at, &n, m)) return m->status;
    int64_t last = at->size ? integer_at(at, at->size - 1) : -1, extent = axis == KN_ALL ? a->size : 0;
    int d = axis == KN_ALL ? 0 : (int)(axis < 0 ? axis + a->ndim : axis);
    if (axis != KN_ALL && d >= 0 && d < a->ndim) extent = a->shape[d];
    node *r = NULL;
    if (last >= extent) fail(m, KN_INDEX_ERROR, "compress: index %lld is out of bounds for axis %d with size %lld", (long long)last, d, (long long)extent);
    else r = apply(OPERATION_take, a, at, axis, m);
    node_drop(at);
    return give(results, r, m);
}

static kn_status op_extract(const op_value *args, node **results, message *m) {
    node *condition = flattened(args[0].v.array, m), *a = condition ? flattened(args[1].v.array, m) : NULL, *at = NULL, *r = NULL;
    int n;
    if (a && !mask_positions(condition, &at, &n, m)) r = apply(OPERATION_take, a, at, KN_ALL, m);
    node_drop(at);
    node_drop(a);
    node_drop(condition);
    return give(results, r, m);
}

/* (n, ndim): one row a position. */
static kn_status op_argwhere(const op_value *args, node **results, message *m) {
    node *a = args[0].v.array, *at[NDIM_MAX], *r = NULL;
    int n;
    if (mask_positions(a, at, &n, m)) return m->status;
    int64_t shape[2] = { at[0]->size, a->ndim };
    buffer *b = pool_buffer(shape[0] * shape[1] * (int64_t)sizeof(int64_t), m);
    if (b) {
        int64_t *to = b->data;
        for (int64_t i = 0; i < shape[0]; i++) for (int d = 0; d < a->ndim; d++) *to++ = integer_at(at[d], i);
        r = node_buffer(KN_INT64, 2, shape, b, 0, m);
    }
    buffer_drop(b);
    drop_all(at, n);
    return give(results, r, m);
}

static kn_status op_nonzero(const op_value *args, node **results, message *m) {
    if (args[0].v.array->ndim == 0) return fail(m, KN_VALUE_ERROR, "nonzero: calling nonzero on 0d arrays is not allowed; use atleast_1d first");
    return op_argwhere(args, results, m);
}

static kn_status op_flatnonzero(const op_value *args, node **results, message *m) {
    node *a = flattened(args[0].v.array, m), *at = NULL;
    int n;
    if (a) mask_positions(a, &at, &n, m);
    node_drop(a);
    return give(results, at, m);
}

/* ---- unique ---- */

static node *part(node *a, int64_t from, int64_t n, message *m) {
    int64_t stride = 1;
    return node_view(a, (kn_dtype)a->dtype, &(window){ .offset = from, .strides = &stride, .shape = &n, .ndim = 1 }, m);
}

static node *ufunc2(int f, node *a, node *b, message *m) {
    node *in[2] = { a, b }, *r = NULL;
    return a && b && !ufunc_apply(f, 2, in, KN_DTYPE_UNSET, &r, m) ? r : NULL;
}

static node *isnan_of(node *a, message *m) {
    node *r = NULL;
    return a && !ufunc_apply(UFUNC_isnan, 1, &a, KN_DTYPE_UNSET, &r, m) ? r : NULL;
}

/* Where a sorted array's element differs from the one before it; NaNs are equal to each other with equal_nan. */
static node *changes(node *sorted, bool equal_nan, message *m) {
    node *now = part(sorted, 1, sorted->size - 1, m), *before = now ? part(sorted, 0, sorted->size - 1, m) : NULL;
    node *differs = ufunc2(UFUNC_not_equal, now, before, m);
    if (differs && equal_nan && dtype_is_inexact((kn_dtype)sorted->dtype)) {
        node *nan = isnan_of(before, m), *number = NULL, *both = NULL;      /* NaNs stand last, so one before means one now */
        if (nan && !ufunc_apply(UFUNC_logical_not, 1, &nan, KN_DTYPE_UNSET, &number, m)) both = ufunc2(UFUNC_logical_and, differs, number, m);
        node_drop(nan);
        node_drop(number);
        node_drop(differs);
        differs = both;
    }
    node_drop(now);
    node_drop(before);
    return differs;
}

/* Positions in sorted order where a new value starts, from 0 on. */
static node *starts_of(node *sorted, bool equal_nan, message *m) {
    bool yes = true;
    int64_t one = 1;
    node *at = NULL, *first = NULL, *differs = NULL, *all = NULL;
    int n;
    if (!sorted->size) return node_empty(KN_INT64, 1, &sorted->size, m);
    buffer *b = pool_buffer(1, m);
    if (b) element_store(KN_BOOL, b->data, (scalar){ SCALAR_BOOL, { .b = yes } });
    first = b ? node_buffer(KN_BOOL, 1, &one, b, 0, m) : NULL;
    buffer_drop(b);
    differs = first ? changes(sorted, equal_nan, m) : NULL;
    if (differs) {
        op_value v[MOST_OPERANDS];
        node *list[2] = { first, differs };
        op_defaults(OPERATION_concatenate, v);
        v[0].v.list.at = list;
        v[0].v.list.n = 2;
        v[0].given = true;
        if (!op_nodes(OPERATION_concatenate, v, &all, m)) mask_positions(all, &at, &n, m);
    }
    node_drop(all);
    node_drop(differs);
    node_drop(first);
    return at;
}

/* For every element of the flattened array, which of the distinct values it is; and how often each occurs. */
static kn_status count_values(node *order, node *starts, int ndim, const int64_t *shape, node **inverse, node **counts, message *m) {
    int64_t n = order->size, k = starts->size;
    host_window h;
    if (node_host(order, &h, m)) return m->status;
    const int64_t *sorted = (const int64_t *)(const void *)h.data;
    buffer *which = pool_buffer(n * (int64_t)sizeof(int64_t), m), *many = which ? pool_buffer(k * (int64_t)sizeof(int64_t), m) : NULL;
    if (many) {
        int64_t *inv = which->data, *count = many->data;
        for (int64_t v = 0; v < k; v++) {
            int64_t from = integer_at(starts, v), to = v + 1 < k ? integer_at(starts, v + 1) : n;
            count[v] = to - from;
            for (int64_t i = from; i < to; i++) inv[sorted[i]] = v;
        }
        *inverse = node_buffer(KN_INT64, ndim, shape, which, 0, m);
        *counts = *inverse ? node_buffer(KN_INT64, 1, &k, many, 0, m) : NULL;
    }
    buffer_drop(which);
    buffer_drop(many);
    host_drop(&h);
    return *counts ? KN_OK : m->status;
}

/* ---- unique along an axis: distinct rows ---- */

typedef struct rows { kn_dtype dtype; const char *data; int64_t n, width; } rows;

static int compare_parts(double x, double y) { return x < y ? -1 : x > y ? 1 : (x != x) - (y != y); }

static int compare_elements(kn_dtype t, const char *x, const char *y) {
    scalar a = element_load(t, x), b = element_load(t, y);
    switch (a.kind) {
    case SCALAR_BOOL: return (int)a.v.b - (int)b.v.b;
    case SCALAR_INT: return (a.v.i > b.v.i) - (a.v.i < b.v.i);
    case SCALAR_UINT: return (a.v.u > b.v.u) - (a.v.u < b.v.u);
    case SCALAR_FLOAT: return compare_parts(a.v.f, b.v.f);
    default: {
        int re = compare_parts(a.v.c.re, b.v.c.re);
        return re ? re : compare_parts(a.v.c.im, b.v.c.im);
    }
    }
}

static int compare_rows(const rows *r, int64_t i, int64_t j) {
    int64_t size = (int64_t)dtype_size(r->dtype), step = r->width * size;
    for (int64_t k = 0; k < r->width; k++) {
        int c = compare_elements(r->dtype, r->data + i * step + k * size, r->data + j * step + k * size);
        if (c) return c;
    }
    return 0;
}

/* A stable merge sort of the rows' numbers. room: as many again. */
static void sort_rows(const rows *r, int64_t *at, int64_t *room) {
    for (int64_t i = 0; i < r->n; i++) at[i] = i;
    for (int64_t run = 1; run < r->n; run *= 2) {
        for (int64_t lo = 0; lo < r->n; lo += 2 * run) {
            int64_t mid = lo + run < r->n ? lo + run : r->n, hi = lo + 2 * run < r->n ? lo + 2 * run : r->n, i = lo, j = mid, k = lo;
            while (i < mid || j < hi) room[k++] = j == hi || (i < mid && compare_rows(r, at[i], at[j]) <= 0) ? at[i++] : at[j++];
        }
        memcpy(at, room, (size_t)r->n * sizeof *at);
    }
}

/* From the sorted rows: numbers of the first of each kind, which kind every row is, how often each occurs. */
static kn_status kinds_of(const rows *r, const int64_t *order, node **results, message *m) {
    buffer *b[3] = { NULL };
    int64_t kinds = 0;
    bool good = true;
    for (int i = 0; i < 3; i++) good &= (b[i] = pool_buffer(r->n * (int64_t)sizeof(int64_t), m)) != NULL;
    for (int64_t i = 0; i < r->n && good; i++) {
        int64_t *first = b[0]->data, *inverse = b[1]->data, *counts = b[2]->data;
        if (i == 0 || compare_rows(r, order[i - 1], order[i])) {
            first[kinds] = order[i];
            counts[kinds++] = 0;
        }
        inverse[order[i]] = kinds - 1;
        counts[kinds - 1]++;
    }
    for (int i = 0; i < 3; i++) {
        results[1 + i] = good ? node_buffer(KN_INT64, 1, i == 1 ? &r->n : &kinds, b[i], 0, m) : NULL;
        good &= results[1 + i] != NULL;
        buffer_drop(b[i]);
    }
    return good ? KN_OK : m->status;
}

static kn_status unique_along(node *a, int64_t axis, node **results, message *m) {
    int d = (int)(axis < 0 ? axis + a->ndim : axis), axes[NDIM_MAX];
    if (d < 0 || d >= a->ndim) return fail(m, KN_INDEX_ERROR, "unique: axis %lld is out of bounds for array of dimension %d", (long long)axis, a->ndim);
    for (int i = 0; i < a->ndim; i++) axes[i] = i == 0 ? d : i <= d ? i - 1 : i;
    node *front = node_transpose(a, axes, m);
    host_window h;
    kn_status status = front ? node_host(front, &h, m) : m->status;
    if (!status) {
        rows r = { .dtype = h.dtype, .data = h.data, .n = a->shape[d], .width = a->shape[d] ? a->size / a->shape[d] : 0 };
        int64_t *order = mem_array(2 * (size_t)r.n + 1, sizeof *order);
        if (order) sort_rows(&r, order, order + r.n);
        status = order ? kinds_of(&r, order, results, m) : fail_memory(m, "unique");
        mem_free(order);
        host_drop(&h);
    }
    node_drop(front);
    if (!status && !(results[0] = apply(OPERATION_take, a, results[1], axis, m))) status = m->status;
    return status;
}

static kn_status op_unique(const op_value *args, node **results, message *m) {
    node *a = args[0].v.array;
    int axis = op_param_named(OPERATION_unique, "axis"), equal_nan = op_param_named(OPERATION_unique, "equal_nan");
    memset(results, 0, 4 * sizeof *results);
    if (args[axis].v.axis != KN_ALL && a->ndim != 1) {
        kn_status failed = unique_along(a, args[axis].v.axis, results, m);
        if (failed) drop_all(results, 4);
        if (failed) memset(results, 0, 4 * sizeof *results);
        return failed;
    }
    node *flat = flattened(a, m), *order = flat ? apply(OPERATION_argsort, flat, NULL, -1, m) : NULL;
    node *sorted = order ? apply(OPERATION_take, flat, order, KN_ALL, m) : NULL, *starts = sorted ? starts_of(sorted, args[equal_nan].v.flag, m) : NULL;
    if (starts) results[0] = apply(OPERATION_take, sorted, starts, KN_ALL, m);
    if (results[0]) results[1] = apply(OPERATION_take, order, starts, KN_ALL, m);
    kn_status status = results[1] ? count_values(order, starts, a->ndim, a->shape, &results[2], &results[3], m) : m->status;
    node_drop(starts);
    node_drop(sorted);
    node_drop(order);
    node_drop(flat);
    if (!status) return KN_OK;
    drop_all(results, 4);
    memset(results, 0, 4 * sizeof *results);
    return status;
}

kn_status op_with_values(int op, const op_value *args, node **results, message *m) {
    frontend_prepare();
    switch (op) {
    case OPERATION_compress: return op_compress(args, results, m);
    case OPERATION_extract: return op_extract(args, results, m);
    case OPERATION_nonzero: return op_nonzero(args, results, m);
    case OPERATION_argwhere: return op_argwhere(args, results, m);
    case OPERATION_flatnonzero: return op_flatnonzero(args, results, m);
    case OPERATION_unique: return op_unique(args, results, m);
    case OPERATION_unique_all: return op_unique_all(args, results, m);
    case OPERATION_unique_counts: return op_unique_counts(args, results, m);
    case OPERATION_unique_inverse: return op_unique_inverse(args, results, m);
    case OPERATION_unique_values: return op_unique_values(args, results, m);
    case OPERATION_union1d: return op_union1d(args, results, m);
    case OPERATION_intersect1d: return op_intersect1d(args, results, m);
    case OPERATION_setdiff1d: return op_setdiff1d(args, results, m);
    case OPERATION_setxor1d: return op_setxor1d(args, results, m);
    case OPERATION_bincount: return op_bincount(args, results, m);
    case OPERATION_histogram: return op_histogram(args, results, m);
    case OPERATION_histogram_bin_edges: return op_histogram_bin_edges(args, results, m);
    case OPERATION_histogram2d: return op_histogram2d(args, results, m);
    case OPERATION_repeat: return op_repeat(args, results, m);
    case OPERATION_roll: return op_roll(args, results, m);
    case OPERATION_delete: return op_delete(args, results, m);
    case OPERATION_insert: return op_insert(args, results, m);
    case OPERATION_trim_zeros: return op_trim_zeros(args, results, m);
    case OPERATION_tril_indices: return op_tril_indices(args, results, m);
    case OPERATION_triu_indices: return op_triu_indices(args, results, m);
    case OPERATION_tril_indices_from: return op_tril_indices_from(args, results, m);
    case OPERATION_triu_indices_from: return op_triu_indices_from(args, results, m);
    default: return fail(m, KN_NOT_AVAILABLE, "%s: not available in this version of the library", ops[op].name);
    }
}
