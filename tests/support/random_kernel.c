/* random_kernel.c: see random_kernel.h. */
#include "random_kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ELEMENTS 2048          /* of an input; a power of two */
#define MOST_POOL 400
#define THREADS 64
#define MOST_DEPTH 3

enum { N_INPUTS = 5, N_OUTPUTS = 4 };
enum { PARTIALS = N_INPUTS + N_OUTPUTS, COUNTERS, N_ARRAYS };
enum { S_N = N_ARRAYS, S_TILE, S_UNIFORM, S_STRIDE, S_OFFSET, S_INT, S_FLOAT, N_PARAMS };

typedef struct maker {
    const random_options *o;
    uint64_t state;
    kernel *k;
    arena *mem;
    kval pool[MOST_POOL]; int npool;
    kval vars[16]; int nvars;
    kval index, index64;       /* this element's number, in the index type and as i64 */
    ktype index_type;
    ktype in[N_INPUTS], out[N_OUTPUTS], partial;
    int depth;
} maker;

/* ---- random numbers ---- */

static uint32_t any(maker *r) {
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    uint32_t x = (uint32_t)(r->state >> 32);
    return (x ^ x >> 15) * 0x85ebca6bu;
}
static int below(maker *r, int n) { return (int)(any(r) >> 4) % n; }
static bool chance(maker *r, int percent) { return below(r, 100) < percent; }

static const ktype integer_types[] = { T_I8, T_I16, T_I32, T_I64, T_U8, T_U16, T_U32, T_U64 };
static ktype integer_type(maker *r) { return integer_types[below(r, 8)]; }
static ktype number_type(maker *r) { return r->o->integers || chance(r, 45) ? integer_type(r) : chance(r, 60) ? T_F32 : T_F64; }
static bool is_float(ktype t) { return ktype_table[t].is_float; }
static bool is_signed(ktype t) { return ktype_table[t].is_signed; }

/* ---- values ---- */

static kval keep(maker *r, kval v) {
    if (r->npool == MOST_POOL) r->pool[below(r, MOST_POOL / 2)] = v;      /* the older half is visible wherever the newer is */
    else r->pool[r->npool++] = v;
    return v;
}

static kval op3(maker *r, kop op, ktype t, kval a, kval b, kval c) { return kb_op(r->k, op, t, a, b, c); }
static kval constant(maker *r, ktype t, int64_t v) { return kb_const_int(r->k, t, v); }
static kval index_constant(maker *r, int64_t v) { return constant(r, r->index_type, v); }
static kval compare(maker *r, kop op, kval a, kval b) { return op3(r, op, T_BOOL, a, b, 0); }

static kval random_constant(maker *r, ktype t) {
    static const double floats[] = { 0, 1, -1, 0.5, 3.25, -7.5, 1e-3, 12345.678, -0.0, 1e10 };
    if (is_float(t)) return kb_const_float(r->k, t, floats[below(r, 10)]);
    static const int64_t integers[] = { 0, 1, -1, 2, 5, 17, -100, 127, 255, 30000 };
    return constant(r, t, t == T_BOOL ? below(r, 2) : integers[below(r, 10)]);
}

/* A value of that type: one there is, or a constant. */
static kval pick(maker *r, ktype t) {
    for (int tries = 0; tries < 12; tries++) {
        kval v = r->pool[below(r, r->npool)];
        if (kb_type(r->k, v) == t) return v;
    }
    return random_constant(r, t);
}

static kval condition(maker *r) {
    if (chance(r, 30)) return pick(r, T_BOOL);
    ktype t = number_type(r);
    kval a = pick(r, t), b = pick(r, t);
    return compare(r, (kop)(KOP_eq + below(r, 6)), a, b);
}

/* A float that is small, not NaN, and not negative where the target has no sign. */
static kval tame(maker *r, kval v, ktype to) {
    ktype t = kb_type(r->k, v);
    kval size = op3(r, KOP_fabs, t, v, 0, 0), fits = compare(r, KOP_lt, size, kb_const_float(r->k, t, 120));
    return op3(r, KOP_select, t, fits, is_signed(to) ? v : size, kb_const_float(r->k, t, 7));
}

