/* sets.c: arrays as sets: the forms of unique in the array API, union1d, intersect1d, setdiff1d, setxor1d.
 *
 * How it works: distinct values are unique's, membership is isin's; how many are left is known by evaluating a mask. */
#include <string.h>
#include "kiln.h"
#include "frontend/array.h"
#include "frontend/selections.h"

/* unique's results: values, index of the first, inverse, counts. */
static kn_status distinct(node *a, bool equal_nan, node **out, message *m) {
    op_value v[MOST_OPERANDS];
    op_defaults(OPERATION_unique, v);
    int flag = op_param_named(OPERATION_unique, "equal_nan");
    v[0].v.array = a;
    v[flag].v.flag = equal_nan;
    return op_with_values(OPERATION_unique, v, out, m);
}

/* Some of unique's results, in this order. */
static kn_status forms(const op_value *args, int n, const int *which, node **results, message *m) {
    node *all[4];
    kn_status status = distinct(args[0].v.array, false, all, m);
    for (int i = 0; i < n && !status; i++) results[i] = node_keep(all[which[i]]);
    for (int i = 0; i < 4; i++) if (!status) node_drop(all[i]);
    return status;
}

kn_status op_unique_all(const op_value *args, node **results, message *m) { return forms(args, 4, (int[]){ 0, 1, 2, 3 }, results, m); }
kn_status op_unique_counts(const op_value *args, node **results, message *m) { return forms(args, 2, (int[]){ 0, 3 }, results, m); }
kn_status op_unique_inverse(const op_value *args, node **results, message *m) { return forms(args, 2, (int[]){ 0, 2 }, results, m); }
kn_status op_unique_values(const op_value *args, node **results, message *m) { return forms(args, 1, (int[]){ 0 }, results, m); }

/* The distinct values of a; with unique = true those it has already, in their order. */
static node *values_of(node *a, bool unique, message *m) {
    node *all[4];
    if (unique) return do_flat(node_keep(a), m);
    if (distinct(a, true, all, m)) return NULL;
    for (int i = 1; i < 4; i++) node_drop(all[i]);
    return all[0];
}

static node *isin(node *a, node *test, bool invert, message *m) {
    op_value v[MOST_OPERANDS];
    node *r = NULL;
    if (!a || !test) return NULL;
    op_defaults(OPERATION_isin, v);
    v[0].v.array = a;
    v[1].v.array = test;
    v[op_param_named(OPERATION_isin, "invert")].v.flag = invert;
    return op_nodes(OPERATION_isin, v, &r, m) ? NULL : r;
}

/* a's elements where the mask holds. Consumes both. */
static node *picked(node *a, node *mask, message *m) {
    node *at = NULL;
    int n;
    if (a && mask) mask_positions(mask, &at, &n, m);
    node_drop(mask);
    return do_gather(a, 0, at, m);
}

kn_status op_union1d(const op_value *args, node **results, message *m) {
    node *all = do_join(2, (node *[]){ do_flat(node_keep(args[0].v.array), m), do_flat(node_keep(args[1].v.array), m) }, 0, "union1d", m);
    node *r = all ? values_of(all, false, m) : NULL;
    node_drop(all);
    return give(results, r, m);
}

kn_status op_setdiff1d(const op_value *args, node **results, message *m) {
    node *a = values_of(args[0].v.array, args[2].v.flag, m), *left = isin(a, args[1].v.array, true, m);
    return give(results, picked(a, left, m), m);
}

/* Of the sorted values of both, those that differ from both neighbours. */
kn_status op_setxor1d(const op_value *args, node **results, message *m) {
    bool unique = args[2].v.flag;
    node *s = do_join(2, (node *[]){ values_of(args[0].v.array, unique, m), values_of(args[1].v.array, unique, m) }, 0, "setxor1d", m);
    int64_t n = s ? s->size : 0, one = 1;
    if (n < 2) return give(results, s, m);
    s = do_sort(s, 0, m);
    node *steps = s ? do_binary(UFUNC_not_equal, do_slice(node_keep(s), 0, 1, n - 1, m), do_slice(node_keep(s), 0, 0, n - 1, m), m) : NULL;
    node *edge = filled(weak_bool(true, m), 1, &one, m);
    node *before = do_join(2, (node *[]){ kept(edge), kept(steps) }, 0, "setxor1d", m), *after = do_join(2, (node *[]){ steps, edge }, 0, "setxor1d", m);
    return give(results, picked(s, do_binary(UFUNC_logical_and, before, after, m), m), m);
}

/* The values of both, and where each first stands in either. */
kn_status op_intersect1d(const op_value *args, node **results, message *m) {
    node *all[2][4] = { { NULL } }, *common = NULL;
    memset(results, 0, 3 * sizeof *results);
    kn_status status = distinct(args[0].v.array, true, all[0], m);
    if (!status) status = distinct(args[1].v.array, true, all[1], m);
    if (!status) {
        node *mask = isin(all[0][0], all[1][0], false, m);
        int n;
        if (mask) mask_positions(mask, &common, &n, m);
        node_drop(mask);
    }
    if (common) {
        kn_dtype t = dtype_promote((kn_dtype)all[0][0]->dtype, (kn_dtype)all[1][0]->dtype);
        results[0] = do_cast(do_gather(node_keep(all[0][0]), 0, node_keep(common), m), t, m);
        results[1] = do_gather(node_keep(all[0][1]), 0, node_keep(common), m);
        node *there = results[0] ? do_search(node_keep(all[1][0]), node_keep(results[0]), false, m) : NULL;
        results[2] = do_gather(node_keep(all[1][1]), 0, there, m);
    }
    node_drop(common);
    for (int i = 0; i < 2; i++) for (int k = 0; k < 4; k++) node_drop(all[i][k]);
    if (results[0] && results[1] && results[2]) return KN_OK;
    for (int i = 0; i < 3; i++) node_drop(results[i]);
    memset(results, 0, 3 * sizeof *results);
    return m->status ? m->status : KN_MEMORY_ERROR;
}
