/* arrays.c: between the language's values and arrays: a[...], its assignment, elements, nested lists as arrays.
 *
 * How it works: an array value keeps a handle; whatever changes it goes through another handle on the same cell, so that a
 * failure leaves the program's array as it was. Integers alone as index read and write memory that is there directly;
 * everything else becomes an index_list, as the C interface makes from text. Which operators exist, and what names mean, must
 * not be put here. */
#include <math.h>
#include <string.h>
#include "frontend/language/natives.h"
#include "frontend/language/numpy.h"
#include "kiln.h"
#include "runtime/runtime.h"

#define MOST_NESTED NDIM_MAX




/* ---- elements ---- */

value element_value(machine *m, scalar s, kn_dtype t) {
    value v = { VALUE_ELEMENT, (uint8_t)t, { 0 } };
    switch (s.kind) {
    case SCALAR_BOOL: v.u.i = s.v.b; return v;
    case SCALAR_INT: v.u.i = s.v.i; return v;
    case SCALAR_UINT: v.u.u = s.v.u; return v;
    case SCALAR_FLOAT: v.u.f = s.v.f; return v;
    case SCALAR_COMPLEX: break;
    }
    v = complex_value(m, s.v.c.re, s.v.c.im);
    if (!absent(v)) v.dtype = (uint8_t)t;
    return v;
}

static value element_at(machine *m, kn_dtype t, const char *at) {
    value v = { VALUE_ELEMENT, (uint8_t)t, { 0 } };
    switch (t) {
    case KN_FLOAT64: memcpy(&v.u.f, at, sizeof v.u.f); return v;
    case KN_INT64: memcpy(&v.u.i, at, sizeof v.u.i); return v;
    case KN_FLOAT32: { float f; memcpy(&f, at, sizeof f); v.u.f = (double)f; return v; }
    default: return element_value(m, element_load(t, at), t);
    }
}

/* A number as the scalar that stores and operands take; false: it is none (nothing raised). */
bool scalar_of(value v, scalar *s) {
    switch ((value_kind)v.kind) {
    case VALUE_BOOL: *s = (scalar){ SCALAR_BOOL, { .b = v.u.i != 0 } }; return true;
    case VALUE_INT: *s = (scalar){ SCALAR_INT, { .i = v.u.i } }; return true;
    case VALUE_FLOAT: *s = (scalar){ SCALAR_FLOAT, { .f = v.u.f } }; return true;
    case VALUE_COMPLEX: {
        const complex_object *c = (const complex_object *)v.u.o;
        s->kind = SCALAR_COMPLEX;
        s->v.c.re = c->re;
        s->v.c.im = c->im;
        return true;
    }
    case VALUE_ELEMENT:
        switch (dtype_kind_of((kn_dtype)v.dtype)) {
        case KIND_BOOL: *s = (scalar){ SCALAR_BOOL, { .b = v.u.i != 0 } }; return true;
        case KIND_INT: *s = (scalar){ SCALAR_INT, { .i = v.u.i } }; return true;
        case KIND_UINT: *s = (scalar){ SCALAR_UINT, { .u = v.u.u } }; return true;
        case KIND_FLOAT: *s = (scalar){ SCALAR_FLOAT, { .f = v.u.f } }; return true;
        default: return false;
        }
    default: return false;
    }
}

/* The dtype that makes a number strong; KN_DTYPE_UNSET: Python's, weak. */
static kn_dtype strong_dtype(value v) { return v.kind == VALUE_ELEMENT || v.kind == VALUE_COMPLEX ? (kn_dtype)v.dtype : KN_DTYPE_UNSET; }

value element_of(machine *m, kn_array a) {
    host_window h;
    message why = { 0 };
    if (array_host(a, "reading an element", &h, &why)) return raise_message(m, &why);
    value v = element_at(m, h.dtype, h.data);
    host_drop(&h);
    return v;
}

/* ---- numbers and sequences as arrays ---- */

static kn_array strong_array(machine *m, scalar s, kn_dtype t) {
    message why = { 0 };
    node *n = node_scalar(t, s, false, &why);
    if (n) return array_from_node(n);
    raise_message(m, &why);
    return (kn_array){ 0 };
}

