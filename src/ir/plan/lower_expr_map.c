/* lower_expr_map.c: elementwise functions as scalar expressions: bodies of ufuncs, conversions, choices.
 *
 * How it works: the ufunc's loop names a body, which is a device function for the operands' dtypes or a primitive; complex
 * arithmetic that is one primitive a part needs no function. Powers with a well-known scalar exponent become what NumPy
 * computes for them. What functions compute is in the device functions, not here. */
#include <string.h>
#include "ir/plan/internal.h"

/* ---- functions and primitives by name ---- */

int primitive_named(const char *name) {
    static const char *const names[] = {
#define KOP(name, ...) #name,
#include "ir/kir/kops.def"
    };
    for (int i = 0; i < NKOPS; i++) if (!strcmp(names[i], name)) return i;
    return -1;
}

/* What the body of an operation on t computes with. */
static kn_dtype body_dtype(kn_dtype t) { return t == KN_FLOAT16 || t == KN_BFLOAT16 ? KN_FLOAT32 : t; }

int function_named(const char *name, const kn_dtype *types, int ntypes) {
    kn_dtype t[16] = { KN_DTYPE_UNSET };
    if (ntypes > 16) return -1;
    for (int i = 0; i < ntypes; i++) t[i] = body_dtype(types[i]);
    return device_function(name, t, ntypes);
}

static ktype primitive_type(int op, ktype operand) { return op >= KOP_eq && op <= KOP_ge ? T_BOOL : operand; }

/* Complex operations that are one primitive for each part. */
static bool complex_by_parts(lowering *l, const char *name, const kn_dtype *types, int ntypes, const uint32_t *args, uint32_t *out, kn_dtype *gives) {
    ktype t = element_type(types[0]);
    int op = primitive_named(name);
    *gives = types[0];
    if (ntypes == 2 && types[0] == types[1] && (op == KOP_add || op == KOP_sub)) {
        out[0] = lower_op(l, (kop)op, t, args[0], args[2], 0);
        out[1] = lower_op(l, (kop)op, t, args[1], args[3], 0);
        return true;
    }
    if (ntypes != 1) return false;
    bool conjugates = !strcmp(name, "conjugate");
    if (op != KOP_neg && !conjugates) return false;
    out[0] = conjugates ? args[0] : lower_op(l, KOP_neg, t, args[0], 0, 0);
    out[1] = lower_op(l, KOP_neg, t, args[1], 0, 0);
    return true;
}

/* A function that gives back some of its arguments is no work. */
static bool gives_arguments(const kfunction *f) {
    if (f->ncode != f->nparams + 1u || f->nresults > 4) return false;
    const kinst *end = &f->code[f->nparams];
    for (int i = 0; i < f->nresults; i++) if (f->extra[end->b + (uint32_t)i] >= f->nparams) return false;
    return true;
}

static void call(lowering *l, int function, const uint32_t *args, int nargs, uint32_t *out) {
    const kfunction *f = &device_functions[function];
    if (gives_arguments(f)) {
        uint32_t given[4];
        for (int i = 0; i < f->nresults; i++) given[i] = args[f->extra[f->code[f->nparams].b + (uint32_t)i]];
        memcpy(out, given, f->nresults * sizeof *out);
        return;
    }
    expr x = { .kind = EXPR_CALL, .op = (uint16_t)function, .type = f->result_types[0], .index = -1 };
    out[0] = lower_expr(l, &x, args, nargs);
    x.kind = EXPR_RESULT;
    x.op = 0;
    for (int i = 1; i < f->nresults && i < 4; i++) {
        x.part = (uint8_t)i;
        x.type = f->result_types[i];
        out[i] = lower_expr(l, &x, &out[0], 1);
    }
}

