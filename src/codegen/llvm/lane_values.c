/* lane_values.c: scalar primitives over lanes, as LLVM instructions. */
#include <stdio.h>
#include <string.h>
#include "codegen/llvm/lanes.h"

#define B e->b

LLVMTypeRef lanes_type(const lane_emitter *e, LLVMTypeRef t) { return e->width > 1 ? llvm.VectorType(t, (unsigned)e->width) : t; }

LLVMValueRef int_const(const lane_emitter *e, ktype t, int64_t v) { return llvm.ConstInt(e->types[t], (unsigned long long)v, 1); }

static LLVMValueRef i32(const lane_emitter *e, int v) { return int_const(e, T_I32, v); }

LLVMValueRef lanes_splat(lane_emitter *e, LLVMValueRef scalar) {
    if (e->width == 1) return scalar;
    LLVMValueRef poison = llvm.GetPoison(lanes_type(e, llvm.TypeOf(scalar)));
    LLVMValueRef one = llvm.BuildInsertElement(B, poison, scalar, i32(e, 0), "");
    return llvm.BuildShuffleVector(B, one, poison, llvm.ConstNull(llvm.VectorType(e->types[T_I32], (unsigned)e->width)), "");
}

/* 0, step, 2 step, ... */
static LLVMValueRef ramp(lane_emitter *e, ktype t, int64_t step) {
    LLVMValueRef lane[256];
    for (int l = 0; l < e->width; l++) lane[l] = int_const(e, t, l * step);
    return llvm.ConstVector(lane, (unsigned)e->width);
}

LLVMValueRef lanes_vector(lane_emitter *e, lane_value *v, ktype t) {
    if (e->width == 1) return v->scalar;
    if (v->step == STEP_VARIES) return v->vector;
    LLVMValueRef all = lanes_splat(e, v->scalar);
    return v->step ? llvm.BuildBinOp(B, LLVMAdd, all, ramp(e, t, v->step), "") : all;
}

LLVMValueRef lanes_call(lane_emitter *e, const char *name, LLVMTypeRef result, LLVMValueRef *args, int n) {
    LLVMTypeRef types[6];
    for (int i = 0; i < n; i++) types[i] = llvm.TypeOf(args[i]);
    LLVMTypeRef type = llvm.FunctionType(result, types, (unsigned)n, 0);
    LLVMValueRef f = llvm.GetNamedFunction(e->module, name);
    if (!f) f = llvm.AddFunction(e->module, name, type);
    return llvm.BuildCall2(B, type, f, args, (unsigned)n, "");
}

LLVMValueRef lanes_mask(lane_emitter *e) {
    if (e->mask) return e->mask;
    return lanes_splat(e, llvm.ConstInt(e->types[T_BOOL], 1, 0));
}

LLVMValueRef lanes_any(lane_emitter *e, LLVMValueRef mask) {
    if (e->width == 1) return mask;
    char name[64];
    snprintf(name, sizeof name, "llvm.vector.reduce.or.v%di1", e->width);
    return lanes_call(e, name, e->types[T_BOOL], &mask, 1);
}

/* "llvm.floor" for a type: "llvm.floor.v16f32" */
static const char *intrinsic_name(const lane_emitter *e, const char *stem, ktype t, char out[80]) {
    const ktype_info *i = &ktype_table[t];
    char vector[16] = "";
    if (e->width > 1) snprintf(vector, sizeof vector, "v%d", e->width);
    snprintf(out, 80, "%s.%s%c%d", stem, vector, i->is_float ? 'f' : 'i', t == T_BOOL ? 1 : 8 * i->size);
    return out;
}

/* ---- rows of kops.def ---- */

static const struct { const char *whole, *real; uint8_t arity, result; } rows[NKOPS] = {
#define SAME 0
#define BOOL 1
#define KOP(name, arity, operands, result, source, llvm_int, llvm_float, eval) [KOP_##name] = { llvm_int, llvm_float, arity, result },
#include "ir/kir/kops.def"
#undef SAME
#undef BOOL
};

