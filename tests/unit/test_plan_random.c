/* Random graphs: whatever is fused, stored, reordered or overwritten, the values are those of each node by itself. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include "../support/nest_eval.c"
#include "../support/slices.c"
#include "../support/owned.h"

TestSuite(plan_random, .fini = drop_all);

static uint64_t state;
static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(state >> 33) % n;
}

static node *random_leaf(kn_dtype t, int ndim, const int64_t *shape)
{
    double v[1024];
    int64_t size = 1;
    for (int d = 0; d < ndim; d++) size *= shape[d];
    for (int64_t i = 0; i < size; i++) v[i] = (double)(below(9) - 4);
    return leaf_of(t, ndim, shape, v);
}

static node *random_scalar(kn_dtype t)
{
    return node_scalar(t, (scalar){ .kind = SCALAR_INT, .v.i = below(5) - 2 }, false, NULL);
}

static node *random_shape_leaf(kn_dtype t)
{
    static const int64_t extents[] = { 1, 2, 3, 4, 6, 5 };
    int64_t shape[3];
    int ndim = (int)below(4);
    for (int d = 0; d < ndim; d++) shape[d] = extents[below(6)];
    return random_leaf(t, ndim, shape);
}

/* Some view of n; a random one, or one that has a wanted shape. */
static node *random_view(node *n)
{
    int64_t shape[NDIM_MAX], strides[NDIM_MAX], w = 1, offset = 0;
    int ndim = n->ndim;
    for (int d = ndim; d-- > 0;) {
        shape[d] = n->shape[d];
        strides[d] = w;
        w *= shape[d];
    }
    if (!ndim || !n->size) return node_keep(n);
    int d = (int)below(ndim), e = (int)below(ndim);
    switch (below(7)) {
    case 0: {
        int axes[NDIM_MAX];
        for (int i = 0; i < ndim; i++) axes[i] = i;
        axes[d] = e;
        axes[e] = d;
        return node_transpose(n, axes, NULL);
    }
    case 1:
        offset = strides[d] * (shape[d] - 1);
        strides[d] = -strides[d];
        break;
    case 2: {
        int64_t lo = below(shape[d]), step = 1 + below(2);
        offset = lo * strides[d];
        shape[d] = 1 + (shape[d] - 1 - lo) / step;
        strides[d] *= step;
        break;
    }
    case 3:
        if (n->size % 2 == 0) return node_reshape(n, 2, (int64_t[]){ n->size / 2, 2 }, NULL);
        return node_reshape(n, 1, &n->size, NULL);
    case 4:
        if (n->size % 3 == 0) return node_reshape(n, 2, (int64_t[]){ 3, n->size / 3 }, NULL);
        return node_reshape(n, 1, &n->size, NULL);
    case 5:
        if (n->size > 40) return node_keep(n);
        shape[ndim] = 1 + below(3);
        strides[ndim++] = 0;
        break;
    default:
        if (dtype_is_complex((kn_dtype)n->dtype)) {
            for (int i = 0; i < ndim; i++) strides[i] *= 2;
            window part = { .offset = below(2), .strides = strides, .shape = shape, .ndim = ndim, .part = true };
            return node_view(n, dtype_table[n->dtype].part, &part, NULL);
        }
        if (shape[d] < 2 || n->size > 40) return node_keep(n);
        shape[ndim] = 2;
        strides[ndim++] = strides[d];
        shape[d]--;
        break;
    }
    window v = { .offset = offset, .strides = strides, .shape = shape, .ndim = ndim };
    return node_view(n, (kn_dtype)n->dtype, &v, NULL);
}

/* n as an array of another's shape, by broadcasting where that is possible, else a new leaf. */
static node *shaped_like(node *n, const node *like, kn_dtype t)
{
    bool fits = n->ndim <= like->ndim;
    for (int d = 0; d < n->ndim && fits; d++) fits = n->shape[n->ndim - 1 - d] == like->shape[like->ndim - 1 - d] || n->shape[n->ndim - 1 - d] == 1;
    if (fits) n = node_broadcast(n, like->ndim, like->shape, NULL);
    else if (n->size == like->size) n = node_reshape(n, like->ndim, like->shape, NULL);
    else n = random_leaf(t, like->ndim, like->shape);
    return node_cast(n, t, NULL);
}

