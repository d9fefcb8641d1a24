/* internal.h: what the files of this folder share among themselves. */
#ifndef KILN_GRAPH_INTERNAL_H
#define KILN_GRAPH_INTERNAL_H
#include "ir/graph/graph.h"

/* ---- node.c ---- */
static inline node *kept(node *a) { return a ? node_keep(a) : NULL; }   /* one more reference, for compositions that may have failed */
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

/* ---- view.c ---- */
kn_status diagonal_layout(const layout *in, int64_t offset, kn_axis axis1, kn_axis axis2, layout *out, const char *op, message *m);
node *do_real(node *a, message *m);                    /* consumes; real numbers as they are */
node *do_imag(node *a, message *m);                    /* consumes; zeros of real numbers */

/* ---- op.c ---- */
bool casting_named(const char *name, casting *rule);   /* false: no such rule; NULL gives same_kind */

/* ---- handlers of ops.def ---- */
#define UFUNC_OP(u)
#define REDUCE_OP(h) nodes_handler h;
#define NODES_OP(h) nodes_handler h;
#define VIEW_OP(h) view_handler h;
#define READONLY_VIEW_OP(h) view_handler h;
#define VIEW_OR_OP(v, n) view_handler v; nodes_handler n;
#define FRONTEND_OP
#define OP(name, numpy, kind, ...) kind
#include "ir/graph/ops.def"
#undef UFUNC_OP
#undef REDUCE_OP
#undef NODES_OP
#undef VIEW_OP
#undef READONLY_VIEW_OP
#undef VIEW_OR_OP
#undef FRONTEND_OP

/* ---- reduce.c ---- */
/* Reduces over the axes with NumPy's dtype rules of sum and friends already applied; keepdims puts extents of 1 back. */
node *reduce_axes(reduction_number r, node *a, uint64_t axes, kn_dtype out, bool keepdims, message *m);
node *reduce_request(reduction_number r, const char *name, node *a, uint64_t axes, int64_t count, kn_dtype t, bool keepdims, node *initial, node *where, message *m);
node *scan_axis(reduction_number r, node *a, int64_t axis, kn_dtype t, const char *name, message *m);   /* INT64_MIN: flattened */
kn_dtype sum_dtype(kn_dtype t, kn_dtype asked);
node *keep_dims(node *reduced, const node *before, uint64_t axes, message *m);   /* consumes reduced */

/* ---- join.c ---- */
/* Joined along an axis of their own; shapes are checked. Borrows the nodes. */
node *join_nodes(int n, node *const *in, int axis, kn_dtype t, const char *name, message *m);

node *rolled(node *a, int64_t shift, int axis, message *m);

/* ---- elementwise.c, product.c ---- */
node *complex_of(node *re, node *im, kn_dtype t, message *m);   /* consumes both; for finite parts */
node *last_axis(node *a, int axis, message *m);                 /* consumes; axis moved to the end */

/* ---- select.c ---- */
/* a's elements at positions (integers of any shape, in range) along an axis. Borrows both. */
node *gather_axis(node *a, int axis, node *index, message *m);

/* Finishes a handler: one result, or a failure. */
static inline kn_status give(node **results, node *n, message *m)
{
    results[0] = n;
    return n ? KN_OK : m && m->status ? m->status : KN_MEMORY_ERROR;
}
#endif
