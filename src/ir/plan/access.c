/* access.c: which elements of its inputs a value needs, for each kind of node.
 *
 * How it works: a value is asked for at a form, the number of its element in C order. Elementwise nodes pass the form on;
 * views and gathers turn it into coordinates and those into the number of the base's element. Where no coordinates exist
 * the value is named as the culprit: stored, it is read by its element number and needs none. Whether storing pays
 * must not be decided here. */
#include <string.h>
#include "ir/plan/internal.h"

static bool add_guarded_link(partition *p, trace *t, uint32_t visit, const node *input, uint16_t form, uint16_t guard, bool parts) {
    bool scalar = input->kind == NODE_SCALAR;
    if (!reserve(p->mem, (void **)&t->links, &t->cap_links, t->nlinks + 1, sizeof *t->links)) { t->at.failed = true; return false; }
    t->links[t->nlinks++] = (need){ .value = value_of(p, input), .form = scalar ? NO_FORM : form, .guard = scalar ? 0 : guard, .parts = parts };
    t->visits[visit].nlinks++;
    return true;
}

static bool add_link(partition *p, trace *t, uint32_t visit, const node *input, uint16_t form, bool parts) {
    return add_guarded_link(p, t, visit, input, form, t->visits[visit].guard, parts);
}

/* ---- coordinates ---- */

static bool same_shape(int ndim, const int64_t *a, const int64_t *b) { return !ndim || !memcmp(a, b, (size_t)ndim * sizeof *a); }

/* Coordinates of the visit's element: under a guard those that are known, else the form's digits. */
static bool coordinates(trace *t, uint32_t visit, int ndim, const int64_t *shape, digits *out) {
    uint16_t f = t->visits[visit].form, guard = t->visits[visit].guard;
    for (uint32_t i = 0; i < t->nknown && guard; i++) {
        const known_digits *k = &t->known[i];
        if (k->form != f || k->guard != guard || k->ndim != ndim || !same_shape(ndim, k->shape, shape)) continue;
        out->ndim = ndim;
        for (int d = 0; d < ndim; d++) {
            const form *c = &t->at.forms[k->at[d]];
            out->base[d] = c->offset;
            memcpy(out->stride[d], c->stride, (size_t)t->at.natoms * sizeof c->stride[0]);
        }
        return true;
    }
    return space_digits(&t->at, f, ndim, shape, out);
}

/* Keeps the coordinates of an element asked for under a guard. */
static bool know(partition *p, trace *t, uint16_t f, uint16_t guard, const digits *x, const int64_t *shape) {
    uint16_t *at = arena_alloc(p->mem, ((size_t)x->ndim + 1) * sizeof *at);
    if (!at || !reserve(p->mem, (void **)&t->known, &t->cap_known, t->nknown + 1, sizeof *t->known)) { t->at.failed = true; return false; }
    for (int d = 0; d < x->ndim; d++) {
        form c;
        c.offset = x->base[d];
        memcpy(c.stride, x->stride[d], (size_t)t->at.natoms * sizeof c.stride[0]);
        if ((at[d] = space_form(&t->at, &c)) == NO_FORM) return false;
    }
    t->known[t->nknown++] = (known_digits){ f, guard, (uint16_t)x->ndim, shape, at };
    return true;
}

/* Under a guard: coordinates in the base of a view, from those in the view, where every step along a dimension of the view is
 * one step along dimensions of the base. Nothing is kept where that is not so. */
static bool know_base(partition *p, trace *t, uint16_t f, uint16_t guard, const digits *x, const int64_t *shape, const node *base, int64_t offset, const int64_t *strides) {
    digits y;
    int64_t weight = 1, lo[NDIM_MAX], hi[NDIM_MAX];
    if (!base->size) return true;
    y.ndim = base->ndim;
    for (int b = base->ndim; b-- > 0;) {
        int64_t n = base->shape[b];
        y.base[b] = lo[b] = hi[b] = offset / weight % n;
        for (int a = 0; a < t->at.natoms; a++) y.stride[b][a] = 0;
        for (int d = 0; d < x->ndim; d++) {
            int64_t step = shape[d] == 1 || n == 1 ? 0 : strides[d] / weight % n;
            *(step < 0 ? &lo[b] : &hi[b]) += step * (shape[d] - 1);
            y.base[b] += step * x->base[d];
            for (int a = 0; a < t->at.natoms; a++) y.stride[b][a] += step * x->stride[d][a];
        }
        weight *= n;
        if (lo[b] < 0 || hi[b] >= n) return true;
    }
    return know(p, t, f, guard, &y, base->shape);
}

static const node *without_whole_views(const partition *p, const node *n) {
    while (n->kind == NODE_VIEW && !in_memory(p, value_of(p, n)) && view_is_whole(n)) n = n->in[0];
    return n;
}