bool lower_named(lowering *l, const char *name, const kn_dtype *types, int ntypes, const uint32_t *args, uint32_t *out, kn_dtype *gives) {
    int function = function_named(name, types, ntypes), op, nargs = 0;
    for (int i = 0; i < ntypes; i++) nargs += parts_of(types[i]);
    if (function >= 0) {
        call(l, function, args, nargs, out);
        for (int i = 0; i < device_functions[function].ngives && i < 4; i++) gives[i] = device_functions[function].gives[i];
        return true;
    }
    if (dtype_is_complex(types[0])) return complex_by_parts(l, name, types, ntypes, args, out, gives);
    if ((op = primitive_named(name)) < 0 || ntypes > 3) return false;
    ktype t = primitive_type(op, element_type(types[op == KOP_select ? 1 : 0]));
    out[0] = lower_op(l, (kop)op, t, args[0], ntypes > 1 ? args[1] : 0, ntypes > 2 ? args[2] : 0);
    gives[0] = t == T_BOOL ? KN_BOOL : types[op == KOP_select ? 1 : 0];
    return true;
}

uint32_t round_to(lowering *l, kn_dtype t, uint32_t x) {
    if (t == KN_FLOAT16) return lower_op(l, KOP_round_f16, T_F32, x, 0, 0);
    if (t == KN_BFLOAT16) return lower_op(l, KOP_round_bf16, T_F32, x, 0, 0);
    return x;
}

/* ---- conversions ---- */

static uint32_t zero_of(lowering *l, ktype t) { return ktype_table[t].is_float ? lower_float(l, t, 0) : lower_int(l, t, 0); }

static uint32_t convert(lowering *l, ktype to, uint32_t x) { return lower_type(l, x) == to ? x : lower_op(l, KOP_convert, to, x, 0, 0); }

/* Truncates to int64 and wraps; NaN and what lies beyond int64 give INT64_MIN; uint64 keeps values up to 2^64 - 1. */
static uint32_t float_to_integer(lowering *l, ktype to, uint32_t x) {
    ktype f = lower_type(l, x);
    uint32_t low = lower_op(l, KOP_ge, T_BOOL, x, lower_float(l, f, -0x1p63), 0), high = lower_op(l, KOP_lt, T_BOOL, x, lower_float(l, f, 0x1p63), 0);
    uint32_t fits = lower_op(l, KOP_and, T_BOOL, low, high, 0);
    uint32_t safe = lower_op(l, KOP_select, f, fits, x, lower_float(l, f, 0));
    uint32_t whole = lower_op(l, KOP_select, T_I64, fits, convert(l, T_I64, safe), lower_int(l, T_I64, INT64_MIN));
    if (to != T_U64) return convert(l, to, whole);
    uint32_t large = lower_op(l, KOP_and, T_BOOL, lower_op(l, KOP_ge, T_BOOL, x, lower_float(l, f, 0x1p63), 0), lower_op(l, KOP_lt, T_BOOL, x, lower_float(l, f, 0x1p64), 0), 0);
    uint32_t upper = lower_op(l, KOP_select, f, large, lower_op(l, KOP_sub, f, x, lower_float(l, f, 0x1p63), 0), lower_float(l, f, 0));
    uint32_t top = lower_op(l, KOP_xor, T_I64, convert(l, T_I64, upper), lower_int(l, T_I64, INT64_MIN), 0);
    return convert(l, T_U64, lower_op(l, KOP_select, T_I64, large, top, whole));
}

static uint32_t real_to_real(lowering *l, kn_dtype from, kn_dtype to, uint32_t x) {
    ktype a = element_type(from), b = element_type(to);
    if (from == to) return x;
    if (to == KN_BOOL) return lower_op(l, KOP_ne, T_BOOL, x, zero_of(l, a), 0);
    if (to == KN_FLOAT16 || to == KN_BFLOAT16) {
        if (!ktype_table[a].is_float) x = convert(l, ktype_table[a].size <= 2 ? T_F32 : T_F64, x);
        return round_to(l, to, x);
    }
    char name[24] = "cast_";
    memcpy(name + 5, dtype_table[to].name, strlen(dtype_table[to].name) + 1);
    if (ktype_table[a].is_float && ktype_table[b].is_int) {
        uint32_t out[4];
        int f = function_named(name, &from, 1);
        if (f < 0) return float_to_integer(l, b, x);
        call(l, f, &x, 1, out);
        return out[0];
    }
    return convert(l, b, x);
}

