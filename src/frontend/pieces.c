/* pieces.c: operations whose number of results depends on their arguments: split and its relatives, meshgrid, gradient.
 *
 * How it works: a list of handles is made in the scope, then filled one by one; what an array is divided into are windows on
 * its memory. The rows of ops.def that end here are of kind MANY_OP. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "ir/graph/compose.h"
#include "runtime/runtime.h"

typedef struct pieces { int op; const char *name; const op_value *args; kn_array whole; kn_array *at; int64_t n; message *m; } pieces;

static bool pieces_room(pieces *p, int64_t n) {
    p->at = n <= INT32_MAX ? scope_room(((size_t)n + 1) * sizeof *p->at) : NULL;
    if (!p->at) fail_memory(p->m, p->name);
    return p->at != NULL;
}

static bool add_node(pieces *p, node *n) {
    if (!n) return false;
    p->at[p->n] = array_from_node(n);
    return p->at[p->n++].id != 0;
}

/* ---- windows on one array ---- */

static bool add_window(pieces *p, cell *c, const layout *l, bool readonly) {
    p->at[p->n] = array_from_window(c, l, readonly);
    return p->at[p->n++].id != 0;
}

/* From element `from` up to `to` along the axis; drop: the axis goes. As with slices, what lies outside is cut off. */
static bool add_slice(pieces *p, cell *c, const layout *in, int axis, int64_t from, int64_t to, bool drop, bool readonly) {
    layout l = *in;
    l.shape[axis] = to > from ? to - from : 0;
    l.offset += l.shape[axis] ? from * l.strides[axis] : 0;
    if (drop) {
        for (int d = axis + 1; d < l.ndim; d++) {
            l.shape[d - 1] = l.shape[d];
            l.strides[d - 1] = l.strides[d];
        }
        l.ndim--;
    }
    return add_window(p, c, &l, readonly);
}

static int64_t bound(int64_t i, int64_t n) { return i < 0 ? i < -n ? 0 : i + n : i > n ? n : i; }

/* Where to cut, int64. */
static kn_status cuts_of(node *where, const char *name, host_window *h, message *m) {
    if (where->dtype != KN_BOOL && !dtype_is_integer((kn_dtype)where->dtype)) return fail(m, KN_TYPE_ERROR, "%s: sections must be integers, not %s", name, dtype_table[where->dtype].name);
    if (where->ndim > 1) return fail(m, KN_TYPE_ERROR, "%s: sections must be a number, or places in one dimension", name);
    node *n = node_cast(where, KN_INT64, m);
    kn_status status = n ? node_host(n, h, m) : m->status;
    node_drop(n);
    return status;
}

static int64_t cut_at(const host_window *h, int64_t i) {
    int64_t v;
    memcpy(&v, h->data + (h->ndim ? i * h->strides[0] : 0), sizeof v);
    return v;
}

static kn_status split_along(pieces *p, node *where, int axis, bool equal) {
    layout in;
    host_window h;
    slot *s = array_operand(p->whole, p->name, p->m);
    cell *c = s ? slot_cell(s, p->m) : NULL;
    kn_status status = c ? cuts_of(where, p->name, &h, p->m) : p->m->status;
    if (status) { cell_drop(c); return status; }
    slot_layout(s, &in);
    bool good = true, readonly = s->readonly;
    int64_t extent = in.shape[axis], n = h.ndim ? h.shape[0] + 1 : cut_at(&h, 0);
    if (n == 0 && equal) fail(p->m, KN_ZERO_DIVISION_ERROR, "%s: nothing divides into 0 sections", p->name);
    else if (n < 1) fail(p->m, KN_VALUE_ERROR, "%s: the number of sections must be larger than 0", p->name);
    else if (!h.ndim && equal && extent % n) fail(p->m, KN_VALUE_ERROR, "%s: %lld elements do not divide into %lld equal sections", p->name, (long long)extent, (long long)n);
    else good = pieces_room(p, n);
    for (int64_t i = 0, from = 0; i < n && good && p->at; i++) {
        int64_t to = h.ndim ? i < n - 1 ? bound(cut_at(&h, i), extent) : extent : from + extent / n + (i < extent % n);
        good = add_slice(p, c, &in, axis, from, to, false, readonly);
        from = to;
    }
    host_drop(&h);
    cell_drop(c);
    return p->at && good ? KN_OK : p->m->status ? p->m->status : KN_MEMORY_ERROR;
}

