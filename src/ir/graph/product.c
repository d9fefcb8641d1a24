/* product.c: matrix products and what NumPy defines by them.
 *
 * How it works: matmul is an opaque node on operands of equal rank whose batch axes have been broadcast; dot, inner and
 * tensordot bring the axes to sum over together and become one matmul of two matrices. */
#include "ir/graph/internal.h"

#include <string.h>

static node *zeros(kn_dtype t, int ndim, const int64_t *shape, message *m) { return filled(typed_int(t, 0, m), ndim, shape, m); }

/* (..., m, k) @ (..., k, n) of one dtype. Consumes both. */
static node *product(node *a, node *b, kn_dtype t, message *m)
{
    int64_t shape[NDIM_MAX], left[NDIM_MAX], right[NDIM_MAX];
    int ndim, na, nb;
    node *r = NULL;
    a = do_cast(a, t, m);
    b = do_cast(b, t, m);
    if (!a || !b)
        goto done;
    na = a->ndim - 2;
    nb = b->ndim - 2;
    if (shape_broadcast(2, (int[]){na, nb}, (const int64_t *const[]){a->shape, b->shape}, &ndim, shape, "matmul", m))
        goto done;
    memcpy(left, shape, (size_t)ndim * sizeof *shape);
    memcpy(right, shape, (size_t)ndim * sizeof *shape);
    left[ndim] = shape[ndim] = a->shape[na];
    left[ndim + 1] = right[ndim] = a->shape[na + 1];
    right[ndim + 1] = shape[ndim + 1] = b->shape[nb + 1];
    int64_t size;
    if (left[ndim + 1] == 0 || (shape_size(ndim + 2, shape, &size) && size == 0)) {
        r = zeros(t, ndim + 2, shape, m);
        goto done;
    }
    a = do_broadcast(a, ndim + 2, left, m);
    b = do_broadcast(b, ndim + 2, right, m);
    if (a && b)
        r = node_opaque(FAMILY_matmul, 0, 2, (node *[]){a, b}, t, ndim + 2, shape, NULL, 0, m);
done:
    node_drop(a);
    node_drop(b);
    return r;
}

node *do_product(node *a, node *b, message *m)
{
    if (a && b)
        return product(a, b, nodes_dtype(2, (node *[]){a, b}), m);
    node_drop(a);
    node_drop(b);
    return NULL;
}

static kn_status matmul_shapes(const node *a, const node *b, message *m)
{
    char x[SHAPE_TEXT], y[SHAPE_TEXT];
    if (a->ndim == 0 || b->ndim == 0)
        return fail(m, KN_VALUE_ERROR, "matmul: operand %d is a number; use mul", a->ndim == 0 ? 1 : 2);
    int64_t ka = a->shape[a->ndim - 1], kb = b->shape[b->ndim > 1 ? b->ndim - 2 : 0];
    if (ka != kb)
        return fail(m, KN_VALUE_ERROR, "matmul: shapes %s and %s do not fit: %lld columns against %lld rows", shape_text(x, a->ndim, a->shape), shape_text(y, b->ndim, b->shape), (long long)ka, (long long)kb);
    return KN_OK;
}

kn_status op_matmul(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array;
    casting rule;
    kn_status status = matmul_shapes(a, b, m);
    if (!status && !casting_named(args[3].v.text, &rule))
        status = fail(m, KN_VALUE_ERROR, "matmul: casting must be no, equiv, safe, same_kind or unsafe, not '%s'", args[3].v.text);
    if (status)
        return status;
    kn_dtype t = args[5].v.dtype ? args[5].v.dtype : dtype_promote(a->dtype, b->dtype);
    for (int i = 0; i < 2; i++)
        if (!dtype_can_cast(args[i].v.array->dtype, t, rule))
            return fail(m, KN_TYPE_ERROR, "matmul: %s cannot be cast to %s under the casting rule", dtype_table[args[i].v.array->dtype].name, dtype_table[t].name);
    bool row = a->ndim == 1, column = b->ndim == 1;
    node *x = row ? do_expand(kept(a), 0, m) : kept(a), *y = column ? do_expand(kept(b), 1, m) : kept(b);
    if (!x || !y) {
        node_drop(x);
        node_drop(y);
        return give(results, NULL, m);
    }
    node *r = product(x, y, t, m);
    if (!r || (!row && !column))
        return give(results, r, m);
    int64_t shape[NDIM_MAX];
    int n = 0;
    for (int d = 0; d < r->ndim; d++)
        if (!(row && d == r->ndim - 2) && !(column && d == r->ndim - 1))
            shape[n++] = r->shape[d];
    return give(results, do_reshape(r, n, shape, m), m);
}

/* ---- sums over chosen axes ---- */

static int64_t extent_of(const node *a, const int *axes, int n)
{
    int64_t e = 1;
    for (int i = 0; i < n; i++)
        e *= a->shape[axes[i]];
    return e;
}

