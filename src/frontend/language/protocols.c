/* protocols.c: what every value can be asked: truth, hash, equality, number, length, iteration, attributes, subscripts.
 *
 * How it works: one switch over kinds for each question. Arrays are asked through the C interface, which evaluates them
 * where a value is needed. Arithmetic is in operators.c. */
#include <math.h>
#include <string.h>
#include "kiln.h"
#include "frontend/language/machine.h"
#include "frontend/language/numpy.h"

/* ---- truth ---- */

static int array_truth(machine *m, value v) {
    kn_array a = as_array(v)->array;
    int64_t n = kn_size(a);
    if (n > 1) raise_error(m, "ValueError", "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()");
    else if (n < 1) raise_error(m, "ValueError", "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.");
    if (n != 1) return -1;
    bool truth = kn_true(a);
    message why = { 0 };
    if (!array_failed(a, &why)) return truth;
    raise_message(m, &why);
    return -1;
}

int value_truth(machine *m, value v) {
    switch (v.kind) {
    case VALUE_ABSENT: return -1;
    case VALUE_NONE: return 0;
    case VALUE_BOOL: case VALUE_INT: return v.u.i != 0;
    case VALUE_FLOAT: return v.u.f != 0;
    case VALUE_ELEMENT: return dtype_is_inexact((kn_dtype)v.dtype) ? v.u.f != 0 : v.u.i != 0;
    case VALUE_COMPLEX: return as_complex(v)->re != 0 || as_complex(v)->im != 0;
    case VALUE_ARRAY: return array_truth(m, v);
    case VALUE_STRING: case VALUE_BYTES: return as_string(v)->length != 0;
    case VALUE_TUPLE: case VALUE_LIST: return as_sequence(v)->n != 0;
    case VALUE_DICT: case VALUE_SET: return as_dict(v)->n != 0;
    case VALUE_RANGE: return as_range(v)->n != 0;
    case VALUE_RECORD: return ((record_object *)v.u.o)->n != 0;
    default: return 1;
    }
}

/* ---- hash ---- */

