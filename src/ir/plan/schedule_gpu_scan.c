/* schedule_gpu_scan.c: running reductions on a GPU.
 *
 * How it works: where results lie side by side and there are enough of them, each thread runs down columns of its own. Else
 * a crew scans a row: every thread takes some vectors, scans them, the lanes of a warp scan their totals by shuffles, warps
 * through shared memory. A long row is cut into tiles. With many rows a block goes from tile to tile of one row and
 * carries its state along. With few rows every tile has a block, in one pass: tiles form windows of 32, windows groups of 32; a
 * tile publishes its state, the last tile of a window the window's, the last window of a group the group's, and the
 * state before a tile is (groups before) + (windows before in its group) + (tiles before in its window): three fixed trees,
 * whatever the timing. A state is published in words of 64 bits, each with 32 bits of it and the mark that they are
 * there; wider states are several words. Blocks take numbers as they start, so whom a block waits for is running or done. */
#include <string.h>
#include "ir/plan/schedule_gpu_rows.h"

#define WINDOW 32                /* tiles of a window, windows of a group */
#define MOST_PIECES 32           /* words of all states */
#define TILE_WORDS 48            /* registers of a thread for the states of its elements */
#define MANY_ROWS 256            /* a block each keeps a device busy */
#define MANY_COLUMNS 8192        /* a thread each does */
#define SHORT_COLUMN 256         /* scanned by one thread even if there are few */
/* What counts for tiles is how many bytes wait on chip while blocks look back: vectors of a thread in registers and in shared
 * memory, blocks of a multiprocessor. */
#define LOADED_STEPS 8
#define SHARED_STEPS 11
#define RESIDENT 4
#define ENOUGH_TILES 512
enum { TILES, WINDOWS, GROUPS, LEVELS };

typedef struct look_back {
    rows *s;
    kval row;
    int32_t published[LEVELS][MOST_PIECES]; int npieces;
    int32_t windows_param, groups_param;        /* of a row */
} look_back;

/* ---- scanning within a warp ---- */

static kval as_i32(rows *s, kval v) { return kb_type(s->e.k, v) == T_I32 ? v : kb_op(s->e.k, KOP_convert, T_I32, v, 0, 0); }
static kval choose(rows *s, kval condition, kval a, kval b) { return kb_op(s->e.k, KOP_select, kb_type(s->e.k, a), condition, a, b); }

static void choose_states(rows *s, int r, kval condition, const kval *a, const kval *b, kval *out) {
    for (int c = 0; c < states_width(s, r); c++) out[c] = choose(s, condition, a[c], b[c]);
}

static void shuffle_states(rows *s, int r, int how, const kval *state, kval by, int lanes, kval *out) {
    for (int c = 0; c < states_width(s, r); c++) out[c] = kb_inst(s->e.k, K_SHUFFLE, kb_type(s->e.k, state[c]), (uint8_t)how, state[c], by, (uint32_t)lanes);
}

/* Every lane gets the state of the lanes up to and including it. */
static void scan_lanes(rows *s, kval lane, int lanes, kval *const *running) {
    int doublings = 0;
    while (1 << doublings < lanes) doublings++;
    kval i = kb_for(s->e.k, LOOP_UNROLL, T_I32, plain(s, 0), plain(s, doublings), plain(s, 1));
    kval distance = named_value(s, kb_op(s->e.k, KOP_shl, T_I32, plain(s, 1), i, 0), "distance");
    for (int r = 0; r < s->n->nreductions; r++) {
        kval mine[5], other[5], both[5];
        states_read(s, r, running, mine);
        shuffle_states(s, r, SHUFFLE_UP, mine, distance, lanes, other);
        states_combine(s, r, other, mine, both);
        choose_states(s, r, compare(s, KOP_ge, lane, distance), both, mine, both);
        states_write(s, r, running, both);
    }
    kb_end(s->e.k, i);
}

static kval slot_of(rows *s, kval j, int64_t l) { return index_op(s, KOP_add, index_op(s, KOP_mul, j, index_of(s, s->at.vector)), index_of(s, l)); }

