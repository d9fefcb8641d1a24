/* Every scalar primitive of the interpreter, for every type, against an independent computation over edge values: in both sets
 * of loops, with every way of sharing operands, and through kernels. */
#include <criterion/criterion.h>

#include <float.h>
#include <math.h>
#include <string.h>
#include "codegen/reference/reference.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static const char *const row_operands[NKOPS] = {
#define KOP(name, arity, operands, ...) [KOP_##name] = #operands,
#include "ir/kir/kops.def"
};

static const ktype value_types[] = { T_BOOL, T_I8, T_I16, T_I32, T_I64, T_U8, T_U16, T_U32, T_U64, T_F32, T_F64 };
#define NTYPES (sizeof value_types / sizeof *value_types)

static bool row_takes(kop op, ktype t) {
    const char *o = row_operands[op];
    const ktype_info *i = &ktype_table[t];
    if (!strcmp(o, "INT")) return i->is_int;
    if (!strcmp(o, "FLT")) return i->is_float;
    if (!strcmp(o, "NUM")) return i->is_int || i->is_float;
    if (!strcmp(o, "BITS")) return i->is_int || t == T_BOOL;
    return true;
}

static ktype result_type(kop op, ktype t) { return op >= KOP_eq && op <= KOP_ge ? T_BOOL : op == KOP_round_f16 || op == KOP_round_bf16 ? T_F32 : t; }

/* ---- values ---- */

static int width_of(ktype t) { return 8 * ktype_table[t].size; }
static uint64_t bits_of_float(ktype t, double v) {
    uint64_t bits = 0;
    float f = (float)v;
    if (t == T_F32) memcpy(&bits, &f, sizeof f);
    else memcpy(&bits, &v, sizeof v);
    return bits;
}
static double float_value(ktype t, uint64_t bits) {
    float f;
    double d;
    if (t == T_F32) { memcpy(&f, &bits, sizeof f); return (double)f; }
    memcpy(&d, &bits, sizeof d);
    return d;
}
static wide int_value(ktype t, uint64_t bits) {
    if (!ktype_table[t].is_signed) return (wide)(bits & (UINT64_MAX >> (64 - width_of(t))));
    return (wide)((int64_t)(bits << (64 - width_of(t))) >> (64 - width_of(t)));
}
static uint64_t wrapped(ktype t, wide v) { return (uint64_t)v & (UINT64_MAX >> (64 - width_of(t))); }
static wide lowest(ktype t) { return ktype_table[t].is_signed ? -((wide)1 << (width_of(t) - 1)) : 0; }
static wide highest(ktype t) { return ((wide)1 << (width_of(t) - ktype_table[t].is_signed)) - 1; }

#define MOST_EDGES 48
static int edges(ktype t, uint64_t *out) {
    int n = 0;
    if (t == T_BOOL) { out[0] = 0; out[1] = 1; return 2; }
    if (ktype_table[t].is_float) {
        static const double v[] = { 0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 1e10, -1e10, 255, 256.7, 65504, 65519.99, 65520, 65536, 1e-7, 6e-8, 2.9e-8, 0x1p-24, 0x1p-25, 0x1.8p-25,
                                    0x1p31, -0x1p31, 0x1p63, -0x1p63, 0x1p64, 8388607.5, 8388608.5, 4503599627370495.5, 1e-40, -1e-40, 3.4e38, 1e300, 1e-320, 0.1, 2.0 / 3 };
        for (size_t i = 0; i < sizeof v / sizeof *v; i++) out[n++] = bits_of_float(t, v[i]);
        out[n++] = bits_of_float(t, (double)INFINITY);
        out[n++] = bits_of_float(t, -(double)INFINITY);
        out[n++] = bits_of_float(t, (double)NAN);
        out[n++] = bits_of_float(t, t == T_F32 ? (double)FLT_MIN : DBL_MIN);
        out[n++] = bits_of_float(t, t == T_F32 ? (double)FLT_MAX : DBL_MAX);
        return n;
    }
    const wide v[] = { 0, 1, 2, 3, 7, 8, 10, 15, 31, 63, 100, 127, 128, 255, 1000, 32767, 65535, 0x12345678, -1, -2, -3, -7, -100, lowest(t), lowest(t) + 1, highest(t), highest(t) - 1, highest(t) / 2,
                       highest(t) / 3, (wide)0x5555555555555555 };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) out[n++] = wrapped(t, v[i]);
    return n;
}

