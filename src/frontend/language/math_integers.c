/* math_integers.c: the functions of math on integers of any size. Products are halved until their factors are few, so that
 * large numbers meet large numbers. */
#include <math.h>
#include "frontend/language/natives.h"

#define FEW 16

/* *v (owned) becomes f(*v, by). */
static bool become(machine *m, value *v, value (*f)(machine *, value, value), value by) {
    value r = machine_step(m) ? f(m, *v, by) : NO_VALUE_;
    value_drop(m, *v);
    *v = r;
    return !absent(r);
}
static value quotient(machine *m, value a, value b) { return big_divmod(m, a, b, NULL); }

/* from * (from + 1) * ... * (to - 1) */
static value range_product(machine *m, int64_t from, int64_t to) {
    if (to - from > FEW) {
        int64_t middle = from + (to - from) / 2;
        value low = range_product(m, from, middle), high = absent(low) ? low : range_product(m, middle, to);
        if (absent(high) || !become(m, &low, big_mul, high)) {
            value_drop(m, low);
            low = NO_VALUE_;
        }
        value_drop(m, high);
        return low;
    }
    value product = int_value(1);
    for (int64_t i = from; i < to && !absent(product); i++) become(m, &product, big_mul, int_value(i));
    return product;
}

value math_factorial(machine *m, const value *a, int n) {
    (void)n;
    value v = as_integer(m, a[0]);
    if (absent(v)) return v;
    bool huge = v.kind == VALUE_BIG || v.u.i > BIG_MOST, negative = big_sign(v) < 0;
    int64_t i = huge ? 0 : v.u.i;
    value_drop(m, v);
    if (negative) return raise(m, "ValueError", "factorial() not defined for negative values");
    if (huge) return raise(m, "OverflowError", "factorial() of so large a number has more than %d bits", BIG_MOST);
    return range_product(m, 2, i + 1);
}

/* n! / (n - k)!, or that over k! when `comb`; 0 <= k. */
static value permutations(machine *m, value n, int64_t k, bool comb) {
    value r;
    if (k > FEW) {
        int64_t half = k / 2;
        value rest = big_sub(m, n, int_value(half)), other = NO_VALUE_, over = NO_VALUE_;
        r = absent(rest) ? rest : permutations(m, n, half, comb);
        if (!absent(r)) other = permutations(m, rest, k - half, comb);
        if (!absent(other) && comb) over = permutations(m, int_value(k), half, true);
        bool good = !absent(other) && (!comb || !absent(over)) && become(m, &r, big_mul, other) && (!comb || become(m, &r, quotient, over));
        value_drop(m, rest);
        value_drop(m, other);
        value_drop(m, over);
        if (good) return r;
        value_drop(m, r);
        return NO_VALUE_;
    }
    r = int_value(1);
    for (int64_t i = 0; i < k && !absent(r); i++) {
        value factor = big_sub(m, n, int_value(i));
        if (absent(factor) || !become(m, &r, big_mul, factor)) value_drop(m, r), r = NO_VALUE_;
        else if (comb) become(m, &r, quotient, int_value(i + 1));
        value_drop(m, factor);
    }
    return r;
}

static value choose(machine *m, value n, value k, bool comb) {
    if (big_sign(n) < 0 || big_sign(k) < 0) return raise(m, "ValueError", "%s must be a non-negative integer", big_sign(n) < 0 ? "n" : "k");
    if (big_compare(k, n) > 0) return int_value(0);
    value other = comb ? big_sub(m, n, k) : NO_VALUE_, r = NO_VALUE_;
    if (!absent(other) && big_compare(other, k) < 0) k = other;
    if (k.kind == VALUE_BIG || k.u.i > BIG_MOST) raise(m, "OverflowError", "%s() of such numbers has more than %d bits", comb ? "comb" : "perm", BIG_MOST);
    else if (!comb || !absent(other)) r = permutations(m, n, k.u.i, comb);
    value_drop(m, other);
    return r;
}

