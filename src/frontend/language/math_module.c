/* math_module.c: Python's module math; what takes integers alone is in math_integers.c.
 *
 * How it works: the C library computes; what comes out that is not finite from what was finite is a ValueError or an
 * OverflowError, as in Python. */
#include <math.h>
#include <string.h>
#include "frontend/language/natives.h"

#define MATH(name) static value name(machine *m, const value *a, int n)
#define PI 3.14159265358979323846

value raise_domain(machine *m) { return raise(m, "ValueError", "math domain error"); }
value raise_range(machine *m) { return raise(m, "OverflowError", "math range error"); }

/* A result, unless it is NaN without a NaN among the arguments, or infinite though all of them are finite. */
static value checked(machine *m, double r, bool some_nan, bool all_finite, bool overflows) {
    if (isnan(r) && !some_nan) return raise_domain(m);
    if (isinf(r) && all_finite) return overflows ? raise_range(m) : raise_domain(m);
    return float_value(r);
}

static value one_double(machine *m, const value *a, double (*f)(double), bool overflows) {
    double x;
    if (!real_argument(m, a[0], &x)) return NO_VALUE_;
    return checked(m, f(x), isnan(x), isfinite(x), overflows);
}

#define ONE(name, f, overflows) MATH(name) { (void)n; return one_double(m, a, f, overflows); }
ONE(math_acos, acos, false) ONE(math_acosh, acosh, false) ONE(math_asin, asin, false) ONE(math_asinh, asinh, false) ONE(math_atan, atan, false)
ONE(math_atanh, atanh, false) ONE(math_cbrt, cbrt, false) ONE(math_cos, cos, false) ONE(math_cosh, cosh, true) ONE(math_erf, erf, false)
ONE(math_erfc, erfc, false) ONE(math_exp, exp, true) ONE(math_exp2, exp2, true) ONE(math_expm1, expm1, true) ONE(math_fabs, fabs, false)
ONE(math_log1p, log1p, false) ONE(math_sin, sin, false) ONE(math_sinh, sinh, true) ONE(math_sqrt, sqrt, false) ONE(math_tan, tan, false) ONE(math_tanh, tanh, false)

static double degrees_of(double x) { return x * (180 / PI); }
static double radians_of(double x) { return x * (PI / 180); }
static double ulp_of(double x) {
    x = fabs(x);
    double above = nextafter(x, INFINITY);
    return isfinite(x) ? (isinf(above) ? x - nextafter(x, 0) : above - x) : x;
}
ONE(math_degrees, degrees_of, true) ONE(math_radians, radians_of, false) ONE(math_ulp, ulp_of, false)

MATH(math_gamma) {
    (void)n;
    double x;
    if (!real_argument(m, a[0], &x)) return NO_VALUE_;
    if (x == 0 || (isinf(x) && x < 0) || (x < 0 && x == floor(x))) return raise_domain(m);
    return checked(m, tgamma(x), isnan(x), isfinite(x), true);
}
MATH(math_lgamma) {
    (void)n;
    double x;
    int sign;
    if (!real_argument(m, a[0], &x)) return NO_VALUE_;
    if (isinf(x)) return float_value(INFINITY);
    if (x <= 0 && x == floor(x)) return raise_domain(m);
    return checked(m, lgamma_r(x, &sign), isnan(x), true, true);
}

/* ---- functions of two ---- */

static bool two_doubles(machine *m, const value *a, double *x, double *y) { return real_argument(m, a[0], x) && real_argument(m, a[1], y); }