/* ---- what a primitive should give; false: not defined ---- */

static bool expect_integer(kop op, ktype t, wide a, wide b, uint64_t *r) {
    int bits = width_of(t);
    unsigned_wide ua = (unsigned_wide)wrapped(t, a);
    switch (op) {
    case KOP_add: *r = wrapped(t, a + b); return true;
    case KOP_sub: *r = wrapped(t, a - b); return true;
    case KOP_mul: *r = wrapped(t, (wide)((unsigned_wide)a * (unsigned_wide)b)); return true;
    case KOP_div: case KOP_rem:
        if (b == 0 || (b == -1 && a == lowest(t))) return false;
        *r = wrapped(t, op == KOP_div ? a / b : a % b);
        return true;
    case KOP_neg: *r = wrapped(t, -a); return true;
    case KOP_mulhi: *r = wrapped(t, ktype_table[t].is_signed ? (a * b) >> bits : (wide)((unsigned_wide)a * (unsigned_wide)b >> bits)); return true;
    case KOP_and: *r = wrapped(t, a & b); return true;
    case KOP_or: *r = wrapped(t, a | b); return true;
    case KOP_xor: *r = wrapped(t, a ^ b); return true;
    case KOP_not: *r = t == T_BOOL ? a == 0 : wrapped(t, ~a); return true;
    case KOP_shl: case KOP_shr:
        if (b < 0 || b >= bits) return false;
        *r = wrapped(t, op == KOP_shl ? (wide)(ua << (int)b) : a >> (int)b);
        return true;
    case KOP_popcount: *r = 0; for (; ua; ua >>= 1) *r += (uint64_t)(ua & 1); return true;
    case KOP_clz: *r = (uint64_t)bits; for (; ua; ua >>= 1) --*r; return true;
    case KOP_eq: *r = a == b; return true;
    case KOP_ne: *r = a != b; return true;
    case KOP_lt: *r = a < b; return true;
    case KOP_le: *r = a <= b; return true;
    case KOP_gt: *r = a > b; return true;
    case KOP_ge: *r = a >= b; return true;
    default: return false;
    }
}

/* float32 through float64, which rounds as if once: 53 >= 2 * 24 + 2. */
static bool expect_float(kop op, ktype t, uint64_t abits, uint64_t bbits, uint64_t cbits, uint64_t *r) {
    double a = float_value(t, abits), b = float_value(t, bbits), c = float_value(t, cbits), v;
    switch (op) {
    case KOP_add: v = a + b; break;
    case KOP_sub: v = a - b; break;
    case KOP_mul: v = a * b; break;
    case KOP_div: v = a / b; break;
    case KOP_neg: *r = abits ^ (uint64_t)1 << (width_of(t) - 1); return true;
    case KOP_fabs: *r = abits & ~((uint64_t)1 << (width_of(t) - 1)); return true;
    case KOP_copysign: *r = (abits & ~((uint64_t)1 << (width_of(t) - 1))) | (bbits & (uint64_t)1 << (width_of(t) - 1)); return true;
    case KOP_fma: v = t == T_F32 ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c); break;
    case KOP_sqrt: v = sqrt(a); break;
    case KOP_floor: v = floor(a); break;
    case KOP_ceil: v = ceil(a); break;
    case KOP_trunc: v = trunc(a); break;
    case KOP_rint: v = copysign(fabs(a) < 0x1p52 ? fabs(a) + 0x1p52 - 0x1p52 : fabs(a), a); break;
    case KOP_round_f16: *r = bits_of_float(T_F32, (double)half_to_float(t == T_F32 ? float_to_half((float)a) : double_to_half(a))); return true;
    case KOP_round_bf16: *r = bits_of_float(T_F32, (double)bfloat_to_float(t == T_F32 ? float_to_bfloat((float)a) : double_to_bfloat(a))); return true;
    case KOP_eq: *r = a == b; return true;
    case KOP_ne: *r = a != b; return true;
    case KOP_lt: *r = a < b; return true;
    case KOP_le: *r = a <= b; return true;
    case KOP_gt: *r = a > b; return true;
    case KOP_ge: *r = a >= b; return true;
    default: return false;
    }
    *r = bits_of_float(t, v);
    return true;
}

