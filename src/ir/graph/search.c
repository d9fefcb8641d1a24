/* search.c: places in sorted arrays and what is found with them: searchsorted, digitize, interp, isin.
 *
 * How it works: a binary search is a chain of gathers, one for every power of two below the array's length, each of which
 * doubles what is known about the place; all of them are one kernel, fused with what needs the place. */
#include "ir/graph/internal.h"

#include <math.h>
#include <string.h>

/* Whether x comes before v in sorted order, where NaN stands last. Consumes both. */
static node *comes_before(node *x, node *v, message *m)
{
    if (!x || !v || !dtype_is_inexact(x->dtype))
        return do_binary(UFUNC_less, x, v, m);
    node *number = do_unary(UFUNC_logical_not, do_unary(UFUNC_isnan, kept(x), m), m);
    node *beyond = do_binary(UFUNC_logical_and, do_unary(UFUNC_isnan, kept(v), m), number, m);
    return do_binary(UFUNC_logical_or, do_binary(UFUNC_less, x, v, m), beyond, m);
}

/* How many elements of the sorted a come before v, or (right) do not come after it: int64, of v's shape. One dtype. */
static node *place_of(node *a, node *v, bool right, message *m)
{
    int64_t n = a->size, step = 1;
    node *at = filled(typed_int(KN_INT64, 0, m), v->ndim, v->shape, m);
    while (step <= n / 2)
        step *= 2;
    for (; n && step && at; step /= 2) {
        node *next = do_binary(UFUNC_add, kept(at), typed_int(KN_INT64, step, m), m);
        node *inside = next ? do_binary(UFUNC_less_equal, kept(next), typed_int(KN_INT64, n, m), m) : NULL;
        node *i = next ? do_binary(UFUNC_subtract, do_binary(UFUNC_minimum, kept(next), typed_int(KN_INT64, n, m), m), typed_int(KN_INT64, 1, m), m) : NULL;
        node *x = do_gather(kept(a), 0, i, m);
        node *passes = right ? do_unary(UFUNC_logical_not, comes_before(kept(v), x, m), m) : comes_before(x, kept(v), m);
        at = do_where(do_binary(UFUNC_logical_and, inside, passes, m), next, at, m);
    }
    return at;
}

node *do_search(node *a, node *v, bool right, message *m)
{
    if (a && v) {
        kn_dtype t = dtype_promote(a->dtype, v->dtype);
        a = do_cast(a, t, m);
        v = do_cast(v, t, m);
    }
    node *r = a && v ? place_of(a, v, right, m) : NULL;
    node_drop(a);
    node_drop(v);
    return r;
}

static kn_status one_dimension(const node *a, const char *what, const char *op, message *m)
{
    return a->ndim == 1 ? KN_OK : fail(m, KN_VALUE_ERROR, "%s: %s must have one dimension, not %d", op, what, a->ndim);
}

kn_status op_searchsorted(const op_value *args, node **results, message *m)
{
    node *a = args[0].v.array, *v = args[1].v.array, *sorter = args[3].v.array;
    const char *side = args[2].v.text ? args[2].v.text : "left";
    kn_status status = one_dimension(a, "a", "searchsorted", m);
    if (!status && strcmp(side, "left") != 0 && strcmp(side, "right") != 0)
        status = fail(m, KN_VALUE_ERROR, "searchsorted: side must be 'left' or 'right', not '%s'", side);
    if (!status && sorter && !dtype_is_integer(sorter->dtype))
        status = fail(m, KN_TYPE_ERROR, "searchsorted: sorter must be integers, not %s", dtype_table[sorter->dtype].name);
    if (!status && sorter && (sorter->ndim != 1 || sorter->size != a->size))
        status = fail(m, KN_VALUE_ERROR, "searchsorted: sorter must have one dimension and as many elements as a");
    if (status)
        return status;
    node *sorted = sorter ? do_gather(kept(a), 0, kept(sorter), m) : kept(a);
    return give(results, do_search(sorted, node_cast(v, v->dtype, m), side[0] == 'r', m), m);
}

/* ---- digitize ---- */

/* Whether every step along bins goes that way, or nowhere: one bool. */
static node *goes(node *bins, ufunc_number way, message *m)
{
    int64_t n = bins->size;
    node *steps = do_binary(way, do_slice(kept(bins), 0, 0, n - 1, m), do_slice(kept(bins), 0, 1, n - 1, m), m);
    return do_reduce(REDUCTION_all, steps, 1, false, m);
}

