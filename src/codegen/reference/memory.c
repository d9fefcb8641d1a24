/* memory.c: elements in memory, as kernels load and store them. */
#include <string.h>
#include "codegen/reference/reference.h"

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

void reference_load(void *to, const char *array, ktype storage, const int64_t *index, const uint8_t *mask, int n) {
    size_t size = ktype_table[storage].size, value_size = ktype_table[ktype_value(storage)].size;
    for (int i = 0; i < n; i++) {
        char *r = (char *)to + (size_t)i * value_size;
        if (mask && !mask[i]) { memset(r, 0, value_size); continue; }
        const char *p = array + index[i] * (int64_t)size;
        if (storage == T_F16 || storage == T_BF16) {
            uint16_t h;
            memcpy(&h, p, sizeof h);
            float f = storage == T_F16 ? half_to_float(h) : bfloat_to_float(h);
            memcpy(r, &f, sizeof f);
        } else if (storage == T_BOOL) {
            *r = *p != 0;
        } else {
            memcpy(r, p, size);
        }
    }
}

void reference_store(char *array, ktype storage, const int64_t *index, operand value, const uint8_t *mask, int n) {
    size_t size = ktype_table[storage].size, value_size = ktype_table[ktype_value(storage)].size;
    for (int i = 0; i < n; i++) {
        if (mask && !mask[i]) continue;
        const char *v = (const char *)value.at + (size_t)(i * value.step) * value_size;
        char *p = array + index[i] * (int64_t)size;
        if (storage == T_F16 || storage == T_BF16) {
            float f;
            memcpy(&f, v, sizeof f);
            uint16_t h = storage == T_F16 ? float_to_half(f) : float_to_bfloat(f);
            memcpy(p, &h, sizeof h);
        } else {
            memcpy(p, v, size);
        }
    }
}

static double as_double(ktype t, uint64_t bits) {
    float f;
    double d;
    if (t == T_F32) { uint32_t w = (uint32_t)bits; memcpy(&f, &w, sizeof f); return (double)f; }
    memcpy(&d, &bits, sizeof d);
    return d;
}

static uint64_t add(ktype t, uint64_t a, uint64_t b) {
    uint64_t r = 0;
    if (t == T_F32) { float f = (float)as_double(t, a) + (float)as_double(t, b); memcpy(&r, &f, sizeof f); }
    else if (t == T_F64) { double d = as_double(t, a) + as_double(t, b); memcpy(&r, &d, sizeof d); }
    else r = a + b;
    return r;
}

static bool less(ktype t, uint64_t a, uint64_t b) {
    if (ktype_table[t].is_float) return as_double(t, a) < as_double(t, b);
    return ktype_table[t].is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* Blocks run one after the other in one thread, but several threads may run one kernel: the word is changed under a
 * compare and exchange of its own size. */
uint64_t reference_compare_exchange(char *at, ktype t, uint64_t expected, uint64_t desired) {
    if (ktype_table[t].size == 8) {
        __atomic_compare_exchange_n((uint64_t *)(void *)at, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return expected;
    }
    uint32_t want = (uint32_t)expected;
    __atomic_compare_exchange_n((uint32_t *)(void *)at, &want, (uint32_t)desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return reference_word(t, &want);
}

uint64_t reference_atomic(char *at, ktype t, int how, uint64_t v) {
    for (;;) {
        uint64_t old = ktype_table[t].size == 8 ? __atomic_load_n((uint64_t *)(void *)at, __ATOMIC_SEQ_CST) : 0;
        if (ktype_table[t].size == 4) { uint32_t w = __atomic_load_n((uint32_t *)(void *)at, __ATOMIC_SEQ_CST); old = reference_word(t, &w); }
        uint64_t next = v;
        switch (how) {
        case ATOMIC_ADD: next = add(t, old, v); break;
        case ATOMIC_MIN: next = less(t, v, old) ? v : old; break;
        case ATOMIC_MAX: next = less(t, old, v) ? v : old; break;
        case ATOMIC_AND: next = old & v; break;
        case ATOMIC_OR: next = old | v; break;
        case ATOMIC_XOR: next = old ^ v; break;
        default: break;
        }
        if (reference_compare_exchange(at, t, old, next) == old) return old;
    }
}