/* The elements of a vector, each with those before it. */
static void scan_vector(rows *s, kval j) {
    if (s->at.vector == 1) return;
    kval l = kb_for(s->e.k, LOOP_UNROLL, s->e.index, index_of(s, 1), index_of(s, s->at.vector), index_of(s, 1));
    kval slot = index_op(s, KOP_add, index_op(s, KOP_mul, j, index_of(s, s->at.vector)), l);
    for (int r = 0; r < s->n->nreductions; r++) {
        kval before[5], mine[5], both[5];
        states_get(s, r, index_op(s, KOP_sub, slot, index_of(s, 1)), before);
        states_get(s, r, slot, mine);
        states_combine(s, r, before, mine, both);
        states_set(s, r, slot, both);
    }
    kb_end(s->e.k, l);
}

static void add_to_vector(rows *s, kval j, kval *const *offset) {
    kval l = s->at.vector > 1 ? unroll(s, s->at.vector) : index_of(s, 0);
    kval slot = index_op(s, KOP_add, index_op(s, KOP_mul, j, index_of(s, s->at.vector)), l);
    for (int r = 0; r < s->n->nreductions; r++) {
        kval before[5], mine[5], both[5];
        for (int c = 0; c < states_width(s, r); c++) before[c] = offset[c][r];
        states_get(s, r, slot, mine);
        states_combine(s, r, before, mine, both);
        states_set(s, r, slot, both);
    }
    if (s->at.vector > 1) kb_end(s->e.k, l);
}

/* All elements of a warp, or of a crew that is less: states become those of all elements up to each. carry: the state of all. */
static void scan_warp(rows *s, kval lane, int lanes, kval *const *carry) {
    kernel *k = s->e.k;
    kval *running[5], *offset[5];
    states_table(s, running);
    states_table(s, offset);
    kval j = s->at.steps > 1 ? unroll(s, s->at.steps) : index_of(s, 0);
    scan_vector(s, j);
    for (int r = 0; r < s->n->nreductions; r++) {
        kval last[5];
        states_get(s, r, slot_of(s, j, s->at.vector - 1), last);
        states_variables(s, r, last, "running_", running);
    }
    scan_lanes(s, lane, lanes, running);
    kval follows = named_value(s, compare(s, KOP_gt, lane, plain(s, 0)), "follows");
    for (int r = 0; r < s->n->nreductions; r++) {
        kval all[5], before[5], total[5], carried[5], both[5];
        states_read(s, r, running, all);
        shuffle_states(s, r, SHUFFLE_INDEX, all, plain(s, lanes - 1), lanes, total);
        shuffle_states(s, r, SHUFFLE_UP, all, plain(s, 1), lanes, before);
        states_read(s, r, carry, carried);
        if (s->at.steps > 1) states_combine(s, r, carried, before, both);
        choose_states(s, r, follows, s->at.steps > 1 ? both : before, carried, both);
        for (int c = 0; c < states_width(s, r); c++) offset[c][r] = named_value(s, both[c], "offset");
        if (s->at.steps > 1) states_combine(s, r, carried, total, total);
        states_write(s, r, carry, total);
    }
    add_to_vector(s, j, offset);
    if (s->at.steps > 1) kb_end(k, j);
}

/* ---- warps of a block ---- */