static kval converted(maker *r, kval v, ktype to) {
    ktype from = kb_type(r->k, v);
    if (from == to) return v;
    if (is_float(from) && !is_float(to) && to != T_BOOL) v = tame(r, v, to);
    return op3(r, KOP_convert, to, v, 0, 0);
}

static kval divisor(maker *r, ktype t) {
    kval b = pick(r, t), bad = compare(r, KOP_eq, b, constant(r, t, 0));
    if (is_signed(t)) bad = op3(r, KOP_or, T_BOOL, bad, compare(r, KOP_eq, b, constant(r, t, -1)), 0);
    return op3(r, KOP_select, t, bad, constant(r, t, 3), b);
}

static kval integer_step(maker *r, ktype t) {
    static const kop plain[] = { KOP_add, KOP_sub, KOP_mul, KOP_and, KOP_or, KOP_xor };
    kval a = pick(r, t), b;
    switch (below(r, 10)) {
    case 0: return op3(r, KOP_neg, t, a, 0, 0);
    case 1: return op3(r, KOP_not, t, a, 0, 0);
    case 2: b = divisor(r, t); return op3(r, KOP_div, t, a, b, 0);
    case 3: b = divisor(r, t); return op3(r, KOP_rem, t, a, b, 0);
    case 4: case 5:
        b = op3(r, KOP_and, t, pick(r, t), constant(r, t, 8 * ktype_table[t].size - 1), 0);
        return op3(r, chance(r, 50) ? KOP_shl : KOP_shr, t, a, b, 0);
    case 6: return op3(r, chance(r, 50) ? KOP_popcount : KOP_clz, t, a, 0, 0);
    case 7: if (ktype_table[t].size >= 4) { b = pick(r, t); return op3(r, KOP_mulhi, t, a, b, 0); }   /* fall through */
    default: b = pick(r, t); return op3(r, plain[below(r, 6)], t, a, b, 0);
    }
}

static kval float_step(maker *r, ktype t) {
    static const kop plain[] = { KOP_add, KOP_sub, KOP_mul, KOP_div, KOP_add, KOP_mul }, unary[] = { KOP_neg, KOP_fabs, KOP_floor, KOP_ceil, KOP_trunc, KOP_rint };
    kval a = pick(r, t), b, c;
    switch (below(r, 8)) {
    case 0: case 1: return op3(r, unary[below(r, 6)], t, a, 0, 0);
    case 2: return op3(r, KOP_sqrt, t, op3(r, KOP_fabs, t, a, 0, 0), 0, 0);
    case 3: b = pick(r, t); c = pick(r, t); return op3(r, KOP_fma, t, a, b, c);
    case 4:
        b = pick(r, t);
        c = op3(r, KOP_select, t, compare(r, KOP_eq, b, b), b, kb_const_float(r->k, t, 1));
        return op3(r, KOP_copysign, t, a, c, 0);
    case 5: return op3(r, chance(r, 50) ? KOP_round_f16 : KOP_round_bf16, T_F32, a, 0, 0);
    default: b = pick(r, t); return op3(r, plain[below(r, 6)], t, a, b, 0);
    }
}

static kval bits_step(maker *r) {
    switch (below(r, r->o->integers ? 2 : 4)) {
    case 0: return op3(r, KOP_bitcast, T_U32, pick(r, T_I32), 0, 0);
    case 1: return op3(r, KOP_bitcast, T_I64, pick(r, T_U64), 0, 0);
    case 2: return op3(r, KOP_bitcast, T_F32, pick(r, T_U32), 0, 0);
    default: return op3(r, KOP_bitcast, T_F64, pick(r, T_I64), 0, 0);
    }
}

