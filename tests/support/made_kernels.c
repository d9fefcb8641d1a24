/* made_kernels.c: see made_kernels.h. Programs keep to what the IR defines: divisors are not 0, shift counts in range, NaNs
 * never looked into. */
#include <math.h>
#include <string.h>
#include "made_kernels.h"

const ktype made_types[MADE_TYPES] = { T_BOOL, T_I8, T_I16, T_I32, T_I64, T_U8, T_U16, T_U32, T_U64, T_F32, T_F64 };

static bool is_int(ktype t) { return ktype_table[t].is_int; }
static bool is_float(ktype t) { return ktype_table[t].is_float; }
static int bits_of(ktype t) { return 8 * ktype_table[t].size; }
static uint32_t next_random(uint32_t *s) { return *s = *s * 1664525u + 1013904223u, (*s >> 8) ^ (*s >> 20); }

static bool allowed(kop op, ktype t) {
    switch (op) {
    case KOP_select: case KOP_convert: case KOP_bitcast: return false;   /* made one by one */
    case KOP_mulhi: return is_int(t) && bits_of(t) >= 32;
    case KOP_rem: case KOP_shl: case KOP_shr: case KOP_popcount: case KOP_clz: return is_int(t);
    case KOP_fma: case KOP_sqrt: case KOP_fabs: case KOP_floor: case KOP_ceil: case KOP_trunc: case KOP_rint: case KOP_copysign:
    case KOP_round_f16: case KOP_round_bf16: return is_float(t);
    case KOP_and: case KOP_or: case KOP_xor: case KOP_not: return !is_float(t);
    case KOP_eq: case KOP_ne: return true;
    default: return t != T_BOOL;
    }
}

static ktype result_of(kop op, ktype t) {
    return op >= KOP_eq && op <= KOP_ge ? T_BOOL : op == KOP_round_f16 || op == KOP_round_bf16 ? T_F32 : t;
}

/* ---- every primitive ---- */

typedef struct primitives {
    kernel *k;
    uint32_t *count;
    int array[NKTYPES];          /* parameter, or -1 */
    kval index, stride;
} primitives;

static void put_result(primitives *p, kval v) {
    ktype t = kb_type(p->k, v);
    if (p->array[t] >= 0) {
        kval at = kb_op(p->k, KOP_add, T_I32, p->index, kb_const_int(p->k, T_I32, (int64_t)p->count[t] * MADE_COUNT), 0);
        kb_inst(p->k, K_STORE, T_VOID, 0, (kval)p->array[t], at, v);
    }
    p->count[t]++;
}

static void all_results(primitives *p, ktype t, kval a, kval b, kval c) {
    kernel *k = p->k;
    for (kop op = 0; op < NKOPS; op++) {
        if (!allowed(op, t)) continue;
        kval second = op == KOP_shl || op == KOP_shr ? c : b;
        put_result(p, kb_op(k, op, result_of(op, t), a, second, c));
    }
    put_result(p, kb_op(k, KOP_select, t, kb_op(k, KOP_ne, T_BOOL, a, b, 0), c, a));
    for (int i = 0; i < MADE_TYPES; i++) {
        ktype to = made_types[i];
        if (to != t) put_result(p, kb_op(k, KOP_convert, to, is_float(t) && is_int(to) ? c : a, 0, 0));
        if (to == T_BOOL || t == T_BOOL || to == t || bits_of(to) != bits_of(t)) continue;
        put_result(p, kb_op(k, KOP_bitcast, to, is_float(t) ? c : a, 0, 0));
    }
}