MATH(math_atan2) {
    (void)n;
    double y, x;
    return two_doubles(m, a, &y, &x) ? float_value(atan2(y, x)) : NO_VALUE_;
}
MATH(math_copysign) {
    (void)n;
    double x, y;
    return two_doubles(m, a, &x, &y) ? float_value(copysign(x, y)) : NO_VALUE_;
}
MATH(math_fmod) {
    (void)n;
    double x, y;
    return two_doubles(m, a, &x, &y) ? checked(m, fmod(x, y), isnan(x) || isnan(y), true, false) : NO_VALUE_;
}
MATH(math_remainder) {
    (void)n;
    double x, y;
    return two_doubles(m, a, &x, &y) ? checked(m, remainder(x, y), isnan(x) || isnan(y), true, false) : NO_VALUE_;
}
MATH(math_pow) {
    (void)n;
    double x, y;
    if (!two_doubles(m, a, &x, &y)) return NO_VALUE_;
    return checked(m, pow(x, y), isnan(x) || isnan(y), isfinite(x) && isfinite(y), x != 0);
}
MATH(math_fma) {
    (void)n;
    double x, y, z;
    if (!two_doubles(m, a, &x, &y) || !real_argument(m, a[2], &z)) return NO_VALUE_;
    return checked(m, fma(x, y, z), isnan(x) || isnan(y) || isnan(z), isfinite(x) && isfinite(y) && isfinite(z), true);
}

MATH(math_ldexp) {
    (void)n;
    double x;
    if (!real_argument(m, a[0], &x)) return NO_VALUE_;
    if (!value_is_integer(a[1])) return raise(m, "TypeError", "Expected an int as second argument to ldexp.");
    value i = as_integer(m, a[1]);
    if (absent(i)) return i;
    int exponent = i.kind == VALUE_BIG || i.u.i > 10000 || i.u.i < -10000 ? big_sign(i) * 10000 : (int)i.u.i;
    value_drop(m, i);
    return checked(m, ldexp(x, exponent), isnan(x), isfinite(x), true);
}
MATH(math_frexp) {
    (void)n;
    double x;
    int exponent = 0;
    if (!real_argument(m, a[0], &x)) return NO_VALUE_;
    double mantissa = isfinite(x) ? frexp(x, &exponent) : x;
    return tuple_value(m, 2, (value[]){ float_value(mantissa), int_value(exponent) });
}
MATH(math_modf) {
    (void)n;
    double x, whole;
    if (!real_argument(m, a[0], &x)) return NO_VALUE_;
    double fraction = modf(x, &whole);
    return tuple_value(m, 2, (value[]){ float_value(fraction), float_value(whole) });
}

/* Floats as integers in the same order, so that neighbours differ by one. */
static int64_t place_of(double x) {
    int64_t i;
    memcpy(&i, &x, sizeof i);
    return i < 0 ? -(i & INT64_MAX) : i;
}
static double at_place(int64_t place) {
    int64_t i = place < 0 ? -place : place;
    double x;
    memcpy(&x, &i, sizeof x);
    return place < 0 ? -x : x;
}
MATH(math_nextafter) {
    (void)n;
    double x, y;
    if (!two_doubles(m, a, &x, &y)) return NO_VALUE_;
    if (absent(a[2]) || a[2].kind == VALUE_NONE) return float_value(nextafter(x, y));
    value steps = as_integer(m, a[2]);
    if (absent(steps)) return steps;
    bool negative = big_sign(steps) < 0;
    uint64_t far = steps.kind == VALUE_BIG ? UINT64_MAX : (uint64_t)steps.u.i;
    value_drop(m, steps);
    if (negative) return raise(m, "ValueError", "steps must be a non-negative integer");
    if (isnan(x) || isnan(y)) return float_value(x + y);
    int64_t from = place_of(x), to = place_of(y);
    uint64_t distance = from < to ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
    if (!far) return float_value(x);
    if (far >= distance) return float_value(y);
    double r = at_place(from < to ? from + (int64_t)far : from - (int64_t)far);
    return float_value(r == 0 ? copysign(0, x) : r);
}

/* ---- questions ---- */