static const struct { const char *name; LLVMOpcode op; } opcodes[] = {
    { "add", LLVMAdd }, { "sub", LLVMSub }, { "mul", LLVMMul }, { "fadd", LLVMFAdd }, { "fsub", LLVMFSub }, { "fmul", LLVMFMul }, { "fdiv", LLVMFDiv },
    { "sdiv", LLVMSDiv }, { "udiv", LLVMUDiv }, { "srem", LLVMSRem }, { "urem", LLVMURem }, { "and", LLVMAnd }, { "or", LLVMOr }, { "xor", LLVMXor },
    { "shl", LLVMShl }, { "ashr", LLVMAShr }, { "lshr", LLVMLShr },
};
static const struct { const char *name; int predicate; } predicates[] = {
    { "eq", LLVMIntEQ }, { "ne", LLVMIntNE }, { "slt", LLVMIntSLT }, { "sle", LLVMIntSLE }, { "sgt", LLVMIntSGT }, { "sge", LLVMIntSGE },
    { "ult", LLVMIntULT }, { "ule", LLVMIntULE }, { "ugt", LLVMIntUGT }, { "uge", LLVMIntUGE },
    { "oeq", LLVMRealOEQ }, { "une", LLVMRealUNE }, { "olt", LLVMRealOLT }, { "ole", LLVMRealOLE }, { "ogt", LLVMRealOGT }, { "oge", LLVMRealOGE },
};

/* "sdiv/udiv": the first for signed types */
static void row_name(const char *column, bool is_signed, char out[40]) {
    const char *slash = strchr(column, '/');
    size_t n = slash ? (size_t)(slash - column) : strlen(column);
    if (slash && !is_signed) { column = slash + 1; n = strlen(column); }
    if (n > 39) n = 39;
    memcpy(out, column, n);
    out[n] = 0;
}

/* Lanes that are switched off, and code that LLVM moves, may divide by anything: a divisor that would trap becomes 1. */
static LLVMValueRef safe_divisor(lane_emitter *e, LLVMValueRef a, LLVMValueRef b, ktype t) {
    LLVMTypeRef type = llvm.TypeOf(b);
    LLVMValueRef one = lanes_splat(e, int_const(e, t, 1)), bad = llvm.BuildICmp(B, LLVMIntEQ, b, llvm.ConstNull(type), "");
    if (ktype_table[t].is_signed) {
        int bits = 8 * ktype_table[t].size;
        LLVMValueRef lowest = lanes_splat(e, llvm.ConstInt(e->types[t], 1ull << (bits - 1), 0)), minus = lanes_splat(e, int_const(e, t, -1));
        LLVMValueRef wraps = llvm.BuildBinOp(B, LLVMAnd, llvm.BuildICmp(B, LLVMIntEQ, a, lowest, ""), llvm.BuildICmp(B, LLVMIntEQ, b, minus, ""), "");
        bad = llvm.BuildBinOp(B, LLVMOr, bad, wraps, "");
    }
    return llvm.BuildSelect(B, bad, one, b, "");
}

static LLVMValueRef cast(lane_emitter *e, LLVMOpcode op, LLVMValueRef v, LLVMTypeRef to) { return llvm.BuildCast(B, op, v, lanes_type(e, to), ""); }

static LLVMValueRef convert(lane_emitter *e, LLVMValueRef v, ktype from, ktype to) {
    const ktype_info *a = &ktype_table[from], *b = &ktype_table[to];
    LLVMTypeRef t = e->types[to];
    if (from == to) return v;
    if (to == T_BOOL) {
        LLVMValueRef zero = llvm.ConstNull(llvm.TypeOf(v));
        return a->is_float ? llvm.BuildFCmp(B, LLVMRealUNE, v, zero, "") : llvm.BuildICmp(B, LLVMIntNE, v, zero, "");
    }
    if (a->is_float && b->is_float) return cast(e, b->size > a->size ? LLVMFPExt : LLVMFPTrunc, v, t);
    if (b->is_float) return cast(e, a->is_signed ? LLVMSIToFP : LLVMUIToFP, v, t);
    if (a->is_float) return llvm.BuildFreeze(B, cast(e, to == T_U64 ? LLVMFPToUI : LLVMFPToSI, v, b->size < 8 && !b->is_signed ? e->types[T_I64] : t), "");
    if (from == T_BOOL) return cast(e, LLVMZExt, v, t);
    if (a->size == b->size) return v;
    return cast(e, b->size < a->size ? LLVMTrunc : a->is_signed ? LLVMSExt : LLVMZExt, v, t);
}

