/* operations.h: every scalar primitive as loops over lanes, made from the rows of kops.def.
 *
 * How it works: operations.c and operations_avx2.c include this, each with its own VARIANT(name) and target.
 * Each row becomes one function for each type it takes, with a loop for each way in which operands are shared by all
 * lanes; lane_tables find them. Rows that need more than an expression stand at the end. No two operations share an
 * expression, so nothing can be contracted. */
#include <math.h>
#include <string.h>
#include "codegen/reference/reference.h"

#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3")
#endif

/* ---- what the eval column of kops.def says: V is the type, U its unsigned twin, IS_SIGNED 1 or 0 ---- */
#define T(x) (x)                                   /* the loops convert the result */
#define FLOAT_OR(a, of_float, of_integer) _Generic((a), float: of_float, double: of_float, default: of_integer)
#define MULTIPLY(a, b) FLOAT_OR(a, (a) * (b), multiply(sizeof(V), (uint64_t)(a), (uint64_t)(b)))
#define NEGATE(a) FLOAT_OR(a, -(a), 0 - (U)(a))
#define DIVIDE(a, b) FLOAT_OR(a, (a) / (b), (b) == 0 ? (V)0 : IS_SIGNED && (b) == (V)-1 ? (V)(0 - (U)(a)) : (V)((a) / ((b) ? (b) : (V)1)))
#define REMAINDER(a, b) ((b) == 0 || (IS_SIGNED && (b) == (V)-1) ? 0 : (a) % (b))
#define SHIFT_COUNT(b) ((unsigned)(b) & (8 * (unsigned)sizeof(V) - 1))
#define SHIFT_LEFT(a, b) ((sizeof(V) < 4 ? (unsigned)(a) : (U)(a)) << SHIFT_COUNT(b))
#define SHIFT_RIGHT(a, b) ((a) >> SHIFT_COUNT(b))
#define BY_WIDTH(f, single, a) _Generic((a), float: single, default: f)
#define FMA(a, b, c) BY_WIDTH(fma, fmaf, a)(a, b, c)
#define SQRT(a) BY_WIDTH(sqrt, sqrtf, a)(a)
#define FABS(a) BY_WIDTH(fabs, fabsf, a)(a)
#define FLOOR(a) BY_WIDTH(floor, floorf, a)(a)
#define CEIL(a) BY_WIDTH(ceil, ceilf, a)(a)
#define TRUNC(a) BY_WIDTH(trunc, truncf, a)(a)
#define RINT(a) BY_WIDTH(rint, rintf, a)(a)
#define COPYSIGN(a, b) BY_WIDTH(copysign, copysignf, a)(a, b)
#define NOT(a) (IS_BOOL ? !(a) : ~(a))
#define POPCOUNT(a) __builtin_popcountll((unsigned long long)(U)(a))
#define CLZ(a) ((U)(a) ? __builtin_clzll((unsigned long long)(U)(a)) - (64 - 8 * (int)sizeof(U)) : 8 * (int)sizeof(U))
#define MULHI(a, b) mulhi(sizeof(V), IS_SIGNED, (uint64_t)(a), (uint64_t)(b))

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 wide_signed;

/* Products that wrap; narrow ones in 32 bits, where vectors have them. */
static inline uint64_t multiply(size_t size, uint64_t a, uint64_t b) { return size > 4 ? a * b : (uint32_t)a * (uint32_t)b; }

/* Upper half of the double-width product; a and b are sign- or zero-extended. */
static inline uint64_t mulhi(size_t size, bool is_signed, uint64_t a, uint64_t b) {
    if (size < 8) return a * b >> 8 * size;
    return is_signed ? (uint64_t)((wide_signed)(int64_t)a * (int64_t)b >> 64) : (uint64_t)((wide)a * b >> 64);
}

/* ---- loops; shared: bit n set: operand n is one element for all lanes ---- */
#define HEAD(name, CT, UT, SIGNED, BOOLEAN)                                                                             \
    static void VARIANT(name)(void *to, const void *pa, const void *pb, const void *pc, int n, unsigned shared) {       \
        typedef CT V; typedef UT U; enum { IS_SIGNED = SIGNED, IS_BOOL = BOOLEAN };                                     \
        (void)pb; (void)pc; (void)shared; (void)sizeof(V); (void)sizeof(U); (void)IS_SIGNED; (void)IS_BOOL;
#define FOR_LANES for (int i = 0; i < n; i++)
#define FUNCTION_1(name, CT, UT, SIGNED, BOOLEAN, RT, eval)                                                             \
    HEAD(name, CT, UT, SIGNED, BOOLEAN)                                                                                 \
        RT *restrict r = to; const CT *xa = pa;                                                                         \
        FOR_LANES { CT a = xa[i]; r[i] = (RT)(eval); }                                                                  \
    }
