/* join.c: arrays put together from arrays: joined, repeated, rolled.
 *
 * How it works: joining writes every part into its window of memory that is not set yet; repeating is a broadcast along a
 * new axis that is then merged. All of it fuses with what reads it. */
#include "ir/graph/internal.h"

#include <string.h>

/* ---- joining ---- */

/* Writes value where axis counts from `at`. Consumes base. */
static node *write_part(node *base, int axis, int64_t at, node *value, message *m)
{
    int64_t strides[NDIM_MAX];
    if (!base)
        return NULL;
    strides_c_order(base->ndim, base->shape, 1, strides);
    window w = {.offset = at * strides[axis], .strides = strides, .shape = value->shape, .ndim = base->ndim};
    node *n = value->size ? node_write(base, &w, value, m) : kept(base);
    node_drop(base);
    return n;
}

node *join_nodes(int n, node *const *in, int axis, kn_dtype t, const char *name, message *m)
{
    char a[SHAPE_TEXT], b[SHAPE_TEXT];
    int64_t shape[NDIM_MAX], at = 0;
    memcpy(shape, in[0]->shape, (size_t)in[0]->ndim * sizeof *shape);
    for (int i = 1; i < n; i++) {
        bool fits = in[i]->ndim == in[0]->ndim;
        for (int d = 0; fits && d < in[0]->ndim; d++)
            fits = d == axis || in[i]->shape[d] == shape[d];
        if (!fits || add_overflows(shape[axis], in[i]->shape[axis], &shape[axis])) {
            fail(m, KN_VALUE_ERROR, "%s: shapes %s and %s differ elsewhere than along axis %d", name, shape_text(a, in[0]->ndim, in[0]->shape), shape_text(b, in[i]->ndim, in[i]->shape), axis);
            return NULL;
        }
    }
    if (n == 1)
        return node_cast(in[0], t, m);
    node *all = node_empty(t, in[0]->ndim, shape, m);
    for (int i = 0; i < n && all; i++) {
        node *part = node_cast(in[i], t, m);
        if (part)
            all = write_part(all, axis, at, part, m);
        else {
            node_drop(all);
            all = NULL;
        }
        node_drop(part);
        at += in[i]->shape[axis];
    }
    return all;
}

node *do_join(int n, node **in, int axis, const char *name, message *m)
{
    bool whole = true;
    for (int i = 0; i < n; i++)
        whole &= in[i] != NULL;
    node *r = whole ? join_nodes(n, in, axis, nodes_dtype(n, in), name, m) : NULL;
    for (int i = 0; i < n; i++)
        node_drop(in[i]);
    return r;
}

typedef struct parts { int n; node **at; } parts;

static void parts_free(parts *p)
{
    for (int i = 0; i < p->n; i++)
        node_drop(p->at[i]);
    mem_free(p->at);
}

static kn_status parts_of(const op_value *list, const char *name, parts *p, message *m)
{
    *p = (parts){0, NULL};
    if (list->v.list.n == 0)
        return fail(m, KN_VALUE_ERROR, "%s: needs at least one array", name);
    p->at = mem_array((size_t)list->v.list.n, sizeof *p->at);
    if (!p->at)
        return fail_memory(m, name);
    for (; p->n < list->v.list.n; p->n++)
        p->at[p->n] = kept(list->v.list.at[p->n]);
    return KN_OK;
}

/* The dtype of the result, which the parts must be castable to. */
static kn_status joined_dtype(const parts *p, kn_dtype asked, const char *rule_name, const char *name, kn_dtype *t, message *m)
{
    casting rule;
    *t = asked ? asked : nodes_dtype(p->n, p->at);
    if (!casting_named(rule_name, &rule))
        return fail(m, KN_VALUE_ERROR, "%s: casting must be no, equiv, safe, same_kind or unsafe, not '%s'", name, rule_name);
    for (int i = 0; i < p->n; i++)
        if (!dtype_can_cast(p->at[i]->dtype, *t, rule) && !p->at[i]->weak)
            return fail(m, KN_TYPE_ERROR, "%s: %s cannot be cast to %s under the casting rule", name, dtype_table[p->at[i]->dtype].name, dtype_table[*t].name);
    return KN_OK;
}