static kn_array number_array(machine *m, value v) {
    scalar s;
    if (v.kind == VALUE_BIG) {
        uint64_t u;                                /* the only big ones that arrays know are uint64's */
        if (big_u64(v, &u)) return kn_uint_(u);
        raise(m, "OverflowError", "Python int too large to convert to C long");
        return (kn_array){ 0 };
    }
    scalar_of(v, &s);
    if (strong_dtype(v)) return strong_array(m, s, strong_dtype(v));
    switch (s.kind) {
    case SCALAR_BOOL: return kn_bool_(s.v.b);
    case SCALAR_INT: return kn_int_(s.v.i);
    case SCALAR_FLOAT: return kn_float_(s.v.f);
    default: return kn_complex_(s.v.c.re, s.v.c.im);
    }
}

kn_array array_of(machine *m, value v) {
    if (v.kind == VALUE_ARRAY) return array_handle(v);
    if (value_is_number(v)) return number_array(m, v);
    return array_made(m, v, KN_DTYPE_UNSET);
}

/* What the nested sequences have together. */
typedef struct nest_shape {
    int ndim; int64_t shape[NDIM_MAX];
    kn_dtype dtype;
    bool arrays;             /* some items are arrays that may be pending */
} nest_shape;

static value sequence_item(value v, size_t i) {
    if (v.kind == VALUE_RANGE) {
        const range_object *r = (const range_object *)v.u.o;
        return int_value(r->start + (int64_t)i * r->step);
    }
    return as_sequence(v)->at[i];
}

static bool is_sequence(value v) { return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE || v.kind == VALUE_RANGE; }
static int64_t sequence_length(value v) { return v.kind == VALUE_RANGE ? ((const range_object *)v.u.o)->n : (int64_t)as_sequence(v)->n; }

static bool ragged(machine *m, int depth) {
    raise(m, "ValueError", "setting an array element with a sequence: the nested lists do not have one shape after %d dimension%s", depth, depth == 1 ? "" : "s");
    return false;
}

static void take_dtype(nest_shape *s, kn_dtype t) { s->dtype = s->dtype == KN_DTYPE_UNSET ? t : dtype_promote(s->dtype, t); }

static bool number_dtype(machine *m, value v, kn_dtype *t) {
    scalar s;
    if (v.kind == VALUE_BIG) {
        if (!big_u64(v, &(uint64_t){ 0 })) { raise(m, "OverflowError", "Python int too large to convert to C long"); return false; }
        *t = KN_UINT64;
        return true;
    }
    scalar_of(v, &s);
    *t = strong_dtype(v) ? strong_dtype(v) : dtype_default(s.kind);
    return true;
}

/* The first path down decides the shape; every other has to agree. */
static bool discover(machine *m, value v, int depth, bool first, nest_shape *s) {
    if (v.kind == VALUE_ARRAY) {
        layout l;
        message why = { 0 };
        if (!array_layout(array_handle(v), "array", &l, &why)) { raise_message(m, &why); return false; }
        if (first && depth + l.ndim > NDIM_MAX) { raise(m, "ValueError", "an array has at most %d dimensions", NDIM_MAX); return false; }
        if (first) s->ndim = depth + l.ndim;
        for (int d = 0; first && d < l.ndim; d++) s->shape[depth + d] = l.shape[d];
        if (s->ndim != depth + l.ndim || memcmp(s->shape + depth, l.shape, (size_t)l.ndim * sizeof *l.shape)) return ragged(m, depth);
        s->arrays = true;
        take_dtype(s, l.dtype);
        return true;
    }
    if (value_is_number(v)) {
        kn_dtype t;
        if (first) s->ndim = depth;
        if (!number_dtype(m, v, &t)) return false;
        take_dtype(s, t);
        return s->ndim == depth || ragged(m, depth);
    }
    if (!is_sequence(v)) {
        raise(m, "TypeError", "an array is made of numbers, not of '%s'", value_type_name(v));
        return false;
    }
    int64_t n = sequence_length(v);
    if (depth == MOST_NESTED) { raise(m, "ValueError", "an array has at most %d dimensions", NDIM_MAX); return false; }
    if (first) {
        s->shape[depth] = n;
        s->ndim = depth + 1;
    } else if (depth >= s->ndim || s->shape[depth] != n) {
        return ragged(m, depth);
    }
    for (int64_t i = 0; i < n; i++) if (!discover(m, sequence_item(v, (size_t)i), depth + 1, first && i == 0, s)) return false;
    return true;
}