static node *random_index(const node *like, int64_t extent)
{
    double v[1024];
    for (int64_t i = 0; i < like->size; i++) v[i] = (double)(below(2 * extent) - extent);
    node *n = leaf_of(KN_INT64, like->ndim, like->shape, v);
    return below(2) ? n : node_map(UFUNC_add, 0, 2, (node *[]){ n, node_scalar(KN_INT64, (scalar){ .kind = SCALAR_INT }, false, NULL) }, KN_INT64, NULL);
}

static node *random_write(node *a, node *b)
{
    node *v = random_view(a);
    if (v->kind != NODE_VIEW || v->in[0] != a || v->size > a->size) return node_keep(a);
    for (int d = 0; d < v->ndim; d++) if (v->shape[d] > 1 && !v->attr.view.strides[d]) return node_keep(a);
    int64_t seen[1024] = { 0 };
    for (int64_t i = 0; i < v->size; i++) {          /* windows that overlap themselves have no order */
        int64_t e = v->attr.view.offset, rest = i;
        for (int d = v->ndim; d-- > 0;) {
            e += v->attr.view.strides[d] * (rest % v->shape[d]);
            rest /= v->shape[d];
        }
        if (seen[e]++) return node_keep(a);
    }
    node *value = below(3) ? shaped_like(b, v, (kn_dtype)v->dtype) : node_map(UFUNC_add, 0, 2, (node *[]){ v, shaped_like(b, v, (kn_dtype)v->dtype) }, (kn_dtype)v->dtype, NULL);
    return node_write(a, &v->attr.view, value, NULL);
}

/* Two arrays next to each other, as concatenate makes them. */
static node *random_join(node *a, node *b)
{
    if (!a->ndim || a->size > 200) return node_keep(a);
    int axis = (int)below(a->ndim);
    int64_t shape[NDIM_MAX], strides[NDIM_MAX], w = 1;
    memcpy(shape, a->shape, (size_t)a->ndim * sizeof *shape);
    shape[axis] *= 2;
    for (int d = a->ndim; d-- > 0;) {
        strides[d] = w;
        w *= shape[d];
    }
    window first = { .strides = strides, .shape = a->shape, .ndim = a->ndim }, second = first;
    second.offset = a->shape[axis] * strides[axis];
    node *all = node_write(node_empty((kn_dtype)a->dtype, a->ndim, shape, NULL), &first, a, NULL);
    return node_write(all, &second, shaped_like(b, a, (kn_dtype)a->dtype), NULL);
}

static node *random_node(node **pool, int n)
{
    node *a = pool[below(n)], *b = pool[below(n)];
    kn_dtype t = (kn_dtype)a->dtype;
    if (a->size > 600) return random_shape_leaf(KN_FLOAT64);
    switch (below(17)) {
    case 0: case 1: case 2: {
        node *in[2] = { a, below(4) ? shaped_like(b, a, t) : random_scalar(t) };
        static const int ops[] = { UFUNC_add, UFUNC_subtract, UFUNC_add, UFUNC_multiply };
        return node_map(t == KN_BOOL ? UFUNC_add : ops[below(4)], 0, 2, in, t, NULL);
    }
    case 3: {
        node *in[2] = { a, shaped_like(b, a, t) };
        if (t != KN_FLOAT64 && t != KN_INT64) return random_view(a);
        return node_map(below(2) ? UFUNC_maximum : UFUNC_minimum, 0, 2, in, t, NULL);
    }
    case 4: {
        if (dtype_is_complex(t) || t == KN_BOOL) return random_view(a);
        node *in[2] = { a, shaped_like(b, a, t) }, *c = node_map(UFUNC_greater, 0, 2, in, KN_BOOL, NULL);
        return node_map(UFUNC_where, 0, 3, (node *[]){ c, in[0], in[1] }, t, NULL);
    }
    case 5: case 6: case 7: case 8: return random_view(a);
    case 9: case 10: {
        if (!a->ndim || t == KN_BOOL || t == KN_FLOAT16) return random_view(a);
        uint64_t axes = 1 + (uint64_t)below(((int64_t)1 << a->ndim) - 1);
        if (t == KN_FLOAT64 && below(4) == 0) return node_reduce(REDUCTION_argmax, a, axes, KN_INT64, false, NULL);
        if (t == KN_FLOAT64 && below(3) == 0) return node_reduce(REDUCTION_max, a, axes, t, false, NULL);
        return node_reduce(REDUCTION_sum, a, axes, t, false, NULL);
    }
    case 11: {                                       /* softmax-like: a row result back over its row */
        if (!a->ndim || (t != KN_FLOAT64 && t != KN_INT64)) return random_view(a);
        int axis = (int)below(a->ndim);
        int64_t shape[NDIM_MAX];
        memcpy(shape, a->shape, (size_t)a->ndim * sizeof *shape);
        shape[axis] = 1;
        node *r = node_reshape(node_reduce(below(2) ? REDUCTION_sum : REDUCTION_max, a, (uint64_t)1 << axis, t, false, NULL), a->ndim, shape, NULL);
        return node_map(UFUNC_subtract, 0, 2, (node *[]){ a, node_broadcast(r, a->ndim, a->shape, NULL) }, t, NULL);
    }
    case 12:
        if (!a->ndim || t == KN_BOOL || t == KN_FLOAT16) return random_view(a);
        return node_scan(REDUCTION_sum, a, (int)below(a->ndim), NULL);
    case 13: {
        if (!a->ndim || !b->size) return random_view(a);
        int8_t from[NDIM_MAX];
        node *index[NDIM_MAX];
        for (int d = 0; d < a->ndim; d++) {
            from[d] = (int8_t)(-1 - d);
            index[d] = random_index(b, a->shape[d]);
        }
        return node_gather(a, from, a->ndim, index, b->ndim, b->shape, NULL);
    }
    case 14: {
        if (!a->ndim || t == KN_BOOL || t == KN_FLOAT16) return random_view(a);
        int8_t from[NDIM_MAX];
        node *index[NDIM_MAX];
        for (int d = 0; d < a->ndim; d++) {
            from[d] = (int8_t)(-1 - d);
            index[d] = random_index(b, a->shape[d]);
        }
        return node_scatter(a, node_cast(b, t, NULL), below(2) ? SCATTER_SET : SCATTER_COMBINE, UFUNC_add, from, a->ndim, index, NULL);
    }
    case 15: return random_join(a, b);
    default: return random_write(a, b);
    }
}

