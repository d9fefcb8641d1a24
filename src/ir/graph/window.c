/* window.c: nodes that read or replace a strided window of another value: views, reshapes, transpositions, broadcasts.
 *
 * How it works: a window counts elements of its base in C order. A view of a view becomes one view of the lower base
 * wherever the elements met lie evenly there, so chains stay short; where they do not, the views stay stacked. */
#include "ir/graph/internal.h"

#include <string.h>

/* Strides of a C-ordered array; extents of 0 count as 1, so that strides stay meaningful. */
void strides_c_order(int ndim, const int64_t *shape, int64_t unit, int64_t *strides)
{
    for (int d = ndim; d-- > 0;) {
        strides[d] = unit;
        unit *= shape[d] > 1 ? shape[d] : 1;
    }
}

static bool shapes_equal(int ndim, const int64_t *a, const int64_t *b)
{
    for (int d = 0; d < ndim; d++)
        if (a[d] != b[d])
            return false;
    return true;
}

static bool is_identity(const node *base, kn_dtype t, const window *w)
{
    if (w->part || (kn_dtype)base->dtype != t || w->ndim != base->ndim || !shapes_equal(w->ndim, w->shape, base->shape))
        return false;
    if (base->size == 0)
        return true;
    int64_t strides[NDIM_MAX];
    strides_c_order(base->ndim, base->shape, 1, strides);
    bool same = w->offset == 0;
    for (int d = 0; d < w->ndim; d++)
        same &= w->shape[d] == 1 || w->strides[d] == strides[d];
    return same;
}

/* ---- a view of a view ---- */

/* The lower view as a box of coordinates: dimensions that lie like one are merged. */
typedef struct box { int n; int64_t extent[NDIM_MAX], place[NDIM_MAX] /* C order */, stride[NDIM_MAX] /* in the base */; } box;

static void box_of(const node *v, box *b)
{
    const window *w = &v->attr.view;
    b->n = 0;
    for (int d = 0; d < v->ndim; d++) {
        if (v->shape[d] == 1)
            continue;
        if (b->n > 0 && b->stride[b->n - 1] == w->strides[d] * v->shape[d]) {
            b->extent[b->n - 1] *= v->shape[d];
            b->stride[b->n - 1] = w->strides[d];
        } else {
            b->extent[b->n] = v->shape[d];
            b->stride[b->n++] = w->strides[d];
        }
    }
    strides_c_order(b->n, b->extent, 1, b->place);
}

static int64_t quotient(int64_t a, int64_t b, bool nearest)
{
    int64_t q = a / b, r = a % b;
    if (nearest && r && 2 * (r < 0 ? -r : r) > b)
        q += r < 0 ? -1 : 1;
    return q;
}

/* Finds strides and offset in the lower base, if every coordinate stays within the box for all elements. */
static bool compose(const box *b, const window *w, int64_t unit, int64_t parity, bool nearest, int64_t *offset, int64_t *strides)
{
    int64_t low[NDIM_MAX], high[NDIM_MAX], rest = (w->offset - parity) / unit;
    *offset = 0;
    for (int k = 0; k < b->n; k++) {
        low[k] = high[k] = rest / b->place[k];
        rest %= b->place[k];
        *offset += low[k] * b->stride[k];
    }
    for (int j = 0; j < w->ndim; j++) {
        strides[j] = 0;
        if (w->shape[j] == 1)
            continue;
        int64_t step = w->strides[j] / unit;
        for (int k = 0; k < b->n; k++) {
            int64_t q = quotient(step, b->place[k], nearest && b->place[k] > 1);
            step -= q * b->place[k];
            strides[j] += q * b->stride[k];
            *(q < 0 ? &low[k] : &high[k]) += q * (w->shape[j] - 1);
        }
    }
    bool inside = rest == 0;
    for (int k = 0; k < b->n; k++)
        inside &= low[k] >= 0 && high[k] < b->extent[k];
    return inside;
}

/* What a view is a view of, a new reference; NULL once it has been computed and has let go of that. */
static node *base_of(node *v)
{
    node_lock(v);
    node *base = v->nin && !node_ready(v) ? node_keep(v->in[0]) : NULL;
    node_unlock(v);
    return base;
}