/* From the warps' states: that of all before this one, and of all. */
static void combine_warps(rows *s, kval *const *of_warp, kval *const *before, kval *const *all) {
    kernel *k = s->e.k;
    int warps = s->at.crew / k->warp;
    kval *shared[5], warp = named_value(s, index_op(s, KOP_div, s->worker, index_of(s, k->warp)), "warp");
    states_table(s, shared);
    for (int r = 0; r < s->n->nreductions; r++)
        for (int c = 0; c < states_width(s, r); c++) shared[c][r] = states_shared(s, r, c, warps, "warp_");
    kval leads = begin_if(s, named_value(s, compare(s, KOP_eq, s->lane, plain(s, 0)), "leads"));
    for (int r = 0; r < s->n->nreductions; r++) {
        kval mine[5];
        states_read(s, r, of_warp, mine);
        for (int c = 0; c < states_width(s, r); c++) kb_inst(k, K_STORE, T_VOID, 0, shared[c][r], warp, mine[c]);
    }
    kb_end(k, leads);
    kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    kval w = unroll(s, warps), own = begin_if(s, compare(s, KOP_eq, w, warp));
    for (int r = 0; r < s->n->nreductions; r++) {
        kval so_far[5];
        states_read(s, r, all, so_far);
        states_write(s, r, before, so_far);
    }
    kb_end(k, own);
    for (int r = 0; r < s->n->nreductions; r++) {
        kval so_far[5], next[5], both[5];
        states_read(s, r, all, so_far);
        for (int c = 0; c < states_width(s, r); c++) next[c] = kb_inst(k, K_LOAD, kb_type(k, so_far[c]), 0, shared[c][r], w, 0);
        states_combine(s, r, so_far, next, both);
        states_write(s, r, all, both);
    }
    kb_end(k, w);
}

/* ---- tiles of a row ---- */

bool scan_memory(rows *s, int64_t tiles) {
    static const char *const names[LEVELS] = { "tiles", "windows", "groups" };
    look_back *b = arena_zero(s->e.mem, 1, sizeof *b);
    int64_t count[LEVELS] = { tiles, tiles / WINDOW, tiles / (WINDOW * WINDOW) };
    if (!b) return false;
    b->s = s;
    b->npieces = rows_state_words(s->n);
    for (int level = 0; level < LEVELS; level++)
        for (int i = 0; i < b->npieces; i++) {
            int memory = builder_memory(s->b, (s->results * count[level] + 1) * (int64_t)sizeof(uint64_t), true);
            const char *name = arena_text(s->e.mem, b->npieces > 1 ? "%s_%d" : "%s", names[level], i);
            if (memory < 0 || !name) return false;
            b->published[level][i] = emitter_array(&s->e, name, T_U64, (place){ PLACE_MEMORY, memory, 0 }, true, true);
        }
    b->windows_param = b->groups_param = NO_PARAM;
    if (s->results > 1) {
        b->windows_param = emitter_param(&s->e, "row_windows", s->e.index, (plan_arg){ .kind = ARG_INTEGER, .value = count[WINDOWS] });
        b->groups_param = emitter_param(&s->e, "row_groups", s->e.index, (plan_arg){ .kind = ARG_INTEGER, .value = count[GROUPS] });
    }
    s->published = b;
    return true;
}

/* Number `i` of a row's tiles, windows or groups. */
static kval number_in(look_back *b, int level, kval i) {
    rows *s = b->s;
    if (s->results == 1) return i;
    kval count = level == TILES ? (kval)s->cuts_param : level == WINDOWS ? (kval)b->windows_param : (kval)b->groups_param;
    return index_op(s, KOP_add, index_op(s, KOP_mul, b->row, count), i);
}

/* The 32 bits that piece number `piece` of a component holds. */
static kval piece_bits(rows *s, kval v, int piece) {
    kernel *k = s->e.k;
    ktype t = kb_type(k, v);
    if (ktype_table[t].size == 8) {
        kval bits = t == T_U64 ? v : t == T_I64 ? kb_op(k, KOP_convert, T_U64, v, 0, 0) : kb_op(k, KOP_bitcast, T_U64, v, 0, 0);
        if (piece) bits = kb_op(k, KOP_shr, T_U64, bits, kb_const_int(k, T_U64, 32), 0);
        return kb_op(k, KOP_convert, T_U32, bits, 0, 0);
    }
    return t == T_U32 ? v : kb_op(k, t == T_F32 ? KOP_bitcast : KOP_convert, T_U32, v, 0, 0);
}

