/* numpy_names.c: what modules have besides array operations: constants, dtypes, submodules, and functions that make arrays
 * of anything, ask for shapes and dtypes, or take callables.
 *
 * How it works: module_name looks a name up in tables, and in the table of operations last. An operation is never listed
 * here, except where Python's call differs from the operation's (where with one argument, linspace with retstep). */
#include <math.h>
#include <string.h>
#include "frontend/language/numpy.h"
#include "kiln.h"

/* ---- constants, dtypes, modules ---- */

static const struct { const char *module, *name; double v; } constants[] = {
    { "numpy", "pi", 3.14159265358979323846 }, { "numpy", "e", 2.71828182845904523536 }, { "numpy", "euler_gamma", 0.57721566490153286061 },
    { "numpy", "inf", INFINITY }, { "numpy", "nan", NAN },
    { "math", "pi", 3.14159265358979323846 }, { "math", "e", 2.71828182845904523536 }, { "math", "tau", 6.28318530717958647692 }, { "math", "inf", INFINITY }, { "math", "nan", NAN },
    { "cmath", "pi", 3.14159265358979323846 }, { "cmath", "e", 2.71828182845904523536 }, { "cmath", "tau", 6.28318530717958647692 }, { "cmath", "inf", INFINITY }, { "cmath", "nan", NAN },
};

/* Names of dtypes besides their own. */
static const struct { const char *name; kn_dtype t; } dtype_names[] = {
    { "bool_", KN_BOOL }, { "byte", KN_INT8 }, { "short", KN_INT16 }, { "intc", KN_INT32 }, { "int_", KN_INT64 }, { "intp", KN_INT64 }, { "long", KN_INT64 },
    { "longlong", KN_INT64 }, { "ubyte", KN_UINT8 }, { "ushort", KN_UINT16 }, { "uintc", KN_UINT32 }, { "uint", KN_UINT64 }, { "uintp", KN_UINT64 },
    { "ulong", KN_UINT64 }, { "ulonglong", KN_UINT64 }, { "half", KN_FLOAT16 }, { "single", KN_FLOAT32 }, { "double", KN_FLOAT64 },
    { "csingle", KN_COMPLEX64 }, { "cdouble", KN_COMPLEX128 },
};

/* The modules, as they are imported. Those behind the first keep the operations of the name given there. */
static const struct { const char *name, *operations; } modules[] = {
    { "numpy", "numpy" }, { "numpy.linalg", "numpy.linalg" }, { "numpy.fft", "numpy.fft" }, { "numpy.random", "numpy.random" }, { "numpy.lib", "numpy.lib" },
    { "numpy.lib.stride_tricks", "numpy.lib.stride_tricks" }, { "scipy", "scipy" }, { "scipy.special", "scipy.special" }, { "scipy.fft", "numpy.fft" },
    { "math", NULL }, { "cmath", NULL },
};
#define NMODULES (sizeof modules / sizeof *modules)

static int module_number(const char *name) {
    for (size_t i = 0; i < NMODULES; i++) if (!strcmp(modules[i].name, name)) return (int)i;
    return -1;
}

static value module_value(machine *m, int number) {
    module_object *o = (module_object *)object_new(m, VALUE_MODULE, sizeof *o);
    if (!o) return NO_VALUE_;
    o->name = modules[number].name;
    return (value){ VALUE_MODULE, 0, { .o = &o->head } };
}

value module_import(machine *m, const char *module) {
    int i = module_number(module);
    return i >= 0 ? module_value(m, i) : raise(m, "ModuleNotFoundError", "there is no module '%s' here; numpy, numpy.linalg, numpy.fft, numpy.random, scipy.special, math and cmath are", module);
}

/* ---- making arrays ---- */

static bool dtype_argument(machine *m, value v, kn_dtype *t) {
    *t = KN_DTYPE_UNSET;
    return absent(v) || value_dtype(m, v, t);
}