MATH(math_isfinite) {
    (void)n;
    double x;
    return real_argument(m, a[0], &x) ? bool_value(isfinite(x)) : NO_VALUE_;
}
MATH(math_isinf) {
    (void)n;
    double x;
    return real_argument(m, a[0], &x) ? bool_value(isinf(x)) : NO_VALUE_;
}
MATH(math_isnan) {
    (void)n;
    double x;
    return real_argument(m, a[0], &x) ? bool_value(isnan(x)) : NO_VALUE_;
}

bool tolerances(machine *m, const value *a, double *relative, double *absolute) {
    *relative = 1e-9;
    *absolute = 0;
    if (!absent(a[2]) && !real_argument(m, a[2], relative)) return false;
    if (!absent(a[3]) && !real_argument(m, a[3], absolute)) return false;
    return (*relative >= 0 && *absolute >= 0) || !absent(raise(m, "ValueError", "tolerances must be non-negative"));
}
bool within(double distance, double x, double y, double relative, double absolute) {
    return distance <= relative * x || distance <= relative * y || distance <= absolute;
}
MATH(math_isclose) {
    (void)n;
    double x, y, relative, absolute;
    if (!two_doubles(m, a, &x, &y) || !tolerances(m, a, &relative, &absolute)) return NO_VALUE_;
    return bool_value(x == y || (!isinf(x) && !isinf(y) && within(fabs(x - y), fabs(x), fabs(y), relative, absolute)));
}

/* ---- rounding ---- */

static value to_integer(machine *m, value v, double (*round)(double)) {
    value plain = plain_number(m, v);
    double x;
    if (absent(plain) || plain.kind == VALUE_INT || plain.kind == VALUE_BIG) return plain;
    bool good = real_argument(m, plain, &x);
    value_drop(m, plain);
    return good ? big_from_double(m, round(x)) : NO_VALUE_;
}
MATH(math_ceil) { (void)n; return to_integer(m, a[0], ceil); }
MATH(math_floor) { (void)n; return to_integer(m, a[0], floor); }
MATH(math_trunc) { (void)n; return to_integer(m, a[0], trunc); }

/* ---- logarithms ---- */

/* f of a number that may be an integer beyond every double. f(2) is the logarithm of a bit. */
static bool logarithm(machine *m, value v, double (*f)(double), double *r) {
    value plain = plain_number(m, v);
    double x;
    bool good = !absent(plain);
    if (good && plain.kind == VALUE_BIG && big_sign(plain) > 0) {
        int64_t drop = big_bit_length(plain) - 64;
        value top = big_shift(m, plain, drop > 0 ? -drop : 0);
        good = !absent(top);
        if (good) *r = f(big_double(top)) + (drop > 0 ? (double)drop * f(2) : 0);
        value_drop(m, top);
    } else if (good && plain.kind == VALUE_BIG) good = !absent(raise_domain(m));
    else if (good && (good = real_argument(m, plain, &x))) {
        *r = f(x);
        good = x > 0 || isnan(x) || !absent(raise_domain(m));
    }
    value_drop(m, plain);
    return good;
}
MATH(math_log) {
    (void)n;
    double x, base;
    if (!logarithm(m, a[0], log, &x)) return NO_VALUE_;
    if (absent(a[1])) return float_value(x);
    if (!logarithm(m, a[1], log, &base)) return NO_VALUE_;
    return base == 0 ? raise(m, "ZeroDivisionError", "division by zero: the base of a logarithm is 1") : float_value(x / base);
}
MATH(math_log2) {
    (void)n;
    double x;
    return logarithm(m, a[0], log2, &x) ? float_value(x) : NO_VALUE_;
}
MATH(math_log10) {
    (void)n;
    double x;
    return logarithm(m, a[0], log10, &x) ? float_value(x) : NO_VALUE_;
}

/* ---- sums ---- */

/* A sum without error: parts that do not overlap, in rising order (Shewchuk 1997). */
typedef struct exact_sum { double *part; size_t n, room; double special; bool infinite[2]; } exact_sum;

