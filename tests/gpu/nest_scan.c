/* nest_scan.c: cumsum in one pass, its sums in an order that depends on nothing but the position.
 *
 * How it works: a block scans a tile and needs the sum of all tiles before it. Tiles form windows of 32, windows groups of
 * 32. A tile publishes its own sum; the last tile of a window publishes the window's sum as soon as it has seen the
 * other 31, the last window of a group the group's. The sum before a tile is then (groups before) + ((windows before it in
 * its group) + (tiles before it in its window)): three loads a lane and three fixed trees, without a chain of prefixes
 * from tile to tile. Sum and "is there" share a word of 64 bits, so that one load sees both. Blocks take numbers as they
 * start, so whom a block waits for is running or done. */
#include "nest_build.h"

typedef struct scan {
    kernel *k;
    nest_shape s;
    kval tile, thread, lane;
    kval full;                  /* is the whole tile inside the array? */
    kval tiles, windows, groups;
} scan;

#define NO_MASK UINT32_MAX

static kval published(scan *c, kval array, kval index, kval needed) {
    uint8_t flags = c->s.relaxed ? LOAD_RELAXED : LOAD_ACQUIRE;
    return kb_inst(c->k, K_LOAD, T_U64, flags, array, index, needed + 1);   /* NO_MASK + 1 is 0 */
}

static void publish(scan *c, kval array, kval index, kval sum) {
    kernel *k = c->k;
    kval bits = kb_op(k, KOP_convert, T_U64, kb_op(k, KOP_bitcast, T_U32, sum, 0, 0), 0, 0);
    kval word = kb_op(k, KOP_or, T_U64, bits, kb_const_int(k, T_U64, 1ll << 32), 0);
    kb_inst(k, K_STORE, T_VOID, c->s.relaxed ? STORE_RELAXED : STORE_RELEASE, array, index, word);
}

/* Waits until the word of every lane that needs one is there; the lanes' sums, 0 where none is needed. */
static kval wait_for(scan *c, kval array, kval index, kval needed, kval seen, const char *name, const char *of) {
    kernel *k = c->k;
    kval word = variable(k, T_U64, seen, name), loop = kb_inst(k, K_LOOP, T_VOID, 0, 0, 0, 0);
    kval empty = compare(k, KOP_eq, get(k, T_U64, word), kb_const_int(k, T_U64, 0));
    kb_inst(k, K_BREAK_UNLESS, T_VOID, 0, kb_op(k, KOP_and, T_BOOL, needed, empty, 0), 0, 0);
    set(k, word, published(c, array, index, NO_MASK));
    kb_end(k, loop);
    kval low = kb_op(k, KOP_convert, T_U32, get(k, T_U64, word), 0, 0);
    return warp_reduce(k, kb_op(k, KOP_bitcast, T_F32, low, 0, 0), c->s.warp, c->s.warp, add, of);
}

/* The sums of up to 32 groups and more, by the lanes. */
static kval sum_groups(scan *c, kval group, kval needed, kval seen) {
    kval sum = variable(c->k, T_F32, wait_for(c, c->groups, c->lane, needed, seen, "group_word", "by_groups"), "before_groups");
    kval more = kb_for(c->k, LOOP_SERIAL, T_I32, i32(c->k, c->s.warp), group, i32(c->k, c->s.warp));
    kval next = named(c->k, add(c->k, more, c->lane), "next"), wanted = named(c->k, compare(c->k, KOP_lt, next, group), "wanted");
    kval of_more = wait_for(c, c->groups, next, wanted, named(c->k, published(c, c->groups, next, wanted), "next_seen"), "next_word", "by_more");
    set(c->k, sum, add(c->k, get(c->k, T_F32, sum), of_more));
    kb_end(c->k, more);
    return get(c->k, T_F32, sum);
}