static value choose_arguments(machine *m, const value *a, bool comb) {
    if (!comb && (absent(a[1]) || a[1].kind == VALUE_NONE)) return math_factorial(m, a, 1);
    value of = as_integer(m, a[0]), k = absent(of) ? of : as_integer(m, a[1]), r = absent(k) ? k : choose(m, of, k, comb);
    value_drop(m, of);
    value_drop(m, k);
    return r;
}
value math_comb(machine *m, const value *a, int n) { (void)n; return choose_arguments(m, a, true); }
value math_perm(machine *m, const value *a, int n) { (void)n; return choose_arguments(m, a, false); }

/* ---- divisors ---- */

static value magnitude(machine *m, value v) { return big_sign(v) < 0 ? big_negate(m, v) : value_keep(v); }

static value gcd_of(machine *m, value a, value b) {
    value x = magnitude(m, a), y = absent(x) ? x : magnitude(m, b);
    while (!absent(x) && !absent(y) && big_sign(y)) {
        value rest = NO_VALUE_, q = machine_step(m) ? big_divmod(m, x, y, &rest) : NO_VALUE_;
        value_drop(m, q);
        value_drop(m, x);
        x = y;
        y = rest;
    }
    if (!absent(y)) return x;
    value_drop(m, x);
    return NO_VALUE_;
}
static value lcm_of(machine *m, value a, value b) {
    if (!big_sign(a) || !big_sign(b)) return int_value(0);
    value divisor = gcd_of(m, a, b), r = absent(divisor) ? divisor : big_divmod(m, a, divisor, NULL);
    if (!absent(r) && become(m, &r, big_mul, b) && big_sign(r) < 0) {
        value positive = big_negate(m, r);
        value_drop(m, r);
        r = positive;
    }
    value_drop(m, divisor);
    return r;
}

static value fold_integers(machine *m, value args, int64_t start, value (*f)(machine *, value, value)) {
    value r = int_value(start);
    for (size_t i = 0; !absent(r) && i < as_sequence(args)->n; i++) {
        value v = as_integer(m, as_sequence(args)->at[i]);
        if (absent(v)) value_drop(m, r), r = NO_VALUE_;
        else become(m, &r, f, v);
        value_drop(m, v);
    }
    return r;
}
value math_gcd(machine *m, const value *a, int n) { (void)n; return fold_integers(m, a[0], 0, gcd_of); }
value math_lcm(machine *m, const value *a, int n) { (void)n; return fold_integers(m, a[0], 1, lcm_of); }

/* ---- roots ---- */

/* Newton's method with the precision doubled at each step: after the step for `s`, r is the root of the leading bits of v,
 * at most one too large. */
static value root_of(machine *m, value v) {
    int64_t half = (big_bit_length(v) - 1) / 2, known = 0;
    value r = int_value(1);
    for (int s = half ? 63 - __builtin_clzll((uint64_t)half) : -1; s >= 0 && !absent(r); s--) {
        int64_t before = known;
        known = half >> s;
        value leading = big_shift(m, v, -(2 * half - before - known + 1)), raised = absent(leading) ? leading : big_shift(m, r, known - before - 1);
        value q = absent(raised) || !machine_step(m) ? NO_VALUE_ : big_divmod(m, leading, r, NULL);
        value_drop(m, r);
        r = absent(q) ? q : big_add(m, raised, q);
        value_drop(m, leading);
        value_drop(m, raised);
        value_drop(m, q);
    }
    value square = absent(r) ? r : big_mul(m, r, r);
    if (!absent(square) && big_compare(square, v) > 0) become(m, &r, big_sub, int_value(1));
    value_drop(m, square);
    return absent(square) ? square : r;
}

value math_isqrt(machine *m, const value *a, int n) {
    (void)n;
    value v = as_integer(m, a[0]);
    if (absent(v)) return v;
    value r = big_sign(v) < 0 ? raise(m, "ValueError", "isqrt() argument must be nonnegative") : !big_sign(v) ? int_value(0) : root_of(m, v);
    value_drop(m, v);
    return r;
}
