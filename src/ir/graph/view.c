/* view.c: operations whose result is another window on the same memory: layout to layout, in bytes.
 *
 * How it works: a handler changes shape, strides and offset of a strided window; it never looks at elements. The same
 * handler serves arrays in memory and pending ones. What cannot be a window returns VIEW_NEEDS_COPY. */
#include "ir/graph/internal.h"

#include <string.h>

static int64_t layout_size(const layout *l)
{
    int64_t size = 1;
    for (int d = 0; d < l->ndim; d++)
        size *= l->shape[d];
    return size;
}

static kn_status one_axis(kn_axis axis, int ndim, int *out, const char *op, message *m)
{
    int list[NDIM_MAX], n;
    kn_status status = axes_normalise(axis, ndim, NULL, list, &n, op, m);
    if (status)
        return status;
    if (n != 1 || axis == INT64_MIN)
        return fail(m, KN_TYPE_ERROR, "%s: takes one axis", op);
    *out = list[0];
    return KN_OK;
}

static void permute(const layout *in, const int *axes, layout *out)
{
    layout r = *in;
    for (int d = 0; d < in->ndim; d++) {
        r.shape[d] = in->shape[axes[d]];
        r.strides[d] = in->strides[axes[d]];
    }
    *out = r;
}

static void reversed_axes(const layout *in, layout *out)
{
    int axes[NDIM_MAX];
    for (int d = 0; d < in->ndim; d++)
        axes[d] = in->ndim - 1 - d;
    permute(in, axes, out);
}

static void flip_axis(layout *l, int axis)
{
    if (l->shape[axis] > 0)
        l->offset += l->strides[axis] * (l->shape[axis] - 1);
    l->strides[axis] = -l->strides[axis];
}

/* ---- reshape ---- */

static kn_status check_order(const char *order, const char *op, message *m)
{
    if (order && (strlen(order) != 1 || !strchr("CFAK", *order)))
        return fail(m, KN_VALUE_ERROR, "%s: order must be C, F, A or K, not '%s'", op, order);
    return KN_OK;
}

static kn_status wanted_shape(const layout *in, const op_value *shape, const char *op, int64_t *to, message *m)
{
    memcpy(to, shape->v.shape.dim, (size_t)shape->v.shape.ndim * sizeof *to);
    return shape_infer(layout_size(in), shape->v.shape.ndim, to, op, m);
}

kn_status view_reshape(const layout *in, const op_value *args, layout *out, message *m)
{
    const char *order = args[2].v.text;
    int64_t to[NDIM_MAX], copy = args[3].v.integer;
    int ndim = args[1].v.shape.ndim;
    bool fortran = order && *order == 'F';
    kn_status status = check_order(order, "reshape", m);
    if (!status)
        status = wanted_shape(in, &args[1], "reshape", to, m);
    if (status)
        return status;
    if (copy != INT_NONE && copy != 0)
        return VIEW_NEEDS_COPY;
    layout from = *in;
    if (fortran) {
        reversed_axes(in, &from);
        for (int d = 0; d < ndim / 2; d++) {
            int64_t t = to[d];
            to[d] = to[ndim - 1 - d];
            to[ndim - 1 - d] = t;
        }
    }
    *out = from;
    out->ndim = ndim;
    memcpy(out->shape, to, (size_t)ndim * sizeof *to);
    if (!strides_reshape(from.ndim, from.shape, from.strides, ndim, to, out->strides)) {
        char a[SHAPE_TEXT], b[SHAPE_TEXT];
        if (copy == 0)
            return fail(m, KN_VALUE_ERROR, "reshape: %s cannot become %s without a copy, and copy = false", shape_text(a, in->ndim, in->shape), shape_text(b, ndim, to));
        return VIEW_NEEDS_COPY;
    }
    if (fortran)
        reversed_axes(out, out);
    return KN_OK;
}

static node *reshaped(node *a, int ndim, const int64_t *shape, bool fortran, message *m)
{
    if (!fortran)
        return node_reshape(a, ndim, shape, m);
    int64_t back[NDIM_MAX];
    int axes[NDIM_MAX], back_axes[NDIM_MAX];
    for (int d = 0; d < a->ndim; d++)
        axes[d] = a->ndim - 1 - d;
    for (int d = 0; d < ndim; d++) {
        back[d] = shape[ndim - 1 - d];
        back_axes[d] = ndim - 1 - d;
    }
    return do_transpose(do_reshape(node_transpose(a, axes, m), ndim, back, m), back_axes, m);
}