static kn_status split(pieces *p, int least, int axis_of_1d, int axis) {
    const node *a = p->args[0].v.array;
    if (a->ndim < least) return fail(p->m, KN_VALUE_ERROR, "%s only works on arrays of %d or more dimensions", p->name, least);
    return split_along(p, p->args[1].v.array, a->ndim == 1 ? axis_of_1d : axis, true);
}

static kn_status split_given(pieces *p, bool equal) {
    int axis;
    kn_status status = axis_one(p->args[2].v.axis, p->args[0].v.array->ndim, p->name, &axis, p->m);
    return status ? status : split_along(p, p->args[1].v.array, axis, equal);
}

static kn_status unstack(pieces *p) {
    layout in;
    int axis;
    const node *a = p->args[0].v.array;
    if (a->ndim == 0) return fail(p->m, KN_VALUE_ERROR, "unstack: the array has no dimension");
    kn_status status = axis_one(p->args[1].v.axis, a->ndim, p->name, &axis, p->m);
    if (status) return status;
    slot *s = array_operand(p->whole, p->name, p->m);
    cell *c = s ? slot_cell(s, p->m) : NULL;
    if (!c) return p->m->status;
    slot_layout(s, &in);
    bool readonly = s->readonly, good = pieces_room(p, in.shape[axis]);
    for (int64_t i = 0; i < in.shape[axis] && good; i++) good = add_slice(p, c, &in, axis, i, i + 1, true, readonly);
    cell_drop(c);
    return good ? KN_OK : p->m->status ? p->m->status : KN_MEMORY_ERROR;
}

/* ---- arrays that fit each other ---- */

static kn_status broadcast_arrays(pieces *p) {
    int n = p->args[0].v.list.n, ndim = 0;
    node *const *in = p->args[0].v.list.at;
    int64_t shape[NDIM_MAX];
    for (int i = 0; i < n; i++) {
        int64_t before[NDIM_MAX];
        memcpy(before, shape, (size_t)ndim * sizeof *shape);
        kn_status status = shape_broadcast(2, (int[]){ ndim, in[i]->ndim }, (const int64_t *const[]){ before, in[i]->shape }, &ndim, shape, p->name, p->m);
        if (status) return status;
    }
    if (!pieces_room(p, n)) return p->m->status;
    for (int i = 0; i < n; i++) if (!add_node(p, do_broadcast(node_cast(in[i], (kn_dtype)in[i]->dtype, p->m), ndim, shape, p->m))) return p->m->status;
    return KN_OK;
}

static kn_status meshgrid(pieces *p) {
    int n = p->args[0].v.list.n, sparse = op_param_named(p->op, "sparse"), indexing = op_param_named(p->op, "indexing");
    node *const *in = p->args[0].v.list.at;
    const char *how = p->args[indexing].v.text ? p->args[indexing].v.text : "xy";
    int64_t one[NDIM_MAX], whole[NDIM_MAX];
    bool swap = !strcmp(how, "xy") && n > 1;
    if (strcmp(how, "xy") && strcmp(how, "ij")) return fail(p->m, KN_VALUE_ERROR, "meshgrid: indexing must be 'xy' or 'ij', not '%s'", how);
    if (n > NDIM_MAX) return fail(p->m, KN_VALUE_ERROR, "meshgrid: at most %d arrays", NDIM_MAX);
    if (!pieces_room(p, n)) return p->m->status;
    for (int i = 0; i < n; i++) whole[swap && i < 2 ? 1 - i : i] = in[i]->size;
    for (int i = 0; i < n; i++) {
        int axis = swap && i < 2 ? 1 - i : i;
        for (int d = 0; d < n; d++) one[d] = d == axis ? in[i]->size : 1;
        node *r = do_reshape(do_flat(node_cast(in[i], (kn_dtype)in[i]->dtype, p->m), p->m), n, one, p->m);
        if (!p->args[sparse].v.flag) r = do_broadcast(r, n, whole, p->m);
        if (!add_node(p, r)) return p->m->status;
    }
    return KN_OK;
}

