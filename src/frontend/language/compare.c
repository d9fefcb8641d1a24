/* compare.c: comparisons and membership.
 *
 * How it works: numbers are ordered exactly, whatever their kinds; sequences by their first difference; sets by inclusion. With an array
 * the comparison is recorded as an array operation. What is not comparable is unequal, and has no order. */
#include <math.h>
#include <string.h>
#include "kiln.h"
#include "frontend/language/machine.h"

enum { UNORDERED = 2 };

static int order_of(bool less, bool more) { return more - less; }

/* ---- numbers ---- */

static int order_doubles(double a, double b) { return isnan(a) || isnan(b) ? UNORDERED : order_of(a < b, a > b); }

static int order_int_double(int64_t i, double f) {
    if (isnan(f)) return UNORDERED;
    if (f >= 0x1p63) return -1;
    if (f < -0x1p63) return 1;
    int64_t whole = (int64_t)f;
    if (i != whole) return i < whole ? -1 : 1;
    return order_of(0 < f - (double)whole, 0 > f - (double)whole);
}

static int order_big_double(machine *m, value big, double f) {
    if (isnan(f)) return UNORDERED;
    double d = big_double(big);
    if (d != f) return order_of(d < f, d > f);
    if (isinf(f)) return f > 0 ? -1 : 1;
    value exact = big_from_double(m, f);
    int order = big_compare(big, exact);
    value_drop(m, exact);
    return order;
}

static bool is_float(value v) { return v.kind == VALUE_FLOAT || (v.kind == VALUE_ELEMENT && dtype_is_inexact((kn_dtype)v.dtype)); }
static bool is_large(value v) { return v.kind == VALUE_ELEMENT && v.dtype == KN_UINT64 && v.u.i < 0; }      /* beyond int64 */

/* A Python float beside an element takes the element's dtype. */
static double float_beside(value v, value other) {
    if (v.kind != VALUE_FLOAT || other.kind != VALUE_ELEMENT || !dtype_is_inexact((kn_dtype)other.dtype) || other.dtype == KN_FLOAT64) return v.u.f;
    char at[8];
    element_store((kn_dtype)other.dtype, at, (scalar){ SCALAR_FLOAT, { .f = v.u.f } });
    return element_load((kn_dtype)other.dtype, at).v.f;
}

/* An integer beside a float: exact for Python's; an element's is converted, as NumPy does. */
static int order_integer_float(machine *m, value i, value f) {
    double d = float_beside(f, i);
    if (i.kind == VALUE_BIG) return order_big_double(m, i, d);
    if (is_large(i)) return order_doubles((double)i.u.u, d);
    if (i.kind == VALUE_ELEMENT || f.kind == VALUE_ELEMENT) return order_doubles((double)i.u.i, d);
    return order_int_double(i.u.i, d);
}

static int order_integers(value a, value b) {
    if (is_large(a) || is_large(b)) {
        if (a.kind == VALUE_BIG || b.kind == VALUE_BIG) {                        /* a big one is beyond int64 on one side */
            double x = a.kind == VALUE_BIG ? big_double(a) : (double)a.u.u, y = b.kind == VALUE_BIG ? big_double(b) : (double)b.u.u;
            return order_doubles(x, y);
        }
        if (is_large(a) && is_large(b)) return order_of(a.u.u < b.u.u, a.u.u > b.u.u);
        return is_large(a) ? 1 : -1;
    }
    if (a.kind == VALUE_BIG || b.kind == VALUE_BIG) {
        value x = a.kind == VALUE_BIG ? a : int_value(a.u.i), y = b.kind == VALUE_BIG ? b : int_value(b.u.i);
        return big_compare(x, y);
    }
    return order_of(a.u.i < b.u.i, a.u.i > b.u.i);
}

/* Of real numbers: -1, 0, 1 or UNORDERED. */
static int order_numbers(machine *m, value a, value b) {
    if (is_float(a) && is_float(b)) return order_doubles(float_beside(a, b), float_beside(b, a));
    if (is_float(a)) {
        int order = order_integer_float(m, b, a);
        return order == UNORDERED ? order : -order;
    }
    return is_float(b) ? order_integer_float(m, a, b) : order_integers(a, b);
}