static bool expected(kop op, ktype t, uint64_t a, uint64_t b, uint64_t c, uint64_t *r) {
    if (op == KOP_select) { *r = a ? b : c; return true; }
    if (op == KOP_bitcast) { *r = a; return true; }
    return ktype_table[t].is_float ? expect_float(op, t, a, b, c, r) : expect_integer(op, t, int_value(t, a), int_value(t, b), r);
}

static bool same_value(ktype t, uint64_t got, uint64_t want) {
    if (ktype_table[t].is_float && isnan(float_value(t, want))) return isnan(float_value(t, got));
    uint64_t mask = UINT64_MAX >> (64 - width_of(t));
    return (got & mask) == (want & mask);
}

static uint64_t word_at(ktype t, const char *array, int i) {
    uint64_t w = 0;
    memcpy(&w, array + (size_t)i * ktype_table[t].size, ktype_table[t].size);
    return w;
}

/* ---- tables ---- */

static int table_count(void) {
#if defined __x86_64__
    return lane_tables_best() == &operation_tables ? 1 : 2;
#else
    return 1;
#endif
}
static const lane_tables *table_number(int i) { return i ? lane_tables_best() : &operation_tables; }

#define LANES (MOST_EDGES * MOST_EDGES)
static _Alignas(64) char operand_memory[3][8 * LANES], result_memory[8 * LANES];

static void put(int operand_number, ktype t, int lane, uint64_t bits) { memcpy(operand_memory[operand_number] + (size_t)lane * ktype_table[t].size, &bits, ktype_table[t].size); }

/* n lanes are in operand memory; bit i of shared: operand i is its first element for all lanes. */
static void check_lanes(const lane_tables *tables, kop op, ktype t, int n, unsigned shared) {
    ktype result = result_type(op, t), first = op == KOP_select ? T_BOOL : t;
    tables->operation[op][t](result_memory, operand_memory[0], operand_memory[1], operand_memory[2], n, shared);
    for (int i = 0; i < n; i++) {
        uint64_t a = word_at(first, operand_memory[0], shared & 1 ? 0 : i), b = word_at(t, operand_memory[1], shared & 2 ? 0 : i), c = word_at(t, operand_memory[2], shared & 4 ? 0 : i), want;
        if (!expected(op, t, a, b, c, &want)) continue;
        uint64_t got = word_at(result, result_memory, i);
        if (same_value(result, got, want)) continue;
        cr_expect(false, "%s.%s(%#llx, %#llx, %#llx) gave %#llx, not %#llx (shared %u)", kinst_name((uint16_t)op), ktype_table[t].name, (unsigned long long)a, (unsigned long long)b,
                  (unsigned long long)c, (unsigned long long)got, (unsigned long long)want, shared);
        return;
    }
}

static void check_row(const lane_tables *tables, kop op, ktype t) {
    uint64_t edge[MOST_EDGES];
    int n = edges(t, edge), arity = kop_arity(op), lanes = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < (arity > 1 ? n : 1); j++, lanes++) {
            put(0, op == KOP_select ? T_BOOL : t, lanes, op == KOP_select ? (uint64_t)((i + j) % 3 == 0) : edge[i]);
            put(1, t, lanes, edge[j]);
            put(2, t, lanes, edge[(i + 2 * j + 1) % n]);
        }
    check_lanes(tables, op, t, lanes, 0);
    for (int tail = 1; tail < 40 && tail < lanes; tail++) check_lanes(tables, op, t, tail, 0);
    if (arity < 2) return;
    for (unsigned shared = 1; shared < (1u << arity) - 1; shared++)
        for (int j = 0; j < n; j++) {
            for (int o = 0; o < arity; o++) if (shared >> o & 1) put(o, op == KOP_select && o == 0 ? T_BOOL : t, 0, op == KOP_select && o == 0 ? (uint64_t)(j & 1) : edge[j]);
            check_lanes(tables, op, t, lanes < 200 ? lanes : 200, shared);
        }
}

