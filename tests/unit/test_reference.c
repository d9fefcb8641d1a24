/* The interpreter: loops, masks, lanes, blocks, memory, calls, faults, threads. */
#include <criterion/criterion.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/codegen.h"

static arena mem;
static void free_memory(void) { arena_free(&mem); }
TestSuite(reference, .fini = free_memory, .timeout = 60);

/* ---- short names ---- */

static kval i32(kernel *k, int64_t v) { return kb_const_int(k, T_I32, v); }
static kval i64(kernel *k, int64_t v) { return kb_const_int(k, T_I64, v); }
static kval f32(kernel *k, double v) { return kb_const_float(k, T_F32, v); }
static kval op1(kernel *k, kop op, kval a) { return kb_op(k, op, kb_type(k, a), a, 0, 0); }
static kval op2(kernel *k, kop op, kval a, kval b) { return kb_op(k, op, kb_type(k, a), a, b, 0); }
static kval test2(kernel *k, kop op, kval a, kval b) { return kb_op(k, op, T_BOOL, a, b, 0); }
static kval choose(kernel *k, kval c, kval a, kval b) { return kb_op(k, KOP_select, kb_type(k, a), c, a, b); }
static kval convert(kernel *k, ktype t, kval a) { return kb_op(k, KOP_convert, t, a, 0, 0); }
static kval loop_by(kernel *k, int kind, kval begin, kval end, int step) { return kb_for(k, kind, kb_type(k, end), begin, end, kb_const_int(k, kb_type(k, end), step)); }
static kval loop(kernel *k, int kind, kval end) { return loop_by(k, kind, kb_const_int(k, kb_type(k, end), 0), end, 1); }
static kval load(kernel *k, kval array, kval index) { return kb_inst(k, K_LOAD, ktype_value(kb_type(k, array)), 0, array, index, 0); }
static kval load_where(kernel *k, kval array, kval index, kval mask) { return kb_inst(k, K_LOAD, ktype_value(kb_type(k, array)), 0, array, index, mask + 1); }
static void store(kernel *k, kval array, kval index, kval v) { kb_inst(k, K_STORE, T_VOID, 0, array, index, v); }
static kval variable(kernel *k, uint8_t flags, kval first) { return kb_inst(k, K_VAR, kb_type(k, first), flags, first, 0, 0); }
static kval get(kernel *k, kval var) { return kb_inst(k, K_GET, kb_type(k, var), 0, var, 0, 0); }
static void set(kernel *k, kval var, kval v) { kb_inst(k, K_SET, T_VOID, 0, var, v, 0); }
static kval begin_if(kernel *k, kval c) { return kb_inst(k, K_IF, T_VOID, 0, c, 0, 0); }
static kval begin_loop(kernel *k) { return kb_inst(k, K_LOOP, T_VOID, 0, 0, 0, 0); }
static void break_unless(kernel *k, kval c) { kb_inst(k, K_BREAK_UNLESS, T_VOID, 0, c, 0, 0); }
static kval local(kernel *k, ktype t, uint32_t n) { return kb_inst(k, K_LOCAL, t, 0, n, 0, 0); }
static kval shuffle(kernel *k, int how, kval v, kval by, uint32_t width) { return kb_inst(k, K_SHUFFLE, kb_type(k, v), (uint8_t)how, v, by, width); }
static void barrier(kernel *k) { kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0); }

static kparam in(ktype t) { return (kparam){ .name = "in", .type = t, .array = true, .read = true }; }
static kparam out(ktype t) { return (kparam){ .name = "out", .type = t, .array = true, .written = true }; }
static kparam inout(ktype t) { return (kparam){ .name = "io", .type = t, .array = true, .read = true, .written = true }; }
static kparam scalar_of(ktype t) { return (kparam){ .name = "s", .type = t }; }

static kernel *cpu(const kparam *params, uint32_t n, int lanes) {
    kernel *k = kernel_new(&mem, "cpu", params, n);
    k->lanes = (uint16_t)lanes;
    return k;
}

static kernel *gpu(const kparam *params, uint32_t n, int x, int y, int z) {
    kernel *k = kernel_new(&mem, "gpu", params, n);
    k->block[0] = (uint16_t)x;
    k->block[1] = (uint16_t)y;
    k->block[2] = (uint16_t)z;
    k->warp = 32;
    return k;
}

/* Opens GRID over `blocks` and BLOCK along x; returns the thread. */
static kval open_blocks(kernel *k, kval blocks, kval *block) {
    *block = loop(k, LOOP_GRID, blocks);
    return loop(k, LOOP_BLOCK, i32(k, k->block[0]));
}

/* Closes what is open, verifies, runs; the fault word. */
static uint64_t run_range(kernel *k, const uint64_t *args, int64_t lo, int64_t hi) {
    uint32_t open[64];
    int n = 0;
    uint64_t fault = FAULT_NONE;
    message m = { 0 };
    for (uint32_t i = 0; i < k->ncode; i++) {
        uint16_t op = k->code[i].op;
        if (op == K_FOR || op == K_IF || op == K_LOOP) open[n++] = i;
        if (op == K_END) n--;
    }
    while (n) kb_end(k, open[--n]);
    cr_assert_eq(kernel_verify(k, &m), KN_OK, "%s", m.text);
    cr_assert_eq(reference_run(k, args, lo, hi, &fault, &m), KN_OK, "%s", m.text);
    return fault;
}
static uint64_t run(kernel *k, const uint64_t *args) { return run_range(k, args, 0, INT64_MAX); }
#define ADDRESS(a) ((uint64_t)(uintptr_t)(a))

/* Sizes around W = 8 and around the interpreter's own chunks. */
static const int sizes[] = { 0, 1, 7, 8, 9, 24, 255, 256, 257, 1000 };
#define NSIZES ((int)(sizeof sizes / sizeof *sizes))

/* ---- maps ---- */