/* Positions along one axis each, shaped so that together they pick a block: masks become the positions where they hold. */
static kn_status ix(pieces *p) {
    int n = p->args[0].v.list.n;
    node *const *in = p->args[0].v.list.at;
    int64_t one[NDIM_MAX];
    if (n > NDIM_MAX) return fail(p->m, KN_VALUE_ERROR, "ix_: at most %d arrays", NDIM_MAX);
    if (!pieces_room(p, n)) return p->m->status;
    for (int i = 0; i < n; i++) {
        node *at = kept(in[i]);
        int axes;
        if (in[i]->ndim != 1) { node_drop(at); return fail(p->m, KN_VALUE_ERROR, "ix_: operands have one dimension, not %d", in[i]->ndim); }
        if (in[i]->dtype == KN_BOOL) {
            node_drop(at);
            at = NULL;
            if (mask_positions(in[i], &at, &axes, p->m)) return p->m->status;
        }
        for (int d = 0; d < n; d++) one[d] = d == i && at ? at->size : 1;
        if (!add_node(p, do_reshape(at, n, one, p->m))) return p->m->status;
    }
    return KN_OK;
}

/* ---- gradient ---- */

static kn_status gradient(pieces *p) {
    const op_value *spacing = &p->args[1];
    node *f = p->args[0].v.array;
    int axes[NDIM_MAX], n, given = spacing->v.list.n;
    int64_t order = p->args[op_param_named(p->op, "edge_order")].v.integer;
    kn_axis axis = p->args[op_param_named(p->op, "axis")].v.axis;
    kn_status status = axes_normalise(axis, f->ndim, NULL, axes, &n, p->name, p->m);
    if (status) return status;
    bool one_for_all = given == 1 && spacing->v.list.at[0]->ndim == 0;
    if (given && given != n && !one_for_all) return fail(p->m, KN_TYPE_ERROR, "gradient: %d distances for %d axes", given, n);
    if (order > 2) return fail(p->m, KN_VALUE_ERROR, "gradient: edge_order greater than 2 is not supported");
    if (!pieces_room(p, n)) return p->m->status;
    for (int i = 0; i < n; i++) {
        node *dx = given ? spacing->v.list.at[given > 1 ? i : 0] : NULL;
        if (!add_node(p, gradient_along(f, axes[i], dx, order == 2, p->m))) return p->m->status;
    }
    return KN_OK;
}

kn_status op_many(int op, const op_value *args, kn_array first, kn_list *out, message *m) {
    pieces p = { .op = op, .name = ops[op].name, .args = args, .whole = first, .m = m };
    kn_status status;
    switch (op) {
    case OPERATION_split: status = split_given(&p, true); break;
    case OPERATION_array_split: status = split_given(&p, false); break;
    case OPERATION_hsplit: status = split(&p, 1, 0, 1); break;
    case OPERATION_vsplit: status = split(&p, 2, 0, 0); break;
    case OPERATION_dsplit: status = split(&p, 3, 0, 2); break;
    case OPERATION_unstack: status = unstack(&p); break;
    case OPERATION_broadcast_arrays: status = broadcast_arrays(&p); break;
    case OPERATION_meshgrid: status = meshgrid(&p); break;
    case OPERATION_ix_: status = ix(&p); break;
    case OPERATION_gradient: status = gradient(&p); break;
    default: return fail(m, KN_NOT_AVAILABLE, "%s: not available in this version of the library", ops[op].name);
    }
    *out = (kn_list){ (size_t)p.n, p.at };
    return status;
}
