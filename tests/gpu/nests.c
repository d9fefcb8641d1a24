/* nests.c: map, softmax, sum and transpose; the scan is in nest_scan.c. */
#include "nest_build.h"

int64_t nest_chunk(const nest_shape *s) { return 4ll * s->threads * (s->vectors + s->kept); }
int64_t nest_sum_chunk(const nest_shape *s) { return nest_chunk(s) * s->tile; }

/* ---- map: each thread takes several vectors, a block's width apart ---- */

static kval map_value(kernel *k, kval a, kval b, kval c) {
    kval root = kb_op(k, KOP_sqrt, T_F32, add(k, mul(k, a, a), mul(k, b, b)), 0, 0);
    kval minus = kb_op(k, KOP_neg, T_F32, a, 0, 0);
    return add(k, mul(k, root, c), call_exp(k, minus));
}

kernel *nest_map(arena *mem, nest_shape s) {
    const kparam params[] = { in("a"), in("b"), in("c"), out("out"), scalar_i32("n") };
    kernel *k = new_kernel(mem, "map_sqrt_exp", "sqrt(a*a + b*b)*c + exp(-a)", params, 5, s);
    if (!kernel_ok(k)) return k;
    kval a = 0, b = 1, c = 2, out = 3, n = 4;
    int chunk = (int)nest_chunk(&s);
    spread at = open_grid(k, s, div_up(k, n, chunk));
    kval base = named(k, mul(k, at.block, i32(k, chunk)), "base");
    kval full = begin_if(k, compare(k, KOP_le, add(k, base, i32(k, chunk)), n));
    kval j = unroll(k, s.vectors);
    kval i = named(k, add(k, add(k, base, mul(k, j, i32(k, 4 * s.threads))), mul(k, at.thread, i32(k, 4))), "i");
    kval a4 = local(k, T_F32, 4, "a4"), b4 = local(k, T_F32, 4, "b4"), c4 = local(k, T_F32, 4, "c4"), r4 = local(k, T_F32, 4, "r4");
    vload(k, s, a4, a, i);
    vload(k, s, b4, b, i);
    vload(k, s, c4, c, i);
    kval l = unroll(k, 4);
    store(k, r4, l, map_value(k, load(k, T_F32, a4, l), load(k, T_F32, b4, l), load(k, T_F32, c4, l)));
    kb_end(k, l);
    vstore(k, s, out, i, r4);
    kb_end(k, j);
    kb_else(k, full);
    kval e = kb_for(k, LOOP_SERIAL, T_I32, add(k, base, at.thread), n, i32(k, s.threads));
    store(k, out, e, map_value(k, load(k, T_F32, a, e), load(k, T_F32, b, e), load(k, T_F32, c, e)));
    kb_end(k, e);
    kb_end(k, full);
    close_grid(k, at);
    return k;
}

/* ---- softmax: a block a row, the row in registers ---- */

static kval greater(kernel *k, kval a, kval b) {   /* NaN wins, as in NumPy's maximum */
    kval wins = kb_op(k, KOP_or, T_BOOL, compare(k, KOP_gt, a, b), compare(k, KOP_ne, a, a), 0);
    return kb_op(k, KOP_select, T_F32, wins, a, b);
}