kn_status op_digitize(const op_value *args, node **results, message *m)
{
    node *x = args[0].v.array, *bins = args[1].v.array;
    kn_status status = dtype_is_complex(x->dtype) ? fail(m, KN_TYPE_ERROR, "digitize: x may not be complex") : one_dimension(bins, "bins", "digitize", m);
    if (status)
        return status;
    if (bins->size < 2)
        return give(results, do_search(kept(bins), node_cast(x, x->dtype, m), !args[2].v.flag, m), m);
    node *up = goes(bins, UFUNC_less_equal, m), *down = goes(bins, UFUNC_greater_equal, m);
    node *sound = up && down ? do_binary(UFUNC_logical_or, kept(up), down, m) : NULL;
    up = do_require(sound, up, REQUIREMENT_monotonic, m);
    node *rising = do_where(kept(up), kept(bins), do_reversed(kept(bins), 0, m), m);
    node *at = do_search(rising, node_cast(x, x->dtype, m), !args[2].v.flag, m);
    node *from_end = at ? do_binary(UFUNC_subtract, typed_int(KN_INT64, bins->size, m), kept(at), m) : NULL;
    return give(results, do_where(up, at, from_end, m), m);
}

/* ---- interp ---- */

typedef struct samples { node *x, *y; } samples;   /* owned */

static void samples_free(samples *s)
{
    node_drop(s->x);
    node_drop(s->y);
}

/* slope * (x - xp[i]) + fp[i]. Borrows all. */
static node *on_line(node *slope, node *x, const samples *s, node *i, message *m)
{
    node *run = do_binary(UFUNC_subtract, kept(x), do_gather(kept(s->x), 0, kept(i), m), m);
    return do_binary(UFUNC_add, do_binary(UFUNC_multiply, kept(slope), run, m), do_gather(kept(s->y), 0, kept(i), m), m);
}

/* Between samples i and i + 1; where that is no number, as seen from the other end. Consumes i. */
static node *between_samples(node *x, const samples *s, node *i, message *m)
{
    node *next = i ? do_binary(UFUNC_add, kept(i), typed_int(KN_INT64, 1, m), m) : NULL;
    node *y0 = do_gather(kept(s->y), 0, kept(i), m), *y1 = do_gather(kept(s->y), 0, kept(next), m), *x0 = do_gather(kept(s->x), 0, kept(i), m);
    node *rise = do_binary(UFUNC_subtract, kept(y1), kept(y0), m), *run = do_binary(UFUNC_subtract, do_gather(kept(s->x), 0, kept(next), m), kept(x0), m);
    node *slope = do_binary(UFUNC_divide, rise, run, m), *r = NULL;
    if (slope && y0 && y1 && x0) {
        r = on_line(slope, x, s, i, m);
        r = do_where(r ? do_unary(UFUNC_isnan, kept(r), m) : NULL, on_line(slope, x, s, next, m), r, m);
        node *level = do_binary(UFUNC_logical_and, r ? do_unary(UFUNC_isnan, kept(r), m) : NULL, do_binary(UFUNC_equal, kept(y0), kept(y1), m), m);
        r = do_where(level, kept(y0), r, m);
        r = do_where(do_binary(UFUNC_equal, kept(x), kept(x0), m), kept(y0), r, m);
    }
    node *all[] = {i, next, y0, y1, x0, slope};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        node_drop(all[k]);
    return r;
}

/* Borrows all. */
static node *interpolated(node *x, const samples *s, node *left, node *right, message *m)
{
    int64_t n = s->x->size;
    node *first = do_element(kept(s->x), 0, 0, m), *last = do_element(kept(s->x), 0, n - 1, m), *end = do_element(kept(s->y), 0, n - 1, m), *r = NULL;
    if (n > 1) {
        node *i = do_binary(UFUNC_subtract, do_search(kept(s->x), kept(x), true, m), typed_int(KN_INT64, 1, m), m);
        i = do_binary(UFUNC_maximum, do_binary(UFUNC_minimum, i, typed_int(KN_INT64, n - 2, m), m), typed_int(KN_INT64, 0, m), m);
        r = between_samples(x, s, i, m);
    } else {
        r = filled(end ? kept(end) : NULL, x->ndim, x->shape, m);
    }
    r = do_where(last ? do_binary(UFUNC_equal, kept(x), kept(last), m) : NULL, end ? kept(end) : NULL, r, m);
    r = do_where(do_binary(UFUNC_less, kept(x), first, m), left ? kept(left) : do_element(kept(s->y), 0, 0, m), r, m);
    r = do_where(do_binary(UFUNC_greater, kept(x), last, m), right ? kept(right) : kept(end), r, m);
    node_drop(end);
    return do_where(do_unary(UFUNC_isnan, kept(x), m), kept(x), r, m);
}

