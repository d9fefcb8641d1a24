/* access.c: which elements of its inputs a value needs, for each kind of node.
 *
 * How it works: a value is asked for at a form, the number of its element in C order. Elementwise nodes pass the form on;
 * views and gathers turn it into coordinates and those into the number of the base's element. Where no coordinates exist
 * the value is named as the culprit: stored, it is read by its element number and needs none. Whether storing pays
 * must not be decided here. */
#include <string.h>
#include "ir/plan/internal.h"

static bool add_link(partition *p, trace *t, uint32_t visit, const node *input, uint16_t form, bool parts) {
    if (!reserve(p->mem, (void **)&t->links, &t->cap_links, t->nlinks + 1, sizeof *t->links)) { t->at.failed = true; return false; }
    t->links[t->nlinks++] = (need){ value_of(p, input), 0, input->kind == NODE_SCALAR ? NO_FORM : form, parts };
    t->visits[visit].nlinks++;
    return true;
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
    if (view_is_whole(n)) return add_link(p, t, visit, base, f, false);
    digits at;
    if (!space_digits(&t->at, f, n->ndim, n->shape, &at)) return false;
    f = space_window(&t->at, &at, n->attr.view.offset, n->attr.view.strides);
    if (f == NO_FORM) return false;
    if (!n->attr.view.part) return add_link(p, t, visit, base, f, false);
    base = without_whole_views(p, base);
    if (in_memory(p, value_of(p, base))) return add_link(p, t, visit, base, f, true);
    if (!parts_to_elements(&t->at, f, &f, &t->visits[visit].part)) return false;
    return add_link(p, t, visit, base, f, false);
}

/* The affine part of an address: dimension d of the source moves by strides[d] for each step of dimension from[d] of the
 * iterated shape; dimensions with an index input are left to the expressions. */
static uint16_t gather_form(trace *t, uint16_t f, const gather_attr *g, int64_t offset, const int64_t *strides, int ndim, const int64_t *shape) {
    int64_t moved[NDIM_MAX] = { 0 };
    bool any = false;
    for (int d = 0; d < g->ndim; d++) {
        if (g->from[d] < 0) continue;
        moved[(int)g->from[d]] += strides[d];
        any |= shape[(int)g->from[d]] != 1;
    }
    digits at;
    at.ndim = 0;
    if (any && !space_digits(&t->at, f, ndim, shape, &at)) return NO_FORM;
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
    uint16_t at = gather_form(t, t->visits[visit].form, &n->attr.gather.at, w ? w->offset : 0, w ? w->strides : whole, n->ndim, n->shape);
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

static bool expand_scatter(partition *p, trace *t, uint32_t visit, const node *n) {
    int64_t whole[NDIM_MAX];
    const node *value = n->in[1];
    whole_strides(n, whole);
    uint16_t at = gather_form(t, t->visits[visit].form, &n->attr.gather.at, 0, whole, value->ndim, value->shape);
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
    case NODE_WRITE: ok = expand_write(p, t, visit, n); break;
    case NODE_SCATTER: ok = expand_scatter(p, t, visit, n); break;
    case NODE_INDEX: case NODE_EMPTY: case NODE_SCALAR: break;
    default: *status = TRACE_ILLEGAL; ok = false; break;
    }
    if (t->at.failed) *status = TRACE_MEMORY;
    return ok;
}
