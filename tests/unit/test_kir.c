/* Kernel IR: what the builder folds and shares, what the dump and the canonical bytes say, and every rule of the verifier
 * with a kernel that breaks it. */
#include <criterion/criterion.h>

#include <math.h>
#include <string.h>
#include "ir/kir/kir.h"

static arena mem;
static void free_memory(void) { arena_free(&mem); }

TestSuite(kir_build, .fini = free_memory);
TestSuite(kir_text, .fini = free_memory);
TestSuite(kir_verify, .fini = free_memory);
TestSuite(kir_varying, .fini = free_memory);

/* ---- short names ---- */

static kval i32(kernel *k, int64_t v) { return kb_const_int(k, T_I32, v); }
static kval i64(kernel *k, int64_t v) { return kb_const_int(k, T_I64, v); }
static kval op2(kernel *k, kop op, kval a, kval b) { return kb_op(k, op, kb_type(k, a), a, b, 0); }
static kval test2(kernel *k, kop op, kval a, kval b) { return kb_op(k, op, T_BOOL, a, b, 0); }
static kval loop(kernel *k, int kind, kval end) {
    ktype t = kb_type(k, end);
    kval zero = kb_const_int(k, t, 0), one = kb_const_int(k, t, 1);
    return kb_for(k, kind, t, zero, end, one);
}
static kval load(kernel *k, kval array, kval index) { return kb_inst(k, K_LOAD, ktype_value(kb_type(k, array)), 0, array, index, 0); }
static void store(kernel *k, kval array, kval index, kval v) { kb_inst(k, K_STORE, T_VOID, 0, array, index, v); }
static kval variable(kernel *k, uint8_t flags, kval first) { return kb_inst(k, K_VAR, kb_type(k, first), flags, first, 0, 0); }
static kval get(kernel *k, kval var) { return kb_inst(k, K_GET, kb_type(k, var), 0, var, 0, 0); }
static void set(kernel *k, kval var, kval v) { kb_inst(k, K_SET, T_VOID, 0, var, v, 0); }
static kval begin_if(kernel *k, kval c) { return kb_inst(k, K_IF, T_VOID, 0, c, 0, 0); }

/* Parameters of every kernel here: arrays x, y (read), out (read and written), words (u64), scalars f, n (i64), i (i32), b. */
enum { X, Y, OUT, WORDS, F, N, I, B, NPARAMS };

static kernel *new_kernel(void) {
    static const kparam params[NPARAMS] = {
        [X] = { .name = "x", .type = T_F32, .array = true, .read = true }, [Y] = { .name = "y", .type = T_F16, .array = true, .read = true },
        [OUT] = { .name = "out", .type = T_F32, .array = true, .read = true, .written = true },
        [WORDS] = { .name = "words", .type = T_U64, .array = true, .read = true, .written = true },
        [F] = { .name = "f", .type = T_F32 }, [N] = { .name = "n", .type = T_I64 }, [I] = { .name = "i", .type = T_I32 }, [B] = { .name = "b", .type = T_BOOL } };
    return kernel_new(&mem, "test", params, NPARAMS);
}

/* All arrays used, so that only the rule in question is broken. */
static void use_arrays(kernel *k, kval index) {
    kval x = load(k, X, index), y = load(k, Y, index);
    store(k, OUT, index, kb_op(k, KOP_add, T_F32, x, y, 0));
    kb_inst(k, K_STORE, T_VOID, 0, WORDS, index, kb_const_int(k, T_U64, 1));
}

static kernel *cpu_kernel(kval *lane) {
    kernel *k = new_kernel();
    k->lanes = 8;
    loop(k, LOOP_GRID, N);
    *lane = loop(k, LOOP_LANE, N);
    use_arrays(k, *lane);
    return k;
}

static kernel *gpu_kernel(kval *thread) {
    kernel *k = new_kernel();
    k->block[0] = 64;
    k->block[1] = k->block[2] = 1;
    k->warp = 32;
    loop(k, LOOP_GRID, I);
    *thread = loop(k, LOOP_BLOCK, i32(k, 64));
    use_arrays(k, *thread);
    return k;
}

/* Closes what is open. */
static kernel *closed(kernel *k) {
    uint32_t open[128];
    int n = 0;
    for (uint32_t i = 0; i < k->ncode; i++) {
        uint16_t op = k->code[i].op;
        if (op == K_FOR || op == K_IF || op == K_LOOP) open[n++] = i;
        if (op == K_END) n--;
    }
    while (n) kb_end(k, open[--n]);
    return k;
}

static void expect_valid(kernel *k) {
    message m = { 0 };
    cr_expect_eq(kernel_verify(closed(k), &m), KN_OK, "%s", m.text);
}

static void expect_refused(kernel *k, const char *sentence) {
    message m = { 0 };
    cr_expect_neq(kernel_verify(k, &m), KN_OK, "passed, but should be refused: %s", sentence);
    cr_expect(strstr(m.text, sentence) != NULL, "\"%s\" does not hold \"%s\"", m.text, sentence);
}

/* ---- builder ---- */

