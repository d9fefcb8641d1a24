/* window.c: reading and writing through a handle's window.
 *
 * How it works: a read of the whole cell is its node; a read through a window is a VIEW of that node; a write is a new
 * node for the cell. Numbers become weak scalars. Which operation is being done must not matter here. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/runtime.h"

void layout_whole(const node *n, layout *out) {
    out->dtype = (kn_dtype)n->dtype;
    out->ndim = n->ndim;
    out->offset = 0;
    int64_t step = (int64_t)dtype_size(out->dtype);
    for (int d = n->ndim; d-- > 0;) {
        out->shape[d] = n->shape[d];
        out->strides[d] = step;
        step *= n->shape[d] > 0 ? n->shape[d] : 1;
    }
}

bool layout_is_whole(const layout *l, const node *n) {
    if (l->dtype != (kn_dtype)n->dtype || l->ndim != n->ndim || l->offset) return false;
    int64_t step = (int64_t)dtype_size(l->dtype);
    for (int d = n->ndim; d-- > 0;) {
        if (l->shape[d] != n->shape[d] || (l->strides[d] != step && l->shape[d] > 1)) return false;
        step *= n->shape[d] > 0 ? n->shape[d] : 1;
    }
    return true;
}

window layout_window(const layout *l, const node *base, int64_t *strides) {
    int64_t unit = (int64_t)dtype_size(l->dtype);
    bool part = dtype_is_complex((kn_dtype)base->dtype) && !dtype_is_complex(l->dtype);
    for (int d = 0; d < l->ndim; d++) strides[d] = l->strides[d] / unit;
    return (window){ .offset = l->offset / unit, .strides = strides, .shape = l->shape, .ndim = l->ndim, .part = part };
}

static kn_dtype number_dtype(const scalar *s) { return dtype_default(s->kind); }

/* The slot of a usable operand, or NULL with a sentence. */
static slot *operand(kn_array a, const char *what, message *m) {
    slot *s = slot_of(a);
    if (!s) { fail(m, a.id ? KN_SCOPE_ERROR : KN_VALUE_ERROR, "%s: %s", what, kn_message(a)); return NULL; }
    if (s->kind == SLOT_ERROR) { fail(m, s->u.error->status, "%s", s->u.error->text); return NULL; }
    return s;
}

node *array_node(kn_array a, const char *what, message *m) {
    slot *s = operand(a, what, m);
    if (!s) return NULL;
    if (s->kind == SLOT_NUMBER) return node_scalar(number_dtype(&s->u.number), s->u.number, true, m);
    node *base = cell_node(s->c);
    if (!s->window) return base;
    int64_t strides[NDIM_MAX];
    window w = layout_window(s->window, base, strides);
    node *n = node_view(base, s->window->dtype, &w, m);
    node_drop(base);
    return n;
}

bool array_layout(kn_array a, const char *what, layout *out, message *m) {
    slot *s = operand(a, what, m);
    if (!s) return false;
    if (s->kind == SLOT_NUMBER) *out = (layout){ .dtype = number_dtype(&s->u.number) };
    else if (s->window) *out = *s->window;
    else layout_whole(s->c->value, out);
    return true;
}

/* ---- writing ---- */

static bool writable(slot *s, const char *what, message *m) {
    if (s->kind == SLOT_NUMBER) { fail(m, KN_TYPE_ERROR, "%s: a plain number cannot be changed in place; make an array with kn_full or kn_from", what); return false; }
    if (s->readonly || s->c->readonly) {
        fail(m, KN_VALUE_ERROR, "%s: the destination is read-only (a broadcast, or borrowed memory); make a copy with kn_copy first", what);
        return false;
    }
    return true;
}

