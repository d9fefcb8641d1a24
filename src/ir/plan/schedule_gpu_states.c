/* schedule_gpu_states.c: states of reductions: in the registers of a thread, and combined between threads.
 *
 * How it works: a thread has one or several copies of each state, so that its additions do not wait for each other; they are
 * folded by halving. The rounding errors that sums carry along are added once, before any threads combine: what follows is a
 * tree. Threads of a warp combine theirs by shuffles, in a butterfly, which leaves the result in every
 * lane; warps through one word of shared memory each, which every warp reads and combines itself: one barrier for all
 * reductions of a stage. Every order depends on the kernel's shape alone. */
#include <string.h>
#include "ir/plan/schedule_gpu_rows.h"

bool in_stage(const rows *s, int r, int stage) { return reduction_stage(s->n, &s->n->reductions[r]) == stage; }

/* The reduction as it is at present: settled sums have no errors. */
static nest_reduction now(const rows *s, int r) {
    nest_reduction q = s->n->reductions[r];
    q.compensate &= !s->settled;
    return q;
}

int states_width(const rows *s, int r) {
    nest_reduction q = now(s, r);
    return reduction_width(&q);
}

static ktype type_of(const rows *s, int r, int c) { return reduction_type(&s->n->reductions[r], c); }
static kval identity(rows *s, int r, int c) { return reduction_identity(&s->e, &s->n->reductions[r], c); }

void states_combine(rows *s, int r, const kval *a, const kval *b, kval *both) {
    nest_reduction q = now(s, r);
    reduction_combine(&s->e, &q, a, b, both);
}

/* ---- names for the reader ---- */

static const char *state_name(const rows *s, int r, int c) {
    const nest_reduction *q = &s->n->reductions[r];
    static const char *const of_variance[] = { "count", "mean", "squares", "part" };
    if (c >= q->nstate) return "error";
    const char *name = q->combine >= 0 ? device_functions[q->combine].name : NULL;
    if (name && !strncmp(name, "arg", 3)) return c == q->nstate - 1 ? "where" : c ? "imaginary" : "best";
    if (name && !strcmp(name, "var_combine")) return of_variance[c & 3];
    if (name) return !strcmp(name, "maximum") || !strcmp(name, "fmax") ? "most" : !strcmp(name, "minimum") || !strcmp(name, "fmin") ? "least" : c ? "imaginary" : name;
    switch (-1 - q->combine) {
    case KOP_add: return "sum";
    case KOP_mul: return "product";
    case KOP_and: return "all";
    case KOP_or: return "any";
    default: return "parity";
    }
}

static void name_state(rows *s, kval v, int r, int c, const char *before, bool several) {
    const char *stem = state_name(s, r, c), *name = arena_text(s->e.mem, "%s%s%s", before, stem, several && stem[strlen(stem) - 1] != 's' ? "s" : "");
    if (name) kb_name(s->e.k, v, name);
}

/* ---- in a thread ---- */

void states_declare(rows *s, int stage) {
    kernel *k = s->e.k;
    s->copies = s->at.copies;
    for (int r = 0; r < s->n->nreductions; r++) {
        if (!in_stage(s, r, stage)) continue;
        for (int c = 0; c < states_width(s, r); c++) {
            kval first = identity(s, r, c);
            s->state[c][r] = s->copies > 1 ? kb_inst(k, K_LOCAL, type_of(s, r, c), 0, (uint32_t)s->copies, 0, 0) : kb_inst(k, K_VAR, type_of(s, r, c), 0, first, 0, 0);
            name_state(s, s->state[c][r], r, c, "", s->copies > 1);
        }
    }
    if (s->copies == 1) return;
    kval each = unroll(s, s->copies);
    for (int r = 0; r < s->n->nreductions; r++)
        for (int c = 0; c < states_width(s, r); c++)
            if (in_stage(s, r, stage)) kb_inst(k, K_STORE, T_VOID, 0, s->state[c][r], each, identity(s, r, c));
    kb_end(k, each);
}

void states_get(rows *s, int r, kval slot, kval *state) {
    for (int c = 0; c < states_width(s, r); c++)
        state[c] = kb_inst(s->e.k, s->copies > 1 ? K_LOAD : K_GET, type_of(s, r, c), 0, s->state[c][r], s->copies > 1 ? slot : 0, 0);
}

void states_set(rows *s, int r, kval slot, const kval *state) {
    for (int c = 0; c < states_width(s, r); c++) {
        if (s->copies > 1) kb_inst(s->e.k, K_STORE, T_VOID, 0, s->state[c][r], slot, state[c]);
        else kb_inst(s->e.k, K_SET, T_VOID, 0, s->state[c][r], state[c], 0);
    }
}