static bool holds(syntax_compare op, int order) {
    switch (op) {
    case COMPARE_EQ: return order == 0;
    case COMPARE_NE: return order != 0;
    case COMPARE_LT: return order == -1;
    case COMPARE_LE: return order == -1 || order == 0;
    case COMPARE_GT: return order == 1;
    default: return order == 1 || order == 0;
    }
}

static const char *const symbols[] = { [COMPARE_EQ] = "==", [COMPARE_NE] = "!=", [COMPARE_LT] = "<", [COMPARE_LE] = "<=", [COMPARE_GT] = ">", [COMPARE_GE] = ">=" };

static value no_order(machine *m, syntax_compare op, value a, value b) {
    if (op == COMPARE_EQ || op == COMPARE_NE) return bool_value(op == COMPARE_NE);
    return raise_error(m, "TypeError", "'%s' not supported between instances of '%s' and '%s'", symbols[op], value_type_name(a), value_type_name(b));
}

static value complex_compare(machine *m, syntax_compare op, value a, value b) {
    if (op != COMPARE_EQ && op != COMPARE_NE) return no_order(m, op, a, b);
    value other = a.kind == VALUE_COMPLEX ? b : a, one = a.kind == VALUE_COMPLEX ? a : b;
    bool same;
    if (other.kind == VALUE_COMPLEX) same = as_complex(a)->re == as_complex(b)->re && as_complex(a)->im == as_complex(b)->im;
    else same = as_complex(one)->im == 0 && order_numbers(m, float_value(as_complex(one)->re), other) == 0;
    return bool_value(same == (op == COMPARE_EQ));
}

/* ---- arrays ---- */

typedef kn_array binary_function(kn_array a, kn_array b, const kn_ufunc_opts *opts);
static binary_function *const array_functions[] = {
    [COMPARE_EQ] = (kn_equal), [COMPARE_NE] = (kn_not_equal), [COMPARE_LT] = (kn_less), [COMPARE_LE] = (kn_less_equal), [COMPARE_GT] = (kn_greater), [COMPARE_GE] = (kn_greater_equal),
};

static bool array_like(value v) {
    return v.kind == VALUE_ARRAY || v.kind == VALUE_LIST || v.kind == VALUE_TUPLE || v.kind == VALUE_RANGE || v.kind == VALUE_RECORD || value_is_number(v);
}

static value array_compare(machine *m, syntax_compare op, value a, value b) {
    if (!array_like(a) || !array_like(b)) return no_order(m, op, a, b);
    kn_array x = array_of(m, a), y = x.id ? array_of(m, b) : x;
    return x.id && y.id ? array_result(m, array_functions[op](x, y, NULL)) : NO_VALUE_;
}

/* ---- sequences and sets ---- */

static value text_compare(syntax_compare op, const string_object *a, const string_object *b) {
    size_t n = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->at, b->at, n);
    order = order ? order : order_of(a->length < b->length, a->length > b->length);
    return bool_value(holds(op, order_of(order < 0, order > 0)));
}

/* The items of a list, tuple or record. */
static size_t items_of(value v, const value **at) {
    *at = v.kind == VALUE_RECORD ? ((record_object *)v.u.o)->at : as_sequence(v)->at;
    return v.kind == VALUE_RECORD ? ((record_object *)v.u.o)->n : as_sequence(v)->n;
}

static value sequence_compare(machine *m, syntax_compare op, value a, value b) {
    const value *x, *y;
    size_t na = items_of(a, &x), nb = items_of(b, &y), n = na < nb ? na : nb;
    if (na != nb && (op == COMPARE_EQ || op == COMPARE_NE)) return bool_value(op == COMPARE_NE);
    if (!machine_enter(m)) return NO_VALUE_;
    value result = NO_VALUE_;
    size_t i = 0;
    int same = 1;
    for (; i < n && same == 1; i++) same = value_equal(m, x[i], y[i]);
    if (same == 1) result = bool_value(holds(op, order_of(na < nb, na > nb)));
    else if (same == 0) result = op == COMPARE_EQ || op == COMPARE_NE ? bool_value(op == COMPARE_NE) : compare(m, op, x[i - 1], y[i - 1]);
    machine_leave(m);
    return result;
}