kn_status op_reshape(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    int64_t to[NDIM_MAX];
    layout in;
    layout_of_node(a, &in);
    kn_status status = wanted_shape(&in, &args[1], "reshape", to, m);
    return status ? status : give(results, reshaped(a, args[1].v.shape.ndim, to, args[2].v.text && *args[2].v.text == 'F', m), m);
}

kn_status view_ravel(const layout *in, const op_value *args, layout *out, message *m)
{
    op_value as_reshape[4] = {args[0], {.kind = PARAM_SHAPE, .v.shape = {1, (const int64_t[]){-1}}}, args[1], {.kind = PARAM_INT, .v.integer = INT_NONE}};
    return view_reshape(in, as_reshape, out, m);
}

kn_status op_ravel(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    return give(results, reshaped(a, 1, &a->size, args[1].v.text && *args[1].v.text == 'F', m), m);
}

/* ---- axes in another order ---- */

kn_status view_transpose(const layout *in, const op_value *args, layout *out, message *m)
{
    int axes[NDIM_MAX], n;
    if (args[1].v.axis == INT64_MIN) {
        reversed_axes(in, out);
        return KN_OK;
    }
    kn_status status = axes_normalise(args[1].v.axis, in->ndim, NULL, axes, &n, "transpose", m);
    if (status)
        return status;
    if (n != in->ndim)
        return fail(m, KN_VALUE_ERROR, "transpose: %d axes given for an array of %d dimensions", n, in->ndim);
    permute(in, axes, out);
    return KN_OK;
}

static void exchange(const layout *in, int a, int b, layout *out)
{
    int axes[NDIM_MAX];
    for (int d = 0; d < in->ndim; d++)
        axes[d] = d == a ? b : d == b ? a : d;
    permute(in, axes, out);
}

kn_status view_matrix_transpose(const layout *in, const op_value *args, layout *out, message *m)
{
    (void)args;
    if (in->ndim < 2)
        return fail(m, KN_VALUE_ERROR, "matrix_transpose: needs at least 2 dimensions, got %d", in->ndim);
    exchange(in, in->ndim - 2, in->ndim - 1, out);
    return KN_OK;
}

kn_status view_swapaxes(const layout *in, const op_value *args, layout *out, message *m)
{
    int a, b;
    kn_status status = one_axis(args[1].v.axis, in->ndim, &a, "swapaxes", m);
    if (!status)
        status = one_axis(args[2].v.axis, in->ndim, &b, "swapaxes", m);
    if (!status)
        exchange(in, a, b, out);
    return status;
}

kn_status view_moveaxis(const layout *in, const op_value *args, layout *out, message *m)
{
    int from[NDIM_MAX], to[NDIM_MAX], axes[NDIM_MAX], n, nto;
    uint64_t moved, taken;
    kn_status status = axes_normalise(args[1].v.axis, in->ndim, &moved, from, &n, "moveaxis", m);
    if (!status)
        status = axes_normalise(args[2].v.axis, in->ndim, &taken, to, &nto, "moveaxis", m);
    if (status)
        return status;
    if (n != nto)
        return fail(m, KN_VALUE_ERROR, "moveaxis: %d axes cannot move to %d places", n, nto);
    int other = 0;
    for (int place = 0; place < in->ndim; place++) {
        if (taken >> place & 1) {
            for (int i = 0; i < n; i++)
                if (to[i] == place)
                    axes[place] = from[i];
        } else {
            while (moved >> other & 1)
                other++;
            axes[place] = other++;
        }
    }
    permute(in, axes, out);
    return KN_OK;
}