static kval call_step(maker *r) {
    static const char *const names[] = { "floor_divide", "remainder", "divmod", "power" };
    static const struct { kn_dtype d; ktype t; } types[] = { { KN_INT32, T_I32 }, { KN_INT64, T_I64 }, { KN_UINT32, T_U32 } };
    int which = below(r, 4), type = below(r, 3);
    ktype t = types[type].t;
    int f = device_function(names[which], (const kn_dtype[]){ types[type].d, types[type].d }, 2);
    kval args[2] = { pick(r, t), pick(r, t) };
    if (f < 0) return args[0];
    if (which == 3) args[1] = op3(r, KOP_and, t, args[1], constant(r, t, 31), 0);
    kval c = kb_call(r->k, f, args, 2);
    return which == 2 && chance(r, 50) ? kb_result(r->k, c, 1) : c;
}

static kval value_step(maker *r) {
    ktype t = number_type(r);
    kval a, b, c;
    switch (below(r, 12)) {
    case 0: return condition(r);
    case 1: a = condition(r); b = pick(r, T_BOOL); return op3(r, (kop)(KOP_and + below(r, 3)), T_BOOL, a, b, 0);
    case 2: return op3(r, KOP_not, T_BOOL, condition(r), 0, 0);
    case 3: c = condition(r); a = pick(r, t); b = pick(r, t); return op3(r, KOP_select, t, c, a, b);
    case 4: case 5: a = pick(r, number_type(r)); return converted(r, a, t);
    case 6: return bits_step(r);
    case 7: if (r->o->calls) return call_step(r);   /* fall through */
    default: return is_float(t) ? float_step(r, t) : integer_step(r, t);
    }
}

/* ---- loads ---- */

static kval load_step(maker *r) {
    kernel *k = r->k;
    ktype t = r->index_type;
    kval at = r->index, mask = 0;
    int input = below(r, N_INPUTS);
    switch (below(r, 9)) {
    case 0: case 1: break;
    case 2: at = op3(r, KOP_mul, t, at, index_constant(r, 2), 0); break;
    case 3: at = op3(r, KOP_sub, t, op3(r, KOP_sub, t, S_N, index_constant(r, 1), 0), at, 0); break;
    case 4: at = S_UNIFORM; break;
    case 5: {
        kval v = op3(r, KOP_and, T_U32, pick(r, T_U32), constant(r, T_U32, ELEMENTS - 1), 0);
        at = op3(r, KOP_convert, t, v, 0, 0);
        break;
    }
    case 6: at = op3(r, KOP_add, t, op3(r, KOP_mul, t, at, S_STRIDE, 0), S_OFFSET, 0); break;
    case 7:
        at = op3(r, KOP_add, t, at, index_constant(r, ELEMENTS - 200), 0);
        mask = compare(r, KOP_lt, at, index_constant(r, ELEMENTS)) + 1;
        break;
    default: at = op3(r, KOP_shr, t, at, index_constant(r, 1 + below(r, 3)), 0); break;
    }
    return kb_inst(k, K_LOAD, ktype_value(r->in[input]), chance(r, 50) ? LOAD_READONLY : 0, (kval)input, at, mask);
}

/* ---- control ---- */

static void steps(maker *r, int n);

typedef struct scope { int npool, nvars; } scope;
static scope enter(maker *r) { r->depth++; return (scope){ r->npool, r->nvars }; }
static void leave(maker *r, scope s) { r->npool = s.npool; r->nvars = s.nvars; r->depth--; }

static void set_step(maker *r) {
    if (!r->nvars) return;
    kval var = r->vars[below(r, r->nvars)];
    kb_inst(r->k, K_SET, T_VOID, 0, var, pick(r, kb_type(r->k, var)), 0);
}

static void var_step(maker *r) {
    if (r->nvars == 16) { set_step(r); return; }
    ktype t = chance(r, 15) ? T_BOOL : number_type(r);
    r->vars[r->nvars++] = kb_inst(r->k, K_VAR, t, 0, pick(r, t), 0, 0);
}

static void get_step(maker *r) {
    if (!r->nvars) return;
    kval var = r->vars[below(r, r->nvars)];
    keep(r, kb_inst(r->k, K_GET, kb_type(r->k, var), 0, var, 0, 0));
}

static void branch_step(maker *r) {
    kval c = kb_inst(r->k, K_IF, T_VOID, 0, condition(r), 0, 0);
    scope s = enter(r);
    steps(r, 1 + below(r, 4));
    set_step(r);
    leave(r, s);
    if (chance(r, 50)) {
        kb_else(r->k, c);
        s = enter(r);
        steps(r, 1 + below(r, 4));
        set_step(r);
        leave(r, s);
    }
    kb_end(r->k, c);
}