static kval from_pieces(rows *s, ktype t, const kval *words) {
    kernel *k = s->e.k;
    kval low = kb_op(k, KOP_convert, T_U32, words[0], 0, 0);
    if (ktype_table[t].size < 8) return t == T_U32 ? low : kb_op(k, t == T_F32 ? KOP_bitcast : KOP_convert, t, low, 0, 0);
    kval high = kb_op(k, KOP_shl, T_U64, words[1], kb_const_int(k, T_U64, 32), 0);
    kval bits = kb_op(k, KOP_or, T_U64, high, kb_op(k, KOP_convert, T_U64, low, 0, 0), 0);
    return t == T_U64 ? bits : kb_op(k, t == T_I64 ? KOP_convert : KOP_bitcast, t, bits, 0, 0);
}

static void publish(look_back *b, int level, kval i, kval *const *var) {
    rows *s = b->s;
    kernel *k = s->e.k;
    kval at = number_in(b, level, i);
    for (int r = 0, piece = 0; r < s->n->nreductions; r++) {
        kval state[5];
        states_read(s, r, var, state);
        for (int c = 0; c < states_width(s, r); c++)
            for (int half = 0; half <= (ktype_table[kb_type(k, state[c])].size == 8); half++, piece++) {
                kval bits = kb_op(k, KOP_convert, T_U64, piece_bits(s, state[c], half), 0, 0);
                kval word = kb_op(k, KOP_or, T_U64, bits, kb_const_int(k, T_U64, (int64_t)1 << 32), 0);
                kb_inst(k, K_STORE, T_VOID, STORE_RELAXED, (kval)b->published[level][piece], at, word);
            }
    }
}

typedef struct words { kval at[MOST_PIECES]; } words;

static words see(look_back *b, int level, kval i, kval needed, const char *name) {
    rows *s = b->s;
    words w = { { 0 } };
    kval at = number_in(b, level, i);
    for (int piece = 0; piece < b->npieces; piece++)
        w.at[piece] = kb_inst(s->e.k, K_LOAD, T_U64, LOAD_RELAXED, (kval)b->published[level][piece], at, needed == NO_VALUE ? 0 : needed + 1);
    for (int piece = 0; piece < b->npieces && name; piece++) named_value(s, w.at[piece], name);
    return w;
}

/* Waits for the words of every lane that needs some, then combines the lanes' states. */
static void wait_for(look_back *b, int level, kval i, kval needed, words seen, const char *stem, kval **var) {
    rows *s = b->s;
    kernel *k = s->e.k;
    kval word[MOST_PIECES] = { 0 }, empty = NO_VALUE;
    for (int piece = 0; piece < b->npieces; piece++) {
        word[piece] = kb_inst(k, K_VAR, T_U64, 0, seen.at[piece], 0, 0);
        kb_name(k, word[piece], "word");
    }
    kval loop = kb_inst(k, K_LOOP, T_VOID, 0, 0, 0, 0);
    for (int piece = 0; piece < b->npieces; piece++) {
        kval missing = compare(s, KOP_eq, kb_inst(k, K_GET, T_U64, 0, word[piece], 0, 0), kb_const_int(k, T_U64, 0));
        empty = empty == NO_VALUE ? missing : kb_op(k, KOP_or, T_BOOL, empty, missing, 0);
    }
    kb_inst(k, K_BREAK_UNLESS, T_VOID, 0, kb_op(k, KOP_and, T_BOOL, needed, empty, 0), 0, 0);
    words again = see(b, level, i, NO_VALUE, NULL);
    for (int piece = 0; piece < b->npieces; piece++) kb_inst(k, K_SET, T_VOID, 0, word[piece], again.at[piece], 0);
    kb_end(k, loop);
    for (int r = 0, piece = 0; r < s->n->nreductions; r++) {
        kval state[5], none[5];
        states_identity(s, r, none);
        for (int c = 0; c < states_width(s, r); c++) {
            ktype t = kb_type(k, none[c]);
            kval both[2] = { kb_inst(k, K_GET, T_U64, 0, word[piece], 0, 0), 0 };
            piece++;
            if (ktype_table[t].size == 8) both[1] = kb_inst(k, K_GET, T_U64, 0, word[piece++], 0, 0);
            state[c] = from_pieces(s, t, both);
        }
        choose_states(s, r, needed, state, none, state);
        states_variables(s, r, state, stem, var);
    }
    states_butterfly(s, 0, k->warp, var);
}

