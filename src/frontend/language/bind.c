/* bind.c: array operations by NumPy's names, called with values.
 *
 * How it works: every name of an array function is a row of the operations' table; its parameters, in NumPy's order with
 * NumPy's defaults and kinds, say how positional and keyword arguments become what the frontend's call takes. Array-likes
 * become arrays, tuples shapes and axes, strings and types dtypes. Results without dimensions are NumPy's scalars. What a
 * particular operation means must not be put here; functions that are no operations are in numpy_names.c. */
#include <stdio.h>
#include <string.h>
#include "frontend/call.h"
#include "frontend/language/numpy.h"
#include "kiln.h"

#define MOST_PARAMS 24
#define MOST_RESULTS 8

typedef struct call {
    machine *m;
    int op;
    const op_info *row;
    const value *given[MOST_PARAMS];          /* as written; NULL: not given */
    value variadic;                           /* a tuple made of the rest of the positional arguments */
    call_arg args[MOST_PARAMS];
    int64_t *dims; size_t ndims;              /* where shapes lie */
    kn_array *arrays; size_t narrays;         /* where lists lie */
    value out[2];                             /* the arrays given as out */
} call;

static bool wrong(const call *c, const op_param *p, const char *wants, value v) {
    raise(c->m, "TypeError", "%s: argument %s must be %s, not '%s'", c->row->numpy + sizeof "numpy." - 1, p->name, wants, value_type_name(v));
    return false;
}

/* ---- names ---- */

int numpy_operation(const char *module, const char *name) {
    char full[96];
    int n = snprintf(full, sizeof full, "%s.%s", module, name);
    return n < 0 || (size_t)n >= sizeof full ? -1 : op_of_numpy(full);
}

value operation_value(machine *m, int op, const char *method) {
    operation_object *o = (operation_object *)object_new(m, VALUE_OPERATION, sizeof *o);
    if (!o) return NO_VALUE_;
    o->op = op;
    o->method = method;
    return (value){ VALUE_OPERATION, 0, { .o = &o->head } };
}

value record_value(machine *m, const char *type, size_t n, const char *const *names, const value *items) {
    record_object *r = (record_object *)object_new(m, VALUE_RECORD, sizeof *r + n * sizeof *items);
    if (!r) return NO_VALUE_;
    r->type = type;
    r->n = n;
    r->names = names;
    for (size_t i = 0; i < n; i++) r->at[i] = value_keep(items[i]);
    return (value){ VALUE_RECORD, 0, { .o = &r->head } };
}

/* ---- which argument is which parameter ---- */

static const char *short_name(const op_info *row) {
    const char *dot = strrchr(row->numpy, '.');
    return dot ? dot + 1 : row->numpy;
}

static bool hidden(const op_param *p) { return strcmp(p->name, "out1") == 0 || strcmp(p->name, "out2") == 0; }

static bool place_positional(call *c, const value *args, int n) {
    int at = 0;
    for (int i = 0; i < n; i++, at++) {
        if (at < c->row->nparams && c->row->params[at].flags & PARAM_VARIADIC) {
            c->variadic = tuple_value(c->m, (size_t)(n - i), args + i);
            c->given[at] = &c->variadic;
            return !absent(c->variadic);
        }
        if (at >= c->row->nparams || c->row->params[at].flags & PARAM_KEYWORD) {
            raise(c->m, "TypeError", "%s() takes at most %d positional argument%s, but %d were given", short_name(c->row), at, at == 1 ? "" : "s", n);
            return false;
        }
        c->given[at] = &args[i];
    }
    return true;
}

static int parameter_named(const call *c, const char *name) {
    int at = op_param_named(c->op, name);
    if (at >= 0) return hidden(&c->row->params[at]) ? -1 : at;
    static const struct { const char *op, *name, *param; } others[] = { { "clip", "min", "a_min" }, { "clip", "max", "a_max" }, { "reshape", "newshape", "shape" } };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) if (!strcmp(c->row->name, others[i].op) && !strcmp(name, others[i].name)) return op_param_named(c->op, others[i].param);
    return -1;
}

