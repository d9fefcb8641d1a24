/* decimal.h: binary floats to decimal digits and back, exactly, without the C library and so without its locale.
 *
 * decimal.c takes floats of every dtype apart and generates digits; float_text.c lays digits out as text; decimal_read.c
 * reads numbers. What arrays look like belongs to print.c. */
#ifndef KILN_PRINT_DECIMAL_H
#define KILN_PRINT_DECIMAL_H
#include "ir/base/base.h"

/* ---- decimal.c ---- */

typedef enum { FLOAT_FINITE, FLOAT_INFINITE, FLOAT_NAN } float_class;

/* mantissa * 2^exponent, as stored: no digit below the last bit of the mantissa is known. */
typedef struct binary_float {
    float_class class;
    bool negative;
    bool lower_closer;    /* a power of two: the next float below is half as far as the next above */
    int exponent;
    uint64_t mantissa;
} binary_float;

/* Takes a real float of dtype t apart. */
binary_float binary_float_load(kn_dtype t, const void *element);
binary_float binary_float_of(double value);

/* The longest exact expansion of a double has 767 significant digits. */
enum { DIGITS_MAX = 770 };

/* digit[0].digit[1]digit[2]... * 10^exponent; at least one digit, no sign. */
typedef struct decimal_digits {
    int count, exponent;
    char digit[DIGITS_MAX];
} decimal_digits;

/* Which digits are wanted. at_most and at_least count digits after the decimal point when `fractional`, significant digits
 * otherwise; -1 is no limit. `shortest` stops where the digits tell the float from its neighbours of the same dtype, and
 * goes on to at_least; otherwise the digits are the exact ones. Either way at_most rounds half to even. The digits stop
 * early when only zeros would follow. */
typedef struct digit_request {
    bool shortest, fractional;
    int at_most, at_least;
} digit_request;
void decimal_generate(const binary_float *x, digit_request request, decimal_digits *d);

/* ---- float_text.c ---- */

typedef enum {
    TRIM_NOTHING,       /* zeros up to the precision, and the point */
    TRIM_ZEROS,         /* 1. */
    TRIM_TO_ONE_ZERO,   /* 1.0 */
    TRIM_POINT          /* 1 */
} float_trim;

/* As NumPy's format_float_positional and format_float_scientific; -1 leaves a limit or a width out. */
typedef struct float_format {
    digit_request digits;   /* scientific form counts digits after the point, whatever `fractional` says */
    float_trim trim;
    bool plus;              /* a plus sign before what is not negative */
    int pad_left;           /* least number of characters before the point, sign included */
    int pad_right;          /* least number of characters after the point (positional form) */
    int exponent_digits;    /* least number of digits of the exponent (scientific form); -1 is two */
} float_format;
void float_positional(const binary_float *x, const float_format *f, text *out);
void float_scientific(const binary_float *x, const float_format *f, text *out);

/* ---- decimal_read.c ---- */

/* Reads digits with at most one point among them and an optional exponent ("1", ".5", "1.", "1e-3"), no sign and no
 * spaces, from the start of [s, end). Returns the end of what was read, or NULL where no number starts. The value is the
 * nearest double, halves to even; too large gives infinity. */
const char *decimal_read(const char *s, const char *end, double *value);
#endif
