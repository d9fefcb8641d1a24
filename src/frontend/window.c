/* window.c: reading and writing through a handle's window.
 *
 * How it works: a read of the whole cell is its node; a read through a window is a VIEW of that node; a write is a new
 * node for the cell. Numbers become weak scalars. Which operation is being done must not matter here. */
#include <math.h>
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "runtime/device.h"
#include "runtime/runtime.h"

/* ---- layouts ---- */

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

/* Whether l runs through memory from the cell's start in C order. */
static bool in_order(const layout *l) {
    if (l->offset) return false;
    int64_t step = (int64_t)dtype_size(l->dtype);
    for (int d = l->ndim; d-- > 0;) {
        if (l->strides[d] != step && l->shape[d] > 1) return false;
        step *= l->shape[d] > 0 ? l->shape[d] : 1;
    }
    return true;
}

bool layout_is_whole(const layout *l, const node *n) {
    if (l->dtype != (kn_dtype)n->dtype || l->ndim != n->ndim || !in_order(l)) return false;
    for (int d = 0; d < l->ndim; d++) if (l->shape[d] != n->shape[d]) return false;
    return true;
}

static int64_t layout_size(const layout *l) {
    int64_t n = 1;
    for (int d = 0; d < l->ndim; d++) n *= l->shape[d];     /* of something that has a node, so it fits */
    return n;
}

window layout_window(const layout *l, const node *base, int64_t *strides) {
    int64_t unit = (int64_t)dtype_size(l->dtype);
    bool part = dtype_is_complex((kn_dtype)base->dtype) && !dtype_is_complex(l->dtype);
    for (int d = 0; d < l->ndim; d++) strides[d] = l->strides[d] / unit;
    return (window){ .offset = l->offset / unit, .strides = strides, .shape = l->shape, .ndim = l->ndim, .part = part };
}

static kn_dtype number_dtype(const scalar *s) { return dtype_default(s->kind); }

void slot_layout(const slot *s, layout *out) {
    if (s->kind == SLOT_NUMBER) {
        out->dtype = number_dtype(&s->u.number);
        out->ndim = 0;
        out->offset = 0;
    } else if (s->window) {
        const slot_window *w = s->window;
        out->dtype = w->dtype;
        out->ndim = w->ndim;
        out->offset = w->offset;
        memcpy(out->shape, w->dims, (size_t)w->ndim * sizeof *w->dims);
        memcpy(out->strides, w->dims + w->ndim, (size_t)w->ndim * sizeof *w->dims);
    } else {
        node *n = cell_node(s->c);
        layout_whole(n, out);
        node_drop(n);
    }
}

/* ---- reading ---- */

slot *array_operand(kn_array a, const char *what, message *m) {
    slot *s = slot_of(a);
    if (!s) {
        fail(m, a.id ? KN_SCOPE_ERROR : KN_VALUE_ERROR, "%s: %s", what, kn_message(a));
        return NULL;
    }
    if (s->kind == SLOT_ERROR) {
        fail(m, s->u.error->status, "%s", s->u.error->text);
        return NULL;
    }
    if (s->kind == SLOT_RANDOM) {
        fail(m, KN_TYPE_ERROR, "%s: a generator of random numbers is no array", what);
        return NULL;
    }
    return s;
}

static void fail_as(const node *fault, message *m) {
    kn_status status;
    const char *text = node_message(fault, &status);
    fail(m, status, "%s", text);
}

node *slot_node(slot *s, message *m) {
    if (s->kind == SLOT_NUMBER) return node_scalar(number_dtype(&s->u.number), s->u.number, true, m);
    node *base = cell_node(s->c);
    if (__atomic_load_n(&base->state, __ATOMIC_ACQUIRE) == NODE_FAULT) {
        fail_as(base, m);
        node_drop(base);
        return NULL;
    }
    if (!s->window) return base;
    layout l;
    int64_t strides[NDIM_MAX];
    slot_layout(s, &l);
    window w = layout_window(&l, base, strides);
    node *n = node_view(base, l.dtype, &w, m);
    node_drop(base);
    return n;
}

node *array_node(kn_array a, const char *what, message *m) {
    slot *s = array_operand(a, what, m);
    return s ? slot_node(s, m) : NULL;
}

bool array_layout(kn_array a, const char *what, layout *out, message *m) {
    slot *s = array_operand(a, what, m);
    if (s) slot_layout(s, out);
    return s != NULL;
}

cell *slot_cell(slot *s, message *m) {
    return s->kind == SLOT_ARRAY ? cell_keep(s->c) : cell_new(node_scalar(number_dtype(&s->u.number), s->u.number, false, m), m);
}

