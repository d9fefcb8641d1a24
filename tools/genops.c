/* genops: prints what follows from src/ir/graph/ops.def.
 *
 *   genops header      include/kiln/ops.h: option structs, functions, call macros for C, overloads for C++
 *   genops binder      the functions themselves, which hand their arguments to the frontend
 *   genops reference   the operation reference, Markdown
 *   genops json        parameters, defaults and results, for bindings
 *
 * How it works: the rows are read by including the table with macros that turn every column into text. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rows ---- */

enum { REQUIRED = 1, POSITIONAL = 2, KEYWORD = 4, LATER_FLAG = 8, HOST_FLAG = 16, VARIADIC = 32 };
typedef struct param { const char *kind, *name, *def; unsigned flags; } param;
typedef struct row {
    const char *name, *numpy, *kind, *family, *doc;
    const param *params;
    int nparams;
    const char *const *results;
    int nresults;
} row;

#define ARG(kind, name) {#kind, #name, NULL, REQUIRED},
#define POS(kind, name) {#kind, #name, NULL, REQUIRED | POSITIONAL},
#define HOST(name) {"ARRAY", #name, NULL, REQUIRED | HOST_FLAG},
#define HOSTPOS(name) {"ARRAY", #name, NULL, REQUIRED | HOST_FLAG | POSITIONAL},
#define HOSTREQ(name, def) {"ARRAY", #name, #def, REQUIRED | HOST_FLAG},
#define LISTARG(name) {"LIST", #name, NULL, REQUIRED | VARIADIC},
#define REQ(kind, name, def) {#kind, #name, #def, REQUIRED},
#define REQPOS(kind, name, def) {#kind, #name, #def, REQUIRED | POSITIONAL},
#define OPT(kind, name, def) {#kind, #name, #def, 0},
#define KEY(kind, name, def) {#kind, #name, #def, KEYWORD},
#define LATER(kind, name, def) {#kind, #name, #def, LATER_FLAG},
#define LATERKEY(kind, name, def) {#kind, #name, #def, LATER_FLAG | KEYWORD},
#define RETURNS(name) {"BOOL", #name, "false", LATER_FLAG},
#define OUT(name) #name,
#define UFUNC_OP(u) "ufunc"
#define REDUCE_OP(h) "reduction"
#define NODES_OP(h) "function"
#define VIEW_OP(h) "view"
#define READONLY_VIEW_OP(h) "read-only view"
#define VIEW_OR_OP(v, n) "view"
#define UPDATE_OP(h) "update"
#define FRONTEND_OP "evaluated at the call"
#define MANY_OP "several arrays"

#define OP(name, numpy, kind, family, params, results, doc) \
    static const param params_##name[] = {params};          \
    static const char *const results_##name[] = {results NULL};