kernel *nest_softmax(arena *mem, nest_shape s) {
    const kparam params[] = { in("x"), out("out"), scalar_i32("rows"), scalar_i32("columns") };
    kernel *k = new_kernel(mem, "softmax_rows", "e = exp(x - x.max(-1, keepdims=True)); e/e.sum(-1, keepdims=True)", params, 4, s);
    if (!kernel_ok(k)) return k;
    kval x = 0, out = 1, rows = 2, columns = 3, lowest = kb_const_bits(k, T_F32, 0xff800000u);
    spread at = open_grid(k, s, rows);
    kb_name(k, at.block, "row");
    kval start = named(k, mul(k, at.block, columns), "start"), row = local(k, T_F32, 4 * s.vectors, "e");
    kval most = variable(k, T_F32, lowest, "most");
    kval j = unroll(k, s.vectors), column = named(k, mul(k, add(k, mul(k, j, i32(k, s.threads)), at.thread), i32(k, 4)), "column");
    kval x4 = local(k, T_F32, 4, "x4");
    kval inside = begin_if(k, compare(k, KOP_lt, column, columns));
    vload(k, s, x4, x, add(k, start, column));
    kb_else(k, inside);
    kval l = unroll(k, 4);
    store(k, x4, l, lowest);
    kb_end(k, l);
    kb_end(k, inside);
    l = unroll(k, 4);
    store(k, row, add(k, mul(k, j, i32(k, 4)), l), load(k, T_F32, x4, l));
    set(k, most, greater(k, load(k, T_F32, x4, l), get(k, T_F32, most)));
    kb_end(k, l);
    kb_end(k, j);
    kval top = named(k, block_reduce(k, s, at.thread, get(k, T_F32, most), greater, "highest"), "top");
    kval total = variable(k, T_F32, kb_const_float(k, T_F32, 0), "total");
    l = unroll(k, 4 * s.vectors);
    kval e = named(k, call_exp(k, kb_op(k, KOP_sub, T_F32, load(k, T_F32, row, l), top, 0)), "power");
    store(k, row, l, e);
    set(k, total, add(k, get(k, T_F32, total), e));
    kb_end(k, l);
    kval sum = named(k, block_reduce(k, s, at.thread, get(k, T_F32, total), add, "whole"), "sum");
    j = unroll(k, s.vectors);
    column = named(k, mul(k, add(k, mul(k, j, i32(k, s.threads)), at.thread), i32(k, 4)), "column");
    kval r4 = local(k, T_F32, 4, "r4");
    l = unroll(k, 4);
    store(k, r4, l, kb_op(k, KOP_div, T_F32, load(k, T_F32, row, add(k, mul(k, j, i32(k, 4)), l)), sum, 0));
    kb_end(k, l);
    inside = begin_if(k, compare(k, KOP_lt, column, columns));
    vstore(k, s, out, add(k, start, column), r4);
    kb_end(k, inside);
    kb_end(k, j);
    close_grid(k, at);
    return k;
}

/* ---- sum: a partial sum a block; the block that finishes last adds them, in their order ---- */

typedef struct sums { kval sum, error; bool compensate; } sums;   /* LOCAL arrays of 4*vectors */

/* Knuth's two-sum: the rounding error of every addition is carried along. */
static void accumulate(kernel *k, const sums *t, kval slot, kval v) {
    kval old = named(k, load(k, T_F32, t->sum, slot), "old");
    if (!t->compensate) {
        store(k, t->sum, slot, add(k, old, v));
        return;
    }
    kval now = named(k, add(k, old, v), "now"), part = named(k, kb_op(k, KOP_sub, T_F32, now, old, 0), "part");
    kval lost = add(k, kb_op(k, KOP_sub, T_F32, old, kb_op(k, KOP_sub, T_F32, now, part, 0), 0), kb_op(k, KOP_sub, T_F32, v, part, 0));
    store(k, t->sum, slot, now);
    store(k, t->error, slot, add(k, load(k, T_F32, t->error, slot), lost));
}

static kval squared_difference(kernel *k, kval a, kval b) {
    kval d = named(k, kb_op(k, KOP_sub, T_F32, a, b, 0), "d");
    return mul(k, d, d);
}

/* Halves the array again and again. */
static kval fold_local(kernel *k, kval array, int n) {
    for (int half = n / 2; half > 1; half /= 2) {
        kval l = unroll(k, half);
        store(k, array, l, add(k, load(k, T_F32, array, l), load(k, T_F32, array, add(k, l, i32(k, half)))));
        kb_end(k, l);
    }
    return add(k, load(k, T_F32, array, i32(k, 0)), load(k, T_F32, array, i32(k, 1)));
}