Test(kir_build, integers_are_computed) {
    kernel *k = new_kernel();
    static const struct { kop op; ktype t; int64_t a, b, is; } rows[] = {
        { KOP_add, T_I8, 100, 100, -56 }, { KOP_add, T_U8, 200, 100, 44 }, { KOP_sub, T_U32, 1, 2, 4294967295 }, { KOP_mul, T_I32, 1 << 20, 1 << 12, 0 },
        { KOP_div, T_I32, -7, 2, -3 }, { KOP_rem, T_I32, -7, 2, -1 }, { KOP_div, T_U64, -2, 2, INT64_MAX }, { KOP_shl, T_I16, 1, 15, -32768 },
        { KOP_shr, T_I32, -8, 1, -4 }, { KOP_shr, T_U32, 4294967288, 1, 2147483644 }, { KOP_and, T_I64, 12, 10, 8 }, { KOP_or, T_I64, 12, 10, 14 },
        { KOP_xor, T_U16, 65535, 1, 65534 }, { KOP_lt, T_I32, -1, 1, 1 }, { KOP_lt, T_U64, -1, 1, 0 }, { KOP_ge, T_I8, 3, 3, 1 }, { KOP_ne, T_BOOL, 1, 1, 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kval a = kb_const_int(k, rows[i].t, rows[i].a), b = kb_const_int(k, rows[i].t, rows[i].b);
        int64_t v = 0;
        bool known = kb_constant(k, kb_op(k, rows[i].op, rows[i].op >= KOP_eq ? T_BOOL : rows[i].t, a, b, 0), &v);
        cr_expect(known && v == rows[i].is, "row %zu: %s gave %lld (%d)", i, kinst_name(rows[i].op), (long long)v, known);
    }
    kval zero = kb_const_int(k, T_I32, 0), seven = kb_const_int(k, T_I32, 7);
    int64_t ignored;
    cr_expect_not(kb_constant(k, op2(k, KOP_div, seven, zero), &ignored), "7 / 0 is not computed");
    kval lowest = kb_const_int(k, T_I64, INT64_MIN), minus = kb_const_int(k, T_I64, -1);
    cr_expect_not(kb_constant(k, op2(k, KOP_div, lowest, minus), &ignored), "the lowest value by -1 is not computed");
    cr_expect_not(kb_constant(k, op2(k, KOP_shl, seven, i32(k, 32)), &ignored), "a shift by the width is not computed");
}

Test(kir_build, neutral_operands_vanish) {
    kernel *k = new_kernel();
    kval yes = kb_const_int(k, T_BOOL, 1), no = kb_const_int(k, T_BOOL, 0);
    cr_expect_eq(op2(k, KOP_add, N, i64(k, 0)), N);
    cr_expect_eq(op2(k, KOP_add, i64(k, 0), N), N);
    cr_expect_eq(op2(k, KOP_sub, N, i64(k, 0)), N);
    cr_expect_eq(op2(k, KOP_mul, N, i64(k, 1)), N);
    cr_expect_eq(op2(k, KOP_mul, N, i64(k, 0)), i64(k, 0));
    cr_expect_eq(op2(k, KOP_div, I, i32(k, 1)), I);
    cr_expect_eq(op2(k, KOP_rem, I, i32(k, 1)), i32(k, 0));
    cr_expect_eq(op2(k, KOP_sub, I, I), i32(k, 0));
    cr_expect_eq(op2(k, KOP_and, B, yes), B);
    cr_expect_eq(op2(k, KOP_and, no, B), no);
    cr_expect_eq(op2(k, KOP_or, B, no), B);
    cr_expect_eq(test2(k, KOP_eq, N, N), yes);
    cr_expect_eq(kb_op(k, KOP_select, T_I64, yes, N, i64(k, 3)), N);
    cr_expect_eq(kb_op(k, KOP_select, T_I64, B, N, N), N);
    cr_expect_eq(kb_op(k, KOP_convert, T_I64, N, 0, 0), N);
    kval minus = kb_op(k, KOP_neg, T_I32, I, 0, 0);
    cr_expect_eq(kb_op(k, KOP_neg, T_I32, minus, 0, 0), I);
    kval shifted = op2(k, KOP_shl, i32(k, 0), I);
    cr_expect_eq(shifted, i32(k, 0));
    cr_expect_neq(op2(k, KOP_sub, i32(k, 0), I), I, "0 - x is not x");
}

Test(kir_build, floats_keep_their_bits) {
    kernel *k = new_kernel();
    kval zero = kb_const_float(k, T_F32, 0), minus_zero = kb_const_float(k, T_F32, -0.0), one = kb_const_float(k, T_F32, 1);
    cr_expect_neq(zero, minus_zero);
    cr_expect_neq(op2(k, KOP_add, F, zero), F, "x + 0 changes -0");
    cr_expect_eq(op2(k, KOP_add, F, minus_zero), F);
    cr_expect_eq(op2(k, KOP_sub, F, zero), F);
    cr_expect_neq(op2(k, KOP_sub, F, minus_zero), F, "x - (-0) changes -0");
    cr_expect_eq(op2(k, KOP_mul, one, F), F);
    cr_expect_eq(op2(k, KOP_div, F, one), F);
    cr_expect_neq(op2(k, KOP_mul, F, zero), zero, "x * 0 may be NaN");
    cr_expect_neq(op2(k, KOP_sub, F, F), zero, "x - x may be NaN");
    int64_t ignored;
    cr_expect_not(kb_constant(k, test2(k, KOP_eq, F, F), &ignored), "x == x is false for NaN");
    kval third = kb_op(k, KOP_convert, T_F32, kb_const_int(k, T_I64, 16777217), 0, 0);
    cr_expect_eq(third, kb_const_float(k, T_F32, 16777216), "an integer is rounded once");
    cr_expect_eq(kb_op(k, KOP_convert, T_F64, kb_const_int(k, T_U64, -1), 0, 0), kb_const_float(k, T_F64, 0x1p64));
}

Test(kir_build, equal_values_are_one_where_they_dominate) {
    kernel *k = new_kernel();
    kval outside = op2(k, KOP_add, N, N);
    kval c = begin_if(k, B);
    cr_expect_eq(op2(k, KOP_add, N, N), outside, "a value made outside is known inside");
    kval inside = op2(k, KOP_mul, N, N);
    cr_expect_eq(op2(k, KOP_mul, N, N), inside);
    kb_else(k, c);
    kval other = op2(k, KOP_mul, N, N);
    cr_expect_neq(other, inside, "a value made in one arm is not known in the other");
    kb_end(k, c);
    kval after = op2(k, KOP_mul, N, N);
    cr_expect(after != other && after != inside, "a value made in a closed region is not known after it");
    kval l = loop(k, LOOP_SERIAL, N);
    kval of_loop = op2(k, KOP_add, l, N);
    cr_expect_eq(op2(k, KOP_add, N, l), of_loop, "sums commute");
    kb_end(k, l);
    cr_expect_eq(op2(k, KOP_add, N, N), outside);
    kval l2 = loop(k, LOOP_SERIAL, N);
    cr_expect_neq(op2(k, KOP_add, l2, N), of_loop);
    kb_end(k, l2);
    cr_expect_neq(op2(k, KOP_sub, N, outside), op2(k, KOP_sub, outside, N), "differences do not commute");
}

Test(kir_build, only_loads_that_nobody_changes_are_one) {
    kernel *k = new_kernel();
    kval a = kb_inst(k, K_LOAD, T_F32, LOAD_READONLY, X, N, 0), b = kb_inst(k, K_LOAD, T_F32, LOAD_READONLY, X, N, 0);
    cr_expect_eq(a, b);
    cr_expect_neq(load(k, OUT, N), load(k, OUT, N));
    kval v = variable(k, 0, N);
    kval before = get(k, v);
    set(k, v, i64(k, 1));
    cr_expect_neq(get(k, v), before);
}

Test(kir_build, many_instructions) {
    kernel *k = new_kernel();
    kval first = op2(k, KOP_add, N, i64(k, 1)), v = first;
    for (int i = 0; i < 5000; i++) {
        v = kb_op(k, KOP_xor, T_I64, kb_op(k, KOP_mul, T_I64, v, i64(k, 3 + i), 0), N, 0);
        if (i % 1000 == 0) kb_name(k, v, "mark");
    }
    cr_assert(kernel_ok(k));
    cr_expect_eq(op2(k, KOP_add, N, i64(k, 1)), first, "found again, however far back");
    kval c = begin_if(k, B);
    kb_comment(k, "a comment");
    kb_end(k, c);
    cr_expect_str_eq(k->texts[0], "a comment");
}

Test(kir_build, calls_are_pure) {
    int f = device_function("divmod", (const kn_dtype[]){ KN_INT32, KN_INT32 }, 2);
    if (f < 0) return;
    kernel *k = new_kernel();
    kval args[2] = { I, i32(k, 3) }, other[2] = { i32(k, 3), I };
    kval a = kb_call(k, f, args, 2), b = kb_call(k, f, args, 2), c = kb_call(k, f, other, 2);
    cr_expect_eq(a, b);
    cr_expect_neq(a, c);
    cr_expect_eq(kb_result(k, a, 0), a);
    cr_expect_eq(kb_result(k, a, 1), kb_result(k, b, 1));
    cr_expect_neq(kb_result(k, a, 1), kb_result(k, c, 1));
}

/* ---- text and bytes ---- */

static char *dumped(const kernel *k) {
    text t = { 0 };
    kernel_dump(k, &t);
    char *s = arena_copy(&mem, t.at, t.len + 1);
    text_free(&t);
    return s;
}

static bool same_bytes(const kernel *a, const kernel *b) {
    text s = { 0 }, t = { 0 };
    kernel_bytes(a, &s);
    kernel_bytes(b, &t);
    bool same = s.len == t.len && !memcmp(s.at, t.at, s.len);
    text_free(&s);
    text_free(&t);
    return same;
}

Test(kir_text, dump_reads_like_a_program) {
    kval lane;
    kernel *k = cpu_kernel(&lane);
    kval c = begin_if(k, test2(k, KOP_lt, lane, i64(k, 5)));
    kb_name(k, load(k, X, lane), "first");
    kb_else(k, c);
    kb_end(k, c);
    const char *s = dumped(closed(k));
    static const char *const parts[] = { "kernel test(%0 f32[] read x, %1 f16[] read y, %2 f32[] read written out", "lanes 8", "for.i64 grid.x %8 to %5 step %9",
                                         "    %11 = for.i64 lane", "load.f32 %0[%11]", "store %2[%11] = %14", "      if %", "      else", "   ; first", "const.i64 5" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) cr_expect(strstr(s, parts[i]), "\"%s\" is not in\n%s", parts[i], s);
}

/* The dump and the bytes must survive anything, as they are how a broken kernel is looked at. */
Test(kir_text, dump_of_a_broken_kernel) {
    kernel *k = new_kernel();
    for (uint16_t op = 0; op < NKINSTS + 2; op++) {
        kinst x = { .op = op, .type = T_I32, .flags = 0xff, .a = 999999, .b = 999999, .c = 3 };
        k->code[k->ncode++] = x;
    }
    cr_expect(strlen(dumped(k)) > 500);
    kernel spoiled = { .code = NULL };
    cr_expect(strstr(dumped(&spoiled), "no memory"));
}

static kernel *with_comments(bool comments, const char *name, int64_t number) {
    kval thread;
    kernel *k = gpu_kernel(&thread);
    if (comments) kb_comment(k, "here");
    strcpy(k->name, name);
    kval v = kb_cas(k, WORDS, thread, kb_const_int(k, T_U64, number), kb_const_int(k, T_U64, 9));
    if (comments) kb_comment(k, "and there");
    if (comments) kb_name(k, v, "old");
    kb_inst(k, K_STORE, T_VOID, 0, WORDS, thread, v);
    return closed(k);
}

Test(kir_text, bytes_leave_out_names_and_comments) {
    cr_expect(same_bytes(with_comments(false, "a", 1), with_comments(true, "b", 1)));
    cr_expect_not(same_bytes(with_comments(false, "a", 1), with_comments(false, "a", 2)));
    kernel *a = with_comments(false, "a", 1), *b = with_comments(false, "a", 1);
    b->params[X].aliased = true;
    cr_expect_not(same_bytes(a, b));
    b->params[X].aliased = false;
    cr_expect(same_bytes(a, b));
    b->warp = 64;
    cr_expect_not(same_bytes(a, b));
}

Test(kir_text, bytes_name_the_functions_called) {
    int f = device_function("divmod", (const kn_dtype[]){ KN_INT32, KN_INT32 }, 2), g = device_function("remainder", (const kn_dtype[]){ KN_INT32, KN_INT32 }, 2);
    if (f < 0 || g < 0) return;
    kernel *k[2];
    for (int i = 0; i < 2; i++) {
        kval thread;
        k[i] = gpu_kernel(&thread);
        kb_call(k[i], i ? g : f, (const kval[]){ I, thread }, 2);
        closed(k[i]);
    }
    cr_expect_not(same_bytes(k[0], k[1]));
    text t = { 0 };
    kernel_bytes(k[0], &t);
    const char *symbol = device_functions[f].symbol;
    cr_expect(memmem(t.at, t.len, symbol, strlen(symbol)));
    cr_expect(memmem(t.at, t.len, &device_digest, sizeof device_digest));
    text_free(&t);
}

/* ---- varying ---- */

Test(kir_varying, what_lanes_share) {
    kval lane;
    kernel *k = cpu_kernel(&lane);
    kval same = load(k, X, N), own = load(k, X, lane), shared_sum = kb_op(k, KOP_add, T_F32, same, F, 0), sum = kb_op(k, KOP_add, T_F32, same, own, 0);
    kval calm = variable(k, 0, N), late = variable(k, 0, N), mixed = variable(k, 0, N);
    kval l = kb_inst(k, K_LOOP, T_VOID, 0, 0, 0, 0), early = get(k, late);
    kb_inst(k, K_BREAK_UNLESS, T_VOID, 0, test2(k, KOP_lt, get(k, calm), N), 0, 0);
    set(k, calm, op2(k, KOP_add, get(k, calm), i64(k, 1)));
    set(k, late, lane);
    kb_end(k, l);
    kval c = begin_if(k, test2(k, KOP_gt, own, F));
    set(k, mixed, i64(k, 3));
    kval in_branch = variable(k, 0, N);
    set(k, in_branch, i64(k, 4));
    kb_end(k, c);
    kval after = get(k, mixed);
    closed(k);
    uint8_t *varies = arena_zero(&mem, k->ncode, 1), *depth = arena_zero(&mem, k->ncode, 1);
    uint32_t *scratch = arena_zero(&mem, k->ncode, sizeof *scratch);
    kir_varying(k->code, k->ncode, k->extra, varies, depth, scratch);
    cr_expect(!varies[same] && varies[own] && !varies[shared_sum] && varies[sum]);
    cr_expect(!varies[calm], "set only to what lanes share, by all of them");
    cr_expect(varies[late] && varies[early], "set to a lane's own value later in the loop");
    cr_expect(varies[mixed] && varies[after], "set by some lanes");
    cr_expect_not(varies[in_branch], "declared and set by the same lanes");
    cr_expect(!scratch[l] && scratch[c] && depth[in_branch] == 1 && depth[after] == 0);
}

/* ---- the verifier ---- */

Test(kir_verify, valid_kernels) {
    kval at;
    expect_valid(cpu_kernel(&at));
    expect_valid(gpu_kernel(&at));
    kernel *k = cpu_kernel(&at);
    kval v = variable(k, 0, F);
    set(k, v, load(k, X, at));
    kval l = kb_for(k, LOOP_SERIAL, T_I64, at, N, i64(k, 2)), c = begin_if(k, B);
    set(k, v, kb_op(k, KOP_add, T_F32, get(k, v), kb_op(k, KOP_convert, T_F32, l, 0, 0), 0));
    kb_else(k, c);
    kb_end(k, c);
    kb_end(k, l);
    kb_inst(k, K_SHUFFLE, T_F32, SHUFFLE_XOR, get(k, v), i32(k, 1), 8);
    expect_valid(k);
    k = gpu_kernel(&at);
    kval shared = kb_inst(k, K_SHARED, T_F32, 0, 64, 0, 0);
    store(k, shared, at, F);
    kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    kb_inst(k, K_ATOMIC, T_F32, ATOMIC_ADD, shared, at, load(k, shared, i32(k, 0)));
    c = begin_if(k, test2(k, KOP_gt, load(k, shared, i32(k, 1)), F));
    kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);         /* all threads read the same word */
    kb_end(k, c);
    kb_inst(k, K_BALLOT, T_U64, 0, B, 0, 0);
    kb_inst(k, K_VLOAD, T_VOID, 4 | LOAD_STREAM, X, at, kb_inst(k, K_LOCAL, T_F32, 0, 4, 0, 0));
    kb_inst(k, K_FAULT, T_VOID, 0, B, kb_op(k, KOP_convert, T_I64, at, 0, 0), 7);
    expect_valid(k);
}