static node *random_start(void)
{
    static const kn_dtype types[] = { KN_FLOAT64, KN_FLOAT64, KN_INT64, KN_COMPLEX128, KN_FLOAT16, KN_FLOAT64 };
    switch (below(8)) {
    case 0: return node_index(1 + below(12), NULL);
    case 1: return node_broadcast(random_scalar(KN_FLOAT64), 2, (int64_t[]){ 1 + below(4), 1 + below(6) }, NULL);
    default: return random_shape_leaf(types[below(6)]);
    }
}

static void one_graph(uint64_t seed)
{
    node *pool[64], *roots[3];
    int n = 0, nroots = 0, count = 4 + (int)(seed % 21);
    state = seed * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < 4; i++) below(2);
    for (int i = 0; i < 3; i++) pool[n++] = random_start();
    for (int i = 0; i < count; i++, n++) pool[n] = random_node(pool, n);
    for (int i = n; i-- > 0 && nroots < 1 + (int)below(3);)
        if (pool[i]->kind != NODE_BUFFER && pool[i]->kind != NODE_SCALAR && (nroots == 0 || below(3) == 0)) roots[nroots++] = pool[i];
    if (!nroots) return;
    case_slice c;
    slice_make(&c, nroots, roots);
    for (int i = 0; i < c.s.nleaves; i++) if (below(2)) c.s.overwritable[i] = true;
    static const char *const how[] = { "nests", "nests backwards", "kernels" };
    const char *gpu = slice_check(&c, "gfx90a", false, BY_KERNELS);
    cr_assert(!gpu, "graph %llu, kernels for gfx90a: %s\n%s", (unsigned long long)seed, gpu, c.why.at ? c.why.at : "");
    for (int unfused = 1; unfused >= 0; unfused--)
        for (int i = unfused ? 2 : 0; i < 3; i++) {
            const char *wrong = slice_check(&c, "cpu", unfused, (how_to_run)i);
            cr_assert(!wrong, "graph %llu, %s, %s: %s\n%s", (unsigned long long)seed, how[i], unfused ? "unfused" : "fused", wrong, c.why.at ? c.why.at : "");
        }
    slice_free(&c);
}

Test(plan_random, fused_graphs_give_the_values_of_single_nodes)
{
    const char *first = getenv("PLAN_SEED"), *many = getenv("PLAN_GRAPHS");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (uint64_t end = seed + (many ? strtoull(many, NULL, 10) : 400); seed < end; seed++) one_graph(seed);
}