static kernel *primitives_pass(arena *mem, ktype t, const bool *wanted, uint32_t *count) {
    kparam params[4 + NKTYPES] = { 0 };
    static const char *const in[] = { "a", "b", "c" };
    uint32_t n = 0;
    primitives p = { .count = count };
    for (int i = 0; i < 3; i++) params[n++] = (kparam){ .name = in[i], .type = t, .array = true, .read = true };
    for (int r = 0; r < NKTYPES; r++) {
        p.array[r] = wanted && wanted[r] ? (int)n : -1;
        if (wanted && wanted[r]) params[n++] = (kparam){ .name = arena_text(mem, "out_%s", ktype_table[r].name), .type = (ktype)r, .array = true, .written = true };
    }
    params[n++] = (kparam){ .name = "n", .type = T_I32 };
    kernel *k = p.k = kernel_new(mem, arena_text(mem, "primitives_%s", ktype_table[t].name), params, n);
    memset(count, 0, NKTYPES * sizeof *count);
    if (!k) return NULL;
    k->block[0] = MADE_THREADS;
    k->block[1] = k->block[2] = 1;
    k->warp = 32;
    kval zero = kb_const_int(k, T_I32, 0), one = kb_const_int(k, T_I32, 1), size = kb_const_int(k, T_I32, MADE_THREADS);
    kval blocks = kb_op(k, KOP_div, T_I32, kb_op(k, KOP_add, T_I32, n - 1, kb_const_int(k, T_I32, MADE_THREADS - 1), 0), size, 0);
    kval block = kb_for(k, LOOP_GRID, T_I32, zero, blocks, one), thread = kb_for(k, LOOP_BLOCK, T_I32, zero, size, one);
    p.index = kb_op(k, KOP_add, T_I32, kb_op(k, KOP_mul, T_I32, block, size, 0), thread, 0);
    kval inside = kb_inst(k, K_IF, T_VOID, 0, kb_op(k, KOP_lt, T_BOOL, p.index, n - 1, 0), 0, 0), v[3];
    for (kval i = 0; i < 3; i++) v[i] = kb_inst(k, K_LOAD, t, 0, i, p.index, 0);
    all_results(&p, t, v[0], v[1], v[2]);
    kb_end(k, inside);
    kb_end(k, thread);
    kb_end(k, block);
    return k;
}

kernel *made_primitives(arena *mem, ktype t, uint32_t results[NKTYPES]) {
    bool wanted[NKTYPES] = { false };
    if (!primitives_pass(mem, t, NULL, results)) return NULL;   /* to count */
    for (int r = 0; r < NKTYPES; r++) wanted[r] = results[r] > 0;
    return primitives_pass(mem, t, wanted, results);
}

static void put_int(ktype t, void *to, int i, uint64_t v) { memcpy((char *)to + (size_t)i * ktype_table[t].size, &v, ktype_table[t].size); }

static void put_float(ktype t, void *to, int i, double v) {
    if (t == T_F32) ((float *)to)[i] = (float)v;
    else ((double *)to)[i] = v;
}

static double any_float(ktype t, uint32_t *s) {
    static const double special[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.5, 0.5, 2.5, 65504.0, 65519.0, 65520.0, 1e-7, 6e-8, 3.4e38, 1e-40, 3.3895e38 };
    uint32_t r = next_random(s);
    if (r % 4 == 0) return special[r / 4 % (sizeof special / sizeof *special)];
    double m = 1 + next_random(s) / 16777216.0, e = (int)(r / 4 % 60) - 30;
    return ldexp(r & 4 ? -m : m, (int)(t == T_F64 && r & 8 ? 9 * e : e));
}

void made_inputs(ktype t, uint32_t seed, void *a, void *b, void *c) {
    uint32_t s = seed * 2654435761u + 12345;
    for (int i = 0; i < MADE_COUNT; i++) {
        uint64_t u = (uint64_t)next_random(&s) << 40 ^ (uint64_t)next_random(&s) << 16 ^ next_random(&s), w = next_random(&s);
        if (i % 8 == 0) u = i % 16 ? 0 : (uint64_t)1 << (bits_of(t) - 1);
        if (i % 8 == 1) u = (uint64_t)(int64_t)(i % 32 - 16);
        if (is_float(t)) {
            put_float(t, a, i, any_float(t, &s));
            put_float(t, b, i, any_float(t, &s));
            put_float(t, c, i, (double)(w % 12000) / 97.0);
        } else if (t == T_BOOL) {
            put_int(t, a, i, u & 1);
            put_int(t, b, i, w & 1);
            put_int(t, c, i, w >> 1 & 1);
        } else {
            put_int(t, a, i, u);
            put_int(t, b, i, w % 2 ? (w & 0x7e) | 1 : ~(w & 0x7e) - 2);   /* 1 ... 127 or -129 ... -3 */
            put_int(t, c, i, w % (unsigned)bits_of(t));
        }
    }
}

/* ---- between lanes ---- */

