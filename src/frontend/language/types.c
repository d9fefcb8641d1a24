/* types.c: types as values: what they are called, what inherits from what, isinstance, and making values from them.
 *
 * How it works: one row a type. A row says which values are of it; classes of exceptions have a base and nothing else. */
#include <string.h>
#include "kiln.h"
#include "frontend/language/natives.h"

/* ---- what is of which type ---- */

/* The dtype of NumPy's scalars; KN_DTYPE_UNSET: v is none. */
static kn_dtype scalar_dtype(value v) {
    if (v.kind == VALUE_ELEMENT || v.kind == VALUE_COMPLEX) return (kn_dtype)v.dtype;
    return v.kind == VALUE_ARRAY && as_array(v)->scalar ? kn_dtype_of(as_array(v)->array) : KN_DTYPE_UNSET;
}
static dtype_kind scalar_kind_of(value v) { return dtype_kind_of(scalar_dtype(v)); }

static bool is_object(value v) { return !absent(v); }
static bool is_int(value v) { return v.kind == VALUE_BOOL || v.kind == VALUE_INT || v.kind == VALUE_BIG; }
static bool is_float(value v) { return v.kind == VALUE_FLOAT || scalar_dtype(v) == KN_FLOAT64; }
static bool is_complex(value v) { return (v.kind == VALUE_COMPLEX && !v.dtype) || scalar_dtype(v) == KN_COMPLEX128; }
static bool is_array(value v) { return v.kind == VALUE_ARRAY && !as_array(v)->scalar; }
static bool is_scalar(value v) { return scalar_dtype(v) != KN_DTYPE_UNSET; }
static bool is_numpy_number(value v) { return scalar_kind_of(v) >= KIND_INT; }
static bool is_numpy_integer(value v) { return scalar_kind_of(v) == KIND_INT || scalar_kind_of(v) == KIND_UINT; }
static bool is_numpy_signed(value v) { return scalar_kind_of(v) == KIND_INT; }
static bool is_numpy_unsigned(value v) { return scalar_kind_of(v) == KIND_UINT; }
static bool is_numpy_inexact(value v) { return scalar_kind_of(v) >= KIND_FLOAT; }
static bool is_numpy_floating(value v) { return scalar_kind_of(v) == KIND_FLOAT; }
static bool is_numpy_complex(value v) { return scalar_kind_of(v) == KIND_COMPLEX; }

/* ---- making ---- */

#define MAKE(name) static value name(machine *m, const value *a, int n)

MAKE(make_bool) {
    (void)n;
    int truth = absent(a[0]) ? 0 : value_truth(m, a[0]);
    return truth < 0 ? NO_VALUE_ : bool_value(truth);
}

MAKE(make_str) {
    (void)n;
    if (absent(a[0])) return string_value(m, "", 0);
    if (a[0].kind == VALUE_STRING) return value_keep(a[0]);
    text t = { 0 };
    text_addn(&t, "", 0);
    if (value_str(m, a[0], &t)) return string_text(m, &t);
    text_free(&t);
    return NO_VALUE_;
}

MAKE(make_tuple) {
    (void)n;
    if (a[0].kind == VALUE_TUPLE) return value_keep(a[0]);
    return absent(a[0]) ? tuple_value(m, 0, NULL) : sequence_of(m, a[0], VALUE_TUPLE);
}
MAKE(make_list) {
    (void)n;
    return absent(a[0]) ? list_value(m, 0, NULL) : sequence_of(m, a[0], VALUE_LIST);
}
MAKE(make_set) {
    (void)n;
    return set_of(m, a[0]);
}
MAKE(make_dict) {
    (void)n;
    value d = dict_value(m);
    if (absent(d) || (dict_update(m, d, a[0]) && dict_update(m, d, a[1]))) return d;
    value_drop(m, d);
    return NO_VALUE_;
}

MAKE(make_range) {
    int64_t part[3] = { 0, 0, 1 };
    if (n < 1 || n > 3) return raise(m, "TypeError", "range expected 1 to 3 arguments, got %d", n);
    for (int i = 0; i < n; i++) if (!integer_argument(m, a[i], "a bound of a range", &part[n == 1 ? 1 : i])) return NO_VALUE_;
    if (!part[2]) return raise(m, "ValueError", "range() arg 3 must not be zero");
    return range_value(m, part[0], part[1], part[2]);
}
MAKE(make_slice) {
    if (n < 1 || n > 3) return raise(m, "TypeError", "slice expected 1 to 3 arguments, got %d", n);
    return n == 1 ? slice_value(m, none_value(), a[0], none_value()) : slice_value(m, a[0], a[1], n == 3 ? a[2] : none_value());
}
MAKE(make_type) {
    (void)n;
    return type_of(m, a[0]);
}

/* ---- the table ---- */

#define PLAIN(name, holds) { name, NULL, { 0 }, holds, false }
#define MADE(name, f, names, doc, holds) { name, NULL, { name, f, names, doc }, holds, false }
#define CLASS(name, base) { name, base, { 0 }, NULL, true }