/* Each breaks one rule in a kernel that is whole otherwise. `at` is a lane or thread. */
typedef void breakage(kernel *k, kval at);
typedef struct broken { const char *sentence; breakage *how; bool gpu; } broken;

#define RULE(name) static void name(kernel *k, kval at)
#define IGNORE (void)at
static void raw(kernel *k, kstructure op, ktype type, uint8_t flags, uint32_t a, uint32_t b, uint32_t c) {
    k->code[k->ncode++] = (kinst){ .op = (uint16_t)op, .type = (uint8_t)type, .flags = flags, .a = a, .b = b, .c = c };
}
static void raw_op(kernel *k, kop op, ktype type, kval a, kval b, kval c) { raw(k, (kstructure)op, type, 0, a, b, c); }

RULE(mixed_types) { raw_op(k, KOP_add, T_I64, at, I, 0); }
RULE(later_value) { raw_op(k, KOP_neg, T_I64, k->ncode + 1, 0, 0); IGNORE; }
RULE(array_as_value) { raw_op(k, KOP_add, T_F32, X, F, 0); IGNORE; }
RULE(store_as_value) { kval s = k->ncode; store(k, OUT, at, F); raw_op(k, KOP_neg, T_F32, s, 0, 0); }
RULE(closed_value) { kval c = begin_if(k, B), v = op2(k, KOP_mul, at, at); kb_end(k, c); raw_op(k, KOP_neg, T_I64, v, 0, 0); }
RULE(closed_index) { kval l = loop(k, LOOP_SERIAL, N); kb_end(k, l); raw_op(k, KOP_neg, T_I64, l, 0, 0); IGNORE; }
RULE(float_bits) { raw_op(k, KOP_and, T_F32, F, F, 0); IGNORE; }
RULE(sqrt_of_integer) { raw_op(k, KOP_sqrt, T_I64, at, 0, 0); }
RULE(bool_sum) { raw_op(k, KOP_add, T_BOOL, B, B, 0); IGNORE; }
RULE(compare_gives_bool) { raw_op(k, KOP_lt, T_I64, at, at, 0); }
RULE(select_condition) { raw_op(k, KOP_select, T_I64, at, at, at); }
RULE(bitcast_width) { raw_op(k, KOP_bitcast, T_I64, F, 0, 0); IGNORE; }
RULE(half_value) { raw_op(k, KOP_convert, T_F16, F, 0, 0); IGNORE; }
RULE(round_gives_f32) { kval d = kb_const_float(k, T_F64, 1); raw_op(k, KOP_round_f16, T_F64, d, 0, 0); IGNORE; }
RULE(primitive_flags) { raw(k, (kstructure)KOP_neg, T_I64, 1, at, 0, 0); }
RULE(unclean_constant) { raw(k, K_CONST, T_I8, 0, 0, 200, 0); IGNORE; }
RULE(unclean_bool) { raw(k, K_CONST, T_BOOL, 0, 0, 2, 0); IGNORE; }
RULE(late_param) { raw(k, K_PARAM, T_F32, 0, 0, 0, 0); IGNORE; }
RULE(unknown_op) { raw(k, NKINSTS, T_VOID, 0, 0, 0, 0); IGNORE; }
RULE(var_type) { raw(k, K_VAR, T_F64, 0, F, 0, 0); IGNORE; }
RULE(set_type) { kval v = variable(k, 0, at); raw(k, K_SET, T_VOID, 0, v, F, 0); }
RULE(get_no_var) { raw(k, K_GET, T_F32, 0, F, 0, 0); IGNORE; }
RULE(get_closed_var) { kval c = begin_if(k, B), v = variable(k, 0, at); kb_end(k, c); raw(k, K_GET, T_I64, 0, v, 0, 0); }
RULE(lanes_inside) { raw(k, K_VAR, T_F32, VAR_LANES, F, 0, 0); IGNORE; }
RULE(first_lane_inside) { raw(k, K_FIRST_LANE, T_F32, 0, variable(k, 0, F), 0, 0); IGNORE; }
RULE(load_type) { raw(k, K_LOAD, T_F64, 0, X, at, 0); }
RULE(load_half) { raw(k, K_LOAD, T_F16, 0, Y, at, 0); }
RULE(load_index) { raw(k, K_LOAD, T_F32, 0, X, F, 0); IGNORE; }
RULE(load_scalar) { raw(k, K_LOAD, T_F32, 0, F, at, 0); }
RULE(load_mask) { raw(k, K_LOAD, T_F32, 0, X, at, F + 1); }
RULE(load_flags) { raw(k, K_LOAD, T_F32, LOAD_PAIR0 | LOAD_PAIR1, X, at, 0); }
RULE(load_orders) { raw(k, K_LOAD, T_U64, LOAD_ACQUIRE | LOAD_RELAXED, WORDS, at, 0); }
RULE(load_half_acquire) { raw(k, K_LOAD, T_F32, LOAD_ACQUIRE, Y, at, 0); }
RULE(load_readonly_written) { raw(k, K_LOAD, T_F32, LOAD_READONLY, OUT, at, 0); }
RULE(store_unwritten) { raw(k, K_STORE, T_VOID, 0, X, at, F); }
RULE(store_type) { raw(k, K_STORE, T_VOID, 0, OUT, at, at); }
RULE(store_order) { kval l = kb_inst(k, K_LOCAL, T_F32, 0, 4, 0, 0); raw(k, K_STORE, T_VOID, STORE_RELEASE, l, at, F); }
RULE(closed_local) { kval c = begin_if(k, B), l = kb_inst(k, K_LOCAL, T_F32, 0, 4, 0, 0); kb_end(k, c); raw(k, K_STORE, T_VOID, 0, l, at, F); }
RULE(empty_local) { raw(k, K_LOCAL, T_F32, 0, 0, 0, 0); IGNORE; }
RULE(huge_local) { raw(k, K_LOCAL, T_F32, 0, 1u << 30, 0, 0); IGNORE; }
RULE(no_table) { raw(k, K_TABLE, T_F32, 0, 1u << 20, 0, 0); IGNORE; }
RULE(vector_size) { kval l = kb_inst(k, K_LOCAL, T_F32, 0, 16, 0, 0); raw(k, K_VLOAD, T_VOID, 6, X, at, l); }
RULE(vector_room) { kval l = kb_inst(k, K_LOCAL, T_F32, 0, 2, 0, 0); raw(k, K_VLOAD, T_VOID, 4, X, at, l); }
RULE(vector_type) { kval l = kb_inst(k, K_LOCAL, T_F64, 0, 4, 0, 0); raw(k, K_VLOAD, T_VOID, 4, X, at, l); }
RULE(vector_place) { raw(k, K_VLOAD, T_VOID, 4, X, at, X); }
RULE(atomic_half) { kval l = kb_inst(k, K_LOCAL, T_F32, 0, 4, 0, 0); raw(k, K_ATOMIC, T_F32, ATOMIC_ADD, l, at, F); }
RULE(atomic_operand) { raw(k, K_ATOMIC, T_U64, ATOMIC_ADD, WORDS, at, at); }
RULE(atomic_float_bits) { raw(k, K_ATOMIC, T_F32, ATOMIC_AND, OUT, at, F); }
RULE(atomic_unknown) { raw(k, K_ATOMIC, T_F32, 9, OUT, at, F); }
RULE(cas_operands) { raw(k, K_CAS, T_U64, 0, WORDS, at, k->nextra); }
RULE(shuffle_type) { raw(k, K_SHUFFLE, T_F64, SHUFFLE_XOR, F, i32(k, 1), 8); IGNORE; }
RULE(shuffle_distance) { raw(k, K_SHUFFLE, T_F32, SHUFFLE_XOR, F, N, 8); IGNORE; }
RULE(shuffle_width) { raw(k, K_SHUFFLE, T_F32, SHUFFLE_XOR, F, i32(k, 1), 6); IGNORE; }
RULE(shuffle_wide) { raw(k, K_SHUFFLE, T_F32, SHUFFLE_XOR, F, i32(k, 1), 64); IGNORE; }
RULE(ballot_cpu) { raw(k, K_BALLOT, T_U64, 0, B, 0, 0); IGNORE; }
RULE(call_unknown) { raw(k, K_CALL, T_F32, 0, 1u << 20, 0, 0); IGNORE; }
RULE(result_of_nothing) { raw(k, K_RESULT, T_F32, 0, F, 1, 0); IGNORE; }
RULE(return_in_kernel) { raw(k, K_RETURN, T_VOID, 0, 0, 0, 0); IGNORE; }
RULE(fault_position) { k->faults = true; raw(k, K_FAULT, T_VOID, 0, B, I, 1); IGNORE; }
RULE(fault_code) { k->faults = true; raw(k, K_FAULT, T_VOID, 0, B, N, 1 << 16); IGNORE; }
RULE(fault_unsaid) { raw(k, K_FAULT, T_VOID, 0, B, N, 1); k->faults = false; IGNORE; }
RULE(comment_unknown) { raw(k, K_COMMENT, T_VOID, 0, 99, 0, 0); IGNORE; }
RULE(if_integer) { raw(k, K_IF, T_VOID, 0, at, 0, 0); }
RULE(for_step) { kb_for(k, LOOP_SERIAL, T_I64, i64(k, 0), N, N); IGNORE; }
RULE(for_no_step) { kb_for(k, LOOP_SERIAL, T_I64, i64(k, 0), N, i64(k, 0)); IGNORE; }
RULE(for_types) { kb_for(k, LOOP_SERIAL, T_I64, i64(k, 0), I, i64(k, 1)); IGNORE; }
RULE(for_float) { raw(k, K_FOR, T_F32, LOOP_SERIAL, F, F, F); IGNORE; }
RULE(for_kind) { kb_for(k, 9, T_I64, i64(k, 0), N, i64(k, 1)); IGNORE; }
RULE(for_axis) { kb_for(k, LOOP_SERIAL | 1 << 4, T_I64, i64(k, 0), N, i64(k, 1)); IGNORE; }
RULE(unroll_bounds) { loop(k, LOOP_UNROLL, N); IGNORE; }
RULE(lane_in_lane) { loop(k, LOOP_LANE, N); IGNORE; }
RULE(lane_begin) { closed(k); k->ncode -= 1; kb_for(k, LOOP_LANE, T_I64, i64(k, 1), N, i64(k, 1)); IGNORE; }
RULE(grid_in_lane) { loop(k, LOOP_GRID, N); IGNORE; }
RULE(lane_on_gpu) { loop(k, LOOP_LANE, N); IGNORE; }
RULE(break_outside) { raw(k, K_BREAK_UNLESS, T_VOID, 0, B, 0, 0); IGNORE; }
RULE(break_in_if) { kb_inst(k, K_LOOP, T_VOID, 0, 0, 0, 0); begin_if(k, B); raw(k, K_BREAK_UNLESS, T_VOID, 0, B, 0, 0); IGNORE; }
RULE(endless) { kb_inst(k, K_LOOP, T_VOID, 0, 0, 0, 0); IGNORE; }
RULE(else_of_loop) { kval l = loop(k, LOOP_SERIAL, N); kb_else(k, l); IGNORE; }
RULE(two_elses) { kval c = begin_if(k, B); kb_else(k, c); kb_else(k, c); IGNORE; }
RULE(wrong_end) { begin_if(k, B); raw(k, K_END, T_VOID, 0, X, 0, 0); IGNORE; }
RULE(shared_on_cpu) { raw(k, K_SHARED, T_F32, 0, 4, 0, 0); IGNORE; }
RULE(barrier_on_cpu) { raw(k, K_BARRIER, T_VOID, 0, 0, 0, 0); IGNORE; }
RULE(barrier_in_branch) { kval c = begin_if(k, test2(k, KOP_lt, at, i32(k, 3))); kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0); kb_end(k, c); }
RULE(barrier_in_loop) { kval l = kb_for(k, LOOP_SERIAL, T_I32, i32(k, 0), at, i32(k, 1)); kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0); kb_end(k, l); }
RULE(block_twice) { loop(k, LOOP_BLOCK, i32(k, 64)); IGNORE; }
RULE(block_in_if) { begin_if(k, B); loop(k, LOOP_BLOCK | 1 << 4, i32(k, 1)); IGNORE; }
RULE(stored_after_grid) { closed(k); raw(k, K_STORE, T_VOID, 0, OUT, N, F); IGNORE; }
RULE(nested_deep) { for (int i = 0; i < 70; i++) begin_if(k, B); IGNORE; }
RULE(void_store) { raw(k, K_STORE, T_F32, 0, OUT, at, F); }