kernel *made_lanes(arena *mem, ktype t, int warp) {
    const kparam params[] = { { .name = "to", .type = t, .array = true, .written = true }, { .name = "from", .type = t, .array = true, .read = true },
                              { .name = "votes", .type = T_U64, .array = true, .written = true } };
    kernel *k = kernel_new(mem, arena_text(mem, "lanes_%s", ktype_table[t].name), params, 3);
    if (!k) return NULL;
    k->block[0] = MADE_THREADS;
    k->block[1] = k->block[2] = 1;
    k->warp = (uint16_t)warp;
    kval zero = kb_const_int(k, T_I32, 0), one = kb_const_int(k, T_I32, 1), size = kb_const_int(k, T_I32, MADE_THREADS);
    kval block = kb_for(k, LOOP_GRID, T_I32, zero, kb_const_int(k, T_I32, MADE_BLOCKS), one), thread = kb_for(k, LOOP_BLOCK, T_I32, zero, size, one);
    kval index = kb_op(k, KOP_add, T_I32, kb_op(k, KOP_mul, T_I32, block, size, 0), thread, 0);
    kval v = kb_inst(k, K_LOAD, t, 0, 1, index, 0), lane = kb_inst(k, K_LANE_INDEX, T_I32, 0, 0, 0, 0), any = v;
    for (int how = SHUFFLE_XOR; how <= SHUFFLE_INDEX; how++) {
        kval other = kb_inst(k, K_SHUFFLE, t, (uint8_t)how, v, kb_const_int(k, T_I32, 1 + how), how == SHUFFLE_UP ? 16 : (uint32_t)warp);
        any = kb_op(k, KOP_select, t, kb_op(k, KOP_eq, T_BOOL, other, v, 0), any, other);
        kval far = kb_inst(k, K_SHUFFLE, t, (uint8_t)how, any, kb_const_int(k, T_I32, how == SHUFFLE_XOR ? 16 : 19), 0);
        any = kb_op(k, KOP_select, t, kb_op(k, KOP_ne, T_BOOL, far, any, 0), far, v);
    }
    kb_inst(k, K_STORE, T_VOID, 0, 0, index, any);
    kval few = kb_op(k, KOP_lt, T_BOOL, lane, kb_op(k, KOP_add, T_I32, block, kb_const_int(k, T_I32, 5), 0), 0);
    kb_inst(k, K_STORE, T_VOID, 0, 2, index, kb_inst(k, K_BALLOT, T_U64, 0, few, 0, 0));
    kb_end(k, thread);
    kb_end(k, block);
    return k;
}

/* ---- programs made at random ---- */

#define POOL 24
#define VARS 3

typedef struct maker {
    kernel *k;
    made_options o;
    uint32_t seed;
    kval pool[MADE_TYPES][POOL]; int n[MADE_TYPES];
    kval var[MADE_TYPES][VARS], local[MADE_TYPES];
    kval index, data_index;      /* i32: this thread; a value made of it that may overflow */
    int depth, stores;
} maker;

static uint32_t roll(maker *m, uint32_t n) { return next_random(&m->seed) % n; }
static ktype type_at(int i) { return made_types[i]; }

static int place_of(ktype t) {
    for (int i = 0; i < MADE_TYPES; i++) if (made_types[i] == t) return i;
    return -1;
}

static void keep(maker *m, kval v) {
    int i = place_of(kb_type(m->k, v));
    if (i < 0) return;
    if (m->n[i] < POOL) m->pool[i][m->n[i]++] = v;
    else m->pool[i][POOL / 2 + roll(m, POOL / 2)] = v;
}

static kval number(maker *m, ktype t) {
    static const double floats[] = { 0.5, -1.0, 3.25, 1e10, -7.0, 0.1 };
    if (is_float(t)) return kb_const_float(m->k, t, floats[roll(m, 6)]);
    return kb_const_int(m->k, t, roll(m, 3) ? (int64_t)roll(m, 100) - 20 : (int64_t)next_random(&m->seed) * 7919 - 80000000);
}

static kval any_value(maker *m, ktype t) {
    int i = place_of(t);
    if (!roll(m, 6)) return number(m, t);
    if (!roll(m, 3)) return kb_inst(m->k, K_GET, t, 0, m->var[i][roll(m, VARS)], 0, 0);
    return m->pool[i][roll(m, 3) && m->n[i] > 4 ? (uint32_t)m->n[i] - 1 - roll(m, 4) : roll(m, (uint32_t)m->n[i])];
}

static kval binary(maker *m, kop op, kval a, kval b) { return kb_op(m->k, op, kb_type(m->k, a), a, b, 0); }
static kval constant(maker *m, ktype t, int64_t v) { return kb_const_int(m->k, t, v); }

/* Loop variables and parameters are index arithmetic, which never overflows; mixed with something loaded they are data. */
static kval as_data(maker *m, kval v) {
    ktype t = kb_type(m->k, v);
    kval loaded = kb_inst(m->k, K_LOAD, t, 0, (kval)(2 * place_of(t)), m->index, 0);
    return binary(m, KOP_xor, v, loaded);
}

