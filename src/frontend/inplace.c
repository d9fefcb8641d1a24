/* inplace.c: a[...], a[...] = v and the in-place operators.
 *
 * How it works: a basic index is a new handle on the same cell; an index with arrays records a gather, and assigning
 * through one a scatter. `a op= v` is the ufunc of a and v, cast back to a's dtype under NumPy's same_kind rule and
 * stored through a's window. One element of an array in memory that nobody else refers to is stored at once.
 * How text becomes index items, and how stores become nodes, must not be put here. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

/* ---- the window and the gather behind an index ---- */

static node *view_of(cell *c, const layout *l, message *m) {
    node *base = cell_node(c);
    int64_t strides[NDIM_MAX];
    window w = layout_window(l, base, strides);
    node *n = node_view(base, l->dtype, &w, m);
    node_drop(base);
    return n;
}

kn_array array_index(kn_array a, index_list *l, const char *what, message *m) {
    slot *s = array_operand(a, what, m);
    if (!s) return array_bad(a, m);
    layout in;
    index_plan *p = NULL;
    cell *c = slot_cell(s, m);
    kn_array result = { 0 };
    if (!c) return array_error(m);
    slot_layout(s, &in);
    if (!(p = mem_alloc(sizeof *p))) {
        fail_memory(m, what);
    } else if (index_masks(l, &in, m) || index_resolve(&in, l->item, l->n, p, m)) {
        ;
    } else if (!p->advanced) {
        result = array_from_window(c, &p->window, s->readonly);
    } else {
        node *base = view_of(c, &p->window, m);
        node *n = base ? node_gather(base, p->from, p->narrays, p->arrays, p->ndim, p->shape, m) : NULL;
        node_drop(base);
        index_plan_free(p);
        if (n) result = array_from_node(n);
    }
    mem_free(p);
    cell_drop(c);
    return result.id ? result : array_error(m);
}

/* ---- assignment ---- */

/* a[i, j] = number, where a lies in memory and only this cell refers to it: no node is needed. */
static bool store_element(cell *c, const layout *l, const node *value) {
    if (l->ndim || value->kind != NODE_SCALAR || value->dtype == KN_DTYPE_UNSET) return false;
    node *n = c->value;
    bool alone = __atomic_load_n(&n->state, __ATOMIC_ACQUIRE) == NODE_READY && n->kind != NODE_SCALAR && __atomic_load_n(&n->refs, __ATOMIC_ACQUIRE) == 1 &&
                 n->value->device == KN_CPU && !n->value->readonly && __atomic_load_n(&n->value->refs, __ATOMIC_ACQUIRE) == 1;
    if (alone) buffer_changes(n->value);
    if (alone) element_store(l->dtype, (char *)n->value->data + n->offset + l->offset, value->attr.number);
    return alone;
}

static kn_status assign_gathered(kn_array a, cell *c, index_plan *p, node *value, const char *what, message *m) {
    layout to = { .dtype = p->window.dtype, .ndim = p->ndim };
    memcpy(to.shape, p->shape, (size_t)p->ndim * sizeof *p->shape);
    node *fit = node_fitted(node_keep(value), &to, CAST_UNSAFE, what, m);
    node *base = fit ? view_of(c, &p->window, m) : NULL;
    node *n = base ? node_scatter(base, fit, SCATTER_SET, 0, p->from, p->narrays, p->arrays, m) : NULL;
    kn_status status = n ? array_store_window(a, &p->window, n, CAST_UNSAFE, what, m) : m->status;
    node_drop(n);
    node_drop(base);
    node_drop(fit);
    return status;
}

/* a[mask] = one value is where(mask, value, a): no positions are needed, and nothing is evaluated. */
static node *masked(cell *c, const layout *in, const node *mask, node *value, message *m) {
    int64_t shape[NDIM_MAX];
    for (int d = 0; d < in->ndim; d++) shape[d] = d < mask->ndim ? mask->shape[d] : 1;
    layout one = { .dtype = in->dtype };
    node *in_nodes[3] = { NULL, NULL, NULL }, *result = NULL;
    in_nodes[0] = node_reshape((node *)mask, in->ndim, shape, m);
    in_nodes[1] = node_fitted(node_keep(value), &one, CAST_UNSAFE, "kn_set", m);
    in_nodes[2] = view_of(c, in, m);
    if (in_nodes[0] && in_nodes[1] && in_nodes[2]) ufunc_apply(UFUNC_where, 3, in_nodes, KN_DTYPE_UNSET, &result, m);
    for (int i = 0; i < 3; i++) node_drop(in_nodes[i]);
    return result;
}