static bool is_none(value v) { return v.kind == VALUE_NONE; }

/* out=(a, b) of a function with two results. */
static bool place_outs(call *c, const value *v) {
    static const char *const names[] = { "out1", "out2" };
    if (is_none(*v)) return true;
    if (v->kind != VALUE_TUPLE || ((const sequence_object *)v->u.o)->n != 2) {
        raise(c->m, "TypeError", "%s: out is a tuple of two arrays", short_name(c->row));
        return false;
    }
    for (int i = 0; i < 2; i++) c->given[op_param_named(c->op, names[i])] = &((const sequence_object *)v->u.o)->at[i];
    return true;
}

static bool place_keywords(call *c, const keyword *keywords, int n) {
    for (int i = 0; i < n; i++) {
        const char *name = keywords[i].name;
        if (!strcmp(name, "out") && op_param_named(c->op, "out1") >= 0) {
            if (!place_outs(c, &keywords[i].v)) return false;
            continue;
        }
        int at = parameter_named(c, name);
        if (at < 0 || c->row->params[at].flags & PARAM_POSITIONAL) {
            raise(c->m, "TypeError", "%s() got an unexpected keyword argument '%s'", short_name(c->row), name);
            return false;
        }
        if (c->given[at]) {
            raise(c->m, "TypeError", "%s() got multiple values for argument '%s'", short_name(c->row), name);
            return false;
        }
        c->given[at] = &keywords[i].v;
    }
    return true;
}

static bool check_missing(const call *c) {
    for (int i = 0; i < c->row->nparams; i++) {
        const op_param *p = &c->row->params[i];
        if (c->given[i] || p->optional || p->flags & PARAM_VARIADIC) continue;
        raise(c->m, "TypeError", "%s() missing required argument '%s' (pos %d)", short_name(c->row), p->name, i + 1);
        return false;
    }
    return true;
}

/* ---- values as what parameters take ---- */

static bool as_list(call *c, const op_param *p, value v, call_arg *a) {
    value items = v.kind == VALUE_TUPLE || v.kind == VALUE_LIST ? value_keep(v) : v.kind == VALUE_ARRAY || v.kind == VALUE_RANGE || v.kind == VALUE_ITERATOR ? sequence_of(c->m, v, VALUE_TUPLE) : NO_VALUE_;
    if (absent(items)) return v.kind == VALUE_ARRAY || v.kind == VALUE_RANGE || v.kind == VALUE_ITERATOR ? false : wrong(c, p, "a sequence of arrays", v);
    const sequence_object *s = as_sequence(items);
    kn_array *grown = mem_grow(c->arrays, c->narrays + s->n + 1, sizeof *grown);
    bool good = grown != NULL;
    if (!good) raise_memory(c->m);
    else c->arrays = grown;
    for (size_t i = 0; good && i < s->n; i++) {
        kn_array x = array_of(c->m, s->at[i]);
        c->arrays[c->narrays++] = x;
        good = x.id != 0;
    }
    a->list = (kn_list){ s->n, NULL };           /* settle() says where */
    value_drop(c->m, items);
    return good;
}

static bool add_dimension(call *c, value v, const op_param *p) {
    int64_t *grown = mem_grow(c->dims, c->ndims + 1, sizeof *grown);
    if (!grown) { raise_memory(c->m); return false; }
    c->dims = grown;
    char what[96];
    snprintf(what, sizeof what, "%s: %s is an integer or a tuple of integers", short_name(c->row), p->name);
    return value_index(c->m, v, &c->dims[c->ndims], what) && ++c->ndims;
}