/* 0 when it is a NaN, whose bits are nobody's business. */
static kval definite(maker *m, kval v) {
    ktype t = kb_type(m->k, v);
    return is_float(t) ? kb_op(m->k, KOP_select, t, kb_op(m->k, KOP_eq, T_BOOL, v, v, 0), v, kb_const_float(m->k, t, 0)) : v;
}

/* Small enough, and not negative, for every integer type. */
static kval small_float(maker *m, kval v) {
    ktype t = kb_type(m->k, v);
    kval size = kb_op(m->k, KOP_fabs, t, v, 0, 0), fits = kb_op(m->k, KOP_lt, T_BOOL, size, kb_const_float(m->k, t, 100), 0);
    return kb_op(m->k, KOP_select, t, fits, size, kb_const_float(m->k, t, 1.5));
}

/* An expression that is used once, so that it is printed inside the one around it. */
static kval tree(maker *m, ktype t, int depth) {
    if (!depth || !roll(m, 3)) return any_value(m, t);
    kval a = tree(m, t, depth - 1), b = tree(m, t, depth - 1);
    if (t == T_BOOL) {
        static const kop logic[] = { KOP_and, KOP_or, KOP_xor, KOP_not, KOP_eq, KOP_ne };
        ktype other = type_at(1 + (int)roll(m, MADE_TYPES - 1));
        if (roll(m, 2)) return kb_op(m->k, (kop)(KOP_eq + (int)roll(m, 6)), T_BOOL, tree(m, other, depth - 1), any_value(m, other), 0);
        return kb_op(m->k, logic[roll(m, 6)], t, a, b, 0);
    }
    switch (roll(m, is_int(t) ? 12 : 7)) {
    case 0: case 1: return binary(m, KOP_sub, a, b);
    case 2: return binary(m, KOP_mul, a, b);
    case 3: return kb_op(m->k, KOP_neg, t, a, 0, 0);
    case 4: return kb_op(m->k, KOP_select, t, tree(m, T_BOOL, depth - 1), a, b);
    case 5: {
        ktype from = is_int(t) ? type_at((int)roll(m, 9)) : type_at((int)roll(m, MADE_TYPES));
        return kb_op(m->k, KOP_convert, t, tree(m, from, depth - 1), 0, 0);
    }
    case 7: return binary(m, KOP_shl, a, binary(m, KOP_and, b, constant(m, t, bits_of(t) - 1)));
    case 8: return binary(m, KOP_shr, a, binary(m, KOP_and, b, constant(m, t, bits_of(t) - 1)));
    case 9: return binary(m, roll(m, 2) ? KOP_xor : KOP_or, a, b);
    case 10: return binary(m, roll(m, 2) ? KOP_div : KOP_rem, a, binary(m, KOP_or, binary(m, KOP_and, b, constant(m, t, 0x7e)), constant(m, t, 1)));
    case 11: return kb_op(m->k, KOP_not, t, a, 0, 0);
    default: return binary(m, KOP_add, a, b);
    }
}

static kval make_op(maker *m) {
    ktype t = type_at((int)roll(m, MADE_TYPES));
    kval a = any_value(m, t), b = any_value(m, t);
    switch (roll(m, 8)) {
    case 0: return kb_op(m->k, KOP_select, t, any_value(m, T_BOOL), a, b);
    case 1: {
        ktype to = type_at((int)roll(m, MADE_TYPES));
        return kb_op(m->k, KOP_convert, to, is_float(t) && is_int(to) ? small_float(m, a) : a, 0, 0);
    }
    case 2: {
        ktype to = type_at((int)roll(m, MADE_TYPES));
        if (t == T_BOOL || to == T_BOOL || bits_of(t) != bits_of(to)) break;
        return kb_op(m->k, KOP_bitcast, to, definite(m, a), 0, 0);
    }
    default: break;
    }
    kop op = (kop)roll(m, NKOPS);
    while (!allowed(op, t) || (op == KOP_round_f16 && !m->o.halves)) op = (kop)roll(m, NKOPS);
    if ((op == KOP_div || op == KOP_rem) && is_int(t)) b = binary(m, KOP_or, binary(m, KOP_and, b, constant(m, t, 0x7e)), constant(m, t, 1));
    if (op == KOP_shl || op == KOP_shr) b = binary(m, KOP_and, b, constant(m, t, bits_of(t) - 1));
    if (op == KOP_copysign) b = definite(m, b);
    return kb_op(m->k, op, result_of(op, t), a, b, any_value(m, t));
}