Test(primitives, every_row_for_every_type) {
    int rows = 0;
    for (int table = 0; table < table_count(); table++)
        for (int op = 0; op < NKOPS; op++)
            for (size_t i = 0; i < NTYPES; i++) {
                ktype t = value_types[i];
                if (op == KOP_convert || !row_takes((kop)op, t) || (op == KOP_bitcast && t == T_BOOL)) continue;
                cr_assert(table_number(table)->operation[op][t] != NULL, "%s.%s is missing", kinst_name((uint16_t)op), ktype_table[t].name);
                check_row(table_number(table), (kop)op, t);
                rows++;
            }
    cr_expect(rows > 200, "%d", rows);
}

/* ---- what has no defined value must not trap ---- */

Test(primitives, nothing_traps) {
    for (int table = 0; table < table_count(); table++)
        for (size_t i = 0; i < NTYPES; i++) {
            ktype t = value_types[i];
            if (!ktype_table[t].is_int) continue;
            static const kop ops[] = { KOP_div, KOP_rem, KOP_shl, KOP_shr };
            for (size_t o = 0; o < 4; o++) check_row(table_number(table), ops[o], t);   /* zero divisors and wide counts are among the edges */
        }
}

/* ---- conversion ---- */

static bool expected_conversion(ktype to, ktype from, uint64_t bits, uint64_t *r) {
    if (ktype_table[from].is_float) {
        double v = float_value(from, bits);
        if (to == T_BOOL) { *r = v != 0; return true; }
        if (ktype_table[to].is_float) { *r = bits_of_float(to, v); return true; }
        if (!(v > (double)lowest(to) - 1 && v < (double)highest(to) + 1) || (v >= 0x1p63 && width_of(to) == 64 && ktype_table[to].is_signed)) return false;
        if (v < -0x1p63 || v >= 0x1p64) return false;
        *r = wrapped(to, (wide)v);
        return true;
    }
    wide v = int_value(from, bits);
    if (to == T_BOOL) *r = v != 0;
    else if (to == T_F64) *r = bits_of_float(T_F64, v < 0 ? (double)(int64_t)v : (double)(uint64_t)v);
    else if (to == T_F32) { float f = (float)(long double)v; *r = 0; memcpy(r, &f, sizeof f); }
    else *r = wrapped(to, v);
    return true;
}

Test(primitives, every_conversion) {
    for (int table = 0; table < table_count(); table++)
        for (size_t i = 0; i < NTYPES; i++)
            for (size_t j = 0; j < NTYPES; j++) {
                ktype from = value_types[i], to = value_types[j];
                uint64_t edge[MOST_EDGES], want;
                int n = edges(from, edge);
                for (int l = 0; l < n; l++) put(0, from, l, edge[l]);
                table_number(table)->convert[to][from](result_memory, operand_memory[0], operand_memory[0], operand_memory[0], n, 0);
                for (int l = 0; l < n; l++) {
                    if (!expected_conversion(to, from, edge[l], &want)) continue;
                    uint64_t got = word_at(to, result_memory, l);
                    cr_expect(same_value(to, got, want), "%#llx from %s to %s gave %#llx, not %#llx", (unsigned long long)edge[l], ktype_table[from].name, ktype_table[to].name,
                              (unsigned long long)got, (unsigned long long)want);
                }
            }
}

/* ---- 16-bit floats ---- */