static bool fill_numbers(machine *m, value v, kn_dtype t, char **to) {
    if (is_sequence(v)) {
        for (int64_t i = 0, n = sequence_length(v); i < n; i++) if (!fill_numbers(m, sequence_item(v, (size_t)i), t, to)) return false;
        return true;
    }
    scalar s;
    if (v.kind == VALUE_BIG) {
        s.kind = SCALAR_FLOAT;
        s.v.f = big_double(v);
        if (t == KN_UINT64) {
            kn_array a = number_array(m, v);
            slot *number = a.id ? slot_of(a) : NULL;
            if (!number) return false;
            s = number->u.number;
        }
    } else {
        scalar_of(v, &s);
    }
    bool weak = strong_dtype(v) == KN_DTYPE_UNSET;
    if (weak && s.kind == SCALAR_COMPLEX && !dtype_is_complex(t)) { raise(m, "TypeError", "a complex number cannot be stored as %s", dtype_table[t].name); return false; }
    if (weak && s.kind == SCALAR_FLOAT && dtype_is_integer(t) && !isfinite(s.v.f)) {
        raise(m, isnan(s.v.f) ? "ValueError" : "OverflowError", "cannot convert float %s to integer", isnan(s.v.f) ? "NaN" : "infinity");
        return false;
    }
    if (weak && t != KN_BOOL && !scalar_fits(s, t)) { raise(m, "OverflowError", "Python integer %lld out of bounds for %s", (long long)s.v.i, dtype_table[t].name); return false; }
    element_store(t, *to, s);
    *to += dtype_size(t);
    return true;
}

/* Host numbers alone: one copy. */
static kn_array filled(machine *m, value v, const nest_shape *s, kn_dtype t) {
    int64_t size;
    kn_array a = { 0 };
    if (!shape_size(s->ndim, s->shape, &size)) { raise(m, "ValueError", "array is too big"); return a; }
    char *data = mem_array((size_t)size + 1, dtype_size(t)), *to = data;
    if (!data) { raise_memory(m); return a; }
    if (fill_numbers(m, v, t, &to)) a = kn_from_memory(t, data, (kn_shape){ s->ndim, s->shape }, NULL, KN_COPY, NULL, NULL);
    mem_free(data);
    return a;
}

/* With arrays inside, the levels are stacked, so that nothing is evaluated. */
static kn_array stacked(machine *m, value v, const nest_shape *s, int depth, kn_dtype t) {
    kn_array result = { 0 };
    if (!is_sequence(v)) {
        kn_array a = array_of(m, v);
        return a.id ? (kn_astype)(a, t, NULL) : a;
    }
    size_t n = (size_t)sequence_length(v);
    kn_array *items = mem_array(n + 1, sizeof *items);
    if (!items) { raise_memory(m); return result; }
    size_t i = 0;
    while (i < n && (items[i] = stacked(m, sequence_item(v, i), s, depth + 1, t)).id) i++;
    if (i == n && n) result = (kn_stack)((kn_list){ n, items }, NULL);
    else if (i == n) result = (kn_zeros)((kn_shape){ s->ndim - depth, s->shape + depth }, &(kn_create_opts){ .size_ = sizeof(kn_create_opts), .dtype = t });
    mem_free(items);
    return result;
}

kn_array array_made(machine *m, value v, kn_dtype t) {
    nest_shape s = { .ndim = 0 };
    kn_array none = { 0 };
    if (v.kind == VALUE_ARRAY) return t ? (kn_astype)(array_handle(v), t, NULL) : (kn_copy)(array_handle(v), NULL);
    if (!discover(m, v, 0, true, &s)) return none;
    if (!t) t = s.dtype ? s.dtype : KN_FLOAT64;
    return s.arrays ? stacked(m, v, &s, 0, t) : filled(m, v, &s, t);
}

/* ---- a[...] ---- */

/* Where element `at` lies, for memory that is there. n is a's dimension. NULL: not to be had directly, or *raised. */
static char *element_place(machine *m, const slot *s, int n, const int64_t *at, bool write, kn_dtype *t, bool *raised) {
    *raised = false;
    if (s->kind != SLOT_ARRAY) return NULL;
    const node *v = s->c->value;
    if (__atomic_load_n(&v->state, __ATOMIC_ACQUIRE) != NODE_READY || v->kind == NODE_SCALAR || v->value->device != KN_CPU) return NULL;
    const slot_window *w = s->window;
    const int64_t *shape = w ? w->dims : v->shape;
    if ((w ? w->ndim : v->ndim) != n) return NULL;
    if (write && (s->readonly || s->c->readonly || v->value->readonly || __atomic_load_n(&v->refs, __ATOMIC_ACQUIRE) != 1 || __atomic_load_n(&v->value->refs, __ATOMIC_ACQUIRE) != 1)) return NULL;
    *t = w ? w->dtype : (kn_dtype)v->dtype;
    int64_t place = w ? w->offset : 0, step = (int64_t)dtype_size(*t);
    for (int d = n; d-- > 0;) {
        int64_t i = at[d] < 0 ? at[d] + shape[d] : at[d];
        if (i < 0 || i >= shape[d]) {
            raise(m, "IndexError", "index %lld is out of bounds for axis %d with size %lld", (long long)at[d], d, (long long)shape[d]);
            *raised = true;
            return NULL;
        }
        place += i * (w ? w->dims[n + d] : step);
        step *= shape[d];
    }
    return (char *)v->value->data + v->offset + place;
}

