/* attributes.c: attributes and methods of arrays, NumPy's scalars and dtypes.
 *
 * How it works: attributes are a table of small functions; most methods are array operations with the array as first
 * operand, named in a table; the few that are no operations are native functions here. */
#include <stdio.h>
#include <string.h>
#include "frontend/language/numpy.h"
#include "frontend/print/print.h"
#include "kiln.h"

static value dimensions(machine *m, const layout *l, const int64_t *of) {
    value items[NDIM_MAX];
    for (int d = 0; d < l->ndim; d++) items[d] = int_value(of[d]);
    return tuple_value(m, (size_t)l->ndim, items);
}

static int64_t element_count(const layout *l) {
    int64_t n = 1;
    for (int d = 0; d < l->ndim; d++) n *= l->shape[d];
    return n;
}

static value view_value(machine *m, kn_array a) { return array_value(m, a, false); }

/* ---- attributes ---- */

typedef value attribute(machine *m, value a, const layout *l);
static value get_shape(machine *m, value a, const layout *l) { (void)a; return dimensions(m, l, l->shape); }
static value get_strides(machine *m, value a, const layout *l) { (void)a; return dimensions(m, l, l->strides); }
static value get_ndim(machine *m, value a, const layout *l) { (void)m; (void)a; return int_value(l->ndim); }
static value get_size(machine *m, value a, const layout *l) { (void)m; (void)a; return int_value(element_count(l)); }
static value get_dtype(machine *m, value a, const layout *l) { (void)m; (void)a; return dtype_value(l->dtype); }
static value get_itemsize(machine *m, value a, const layout *l) { (void)m; (void)a; return int_value((int64_t)dtype_size(l->dtype)); }
static value get_nbytes(machine *m, value a, const layout *l) { (void)m; (void)a; return int_value(element_count(l) * (int64_t)dtype_size(l->dtype)); }
static value get_T(machine *m, value a, const layout *l) { (void)l; return view_value(m, (kn_transpose)(array_handle(a), NULL)); }
static value get_mT(machine *m, value a, const layout *l) { (void)l; return view_value(m, (kn_matrix_transpose)(array_handle(a))); }
static value get_real(machine *m, value a, const layout *l) { (void)l; return array_value(m, (kn_real)(array_handle(a)), as_array(a)->scalar); }
static value get_imag(machine *m, value a, const layout *l) { (void)l; return array_value(m, (kn_imag)(array_handle(a)), as_array(a)->scalar); }

/* A view where there can be one, so that a.flat[i] = v reaches a. */
static value get_flat(machine *m, value a, const layout *l) {
    (void)l;
    return view_value(m, (kn_ravel)(array_handle(a), NULL));
}

static const struct { const char *name; attribute *get; } attributes[] = {
    { "shape", get_shape }, { "strides", get_strides }, { "ndim", get_ndim }, { "size", get_size }, { "dtype", get_dtype }, { "itemsize", get_itemsize },
    { "nbytes", get_nbytes }, { "T", get_T }, { "mT", get_mT }, { "real", get_real }, { "imag", get_imag }, { "flat", get_flat },
};

/* ---- methods that are no operations, or take their arguments in another way ---- */

/* f(*shape) and f(shape). */
static value packed(machine *m, value rest) {
    const sequence_object *s = as_sequence(rest);
    if (s->n == 1 && !value_is_integer(s->at[0])) return value_keep(s->at[0]);
    (void)m;
    return value_keep(rest);
}

static value method_reshape(machine *m, const value *args, int n) {
    (void)n;
    value shape = packed(m, args[1]);
    value all[2] = { args[0], shape };
    keyword order = { "order", args[2] };
    value v = operation_call(m, OPERATION_reshape, all, 2, &order, !absent(args[2]));
    value_drop(m, shape);
    return v;
}

static value method_transpose(machine *m, const value *args, int n) {
    (void)n;
    value axes = as_sequence(args[1])->n ? packed(m, args[1]) : none_value();
    value all[2] = { args[0], axes };
    value v = operation_call(m, OPERATION_transpose, all, 2, NULL, 0);
    value_drop(m, axes);
    return v;
}