static bool exact_sum_add(machine *m, exact_sum *s, double x) {
    if (!isfinite(x)) {
        s->special += x;
        if (isinf(x)) s->infinite[x < 0] = true;
        return true;
    }
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        double y = s->part[i];
        if (fabs(x) < fabs(y)) {
            double t = x;
            x = y;
            y = t;
        }
        double high = x + y, low = y - (high - x);
        if (low != 0) s->part[kept++] = low;
        x = high;
    }
    if (isinf(x)) return !absent(raise(m, "OverflowError", "intermediate overflow in fsum"));
    if (kept == s->room) {
        size_t room = s->room ? 2 * s->room : 32;
        double *p = mem_grow(s->part, room, sizeof *p);
        if (!p) return !absent(raise_memory(m));
        s->part = p;
        s->room = room;
    }
    s->part[kept] = x;
    s->n = kept + 1;
    return true;
}

/* The nearest double; frees the sum. */
static value exact_sum_value(machine *m, exact_sum *s) {
    double high = 0, low = 0;
    size_t n = s->n;
    if (n) high = s->part[--n];
    while (n) {
        double x = high, y = s->part[--n];
        high = x + y;
        low = y - (high - x);
        if (low != 0) break;
    }
    if (n && ((low < 0 && s->part[n - 1] < 0) || (low > 0 && s->part[n - 1] > 0))) {   /* halfway: what follows decides */
        double y = low * 2, x = high + y;
        if (y == x - high) high = x;
    }
    bool both = s->infinite[0] && s->infinite[1], special = s->special != 0 || isnan(s->special);
    mem_free(s->part);
    return both ? raise(m, "ValueError", "-inf + inf in fsum") : float_value(special ? s->special : high);
}

MATH(math_fsum) {
    (void)n;
    exact_sum s = { 0 };
    value it = value_iterate(m, a[0]);
    bool good = !absent(it), done = false;
    while (good) {
        double x;
        value v = machine_step(m) ? value_next(m, it, &done) : NO_VALUE_;
        if (absent(v)) break;
        good = real_argument(m, v, &x) && exact_sum_add(m, &s, x);
        value_drop(m, v);
    }
    value_drop(m, it);
    if (good && done) return exact_sum_value(m, &s);
    mem_free(s.part);
    return NO_VALUE_;
}

MATH(math_prod) {
    (void)n;
    value product = absent(a[1]) ? int_value(1) : value_keep(a[1]), it = value_iterate(m, a[0]);
    bool good = !absent(it), done = false;
    while (good) {
        value v = value_next(m, it, &done);
        if (absent(v)) break;
        good = accumulate(m, BINARY_MUL, &product, v);
        value_drop(m, v);
    }
    value_drop(m, it);
    if (good && done) return product;
    value_drop(m, product);
    return NO_VALUE_;
}

/* Both are floats or integers, and one at least is a float: the product without error, into s. */
static bool exact_product(machine *m, exact_sum *s, value p, value q, bool *fits) {
    double x, y;
    *fits = (p.kind == VALUE_FLOAT || p.kind == VALUE_INT) && (q.kind == VALUE_FLOAT || q.kind == VALUE_INT) && (p.kind == VALUE_FLOAT || q.kind == VALUE_FLOAT);
    if (!*fits) return true;
    if (!real_argument(m, p, &x) || !real_argument(m, q, &y)) return false;
    double high = x * y;
    return exact_sum_add(m, s, high) && (!isfinite(high) || exact_sum_add(m, s, fma(x, y, -high)));
}

