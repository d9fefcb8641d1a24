/* names.c: identifiers of emitted source: from the kernel where it gives names, else from what a value is. */
#include <ctype.h>
#include <string.h>
#include "codegen/source/source.h"

/* Words that C++, the two dialects or emitted helpers use; sorted. */
static const char *const reserved[] = {
    "INFINITY", "INF_F32", "INF_F64", "NAN", "NAN_F32", "NAN_F64", "NULL", "__align__", "__constant__", "__device__", "__global__", "__shared__",
    "abs", "alignas", "alignof", "and", "and_eq", "asm", "atomicAdd", "atomicCAS", "atomicExch", "atomicMax", "atomicMin", "auto",
    "bf16_to_f32", "bitand", "bitor", "blockDim", "blockIdx", "bool", "break", "case", "catch", "char", "class", "compl", "const", "const_cast",
    "constexpr", "continue", "cos", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "exp", "explicit", "export",
    "extern", "f16_to_f32", "f32_to_bf16", "f32_to_f16", "f64_to_bf16", "f64_to_f16", "f64_to_f32_odd", "fabs", "false", "float", "floor", "for",
    "friend", "goto", "gridDim", "half", "if", "inline", "int", "load_acquire", "load_relaxed", "log", "long", "max", "memcpy", "memset", "min", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "pow", "printf", "private", "protected", "public",
    "raise_fault", "register", "reinterpret_cast", "return", "round_bf16", "round_f16", "short", "signed", "sin", "sizeof", "sqrt", "static",
    "static_assert", "static_cast", "store_relaxed", "store_release", "struct", "switch", "tan", "template", "this", "thread_local", "threadIdx", "throw", "trap",
    "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "warpSize", "wchar_t", "while",
    "xor", "xor_eq",
};

bool source_is_reserved(const char *name) {
    size_t lo = 0, hi = sizeof reserved / sizeof *reserved;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = strcmp(name, reserved[mid]);
        if (!c) return true;
        if (c < 0) hi = mid;
        else lo = mid + 1;
    }
    for (uint32_t i = 0; i < NKOPS; i++) {   /* the functions that primitives are printed as: sqrt, sqrtf and the like */
        const char *end = strchr(source_format[i], '?');
        size_t n = end && end[1] == '(' ? (size_t)(end - source_format[i]) : 0;
        if (n && !strncmp(name, source_format[i], n) && (!name[n] || !strcmp(name + n, "f"))) return true;
    }
    return false;
}

static bool in_scope(const printer *p, const char *name) {
    for (uint32_t i = 0; i < p->b->scope.n; i++) if (!strcmp(p->b->scope.name[i], name)) return true;
    return false;
}

/* Functions that this body calls must not be hidden by a variable. */
static bool is_called(const printer *p, const char *name) {
    for (uint32_t i = 0; i < p->b->n; i++) {
        if (p->b->code[i].op != K_CALL) continue;
        const kfunction *f = &device_functions[p->b->code[i].a];
        if (!strcmp(name, f->symbol) || (f->vendor && !strcmp(name, f->vendor))) return true;
    }
    return false;
}

static bool is_free(const printer *p, const char *name) { return !source_is_reserved(name) && !in_scope(p, name) && !is_called(p, name); }

const char *source_name(printer *p, const char *wanted) {
    char clean[48];
    size_t n = 0;
    for (const char *s = wanted; *s && n < sizeof clean - 1; s++) {
        bool good = *s == '_' || isalpha((unsigned char)*s) || isdigit((unsigned char)*s);
        if (!n && isdigit((unsigned char)*s)) clean[n++] = 'v';
        clean[n++] = good ? *s : '_';
    }
    clean[n] = 0;
    if (!n) { clean[n++] = 'v'; clean[n] = 0; }
    const char *name = source_text(p, "%s", clean);
    bool digit = isdigit((unsigned char)clean[n - 1]);
    for (int i = 2; !p->failed && !is_free(p, name); i++) name = source_text(p, digit ? "%s_%d" : "%s%d", clean, i);
    scope_names *s = &p->b->scope;
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 64;
        const char **more = arena_alloc(&p->mem, cap * sizeof *more);
        if (!more) { p->failed = true; return name; }
        if (s->n) memcpy(more, s->name, s->n * sizeof *more);
        *s = (scope_names){ more, s->n, cap };
    }
    s->name[s->n++] = name;
    return name;
}

void source_names_reset(body *b, uint32_t n) { b->scope.n = n; }

/* ---- what a value would be called ---- */

