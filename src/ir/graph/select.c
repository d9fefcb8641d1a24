/* select.c: elements chosen by position or by condition: take, take_along_axis, choose, select, where.
 *
 * How it works: positions become the index inputs of a GATHER, of the result's shape; conditions become where. Positions
 * that are numbers are checked here, others when they are read. */
#include "ir/graph/internal.h"

#include <string.h>

node *gather_axis(node *a, int axis, node *index, message *m)
{
    int8_t from[NDIM_MAX];
    int64_t shape[NDIM_MAX], across[NDIM_MAX];
    int ndim = a->ndim - 1 + index->ndim;
    if (ndim > NDIM_MAX) {
        fail(m, KN_VALUE_ERROR, "take: the result has more than %d dimensions", NDIM_MAX);
        return NULL;
    }
    for (int d = 0; d < axis; d++) {
        shape[d] = a->shape[d];
        across[d] = 1;
        from[d] = (int8_t)d;
    }
    for (int d = 0; d < index->ndim; d++)
        shape[axis + d] = across[axis + d] = index->shape[d];
    from[axis] = -1;
    for (int d = axis + 1; d < a->ndim; d++) {
        int at = d - 1 + index->ndim;
        shape[at] = a->shape[d];
        across[at] = 1;
        from[d] = (int8_t)at;
    }
    node *wide = do_broadcast(do_reshape(node_cast(index, KN_INT64, m), ndim, across, m), ndim, shape, m);
    node *n = wide ? node_gather(a, from, 1, &wide, ndim, shape, m) : NULL;
    node_drop(wide);
    return n;
}

node *do_gather(node *a, int axis, node *index, message *m)
{
    node *r = a && index ? gather_axis(a, axis, index, m) : NULL;
    node_drop(a);
    node_drop(index);
    return r;
}

typedef enum { MODE_RAISE, MODE_WRAP, MODE_CLIP, NMODES } range_mode;

static kn_status mode_of(const char *name, const char *op, range_mode *mode, message *m)
{
    static const char *const names[] = {"raise", "wrap", "clip"};
    int i = 0;
    while (name && i < NMODES && strcmp(names[i], name) != 0)
        i++;
    if (i == NMODES)
        return fail(m, KN_VALUE_ERROR, "%s: mode must be raise, wrap or clip, not '%s'", op, name);
    *mode = (range_mode)i;
    return KN_OK;
}

static node *positions_by(node *index, int64_t n, range_mode mode, const char *op, message *m)
{
    if (!dtype_is_integer(index->dtype) && index->dtype != KN_BOOL) {
        fail(m, KN_TYPE_ERROR, "%s: positions must be integers, not %s", op, dtype_table[index->dtype].name);
        return NULL;
    }
    if (n == 0 && index->size > 0) {
        fail(m, KN_INDEX_ERROR, "%s: nothing can be taken from an empty axis", op);
        return NULL;
    }
    node *i = node_cast(index, KN_INT64, m);
    if (mode == MODE_WRAP)
        return do_binary(UFUNC_remainder, i, typed_int(KN_INT64, n, m), m);
    if (mode == MODE_CLIP)
        return do_binary(UFUNC_minimum, do_binary(UFUNC_maximum, i, typed_int(KN_INT64, 0, m), m), typed_int(KN_INT64, n - 1, m), m);
    if (i && i->kind == NODE_SCALAR && (i->attr.number.v.i < -n || i->attr.number.v.i >= n)) {
        fail(m, KN_INDEX_ERROR, "%s: position %lld is out of bounds for an extent of %lld", op, (long long)i->attr.number.v.i, (long long)n);
        node_drop(i);
        return NULL;
    }
    return i;
}

node *positions(node *index, int64_t n, const char *mode_name, const char *op, message *m)
{
    range_mode mode;
    return mode_of(mode_name, op, &mode, m) ? NULL : positions_by(index, n, mode, op, m);
}