static kval small_number(maker *r) {
    return op3(r, KOP_and, T_I32, pick(r, T_I32), constant(r, T_I32, 3), 0);
}

static void for_step(maker *r) {
    bool unroll = chance(r, 30);
    kval zero = constant(r, T_I32, 0), begin = zero, end = constant(r, T_I32, 1 + below(r, 4)), one = constant(r, T_I32, 1 + below(r, 2));
    if (!unroll && chance(r, 60)) end = small_number(r);
    if (!unroll && chance(r, 30)) begin = small_number(r);
    kval l = kb_for(r->k, unroll ? LOOP_UNROLL : LOOP_SERIAL, T_I32, begin, end, one);
    scope s = enter(r);
    keep(r, l);
    steps(r, 1 + below(r, 4));
    set_step(r);
    leave(r, s);
    kb_end(r->k, l);
}

static void loop_step(maker *r) {
    kernel *k = r->k;
    kval most = small_number(r), count = kb_inst(k, K_VAR, T_I32, 0, constant(r, T_I32, 0), 0, 0), l = kb_inst(k, K_LOOP, T_VOID, 0, 0, 0, 0);
    scope s = enter(r);
    kval now = keep(r, kb_inst(k, K_GET, T_I32, 0, count, 0, 0));
    kb_inst(k, K_BREAK_UNLESS, T_VOID, 0, compare(r, KOP_lt, now, most), 0, 0);
    kb_inst(k, K_SET, T_VOID, 0, count, op3(r, KOP_add, T_I32, now, constant(r, T_I32, 1), 0), 0);
    steps(r, 1 + below(r, 3));
    set_step(r);
    if (chance(r, 30)) kb_inst(k, K_BREAK_UNLESS, T_VOID, 0, condition(r), 0, 0);
    set_step(r);
    leave(r, s);
    kb_end(k, l);
}

static void local_step(maker *r) {
    kernel *k = r->k;
    ktype t = number_type(r);
    kval array = kb_inst(k, K_LOCAL, t, 0, 4, 0, 0), zero = constant(r, T_I32, 0), four = constant(r, T_I32, 4), one = constant(r, T_I32, 1);
    kval l = kb_for(k, LOOP_UNROLL, T_I32, zero, four, one), first = pick(r, t);
    kb_inst(k, K_STORE, T_VOID, 0, array, l, first);
    kb_end(k, l);
    kval at = small_number(r), v = pick(r, t);
    kb_inst(k, K_STORE, T_VOID, 0, array, at, v);
    kval where = small_number(r);
    keep(r, kb_inst(k, K_LOAD, t, 0, array, where, 0));
    keep(r, kb_inst(k, K_LOAD, t, 0, array, constant(r, T_I32, below(r, 4)), 0));
}

static void control_step(maker *r) {
    switch (below(r, r->depth < MOST_DEPTH ? 8 : 3)) {
    case 0: var_step(r); break;
    case 1: get_step(r); break;
    case 2: set_step(r); break;
    case 3: case 4: branch_step(r); break;
    case 5: for_step(r); break;
    case 6: loop_step(r); break;
    default: local_step(r); break;
    }
}

static void steps(maker *r, int n) {
    for (int i = 0; i < n; i++) {
        if (r->o->control && chance(r, 35)) control_step(r);
        else if (chance(r, 20)) keep(r, load_step(r));
        else keep(r, value_step(r));
    }
}

/* ---- one element ---- */

static void stores(maker *r) {
    for (int i = 0; i < N_OUTPUTS; i++) {
        ktype t = ktype_value(r->out[i]);
        kval v = chance(r, 80) ? pick(r, t) : converted(r, pick(r, number_type(r)), t);
        kb_inst(r->k, K_STORE, T_VOID, chance(r, 20) ? STORE_STREAM : 0, (kval)(N_INPUTS + i), r->index, v);
    }
}