static value at_least(machine *m, kn_array a, value ndmin) {
    int64_t least = 0, shape[NDIM_MAX];
    if (!a.id) return NO_VALUE_;
    if (!absent(ndmin) && !value_index(m, ndmin, &least, "ndmin is an integer")) return NO_VALUE_;
    int have = kn_ndim(a);
    if (least > NDIM_MAX) return raise(m, "ValueError", "an array has at most %d dimensions", NDIM_MAX);
    if (least <= have) return array_value(m, a, false);
    for (int d = 0; d < least; d++) shape[d] = d < least - have ? 1 : kn_len(a, d - (int)(least - have));
    return array_value(m, (kn_reshape)(a, (kn_shape){ (int)least, shape }, NULL), false);
}

/* array(object, dtype, *, copy, order, subok, ndmin, like) */
static value make_array(machine *m, const value *args, int n) {
    kn_dtype t;
    (void)n;
    if (!dtype_argument(m, args[1], &t)) return NO_VALUE_;
    int copy = absent(args[2]) || args[2].kind == VALUE_NONE ? args[2].kind != VALUE_NONE : value_truth(m, args[2]);
    if (copy < 0) return NO_VALUE_;
    bool same = args[0].kind == VALUE_ARRAY && !as_array(args[0])->scalar && (!t || kn_dtype_of(array_handle(args[0])) == t);
    return at_least(m, !copy && same ? array_handle(args[0]) : array_made(m, args[0], t), args[5]);
}

/* asarray(a, dtype, order): a itself where it is an array of that dtype. */
static value array_itself(machine *m, const value *args, int n) {
    kn_dtype t;
    (void)n;
    if (!dtype_argument(m, args[1], &t)) return NO_VALUE_;
    bool same = args[0].kind == VALUE_ARRAY && !as_array(args[0])->scalar && (!t || kn_dtype_of(array_handle(args[0])) == t);
    if (same) return value_keep(args[0]);
    kn_array a = array_made(m, args[0], t);
    return a.id ? array_value(m, a, false) : NO_VALUE_;
}

static value from_function(machine *m, const value *args, int n) {
    kn_dtype t;
    int ndim;
    int64_t shape[NDIM_MAX];
    (void)n;
    if (!dtype_argument(m, args[2], &t) || !value_shape(m, args[1], &ndim, shape, "fromfunction: a shape is a tuple of integers")) return NO_VALUE_;
    kn_indices_opts o = { .size_ = sizeof o, .dtype = t ? t : KN_FLOAT64 };
    value grid = array_value(m, (kn_indices)((kn_shape){ ndim, shape }, &o), false), along = absent(grid) ? grid : sequence_of(m, grid, VALUE_TUPLE);
    const sequence_object *s = absent(along) ? NULL : as_sequence(along);
    value v = s ? call_value(m, args[0], s->at, (int)s->n, NULL, 0) : NO_VALUE_;
    value_drop(m, grid);
    value_drop(m, along);
    return v;
}

static value along_axis(machine *m, const value *args, int n);
static value vectorised(machine *m, const value *args, int n);

/* ---- asking ---- */

static value shape_of(machine *m, const value *args, int n) {
    (void)n;
    kn_array a = array_of(m, args[0]);
    int64_t count = a.id ? kn_ndim(a) : 0;
    value items[NDIM_MAX];
    for (int d = 0; d < count; d++) items[d] = int_value(kn_len(a, d));
    return a.id ? tuple_value(m, (size_t)count, items) : NO_VALUE_;
}

static value ndim_of(machine *m, const value *args, int n) {
    (void)n;
    kn_array a = array_of(m, args[0]);
    return a.id ? int_value(kn_ndim(a)) : NO_VALUE_;
}

static value size_of(machine *m, const value *args, int n) {
    (void)n;
    kn_array a = array_of(m, args[0]);
    int64_t axis;
    if (!a.id) return NO_VALUE_;
    if (absent(args[1]) || args[1].kind == VALUE_NONE) return int_value(kn_size(a));
    if (!value_index(m, args[1], &axis, "an axis is an integer")) return NO_VALUE_;
    if (axis < -kn_ndim(a) || axis >= kn_ndim(a)) return raise(m, "IndexError", "tuple index out of range");
    return int_value(kn_len(a, (int)axis));
}

static value is_scalar(machine *m, const value *args, int n) {
    (void)m;
    (void)n;
    return bool_value(value_is_number(args[0]) || args[0].kind == VALUE_STRING || (args[0].kind == VALUE_ARRAY && as_array(args[0])->scalar));
}