static void combine_into(rows *s, kval *const *first, kval *const *second, kval *const *into) {
    for (int r = 0; r < s->n->nreductions; r++) {
        kval a[5], b[5], both[5];
        states_read(s, r, first, a);
        states_read(s, r, second, b);
        states_combine(s, r, a, b, both);
        states_write(s, r, into, both);
    }
}

/* In the first warp: publishes this tile's state; `before` becomes the state of all tiles before it. */
static void look_back_from(look_back *b, kval tile, kval *const *mine, kval *const *before) {
    rows *s = b->s;
    kernel *k = s->e.k;
    kval *at[LEVELS][5], lane = as_index(s, s->lane), mask = index_of(s, WINDOW - 1);
    for (int level = 0; level < LEVELS; level++) states_table(s, at[level]);
    kval in_window = named_value(s, index_op(s, KOP_and, tile, mask), "in_window"), window = named_value(s, index_op(s, KOP_shr, tile, index_of(s, 5)), "window");
    kval in_group = named_value(s, index_op(s, KOP_and, window, mask), "in_group"), group = named_value(s, index_op(s, KOP_shr, window, index_of(s, 5)), "group");
    kval leads = compare(s, KOP_eq, s->lane, plain(s, 0));
    kval alone = begin_if(s, leads);
    publish(b, TILES, tile, mine);
    kb_end(k, alone);
    kval needed[LEVELS] = { compare(s, KOP_lt, lane, in_window), compare(s, KOP_lt, lane, in_group), compare(s, KOP_lt, lane, group) };
    kval index[LEVELS] = { index_op(s, KOP_add, index_op(s, KOP_sub, tile, in_window), lane), index_op(s, KOP_add, index_op(s, KOP_sub, window, in_group), lane), lane };
    static const char *const names[LEVELS][2] = { { "needs_tile", "tile_seen" }, { "needs_window", "window_seen" }, { "needs_group", "group_seen" } };
    words seen[LEVELS];
    for (int level = 0; level < LEVELS; level++) seen[level] = see(b, level, index[level], named_value(s, needed[level], names[level][0]), names[level][1]);
    kval ends_window = named_value(s, compare(s, KOP_eq, in_window, mask), "ends_window"), ends_group = kb_op(k, KOP_and, T_BOOL, ends_window, compare(s, KOP_eq, in_group, mask), 0);
    wait_for(b, TILES, index[TILES], needed[TILES], seen[TILES], "tiles_", at[TILES]);
    combine_into(s, at[TILES], mine, mine);
    kval last = begin_if(s, kb_op(k, KOP_and, T_BOOL, leads, ends_window, 0));
    publish(b, WINDOWS, window, mine);
    kb_end(k, last);
    wait_for(b, WINDOWS, index[WINDOWS], needed[WINDOWS], seen[WINDOWS], "windows_", at[WINDOWS]);
    combine_into(s, at[WINDOWS], mine, mine);
    last = begin_if(s, kb_op(k, KOP_and, T_BOOL, leads, ends_group, 0));
    publish(b, GROUPS, group, mine);
    kb_end(k, last);
    wait_for(b, GROUPS, index[GROUPS], needed[GROUPS], seen[GROUPS], "groups_", at[GROUPS]);
    combine_into(s, at[WINDOWS], at[TILES], before);
    kval more = kb_for(k, LOOP_SERIAL, s->e.index, index_of(s, k->warp), group, index_of(s, k->warp));
    kval next = named_value(s, index_op(s, KOP_add, more, lane), "next"), wanted = named_value(s, compare(s, KOP_lt, next, group), "wanted");
    kval *further[5];
    states_table(s, further);
    wait_for(b, GROUPS, next, wanted, see(b, GROUPS, next, wanted, "next_seen"), "further_", further);
    combine_into(s, at[GROUPS], further, at[GROUPS]);
    kb_end(k, more);
    combine_into(s, at[GROUPS], before, before);
}