Test(reference, maps_of_all_sizes) {
    for (int s = 0; s < NSIZES; s++) {
        int n = sizes[s];
        float x[1001], y[1001];
        for (int i = 0; i <= 1000; i++) { x[i] = (float)i * 0.5f; y[i] = -1; }
        kernel *k = cpu((kparam[]){ in(T_F32), out(T_F32), scalar_of(T_I64), scalar_of(T_F32) }, 4, 8);
        kval l = loop(k, LOOP_LANE, 2);
        store(k, 1, l, op2(k, KOP_add, op2(k, KOP_mul, load(k, 0, l), 3), convert(k, T_F32, l)));
        float three = 3;
        uint64_t args[4] = { ADDRESS(x), ADDRESS(y), (uint64_t)n, 0 };
        memcpy(&args[3], &three, sizeof three);
        run(k, args);
        for (int i = 0; i <= 1000; i++) cr_assert_eq(y[i], i < n ? x[i] * 3 + (float)i : -1, "size %d: y[%d] is %g", n, i, (double)y[i]);
    }
}

/* Strides of every sign, offsets, gathers; 32-bit and 64-bit indices. */
Test(reference, indices) {
    static const int strides[] = { 1, -1, 0, 2, -3 };
    for (int wide = 0; wide < 2; wide++)
        for (int s = 0; s < 5; s++) {
            ktype t = wide ? T_I64 : T_I32;
            int32_t x[2000], y[300], where[300];
            for (int i = 0; i < 2000; i++) x[i] = i * 7;
            for (int i = 0; i < 300; i++) where[i] = (i * 37) % 300;
            memset(y, 0, sizeof y);
            kernel *k = cpu((kparam[]){ in(T_I32), in(T_I32), out(T_I32), scalar_of(t), scalar_of(t), scalar_of(T_I64) }, 6, 8);
            kval l = loop(k, LOOP_LANE, 5), l_t = convert(k, t, l);
            kval at = op2(k, KOP_add, op2(k, KOP_mul, l_t, 3), 4), back = op2(k, KOP_sub, kb_const_int(k, t, 299), l_t);
            kval gathered = convert(k, t, load(k, 1, op1(k, KOP_neg, op1(k, KOP_neg, back))));
            kval twice = load(k, 0, kb_op(k, KOP_shl, t, gathered, kb_const_int(k, t, 1), 0));
            store(k, 2, gathered, op2(k, KOP_sub, load(k, 0, at), twice));
            uint64_t args[6] = { ADDRESS(x), ADDRESS(where), ADDRESS(y), (uint64_t)(int64_t)strides[s], 1000, 300 };
            run(k, args);
            for (int i = 0; i < 300; i++) {
                int g = where[299 - i], want = x[i * strides[s] + 1000] - x[2 * g];
                cr_assert_eq(y[g], want, "stride %d: y[%d] is %d, not %d", strides[s], g, y[g], want);
            }
        }
}

/* A position that is data is exact, also where 32 bits wrap. */
Test(reference, positions_as_data_wrap) {
    int64_t y[300], z[300];
    kernel *k = cpu((kparam[]){ out(T_I64), out(T_I64), scalar_of(T_I32), scalar_of(T_I32) }, 4, 8);
    kval l = loop(k, LOOP_LANE, i32(k, 300)), sum = op2(k, KOP_add, op2(k, KOP_mul, l, i32(k, 3)), 2);
    store(k, 0, l, convert(k, T_I64, sum));
    store(k, 1, l, op2(k, KOP_add, convert(k, T_I64, choose(k, test2(k, KOP_gt, 3, i32(k, 0)), sum, op1(k, KOP_neg, l))), i64(k, 5)));
    uint64_t args[4] = { ADDRESS(y), ADDRESS(z), (uint64_t)(INT32_MAX - 100), 1 };
    run(k, args);
    for (int i = 0; i < 300; i++) {
        int64_t want = (int32_t)((uint32_t)(INT32_MAX - 100) + 3u * (uint32_t)i);
        cr_assert(y[i] == want && z[i] == want + 5, "%d: %lld and %lld, not %lld", i, (long long)y[i], (long long)z[i], (long long)want);
    }
}

Test(reference, grid_ranges) {
    int32_t y[6][10];
    memset(y, 0, sizeof y);
    kernel *k = cpu((kparam[]){ out(T_I32), scalar_of(T_I64) }, 2, 8);
    kval gy = loop_by(k, LOOP_GRID | 1 << 4, i64(k, 0), i64(k, 2), 1), g = loop(k, LOOP_GRID, 1), l = loop(k, LOOP_LANE, i64(k, 10));
    kval row = op2(k, KOP_mul, g, i64(k, 10));
    begin_if(k, test2(k, KOP_eq, gy, i64(k, 1)));
    store(k, 0, op2(k, KOP_add, row, l), i32(k, 1));
    uint64_t args[2] = { ADDRESS(y), 6 };
    run_range(k, args, 2, 5);
    for (int i = 0; i < 60; i++) cr_assert_eq(y[i / 10][i % 10], i / 10 >= 2 && i / 10 < 5, "row %d", i / 10);
}

Test(reference, storage_types) {
    static const ktype types[] = { T_BOOL, T_I8, T_I16, T_I32, T_I64, T_U8, T_U16, T_U32, T_U64, T_F16, T_BF16, T_F32, T_F64 };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int way = 0; way < 4; way++) {                      /* in line, with a stride, gathered, under a mask */
            uint64_t x[128], y[128], where[64];
            size_t size = ktype_table[types[t]].size;
            unsigned char *px = (unsigned char *)x, *py = (unsigned char *)y;
            for (size_t i = 0; i < sizeof x; i++) px[i] = (unsigned char)((i * 73 + 5) % 120);
            memset(y, 0xee, sizeof y);
            for (int i = 0; i < 64; i++) where[i] = (uint64_t)(i * 5 % 64);
            kernel *k = cpu((kparam[]){ in(types[t]), out(types[t]), in(T_I64) }, 3, 8);
            kval l = loop(k, LOOP_LANE, i64(k, 60)), at = way == 1 ? op2(k, KOP_mul, l, i64(k, 2)) : l;
            if (way == 2) at = load(k, 2, l);
            else load(k, 2, l);
            if (way == 3) begin_if(k, test2(k, KOP_ne, op2(k, KOP_rem, l, i64(k, 3)), i64(k, 0)));
            store(k, 1, at, load(k, 0, at));
            uint64_t args[3] = { ADDRESS(x), ADDRESS(y), ADDRESS(where) };
            run(k, args);
            for (int i = 0; i < 60; i++) {
                size_t e = way == 1 ? 2 * (size_t)i : way == 2 ? (size_t)where[i] : (size_t)i;
                bool written = way != 3 || i % 3;
                unsigned char want[8];
                memcpy(want, px + e * size, size);
                if (types[t] == T_BOOL) want[0] = want[0] != 0;
                if (!written) memset(want, 0xee, size);
                cr_assert(!memcmp(py + e * size, want, size), "%s, way %d, element %zu", ktype_table[types[t]].name, way, e);
            }
        }
}