static value make_dtype(machine *m, const value *args, int n) {
    kn_dtype t;
    (void)n;
    if (!value_dtype(m, args[0], &t)) return NO_VALUE_;
    return dtype_value(t ? t : KN_FLOAT64);
}

/* A dtype, or the array whose dtype it is. */
static bool dtype_like(machine *m, value v, kn_dtype *t) {
    if (v.kind == VALUE_ARRAY) { *t = kn_dtype_of(array_handle(v)); return true; }
    if (v.kind == VALUE_ELEMENT) { *t = (kn_dtype)v.dtype; return true; }
    return value_dtype(m, v, t);
}

static value promote_types(machine *m, const value *args, int n) {
    kn_dtype a, b;
    (void)n;
    if (!value_dtype(m, args[0], &a) || !value_dtype(m, args[1], &b)) return NO_VALUE_;
    return dtype_value(kn_promote_types(a ? a : KN_FLOAT64, b ? b : KN_FLOAT64));
}

static value result_type(machine *m, const value *args, int n) {
    const sequence_object *s = as_sequence(args[0]);
    (void)n;
    if (!s->n) return raise(m, "ValueError", "at least one array or dtype is required");
    kn_array *items = mem_array(s->n, sizeof *items);
    if (!items) return raise_memory(m);
    bool good = true;
    for (size_t i = 0; good && i < s->n; i++) {
        bool dtype = s->at[i].kind == VALUE_DTYPE || s->at[i].kind == VALUE_STRING || s->at[i].kind == VALUE_TYPE;
        kn_dtype t;
        good = !dtype || value_dtype(m, s->at[i], &t);
        if (good) items[i] = dtype ? (kn_empty)((kn_shape){ 0, NULL }, &(kn_create_opts){ .size_ = sizeof(kn_create_opts), .dtype = t }) : array_of(m, s->at[i]);
        good = good && items[i].id;
    }
    kn_dtype t = good ? kn_result_type((kn_list){ s->n, items }) : KN_DTYPE_UNSET;
    mem_free(items);
    return t ? dtype_value(t) : good ? raise(m, "TypeError", "result_type: %s", kn_error()) : NO_VALUE_;
}

static value can_cast(machine *m, const value *args, int n) {
    kn_dtype from, to;
    casting rule = CAST_SAFE;
    (void)n;
    if (args[0].kind == VALUE_INT || args[0].kind == VALUE_FLOAT || args[0].kind == VALUE_BOOL) return raise(m, "TypeError", "can_cast() does not support Python ints, floats, and complex because the result used to depend on the value.");
    if (!dtype_like(m, args[0], &from) || !value_dtype(m, args[1], &to)) return NO_VALUE_;
    if (!absent(args[2]) && (args[2].kind != VALUE_STRING || !casting_named(as_string(args[2])->at, &rule)))
        return raise(m, "ValueError", "casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe'");
    return bool_value(dtype_can_cast(from ? from : KN_FLOAT64, to ? to : KN_FLOAT64, rule));
}

static value float_info(machine *m, const value *args, int n) {
    static const char *const names[] = { "bits", "eps", "epsneg", "max", "min", "nmant", "nexp", "precision", "resolution", "smallest_normal", "smallest_subnormal", "tiny", "dtype" };
    kn_dtype t;
    (void)n;
    if (!dtype_like(m, args[0], &t)) return NO_VALUE_;
    if (!t) t = KN_FLOAT64;
    if (!dtype_is_inexact(t)) return raise(m, "ValueError", "data type '%s' not inexact", dtype_table[t].name);
    kn_float_info f = kn_finfo(t);
    t = dtype_table[t].part;
#define REAL(x) ((value){ VALUE_ELEMENT, (uint8_t)t, { .f = (x) } })
    value items[] = { int_value(f.bits), REAL(f.eps), REAL(f.epsneg), REAL(f.max), REAL(f.min), int_value(f.nmant), int_value(f.nexp), int_value(f.precision), REAL(f.resolution), REAL(f.tiny), REAL(f.smallest_subnormal), REAL(f.tiny), dtype_value(t) };
#undef REAL
    return record_value(m, "finfo", sizeof names / sizeof *names, names, items);
}