static const type_row types[] = {
    MADE("int", make_int, "x=, /, base=", "An integer, from a number (cut off) or a text.", is_int),
    MADE("float", make_float, "x=, /", "A float, from a number or a text.", is_float),
    MADE("complex", make_complex, "real=, imag=", "A complex number, from its parts or a text.", is_complex),
    MADE("bool", make_bool, "x=, /", "Whether x counts as true.", NULL),
    MADE("str", make_str, "object=", "The object as text.", NULL),
    MADE("tuple", make_tuple, "iterable=, /", "A tuple of what iterable gives.", NULL),
    MADE("list", make_list, "iterable=, /", "A list of what iterable gives.", NULL),
    MADE("set", make_set, "iterable=, /", "A set of what iterable gives.", NULL),
    MADE("dict", make_dict, "iterable=, /, **kwargs", "A dict, from a dict or pairs, and names.", NULL),
    MADE("range", make_range, NULL, "Integers from start up to stop, without it.", NULL),
    MADE("slice", make_slice, NULL, "What start:stop:step is between brackets.", NULL),
    MADE("type", make_type, "object, /", "The type of a value.", NULL),
    PLAIN("object", is_object), PLAIN("NoneType", NULL), PLAIN("ellipsis", NULL), PLAIN("function", NULL), PLAIN("builtin_function_or_method", NULL),
    PLAIN("method", NULL), PLAIN("module", NULL), PLAIN("numpy.ufunc", NULL), PLAIN("numpy.dtype", NULL), PLAIN("numpy.ndarray", is_array),
    PLAIN("numpy.generic", is_scalar), PLAIN("numpy.number", is_numpy_number), PLAIN("numpy.integer", is_numpy_integer),
    PLAIN("numpy.signedinteger", is_numpy_signed), PLAIN("numpy.unsignedinteger", is_numpy_unsigned), PLAIN("numpy.inexact", is_numpy_inexact),
    PLAIN("numpy.floating", is_numpy_floating), PLAIN("numpy.complexfloating", is_numpy_complex),
    CLASS("BaseException", NULL), CLASS("Exception", "BaseException"), CLASS("KeyboardInterrupt", "BaseException"), CLASS("SystemExit", "BaseException"),
    CLASS("ArithmeticError", "Exception"), CLASS("FloatingPointError", "ArithmeticError"), CLASS("OverflowError", "ArithmeticError"),
    CLASS("ZeroDivisionError", "ArithmeticError"), CLASS("AssertionError", "Exception"), CLASS("AttributeError", "Exception"), CLASS("BufferError", "Exception"),
    CLASS("EOFError", "Exception"), CLASS("ImportError", "Exception"), CLASS("ModuleNotFoundError", "ImportError"), CLASS("LookupError", "Exception"),
    CLASS("IndexError", "LookupError"), CLASS("KeyError", "LookupError"), CLASS("MemoryError", "Exception"), CLASS("NameError", "Exception"),
    CLASS("UnboundLocalError", "NameError"), CLASS("OSError", "Exception"), CLASS("FileExistsError", "OSError"), CLASS("FileNotFoundError", "OSError"),
    CLASS("PermissionError", "OSError"), CLASS("TimeoutError", "OSError"), CLASS("ReferenceError", "Exception"), CLASS("RuntimeError", "Exception"),
    CLASS("NotImplementedError", "RuntimeError"), CLASS("RecursionError", "RuntimeError"), CLASS("StopIteration", "Exception"), CLASS("SyntaxError", "Exception"),
    CLASS("IndentationError", "SyntaxError"), CLASS("TabError", "IndentationError"), CLASS("SystemError", "Exception"), CLASS("TypeError", "Exception"),
    CLASS("ValueError", "Exception"), CLASS("UnicodeError", "ValueError"), CLASS("Warning", "Exception"), CLASS("DeprecationWarning", "Warning"),
    CLASS("FutureWarning", "Warning"), CLASS("RuntimeWarning", "Warning"), CLASS("UserWarning", "Warning"), CLASS("ScopeError", "RuntimeError"),
    CLASS("NotAvailableError", "RuntimeError"), CLASS("numpy.exceptions.AxisError", "IndexError"), CLASS("numpy.linalg.LinAlgError", "ValueError"),
};

/* Under the whole name, or the last part of it. */
const type_row *type_named(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *last = strrchr(types[i].name, '.');
        if (!strcmp(types[i].name, name) || (last && types[i].exception && !strcmp(last + 1, name))) return &types[i];
    }
    return NULL;
}

bool type_below(const type_row *a, const type_row *b) {
    while (a && a != b) a = a->base ? type_named(a->base) : NULL;
    return a && b;
}

value type_value(machine *m, const type_row *row) {
    type_object *t = (type_object *)object_new(m, VALUE_TYPE, sizeof *t);
    if (!t) return NO_VALUE_;
    t->row = row;
    return object_value(t);
}

value type_of(machine *m, value v) {
    kn_dtype t = scalar_dtype(v);
    if (t) return dtype_value(t);
    const type_row *row = v.kind == VALUE_EXCEPTION ? ((exception_object *)v.u.o)->type : type_named(value_type_name(v));
    return type_value(m, row ? row : type_named("object"));
}

static bool row_holds(const type_row *row, value v) {
    if (row->exception) return v.kind == VALUE_EXCEPTION && type_below(((exception_object *)v.u.o)->type, row);
    if (row->holds) return row->holds(v);
    return v.kind != VALUE_ELEMENT && !strcmp(value_type_name(v), row->name);
}

int is_instance(machine *m, value v, value of) {
    if (of.kind == VALUE_TYPE) return row_holds(((type_object *)of.u.o)->row, v);
    if (of.kind == VALUE_DTYPE) return scalar_dtype(v) == (kn_dtype)of.dtype;
    if (of.kind != VALUE_TUPLE || !machine_enter(m)) {
        if (of.kind != VALUE_TUPLE) raise(m, "TypeError", "isinstance() arg 2 must be a type or a tuple of types, not %s", value_type_name(of));
        return -1;
    }
    int r = 0;
    for (size_t i = 0; !r && i < as_sequence(of)->n; i++) r = is_instance(m, v, as_sequence(of)->at[i]);
    machine_leave(m);
    return r;
}