Test(reference, masked_lanes_touch_nothing) {
    float *x = malloc(10 * sizeof *x), y[64];                    /* the sanitizer watches its ends */
    for (int i = 0; i < 10; i++) x[i] = (float)i + 1;
    kernel *k = cpu((kparam[]){ in(T_F32), out(T_F32), scalar_of(T_BOOL) }, 3, 8);
    kval l = loop(k, LOOP_LANE, i64(k, 64)), inside = test2(k, KOP_lt, l, i64(k, 10));
    kval v = load_where(k, 0, l, inside), none = load_where(k, 0, i64(k, 1000000000), 2);
    kval far = load_where(k, 0, op2(k, KOP_mul, l, i64(k, 1000000000)), op2(k, KOP_and, inside, 2));
    store(k, 1, l, op2(k, KOP_add, op2(k, KOP_add, v, none), far));
    begin_if(k, inside);
    store(k, 1, l, op2(k, KOP_mul, load(k, 0, l), load(k, 0, op2(k, KOP_sub, i64(k, 9), l))));
    uint64_t args[3] = { ADDRESS(x), ADDRESS(y), 0 };
    run(k, args);
    for (int i = 0; i < 64; i++) cr_assert_eq(y[i], i < 10 ? x[i] * x[9 - i] : 0, "y[%d] is %g", i, (double)y[i]);
    free(x);
}

/* ---- control that lanes do not share ---- */

Test(reference, branches_and_variables) {
    for (int s = 0; s < NSIZES; s++) {
        int n = sizes[s];
        int32_t x[1000], y[1000];
        for (int i = 0; i < 1000; i++) { x[i] = (i * 7919) % 100; y[i] = -1; }
        kernel *k = cpu((kparam[]){ in(T_I32), out(T_I32), scalar_of(T_I64) }, 3, 8);
        kval l = loop(k, LOOP_LANE, 2), v = load(k, 0, l), r = variable(k, 0, i32(k, 1)), c = begin_if(k, test2(k, KOP_lt, v, i32(k, 50)));
        set(k, r, op2(k, KOP_add, get(k, r), v));
        kval inner = begin_if(k, test2(k, KOP_lt, v, i32(k, 20)));
        set(k, r, op2(k, KOP_mul, get(k, r), i32(k, 3)));
        kb_else(k, inner);
        set(k, r, op2(k, KOP_sub, get(k, r), i32(k, 1000)));
        kb_end(k, inner);
        kb_else(k, c);
        inner = begin_if(k, test2(k, KOP_eq, op2(k, KOP_and, v, i32(k, 1)), i32(k, 1)));
        set(k, r, op1(k, KOP_neg, v));
        kb_end(k, inner);
        kb_end(k, c);
        store(k, 1, l, get(k, r));
        uint64_t args[3] = { ADDRESS(x), ADDRESS(y), (uint64_t)n };
        run(k, args);
        for (int i = 0; i < 1000; i++) {
            int want = x[i] < 50 ? (x[i] < 20 ? (1 + x[i]) * 3 : 1 + x[i] - 1000) : x[i] & 1 ? -x[i] : 1;
            cr_assert_eq(y[i], i < n ? want : -1, "size %d: y[%d] is %d, not %d", n, i, y[i], want);
        }
    }
}

/* How many steps 3n+1 takes: every lane leaves at its own time. */
Test(reference, loops_that_lanes_leave_one_by_one) {
    int32_t y[300];
    kernel *k = cpu((kparam[]){ out(T_I32) }, 1, 8);
    kval l = loop(k, LOOP_LANE, i32(k, 300)), v = variable(k, 0, op2(k, KOP_add, l, i32(k, 1))), steps = variable(k, 0, i32(k, 0)), w = begin_loop(k), now = get(k, v);
    break_unless(k, test2(k, KOP_ne, now, i32(k, 1)));
    set(k, steps, op2(k, KOP_add, get(k, steps), i32(k, 1)));
    kval odd = test2(k, KOP_eq, op2(k, KOP_and, now, i32(k, 1)), i32(k, 1)), c = begin_if(k, odd);
    set(k, v, op2(k, KOP_add, op2(k, KOP_mul, now, i32(k, 3)), i32(k, 1)));
    kb_else(k, c);
    set(k, v, op2(k, KOP_shr, now, i32(k, 1)));
    kb_end(k, c);
    kb_end(k, w);
    store(k, 0, l, get(k, steps));
    uint64_t args[1] = { ADDRESS(y) };
    run(k, args);
    for (int i = 0; i < 300; i++) {
        int want = 0;
        for (int64_t j = i + 1; j != 1; want++) j = j & 1 ? 3 * j + 1 : j / 2;
        cr_assert_eq(y[i], want, "%d takes %d steps, not %d", i + 1, y[i], want);
    }
}

/* Bounds that differ from lane to lane: of the end, of the begin, of both; empty ones too. */
Test(reference, for_loops_with_bounds_of_their_own) {
    for (int which = 0; which < 3; which++) {
        int64_t y[200];
        kernel *k = cpu((kparam[]){ out(T_I64) }, 1, 8);
        kval l = loop(k, LOOP_LANE, i64(k, 200)), sum = variable(k, 0, i64(k, 0)), low = op2(k, KOP_rem, l, i64(k, 7)), high = op2(k, KOP_rem, l, i64(k, 11));
        kval j = loop_by(k, LOOP_SERIAL, which ? low : i64(k, 2), which == 1 ? i64(k, 5) : high, 2);
        set(k, sum, op2(k, KOP_add, get(k, sum), op2(k, KOP_add, op2(k, KOP_mul, j, i64(k, 100)), l)));
        kb_end(k, j);
        store(k, 0, l, get(k, sum));
        uint64_t args[1] = { ADDRESS(y) };
        run(k, args);
        for (int i = 0; i < 200; i++) {
            int64_t want = 0;
            for (int64_t v = which ? i % 7 : 2; v < (which == 1 ? 5 : i % 11); v += 2) want += 100 * v + i;
            cr_assert_eq(y[i], want, "%d: lane %d sums %lld, not %lld", which, i, (long long)y[i], (long long)want);
        }
    }
}

