/* index.c: a[...]: an index split into a strided window and, where arrays take part, a gather on that window.
 *
 * How it works: integers, slices, None and ... change the window at once. An array keeps its axis in the window; the plan
 * says which axis of the result, or which array, every axis of the window takes its position from. Where arrays (and the
 * integers among them) stand side by side their shape takes their place, otherwise it goes in front, as in NumPy. */
#include "ir/graph/internal.h"

#include <string.h>

/* What is known while the items are walked: where the arrays' own axes will go. */
typedef struct walk {
    const layout *in;
    layout w;                     /* the window so far */
    int at;                       /* next axis of `in` */
    int8_t array_of[NDIM_MAX];    /* per axis of the window: which array, or -1 */
    node *arrays[NDIM_MAX];
    int narrays;
    int place;                    /* axes of the window before the first array or integer */
    int groups;                   /* runs of arrays and integers seen */
    bool inside;                  /* the last item was one of them */
} walk;

static void add_axis(walk *k, int64_t extent, int64_t stride, int array)
{
    k->array_of[k->w.ndim] = (int8_t)array;
    k->w.shape[k->w.ndim] = extent;
    k->w.strides[k->w.ndim++] = stride;
}

/* An array or an integer: part of the present run, or the start of one. */
static void enter_run(walk *k)
{
    if (!k->inside && k->groups++ == 0)
        k->place = k->w.ndim;
    k->inside = true;
}

static kn_status take_position(walk *k, int64_t i, message *m)
{
    int64_t extent = k->in->shape[k->at];
    if (i < -extent || i >= extent)
        return fail(m, KN_INDEX_ERROR, "index %lld is out of bounds for axis %d with size %lld", (long long)i, k->at, (long long)extent);
    enter_run(k);
    k->w.offset += (i < 0 ? i + extent : i) * k->in->strides[k->at++];
    return KN_OK;
}

/* start, stop and step as Python's slice.indices gives them, and how many there are. */
static kn_status take_slice(walk *k, const index_item *s, message *m)
{
    int64_t extent = k->in->shape[k->at], step = s->has_step ? s->step : 1, stride = k->in->strides[k->at];
    if (step == 0)
        return fail(m, KN_VALUE_ERROR, "the step of a slice cannot be zero");
    if (step == INT64_MIN)
        step = -INT64_MAX;
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? extent - 1 : extent, bound[2] = {step < 0 ? high : low, step < 0 ? low : high};
    for (int i = 0; i < 2; i++) {
        if (!(i ? s->has_stop : s->has_start))
            continue;
        int64_t v = i ? s->stop : s->start;
        if (v < 0)
            v = v < -extent ? low : v + extent;
        bound[i] = v < low ? low : v > high ? high : v;
    }
    int64_t n = step > 0 ? bound[1] > bound[0] ? (bound[1] - bound[0] - 1) / step + 1 : 0 : bound[0] > bound[1] ? (bound[0] - bound[1] - 1) / -step + 1 : 0;
    if (n > 0)
        k->w.offset += bound[0] * stride;
    add_axis(k, n, n > 1 ? stride * step : stride, -1);
    k->at++;
    return KN_OK;
}

static void take_whole(walk *k, int n)
{
    for (int i = 0; i < n; i++, k->at++)
        add_axis(k, k->in->shape[k->at], k->in->strides[k->at], -1);
}

static kn_status take_array(walk *k, const index_item *item, message *m)
{
    node *a = item->array;
    int64_t extent = k->in->shape[k->at];
    if (!dtype_is_integer(a->dtype))
        return fail(m, KN_INDEX_ERROR, "arrays used as indices must be of integer or boolean type, not %s", dtype_table[a->dtype].name);
    if (a->kind == NODE_SCALAR)
        return take_position(k, a->attr.number.kind == SCALAR_UINT ? (int64_t)(a->attr.number.v.u > INT64_MAX ? INT64_MAX : a->attr.number.v.u) : a->attr.number.v.i, m);
    if (extent == 0 && a->size > 0)
        return fail(m, KN_INDEX_ERROR, "an index array with elements for axis %d with size 0", k->at);
    enter_run(k);
    add_axis(k, extent, k->in->strides[k->at++], k->narrays);
    k->arrays[k->narrays++] = a;
    return KN_OK;
}

static kn_status count_axes(const layout *in, const index_item *items, int n, int *rest, message *m)
{
    int used = 0, ellipses = 0, more = 0;
    for (int i = 0; i < n; i++) {
        used += items[i].kind == INDEX_INT || items[i].kind == INDEX_SLICE || items[i].kind == INDEX_ARRAY;
        ellipses += items[i].kind == INDEX_ELLIPSIS;
        more += items[i].kind == INDEX_NEW_AXIS;
    }
    if (ellipses > 1)
        return fail(m, KN_INDEX_ERROR, "an index can only have a single ellipsis ('...')");
    if (used > in->ndim)
        return fail(m, KN_INDEX_ERROR, "too many indices: the array has %d dimension%s, but %d were indexed", in->ndim, in->ndim == 1 ? "" : "s", used);
    if (in->ndim + more > NDIM_MAX)
        return fail(m, KN_INDEX_ERROR, "too many new axes: an array has at most %d dimensions", NDIM_MAX);
    *rest = in->ndim - used;
    return KN_OK;
}