/* Whether everything in a is in b (with the same item): 1, 0, -1. */
static int included(machine *m, value a, value b) {
    const pair *p;
    for (size_t at = 0; (p = dict_next(a, &at));) {
        value item;
        if (!dict_find(m, b, p->key, &item)) return -1;
        int same = absent(item) ? 0 : a.kind == VALUE_SET ? 1 : value_equal(m, p->item, item);
        if (same != 1) return same;
    }
    return 1;
}

static value set_compare(machine *m, syntax_compare op, value a, value b) {
    size_t na = dict_count(a), nb = dict_count(b);
    bool swap = op == COMPARE_GT || op == COMPARE_GE, strict = op == COMPARE_LT || op == COMPARE_GT;
    if (a.kind == VALUE_DICT && op != COMPARE_EQ && op != COMPARE_NE) return no_order(m, op, a, b);
    if ((op == COMPARE_EQ || op == COMPARE_NE) && na != nb) return bool_value(op == COMPARE_NE);
    if (strict && na == nb) return bool_value(false);
    if (!machine_enter(m)) return NO_VALUE_;
    int in = swap ? included(m, b, a) : included(m, a, b);
    machine_leave(m);
    return in < 0 ? NO_VALUE_ : bool_value((in == 1) == (op != COMPARE_NE));
}

static value same_kind_compare(machine *m, syntax_compare op, value a, value b) {
    switch (a.kind) {
    case VALUE_STRING: case VALUE_BYTES: return text_compare(op, as_string(a), as_string(b));
    case VALUE_LIST: case VALUE_TUPLE: case VALUE_RECORD: return sequence_compare(m, op, a, b);
    case VALUE_DICT: case VALUE_SET: return set_compare(m, op, a, b);
    case VALUE_RANGE: {
        const range_object *x = as_range(a), *y = as_range(b);
        bool same = x->n == y->n && (!x->n || (x->start == y->start && (x->n == 1 || x->step == y->step)));
        return same && op == COMPARE_EQ ? bool_value(true) : same && op == COMPARE_NE ? bool_value(false) : no_order(m, op, a, b);
    }
    case VALUE_SLICE: {
        if (op != COMPARE_EQ && op != COMPARE_NE) break;
        int same = 1;
        for (int i = 0; i < 3 && same == 1; i++) same = value_equal(m, (&as_slice(a)->start)[i], (&as_slice(b)->start)[i]);
        return same < 0 ? NO_VALUE_ : bool_value(same == (op == COMPARE_EQ));
    }
    default: break;
    }
    return value_same(a, b) && (op == COMPARE_EQ || op == COMPARE_NE) ? bool_value(op == COMPARE_EQ) : no_order(m, op, a, b);
}

/* ---- membership ---- */

static int member_of_items(machine *m, size_t n, const value *at, value item) {
    for (size_t i = 0; i < n; i++) {
        int same = value_equal(m, at[i], item);
        if (same) return same;
    }
    return 0;
}

static int member_of_array(machine *m, value array, value item) {
    value found = compare(m, COMPARE_EQ, array, item);
    if (absent(found)) return -1;
    if (found.kind != VALUE_ARRAY) {
        value_drop(m, found);
        return 0;
    }
    kn_array any = (kn_any)(as_array(found)->array, NULL);
    message why = { 0 };
    bool truth = kn_true(any);
    value_drop(m, found);
    if (!array_failed(any, &why)) return truth;
    raise_message(m, &why);
    return -1;
}

static int member_of_iterable(machine *m, value container, value item) {
    value it = value_iterate(m, container);
    int found = absent(it) ? -1 : 0;
    for (bool done = false; !found;) {
        value v = machine_step(m) ? value_next(m, it, &done) : NO_VALUE_;
        if (done) break;
        found = absent(v) ? -1 : value_equal(m, v, item);
        value_drop(m, v);
    }
    value_drop(m, it);
    return found;
}