#include "ir/graph/ops.def"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
static const row rows[] = {
#define OP(name, numpy, kind, family, params, results, doc) \
    {#name, #numpy, kind, #family, doc, params_##name, COUNT(params_##name), results_##name, COUNT(results_##name) - 1},
#define SECTION(title) {NULL, NULL, NULL, NULL, title, NULL, 0, NULL, 0},
#include "ir/graph/ops.def"
};
static const struct { const char *name, *op; } aliases[] = {
#define OP(name, ...)
#define ALIAS(name, op) {#name, #op},
#include "ir/graph/ops.def"
};
static const struct { const char *name, *doc; } families[] = {
#define OP(name, ...)
#define FAMILY(name, doc) {#name, doc},
#include "ir/graph/ops.def"
};

/* What a ufunc's loops take, in words. */
#define BOOLS(shape, body) "bools, "
#define TRUTHS(shape, body) "anything by its truth, "
#define INTS(shape, body) "integers, "
#define FLOATS(shape, body) "floats, "
#define COMPLEX(shape, body) "complex numbers, "
#define REALS(shape, body) "integers, floats, "
#define INEXACT(shape, body) "floats, complex numbers, "
#define NUMBERS(shape, body) "integers, floats, complex numbers, "
#define ABSOLUTE_LOOPS "integers, floats, complex numbers, "
#define MIXED_LOOPS(body)
#define LDEXP_LOOPS "floats with int32 or int64, "
#define NO_LOOPS "anything, "
#define RANDOM(t, body) ""
#define RANDOM_IN_RANGE(t, body) ""
#define TT_T(t, body) #t ", "
#define T_T(t, body) #t ", "
static const struct { const char *name, *takes; } loops[] = {
#define UFUNC(name, nin, nout, loops, ...) {#name, loops},
#include "ir/graph/ufuncs.def"
};

static int same(const char *a, const char *b) { return strcmp(a, b) == 0; }
static int gives_list(const row *r) { return same(r->kind, "several arrays"); }
static int may_be_dropped(const row *r) { return same(r->kind, "update"); }      /* the result is the first argument */
static int has_options(const row *r) { return !same(r->family, "none"); }
static int is_option(const param *p) { return !(p->flags & (REQUIRED | LATER_FLAG)); }
static int is_argument(const param *p) { return (p->flags & REQUIRED) != 0; }

/* The first row of a family prints the struct; the others must have the same options. */
static const row *first_of(const row *r)
{
    for (int i = 0; i < COUNT(rows); i++)
        if (rows[i].name && same(rows[i].family, r->family))
            return &rows[i];
    return r;
}

static const param *next_option(const row *r, int *at)
{
    while (*at < r->nparams && !is_option(&r->params[*at]))
        ++*at;
    return *at < r->nparams ? &r->params[(*at)++] : NULL;
}

static int check_families(void)
{
    int bad = 0;
    for (int i = 0; i < COUNT(rows); i++) {
        const row *r = &rows[i];
        if (!r->name || !has_options(r))
            continue;
        const row *f = first_of(r);
        int a = 0, b = 0;
        for (;;) {
            const param *p = next_option(r, &a), *q = next_option(f, &b);
            if (!p && !q)
                break;
            if (!p || !q || !same(p->kind, q->kind) || !same(p->name, q->name) || !same(p->def, q->def)) {
                fprintf(stderr, "ops.def: %s and %s are of family %s but differ in their options\n", r->name, f->name, r->family);
                bad = 1;
                break;
            }
        }
    }
    return bad;
}

/* ---- C spellings ---- */

static const char *c_type(const char *kind, int option)
{
    static const char *const types[][2] = {
        {"ARRAY", "kn_array"}, {"LIST", "kn_list"}, {"SHAPE", "kn_shape"}, {"AXIS", "kn_axis"}, {"DTYPE", "kn_dtype"}, {"BOOL", "bool"},
        {"INT", "int64_t"}, {"NUMBER", "double"}, {"DEVICE", "kn_device"}, {"NORM", "kn_fft_norm"}, {"TEXT", "const char *"}, {"RNG", "kn_rng"},
    };
    if (option && same(kind, "ARRAY"))
        return "kn_option";
    if (option && same(kind, "BOOL"))
        return "kn_flag";
    for (int i = 0; i < COUNT(types); i++)
        if (same(types[i][0], kind))
            return types[i][1];
    fprintf(stderr, "ops.def: no parameter kind %s\n", kind);
    exit(1);
}

/* Names that a program is likely to have as macros, and C's own words, are changed. */
static const char *c_name(const char *name)
{
    static char lower[2];
    if (same(name, "default"))
        return "default_";
    if (same(name, "args"))
        return "arrays";
    if (isupper((unsigned char)name[0]) && !name[1]) {
        lower[0] = (char)tolower((unsigned char)name[0]);
        return lower;
    }
    return name;
}

static const char *c_default(const param *p)
{
    static const char *const words[][3] = {
        {"INT", "NONE", "KN_UNSET"}, {"NUMBER", "NONE", "__builtin_nan(\"\")"}, {"SHAPE", "NONE", "KN_NO_SHAPE_INIT_"}, {"TEXT", "NONE", "0"},
        {"AXIS", "ALL", "KN_ALL"}, {"AXIS", "AXES_0_1", "KN_AXES2_(0, 1)"}, {"AXIS", "AXES_LAST2", "KN_AXES2_(-2, -1)"},
        {"DTYPE", "UNSET", "KN_DTYPE_UNSET"}, {"DTYPE", "FLOAT64", "KN_FLOAT64"}, {"DTYPE", "INT64", "KN_INT64"},
        {"DEVICE", "CURRENT", "KN_CURRENT_DEVICE"}, {"NORM", "BACKWARD", "KN_NORM_BACKWARD"}, {"SHAPE", "SCALAR", "KN_SCALAR_INIT_"},
    };
    if (same(p->kind, "ARRAY"))
        return "KN_NONE_INIT_";
    for (int i = 0; i < COUNT(words); i++)
        if (same(words[i][0], p->kind) && same(words[i][1], p->def))
            return words[i][2];
    return p->def;
}

static void print_typed(const char *type, const char *name) { printf(type[strlen(type) - 1] == '*' ? "%s%s" : "%s %s", type, name); }

static void result_type(const row *r)
{
    if (r->nresults)
        printf("kn_%s_result", r->name);
    else
        printf(gives_list(r) ? "kn_list" : "kn_array");
}

static void arguments(const row *r, int cpp)
{
    int n = 0;
    for (int i = 0; i < r->nparams; i++) {
        const param *p = &r->params[i];
        if (!is_argument(p))
            continue;
        printf(n++ ? ", " : "");
        print_typed(cpp && same(p->kind, "ARRAY") ? "kn_arg" : c_type(p->kind, 0), c_name(p->name));
    }
    if (has_options(r))
        printf(cpp ? "%sconst kn_%s_opts &opts = {}" : "%sconst kn_%s_opts *opts", n ? ", " : "", r->family);
}

/* One letter an argument: a an array or a number, d a dtype, p passed as it is. */
static const char *call_shape(const row *r)
{
    static char shape[16];
    int n = 0;
    for (int i = 0; i < r->nparams; i++)
        if (is_argument(&r->params[i]))
            shape[n++] = same(r->params[i].kind, "ARRAY") ? 'a' : same(r->params[i].kind, "DTYPE") ? 'd' : 'p';
    shape[n] = '\0';
    return shape;
}

/* ---- header ---- */

static void comment_text(const char *s, int indent)
{
    int column = indent;
    for (; *s; s++) {
        if (*s == ' ' && column > 110) {
            printf("\n *");
            column = 2;
        }
        putchar(*s);
        column++;
    }
}

static void option_struct(const row *r)
{
    for (int i = 0; i < COUNT(families); i++)
        if (same(families[i].name, r->family)) {
            printf("/** ");
            comment_text(families[i].doc, 4);
            printf(" */\n");
        }
    printf("typedef struct kn_%s_opts {\n    uint32_t size_ KN_DEF_(sizeof(struct kn_%s_opts));\n", r->family, r->family);
    int at = 0;
    for (const param *p; (p = next_option(r, &at));) {
        printf("    ");
        print_typed(c_type(p->kind, 1), c_name(p->name));
        printf(" KN_DEF_(%s);\n", c_default(p));
    }
    printf("} kn_%s_opts;\n#ifndef __cplusplus\n#define KN_%s_DEFAULTS_ { .size_ = sizeof(kn_%s_opts)", r->family, r->family, r->family);
    at = 0;
    for (const param *p; (p = next_option(r, &at));)
        printf(", .%s = %s", c_name(p->name), c_default(p));
    printf(" }\n#endif\n");
}

static void declaration(const row *r)
{
    if (r->nresults) {
        printf("typedef struct { kn_array");
        for (int i = 0; i < r->nresults; i++)
            printf("%s%s", i ? ", " : " ", r->results[i]);
        printf("; } kn_%s_result;\n", r->name);
    }
    printf("/** ");
    comment_text(r->doc, 4);
    printf(may_be_dropped(r) ? " */\nKN_API " : " */\nKN_API KN_USE ");
    result_type(r);
    printf(" (kn_%s)(", r->name);
    arguments(r, 0);
    printf(");\n");
}

/* KN_CALL_ap_(f, family, x, shape, .option = ...): with options or without, by the number of arguments. */
static void call_macros(void)
{
    for (int i = 0; i < COUNT(rows); i++) {
        if (!rows[i].name || !has_options(&rows[i]))
            continue;
        char shape[16];
        strcpy(shape, call_shape(&rows[i]));
        int seen = 0;
        for (int j = 0; j < i; j++)
            seen |= rows[j].name && has_options(&rows[j]) && same(call_shape(&rows[j]), shape);
        if (seen)
            continue;
        int n = (int)strlen(shape);
        char names[64] = "", passed[128] = "";
        for (int k = 0; k < n; k++) {
            sprintf(names + strlen(names), "%sa%d", k ? ", " : "", k);
            sprintf(passed + strlen(passed), shape[k] == 'a' ? "%sKN_ARG(a%d)" : shape[k] == 'd' ? "%sKN_DTYPE_(a%d)" : "%sa%d", k ? ", " : "", k);
        }
        printf("#define KN_CALL_%s_(f, F, ...) KN_CAT_(KN_CALL_%s_, KN_MORE_%d_(__VA_ARGS__))(f, F, __VA_ARGS__)\n", shape, shape, n);
        printf("#define KN_CALL_%s_0(f, F, %s) f(%s, NULL)\n", shape, names, passed);
        printf("#define KN_CALL_%s_1(f, F, %s, ...) KN_OPTS_(KN_O_, F, f, (%s), __VA_ARGS__)\n", shape, names, passed);
    }
}

static void c_macro(const row *r)
{
    const char *shape = call_shape(r);
    if (has_options(r)) {
        printf(r->nresults || gives_list(r) || may_be_dropped(r) ? "#define kn_%s(...) KN_CALL_%s_(kn_%s, %s, __VA_ARGS__)\n" : "#define kn_%s(...) kn_used_(KN_CALL_%s_(kn_%s, %s, __VA_ARGS__))\n", r->name, shape, r->name, r->family);
        return;
    }
    if (!strchr(shape, 'a'))
        return;
    int n = 0;
    printf("#define kn_%s(", r->name);
    for (int i = 0; i < r->nparams; i++)
        if (is_argument(&r->params[i]))
            printf("%s%s", n++ ? ", " : "", c_name(r->params[i].name));
    printf(") kn_%s(", r->name);
    n = 0;
    for (int i = 0; i < r->nparams; i++)
        if (is_argument(&r->params[i]))
            printf(shape[n] == 'a' ? "%sKN_ARG(%s)" : "%s%s", n ? ", " : "", c_name(r->params[i].name)), n++;
    printf(")\n");
}

static void cpp_overload(const row *r)
{
    if (!has_options(r) && !strchr(call_shape(r), 'a'))
        return;
    printf("inline ");
    result_type(r);
    printf(" kn_%s(", r->name);
    arguments(r, 1);
    printf(") { return (kn_%s)(", r->name);
    int n = 0;
    for (int i = 0; i < r->nparams; i++)
        if (is_argument(&r->params[i]))
            printf(same(r->params[i].kind, "ARRAY") ? "%s%s.a" : "%s%s", n++ ? ", " : "", c_name(r->params[i].name));
    printf("%s); }\n", has_options(r) ? ", &opts" : "");
}

static void header(void)
{
    printf("/* kiln/ops.h: array operations. Printed from src/ir/graph/ops.def by `make ops`; included by kiln.h. */\n");
    printf("#ifndef KILN_OPS_H\n#define KILN_OPS_H\n#include \"kiln/calls.h\"\n\n#define KN_AXES2_(a, b) ((kn_axis)((int64_t)1 << 62 | (int64_t)2 << 56 | ((a) + 64) | (int64_t)((b) + 64) << 7))\n\n");
    for (int i = 0; i < COUNT(rows); i++)
        if (rows[i].name && has_options(&rows[i]) && first_of(&rows[i]) == &rows[i])
            option_struct(&rows[i]);
    printf("\nKN_BEGIN_C\n");
    for (int i = 0; i < COUNT(rows); i++) {
        if (rows[i].name)
            declaration(&rows[i]);
        else
            printf("\n/* ---- %s ---- */\n", rows[i].doc);
    }
    printf("KN_END_C\n\n#ifdef __cplusplus\n");
    for (int i = 0; i < COUNT(rows); i++)
        if (rows[i].name)
            cpp_overload(&rows[i]);
    printf("#elif !defined(KN_NO_MACROS)\n");
    call_macros();
    for (int i = 0; i < COUNT(rows); i++)
        if (rows[i].name)
            c_macro(&rows[i]);
    printf("#endif\n\n/* ---- other names ---- */\n#ifndef KN_NO_MACROS\n");
    for (int i = 0; i < COUNT(aliases); i++)
        printf("#define kn_%s kn_%s\n", aliases[i].name, aliases[i].op);
    printf("#endif\n#endif\n");
}

/* ---- binder ---- */

static const char *member_of(const char *kind)
{
    static const char *const members[][2] = {
        {"ARRAY", "array"}, {"LIST", "list"}, {"SHAPE", "shape"}, {"AXIS", "axis"}, {"DTYPE", "dtype"}, {"BOOL", "flag"},
        {"INT", "integer"}, {"NUMBER", "number"}, {"DEVICE", "device"}, {"NORM", "norm"}, {"TEXT", "text"}, {"RNG", "rng"},
    };
    for (int i = 0; i < COUNT(members); i++)
        if (same(members[i][0], kind))
            return members[i][1];
    return "?";
}

/* Whether an option was given: it differs from its default, which stands for "not given" where that makes a difference. */
static void print_given(const row *r, const param *p)
{
    const char *name = c_name(p->name);
    if (same(p->kind, "ARRAY"))
        printf("o->%s.id != 0", name);
    else if (same(p->kind, "SHAPE"))
        printf("o->%s.ndim != defaults_%s.%s.ndim", name, r->family, name);
    else if (same(p->kind, "NUMBER") && same(p->def, "NONE"))
        printf("o->%s == o->%s", name, name);
    else
        printf("o->%s != defaults_%s.%s", name, r->family, name);
}

static void binder_return(const row *r, const char *args)
{
    if (!r->nresults) {
        printf("return %s(OPERATION_%s, %s);\n", gives_list(r) ? "frontend_call_list" : "frontend_call1", r->name, args);
        return;
    }
    printf("return frontend_call(OPERATION_%s, %s, results), (kn_%s_result){", r->name, args, r->name);
    for (int i = 0; i < r->nresults; i++)
        printf("%sresults[%d]", i ? ", " : "", i);
    printf("};\n");
}

static void binder_function(const row *r)
{
    result_type(r);
    printf(" (kn_%s)(", r->name);
    arguments(r, 0);
    printf(")\n{\n");
    if (r->nresults)
        printf("    kn_array results[%d];\n", r->nresults);
    if (has_options(r)) {
        printf("    kn_%s_opts room;\n    const kn_%s_opts *o = opts_%s(opts, &room);\n", r->family, r->family, r->family);
        printf("    if (!o)\n        ");
        binder_return(r, "NULL");
    }
    printf("    const struct call_arg args[] = {\n");
    for (int i = 0; i < r->nparams; i++) {
        const param *p = &r->params[i];
        printf("        {.kind = PARAM_%s", p->kind);
        if (is_argument(p)) {
            if (same(p->kind, "ARRAY"))
                printf(", .given = %s.id != 0", c_name(p->name));
            else
                printf(", .given = true");
            printf(", .%s = %s", member_of(p->kind), c_name(p->name));
        } else if (is_option(p)) {
            printf(", .given = ");
            print_given(r, p);
            printf(same(p->kind, "BOOL") ? ", .%s = o->%s != 0" : ", .%s = o->%s", member_of(p->kind), c_name(p->name));
        } else {
            printf(", .%s = %s", member_of(p->kind), c_default(p));
        }
        printf("},\n");
    }
    printf("    };\n");
    printf("    ");
    binder_return(r, "args");
    printf("}\n\n");
}

static void binder(void)
{
    printf("/* Printed from src/ir/graph/ops.def: every function of kiln/ops.h hands its arguments to the frontend. */\n");
    printf("#define KN_NO_MACROS\n#include \"kiln.h\"\n#include <string.h>\n#include \"frontend/call.h\"\n\n");
    for (int i = 0; i < COUNT(rows); i++) {
        const row *r = &rows[i];
        if (!r->name || !has_options(r) || first_of(r) != r)
            continue;
        printf("static const kn_%s_opts defaults_%s = KN_%s_DEFAULTS_;\n", r->family, r->family, r->family);
        printf("/* The options as this library knows them: of programs built with another version, those both know; NULL when they were not initialised. */\n"
               "static const kn_%s_opts *opts_%s(const kn_%s_opts *opts, kn_%s_opts *room)\n{\n"
               "    if (!opts)\n        return &defaults_%s;\n    if (opts->size_ == sizeof *opts)\n        return opts;\n    if (opts->size_ < sizeof opts->size_)\n        return NULL;\n"
               "    *room = defaults_%s;\n    memcpy(room, opts, opts->size_ < sizeof *room ? opts->size_ : sizeof *room);\n    return room;\n}\n\n",
               r->family, r->family, r->family, r->family, r->family, r->family);
    }
    for (int i = 0; i < COUNT(rows); i++)
        if (rows[i].name)
            binder_function(&rows[i]);
}

/* ---- reference ---- */

static const char *python_default(const param *p)
{
    static const char *const words[][2] = {
        {"NONE", "None"}, {"ALL", "None"}, {"UNSET", "None"}, {"CURRENT", "None"}, {"BACKWARD", "'backward'"}, {"SCALAR", "None"}, {"AXES_0_1", "(0, 1)"},
        {"AXES_LAST2", "(-2, -1)"}, {"false", "False"}, {"true", "True"}, {"FLOAT64", "float64"}, {"INT64", "int64"},
    };
    for (int i = 0; i < COUNT(words); i++)
        if (same(words[i][0], p->def))
            return words[i][1];
    return p->def;
}

static void python_signature(const row *r)
{
    int positional = 0, keyword = 0;
    for (int i = 0; i < r->nparams; i++) {
        const param *p = &r->params[i];
        if (positional && !(p->flags & POSITIONAL))
            printf(", /"), positional = 0;
        if (!keyword && p->flags & KEYWORD)
            printf(", *"), keyword = 1;
        printf("%s%s%s", i ? ", " : "", p->flags & VARIADIC ? "*" : "", p->name);
        if (p->def)
            printf("=%s", python_default(p));
        positional = (p->flags & POSITIONAL) != 0;
    }
    printf(positional ? ", /" : "");
}

static int in_scipy(const row *r) { return strncmp(r->numpy, "scipy.", 6) == 0; }

static const char *last_name(const char *full)
{
    const char *dot = strrchr(full, '.');
    return dot ? dot + 1 : full;
}

static void reference(void)
{
    printf("# Array operations\n\nPrinted from `src/ir/graph/ops.def`. The signature is NumPy 2's; in C, parameters without a default are arguments and the others are written `.name = value`.\n");
    for (int i = 0; i < COUNT(rows); i++) {
        const row *r = &rows[i];
        if (!r->name) {
            printf("\n## %s\n", r->doc);
            continue;
        }
        printf("\n### kn_%s\n\n`%s%s(", r->name, in_scipy(r) ? "" : "numpy.", r->numpy);
        python_signature(r);
        printf(")`");
        for (int k = 0; k < r->nresults; k++)
            printf("%s`%s`", k ? ", " : " gives ", r->results[k]);
        printf("  \n`kn_%s(", r->name);
        int n = 0;
        for (int k = 0; k < r->nparams; k++)
            if (is_argument(&r->params[k]))
                printf("%s%s", n++ ? ", " : "", c_name(r->params[k].name));
        int at = 0;
        for (const param *p; (p = next_option(r, &at));)
            printf("%s.%s", n++ ? ", " : "", c_name(p->name));
        printf(")`\n\n%s\n", r->doc);
        for (int k = 0; same(r->kind, "ufunc") && k < COUNT(loops); k++)
            if (same(loops[k].name, last_name(r->numpy))) {
                printf("Takes ");
                for (const char *c = loops[k].takes; c[2]; c++)
                    putchar(tolower((unsigned char)*c));
                printf(".\n");
            }
        if (has_options(r))
            printf("Options: [%s](#options).\n", r->family);
        for (int k = 0, first = 1; k < COUNT(aliases); k++)
            if (same(aliases[k].op, r->name))
                printf("%s`kn_%s`", first ? "\nAlso " : ", ", aliases[k].name), first = 0;
        for (int k = 0; k < COUNT(aliases); k++)
            if (same(aliases[k].op, r->name)) {
                printf(".\n");
                break;
            }
    }
    printf("\n## Options\n");
    for (int i = 0; i < COUNT(families); i++)
        printf("\n- **%s**: %s\n", families[i].name, families[i].doc);
}

/* ---- json ---- */

static void json_text(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putchar('\\');
        putchar(*s);
    }
    putchar('"');
}