static const broken rules[] = {
    { "an operand is i32, not i64", mixed_types, false }, { "which comes later", later_value, false }, { "a array and no value", array_as_value, false },
    { "a store and no value", store_as_value, false }, { "whose region is closed", closed_value, false }, { "whose region is closed", closed_index, false },
    { "and does not take f32", float_bits, false }, { "sqrt does not take i64", sqrt_of_integer, false }, { "add does not take bool", bool_sum, false },
    { "lt of i64 gives bool, not i64", compare_gives_bool, false }, { "the condition of select is i64", select_condition, false },
    { "bitcast from f32 to i64", bitcast_width, false }, { "f16 is no type of a value", half_value, false }, { "gives f32, not f64", round_gives_f32, false },
    { "has no flags", primitive_flags, false }, { "the constant 0xc8 is no i8", unclean_constant, false }, { "is no bool", unclean_bool, false },
    { "parameters come first", late_param, false }, { "unknown instruction", unknown_op, false }, { "the first value is f32, not f64", var_type, false },
    { "the new value is f32, not i64", set_type, false }, { "is no variable", get_no_var, false }, { "is no variable", get_closed_var, false },
    { "declared outside LANE loops", lanes_inside, false }, { "FIRST_LANE takes", first_lane_inside, false }, { "an array of f32 gives f32, not f64", load_type, false },
    { "an array of f16 gives f32, not f16", load_half, false }, { "an index is i32 or i64, not f32", load_index, false }, { "%4 is no array", load_scalar, false },
    { "the mask is f32", load_mask, false }, { "one part of a pair", load_flags, false }, { "exclude each other", load_orders, false },
    { "4 and 8 bytes", load_half_acquire, false }, { "READONLY, but the array is written", load_readonly_written, false },
    { "not declared as written", store_unwritten, false }, { "the stored value is i64, not f32", store_type, false }, { "ordered stores are for parameters", store_order, false },
    { "an array whose region is closed", closed_local, false }, { "an array of 0 elements", empty_local, false }, { "an array of 1073741824", huge_local, false },
    { "no such table", no_table, false }, { "2, 4, 8 or 16 elements, not 6", vector_size, false }, { "LOCAL array of 2 for a vector of 4", vector_room, false },
    { "a vector of f32 and a LOCAL array of f64", vector_type, false }, { "is no LOCAL array", vector_place, false }, { "an atomic on a LOCAL array", atomic_half, false },
    { "the operand is i64, not u64", atomic_operand, false }, { "bits of a float", atomic_float_bits, false }, { "unknown atomic", atomic_unknown, false },
    { "expected and desired are missing", cas_operands, false }, { "SHUFFLE keeps the type", shuffle_type, false }, { "the distance is i64, not i32", shuffle_distance, false },
    { "a power of two up to 8, not 6", shuffle_width, false }, { "a power of two up to 8, not 64", shuffle_wide, false }, { "on a GPU", ballot_cpu, false },
    { "no device function", call_unknown, false }, { "is no call", result_of_nothing, false }, { "RETURN ends a function", return_in_kernel, false },
    { "the position is i32, not i64", fault_position, false }, { "a fault's code has 16 bits", fault_code, false }, { "said to have none", fault_unsaid, false },
    { "no such text", comment_unknown, false }, { "the condition is i64, not bool", if_integer, false }, { "step is a positive constant", for_step, false },
    { "step is a positive constant", for_no_step, false }, { "a bound or step is i32, not i64", for_types, false }, { "a loop's index is i32 or i64, not f32", for_float, false },
    { "unknown kind of loop", for_kind, false }, { "only GRID and BLOCK have axes", for_axis, false }, { "bounds are constants", unroll_bounds, false },
    { "LANE inside LANE", lane_in_lane, false }, { "begins at 0", lane_begin, false }, { "GRID loops stand at the top", grid_in_lane, false },
    { "LANE in a kernel without lanes", lane_on_gpu, true }, { "directly inside LOOP", break_outside, false }, { "directly inside LOOP", break_in_if, false },
    { "never ends", endless, false }, { "one ELSE, of an IF", else_of_loop, false }, { "one ELSE, of an IF", two_elses, false },
    { "not the innermost open region", wrong_end, false }, { "shared in a kernel without blocks", shared_on_cpu, false },
    { "barrier in a kernel without blocks", barrier_on_cpu, false }, { "not all threads come to the barrier", barrier_in_branch, true },
    { "not all threads come to the barrier", barrier_in_loop, true }, { "one BLOCK loop an axis", block_twice, true }, { "BLOCK loops stand directly inside", block_in_if, true },
    { "store after the GRID loop", stored_after_grid, false }, { "nested deeper", nested_deep, false }, { "store gives no value", void_store, false },
};