void states_read(rows *s, int r, kval *const *var, kval *state) {
    for (int c = 0; c < states_width(s, r); c++) state[c] = kb_inst(s->e.k, K_GET, type_of(s, r, c), 0, var[c][r], 0, 0);
}

void states_write(rows *s, int r, kval *const *var, const kval *state) {
    for (int c = 0; c < states_width(s, r); c++) kb_inst(s->e.k, K_SET, T_VOID, 0, var[c][r], state[c], 0);
}

void states_identity(rows *s, int r, kval *state) {
    for (int c = 0; c < states_width(s, r); c++) state[c] = identity(s, r, c);
}

void states_step(rows *s, int r, kval slot, const kval *lifted) {
    nest_reduction q = now(s, r);
    kval state[5], next[5];
    states_get(s, r, slot, state);
    reduction_step(&s->e, &q, state, lifted, next);
    states_set(s, r, slot, next);
}

void states_settle(rows *s, int stage) {
    bool any = false;
    for (int r = 0; r < s->n->nreductions; r++) any |= in_stage(s, r, stage) && s->n->reductions[r].compensate;
    if (any && !s->settled) {
        kval i = s->copies > 1 ? unroll(s, s->copies) : index_of(s, 0);
        for (int r = 0; r < s->n->nreductions; r++) {
            kval state[5], whole[4];
            if (!in_stage(s, r, stage) || !s->n->reductions[r].compensate) continue;
            states_get(s, r, i, state);
            reduction_finish(&s->e, &s->n->reductions[r], state, whole);
            s->settled = true;
            states_set(s, r, i, whole);
            s->settled = false;
        }
        if (s->copies > 1) kb_end(s->e.k, i);
    }
    s->settled = true;
}

static void fold_at(rows *s, int r, kval slot, kval other, kval *both) {
    kval a[5], b[5];
    states_get(s, r, slot, a);
    states_get(s, r, other, b);
    states_combine(s, r, a, b, both);
}

/* All copies become two. */
static void fold(rows *s, int stage) {
    for (int half = s->copies / 2; half > 1; half /= 2) {
        kval i = unroll(s, half);
        for (int r = 0; r < s->n->nreductions; r++) {
            kval both[5];
            if (!in_stage(s, r, stage)) continue;
            fold_at(s, r, i, index_op(s, KOP_add, i, index_of(s, half)), both);
            states_set(s, r, i, both);
        }
        kb_end(s->e.k, i);
    }
}

/* ---- between threads: rows ---- */

static int log2_of(int n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }

/* Whether a combination of a and b may differ from that of b and a in its last bits: where others than the first thread use
 * it, all get the first one's. */
static bool is_lopsided(const nest_reduction *q) { return q->combine >= 0 && q->nstate > 2; }

static int width_of_stage(const rows *s, int stage) {
    int sum = 0;
    for (int r = 0; r < s->n->nreductions; r++) if (in_stage(s, r, stage)) sum += states_width(s, r);
    return sum;
}

/* Groups of `lanes` neighbouring lanes: var[c][r] of every lane becomes the combination of all. */
void states_butterfly(rows *s, int stage, int lanes, kval *const *var) {
    kernel *k = s->e.k;
    if (lanes == 1) return;
    kval i = kb_for(k, LOOP_UNROLL, T_I32, plain(s, 0), plain(s, log2_of(lanes)), plain(s, 1));
    kval distance = kb_op(k, KOP_shr, T_I32, plain(s, lanes / 2), i, 0);
    if (width_of_stage(s, stage) > 1) named_value(s, distance, "distance");
    for (int r = 0; r < s->n->nreductions; r++) {
        kval mine[5], other[5], both[5];
        if (!in_stage(s, r, stage)) continue;
        states_read(s, r, var, mine);
        for (int c = 0; c < states_width(s, r); c++) other[c] = kb_inst(k, K_SHUFFLE, type_of(s, r, c), SHUFFLE_XOR, mine[c], distance, (uint32_t)s->e.k->warp);
        states_combine(s, r, mine, other, both);
        states_write(s, r, var, both);
    }
    kb_end(k, i);
    for (int r = 0; r < s->n->nreductions; r++) {
        if (!in_stage(s, r, stage) || !is_lopsided(&s->n->reductions[r]) || s->n->nstages == 1) continue;
        for (int c = 0; c < states_width(s, r); c++) {
            kval all = kb_inst(k, K_GET, type_of(s, r, c), 0, var[c][r], 0, 0);
            kb_inst(k, K_SET, T_VOID, 0, var[c][r], kb_inst(k, K_SHUFFLE, type_of(s, r, c), SHUFFLE_INDEX, all, plain(s, 0), (uint32_t)lanes), 0);
        }
    }
}