MATH(math_sumprod) {
    (void)n;
    value p = sequence_of(m, a[0], VALUE_TUPLE), q = absent(p) ? p : sequence_of(m, a[1], VALUE_TUPLE), sum = int_value(0);
    exact_sum s = { 0 };
    bool good = !absent(q), floats = false;
    if (good && as_sequence(p)->n != as_sequence(q)->n) good = !absent(raise(m, "ValueError", "Inputs are not the same length"));
    for (size_t i = 0; good && i < as_sequence(p)->n; i++) {
        bool fits;
        value x = as_sequence(p)->at[i], y = as_sequence(q)->at[i];
        good = machine_step(m) && exact_product(m, &s, x, y, &fits);
        if (good && fits) floats = true;
        else if (good) {
            value product = operate(m, BINARY_MUL, x, y);
            good = !absent(product) && accumulate(m, BINARY_ADD, &sum, product);
            value_drop(m, product);
        }
    }
    value_drop(m, p);
    value_drop(m, q);
    if (!good || !floats) mem_free(s.part);
    else {
        value rest = exact_sum_value(m, &s);
        good = !absent(rest) && (sum.kind == VALUE_INT && !sum.u.i ? (sum = rest, true) : accumulate(m, BINARY_ADD, &sum, rest));
    }
    if (good) return sum;
    value_drop(m, sum);
    return NO_VALUE_;
}

/* ---- lengths ---- */

/* The root of the sum of squares: scaled by a power of two, squares with their errors, one step of Newton's method. */
static double length_of(const double *x, size_t n, double most) {
    if (most == 0 || !isfinite(most)) return most;
    int exponent;
    frexp(most, &exponent);
    double sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        double y = ldexp(x[i], -exponent), square = y * y, t = sum + square;
        lost += (sum >= square ? (sum - t) + square : (square - t) + sum) + fma(y, y, -square);
        sum = t;
    }
    double root = sqrt(sum + lost);
    root += (fma(-root, root, sum) + lost) / (2 * root);
    return ldexp(root, exponent);
}

/* of[i], or of[i] - from[i], as doubles; NaN only where no infinity is. */
static value norm_of(machine *m, const sequence_object *of, const sequence_object *from) {
    double *x = mem_array(of->n ? of->n : 1, sizeof *x), most = 0, y;
    bool good = x || !absent(raise_memory(m)), infinite = false, nan = false;
    for (size_t i = 0; good && i < of->n; i++) {
        good = machine_step(m) && real_argument(m, of->at[i], &x[i]) && (!from || real_argument(m, from->at[i], &y));
        if (!good) break;
        if (from) x[i] -= y;
        infinite |= isinf(x[i]);
        nan |= isnan(x[i]);
        most = fmax(most, fabs(x[i]));
    }
    double r = !good ? 0 : infinite ? INFINITY : nan ? NAN : length_of(x, of->n, most);
    mem_free(x);
    return good ? float_value(r) : NO_VALUE_;
}

MATH(math_hypot) {
    (void)n;
    return norm_of(m, as_sequence(a[0]), NULL);
}
MATH(math_dist) {
    (void)n;
    value p = sequence_of(m, a[0], VALUE_TUPLE), q = absent(p) ? p : sequence_of(m, a[1], VALUE_TUPLE), r = NO_VALUE_;
    if (!absent(q) && as_sequence(p)->n != as_sequence(q)->n) raise(m, "ValueError", "both points must have the same number of dimensions");
    else if (!absent(q)) r = norm_of(m, as_sequence(p), as_sequence(q));
    value_drop(m, p);
    value_drop(m, q);
    return r;
}

/* ---- names ---- */