/* Samples of one period, sorted, with one more on each side; x within it. Replaces all three. */
static void make_periodic(node **x, samples *s, double period, message *m)
{
    period = fabs(period);
    node *inside = do_binary(UFUNC_remainder, s->x, weak_float(period, m), m), *order = do_argsort(kept(inside), 0, m);
    *x = do_binary(UFUNC_remainder, *x, weak_float(period, m), m);
    inside = do_gather(inside, 0, kept(order), m);
    node *y = do_gather(s->y, 0, order, m);
    int64_t n = inside ? inside->size : 0;
    node *before = do_binary(UFUNC_subtract, inside ? do_slice(kept(inside), 0, n - 1, 1, m) : NULL, weak_float(period, m), m);
    node *after = do_binary(UFUNC_add, inside ? do_slice(kept(inside), 0, 0, 1, m) : NULL, weak_float(period, m), m);
    node *y_before = y ? do_slice(kept(y), 0, n - 1, 1, m) : NULL, *y_after = y ? do_slice(kept(y), 0, 0, 1, m) : NULL;
    s->x = do_join(3, (node *[]){before, inside, after}, 0, "interp", m);
    s->y = do_join(3, (node *[]){y_before, y, y_after}, 0, "interp", m);
}

/* Consumes the samples; those of complex values are two problems. */
static node *interp_parts(node *x, samples s, node *left, node *right, message *m)
{
    node *r = NULL;
    if (s.x && s.y && !dtype_is_complex(s.y->dtype)) {
        r = interpolated(x, &s, left, right, m);
    } else if (s.x && s.y) {
        node *part[2];
        for (int i = 0; i < 2; i++) {
            node *(*take)(node *, message *) = i ? do_imag : do_real;
            node *low = left ? take(node_cast(left, KN_COMPLEX128, m), m) : NULL, *high = right ? take(node_cast(right, KN_COMPLEX128, m), m) : NULL;
            samples own = {kept(s.x), take(kept(s.y), m)};
            part[i] = own.y ? interpolated(x, &own, low, high, m) : NULL;
            samples_free(&own);
            node_drop(low);
            node_drop(high);
        }
        r = complex_of(part[0], part[1], KN_COMPLEX128, m);
    }
    samples_free(&s);
    return r;
}

kn_status op_interp(const op_value *args, node **results, message *m)
{
    node *xp = args[1].v.array, *fp = args[2].v.array, *left = args[3].v.array, *right = args[4].v.array;
    double period = args[5].v.number;
    kn_status status = one_dimension(xp, "xp", "interp", m);
    if (!status)
        status = one_dimension(fp, "fp", "interp", m);
    if (!status && (dtype_is_complex(args[0].v.array->dtype) || dtype_is_complex(xp->dtype)))
        status = fail(m, KN_TYPE_ERROR, "interp: x and xp must be real numbers");
    if (!status && xp->size == 0)
        status = fail(m, KN_VALUE_ERROR, "interp: array of sample points is empty");
    if (!status && xp->size != fp->size)
        status = fail(m, KN_VALUE_ERROR, "interp: fp and xp are not of the same length");
    if (!status && period == 0)
        status = fail(m, KN_VALUE_ERROR, "interp: period must be a non-zero value");
    if (status)
        return status;
    bool periodic = !isnan(period);
    kn_dtype t = dtype_is_complex(fp->dtype) ? KN_COMPLEX128 : KN_FLOAT64;
    node *x = node_cast(args[0].v.array, KN_FLOAT64, m);
    samples s = {node_cast(xp, KN_FLOAT64, m), node_cast(fp, t, m)};
    if (periodic && x && s.x && s.y)
        make_periodic(&x, &s, period, m);
    if (!x) {
        samples_free(&s);
        return give(results, NULL, m);
    }
    node *r = interp_parts(x, s, periodic ? NULL : left, periodic ? NULL : right, m);
    node_drop(x);
    return give(results, r, m);
}

/* ---- membership ---- */

kn_status op_isin(const op_value *args, node **results, message *m)
{
    node *element = args[0].v.array, *test = args[1].v.array, *found;
    kn_dtype t = dtype_promote(element->dtype, test->dtype);
    node *x = node_cast(element, t, m), *s = do_sort(do_cast(do_flat(kept(test), m), t, m), 0, m);
    int64_t n = test->size;
    if (n == 0) {
        found = filled(weak_bool(false, m), element->ndim, element->shape, m);
    } else {
        node *at = do_binary(UFUNC_minimum, do_search(kept(s), kept(x), false, m), typed_int(KN_INT64, n - 1, m), m);
        found = do_binary(UFUNC_equal, do_gather(kept(s), 0, at, m), kept(x), m);
    }
    node_drop(x);
    node_drop(s);
    return give(results, args[3].v.flag ? do_unary(UFUNC_logical_not, found, m) : found, m);
}
