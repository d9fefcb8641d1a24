/* edits.c: arrays with elements left out, put in, repeated or moved: delete, insert, trim_zeros, repeat, roll; positions of
 * triangles.
 *
 * How it works: positions are read at the call and become, for every element of the result, the number of the element that it
 * comes from; one gather does the rest. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "frontend/selections.h"
#include "runtime/runtime.h"

/* a and the axis that the edit is along: flattened without one. A new reference, or NULL. */
static node *edited(node *a, kn_axis given, const char *name, int *axis, message *m) {
    *axis = 0;
    if (given == KN_ALL) return a->ndim == 1 ? node_keep(a) : do_flat(node_keep(a), m);
    return axis_one(given, a->ndim, name, axis, m) ? NULL : node_keep(a);
}

/* Positions in 0 ... n - 1 read from integers (negative: from the end), or where a mask of n holds. *out is freed by mem_free. */
static kn_status read_positions(node *obj, int64_t n, int64_t least, int64_t most, const char *name, int64_t **out, int64_t *count, message *m) {
    host_window h;
    *out = NULL;
    bool mask = obj->dtype == KN_BOOL, empty = obj->size == 0;
    if (mask && (obj->ndim != 1 || obj->size != n)) return fail(m, KN_VALUE_ERROR, "%s: a boolean array must be one-dimensional and match the axis length of %lld", name, (long long)n);
    if (!mask && !dtype_is_integer((kn_dtype)obj->dtype) && !empty) return fail(m, KN_INDEX_ERROR, "%s: positions must be integers, not %s", name, dtype_table[obj->dtype].name);
    node *wide = node_cast(obj, KN_INT64, m);
    if (obj->ndim > 1) wide = do_flat(wide, m);
    kn_status status = wide ? node_host(wide, &h, m) : m->status;
    node_drop(wide);
    if (status) return status;
    int64_t size = obj->size, *at = *out = mem_array((size_t)size + 1, sizeof *at), k = 0;
    if (!at) status = fail_memory(m, name);
    for (int64_t i = 0; i < size && !status; i++) {
        int64_t v = 0;
        memcpy(&v, h.data + (h.ndim ? i * h.strides[0] : 0), sizeof v);
        if (mask) {
            if (v) at[k++] = i;
        } else if (v < least || v >= most) {
            status = fail(m, KN_INDEX_ERROR, "%s: index %lld is out of bounds for an axis of %lld elements", name, (long long)v, (long long)n);
        } else {
            at[k++] = v < 0 ? v + n : v;
        }
    }
    host_drop(&h);
    *count = k;
    return status;
}

/* numbers[0 ... n-1] as an int64 array. */
node *numbers_node(const int64_t *numbers, int64_t n, message *m) {
    buffer *b = pool_buffer((n ? n : 1) * (int64_t)sizeof *numbers, m);
    if (!b) return NULL;
    if (n) memcpy(b->data, numbers, (size_t)n * sizeof *numbers);
    node *r = node_buffer(KN_INT64, 1, &n, b, 0, m);
    buffer_drop(b);
    return r;
}

kn_status positions_read(node *obj, int64_t n, const char *name, int64_t **out, int64_t *count, message *m) {
    return read_positions(obj, n, 0, n, name, out, count, m);
}

kn_status op_delete(const op_value *args, node **results, message *m) {
    int axis;
    int64_t *gone = NULL, count = 0, kept_count = 0;
    node *a = edited(args[0].v.array, args[2].v.axis, "delete", &axis, m);
    if (!a) return m->status;
    int64_t n = a->shape[axis];
    kn_status status = read_positions(args[1].v.array, n, -n, n, "delete", &gone, &count, m);
    int64_t *stays = status ? NULL : mem_zero((size_t)n + 1, sizeof *stays);
    if (!status && !stays) status = fail_memory(m, "delete");
    for (int64_t i = 0; i < count && !status; i++) stays[gone[i]] = -1;
    for (int64_t i = 0; i < n && !status; i++) if (stays[i] == 0) stays[kept_count++] = i;      /* never ahead of i */
    if (!status) status = give(results, do_gather(node_keep(a), axis, numbers_node(stays, kept_count, m), m), m);
    mem_free(stays);
    mem_free(gone);
    node_drop(a);
    return status;
}