static value int_info(machine *m, const value *args, int n) {
    static const char *const names[] = { "min", "max", "bits", "dtype" };
    kn_dtype t;
    (void)n;
    if (args[0].kind == VALUE_INT) t = KN_INT64;
    else if (!dtype_like(m, args[0], &t)) return NO_VALUE_;
    if (!dtype_is_integer(t)) return raise(m, "ValueError", "Invalid integer data type '%c'.", dtype_table[t ? t : KN_FLOAT64].code);
    kn_int_info i = kn_iinfo(t);
    value top = int_value((int64_t)(i.max >> 1)), twice = big_add(m, top, top), max = absent(twice) ? twice : big_add(m, twice, int_value((int64_t)(i.max & 1)));
    value_drop(m, twice);
    value items[] = { int_value(i.min), max, int_value(i.bits), dtype_value(t) };
    value v = absent(max) ? max : record_value(m, "iinfo", sizeof names / sizeof *names, names, items);
    value_drop(m, max);
    return v;
}

/* ---- operations that Python calls in another way ---- */

static value where(machine *m, const value *args, int n) {
    (void)n;
    if (absent(args[1]) != absent(args[2])) return raise(m, "ValueError", "either both or neither of x and y should be given");
    return absent(args[1]) ? nonzero_columns(m, args[0]) : operation_call(m, OPERATION_where, args, 3, NULL, 0);
}

static value nonzero(machine *m, const value *args, int n) {
    (void)n;
    return nonzero_columns(m, args[0]);
}

/* linspace(start, stop, num, endpoint, retstep, dtype, axis) */
static value linspace(machine *m, const value *args, int n) {
    static const char *const names[] = { "num", "endpoint", "dtype", "axis" };
    keyword keywords[4];
    int have = 0;
    (void)n;
    for (int i = 0; i < 4; i++) if (!absent(args[i < 2 ? 2 + i : 3 + i])) keywords[have++] = (keyword){ names[i], args[i < 2 ? 2 + i : 3 + i] };
    value points = operation_call(m, OPERATION_linspace, args, 2, keywords, have);
    int step_too = absent(args[4]) ? 0 : value_truth(m, args[4]), to_end = absent(args[3]) ? 1 : value_truth(m, args[3]);
    int64_t num = 50;
    bool good = !absent(points) && step_too >= 0 && to_end >= 0 && (absent(args[2]) || value_index(m, args[2], &num, "num is an integer"));
    if (good && !step_too) return points;
    value v = NO_VALUE_;
    if (good) {
        value span = operate(m, BINARY_SUB, args[1], args[0]);
        int64_t parts = to_end ? num - 1 : num;
        value step = absent(span) ? span : operate(m, BINARY_DIV, span, parts > 0 ? int_value(parts) : float_value(NAN)), both[2] = { points, step };
        if (!absent(step)) v = tuple_value(m, 2, both);
        value_drop(m, span);
        value_drop(m, step);
    }
    value_drop(m, points);
    return v;
}

/* f(*arrays): one array alone, several as a tuple. */
static value each_array(machine *m, value arrays, int op) {
    const sequence_object *s = as_sequence(arrays);
    value list = list_value(m, 0, NULL);
    for (size_t i = 0; !absent(list) && i < s->n; i++) {
        value v = operation_call(m, op, &s->at[i], 1, NULL, 0);
        bool good = !absent(v) && list_append(m, list, v);
        value_drop(m, v);
        if (good) continue;
        value_drop(m, list);
        list = NO_VALUE_;
    }
    if (absent(list)) return list;
    const sequence_object *made = as_sequence(list);
    value v = made->n == 1 ? value_keep(made->at[0]) : tuple_value(m, made->n, made->at);
    value_drop(m, list);
    return v;
}
static value atleast_1d(machine *m, const value *args, int n) { (void)n; return each_array(m, args[0], OPERATION_atleast_1d); }
static value atleast_2d(machine *m, const value *args, int n) { (void)n; return each_array(m, args[0], OPERATION_atleast_2d); }
static value atleast_3d(machine *m, const value *args, int n) { (void)n; return each_array(m, args[0], OPERATION_atleast_3d); }

/* ---- shapes together ---- */