/* Sums over axes of a paired with axes of b; the result has a's other axes, then b's. */
static node *contract(node *a, node *b, int n, const int *over_a, const int *over_b, const char *op, message *m)
{
    int order_a[NDIM_MAX], order_b[NDIM_MAX], free_a = 0, free_b = 0, ndim = 0;
    int64_t shape[2 * NDIM_MAX];
    uint64_t used_a = 0, used_b = 0;
    char x[SHAPE_TEXT], y[SHAPE_TEXT];
    for (int i = 0; i < n; i++) {
        if (a->shape[over_a[i]] != b->shape[over_b[i]]) {
            fail(m, KN_VALUE_ERROR, "%s: shapes %s and %s do not fit: axis %d has extent %lld, axis %d of the other has %lld", op, shape_text(x, a->ndim, a->shape), shape_text(y, b->ndim, b->shape),
                 over_a[i], (long long)a->shape[over_a[i]], over_b[i], (long long)b->shape[over_b[i]]);
            return NULL;
        }
        used_a |= (uint64_t)1 << over_a[i];
        used_b |= (uint64_t)1 << over_b[i];
        order_b[i] = over_b[i];
    }
    for (int d = 0; d < a->ndim; d++)
        if (!(used_a >> d & 1)) {
            order_a[free_a++] = d;
            shape[ndim++] = a->shape[d];
        }
    for (int d = 0; d < b->ndim; d++)
        if (!(used_b >> d & 1)) {
            order_b[n + free_b++] = d;
            shape[ndim++] = b->shape[d];
        }
    for (int i = 0; i < n; i++)
        order_a[free_a + i] = over_a[i];
    int64_t k = extent_of(a, over_a, n), rows = extent_of(a, order_a, free_a), cols = extent_of(b, order_b + n, free_b);
    node *left = do_reshape(node_transpose(a, order_a, m), 2, (const int64_t[]){rows, k}, m), *right = do_reshape(node_transpose(b, order_b, m), 2, (const int64_t[]){k, cols}, m);
    if (!left || !right) {
        node_drop(left);
        node_drop(right);
        return NULL;
    }
    return do_reshape(product(left, right, nodes_dtype(2, (node *[]){a, b}), m), ndim, shape, m);
}

/* Numbers count as arrays of their default dtype in products. */
static node *strong(node *a, message *m) { return node_cast(a, a->dtype, m); }
static node *multiplied(node *a, node *b, message *m) { return do_binary(UFUNC_multiply, strong(a, m), strong(b, m), m); }

kn_status op_dot(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array;
    if (a->ndim == 0 || b->ndim == 0)
        return give(results, multiplied(a, b, m), m);
    int over_a = a->ndim - 1, over_b = b->ndim > 1 ? b->ndim - 2 : 0;
    return give(results, contract(a, b, 1, &over_a, &over_b, "dot", m), m);
}

kn_status op_inner(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array;
    if (a->ndim == 0 || b->ndim == 0)
        return give(results, multiplied(a, b, m), m);
    int over_a = a->ndim - 1, over_b = b->ndim - 1;
    return give(results, contract(a, b, 1, &over_a, &over_b, "inner", m), m);
}

kn_status op_vdot(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array, *r = NULL;
    int first = 0;
    node *x = node_reshape(a, 1, &a->size, m), *y = node_reshape(b, 1, &b->size, m);
    if (x && dtype_is_complex(x->dtype))
        x = do_unary(UFUNC_conjugate, x, m);
    if (x && y)
        r = contract(x, y, 1, &first, &first, "vdot", m);
    node_drop(x);
    node_drop(y);
    return give(results, r, m);
}

kn_status op_tensordot(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array;
    int over_a[NDIM_MAX], over_b[NDIM_MAX], n, nb;
    if (args[3].v.axis != INT64_MIN || args[4].v.axis != INT64_MIN) {
        kn_status status = axes_normalise(args[3].v.axis, a->ndim, NULL, over_a, &n, "tensordot", m);
        if (!status)
            status = axes_normalise(args[4].v.axis, b->ndim, NULL, over_b, &nb, "tensordot", m);
        if (status)
            return status;
        if (n != nb)
            return fail(m, KN_VALUE_ERROR, "tensordot: %d axes of one array for %d of the other", n, nb);
    } else {
        if (args[2].v.integer < 0 || args[2].v.integer > a->ndim || args[2].v.integer > b->ndim)
            return fail(m, KN_VALUE_ERROR, "tensordot: %lld axes to sum over, of arrays of %d and %d dimensions", (long long)args[2].v.integer, a->ndim, b->ndim);
        n = (int)args[2].v.integer;
        for (int i = 0; i < n; i++) {
            over_a[i] = a->ndim - n + i;
            over_b[i] = i;
        }
    }
    return give(results, contract(a, b, n, over_a, over_b, "tensordot", m), m);
}