Test(reference, loop_bounds_near_the_end_of_their_type) {
    int64_t y[2];
    kernel *k = cpu((kparam[]){ out(T_I64), scalar_of(T_I64), scalar_of(T_I32) }, 3, 0);
    kval count = variable(k, 0, i64(k, 0)), l = loop_by(k, LOOP_SERIAL, 1, i64(k, INT64_MAX), 3);
    set(k, count, op2(k, KOP_add, get(k, count), i64(k, 1)));
    kb_end(k, l);
    kval l32 = loop_by(k, LOOP_SERIAL, 2, i32(k, INT32_MAX), 2);
    set(k, count, op2(k, KOP_add, get(k, count), i64(k, 1000)));
    kb_end(k, l32);
    store(k, 0, i64(k, 0), get(k, count));
    uint64_t args[3] = { ADDRESS(y), (uint64_t)(INT64_MAX - 7), (uint64_t)(INT32_MAX - 3) };
    run(k, args);
    cr_expect_eq(y[0], 2003, "%lld", (long long)y[0]);
}

Test(reference, a_variable_read_before_it_is_set_again) {
    int32_t y[40];
    kernel *k = cpu((kparam[]){ out(T_I32) }, 1, 8);
    kval l = loop(k, LOOP_LANE, i32(k, 40)), a = variable(k, 0, l), b = variable(k, 0, i32(k, 1)), j = loop(k, LOOP_SERIAL, i32(k, 5));
    kval old_a = get(k, a), old_b = get(k, b);
    set(k, a, op2(k, KOP_add, old_a, old_b));
    set(k, b, old_a);                                            /* not what a is now */
    kb_end(k, j);
    store(k, 0, l, op2(k, KOP_add, get(k, a), op2(k, KOP_mul, get(k, b), i32(k, 1000))));
    uint64_t args[1] = { ADDRESS(y) };
    run(k, args);
    for (int i = 0; i < 40; i++) {
        int u = i, v = 1;
        for (int s = 0; s < 5; s++) { int w = u; u += v; v = w; }
        cr_assert_eq(y[i], u + 1000 * v, "lane %d: %d", i, y[i]);
    }
}

/* ---- lanes that keep values ---- */

static float sum_by_lanes(const float *x, int n, int w) {
    float lane[64] = { 0 }, next[64];
    for (int i = 0; i < n; i++) lane[i % w] += x[i];
    for (int d = w / 2; d; d /= 2) {
        for (int l = 0; l < w; l++) next[l] = lane[l] + lane[l ^ d];
        memcpy(lane, next, sizeof lane);
    }
    return lane[0];
}

Test(reference, sums_in_the_order_of_the_lanes) {
    for (int w = 4; w <= 32; w *= 2)
        for (int s = 0; s < NSIZES; s++) {
            float x[1000], y = -1;
            for (int i = 0; i < 1000; i++) x[i] = (float)(i % 97) * 0.1f + 1e-3f * (float)i;
            kernel *k = cpu((kparam[]){ in(T_F32), out(T_F32), scalar_of(T_I64) }, 3, w);
            kval total = variable(k, VAR_LANES, f32(k, 0)), l = loop(k, LOOP_LANE, 2);
            set(k, total, op2(k, KOP_add, get(k, total), load(k, 0, l)));
            kb_end(k, l);
            l = loop(k, LOOP_LANE, i64(k, w));
            kval v = get(k, total);
            for (int d = w / 2; d; d /= 2) v = op2(k, KOP_add, v, shuffle(k, SHUFFLE_XOR, v, i32(k, d), d == 1 ? 0 : (uint32_t)w));
            set(k, total, v);
            kb_end(k, l);
            store(k, 1, i64(k, 0), kb_inst(k, K_FIRST_LANE, T_F32, 0, total, 0, 0));
            uint64_t args[3] = { ADDRESS(x), ADDRESS(&y), (uint64_t)sizes[s] };
            run(k, args);
            float want = sum_by_lanes(x, sizes[s], w);
            cr_assert_eq(y, want, "%d lanes, %d elements: %a, not %a", w, sizes[s], (double)y, (double)want);
        }
}

Test(reference, shuffles_and_lane_numbers) {
    int32_t y[5][16];
    kernel *k = cpu((kparam[]){ out(T_I32) }, 1, 16);
    kval l = loop(k, LOOP_LANE, i32(k, 16)), v = op2(k, KOP_mul, l, i32(k, 10));
    static const int how[] = { SHUFFLE_XOR, SHUFFLE_DOWN, SHUFFLE_UP, SHUFFLE_INDEX };
    for (int i = 0; i < 4; i++) store(k, 0, op2(k, KOP_add, l, i32(k, 16 * i)), shuffle(k, how[i], v, i32(k, 3), 8));
    store(k, 0, op2(k, KOP_add, l, i32(k, 64)), kb_inst(k, K_LANE_INDEX, T_I32, 0, 0, 0, 0));
    uint64_t args[1] = { ADDRESS(y) };
    run(k, args);
    for (int i = 0; i < 16; i++) {
        int base = i / 8 * 8, in_group = i % 8;
        const int want[5] = { base + (in_group ^ 3), in_group + 3 < 8 ? i + 3 : i, in_group >= 3 ? i - 3 : i, base + 3, i };
        for (int j = 0; j < 5; j++) cr_assert_eq(y[j][i], j == 4 ? i : 10 * want[j], "row %d, lane %d: %d", j, i, y[j][i]);
    }
}

/* ---- blocks ---- */