kn_status op_take(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *r = NULL;
    range_mode mode;
    int list[NDIM_MAX] = {0}, n = 1;
    bool flat = args[2].v.axis == INT64_MIN;
    kn_status status = mode_of(args[4].v.text, "take", &mode, m);
    if (!status && !flat)
        status = axes_normalise(args[2].v.axis, a->ndim, NULL, list, &n, "take", m);
    if (!status && n != 1)
        status = fail(m, KN_TYPE_ERROR, "take: takes one axis");
    if (status)
        return status;
    node *from = flat ? node_reshape(a, 1, &a->size, m) : kept(a);
    node *at = from ? positions_by(args[1].v.array, from->shape[list[0]], mode, "take", m) : NULL;
    if (at)
        r = gather_axis(from, list[0], at, m);
    node_drop(at);
    node_drop(from);
    return give(results, r, m);
}

kn_status op_take_along_axis(const op_value *args, node **results, message *m)
{
    const char *op = "take_along_axis";
    node *a = args[0].v.array, *index = args[1].v.array;
    int list[NDIM_MAX] = {0}, n = 1, ndim;
    int64_t shape[NDIM_MAX], left[NDIM_MAX], right[NDIM_MAX];
    int8_t from[NDIM_MAX];
    bool flat = args[2].v.axis == INT64_MIN;
    node *x = flat ? node_reshape(a, 1, &a->size, m) : kept(a), *r = NULL;
    if (!x)
        return give(results, NULL, m);
    kn_status status = flat ? KN_OK : axes_normalise(args[2].v.axis, x->ndim, NULL, list, &n, op, m);
    if (!status && n != 1)
        status = fail(m, KN_TYPE_ERROR, "%s: takes one axis", op);
    if (!status && index->ndim != x->ndim)
        status = fail(m, KN_VALUE_ERROR, "%s: positions of %d dimensions for an array of %d", op, index->ndim, x->ndim);
    int axis = list[0];
    for (int d = 0; d < x->ndim && !status; d++) {
        left[d] = d == axis ? 1 : x->shape[d];
        right[d] = d == axis ? 1 : index->shape[d];
        from[d] = (int8_t)(d == axis ? -1 : d);
    }
    if (!status)
        status = shape_broadcast(2, (int[]){x->ndim, x->ndim}, (const int64_t *const[]){left, right}, &ndim, shape, op, m);
    node *at = status ? NULL : positions_by(index, x->shape[axis], MODE_RAISE, op, m);
    if (at) {
        shape[axis] = x->shape[axis];
        x = do_broadcast(x, ndim, shape, m);
        shape[axis] = index->shape[axis];
        at = do_broadcast(at, ndim, shape, m);
        r = x && at ? node_gather(x, from, 1, &at, ndim, shape, m) : NULL;
    }
    node_drop(at);
    node_drop(x);
    return status ? status : give(results, r, m);
}

kn_status op_where(const op_value *args, node **results, message *m)
{
    if (!args[1].v.array || !args[2].v.array)
        return fail(m, KN_VALUE_ERROR, "where: give both x and y, or neither");
    return give(results, do_where(kept(args[0].v.array), kept(args[1].v.array), kept(args[2].v.array), m), m);
}

/* Which of n choices, each in range. */
static node *chosen_position(node *a, int n, message *m)
{
    node *at = node_cast(a, KN_INT64, m), *high = at ? do_binary(UFUNC_less, kept(at), typed_int(KN_INT64, n, m), m) : NULL;
    node *low = high ? do_binary(UFUNC_greater_equal, kept(at), typed_int(KN_INT64, 0, m), m) : NULL;
    return do_require(do_binary(UFUNC_logical_and, high, low, m), at, REQUIREMENT_choice, m);
}