static uint64_t mix(uint64_t h, uint64_t more) {
    h = (h ^ more) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t hash_double(double f) {
    if (f >= -0x1p63 && f < 0x1p63 && f == (double)(int64_t)f) return mix(1, (uint64_t)(int64_t)f);
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return mix(2, bits);
}

/* Integers beyond int64 hash as the nearest double, which an equal float is. */
static uint64_t hash_number(value v) {
    switch (v.kind) {
    case VALUE_FLOAT: return hash_double(v.u.f);
    case VALUE_BIG: return hash_double(big_double(v));
    case VALUE_COMPLEX: return as_complex(v)->im == 0 ? hash_double(as_complex(v)->re) : mix(hash_double(as_complex(v)->re), hash_double(as_complex(v)->im));
    case VALUE_ELEMENT:
        if (dtype_is_inexact((kn_dtype)v.dtype)) return hash_double(v.u.f);
        if (v.dtype == KN_UINT64 && v.u.i < 0) return hash_double((double)v.u.u);
        return mix(1, v.u.u);
    default: return mix(1, v.u.u);
    }
}

static bool hash_items(machine *m, size_t n, const value *at, uint64_t *hash) {
    if (!machine_enter(m)) return false;
    uint64_t h = n + 3, one;
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        if ((good = value_hash(m, at[i], &one))) h = mix(h, one);
    machine_leave(m);
    *hash = h;
    return good;
}

static bool hash_array(machine *m, value v, uint64_t *hash) {
    if (!as_array(v)->scalar) return raise_error(m, "TypeError", "unhashable type: 'numpy.ndarray'"), false;
    value e = element_of(m, as_array(v)->array);
    if (absent(e)) return false;
    *hash = hash_number(e);
    value_drop(m, e);
    return true;
}

bool value_hash(machine *m, value v, uint64_t *hash) {
    if (value_is_number(v)) {
        *hash = hash_number(v);
        return true;
    }
    switch (v.kind) {
    case VALUE_STRING: case VALUE_BYTES: {
        string_object *s = as_string(v);
        if (!s->hash) s->hash = hash_bytes(s->at, s->length, v.kind) | 1;
        *hash = s->hash;
        return true;
    }
    case VALUE_TUPLE: return hash_items(m, as_sequence(v)->n, as_sequence(v)->at, hash);
    case VALUE_RECORD: return hash_items(m, ((record_object *)v.u.o)->n, ((record_object *)v.u.o)->at, hash);
    case VALUE_ARRAY: return hash_array(m, v, hash);
    case VALUE_RANGE: *hash = mix(mix(mix(5, (uint64_t)as_range(v)->n), as_range(v)->n ? (uint64_t)as_range(v)->start : 0), as_range(v)->n > 1 ? (uint64_t)as_range(v)->step : 0); return true;
    case VALUE_LIST: case VALUE_DICT: case VALUE_SET: case VALUE_SLICE:
        raise_error(m, "TypeError", "unhashable type: '%s'", value_type_name(v));
        return false;
    case VALUE_TYPE: *hash = mix(7, (uint64_t)(uintptr_t)((type_object *)v.u.o)->row); return true;
    case VALUE_NATIVE: *hash = mix(8, (uint64_t)(uintptr_t)((native_object *)v.u.o)->row); return true;
    case VALUE_OPERATION: *hash = mix(9, (uint64_t)((operation_object *)v.u.o)->op); return true;
    case VALUE_MODULE: *hash = mix(10, v.kind); return true;
    default: *hash = mix(mix(4, v.kind | (uint64_t)v.dtype << 8), v.kind > VALUE_DTYPE ? v.u.u : 0); return true;
    }
}

/* ---- equality ---- */

int value_equal(machine *m, value a, value b) {
    if (a.kind == b.kind && a.kind == VALUE_STRING) return as_string(a)->length == as_string(b)->length && !memcmp(as_string(a)->at, as_string(b)->at, as_string(a)->length);
    if (counted(a) && value_same(a, b)) return 1;
    value v = compare(m, COMPARE_EQ, a, b);
    int truth = value_truth(m, v);
    value_drop(m, v);
    return truth;
}

/* ---- numbers ---- */

static bool index_of_array(machine *m, value v, int64_t *i, const char *what) {
    kn_array a = as_array(v)->array;
    if (kn_size(a) != 1 || kn_ndim(a) != 0 || dtype_is_inexact(kn_dtype_of(a))) {
        raise_error(m, "TypeError", "%s: only integer scalar arrays can be converted to a scalar index", what);
        return false;
    }
    value e = element_of(m, a);
    bool good = !absent(e) && value_index(m, e, i, what);
    value_drop(m, e);
    return good;
}

bool value_index(machine *m, value v, int64_t *i, const char *what) {
    switch (v.kind) {
    case VALUE_ABSENT: return false;
    case VALUE_BOOL: case VALUE_INT: *i = v.u.i; return true;
    case VALUE_BIG: raise_error(m, "IndexError", "%s: cannot fit 'int' into an index-sized integer", what); return false;
    case VALUE_ARRAY: return index_of_array(m, v, i, what);
    case VALUE_ELEMENT:
        if (dtype_is_inexact((kn_dtype)v.dtype) || (v.dtype == KN_UINT64 && v.u.i < 0)) break;
        *i = v.u.i;
        return true;
    default: break;
    }
    raise_error(m, "TypeError", "%s: '%s' object cannot be interpreted as an integer", what, value_type_name(v));
    return false;
}

bool value_double(machine *m, value v, double *d) {
    switch (v.kind) {
    case VALUE_ABSENT: return false;
    case VALUE_BOOL: case VALUE_INT: *d = (double)v.u.i; return true;
    case VALUE_FLOAT: *d = v.u.f; return true;
    case VALUE_ELEMENT:
        *d = dtype_is_inexact((kn_dtype)v.dtype) ? v.u.f : v.dtype == KN_UINT64 ? (double)v.u.u : (double)v.u.i;
        return true;
    case VALUE_BIG:
        *d = big_double(v);
        if (isinf(*d)) raise_error(m, "OverflowError", "int too large to convert to float");
        return !isinf(*d);
    case VALUE_ARRAY: {
        kn_array a = as_array(v)->array;
        if (kn_size(a) != 1 || dtype_is_complex(kn_dtype_of(a))) break;
        *d = kn_f64(a);
        message why = { 0 };
        if (array_failed(a, &why)) raise_message(m, &why);
        return absent(m->exception);
    }
    default: break;
    }
    if (v.kind == VALUE_ARRAY && kn_size(as_array(v)->array) != 1) raise_error(m, "TypeError", "only 0-dimensional arrays can be converted to Python scalars");
    else raise_error(m, "TypeError", "float() argument must be a string or a real number, not '%s'", value_type_name(v));
    return false;
}

/* ---- length ---- */

bool value_length(machine *m, value v, int64_t *n) {
    switch (v.kind) {
    case VALUE_ABSENT: return false;
    case VALUE_STRING: *n = (int64_t)as_string(v)->points; return true;
    case VALUE_BYTES: *n = (int64_t)as_string(v)->length; return true;
    case VALUE_TUPLE: case VALUE_LIST: *n = (int64_t)as_sequence(v)->n; return true;
    case VALUE_DICT: case VALUE_SET: *n = (int64_t)as_dict(v)->n; return true;
    case VALUE_RANGE: *n = as_range(v)->n; return true;
    case VALUE_RECORD: *n = (int64_t)((record_object *)v.u.o)->n; return true;
    case VALUE_ARRAY:
        if (kn_ndim(as_array(v)->array) == 0) {
            raise_error(m, "TypeError", as_array(v)->scalar ? "object of type '%s' has no len()" : "len() of unsized object", value_type_name(v));
            return false;
        }
        *n = kn_len(as_array(v)->array, 0);
        return true;
    default: break;
    }
    raise_error(m, "TypeError", "object of type '%s' has no len()", value_type_name(v));
    return false;
}

/* ---- iteration ---- */

static value next_item(machine *m, iterator_object *it, bool *done) {
    sequence_object *s = as_sequence(it->of[0]);
    (void)m;
    if (it->at >= 0 && (size_t)it->at < s->n) return value_keep(s->at[it->at++]);
    it->at = -1;                                /* finished for good, also when the list grows */
    *done = true;
    return NO_VALUE_;
}

static value next_field(machine *m, iterator_object *it, bool *done) {
    record_object *r = (record_object *)it->of[0].u.o;
    (void)m;
    if ((size_t)it->at < r->n) return value_keep(r->at[it->at++]);
    *done = true;
    return NO_VALUE_;
}

static value next_number(machine *m, iterator_object *it, bool *done) {
    range_object *r = as_range(it->of[0]);
    (void)m;
    if (it->at < r->n) return int_value(r->start + it->at++ * r->step);
    *done = true;
    return NO_VALUE_;
}

static value next_point(machine *m, iterator_object *it, bool *done) {
    string_object *s = as_string(it->of[0]);
    size_t i = (size_t)it->at, n = 1;
    if (i >= s->length) {
        *done = true;
        return NO_VALUE_;
    }
    if (s->head.kind == VALUE_BYTES) return it->at++, int_value((unsigned char)s->at[i]);
    while (i + n < s->length && ((unsigned char)s->at[i + n] & 0xc0) == 0x80) n++;
    it->at += (int64_t)n;
    return string_value(m, s->at + i, n);
}

static value next_key(machine *m, iterator_object *it, bool *done) {
    dict_object *d = as_dict(it->of[0]);
    size_t at = (size_t)it->at;
    if (it->of[1].u.u != d->n)
        return raise_error(m, "RuntimeError", d->head.kind == VALUE_SET ? "Set changed size during iteration" : "dictionary changed size during iteration");
    const pair *p = dict_next(it->of[0], &at);
    it->at = (int64_t)at;
    if (p) return value_keep(p->key);
    *done = true;
    return NO_VALUE_;
}

static value next_row(machine *m, iterator_object *it, bool *done) {
    if (it->at < kn_len(as_array(it->of[0])->array, 0)) return it->at++, array_get_at(m, it->of[0], 1, &(int64_t){ it->at - 1 });
    *done = true;
    return NO_VALUE_;
}

value value_iterate(machine *m, value v) {
    switch (v.kind) {
    case VALUE_ABSENT: return v;
    case VALUE_ITERATOR: return value_keep(v);
    case VALUE_LIST: return iterator_value(m, "list_iterator", next_item, 1, &v);
    case VALUE_TUPLE: return iterator_value(m, "tuple_iterator", next_item, 1, &v);
    case VALUE_RECORD: return iterator_value(m, "tuple_iterator", next_field, 1, &v);
    case VALUE_RANGE: return iterator_value(m, "range_iterator", next_number, 1, &v);
    case VALUE_STRING: return iterator_value(m, "str_iterator", next_point, 1, &v);
    case VALUE_BYTES: return iterator_value(m, "bytes_iterator", next_point, 1, &v);
    case VALUE_DICT: case VALUE_SET: return iterator_value(m, v.kind == VALUE_SET ? "set_iterator" : "dict_keyiterator", next_key, 2, (value[]){ v, int_value((int64_t)as_dict(v)->n) });
    case VALUE_ARRAY:
        if (kn_ndim(as_array(v)->array)) return iterator_value(m, "array_iterator", next_row, 1, &v);
        if (as_array(v)->scalar) break;
        return raise_error(m, "TypeError", "iteration over a 0-d array");
    default: break;
    }
    return raise_error(m, "TypeError", "'%s' object is not iterable", value_type_name(v));
}

value value_next(machine *m, value iterator, bool *done) {
    *done = false;
    if (iterator.kind != VALUE_ITERATOR) return raise_error(m, "TypeError", "'%s' object is not an iterator", value_type_name(iterator));
    iterator_object *it = (iterator_object *)iterator.u.o;
    return it->next(m, it, done);
}

/* ---- attributes ---- */

static value record_get(const record_object *r, const char *name) {
    for (size_t i = 0; i < r->n; i++)
        if (r->names && r->names[i] && !strcmp(r->names[i], name)) return value_keep(r->at[i]);
    return NO_VALUE_;
}

static value find_attribute(machine *m, value v, const char *name) {
    switch (v.kind) {
    case VALUE_ARRAY: case VALUE_ELEMENT: case VALUE_DTYPE: return array_attribute(m, v, name);
    case VALUE_COMPLEX: return v.dtype ? array_attribute(m, v, name) : method_of(m, v, name);
    case VALUE_OPERATION: return operation_attribute(m, v, name);
    case VALUE_MODULE: return module_name(m, ((module_object *)v.u.o)->name, name);
    case VALUE_RECORD: {
        value found = is_generator(v) ? generator_attribute(m, v, name) : record_get((record_object *)v.u.o, name);
        return absent(found) ? method_of(m, v, name) : found;
    }
    case VALUE_EXCEPTION:
        if (!strcmp(name, "args")) return value_keep(((exception_object *)v.u.o)->args);
        return method_of(m, v, name);
    default: return method_of(m, v, name);
    }
}

static value no_attribute(machine *m, value v, const char *name) {
    if (!absent(m->exception)) return NO_VALUE_;
    if (v.kind == VALUE_MODULE) return raise_name_missing(m, ((module_object *)v.u.o)->name, name), NO_VALUE_;
    return raise_error(m, "AttributeError", "'%s' object has no attribute '%s'", value_type_name(v), name);
}

value value_attribute(machine *m, value v, const char *name) {
    if (absent(v)) return v;
    if (name[0] == '_' && name[1] == '_' && strcmp(name, "__name__")) return raise_error(m, "AttributeError", "'%s' object has no attribute '%s': names with two underscores are not in the language", value_type_name(v), name);
    value found = find_attribute(m, v, name);
    return absent(found) ? no_attribute(m, v, name) : found;
}

bool value_attribute_set(machine *m, value v, const char *name, value to) {
    if (v.kind == VALUE_ARRAY && !as_array(v)->scalar) return array_attribute_set(m, v, name, to);
    value found = value_attribute(m, v, name);
    if (absent(found)) return false;
    value_drop(m, found);
    raise_error(m, "AttributeError", "attribute '%s' of '%s' objects is not writable", name, value_type_name(v));
    return false;
}

/* ---- subscripts ---- */

value value_subscript(machine *m, value v, value index) {
    switch (v.kind) {
    case VALUE_ABSENT: return v;
    case VALUE_ARRAY: return array_get(m, v, index);
    case VALUE_DICT: {
        value item;
        if (!dict_find(m, v, index, &item)) return NO_VALUE_;
        if (!absent(item)) return value_keep(item);
        return raise_key(m, index);
    }
    case VALUE_RECORD: return is_grid(v) ? grid_subscript(m, v, index) : sequence_index(m, v, index);
    case VALUE_STRING: case VALUE_BYTES: case VALUE_TUPLE: case VALUE_LIST: case VALUE_RANGE: return sequence_index(m, v, index);
    case VALUE_ELEMENT: return raise_error(m, "IndexError", "invalid index to scalar variable");
    default: return raise_error(m, "TypeError", "'%s' object is not subscriptable", value_type_name(v));
    }
}

static bool dict_delete(machine *m, value dict, value key) {
    bool was;
    if (!dict_remove(m, dict, key, &was)) return false;
    if (!was) raise_key(m, key);
    return was;
}

bool value_subscript_set(machine *m, value v, value index, value to) {
    switch (v.kind) {
    case VALUE_ABSENT: return false;
    case VALUE_ARRAY:
        if (!as_array(v)->scalar && !absent(to)) return array_set(m, v, index, to);
        break;
    case VALUE_DICT: return absent(to) ? dict_delete(m, v, index) : dict_set(m, v, index, to);
    case VALUE_LIST: return sequence_set(m, v, index, to);
    default: break;
    }
    raise_error(m, "TypeError", "'%s' object does not support item %s", value_type_name(v), absent(to) ? "deletion" : "assignment");
    return false;
}

/* ---- with ---- */

/* A context is a record; what has to happen at its ends are its fields `enter` and `exit`, functions without parameters. */
static value context_call(machine *m, value context, const char *name) {
    value f = record_get((record_object *)context.u.o, name);
    value v = absent(f) ? none_value() : call_value(m, f, NULL, 0, NULL, 0);
    value_drop(m, f);
    return v;
}

value context_enter(machine *m, value context) {
    if (context.kind != VALUE_RECORD) return raise_error(m, "TypeError", "'%s' object does not support the context manager protocol", value_type_name(context));
    value v = context_call(m, context, "enter");
    if (v.kind != VALUE_NONE) return v;
    return value_keep(context);
}

bool context_exit(machine *m, value context) {
    value v = context_call(m, context, "exit");
    value_drop(m, v);
    return !absent(v);
}