static void fault_step(maker *r) {
    kval c = op3(r, KOP_and, T_BOOL, condition(r), compare(r, KOP_gt, r->index, index_constant(r, below(r, 900))), 0);
    kb_inst(r->k, K_FAULT, T_VOID, 0, c, r->index64, (uint32_t)below(r, 5));
}

static void element(maker *r) {
    for (int i = 0; i < N_INPUTS; i++) keep(r, kb_inst(r->k, K_LOAD, ktype_value(r->in[i]), 0, (kval)i, r->index, 0));
    keep(r, converted(r, r->index64, T_I32));
    keep(r, r->index64);
    for (int i = 0; i < 3; i++) if (r->o->control) var_step(r);
    steps(r, r->o->size ? r->o->size : 20);
    for (int i = 0; i < 3; i++) if (r->o->control) get_step(r);
    if (r->o->faults) fault_step(r);
    stores(r);
}

static void shared_values(maker *r) {
    keep(r, S_INT);
    if (!r->o->integers) keep(r, S_FLOAT);
    keep(r, kb_const_int(r->k, T_BOOL, 1));
}

static void set_index(maker *r, kval index) {
    r->index = index;
    r->index64 = converted(r, index, T_I64);
}

/* ---- shapes ---- */

static kval combine(maker *r, int how, ktype t, kval a, kval b) {
    if (how == 0) return op3(r, KOP_add, t, a, b, 0);
    if (how == 1) return op3(r, KOP_select, t, compare(r, KOP_lt, a, b), b, a);
    return is_float(t) ? op3(r, KOP_mul, t, a, b, 0) : op3(r, KOP_xor, t, a, b, 0);
}

/* After the loop over lanes: their copies become one, and the grid's iteration stores it. */
static void finish_lanes(maker *r, kval grid, kval var, int how) {
    kernel *k = r->k;
    int w = k->lanes;
    ktype t = r->partial;
    kval zero = constant(r, T_I64, 0), width = constant(r, T_I64, w), one = constant(r, T_I64, 1), l = kb_for(k, LOOP_LANE, T_I64, zero, width, one);
    kval v = kb_inst(k, K_GET, t, 0, var, 0, 0);
    for (int d = w / 2; d; d /= 2) v = combine(r, how, t, v, kb_inst(k, K_SHUFFLE, t, SHUFFLE_XOR, v, constant(r, T_I32, d), (uint32_t)w));
    kb_inst(k, K_SET, T_VOID, 0, var, v, 0);
    kb_end(k, l);
    kb_inst(k, K_STORE, T_VOID, 0, PARTIALS, grid, kb_inst(k, K_FIRST_LANE, t, 0, var, 0, 0));
}

static void cpu_loops(maker *r) {
    kernel *k = r->k;
    bool lanes = r->o->shape == SHAPE_LANES, between = r->o->between && lanes;
    ktype t = r->partial;
    kval zero = constant(r, T_I64, 0), one = constant(r, T_I64, 1);
    kval blocks = op3(r, KOP_div, T_I64, op3(r, KOP_sub, T_I64, op3(r, KOP_add, T_I64, S_N, S_TILE, 0), one, 0), S_TILE, 0);
    kval grid = kb_for(k, LOOP_GRID, T_I64, zero, blocks, one), start = op3(r, KOP_mul, T_I64, grid, S_TILE, 0), rest = op3(r, KOP_sub, T_I64, S_N, start, 0);
    kval end = op3(r, KOP_select, T_I64, compare(r, KOP_lt, rest, S_TILE), rest, S_TILE);
    shared_values(r);
    int how = below(r, 3);
    kval var = between ? kb_inst(k, K_VAR, t, VAR_LANES, random_constant(r, t), 0, 0) : 0;
    kval l = kb_for(k, lanes ? LOOP_LANE : LOOP_SERIAL, T_I64, zero, end, one);
    set_index(r, op3(r, KOP_add, T_I64, start, l, 0));
    scope s = enter(r);
    r->depth = 0;
    if (between && chance(r, 50)) keep(r, kb_inst(k, K_LANE_INDEX, T_I32, 0, 0, 0, 0));
    element(r);
    if (between) {
        kval old = kb_inst(k, K_GET, t, 0, var, 0, 0), v = pick(r, t);
        kb_inst(k, K_SET, T_VOID, 0, var, combine(r, how, t, old, v), 0);
    }
    leave(r, s);
    kb_end(k, l);
    if (between) finish_lanes(r, grid, var, how);
    else kb_inst(k, K_STORE, T_VOID, 0, PARTIALS, grid, random_constant(r, t));
    kb_end(k, grid);
}

