/* internal.h: what the files of this folder share among themselves. */
#ifndef KILN_GRAPH_INTERNAL_H
#define KILN_GRAPH_INTERNAL_H
#include "ir/graph/compose.h"

/* ---- node.c ---- */
node *node_windowed(node_kind kind, kn_dtype t, int ndim, const int64_t *shape, int nin, node *const *in, const window *w, message *m);

/* ---- window.c ---- */
void strides_c_order(int ndim, const int64_t *shape, int64_t unit, int64_t *strides);
node *node_of_layout(node *a, const layout *l, message *m);
void layout_of_node(const node *a, layout *l);

/* ---- ufunc.c ---- */
kn_status ufunc_apply_casting(int ufunc, node *const *in, kn_dtype dtype, casting rule, node **out, message *m);

/* ---- view.c ---- */
kn_status diagonal_layout(const layout *in, int64_t offset, kn_axis axis1, kn_axis axis2, layout *out, const char *op, message *m);

/* ---- op.c ---- */

/* ---- handlers of ops.def ---- */
#define UFUNC_OP(u)
#define REDUCE_OP(h) nodes_handler h;
#define NODES_OP(h) nodes_handler h;
#define VIEW_OP(h) view_handler h;
#define READONLY_VIEW_OP(h) view_handler h;
#define VIEW_OR_OP(v, n) view_handler v; nodes_handler n;
#define UPDATE_OP(h) nodes_handler h;
#define FRONTEND_OP
#define MANY_OP
#define OP(name, numpy, kind, ...) kind
#include "ir/graph/ops.def"
#undef UFUNC_OP
#undef REDUCE_OP
#undef NODES_OP
#undef VIEW_OP
#undef READONLY_VIEW_OP
#undef VIEW_OR_OP
#undef UPDATE_OP
#undef FRONTEND_OP
#undef MANY_OP

/* ---- reduce.c ---- */
node *reduce_request(reduction_number r, const char *name, node *a, uint64_t axes, int64_t count, kn_dtype t, bool keepdims, node *initial, node *where, message *m);
node *scan_axis(reduction_number r, node *a, int64_t axis, kn_dtype t, const char *name, message *m);   /* INT64_MIN: flattened */
kn_dtype sum_dtype(kn_dtype t, kn_dtype asked);
node *keep_dims(node *reduced, const node *before, uint64_t axes, message *m);   /* consumes reduced */

/* ---- join.c ---- */

/* ---- elementwise.c, product.c ---- */
node *complex_of(node *re, node *im, kn_dtype t, message *m);   /* consumes both; for finite parts */

/* ---- statistics.c ---- */
node *axes_last(node *a, uint64_t set, int64_t *count, message *m);      /* the axes of the set merged into one that stands last; consumes a */

/* ---- make.c ---- */
/* value as dtype t, broadcast to the shape; what does not fit, a weak integer included, is an error. Borrows value. */
node *spread(node *value, kn_dtype t, int ndim, const int64_t *shape, const char *op, message *m);

/* ---- select.c ---- */
node *positions(node *index, int64_t n, const char *mode, const char *op, message *m);   /* int64, in range by the mode; borrows index */
/* a's elements at positions (integers of any shape, in range) along an axis. Borrows both. */
node *gather_axis(node *a, int axis, node *index, message *m);
#endif