/* An integer, or integers nested to any depth (pad's widths), in order. */
static bool as_shape(call *c, const op_param *p, value v, int depth) {
    if (value_is_integer(v) || (v.kind == VALUE_ARRAY && kn_ndim(array_handle(v)) == 0)) return add_dimension(c, v, p);
    if (depth == 4 || (v.kind != VALUE_TUPLE && v.kind != VALUE_LIST && v.kind != VALUE_ARRAY && v.kind != VALUE_RANGE)) return wrong(c, p, "an integer or a tuple of integers", v);
    value items = sequence_of(c->m, v, VALUE_TUPLE);
    if (absent(items)) return false;
    const sequence_object *s = as_sequence(items);
    bool good = true;
    for (size_t i = 0; good && i < s->n; i++) good = as_shape(c, p, s->at[i], depth + 1);
    value_drop(c->m, items);
    return good;
}

static bool as_axis(call *c, const op_param *p, value v, kn_axis *axis) {
    if (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST) {
        const sequence_object *s = as_sequence(v);
        int axes[NDIM_MAX];
        if (s->n > NDIM_MAX) { raise(c->m, "ValueError", "%s: there are at most %d axes", short_name(c->row), NDIM_MAX); return false; }
        for (size_t i = 0; i < s->n; i++) {
            int64_t x;
            if (!value_index(c->m, s->at[i], &x, "an axis is an integer")) return false;
            axes[i] = x < -NDIM_MAX - 1 || x > NDIM_MAX ? NDIM_MAX + 1 : (int)x;
        }
        *axis = axis_pack((int)s->n, axes);
        return true;
    }
    int64_t x;
    if (!value_index(c->m, v, &x, p->name)) return false;
    *axis = x;
    return true;
}