#define FUNCTION_2(name, CT, UT, SIGNED, BOOLEAN, RT, eval)                                                             \
    HEAD(name, CT, UT, SIGNED, BOOLEAN)                                                                                 \
        RT *restrict r = to; const CT *xa = pa, *xb = pb;                                                               \
        if (!shared) FOR_LANES { CT a = xa[i], b = xb[i]; r[i] = (RT)(eval); }                                          \
        else if (shared & 2) { CT b = *xb; FOR_LANES { CT a = xa[i]; r[i] = (RT)(eval); } }                             \
        else { CT a = *xa; FOR_LANES { CT b = xb[i]; r[i] = (RT)(eval); } }                                             \
    }
#define FUNCTION_3(name, CT, UT, SIGNED, BOOLEAN, RT, eval)                                                             \
    HEAD(name, CT, UT, SIGNED, BOOLEAN)                                                                                 \
        RT *restrict r = to; const CT *xa = pa, *xb = pb, *xc = pc;                                                     \
        if (!shared) FOR_LANES { CT a = xa[i], b = xb[i], c = xc[i]; r[i] = (RT)(eval); }                               \
        else {                                                                                                          \
            int sa = !(shared & 1), sb = !(shared & 2), sc = !(shared & 4);                                             \
            FOR_LANES { CT a = xa[i * sa], b = xb[i * sb], c = xc[i * sc]; r[i] = (RT)(eval); }                         \
        }                                                                                                               \
    }

/* ---- which types a row is for ---- */
#define RESULT_SAME(CT) CT
#define RESULT_BOOL(CT) uint8_t
#define ONE(name, suffix, CT, UT, SIGNED, BOOLEAN, arity, result, eval) FUNCTION_##arity(name##_##suffix, CT, UT, SIGNED, BOOLEAN, RESULT_##result(CT), eval)
#define EACH_INT(F, name, arity, result, eval)                                                                          \
    F(name, i8, int8_t, uint8_t, 1, 0, arity, result, eval) F(name, i16, int16_t, uint16_t, 1, 0, arity, result, eval)  \
    F(name, i32, int32_t, uint32_t, 1, 0, arity, result, eval) F(name, i64, int64_t, uint64_t, 1, 0, arity, result, eval) \
    F(name, u8, uint8_t, uint8_t, 0, 0, arity, result, eval) F(name, u16, uint16_t, uint16_t, 0, 0, arity, result, eval) \
    F(name, u32, uint32_t, uint32_t, 0, 0, arity, result, eval) F(name, u64, uint64_t, uint64_t, 0, 0, arity, result, eval)
#define EACH_FLT(F, name, arity, result, eval)                                                                          \
    F(name, f32, float, float, 1, 0, arity, result, eval) F(name, f64, double, double, 1, 0, arity, result, eval)
#define EACH_BOOL(F, name, arity, result, eval) F(name, b8, uint8_t, uint8_t, 0, 1, arity, result, eval)
#define EACH_NUM(F, name, arity, result, eval) EACH_INT(F, name, arity, result, eval) EACH_FLT(F, name, arity, result, eval)
#define EACH_BITS(F, name, arity, result, eval) EACH_INT(F, name, arity, result, eval) EACH_BOOL(F, name, arity, result, eval)
#define EACH_ANY(F, name, arity, result, eval) EACH_NUM(F, name, arity, result, eval) EACH_BOOL(F, name, arity, result, eval)
#define NONE(F, name, arity, result, eval)

/* Rows by hand: */
#define OWN_select ~, NONE
#define OWN_convert ~, NONE
#define OWN_bitcast ~, NONE
#define OWN_round_f16 ~, NONE
#define OWN_round_bf16 ~, NONE
#define SECOND(first, second, ...) second
#define CHOOSE(...) SECOND(__VA_ARGS__)
#define KOP(name, arity, operands, result, source, llvm_int, llvm_float, eval) CHOOSE(OWN_##name, EACH_##operands, ~)(ONE, name, arity, result, eval)
#include "ir/kir/kops.def"

