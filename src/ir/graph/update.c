/* update.c: operations that change their first argument: put, place, putmask, copyto, fill_diagonal, put_along_axis.
 *
 * How it works: a handler gives the new value of argument 0, of its shape and dtype; storing it is the frontend's. Values that
 * are repeated as needed are gathered by position modulo their number, so nothing has to be known about masks. */
#include "ir/graph/internal.h"

#include <string.h>

/* Whether x can be cast under the rule; of weak numbers the kind decides. */
static bool casts(const node *x, kn_dtype t, casting rule)
{
    bool kind_fits = dtype_kind_of(x->dtype) <= dtype_kind_of(t) || (dtype_kind_of(x->dtype) == KIND_INT && dtype_kind_of(t) == KIND_UINT);
    return dtype_can_cast(x->dtype, t, rule) || (x->weak && kind_fits);
}

/* values[i % n], in a's dtype. Consumes i. */
static node *cycled(const node *a, node *values, node *i, message *m)
{
    node *flat = do_cast(do_flat(kept(values), m), a->dtype, m);
    return do_gather(flat, 0, do_binary(UFUNC_remainder, i, typed_int(KN_INT64, values->size, m), m), m);
}

/* Consumes flat: a's elements in one dimension. */
static kn_status give_shaped(const node *a, node *flat, node **results, message *m) { return give(results, do_reshape(flat, a->ndim, a->shape, m), m); }

kn_status op_put(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *v = args[2].v.array;
    static const int8_t from[1] = {-1};
    node *at = positions(args[1].v.array, a->size, args[3].v.text, "put", m);
    if (!at)
        return give(results, NULL, m);
    if (at->size == 0 || v->size == 0) {
        node_drop(at);
        return give(results, kept(a), m);
    }
    at = do_flat(at, m);
    node *flat = do_flat(kept(a), m), *value = at ? cycled(a, v, node_index(at->size, m), m) : NULL;
    node *r = flat && value ? node_scatter(flat, value, SCATTER_SET, -1, from, 1, &at, m) : NULL;
    node_drop(at);
    node_drop(flat);
    node_drop(value);
    return give_shaped(a, r, results, m);
}

static kn_status fit_together(const node *a, const node *mask, const node *values, const char *op, message *m)
{
    if (!values->weak && !dtype_can_cast(values->dtype, a->dtype, CAST_SAFE))
        return fail(m, KN_TYPE_ERROR, "%s: %s cannot be cast to %s under the casting rule", op, dtype_table[values->dtype].name, dtype_table[a->dtype].name);
    return a->size == mask->size ? KN_OK : fail(m, KN_VALUE_ERROR, "%s: mask and data must be the same size, not %lld and %lld", op, (long long)mask->size, (long long)a->size);
}

kn_status op_putmask(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *mask = args[1].v.array, *values = args[2].v.array;
    kn_status status = fit_together(a, mask, values, "putmask", m);
    if (status || values->size == 0 || a->size == 0)
        return status ? status : give(results, kept(a), m);
    return give_shaped(a, do_where(do_flat(kept(mask), m), cycled(a, values, node_index(a->size, m), m), do_flat(kept(a), m), m), results, m);
}

kn_status op_place(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *values = args[2].v.array;
    kn_status status = fit_together(a, args[1].v.array, values, "place", m);
    if (status)
        return status;
    node *mask = do_cast(do_flat(kept(args[1].v.array), m), KN_BOOL, m);
    if (!mask)
        return give(results, NULL, m);
    if (values->size == 0) { /* good for nothing to place only */
        node *none = do_unary(UFUNC_logical_not, mask, m);
        return give_shaped(a, do_require(none, do_flat(kept(a), m), REQUIREMENT_something_to_place, m), results, m);
    }
    node *rank = do_binary(UFUNC_subtract, do_scan(REDUCTION_sum, do_cast(kept(mask), KN_INT64, m), 0, m), typed_int(KN_INT64, 1, m), m);
    return give_shaped(a, do_where(mask, cycled(a, values, rank, m), do_flat(kept(a), m), m), results, m);
}