/* Float to a narrow unsigned integer goes through int64. */
static LLVMValueRef convert_fully(lane_emitter *e, LLVMValueRef v, ktype from, ktype to) {
    LLVMValueRef r = convert(e, v, from, to);
    bool narrow = ktype_table[from].is_float && ktype_table[to].is_int && !ktype_table[to].is_signed && ktype_table[to].size < 8;
    return narrow ? cast(e, LLVMTrunc, r, e->types[to]) : r;
}

static LLVMValueRef bits(lane_emitter *e, LLVMValueRef v, ktype to) { return cast(e, LLVMBitCast, v, e->types[to]); }
static LLVMValueRef int_lanes(lane_emitter *e, ktype t, int64_t v) { return lanes_splat(e, int_const(e, t, v)); }

/* float64 to float32 so that a second rounding, to fewer bits, gives what one rounding would: inexact results get an odd
 * last bit (Boldo and Melquiond 2008). */
static LLVMValueRef narrow_to_odd(lane_emitter *e, LLVMValueRef x) {
    LLVMValueRef r = cast(e, LLVMFPTrunc, x, e->types[T_F32]), back = cast(e, LLVMFPExt, r, e->types[T_F64]), word = bits(e, r, T_I32);
    char name[80];
    LLVMValueRef size = lanes_call(e, intrinsic_name(e, "llvm.fabs", T_F64, name), llvm.TypeOf(x), &back, 1);
    LLVMValueRef own = lanes_call(e, name, llvm.TypeOf(x), &x, 1);
    LLVMValueRef inexact = llvm.BuildFCmp(B, LLVMRealONE, back, x, ""), away = llvm.BuildFCmp(B, LLVMRealOGT, size, own, "");
    LLVMValueRef toward = llvm.BuildSelect(B, away, llvm.BuildBinOp(B, LLVMSub, word, int_lanes(e, T_I32, 1), ""), word, "");
    LLVMValueRef odd = llvm.BuildBinOp(B, LLVMOr, toward, int_lanes(e, T_I32, 1), "");
    return bits(e, llvm.BuildSelect(B, inexact, odd, word, ""), T_F32);
}

static LLVMValueRef round_half(lane_emitter *e, LLVMValueRef v) {
    return cast(e, LLVMFPExt, cast(e, LLVMFPTrunc, v, e->half), e->types[T_F32]);
}

/* In integers: some processors' own conversion flushes subnormal numbers. */
static LLVMValueRef round_bfloat(lane_emitter *e, LLVMValueRef v) {
    LLVMValueRef w = bits(e, v, T_I32), upper = llvm.BuildBinOp(B, LLVMLShr, w, int_lanes(e, T_I32, 16), "");
    LLVMValueRef odd = llvm.BuildBinOp(B, LLVMAnd, upper, int_lanes(e, T_I32, 1), "");
    LLVMValueRef sum = llvm.BuildBinOp(B, LLVMAdd, llvm.BuildBinOp(B, LLVMAdd, w, int_lanes(e, T_I32, 0x7fff), ""), odd, "");
    LLVMValueRef quiet = llvm.BuildBinOp(B, LLVMOr, w, int_lanes(e, T_I32, 0x400000), ""), nan = llvm.BuildFCmp(B, LLVMRealUNO, v, v, "");
    LLVMValueRef kept = llvm.BuildBinOp(B, LLVMAnd, llvm.BuildSelect(B, nan, quiet, sum, ""), int_lanes(e, T_I32, (int64_t)0xffff0000), "");
    return bits(e, kept, T_F32);
}