static uint64_t random_state = 1;
static uint32_t random_bits(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

static void check_rounding(const lane_tables *tables, const uint32_t *bits, int n) {
    float r[2][512];
    for (int l = 0; l < n; l++) put(0, T_F32, l, bits[l]);
    tables->operation[KOP_round_f16][T_F32](r[0], operand_memory[0], NULL, NULL, n, 0);
    tables->operation[KOP_round_bf16][T_F32](r[1], operand_memory[0], NULL, NULL, n, 0);
    for (int l = 0; l < n; l++) {
        float f;
        memcpy(&f, &bits[l], sizeof f);
        float want[2] = { half_to_float(float_to_half(f)), bfloat_to_float(float_to_bfloat(f)) };
        for (int i = 0; i < 2; i++)
            if (!(isnan(want[i]) ? isnan(r[i][l]) : !memcmp(&want[i], &r[i][l], sizeof f))) {
                cr_expect(false, "%a rounded to %s gave %a, not %a", (double)f, i ? "bf16" : "f16", (double)r[i][l], (double)want[i]);
                return;
            }
    }
}

/* Every float16 and the points halfway between neighbours, a little less and more; then random ones. */
Test(primitives, rounding_to_16_bits) {
    for (int table = 0; table < table_count(); table++) {
        uint32_t bits[512];
        int n = 0;
        for (uint32_t h = 0; h < 0x10000; h++) {
            float f = half_to_float((uint16_t)h), g = half_to_float((uint16_t)(h + 1)), mid = (f + g) * 0.5f;
            const float points[] = { f, mid, nextafterf(mid, f), nextafterf(mid, g) };
            for (int i = 0; i < 4; i++) memcpy(&bits[n++], &points[i], sizeof(float));
            if (n == 512 || h == 0xffff) { check_rounding(table_number(table), bits, n); n = 0; }
        }
        for (int round = 0; round < 400; round++) {
            for (int i = 0; i < 512; i++) bits[i] = round & 1 ? random_bits() : (random_bits() & 0x8fffffffu) + 0x30000000u;
            check_rounding(table_number(table), bits, 512);
        }
    }
}

/* Loads and stores of float16 and bfloat16 arrays agree with the library's casts for all patterns. */
Test(primitives, sixteen_bits_in_memory) {
    static float got[65536];
    static uint16_t all[65536], back[65536];
    for (uint32_t h = 0; h < 65536; h++) all[h] = (uint16_t)h;
    for (int brain = 0; brain < 2; brain++) {
        ktype t = brain ? T_BF16 : T_F16;
        load_strided(got, (const char *)all, t, 1, NULL, 65536);
        for (uint32_t h = 0; h < 65536; h++) {
            float want = brain ? bfloat_to_float((uint16_t)h) : half_to_float((uint16_t)h);
            cr_assert(isnan(want) ? isnan(got[h]) : !memcmp(&want, &got[h], sizeof want), "%04x read as %a, not %a", h, (double)got[h], (double)want);
        }
        store_strided((char *)back, t, 1, (operand){ got, 1 }, NULL, 65536);
        for (uint32_t h = 0; h < 65536; h++) cr_assert(isnan(got[h]) || back[h] == h, "%04x came back as %04x", h, back[h]);
        for (int i = 0; i < 65536; i++) { uint32_t u = (i & 1 ? random_bits() : (random_bits() & 0x8fffffffu) + 0x30000000u); memcpy(&got[i], &u, sizeof u); }
        store_strided((char *)back, t, 1, (operand){ got, 1 }, NULL, 65536);
        for (int i = 0; i < 65536; i++) {
            uint16_t want = brain ? float_to_bfloat(got[i]) : float_to_half(got[i]);
            cr_assert(isnan(got[i]) ? isnan(brain ? bfloat_to_float(back[i]) : half_to_float(back[i])) : back[i] == want, "%a stored as %04x, not %04x", (double)got[i], back[i], want);
        }
    }
}

/* ---- through kernels: with lanes, with shared operands, and without lanes ---- */

enum { SHARE_NONE, SHARE_B, SHARE_A, NO_LANES, NSHARINGS };

static kernel *row_kernel(arena *mem, kop op, ktype t, ktype result, int sharing) {
    ktype first = op == KOP_select ? T_BOOL : t;
    int arity = kop_arity(op);
    kparam params[5] = { { .name = "a", .type = first, .array = true, .read = true }, { .name = "b", .type = t, .array = true, .read = true },
                         { .name = "c", .type = t, .array = true, .read = true }, { .name = "out", .type = result, .array = true, .written = true }, { .name = "n", .type = T_I64 } };
    params[0].array = params[0].read = sharing != SHARE_A;
    params[1].array = params[1].read = arity > 1 && sharing != SHARE_B;
    params[2].array = params[2].read = arity > 2;
    kernel *k = kernel_new(mem, "row", params, 5);
    k->lanes = sharing == NO_LANES ? 0 : 8;
    kval zero = kb_const_int(k, T_I64, 0), one = kb_const_int(k, T_I64, 1), i = kb_for(k, k->lanes ? LOOP_LANE : LOOP_SERIAL, T_I64, zero, 4, one), v[3] = { 0, 0, 0 };
    for (int o = 0; o < arity; o++) v[o] = params[o].array ? kb_inst(k, K_LOAD, o ? t : first, 0, (kval)o, i, 0) : (kval)o;
    kb_inst(k, K_STORE, T_VOID, 0, 3, i, kb_op(k, op, result, v[0], v[1], v[2]));
    kb_end(k, i);
    return k;
}

static void check_kernel(kop op, ktype t, int sharing) {
    arena mem = { 0 };
    message m = { 0 };
    uint64_t edge[MOST_EDGES], fault = FAULT_NONE;
    int n = edges(t, edge), arity = kop_arity(op), lanes = 0;
    ktype first = op == KOP_select ? T_BOOL : t, result = result_type(op, t);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < (arity > 1 ? n : 1); j++, lanes++) {
            put(0, first, lanes, op == KOP_select ? (uint64_t)((i + j) % 3 == 0) : edge[i]);
            put(1, t, lanes, edge[j]);
            put(2, t, lanes, edge[(i + 2 * j + 1) % n]);
        }
    kernel *k = row_kernel(&mem, op, t, result, sharing);
    cr_assert_eq(kernel_verify(k, &m), KN_OK, "%s", m.text);
    uint64_t args[5] = { (uintptr_t)operand_memory[0], (uintptr_t)operand_memory[1], (uintptr_t)operand_memory[2], (uintptr_t)result_memory, (uint64_t)lanes }, one = edge[n / 3];
    if (op == KOP_select) one = sharing == SHARE_A ? 1 : one;
    if (sharing == SHARE_A) args[0] = one;
    if (sharing == SHARE_B) args[1] = one;
    cr_assert_eq(reference_run(k, args, 0, 1, &fault, &m), KN_OK, "%s", m.text);
    for (int i = 0; i < lanes; i++) {
        uint64_t a = sharing == SHARE_A ? one : word_at(first, operand_memory[0], i), b = sharing == SHARE_B ? one : word_at(t, operand_memory[1], i), c = word_at(t, operand_memory[2], i), want;
        if (!expected(op, t, a, b, c, &want)) continue;
        uint64_t got = word_at(result, result_memory, i);
        if (same_value(result, got, want)) continue;
        cr_expect(false, "%s.%s(%#llx, %#llx) gave %#llx, not %#llx (sharing %d)", kinst_name((uint16_t)op), ktype_table[t].name, (unsigned long long)a, (unsigned long long)b,
                  (unsigned long long)got, (unsigned long long)want, sharing);
        break;
    }
    arena_free(&mem);
}

Test(primitives, every_row_in_kernels) {
    for (int op = 0; op < NKOPS; op++)
        for (size_t i = 0; i < NTYPES; i++)
            for (int sharing = 0; sharing < NSHARINGS; sharing++) {
                if (op == KOP_convert || op == KOP_bitcast || !row_takes((kop)op, value_types[i]) || (kop_arity((kop)op) < 2 && (sharing == SHARE_A || sharing == SHARE_B))) continue;
                check_kernel((kop)op, value_types[i], sharing);
            }
}