bool value_dtype(machine *m, value v, kn_dtype *t) {
    if (v.kind == VALUE_DTYPE) { *t = (kn_dtype)v.dtype; return true; }
    if (v.kind == VALUE_NONE) { *t = KN_DTYPE_UNSET; return true; }
    if (v.kind == VALUE_STRING) {
        const string_object *s = (const string_object *)v.u.o;
        if ((*t = dtype_named(s->at, s->length))) return true;
        raise(m, "TypeError", "data type '%.*s' not understood", (int)(s->length < 60 ? s->length : 60), s->at);
        return false;
    }
    const char *name = v.kind == VALUE_TYPE ? ((const type_object *)v.u.o)->row->name : "";
    static const struct { const char *name; kn_dtype t; } types[] = { { "bool", KN_BOOL }, { "int", KN_INT64 }, { "float", KN_FLOAT64 }, { "complex", KN_COMPLEX128 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) if (!strcmp(name, types[i].name)) { *t = types[i].t; return true; }
    raise(m, "TypeError", "Cannot interpret '%s' as a data type", *name ? name : value_type_name(v));
    return false;
}

static bool as_norm(call *c, value v, kn_fft_norm *norm) {
    static const struct { const char *name; kn_fft_norm norm; } norms[] = { { "backward", KN_NORM_BACKWARD }, { "ortho", KN_NORM_ORTHO }, { "forward", KN_NORM_FORWARD } };
    for (size_t i = 0; v.kind == VALUE_STRING && i < sizeof norms / sizeof *norms; i++)
        if (!strcmp(((const string_object *)v.u.o)->at, norms[i].name)) { *norm = norms[i].norm; return true; }
    raise(c->m, "ValueError", "Invalid norm value; it should be \"backward\", \"ortho\" or \"forward\".");
    return false;
}

static bool is_out(const op_param *p) { return !strcmp(p->name, "out") || hidden(p); }

static bool as_out(call *c, const op_param *p, value v, call_arg *a) {
    if (v.kind == VALUE_TUPLE && as_sequence(v)->n == 1) v = as_sequence(v)->at[0];
    if (is_none(v)) return true;
    if (v.kind != VALUE_ARRAY || ((const array_object *)v.u.o)->scalar) { raise(c->m, "TypeError", "return arrays must be of ArrayType"); return false; }
    c->out[!strcmp(p->name, "out2")] = v;
    a->given = true;
    return (a->array = array_again(c->m, v)).id != 0;
}

/* The operand that an operation changes: an array, reached through another handle. */
static bool as_target(call *c, const op_param *p, value v, call_arg *a) {
    if (v.kind != VALUE_ARRAY || ((const array_object *)v.u.o)->scalar) return wrong(c, p, "an array", v);
    return (a->array = array_again(c->m, v)).id != 0;
}

static bool as_operand(call *c, value v, call_arg *a) {
    a->array = array_of(c->m, v);
    return a->array.id != 0;
}

/* What a parameter stands for when it is not given or None: given stays false. */
static bool none_is_default(const op_param *p) {
    return p->kind != PARAM_BOOL && (p->kind != PARAM_ARRAY || p->optional) && p->kind != PARAM_LIST;
}

static bool convert(call *c, int i) {
    const op_param *p = &c->row->params[i];
    call_arg *a = &c->args[i];
    a->kind = p->kind;
    if (!c->given[i]) return true;
    value v = *c->given[i];
    if (p->flags & PARAM_LATER && p->kind != PARAM_BOOL) return true;
    if (is_out(p)) return as_out(c, p, v, a);
    if (is_none(v) && none_is_default(p)) {
        if (p->kind == PARAM_AXIS && strcmp(p->fallback ? p->fallback : "", "ALL")) { a->given = true; a->axis = KN_ALL; }   /* axis=None: flattened */
        if (p->kind == PARAM_INT && p->fallback && strcmp(p->fallback, "NONE") && strcmp(p->fallback, "UNSET")) return wrong(c, p, "an integer", v);
        return true;
    }
    a->given = true;
    switch ((param_kind)p->kind) {
    case PARAM_ARRAY: return c->row->kind == OP_UPDATE && i == 0 ? as_target(c, p, v, a) : as_operand(c, v, a);
    case PARAM_LIST: return as_list(c, p, v, a);
    case PARAM_SHAPE: {
        size_t first = c->ndims;
        if (!as_shape(c, p, v, 0)) return false;
        a->shape = (kn_shape){ (int)(c->ndims - first), NULL };
        return c->ndims - first <= 1024 || wrong(c, p, "a short tuple", v);
    }
    case PARAM_AXIS: return as_axis(c, p, v, &a->axis);
    case PARAM_DTYPE: return value_dtype(c->m, v, &a->dtype);
    case PARAM_BOOL: {
        int truth = value_truth(c->m, v);
        a->flag = truth == 1;
        return truth >= 0;
    }
    case PARAM_INT:
        if (v.kind == VALUE_BOOL) { a->integer = v.u.i; return true; }
        return value_index(c->m, v, &a->integer, p->name);
    case PARAM_NUMBER: return value_double(c->m, v, &a->number);
    case PARAM_DEVICE: a->device = KN_CURRENT_DEVICE; return v.kind == VALUE_STRING || wrong(c, p, "a string", v);
    case PARAM_NORM: return as_norm(c, v, &a->norm);
    case PARAM_TEXT: a->text = v.kind == VALUE_STRING ? ((const string_object *)v.u.o)->at : NULL; return a->text || wrong(c, p, "a string", v);
    case PARAM_RNG: return value_generator(c->m, v, &a->rng);
    }
    return false;
}

/* Shapes and lists lie in memory that may have moved while it grew. */
static void settle(call *c) {
    size_t dim = 0, array = 0;
    static const int64_t no_dimension;
    for (int i = 0; i < c->row->nparams; i++) {
        call_arg *a = &c->args[i];
        if (!a->given) continue;
        if (a->kind == PARAM_SHAPE) {
            a->shape.dim = a->shape.ndim ? c->dims + dim : &no_dimension;
            dim += (size_t)a->shape.ndim;
        } else if (a->kind == PARAM_LIST) {
            size_t n = a->list.n;
            a->list = (kn_list){ n, c->arrays + array };
            array += n;
        }
    }
}

/* ---- results ---- */

/* Whether a result without dimensions stays an array, as NumPy's functions that make or show arrays have it. */
static bool keeps_array(const op_info *row) {
    static const char *const names[] = { "where", "copy", "select", "choose", "sort" };
    if (row->kind == OP_VIEW) return true;
    for (int i = 0; i < row->nparams; i++) if (row->params[i].kind == PARAM_SHAPE && !strcmp(row->params[i].name, "shape")) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) if (!strcmp(row->name, names[i])) return true;
    return false;
}