static bool one_mask(const index_list *l, const layout *in, const node *value) {
    if (l->n != 1 || l->item[0].kind != INDEX_ARRAY || l->item[0].array->dtype != KN_BOOL || value->size != 1) return false;
    const node *mask = l->item[0].array;
    if (mask->ndim == 0 || mask->ndim > in->ndim) return false;
    for (int d = 0; d < mask->ndim; d++) if (mask->shape[d] != in->shape[d]) return false;
    return true;
}

static kn_status assign(kn_array a, slot *s, index_list *l, node *value, const char *what, message *m) {
    layout in;
    slot_layout(s, &in);
    if (!slot_writable(s, what, m)) return m->status;
    if (one_mask(l, &in, value)) {
        node *n = masked(s->c, &in, l->item[0].array, value, m);
        kn_status status = n ? array_store_window(a, &in, n, CAST_UNSAFE, what, m) : m->status;
        node_drop(n);
        return status;
    }
    index_plan *p = mem_alloc(sizeof *p);
    if (!p) return fail_memory(m, what);
    kn_status status = index_masks(l, &in, m);
    if (!status) status = index_resolve(&in, l->item, l->n, p, m);
    if (!status && p->advanced) {
        status = assign_gathered(a, s->c, p, value, what, m);
        index_plan_free(p);
    } else if (!status) {
        node *fit = p->window.ndim == 0 && value->kind == NODE_SCALAR ? node_fitted(node_keep(value), &p->window, CAST_UNSAFE, what, m) : NULL;
        bool stored = fit && store_element(s->c, &p->window, fit);
        node_drop(fit);
        if (!stored) status = m->status ? m->status : array_store_window(a, &p->window, value, CAST_UNSAFE, what, m);
    }
    mem_free(p);
    return status;
}

kn_status array_assign(kn_array a, index_list *l, node *value, const char *what, message *m) {
    slot *s = array_operand(a, what, m);
    if (!s) return m->status;
    kn_status status = assign(a, s, l, value, what, m);
    if (status && s->kind == SLOT_ARRAY) array_spoil(a, m, true);
    return status;
}

/* ---- the public face of both ---- */

/* A failed call's error: that of the first operand that carried one, else a new one. */
static kn_array bad_operands(kn_array a, const kn_named *names, size_t n, const message *m) {
    if (array_failed(a, NULL)) return array_bad(a, m);
    for (size_t i = 0; i < n && names; i++) if (array_failed(names[i].value, NULL)) return array_bad(names[i].value, m);
    return array_error(m);
}

kn_array kn_index_with(kn_array a, const char *index, const kn_named *names, size_t n) {
    message m = { 0 };
    index_list *l = mem_alloc(sizeof *l);
    if (!l) { fail_memory(&m, "kn_index"); return array_error(&m); }
    kn_array result;
    if (!array_operand(a, "kn_index", &m) || index_parse(index, names, n, "kn_index", l, &m)) {
        result = bad_operands(a, names, n, &m);
    } else {
        result = array_index(a, l, "kn_index", &m);
        index_list_free(l);
    }
    mem_free(l);
    return result;
}

/* An in-place call that failed before it touched its target: the target becomes the error. */
static kn_array spoiled(kn_array a, kn_array operand, const message *m) {
    bool carried = array_failed(operand, NULL) || array_failed(a, NULL);
    if (!slot_of(a)) return array_error(m);
    if (slot_of(a)->kind == SLOT_ERROR) { error_repeat(m); return a; }
    array_spoil(a, m, !carried);
    return a;
}