Test(reference, threads_in_three_dimensions) {
    int32_t y[2 * 24];
    kernel *k = gpu((kparam[]){ out(T_I32) }, 1, 4, 3, 2);
    kval g = loop(k, LOOP_GRID, i32(k, 2)), z = loop(k, LOOP_BLOCK | 2 << 4, i32(k, 2)), y_ = loop(k, LOOP_BLOCK | 1 << 4, i32(k, 3)), x = loop(k, LOOP_BLOCK, i32(k, 4));
    kval flat = op2(k, KOP_add, op2(k, KOP_mul, op2(k, KOP_add, op2(k, KOP_mul, z, i32(k, 3)), y_), i32(k, 4)), x);
    kval lane = kb_inst(k, K_LANE_INDEX, T_I32, 0, 0, 0, 0);
    store(k, 0, op2(k, KOP_add, op2(k, KOP_mul, g, i32(k, 24)), flat), op2(k, KOP_add, op2(k, KOP_mul, lane, i32(k, 100)), x));
    uint64_t args[1] = { ADDRESS(y) };
    run(k, args);
    for (int i = 0; i < 48; i++) cr_assert_eq(y[i], 100 * (i % 24) + i % 4, "%d: %d", i, y[i]);
}

/* A tree in shared memory, then one in the warp; barriers inside a loop that all threads share. */
Test(reference, block_sums) {
    float x[700], y[3];
    for (int i = 0; i < 700; i++) x[i] = (float)i * 0.25f;
    kernel *k = gpu((kparam[]){ in(T_F32), out(T_F32), scalar_of(T_I32) }, 3, 256, 1, 1);
    kval block, thread = open_blocks(k, i32(k, 3), &block), shared = kb_inst(k, K_SHARED, T_F32, 0, 256, 0, 0);
    kval i = op2(k, KOP_add, op2(k, KOP_mul, block, i32(k, 256)), thread);
    store(k, shared, thread, load_where(k, 0, i, test2(k, KOP_lt, i, 2)));
    kval half = variable(k, 0, i32(k, 128)), w = begin_loop(k), h = get(k, half);
    break_unless(k, test2(k, KOP_ge, h, i32(k, 32)));
    barrier(k);
    kval c = begin_if(k, test2(k, KOP_lt, thread, h));
    store(k, shared, thread, op2(k, KOP_add, load(k, shared, thread), load(k, shared, op2(k, KOP_add, thread, h))));
    kb_end(k, c);
    set(k, half, op2(k, KOP_shr, h, i32(k, 1)));
    kb_end(k, w);
    barrier(k);
    c = begin_if(k, test2(k, KOP_lt, thread, i32(k, 32)));
    kval v = load(k, shared, thread);
    for (int d = 16; d; d /= 2) v = op2(k, KOP_add, v, shuffle(k, SHUFFLE_DOWN, v, i32(k, d), 32));
    kval leader = begin_if(k, test2(k, KOP_eq, thread, i32(k, 0)));
    store(k, 1, block, v);
    kb_end(k, leader);
    kb_end(k, c);
    uint64_t args[3] = { ADDRESS(x), ADDRESS(y), 700 };
    run(k, args);
    for (int b = 0; b < 3; b++) {
        float want = 0;
        for (int j = 256 * b; j < 256 * (b + 1) && j < 700; j++) want += x[j];
        cr_assert_eq(y[b], want, "block %d: %g, not %g", b, (double)y[b], (double)want);
    }
}

Test(reference, votes) {
    uint64_t y[64];
    kernel *k = gpu((kparam[]){ out(T_U64) }, 1, 64, 1, 1);
    kval block, thread = open_blocks(k, i32(k, 1), &block), odd = test2(k, KOP_eq, op2(k, KOP_rem, thread, i32(k, 3)), i32(k, 0));
    store(k, 0, thread, kb_inst(k, K_BALLOT, T_U64, 0, odd, 0, 0));
    uint64_t args[1] = { ADDRESS(y) };
    run(k, args);
    for (int t = 0; t < 64; t++) {
        uint64_t want = 0;
        for (int l = 0; l < 32; l++) if ((t / 32 * 32 + l) % 3 == 0) want |= (uint64_t)1 << l;
        cr_assert_eq(y[t], want, "thread %d: %llx, not %llx", t, (unsigned long long)y[t], (unsigned long long)want);
    }
}

/* Each block waits for the one before; they run in order, so nobody waits long. */
Test(reference, blocks_that_wait_for_earlier_ones) {
    uint32_t flags[20] = { 0 };
    int32_t y[20];
    kernel *k = gpu((kparam[]){ inout(T_U32), out(T_I32) }, 2, 32, 1, 1);
    k->ordered = true;
    kval block, thread = open_blocks(k, i32(k, 20), &block), seen = variable(k, 0, kb_const_int(k, T_U32, 0)), w = begin_loop(k);
    break_unless(k, op2(k, KOP_and, test2(k, KOP_eq, get(k, seen), kb_const_int(k, T_U32, 0)), test2(k, KOP_gt, block, i32(k, 0))));
    set(k, seen, kb_inst(k, K_LOAD, T_U32, LOAD_ACQUIRE, 0, op2(k, KOP_sub, block, i32(k, 1)), 0));
    kb_end(k, w);
    begin_if(k, test2(k, KOP_eq, thread, i32(k, 0)));
    kval mine = op2(k, KOP_add, get(k, seen), kb_const_int(k, T_U32, 2));
    store(k, 1, block, convert(k, T_I32, mine));
    kb_inst(k, K_FENCE, T_VOID, 0, 0, 0, 0);
    kb_inst(k, K_STORE, T_VOID, STORE_RELEASE, 0, block, mine);
    uint64_t args[2] = { ADDRESS(flags), ADDRESS(y) };
    run(k, args);
    for (int b = 0; b < 20; b++) cr_assert_eq(y[b], 2 * (b + 1), "block %d: %d", b, y[b]);
}

Test(reference, a_wait_without_end_is_an_error) {
    uint32_t flag = 0;
    kernel *k = cpu((kparam[]){ inout(T_U32) }, 1, 0);
    store(k, 0, i32(k, 0), kb_const_int(k, T_U32, 0));
    kval w = begin_loop(k);
    break_unless(k, test2(k, KOP_eq, kb_inst(k, K_LOAD, T_U32, LOAD_ACQUIRE, 0, i32(k, 0), 0), kb_const_int(k, T_U32, 0)));
    kb_end(k, w);
    uint64_t args[1] = { ADDRESS(&flag) }, fault = FAULT_NONE;
    message m = { 0 };
    cr_assert_eq(kernel_verify(k, &m), KN_OK, "%s", m.text);
    cr_expect_eq(reference_run(k, args, 0, 1, &fault, &m), KN_RUNTIME_ERROR);
    cr_expect(strstr(m.text, "does not end"), "%s", m.text);
}

