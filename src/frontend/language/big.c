/* big.c: integers of any size up to BIG_MOST bits.
 *
 * How it works: sign and magnitude, the magnitude in limbs of 32 bits, the lowest first and the highest not zero. Operands
 * of every kind are seen as such a magnitude; results that fit int64 become plain INTs, so that each integer has one form.
 * Division is Knuth's algorithm D (The Art of Computer Programming 2, 4.3.1). All of it is schoolbook arithmetic: quadratic, and
 * counted against the machine's limits. */
#include <math.h>
#include <string.h>
#include "frontend/language/natives.h"

struct big_object { object head; bool negative; uint32_t n, room; uint32_t limb[]; };
#define LIMB_BITS 32
#define LIMBS_MOST (BIG_MOST / LIMB_BITS + 4)

typedef struct operand { bool negative; size_t n; const uint32_t *limb; uint32_t small[2]; } operand;

static size_t trimmed(const uint32_t *limb, size_t n) {
    while (n && !limb[n - 1]) n--;
    return n;
}

/* `o` must stay where it is: small values lie in it. */
static void operand_of(value v, operand *o) {
    if (v.kind == VALUE_BIG) {
        const big_object *b = (const big_object *)v.u.o;
        *o = (operand){ .negative = b->negative, .n = b->n, .limb = b->limb };
        return;
    }
    uint64_t magnitude = v.u.i < 0 ? -(uint64_t)v.u.i : (uint64_t)v.u.i;
    *o = (operand){ .negative = v.u.i < 0, .small = { (uint32_t)magnitude, (uint32_t)(magnitude >> 32) } };
    o->limb = o->small;
    o->n = trimmed(o->small, 2);
}

static value raise_too_big(machine *m) {
    return raise(m, "OverflowError", "an integer may have at most %d bits", BIG_MOST);
}

/* Counts long work as more steps than one. */
static bool worked(machine *m, size_t operations) {
    m->steps += (int64_t)(operations / 1024);
    return machine_step(m);
}

/* Room for a result of n limbs; NULL: raised. */
static big_object *big_new(machine *m, size_t n) {
    if (n > LIMBS_MOST) {
        raise_too_big(m);
        return NULL;
    }
    int64_t bytes = (int64_t)(n * sizeof(uint32_t));
    if (!machine_bytes(m, bytes)) return NULL;
    big_object *b = (big_object *)object_new(m, VALUE_BIG, sizeof *b + (size_t)bytes);
    if (b) b->n = b->room = (uint32_t)n;
    else machine_bytes(m, -bytes);
    return b;
}

void big_free(machine *m, object *o) { machine_bytes(m, -(int64_t)(((big_object *)o)->room * sizeof(uint32_t))); }

/* The value that b holds; consumes b. */
static value finished(machine *m, big_object *b, bool negative) {
    b->n = (uint32_t)trimmed(b->limb, b->n);
    b->negative = negative && b->n;
    value v = { VALUE_BIG, 0, { .o = &b->head } };
    if (b->n <= 2) {
        uint64_t magnitude = (b->n > 0 ? b->limb[0] : 0) | (b->n > 1 ? (uint64_t)b->limb[1] << 32 : 0);
        if (magnitude <= (uint64_t)INT64_MAX + negative) {
            value small = int_value((int64_t)(negative ? -magnitude : magnitude));
            value_drop(m, v);
            return small;
        }
    }
    if (big_bit_length(v) > BIG_MOST) {
        value_drop(m, v);
        return raise_too_big(m);
    }
    return v;
}

static int magnitude_compare(const uint32_t *a, size_t an, const uint32_t *b, size_t bn) {
    if (an != bn) return an < bn ? -1 : 1;
    while (an--) if (a[an] != b[an]) return a[an] < b[an] ? -1 : 1;
    return 0;
}

/* ---- sums ---- */