kn_status view_rollaxis(const layout *in, const op_value *args, layout *out, message *m)
{
    int axis, axes[NDIM_MAX], n = 0;
    int64_t start = args[2].v.integer;
    kn_status status = one_axis(args[1].v.axis, in->ndim, &axis, "rollaxis", m);
    if (status)
        return status;
    if (start < -in->ndim || start > in->ndim)
        return fail(m, KN_INDEX_ERROR, "rollaxis: start %lld is out of bounds for an array of %d dimensions", (long long)start, in->ndim);
    if (start < 0)
        start += in->ndim;
    if (axis < start)
        start--;
    for (int d = 0; d < in->ndim; d++) {
        if (d == axis)
            continue;
        if (n == start)
            axes[n++] = axis;
        axes[n++] = d;
    }
    if (n < in->ndim)
        axes[n] = axis;
    permute(in, axes, out);
    return KN_OK;
}

/* ---- extents of 1, broadcasting ---- */

kn_status view_broadcast_to(const layout *in, const op_value *args, layout *out, message *m)
{
    int ndim = args[1].v.shape.ndim, lead = ndim - in->ndim;
    const int64_t *to = args[1].v.shape.dim;
    char a[SHAPE_TEXT], b[SHAPE_TEXT];
    bool possible = lead >= 0;
    layout r = *in;
    r.ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        if (to[d] < 0)
            return fail(m, KN_VALUE_ERROR, "broadcast_to: the shape %s has a negative extent", shape_text(a, ndim, to));
        r.shape[d] = to[d];
        bool repeated = d < lead || in->shape[d < lead ? 0 : d - lead] != to[d];
        r.strides[d] = repeated ? 0 : in->strides[d - lead];
        if (possible && d >= lead && repeated)
            possible = in->shape[d - lead] == 1;
    }
    if (!possible)
        return fail(m, KN_VALUE_ERROR, "broadcast_to: an array of shape %s does not broadcast to %s", shape_text(a, in->ndim, in->shape), shape_text(b, ndim, to));
    int64_t size;
    if (!shape_size(ndim, to, &size))
        return fail(m, KN_VALUE_ERROR, "broadcast_to: the shape %s has too many elements", shape_text(b, ndim, to));
    *out = r;
    return KN_OK;
}

static void insert_axis(layout *l, int place)
{
    for (int d = l->ndim++; d > place; d--) {
        l->shape[d] = l->shape[d - 1];
        l->strides[d] = l->strides[d - 1];
    }
    l->shape[place] = 1;
    l->strides[place] = place + 1 < l->ndim ? l->strides[place + 1] * l->shape[place + 1] : (int64_t)dtype_size(l->dtype);
}

kn_status view_expand_dims(const layout *in, const op_value *args, layout *out, message *m)
{
    int list[NDIM_MAX], n = axis_unpack(args[1].v.axis, list, NDIM_MAX);
    uint64_t set;
    if (n < 0 || n > NDIM_MAX)
        return fail(m, KN_TYPE_ERROR, "expand_dims: takes an axis or KN_AXES(...)");
    if (in->ndim + n > NDIM_MAX)
        return fail(m, KN_VALUE_ERROR, "expand_dims: an array has at most %d dimensions", NDIM_MAX);
    kn_status status = axes_normalise(args[1].v.axis, in->ndim + n, &set, NULL, NULL, "expand_dims", m);
    if (status)
        return status;
    layout r = *in;
    for (int d = 0; d < in->ndim + n; d++)
        if (set >> d & 1)
            insert_axis(&r, d);
    *out = r;
    return KN_OK;
}

kn_status view_squeeze(const layout *in, const op_value *args, layout *out, message *m)
{
    uint64_t set;
    kn_status status = axes_normalise(args[1].v.axis, in->ndim, &set, NULL, NULL, "squeeze", m);
    if (status)
        return status;
    layout r = *in;
    r.ndim = 0;
    for (int d = 0; d < in->ndim; d++) {
        if (set >> d & 1 && in->shape[d] == 1)
            continue;
        if (set >> d & 1 && args[1].v.axis != INT64_MIN)
            return fail(m, KN_VALUE_ERROR, "squeeze: axis %d has extent %lld, not 1", d, (long long)in->shape[d]);
        r.shape[r.ndim] = in->shape[d];
        r.strides[r.ndim++] = in->strides[d];
    }
    *out = r;
    return KN_OK;
}