/* What the threads of a block tell each other becomes values for the element. */
static void talk(maker *r, kval thread) {
    kernel *k = r->k;
    kval inside = compare(r, KOP_lt, r->index, S_N);
    kval mine = kb_inst(k, K_LOAD, ktype_value(r->in[0]), 0, 0, r->index, inside + 1);
    ktype t = kb_type(k, mine);
    int group = 1 << (1 + below(r, 5));
    kval shared = kb_inst(k, K_SHARED, t, 0, THREADS, 0, 0);
    kb_inst(k, K_STORE, T_VOID, 0, shared, thread, mine);
    kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    kval other = op3(r, KOP_and, T_I32, op3(r, KOP_add, T_I32, thread, constant(r, T_I32, 1 + below(r, 50)), 0), constant(r, T_I32, THREADS - 1), 0);
    kval theirs = keep(r, kb_inst(k, K_LOAD, t, 0, shared, other, 0));
    kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    kval by = constant(r, T_I32, below(r, group));
    int how = below(r, 4);
    keep(r, kb_inst(k, K_SHUFFLE, t, (uint8_t)how, theirs, by, (uint32_t)group));
    kval odd = compare(r, KOP_eq, op3(r, KOP_and, T_I32, thread, constant(r, T_I32, 1), 0), constant(r, T_I32, below(r, 2)));
    keep(r, kb_inst(k, K_BALLOT, T_U64, 0, op3(r, KOP_and, T_BOOL, odd, inside, 0), 0, 0));
    keep(r, kb_inst(k, K_LANE_INDEX, T_I32, 0, 0, 0, 0));
    static const uint8_t atomics[] = { ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAX, ATOMIC_OR, ATOMIC_XOR };
    kval slot = op3(r, KOP_and, T_I32, thread, constant(r, T_I32, 15), 0);
    kb_inst(k, K_ATOMIC, T_U32, atomics[below(r, 5)], COUNTERS, slot, converted(r, thread, T_U32));
}

static void gpu_loops(maker *r) {
    kernel *k = r->k;
    kval zero = constant(r, T_I32, 0), one = constant(r, T_I32, 1), threads = constant(r, T_I32, THREADS);
    kval blocks = op3(r, KOP_div, T_I32, op3(r, KOP_add, T_I32, S_N, constant(r, T_I32, THREADS - 1), 0), threads, 0);
    kval grid = kb_for(k, LOOP_GRID, T_I32, zero, blocks, one), thread = kb_for(k, LOOP_BLOCK, T_I32, zero, threads, one);
    shared_values(r);
    (void)below(r, 3);                                /* as many random numbers as the other shapes take */
    set_index(r, op3(r, KOP_add, T_I32, op3(r, KOP_mul, T_I32, grid, threads, 0), thread, 0));
    if (r->o->between) talk(r, thread);
    kval inside = kb_inst(k, K_IF, T_VOID, 0, compare(r, KOP_lt, r->index, S_N), 0, 0);
    scope s = enter(r);
    r->depth = 0;
    element(r);
    leave(r, s);
    kb_end(k, inside);
    kval first = kb_inst(k, K_IF, T_VOID, 0, compare(r, KOP_eq, thread, zero), 0, 0);
    kb_inst(k, K_STORE, T_VOID, 0, PARTIALS, grid, random_constant(r, r->partial));
    kb_end(k, first);
    kb_end(k, thread);
    kb_end(k, grid);
}

/* ---- memory ---- */

