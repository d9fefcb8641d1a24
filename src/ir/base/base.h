/* base.h: what every other floor stands on: status and messages, dtypes, memory, hashing.
 *
 * How it works: functions that can fail return a kn_status; the sentence for the user lives in a `message` that the
 * caller passes down. Nothing here allocates behind the caller's back except through kn_malloc and friends, which tests
 * can make fail. Nothing about arrays, kernels or devices may be put here. */
#ifndef KILN_BASE_H
#define KILN_BASE_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kiln/types.h"

/* ---- status.c: one sentence per failure ---- */

/* The longest sentence kept; longer ones end in "...". */
#define MESSAGE_MAX 512

typedef struct message {
    kn_status status;
    char text[MESSAGE_MAX];
} message;

/* Sets m (when m is not NULL and holds no error yet) and returns status. */
kn_status fail(message *m, kn_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for "out of memory while ..."; never allocates. */
kn_status fail_memory(message *m, const char *what);
const char *status_name(kn_status status); /* "ValueError", as NumPy names the kind */

/* ---- memory.c: checked allocation ---- */

/* All of Kiln's host allocations pass here. mem_fail_after(n) makes the n-th following allocation of this process
 * fail, and every later one too when `stay` is true; n < 0 switches it off, 0 means 1. Built in always: it costs one relaxed load. */
void *mem_alloc(size_t size);                        /* NULL on failure; size 0 gives a unique pointer */
void *mem_zero(size_t count, size_t size);           /* overflow-checked, zeroed */
void *mem_array(size_t count, size_t size);          /* overflow-checked, not zeroed */
void *mem_grow(void *p, size_t count, size_t size);  /* realloc with overflow check; p stays valid on failure */
void *mem_aligned(size_t size, size_t alignment);    /* alignment: a power of two >= sizeof(void *); mem_free frees it */
void mem_free(void *p);
void mem_fail_after(int64_t n, bool stay);
char *mem_text(const char *s);                       /* a copy of s */

/* An arena: memory that is freed all at once. Allocation is 16-byte aligned. */
typedef struct arena_block arena_block;
typedef struct arena {
    arena_block *head;
    size_t used, size;   /* of the head block */
} arena;
void *arena_alloc(arena *a, size_t size);            /* NULL on failure */
void *arena_zero(arena *a, size_t count, size_t size);
void *arena_copy(arena *a, const void *bytes, size_t size);
char *arena_text(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_reset(arena *a);                          /* keeps the largest block for reuse */
void arena_free(arena *a);

/* Growing text. A failed allocation sets `failed`; text stays a valid string. */
typedef struct text {
    char *at;            /* NUL-terminated, never NULL after text_add; owned */
    size_t len, cap;
    bool failed;
} text;
void text_add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_addn(text *t, const char *s, size_t n);
void text_free(text *t);

/* ---- hash.c ---- */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);   /* 64-bit, for tables in memory */
typedef struct digest { uint64_t w[2]; } digest;                /* 128-bit, for names of cache entries */
digest digest_bytes(const void *p, size_t n);

/* ---- checked sizes ---- */
static inline bool mul_overflows(int64_t a, int64_t b, int64_t *r) { return __builtin_mul_overflow(a, b, r); }
static inline bool add_overflows(int64_t a, int64_t b, int64_t *r) { return __builtin_add_overflow(a, b, r); }

/* ---- dtype.c: NumPy 2's types, one row each ---- */

#define NDTYPES 16            /* kn_dtype values 1..15; 0 is "unset" */
#define NDIM_MAX 64

typedef enum { KIND_NONE, KIND_BOOL, KIND_INT, KIND_UINT, KIND_FLOAT, KIND_COMPLEX } dtype_kind;

typedef struct dtype_info {
    const char *name;         /* "float32" */
    char code;                /* NumPy's type code: 'f'; 'E' for bfloat16 */
    dtype_kind kind;
    uint8_t size;             /* bytes */
    uint8_t mantissa, exponent;   /* bits stored, of floats and of a complex number's parts */
    kn_dtype part;            /* complex: the dtype of its parts; others: itself */
} dtype_info;

extern const dtype_info dtype_table[NDTYPES];
static inline size_t dtype_size(kn_dtype t) { return dtype_table[t].size; }
static inline dtype_kind dtype_kind_of(kn_dtype t) { return dtype_table[t].kind; }
static inline bool dtype_is_complex(kn_dtype t) { return dtype_table[t].kind == KIND_COMPLEX; }
static inline bool dtype_is_inexact(kn_dtype t) { return dtype_table[t].kind >= KIND_FLOAT; }
static inline bool dtype_is_integer(kn_dtype t) { return dtype_table[t].kind == KIND_INT || dtype_table[t].kind == KIND_UINT; }

/* A number with no array around it. Integers keep 64 bits and a sign flag, so that uint64 and int64 both fit. */
typedef enum { SCALAR_BOOL, SCALAR_INT, SCALAR_UINT, SCALAR_FLOAT, SCALAR_COMPLEX } scalar_kind;
typedef struct scalar {
    scalar_kind kind;
    union { bool b; int64_t i; uint64_t u; double f; struct { double re, im; } c; } v;
} scalar;

/* NumPy 2's promotion (NEP 50). A weak operand is a Python number of that kind: it takes part by kind alone. */
kn_dtype dtype_promote(kn_dtype a, kn_dtype b);
kn_dtype dtype_promote_weak(kn_dtype strong, scalar_kind weak);   /* e.g. int32 with a float: float64 */
kn_dtype dtype_default(scalar_kind weak);                         /* bool, int64, uint64, float64, complex128 */
typedef enum { CAST_NO, CAST_EQUIV, CAST_SAFE, CAST_SAME_KIND, CAST_UNSAFE } casting;
bool dtype_can_cast(kn_dtype from, kn_dtype to, casting rule);
kn_dtype dtype_named(const char *name, size_t length);            /* "float32", "f4", "<f8", "int", ...; 0 when unknown */
bool scalar_fits(scalar s, kn_dtype t);                           /* an integer within t's range; floats always fit */

/* ---- cast.c: one element from memory to memory, with the library's cast rules ---- */
/* Float to integer truncates to int64 and wraps to the target's width; NaN and beyond int64 give INT64_MIN (uint64
 * targets keep values up to 2^64-1). Float to float16/bfloat16 rounds to nearest even once. Complex to real drops the
 * imaginary part. Anything to bool is "is not zero" (NaN is true). */
void element_cast(kn_dtype to, void *dst, kn_dtype from, const void *src);
scalar element_load(kn_dtype t, const void *src);
void element_store(kn_dtype t, void *dst, scalar s);
float half_to_float(uint16_t h);
uint16_t float_to_half(float f);
uint16_t double_to_half(double d);
float bfloat_to_float(uint16_t h);
uint16_t float_to_bfloat(float f);
uint16_t double_to_bfloat(double d);
#endif