Test(kir_verify, every_rule_refuses) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        kval at;
        kernel *k = rules[i].gpu ? gpu_kernel(&at) : cpu_kernel(&at);
        if (rules[i].gpu) at = k->ncode ? at : 0;
        rules[i].how(k, at);
        if (strcmp(rules[i].sentence, "not the innermost open region") && strcmp(rules[i].sentence, "begins at 0")) closed(k);
        expect_refused(k, rules[i].sentence);
    }
}

Test(kir_verify, regions_close) {
    kval at;
    expect_refused(cpu_kernel(&at), "the region is never closed");
}

Test(kir_verify, variables_of_lanes_stay_inside) {
    for (int i = 0; i < 3; i++) {
        kernel *k = new_kernel();
        k->lanes = 8;
        kval grid = loop(k, LOOP_GRID, N), lanes = variable(k, VAR_LANES, F), plain = variable(k, 0, F);
        kval l = loop(k, LOOP_LANE, N);
        use_arrays(k, l);
        if (i == 0) set(k, plain, F);
        kb_end(k, l);
        if (i == 1) get(k, lanes);
        if (i == 2) set(k, lanes, F);
        kb_end(k, grid);
        expect_refused(k, i == 0 ? "has a copy a lane, or is declared inside" : "neither read nor set");
    }
}

