/* method.c: reduce, accumulate, outer and at of every ufunc of two operands.
 *
 * How it works: a ufunc names its reduction; what its loops make of the operand's dtype is what is accumulated in. at is a
 * scatter that combines. */
#include "ir/graph/internal.h"

#include <string.h>

/* The dtype that a ufunc folds in: its loop on (t, t) must give its operands' dtype back. */
static kn_status folding_dtype(int ufunc, const char *method, kn_dtype t, kn_dtype asked, kn_dtype *out, message *m)
{
    const ufunc_info *f = &ufuncs[ufunc];
    if (f->nin != 2 || f->nout != 1 || f->reduction < 0)
        return fail(m, KN_VALUE_ERROR, "%s.%s: only functions of two operands and one result have it", f->name, method);
    if (ufunc == UFUNC_add || ufunc == UFUNC_multiply)
        t = sum_dtype(t, asked);
    ufunc_operand operands[2] = {{.dtype = t}, {.dtype = t}};
    const ufunc_loop *l = ufunc_resolve(ufunc, operands, asked, CAST_UNSAFE, m);
    if (!l)
        return m && m->status ? m->status : KN_TYPE_ERROR;
    if (l->in[0] != l->out[0] || l->in[1] != l->out[0])
        return fail(m, KN_TYPE_ERROR, "%s.%s: of %s, results are %s and cannot be operands again", f->name, method, dtype_table[t].name, dtype_table[l->out[0]].name);
    *out = l->out[0];
    return KN_OK;
}

node *ufunc_reduce(int ufunc, node *a, kn_axis axis, kn_dtype dtype, bool keepdims, node *initial, node *where, message *m)
{
    uint64_t axes;
    int n;
    int64_t count = 1;
    kn_dtype t;
    const ufunc_info *f = &ufuncs[ufunc];
    if (folding_dtype(ufunc, "reduce", a->dtype, dtype, &t, m) || axes_normalise(axis, a->ndim, &axes, NULL, &n, f->name, m))
        return NULL;
    if (n > 1 && reductions[f->reduction].ordered) {
        fail(m, KN_VALUE_ERROR, "%s.reduce: the order matters, so it takes one axis only", f->name);
        return NULL;
    }
    for (int d = 0; d < a->ndim; d++)
        if (axes >> d & 1)
            count *= a->shape[d];
    return reduce_request((reduction_number)f->reduction, f->name, a, axes, count, t, keepdims, initial, where, m);
}

node *ufunc_accumulate(int ufunc, node *a, int64_t axis, kn_dtype dtype, message *m)
{
    kn_dtype t;
    if (a->ndim == 0) {
        fail(m, KN_TYPE_ERROR, "%s.accumulate: needs at least one dimension", ufuncs[ufunc].name);
        return NULL;
    }
    if (folding_dtype(ufunc, "accumulate", a->dtype, dtype, &t, m))
        return NULL;
    return scan_axis((reduction_number)ufuncs[ufunc].reduction, a, axis, t, ufuncs[ufunc].name, m);
}

node *ufunc_reduceat(int ufunc, node *a, node *starts, node *rest, node *segment, int axis, kn_dtype dtype, message *m)
{
    kn_dtype t;
    int8_t from[NDIM_MAX];
    int64_t shape[NDIM_MAX];
    if (folding_dtype(ufunc, "reduceat", a->dtype, dtype, &t, m))
        return NULL;
    node *x = node_cast(a, t, m), *base = do_gather(kept(x), axis, kept(starts), m), *more = do_gather(x, axis, kept(rest), m), *r = NULL;
    if (base && more && more->size == 0) {
        r = kept(base);
    } else if (base && more) {
        for (int d = 0; d < more->ndim; d++) {
            from[d] = (int8_t)(d == axis ? -1 : d);
            shape[d] = d == axis ? segment->size : 1;
        }
        node *to = do_broadcast(node_reshape(segment, more->ndim, shape, m), more->ndim, more->shape, m);
        r = to ? node_scatter(base, more, SCATTER_COMBINE, ufunc, from, 1, &to, m) : NULL;
        node_drop(to);
    }
    node_drop(base);
    node_drop(more);
    return r;
}

node *ufunc_outer(int ufunc, node *a, node *b, kn_dtype dtype, message *m)
{
    int64_t shape[2 * NDIM_MAX];
    node *r = NULL;
    if (ufuncs[ufunc].nin != 2 || ufuncs[ufunc].nout != 1) {
        fail(m, KN_VALUE_ERROR, "%s.outer: only functions of two operands and one result have it", ufuncs[ufunc].name);
        return NULL;
    }
    if (a->ndim + b->ndim > NDIM_MAX) {
        fail(m, KN_VALUE_ERROR, "%s.outer: the result has more than %d dimensions", ufuncs[ufunc].name, NDIM_MAX);
        return NULL;
    }
    for (int d = 0; d < a->ndim + b->ndim; d++)
        shape[d] = d < a->ndim ? a->shape[d] : 1;
    node *wide = b->ndim ? node_reshape(a, a->ndim + b->ndim, shape, m) : kept(a);
    if (wide)
        ufunc_apply(ufunc, 2, (node *[]){wide, b}, dtype, &r, m);
    node_drop(wide);
    return r;
}

