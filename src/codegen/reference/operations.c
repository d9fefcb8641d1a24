/* operations.c: every scalar primitive over an array of lanes, made from the rows of kops.def. */
#include <math.h>
#include <string.h>
#include "codegen/reference/reference.h"

/* ---- what the eval column of kops.def says ---- */
#define T(x) (x)                                   /* the loops below convert the result */
#define MULTIPLY(a, b) _Generic((a), float: (a) * (b), double: (a) * (b), default: (uint64_t)(a) * (uint64_t)(b))
#define NEGATE(a) _Generic((a), float: -(a), double: -(a), default: 0 - (uint64_t)(a))
#define BY_WIDTH(f, single, a) _Generic((a), float: single, default: f)
#define FMA(a, b, c) BY_WIDTH(fma, fmaf, a)(a, b, c)
#define SQRT(a) BY_WIDTH(sqrt, sqrtf, a)(a)
#define FABS(a) BY_WIDTH(fabs, fabsf, a)(a)
#define FLOOR(a) BY_WIDTH(floor, floorf, a)(a)
#define CEIL(a) BY_WIDTH(ceil, ceilf, a)(a)
#define TRUNC(a) BY_WIDTH(trunc, truncf, a)(a)
#define RINT(a) BY_WIDTH(rint, rintf, a)(a)
#define COPYSIGN(a, b) BY_WIDTH(copysign, copysignf, a)(a, b)
#define NOT(a) ~(a)
#define POPCOUNT(a) __builtin_popcountll((unsigned long long)(U)(a))
#define CLZ(a) ((U)(a) ? __builtin_clzll((unsigned long long)(U)(a)) - (64 - 8 * (int)sizeof(U)) : 8 * (int)sizeof(U))
#define MULHI(a, b) mulhi(sizeof(U), (U)-1 > 0 && (_Generic((a), int32_t: 1, int64_t: 1, default: 0)), (uint64_t)(a), (uint64_t)(b))
/* rows that are written by hand below */
#define CONVERT(a) (a)
#define BITCAST(a) (a)
#define ROUND_F16(a) (a)
#define ROUND_BF16(a) (a)

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 wide_signed;

/* Upper half of the double-width product; a and b are sign- or zero-extended. */
static uint64_t mulhi(size_t size, bool is_signed, uint64_t a, uint64_t b) {
    if (size == 4) return is_signed ? (uint64_t)((int64_t)a * (int64_t)b >> 32) : (uint64_t)(uint32_t)a * (uint32_t)b >> 32;
    return is_signed ? (uint64_t)((wide_signed)(int64_t)a * (int64_t)b >> 64) : (uint64_t)((wide)a * b >> 64);
}

/* ---- loops ---- */
#define LOOP_1(CT, UT, RT, eval) {                                                             \
        typedef UT U;                                                                          \
        const CT *xa = pa.at; RT *r = to; (void)sizeof(U);                                     \
        for (int i = 0; i < n; i++) { CT a = xa[i * pa.step]; r[i] = (RT)(eval); }             \
        return; }
#define LOOP_2(CT, UT, RT, eval) {                                                             \
        typedef UT U;                                                                          \
        const CT *xa = pa.at, *xb = pb.at; RT *r = to; (void)sizeof(U);                        \
        if (pa.step && pb.step) for (int i = 0; i < n; i++) { CT a = xa[i], b = xb[i]; r[i] = (RT)(eval); } \
        else for (int i = 0; i < n; i++) { CT a = xa[i * pa.step], b = xb[i * pb.step]; r[i] = (RT)(eval); } \
        return; }
#define LOOP_3(CT, UT, RT, eval) {                                                             \
        typedef UT U;                                                                          \
        const CT *xa = pa.at, *xb = pb.at, *xc = pc.at; RT *r = to; (void)sizeof(U);           \
        for (int i = 0; i < n; i++) { CT a = xa[i * pa.step], b = xb[i * pb.step], c = xc[i * pc.step]; r[i] = (RT)(eval); } \
        return; }
#define RESULT_SAME(CT) CT
#define RESULT_BOOL(CT) uint8_t
#define CASE(type, CT, UT, arity, result, eval) case type: LOOP_##arity(CT, UT, RESULT_##result(CT), eval)
#define CASES_INT(arity, result, eval)                                                                              \
    CASE(T_I8, int8_t, uint8_t, arity, result, eval) CASE(T_I16, int16_t, uint16_t, arity, result, eval)            \
    CASE(T_I32, int32_t, uint32_t, arity, result, eval) CASE(T_I64, int64_t, uint64_t, arity, result, eval)         \
    CASE(T_U8, uint8_t, uint8_t, arity, result, eval) CASE(T_U16, uint16_t, uint16_t, arity, result, eval)          \
    CASE(T_U32, uint32_t, uint32_t, arity, result, eval) CASE(T_U64, uint64_t, uint64_t, arity, result, eval)