static void lower_cast(lowering *l, kn_dtype from, kn_dtype to, const uint32_t *in, uint32_t *out) {
    kn_dtype a = dtype_table[from].part, b = dtype_table[to].part;
    out[0] = real_to_real(l, a, b, in[0]);
    if (dtype_is_complex(from) && to == KN_BOOL) out[0] = lower_op(l, KOP_or, T_BOOL, out[0], real_to_real(l, a, b, in[1]), 0);
    if (dtype_is_complex(to)) out[1] = dtype_is_complex(from) ? real_to_real(l, a, b, in[1]) : zero_of(l, element_type(b));
    else out[1] = out[0];
}

/* ---- powers ---- */

static double scalar_value(const scalar *s) {
    switch (s->kind) {
    case SCALAR_INT: return (double)s->v.i;
    case SCALAR_UINT: return (double)s->v.u;
    case SCALAR_FLOAT: return s->v.f;
    case SCALAR_BOOL: return s->v.b;
    default: return -7;                              /* complex: none of the special ones */
    }
}

static bool apply(lowering *l, const char *name, kn_dtype t, int n, const uint32_t (*in)[2], uint32_t *out) {
    kn_dtype types[2] = { t, t }, gives[4];
    uint32_t args[4], result[4];
    int nargs = 0;
    for (int i = 0; i < n; i++) for (int part = 0; part < parts_of(t); part++) args[nargs++] = in[i][part];
    if (!lower_named(l, name, types, n, args, result, gives)) return false;
    out[0] = round_to(l, t, result[0]);
    out[1] = parts_of(t) == 2 ? result[1] : out[0];
    return true;
}

/* x ** e for the exponents that have a meaning of their own. */
static bool lower_power(lowering *l, const node *n, const uint32_t (*in)[2], uint32_t *out) {
    kn_dtype t = (kn_dtype)n->dtype;
    ktype k = element_type(t);
    double e = scalar_value(&n->in[1]->attr.number);
    bool whole = dtype_is_integer(t), complex = dtype_is_complex(t);
    uint32_t twice[2][2] = { { in[0][0], in[0][1] }, { in[0][0], in[0][1] } };
    if (e == 1) { memcpy(out, in[0], sizeof in[0]); return true; }
    if (e == 0) {
        out[0] = whole ? lower_int(l, k, 1) : lower_float(l, k, 1);
        out[1] = complex ? lower_float(l, k, 0) : out[0];
        return true;
    }
    if (e == 2) return apply(l, complex ? "square" : "mul", t, complex ? 1 : 2, (const uint32_t (*)[2])twice, out);
    if (e == 3 && !complex) {
        ktype wide = k == T_F32 ? T_F64 : k;         /* one rounding, as pow() */
        uint32_t x = convert(l, wide, in[0][0]), square = lower_op(l, KOP_mul, wide, x, x, 0);
        out[0] = out[1] = round_to(l, t, convert(l, k, lower_op(l, KOP_mul, wide, square, x, 0)));
        return true;
    }
    if (whole) return false;
    if (e == .5) return apply(l, "sqrt", t, 1, in, out);
    if (e != -1) return false;
    if (complex) return apply(l, "reciprocal", t, 1, in, out);
    out[0] = out[1] = round_to(l, t, lower_op(l, KOP_div, k, lower_float(l, k, 1), in[0][0], 0));
    return true;
}

static void refuse_negative_exponent(lowering *l, const node *n, const uint32_t (*in)[2]) {
    kn_dtype t = (kn_dtype)n->in[1]->dtype;
    if (dtype_kind_of(t) != KIND_INT) return;
    ktype k = element_type(t);
    uint32_t negative = lower_op(l, KOP_lt, T_BOOL, in[1][0], lower_int(l, k, 0), 0);
    lower_fault(l, negative, convert(l, T_I64, in[1][0]), KN_VALUE_ERROR, "Integers to negative integer powers are not allowed.");
}

