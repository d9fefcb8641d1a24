/* memory.c: elements in memory, as kernels load and store them.
 *
 * How it works: a storage type is a way to read an element and one to write it; macros make the loops for addresses in a
 * line and for addresses of their own. float16 and bfloat16 are converted by integer arithmetic that vectors can do. */
#include <string.h>
#include "codegen/reference/reference.h"

#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3")
#endif

/* ---- one value as a word ---- */

uint64_t reference_word(ktype t, const void *at) {
    switch (t) {
    case T_BOOL: case T_U8: return *(const uint8_t *)at;
    case T_I8: return (uint64_t)*(const int8_t *)at;
    case T_I16: { int16_t v; memcpy(&v, at, sizeof v); return (uint64_t)v; }
    case T_U16: case T_F16: case T_BF16: { uint16_t v; memcpy(&v, at, sizeof v); return v; }
    case T_I32: { int32_t v; memcpy(&v, at, sizeof v); return (uint64_t)v; }
    case T_U32: case T_F32: { uint32_t v; memcpy(&v, at, sizeof v); return v; }
    default: { uint64_t v; memcpy(&v, at, sizeof v); return v; }
    }
}

void reference_put(ktype t, void *at, uint64_t bits) { memcpy(at, &bits, ktype_table[t].size); }   /* little endian */

/* ---- 16-bit floats ---- */

static inline uint32_t bits_of(float f) { uint32_t u; memcpy(&u, &f, sizeof u); return u; }
static inline float float_of(uint32_t u) { float f; memcpy(&f, &u, sizeof f); return f; }

static inline float widen_half(uint16_t h) {
    uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t scaled = bits_of(float_of(magnitude) * 0x1p112f), quiet = magnitude > 0x0f800000u ? 0x400000u : 0;
    return float_of((magnitude >= 0x0f800000u ? magnitude | 0x7f800000u | quiet : scaled) | sign);
}

/* In the subnormal range the spacing is 2**-24, which is that of float32 just above 0.5; elsewhere 13 bits go. */
static inline uint16_t narrow_half(float f) {
    uint32_t u = bits_of(f), sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffffu;
    uint32_t normal = (magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13;
    uint32_t small = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t r = magnitude < 0x38800000u ? small : magnitude >= 0x47800000u ? 0x7c00u : normal;
    return (uint16_t)((magnitude > 0x7f800000u ? 0x7e00u | (magnitude >> 13 & 0x3ff) : r) | sign);
}

static inline float widen_brain(uint16_t h) {
    uint32_t u = (uint32_t)h << 16;
    return float_of((u & 0x7fffffffu) > 0x7f800000u ? u | 0x400000u : u);
}

static inline uint16_t narrow_brain(float f) {
    uint32_t u = bits_of(f);
    uint32_t r = (u & 0x7fffffffu) > 0x7f800000u ? u | 0x400000u : u + 0x7fff + (u >> 16 & 1);
    return (uint16_t)(r >> 16);
}

/* ---- ways to read and write: MEMORY is the element's C type, VALUE the value's ---- */
#define PLAIN(v) (v)
#define TRUTH(v) ((v) != 0)
#define WAYS(DO)                                                                        \
    case T_BOOL: DO(uint8_t, uint8_t, TRUTH, PLAIN)                                     \
    case T_I8: case T_U8: DO(uint8_t, uint8_t, PLAIN, PLAIN)                            \
    case T_I16: case T_U16: DO(uint16_t, any16, PLAIN, PLAIN)                        \
    case T_F16: DO(uint16_t, float, widen_half, narrow_half)                            \
    case T_BF16: DO(uint16_t, float, widen_brain, narrow_brain)                         \
    case T_I32: case T_U32: case T_F32: DO(uint32_t, any32, PLAIN, PLAIN)            \
    default: DO(uint64_t, any64, PLAIN, PLAIN)

/* Arrays need not be aligned to their elements. */
#define READ(MEMORY, at, v) MEMORY v; memcpy(&v, at, sizeof v)

#define LOAD_LINE(MEMORY, VALUE, read, write) {                                                                         \
        VALUE *restrict r = to;                                                                                         \
        const char *p = first;                                                                                          \
        int64_t by = stride * (int64_t)sizeof(MEMORY);                                                                  \
        if (mask) for (int i = 0; i < n; i++, p += by) { if (mask[i]) { READ(MEMORY, p, v); r[i] = (VALUE)read(v); } else r[i] = 0; } \
        else if (stride == 1) for (int i = 0; i < n; i++) { READ(MEMORY, p + (size_t)i * sizeof(MEMORY), v); r[i] = (VALUE)read(v); } \
        else if (stride == 0) { READ(MEMORY, p, v); VALUE one = (VALUE)read(v); for (int i = 0; i < n; i++) r[i] = one; } \
        else for (int i = 0; i < n; i++, p += by) { READ(MEMORY, p, v); r[i] = (VALUE)read(v); }                        \
        return; }

void load_strided(void *to, const char *first, ktype storage, int64_t stride, const uint8_t *mask, int n) {
    switch (storage) { WAYS(LOAD_LINE) }
}

#define STORE_LINE(MEMORY, VALUE, read, write) {                                                                        \
        const VALUE *restrict v = value.at;                                                                             \
        char *p = first;                                                                                                \
        int64_t by = stride * (int64_t)sizeof(MEMORY);                                                                  \
        if (mask) for (int i = 0; i < n; i++, p += by) { if (mask[i]) { MEMORY e = (MEMORY)write(v[i * value.step]); memcpy(p, &e, sizeof e); } } \
        else if (stride == 1 && value.step) for (int i = 0; i < n; i++) { MEMORY e = (MEMORY)write(v[i]); memcpy(p + (size_t)i * sizeof e, &e, sizeof e); } \
        else for (int i = 0; i < n; i++, p += by) { MEMORY e = (MEMORY)write(v[i * value.step]); memcpy(p, &e, sizeof e); } \
        return; }

void store_strided(char *first, ktype storage, int64_t stride, operand value, const uint8_t *mask, int n) {
    switch (storage) { WAYS(STORE_LINE) }
}

#define LOAD_EACH(MEMORY, VALUE, read, write) {                                                                         \
        VALUE *restrict r = to;                                                                                         \
        for (int i = 0; i < n; i++) {                                                                                   \
            if (mask && !mask[i]) { r[i] = 0; continue; }                                                               \
            READ(MEMORY, array + index[i] * (int64_t)sizeof(MEMORY), v);                                                \
            r[i] = (VALUE)read(v);                                                                                      \
        }                                                                                                               \
        return; }

void reference_load(void *to, const char *array, ktype storage, const int64_t *index, const uint8_t *mask, int n) {
    switch (storage) { WAYS(LOAD_EACH) }
}

#define STORE_EACH(MEMORY, VALUE, read, write) {                                                                        \
        const VALUE *restrict v = value.at;                                                                             \
        for (int i = 0; i < n; i++) {                                                                                   \
            if (mask && !mask[i]) continue;                                                                             \
            MEMORY e = (MEMORY)write(v[i * value.step]);                                                                \
            memcpy(array + index[i] * (int64_t)sizeof e, &e, sizeof e);                                                 \
        }                                                                                                               \
        return; }

void reference_store(char *array, ktype storage, const int64_t *index, operand value, const uint8_t *mask, int n) {
    switch (storage) { WAYS(STORE_EACH) }
}
