/* op.c: the table of array operations: rows of ops.def with their parameters and handlers, found by name, and what all
 * kinds of rows have in common. What an operation does stands in the files of its handlers. */
#include "ir/graph/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

#define ARG(kind, name) {#name, PARAM_##kind, false, 0, NULL},
#define POS(kind, name) {#name, PARAM_##kind, false, PARAM_POSITIONAL, NULL},
#define HOST(name) {#name, PARAM_ARRAY, false, PARAM_HOST, NULL},
#define HOSTPOS(name) {#name, PARAM_ARRAY, false, PARAM_HOST | PARAM_POSITIONAL, NULL},
#define HOSTREQ(name, def) {#name, PARAM_ARRAY, true, PARAM_HOST | PARAM_REQUIRED_IN_C, #def},
#define LISTARG(name) {#name, PARAM_LIST, false, PARAM_VARIADIC, NULL},
#define REQ(kind, name, def) {#name, PARAM_##kind, true, PARAM_REQUIRED_IN_C, #def},
#define REQPOS(kind, name, def) {#name, PARAM_##kind, true, PARAM_REQUIRED_IN_C | PARAM_POSITIONAL, #def},
#define OPT(kind, name, def) {#name, PARAM_##kind, true, 0, #def},
#define KEY(kind, name, def) {#name, PARAM_##kind, true, PARAM_KEYWORD, #def},
#define LATER(kind, name, def) {#name, PARAM_##kind, true, PARAM_LATER, #def},
#define LATERKEY(kind, name, def) {#name, PARAM_##kind, true, PARAM_LATER | PARAM_KEYWORD, #def},
#define RETURNS(name) {#name, PARAM_BOOL, true, PARAM_LATER | PARAM_RETURNS, "false"},
#define OUT(name) #name,

#define OP(name, numpy, kind, family, params, results, doc) \
    static const op_param params_##name[] = {params};       \
    static const char *const results_##name[] = {results NULL};
#include "ir/graph/ops.def"

#define UFUNC_OP(u) OP_UFUNC, UFUNC_##u, false, NULL, NULL
#define REDUCE_OP(h) OP_REDUCE, -1, false, NULL, h
#define NODES_OP(h) OP_NODES, -1, false, NULL, h
#define VIEW_OP(h) OP_VIEW, -1, false, h, NULL
#define READONLY_VIEW_OP(h) OP_VIEW, -1, true, h, NULL
#define VIEW_OR_OP(v, n) OP_VIEW, -1, false, v, n
#define UPDATE_OP(h) OP_UPDATE, -1, false, NULL, h
#define FRONTEND_OP OP_FRONTEND, -1, false, NULL, NULL
#define MANY_OP OP_MANY, -1, false, NULL, NULL