kn_array kn_set_with(kn_array a, const char *index, kn_array v, const kn_named *names, size_t n) {
    message m = { 0 };
    node *value = NULL;
    index_list *l = mem_alloc(sizeof *l);
    kn_array culprit = v;
    if (!l) fail_memory(&m, "kn_set");
    if (l && array_operand(a, "kn_set", &m) && (value = array_node(v, "kn_set", &m)) && !index_parse(index, names, n, "kn_set", l, &m)) {
        array_assign(a, l, value, "kn_set", &m);     /* makes a an error array when it fails */
        index_list_free(l);
    } else {
        for (size_t i = 0; value && i < n && names; i++) if (array_failed(names[i].value, NULL)) culprit = names[i].value;
        a = spoiled(a, culprit, &m);
    }
    node_drop(value);
    mem_free(l);
    return a;
}

kn_array kn_assign(kn_array a, kn_array v) {
    message m = { 0 };
    node *value = array_operand(a, "kn_assign", &m) ? array_node(v, "kn_assign", &m) : NULL;
    if (!value) return spoiled(a, v, &m);
    array_store(a, value, CAST_UNSAFE, "kn_assign", &m);
    node_drop(value);
    return a;
}

/* ---- in-place operators ---- */

static kn_status check_result(const node *result, const layout *to, const char *name, message *m) {
    bool same = result->ndim == to->ndim && !memcmp(result->shape, to->shape, (size_t)to->ndim * sizeof *to->shape);
    char have[SHAPE_TEXT], want[SHAPE_TEXT];
    if (!same)
        return fail(m, KN_VALUE_ERROR, "%s: non-broadcastable output operand with shape %s doesn't match the broadcast shape %s", name,
                    shape_text(have, to->ndim, to->shape), shape_text(want, result->ndim, result->shape));
    if (!dtype_can_cast((kn_dtype)result->dtype, to->dtype, CAST_SAME_KIND))
        return fail(m, KN_TYPE_ERROR, "Cannot cast ufunc '%s' output from %s to %s with casting rule 'same_kind'", name, dtype_table[result->dtype].name,
                    dtype_table[to->dtype].name);
    return KN_OK;
}

static kn_status update(kn_array a, slot *s, int ufunc, node *value, const char *what, message *m) {
    if (!slot_writable(s, what, m)) return m->status;
    layout to;
    slot_layout(s, &to);
    node *in[2] = { slot_node(s, m), value }, *result = NULL;
    kn_status status = in[0] ? ufunc_apply(ufunc, 2, in, KN_DTYPE_UNSET, &result, m) : m->status;
    if (!status) status = check_result(result, &to, ufuncs[ufunc].name, m);
    node_drop(in[0]);
    if (!status) status = array_store_window(a, &to, result, CAST_SAME_KIND, what, m);
    node_drop(result);
    return status;
}

static kn_array in_place(kn_array a, kn_array v, int ufunc, const char *what) {
    message m = { 0 };
    slot *s = array_operand(a, what, &m);
    node *value = s ? array_node(v, what, &m) : NULL;
    if (!value) return spoiled(a, v, &m);
    kn_status status = update(a, s, ufunc, value, what, &m);
    node_drop(value);
    if (!status) return a;
    if (s->kind == SLOT_NUMBER) return array_error(&m);
    if (s->kind == SLOT_ARRAY) array_spoil(a, &m, true);
    return a;
}

#define IN_PLACE(name, ufunc) kn_array (name)(kn_array a, kn_array v) { return in_place(a, v, UFUNC_##ufunc, #name); }
IN_PLACE(kn_iadd, add)
IN_PLACE(kn_isub, subtract)
IN_PLACE(kn_imul, multiply)
IN_PLACE(kn_idiv, divide)
IN_PLACE(kn_ifloordiv, floor_divide)
IN_PLACE(kn_imod, remainder)
IN_PLACE(kn_ipow, power)
IN_PLACE(kn_iand, bitwise_and)
IN_PLACE(kn_ior, bitwise_or)
IN_PLACE(kn_ixor, bitwise_xor)
IN_PLACE(kn_ilshift, left_shift)
IN_PLACE(kn_irshift, right_shift)
