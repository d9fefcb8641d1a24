/* atomic.c: words of memory that several threads share.
 *
 * One run is one thread, but several may run one kernel over the same memory. Orders are taken at least as strong as the
 * instruction asks for. */
#include <string.h>
#include "codegen/reference/reference.h"

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

static bool is_nan(ktype t, uint64_t a) { return ktype_table[t].is_float && as_double(t, a) != as_double(t, a); }

uint64_t ordered_load(const char *at, ktype t, bool acquire) {
    int order = acquire ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
    if (ktype_table[t].size == 8) return __atomic_load_n((const uint64_t *)(const void *)at, order);
    uint32_t w = __atomic_load_n((const uint32_t *)(const void *)at, order);
    return reference_word(t, &w);
}

void ordered_store(char *at, ktype t, bool release, uint64_t bits) {
    int order = release ? __ATOMIC_RELEASE : __ATOMIC_RELAXED;
    if (ktype_table[t].size == 8) __atomic_store_n((uint64_t *)(void *)at, bits, order);
    else __atomic_store_n((uint32_t *)(void *)at, (uint32_t)bits, order);
}

uint64_t reference_compare_exchange(char *at, ktype t, uint64_t expected, uint64_t desired) {
    if (ktype_table[t].size == 8) {
        __atomic_compare_exchange_n((uint64_t *)(void *)at, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return expected;
    }
    uint32_t want = (uint32_t)expected;
    __atomic_compare_exchange_n((uint32_t *)(void *)at, &want, (uint32_t)desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return reference_word(t, &want);
}

/* The least and the greatest keep a NaN, whichever side it comes from. */
static uint64_t combined(ktype t, int how, uint64_t old, uint64_t v) {
    switch (how) {
    case ATOMIC_ADD: return add(t, old, v);
    case ATOMIC_MIN: return is_nan(t, v) || less(t, v, old) ? v : old;
    case ATOMIC_MAX: return is_nan(t, v) || less(t, old, v) ? v : old;
    case ATOMIC_AND: return old & v;
    case ATOMIC_OR: return old | v;
    case ATOMIC_XOR: return old ^ v;
    default: return v;
    }
}

uint64_t reference_atomic(char *at, ktype t, int how, uint64_t v) {
    for (;;) {
        uint64_t old = ordered_load(at, t, true);
        if (reference_compare_exchange(at, t, old, combined(t, how, old, v)) == old) return old;
    }
}