static void sum_chunk(kernel *k, nest_shape s, spread at, kval a, kval b, kval n, const sums *t) {
    int chunk = (int)nest_sum_chunk(&s), step = (int)nest_chunk(&s);
    kval base = named(k, mul(k, at.block, i32(k, chunk)), "base");
    kval full = begin_if(k, compare(k, KOP_le, add(k, base, i32(k, chunk)), n));
    kval r = kb_for(k, LOOP_SERIAL, T_I32, i32(k, 0), i32(k, s.tile), i32(k, 1));
    kval first = named(k, add(k, add(k, base, mul(k, r, i32(k, step))), mul(k, at.thread, i32(k, 4))), "first");
    kval a4 = local(k, T_F32, 4 * s.vectors, "a4"), b4 = local(k, T_F32, 4 * s.vectors, "b4");
    kval j = unroll(k, s.vectors);
    kval v = local(k, T_F32, 4, "v"), w = local(k, T_F32, 4, "w"), from = named(k, add(k, first, mul(k, j, i32(k, 4 * s.threads))), "from");
    vload(k, s, v, a, from);
    vload(k, s, w, b, from);
    kval l = unroll(k, 4), slot = named(k, add(k, mul(k, j, i32(k, 4)), l), "slot");
    store(k, a4, slot, load(k, T_F32, v, l));
    store(k, b4, slot, load(k, T_F32, w, l));
    kb_end(k, l);
    kb_end(k, j);
    l = unroll(k, 4 * s.vectors);
    accumulate(k, t, l, squared_difference(k, load(k, T_F32, a4, l), load(k, T_F32, b4, l)));
    kb_end(k, l);
    kb_end(k, r);
    kb_else(k, full);
    kval e = kb_for(k, LOOP_SERIAL, T_I32, add(k, base, at.thread), n, i32(k, s.threads));
    accumulate(k, t, i32(k, 0), squared_difference(k, load(k, T_F32, a, e), load(k, T_F32, b, e)));
    kb_end(k, e);
    kb_end(k, full);
}

kernel *nest_sum(arena *mem, nest_shape s) {
    kparam partial = out("partial"), count = out("count");
    partial.read = count.read = true;
    count.type = T_U32;
    const kparam params[] = { in("a"), in("b"), partial, count, out("out"), scalar_i32("n"), scalar_i32("blocks") };
    kernel *k = new_kernel(mem, "sum_squares", "((a - b)**2).sum()", params, 7, s);
    if (!kernel_ok(k)) return k;
    kval zero = i32(k, 0), partials = 2, counter = 3, result = 4, blocks = 6;
    spread at = open_grid(k, s, blocks);
    kval none = kb_const_float(k, T_F32, 0);
    sums t = { .sum = local(k, T_F32, 4 * s.vectors, "sums"), .compensate = s.compensate };
    if (s.compensate) t.error = local(k, T_F32, 4 * s.vectors, "errors");
    kval l = unroll(k, 4 * s.vectors);
    store(k, t.sum, l, none);
    if (s.compensate) store(k, t.error, l, none);
    kb_end(k, l);
    sum_chunk(k, s, at, 0, 1, 5, &t);
    if (s.compensate) {
        l = unroll(k, 4 * s.vectors);
        store(k, t.sum, l, add(k, load(k, T_F32, t.sum, l), load(k, T_F32, t.error, l)));
        kb_end(k, l);
    }
    kval of_block = named(k, block_reduce(k, s, at.thread, fold_local(k, t.sum, 4 * s.vectors), add, "block_sum"), "of_block");
    kval finished = kb_inst(k, K_SHARED, T_U32, 0, 1, 0, 0);
    kb_name(k, finished, "finished");
    kval first = begin_if(k, named(k, compare(k, KOP_eq, at.thread, zero), "is_first"));
    store(k, partials, at.block, of_block);
    kb_inst(k, K_FENCE, T_VOID, 0, 0, 0, 0);
    store(k, finished, zero, kb_inst(k, K_ATOMIC, T_U32, ATOMIC_ADD, counter, zero, kb_const_int(k, T_U32, 1)));
    kb_end(k, first);
    barrier(k);
    kval before = kb_op(k, KOP_convert, T_I32, load(k, T_U32, finished, zero), 0, 0);
    kval last = begin_if(k, compare(k, KOP_eq, add(k, before, i32(k, 1)), blocks));
    kb_comment(k, "the last block: every partial sum is there");
    kb_inst(k, K_FENCE, T_VOID, 0, 0, 0, 0);
    kval total = variable(k, T_F32, none, "total");
    kval p = kb_for(k, LOOP_SERIAL, T_I32, at.thread, blocks, i32(k, s.threads));
    set(k, total, add(k, get(k, T_F32, total), load(k, T_F32, partials, p)));
    kb_end(k, p);
    kval all = named(k, block_reduce(k, s, at.thread, get(k, T_F32, total), add, "whole"), "all");
    first = begin_if(k, compare(k, KOP_eq, at.thread, zero));
    store(k, result, zero, all);
    store(k, counter, zero, kb_const_int(k, T_U32, 0));
    kb_end(k, first);
    kb_end(k, last);
    close_grid(k, at);
    return k;
}