/* value as an array of exactly this dtype and shape. Consumes value. */
static node *fitted(node *value, const layout *to, casting rule, const char *what, message *m) {
    if (!value->weak && !dtype_can_cast((kn_dtype)value->dtype, to->dtype, rule)) {
        fail(m, KN_TYPE_ERROR, "%s: cannot cast %s to %s with casting rule '%s'; convert it with kn_astype first", what, dtype_table[value->dtype].name,
             dtype_table[to->dtype].name, rule == CAST_SAME_KIND ? "same_kind" : "safe");
        node_drop(value);
        return NULL;
    }
    node *cast = node_cast(value, to->dtype, m);
    node_drop(value);
    if (!cast) return NULL;
    int extra = cast->ndim - to->ndim;
    if (extra > 0) {                                     /* leading extents of 1 may be dropped, as NumPy does */
        for (int d = 0; d < extra; d++) if (cast->shape[d] != 1) extra = 0;
        if (extra) {
            node *r = node_reshape(cast, to->ndim, cast->shape + extra, m);
            node_drop(cast);
            if (!(cast = r)) return NULL;
        }
    }
    char from_text[SHAPE_TEXT], to_text[SHAPE_TEXT];
    bool fits = cast->ndim <= to->ndim;
    for (int d = 1; fits && d <= cast->ndim; d++) {
        int64_t have = cast->shape[cast->ndim - d];
        fits = have == to->shape[to->ndim - d] || have == 1;
    }
    if (!fits) {
        fail(m, KN_VALUE_ERROR, "%s: could not broadcast a value of shape %s into shape %s", what, shape_text(from_text, cast->ndim, cast->shape),
             shape_text(to_text, to->ndim, to->shape));
        node_drop(cast);
        return NULL;
    }
    node *n = node_broadcast(cast, to->ndim, to->shape, m);
    node_drop(cast);
    return n;
}

/* Memory lent by the caller (KN_SHARE) is written into by kn_sync, from what the cell then holds. */
static void note_update(cell *c) {
    if (c->registered) return;
    c->registered = true;
    updates_add(&c->value);
}

static kn_status store(slot *s, node *value, casting rule, const char *what, message *m) {
    layout to;
    if (s->window) to = *s->window;
    else layout_whole(s->c->value, &to);
    node *fit = fitted(node_keep(value), &to, rule, what, m);
    if (!fit) return m->status;
    note_update(s->c);
    if (!s->window || layout_is_whole(&to, s->c->value)) { cell_set(s->c, fit); return KN_OK; }
    node *base = cell_node(s->c);
    int64_t strides[NDIM_MAX];
    window w = layout_window(&to, base, strides);
    node *n = node_write(base, &w, fit, m);
    node_drop(base);
    node_drop(fit);
    if (!n) return m->status;
    cell_set(s->c, n);
    return KN_OK;
}

/* Pending work is bounded: past the limit it is done now. */
static void bound_work(cell *c) {
    node *n = cell_node(c);
    if (n->work > WORK_LIMIT) evaluate(&n, 1, NULL);
    node_drop(n);
}

kn_status array_store(kn_array a, node *value, casting rule, const char *what, message *m) {
    message own = { 0 };
    if (!m) m = &own;
    slot *s = operand(a, what, m);
    if (s && writable(s, what, m) && store(s, value, rule, what, m) == KN_OK) {
        bound_work(s->c);
        return KN_OK;
    }
    if (s && s->kind == SLOT_ARRAY) array_spoil(a, m);
    else error_record(m);
    return m->status;
}

/* ---- reading memory ---- */

kn_status array_host(kn_array a, const char *what, host_window *out, message *m) {
    slot *s = operand(a, what, m);
    if (!s) return m->status;
    layout l;
    array_layout(a, what, &l, m);
    out->dtype = l.dtype;
    out->ndim = l.ndim;
    out->held = NULL;
    memcpy(out->shape, l.shape, sizeof l.shape);
    memcpy(out->strides, l.strides, sizeof l.strides);
    if (s->kind == SLOT_NUMBER) {
        element_store(l.dtype, out->number, s->u.number);
        out->data = out->number;
        return KN_OK;
    }
    node *n = cell_node(s->c);
    kn_status status = KN_OK;
    if (n->kind == NODE_SCALAR) {
        element_store(l.dtype, out->number, n->attr.number);
        out->data = out->number;
    } else if (!(status = evaluate(&n, 1, m))) {
        out->held = buffer_keep(n->value);
        out->data = (const char *)n->value->data + n->offset + l.offset;
    }
    node_drop(n);
    return status;
}