static void json_row(const row *r)
{
    printf("  {\"name\": \"%s\", \"numpy\": \"%s\", \"kind\": \"%s\", \"family\": \"%s\", \"doc\": ", r->name, r->numpy, r->kind, r->family);
    json_text(r->doc);
    printf(",\n   \"params\": [");
    for (int i = 0; i < r->nparams; i++) {
        const param *p = &r->params[i];
        printf("%s{\"name\": \"%s\", \"c_name\": \"%s\", \"kind\": \"%s\", \"argument\": %s, \"default\": ", i ? ", " : "", p->name, c_name(p->name), p->kind, is_argument(p) ? "true" : "false");
        if (p->def)
            json_text(p->def);
        else
            printf("null");
        printf(", \"positional_only\": %s, \"keyword_only\": %s, \"in_c\": %s}", p->flags & POSITIONAL ? "true" : "false", p->flags & KEYWORD ? "true" : "false",
               p->flags & LATER_FLAG ? "false" : "true");
    }
    printf("],\n   \"results\": [");
    for (int i = 0; i < r->nresults; i++)
        printf("%s\"%s\"", i ? ", " : "", r->results[i]);
    printf("], \"aliases\": [");
    for (int i = 0, n = 0; i < COUNT(aliases); i++)
        if (same(aliases[i].op, r->name))
            printf("%s\"%s\"", n++ ? ", " : "", aliases[i].name);
    printf("]}");
}

static void json(void)
{
    int n = 0;
    printf("[\n");
    for (int i = 0; i < COUNT(rows); i++)
        if (rows[i].name) {
            printf(n++ ? ",\n" : "");
            json_row(&rows[i]);
        }
    printf("\n]\n");
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*print)(void); } printers[] = {{"header", header}, {"binder", binder}, {"reference", reference}, {"json", json}};
    if (check_families())
        return 1;
    for (int i = 0; argc == 2 && i < COUNT(printers); i++)
        if (same(argv[1], printers[i].name)) {
            printers[i].print();
            return 0;
        }
    fprintf(stderr, "usage: genops header|binder|reference|json\n");
    return 2;
}