/* ---- vectors and LOCAL arrays ---- */

Test(reference, vectors) {
    static const ktype types[] = { T_U8, T_F16, T_F32, T_F64 };
    for (int on_gpu = 0; on_gpu < 2; on_gpu++)
        for (int t = 0; t < 4; t++)
            for (uint8_t n = 2; n <= 16; n *= 2) {
                size_t size = ktype_table[types[t]].size;
                _Alignas(128) unsigned char x[64 * 16 * 8], y[64 * 16 * 8];
                for (size_t i = 0; i < sizeof x; i++) x[i] = (unsigned char)(i * 31 + 7);
                memset(y, 0, sizeof y);
                const kparam params[] = { in(types[t]), out(types[t]) };
                kernel *k = on_gpu ? gpu(params, 2, 64, 1, 1) : cpu(params, 2, 8);
                kval block = 0, lane = on_gpu ? open_blocks(k, i32(k, 1), &block) : loop(k, LOOP_LANE, i32(k, 64));
                kval v = local(k, types[t], 16), at = op2(k, KOP_mul, lane, i32(k, n));
                kb_inst(k, K_VLOAD, T_VOID, n | LOAD_STREAM, 0, at, v);
                begin_if(k, test2(k, KOP_ne, lane, i32(k, 5)));
                kb_inst(k, K_VSTORE, T_VOID, n, 1, at, v);
                uint64_t args[2] = { ADDRESS(x), ADDRESS(y) };
                run(k, args);
                for (size_t i = 0; i < 64 * n * size; i++) cr_assert_eq(y[i], i / (n * size) == 5 ? 0 : x[i], "%s by %d, byte %zu", ktype_table[types[t]].name, n, i);
            }
}

/* Arrays of a lane's own, with shared and own indices; one shared by all lanes of an iteration. */
Test(reference, local_arrays) {
    int32_t y[300], z[30];
    kernel *k = cpu((kparam[]){ out(T_I32), out(T_I32) }, 2, 8);
    kval row = local(k, T_I32, 300), l = loop(k, LOOP_LANE, i32(k, 300)), own = local(k, T_I32, 8);
    kval j = loop(k, LOOP_SERIAL, i32(k, 8));
    store(k, own, j, op2(k, KOP_add, op2(k, KOP_mul, l, i32(k, 10)), j));
    kb_end(k, j);
    kval at = op2(k, KOP_rem, l, i32(k, 8)), shifted = op2(k, KOP_and, op2(k, KOP_add, l, i32(k, 3)), i32(k, 7));
    store(k, own, at, op1(k, KOP_neg, load(k, own, at)));
    store(k, row, l, op2(k, KOP_add, op2(k, KOP_mul, load(k, own, shifted), i32(k, 2)), load(k, own, i32(k, 0))));
    kb_end(k, l);
    l = loop(k, LOOP_LANE, i32(k, 300));
    store(k, 0, l, load(k, row, op2(k, KOP_sub, i32(k, 299), l)));
    kb_end(k, l);
    kval i = loop(k, LOOP_SERIAL, i32(k, 30));
    store(k, 1, i, load(k, row, i));
    kb_end(k, i);
    uint64_t args[2] = { ADDRESS(y), ADDRESS(z) };
    run(k, args);
    int32_t want[300];
    for (int e = 0; e < 300; e++) {
        int a[8];
        for (int q = 0; q < 8; q++) a[q] = 10 * e + q;
        a[e % 8] = -a[e % 8];
        want[e] = 2 * a[(e + 3) & 7] + a[0];
    }
    for (int e = 0; e < 300; e++) cr_assert_eq(y[e], want[299 - e], "y[%d] is %d, not %d", e, y[e], want[299 - e]);
    for (int e = 0; e < 30; e++) cr_assert_eq(z[e], want[e]);
}

Test(reference, pairs) {
    double x[20], y[20];
    for (int i = 0; i < 20; i++) x[i] = i;
    kernel *k = cpu((kparam[]){ in(T_F64), out(T_F64) }, 2, 8);
    kval l = loop(k, LOOP_LANE, i64(k, 10)), even = op2(k, KOP_mul, l, i64(k, 2)), odd = op2(k, KOP_add, even, i64(k, 1));
    kval re = kb_inst(k, K_LOAD, T_F64, LOAD_PAIR0, 0, even, 0), im = kb_inst(k, K_LOAD, T_F64, LOAD_PAIR1, 0, odd, 0);
    kb_inst(k, K_STORE, T_VOID, STORE_PAIR0, 1, even, op1(k, KOP_neg, im));
    kb_inst(k, K_STORE, T_VOID, STORE_PAIR1, 1, odd, re);
    uint64_t args[2] = { ADDRESS(x), ADDRESS(y) };
    run(k, args);
    for (int i = 0; i < 10; i++) cr_assert(y[2 * i] == -x[2 * i + 1] && y[2 * i + 1] == x[2 * i], "%d", i);
}

/* ---- atomics and faults ---- */

