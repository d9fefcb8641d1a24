/* print.c: str() and repr() of every value.
 *
 * How it works: containers call themselves for what they hold; one that is met inside itself prints as "[...]". Numbers and
 * arrays are printed by frontend/print. */
#include <string.h>
#include "kiln.h"
#include "frontend/language/machine.h"
#include "frontend/language/natives.h"
#include "frontend/print/print.h"

static bool added(machine *m, text *out) { return out->failed ? (raise_memory(m), false) : true; }

/* ---- text ---- */

static bool printable(uint32_t point) {
    return point >= 0xa1 ? point != 0xad && !(point >= 0x2000 && point <= 0x200f) && !(point >= 0x2028 && point <= 0x202f) && !(point >= 0xd800 && point <= 0xdfff) && point != 0xfeff
                         : point >= 0x20 && point < 0x7f;
}

static void add_quoted(text *out, const char *s, size_t n, bool bytes) {
    bool single = memchr(s, '\'', n) != NULL, both = memchr(s, '"', n) != NULL;
    char quote = single && !both ? '"' : '\'';
    text_addn(out, &quote, 1);
    for (size_t i = 0; i < n;) {
        size_t size = 1;
        uint32_t point = (unsigned char)s[i];
        if (!bytes && point >= 0x80) point = utf8_get(s + i, &size);
        if (point == (unsigned char)quote || point == '\\') text_add(out, "\\%c", (int)point);
        else if (point == '\n') text_add(out, "\\n");
        else if (point == '\r') text_add(out, "\\r");
        else if (point == '\t') text_add(out, "\\t");
        else if (bytes ? point >= 0x20 && point < 0x7f : printable(point)) text_addn(out, s + i, size);
        else text_add(out, point < 0x100 ? "\\x%02x" : point < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)point);
        i += size;
    }
    text_addn(out, &quote, 1);
}

/* ---- numbers and arrays ---- */

static void add_element(text *out, kn_dtype t, scalar s, print_mode mode) {
    _Alignas(16) char at[16];
    element_store(t, at, s);
    print_scalar(t, at, mode, out);
}

static scalar element_scalar(value v) {
    switch (dtype_kind_of((kn_dtype)v.dtype)) {
    case KIND_BOOL: return (scalar){ SCALAR_BOOL, { .b = v.u.i != 0 } };
    case KIND_UINT: return (scalar){ SCALAR_UINT, { .u = v.u.u } };
    case KIND_INT: return (scalar){ SCALAR_INT, { .i = v.u.i } };
    default: return (scalar){ SCALAR_FLOAT, { .f = v.u.f } };
    }
}

static void add_complex(text *out, value v, print_mode mode) {
    scalar s = { SCALAR_COMPLEX, { .c = { as_complex(v)->re, as_complex(v)->im } } };
    if (v.dtype) add_element(out, (kn_dtype)v.dtype, s, mode);
    else print_python(s, out);
}

static bool add_array(machine *m, value v, print_mode mode, text *out) {
    host_window h;
    message why = { 0 };
    if (array_host(as_array(v)->array, "print", &h, &why)) return raise_message(m, &why), false;
    host_array a = { .dtype = h.dtype, .ndim = h.ndim, .shape = h.shape, .strides = h.strides, .data = h.data };
    if (as_array(v)->scalar) print_scalar(h.dtype, h.data, mode, out);
    else print_array(&a, m->printing, mode, out);
    host_drop(&h);
    return added(m, out);
}

/* ---- containers ---- */

static bool add_items(machine *m, size_t n, const value *at, text *out) {
    for (size_t i = 0; i < n; i++) {
        if (i) text_addn(out, ", ", 2);
        if (!value_repr(m, at[i], out)) return false;
    }
    return true;
}

static bool add_pairs(machine *m, value v, text *out) {
    const pair *p;
    bool first = true;
    for (size_t at = 0; (p = dict_next(v, &at)); first = false) {
        if (!first) text_addn(out, ", ", 2);
        if (!value_repr(m, p->key, out)) return false;
        if (v.kind == VALUE_SET) continue;
        text_addn(out, ": ", 2);
        if (!value_repr(m, p->item, out)) return false;
    }
    return true;
}

static bool add_record(machine *m, const record_object *r, text *out) {
    text_add(out, "%s(", r->type);
    for (size_t i = 0; i < r->n; i++) {
        text_add(out, "%s%s=", i ? ", " : "", r->names && r->names[i] ? r->names[i] : "");
        if (!value_repr(m, r->at[i], out)) return false;
    }
    text_addn(out, ")", 1);
    return true;
}

static bool add_container(machine *m, value v, text *out) {
    bool good = true;
    switch (v.kind) {
    case VALUE_LIST:
        text_addn(out, "[", 1);
        good = add_items(m, as_sequence(v)->n, as_sequence(v)->at, out);
        text_addn(out, "]", 1);
        break;
    case VALUE_TUPLE:
        text_addn(out, "(", 1);
        good = add_items(m, as_sequence(v)->n, as_sequence(v)->at, out);
        text_add(out, as_sequence(v)->n == 1 ? ",)" : ")");
        break;
    case VALUE_DICT:
        text_addn(out, "{", 1);
        good = add_pairs(m, v, out);
        text_addn(out, "}", 1);
        break;
    case VALUE_SET:
        if (!dict_count(v)) {
            text_add(out, "set()");
            break;
        }
        text_addn(out, "{", 1);
        good = add_pairs(m, v, out);
        text_addn(out, "}", 1);
        break;
    case VALUE_SLICE:
        text_add(out, "slice(");
        good = add_items(m, 3, &as_slice(v)->start, out);
        text_addn(out, ")", 1);
        break;
    default: good = add_record(m, (record_object *)v.u.o, out); break;
    }
    return good && added(m, out);
}