/* In the first warp: publishes this tile's sum and finds the sum of all before it. */
static kval look_back(scan *c, kval sum) {
    kernel *k = c->k;
    kval mask = i32(k, SCAN_WINDOW - 1), bits = i32(k, 5);
    kval in_window = named(k, kb_op(k, KOP_and, T_I32, c->tile, mask, 0), "in_window");
    kval window = named(k, kb_op(k, KOP_shr, T_I32, c->tile, bits, 0), "window");
    kval in_group = named(k, kb_op(k, KOP_and, T_I32, window, mask, 0), "in_group");
    kval group = named(k, kb_op(k, KOP_shr, T_I32, window, bits, 0), "group");
    kval first = compare(k, KOP_eq, c->lane, i32(k, 0));
    kval alone = begin_if(k, first);
    publish(c, c->tiles, c->tile, sum);
    kb_end(k, alone);
    kval of[3], index[3], needed[3], seen[3];
    of[0] = c->tiles; index[0] = add(k, kb_op(k, KOP_sub, T_I32, c->tile, in_window, 0), c->lane); needed[0] = compare(k, KOP_lt, c->lane, in_window);
    of[1] = c->windows; index[1] = add(k, kb_op(k, KOP_sub, T_I32, window, in_group, 0), c->lane); needed[1] = compare(k, KOP_lt, c->lane, in_group);
    of[2] = c->groups; index[2] = c->lane; needed[2] = compare(k, KOP_lt, c->lane, group);
    static const char *const need[] = { "needs_tile", "needs_window", "needs_group" }, *const see[] = { "tile_seen", "window_seen", "group_seen" };
    static const char *const word[] = { "tile_word", "window_word", "group_word" }, *const by[] = { "by_tiles", "by_windows", "by_groups" };
    for (int i = 0; i < 3; i++) seen[i] = named(k, published(c, of[i], index[i], named(k, needed[i], need[i])), see[i]);
    kval by_tiles = wait_for(c, of[0], index[0], needed[0], seen[0], word[0], by[0]);
    kval whole = named(k, add(k, by_tiles, sum), "whole_window");
    kval ends = begin_if(k, kb_op(k, KOP_and, T_BOOL, first, compare(k, KOP_eq, in_window, mask), 0));
    publish(c, c->windows, window, whole);
    kb_end(k, ends);
    kval by_windows = wait_for(c, of[1], index[1], needed[1], seen[1], word[1], by[1]);
    ends = begin_if(k, kb_op(k, KOP_and, T_BOOL, kb_op(k, KOP_and, T_BOOL, first, compare(k, KOP_eq, in_window, mask), 0), compare(k, KOP_eq, in_group, mask), 0));
    publish(c, c->groups, group, add(k, by_windows, whole));
    kb_end(k, ends);
    kval by_groups = sum_groups(c, group, needed[2], seen[2]);
    return add(k, by_groups, add(k, by_windows, by_tiles));
}

/* The scan of v over the lanes of a warp, without the lane's own; *total: the sum of all. */
static kval warp_scan(kernel *k, kval lane, kval v, int warp, kval *total) {
    kval zero = kb_const_float(k, T_F32, 0), sum = v;
    for (int d = 1; d < warp; d *= 2) {
        kval other = shuffle(k, SHUFFLE_UP, sum, i32(k, d), warp);
        sum = named(k, add(k, sum, kb_op(k, KOP_select, T_F32, compare(k, KOP_ge, lane, i32(k, d)), other, zero)), "running");
    }
    *total = shuffle(k, SHUFFLE_INDEX, sum, i32(k, warp - 1), warp);
    kval before = shuffle(k, SHUFFLE_UP, sum, i32(k, 1), warp);
    return kb_op(k, KOP_select, T_F32, compare(k, KOP_gt, lane, i32(k, 0)), before, zero);
}

/* Loads vectors of each lane, 4*warp elements apart from `start` on, zeros past the end. */
static void load_rows(scan *c, kval x, kval start, kval n, int rows, kval run) {
    kernel *k = c->k;
    kval full = begin_if(k, c->full);
    kval j = unroll(k, rows), x4 = local(k, T_F32, 4, "x4");
    vload(k, c->s, x4, x, add(k, start, mul(k, j, i32(k, 4 * c->s.warp))));
    kval l = unroll(k, 4);
    store(k, run, add(k, mul(k, j, i32(k, 4)), l), load(k, T_F32, x4, l));
    kb_end(k, l);
    kb_end(k, j);
    kb_else(k, full);
    j = unroll(k, rows);
    kval at = named(k, add(k, start, mul(k, j, i32(k, 4 * c->s.warp))), "at");
    l = unroll(k, 4);
    kval i = named(k, add(k, at, l), "i");
    store(k, run, add(k, mul(k, j, i32(k, 4)), l), kb_inst(k, K_LOAD, T_F32, 0, x, i, compare(k, KOP_lt, i, n) + 1));
    kb_end(k, l);
    kb_end(k, j);
    kb_end(k, full);
}