static void integer_items(index_list *l, int n, const int64_t *at) {
    l->n = n;
    for (int i = 0; i < n; i++) l->item[i] = (index_item){ .kind = INDEX_INT, .start = at[i] };
}

/* What array_index gave: of no dimension it is a scalar, a value of its own that later changes of the array do not reach. */
static value indexed(machine *m, kn_array a, bool scalar) {
    message why = { 0 };
    if (array_failed(a, &why)) return raise_message(m, &why);
    if (!scalar) return array_value(m, a, false);
    node *n = array_node(a, "a[...]", &why);
    if (!n) return raise_message(m, &why);
    return array_value(m, array_from_node(n), true);
}

static value scalar_base(machine *m) { return raise(m, "IndexError", "invalid index to scalar variable."); }

/* What is not in memory yet, and views. */
static value get_at_slowly(machine *m, value a, int n, const int64_t *at) {
    kn_dtype t;
    bool raised;
    message why = { 0 };
    slot *s = array_operand(array_handle(a), "a[...]", &why);
    const char *place;
    if (!s) return raise_message(m, &why);
    if (as_array(a)->scalar) return scalar_base(m);
    bool pending = s->kind == SLOT_ARRAY && n == kn_ndim(array_handle(a)) && !node_ready(s->c->value);
    if (pending) {                                 /* element loops come again: once in memory, elements are read directly */
        node *whole = cell_node(s->c);
        kn_status status = evaluate(&whole, 1, &why);
        node_drop(whole);
        if (status) return raise_message(m, &why);
        place = element_place(m, s, n, at, false, &t, &raised);
        if (raised) return NO_VALUE_;
        if (place) return element_at(m, t, place);
    }
    index_list l;
    if (n > INDEX_MOST) return raise(m, "IndexError", "too many indices for array: %d", n);
    integer_items(&l, n, at);
    kn_array result = array_index(array_handle(a), &l, "a[...]", &why);
    return indexed(m, result, n == kn_ndim(array_handle(a)));
}

value array_get_at(machine *m, value a, int n, const int64_t *at) {
    kn_dtype t;
    bool raised = false;
    slot *s = as_array(a)->scalar ? NULL : slot_of(array_handle(a));
    const char *place = s ? element_place(m, s, n, at, false, &t, &raised) : NULL;
    if (place) return element_at(m, t, place);
    return raised ? NO_VALUE_ : get_at_slowly(m, a, n, at);
}

static bool slice_bound(machine *m, value v, bool *has, int64_t *out) {
    *has = v.kind != VALUE_NONE;
    if (!*has) return true;
    if (v.kind == VALUE_BIG) {
        *out = big_compare(v, int_value(0)) > 0 ? INT64_MAX : INT64_MIN + 1;
        return true;
    }
    return value_index(m, v, out, "slice indices must be integers or None or have an __index__ method");
}

static bool slice_item(machine *m, const slice_object *s, index_item *i) {
    i->kind = INDEX_SLICE;
    if (!slice_bound(m, s->start, &i->has_start, &i->start) || !slice_bound(m, s->stop, &i->has_stop, &i->stop) || !slice_bound(m, s->step, &i->has_step, &i->step)) return false;
    if (i->has_step && i->step == 0) { raise(m, "ValueError", "slice step cannot be zero"); return false; }
    return true;
}

static bool array_item(machine *m, kn_array a, index_item *i) {
    message why = { 0 };
    i->kind = INDEX_ARRAY;
    if (!(i->array = array_node(a, "a[...]", &why))) { raise_message(m, &why); return false; }
    if (!dtype_is_inexact((kn_dtype)i->array->dtype)) return true;
    if (i->array->size == 0 && i->array->dtype == KN_FLOAT64) {       /* [] */
        node *none = node_cast(i->array, KN_INT64, &why);
        node_drop(i->array);
        i->array = none;
        if (none) return true;
        raise_message(m, &why);
        return false;
    }
    raise(m, "IndexError", "arrays used as indices must be of integer (or boolean) type");
    return false;
}