#define FULL_NAME(name) (&"numpy." name[__builtin_strncmp(name, "scipy.", 6) ? 0 : 6])   /* SciPy's names are whole */
#define COUNT(a) (sizeof(a) / sizeof *(a))
#define ROW(...) ROW_(__VA_ARGS__)
#define ROW_(name_, numpy_, kind_, index_, readonly_, view_, nodes_, doc_)                                                          \
    {.name = #name_, .numpy = FULL_NAME(#numpy_), .doc = doc_, .kind = kind_, .nparams = COUNT(params_##name_),                       \
     .nresults = COUNT(results_##name_) > 1 ? COUNT(results_##name_) - 1 : 1, .readonly = readonly_, .params = params_##name_,      \
     .results = COUNT(results_##name_) > 1 ? results_##name_ : NULL, .index = index_, .view = view_, .nodes = nodes_},
const op_info ops[] = {
#define OP(name, numpy, kind, family, params, results, doc) ROW(name, numpy, kind, doc)
#include "ir/graph/ops.def"
};
const int nops = NOPERATIONS;

static const struct { const char *name; op_number op; } aliases[] = {
#define OP(name, ...)
#define ALIAS(name, op) {#name, OPERATION_##op},
#include "ir/graph/ops.def"
};

/* ---- names ---- */

static bool names_op(const op_info *o, const char *name)
{
    return strcmp(o->name, name) == 0 || strcmp(o->numpy, name) == 0 || strcmp(o->numpy + sizeof "numpy." - 1, name) == 0;
}

int op_named(const char *name)
{
    for (int i = 0; i < NOPERATIONS; i++)
        if (names_op(&ops[i], name))
            return i;
    if (strncmp(name, "numpy.", 6) == 0)
        name += 6;
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (strcmp(aliases[i].name, name) == 0)
            return (int)aliases[i].op;
    return -1;
}

int op_of_numpy(const char *full)
{
    for (int i = 0; i < NOPERATIONS; i++)
        if (strcmp(ops[i].numpy, full) == 0)
            return i;
    if (strncmp(full, "numpy.", 6) == 0)
        for (size_t i = 0; i < COUNT(aliases); i++)
            if (strcmp(aliases[i].name, full + 6) == 0)
                return (int)aliases[i].op;
    return -1;
}

int op_param_named(int op, const char *name)
{
    for (int i = 0; i < ops[op].nparams; i++)
        if (strcmp(ops[op].params[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- defaults ---- */

static const struct { const char *name; int64_t value; } words[] = {
    {"NONE", INT_NONE}, {"ALL", INT64_MIN}, {"UNSET", KN_DTYPE_UNSET}, {"FLOAT64", KN_FLOAT64}, {"INT64", KN_INT64}, {"true", 1}, {"false", 0},
    {"CURRENT", KN_CURRENT_DEVICE}, {"BACKWARD", KN_NORM_BACKWARD},
};

static int64_t word_value(const char *s)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(words[i].name, s) == 0)
            return words[i].value;
    if (strcmp(s, "AXES_0_1") == 0)
        return axis_pack(2, (int[]){0, 1});
    if (strcmp(s, "AXES_LAST2") == 0)
        return axis_pack(2, (int[]){-2, -1});
    return strtoll(s, NULL, 10);
}

/* A text default is the C literal with its quotes; the texts there are have no escapes. */
static const char *text_default(const char *s)
{
    static const char *const known[] = {"same_kind", "K", "C", "constant", "raise", "linear", "zig", "left", "full", "valid", "xy", "fb", "even", "introselect", "big"};
    if (*s != '"')
        return NULL;
    for (size_t i = 0; i < COUNT(known); i++)
        if (strncmp(s + 1, known[i], strlen(known[i])) == 0)
            return known[i];
    return NULL;
}

static void set_default(const op_param *p, op_value *v)
{
    const char *s = p->fallback;
    memset(v, 0, sizeof *v);
    v->kind = p->kind;
    if (!s)
        return;
    switch ((param_kind)p->kind) {
    case PARAM_ARRAY: case PARAM_LIST: case PARAM_RNG: break;
    case PARAM_SHAPE: v->v.shape.ndim = strcmp(s, "NONE") == 0 ? SHAPE_NONE : 0; break;
    case PARAM_AXIS: v->v.axis = word_value(s); break;
    case PARAM_DTYPE: v->v.dtype = (kn_dtype)word_value(s); break;
    case PARAM_BOOL: v->v.flag = word_value(s) != 0; break;
    case PARAM_INT: v->v.integer = word_value(s); break;
    case PARAM_NUMBER: v->v.number = strcmp(s, "NONE") == 0 ? (double)NAN : strtod(s, NULL); break;
    case PARAM_DEVICE: v->v.device = (kn_device)word_value(s); break;
    case PARAM_NORM: v->v.norm = (kn_fft_norm)word_value(s); break;
    case PARAM_TEXT: v->v.text = text_default(s); break;
    }
}

void op_defaults(int op, op_value *args)
{
    for (int i = 0; i < ops[op].nparams; i++)
        set_default(&ops[op].params[i], &args[i]);
}

/* ---- values of any row ---- */

bool casting_named(const char *name, casting *rule)
{
    static const char *const names[] = {[CAST_NO] = "no", [CAST_EQUIV] = "equiv", [CAST_SAFE] = "safe", [CAST_SAME_KIND] = "same_kind", [CAST_UNSAFE] = "unsafe"};
    *rule = CAST_SAME_KIND;
    for (casting c = CAST_NO; name && c <= CAST_UNSAFE; c++)
        if (strcmp(names[c], name) == 0) {
            *rule = c;
            return true;
        }
    return name == NULL;
}

static kn_status ufunc_row(int op, const op_value *args, node **results, message *m)
{
    const op_info *o = &ops[op];
    const ufunc_info *f = &ufuncs[o->index];
    node *in[4];
    casting rule;
    int dtype = op_param_named(op, "dtype"), how = op_param_named(op, "casting");
    for (int i = 0; i < f->nin; i++)
        in[i] = args[i].v.array;
    if (!casting_named(how >= 0 ? args[how].v.text : NULL, &rule))
        return fail(m, KN_VALUE_ERROR, "%s: casting must be no, equiv, safe, same_kind or unsafe, not '%s'", o->name, args[how].v.text);
    return ufunc_apply_casting(o->index, in, dtype >= 0 ? args[dtype].v.dtype : KN_DTYPE_UNSET, rule, results, m);
}

static kn_status check_operands(const op_info *o, const op_value *args, message *m)
{
    for (int i = 0; i < o->nparams; i++) {
        const op_param *p = &o->params[i];
        if (p->kind == PARAM_ARRAY && !p->optional && !args[i].v.array)
            return fail(m, KN_TYPE_ERROR, "%s: the argument %s is missing", o->name, p->name);
        if (p->kind == PARAM_RNG && !args[i].v.rng)
            return fail(m, KN_TYPE_ERROR, "%s: the generator is missing", o->name);
        if (p->flags & PARAM_HOST && args[i].v.array && args[i].v.array->kind != NODE_SCALAR)
            return fail(m, KN_TYPE_ERROR, "%s: %s must be a number", o->name, p->name);
        if (p->kind == PARAM_DTYPE && (args[i].v.dtype < KN_DTYPE_UNSET || args[i].v.dtype >= NDTYPES))
            return fail(m, KN_TYPE_ERROR, "%s: there is no dtype %d", o->name, (int)args[i].v.dtype);
        if (p->kind == PARAM_SHAPE && args[i].v.shape.ndim > NDIM_MAX)
            return fail(m, KN_VALUE_ERROR, "%s: an array has at most %d dimensions", o->name, NDIM_MAX);
    }
    return KN_OK;
}

kn_status op_nodes(int op, const op_value *args, node **results, message *m)
{
    const op_info *o = &ops[op];
    kn_status status = check_operands(o, args, m);
    if (status)
        return status;
    if (o->kind == OP_UFUNC)
        return ufunc_row(op, args, results, m);
    if (o->kind == OP_FRONTEND || o->kind == OP_MANY)
        return fail(m, KN_NOT_AVAILABLE, "%s: not available yet", o->name);
    if (o->kind != OP_VIEW)
        return o->nodes(args, results, m);
    layout in, out;
    layout_of_node(args[0].v.array, &in);
    status = o->view(&in, args, &out, m);
    if (status == VIEW_NEEDS_COPY)
        return o->nodes ? o->nodes(args, results, m) : fail(m, KN_VALUE_ERROR, "%s: this needs a copy", o->name);
    return status ? status : give(results, node_of_layout(args[0].v.array, &out, m), m);
}
