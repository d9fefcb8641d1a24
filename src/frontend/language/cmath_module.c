/* cmath_module.c: Python's module cmath: the C library's complex functions, with Python's errors. */
#include <complex.h>
#include <math.h>
#include <string.h>
#include "frontend/language/natives.h"

#undef I
#define CMATH(name) static value name(machine *m, const value *a, int n)
typedef double complex complex_double;

static bool argument(machine *m, value v, complex_double *z) {
    double re, im;
    if (!complex_argument(m, v, &re, &im)) return false;
    memcpy(z, (double[]){ re, im }, sizeof *z);      /* re + im * 1j is another number where a part is not finite */
    return true;
}
static bool has_nan(complex_double z) { return isnan(creal(z)) || isnan(cimag(z)); }
static bool has_infinity(complex_double z) { return isinf(creal(z)) || isinf(cimag(z)); }

static value checked(machine *m, complex_double z, complex_double r, bool overflows) {
    if (has_nan(r) && !has_nan(z)) return raise_domain(m);
    if (has_infinity(r) && !has_nan(z) && !has_infinity(z)) return overflows ? raise_range(m) : raise_domain(m);
    return complex_value(m, creal(r), cimag(r));
}
static value one(machine *m, const value *a, complex_double (*f)(complex_double), bool overflows) {
    complex_double z;
    return argument(m, a[0], &z) ? checked(m, z, f(z), overflows) : NO_VALUE_;
}

#define ONE(name, f, overflows) CMATH(name) { (void)n; return one(m, a, f, overflows); }
ONE(cmath_acos, cacos, false) ONE(cmath_acosh, cacosh, false) ONE(cmath_asin, casin, false) ONE(cmath_asinh, casinh, false) ONE(cmath_atan, catan, false)
ONE(cmath_atanh, catanh, false) ONE(cmath_cos, ccos, true) ONE(cmath_cosh, ccosh, true) ONE(cmath_exp, cexp, true) ONE(cmath_sin, csin, true)
ONE(cmath_sinh, csinh, true) ONE(cmath_sqrt, csqrt, false) ONE(cmath_tan, ctan, false) ONE(cmath_tanh, ctanh, false)

CMATH(cmath_log) {
    (void)n;
    complex_double z, base;
    if (!argument(m, a[0], &z)) return NO_VALUE_;
    if (z == 0) return raise_domain(m);
    complex_double r = clog(z);
    if (absent(a[1])) return complex_value(m, creal(r), cimag(r));
    if (!argument(m, a[1], &base)) return NO_VALUE_;
    if (base == 0) return raise_domain(m);
    value top = complex_value(m, creal(r), cimag(r)), bottom = complex_value(m, creal(clog(base)), cimag(clog(base)));
    value quotient = absent(top) || absent(bottom) ? NO_VALUE_ : operate(m, BINARY_DIV, top, bottom);
    value_drop(m, top);
    value_drop(m, bottom);
    return quotient;
}
CMATH(cmath_log10) {
    (void)n;
    complex_double z;
    if (!argument(m, a[0], &z)) return NO_VALUE_;
    if (z == 0) return raise_domain(m);
    complex_double r = clog(z);
    return complex_value(m, creal(r) / log(10), cimag(r) / log(10));
}

CMATH(cmath_phase) {
    (void)n;
    complex_double z;
    return argument(m, a[0], &z) ? float_value(carg(z)) : NO_VALUE_;
}
CMATH(cmath_polar) {
    (void)n;
    complex_double z;
    if (!argument(m, a[0], &z)) return NO_VALUE_;
    double r = cabs(z);
    if (isinf(r) && !has_infinity(z)) return raise_range(m);
    return tuple_value(m, 2, (value[]){ float_value(r), float_value(carg(z)) });
}
CMATH(cmath_rect) {
    (void)n;
    double r, angle;
    if (!real_argument(m, a[0], &r) || !real_argument(m, a[1], &angle)) return NO_VALUE_;
    if (isinf(angle) && r != 0 && !isnan(r)) return raise_domain(m);
    if (r == 0 && !isfinite(angle)) return complex_value(m, 0, 0);
    if (angle == 0) return complex_value(m, r, r * angle == r * angle ? r * angle : angle);   /* inf * 0 */
    return complex_value(m, r * cos(angle), r * sin(angle));
}

CMATH(cmath_isfinite) {
    (void)n;
    complex_double z;
    return argument(m, a[0], &z) ? bool_value(!has_nan(z) && !has_infinity(z)) : NO_VALUE_;
}
CMATH(cmath_isinf) {
    (void)n;
    complex_double z;
    return argument(m, a[0], &z) ? bool_value(has_infinity(z)) : NO_VALUE_;
}
CMATH(cmath_isnan) {
    (void)n;
    complex_double z;
    return argument(m, a[0], &z) ? bool_value(has_nan(z)) : NO_VALUE_;
}
CMATH(cmath_isclose) {
    (void)n;
    complex_double x, y;
    double relative, absolute;
    if (!argument(m, a[0], &x) || !argument(m, a[1], &y) || !tolerances(m, a, &relative, &absolute)) return NO_VALUE_;
    return bool_value(x == y || (!has_infinity(x) && !has_infinity(y) && within(cabs(x - y), cabs(x), cabs(y), relative, absolute)));
}

const native_row cmath_rows[] = {
    { "acos", cmath_acos, "z, /", "Inverse of cos." }, { "acosh", cmath_acosh, "z, /", "Inverse of cosh." }, { "asin", cmath_asin, "z, /", "Inverse of sin." },
    { "asinh", cmath_asinh, "z, /", "Inverse of sinh." }, { "atan", cmath_atan, "z, /", "Inverse of tan." }, { "atanh", cmath_atanh, "z, /", "Inverse of tanh." },
    { "cos", cmath_cos, "z, /", "Cosine." }, { "cosh", cmath_cosh, "z, /", "Hyperbolic cosine." }, { "exp", cmath_exp, "z, /", "e**z." },
    { "isclose", cmath_isclose, "a, b, *, rel_tol=, abs_tol=", "Whether two numbers are close." }, { "isfinite", cmath_isfinite, "z, /", "Both parts are finite." },
    { "isinf", cmath_isinf, "z, /", "A part is infinite." }, { "isnan", cmath_isnan, "z, /", "A part is NaN." },
    { "log", cmath_log, "z, base=, /", "The logarithm, natural or to a base." }, { "log10", cmath_log10, "z, /", "The logarithm to base 10." },
    { "phase", cmath_phase, "z, /", "The angle." }, { "polar", cmath_polar, "z, /", "Length and angle." }, { "rect", cmath_rect, "r, phi, /", "The number of this length and angle." },
    { "sin", cmath_sin, "z, /", "Sine." }, { "sinh", cmath_sinh, "z, /", "Hyperbolic sine." }, { "sqrt", cmath_sqrt, "z, /", "The square root." },
    { "tan", cmath_tan, "z, /", "Tangent." }, { "tanh", cmath_tanh, "z, /", "Hyperbolic tangent." },
};
const int ncmath_rows = sizeof cmath_rows / sizeof *cmath_rows;