Test(kir_verify, work_stands_inside_the_loops) {
    kval at;
    kernel *k = new_kernel();
    variable(k, 0, F);
    loop(k, LOOP_GRID, N);
    use_arrays(k, N);
    expect_refused(closed(k), "var before the GRID loop");
    k = new_kernel();
    k->block[0] = k->block[1] = k->block[2] = 1;
    k->warp = 32;
    loop(k, LOOP_GRID, N);
    use_arrays(k, N);
    expect_refused(closed(k), "store outside BLOCK loops");
    k = gpu_kernel(&at);
    k->block[0] = 32;
    expect_refused(closed(k), "ends at the block's size, the constant 32");
    k = new_kernel();
    kval first = loop(k, LOOP_GRID, N);
    use_arrays(k, N);
    kb_end(k, first);
    loop(k, LOOP_GRID | 1 << 4, N);
    expect_refused(closed(k), "not one after the other");
    k = new_kernel();
    loop(k, LOOP_GRID, N);
    loop(k, LOOP_GRID, N);
    use_arrays(k, N);
    expect_refused(closed(k), "one GRID loop an axis");
    k = new_kernel();
    kb_for(k, LOOP_GRID | LOOP_STRIDE, T_I64, i64(k, 0), N, i64(k, 1));
    use_arrays(k, N);
    expect_refused(closed(k), "grid-stride loops are for kernels with blocks");
}