Test(reference, atomics) {
    int32_t count[8] = { 0 }, before[64];
    float least = 1000, most = -1000, total = 0;
    uint64_t bits = 0, word = 7;
    kernel *k = gpu((kparam[]){ inout(T_I32), out(T_I32), inout(T_F32), inout(T_F32), inout(T_F32), inout(T_U64), inout(T_U64) }, 7, 64, 1, 1);
    kval block, t = open_blocks(k, i32(k, 2), &block), zero = i32(k, 0), slot = op2(k, KOP_and, t, i32(k, 7)), f = convert(k, T_F32, t);
    kval c = begin_if(k, test2(k, KOP_lt, t, i32(k, 60)));
    kval old = kb_inst(k, K_ATOMIC, T_I32, ATOMIC_ADD, 0, slot, i32(k, 2));
    store(k, 1, t, old);
    kb_inst(k, K_ATOMIC, T_F32, ATOMIC_MIN, 2, zero, op2(k, KOP_sub, f, f32(k, 3)));
    kb_inst(k, K_ATOMIC, T_F32, ATOMIC_MAX, 3, zero, choose(k, test2(k, KOP_eq, t, i32(k, 59)), f32(k, -5), f));
    kb_inst(k, K_ATOMIC, T_F32, ATOMIC_ADD, 4, zero, f);
    kb_inst(k, K_ATOMIC, T_U64, ATOMIC_OR, 5, zero, kb_op(k, KOP_shl, T_U64, kb_const_int(k, T_U64, 1), convert(k, T_U64, t), 0));
    kb_inst(k, K_ATOMIC, T_U64, ATOMIC_EXCHANGE, 6, zero, convert(k, T_U64, t));
    kb_end(k, c);
    uint64_t args[7] = { ADDRESS(count), ADDRESS(before), ADDRESS(&least), ADDRESS(&most), ADDRESS(&total), ADDRESS(&bits), ADDRESS(&word) };
    run(k, args);
    for (int i = 0; i < 8; i++) cr_expect_eq(count[i], i < 4 ? 32 : 28, "%d: %d", i, count[i]);
    for (int i = 0; i < 60; i++) cr_expect_eq(before[i], (i % 8 < 4 ? 16 : 14) + i / 8 * 2, "%d: %d", i, before[i]);   /* of the second block */
    cr_expect(least == -3 && most == 58 && total == 2 * 1770.0f, "%g %g %g", (double)least, (double)most, (double)total);
    cr_expect(bits == (((uint64_t)1 << 60) - 1) && word == 59, "%llx %llu", (unsigned long long)bits, (unsigned long long)word);
}

/* Adds through compare and exchange: a lane that loses tries again. */
Test(reference, compare_and_exchange) {
    uint32_t sums[4] = { 0 };
    kernel *k = gpu((kparam[]){ inout(T_U32) }, 1, 64, 1, 1);
    kval block, t = open_blocks(k, i32(k, 1), &block), slot = op2(k, KOP_and, t, i32(k, 3)), seen = variable(k, 0, load(k, 0, slot)), open = variable(k, 0, kb_const_int(k, T_BOOL, 1));
    kval w = begin_loop(k);
    break_unless(k, get(k, open));
    kval now = get(k, seen), was = kb_cas(k, 0, slot, now, op2(k, KOP_add, now, convert(k, T_U32, t)));
    set(k, open, test2(k, KOP_ne, was, now));
    set(k, seen, was);
    kb_end(k, w);
    uint64_t args[1] = { ADDRESS(sums) };
    run(k, args);
    for (uint32_t i = 0; i < 4; i++) cr_expect_eq(sums[i], 16 * i + 4 * 120, "%u: %u", i, sums[i]);
}

