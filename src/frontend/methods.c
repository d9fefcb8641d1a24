/* methods.c: the methods of elementwise functions: op.reduce, op.accumulate, op.reduceat, op.outer, op.at. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "frontend/selections.h"
#include "runtime/runtime.h"

static int function_named(const char *name, const char *what, message *m) {
    int op = name ? op_named(name) : -1, f = op >= 0 && ops[op].kind == OP_UFUNC ? ops[op].index : name ? ufunc_named(name) : -1;
    if (f < 0) fail(m, KN_NAME_ERROR, "%s: '%s' is no elementwise function", what, name ? name : "NULL");
    return f;
}

static kn_array finished(node *n, const node *const *in, const kn_array *operands, int noperands, message *m) {
    if (n) return array_from_node(n);
    for (int i = 0; i < noperands; i++) if (!in[i]) return array_bad(operands[i], m);
    return array_error(m);
}

kn_array (kn_reduce)(const char *op, kn_array a, kn_axis axis, bool keepdims) {
    message m = { 0 };
    int f = function_named(op, "kn_reduce", &m);
    node *in = array_node(a, "kn_reduce", &m);
    node *n = in && f >= 0 ? ufunc_reduce(f, in, axis, KN_DTYPE_UNSET, keepdims, NULL, NULL, &m) : NULL;
    kn_array result = finished(n, (const node *[]){ in }, &a, 1, &m);
    node_drop(in);
    return result;
}

kn_array (kn_accumulate)(const char *op, kn_array a, kn_axis axis) {
    message m = { 0 };
    int f = function_named(op, "kn_accumulate", &m);
    node *in = array_node(a, "kn_accumulate", &m);
    node *n = in && f >= 0 ? ufunc_accumulate(f, in, axis, KN_DTYPE_UNSET, &m) : NULL;
    kn_array result = finished(n, (const node *[]){ in }, &a, 1, &m);
    node_drop(in);
    return result;
}

/* What segments consist of, from their bounds: int64 nodes of the first elements, of the others, and whose the others are. */
typedef struct segments { node *starts, *rest, *owner; } segments;

static void segments_free(segments *s) {
    node_drop(s->starts);
    node_drop(s->rest);
    node_drop(s->owner);
}

static kn_status segments_of(const int64_t *at, int64_t n, int64_t extent, segments *s, message *m) {
    int64_t total = 0, k = 0;
    for (int i = 0; i < 2; i++) {                        /* counted, then written */
        int64_t *rest = i ? mem_array((size_t)(2 * total) + 1, sizeof *rest) : NULL;
        if (i && !rest) return fail_memory(m, "kn_reduceat");
        for (int64_t g = 0; g < n; g++) {
            int64_t end = g + 1 < n ? at[g + 1] : extent;
            for (int64_t e = at[g] + 1; e < end; e++, k++) {
                if (!rest) continue;
                rest[k] = e;
                rest[total + k] = g;
            }
        }
        if (i) {
            s->rest = numbers_node(rest, total, m);
            s->owner = numbers_node(rest + total, total, m);
            mem_free(rest);
        }
        total = k;
        k = 0;
    }
    s->starts = numbers_node(at, n, m);
    return s->starts && s->rest && s->owner ? KN_OK : m->status;
}

static node *reduceat(int f, node *a, node *indices, kn_axis given, message *m) {
    int axis;
    int64_t *at = NULL, n = 0;
    segments s = { NULL, NULL, NULL };
    node *r = NULL;
    if (indices->ndim != 1) { fail(m, KN_VALUE_ERROR, "%s.reduceat: indices have one dimension, not %d", ufuncs[f].name, indices->ndim); return NULL; }
    if (!dtype_is_integer((kn_dtype)indices->dtype)) { fail(m, KN_TYPE_ERROR, "%s.reduceat: indices must be integers, not %s", ufuncs[f].name, dtype_table[indices->dtype].name); return NULL; }
    if (a->ndim == 0) { fail(m, KN_TYPE_ERROR, "%s.reduceat: cannot reduceat on a scalar", ufuncs[f].name); return NULL; }
    if (axis_one(given, a->ndim, "kn_reduceat", &axis, m)) return NULL;
    int64_t extent = a->shape[axis];
    kn_status status = positions_read(indices, extent, "kn_reduceat", &at, &n, m);
    if (!status) status = segments_of(at, n, extent, &s, m);
    if (!status) r = ufunc_reduceat(f, a, s.starts, s.rest, s.owner, axis, KN_DTYPE_UNSET, m);
    segments_free(&s);
    mem_free(at);
    return r;
}

