/* fold.c: primitives whose result is known when the kernel is made.
 *
 * Integers and bools are computed; of floats only what keeps every bit is used (x*1, x/1, x-0, x+(-0), -(-x)), so that a
 * fold never changes a result. A payload of a NaN may differ. */
#include <string.h>
#include "ir/kir/fold.h"

typedef struct known { bool is; int64_t v; } known;   /* integer or bool constant, extended to 64 bits */

static known known_of(const kernel *k, kval v) {
    known c = { 0 };
    c.is = kb_constant(k, v, &c.v);
    return c;
}

static bool is_float_bits(const kernel *k, kval v, double wanted) {
    const kinst *x = &k->code[v];
    if (x->op != K_CONST) return false;
    uint64_t bits = (uint64_t)x->c << 32 | x->b, want = 0;
    if (x->type == T_F32) {
        float f = (float)wanted;
        memcpy(&want, &f, sizeof f);
    } else if (x->type == T_F64) {
        memcpy(&want, &wanted, sizeof wanted);
    } else {
        return false;
    }
    return bits == want;
}

static kval fold_float(kernel *k, kop op, kval a, kval b) {
    switch (op) {
    case KOP_add:
        if (is_float_bits(k, b, -0.0)) return a;
        if (is_float_bits(k, a, -0.0)) return b;
        break;
    case KOP_sub: if (is_float_bits(k, b, 0.0)) return a; break;
    case KOP_mul:
        if (is_float_bits(k, b, 1.0)) return a;
        if (is_float_bits(k, a, 1.0)) return b;
        break;
    case KOP_div: if (is_float_bits(k, b, 1.0)) return a; break;
    default: break;
    }
    return NOT_FOLDED;
}

/* ---- integers ---- */

static bool compute(kop op, ktype t, int64_t a, int64_t b, int64_t *r) {
    bool is_signed = ktype_table[t].is_signed;
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    switch (op) {
    case KOP_add: *r = (int64_t)(ua + ub); return true;
    case KOP_sub: *r = (int64_t)(ua - ub); return true;
    case KOP_mul: *r = (int64_t)(ua * ub); return true;
    case KOP_div: case KOP_rem:
        if (b == 0 || (is_signed && b == -1)) return false;
        if (op == KOP_div) *r = is_signed ? a / b : (int64_t)(ua / ub);
        else *r = is_signed ? a % b : (int64_t)(ua % ub);
        return true;
    case KOP_and: *r = a & b; return true;
    case KOP_or: *r = a | b; return true;
    case KOP_xor: *r = a ^ b; return true;
    case KOP_shl: case KOP_shr:
        if (b < 0 || b >= 8 * ktype_table[t].size) return false;
        *r = op == KOP_shl ? (int64_t)(ua << b) : is_signed ? a >> b : (int64_t)(ua >> b);
        return true;
    case KOP_eq: *r = a == b; return true;
    case KOP_ne: *r = a != b; return true;
    case KOP_lt: *r = is_signed ? a < b : ua < ub; return true;
    case KOP_le: *r = is_signed ? a <= b : ua <= ub; return true;
    case KOP_gt: *r = is_signed ? a > b : ua > ub; return true;
    case KOP_ge: *r = is_signed ? a >= b : ua >= ub; return true;
    default: return false;
    }
}

/* All bits of the type, as a constant of it is kept. */
static int64_t all_ones(ktype t) {
    switch (t) {
    case T_BOOL: return 1;
    case T_U8: return UINT8_MAX;
    case T_U16: return UINT16_MAX;
    case T_U32: return UINT32_MAX;
    default: return -1;
    }
}

/* One operand is the constant c. */
static kval fold_with(kernel *k, kop op, ktype t, kval x, int64_t c, kval constant, bool constant_is_right) {
    int64_t ones = all_ones(t);
    switch (op) {
    case KOP_add: case KOP_xor: return c == 0 ? x : NOT_FOLDED;
    case KOP_or: return c == 0 ? x : c == ones ? constant : NOT_FOLDED;
    case KOP_and: return c == ones ? x : c == 0 ? constant : NOT_FOLDED;
    case KOP_mul: return c == 1 ? x : c == 0 ? constant : NOT_FOLDED;
    case KOP_sub: case KOP_shl: case KOP_shr:
        if (c == 0) return constant_is_right ? x : op == KOP_sub ? NOT_FOLDED : constant;
        return NOT_FOLDED;
    case KOP_div: return constant_is_right && c == 1 ? x : NOT_FOLDED;
    case KOP_rem: return constant_is_right && c == 1 ? kb_const_int(k, t, 0) : NOT_FOLDED;
    case KOP_eq: if (t == T_BOOL && c == 1) return x; return NOT_FOLDED;
    case KOP_ne: if (t == T_BOOL && c == 0) return x; return NOT_FOLDED;
    default: return NOT_FOLDED;
    }
}