/* ---- select and bitcast: by width alone ---- */
#define SELECT(size, W)                                                                                                 \
    static void VARIANT(select_##size)(void *to, const void *pa, const void *pb, const void *pc, int n, unsigned shared) { \
        W *restrict r = to; const uint8_t *c = pa; const W *x = pb, *y = pc;                                            \
        if (!shared) { FOR_LANES { W yes = x[i], no = y[i]; r[i] = c[i] ? yes : no; } return; }                         \
        int sc = !(shared & 1), sx = !(shared & 2), sy = !(shared & 4);                                                 \
        if (shared == 2) { W yes = *x; FOR_LANES { W no = y[i]; r[i] = c[i] ? yes : no; } }                             \
        else if (shared == 4) { W no = *y; FOR_LANES { W yes = x[i]; r[i] = c[i] ? yes : no; } }                        \
        else FOR_LANES r[i] = c[i * sc] ? x[i * sx] : y[i * sy];                                                        \
    }                                                                                                                   \
    static void VARIANT(copy_##size)(void *to, const void *pa, const void *pb, const void *pc, int n, unsigned shared) { \
        (void)pb; (void)pc; (void)shared;                                                                               \
        memcpy(to, pa, (size_t)n * size);                                                                               \
    }
SELECT(1, uint8_t)
SELECT(2, any16)
SELECT(4, any32)
SELECT(8, any64)

/* ---- rounding to 16-bit floats ---- */

static inline uint32_t bits_of(float f) { uint32_t u; memcpy(&u, &f, sizeof u); return u; }
static inline float float_of(uint32_t u) { float f; memcpy(&f, &u, sizeof f); return f; }

/* In the subnormal range the spacing is 2**-24, which is that of float32 just above 0.5; elsewhere 13 bits go. */
static inline float round_half(float x) {
    uint32_t u = bits_of(x), sign = u & 0x80000000u, magnitude = u ^ sign;
    uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1)) & ~0x1fffu;
    uint32_t small = bits_of(float_of(magnitude) + 0.5f - 0.5f);
    uint32_t r = magnitude < 0x38800000u ? small : normal >= 0x47800000u ? 0x7f800000u : normal;
    return float_of((magnitude > 0x7f800000u ? magnitude | 0x400000u : r) | sign);
}

static inline float round_brain(float x) {
    uint32_t u = bits_of(x), r = u + 0x7fff + (u >> 16 & 1);
    return float_of(((u & 0x7fffffffu) > 0x7f800000u ? u | 0x400000u : r) & 0xffff0000u);
}

#define ROUND(name, CT, eval)                                                                                           \
    static void VARIANT(name)(void *to, const void *pa, const void *pb, const void *pc, int n, unsigned shared) {       \
        float *restrict r = to; const CT *xa = pa;                                                                      \
        (void)pb; (void)pc; (void)shared;                                                                               \
        FOR_LANES { CT a = xa[i]; r[i] = (eval); }                                                                      \
    }
ROUND(round_f16_f32, float, round_half(a))
ROUND(round_bf16_f32, float, round_brain(a))
ROUND(round_f16_f64, double, half_to_float(double_to_half(a)))
ROUND(round_bf16_f64, double, bfloat_to_float(double_to_bfloat(a)))

/* ---- conversion ---- */