const native_row math_rows[] = {
    { "acos", math_acos, "x, /", "The angle with this cosine." }, { "acosh", math_acosh, "x, /", "Inverse of cosh." },
    { "asin", math_asin, "x, /", "The angle with this sine." }, { "asinh", math_asinh, "x, /", "Inverse of sinh." },
    { "atan", math_atan, "x, /", "The angle with this tangent." }, { "atan2", math_atan2, "y, x, /", "The angle of the point (x, y)." },
    { "atanh", math_atanh, "x, /", "Inverse of tanh." }, { "cbrt", math_cbrt, "x, /", "The cube root." },
    { "ceil", math_ceil, "x, /", "The least integer not below x." }, { "comb", math_comb, "n, k, /", "How many ways to choose k of n." },
    { "copysign", math_copysign, "x, y, /", "x with the sign of y." }, { "cos", math_cos, "x, /", "Cosine." }, { "cosh", math_cosh, "x, /", "Hyperbolic cosine." },
    { "degrees", math_degrees, "x, /", "Radians in degrees." }, { "dist", math_dist, "p, q, /", "The distance of two points." },
    { "erf", math_erf, "x, /", "The error function." }, { "erfc", math_erfc, "x, /", "1 - erf(x)." }, { "exp", math_exp, "x, /", "e**x." },
    { "exp2", math_exp2, "x, /", "2**x." }, { "expm1", math_expm1, "x, /", "exp(x) - 1." }, { "fabs", math_fabs, "x, /", "The absolute value as a float." },
    { "factorial", math_factorial, "n, /", "1 * 2 * ... * n." }, { "floor", math_floor, "x, /", "The greatest integer not above x." },
    { "fma", math_fma, "x, y, z, /", "x * y + z, rounded once." }, { "fmod", math_fmod, "x, y, /", "The remainder with the sign of x." },
    { "frexp", math_frexp, "x, /", "Mantissa and exponent of 2." }, { "fsum", math_fsum, "iterable, /", "The sum of floats, rounded once." },
    { "gamma", math_gamma, "x, /", "The gamma function." }, { "gcd", math_gcd, "*integers", "The greatest common divisor." },
    { "hypot", math_hypot, "*coordinates", "The length of a vector." }, { "isclose", math_isclose, "a, b, *, rel_tol=, abs_tol=", "Whether two numbers are close." },
    { "isfinite", math_isfinite, "x, /", "Neither infinite nor NaN." }, { "isinf", math_isinf, "x, /", "Infinite, of either sign." },
    { "isnan", math_isnan, "x, /", "Not a number." }, { "isqrt", math_isqrt, "n, /", "The root of an integer, cut off." },
    { "lcm", math_lcm, "*integers", "The least common multiple." }, { "ldexp", math_ldexp, "x, i, /", "x * 2**i." },
    { "lgamma", math_lgamma, "x, /", "The logarithm of the magnitude of gamma(x)." }, { "log", math_log, "x, base=, /", "The logarithm, natural or to a base." },
    { "log10", math_log10, "x, /", "The logarithm to base 10." }, { "log1p", math_log1p, "x, /", "log(1 + x)." }, { "log2", math_log2, "x, /", "The logarithm to base 2." },
    { "modf", math_modf, "x, /", "The fraction and the whole part." }, { "nextafter", math_nextafter, "x, y, /, *, steps=", "The float after x on the way to y." },
    { "perm", math_perm, "n, k=, /", "How many ways to choose k of n in order." }, { "pow", math_pow, "x, y, /", "x**y of floats." },
    { "prod", math_prod, "iterable, /, *, start=", "The product of the items." }, { "radians", math_radians, "x, /", "Degrees in radians." },
    { "remainder", math_remainder, "x, y, /", "The remainder of least magnitude." }, { "sin", math_sin, "x, /", "Sine." }, { "sinh", math_sinh, "x, /", "Hyperbolic sine." },
    { "sqrt", math_sqrt, "x, /", "The square root." }, { "sumprod", math_sumprod, "p, q, /", "The sum of products." }, { "tan", math_tan, "x, /", "Tangent." },
    { "tanh", math_tanh, "x, /", "Hyperbolic tangent." }, { "trunc", math_trunc, "x, /", "The integer without the fraction." }, { "ulp", math_ulp, "x, /", "The value of the last bit." },
};
const int nmath_rows = sizeof math_rows / sizeof *math_rows;