void states_variables(rows *s, int r, const kval *first, const char *stem, kval **var) {
    for (int c = 0; c < states_width(s, r); c++) {
        var[c][r] = kb_inst(s->e.k, K_VAR, type_of(s, r, c), 0, first[c], 0, 0);
        name_state(s, var[c][r], r, c, stem, false);
    }
}

void states_table(rows *s, kval **table) {
    for (int c = 0; c < 5; c++) {
        table[c] = arena_zero(s->e.mem, (size_t)s->n->nreductions + 1, sizeof(kval));
        if (table[c]) continue;
        s->e.failed = true;
        table[c] = s->spare[c];
    }
}

kval states_shared(rows *s, int r, int c, int n, const char *before) {
    kval v = kb_inst(s->e.k, K_SHARED, type_of(s, r, c), 0, (uint32_t)n, 0, 0);
    name_state(s, v, r, c, before, true);
    return v;
}

/* The copies of a thread become one, in variables. */
static void fold_thread(rows *s, int stage) {
    kval *var[5];
    if (s->copies == 1) return;
    states_table(s, var);
    fold(s, stage);
    for (int r = 0; r < s->n->nreductions; r++) {
        kval both[5];
        if (!in_stage(s, r, stage)) continue;
        fold_at(s, r, index_of(s, 0), index_of(s, 1), both);
        states_variables(s, r, both, "warp_", var);
    }
    s->copies = 1;
    for (int c = 0; c < 5; c++) s->state[c] = var[c];
}

/* Through one word of shared memory a warp. */
static void combine_warps(rows *s, int stage, int warps) {
    kernel *k = s->e.k;
    int warp = k->warp;
    kval *shared[5], *var[5];
    states_table(s, shared);
    states_table(s, var);
    for (int r = 0; r < s->n->nreductions; r++)
        for (int c = 0; c < states_width(s, r); c++) if (in_stage(s, r, stage)) shared[c][r] = states_shared(s, r, c, warps, "warp_");
    kval leads = begin_if(s, named_value(s, compare(s, KOP_eq, s->lane, plain(s, 0)), "leads"));
    kval warp_number = index_op(s, KOP_div, s->worker, index_of(s, warp));
    for (int r = 0; r < s->n->nreductions; r++) {
        kval mine[5];
        if (!in_stage(s, r, stage)) continue;
        states_get(s, r, 0, mine);
        for (int c = 0; c < states_width(s, r); c++) kb_inst(k, K_STORE, T_VOID, 0, shared[c][r], warp_number, mine[c]);
    }
    kb_end(k, leads);
    kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    kval from = warps < warp ? kb_op(k, KOP_rem, T_I32, s->lane, plain(s, warps), 0) : s->lane;
    for (int r = 0; r < s->n->nreductions; r++) {
        kval of_warp[5];
        if (!in_stage(s, r, stage)) continue;
        for (int c = 0; c < states_width(s, r); c++) of_warp[c] = kb_inst(k, K_LOAD, type_of(s, r, c), 0, shared[c][r], from, 0);
        states_variables(s, r, of_warp, "block_", var);
    }
    for (int c = 0; c < 5; c++) s->state[c] = var[c];
    states_butterfly(s, stage, warps, s->state);
}

void states_combine_row(rows *s, int stage) {
    int warp = s->e.k->warp;
    fold_thread(s, stage);
    states_butterfly(s, stage, s->at.crew < warp ? s->at.crew : warp, s->state);
    if (s->at.crew > warp) combine_warps(s, stage, s->at.crew / warp);
}

/* ---- between threads: columns ---- */

/* Lanes of a warp that have the same results. */
static void combine_lanes(rows *s, int stage, int across) {
    kernel *k = s->e.k;
    int vector = s->at.vector;
    kval l = vector > 1 ? unroll(s, vector) : index_of(s, 0);
    kval i = kb_for(k, LOOP_UNROLL, T_I32, plain(s, 0), plain(s, log2_of(k->warp / across)), plain(s, 1));
    kval distance = kb_op(k, KOP_shr, T_I32, plain(s, k->warp / 2), i, 0);
    if (width_of_stage(s, stage) > 1) named_value(s, distance, "distance");
    for (int r = 0; r < s->n->nreductions; r++) {
        kval mine[5], other[5], both[5];
        if (!in_stage(s, r, stage)) continue;
        states_get(s, r, l, mine);
        for (int c = 0; c < states_width(s, r); c++) other[c] = kb_inst(k, K_SHUFFLE, type_of(s, r, c), SHUFFLE_XOR, mine[c], distance, k->warp);
        states_combine(s, r, mine, other, both);
        states_set(s, r, l, both);
    }
    kb_end(k, i);
    if (vector > 1) kb_end(k, l);
}