/* Frees the parts. */
static kn_status join_parts(parts *p, kn_axis axis, kn_dtype dtype, const char *rule, const char *name, node **results, message *m)
{
    int list[NDIM_MAX] = {0}, n = 1;
    kn_dtype t;
    kn_status status = KN_OK;
    for (int i = 0; i < p->n && !status; i++)
        if (p->at[i]->ndim == 0 && axis != INT64_MIN)
            status = fail(m, KN_VALUE_ERROR, "%s: arrays without dimensions cannot be joined", name);
    if (!status && axis == INT64_MIN)
        for (int i = 0; i < p->n && !status; i++) {
            p->at[i] = do_reshape(p->at[i], 1, (const int64_t[]){p->at[i]->size}, m);
            status = p->at[i] ? KN_OK : KN_MEMORY_ERROR;
        }
    else if (!status)
        status = axes_normalise(axis, p->at[0]->ndim, NULL, list, &n, name, m);
    if (!status && n != 1)
        status = fail(m, KN_TYPE_ERROR, "%s: takes one axis", name);
    if (!status)
        status = joined_dtype(p, dtype, rule, name, &t, m);
    if (!status)
        status = give(results, join_nodes(p->n, p->at, list[0], t, name, m), m);
    parts_free(p);
    return status;
}

kn_status op_concatenate(const op_value *args, node **results, message *m)
{
    parts p;
    kn_status status = parts_of(&args[0], "concatenate", &p, m);
    return status ? status : join_parts(&p, args[1].v.axis, args[3].v.dtype, args[4].v.text, "concatenate", results, m);
}

kn_status op_stack(const op_value *args, node **results, message *m)
{
    parts p;
    char a[SHAPE_TEXT], b[SHAPE_TEXT];
    int list[NDIM_MAX], n;
    kn_status status = parts_of(&args[0], "stack", &p, m);
    if (status)
        return status;
    const node *first = p.at[0];
    for (int i = 1; i < p.n && !status; i++)
        if (p.at[i]->ndim != first->ndim || memcmp(p.at[i]->shape, first->shape, (size_t)first->ndim * sizeof *first->shape) != 0)
            status = fail(m, KN_VALUE_ERROR, "stack: all arrays must have one shape, not %s and %s", shape_text(a, first->ndim, first->shape), shape_text(b, p.at[i]->ndim, p.at[i]->shape));
    if (!status)
        status = axes_normalise(args[1].v.axis, first->ndim + 1, NULL, list, &n, "stack", m);
    if (!status && (n != 1 || args[1].v.axis == INT64_MIN))
        status = fail(m, KN_TYPE_ERROR, "stack: takes one axis");
    for (int i = 0; i < p.n && !status; i++) {
        p.at[i] = do_expand(p.at[i], list[0], m);
        status = p.at[i] ? KN_OK : KN_MEMORY_ERROR;
    }
    if (status) {
        parts_free(&p);
        return status;
    }
    return join_parts(&p, list[0], args[3].v.dtype, args[4].v.text, "stack", results, m);
}

/* Every part through a view that gives it enough dimensions, then joined. */
static kn_status pile(const op_value *args, view_handler *view, int axis, int axis_of_1d, kn_dtype t, const char *rule, const char *name, node **results, message *m)
{
    parts p;
    kn_status status = parts_of(&args[0], name, &p, m);
    for (int i = 0; i < p.n && !status; i++) {
        layout in, out;
        layout_of_node(p.at[i], &in);
        view(&in, args, &out, m);
        p.at[i] = do_view(p.at[i], &out, m);
        status = p.at[i] ? KN_OK : KN_MEMORY_ERROR;
    }
    if (status) {
        parts_free(&p);
        return status;
    }
    return join_parts(&p, p.at[0]->ndim == 1 ? axis_of_1d : axis, t, rule, name, results, m);
}

kn_status op_vstack(const op_value *args, node **results, message *m) { return pile(args, view_atleast_2d, 0, 0, args[1].v.dtype, args[2].v.text, "vstack", results, m); }
kn_status op_hstack(const op_value *args, node **results, message *m) { return pile(args, view_atleast_1d, 1, 0, args[1].v.dtype, args[2].v.text, "hstack", results, m); }
kn_status op_dstack(const op_value *args, node **results, message *m) { return pile(args, view_atleast_3d, 2, 2, KN_DTYPE_UNSET, NULL, "dstack", results, m); }

static kn_status view_column(const layout *in, const op_value *args, layout *out, message *m)
{
    (void)args, (void)m;
    *out = *in;
    while (out->ndim < 2) {
        out->shape[out->ndim] = 1;
        out->strides[out->ndim++] = (int64_t)dtype_size(in->dtype);
    }
    return KN_OK;
}