bool memory_window(const partition *p, const node *n, uint32_t *value, const window **w) {
    const node *all = without_whole_views(p, n);
    *w = NULL;
    *value = value_of(p, all);
    if (in_memory(p, *value)) return true;
    if (all != n || n->kind != NODE_VIEW) return false;       /* another shape of a view has no strides of its own */
    *w = &n->attr.view;
    n = without_whole_views(p, n->in[0]);
    *value = value_of(p, n);
    return in_memory(p, *value);
}

/* A form that counts parts as one that counts elements; false where it does not stay on one part. */
static bool parts_to_elements(space *s, uint16_t f, uint16_t *elements, uint8_t *part) {
    form g = s->forms[f];
    *part = g.offset & 1 ? 2 : 1;
    g.offset = (g.offset - (g.offset & 1)) / 2;
    for (int a = 0; a < s->natoms; a++) {
        if (g.stride[a] & 1) return false;
        g.stride[a] /= 2;
    }
    *elements = space_form(s, &g);
    return *elements != NO_FORM;
}

static bool expand_view(partition *p, trace *t, uint32_t visit, const node *n) {
    const node *base = n->in[0];
    uint16_t f = t->visits[visit].form;
    if (base->kind == NODE_SCALAR && !n->attr.view.part) return add_link(p, t, visit, base, NO_FORM, false);
    digits at;
    if (view_is_whole(n)) {
        if (t->visits[visit].guard && !in_memory(p, value_of(p, base)) && coordinates(t, visit, n->ndim, n->shape, &at) &&
            !know_base(p, t, f, t->visits[visit].guard, &at, n->shape, base, 0, n->attr.view.strides)) return false;
        return !t->at.failed && add_link(p, t, visit, base, f, false);
    }
    if (!coordinates(t, visit, n->ndim, n->shape, &at)) return false;
    f = space_window(&t->at, &at, n->attr.view.offset, n->attr.view.strides);
    if (f == NO_FORM) return false;
    if (!n->attr.view.part) {
        if (t->visits[visit].guard && !in_memory(p, value_of(p, base)) &&
            !know_base(p, t, f, t->visits[visit].guard, &at, n->shape, base, n->attr.view.offset, n->attr.view.strides)) return false;
        return add_link(p, t, visit, base, f, false);
    }
    base = without_whole_views(p, base);
    if (in_memory(p, value_of(p, base))) return add_link(p, t, visit, base, f, true);
    if (!parts_to_elements(&t->at, f, &f, &t->visits[visit].part)) return false;
    return add_link(p, t, visit, base, f, false);
}

/* The affine part of an address: dimension d of the source moves by strides[d] for each step of dimension from[d] of the
 * iterated shape; dimensions with an index input are left to the expressions. */
static uint16_t gather_form(trace *t, uint32_t visit, const gather_attr *g, int64_t offset, const int64_t *strides, int ndim, const int64_t *shape) {
    int64_t moved[NDIM_MAX] = { 0 };
    bool any = false;
    for (int d = 0; d < g->ndim; d++) {
        if (g->from[d] < 0) continue;
        moved[(int)g->from[d]] += strides[d];
        any |= shape[(int)g->from[d]] != 1;
    }
    digits at;
    at.ndim = 0;
    if (any && !coordinates(t, visit, ndim, shape, &at)) return NO_FORM;
    return space_window(&t->at, &at, offset, moved);
}

static void whole_strides(const node *n, int64_t *strides) {
    int64_t weight = 1;
    for (int d = n->ndim; d-- > 0;) {
        strides[d] = weight;
        weight *= n->shape[d];
    }
}

static bool expand_gather(partition *p, trace *t, uint32_t visit, const node *n, trace_status *status) {
    const window *w;
    uint32_t source;
    int64_t whole[NDIM_MAX];
    if (!memory_window(p, n->in[0], &source, &w)) { *status = TRACE_ILLEGAL; return false; }
    whole_strides(n->in[0], whole);
    uint16_t at = gather_form(t, visit, &n->attr.gather.at, w ? w->offset : 0, w ? w->strides : whole, n->ndim, n->shape);
    if (at == NO_FORM) return false;
    t->visits[visit].at = at;
    t->visits[visit].parts = w && w->part;
    t->visits[visit].source = n->in[0]->size ? source : NO_VALUE_NUMBER;
    for (int i = 1; i < n->nin; i++) if (!add_link(p, t, visit, n->in[i], t->visits[visit].form, false)) return false;
    return true;
}

static bool expand_write(partition *p, trace *t, uint32_t visit, const node *n) {
    const window *w = &n->attr.view;
    digits at;
    if (!space_digits(&t->at, t->visits[visit].form, w->ndim, w->shape, &at)) return false;
    uint16_t f = space_window(&t->at, &at, w->offset, w->strides);
    if (f == NO_FORM) return false;
    t->visits[visit].at = f;
    t->visits[visit].parts = w->part;
    return add_link(p, t, visit, n->in[1], t->visits[visit].form, false);
}