static value result_value(call *c, int which, kn_array a) {
    message why = { 0 };
    value out = which < 2 ? c->out[which] : NO_VALUE_;
    if (array_failed(a, &why)) return raise_message(c->m, &why);
    if (!absent(out)) return value_keep(out);
    return array_value(c->m, a, kn_ndim(a) == 0 && !keeps_array(c->row));
}

/* return_index and its like choose among the results behind the first. */
static bool result_wanted(const call *c, int which) {
    int flag = 0;
    for (int i = 0; i < c->row->nparams && which > 0; i++) {
        if (!(c->row->params[i].flags & PARAM_RETURNS)) continue;
        if (++flag == which) return c->args[i].given && c->args[i].flag;
    }
    return true;
}

static value results_value(call *c, kn_array *results) {
    value items[MOST_RESULTS], v = NO_VALUE_;
    size_t n = 0;
    bool good = true;
    for (int i = 0; good && i < c->row->nresults; i++) {
        if (!result_wanted(c, i)) continue;
        items[n] = result_value(c, i, results[i]);
        good = !absent(items[n]);
        n += good;
    }
    if (good && n == 1) return items[0];
    if (good && !strncmp(c->row->numpy, "numpy.linalg.", sizeof "numpy.linalg." - 1)) v = record_value(c->m, short_name(c->row), n, c->row->results, items);
    else if (good) v = tuple_value(c->m, n, items);
    for (size_t i = 0; i < n; i++) value_drop(c->m, items[i]);
    return v;
}

bool value_shape(machine *m, value v, int *ndim, int64_t *shape, const char *what) {
    *ndim = 1;
    if (v.kind != VALUE_TUPLE && v.kind != VALUE_LIST) return value_index(m, v, shape, what);
    const sequence_object *s = as_sequence(v);
    if (s->n > NDIM_MAX) { raise(m, "ValueError", "an array has at most %d dimensions", NDIM_MAX); return false; }
    *ndim = (int)s->n;
    for (size_t i = 0; i < s->n; i++) if (!value_index(m, s->at[i], &shape[i], what)) return false;
    return true;
}

/* split's are a list, the others' a tuple; one gradient is an array. */
static value list_of_results(call *c, kn_list results) {
    bool list = strstr(c->row->name, "split") != NULL;
    message why = { 0 };
    if (!results.at) { fail(&why, kn_error_status() ? kn_error_status() : KN_RUNTIME_ERROR, "%s", kn_error()); return raise_message(c->m, &why); }
    value made = list_value(c->m, 0, NULL);
    for (size_t i = 0; !absent(made) && i < results.n; i++) {
        value v = array_value(c->m, results.at[i], false);
        bool good = !absent(v) && list_append(c->m, made, v);
        value_drop(c->m, v);
        if (good) continue;
        value_drop(c->m, made);
        made = NO_VALUE_;
    }
    if (absent(made) || list) return made;
    const sequence_object *s = as_sequence(made);
    value v = c->op == OPERATION_gradient && s->n == 1 ? value_keep(s->at[0]) : tuple_value(c->m, s->n, s->at);
    value_drop(c->m, made);
    return v;
}

/* ---- calls ---- */