Test(reference, faults) {
    static const struct { int64_t a, b; uint64_t want; } rows[] = { { 1000, 1000, FAULT_NONE }, { 70, 1000, 2ull << 48 | 70 }, { 1000, 40, 1ull << 48 | 41 }, { 20, 40, 1ull << 48 | 41 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t y[100];
        kernel *k = cpu((kparam[]){ out(T_I32), scalar_of(T_I64), scalar_of(T_I64) }, 3, 8);
        kval l = loop(k, LOOP_LANE, i64(k, 100));
        kb_inst(k, K_FAULT, T_VOID, 0, test2(k, KOP_ge, l, 1), l, 2);
        begin_if(k, test2(k, KOP_eq, op2(k, KOP_and, l, i64(k, 1)), i64(k, 1)));
        kb_inst(k, K_FAULT, T_VOID, 0, test2(k, KOP_ge, l, 2), l, 1);
        store(k, 0, l, i32(k, 1));
        uint64_t args[3] = { ADDRESS(y), (uint64_t)rows[i].a, (uint64_t)rows[i].b };
        uint64_t got = run(k, args);
        cr_expect_eq(got, rows[i].want, "row %zu: %llx", i, (unsigned long long)got);
    }
}

/* ---- calls ---- */

Test(reference, calls) {
    int f = device_function("divmod", (const kn_dtype[]){ KN_INT32, KN_INT32 }, 2), p = device_function("power", (const kn_dtype[]){ KN_INT64, KN_INT64 }, 2);
    if (f < 0 || p < 0) return;
    for (int lanes = 0; lanes < 2; lanes++) {
        int32_t q[400], r[400];
        int64_t w[400];
        kernel *k = cpu((kparam[]){ out(T_I32), out(T_I32), out(T_I64) }, 3, lanes ? 8 : 0);
        kval l = loop(k, lanes ? LOOP_LANE : LOOP_SERIAL, i32(k, 400)), a = op2(k, KOP_sub, l, i32(k, 200)), b = op2(k, KOP_sub, op2(k, KOP_rem, l, i32(k, 9)), i32(k, 4));
        kval both = kb_call(k, f, (const kval[]){ a, b }, 2), again = kb_call(k, f, (const kval[]){ kb_result(k, both, 1), i32(k, 2) }, 2);
        store(k, 0, l, op2(k, KOP_add, op2(k, KOP_mul, both, i32(k, 1000)), kb_result(k, again, 1)));
        store(k, 1, l, kb_result(k, both, 1));
        begin_if(k, test2(k, KOP_lt, a, i32(k, 100)));
        store(k, 2, l, kb_call(k, p, (const kval[]){ convert(k, T_I64, b), convert(k, T_I64, op2(k, KOP_and, l, i32(k, 15))) }, 2));
        uint64_t args[3] = { ADDRESS(q), ADDRESS(r), ADDRESS(w) };
        run(k, args);
        for (int i = 0; i < 300; i++) {
            int x = i - 200, y = i % 9 - 4, quotient = y ? (int)floor((double)x / y) : 0, rest = y ? x - quotient * y : 0;
            int64_t power = 1;
            for (int e = 0; e < (i & 15); e++) power *= y;
            cr_assert_eq(r[i], rest, "%d mod %d is %d", x, y, r[i]);
            cr_assert_eq(q[i], quotient * 1000 + (rest & 1), "%d by %d: %d", x, y, q[i]);
            cr_assert_eq(w[i], power, "%d to %d: %lld", y, i & 15, (long long)w[i]);
        }
    }
}

/* NaNs may differ in sign and payload. */
static bool same_element(ktype t, const void *a, const void *b, int l) {
    size_t size = ktype_table[t].size;
    if (t == T_F32 && isnan(((const float *)a)[l])) return isnan(((const float *)b)[l]);
    if (t == T_F64 && isnan(((const double *)a)[l])) return isnan(((const double *)b)[l]);
    return !memcmp((const char *)a + (size_t)l * size, (const char *)b + (size_t)l * size, size);
}

/* Every function of the library runs, with lanes and without, to the same results. */
Test(reference, functions_with_lanes_and_without) {
    for (uint32_t number = 0; number < ndevice_functions; number++) {
        const kfunction *f = &device_functions[number];
        bool looks_up = false;                                   /* by an integer: indices that it takes for granted */
        for (uint32_t i = 0; i < f->ncode; i++) looks_up |= f->code[i].op == K_TABLE;
        if (f->nparams > 8 || f->nresults > 4 || (looks_up && ktype_table[f->param_types[0]].is_int)) continue;
        static uint64_t x[8][64], y[2][4][64];
        kparam params[13];
        uint64_t args[13];
        for (int i = 0; i < f->nparams; i++) {
            ktype t = f->param_types[i];
            params[i] = in(t);
            args[i] = ADDRESS(x[i]);
            for (int l = 0; l < 64; l++) {
                double d = (double)(l - 30) * (i ? 0.37 : 0.73);
                float s = (float)d;
                int64_t n = l - 30 + 2 * i;
                if (t == T_BOOL) ((uint8_t *)x[i])[l] = (uint8_t)(l & 1);
                else if (t == T_F64) memcpy((char *)x[i] + 8 * l, &d, 8);
                else if (t == T_F32) memcpy((char *)x[i] + 4 * l, &s, 4);
                else memcpy((char *)x[i] + ktype_table[t].size * (size_t)l, &n, ktype_table[t].size);
            }
        }
        memset(y, 0, sizeof y);
        for (int way = 0; way < 2; way++) {
            for (int i = 0; i < f->nresults; i++) { params[f->nparams + i] = out(f->result_types[i]); args[f->nparams + i] = ADDRESS(y[way][i]); }
            kernel *k = cpu(params, (uint32_t)(f->nparams + f->nresults), way ? 8 : 0);
            kval l = loop(k, way ? LOOP_LANE : LOOP_SERIAL, i64(k, 61)), v[8];
            for (int i = 0; i < f->nparams; i++) v[i] = load(k, (kval)i, l);
            kval c = kb_call(k, (int)number, v, f->nparams);
            for (int i = 0; i < f->nresults; i++) store(k, (kval)(f->nparams + i), l, kb_result(k, c, i));
            run(k, args);
        }
        for (int i = 0; i < f->nresults; i++)
            for (int l = 0; l < 61; l++) cr_expect(same_element(f->result_types[i], y[0][i], y[1][i], l), "%s, result %d, lane %d", f->symbol, i, l);
        free_memory();
    }
}

/* ---- threads, and memory that fails ---- */

typedef struct shared_run { reference_code *code; const kernel *k; const float *x; int bad; pthread_t thread; } shared_run;

static void *run_often(void *p) {
    shared_run *s = p;
    float y[500];
    for (int i = 0; i < 50; i++) {
        uint64_t args[3] = { ADDRESS(s->x), ADDRESS(y), 500 }, fault = FAULT_NONE;
        memset(y, 0, sizeof y);
        kn_status status = i & 1 ? reference_run(s->k, args, 0, 1, &fault, NULL) : reference_execute(s->code, args, 0, 1, &fault, NULL);
        s->bad += status != KN_OK;
        for (int j = 0; j < 500; j++) s->bad += y[j] != (s->x[j] > 100 ? s->x[j] * 2 : 1);
    }
    return NULL;
}

static kernel *branching(void) {
    kernel *k = cpu((kparam[]){ in(T_F32), out(T_F32), scalar_of(T_I64) }, 3, 8);
    kval l = loop(k, LOOP_LANE, 2), v = load(k, 0, l), r = variable(k, 0, f32(k, 1)), c = begin_if(k, test2(k, KOP_gt, v, f32(k, 100)));
    set(k, r, op2(k, KOP_mul, v, f32(k, 2)));
    kb_end(k, c);
    store(k, 1, l, get(k, r));
    kb_end(k, l);
    return k;
}

Test(reference, several_threads) {
    float x[500];
    for (int i = 0; i < 500; i++) x[i] = (float)i;
    kernel *k = branching();
    shared_run s[4];
    reference_code *code;
    cr_assert_eq(reference_prepare(k, &code, NULL), KN_OK);
    for (int i = 0; i < 4; i++) {
        s[i] = (shared_run){ .code = code, .k = k, .x = x };
        cr_assert_eq(pthread_create(&s[i].thread, NULL, run_often, &s[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(s[i].thread, NULL);
        cr_expect_eq(s[i].bad, 0);
    }
    reference_free(code);
}

Test(reference, failing_allocations) {
    float x[500], y[500];
    for (int i = 0; i < 500; i++) x[i] = (float)i;
    kernel *k = branching();
    uint64_t args[3] = { ADDRESS(x), ADDRESS(y), 500 }, fault = FAULT_NONE;
    int failures = 0;
    for (int n = 1; n < 20; n++) {
        message m = { 0 };
        mem_fail_after(n, true);
        kn_status status = reference_run(k, args, 0, 1, &fault, &m);
        mem_fail_after(-1, false);
        failures += status != KN_OK;
        if (status) cr_expect_eq(status, KN_MEMORY_ERROR, "%s", m.text);
    }
    cr_expect(failures > 1 && failures < 19, "%d", failures);
    cr_expect_eq(reference_run(k, args, 0, 1, &fault, NULL), KN_OK);
}

Test(reference, too_much_memory_is_an_error) {
    kernel *k = gpu((kparam[]){ out(T_F64) }, 1, 1024, 1, 1);
    kval block, thread = open_blocks(k, i32(k, 1), &block), large = local(k, T_F64, 1 << 20);
    store(k, large, i32(k, 0), kb_const_float(k, T_F64, 1));
    store(k, 0, thread, load(k, large, i32(k, 0)));
    kb_end(k, thread);
    kb_end(k, block);
    double y[1024];
    uint64_t args[1] = { ADDRESS(y) }, fault = FAULT_NONE;
    message m = { 0 };
    cr_expect_eq(reference_run(k, args, 0, 1, &fault, &m), KN_MEMORY_ERROR, "%s", m.text);
}