static node *composed(node *v, kn_dtype t, const window *w, message *m, bool *possible)
{
    int64_t strides[NDIM_MAX], offset, unit = w->part ? 2 : 1, parity = w->part ? w->offset & 1 : 0;
    box b;
    *possible = v->size > 0;
    for (int d = 0; d < w->ndim; d++)
        *possible &= w->shape[d] > 0 && (w->shape[d] == 1 || w->strides[d] % unit == 0);
    if (!*possible)
        return NULL;
    box_of(v, &b);
    *possible = compose(&b, w, unit, parity, false, &offset, strides) || compose(&b, w, unit, parity, true, &offset, strides);
    if (!*possible)
        return NULL;
    for (int d = 0; d < w->ndim; d++)
        strides[d] *= unit;
    node *base = base_of(v);
    *possible = base != NULL;
    if (!base)
        return NULL;
    window lower = {.offset = (v->attr.view.offset + offset) * unit + parity, .strides = strides, .shape = w->shape, .ndim = w->ndim, .part = w->part || v->attr.view.part};
    node *n = node_view(base, t, &lower, m);
    node_drop(base);
    return n;
}

/* ---- nodes ---- */

node *node_view(node *base, kn_dtype t, const window *w, message *m)
{
    if (is_identity(base, t, w))
        return node_keep(base);
    if (base->kind == NODE_SCALAR && w->part) { /* a number's part is a number */
        const scalar *s = &base->attr.number;
        node *part = node_scalar(t, (scalar){.kind = SCALAR_FLOAT, .v.f = w->offset & 1 ? s->v.c.im : s->v.c.re}, false, m);
        node *view = part ? node_view(part, t, &(window){.strides = w->strides, .shape = w->shape, .ndim = w->ndim}, m) : NULL;
        node_drop(part);
        return view;
    }
    if (base->kind == NODE_VIEW) {
        bool possible;
        node *n = composed(base, t, w, m, &possible);
        if (possible)
            return n;
    }
    return node_windowed(NODE_VIEW, t, w->ndim, w->shape, 1, &base, w, m);
}

node *node_write(node *base, const window *w, node *value, message *m)
{
    if (is_identity(base, base->dtype, w))
        return node_keep(value);
    if (value->size == 0)
        return node_keep(base);
    return node_windowed(NODE_WRITE, base->dtype, base->ndim, base->shape, 2, (node *[]){base, value}, w, m);
}

node *node_broadcast(node *a, int ndim, const int64_t *shape, message *m)
{
    if (ndim == a->ndim && shapes_equal(ndim, shape, a->shape))
        return node_keep(a);
    int64_t own[NDIM_MAX], strides[NDIM_MAX];
    int lead = ndim - a->ndim;
    strides_c_order(a->ndim, a->shape, 1, own);
    for (int d = 0; d < ndim; d++)
        strides[d] = d < lead || a->shape[d - lead] == 1 ? 0 : own[d - lead];
    return node_view(a, a->dtype, &(window){.strides = strides, .shape = shape, .ndim = ndim}, m);
}

node *node_reshape(node *a, int ndim, const int64_t *shape, message *m)
{
    int64_t strides[NDIM_MAX];
    strides_c_order(ndim, shape, 1, strides);
    return node_view(a, a->dtype, &(window){.strides = strides, .shape = shape, .ndim = ndim}, m);
}

node *node_transpose(node *a, const int *axes, message *m)
{
    int64_t own[NDIM_MAX], strides[NDIM_MAX], shape[NDIM_MAX];
    strides_c_order(a->ndim, a->shape, 1, own);
    for (int d = 0; d < a->ndim; d++) {
        shape[d] = a->shape[axes[d]];
        strides[d] = own[axes[d]];
    }
    return node_view(a, a->dtype, &(window){.strides = strides, .shape = shape, .ndim = a->ndim}, m);
}

/* A view by a layout in bytes over the node's own C order. */
node *node_of_layout(node *a, const layout *l, message *m)
{
    int64_t strides[NDIM_MAX];
    bool part = dtype_is_complex(a->dtype) && !dtype_is_complex(l->dtype);
    int64_t unit = (int64_t)dtype_size(a->dtype) / (part ? 2 : 1);
    for (int d = 0; d < l->ndim; d++)
        strides[d] = l->strides[d] / unit;
    return node_view(a, l->dtype, &(window){.offset = l->offset / unit, .strides = strides, .shape = l->shape, .ndim = l->ndim, .part = part}, m);
}

void layout_of_node(const node *a, layout *l)
{
    l->dtype = a->dtype;
    l->ndim = a->ndim;
    l->offset = 0;
    memcpy(l->shape, a->shape, (size_t)a->ndim * sizeof *a->shape);
    strides_c_order(a->ndim, a->shape, (int64_t)dtype_size(a->dtype), l->strides);
}