/* An elementwise function or operator of positional array-likes, no options: the common case. */
static value call_plain(machine *m, int op, const value *args, int n) {
    call_arg a[MOST_PARAMS];
    memset(a, 0, sizeof *a * (size_t)ops[op].nparams);
    for (int i = 0; i < n; i++) {
        a[i].kind = PARAM_ARRAY;
        a[i].given = true;
        if (!(a[i].array = array_of(m, args[i])).id) return NO_VALUE_;
    }
    kn_array result = frontend_call1(op, a);
    message why = { 0 };
    if (array_failed(result, &why)) return raise_message(m, &why);
    return array_value(m, result, kn_ndim(result) == 0);
}

value operation_call(machine *m, int op, const value *args, int n, const keyword *keywords, int nkeywords) {
    const op_info *row = &ops[op];
    if (row->kind == OP_UFUNC && row->nresults == 1 && !nkeywords && n == ufuncs[row->index].nin) return call_plain(m, op, args, n);
    call c = { .m = m, .op = op, .row = row };
    value result = NO_VALUE_;
    bool good = row->nparams <= MOST_PARAMS && place_positional(&c, args, n) && place_keywords(&c, keywords, nkeywords) && check_missing(&c);
    for (int i = 0; good && i < row->nparams; i++) good = convert(&c, i);
    if (good) {
        kn_array results[MOST_RESULTS] = { { 0 } };
        settle(&c);
        if (row->kind == OP_MANY) {
            result = list_of_results(&c, frontend_call_list(op, c.args));
        } else {
            frontend_call(op, c.args, results);
            result = results_value(&c, results);
        }
        if (row->kind == OP_UPDATE && !absent(result)) { value_drop(m, result); result = none_value(); }
    }
    value_drop(m, c.variadic);
    mem_free(c.dims);
    mem_free(c.arrays);
    return result;
}

/* ---- methods of elementwise functions: np.add.reduce(...) ---- */

/* reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial, where) is the reduction of the same name where there is
 * one, which takes all of that. */
static int reduction_operation(int op) {
    static const struct { int ufunc, reduction; } pairs[] = {
        { OPERATION_add, OPERATION_sum }, { OPERATION_mul, OPERATION_prod }, { OPERATION_maximum, OPERATION_max }, { OPERATION_minimum, OPERATION_min },
        { OPERATION_logical_and, OPERATION_all }, { OPERATION_logical_or, OPERATION_any },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) if (pairs[i].ufunc == op) return pairs[i].reduction;
    return -1;
}

static const value *argument(const value *args, int n, const keyword *keywords, int nkeywords, int at, const char *name) {
    if (at < n) return &args[at];
    for (int i = 0; i < nkeywords; i++) if (!strcmp(keywords[i].name, name)) return &keywords[i].v;
    return NULL;
}

static value method_result(machine *m, kn_array a) {
    message why = { 0 };
    if (array_failed(a, &why)) return raise_message(m, &why);
    return array_value(m, a, kn_ndim(a) == 0);
}

static value ufunc_reduce_call(machine *m, const operation_object *f, const value *args, int n, const keyword *keywords, int nkeywords) {
    int reduction = reduction_operation(f->op);
    if (reduction >= 0) {
        if (n > 1 || argument(NULL, 0, keywords, nkeywords, 0, "axis")) return operation_call(m, reduction, args, n, keywords, nkeywords);
        keyword all[12] = { { "axis", int_value(0) } };
        if (nkeywords > 11) return raise(m, "TypeError", "reduce() got too many arguments");
        memcpy(all + 1, keywords, (size_t)nkeywords * sizeof *keywords);
        return operation_call(m, reduction, args, n, all, nkeywords + 1);
    }
    const value *array = argument(args, n, keywords, nkeywords, 0, "array"), *axis = argument(args, n, keywords, nkeywords, 1, "axis"), *keep = argument(args, n, keywords, nkeywords, 4, "keepdims");
    int64_t along = 0;
    if (!array) return raise(m, "TypeError", "reduce() missing required argument 'array' (pos 1)");
    if (axis && axis->kind == VALUE_NONE) along = KN_ALL;
    else if (axis && !value_index(m, *axis, &along, "axis is an integer")) return NO_VALUE_;
    int keepdims = keep ? value_truth(m, *keep) : 0;
    kn_array a = array_of(m, *array);
    if (!a.id || keepdims < 0) return NO_VALUE_;
    return method_result(m, kn_reduce(short_name(&ops[f->op]), a, along, keepdims));
}