/* ---- at ---- */

/* The window's new value where it has no arrays: everything stands there once. Borrows all. */
static node *combined(int ufunc, node *part, node *b, message *m)
{
    const ufunc_info *f = &ufuncs[ufunc];
    node *r = NULL;
    if (f->nin != (b ? 2 : 1) || f->nout != 1) {
        fail(m, KN_VALUE_ERROR, "%s.at: takes %s", f->name, f->nin == 2 ? "a second operand" : "no second operand");
        return NULL;
    }
    ufunc_apply(ufunc, f->nin, (node *[]){part, b}, KN_DTYPE_UNSET, &r, m);
    if (r && !dtype_can_cast(r->dtype, part->dtype, CAST_SAME_KIND)) {
        fail(m, KN_TYPE_ERROR, "%s.at: the result's dtype %s cannot be cast to the array's %s", f->name, dtype_table[r->dtype].name, dtype_table[part->dtype].name);
        node_drop(r);
        return NULL;
    }
    return do_cast(r, part->dtype, m);
}

/* Truth values are combined as bools; only elements that an index names become them. Borrows all. */
static node *truths_at(int ufunc, node *part, const index_plan *at, node *b, message *m)
{
    node *hit = filled(weak_bool(false, m), part->ndim, part->shape, m), *yes = filled(weak_bool(true, m), at->ndim, at->shape, m);
    node *truth = node_cast(part, KN_BOOL, m), *value = do_broadcast(node_cast(b, KN_BOOL, m), at->ndim, at->shape, m);
    node *named = hit && yes ? node_scatter(hit, yes, SCATTER_SET, -1, at->from, at->narrays, at->arrays, m) : NULL;
    node *r = truth && value ? node_scatter(truth, value, SCATTER_COMBINE, ufunc, at->from, at->narrays, at->arrays, m) : NULL;
    node_drop(hit);
    node_drop(yes);
    node_drop(truth);
    node_drop(value);
    return do_where(named, do_cast(r, part->dtype, m), kept(part), m);
}

node *ufunc_at(int ufunc, node *a, const index_plan *at, node *b, message *m)
{
    char x[SHAPE_TEXT], y[SHAPE_TEXT];
    int64_t strides[NDIM_MAX], unit = (int64_t)dtype_size(a->dtype);
    window w = {.offset = at->window.offset / unit, .strides = strides, .shape = at->window.shape, .ndim = at->window.ndim};
    for (int d = 0; d < w.ndim; d++)
        strides[d] = at->window.strides[d] / unit;
    for (int d = 0; b && d < b->ndim; d++)
        if (b->ndim > at->ndim || (b->shape[d] != 1 && b->shape[d] != at->shape[at->ndim - b->ndim + d])) {
            fail(m, KN_VALUE_ERROR, "%s.at: an operand of shape %s does not broadcast to the indexed %s", ufuncs[ufunc].name, shape_text(x, b->ndim, b->shape), shape_text(y, at->ndim, at->shape));
            return NULL;
        }
    node *part = node_of_layout(a, &at->window, m), *next = NULL;
    if (!part)
        return NULL;
    if (!at->advanced) {
        next = combined(ufunc, part, b, m);
    } else if (!b) { /* a position that occurs several times counts once here */
        node *old = node_gather(part, at->from, at->narrays, at->arrays, at->ndim, at->shape, m), *value = old ? combined(ufunc, old, NULL, m) : NULL;
        next = value ? node_scatter(part, value, SCATTER_SET, -1, at->from, at->narrays, at->arrays, m) : NULL;
        node_drop(value);
        node_drop(old);
    } else if (ufuncs[ufunc].flags & UFUNC_TRUTH && part->dtype != KN_BOOL) {
        next = truths_at(ufunc, part, at, b, m);
    } else {
        ufunc_operand operands[2] = {{.dtype = part->dtype}, {.dtype = b->dtype, .weak = b->weak}};
        if (b->weak)
            operands[1].number = b->attr.number;
        const ufunc_loop *l = ufuncs[ufunc].nin == 2 ? ufunc_resolve(ufunc, operands, KN_DTYPE_UNSET, CAST_SAME_KIND, m) : NULL;
        bool fits = l && l->out[0] == l->in[0] && dtype_can_cast(l->out[0], part->dtype, CAST_SAME_KIND);
        if (l && !fits)
            fail(m, KN_TYPE_ERROR, "%s.at: the result's dtype %s cannot be cast to the array's %s", ufuncs[ufunc].name, dtype_table[l->out[0]].name, dtype_table[part->dtype].name);
        node *value = fits ? do_broadcast(node_cast(b, part->dtype, m), at->ndim, at->shape, m) : NULL;
        next = value ? node_scatter(part, value, SCATTER_COMBINE, ufunc, at->from, at->narrays, at->arrays, m) : NULL;
        node_drop(value);
    }
    node *r = next ? node_write(a, &w, next, m) : NULL;
    node_drop(next);
    node_drop(part);
    return r;
}