static value method_flatten(machine *m, const value *args, int n) {
    keyword order = { "order", args[1] };
    (void)n;
    value flat = operation_call(m, OPERATION_ravel, args, 1, &order, !absent(args[1]));
    value v = absent(flat) ? flat : operation_call(m, OPERATION_copy, &flat, 1, NULL, 0);
    value_drop(m, flat);
    return v;
}

static value method_fill(machine *m, const value *args, int n) {
    (void)n;
    value all = { VALUE_ELLIPSIS, 0, { 0 } };
    return array_set(m, args[0], all, args[1]) ? none_value() : NO_VALUE_;
}

/* Python's number for an element. */
static value plain(machine *m, value e) {
    if (e.kind == VALUE_COMPLEX) {
        const complex_object *c = (const complex_object *)e.u.o;
        value v = complex_value(m, c->re, c->im);
        value_drop(m, e);
        return v;
    }
    switch (dtype_kind_of((kn_dtype)e.dtype)) {
    case KIND_BOOL: return bool_value(e.u.i != 0);
    case KIND_FLOAT: return float_value(e.u.f);
    case KIND_UINT: {
        if (e.u.u <= INT64_MAX) return int_value(e.u.i);
        value half = int_value((int64_t)(e.u.u >> 1)), twice = big_add(m, half, half);
        value v = absent(twice) ? twice : big_add(m, twice, int_value((int64_t)(e.u.u & 1)));
        value_drop(m, twice);
        return v;
    }
    default: return int_value(e.u.i);
    }
}

static value element_plain(machine *m, kn_dtype t, const char *at) {
    value e = element_value(m, element_load(t, at), t);
    return absent(e) ? e : plain(m, e);
}

static value nested(machine *m, const host_window *h, int axis, const char *at) {
    if (axis == h->ndim) return element_plain(m, h->dtype, at);
    value list = list_value(m, 0, NULL);
    for (int64_t i = 0; !absent(list) && i < h->shape[axis]; i++) {
        value item = nested(m, h, axis + 1, at + i * h->strides[axis]);
        bool good = !absent(item) && machine_step(m) && list_append(m, list, item);
        value_drop(m, item);
        if (good) continue;
        value_drop(m, list);
        list = NO_VALUE_;
    }
    return list;
}

static value method_tolist(machine *m, const value *args, int n) {
    host_window h;
    message why = { 0 };
    (void)n;
    kn_array a = array_of(m, args[0]);
    if (!a.id) return NO_VALUE_;
    if (array_host(a, "tolist", &h, &why)) return raise_message(m, &why);
    value v = nested(m, &h, 0, h.data);
    host_drop(&h);
    return v;
}

static value method_item(machine *m, const value *args, int n) {
    const sequence_object *at = as_sequence(args[1]);
    (void)n;
    kn_array a = array_of(m, args[0]);
    if (!a.id) return NO_VALUE_;
    value v;
    if (at->n == 0) {
        if (kn_size(a) != 1) return raise(m, "ValueError", "can only convert an array of size 1 to a Python scalar");
        v = element_of(m, a);
    } else if (args[0].kind != VALUE_ARRAY) {
        return raise(m, "ValueError", "a scalar has no positions; call item()");
    } else if (at->n == 1 && at->at[0].kind != VALUE_TUPLE && kn_ndim(a) != 1) {
        value flat = array_value(m, (kn_ravel)(a, NULL), false);
        v = absent(flat) ? flat : array_get(m, flat, at->at[0]);
        value_drop(m, flat);
    } else {
        v = array_get(m, args[0], at->n == 1 ? at->at[0] : args[1]);
    }
    if (v.kind == VALUE_ARRAY) {
        value e = kn_ndim(array_handle(v)) ? raise(m, "ValueError", "item: as many positions as the array has dimensions are needed") : element_of(m, array_handle(v));
        value_drop(m, v);
        v = e;
    }
    return absent(v) ? v : plain(m, v);
}