/* What comes before the tile, in every thread. */
static void state_before_tile(rows *s, kval row, kval tile, kval *const *of_tile, kval *const *before) {
    kernel *k = s->e.k;
    look_back *b = s->published;
    kval *shared[5], zero = index_of(s, 0);
    states_table(s, shared);
    b->row = row;
    for (int r = 0; r < s->n->nreductions; r++)
        for (int c = 0; c < states_width(s, r); c++) shared[c][r] = states_shared(s, r, c, 1, "before_");
    kval front = begin_if(s, compare(s, KOP_lt, s->worker, index_of(s, k->warp)));
    look_back_from(b, tile, of_tile, before);
    kval leads = begin_if(s, compare(s, KOP_eq, s->lane, plain(s, 0)));
    for (int r = 0; r < s->n->nreductions; r++) {
        kval state[5];
        states_read(s, r, before, state);
        for (int c = 0; c < states_width(s, r); c++) kb_inst(k, K_STORE, T_VOID, 0, shared[c][r], zero, state[c]);
    }
    kb_end(k, leads);
    kb_end(k, front);
    kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    for (int r = 0; r < s->n->nreductions; r++) {
        kval state[5];
        states_identity(s, r, state);
        for (int c = 0; c < states_width(s, r); c++) state[c] = kb_inst(k, K_LOAD, kb_type(k, state[c]), 0, shared[c][r], zero, 0);
        states_write(s, r, before, state);
    }
}

/* ---- a row, or a tile of one ---- */

static void new_variables(rows *s, const char *stem, kval **var) {
    states_table(s, var);
    for (int r = 0; r < s->n->nreductions; r++) {
        kval none[5];
        states_identity(s, r, none);
        states_variables(s, r, none, stem, var);
    }
}

static void set_prefix(rows *s, kval *const *first, kval *const *second) {
    states_table(s, s->prefix);
    for (int r = 0; r < s->n->nreductions; r++) {
        kval a[5], b[5];
        states_read(s, r, first, a);
        if (second) {
            states_read(s, r, second, b);
            states_combine(s, r, a, b, a);
        }
        for (int c = 0; c < states_width(s, r); c++) s->prefix[c][r] = named_value(s, a[c], "prefix");
    }
}

/* The thread's first element: a warp's elements follow each other. */
static kval first_of(rows *s, kval lane) {
    kval at = index_op(s, KOP_mul, as_index(s, lane), index_of(s, s->at.vector));
    if (s->at.crew > s->p->warp) {
        kval warp = named_value(s, index_op(s, KOP_div, s->worker, index_of(s, s->p->warp)), "warp");
        at = index_op(s, KOP_add, index_op(s, KOP_mul, warp, index_of(s, (s->at.steps + s->at.shared_steps) * s->apart)), at);
    }
    if (s->first_element != NO_VALUE) at = index_op(s, KOP_add, s->first_element, at);
    return named_value(s, at, "first");
}

static void tile_vectors(rows *s, int stage, kval first) {
    if (!s->at.full_apart) {
        pass_vectors(s, stage, first);
        return;
    }
    kval opened = begin_if(s, s->full);
    for (int full = 1; full >= 0; full--) {
        if (!full) kb_else(s->e.k, opened);
        emitter_push(&s->e);
        s->at.whole = full;
        pass_vectors(s, stage, first);
        emitter_pop(&s->e);
    }
    kb_end(s->e.k, opened);
}

static void scan_vectors(rows *s, kval lane, int lanes, kval first, kval *const *of_warp) {
    states_declare(s, 0);
    tile_vectors(s, 0, first);
    scan_warp(s, lane, lanes, of_warp);
}