kn_status op_column_stack(const op_value *args, node **results, message *m) { return pile(args, view_column, 1, 1, KN_DTYPE_UNSET, NULL, "column_stack", results, m); }

kn_status op_append(const op_value *args, node **results, message *m)
{
    op_value list = {.kind = PARAM_LIST, .v.list = {(node *[]){args[0].v.array, args[1].v.array}, 2}};
    parts p;
    kn_status status = parts_of(&list, "append", &p, m);
    return status ? status : join_parts(&p, args[2].v.axis, KN_DTYPE_UNSET, NULL, "append", results, m);
}

/* ---- repeating ---- */

node *do_repeat(node *a, int axis, int64_t n, message *m)
{
    int64_t shape[NDIM_MAX + 1];
    if (a && a->ndim == NDIM_MAX) {
        fail(m, KN_VALUE_ERROR, "repeat: too many dimensions");
        node_drop(a);
        return NULL;
    }
    node *r = do_expand(a, axis + 1, m);
    if (!r)
        return NULL;
    int ndim = r->ndim - 1;
    memcpy(shape, r->shape, (size_t)r->ndim * sizeof *shape);
    shape[axis + 1] = n;
    r = do_broadcast(r, ndim + 1, shape, m);
    if (mul_overflows(shape[axis], n, &shape[axis]))
        shape[axis] = INT64_MAX; /* refused as too large by the reshape */
    memmove(shape + axis + 1, shape + axis + 2, (size_t)(ndim - axis - 1) * sizeof *shape);
    return do_reshape(r, ndim, shape, m);
}

/* Consumes a. reps has ndim entries, as many as a has dimensions. */
static node *tiled(node *a, const int64_t *reps, message *m)
{
    int64_t one[NDIM_MAX], many[NDIM_MAX], result[NDIM_MAX];
    if (!a)
        return NULL;
    int ndim = a->ndim, n = 0;
    for (int d = 0; d < ndim; d++) {
        if (mul_overflows(a->shape[d], reps[d], &result[d]) || n + 2 > NDIM_MAX) {
            fail(m, KN_VALUE_ERROR, "tile: the result is too large");
            node_drop(a);
            return NULL;
        }
        if (reps[d] != 1) {
            one[n] = 1;
            many[n++] = reps[d];
        }
        one[n] = many[n] = a->shape[d];
        n++;
    }
    return do_reshape(do_broadcast(do_reshape(a, n, one, m), n, many, m), ndim, result, m);
}

kn_status op_tile(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    int nreps = args[1].v.shape.ndim, ndim = nreps > a->ndim ? nreps : a->ndim;
    int64_t shape[NDIM_MAX], reps[NDIM_MAX];
    for (int d = 0; d < ndim; d++) {
        shape[d] = d < ndim - a->ndim ? 1 : a->shape[d - (ndim - a->ndim)];
        reps[d] = d < ndim - nreps ? 1 : args[1].v.shape.dim[d - (ndim - nreps)];
        if (reps[d] < 0)
            return fail(m, KN_VALUE_ERROR, "tile: the numbers of repeats must not be negative");
    }
    return give(results, tiled(node_reshape(a, ndim, shape, m), reps, m), m);
}

kn_status op_resize(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    int64_t size;
    char t[SHAPE_TEXT];
    int ndim = args[1].v.shape.ndim;
    const int64_t *shape = args[1].v.shape.dim;
    if (!shape_size(ndim, shape, &size))
        return fail(m, KN_VALUE_ERROR, "resize: %s is no possible shape", shape_text(t, ndim, shape));
    if (a->size == 0)
        return give(results, filled(typed_int(a->dtype, 0, m), ndim, shape, m), m);
    int64_t reps = size / a->size + (size % a->size != 0), unit = 1;
    node *flat = tiled(node_reshape(a, 1, &a->size, m), &reps, m);
    node *cut = flat ? node_view(flat, flat->dtype, &(window){.strides = &unit, .shape = &size, .ndim = 1}, m) : NULL;
    node_drop(flat);
    return give(results, do_reshape(cut, ndim, shape, m), m);
}

/* ---- rolling ---- */

node *rolled(node *a, int64_t shift, int axis, message *m)
{
    int64_t n = a->shape[axis];
    shift = n ? shift % n : 0;
    if (shift < 0)
        shift += n;
    if (shift == 0)
        return kept(a);
    return do_join(2, (node *[]){do_slice(kept(a), axis, n - shift, shift, m), do_slice(kept(a), axis, 0, n - shift, m)}, axis, "roll", m);
}