kn_status op_choose(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array;
    int n = args[1].v.list.n;
    range_mode mode;
    kn_status status = mode_of(args[3].v.text, "choose", &mode, m);
    if (status)
        return status;
    if (n == 0)
        return fail(m, KN_VALUE_ERROR, "choose: there is nothing to choose from");
    node *at = mode == MODE_RAISE && dtype_is_integer(a->dtype) ? chosen_position(a, n, m) : positions_by(a, n, mode, "choose", m);
    node *r = at ? kept(args[1].v.list.at[0]) : NULL;
    for (int i = 1; i < n && r; i++) {
        node *here = do_binary(UFUNC_equal, kept(at), typed_int(KN_INT64, i, m), m);
        r = do_where(here, kept(args[1].v.list.at[i]), r, m);
    }
    if (r && n == 1) { /* the shape still comes from both */
        node *here = do_binary(UFUNC_equal, kept(at), typed_int(KN_INT64, 0, m), m);
        r = do_where(here, kept(r), r, m);
    }
    node_drop(at);
    return give(results, r, m);
}

kn_status op_select(const op_value *args, node **results, message *m)
{
    int n = args[0].v.list.n;
    if (n != args[1].v.list.n)
        return fail(m, KN_VALUE_ERROR, "select: %d conditions for %d choices", n, args[1].v.list.n);
    if (n == 0)
        return fail(m, KN_VALUE_ERROR, "select: needs at least one condition");
    node *r = args[2].v.array ? kept(args[2].v.array) : weak_int(0, m);
    for (int i = n; i-- > 0 && r;) {
        node *condition = args[0].v.list.at[i];
        if (condition->dtype != KN_BOOL) {
            node_drop(r);
            return fail(m, KN_TYPE_ERROR, "select: condition %d is %s, not bool", i, dtype_table[condition->dtype].name);
        }
        r = do_where(kept(condition), kept(args[1].v.list.at[i]), r, m);
    }
    return give(results, r, m);
}

/* ---- piecewise ---- */

/* The conditions, of one shape with x; a list of truth values that has as many as x elements is one condition. */
static kn_status piecewise_condition(const op_value *args, int i, const node *x, node **out, message *m)
{
    node *c = args[1].v.list.at[i];
    char a[SHAPE_TEXT], b[SHAPE_TEXT];
    bool same = c->ndim == x->ndim && memcmp(c->shape, x->shape, (size_t)x->ndim * sizeof *x->shape) == 0;
    if (!same && c->ndim)
        return fail(m, KN_INDEX_ERROR, "piecewise: a condition of shape %s for an array of shape %s", shape_text(a, c->ndim, c->shape), shape_text(b, x->ndim, x->shape));
    *out = do_broadcast(node_cast(c, KN_BOOL, m), x->ndim, x->shape, m);
    return *out ? KN_OK : KN_MEMORY_ERROR;
}

kn_status op_piecewise(const op_value *args, node **results, message *m)
{
    node *x = args[0].v.array, *const *value = args[2].v.list.at;
    int n = args[1].v.list.n, nvalues = args[2].v.list.n;
    if (nvalues != n && nvalues != n + 1)
        return fail(m, KN_VALUE_ERROR, "piecewise: with %d condition(s), either %d or %d functions are expected", n, n, n + 1);
    node *r = filled(nvalues > n ? node_cast(value[n], x->dtype, m) : typed_int(x->dtype, 0, m), x->ndim, x->shape, m);
    for (int i = 0; i < n && r; i++) {
        node *c;
        kn_status status = value[i]->ndim ? fail(m, KN_VALUE_ERROR, "piecewise: value %d is not a number", i) : piecewise_condition(args, i, x, &c, m);
        if (status) {
            node_drop(r);
            return status;
        }
        r = do_where(c, node_cast(value[i], x->dtype, m), r, m);
    }
    return give(results, r, m);
}

/* ---- positions in several dimensions ---- */

static bool fortran_order(const char *order) { return order && order[0] == 'F'; }