/* ---- transpose: a tile goes through shared memory ---- */

kernel *nest_transpose(arena *mem, nest_shape s) {
    const kparam params[] = { in("x"), in("y"), out("out"), scalar_i32("rows"), scalar_i32("columns") };
    kernel *k = new_kernel(mem, "transpose_add", "x.T + y", params, 5, s);
    if (!kernel_ok(k)) return k;
    kval x = 0, y = 1, out = 2, rows = 3, columns = 4;
    int quads = s.tile / 4, step = s.threads / quads, passes = s.tile / step, pitch = s.tile + 1;
    kval one = i32(k, 1), zero = i32(k, 0);
    kval gy = kb_for(k, LOOP_GRID | 1 << 4, T_I32, zero, div_up(k, rows, s.tile), one);
    kval gx = kb_for(k, LOOP_GRID, T_I32, zero, div_up(k, columns, s.tile), one);
    kval thread = kb_for(k, LOOP_BLOCK, T_I32, zero, i32(k, s.threads), one);
    kb_name(k, thread, "thread");
    kval r0 = named(k, mul(k, gy, i32(k, s.tile)), "row0"), c0 = named(k, mul(k, gx, i32(k, s.tile)), "column0");
    kval tile = kb_inst(k, K_SHARED, T_F32, 0, (uint32_t)(s.tile * pitch), 0, 0), ys = local(k, T_F32, 4 * passes, "ys");
    kb_name(k, tile, "tile");
    kval quad = named(k, mul(k, kb_op(k, KOP_rem, T_I32, thread, i32(k, quads), 0), i32(k, 4)), "quad");
    kval lane = named(k, kb_op(k, KOP_div, T_I32, thread, i32(k, quads), 0), "line");

    kval p = unroll(k, passes), line = named(k, add(k, lane, mul(k, p, i32(k, step))), "from");
    kval x4 = local(k, T_F32, 4, "x4"), y4 = local(k, T_F32, 4, "y4");
    kval xr = named(k, add(k, c0, line), "x_row"), xc = named(k, add(k, r0, quad), "x_column");
    kval inside = begin_if(k, kb_op(k, KOP_and, T_BOOL, compare(k, KOP_lt, xr, columns), compare(k, KOP_lt, xc, rows), 0));
    vload(k, s, x4, x, add(k, mul(k, xr, rows), xc));
    kb_end(k, inside);
    kval yr = named(k, add(k, r0, line), "y_row"), yc = named(k, add(k, c0, quad), "y_column");
    inside = begin_if(k, kb_op(k, KOP_and, T_BOOL, compare(k, KOP_lt, yr, rows), compare(k, KOP_lt, yc, columns), 0));
    vload(k, s, y4, y, add(k, mul(k, yr, columns), yc));
    kb_end(k, inside);
    kval l = unroll(k, 4);
    store(k, tile, add(k, mul(k, add(k, quad, l), i32(k, pitch)), line), load(k, T_F32, x4, l));
    store(k, ys, add(k, mul(k, p, i32(k, 4)), l), load(k, T_F32, y4, l));
    kb_end(k, l);
    kb_end(k, p);
    barrier(k);

    p = unroll(k, passes);
    line = named(k, add(k, lane, mul(k, p, i32(k, step))), "to");
    kval r4 = local(k, T_F32, 4, "r4");
    l = unroll(k, 4);
    kval turned = load(k, T_F32, tile, add(k, add(k, mul(k, line, i32(k, pitch)), quad), l));
    store(k, r4, l, add(k, turned, load(k, T_F32, ys, add(k, mul(k, p, i32(k, 4)), l))));
    kb_end(k, l);
    yr = named(k, add(k, r0, line), "row");
    yc = named(k, add(k, c0, quad), "column");
    inside = begin_if(k, kb_op(k, KOP_and, T_BOOL, compare(k, KOP_lt, yr, rows), compare(k, KOP_lt, yc, columns), 0));
    vstore(k, s, out, add(k, mul(k, yr, columns), yc), r4);
    kb_end(k, inside);
    kb_end(k, p);
    kb_end(k, thread);
    kb_end(k, gx);
    kb_end(k, gy);
    return k;
}