static LLVMValueRef binary(lane_emitter *e, LLVMOpcode op, LLVMValueRef a, LLVMValueRef b) { return llvm.BuildBinOp(B, op, a, b, ""); }

/* The upper half of a 64-bit product from four products of halves (Knuth, volume 2, 4.3.1): vectors have no wider type. */
static LLVMValueRef multiply_high_64(lane_emitter *e, LLVMValueRef a, LLVMValueRef b, bool is_signed) {
    LLVMValueRef low = int_lanes(e, T_U64, 0xffffffff), half = int_lanes(e, T_U64, 32);
    LLVMValueRef al = binary(e, LLVMAnd, a, low), ah = binary(e, LLVMLShr, a, half), bl = binary(e, LLVMAnd, b, low), bh = binary(e, LLVMLShr, b, half);
    LLVMValueRef ll = binary(e, LLVMMul, al, bl), lh = binary(e, LLVMMul, al, bh), hl = binary(e, LLVMMul, ah, bl), hh = binary(e, LLVMMul, ah, bh);
    LLVMValueRef middle = binary(e, LLVMAdd, binary(e, LLVMLShr, ll, half), binary(e, LLVMAdd, binary(e, LLVMAnd, lh, low), binary(e, LLVMAnd, hl, low)));
    LLVMValueRef upper = binary(e, LLVMAdd, binary(e, LLVMLShr, lh, half), binary(e, LLVMLShr, hl, half));
    LLVMValueRef r = binary(e, LLVMAdd, hh, binary(e, LLVMAdd, upper, binary(e, LLVMLShr, middle, half)));
    if (!is_signed) return r;
    LLVMValueRef sign = int_lanes(e, T_I64, 63);
    r = binary(e, LLVMSub, r, binary(e, LLVMAnd, binary(e, LLVMAShr, a, sign), b));
    return binary(e, LLVMSub, r, binary(e, LLVMAnd, binary(e, LLVMAShr, b, sign), a));
}

static LLVMValueRef multiply_high(lane_emitter *e, LLVMValueRef a, LLVMValueRef b, ktype t) {
    if (ktype_table[t].size == 8) return multiply_high_64(e, a, b, ktype_table[t].is_signed);
    LLVMTypeRef wide = e->types[T_I64];
    LLVMOpcode extend = ktype_table[t].is_signed ? LLVMSExt : LLVMZExt;
    LLVMValueRef p = binary(e, LLVMMul, cast(e, extend, a, wide), cast(e, extend, b, wide));
    return cast(e, LLVMTrunc, binary(e, LLVMLShr, p, int_lanes(e, T_I64, 32)), e->types[t]);
}

/* Rows with a "-": code of their own. */
static LLVMValueRef special(lane_emitter *e, kop op, ktype from, ktype to, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    switch (op) {
    case KOP_select: return llvm.BuildSelect(B, a, b, c, "");
    case KOP_convert: return convert_fully(e, a, from, to);
    case KOP_bitcast: return bits(e, a, to);
    case KOP_not: return llvm.BuildNot(B, a, "");
    case KOP_mulhi: return multiply_high(e, a, b, from);
    case KOP_round_f16: return round_half(e, from == T_F64 ? narrow_to_odd(e, a) : a);
    case KOP_round_bf16: return round_bfloat(e, from == T_F64 ? narrow_to_odd(e, a) : a);
    default:
        e->status = fail(e->m, KN_NOT_AVAILABLE, "a primitive has no LLVM code");
        return a;
    }
}

