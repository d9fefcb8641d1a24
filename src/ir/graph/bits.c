/* bits.c: truth values packed into bytes and taken out of them: packbits, unpackbits. */
#include "ir/graph/internal.h"

#include <string.h>

static kn_status bit_order(const char *order, const char *op, bool *little, message *m)
{
    *little = order && strcmp(order, "little") == 0;
    return !order || *little || strcmp(order, "big") == 0 ? KN_OK : fail(m, KN_VALUE_ERROR, "%s: bitorder must be 'little' or 'big', not '%s'", op, order);
}

/* a, flattened without an axis, and that axis. A new reference, or NULL. */
static node *along(node *a, kn_axis given, const char *op, int *axis, message *m)
{
    *axis = 0;
    if (given == INT64_MIN || a->ndim == 0)
        return do_flat(kept(a), m);
    return axis_one(given, a->ndim, op, axis, m) ? NULL : kept(a);
}

/* How far each of eight bits is shifted. */
static node *shifts(bool little, message *m)
{
    node *i = node_index(8, m);
    return do_cast(little ? i : do_binary(UFUNC_subtract, typed_int(KN_INT64, 7, m), i, m), KN_UINT8, m);
}

/* The axis brought to the end, or from there back to its place. Consumes a. */
static node *moved(node *a, int axis, bool back, message *m)
{
    int order[NDIM_MAX], last = a ? a->ndim - 1 : 0;
    if (!a || !back)
        return last_axis(a, axis, m);
    for (int d = 0; d <= last; d++)
        order[d] = d < axis ? d : d == axis ? last : d - 1;
    return do_transpose(a, order, m);
}

kn_status op_packbits(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    int axis;
    bool little;
    int64_t shape[NDIM_MAX + 1];
    kn_status status = bit_order(args[2].v.text, "packbits", &little, m);
    if (!status && a->dtype != KN_BOOL && !dtype_is_integer(a->dtype))
        status = fail(m, KN_TYPE_ERROR, "packbits: takes integers or bools, not %s", dtype_table[a->dtype].name);
    if (status)
        return status;
    node *x = do_cast(along(a, args[1].v.axis, "packbits", &axis, m), KN_BOOL, m);
    x = moved(x, axis, false, m);
    if (!x)
        return give(results, NULL, m);
    int last = x->ndim - 1;
    int64_t width[2 * NDIM_MAX] = {0}, n = x->shape[last];
    width[2 * last + 1] = (8 - n % 8) % 8;
    x = do_bordered(x, width, m);
    for (int d = 0; x && d < last; d++)
        shape[d] = x->shape[d];
    shape[last] = (n + 7) / 8;
    shape[last + 1] = 8;
    x = do_cast(do_reshape(x, last + 2, shape, m), KN_UINT8, m);
    x = do_reduce(REDUCTION_sum, do_binary(UFUNC_left_shift, x, shifts(little, m), m), (uint64_t)1 << (last + 1), false, m);
    return give(results, moved(x, axis, true, m), m);
}

kn_status op_unpackbits(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    int axis;
    bool little;
    int64_t count = args[2].v.integer, shape[NDIM_MAX], width[2 * NDIM_MAX] = {0};
    kn_status status = bit_order(args[3].v.text, "unpackbits", &little, m);
    if (!status && a->dtype != KN_UINT8)
        status = fail(m, KN_TYPE_ERROR, "unpackbits: takes uint8, not %s", dtype_table[a->dtype].name);
    if (status)
        return status;
    node *x = along(a, args[1].v.axis, "unpackbits", &axis, m);
    x = moved(x, axis, false, m);
    if (!x)
        return give(results, NULL, m);
    int last = x->ndim - 1;
    memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
    shape[last] *= 8;
    x = do_binary(UFUNC_bitwise_and, do_binary(UFUNC_right_shift, do_expand(x, last + 1, m), shifts(little, m), m), weak_int(1, m), m);
    x = do_reshape(x, last + 1, shape, m);
    if (count != INT_NONE && count < 0) {
        if (-count > shape[last]) {
            node_drop(x);
            return fail(m, KN_VALUE_ERROR, "unpackbits: -count of %lld is larger than the number of bits", (long long)-count);
        }
        count += shape[last];
    }
    if (count != INT_NONE && count > shape[last]) {
        width[2 * last + 1] = count - shape[last];
        x = do_bordered(x, width, m);
    } else if (count != INT_NONE) {
        x = do_slice(x, last, 0, count, m);
    }
    return give(results, moved(x, axis, true, m), m);
}