/* A float beyond the target's range may give any value: the library's rule for casts is kept. */
static inline int64_t to_integer(double v) { return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : INT64_MIN; }
static inline uint64_t to_unsigned(double v) { return v >= 9223372036854775808.0 && v < 18446744073709551616.0 ? (uint64_t)v : (uint64_t)to_integer(v); }
#define TO_b8(a) ((a) != 0)
#define TO_f32(a) (a)
#define TO_f64(a) (a)
#define TO_i8(a) FLOAT_OR(a, to_integer((double)(a)), (a))
#define TO_i16 TO_i8
#define TO_i32 TO_i8
#define TO_i64 TO_i8
#define TO_u8 TO_i8
#define TO_u16 TO_i8
#define TO_u32 TO_i8
#define TO_u64(a) FLOAT_OR(a, to_unsigned((double)(a)), (a))
#define MAKE_CONVERT(from, FT, to_name, TT)                                                                                  \
    static void VARIANT(convert_##from##_##to_name)(void *to, const void *pa, const void *pb, const void *pc, int n, unsigned shared) { \
        TT *restrict r = to; const FT *xa = pa;                                                                         \
        (void)pb; (void)pc; (void)shared;                                                                               \
        FOR_LANES { FT a = xa[i]; r[i] = (TT)TO_##to_name(a); }                                                         \
    }
#define EACH_TARGET(F, from, FT)                                                                                        \
    F(from, FT, b8, uint8_t) F(from, FT, i8, int8_t) F(from, FT, i16, int16_t) F(from, FT, i32, int32_t) F(from, FT, i64, int64_t) \
    F(from, FT, u8, uint8_t) F(from, FT, u16, uint16_t) F(from, FT, u32, uint32_t) F(from, FT, u64, uint64_t)           \
    F(from, FT, f32, float) F(from, FT, f64, double)
EACH_TARGET(MAKE_CONVERT, b8, uint8_t)
EACH_TARGET(MAKE_CONVERT, i8, int8_t)
EACH_TARGET(MAKE_CONVERT, i16, int16_t)
EACH_TARGET(MAKE_CONVERT, i32, int32_t)
EACH_TARGET(MAKE_CONVERT, i64, int64_t)
EACH_TARGET(MAKE_CONVERT, u8, uint8_t)
EACH_TARGET(MAKE_CONVERT, u16, uint16_t)
EACH_TARGET(MAKE_CONVERT, u32, uint32_t)
EACH_TARGET(MAKE_CONVERT, u64, uint64_t)
EACH_TARGET(MAKE_CONVERT, f32, float)
EACH_TARGET(MAKE_CONVERT, f64, double)

/* ---- tables ---- */
#define TYPE_b8 T_BOOL
#define TYPE_i8 T_I8
#define TYPE_i16 T_I16
#define TYPE_i32 T_I32
#define TYPE_i64 T_I64
#define TYPE_u8 T_U8
#define TYPE_u16 T_U16
#define TYPE_u32 T_U32
#define TYPE_u64 T_U64
#define TYPE_f32 T_F32
#define TYPE_f64 T_F64
#define ENTRY(name, suffix, CT, UT, SIGNED, BOOLEAN, arity, result, eval) [KOP_##name][TYPE_##suffix] = VARIANT(name##_##suffix),
#define CONVERT_ENTRY(from, FT, to_name, TT) [TYPE_##to_name][TYPE_##from] = VARIANT(convert_##from##_##to_name),
#define ALL_WIDTHS(kop_name, stem)                                                                                      \
    [kop_name] = { [T_BOOL] = VARIANT(stem##_1), [T_I8] = VARIANT(stem##_1), [T_U8] = VARIANT(stem##_1), [T_I16] = VARIANT(stem##_2), \
                   [T_U16] = VARIANT(stem##_2), [T_I32] = VARIANT(stem##_4), [T_U32] = VARIANT(stem##_4), [T_F32] = VARIANT(stem##_4), \
                   [T_I64] = VARIANT(stem##_8), [T_U64] = VARIANT(stem##_8), [T_F64] = VARIANT(stem##_8) },

const lane_tables VARIANT(operation_tables) = {
    .operation = {
#define KOP(name, arity, operands, result, source, llvm_int, llvm_float, eval) CHOOSE(OWN_##name, EACH_##operands, ~)(ENTRY, name, arity, result, eval)
#include "ir/kir/kops.def"
        ALL_WIDTHS(KOP_select, select) ALL_WIDTHS(KOP_bitcast, copy)
        [KOP_round_f16] = { [T_F32] = VARIANT(round_f16_f32), [T_F64] = VARIANT(round_f16_f64) },
        [KOP_round_bf16] = { [T_F32] = VARIANT(round_bf16_f32), [T_F64] = VARIANT(round_bf16_f64) },
    },
    .convert = {
        EACH_TARGET(CONVERT_ENTRY, b8, ) EACH_TARGET(CONVERT_ENTRY, i8, ) EACH_TARGET(CONVERT_ENTRY, i16, ) EACH_TARGET(CONVERT_ENTRY, i32, )
        EACH_TARGET(CONVERT_ENTRY, i64, ) EACH_TARGET(CONVERT_ENTRY, u8, ) EACH_TARGET(CONVERT_ENTRY, u16, ) EACH_TARGET(CONVERT_ENTRY, u32, )
        EACH_TARGET(CONVERT_ENTRY, u64, ) EACH_TARGET(CONVERT_ENTRY, f32, ) EACH_TARGET(CONVERT_ENTRY, f64, )
    },
};