static uint64_t random_element(maker *r, ktype t) {
    static const float odd[] = { 0, -0.0f, 1, -1, 0.5f, 1e-5f, 65504, -65504, 3.3f, 100 };
    float f = chance(r, 25) ? odd[below(r, 10)] : ((float)below(r, 20001) - 10000) * 0.01f;
    double d = chance(r, 5) ? (double)NAN : chance(r, 3) ? (double)INFINITY : (double)f;
    uint64_t bits = 0;
    uint16_t h;
    f = (float)d;
    switch (t) {
    case T_F64: memcpy(&bits, &d, sizeof d); return bits;
    case T_F32: memcpy(&bits, &f, sizeof f); return bits;
    case T_F16: h = float_to_half(f); return h;
    case T_BF16: h = float_to_bfloat(f); return h;
    case T_BOOL: return (uint64_t)below(r, 3);        /* "not 0" is true */
    default: return chance(r, 50) ? (uint64_t)(int64_t)(below(r, 201) - 100) : (uint64_t)any(r) << 32 | any(r);
    }
}

static bool fill(maker *r, random_case *c, int number, ktype t, int64_t count, bool written, bool cleared) {
    size_t size = ktype_table[t].size;
    char *data = arena_zero(r->mem, (size_t)count, size);
    c->array[number] = (random_array){ t, count, written, data };
    if (!data) return false;
    for (int64_t i = 0; i < count && !cleared; i++) {
        uint64_t bits = random_element(r, t);
        memcpy(data + (size_t)i * size, &bits, size);
    }
    return true;
}

static void scalars(maker *r, random_case *c) {
    static const int64_t sizes[] = { 0, 1, 3, 7, 8, 9, 31, 33, 64, 100, 257, 500, 1000 };
    int64_t n = sizes[below(r, 13)], tile = 1 + below(r, 300), stride = below(r, 3) - 1;
    uint64_t f = 0;
    float v = (float)below(r, 100) * 0.25f - 10;
    memcpy(&f, &v, sizeof v);
    const uint64_t values[] = { (uint64_t)n, (uint64_t)tile, (uint64_t)below(r, ELEMENTS), (uint64_t)stride, 1000, (uint64_t)(int64_t)(below(r, 101) - 50), f };
    c->nscalars = N_PARAMS - N_ARRAYS;
    memcpy(c->scalar, values, sizeof values);
    c->grid = r->o->shape == SHAPE_BLOCKS ? (n + THREADS - 1) / THREADS : (n + tile - 1) / tile;
}

static bool memory(maker *r, random_case *c) {
    static const ktype floats[] = { T_F32, T_F64, T_F16, T_BF16, T_F32 };
    bool made = true;
    for (int i = 0; i < N_INPUTS + N_OUTPUTS; i++) {
        ktype t = r->o->integers || chance(r, 45) ? chance(r, 10) ? T_BOOL : integer_type(r) : floats[below(r, 5)];
        if (i < N_INPUTS) r->in[i] = t;
        else r->out[i - N_INPUTS] = t;
        made = made && fill(r, c, i, t, i < N_INPUTS ? ELEMENTS : 1024, i >= N_INPUTS, i >= N_INPUTS);
    }
    r->partial = number_type(r);
    c->narrays = N_ARRAYS;
    return made && fill(r, c, PARTIALS, r->partial, 1024, true, true) && fill(r, c, COUNTERS, T_U32, 16, true, true);
}

static void params(const maker *r, const random_case *c, kparam *p) {
    static const char *const names[N_PARAMS] = { "a", "b", "c", "d", "e", "w", "x", "y", "z", "partials", "counters", "n", "tile", "u", "stride", "offset", "s", "f" };
    bool blocks = r->o->shape == SHAPE_BLOCKS;
    for (int i = 0; i < N_PARAMS; i++) {
        p[i] = (kparam){ .name = names[i], .type = i == S_INT ? T_I32 : i == S_FLOAT ? T_F32 : blocks ? T_I32 : T_I64 };
        if (i < N_ARRAYS) p[i] = (kparam){ .name = names[i], .type = c->array[i].type, .array = true, .read = i < N_INPUTS, .written = i >= N_INPUTS };
    }
}