int contains(machine *m, value container, value item) {
    value found;
    switch (container.kind) {
    case VALUE_ABSENT: return -1;
    case VALUE_LIST: case VALUE_TUPLE: return member_of_items(m, as_sequence(container)->n, as_sequence(container)->at, item);
    case VALUE_DICT: case VALUE_SET: return dict_find(m, container, item, &found) ? !absent(found) : -1;
    case VALUE_STRING: case VALUE_BYTES:
        if (item.kind != container.kind) {
            raise_error(m, "TypeError", "'in <string>' requires string as left operand, not %s", value_type_name(item));
            return -1;
        }
        return !as_string(item)->length || memmem(as_string(container)->at, as_string(container)->length, as_string(item)->at, as_string(item)->length) != NULL;
    case VALUE_RANGE: {
        const range_object *r = as_range(container);
        if (item.kind != VALUE_INT && item.kind != VALUE_BOOL) break;
        int64_t from = r->step > 0 ? r->start : r->start + (r->n - 1) * r->step, to = r->step > 0 ? r->start + (r->n - 1) * r->step : r->start;
        return r->n && item.u.i >= from && item.u.i <= to && ((uint64_t)item.u.i - (uint64_t)from) % (uint64_t)(r->step > 0 ? r->step : -r->step) == 0;
    }
    case VALUE_ARRAY: if (kn_ndim(as_array(container)->array)) return member_of_array(m, container, item); break;
    default: break;
    }
    bool iterable = container.kind == VALUE_ITERATOR || container.kind == VALUE_RANGE || container.kind == VALUE_RECORD;
    if (iterable) return member_of_iterable(m, container, item);
    raise_error(m, "TypeError", "argument of type '%s' is not iterable", value_type_name(container));
    return -1;
}

/* ---- all pairs ---- */

static value membership(machine *m, syntax_compare op, value a, value b) {
    if (op == COMPARE_IS || op == COMPARE_IS_NOT) return bool_value(value_same(a, b) == (op == COMPARE_IS));
    int in = contains(m, b, a);
    return in < 0 ? NO_VALUE_ : bool_value(in == (op == COMPARE_IN));
}

value compare(machine *m, syntax_compare op, value a, value b) {
    if (a.kind == VALUE_INT && b.kind == VALUE_INT && op <= COMPARE_GE) return bool_value(holds(op, order_of(a.u.i < b.u.i, a.u.i > b.u.i)));
    if (absent(a) || absent(b)) return NO_VALUE_;
    if (op > COMPARE_GE) return membership(m, op, a, b);
    if (a.kind == VALUE_ARRAY || b.kind == VALUE_ARRAY) return array_compare(m, op, a, b);
    if (value_is_number(a) && value_is_number(b)) {
        bool numpy = a.kind == VALUE_ELEMENT || b.kind == VALUE_ELEMENT || (a.kind == VALUE_COMPLEX && a.dtype) || (b.kind == VALUE_COMPLEX && b.dtype);
        value v = a.kind == VALUE_COMPLEX || b.kind == VALUE_COMPLEX ? complex_compare(m, op, a, b) : bool_value(holds(op, order_numbers(m, a, b)));
        return numpy && !absent(v) ? element_int(KN_BOOL, v.u.i) : v;
    }
    if (a.kind == b.kind) return same_kind_compare(m, op, a, b);
    bool tuples = (a.kind == VALUE_RECORD && b.kind == VALUE_TUPLE) || (a.kind == VALUE_TUPLE && b.kind == VALUE_RECORD);
    bool elements = (a.kind == VALUE_ELEMENT && (b.kind == VALUE_LIST || b.kind == VALUE_TUPLE)) || (b.kind == VALUE_ELEMENT && (a.kind == VALUE_LIST || a.kind == VALUE_TUPLE));
    if (elements) return array_compare(m, op, a, b);
    return tuples ? sequence_compare(m, op, a, b) : no_order(m, op, a, b);
}
