/* cast.c: one element from memory to memory.
 *
 * How it works: every element is exactly an int64, a uint64, a double or a pair of doubles, so a cast loads into a
 * `scalar` and stores from it, rounding once. The 16-bit floats are converted by integer arithmetic. Loops over arrays do
 * not belong here: kernels do them, and tests compare kernels with this. */
#include "ir/base/base.h"

#include <string.h>

/* ---- 16-bit floats ---- */

enum { FLOAT_MANTISSA = 23, DOUBLE_MANTISSA = 52 };

static uint32_t float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint64_t double_bits(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The 16-bit float with `mantissa` stored bits (10: float16, 7: bfloat16) nearest to a double, given by its pattern. */
static uint16_t narrow(uint64_t bits, int mantissa)
{
    const int exponent_bits = 15 - mantissa;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    const uint16_t infinity = (uint16_t)(((1 << exponent_bits) - 1) << mantissa);
    const uint64_t implicit = UINT64_C(1) << DOUBLE_MANTISSA;
    const int biased = (int)(bits >> DOUBLE_MANTISSA & 0x7ff);
    uint64_t fraction = bits & (implicit - 1);

    if (biased == 0x7ff) {
        if (fraction == 0)
            return sign | infinity;
        uint16_t payload = (uint16_t)(fraction >> (DOUBLE_MANTISSA - mantissa));
        return (uint16_t)(sign | infinity | 1 << (mantissa - 1) | payload);
    }
    int exponent = biased - 1023 + bias; /* as stored in the result; below 1 it is a subnormal */
    if (exponent >= (1 << exponent_bits) - 1)
        return sign | infinity;
    if (biased != 0)
        fraction |= implicit;
    int drop = DOUBLE_MANTISSA - mantissa;
    if (exponent < 1) {
        drop += 1 - exponent;
        exponent = 1;
        if (drop > DOUBLE_MANTISSA + 2)
            return sign; /* less than half of the smallest subnormal */
    }
    uint64_t kept = fraction >> drop, rest = fraction & ((UINT64_C(1) << drop) - 1), half = UINT64_C(1) << (drop - 1);
    kept += rest > half || (rest == half && (kept & 1));
    /* The implicit bit, where there is one, adds 1 to the exponent; a carry out of the fraction does the same. */
    return (uint16_t)(sign | (kept + ((uint64_t)(exponent - 1) << mantissa)));
}

static float widen(uint16_t h, int mantissa)
{
    const int exponent_bits = 15 - mantissa;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    const uint32_t largest = (1u << exponent_bits) - 1;
    uint32_t exponent = (uint32_t)(h & 0x7fff) >> mantissa;
    uint32_t fraction = h & ((1u << mantissa) - 1);
    const int shift = FLOAT_MANTISSA - mantissa;

    if (exponent == largest) {
        uint32_t quiet = fraction ? 1u << (FLOAT_MANTISSA - 1) : 0;
        return bits_float(sign | 0x7f800000u | quiet | fraction << shift);
    }
    if (bias == 127) /* bfloat16 is the upper half of a float32 */
        return bits_float(sign | exponent << FLOAT_MANTISSA | fraction << shift);
    if (exponent == 0) {
        float magnitude = (float)fraction * (1.0f / (float)(1 << (bias - 1 + mantissa)));
        return bits_float(sign | float_bits(magnitude));
    }
    return bits_float(sign | (exponent + 127u - (uint32_t)bias) << FLOAT_MANTISSA | fraction << shift);
}

float half_to_float(uint16_t h) { return widen(h, 10); }
float bfloat_to_float(uint16_t h) { return widen(h, 7); }
uint16_t double_to_half(double d) { return narrow(double_bits(d), 10); }
uint16_t double_to_bfloat(double d) { return narrow(double_bits(d), 7); }
uint16_t float_to_half(float f) { return double_to_half(f); }
uint16_t float_to_bfloat(float f) { return double_to_bfloat(f); }

/* ---- numbers ---- */

static double real_part(scalar s)
{
    return s.kind == SCALAR_COMPLEX ? s.v.c.re : s.v.f;
}

/* A double that rounds to every narrower float as the integer does: bits that do not fit leave a trace in the last one. */
static double sticky_double(scalar s)
{
    bool negative = s.kind == SCALAR_INT && s.v.i < 0;
    uint64_t magnitude = s.kind == SCALAR_BOOL ? s.v.b : negative ? -s.v.u : s.v.u;
    const uint64_t low = (UINT64_C(1) << (63 - DOUBLE_MANTISSA)) - 1;
    if (magnitude >> (DOUBLE_MANTISSA + 1) && magnitude & low)
        magnitude = (magnitude & ~low) | (low + 1);
    return negative ? -(double)magnitude : (double)magnitude;
}

static double as_double(scalar s)
{
    switch (s.kind) {
    case SCALAR_BOOL: return s.v.b;
    case SCALAR_INT: return (double)s.v.i;
    case SCALAR_UINT: return (double)s.v.u;
    case SCALAR_FLOAT: return s.v.f;
    case SCALAR_COMPLEX: return s.v.c.re;
    }
    return 0;
}

static float as_float(scalar s)
{
    switch (s.kind) {
    case SCALAR_BOOL: return s.v.b;
    case SCALAR_INT: return (float)s.v.i;
    case SCALAR_UINT: return (float)s.v.u;
    case SCALAR_FLOAT: return (float)s.v.f;
    case SCALAR_COMPLEX: return (float)s.v.c.re;
    }
    return 0;
}

static double imaginary(scalar s)
{
    return s.kind == SCALAR_COMPLEX ? s.v.c.im : 0;
}

static uint64_t as_integer(scalar s, bool to_uint64)
{
    if (s.kind == SCALAR_BOOL)
        return s.v.b;
    if (s.kind == SCALAR_INT || s.kind == SCALAR_UINT)
        return s.v.u;
    double d = real_part(s);
    if (d >= -0x1p63 && d < 0x1p63)
        return (uint64_t)(int64_t)d;
    if (to_uint64 && d >= 0x1p63 && d < 0x1p64)
        return (uint64_t)d;
    return (uint64_t)INT64_MIN;
}

static bool as_bool(scalar s)
{
    switch (s.kind) {
    case SCALAR_BOOL: return s.v.b;
    case SCALAR_INT:
    case SCALAR_UINT: return s.v.u != 0;
    case SCALAR_FLOAT: return s.v.f != 0;
    case SCALAR_COMPLEX: return s.v.c.re != 0 || s.v.c.im != 0;
    }
    return false;
}

static uint16_t as_16_bits(scalar s, int mantissa)
{
    double d = s.kind == SCALAR_FLOAT || s.kind == SCALAR_COMPLEX ? real_part(s) : sticky_double(s);
    return narrow(double_bits(d), mantissa);
}

/* ---- elements ---- */

#define LOAD(type, kind_, member) { type v; memcpy(&v, src, sizeof v); return (scalar){.kind = kind_, .v.member = v}; }
#define LOAD_PAIR(type) { type v[2]; memcpy(v, src, sizeof v); return (scalar){.kind = SCALAR_COMPLEX, .v.c = {v[0], v[1]}}; }
#define LOAD_16(convert) { uint16_t v; memcpy(&v, src, sizeof v); return (scalar){.kind = SCALAR_FLOAT, .v.f = convert(v)}; }

scalar element_load(kn_dtype t, const void *src)
{
    switch (t) {
    case KN_BOOL: return (scalar){.kind = SCALAR_BOOL, .v.b = *(const unsigned char *)src != 0};
    case KN_INT8: LOAD(int8_t, SCALAR_INT, i)
    case KN_INT16: LOAD(int16_t, SCALAR_INT, i)
    case KN_INT32: LOAD(int32_t, SCALAR_INT, i)
    case KN_INT64: LOAD(int64_t, SCALAR_INT, i)
    case KN_UINT8: LOAD(uint8_t, SCALAR_UINT, u)
    case KN_UINT16: LOAD(uint16_t, SCALAR_UINT, u)
    case KN_UINT32: LOAD(uint32_t, SCALAR_UINT, u)
    case KN_UINT64: LOAD(uint64_t, SCALAR_UINT, u)
    case KN_FLOAT16: LOAD_16(half_to_float)
    case KN_BFLOAT16: LOAD_16(bfloat_to_float)
    case KN_FLOAT32: LOAD(float, SCALAR_FLOAT, f)
    case KN_FLOAT64: LOAD(double, SCALAR_FLOAT, f)
    case KN_COMPLEX64: LOAD_PAIR(float)
    case KN_COMPLEX128: LOAD_PAIR(double)
    case KN_DTYPE_UNSET:
    case KN_DTYPE_MAX_: break;
    }
    return (scalar){0};
}

#define STORE(type, value) { type v = (type)(value); memcpy(dst, &v, sizeof v); return; }
#define STORE_PAIR(type, re, im) { type v[2] = {re, im}; memcpy(dst, v, sizeof v); return; }

void element_store(kn_dtype t, void *dst, scalar s)
{
    switch (t) {
    case KN_BOOL: STORE(uint8_t, as_bool(s))
    case KN_INT8: STORE(int8_t, as_integer(s, false))
    case KN_INT16: STORE(int16_t, as_integer(s, false))
    case KN_INT32: STORE(int32_t, as_integer(s, false))
    case KN_INT64: STORE(int64_t, as_integer(s, false))
    case KN_UINT8: STORE(uint8_t, as_integer(s, false))
    case KN_UINT16: STORE(uint16_t, as_integer(s, false))
    case KN_UINT32: STORE(uint32_t, as_integer(s, false))
    case KN_UINT64: STORE(uint64_t, as_integer(s, true))
    case KN_FLOAT16: STORE(uint16_t, as_16_bits(s, 10))
    case KN_BFLOAT16: STORE(uint16_t, as_16_bits(s, 7))
    case KN_FLOAT32: STORE(float, as_float(s))
    case KN_FLOAT64: STORE(double, as_double(s))
    case KN_COMPLEX64: STORE_PAIR(float, as_float(s), (float)imaginary(s))
    case KN_COMPLEX128: STORE_PAIR(double, as_double(s), imaginary(s))
    case KN_DTYPE_UNSET:
    case KN_DTYPE_MAX_: break;
    }
}

void element_cast(kn_dtype to, void *dst, kn_dtype from, const void *src)
{
    if (to == from && to != KN_BOOL) { /* also keeps a NaN's payload */
        memmove(dst, src, dtype_size(to));
        return;
    }
    element_store(to, dst, element_load(from, src));
}