#define CASES_FLT(arity, result, eval) CASE(T_F32, float, float, arity, result, eval) CASE(T_F64, double, double, arity, result, eval)
#define CASES_BOOL(arity, result, eval) CASE(T_BOOL, uint8_t, uint8_t, arity, result, eval)
#define CASES_NUM(arity, result, eval) CASES_INT(arity, result, eval) CASES_FLT(arity, result, eval)
#define CASES_BITS(arity, result, eval) CASES_INT(arity, result, eval) CASES_BOOL(arity, result, eval)
#define CASES_ANY(arity, result, eval) CASES_NUM(arity, result, eval) CASES_BOOL(arity, result, eval)

/* ---- rows by hand ---- */

static void run_select(ktype type, void *to, operand pa, operand pb, operand pc, int n) {
    size_t size = ktype_table[type].size;
    const uint8_t *c = pa.at;
    for (int i = 0; i < n; i++) {
        const operand *from = c[i * pa.step] ? &pb : &pc;
        memcpy((char *)to + (size_t)i * size, (const char *)from->at + (size_t)(i * from->step) * size, size);
    }
}

/* Lanes that are switched off may hold any divisor, so nothing here may trap. */
static void run_divide(bool rem, ktype type, void *to, operand pa, operand pb, int n) {
    size_t size = ktype_table[type].size;
    for (int i = 0; i < n; i++) {
        uint64_t a = reference_word(type, (const char *)pa.at + (size_t)(i * pa.step) * size), b = reference_word(type, (const char *)pb.at + (size_t)(i * pb.step) * size), r;
        if (b == 0) r = 0;
        else if (!ktype_table[type].is_signed) r = rem ? a % b : a / b;
        else if ((int64_t)b == -1) r = rem ? 0 : 0 - a;
        else r = (uint64_t)(rem ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
        reference_put(type, (char *)to + (size_t)i * size, r);
    }
}

static void run_not(void *to, operand pa, int n) { for (int i = 0; i < n; i++) ((uint8_t *)to)[i] = !((const uint8_t *)pa.at)[i * pa.step]; }

static void run_round(bool half, ktype from, float *to, operand pa, int n) {
    for (int i = 0; i < n; i++) {
        if (from == T_F32) {
            float a = ((const float *)pa.at)[i * pa.step];
            to[i] = half ? half_to_float(float_to_half(a)) : bfloat_to_float(float_to_bfloat(a));
        } else {
            double a = ((const double *)pa.at)[i * pa.step];
            to[i] = half ? half_to_float(double_to_half(a)) : bfloat_to_float(double_to_bfloat(a));
        }
    }
}

void reference_operation(kop op, ktype type, void *to, operand pa, operand pb, operand pc, int n) {
    bool integer = ktype_table[type].is_int;
    if (op == KOP_select) { run_select(type, to, pa, pb, pc, n); return; }
    if ((op == KOP_div || op == KOP_rem) && integer) { run_divide(op == KOP_rem, type, to, pa, pb, n); return; }
    if (op == KOP_not && type == T_BOOL) { run_not(to, pa, n); return; }
    if (op == KOP_round_f16 || op == KOP_round_bf16) { run_round(op == KOP_round_f16, type, to, pa, n); return; }
    switch (op) {
#define KOP(name, arity, operands, result, source, llvm_int, llvm_float, eval) case KOP_##name: switch (type) { CASES_##operands(arity, result, eval) default: return; }
#include "ir/kir/kops.def"
    default: return;
    }
}

/* ---- conversion ---- */

/* A float beyond the target's range gives any value; this one is what x86 gives. */
static int64_t to_integer(double v) { return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : INT64_MIN; }
static uint64_t to_unsigned(double v) { return v >= 9223372036854775808.0 && v < 18446744073709551616.0 ? (uint64_t)v : (uint64_t)to_integer(v); }

void reference_convert(void *to, ktype t, operand pa, ktype from, int n) {
    size_t from_size = ktype_table[from].size, to_size = ktype_table[t].size;
    for (int i = 0; i < n; i++) {
        const char *p = (const char *)pa.at + (size_t)(i * pa.step) * from_size;
        char *r = (char *)to + (size_t)i * to_size;
        uint64_t word = reference_word(from, p);
        double d = 0;
        if (from == T_F32) { float f; memcpy(&f, p, sizeof f); d = (double)f; }
        if (from == T_F64) memcpy(&d, p, sizeof d);
        bool is_float = ktype_table[from].is_float, is_signed = ktype_table[from].is_signed;
        if (t == T_F64 || t == T_F32) {
            float f = is_float ? (float)d : is_signed ? (float)(int64_t)word : (float)word;
            if (!is_float) d = is_signed ? (double)(int64_t)word : (double)word;
            if (t == T_F32) memcpy(r, &f, sizeof f);
            else memcpy(r, &d, sizeof d);
        } else if (t == T_BOOL) {
            *(uint8_t *)r = is_float ? d != 0 : word != 0;
        } else {
            reference_put(t, r, is_float ? (t == T_U64 ? to_unsigned(d) : (uint64_t)to_integer(d)) : word);
        }
    }
}