static const char *const op_stem[NKOPS] = {
    [KOP_add] = "sum", [KOP_sub] = "difference", [KOP_mul] = "product", [KOP_div] = "quotient", [KOP_rem] = "remainder", [KOP_neg] = "negative",
    [KOP_mulhi] = "high", [KOP_fma] = "fused", [KOP_sqrt] = "root", [KOP_fabs] = "magnitude", [KOP_floor] = "whole", [KOP_ceil] = "whole",
    [KOP_trunc] = "whole", [KOP_rint] = "whole", [KOP_copysign] = "signed_value", [KOP_and] = "bits", [KOP_or] = "bits", [KOP_xor] = "bits",
    [KOP_not] = "inverse", [KOP_shl] = "shifted", [KOP_shr] = "shifted", [KOP_popcount] = "ones", [KOP_clz] = "zeros", [KOP_eq] = "equal",
    [KOP_ne] = "differs", [KOP_lt] = "less", [KOP_le] = "at_most", [KOP_gt] = "greater", [KOP_ge] = "at_least", [KOP_select] = "chosen",
    [KOP_convert] = "converted", [KOP_bitcast] = "bits", [KOP_round_f16] = "rounded", [KOP_round_bf16] = "rounded",
};

static const char *const index_stem[NKOPS] = { [KOP_add] = "at", [KOP_sub] = "at", [KOP_mul] = "offset", [KOP_div] = "part", [KOP_rem] = "rest" };

static bool is_identifier(const char *s) {
    for (const char *c = s; *c; c++) if (*c != '_' && !isalpha((unsigned char)*c) && (c == s || !isdigit((unsigned char)*c))) return false;
    return *s != 0;
}

static const char *array_name(printer *p, uint32_t array) {
    return p->b->exprs[array].text ? p->b->exprs[array].text : "x";
}

static const char *load_name(printer *p, const kinst *x) {
    const char *array = array_name(p, x->a), *index = p->b->exprs[x->b].text;
    if (index && strlen(index) <= 6 && (is_identifier(index) || isdigit((unsigned char)*index))) return source_text(p, "%s_%s", array, index);
    return source_text(p, "%s_value", array);
}

/* Does the kernel itself want this name for something? */
static bool is_wanted(const printer *p, const char *name) {
    for (uint32_t i = 0; p->b->names && i < p->b->n; i++) if (p->b->names[i] && !strcmp(p->b->names[i], name)) return true;
    return false;
}

static const char *loop_name(printer *p, const kinst *x) {
    static const char *const serial[] = { "i", "j", "k", "l", "m" }, *const axis[] = { "", "_y", "_z", "" };
    if (loop_kind(x) == LOOP_BLOCK) return source_text(p, "thread%s", axis[loop_axis(x)]);
    if (loop_kind(x) == LOOP_GRID) return source_text(p, "block%s", axis[loop_axis(x)]);
    for (size_t i = 0; i < sizeof serial / sizeof *serial; i++) if (is_free(p, serial[i]) && !is_wanted(p, serial[i])) return serial[i];
    return "i";
}

static const char *stem(printer *p, uint32_t v) {
    const body *b = p->b;
    const kinst *x = &b->code[v];
    if (x->op < NKOPS && b->facts[v].index && index_stem[x->op]) return index_stem[x->op];
    if (x->op < NKOPS) return x->type == T_BOOL && (x->op == KOP_and || x->op == KOP_or) ? (x->op == KOP_and ? "both" : "either") : op_stem[x->op];
    switch (x->op) {
    case K_LOAD: return load_name(p, x);
    case K_FOR: return loop_name(p, x);
    case K_CALL: return source_text(p, "%s_value", device_functions[x->a].name);
    case K_RESULT: return source_text(p, "%s_%u", device_functions[b->code[x->a].a].name, x->b);
    case K_GET: case K_VAR: return source_text(p, "%s", x->op == K_GET && b->exprs[x->a].text ? b->exprs[x->a].text : "state");
    case K_SHUFFLE: return "other";
    case K_BALLOT: return "votes";
    case K_LANE_INDEX: return "lane";
    case K_ATOMIC: case K_CAS: return source_text(p, "old_%s", array_name(p, x->a));
    case K_SHARED: return "shared";
    case K_LOCAL: return "local";
    default: return "v";
    }
}

const char *source_name_for(printer *p, uint32_t v) {
    const char *given = p->b->names ? p->b->names[v] : NULL;
    return source_name(p, given ? given : stem(p, v));
}