static kn_status take_items(walk *k, const index_item *items, int n, int rest, message *m)
{
    bool ellipsis = false;
    for (int i = 0; i < n; i++) {
        const index_item *item = &items[i];
        kn_status status = KN_OK;
        switch ((index_kind)item->kind) {
        case INDEX_INT: status = take_position(k, item->start, m); break;
        case INDEX_ARRAY: status = take_array(k, item, m); break;
        case INDEX_SLICE: k->inside = false; status = take_slice(k, item, m); break;
        case INDEX_NEW_AXIS: k->inside = false; add_axis(k, 1, 0, -1); break;
        case INDEX_ELLIPSIS: k->inside = false; ellipsis = true; take_whole(k, rest); break;
        }
        if (status)
            return status;
    }
    if (!ellipsis)
        take_whole(k, rest);
    return KN_OK;
}

/* ---- arrays ---- */

static kn_status broadcast_arrays(const walk *k, int *ndim, int64_t *shape, message *m)
{
    int ndims[NDIM_MAX];
    const int64_t *shapes[NDIM_MAX];
    message why = {0};
    for (int i = 0; i < k->narrays; i++) {
        ndims[i] = k->arrays[i]->ndim;
        shapes[i] = k->arrays[i]->shape;
    }
    kn_status status = shape_broadcast(k->narrays, ndims, shapes, ndim, shape, "index arrays", &why);
    return status ? fail(m, KN_INDEX_ERROR, "%s", why.text) : KN_OK;
}

static kn_status resolve_arrays(const walk *k, index_plan *out, message *m)
{
    int64_t own[NDIM_MAX], across[NDIM_MAX];
    int nown, place = k->groups > 1 ? 0 : k->place, window_axes = k->w.ndim - k->narrays;
    kn_status status = broadcast_arrays(k, &nown, own, m);
    if (status)
        return status;
    if (window_axes + nown > NDIM_MAX)
        return fail(m, KN_INDEX_ERROR, "the result has more than %d dimensions", NDIM_MAX);
    out->ndim = window_axes + nown;
    for (int d = 0; d < nown; d++)
        out->shape[place + d] = own[d];
    for (int d = 0, seen = 0; d < k->w.ndim; d++) {
        if (k->array_of[d] >= 0) {
            out->from[d] = (int8_t)(-1 - k->array_of[d]);
            continue;
        }
        int at = seen < place ? seen : seen + nown;
        out->from[d] = (int8_t)at;
        out->shape[at] = k->w.shape[d];
        seen++;
    }
    for (int i = 0; i < k->narrays; i++) {
        int lead = nown - k->arrays[i]->ndim;
        for (int d = 0; d < out->ndim; d++) {
            int mine = d - place - lead;
            across[d] = mine >= 0 && mine < k->arrays[i]->ndim ? k->arrays[i]->shape[mine] : 1;
        }
        node *a = do_reshape(node_cast(k->arrays[i], KN_INT64, m), out->ndim, across, m);
        a = do_broadcast(a, out->ndim, out->shape, m);
        if (!a)
            return m && m->status ? m->status : KN_MEMORY_ERROR;
        out->arrays[out->narrays++] = a;
    }
    out->advanced = true;
    return KN_OK;
}

kn_status index_resolve(const layout *in, const index_item *items, int n, index_plan *out, message *m)
{
    walk k;
    int rest = 0;
    k.in = in;
    k.w.dtype = in->dtype;
    k.w.ndim = 0;
    k.w.offset = in->offset;
    k.at = k.narrays = k.place = k.groups = 0;
    k.inside = false;
    out->advanced = false;
    out->narrays = 0;
    kn_status status = count_axes(in, items, n, &rest, m);
    if (!status)
        status = take_items(&k, items, n, rest, m);
    if (status)
        return status;
    out->window = k.w;
    if (k.narrays) {
        status = resolve_arrays(&k, out, m);
        if (status)
            index_plan_free(out);
        return status;
    }
    out->ndim = k.w.ndim;
    memcpy(out->shape, k.w.shape, (size_t)k.w.ndim * sizeof *out->shape);
    return KN_OK;
}

void index_plan_free(index_plan *p)
{
    for (int i = 0; i < p->narrays; i++)
        node_drop(p->arrays[i]);
    p->narrays = 0;
}