/* Every thread combines, in the same order, what all of its crew have left in shared memory; lanes with the same results have
 * combined theirs before. */
void states_combine_columns(rows *s, int stage) {
    kernel *k = s->e.k;
    int vector = s->at.vector, across = s->at.threads / s->at.crew, lines = s->at.crew;
    kval *shared[5], line_number = s->worker, leads = NO_VALUE;
    if (s->at.crew == 1) return;
    states_table(s, shared);
    if (across < k->warp) {
        combine_lanes(s, stage, across);
        lines = s->at.threads / k->warp;
        line_number = index_op(s, KOP_div, s->thread, index_of(s, k->warp));
    }
    for (int r = 0; r < s->n->nreductions; r++)
        for (int c = 0; c < states_width(s, r); c++) if (in_stage(s, r, stage)) shared[c][r] = states_shared(s, r, c, lines * across * vector, across < k->warp ? "warp_" : "thread_");
    for (int again = 0; again < 2; again++) {
        if (again) states_declare(s, stage);
        else if (across < k->warp) leads = begin_if(s, compare(s, KOP_lt, s->lane, plain(s, across)));
        kval w = again ? unroll(s, lines) : line_number, l = vector > 1 ? unroll(s, vector) : index_of(s, 0);
        kval line = index_op(s, KOP_add, index_op(s, KOP_mul, w, index_of(s, vector)), l);
        kval at = index_op(s, KOP_add, index_op(s, KOP_mul, line, index_of(s, across)), s->column);
        for (int r = 0; r < s->n->nreductions; r++) {
            kval mine[5], other[5], both[5];
            if (!in_stage(s, r, stage)) continue;
            states_get(s, r, l, mine);
            for (int c = 0; c < states_width(s, r); c++) {
                if (again) other[c] = kb_inst(k, K_LOAD, type_of(s, r, c), 0, shared[c][r], at, 0);
                else kb_inst(k, K_STORE, T_VOID, 0, shared[c][r], at, mine[c]);
            }
            if (!again) continue;
            states_combine(s, r, mine, other, both);
            states_set(s, r, l, both);
        }
        if (vector > 1) kb_end(k, l);
        if (again) kb_end(k, w);
        if (!again && leads != NO_VALUE) kb_end(k, leads);
        if (!again) kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    }
}

/* ---- in memory ---- */

void states_store(rows *s, kval slot, kval at) {
    for (int r = 0; r < s->n->nreductions; r++) {
        kval mine[5];
        states_get(s, r, slot, mine);
        for (int c = 0; c < states_width(s, r); c++) kb_inst(s->e.k, K_STORE, T_VOID, 0, (kval)s->partial[c][r], at, mine[c]);
    }
}

void states_add(rows *s, kval slot, kval at) {
    for (int r = 0; r < s->n->nreductions; r++) {
        kval mine[5], other[5], both[5];
        states_get(s, r, slot, mine);
        for (int c = 0; c < states_width(s, r); c++) other[c] = kb_inst(s->e.k, K_LOAD, type_of(s, r, c), 0, (kval)s->partial[c][r], at, 0);
        states_combine(s, r, mine, other, both);
        states_set(s, r, slot, both);
    }
}

bool states_memory(rows *s, int64_t count) {
    for (int r = 0; r < s->n->nreductions; r++)
        for (int c = 0; c < states_width(s, r); c++) {
            ktype t = type_of(s, r, c);
            int memory = builder_memory(s->b, count * ktype_table[t].size, false);
            const char *name = arena_text(s->e.mem, "partial_%s", state_name(s, r, c));
            if (memory < 0 || !name) return false;
            s->partial[c][r] = emitter_array(&s->e, name, t, (place){ PLACE_MEMORY, memory, 0 }, true, true);
            if (s->partial[c][r] < 0) return false;
        }
    return true;
}

/* ---- results ---- */

void states_publish(rows *s, int stage, kval slot) {
    for (int r = 0; r < s->n->nreductions; r++) {
        nest_reduction q = now(s, r);
        kval state[5], shown[4];
        if (q.scan || !in_stage(s, r, stage)) continue;
        states_get(s, r, slot, state);
        reduction_finish(&s->e, &q, state, shown);
        for (int c = 0; c < q.nstate; c++) s->e.reduced[c][r] = shown[c];
    }
}

void states_forget(rows *s) {
    for (int r = 0; r < s->n->nreductions; r++) for (int c = 0; c < 4; c++) s->e.reduced[c][r] = NO_VALUE;
}