kn_status view_atleast_1d(const layout *in, const op_value *args, layout *out, message *m)
{
    (void)args, (void)m;
    *out = *in;
    if (out->ndim < 1)
        insert_axis(out, 0);
    return KN_OK;
}

kn_status view_atleast_2d(const layout *in, const op_value *args, layout *out, message *m)
{
    (void)args, (void)m;
    *out = *in;
    while (out->ndim < 2)
        insert_axis(out, 0);
    return KN_OK;
}

kn_status view_atleast_3d(const layout *in, const op_value *args, layout *out, message *m)
{
    (void)args, (void)m;
    *out = *in;
    if (in->ndim <= 1)
        insert_axis(out, 0);
    while (out->ndim < 3)
        insert_axis(out, out->ndim);
    return KN_OK;
}

/* ---- reversal, turning, diagonals, windows ---- */

kn_status view_flip(const layout *in, const op_value *args, layout *out, message *m)
{
    uint64_t set;
    kn_status status = axes_normalise(args[1].v.axis, in->ndim, &set, NULL, NULL, "flip", m);
    if (status)
        return status;
    *out = *in;
    for (int d = 0; d < in->ndim; d++)
        if (set >> d & 1)
            flip_axis(out, d);
    return KN_OK;
}

static kn_status flip_one(const layout *in, int axis, layout *out, const char *op, message *m)
{
    if (in->ndim <= axis)
        return fail(m, KN_VALUE_ERROR, "%s: needs at least %d dimension%s, got %d", op, axis + 1, axis ? "s" : "", in->ndim);
    *out = *in;
    flip_axis(out, axis);
    return KN_OK;
}

kn_status view_fliplr(const layout *in, const op_value *args, layout *out, message *m) { (void)args; return flip_one(in, 1, out, "fliplr", m); }
kn_status view_flipud(const layout *in, const op_value *args, layout *out, message *m) { (void)args; return flip_one(in, 0, out, "flipud", m); }

kn_status view_rot90(const layout *in, const op_value *args, layout *out, message *m)
{
    int axes[NDIM_MAX], n;
    int64_t turns = args[1].v.integer % 4;
    kn_status status = axes_normalise(args[2].v.axis, in->ndim, NULL, axes, &n, "rot90", m);
    if (status)
        return status;
    if (n != 2)
        return fail(m, KN_VALUE_ERROR, "rot90: turns in the plane of 2 axes, got %d", n);
    if (turns < 0)
        turns += 4;
    *out = *in;
    if (turns == 2) {
        flip_axis(out, axes[0]);
        flip_axis(out, axes[1]);
    } else if (turns == 1) {
        flip_axis(out, axes[1]);
        exchange(out, axes[0], axes[1], out);
    } else if (turns == 3) {
        exchange(out, axes[0], axes[1], out);
        flip_axis(out, axes[1]);
    }
    return KN_OK;
}

kn_status diagonal_layout(const layout *in, int64_t offset, kn_axis axis1, kn_axis axis2, layout *out, const char *op, message *m)
{
    int a, b;
    if (in->ndim < 2)
        return fail(m, KN_VALUE_ERROR, "%s: needs at least 2 dimensions, got %d", op, in->ndim);
    kn_status status = one_axis(axis1, in->ndim, &a, op, m);
    if (!status)
        status = one_axis(axis2, in->ndim, &b, op, m);
    if (status)
        return status;
    if (a == b)
        return fail(m, KN_VALUE_ERROR, "%s: axis1 and axis2 are the same", op);
    int64_t rows = in->shape[a], cols = in->shape[b], n;
    layout r = *in;
    if (offset >= 0)
        n = cols > offset ? cols - offset < rows ? cols - offset : rows : 0;
    else
        n = rows > -offset ? rows + offset < cols ? rows + offset : cols : 0;
    if (n > 0)
        r.offset += offset >= 0 ? offset * in->strides[b] : -offset * in->strides[a];
    r.ndim = 0;
    for (int d = 0; d < in->ndim; d++) {
        if (d == a || d == b)
            continue;
        r.shape[r.ndim] = in->shape[d];
        r.strides[r.ndim++] = in->strides[d];
    }
    r.shape[r.ndim] = n;
    r.strides[r.ndim++] = in->strides[a] + in->strides[b];
    *out = r;
    return KN_OK;
}