kn_status op_copyto(const op_value *args, node **results, message *m)
{
    node *to = args[0].v.array, *from = args[1].v.array, *where = args[3].v.array;
    casting rule;
    if (!casting_named(args[2].v.text, &rule))
        return fail(m, KN_VALUE_ERROR, "copyto: casting must be no, equiv, safe, same_kind or unsafe, not '%s'", args[2].v.text);
    if (!casts(from, to->dtype, rule))
        return fail(m, KN_TYPE_ERROR, "copyto: %s cannot be cast to %s under the casting rule", dtype_table[from->dtype].name, dtype_table[to->dtype].name);
    if (where && where->dtype != KN_BOOL)
        return fail(m, KN_TYPE_ERROR, "copyto: where is an array of bool, not of %s", dtype_table[where->dtype].name);
    int lead = 0; /* extents of 1 that the target does not have */
    while (from->ndim - lead > to->ndim && from->shape[lead] == 1)
        lead++;
    node *fitting = lead ? node_reshape(from, from->ndim - lead, from->shape + lead, m) : kept(from);
    node *value = fitting ? spread(fitting, to->dtype, to->ndim, to->shape, "copyto", m) : NULL;
    node_drop(fitting);
    return give(results, value && where ? do_where(spread(where, KN_BOOL, to->ndim, to->shape, "copyto", m), value, kept(to), m) : value, m);
}

kn_status op_fill_diagonal(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    int64_t step = 0, n, end = a->size, stride;
    if (a->ndim < 2)
        return fail(m, KN_VALUE_ERROR, "fill_diagonal: the array must be at least 2-d");
    for (int d = 1; d < a->ndim; d++)
        if (a->ndim > 2 && a->shape[d] != a->shape[0])
            return fail(m, KN_VALUE_ERROR, "fill_diagonal: all dimensions of the array must be of equal length");
    stride = 1;
    for (int d = a->ndim; d-- > 0;) {
        step += stride;
        stride *= a->shape[d];
    }
    if (a->ndim == 2 && !args[2].v.flag && end > a->shape[1] * a->shape[1])
        end = a->shape[1] * a->shape[1];
    n = (end + step - 1) / step;
    if (n == 0 || args[1].v.array->size == 0)
        return give(results, kept(a), m);
    node *value = cycled(a, args[1].v.array, node_index(n, m), m);
    node *r = value ? node_write(a, &(window){.strides = &step, .shape = &n, .ndim = 1}, value, m) : NULL;
    node_drop(value);
    return give(results, r, m);
}

kn_status op_put_along_axis(const op_value *args, node **results, message *m)
{
    const char *op = "put_along_axis";
    node *a = args[0].v.array, *index = args[1].v.array, *r = NULL;
    bool flat = args[3].v.axis == INT64_MIN;
    int64_t shape[NDIM_MAX];
    int8_t from[NDIM_MAX];
    int axis = 0;
    node *x = flat ? do_flat(kept(a), m) : kept(a);
    kn_status status = x ? flat ? KN_OK : axis_one(args[3].v.axis, a->ndim, op, &axis, m) : KN_MEMORY_ERROR;
    if (!status && index->ndim != x->ndim)
        status = fail(m, KN_VALUE_ERROR, "%s: positions of %d dimensions for an array of %d", op, index->ndim, x->ndim);
    for (int d = 0; !status && d < x->ndim; d++) {
        from[d] = (int8_t)(d == axis ? -1 : d);
        shape[d] = d == axis ? index->shape[d] : x->shape[d];
    }
    if (!status) {
        node *in_range = positions(index, x->shape[axis], "raise", op, m), *at = in_range ? spread(in_range, KN_INT64, x->ndim, shape, op, m) : NULL;
        node_drop(in_range);
        node *value = spread(args[2].v.array, a->dtype, x->ndim, shape, op, m);
        r = at && value ? node_scatter(x, value, SCATTER_SET, -1, from, 1, &at, m) : NULL;
        node_drop(at);
        node_drop(value);
    }
    node_drop(x);
    return status ? status : give_shaped(a, r, results, m);
}