/* The thread's first vectors, whose states leave the registers to the next. */
static kval scan_waiting(rows *s, kval lane, kval first, kval *const *of_warp) {
    kernel *k = s->e.k;
    rows_shape shape = s->at;
    ktype t = s->n->reductions[0].state_types[0];
    s->at.steps = shape.shared_steps;
    s->at.copies = s->at.steps * s->at.vector;
    scan_vectors(s, lane, k->warp, first, of_warp);
    kval waiting = kb_inst(k, K_SHARED, t, 0, (uint32_t)(s->at.copies * s->at.threads), 0, 0);
    kb_name(k, waiting, "waiting");
    kval j = unroll(s, s->at.steps), v = local_array(s, t, s->at.vector, "state"), l = unroll(s, s->at.vector), mine[5];
    states_get(s, 0, index_op(s, KOP_add, index_op(s, KOP_mul, j, index_of(s, s->at.vector)), l), mine);
    kb_inst(k, K_STORE, T_VOID, 0, v, l, mine[0]);
    kb_end(k, l);
    kb_inst(k, K_VSTORE, T_VOID, (uint8_t)s->at.vector, waiting, pass_waiting_at(s, j), v);
    kb_end(k, j);
    s->at = shape;
    return waiting;
}

static void use_waiting(rows *s, kval waiting, kval first) {
    rows_shape shape = s->at;
    s->at.steps = shape.shared_steps;
    s->waiting = waiting;
    tile_vectors(s, 1, first);
    s->waiting = NO_VALUE;
    s->at = shape;
}

/* carried: what the tiles before it leave, and takes up this one; NULL: this is the first, or they are other blocks'. */
static void scan_tile(rows *s, kval row, kval tile, kval *const *carried) {
    int warp = s->p->warp, lanes = s->at.crew < warp ? s->at.crew : warp;
    kval lane = lanes < warp ? as_i32(s, s->worker) : s->lane, first = first_of(s, lane);
    kval *of_warp[5], *before[5], *all[5], *tiles_before[5];
    pass_need(s, 0);
    emitter_ready(&s->e, s->needed);
    new_variables(s, "warp_", of_warp);
    kval waiting = s->at.shared_steps ? scan_waiting(s, lane, first, of_warp) : NO_VALUE, start = first;
    if (s->at.shared_steps) first = named_value(s, index_op(s, KOP_add, first, index_of(s, s->at.shared_steps * s->apart)), "second");
    scan_vectors(s, lane, lanes, first, of_warp);
    s->prefix[0] = NULL;
    if (s->at.crew > warp) {
        new_variables(s, "before_", before);
        new_variables(s, "block_", all);
        combine_warps(s, of_warp, before, all);
        set_prefix(s, before, NULL);
    }
    if (tile != NO_VALUE) {
        new_variables(s, "tile_", tiles_before);
        state_before_tile(s, row, tile, all, tiles_before);
        set_prefix(s, tiles_before, before);
    }
    if (carried) set_prefix(s, carried, before);
    pass_need(s, 1);
    emitter_ready(&s->e, s->needed);
    if (waiting != NO_VALUE) use_waiting(s, waiting, start);
    tile_vectors(s, 1, first);
    if (carried) combine_into(s, carried, all, carried);
}

void scan_row(rows *s, kval row, kval tile) {
    kernel *k = s->e.k;
    kval *carried[5];
    int64_t step = (int64_t)s->at.crew * s->at.vector * s->at.steps;
    s->apart = (s->at.crew < s->p->warp ? s->at.crew : s->p->warp) * (int64_t)s->at.vector;
    if (s->at.chunk || s->size <= step) {
        scan_tile(s, row, tile, NULL);
        return;
    }
    new_variables(s, "carried_", carried);
    kval i = kb_for(k, LOOP_SERIAL, s->e.index, index_of(s, 0), s->end, index_of(s, step));
    kb_name(k, i, "tile");
    emitter_push(&s->e);
    s->first_element = i;
    scan_tile(s, row, NO_VALUE, carried);
    kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    emitter_pop(&s->e);
    kb_end(k, i);
}

/* ---- the schedule ---- */

/* Whether a scan is of another one's values. */
static bool follows_scan(const nest *n, bool *below) {
    memset(below, 0, (size_t)n->nexprs);
    for (int r = 0; r < n->nreductions; r++) for (int c = 0; c < n->reductions[r].nstate; c++) nest_closure(n, below, n->reductions[r].lifted[c]);
    for (int i = 0; i < n->nexprs; i++) if (below[i] && n->exprs[i].kind == EXPR_SCANNED) return true;
    return false;
}