/* An index below n, a power of two. */
static kval small_index(maker *m, int n) {
    if (!roll(m, 3)) return constant(m, T_I32, roll(m, (uint32_t)n));
    return binary(m, KOP_and, any_value(m, T_I32), constant(m, T_I32, n - 1));
}

static kval output_index(maker *m) { return binary(m, KOP_add, m->index, constant(m, T_I32, (int64_t)roll(m, MADE_OUTPUTS) * MADE_COUNT)); }

static void statements(maker *m, int n);

/* Values made in a block are not known after it. */
static void in_block(maker *m, int n) {
    int before[MADE_TYPES];
    memcpy(before, m->n, sizeof before);
    kval kept[MADE_TYPES][POOL];
    memcpy(kept, m->pool, sizeof kept);
    m->depth++;
    statements(m, n);
    m->depth--;
    memcpy(m->n, before, sizeof before);
    memcpy(m->pool, kept, sizeof kept);
}

static void make_block(maker *m) {
    kernel *k = m->k;
    kval zero = constant(m, T_I32, 0), one = constant(m, T_I32, 1), opened;
    int some = 2 + (int)roll(m, 5);
    switch (roll(m, 5)) {
    case 0: case 1:
        opened = kb_inst(k, K_IF, T_VOID, 0, any_value(m, T_BOOL), 0, 0);
        in_block(m, some);
        if (roll(m, 2)) {
            kb_else(k, opened);
            in_block(m, some);
        }
        break;
    case 2:
        opened = kb_for(k, LOOP_UNROLL, T_I32, zero, constant(m, T_I32, 1 + roll(m, 4)), one);
        m->pool[place_of(T_I32)][0] = as_data(m, opened);
        in_block(m, some);
        break;
    case 3:
        opened = kb_for(k, LOOP_SERIAL, T_I32, small_index(m, 4), binary(m, KOP_add, small_index(m, 8), one), constant(m, T_I32, 1 + roll(m, 2)));
        in_block(m, some);
        break;
    default: {
        kval times = kb_inst(k, K_VAR, T_I32, 0, small_index(m, 4), 0, 0);
        opened = kb_inst(k, K_LOOP, T_VOID, 0, 0, 0, 0);
        if (roll(m, 2)) in_block(m, 1);
        kval left = kb_inst(k, K_GET, T_I32, 0, times, 0, 0);
        kb_inst(k, K_BREAK_UNLESS, T_VOID, 0, kb_op(k, KOP_gt, T_BOOL, left, zero, 0), 0, 0);
        kb_inst(k, K_SET, T_VOID, 0, times, binary(m, KOP_sub, left, one), 0);
        in_block(m, some);
    }
    }
    kb_end(k, opened);
    m->pool[place_of(T_I32)][0] = m->data_index;
}

static void statements(maker *m, int n) {
    kernel *k = m->k;
    while (n-- > 0) {
        int i = (int)roll(m, MADE_TYPES);
        ktype t = type_at(i);
        switch (roll(m, 14)) {
        case 0: kb_inst(k, K_SET, T_VOID, 0, m->var[i][roll(m, VARS)], any_value(m, t), 0); break;
        case 1: kb_inst(k, K_STORE, T_VOID, 0, m->local[i], small_index(m, 4), any_value(m, t)); break;
        case 2: keep(m, kb_inst(k, K_LOAD, t, 0, m->local[i], small_index(m, 4), 0)); break;
        case 3: kb_inst(k, K_STORE, T_VOID, 0, (kval)(2 * i + 1), output_index(m), any_value(m, t)); break;
        case 4: keep(m, kb_inst(k, K_LOAD, t, 0, (kval)(2 * i + 1), output_index(m), roll(m, 2) ? any_value(m, T_BOOL) + 1 : 0)); break;
        case 5: keep(m, kb_inst(k, K_LOAD, t, 0, (kval)(2 * i), m->index, roll(m, 2) ? any_value(m, T_BOOL) + 1 : 0)); break;
        case 6: if (m->depth < 3) make_block(m); break;
        case 7: {   /* x = x op y */
            kop op = t == T_BOOL ? KOP_xor : roll(m, 2) ? KOP_add : KOP_sub;
            kval var = m->var[i][roll(m, VARS)], old = kb_inst(k, K_GET, t, 0, var, 0, 0);
            kb_inst(k, K_SET, T_VOID, 0, var, kb_op(k, op, t, old, any_value(m, t), 0), 0);
            break;
        }
        case 8: case 9: case 10: kb_inst(k, K_SET, T_VOID, 0, m->var[i][roll(m, VARS)], tree(m, t, 3), 0); break;
        case 11: kb_inst(k, K_STORE, T_VOID, 0, (kval)(2 * i + 1), output_index(m), tree(m, t, 4)); break;
        default: keep(m, make_op(m));
        }
    }
}