static kval fold_same(kernel *k, kop op, ktype t, kval x) {
    switch (op) {
    case KOP_and: case KOP_or: return x;
    case KOP_sub: case KOP_xor: return kb_const_int(k, t, 0);
    case KOP_eq: case KOP_le: case KOP_ge: return kb_const_int(k, T_BOOL, 1);
    case KOP_ne: case KOP_lt: case KOP_gt: return kb_const_int(k, T_BOOL, 0);
    default: return NOT_FOLDED;
    }
}

static kval fold_integer(kernel *k, kop op, ktype type, kval a, kval b) {
    ktype t = kb_type(k, a);
    known x = known_of(k, a), y = known_of(k, b);
    int64_t r;
    if (x.is && y.is && compute(op, t, x.v, y.v, &r)) return kb_const_int(k, type, r);
    kval folded = NOT_FOLDED;
    if (y.is) folded = fold_with(k, op, t, a, y.v, b, true);
    if (folded == NOT_FOLDED && x.is) folded = fold_with(k, op, t, b, x.v, a, false);
    return folded == NOT_FOLDED && a == b ? fold_same(k, op, t, a) : folded;
}

/* ---- the rest ---- */

static kval fold_select(kernel *k, kval c, kval yes, kval no) {
    known known_c = known_of(k, c);
    if (known_c.is) return known_c.v ? yes : no;
    if (yes == no) return yes;
    known y = known_of(k, yes), n = known_of(k, no);
    return kb_type(k, yes) == T_BOOL && y.is && n.is && y.v && !n.v ? c : NOT_FOLDED;
}

static kval fold_convert(kernel *k, ktype type, kval a) {
    ktype from = kb_type(k, a);
    known x = known_of(k, a);
    if (from == type) return a;
    if (x.is && !ktype_table[type].is_float) return kb_const_int(k, type, x.v);
    if (!x.is || type == T_F16 || type == T_BF16) return NOT_FOLDED;
    bool is_signed = ktype_table[from].is_signed;
    if (type == T_F64) return kb_const_float(k, type, is_signed ? (double)x.v : (double)(uint64_t)x.v);
    float f = is_signed ? (float)x.v : (float)(uint64_t)x.v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return kb_const_bits(k, type, bits);
}

static kval fold_unary(kernel *k, kop op, ktype type, kval a) {
    known x = known_of(k, a);
    const kinst *from = &k->code[a];
    if (op == KOP_convert) return fold_convert(k, type, a);
    if (op == KOP_bitcast && from->type == type) return a;
    if (op == KOP_bitcast && from->op == KOP_bitcast && k->code[from->a].type == type) return from->a;
    if (op == KOP_neg && x.is) return kb_const_int(k, type, (int64_t)(0 - (uint64_t)x.v));
    if (op == KOP_not && x.is) return kb_const_int(k, type, type == T_BOOL ? !x.v : ~x.v);
    if ((op == KOP_not || op == KOP_neg) && from->op == op) return from->a;
    return NOT_FOLDED;
}

kval fold(kernel *k, kop op, ktype type, kval a, kval b, kval c) {
    int arity = kop_arity(op);
    if (a >= k->ncode || (arity > 1 && b >= k->ncode) || (arity > 2 && c >= k->ncode)) return NOT_FOLDED;   /* verify says so */
    if (op == KOP_select) return fold_select(k, a, b, c);
    if (arity == 1) return fold_unary(k, op, type, a);
    if (arity != 2 || kb_type(k, a) != kb_type(k, b)) return NOT_FOLDED;
    return ktype_table[kb_type(k, a)].is_float ? fold_float(k, op, a, b) : fold_integer(k, op, type, a, b);
}
