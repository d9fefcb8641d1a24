/* print.h: arrays and numbers as text, as NumPy 2 and Python print them.
 *
 * Everything is appended to a `text`; a failed allocation leaves its `failed` set and what was there before in place. No
 * function here depends on the locale, keeps state or takes a lock, so any thread may call any of them. */
#ifndef KILN_PRINT_PRINT_H
#define KILN_PRINT_PRINT_H
#include "frontend/host.h"

/* ---- print.c: arrays ---- */

/* How many digits after the point a float gets (NumPy's floatmode). */
typedef enum {
    FLOATMODE_FIXED,           /* exactly `precision` */
    FLOATMODE_UNIQUE,          /* as many as tell it from its neighbours */
    FLOATMODE_MAXPREC,         /* that, but at most `precision` */
    FLOATMODE_MAXPREC_EQUAL    /* that, and all elements as many as the one that needs most */
} float_mode;

/* NumPy's print options, under its names. */
typedef struct print_options {
    int64_t threshold;      /* arrays with more elements are summarised */
    int64_t edgeitems;      /* elements shown at either end of a summarised axis */
    int64_t linewidth;
    int precision;
    bool suppress;          /* no scientific notation for small numbers and wide ranges */
    char sign;              /* '-', '+' or ' ' */
    float_mode floatmode;
    const char *nanstr, *infstr;
} print_options;
extern const print_options print_defaults;

/* ValueError with a sentence when an option has no meaning. The functions below expect options that passed. */
kn_status print_options_check(const print_options *o, message *m);

/* str(a) or repr(a); o may be NULL: NumPy's defaults. */
typedef enum { PRINT_STR, PRINT_REPR } print_mode;
void print_array(const host_array *a, const print_options *o, print_mode mode, text *out);
/* array2string(a, separator=, prefix=, suffix=) with the widths of prefix and suffix. */
void print_array_between(const host_array *a, const print_options *o, const char *separator, int64_t prefix, int64_t suffix,
                         text *out);

/* ---- scalar_text.c: numbers ---- */

/* One element as NumPy's scalar: 1.5 or np.float32(1.5). */
void print_scalar(kn_dtype t, const void *element, print_mode mode, text *out);
/* A number as Python's repr: True, 3, 0.1, (1+2j). */
void print_python(scalar s, text *out);
void print_float(double value, text *out);
/* As C's and Python's "%.{precision}{form}": form is one of e E f F g G; `keep` is the flag '#', which keeps the point and,
 * with g, the zeros. */
void print_float_as(double value, char form, int precision, bool keep, text *out);
#endif