static LLVMValueRef by_row(lane_emitter *e, kop op, ktype t, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c, ktype to) {
    bool real = ktype_table[t].is_float;
    const char *column = real ? rows[op].real : rows[op].whole;
    char name[40], full[80];
    if (op == KOP_neg && !real) return llvm.BuildNeg(B, a, "");
    if (op == KOP_neg) return llvm.BuildFNeg(B, a, "");
    if (column[0] == '-' || op == KOP_select) return special(e, op, t, to, a, b, c);
    row_name(column, ktype_table[t].is_signed, name);
    if (name[0] == '@') {
        LLVMValueRef args[3] = { a, b, c };
        int n = rows[op].arity;
        if (op == KOP_clz) args[n++] = llvm.ConstInt(e->types[T_BOOL], 0, 0);
        return lanes_call(e, intrinsic_name(e, name + 1, t, full), llvm.TypeOf(a), args, n);
    }
    if (rows[op].result) {
        for (unsigned i = 0; i < sizeof predicates / sizeof *predicates; i++)
            if (!strcmp(predicates[i].name, name))
                return real ? llvm.BuildFCmp(B, (LLVMRealPredicate)predicates[i].predicate, a, b, "") : llvm.BuildICmp(B, (LLVMIntPredicate)predicates[i].predicate, a, b, "");
    }
    for (unsigned i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        if (strcmp(opcodes[i].name, name)) continue;
        if (!real && (op == KOP_div || op == KOP_rem)) b = safe_divisor(e, a, b, t);
        return llvm.BuildBinOp(B, opcodes[i].op, a, b, "");
    }
    e->status = fail(e->m, KN_NOT_AVAILABLE, "a primitive has no LLVM code");
    return a;
}

/* ---- lanes that differ by a constant ---- */

static bool small_constant(LLVMValueRef v, int64_t *c) {
    if (!llvm.IsAConstantInt(v)) return false;
    *c = llvm.ConstIntGetSExtValue(v);
    return *c > -(1 << 20) && *c < 1 << 20;
}

/* Sums and multiples of known steps keep a known step. */
static bool known_step(kop op, const lane_value *a, const lane_value *b, int64_t *step) {
    int64_t c;
    if (a->step == STEP_VARIES || (b && b->step == STEP_VARIES)) return false;
    switch (op) {
    case KOP_add: *step = a->step + b->step; return true;
    case KOP_sub: *step = a->step - b->step; return true;
    case KOP_neg: *step = -a->step; return true;
    case KOP_mul:
        if (b->step == 0 && small_constant(b->scalar, &c)) { *step = a->step * c; return true; }
        if (a->step == 0 && small_constant(a->scalar, &c)) { *step = b->step * c; return true; }
        return false;
    default: return false;
    }
}

lane_value lanes_primitive(lane_emitter *e, const body *f, uint32_t i) {
    const kinst *x = &f->code[i];
    kop op = (kop)x->op;
    int arity = rows[op].arity;
    const uint32_t at[3] = { x->a, x->b, x->c };
    ktype from = (ktype)f->code[op == KOP_select ? x->b : x->a].type;
    lane_value *v[3] = { &f->values[x->a], arity > 1 ? &f->values[x->b] : NULL, arity > 2 ? &f->values[x->c] : NULL };
    bool shared = true;
    for (int j = 0; j < arity; j++) shared &= e->width == 1 || v[j]->step == 0;
    int64_t step = 0;
    bool index = from == T_I64 || from == T_I32;
    if (shared || (index && x->type == from && known_step(op, v[0], v[1], &step))) {
        int width = e->width;
        e->width = 1;
        LLVMValueRef s = by_row(e, op, from, v[0]->scalar, v[1] ? v[1]->scalar : NULL, v[2] ? v[2]->scalar : NULL, (ktype)x->type);
        e->width = width;
        return (lane_value){ .scalar = s, .step = step };
    }
    LLVMValueRef operand[3] = { NULL, NULL, NULL };
    for (int j = 0; j < arity; j++) operand[j] = lanes_vector(e, v[j], (ktype)f->code[at[j]].type);
    return (lane_value){ .vector = by_row(e, op, from, operand[0], operand[1], operand[2], (ktype)x->type), .step = STEP_VARIES };
}