static value method_sort(machine *m, const value *args, int n) {
    keyword axis = { "axis", args[1] };
    value all = { VALUE_ELLIPSIS, 0, { 0 } };
    (void)n;
    value sorted = operation_call(m, OPERATION_sort, args, 1, &axis, !absent(args[1]));
    bool good = !absent(sorted) && array_set(m, args[0], all, sorted);
    value_drop(m, sorted);
    return good ? none_value() : NO_VALUE_;
}

static value method_nonzero(machine *m, const value *args, int n) {
    (void)n;
    value positions = operation_call(m, OPERATION_nonzero, args, 1, NULL, 0);
    if (absent(positions)) return positions;
    value columns[NDIM_MAX], v = NO_VALUE_;
    int64_t have = 0, ndim = kn_len(array_handle(positions), 1);
    bool good = true;
    for (; good && have < ndim; have += good) {
        value at[2] = { { VALUE_ELLIPSIS, 0, { 0 } }, int_value(have) }, index = tuple_value(m, 2, at);
        columns[have] = absent(index) ? index : array_get(m, positions, index);
        value_drop(m, index);
        good = !absent(columns[have]);
    }
    if (good) v = tuple_value(m, (size_t)ndim, columns);
    while (have-- > 0) value_drop(m, columns[have]);
    value_drop(m, positions);
    return v;
}

static value method_put(machine *m, const value *args, int n) {
    (void)n;
    value flat = array_value(m, (kn_ravel)(array_handle(args[0]), NULL), false);
    bool good = !absent(flat) && array_set(m, flat, args[1], args[2]);
    value_drop(m, flat);
    return good ? none_value() : NO_VALUE_;
}

static value method_view(machine *m, const value *args, int n) {
    kn_dtype t = KN_DTYPE_UNSET;
    (void)n;
    if (!absent(args[1]) && !value_dtype(m, args[1], &t)) return NO_VALUE_;
    if (t && t != kn_dtype_of(array_handle(args[0]))) return raise(m, "NotImplementedError", "view: bytes as another dtype are not in the language; astype converts values");
    return array_value(m, array_again(m, args[0]), false);
}

static const native_row own_methods[] = {
    { "reshape", method_reshape, "self, /, *shape, order=", "The same elements in another shape." },
    { "transpose", method_transpose, "self, /, *axes", "Axes in another order." },
    { "flatten", method_flatten, "self, order=", "A copy of one dimension." },
    { "fill", method_fill, "self, value", "Every element becomes value." },
    { "tolist", method_tolist, "self, /", "Nested lists of Python's numbers." },
    { "item", method_item, "self, /, *args", "One element as Python's number." },
    { "sort", method_sort, "self, axis=, kind=, order=, *, stable=", "Sorts in place." },
    { "nonzero", method_nonzero, "self, /", "Positions of what is not zero, an array an axis." },
    { "put", method_put, "self, indices, values, mode=", "self.flat[indices] = values." },
    { "view", method_view, "self, dtype=, type=", "Another array on the same memory." },
};

/* Methods that are operations on the array. */
static const int operation_methods[] = {
    OPERATION_all, OPERATION_any, OPERATION_argmax, OPERATION_argmin, OPERATION_argsort, OPERATION_astype, OPERATION_choose, OPERATION_clip, OPERATION_conjugate,
    OPERATION_copy, OPERATION_cumprod, OPERATION_cumsum, OPERATION_diagonal, OPERATION_dot, OPERATION_max, OPERATION_mean, OPERATION_min, OPERATION_prod,
    OPERATION_ravel, OPERATION_repeat, OPERATION_round, OPERATION_squeeze, OPERATION_std, OPERATION_sum, OPERATION_swapaxes, OPERATION_take,
    OPERATION_trace, OPERATION_var,
};

value nonzero_columns(machine *m, value a) { return method_nonzero(m, &a, 1); }

value bound_operation(machine *m, int op, value self) {
    bound_object *b = (bound_object *)object_new(m, VALUE_BOUND, sizeof *b);
    if (!b) return NO_VALUE_;
    b->op = op;
    b->self = value_keep(self);
    return (value){ VALUE_BOUND, 0, { .o = &b->head } };
}

static const char *method_name(int op) { return op == OPERATION_conjugate ? "conjugate" : ops[op].name; }

