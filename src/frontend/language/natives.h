/* natives.h: what the files of functions written in C share: big integers, numbers, text. */
#ifndef KILN_LANGUAGE_NATIVES_H
#define KILN_LANGUAGE_NATIVES_H
#include "frontend/language/language.h"

/* ---- big.c ---- */
int64_t big_bit_length(value v);                     /* of the magnitude; BOOL, INT, BIG */
int64_t big_bit_count(value v);
int big_sign(value v);                               /* -1, 0, 1 */
bool big_ratio(machine *m, value a, value b, double *d);   /* a / b, rounded once; ZeroDivisionError, OverflowError */
value big_negate(machine *m, value v);
value int_from_u64(machine *m, uint64_t u);
bool big_u64(value v, uint64_t *u);                  /* a BIG that uint64 holds; false: it does not (nothing raised) */
/* An integer literal as int(text, base) reads it: spaces around, sign, prefix, underscores. ABSENT: ValueError. */
value big_from_literal(machine *m, value string, int base);

/* ---- numbers.c ---- */
/* NumPy's elements, and 0-d arrays, as Python's numbers; everything else as it is. A new reference. */
value plain_number(machine *m, value v);
/* As operator.index: BOOL, elements of integers and 0-d arrays become INT (or BIG). ABSENT: raised, TypeError. */
value as_integer(machine *m, value v);
bool integer_argument(machine *m, value v, const char *what, int64_t *i);   /* one of 64 bits; OverflowError */
bool integer_clipped(machine *m, value v, int64_t *i);  /* to 64 bits */
bool real_argument(machine *m, value v, double *d);     /* as float(v), but no text */
bool complex_argument(machine *m, value v, double *re, double *im);
/* The arithmetic of loops: *sum (owned) becomes *sum op v. */
bool accumulate(machine *m, syntax_binary op, value *sum, value v);
native_function make_int, make_float, make_complex, number_abs, number_round, number_divmod, number_pow;

/* ---- format.c ---- */
typedef struct format_spec {
    char fill[8]; int fill_size;                     /* UTF-8; 0: the default of the type */
    char align, sign, type;                          /* 0: not given */
    char grouping;                                   /* ',' '_' or 0 */
    bool alternate, no_negative_zero, zero;
    int64_t width, precision;                        /* -1: not given */
} format_spec;
/* A text of so many code points in the width of spec; `align` where spec has none. */
void text_pad(text *out, const char *s, size_t n, size_t points, const format_spec *spec, char align);
void text_repeat(text *out, const char *s, size_t n, int64_t times);

/* ---- string_methods.c ---- */
size_t utf8_points(const char *s, size_t n);
size_t utf8_put(uint32_t point, char out[4]);
uint32_t utf8_get(const char *s, size_t *size);      /* the code point at s */
size_t utf8_offset(const string_object *s, int64_t point);   /* of the point's first byte; point <= s->points */
int utf8_cut(const char *s, size_t n);               /* n, or the bytes of fewer characters that suit a sentence */
void text_ascii(text *out, const char *s, size_t n);  /* what is not ASCII as \x, \u, \U */

extern const native_row string_rows[]; extern const int nstring_rows;

/* ---- methods.c ---- */
bool list_sort(machine *m, value list, value key /* or ABSENT */, bool backwards);
bool dict_update(machine *m, value dict, value from);   /* a dict, pairs, or ABSENT */
value set_of(machine *m, value iterable /* or ABSENT */);

/* ---- math_integers.c ---- */
native_function math_factorial, math_comb, math_perm, math_gcd, math_lcm, math_isqrt;

/* ---- math_module.c ---- */
/* rel_tol and abs_tol in a[2] and a[3]. */
bool tolerances(machine *m, const value *a, double *relative, double *absolute);
bool within(double distance, double x, double y, double relative, double absolute);
value raise_domain(machine *m);
value raise_range(machine *m);

/* The most elements or bytes that one call may make; past it MemoryError. */
#define LENGTH_MOST ((int64_t)1 << 28)
static inline bool length_allowed(machine *m, int64_t n) { return n <= LENGTH_MOST || !absent(raise_memory(m)); }
#endif