static bool repr_container(machine *m, value v, text *out) {
    static const char *const inside[NVALUE_KINDS] = { [VALUE_LIST] = "[...]", [VALUE_TUPLE] = "(...)", [VALUE_DICT] = "{...}", [VALUE_SET] = "{...}", [VALUE_SLICE] = "slice(...)", [VALUE_RECORD] = "(...)" };
    if (v.u.o->visiting) {
        text_add(out, "%s", inside[v.kind]);
        return added(m, out);
    }
    if (!machine_enter(m)) return false;
    v.u.o->visiting = true;
    bool good = add_container(m, v, out);
    v.u.o->visiting = false;
    machine_leave(m);
    return good;
}

/* ---- the rest ---- */

static bool repr_range(machine *m, const range_object *r, text *out) {
    text_add(out, r->step == 1 ? "range(%lld, %lld)" : "range(%lld, %lld, %lld)", (long long)r->start, (long long)r->stop, (long long)r->step);
    return added(m, out);
}

static bool str_exception(machine *m, const exception_object *e, text *out) {
    const sequence_object *args = as_sequence(e->args);
    if (args->n != 1) return args->n ? value_repr(m, e->args, out) : true;
    return !strcmp(e->type->name, "KeyError") ? value_repr(m, args->at[0], out) : value_str(m, args->at[0], out);
}

static bool repr_exception(machine *m, const exception_object *e, text *out) {
    text_add(out, "%s(", e->type->name);
    bool good = add_items(m, as_sequence(e->args)->n, as_sequence(e->args)->at, out);
    text_addn(out, ")", 1);
    return good && added(m, out);
}

static const char *operation_name(const operation_object *o) { return ops[o->op].name; }

bool value_repr(machine *m, value v, text *out) {
    switch (v.kind) {
    case VALUE_ABSENT: return false;
    case VALUE_NONE: text_add(out, "None"); break;
    case VALUE_ELLIPSIS: text_add(out, "Ellipsis"); break;
    case VALUE_NOT_IMPLEMENTED: text_add(out, "NotImplemented"); break;
    case VALUE_BOOL: text_add(out, v.u.i ? "True" : "False"); break;
    case VALUE_INT: text_add(out, "%lld", (long long)v.u.i); break;
    case VALUE_FLOAT: print_float(v.u.f, out); break;
    case VALUE_ELEMENT: add_element(out, (kn_dtype)v.dtype, element_scalar(v), PRINT_REPR); break;
    case VALUE_DTYPE: text_add(out, v.dtype == KN_BOOL ? "dtype('bool')" : "dtype('%s')", dtype_table[v.dtype].name); break;
    case VALUE_BIG: return big_text(m, v, 10, out);
    case VALUE_COMPLEX: add_complex(out, v, PRINT_REPR); break;
    case VALUE_ARRAY: return add_array(m, v, PRINT_REPR, out);
    case VALUE_STRING: add_quoted(out, as_string(v)->at, as_string(v)->length, false); break;
    case VALUE_BYTES:
        text_addn(out, "b", 1);
        add_quoted(out, as_string(v)->at, as_string(v)->length, true);
        break;
    case VALUE_TUPLE: case VALUE_LIST: case VALUE_DICT: case VALUE_SET: case VALUE_SLICE: case VALUE_RECORD: return repr_container(m, v, out);
    case VALUE_RANGE: return repr_range(m, as_range(v), out);
    case VALUE_EXCEPTION: return repr_exception(m, (exception_object *)v.u.o, out);
    case VALUE_FUNCTION: text_add(out, "<function %s>", function_name((function_object *)v.u.o)); break;
    case VALUE_NATIVE: text_add(out, "<built-in function %s>", ((native_object *)v.u.o)->row->name); break;
    case VALUE_BOUND: text_add(out, "<method of %s>", value_type_name(((bound_object *)v.u.o)->self)); break;
    case VALUE_OPERATION: text_add(out, ops[((operation_object *)v.u.o)->op].kind == OP_UFUNC ? "<ufunc '%s'>" : "<function %s>", operation_name((operation_object *)v.u.o)); break;
    case VALUE_TYPE: text_add(out, "<class '%s'>", ((type_object *)v.u.o)->row->name); break;
    case VALUE_MODULE: text_add(out, "<module '%s'>", ((module_object *)v.u.o)->name); break;
    default: text_add(out, "<%s>", value_type_name(v)); break;
    }
    return added(m, out);
}

bool value_str(machine *m, value v, text *out) {
    switch (v.kind) {
    case VALUE_STRING: text_addn(out, as_string(v)->at, as_string(v)->length); break;
    case VALUE_ELEMENT: add_element(out, (kn_dtype)v.dtype, element_scalar(v), PRINT_STR); break;
    case VALUE_COMPLEX: add_complex(out, v, PRINT_STR); break;
    case VALUE_DTYPE: text_add(out, "%s", dtype_table[v.dtype].name); break;
    case VALUE_ARRAY: return add_array(m, v, PRINT_STR, out);
    case VALUE_EXCEPTION: return str_exception(m, (exception_object *)v.u.o, out);
    default: return value_repr(m, v, out);
    }
    return added(m, out);
}