static bool shapes_together(machine *m, const value *at, size_t n, int *ndim, int64_t *shape) {
    *ndim = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t of[NDIM_MAX];
        int nof = 0;
        message why = { 0 };
        if (!value_shape(m, at[i], &nof, of, "broadcast_shapes: a shape is a tuple of integers")) return false;
        int64_t before[NDIM_MAX];
        int nbefore = *ndim;
        memcpy(before, shape, (size_t)nbefore * sizeof *shape);
        if (shape_broadcast(2, (int[]){ nbefore, nof }, (const int64_t *const[]){ before, of }, ndim, shape, "broadcast", &why)) { raise_message(m, &why); return false; }
    }
    return true;
}

static value broadcast_shapes(machine *m, const value *args, int n) {
    const sequence_object *s = as_sequence(args[0]);
    int ndim;
    int64_t shape[NDIM_MAX];
    value items[NDIM_MAX];
    (void)n;
    if (!shapes_together(m, s->at, s->n, &ndim, shape)) return NO_VALUE_;
    for (int d = 0; d < ndim; d++) items[d] = int_value(shape[d]);
    return tuple_value(m, (size_t)ndim, items);
}

const native_row numpy_rows[] = {
    { "array", make_array, "object, dtype=, *, copy=, order=, subok=, ndmin=, like=", "A new array of nested sequences, numbers or arrays." },
    { "asarray", array_itself, "a, dtype=, order=, *, device=, copy=, like=", "a as an array: itself where it is one of that dtype." },
    { "asanyarray", array_itself, "a, dtype=, order=, *, device=, copy=, like=", "a as an array: itself where it is one of that dtype." },
    { "ascontiguousarray", array_itself, "a, dtype=, *, like=", "a as an array." },
    { "asfortranarray", array_itself, "a, dtype=, *, like=", "a as an array." },
    { "require", array_itself, "a, dtype=, requirements=, *, like=", "a as an array." },
    { "fromfunction", from_function, "function, shape, *, dtype=, like=", "function of the index arrays of shape." },
    { "apply_along_axis", along_axis, "func1d, axis, arr, *args", "func1d of every line along axis." },
    { "vectorize", vectorised, "pyfunc", "pyfunc, called for every element." },
    { "shape", shape_of, "a", "The extents as a tuple." },
    { "ndim", ndim_of, "a", "The number of dimensions." },
    { "size", size_of, "a, axis=", "The number of elements, or the extent of an axis." },
    { "isscalar", is_scalar, "element", "Whether it is a number or a string." },
    { "dtype", make_dtype, "dtype, align=, copy=", "A dtype by its name or type." },
    { "promote_types", promote_types, "type1, type2, /", "The smallest dtype that both convert to safely." },
    { "result_type", result_type, "*arrays_and_dtypes", "The dtype of a result of these operands." },
    { "can_cast", can_cast, "from_, to, casting=", "Whether the conversion is allowed." },
    { "finfo", float_info, "dtype", "What a float dtype can hold." },
    { "iinfo", int_info, "type", "What an integer dtype can hold." },
    { "where", where, "condition, x=, y=, /", "x where condition is true, else y; positions of true elements." },
    { "nonzero", nonzero, "a", "Positions of what is not zero, an array an axis." },
    { "linspace", linspace, "start, stop, num=, endpoint=, retstep=, dtype=, axis=, *, device=", "num values from start to stop." },
    { "atleast_1d", atleast_1d, "*arys", "At least one dimension." },
    { "atleast_2d", atleast_2d, "*arys", "At least two dimensions." },
    { "atleast_3d", atleast_3d, "*arys", "At least three dimensions." },
    { "broadcast_shapes", broadcast_shapes, "*args", "The shape that these have together." },
};
const int nnumpy_rows = sizeof numpy_rows / sizeof *numpy_rows;

/* ---- callables ---- */

