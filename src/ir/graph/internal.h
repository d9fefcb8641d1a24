/* internal.h: what the files of this folder share among themselves. */
#ifndef KILN_GRAPH_INTERNAL_H
#define KILN_GRAPH_INTERNAL_H
#include "ir/graph/graph.h"

/* ---- node.c ---- */
node *node_windowed(node_kind kind, kn_dtype t, int ndim, const int64_t *shape, int nin, node *const *in, const window *w, message *m);

/* ---- window.c ---- */
void strides_c_order(int ndim, const int64_t *shape, int64_t unit, int64_t *strides);
node *node_of_layout(node *a, const layout *l, message *m);
void layout_of_node(const node *a, layout *l);

/* ---- ufunc.c ---- */
kn_status ufunc_apply_casting(int ufunc, node *const *in, kn_dtype dtype, casting rule, node **out, message *m);

/* ---- ufunc.c: shorthands for compositions ----
 * Each consumes its node arguments, also on failure, and gives NULL when one of them is NULL, so that compositions nest. */
node *do_unary(ufunc_number f, node *a, message *m);
node *do_binary(ufunc_number f, node *a, node *b, message *m);
node *do_where(node *condition, node *a, node *b, message *m);
node *do_cast(node *a, kn_dtype t, message *m);
node *do_reshape(node *a, int ndim, const int64_t *shape, message *m);
node *do_broadcast(node *a, int ndim, const int64_t *shape, message *m);
node *do_transpose(node *a, const int *axes, message *m);
node *do_view(node *a, const layout *l, message *m);
node *do_expand(node *a, int axis, message *m);        /* a new extent of 1 at this place */
node *weak_int(int64_t v, message *m);                 /* numbers as Python's: weak */
node *weak_float(double v, message *m);
node *weak_bool(bool v, message *m);
node *typed_int(kn_dtype t, int64_t v, message *m);    /* numbers of a dtype */
node *typed_float(kn_dtype t, double v, message *m);
node *filled(node *number, int ndim, const int64_t *shape, message *m);   /* consumes number */

/* The dtype that operands have together; weak numbers take part by kind. */
kn_dtype nodes_dtype(int n, node *const *in);
/* a and b broadcast together; NULL in *a and *b on failure. Consumes and replaces. */
bool broadcast_pair(node **a, node **b, const char *op, message *m);

/* ---- reduce.c ---- */
/* Reduces over the axes with NumPy's dtype rules of sum and friends already applied; keepdims puts extents of 1 back. */
node *reduce_axes(reduction_number r, node *a, uint64_t axes, kn_dtype out, bool keepdims, message *m);
node *keep_dims(node *reduced, const node *before, uint64_t axes, message *m);   /* consumes reduced */

/* Finishes a handler: one result, or a failure. */
static inline kn_status give(node **results, node *n, message *m)
{
    results[0] = n;
    return n ? KN_OK : m && m->status ? m->status : KN_MEMORY_ERROR;
}
#endif