static value ufunc_accumulate_call(machine *m, const operation_object *f, const value *args, int n, const keyword *keywords, int nkeywords) {
    const value *array = argument(args, n, keywords, nkeywords, 0, "array"), *axis = argument(args, n, keywords, nkeywords, 1, "axis"), *dtype = argument(args, n, keywords, nkeywords, 2, "dtype");
    int64_t along = 0;
    kn_dtype t = KN_DTYPE_UNSET;
    if (!array) return raise(m, "TypeError", "accumulate() missing required argument 'array' (pos 1)");
    if (axis && !value_index(m, *axis, &along, "axis is an integer")) return NO_VALUE_;
    if (dtype && !value_dtype(m, *dtype, &t)) return NO_VALUE_;
    kn_array a = array_of(m, *array);
    if (a.id && t) a = (kn_astype)(a, t, NULL);
    return a.id ? method_result(m, kn_accumulate(short_name(&ops[f->op]), a, along)) : NO_VALUE_;
}

static value ufunc_outer_call(machine *m, const operation_object *f, const value *args, int n) {
    if (n != 2) return raise(m, "TypeError", "outer() takes two arrays");
    kn_array a = array_of(m, args[0]), b = a.id ? array_of(m, args[1]) : a;
    return b.id ? method_result(m, kn_outer_of(short_name(&ops[f->op]), a, b)) : NO_VALUE_;
}

/* op.at(a, indices, b): the index is an array or a tuple of what indices are made of. */
static value ufunc_at_call(machine *m, const operation_object *f, const value *args, int n) {
    if (n != 2 && n != 3) return raise(m, "TypeError", "at() takes an array, indices and, for functions of two operands, values");
    if (args[0].kind != VALUE_ARRAY || as_array(args[0])->scalar) return raise(m, "TypeError", "first operand must be array");
    return array_update_at(m, ops[f->op].index, args[0], args[1], n == 3 ? &args[2] : NULL) ? none_value() : NO_VALUE_;
}

value operation_method_call(machine *m, const operation_object *f, const value *args, int n, const keyword *keywords, int nkeywords) {
    if (!strcmp(f->method, "reduce")) return ufunc_reduce_call(m, f, args, n, keywords, nkeywords);
    if (!strcmp(f->method, "accumulate")) return ufunc_accumulate_call(m, f, args, n, keywords, nkeywords);
    if (nkeywords) return raise(m, "TypeError", "%s() takes no keyword arguments here", f->method);
    return !strcmp(f->method, "outer") ? ufunc_outer_call(m, f, args, n) : ufunc_at_call(m, f, args, n);
}

value operation_attribute(machine *m, value operation, const char *name) {
    const operation_object *f = (const operation_object *)operation.u.o;
    const op_info *row = &ops[f->op];
    static const char *const methods[] = { "reduce", "accumulate", "outer", "at" };
    if (!strcmp(name, "__name__")) return string_value(m, short_name(row), strlen(short_name(row)));
    if (!strcmp(name, "__doc__")) return string_value(m, row->doc, strlen(row->doc));
    if (row->kind != OP_UFUNC) return NO_VALUE_;
    const ufunc_info *u = &ufuncs[row->index];
    if (!strcmp(name, "nin")) return int_value(u->nin);
    if (!strcmp(name, "nout")) return int_value(u->nout);
    if (!strcmp(name, "nargs")) return int_value(u->nin + u->nout);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(name, methods[i])) continue;
        if (u->nout != 1 || (i < 3 && u->nin != 2)) return raise(m, "ValueError", "%s only supported for binary functions", name);
        return operation_value(m, f->op, methods[i]);
    }
    return NO_VALUE_;
}