static value along_axis(machine *m, const value *args, int n) {
    int64_t axis;
    (void)n;
    kn_array arr = array_of(m, args[2]);
    if (!arr.id || !value_index(m, args[1], &axis, "an axis is an integer")) return NO_VALUE_;
    int ndim = kn_ndim(arr);
    if (axis < -ndim || axis >= ndim) return raise(m, "AxisError", "axis %lld is out of bounds for array of dimension %d", (long long)axis, ndim);
    const sequence_object *more = as_sequence(args[3]);
    int64_t outer[NDIM_MAX], lines = 1, length = kn_len(arr, (int)axis);
    int nouter = 0;
    for (int d = 0; d < ndim; d++) {
        if (d == (axis < 0 ? axis + ndim : axis)) continue;
        outer[nouter++] = kn_len(arr, d);
        lines *= outer[nouter - 1];
    }
    kn_array last = (kn_moveaxis)(arr, axis, -1), flat = (kn_reshape)(last, (kn_shape){ 2, (const int64_t[]){ lines, length } }, NULL);
    value rows = array_value(m, flat, false), results = absent(rows) ? rows : list_value(m, 0, NULL), *call = mem_array(more->n + 1, sizeof *call);
    bool good = !absent(results) && call;
    if (!call) raise_memory(m);
    if (good && !lines) { raise(m, "ValueError", "Cannot apply_along_axis when any iteration dimensions are 0"); good = false; }
    for (int64_t i = 0; good && i < lines; i++) {
        call[0] = array_get_at(m, rows, 1, &i);
        memcpy(call + 1, more->at, more->n * sizeof *call);
        value v = absent(call[0]) ? NO_VALUE_ : call_value(m, args[0], call, (int)more->n + 1, NULL, 0);
        good = !absent(v) && list_append(m, results, v);
        value_drop(m, call[0]);
        value_drop(m, v);
    }
    kn_array made = good ? array_made(m, results, KN_DTYPE_UNSET) : (kn_array){ 0 };
    if (made.id && kn_ndim(made) - 1 + nouter <= NDIM_MAX) {
        int inner = kn_ndim(made) - 1;
        for (int d = 0; d < inner; d++) outer[nouter + d] = kn_len(made, d + 1);
        made = (kn_reshape)(made, (kn_shape){ nouter + inner, outer }, NULL);
        if (inner == 1) made = (kn_moveaxis)(made, -1, axis);
    }
    mem_free(call);
    value_drop(m, rows);
    value_drop(m, results);
    return made.id ? array_value(m, made, false) : NO_VALUE_;
}

/* What vectorize gives: called with arrays, it calls the function for the elements of all of them. */
static value call_elements(machine *m, const value *args, int n) {
    const sequence_object *given = as_sequence(args[1]);
    value pyfunc = args[0], wide = operation_call(m, OPERATION_broadcast_arrays, given->at, (int)given->n, NULL, 0);
    (void)n;
    if (absent(wide)) return wide;
    const sequence_object *s = as_sequence(wide);
    if (s->n == 0 || s->n > 32) { value_drop(m, wide); return raise(m, "ValueError", "a vectorized function takes 1 to 32 arrays"); }
    int ndim = kn_ndim(array_handle(s->at[0]));
    int64_t shape[NDIM_MAX], count = kn_size(array_handle(s->at[0]));
    for (int d = 0; d < ndim; d++) shape[d] = kn_len(array_handle(s->at[0]), d);
    value flat[32], results = list_value(m, 0, NULL);
    size_t have = 0;
    bool good = !absent(results);
    for (; good && have < s->n; have += good) {
        flat[have] = array_value(m, (kn_ravel)(array_handle(s->at[have]), NULL), false);
        good = !absent(flat[have]);
    }
    for (int64_t i = 0; good && i < count; i++) {
        value call[32];
        size_t k = 0;
        for (; good && k < s->n; k += good) good = !absent(call[k] = array_get_at(m, flat[k], 1, &i));
        value v = good ? call_value(m, pyfunc, call, (int)s->n, NULL, 0) : NO_VALUE_;
        good = !absent(v) && list_append(m, results, v);
        while (k-- > 0) value_drop(m, call[k]);
        value_drop(m, v);
    }
    kn_array made = good ? array_made(m, results, KN_DTYPE_UNSET) : (kn_array){ 0 };
    if (made.id) made = (kn_reshape)(made, (kn_shape){ ndim, shape }, NULL);
    while (have-- > 0) value_drop(m, flat[have]);
    value_drop(m, results);
    value_drop(m, wide);
    return made.id ? array_value(m, made, ndim == 0) : NO_VALUE_;
}

static const native_row elements_row = { "vectorized", call_elements, "pyfunc, /, *args", "pyfunc of every element." };
static value vectorised(machine *m, const value *args, int n) {
    (void)n;
    return bound_value(m, &elements_row, args[0]);
}