kn_status op_vecdot(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array;
    int x, y, n;
    kn_status status = a->ndim && b->ndim ? axes_normalise(args[2].v.axis, a->ndim, NULL, &x, &n, "vecdot", m) : fail(m, KN_VALUE_ERROR, "vecdot: numbers have no axis");
    if (!status)
        status = n == 1 ? axes_normalise(args[2].v.axis, b->ndim, NULL, &y, &n, "vecdot", m) : fail(m, KN_TYPE_ERROR, "vecdot: takes one axis");
    if (status)
        return status;
    if (a->shape[x] != b->shape[y])
        return fail(m, KN_VALUE_ERROR, "vecdot: vectors of %lld and %lld elements", (long long)a->shape[x], (long long)b->shape[y]);
    node *left = last_axis(kept(a), x, m), *right = last_axis(kept(b), y, m);
    if (left && dtype_is_complex(left->dtype))
        left = do_unary(UFUNC_conjugate, left, m);
    node *products = do_binary(UFUNC_multiply, left, right, m);
    node *r = products ? reduce_axes(REDUCTION_sum, products, (uint64_t)1 << (products->ndim - 1), products->dtype, false, m) : NULL;
    node_drop(products);
    return give(results, r, m);
}

/* ---- all pairs ---- */

kn_status op_outer(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array;
    return give(results, do_binary(UFUNC_multiply, do_reshape(strong(a, m), 2, (const int64_t[]){a->size, 1}, m), node_reshape(b, 1, &b->size, m), m), m);
}

kn_status op_kron(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array;
    int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    int64_t left[NDIM_MAX], right[NDIM_MAX], shape[NDIM_MAX];
    if (2 * ndim > NDIM_MAX)
        return fail(m, KN_VALUE_ERROR, "kron: at most %d dimensions", NDIM_MAX / 2);
    for (int d = 0; d < ndim; d++) {
        int64_t x = d < ndim - a->ndim ? 1 : a->shape[d - (ndim - a->ndim)], y = d < ndim - b->ndim ? 1 : b->shape[d - (ndim - b->ndim)];
        left[2 * d] = x;
        left[2 * d + 1] = right[2 * d] = 1;
        right[2 * d + 1] = y;
        if (mul_overflows(x, y, &shape[d]))
            return fail(m, KN_VALUE_ERROR, "kron: the result is too large");
    }
    node *r = do_binary(UFUNC_multiply, node_reshape(a, 2 * ndim, left, m), node_reshape(b, 2 * ndim, right, m), m);
    return give(results, do_reshape(r, ndim, shape, m), m);
}

/* ---- the vector product ---- */

node *last_axis(node *a, int axis, message *m)
{
    int axes[NDIM_MAX], n = 0;
    if (!a)
        return NULL;
    for (int d = 0; d < a->ndim; d++)
        if (d != axis)
            axes[n++] = d;
    axes[n] = axis;
    return do_transpose(a, axes, m);
}

static node *cross_component(node *a, node *b, int i, int j, message *m)
{
    return do_binary(UFUNC_subtract, do_binary(UFUNC_multiply, do_element(kept(a), a->ndim - 1, i, m), do_element(kept(b), b->ndim - 1, j, m), m), do_binary(UFUNC_multiply, do_element(kept(a), a->ndim - 1, j, m), do_element(kept(b), b->ndim - 1, i, m), m), m);
}

kn_status op_cross(const op_value *args, node **results, message *m)
{
    node *in[2] = {args[0].v.array, args[1].v.array}, *v[2] = {NULL, NULL}, *parts[3] = {NULL, NULL, NULL}, *r = NULL;
    bool one = args[5].v.integer != INT_NONE;
    int axis, n;
    kn_status status = KN_OK;
    for (int i = 0; i < 2 && !status; i++) {
        status = axes_normalise(one ? args[5].v.integer : args[2 + i].v.axis, in[i]->ndim, NULL, &axis, &n, "cross", m);
        if (!status && in[i]->shape[axis] != 3)
            status = fail(m, KN_VALUE_ERROR, "cross: vectors have 3 components, not %lld", (long long)in[i]->shape[axis]);
        if (!status)
            v[i] = last_axis(kept(in[i]), axis, m);
    }
    for (int i = 0; i < 3 && v[0] && v[1]; i++) {
        node *c = cross_component(v[0], v[1], (i + 1) % 3, (i + 2) % 3, m);
        parts[i] = c ? do_expand(c, c->ndim, m) : NULL;
    }
    if (parts[0] && parts[1] && parts[2])
        r = join_nodes(3, parts, parts[0]->ndim - 1, parts[0]->dtype, "cross", m);
    for (int i = 0; i < 3; i++)
        node_drop(parts[i]);
    node_drop(v[0]);
    node_drop(v[1]);
    if (status)
        return status;
    if (r && r->ndim > 1) {
        layout from, to;
        op_value move[3] = {{.kind = PARAM_ARRAY}, {.kind = PARAM_AXIS, .v.axis = -1}, {.kind = PARAM_AXIS, .v.axis = one ? args[5].v.integer : args[4].v.axis}};
        layout_of_node(r, &from);
        status = view_moveaxis(&from, move, &to, m);
        if (status)
            node_drop(r);
        return status ? status : give(results, do_view(r, &to, m), m);
    }
    return give(results, r, m);
}