/* One item between the brackets. Takes nothing over; the list owns the node. */
static bool index_item_of(machine *m, value v, index_item *i) {
    memset(i, 0, sizeof *i);
    switch ((value_kind)v.kind) {
    case VALUE_NONE: i->kind = INDEX_NEW_AXIS; return true;
    case VALUE_ELLIPSIS: i->kind = INDEX_ELLIPSIS; return true;
    case VALUE_SLICE: return slice_item(m, (const slice_object *)v.u.o, i);
    case VALUE_INT: i->kind = INDEX_INT; i->start = v.u.i; return true;
    case VALUE_BIG: raise(m, "IndexError", "cannot fit 'int' into an index-sized integer"); return false;
    case VALUE_ELEMENT:
        if (dtype_is_integer((kn_dtype)v.dtype)) { i->kind = INDEX_INT; i->start = v.u.i; return true; }
        if (v.dtype == KN_BOOL) break;
        goto bad;
    case VALUE_ARRAY: {
        kn_dtype t = kn_dtype_of(array_handle(v));
        if (kn_ndim(array_handle(v)) == 0 && dtype_is_integer(t)) {   /* counts as an integer; its value decides the window */
            i->kind = INDEX_INT;
            return value_index(m, v, &i->start, "an index must be an integer");
        }
        return array_item(m, array_handle(v), i);
    }
    case VALUE_BOOL: break;
    default: if (!is_sequence(v)) goto bad;
    }
    kn_array a = array_of(m, v);
    return a.id && array_item(m, a, i);
bad:
    raise(m, "IndexError", "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices");
    return false;
}

static bool index_items(machine *m, value index, index_list *l) {
    l->n = 0;
    bool tuple = index.kind == VALUE_TUPLE;
    size_t n = tuple ? as_sequence(index)->n : 1;
    if (n > INDEX_MOST) { raise(m, "IndexError", "too many indices for array: %zu", n); return false; }
    for (size_t i = 0; i < n; i++) {
        l->n++;
        if (index_item_of(m, tuple ? sequence_item(index, i) : index, &l->item[i])) continue;
        index_list_free(l);
        return false;
    }
    return true;
}

static bool all_integers(const index_list *l) {
    for (int i = 0; i < l->n; i++) if (l->item[i].kind != INDEX_INT) return false;
    return true;
}

static bool has_ellipsis(const index_list *l) {
    for (int i = 0; i < l->n; i++) if (l->item[i].kind == INDEX_ELLIPSIS) return true;
    return false;
}

value array_get(machine *m, value a, value index) {
    index_list l;
    message why = { 0 };
    if (as_array(a)->scalar && !(index.kind == VALUE_TUPLE && as_sequence(index)->n == 0) && index.kind != VALUE_ELLIPSIS && index.kind != VALUE_NONE) return scalar_base(m);
    if (!index_items(m, index, &l)) return NO_VALUE_;
    if (l.n && l.n <= NDIM_MAX && all_integers(&l)) {
        int64_t at[NDIM_MAX];
        for (int i = 0; i < l.n; i++) at[i] = l.item[i].start;
        return array_get_at(m, a, l.n, at);
    }
    bool ellipsis = has_ellipsis(&l);
    kn_array result = array_index(array_handle(a), &l, "a[...]", &why);
    index_list_free(&l);
    return indexed(m, result, kn_ndim(result) == 0 && !ellipsis);
}

/* ---- a[...] = v ---- */

/* Another handle on the same memory, which may be lost to an error. {0}: raised. */
kn_array array_again(machine *m, value a) {
    layout l;
    message why = { 0 };
    slot *s = array_operand(array_handle(a), "a[...] = v", &why);
    kn_array again = { 0 };
    if (s && s->kind == SLOT_ARRAY) {
        slot_layout(s, &l);
        again = array_from_window(s->c, &l, s->readonly);
        if (!array_failed(again, &why)) return again;
    }
    if (!why.status) raise(m, "TypeError", "a number cannot be changed in place");
    else raise_message(m, &why);
    return (kn_array){ 0 };
}

