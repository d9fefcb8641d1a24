/* polynomial.c: polynomials as arrays of coefficients, the highest power first: polyval, polyadd, polysub.
 *
 * How it works: values come from Horner's scheme, whose steps are one chain of elementwise functions; sums are of arrays that
 * end together. */
#include "ir/graph/internal.h"

#define POLY_MOST 4096            /* coefficients that polyval takes */

kn_status op_polyval(const op_value *args, node **results, message *m)
{
    node *p = args[0].v.array, *x = args[1].v.array;
    if (p->ndim != 1)
        return fail(m, KN_VALUE_ERROR, "polyval: coefficients have one dimension, not %d", p->ndim);
    if (p->size > POLY_MOST)
        return fail(m, KN_VALUE_ERROR, "polyval: %lld coefficients; at most %d", (long long)p->size, POLY_MOST);
    node *at = node_cast(x, x->dtype, m), *y = at ? filled(typed_int(at->dtype, 0, m), at->ndim, at->shape, m) : NULL;
    for (int64_t i = 0; i < p->size && y; i++)
        y = do_binary(UFUNC_add, do_binary(UFUNC_multiply, y, kept(at), m), do_element(kept(p), 0, i, m), m);
    node_drop(at);
    return give(results, y, m);
}

/* With zeros in front, so that it has n coefficients. Consumes p. */
static node *lengthened(node *p, int64_t n, message *m)
{
    return p && p->size < n ? do_bordered(p, (int64_t[]){n - p->size, 0}, m) : p;
}

static kn_status sum_of(ufunc_number f, const char *op, const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *b = args[1].v.array;
    if (a->ndim > 1 || b->ndim > 1)
        return fail(m, KN_VALUE_ERROR, "%s: coefficients have one dimension", op);
    int64_t n = a->size > b->size ? a->size : b->size;
    kn_dtype t = dtype_promote(a->dtype, b->dtype);
    node *x = lengthened(do_cast(do_flat(kept(a), m), t, m), n, m), *y = lengthened(do_cast(do_flat(kept(b), m), t, m), n, m);
    return give(results, do_binary(f, x, y, m), m);
}

kn_status op_polyadd(const op_value *args, node **results, message *m) { return sum_of(UFUNC_add, "polyadd", args, results, m); }
kn_status op_polysub(const op_value *args, node **results, message *m) { return sum_of(UFUNC_subtract, "polysub", args, results, m); }