kn_status op_ravel_multi_index(const op_value *args, node **results, message *m)
{
    int n = args[0].v.list.n;
    const int64_t *dims = args[1].v.shape.dim;
    range_mode mode;
    int64_t size, step = 1;
    kn_status status = mode_of(args[2].v.text, "ravel_multi_index", &mode, m);
    if (!status && n != args[1].v.shape.ndim)
        status = fail(m, KN_VALUE_ERROR, "ravel_multi_index: %d arrays of positions for %d dimensions", n, args[1].v.shape.ndim);
    if (!status && !shape_size(n, dims, &size))
        status = fail(m, KN_VALUE_ERROR, "ravel_multi_index: the dimensions are too large");
    node *sum = status ? NULL : typed_int(KN_INT64, 0, m);
    for (int k = 0; k < n && sum; k++) {
        int d = fortran_order(args[3].v.text) ? k : n - 1 - k;
        node *given = args[0].v.list.at[d], *at;
        if (mode == MODE_RAISE && dtype_is_integer(given->dtype)) {
            at = node_cast(given, KN_INT64, m);
            node *low = at ? do_binary(UFUNC_greater_equal, kept(at), typed_int(KN_INT64, 0, m), m) : NULL, *high = at ? do_binary(UFUNC_less, kept(at), typed_int(KN_INT64, dims[d], m), m) : NULL;
            at = do_require(do_binary(UFUNC_logical_and, low, high, m), at, REQUIREMENT_coordinates, m);
        } else {
            at = positions_by(given, dims[d], mode, "ravel_multi_index", m);
        }
        sum = do_binary(UFUNC_add, sum, do_binary(UFUNC_multiply, at, typed_int(KN_INT64, step, m), m), m);
        step *= dims[d];
    }
    return status ? status : give(results, sum, m);
}

kn_status op_unravel_index(const op_value *args, node **results, message *m)
{
    node *index = args[0].v.array, *parts[NDIM_MAX];
    int n = args[1].v.shape.ndim, last = index->ndim;
    const int64_t *dims = args[1].v.shape.dim;
    int64_t size;
    if (!dtype_is_integer(index->dtype))
        return fail(m, KN_TYPE_ERROR, "unravel_index: positions must be integers, not %s", dtype_table[index->dtype].name);
    if (!shape_size(n, dims, &size))
        return fail(m, KN_VALUE_ERROR, "unravel_index: the dimensions are too large");
    if (n == 0)
        return fail(m, KN_VALUE_ERROR, "unravel_index: multiple indices are not supported for 0d array");
    node *at = node_cast(index, KN_INT64, m), *low = at ? do_binary(UFUNC_greater_equal, kept(at), typed_int(KN_INT64, 0, m), m) : NULL;
    node *high = at ? do_binary(UFUNC_less, kept(at), typed_int(KN_INT64, size, m), m) : NULL;
    at = do_require(do_binary(UFUNC_logical_and, low, high, m), at, REQUIREMENT_flat_index, m);
    for (int k = 0; k < n; k++) {
        int d = fortran_order(args[2].v.text) ? k : n - 1 - k;
        node *digit = at ? do_binary(UFUNC_remainder, kept(at), typed_int(KN_INT64, dims[d], m), m) : NULL;
        parts[d] = digit ? do_expand(digit, last, m) : NULL;
        at = do_binary(UFUNC_floor_divide, at, typed_int(KN_INT64, dims[d], m), m);
    }
    node_drop(at);
    return give(results, do_join(n, parts, last, "unravel_index", m), m);
}

kn_status op_diag_indices(const op_value *args, node **results, message *m)
{
    int64_t n = args[0].v.integer, ndim = args[1].v.integer;
    if (n < 0 || ndim < 0)
        return fail(m, KN_VALUE_ERROR, "diag_indices: the extent and the number of dimensions must not be negative");
    node *i = node_index(n, m);
    return give(results, do_broadcast(i ? do_expand(i, 1, m) : NULL, 2, (int64_t[]){n, ndim}, m), m);
}