/* ---- names ---- */

static value row_named(machine *m, const native_row *rows, int n, const char *name) {
    for (int i = 0; i < n; i++) if (!strcmp(rows[i].name, name)) return native_value(m, &rows[i]);
    return NO_VALUE_;
}

static value numpy_name(machine *m, const char *name) {
    if (!strcmp(name, "newaxis")) return none_value();
    if (!strcmp(name, "True_") || !strcmp(name, "False_")) return (value){ VALUE_ELEMENT, KN_BOOL, { .i = name[0] == 'T' } };
    for (int t = 1; t < NDTYPES; t++) if (dtype_table[t].name && !strcmp(dtype_table[t].name, name)) return dtype_value((kn_dtype)t);
    for (size_t i = 0; i < sizeof dtype_names / sizeof *dtype_names; i++) if (!strcmp(dtype_names[i].name, name)) return dtype_value(dtype_names[i].t);
    value grid = grid_named(m, name);
    if (!absent(grid) || !absent(m->exception)) return grid;
    value context = row_named(m, context_rows, ncontext_rows, name);
    return absent(context) && absent(m->exception) ? row_named(m, numpy_rows, nnumpy_rows, name) : context;
}

value module_name(machine *m, const char *module, const char *name) {
    char inner[96];
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) if (!strcmp(constants[i].module, module) && !strcmp(constants[i].name, name)) return float_value(constants[i].v);
    if (!strcmp(module, "math")) return row_named(m, math_rows, nmath_rows, name);
    if (!strcmp(module, "cmath")) return row_named(m, cmath_rows, ncmath_rows, name);
    value v = !strcmp(module, "numpy") ? numpy_name(m, name) : !strcmp(module, "numpy.random") ? row_named(m, random_rows, nrandom_rows, name) : NO_VALUE_;
    if (!absent(v) || !absent(m->exception)) return v;
    if (strlen(module) + strlen(name) + 2 < sizeof inner) {
        strcpy(inner, module);
        strcat(inner, ".");
        strcat(inner, name);
        int sub = module_number(inner);
        if (sub >= 0) return module_value(m, sub);
        const type_row *type = type_named(inner);
        if (type) return type_value(m, type);
    }
    int number = module_number(module), op = number >= 0 ? numpy_operation(modules[number].operations, name) : -1;
    return op >= 0 ? operation_value(m, op, NULL) : NO_VALUE_;
}

void module_each(const char *module, void (*visit)(const char *name, void *arg), void *arg) {
    int number = module_number(module);
    const char *prefix = number >= 0 ? modules[number].operations : NULL;
    size_t n = prefix ? strlen(prefix) : 0;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) if (!strcmp(constants[i].module, module)) visit(constants[i].name, arg);
    for (size_t i = 0; i < NMODULES; i++) if (!strncmp(modules[i].name, module, strlen(module)) && modules[i].name[strlen(module)] == '.' && !strchr(modules[i].name + strlen(module) + 1, '.')) visit(modules[i].name + strlen(module) + 1, arg);
    for (int i = 0; prefix && i < nops; i++) if (!strncmp(ops[i].numpy, prefix, n) && ops[i].numpy[n] == '.' && !strchr(ops[i].numpy + n + 1, '.')) visit(ops[i].numpy + n + 1, arg);
    const native_row *rows = !strcmp(module, "numpy") ? numpy_rows : !strcmp(module, "math") ? math_rows : !strcmp(module, "cmath") ? cmath_rows : !strcmp(module, "numpy.random") ? random_rows : NULL;
    int nrows = rows == numpy_rows ? nnumpy_rows : rows == math_rows ? nmath_rows : rows == random_rows ? nrandom_rows : ncmath_rows;
    for (int i = 0; rows && i < nrows; i++) visit(rows[i].name, arg);
    if (strcmp(module, "numpy")) return;
    for (int t = 1; t < NDTYPES; t++) if (dtype_table[t].name) visit(dtype_table[t].name, arg);
    for (size_t i = 0; i < sizeof dtype_names / sizeof *dtype_names; i++) visit(dtype_names[i].name, arg);
    for (int i = 0; i < ncontext_rows; i++) visit(context_rows[i].name, arg);
}