static bool not_assignable(machine *m, value a) {
    if (!as_array(a)->scalar) return false;
    raise(m, "TypeError", "'numpy.%s' object does not support item assignment", dtype_table[kn_dtype_of(array_handle(a))].name);
    return true;
}

static bool set_items(machine *m, value a, index_list *l, value v) {
    message why = { 0 };
    kn_array again = array_again(m, a), with = again.id ? array_of(m, v) : again;
    node *n = with.id ? array_node(with, "a[...] = v", &why) : NULL;
    kn_status status = n ? array_assign(again, l, n, "a[...] = v", &why) : why.status;
    node_drop(n);
    if (status) raise_message(m, &why);
    return with.id && !status;
}

bool array_set_at(machine *m, value a, int n, const int64_t *at, value v) {
    kn_dtype t;
    bool raised = false;
    scalar s;
    slot *to = as_array(a)->scalar ? NULL : slot_of(array_handle(a));
    char *place = to ? element_place(m, to, n, at, true, &t, &raised) : NULL;
    if (raised || not_assignable(m, a)) return false;
    if (place && t == KN_FLOAT64 && (v.kind == VALUE_FLOAT || (v.kind == VALUE_ELEMENT && v.dtype == KN_FLOAT64))) {
        memcpy(place, &v.u.f, sizeof v.u.f);
        return true;
    }
    bool number = value_is_number(v) && v.kind != VALUE_BIG && scalar_of(v, &s), strong = strong_dtype(v) != KN_DTYPE_UNSET;
    if (place && number && (strong ? s.kind != SCALAR_COMPLEX || dtype_is_complex(t) : s.kind != SCALAR_COMPLEX && scalar_fits(s, t) && !(s.kind == SCALAR_FLOAT && dtype_is_integer(t)))) {
        element_store(t, place, s);
        return true;
    }
    index_list l;
    if (n > INDEX_MOST) { raise(m, "IndexError", "too many indices for array: %d", n); return false; }
    integer_items(&l, n, at);
    return set_items(m, a, &l, v);
}

bool array_set(machine *m, value a, value index, value v) {
    index_list l;
    if (not_assignable(m, a) || !index_items(m, index, &l)) return false;
    if (l.n && l.n <= NDIM_MAX && all_integers(&l)) {
        int64_t at[NDIM_MAX];
        for (int i = 0; i < l.n; i++) at[i] = l.item[i].start;
        return array_set_at(m, a, l.n, at, v);
    }
    bool good = set_items(m, a, &l, v);
    index_list_free(&l);
    return good;
}

/* ---- a op= v, op.at ---- */

static kn_array (*const updates[])(kn_array, kn_array) = {
    [BINARY_ADD] = kn_iadd, [BINARY_SUB] = kn_isub, [BINARY_MUL] = kn_imul, [BINARY_DIV] = kn_idiv, [BINARY_FLOORDIV] = kn_ifloordiv, [BINARY_MOD] = kn_imod,
    [BINARY_POW] = kn_ipow, [BINARY_AND] = kn_iand, [BINARY_OR] = kn_ior, [BINARY_XOR] = kn_ixor, [BINARY_LSHIFT] = kn_ilshift, [BINARY_RSHIFT] = kn_irshift,
};

value array_update(machine *m, syntax_binary op, value a, value v) {
    message why = { 0 };
    if (op == BINARY_MATMUL) {
        value all = { VALUE_ELLIPSIS, 0, { 0 } }, both[2] = { a, v }, product = operation_call(m, OPERATION_matmul, both, 2, NULL, 0);
        bool good = !absent(product) && array_set(m, a, all, product);
        value_drop(m, product);
        return good ? value_keep(a) : NO_VALUE_;
    }
    kn_array with = array_of(m, v), again = with.id ? array_again(m, a) : with;
    if (!again.id) return NO_VALUE_;
    updates[op](again, with);
    if (array_failed(again, &why)) return raise_message(m, &why);
    return value_keep(a);
}

bool array_update_at(machine *m, int ufunc, value a, value index, const value *v) {
    index_list l;
    message why = { 0 };
    if (!index_items(m, index, &l)) return false;
    kn_array again = array_again(m, a), with = again.id && v ? array_of(m, *v) : again;
    node *n = with.id && v ? array_node(with, "at", &why) : NULL;
    kn_status status = with.id && (n || !v) ? array_at(ufunc, again, &l, n, &why) : why.status;
    if (status) raise_message(m, &why);
    node_drop(n);
    index_list_free(&l);
    return with.id && !status;
}