/* Scans alone, and nothing that is made once a row. */
static bool is_scan(const nest *n) {
    if (!n->nreductions || !rows_have_atoms(n) || n->serial || rows_state_words(n) > MOST_PIECES) return false;
    for (int r = 0; r < n->nreductions; r++) if (!n->reductions[r].scan || n->reductions[r].ordered) return false;
    for (int i = 0; i < n->nstores; i++) if (!is_inner_store(n, i)) return false;
    for (int i = 0; i < n->nexprs; i++) if (n->exprs[i].kind == EXPR_FAULT && !n->exprs[i].inner) return false;
    return true;
}

static void serial_shape(rows *s) {
    s->at.threads = 256;
    s->at.crew = s->at.steps = 1;
    if (!s->at.columns) s->at.vector = 1;
    s->at.copies = s->at.vector;
    s->at.whole = true;
}

static void tile_shape(rows *s) {
    rows_shape *a = &s->at;
    int words = rows_state_words(s->n), kept = words + rows_kept_words(s), slots = TILE_WORDS / kept;
    if (slots < a->vector) a->vector = 1;
    if (slots < 1) slots = 1;
    int64_t small = slots < 8 ? slots : 8, crew = rows_power_up(div_up(s->size, small));
    if (crew < a->vector) crew = 1;
    if (s->size <= 512 && crew > s->p->warp && s->p->warp * slots >= s->size) crew = s->p->warp;
    a->crew = crew > 256 ? 256 : (int)crew;
    a->threads = 256;
    if (a->crew < 2) a->crew = 2;
    if (a->crew > s->p->warp) a->threads = a->crew;
    int64_t each = (int64_t)a->crew * a->vector;
    a->steps = (int)div_up(s->size, each);
    if (a->steps * a->vector > slots) a->steps = slots / a->vector;
    if (s->results < MANY_ROWS && s->size > each * a->steps) {
        const nest_reduction *q = &s->n->reductions[0];
        bool can_wait = s->n->nreductions == 1 && q->nstate == 1 && a->vector * ktype_table[q->state_types[0]].size == 16 && kept == words;
        while (a->steps > 2 && s->results * s->size / (each * a->steps) < ENOUGH_TILES) a->steps /= 2;
        if (can_wait && s->results * s->size / (each * (LOADED_STEPS + SHARED_STEPS)) >= ENOUGH_TILES) {
            a->steps = LOADED_STEPS;
            a->shared_steps = SHARED_STEPS;
        }
        a->chunk = each * (a->steps + a->shared_steps);
        a->stream = true;
        a->resident = can_wait && a->steps <= LOADED_STEPS ? RESIDENT : 0;
    }
    a->copies = a->steps * a->vector;
    a->once = true;
    a->whole = s->size % (each * (a->steps + a->shared_steps)) == 0;
    a->full_apart = a->chunk && !a->whole && kept == words;
}

kn_status schedule_gpu_scan(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m) {
    rows s;
    *done = false;
    if (!is_scan(n)) return KN_OK;
    int atom = rows_contiguous_atom(n), last = n->natoms - 1;   /* of the atoms of R, which keep their order */
    if (n->atoms[atom].reduced) atom = last;
    if (!rows_init(&s, n, p, b, atom)) return fail_memory(m, "scheduling a scan");
    if (follows_scan(n, s.needed)) return s.size > SHORT_COLUMN ? apart_scans(n, p, b, done, m) : KN_OK;
    if (atom != last && s.size > SHORT_COLUMN && s.results < MANY_COLUMNS) {
        atom = last;
        if (!rows_init(&s, n, p, b, atom)) return fail_memory(m, "scheduling a scan");
    }
    *done = true;
    s.at.columns = atom != last;
    s.at.vector = rows_vector(n, atom, 4, false);
    if (s.at.columns || s.size <= 4) {
        serial_shape(&s);
    } else {
        s.scan = true;
        tile_shape(&s);
    }
    return rows_schedule(&s, m);
}