kn_status view_diagonal(const layout *in, const op_value *args, layout *out, message *m)
{
    return diagonal_layout(in, args[1].v.integer, args[2].v.axis, args[3].v.axis, out, "diagonal", m);
}

kn_status view_sliding_window(const layout *in, const op_value *args, layout *out, message *m)
{
    const char *op = "sliding_window_view";
    int axes[NDIM_MAX], n = axis_unpack(args[2].v.axis, axes, NDIM_MAX), windows = args[1].v.shape.ndim;
    const int64_t *width = args[1].v.shape.dim;
    if (n < 0)
        for (n = 0; n < in->ndim; n++)
            axes[n] = n;
    if (n != windows)
        return fail(m, KN_VALUE_ERROR, "%s: %d window extents for %d axes", op, windows, n);
    if (in->ndim + n > NDIM_MAX)
        return fail(m, KN_VALUE_ERROR, "%s: an array has at most %d dimensions", op, NDIM_MAX);
    layout r = *in;
    for (int i = 0; i < n; i++) { /* an axis may come several times */
        int axis;
        kn_status status = one_axis(axes[i], in->ndim, &axis, op, m);
        if (status)
            return status;
        if (width[i] < 0 || width[i] > r.shape[axis] + (width[i] == 0))
            return fail(m, KN_VALUE_ERROR, "%s: a window of %lld does not fit into the extent %lld of axis %d", op, (long long)width[i], (long long)r.shape[axis], axis);
        r.shape[axis] -= width[i] - 1;
        r.shape[r.ndim] = width[i];
        r.strides[r.ndim++] = in->strides[axis];
    }
    *out = r;
    return KN_OK;
}

/* ---- parts of complex numbers ---- */

kn_status view_real(const layout *in, const op_value *args, layout *out, message *m)
{
    (void)args, (void)m;
    *out = *in;
    out->dtype = dtype_table[in->dtype].part;
    return KN_OK;
}

kn_status view_imag(const layout *in, const op_value *args, layout *out, message *m)
{
    (void)args, (void)m;
    if (!dtype_is_complex(in->dtype))
        return VIEW_NEEDS_COPY;
    *out = *in;
    out->dtype = dtype_table[in->dtype].part;
    out->offset += (int64_t)dtype_size(out->dtype);
    return KN_OK;
}

kn_status op_imag(const op_value *args, node **results, message *m)
{
    const node *a = args[0].v.array;
    return give(results, filled(typed_int(a->dtype, 0, m), a->ndim, a->shape, m), m);
}

node *do_real(node *a, message *m)
{
    layout in, out;
    if (!a)
        return NULL;
    layout_of_node(a, &in);
    view_real(&in, NULL, &out, m);
    return do_view(a, &out, m);
}

node *do_imag(node *a, message *m)
{
    layout in, out;
    if (!a)
        return NULL;
    layout_of_node(a, &in);
    if (!view_imag(&in, NULL, &out, m))
        return do_view(a, &out, m);
    node *zeros = filled(typed_int(a->dtype, 0, m), a->ndim, a->shape, m);
    node_drop(a);
    return zeros;
}

node *do_slice(node *a, int axis, int64_t from, int64_t n, message *m)
{
    if (!a)
        return NULL;
    layout l;
    layout_of_node(a, &l);
    l.shape[axis] = n;
    l.offset += n ? from * l.strides[axis] : 0;
    return do_view(a, &l, m);
}

node *do_reversed(node *a, int axis, message *m)
{
    if (!a)
        return NULL;
    layout l;
    layout_of_node(a, &l);
    l.offset += a->size ? (l.shape[axis] - 1) * l.strides[axis] : 0;
    l.strides[axis] = -l.strides[axis];
    return do_view(a, &l, m);
}

node *do_element(node *a, int axis, int64_t i, message *m)
{
    if (!a)
        return NULL;
    layout l;
    layout_of_node(a, &l);
    l.offset += a->size ? i * l.strides[axis] : 0;
    for (int d = axis + 1; d < l.ndim; d++) {
        l.shape[d - 1] = l.shape[d];
        l.strides[d - 1] = l.strides[d];
    }
    l.ndim--;
    return do_view(a, &l, m);
}