static void start(maker *m) {
    kernel *k = m->k;
    for (int i = 0; i < MADE_TYPES; i++) {
        ktype t = type_at(i);
        m->pool[i][m->n[i]++] = kb_inst(k, K_LOAD, t, 0, (kval)(2 * i), m->index, 0);
        m->local[i] = kb_inst(k, K_LOCAL, t, 0, 4, 0, 0);
        for (int v = 0; v < VARS; v++) m->var[i][v] = kb_inst(k, K_VAR, t, 0, v && is_float(t) ? number(m, t) : m->pool[i][0], 0, 0);
        for (int e = 0; e < 4; e++) kb_inst(k, K_STORE, T_VOID, 0, m->local[i], constant(m, T_I32, e), m->pool[i][0]);
        for (int e = 0; e < MADE_OUTPUTS; e++)
            kb_inst(k, K_STORE, T_VOID, 0, (kval)(2 * i + 1), binary(m, KOP_add, m->index, constant(m, T_I32, (int64_t)e * MADE_COUNT)), m->pool[i][0]);
    }
    m->pool[place_of(T_I32)][0] = m->data_index = as_data(m, m->index);
    keep(m, as_data(m, 2 * MADE_TYPES));
    keep(m, as_data(m, 2 * MADE_TYPES + 1));
    keep(m, 2 * MADE_TYPES + 2);
}

kernel *made_random(arena *mem, uint32_t seed, made_options o) {
    kparam params[2 * MADE_TYPES + 3] = { 0 };
    for (int i = 0; i < MADE_TYPES; i++) {
        const char *t = ktype_table[made_types[i]].name;
        params[2 * i] = (kparam){ .name = arena_text(mem, "in_%s", t), .type = made_types[i], .array = true, .read = true };
        params[2 * i + 1] = (kparam){ .name = arena_text(mem, "out_%s", t), .type = made_types[i], .array = true, .read = true, .written = true };
    }
    params[2 * MADE_TYPES] = (kparam){ .name = "p", .type = T_I32 };
    params[2 * MADE_TYPES + 1] = (kparam){ .name = "q", .type = T_I64 };
    params[2 * MADE_TYPES + 2] = (kparam){ .name = "r", .type = T_F32 };
    maker m = { .seed = seed * 2654435761u + 99, .o = o };
    kernel *k = m.k = kernel_new(mem, arena_text(mem, "random_%u", seed), params, 2 * MADE_TYPES + 3);
    if (!k) return NULL;
    kval zero = kb_const_int(k, T_I32, 0), one = kb_const_int(k, T_I32, 1), block, thread = 0;
    if (o.cpu) {
        block = kb_for(k, LOOP_GRID, T_I32, zero, kb_const_int(k, T_I32, MADE_COUNT), one);
        m.index = block;
    } else {
        k->block[0] = MADE_THREADS;
        k->block[1] = k->block[2] = 1;
        k->warp = 32;
        kval size = kb_const_int(k, T_I32, MADE_THREADS);
        block = kb_for(k, LOOP_GRID, T_I32, zero, kb_const_int(k, T_I32, MADE_BLOCKS), one);
        thread = kb_for(k, LOOP_BLOCK, T_I32, zero, size, one);
        m.index = kb_op(k, KOP_add, T_I32, kb_op(k, KOP_mul, T_I32, block, size, 0), thread, 0);
    }
    start(&m);
    statements(&m, 70);
    for (int i = 0; i < MADE_TYPES; i++)
        for (int e = 0; e < 3; e++) {
            kval at = kb_op(k, KOP_add, T_I32, m.index, kb_const_int(k, T_I32, (int64_t)e * MADE_COUNT), 0);
            kb_inst(k, K_STORE, T_VOID, 0, (kval)(2 * i + 1), at, e < 2 ? kb_inst(k, K_GET, made_types[i], 0, m.var[i][e], 0, 0) : any_value(&m, made_types[i]));
        }
    if (!o.cpu) kb_end(k, thread);
    kb_end(k, block);
    return k;
}