value array_attribute(machine *m, value a, const char *name) {
    value self = a, v = NO_VALUE_;
    bool number = a.kind != VALUE_ARRAY;
    if (number) {                                     /* NumPy's scalars have what arrays have */
        kn_array as = array_of(m, a);
        self = as.id ? array_value(m, as, true) : NO_VALUE_;
        if (absent(self)) return self;
    }
    layout l;
    message why = { 0 };
    if (!array_layout(array_handle(self), name, &l, &why)) v = raise_message(m, &why);
    for (size_t i = 0; absent(v) && !why.status && i < sizeof attributes / sizeof *attributes; i++) {
        if (strcmp(name, attributes[i].name)) continue;
        v = attributes[i].get(m, self, &l);
        why.status = KN_ATTRIBUTE_ERROR;              /* found, also when it failed */
    }
    for (size_t i = 0; absent(v) && !why.status && i < sizeof own_methods / sizeof *own_methods; i++)
        if (!strcmp(name, own_methods[i].name)) { v = bound_value(m, &own_methods[i], self); why.status = KN_ATTRIBUTE_ERROR; }
    const char *called = !strcmp(name, "conj") ? "conjugate" : name;
    for (size_t i = 0; absent(v) && !why.status && i < sizeof operation_methods / sizeof *operation_methods; i++)
        if (!strcmp(called, method_name(operation_methods[i]))) { v = bound_operation(m, operation_methods[i], self); why.status = KN_ATTRIBUTE_ERROR; }
    if (number) value_drop(m, self);
    return v;
}

/* a.shape = ..., a.real = ..., a.flat = ..., a.imag = ... */
bool array_attribute_set(machine *m, value a, const char *name, value v) {
    value all = { VALUE_ELLIPSIS, 0, { 0 } };
    if (!strcmp(name, "shape")) {
        int ndim;
        int64_t shape[NDIM_MAX];
        if (!value_shape(m, v, &ndim, shape, "a shape is an integer or a tuple of integers")) return false;
        kn_array r = (kn_reshape)(array_handle(a), (kn_shape){ ndim, shape }, NULL);
        message why = { 0 };
        if (array_failed(r, &why)) { raise_message(m, &why); return false; }
        kn_array kept = kn_keep(r);
        kn_release(array_handle(a));
        as_array(a)->array = kept;
        return true;
    }
    if (strcmp(name, "real") && strcmp(name, "imag") && strcmp(name, "flat") && strcmp(name, "T")) {
        raise(m, "AttributeError", "attribute '%s' of an array cannot be set", name);
        return false;
    }
    value part = array_attribute(m, a, name);
    bool good = !absent(part) && array_set(m, part, all, v);
    value_drop(m, part);
    return good;
}

/* ---- dtypes ---- */

value dtype_attribute(machine *m, kn_dtype t, const char *name) {
    const dtype_info *d = &dtype_table[t];
    static const char kinds[] = { [KIND_NONE] = '?', [KIND_BOOL] = 'b', [KIND_INT] = 'i', [KIND_UINT] = 'u', [KIND_FLOAT] = 'f', [KIND_COMPLEX] = 'c' };
    if (!strcmp(name, "itemsize")) return int_value(d->size);
    if (!strcmp(name, "alignment")) return int_value(dtype_is_complex(t) ? d->size / 2 : d->size);
    if (!strcmp(name, "name") || !strcmp(name, "__name__")) return string_value(m, d->name, strlen(d->name));
    if (!strcmp(name, "kind")) return string_value(m, t == KN_BFLOAT16 ? "V" : &kinds[d->kind], 1);
    if (!strcmp(name, "char")) return string_value(m, &d->code, 1);
    if (!strcmp(name, "type")) return dtype_value(t);
    if (!strcmp(name, "ndim")) return int_value(0);
    if (!strcmp(name, "shape")) return tuple_value(m, 0, NULL);
    if (!strcmp(name, "str")) {
        char code[16];
        int n = snprintf(code, sizeof code, "%c%c%d", d->size == 1 ? '|' : '<', kinds[d->kind], d->size);
        return string_value(m, code, (size_t)n);
    }
    return NO_VALUE_;
}