/* ---- all elementwise functions ---- */

static void lower_body(lowering *l, const node *n, const ufunc_loop *loop, const kn_dtype *types, const uint32_t (*in)[2], uint32_t *out) {
    uint32_t args[16], result[4];
    kn_dtype gives[4];
    int nargs = 0, first = 0;
    if (!strcmp(loop->body, BODY_TRUE) || !strcmp(loop->body, BODY_FALSE)) {
        out[0] = out[1] = lower_int(l, T_BOOL, loop->body[0] == 't');
        return;
    }
    for (int i = 0; i < n->nin; i++) for (int part = 0; part < parts_of(types[i]); part++) args[nargs++] = in[i][part];
    if (!lower_named(l, loop->body, types, n->nin, args, result, gives)) {
        if (!l->status) l->status = fail(l->m, KN_NOT_AVAILABLE, "%s is not available for %s", ufuncs[n->op].name, dtype_table[types[0]].name);
        return;
    }
    for (int i = 0; i < n->which; i++) first += parts_of(gives[i]);
    out[0] = round_to(l, (kn_dtype)n->dtype, result[first]);
    out[1] = dtype_is_complex((kn_dtype)n->dtype) ? result[first + 1] : out[0];
}

void lower_map(lowering *l, const node *n, const uint32_t (*in)[2], uint32_t *out) {
    kn_dtype types[16];
    int nin = n->nin < 8 ? n->nin : 8;
    for (int i = 0; i < nin; i++) types[i] = (kn_dtype)n->in[i]->dtype;
    if (n->op == UFUNC_cast) { lower_cast(l, types[0], (kn_dtype)n->dtype, in[0], out); return; }
    if (n->op == UFUNC_where) {
        ktype t = element_type((kn_dtype)n->dtype);
        for (int part = 0; part < 2; part++) out[part] = part < parts_of((kn_dtype)n->dtype) ? lower_op(l, KOP_select, t, in[0][0], in[1][part], in[2][part]) : out[0];
        return;
    }
    if (n->op == UFUNC_require) {
        uint32_t bad = lower_op(l, KOP_not, T_BOOL, in[0][0], 0, 0);
        lower_fault(l, bad, lower_int(l, T_I64, 0), requirements[n->which].status, requirements[n->which].sentence);
        memcpy(out, in[1], sizeof in[1]);
        return;
    }
    const ufunc_loop *loop = ufunc_loop_for(n->op, types);
    if (!loop || !loop->body) { memcpy(out, in[0], sizeof in[0]); return; }
    if (ufuncs[n->op].flags & UFUNC_SCALAR_CLASS && n->in[1]->kind == NODE_SCALAR && lower_power(l, n, in, out)) return;
    if (ufuncs[n->op].flags & UFUNC_NEGATIVE_POWER) refuse_negative_exponent(l, n, in);
    lower_body(l, n, loop, types, in, out);
}

int64_t node_flops(const node *n) {
    kn_dtype types[16];
    if (n->kind == NODE_GATHER) return 6 * (n->nin - 1);
    if (n->kind != NODE_MAP) return 0;
    if (ufuncs[n->op].flags & UFUNC_ANY) return 1;
    for (int i = 0; i < n->nin && i < 16; i++) types[i] = (kn_dtype)n->in[i]->dtype;
    const ufunc_loop *loop = ufunc_loop_for(n->op, types);
    if (!loop || !loop->body) return 0;
    if (ufuncs[n->op].flags & UFUNC_SCALAR_CLASS && n->in[1]->kind == NODE_SCALAR && scalar_value(&n->in[1]->attr.number) == 2) return 1;
    int f = function_named(loop->body, types, n->nin), op = f < 0 ? primitive_named(loop->body) : -1;
    if (f >= 0) return device_functions[f].cost ? device_functions[f].cost : 1;
    return op == KOP_div || op == KOP_sqrt || op == KOP_rem ? 8 : 1;
}