/* ---- writing ---- */

bool slot_writable(const slot *s, const char *what, message *m) {
    if (s->kind == SLOT_NUMBER) {
        fail(m, KN_TYPE_ERROR, "%s: a plain number cannot be changed in place; make an array with kn_full or kn_from", what);
        return false;
    }
    if (s->readonly || s->c->readonly) {
        fail(m, KN_VALUE_ERROR, "%s: the destination is read-only (a broadcast, or memory that may not be written); make a copy with kn_copy first", what);
        return false;
    }
    return true;
}

/* Python's rules for a plain number that is stored into an element. */
static bool number_fits(const node *value, kn_dtype t, const char *what, message *m) {
    const scalar *s = &value->attr.number;
    const char *to = dtype_table[t].name;
    if (s->kind == SCALAR_COMPLEX && !dtype_is_complex(t)) {
        fail(m, KN_TYPE_ERROR, "%s: a complex number cannot be stored as %s", what, to);
    } else if (s->kind == SCALAR_FLOAT && dtype_is_integer(t) && !isfinite(s->v.f)) {
        fail(m, isnan(s->v.f) ? KN_VALUE_ERROR : KN_OVERFLOW_ERROR, "%s: cannot convert float %s to integer", what, isnan(s->v.f) ? "NaN" : "infinity");
    } else if (!scalar_fits(*s, t)) {
        if (s->kind == SCALAR_UINT) fail(m, KN_OVERFLOW_ERROR, "%s: Python integer %llu out of bounds for %s", what, (unsigned long long)s->v.u, to);
        else fail(m, KN_OVERFLOW_ERROR, "%s: Python integer %lld out of bounds for %s", what, (long long)s->v.i, to);
    } else {
        return true;
    }
    return false;
}

/* Leading extents of 1 beyond the target's axes may be dropped, as NumPy does. Consumes n. */
static node *without_leading_ones(node *n, int ndim, message *m) {
    int extra = n->ndim - ndim;
    for (int d = 0; d < extra; d++) if (n->shape[d] != 1) return n;
    if (extra <= 0) return n;
    node *r = node_reshape(n, ndim, n->shape + extra, m);
    node_drop(n);
    return r;
}

static bool broadcasts(const node *n, const layout *to) {
    bool fits = n->ndim <= to->ndim;
    for (int d = 1; fits && d <= n->ndim; d++) {
        int64_t have = n->shape[n->ndim - d];
        fits = have == to->shape[to->ndim - d] || have == 1;
    }
    return fits;
}

node *node_fitted(node *value, const layout *to, casting rule, const char *what, message *m) {
    bool plain = value->weak && value->kind == NODE_SCALAR;
    if (!plain && !dtype_can_cast((kn_dtype)value->dtype, to->dtype, rule)) {
        fail(m, KN_TYPE_ERROR, "%s: cannot cast %s to %s with casting rule '%s'; convert it with kn_astype first", what, dtype_table[value->dtype].name,
             dtype_table[to->dtype].name, rule == CAST_SAME_KIND ? "same_kind" : "safe");
        node_drop(value);
        return NULL;
    }
    if (plain && !number_fits(value, to->dtype, what, m)) {
        node_drop(value);
        return NULL;
    }
    node *cast = node_cast(value, to->dtype, m);
    node_drop(value);
    if (cast) cast = without_leading_ones(cast, to->ndim, m);
    if (!cast) return NULL;
    if (!broadcasts(cast, to)) {
        char from_text[SHAPE_TEXT], to_text[SHAPE_TEXT];
        fail(m, KN_VALUE_ERROR, "%s: could not broadcast input array from shape %s into shape %s", what, shape_text(from_text, cast->ndim, cast->shape),
             shape_text(to_text, to->ndim, to->shape));
        node_drop(cast);
        return NULL;
    }
    node *n = node_broadcast(cast, to->ndim, to->shape, m);
    node_drop(cast);
    return n;
}

static void note_update(cell *c) {
    if (c->registered) return;
    updates_add(&c->value);
    c->registered = true;
}

static kn_status store(cell *c, const layout *to, node *value, casting rule, const char *what, message *m) {
    node *fit = node_fitted(node_keep(value), to, rule, what, m);
    if (!fit) return m->status;
    node *base = cell_node(c), *next;
    if (to->dtype == (kn_dtype)base->dtype && in_order(to) && layout_size(to) == base->size) {
        next = to->ndim == base->ndim && layout_is_whole(to, base) ? node_keep(fit) : node_reshape(fit, base->ndim, base->shape, m);
    } else {
        int64_t strides[NDIM_MAX];
        window w = layout_window(to, base, strides);
        next = node_write(base, &w, fit, m);
    }
    node_drop(base);
    node_drop(fit);
    if (!next) return m->status;
    note_update(c);
    cell_set(c, next);
    return KN_OK;
}