Test(kir_verify, headers) {
    static const struct { const char *sentence; int what; } rows[] = {
        { "is no name for a kernel", 0 }, { "lanes", 1 }, { "without blocks has no warps", 2 }, { "threads", 3 }, { "warps of 16 lanes", 4 },
        { "neither read nor written", 5 }, { "f16 is no type of a value", 6 }, { "only arrays are read", 7 }, { "is no name", 8 },
        { "an array that is not used", 9 }, { "an ordered kernel has a GRID loop", 10 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kval at;
        kernel *k = rows[i].what == 3 || rows[i].what == 4 ? gpu_kernel(&at) : cpu_kernel(&at);
        closed(k);
        switch (rows[i].what) {
        case 0: strcpy(k->name, "a b"); break;
        case 1: k->lanes = 5000; break;
        case 2: k->warp = 32; break;
        case 3: k->block[1] = 100; break;
        case 4: k->warp = 16; break;
        case 5: k->params[X].read = false; break;
        case 6: k->params[F].type = T_F16; break;
        case 7: k->params[F].written = true; break;
        case 8: k->params[F].name = "1st"; break;
        case 9: for (uint32_t j = 0; j < k->ncode; j++) if (k->code[j].op == K_LOAD && k->code[j].a == Y) k->code[j] = (kinst){ .op = K_LOAD, .type = T_F32, .a = X, .b = k->code[j].b }; break;
        default:
            k = new_kernel();
            use_arrays(k, N);
            k->ordered = true;
        }
        expect_refused(k, rows[i].sentence);
    }
    kernel *none = new_kernel();
    none->code = NULL;
    message m = { 0 };
    cr_expect_eq(kernel_verify(none, &m), KN_MEMORY_ERROR);
}

/* ---- functions ---- */

static const ktype of_f32[] = { T_F32, T_F32 }, of_i32[] = { T_I32 };

static kfunction function_of(kernel *k, uint8_t nresults, const ktype *results) {
    return (kfunction){ .name = "f", .symbol = "f_f32", .nparams = (uint8_t)k->nparams, .nresults = nresults, .param_types = of_f32, .result_types = results,
                        .code = k->code, .ncode = k->ncode, .extra = k->extra, .nextra = k->nextra };
}

static kernel *function_body(void) {
    static const kparam params[2] = { { .name = "x", .type = T_F32 }, { .name = "y", .type = T_F32 } };
    return kernel_new(&mem, "f", params, 2);
}

static void expect_function(kfunction f, const char *sentence) {
    message m = { 0 };
    kn_status status = function_verify(&f, &m);
    if (!sentence) cr_expect_eq(status, KN_OK, "%s", m.text);
    else cr_expect(status != KN_OK && strstr(m.text, sentence), "\"%s\" does not hold \"%s\"", m.text, sentence);
}

Test(kir_verify, functions) {
    kernel *k = function_body();
    kval v = variable(k, 0, 0), l = kb_for(k, LOOP_SERIAL, T_I32, i32(k, 0), i32(k, 9), i32(k, 1));
    kval local = kb_inst(k, K_LOCAL, T_F32, 0, 4, 0, 0);
    store(k, local, i32(k, 0), get(k, v));
    set(k, v, kb_op(k, KOP_mul, T_F32, load(k, local, i32(k, 0)), 1, 0));
    kb_end(k, l);
    kval w = kb_inst(k, K_LOOP, T_VOID, 0, 0, 0, 0);
    kb_inst(k, K_BREAK_UNLESS, T_VOID, 0, kb_op(k, KOP_lt, T_BOOL, get(k, v), 1, 0), 0, 0);
    set(k, v, kb_op(k, KOP_add, T_F32, get(k, v), 1, 0));
    kb_end(k, w);
    uint32_t before = k->ncode;
    kval r = get(k, v);
    kb_return(k, &r, 1);
    expect_function(function_of(k, 1, of_f32), NULL);
    expect_function(function_of(k, 2, of_f32), "1 results, not 2");
    expect_function(function_of(k, 1, of_i32), "a result is f32, not i32");
    kfunction f = function_of(k, 1, of_f32);
    f.ncode--;
    expect_function(f, "does not end in RETURN");
    f = function_of(k, 1, of_f32);
    f.nextra = 0;
    expect_function(f, "results are missing");
    static const ktype other[] = { T_F32, T_F64 };
    f = function_of(k, 1, of_f32);
    f.param_types = other;
    expect_function(f, "the parameter is f64, not f32");
    kinst saved = k->code[before];
    k->code[before] = (kinst){ .op = K_FENCE };
    expect_function(function_of(k, 1, of_f32), "fence in a function");
    k->code[before] = (kinst){ .op = K_LANE_INDEX, .type = T_I32 };
    expect_function(function_of(k, 1, of_f32), "lane_index stands inside");
    k->code[before] = saved;
    k->code[l].flags = LOOP_LANE;
    expect_function(function_of(k, 1, of_f32), "SERIAL and UNROLL loops only");
}

Test(kir_verify, functions_of_the_library) {
    for (uint32_t i = 0; i < ndevice_functions; i++) {
        message m = { 0 };
        cr_assert_eq(function_verify(&device_functions[i], &m), KN_OK, "%s: %s", device_functions[i].symbol, m.text);
    }
}

/* ---- memory that fails ---- */

static kernel *build_large(arena *a) {
    static const kparam params[] = { { .name = "out", .type = T_F32, .array = true, .written = true }, { .name = "n", .type = T_I64 } };
    kernel *k = kernel_new(a, "large", params, 2);
    if (!k) return NULL;
    kval c = 1;
    for (int i = 0; i < 3000; i++) {
        c = kb_op(k, KOP_xor, T_I64, kb_op(k, KOP_mul, T_I64, c, kb_const_int(k, T_I64, 3 + i), 0), 1, 0);
        if (i % 500 == 0) kb_name(k, c, "c");
        if (i % 400 == 0) kb_comment(k, "text");
    }
    kb_inst(k, K_STORE, T_VOID, 0, 0, c, kb_const_float(k, T_F32, 1));
    return k;
}

Test(kir_build, failing_allocations) {
    int failures = 0;
    for (int n = 1; n < 60; n++) {
        arena a = { 0 };
        message m = { 0 };
        text bytes = { 0 }, shown = { 0 };
        mem_fail_after(n, true);
        kernel *k = build_large(&a);
        kn_status status = k ? kernel_verify(k, &m) : KN_MEMORY_ERROR;
        if (k && kernel_ok(k)) {
            kernel_bytes(k, &bytes);
            kernel_dump(k, &shown);
        }
        mem_fail_after(-1, false);
        failures += status != KN_OK;
        if (status) cr_expect_eq(status, KN_MEMORY_ERROR, "%s", m.text);
        text_free(&bytes);
        text_free(&shown);
        arena_free(&a);
    }
    cr_expect(failures > 5, "%d", failures);
}
