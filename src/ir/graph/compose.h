/* compose.h: shorthands for operations that are made of other operations, here and in the frontend.
 *
 * How it works: functions named do_... consume their node arguments, also on failure, and give NULL when one of them is
 * NULL, so that compositions nest and only the last result is looked at. The others borrow. Nothing that makes a node in a
 * way of its own may be put here. */
#ifndef KILN_GRAPH_COMPOSE_H
#define KILN_GRAPH_COMPOSE_H
#include "ir/graph/graph.h"

static inline node *kept(node *a) { return a ? node_keep(a) : NULL; }   /* one more reference, for compositions that may have failed */

/* Finishes a handler: one result, or a failure. */
static inline kn_status give(node **results, node *n, message *m)
{
    results[0] = n;
    return n ? KN_OK : m && m->status ? m->status : KN_MEMORY_ERROR;
}

/* ---- ufunc.c ---- */
node *do_unary(ufunc_number f, node *a, message *m);
node *do_binary(ufunc_number f, node *a, node *b, message *m);
node *do_where(node *condition, node *a, node *b, message *m);
node *do_cast(node *a, kn_dtype t, message *m);
node *do_reshape(node *a, int ndim, const int64_t *shape, message *m);
node *do_flat(node *a, message *m);                    /* one dimension */
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
/* value; where the condition does not hold, reading it is the fault of that row of requirements.def. */
node *do_require(node *condition, node *value, requirement_number r, message *m);
/* The dtype that operands have together; weak numbers take part by kind. */
kn_dtype nodes_dtype(int n, node *const *in);
/* a and b broadcast together; NULL in *a and *b on failure. Consumes and replaces. */
bool broadcast_pair(node **a, node **b, const char *op, message *m);

/* ---- view.c ---- */
node *do_slice(node *a, int axis, int64_t from, int64_t n, message *m);   /* n elements along axis */
node *do_reversed(node *a, int axis, message *m);
node *do_element(node *a, int axis, int64_t i, message *m);               /* one element along axis, which goes */
node *do_real(node *a, message *m);                    /* real numbers as they are */
node *do_imag(node *a, message *m);                    /* zeros of real numbers */

/* ---- reduce.c ---- */
/* Reduces over the axes with NumPy's dtype rules of sum and friends already applied; keepdims puts extents of 1 back. */
node *reduce_axes(reduction_number r, node *a, uint64_t axes, kn_dtype out, bool keepdims, message *m);
node *do_reduce(reduction_number r, node *a, uint64_t axes, bool keepdims, message *m);   /* in a's dtype */
node *do_scan(reduction_number r, node *a, int axis, message *m);                         /* in a's dtype */

/* ---- search.c ---- */
/* How many elements of the sorted one-dimensional a come before those of v, or (right) do not come after them: int64. */
node *do_search(node *a, node *v, bool right, message *m);

/* ---- join.c, select.c, filter.c, product.c, transform.c ---- */
/* Joined along an axis of their own; shapes are checked. Borrows the nodes. */
node *join_nodes(int n, node *const *in, int axis, kn_dtype t, const char *name, message *m);
node *do_join(int n, node **in, int axis, const char *name, message *m);  /* in their common dtype */
node *rolled(node *a, int64_t shift, int axis, message *m);               /* borrows */
node *do_repeat(node *a, int axis, int64_t n, message *m);                /* every element n times */
node *do_bordered(node *a, const int64_t *width, message *m);             /* zeros before and after each axis */
node *do_gather(node *a, int axis, node *index, message *m);              /* elements at positions (integers of any shape, in range) along an axis */
/* The derivative along an axis: differences over distances (numbers or coordinates; NULL: 1), at the ends of one step or two. */
node *gradient_along(node *a, int axis, node *spacing, bool second_order, message *m);
node *last_axis(node *a, int axis, message *m);                           /* consumes; axis moved to the end */
node *do_product(node *a, node *b, message *m);                           /* (..., m, k) @ (..., k, n), in their common dtype */
node *do_sort(node *a, int axis, message *m);
node *do_argsort(node *a, int axis, message *m);                          /* stable */
#endif