static uint16_t add_guard(partition *p, trace *t, uint16_t outer, const node *n, const int64_t *first, const int64_t *extent, const digits *x) {
    guard_tests g = { .outer = outer, .first = (uint16_t)t->nintervals, .share = 1 };
    for (int d = 0; d < n->ndim; d++) {
        form c;
        if (extent[d] == n->shape[d]) continue;
        c.offset = x->base[d];
        memcpy(c.stride, x->stride[d], (size_t)t->at.natoms * sizeof c.stride[0]);
        uint16_t at = space_form(&t->at, &c);
        if (at == NO_FORM || !reserve(p->mem, (void **)&t->intervals, &t->cap_intervals, t->nintervals + 1, sizeof *t->intervals)) { t->at.failed = true; return 0; }
        t->intervals[t->nintervals++] = (interval){ at, first[d] ? first[d] : INT64_MIN, first[d] + extent[d] < n->shape[d] ? first[d] + extent[d] : INT64_MAX };
        g.share *= (double)extent[d] / (double)n->shape[d];
        g.n++;
    }
    if (outer) g.share *= t->guards[outer].share;
    if (!t->nguards) t->nguards = 1;
    if (!reserve(p->mem, (void **)&t->guards, &t->cap_guards, t->nguards + 1, sizeof *t->guards)) { t->at.failed = true; return 0; }
    t->guards[t->nguards] = g;
    return (uint16_t)t->nguards++;
}

/* An assignment that is not stored: the new value under a guard, the old one. */
static bool expand_choice(partition *p, trace *t, uint32_t visit, const node *n) {
    int64_t first[NDIM_MAX], extent[NDIM_MAX], strides[NDIM_MAX];
    int dimension[NDIM_MAX];
    const node *value = n->in[1];
    digits x, y;
    uint16_t guard = t->visits[visit].guard;
    if (!write_box(n, &n->attr.view, first, extent, dimension) || !coordinates(t, visit, n->ndim, n->shape, &x)) return false;
    uint16_t inside = add_guard(p, t, guard, n, first, extent, &x);
    if (!inside) return false;
    y.ndim = value->ndim;
    for (int d = 0; d < y.ndim; d++) {
        y.base[d] = 0;
        for (int a = 0; a < t->at.natoms; a++) y.stride[d][a] = 0;
    }
    for (int d = 0; d < n->ndim; d++) {
        if (dimension[d] < 0) continue;
        y.base[dimension[d]] = x.base[d] - first[d];
        memcpy(y.stride[dimension[d]], x.stride[d], (size_t)t->at.natoms * sizeof x.stride[d][0]);
    }
    whole_strides(value, strides);
    uint16_t f = space_window(&t->at, &y, 0, strides);
    if (f == NO_FORM || !know(p, t, f, inside, &y, value->shape)) return false;
    t->visits[visit].tests = inside;
    if (!add_guarded_link(p, t, visit, value, f, inside, false)) return false;
    return n->in[0]->kind == NODE_EMPTY || add_link(p, t, visit, n->in[0], t->visits[visit].form, false);
}

static bool expand_scatter(partition *p, trace *t, uint32_t visit, const node *n) {
    int64_t whole[NDIM_MAX];
    const node *value = n->in[1];
    whole_strides(n, whole);
    uint16_t at = gather_form(t, visit, &n->attr.gather.at, 0, whole, value->ndim, value->shape);
    if (at == NO_FORM) return false;
    t->visits[visit].at = at;
    for (int i = 1; i < n->nin; i++) if (!add_link(p, t, visit, n->in[i], t->visits[visit].form, false)) return false;
    return true;
}

bool access_expand(partition *p, trace *t, uint32_t visit, trace_status *status, uint32_t *culprit) {
    const node *n = p->notes[t->visits[visit].value].n;
    uint16_t f = t->visits[visit].form;
    bool ok = true;
    *status = TRACE_STORE;
    *culprit = t->visits[visit].value;
    t->visits[visit].link = t->nlinks;
    switch (n->kind) {
    case NODE_VIEW: ok = expand_view(p, t, visit, n); break;
    case NODE_MAP: for (int i = 0; i < n->nin && ok; i++) ok = add_link(p, t, visit, n->in[i], f, false); break;
    case NODE_REDUCE: case NODE_SCAN: if (n->in[0]->size) ok = add_link(p, t, visit, n->in[0], reduced_extent(n) == 1 ? f : t->full, false); break;
    case NODE_GATHER: ok = expand_gather(p, t, visit, n, status); break;
    case NODE_WRITE: ok = p->notes[t->visits[visit].value].anchor ? expand_write(p, t, visit, n) : expand_choice(p, t, visit, n); break;
    case NODE_SCATTER: ok = expand_scatter(p, t, visit, n); break;
    case NODE_INDEX: case NODE_EMPTY: case NODE_SCALAR: break;
    default: *status = TRACE_ILLEGAL; ok = false; break;
    }
    if (t->at.failed) *status = TRACE_MEMORY;
    return ok;
}