kn_array (kn_reduceat)(const char *op, kn_array a, kn_array indices, kn_axis axis) {
    message m = { 0 };
    int f = function_named(op, "kn_reduceat", &m);
    kn_array operands[2] = { a, indices };
    node *in[2] = { array_node(a, "kn_reduceat", &m), array_node(indices, "kn_reduceat", &m) };
    node *n = in[0] && in[1] && f >= 0 ? reduceat(f, in[0], in[1], axis, &m) : NULL;
    kn_array result = finished(n, (const node *const *)in, operands, 2, &m);
    node_drop(in[0]);
    node_drop(in[1]);
    return result;
}

kn_array (kn_outer_of)(const char *op, kn_array a, kn_array b) {
    message m = { 0 };
    int f = function_named(op, "kn_outer_of", &m);
    kn_array operands[2] = { a, b };
    node *in[2] = { array_node(a, "kn_outer_of", &m), array_node(b, "kn_outer_of", &m) };
    node *n = in[0] && in[1] && f >= 0 ? ufunc_outer(f, in[0], in[1], KN_DTYPE_UNSET, &m) : NULL;
    kn_array result = finished(n, (const node *const *)in, operands, 2, &m);
    node_drop(in[0]);
    node_drop(in[1]);
    return result;
}

/* The whole of a's window after the update: ufunc_at reads and writes the window's values. */
kn_status array_at(int f, kn_array a, index_list *l, node *b, message *m) {
    slot *s = array_operand(a, "kn_at", m);
    if (!s) return m->status;
    layout whole, in;
    slot_layout(s, &whole);
    if (!slot_writable(s, "kn_at", m)) return m->status;
    index_plan *p = mem_alloc(sizeof *p);
    node *values = slot_node(s, m), *n = NULL;
    if (!p) fail_memory(m, "kn_at");
    if (p && values) {
        layout_whole(values, &in);
        if (!index_masks(l, &in, m) && !index_resolve(&in, l->item, l->n, p, m)) {
            n = ufunc_at(f, values, p, b, m);
            index_plan_free(p);
        }
    }
    kn_status status = n ? array_store_window(a, &whole, n, CAST_SAME_KIND, "kn_at", m) : m->status;
    node_drop(n);
    node_drop(values);
    mem_free(p);
    return status;
}

kn_array kn_at_with(const char *op, kn_array a, const char *index, kn_array b, const kn_named *names, size_t n) {
    message m = { 0 };
    int f = function_named(op, "kn_at", &m);
    bool unary = f >= 0 && ufuncs[f].nin == 1;
    index_list *l = mem_alloc(sizeof *l);
    slot *s = array_operand(a, "kn_at", &m);
    node *value = !s || unary ? NULL : array_node(b, "kn_at", &m);
    bool good = l && f >= 0 && s && (unary || value) && !index_parse(index, names, n, "kn_at", l, &m);
    if (!l) fail_memory(&m, "kn_at");
    if (good) {
        if (array_at(f, a, l, value, &m) && s->kind == SLOT_ARRAY) array_spoil(a, &m, true);
        index_list_free(l);
    } else if (!s) {
        a = array_bad(a, &m);
    } else if (s->kind == SLOT_ARRAY) {
        array_spoil(a, &m, !array_failed(b, NULL));
    } else {
        a = array_error(&m);
    }
    node_drop(value);
    mem_free(l);
    return a;
}