static void store_row(scan *c, kval out, kval at, kval n, kval from) {
    kernel *k = c->k;
    kval full = begin_if(k, c->full);
    vstore(k, c->s, out, at, from);
    kb_else(k, full);
    kval l = unroll(k, 4), i = named(k, add(k, at, l), "i");
    kval inside = begin_if(k, compare(k, KOP_lt, i, n));
    store(k, out, i, load(k, T_F32, from, l));
    kb_end(k, inside);
    kb_end(k, l);
    kb_end(k, full);
}

/* Scans the rows from `start` on into `run`; carry: the sum of all before. */
static void scan_rows(scan *c, kval x, kval start, kval n, int rows, kval carry, kval run) {
    kernel *k = c->k;
    int warp = c->s.warp;
    load_rows(c, x, start, n, rows, run);
    kval j = unroll(k, rows), first = named(k, mul(k, j, i32(k, 4)), "first");
    kval l = kb_for(k, LOOP_UNROLL, T_I32, i32(k, 1), i32(k, 4), i32(k, 1));
    kval slot = named(k, add(k, first, l), "slot");
    store(k, run, slot, add(k, load(k, T_F32, run, slot), load(k, T_F32, run, add(k, slot, i32(k, -1)))));
    kb_end(k, l);
    kval total, before = warp_scan(k, c->lane, named(k, load(k, T_F32, run, add(k, first, i32(k, 3))), "quad"), warp, &total);
    kval offset = named(k, add(k, get(k, T_F32, carry), before), "offset");
    l = unroll(k, 4);
    slot = add(k, first, l);
    store(k, run, slot, add(k, load(k, T_F32, run, slot), offset));
    kb_end(k, l);
    set(k, carry, add(k, get(k, T_F32, carry), total));
    kb_end(k, j);
}

/* Vectors of a thread in shared memory: number j stands at 4*(j*threads + thread). */
static kval kept_at(scan *c, kval j) {
    return mul(c->k, add(c->k, mul(c->k, j, i32(c->k, c->s.threads)), c->thread), i32(c->k, 4));
}

static kval scan_kept(scan *c, kval x, kval start, kval n, kval carry) {
    kernel *k = c->k;
    kval kept = kb_inst(k, K_SHARED, T_F32, 0, (uint32_t)(4 * c->s.kept * c->s.threads), 0, 0), run = local(k, T_F32, 4 * c->s.kept, "early");
    kb_name(k, kept, "kept");
    scan_rows(c, x, start, n, c->s.kept, carry, run);
    kval j = unroll(k, c->s.kept), v = local(k, T_F32, 4, "v"), l = unroll(k, 4);
    store(k, v, l, load(k, T_F32, run, add(k, mul(k, j, i32(k, 4)), l)));
    kb_end(k, l);
    kb_inst(k, K_VSTORE, T_VOID, 4, kept, kept_at(c, j), v);
    kb_end(k, j);
    return kept;
}

/* Adds what stands before the warp and stores: first the vectors in shared memory, then those in registers. */
static void store_rows(scan *c, kval out, kval start, kval n, kval offset, kval kept, kval run) {
    kernel *k = c->k;
    if (c->s.kept) {
        kval j = unroll(k, c->s.kept), v = local(k, T_F32, 4, "v");
        kb_inst(k, K_VLOAD, T_VOID, 4, kept, kept_at(c, j), v);
        kval l = unroll(k, 4);
        store(k, v, l, add(k, offset, load(k, T_F32, v, l)));
        kb_end(k, l);
        store_row(c, out, named(k, add(k, start, mul(k, j, i32(k, 4 * c->s.warp))), "at"), n, v);
        kb_end(k, j);
    }
    kval j = unroll(k, c->s.vectors), r4 = local(k, T_F32, 4, "r4"), l = unroll(k, 4);
    store(k, r4, l, add(k, offset, load(k, T_F32, run, add(k, mul(k, j, i32(k, 4)), l))));
    kb_end(k, l);
    kval row = c->s.kept ? add(k, j, i32(k, c->s.kept)) : j;
    store_row(c, out, named(k, add(k, start, mul(k, row, i32(k, 4 * c->s.warp))), "at"), n, r4);
    kb_end(k, j);
}