/* ---- insert ---- */

/* values as an array of a's dimensions whose extent along the axis is the number of what is inserted. */
static node *inserted_values(node *values, const node *a, int axis, bool number, bool one_place, int64_t count, message *m) {
    int64_t shape[NDIM_MAX];
    node *v = node_cast(values, (kn_dtype)a->dtype, m);
    while (v && v->ndim < a->ndim) v = do_expand(v, 0, m);
    if (v && number) {                                       /* the values' first axis runs along the edit */
        int order[NDIM_MAX];
        for (int d = 0; d < v->ndim; d++) order[d] = d < axis ? d + 1 : d == axis ? 0 : d;
        v = do_transpose(v, order, m);
    }
    if (!v) return NULL;
    if (one_place) count = v->shape[axis];
    bool fits = v->ndim == a->ndim;
    for (int d = 0; fits && d < a->ndim; d++) {
        shape[d] = d == axis ? count : a->shape[d];
        fits = v->shape[d] == 1 || v->shape[d] == shape[d];
    }
    if (fits) return do_broadcast(v, a->ndim, shape, m);
    fail(m, KN_VALUE_ERROR, "insert: the values' shape does not broadcast to what is inserted");
    node_drop(v);
    return NULL;
}

/* Where each of the new elements goes, in the result: stable by position. order: scratch for as many. */
static void new_places(const int64_t *at, int64_t count, int64_t *order) {
    for (int64_t i = 0; i < count; i++) {                    /* insertion sort: few elements are inserted, usually in order */
        int64_t j = i;
        for (; j > 0 && at[order[j - 1]] > at[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
}

/* For each element of the result: which of the old ones (0 ... n-1) or of the new ones (n ...) it is. */
static void insertion_sources(int64_t n, const int64_t *at, int64_t count, const int64_t *order, int64_t *source) {
    int64_t next = 0, k = 0;
    for (int64_t i = 0; i <= n; i++) {
        while (next < count && at[order[next]] == i) source[k++] = n + order[next++];
        if (i < n) source[k++] = i;
    }
}

kn_status op_insert(const op_value *args, node **results, message *m) {
    int axis;
    int64_t *at = NULL, *room = NULL, count = 0;
    node *obj = args[1].v.array, *values = NULL, *a = edited(args[0].v.array, args[3].v.axis, "insert", &axis, m);
    if (!a) return m->status;
    int64_t n = a->shape[axis];
    kn_status status = obj->ndim > 1 ? fail(m, KN_VALUE_ERROR, "insert: positions have one dimension, not %d", obj->ndim) : read_positions(obj, n, -n, n + 1, "insert", &at, &count, m);
    bool one_place = obj->ndim == 0 || (count == 1 && obj->dtype != KN_BOOL);
    if (!status && !(values = inserted_values(args[2].v.array, a, axis, obj->ndim == 0, one_place, count, m))) status = m->status;
    int64_t total = values ? values->shape[axis] : 0;
    if (!status && !(room = mem_array((size_t)(3 * total + n) + 1, sizeof *room))) status = fail_memory(m, "insert");
    if (!status) {
        int64_t *places = room, *order = room + total, *source = room + 2 * total;
        for (int64_t i = 0; i < total; i++) places[i] = at[count == 1 ? 0 : i];
        new_places(places, total, order);
        insertion_sources(n, places, total, order, source);
        node *both[2] = { a, values }, *all = join_nodes(2, both, axis, (kn_dtype)a->dtype, "insert", m);
        status = give(results, do_gather(all, axis, numbers_node(source, n + total, m), m), m);
    }
    mem_free(room);
    mem_free(at);
    node_drop(values);
    node_drop(a);
    return status;
}

/* ---- repeat, roll ---- */

/* A number, or numbers in one dimension, as int64; *out is freed by mem_free. */
static kn_status read_integers(node *n, const char *name, const char *what, int64_t **out, int64_t *count, message *m) {
    host_window h;
    *out = NULL;
    if (n->ndim > 1) return fail(m, KN_VALUE_ERROR, "%s: %s must be a number or have one dimension", name, what);
    if (n->dtype != KN_BOOL && !n->weak && (!dtype_is_integer((kn_dtype)n->dtype) || !dtype_can_cast((kn_dtype)n->dtype, KN_INT64, CAST_SAFE)))
        return fail(m, KN_TYPE_ERROR, "%s: %s of %s cannot be cast safely to int64", name, what, dtype_table[n->dtype].name);
    node *wide = node_cast(n, KN_INT64, m);
    kn_status status = wide ? node_host(wide, &h, m) : m->status;
    node_drop(wide);
    if (status) return status;
    *count = n->size;
    if ((*out = mem_array((size_t)n->size + 1, sizeof **out))) host_read(&h, KN_INT64, *out);
    else status = fail_memory(m, name);
    host_drop(&h);
    return status;
}

/* Each element so often as the numbers say. Consumes a. */
static node *repeated(node *a, int axis, const int64_t *times, message *m) {
    int64_t total = 0, k = 0, n = a->shape[axis];
    for (int64_t i = 0; i < n; i++) if (add_overflows(total, times[i], &total)) total = INT64_MAX;
    int64_t *source = total < INT64_MAX / 8 ? mem_array((size_t)total + 1, sizeof *source) : NULL;
    if (!source) fail_memory(m, "repeat");
    for (int64_t i = 0; i < n && source; i++) for (int64_t t = 0; t < times[i]; t++) source[k++] = i;
    node *r = do_gather(a, axis, source ? numbers_node(source, total, m) : NULL, m);
    mem_free(source);
    return r;
}

kn_status op_repeat(const op_value *args, node **results, message *m) {
    int axis;
    int64_t *times = NULL, count = 0;
    node *a = edited(args[0].v.array, args[2].v.axis, "repeat", &axis, m);
    kn_status status = a ? read_integers(args[1].v.array, "repeat", "repeats", &times, &count, m) : m->status;
    for (int64_t i = 0; i < count && !status; i++) if (times[i] < 0) status = fail(m, KN_VALUE_ERROR, "repeat: the number of repeats, %lld, must not be negative", (long long)times[i]);
    if (!status && count != 1 && count != a->shape[axis]) status = fail(m, KN_VALUE_ERROR, "repeat: %lld numbers of repeats for %lld elements", (long long)count, (long long)a->shape[axis]);
    if (status) node_drop(a);
    else status = give(results, count == 1 ? do_repeat(a, axis, times[0], m) : repeated(a, axis, times, m), m);
    mem_free(times);
    return status;
}

/* Consumes a. */
static node *rolled_by(node *a, const int64_t *shift, int64_t nshifts, const int *axes, int naxes, message *m) {
    int64_t n = nshifts > naxes ? nshifts : naxes;
    for (int64_t i = 0; i < n && a; i++) {
        node *next = rolled(a, shift[nshifts == 1 ? 0 : i], axes[naxes == 1 ? 0 : i], m);
        node_drop(a);
        a = next;
    }
    return a;
}

kn_status op_roll(const op_value *args, node **results, message *m) {
    node *a = args[0].v.array;
    bool flat = args[2].v.axis == KN_ALL;
    int axes[NDIM_MAX] = { 0 }, naxes = 1;
    int64_t *shift = NULL, count = 0;
    kn_status status = flat ? KN_OK : axes_normalise(args[2].v.axis, a->ndim, NULL, axes, &naxes, "roll", m);
    if (!status) status = read_integers(args[1].v.array, "roll", "shift", &shift, &count, m);
    if (!status && count != naxes && count != 1 && naxes != 1) status = fail(m, KN_VALUE_ERROR, "roll: %lld shifts for %d axes", (long long)count, naxes);
    if (!status) {
        node *r = rolled_by(flat ? do_flat(node_keep(a), m) : node_keep(a), shift, count, axes, naxes, m);
        status = give(results, flat ? do_reshape(r, a->ndim, a->shape, m) : r, m);
    }
    mem_free(shift);
    return status;
}

/* ---- trim_zeros ---- */

kn_status op_trim_zeros(const op_value *args, node **results, message *m) {
    node *a = args[0].v.array, *at[NDIM_MAX];
    const char *trim = args[1].v.text ? args[1].v.text : "fb";
    int axes[NDIM_MAX], naxes, n;
    bool front = strpbrk(trim, "fF") != NULL, back = strpbrk(trim, "bB") != NULL;
    if (strspn(trim, "fbFB") != strlen(trim)) return fail(m, KN_VALUE_ERROR, "trim_zeros: trim is made of 'f' and 'b', not '%s'", trim);
    kn_status status = axes_normalise(args[2].v.axis, a->ndim, NULL, axes, &naxes, "trim_zeros", m);
    if (status || a->ndim == 0) return status ? status : give(results, node_keep(a), m);
    if ((status = mask_positions(a, at, &n, m))) return status;
    node *r = node_keep(a);
    for (int i = 0; i < naxes && r; i++) {
        const node *p = at[axes[i]];
        const int64_t *where = (const int64_t *)(const void *)((const char *)p->value->data + p->offset);
        int64_t extent = r->shape[axes[i]], low = extent, high = -1;
        for (int64_t k = 0; k < p->size; k++) {
            if (where[k] < low) low = where[k];
            if (where[k] > high) high = where[k];
        }
        if (high < 0) r = do_slice(r, axes[i], 0, 0, m);
        else r = do_slice(r, axes[i], front ? low : 0, (back ? high + 1 : extent) - (front ? low : 0), m);
    }
    for (int i = 0; i < n; i++) node_drop(at[i]);
    return give(results, r, m);
}

/* ---- triangles ---- */

/* (count, 2): rows and columns of the positions in an n by columns matrix for which column - row <= k, or the others. */
static kn_status triangle(int64_t rows, int64_t columns, int64_t k, bool upper, const char *name, node **results, message *m) {
    if (rows < 0 || columns < 0) return fail(m, KN_VALUE_ERROR, "%s: negative dimensions are not allowed", name);
    node *row = node_index(rows, m), *column = node_index(columns, m);
    node *side = do_binary(UFUNC_subtract, column ? do_expand(column, 0, m) : NULL, row ? do_expand(row, 1, m) : NULL, m);
    node *inside = do_binary(upper ? UFUNC_greater_equal : UFUNC_less_equal, side, typed_int(KN_INT64, k, m), m);
    op_value v[MOST_OPERANDS];
    if (!inside) return m->status;
    op_defaults(OPERATION_argwhere, v);
    v[0].v.array = inside;
    kn_status status = op_with_values(OPERATION_argwhere, v, results, m);
    node_drop(inside);
    return status;
}

static kn_status triangle_of(const op_value *args, bool upper, const char *name, node **results, message *m) {
    int64_t n = args[0].v.integer, columns = args[2].v.integer;
    return triangle(n, columns == INT_NONE ? n : columns, args[1].v.integer, upper, name, results, m);
}

static kn_status triangle_from(const op_value *args, bool upper, const char *name, node **results, message *m) {
    const node *a = args[0].v.array;
    if (a->ndim != 2) return fail(m, KN_VALUE_ERROR, "%s: the array must be 2-d", name);
    return triangle(a->shape[0], a->shape[1], args[1].v.integer, upper, name, results, m);
}

kn_status op_tril_indices(const op_value *args, node **results, message *m) { return triangle_of(args, false, "tril_indices", results, m); }
kn_status op_triu_indices(const op_value *args, node **results, message *m) { return triangle_of(args, true, "triu_indices", results, m); }
kn_status op_tril_indices_from(const op_value *args, node **results, message *m) { return triangle_from(args, false, "tril_indices_from", results, m); }
kn_status op_triu_indices_from(const op_value *args, node **results, message *m) { return triangle_from(args, true, "triu_indices_from", results, m); }