/* r = a + b, an >= bn; r has an + 1 limbs. */
static void magnitude_add(uint32_t *r, const uint32_t *a, size_t an, const uint32_t *b, size_t bn) {
    uint64_t carry = 0;
    for (size_t i = 0; i < an; i++) {
        carry += (uint64_t)a[i] + (i < bn ? b[i] : 0);
        r[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    r[an] = (uint32_t)carry;
}

/* r = a - b, a >= b; r has an limbs. */
static void magnitude_sub(uint32_t *r, const uint32_t *a, size_t an, const uint32_t *b, size_t bn) {
    uint64_t borrow = 0;
    for (size_t i = 0; i < an; i++) {
        uint64_t d = (uint64_t)a[i] - (i < bn ? b[i] : 0) - borrow;
        r[i] = (uint32_t)d;
        borrow = d >> 63;
    }
}

static value sum_of(machine *m, value a, value b, bool subtract) {
    int64_t small;
    if (a.kind != VALUE_BIG && b.kind != VALUE_BIG)
        if (!(subtract ? __builtin_sub_overflow(a.u.i, b.u.i, &small) : __builtin_add_overflow(a.u.i, b.u.i, &small))) return int_value(small);
    operand x, y;
    operand_of(a, &x);
    operand_of(b, &y);
    y.negative ^= subtract;
    const operand *more = magnitude_compare(x.limb, x.n, y.limb, y.n) >= 0 ? &x : &y, *less = more == &x ? &y : &x;
    big_object *r = big_new(m, more->n + 1);
    if (!r) return NO_VALUE_;
    if (x.negative == y.negative) magnitude_add(r->limb, more->limb, more->n, less->limb, less->n);
    else magnitude_sub(r->limb, more->limb, more->n, less->limb, less->n);
    return finished(m, r, more->negative);
}

value big_add(machine *m, value a, value b) { return sum_of(m, a, b, false); }
value big_sub(machine *m, value a, value b) { return sum_of(m, a, b, true); }
value big_negate(machine *m, value v) { return sum_of(m, int_value(0), v, true); }

/* ---- products and quotients ---- */

value big_mul(machine *m, value a, value b) {
    int64_t small;
    if (a.kind != VALUE_BIG && b.kind != VALUE_BIG && !__builtin_mul_overflow(a.u.i, b.u.i, &small)) return int_value(small);
    operand x, y;
    operand_of(a, &x);
    operand_of(b, &y);
    big_object *r = big_new(m, x.n + y.n);
    for (size_t i = 0; r && i < x.n; i++) {
        uint64_t carry = 0, by = x.limb[i];
        for (size_t j = 0; j < y.n; j++) {
            carry += by * y.limb[j] + r->limb[i + j];
            r->limb[i + j] = (uint32_t)carry;
            carry >>= LIMB_BITS;
        }
        r->limb[i + y.n] = (uint32_t)carry;
        if (i % 64 == 63 && !worked(m, 64 * y.n)) {
            object_free(m, &r->head);
            return NO_VALUE_;
        }
    }
    return r ? finished(m, r, x.negative != y.negative) : NO_VALUE_;
}

/* q = a / d, gives the rest; q and a may be the same. Faster where d is a constant. */
static inline uint32_t magnitude_divide_limb(uint32_t *q, const uint32_t *a, size_t n, uint32_t d) {
    uint64_t rest = 0;
    while (n--) {
        rest = rest << LIMB_BITS | a[n];
        q[n] = (uint32_t)(rest / d);
        rest %= d;
    }
    return (uint32_t)rest;
}

static void shifted_left(uint32_t *r, const uint32_t *a, size_t n, int bits) {   /* r has n + 1 limbs; bits < LIMB_BITS */
    uint64_t carry = 0;
    for (size_t i = 0; i < n; i++) {
        carry |= (uint64_t)a[i] << bits;
        r[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    r[n] = (uint32_t)carry;
}

/* One digit of the quotient: u, of n + 1 limbs, loses as many times v as fit. v's highest bit is set. */
static uint32_t divide_step(uint32_t *u, const uint32_t *v, size_t n) {
    uint64_t high = (uint64_t)u[n] << LIMB_BITS | u[n - 1], q = high / v[n - 1], rest = high % v[n - 1];
    while (q >> LIMB_BITS || q * v[n - 2] > (rest << LIMB_BITS | u[n - 2])) {
        q--;
        rest += v[n - 1];
        if (rest >> LIMB_BITS) break;
    }
    uint64_t carry = 0, borrow = 0;
    for (size_t i = 0; i <= n; i++) {
        carry += i < n ? q * v[i] : 0;
        uint64_t d = (uint64_t)u[i] - (uint32_t)carry - borrow;
        u[i] = (uint32_t)d;
        borrow = d >> 63;
        carry >>= LIMB_BITS;
    }
    if (!borrow) return (uint32_t)q;
    carry = 0;
    for (size_t i = 0; i <= n; i++) {
        carry += (uint64_t)u[i] + (i < n ? v[i] : 0);
        u[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    return (uint32_t)(q - 1);
}

/* q (a's limbs) = |a| / |b|, r (a's limbs and one more) = the rest; b has at least 2 limbs, and a as many as b. `v` is room for b. */
static bool magnitude_divide(machine *m, uint32_t *q, uint32_t *r, uint32_t *v, const operand *a, const operand *b) {
    int bits = __builtin_clz(b->limb[b->n - 1]);
    shifted_left(r, a->limb, a->n, bits);
    shifted_left(v, b->limb, b->n, bits);
    for (size_t i = a->n - b->n + 1; i--;) {
        q[i] = divide_step(r + i, v, b->n);
        if (i % 64 == 63 && !worked(m, 64 * b->n)) return false;
    }
    for (size_t i = 0; i < b->n; i++) r[i] = bits ? r[i] >> bits | (uint32_t)((uint64_t)r[i + 1] << (LIMB_BITS - bits)) : r[i];
    memset(r + b->n, 0, (a->n + 1 - b->n) * sizeof *r);
    return true;
}

static bool divmod_truncated(machine *m, value a, value b, value *quotient, value *rest) {
    operand x, y;
    operand_of(a, &x);
    operand_of(b, &y);
    big_object *q = big_new(m, x.n + 1), *r = q ? big_new(m, x.n + 1) : NULL, *v = r ? big_new(m, y.n + 1) : NULL;
    bool good = v && worked(m, x.n);
    if (good && magnitude_compare(x.limb, x.n, y.limb, y.n) < 0) memcpy(r->limb, x.limb, x.n * sizeof *r->limb);
    else if (good && y.n == 1) r->limb[0] = magnitude_divide_limb(q->limb, x.limb, x.n, y.limb[0]);
    else if (good) good = magnitude_divide(m, q->limb, r->limb, v->limb, &x, &y);
    if (v) object_free(m, &v->head);
    if (good) {
        *quotient = finished(m, q, x.negative != y.negative);
        *rest = finished(m, r, x.negative);
        return true;
    }
    if (q) object_free(m, &q->head);
    if (r) object_free(m, &r->head);
    return false;
}

int big_sign(value v) {
    if (v.kind == VALUE_BIG) return ((const big_object *)v.u.o)->negative ? -1 : 1;
    return (v.u.i > 0) - (v.u.i < 0);
}

value big_divmod(machine *m, value a, value b, value *remainder) {
    if (!big_sign(b)) return raise(m, "ZeroDivisionError", "integer division or modulo by zero");
    value q, r;
    if (a.kind != VALUE_BIG && b.kind != VALUE_BIG && b.u.i != -1) {
        int64_t floored = a.u.i / b.u.i, rest = a.u.i % b.u.i;
        if (rest && (rest < 0) != (b.u.i < 0)) floored--, rest += b.u.i;
        if (remainder) *remainder = int_value(rest);
        return int_value(floored);
    }
    if (!divmod_truncated(m, a, b, &q, &r)) return NO_VALUE_;
    if (big_sign(r) && big_sign(r) != big_sign(b)) {
        value floored = big_sub(m, q, int_value(1)), rest = big_add(m, r, b);
        value_drop(m, q);
        value_drop(m, r);
        q = floored;
        r = rest;
    }
    if (remainder && !absent(q) && !absent(r)) *remainder = r;
    else value_drop(m, r);
    return q;
}

static value modulo(machine *m, value a, value b) {
    value rest = NO_VALUE_, q = big_divmod(m, a, b, &rest);
    value_drop(m, q);
    return rest;
}

/* (q + something less than 1 if `more`) * 2^exponent, rounded once: to 53 bits, or to fewer where the result is subnormal. */
static double scaled_double(value q, int64_t exponent, bool more) {
    operand o;
    operand_of(q, &o);
    int64_t bits = big_bit_length(q), wanted = bits + exponent + 1074;
    wanted = wanted > 53 ? 53 : wanted;
    if (wanted < 0) return o.negative ? -0.0 : 0.0;
    int64_t drop = bits - wanted;
    uint64_t top = 0;
    bool half = false;
    for (int64_t i = 0; i < bits; i++) {
        bool bit = o.limb[i / LIMB_BITS] >> (i % LIMB_BITS) & 1;
        if (i < drop - 1) more |= bit;
        else if (i == drop - 1) half = bit;
        else top |= (uint64_t)bit << (i - drop);
    }
    top += half && (more || top & 1);
    double d = ldexp((double)top, (int)(exponent + drop));
    return o.negative ? -d : d;
}

/* a / b as the nearest double, from 66 bits of the quotient or more. */
bool big_ratio(machine *m, value a, value b, double *d) {
    if (!big_sign(b)) {
        raise(m, "ZeroDivisionError", "division by zero");
        return false;
    }
    if (a.kind != VALUE_BIG && b.kind != VALUE_BIG && a.u.i >= -(1LL << 53) && a.u.i <= 1LL << 53 && b.u.i >= -(1LL << 53) && b.u.i <= 1LL << 53) {
        *d = (double)a.u.i / (double)b.u.i;
        return true;
    }
    int64_t longer = big_bit_length(a) - big_bit_length(b), shift = 66 - longer;
    if (!big_sign(a) || longer < -1080) {
        *d = (big_sign(a) < 0) != (big_sign(b) < 0) ? -0.0 : 0.0;
        return true;
    }
    value dividend = shift > 0 ? big_shift(m, a, shift) : value_keep(a), divisor = shift < 0 ? big_shift(m, b, -shift) : value_keep(b);
    value q = NO_VALUE_, rest = NO_VALUE_;
    bool good = !absent(dividend) && !absent(divisor) && divmod_truncated(m, dividend, divisor, &q, &rest);
    if (good) *d = scaled_double(q, -shift, big_sign(rest) != 0);
    value_drop(m, dividend);
    value_drop(m, divisor);
    value_drop(m, q);
    value_drop(m, rest);
    if (good && isinf(*d)) {
        raise(m, "OverflowError", "integer division result too large for a float");
        return false;
    }
    return good;
}

/* ---- powers ---- */

/* b with a * b = 1 modulo `modulus`, by Euclid's algorithm. */
static value inverse(machine *m, value a, value modulus) {
    value r0 = value_keep(modulus), r1 = modulo(m, a, modulus), t0 = int_value(0), t1 = int_value(1);
    while (!absent(r1) && !absent(t1) && big_sign(r1)) {
        value rest = NO_VALUE_, q = big_divmod(m, r0, r1, &rest);
        value product = absent(q) ? q : big_mul(m, q, t1), t = absent(product) ? product : big_sub(m, t0, product);
        value_drop(m, q);
        value_drop(m, product);
        value_drop(m, r0);
        value_drop(m, t0);
        r0 = r1;
        t0 = t1;
        r1 = rest;
        t1 = t;
    }
    bool failed = absent(r1) || absent(t1), unit = r0.kind == VALUE_INT && (r0.u.i == 1 || r0.u.i == -1);
    value result = NO_VALUE_;
    if (!failed && !unit) raise(m, "ValueError", "base is not invertible for the given modulus");
    else if (!failed && r0.u.i == 1) result = modulo(m, t0, modulus);
    else if (!failed) {
        value negated = big_negate(m, t0);
        if (!absent(negated)) result = modulo(m, negated, modulus);
        value_drop(m, negated);
    }
    value_drop(m, r0);
    value_drop(m, r1);
    value_drop(m, t0);
    value_drop(m, t1);
    return result;
}

/* *v = *v * by, modulo `modulus` unless that is ABSENT. */
static bool multiply_into(machine *m, value *v, value by, value modulus) {
    value product = machine_step(m) ? big_mul(m, *v, by) : NO_VALUE_;
    value_drop(m, *v);
    *v = product;
    if (!absent(product) && !absent(modulus)) {
        *v = modulo(m, product, modulus);
        value_drop(m, product);
    }
    return !absent(*v);
}

/* base ** exponent, exponent >= 0: squares and products from the highest bit down. */
static value power_of(machine *m, value base, value exponent, value modulus) {
    operand e;
    operand_of(exponent, &e);
    value r = absent(modulus) ? int_value(1) : modulo(m, int_value(1), modulus);
    for (int64_t i = big_bit_length(exponent); i-- && !absent(r);) {
        value square = value_keep(r);
        bool good = multiply_into(m, &r, square, modulus);
        value_drop(m, square);
        if (good && e.limb[i / LIMB_BITS] >> (i % LIMB_BITS) & 1) multiply_into(m, &r, base, modulus);
    }
    return r;
}

static value power_modulo(machine *m, value a, value b, value modulus) {
    if (!big_sign(modulus)) return raise(m, "ValueError", "pow() 3rd argument cannot be 0");
    bool inverted = big_sign(b) < 0;
    value base = inverted ? inverse(m, a, modulus) : modulo(m, a, modulus), exponent = inverted ? big_negate(m, b) : value_keep(b);
    value r = absent(base) || absent(exponent) ? NO_VALUE_ : power_of(m, base, exponent, modulus);
    value_drop(m, base);
    value_drop(m, exponent);
    return r;
}

value big_power(machine *m, value a, value b, value modulus) {
    if (!absent(modulus)) return power_modulo(m, a, b, modulus);
    if (big_sign(b) < 0) {
        if (!big_sign(a)) return raise(m, "ZeroDivisionError", "zero to a negative power");
        double base = big_double(a), exponent = big_double(b);
        if (isinf(base)) return raise(m, "OverflowError", "int too large to convert to float");
        return float_value(pow(base, exponent));
    }
    int64_t bits = big_bit_length(a);
    if (bits <= 1) {   /* -1, 0, 1 */
        operand e;
        operand_of(b, &e);
        bool odd = e.n && e.limb[0] & 1;
        return int_value(!e.n ? 1 : big_sign(a) < 0 && !odd ? 1 : big_sign(a));
    }
    int64_t total;
    if (b.kind == VALUE_BIG || __builtin_mul_overflow(bits - 1, b.u.i, &total) || total > BIG_MOST) return raise_too_big(m);
    return power_of(m, a, b, NO_VALUE_);
}

/* ---- bits ---- */

int64_t big_bit_length(value v) {
    operand o;
    operand_of(v, &o);
    return o.n ? (int64_t)o.n * LIMB_BITS - __builtin_clz(o.limb[o.n - 1]) : 0;
}

int64_t big_bit_count(value v) {
    operand o;
    operand_of(v, &o);
    int64_t count = 0;
    for (size_t i = 0; i < o.n; i++) count += __builtin_popcount(o.limb[i]);
    return count;
}

/* |v| >> bits; *lost: whether a bit that was set fell out. */
static big_object *shifted_right(machine *m, const operand *o, int64_t bits, bool *lost) {
    size_t limbs = (size_t)(bits / LIMB_BITS);
    int rest = (int)(bits % LIMB_BITS);
    big_object *r = big_new(m, (limbs < o->n ? o->n - limbs : 0) + 1);
    *lost = false;
    if (!r) return NULL;
    for (size_t i = 0; i < o->n && i < limbs; i++) *lost |= o->limb[i] != 0;
    for (size_t i = limbs; i < o->n; i++) {
        uint64_t two = o->limb[i] | (i + 1 < o->n ? (uint64_t)o->limb[i + 1] << LIMB_BITS : 0);
        r->limb[i - limbs] = (uint32_t)(two >> rest);
    }
    if (limbs < o->n && rest) *lost |= (o->limb[limbs] & ((1u << rest) - 1)) != 0;
    return r;
}

value big_shift(machine *m, value a, int64_t left) {
    if (!left || !big_sign(a)) return a.kind == VALUE_BIG ? value_keep(a) : int_value(a.u.i);
    operand o;
    operand_of(a, &o);
    if (left > 0) {
        if (left > BIG_MOST) return raise_too_big(m);
        size_t limbs = (size_t)(left / LIMB_BITS);
        big_object *r = big_new(m, o.n + limbs + 1);
        if (!r) return NO_VALUE_;
        shifted_left(r->limb + limbs, o.limb, o.n, (int)(left % LIMB_BITS));
        return finished(m, r, o.negative);
    }
    bool lost;
    big_object *r = shifted_right(m, &o, left == INT64_MIN ? INT64_MAX : -left, &lost);
    if (!r) return NO_VALUE_;
    value v = finished(m, r, o.negative);
    if (!lost || !o.negative || absent(v)) return v;
    value floored = big_sub(m, v, int_value(1));
    value_drop(m, v);
    return floored;
}

/* The limbs of a number in two's complement, one at a time. */
typedef struct complement { const operand *o; size_t at; uint64_t carry; } complement;
static uint32_t complement_next(complement *c) {
    uint32_t limb = c->at < c->o->n ? c->o->limb[c->at] : 0;
    c->at++;
    if (!c->o->negative) return limb;
    c->carry += (uint32_t)~limb;
    limb = (uint32_t)c->carry;
    c->carry >>= LIMB_BITS;
    return limb;
}

value big_bits(machine *m, char op, value a, value b) {
    operand x, y;
    operand_of(a, &x);
    operand_of(b, &y);
    size_t n = (x.n > y.n ? x.n : y.n) + 1;
    big_object *r = big_new(m, n);
    if (!r) return NO_VALUE_;
    complement p = { &x, 0, 1 }, q = { &y, 0, 1 };
    for (size_t i = 0; i < n; i++) {
        uint32_t u = complement_next(&p), v = complement_next(&q);
        r->limb[i] = op == '&' ? u & v : op == '|' ? u | v : u ^ v;
    }
    bool negative = r->limb[n - 1] >> (LIMB_BITS - 1);
    operand self = { .negative = negative, .n = n, .limb = r->limb };
    complement back = { &self, 0, 1 };
    for (size_t i = 0; negative && i < n; i++) r->limb[i] = complement_next(&back);
    return finished(m, r, negative);
}

int big_compare(value a, value b) {
    operand x, y;
    operand_of(a, &x);
    operand_of(b, &y);
    if (x.negative != y.negative) return x.negative ? -1 : 1;
    int c = magnitude_compare(x.limb, x.n, y.limb, y.n);
    return x.negative ? -c : c;
}

/* ---- doubles ---- */

double big_double(value v) {
    if (v.kind != VALUE_BIG) return (double)v.u.i;
    operand o;
    operand_of(v, &o);
    int64_t bits = big_bit_length(v), drop = bits > 64 ? bits - 64 : 0;
    if (bits > 1024) return o.negative ? -INFINITY : INFINITY;
    uint64_t top = 0;
    bool sticky = false;
    for (size_t i = 0; i < o.n; i++) {
        int64_t at = (int64_t)i * LIMB_BITS - drop;
        if (at >= 0) top |= (uint64_t)o.limb[i] << at;
        else if (at > -LIMB_BITS) {
            top |= o.limb[i] >> -at;
            sticky |= (o.limb[i] & ((1u << -at) - 1)) != 0;
        } else sticky |= o.limb[i] != 0;
    }
    double d = ldexp((double)(top | sticky), (int)drop);   /* 64 bits to 53: the lowest may stand for all below */
    return o.negative ? -d : d;
}

value big_from_double(machine *m, double d) {
    if (isnan(d)) return raise(m, "ValueError", "cannot convert float NaN to integer");
    if (isinf(d)) return raise(m, "OverflowError", "cannot convert float infinity to integer");
    if (d >= -0x1p63 && d < 0x1p63) return int_value((int64_t)d);
    int exponent;
    value mantissa = int_value((int64_t)ldexp(frexp(d, &exponent), 53));
    return big_shift(m, mantissa, exponent - 53);
}

bool big_u64(value v, uint64_t *u) {
    const big_object *b = (const big_object *)v.u.o;
    if (v.kind != VALUE_BIG || b->negative || trimmed(b->limb, b->n) != 2) return false;
    *u = (uint64_t)b->limb[1] << 32 | b->limb[0];
    return true;
}

value int_from_u64(machine *m, uint64_t u) {
    if (u <= INT64_MAX) return int_value((int64_t)u);
    big_object *r = big_new(m, 2);
    if (!r) return NO_VALUE_;
    r->limb[0] = (uint32_t)u;
    r->limb[1] = (uint32_t)(u >> 32);
    return finished(m, r, false);
}

/* ---- text ---- */

static int digit_of(char c) {
    int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
    return d;
}

/* The highest power of the base below 2^32, and how many digits it stands for. */
static uint32_t chunk_of(int base, int *digits) {
    uint64_t power = (uint64_t)base;
    for (*digits = 1; power * (uint64_t)base >> LIMB_BITS == 0; ++*digits) power *= (uint64_t)base;
    return (uint32_t)power;
}

static void multiply_add(big_object *r, uint32_t by, uint32_t plus) {
    uint64_t carry = plus;
    for (size_t i = 0; i < r->n; i++) {
        carry += (uint64_t)r->limb[i] * by;
        r->limb[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    if (carry) r->limb[r->n++] = (uint32_t)carry;
}

value big_from_text(machine *m, const char *digits, size_t n, int base) {
    while (n && (*digits == '0' || *digits == '_')) digits++, n--;
    double limbs = (double)n * log2(base) / LIMB_BITS + 2;
    if (limbs > LIMBS_MOST) return raise_too_big(m);
    big_object *r = big_new(m, (size_t)limbs + 1);
    if (!r) return NO_VALUE_;
    r->n = 0;
    int most, have = 0;
    chunk_of(base, &most);
    uint32_t chunk = 0, scale = 1;
    for (size_t i = 0; i < n; i++) {
        if (digits[i] == '_') continue;
        int d = digit_of(digits[i]);
        if (d >= base || (have == 0 && i % 64 == 63 && !worked(m, 64 * r->n))) {
            object_free(m, &r->head);
            return d >= base ? raise(m, "ValueError", "'%c' is no digit of base %d", digits[i], base) : NO_VALUE_;
        }
        chunk = chunk * (uint32_t)base + (uint32_t)d;
        scale *= (uint32_t)base;
        if (++have < most) continue;
        multiply_add(r, scale, chunk);
        have = 0;
        chunk = 0;
        scale = 1;
    }
    if (have) multiply_add(r, scale, chunk);
    return finished(m, r, false);
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }

/* Digits of the base with single underscores between them. */
static bool digits_valid(const char *s, size_t n, int base) {
    if (!n || s[0] == '_' || s[n - 1] == '_') return false;
    for (size_t i = 0; i < n; i++)
        if (s[i] == '_' ? s[i + 1] == '_' : digit_of(s[i]) >= base) return false;
    return true;
}

value big_from_literal(machine *m, value string, int base) {
    const char *s = as_string(string)->at;
    size_t n = as_string(string)->length;
    bool negative = false, prefixed = false;
    while (n && is_space(*s)) s++, n--;
    while (n && is_space(s[n - 1])) n--;
    if (n && (*s == '-' || *s == '+')) negative = *s == '-', s++, n--;
    if (n > 1 && *s == '0') {
        int kind = s[1] == 'x' || s[1] == 'X' ? 16 : s[1] == 'o' || s[1] == 'O' ? 8 : s[1] == 'b' || s[1] == 'B' ? 2 : 0;
        if (kind && (base == 0 || base == kind)) {
            base = kind;
            prefixed = true;
            s += 2, n -= 2;
            if (n && *s == '_') s++, n--;
        }
    }
    bool zeros = true;
    for (size_t i = 0; i < n; i++) zeros &= s[i] == '0' || s[i] == '_';
    bool octal = base == 0 && !prefixed && n > 1 && *s == '0' && !zeros;   /* 010 */
    int given = base;
    if (!base) base = 10;
    if (octal || !digits_valid(s, n, base)) {
        text shown = { 0 };
        if (value_repr(m, string, &shown)) raise(m, "ValueError", "invalid literal for int() with base %d: %.*s", given, utf8_cut(shown.at, shown.len), shown.at);
        text_free(&shown);
        return NO_VALUE_;
    }
    value v = big_from_text(m, s, n, base);
    if (!negative || absent(v)) return v;
    value negated = big_negate(m, v);
    value_drop(m, v);
    return negated;
}

/* Digits are found from the lowest up, a chunk at a time, into the end of a buffer. */
bool big_text(machine *m, value v, int base, text *out) {
    operand o;
    operand_of(v, &o);
    int most;
    uint32_t chunk = chunk_of(base, &most);
    size_t room = (size_t)((double)(o.n * LIMB_BITS) / log2(base)) + 16, at = room, n = o.n;
    char *digits = mem_alloc(room);
    uint32_t *rest = mem_array(n + 1, sizeof *rest);
    bool good = digits && rest;
    if (!good) raise_memory(m);
    else memcpy(rest, o.limb, n * sizeof *rest);
    for (size_t turn = 0; good && n; turn++) {
        uint32_t part = base == 10 ? magnitude_divide_limb(rest, rest, n, 1000000000) : magnitude_divide_limb(rest, rest, n, chunk);
        n = trimmed(rest, n);
        for (int i = 0; i < most && (n || part); i++, part /= (uint32_t)base) digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[part % (uint32_t)base];
        good = turn % 64 != 63 || worked(m, 64 * n);
    }
    if (good && at == room) digits[--at] = '0';
    if (good && o.negative) text_addn(out, "-", 1);
    if (good) text_addn(out, digits + at, room - at);
    mem_free(digits);
    mem_free(rest);
    if (good && out->failed) raise_memory(m);
    return good && !out->failed;
}