/* Pending work is bounded: past the limit it is done now. */
static void bound_work(cell *c) {
    node *n = cell_node(c);
    if (__atomic_load_n(&n->work, __ATOMIC_RELAXED) > WORK_LIMIT && !node_ready(n)) evaluate(&n, 1, NULL);
    node_drop(n);
}

kn_status array_store_window(kn_array a, const layout *l, node *value, casting rule, const char *what, message *m) {
    slot *s = array_operand(a, what, m);
    if (!s) return m->status;
    if (!slot_writable(s, what, m) || store(s->c, l, value, rule, what, m)) {
        if (s->kind == SLOT_ARRAY) array_spoil(a, m, true);
        else error_record(m);
        return m->status;
    }
    bound_work(s->c);
    scope_touch(a);
    return KN_OK;
}

kn_status array_store(kn_array a, node *value, casting rule, const char *what, message *m) {
    layout whole;
    if (!array_layout(a, what, &whole, m)) return m->status;
    return array_store_window(a, &whole, value, rule, what, m);
}

/* ---- reading memory ---- */

kn_status node_host(node *n, host_window *out, message *m) {
    layout l;
    layout_whole(n, &l);
    out->dtype = l.dtype;
    out->ndim = l.ndim;
    out->held = NULL;
    memcpy(out->shape, l.shape, (size_t)l.ndim * sizeof *l.shape);
    memcpy(out->strides, l.strides, (size_t)l.ndim * sizeof *l.strides);
    if (n->kind == NODE_SCALAR) {
        element_store(l.dtype, out->number, n->attr.number);
        out->data = out->number;
        return KN_OK;
    }
    if (__atomic_load_n(&n->state, __ATOMIC_ACQUIRE) != NODE_READY) {
        kn_status status = evaluate(&n, 1, m);
        if (status) return status;
    }
    if (!(out->held = device_reach(device_cpu(), n->value, m))) return m && m->status ? m->status : KN_MEMORY_ERROR;
    out->data = (const char *)out->held->data + n->offset;
    return KN_OK;
}

kn_status array_host(kn_array a, const char *what, host_window *out, message *m) {
    slot *s = array_operand(a, what, m);
    if (!s) return m->status;
    if (s->kind == SLOT_NUMBER) {
        out->dtype = number_dtype(&s->u.number);
        out->ndim = 0;
        out->held = NULL;
        element_store(out->dtype, out->number, s->u.number);
        out->data = out->number;
        return KN_OK;
    }
    node *n = cell_node(s->c);
    kn_status status = node_host(n, out, m);
    node_drop(n);
    if (status || !s->window) return status;
    layout l;
    slot_layout(s, &l);
    out->dtype = l.dtype;
    out->ndim = l.ndim;
    out->data += l.offset;
    memcpy(out->shape, l.shape, (size_t)l.ndim * sizeof *l.shape);
    memcpy(out->strides, l.strides, (size_t)l.ndim * sizeof *l.strides);
    return KN_OK;
}

static void read_row(const char *from, int64_t step, int64_t n, kn_dtype have, kn_dtype want, char *to) {
    size_t size = dtype_size(want);
    if (have == want && step == (int64_t)size) {
        memcpy(to, from, (size_t)n * size);
    } else if (have == want) {
        for (int64_t i = 0; i < n; i++) memcpy(to + (size_t)i * size, from + i * step, size);
    } else {
        for (int64_t i = 0; i < n; i++) element_cast(want, to + (size_t)i * size, have, from + i * step);
    }
}

void host_read(const host_window *h, kn_dtype t, void *to) {
    int outer = h->ndim > 0 ? h->ndim - 1 : 0;
    int64_t row = h->ndim > 0 ? h->shape[outer] : 1, step = h->ndim > 0 ? h->strides[outer] : 0, at[NDIM_MAX] = { 0 };
    for (int d = 0; d < h->ndim; d++) if (!h->shape[d]) return;
    const char *from = h->data;
    char *out = to;
    for (;;) {
        read_row(from, step, row, h->dtype, t, out);
        out += (size_t)row * dtype_size(t);
        int d = outer;
        for (; d-- > 0;) {
            from += h->strides[d];
            if (++at[d] < h->shape[d]) break;
            from -= h->shape[d] * h->strides[d];
            at[d] = 0;
        }
        if (d < 0) return;
    }
}