/* Where this warp's elements begin among those of the tile, for its first lane's first vector. */
static kval start_of(scan *c, kval warp, int chunk) {
    kernel *k = c->k;
    kval base = add(k, mul(k, c->tile, i32(k, chunk)), mul(k, warp, i32(k, 4 * c->s.warp * (c->s.vectors + c->s.kept))));
    return named(k, add(k, base, mul(k, c->lane, i32(k, 4))), "start");
}

/* The sum of the tile, and of the warps before this one. */
static kval combine_warps(scan *c, kval warp, kval of_warp, kval *mine) {
    kernel *k = c->k;
    int warps = c->s.threads / c->s.warp;
    kval sums = kb_inst(k, K_SHARED, T_F32, 0, (uint32_t)warps, 0, 0), zero = kb_const_float(k, T_F32, 0);
    kb_name(k, sums, "warp_sum");
    kval leader = begin_if(k, named(k, compare(k, KOP_eq, c->lane, i32(k, 0)), "leads"));
    store(k, sums, warp, of_warp);
    kb_end(k, leader);
    barrier(k);
    kval total = variable(k, T_F32, zero, "total"), before = variable(k, T_F32, zero, "mine");
    kval w = unroll(k, warps), own = begin_if(k, compare(k, KOP_eq, w, warp));
    set(k, before, get(k, T_F32, total));
    kb_end(k, own);
    set(k, total, add(k, get(k, T_F32, total), load(k, T_F32, sums, w)));
    kb_end(k, w);
    *mine = get(k, T_F32, before);
    return named(k, get(k, T_F32, total), "sum");
}

kernel *nest_scan(arena *mem, nest_shape s) {
    kparam tiles = out("tiles"), windows = out("windows"), groups = out("groups");
    tiles.type = windows.type = groups.type = T_U64;
    tiles.read = windows.read = groups.read = true;
    const kparam params[] = { in("x"), out("out"), tiles, windows, groups, scalar_i32("n") };
    kernel *k = new_kernel(mem, "cumsum", "cumsum(x)", params, 6, s);
    if (!kernel_ok(k)) return k;
    k->ordered = true;
    kval n = 5;
    int chunk = (int)nest_chunk(&s);
    spread at = open_grid(k, s, div_up(k, n, chunk));
    kb_name(k, at.block, "tile");
    scan c = { .k = k, .s = s, .tile = at.block, .thread = at.thread, .tiles = 2, .windows = 3, .groups = 4 };
    c.lane = named(k, kb_inst(k, K_LANE_INDEX, T_I32, 0, 0, 0, 0), "lane");
    kval warp = named(k, kb_op(k, KOP_div, T_I32, at.thread, i32(k, s.warp), 0), "warp");
    c.full = named(k, compare(k, KOP_le, mul(k, add(k, at.block, i32(k, 1)), i32(k, chunk)), n), "full");
    kval start = start_of(&c, warp, chunk), carry = variable(k, T_F32, kb_const_float(k, T_F32, 0), "carry");
    kval kept = s.kept ? scan_kept(&c, 0, start, n, carry) : 0, run = local(k, T_F32, 4 * s.vectors, "run");
    kval next = s.kept ? named(k, add(k, start, i32(k, 4 * s.warp * s.kept)), "next") : start;
    scan_rows(&c, 0, next, n, s.vectors, carry, run);
    kval mine, sum = combine_warps(&c, warp, get(k, T_F32, carry), &mine);
    kval before = kb_inst(k, K_SHARED, T_F32, 0, 1, 0, 0), front = begin_if(k, compare(k, KOP_eq, warp, i32(k, 0)));
    kb_name(k, before, "before");
    kval prefix = look_back(&c, sum), leader = begin_if(k, compare(k, KOP_eq, c.lane, i32(k, 0)));
    store(k, before, i32(k, 0), prefix);
    kb_end(k, leader);
    kb_end(k, front);
    barrier(k);
    store_rows(&c, 1, start, n, named(k, add(k, load(k, T_F32, before, i32(k, 0)), mine), "offset"), kept, run);
    close_grid(k, at);
    return k;
}