bool random_kernel(const random_options *o, arena *mem, random_case *c, message *m) {
    maker r = { .o = o, .state = o->seed * 0x9e3779b97f4a7c15u + 12345, .mem = mem };
    kparam p[N_PARAMS];
    *c = (random_case){ 0 };
    for (int i = 0; i < 4; i++) any(&r);
    int lanes = 4 << below(&r, 4);
    if (!memory(&r, c)) return false;
    scalars(&r, c);
    params(&r, c, p);
    r.index_type = o->shape == SHAPE_BLOCKS ? T_I32 : T_I64;
    kernel *k = c->k = r.k = kernel_new(mem, "random_kernel", p, N_PARAMS);
    if (!k) return false;
    k->faults = o->faults;
    if (o->shape == SHAPE_LANES) k->lanes = (uint16_t)(o->lanes ? o->lanes : lanes);
    if (o->shape == SHAPE_BLOCKS) {
        k->block[0] = THREADS;
        k->block[1] = k->block[2] = 1;
        k->warp = (uint16_t)(o->warp ? o->warp : 32);
    }
    if (o->shape == SHAPE_BLOCKS) gpu_loops(&r);
    else cpu_loops(&r);
    for (uint32_t i = 0; kernel_ok(k) && i < N_ARRAYS; i++) {              /* one that happened to stay unused is no array of the kernel's */
        bool used = false;
        for (uint32_t j = 0; j < k->ncode; j++) used |= k->code[j].op >= K_LOAD && k->code[j].op <= K_CAS && k->code[j].a == i;
        if (used) continue;
        k->params[i] = (kparam){ .name = p[i].name, .type = T_I64 };
        k->code[i].type = T_I64;
    }
    return kernel_verify(k, m) == KN_OK;
}

/* ---- running ---- */

bool random_copies(const random_case *c, arena *mem, void **copies) {
    for (int i = 0; i < c->narrays; i++) {
        size_t size = (size_t)c->array[i].count * ktype_table[c->array[i].type].size;
        if (!(copies[i] = arena_alloc(mem, size))) return false;
        memcpy(copies[i], c->array[i].data, size);
    }
    return true;
}

void random_args(const random_case *c, void *const *copies, uint64_t *args) {
    for (int i = 0; i < c->narrays; i++) args[i] = (uint64_t)(uintptr_t)copies[i];
    memcpy(args + c->narrays, c->scalar, (size_t)c->nscalars * sizeof *args);
}

kn_status random_run_reference(const random_case *c, void *const *copies, uint64_t *fault, message *m) {
    uint64_t args[RANDOM_ARRAYS + RANDOM_SCALARS];
    random_args(c, copies, args);
    return reference_run(c->k, args, 0, c->grid, fault, m);
}

static bool is_nan_at(ktype t, const char *p) {
    uint16_t h = 0;
    float f = 0;
    double d = 0;
    if (t == T_F64) memcpy(&d, p, sizeof d);
    if (t == T_F32) memcpy(&f, p, sizeof f);
    if (t == T_F16 || t == T_BF16) memcpy(&h, p, sizeof h);
    if (t == T_F16) f = half_to_float(h);
    if (t == T_BF16) f = bfloat_to_float(h);
    return d != d || f != f;
}

bool random_equal(const random_case *c, void *const *got, void *const *want, char *sentence, size_t size) {
    for (int i = 0; i < c->narrays; i++) {
        const random_array *a = &c->array[i];
        size_t element_size = ktype_table[a->type].size;
        for (int64_t j = 0; j < a->count && a->written; j++) {
            const char *g = (const char *)got[i] + (size_t)j * element_size, *w = (const char *)want[i] + (size_t)j * element_size;
            if (!memcmp(g, w, element_size) || (is_nan_at(a->type, g) && is_nan_at(a->type, w))) continue;
            uint64_t gb = 0, wb = 0;
            memcpy(&gb, g, element_size);
            memcpy(&wb, w, element_size);
            snprintf(sentence, size, "%s[%lld] (%s) is %#llx, not %#llx", c->k->params[i].name, (long long)j, ktype_table[a->type].name, (unsigned long long)gb, (unsigned long long)wb);
            return false;
        }
    }
    return true;
}
