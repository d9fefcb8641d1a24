/* schedule_gpu_reduce.c: reductions in one pass on a GPU: which threads reduce what.
 *
 * How it works: vectors, and with them neighbouring threads, go along the atom that most memory is contiguous in. If that is
 * a reduced one, a crew reduces a row; how long the row is decides how many threads that are. If it is not, every thread
 * reduces columns of its own, or the threads of a block share them. Where the results alone would not keep a device
 * busy, R is cut into chunks, each reduced by a block. All of this depends on extents, strides and the target's warps, never
 * on the device, so that sums are the same everywhere. The kernels themselves are schedule_gpu_rows.c's. */
#include "ir/plan/schedule_gpu_rows.h"

#define FEW_BLOCKS 256           /* fewer than these leave devices idle: rows are cut */
#define MANY_BLOCKS 2048         /* what cutting aims at */
#define LEAST_CHUNK 8192
#define STATE_WORDS 32           /* registers of a thread for states while it goes over R */
#define SHARED_BYTES 20480       /* of a block, and once more where the last block combines */
#define LINE 32                  /* columns side by side */
#define LONG_COLUMN 1024
#define ENOUGH_COLUMNS 65536     /* a thread each keeps a device busy */
#define FEW_ADDITIONS 8          /* one after the other, before sums carry their errors */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t rows_power_up(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}
static int64_t power_down(int64_t n) {
    int64_t p = 1;
    while (2 * p <= n) p *= 2;
    return p;
}

/* How much of the memory that is read lies along this atom. */
static int64_t contiguous(const nest *n, int a) {
    int64_t score = 0;
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        int64_t unit = x->pair ? 2 : 1, stride = x->kind == EXPR_LOAD ? x->at.stride[a] : 0;
        if (x->kind == EXPR_LOAD && (stride == unit || stride == -unit)) score += 4;
    }
    for (int i = 0; i < n->nstores; i++) if (n->stores[i].at.stride[a] == (n->stores[i].pair ? 2 : 1)) score++;
    return score;
}

int rows_contiguous_atom(const nest *n) {
    int best = -1;
    for (int a = 0; a < n->natoms; a++) {
        int64_t here = contiguous(n, a), there = best < 0 ? -1 : contiguous(n, best);
        if (here > there || (here == there && n->atoms[a].reduced)) best = a;
    }
    return best;
}

int rows_vector(const nest *n, int atom, int most, bool rest) {
    for (int v = most; v > 1; v /= 2)
        if (n->atoms[atom].extent >= v && (rest || n->atoms[atom].extent % v == 0) && pass_takes_vectors(n, atom, v)) return v;
    return 1;
}

/* Threads of a row of so many vectors. */
static int row_crew(int64_t vectors, int warp) {
    if (vectors <= 4) return 1;
    if (vectors < 2 * warp) return (int)smaller(power_down(vectors / 2), warp / 2);
    if (vectors <= 512) return warp;
    return vectors <= 1024 ? 128 : vectors <= 4096 ? 256 : 512;
}

bool rows_are_few(const rows *s) {
    if (s->at.columns) return s->results < FEW_BLOCKS * LINE && s->size >= LONG_COLUMN;
    return s->results < FEW_BLOCKS && s->size >= 2 * LEAST_CHUNK;
}

static bool is_whole(int64_t size, int64_t each) { return size % each == 0; }

/* Vectors that are loaded at a time, sums that do not wait for each other. */
static void row_steps(rows *s, int words) {
    rows_shape *a = &s->at;
    int64_t taken = a->chunk ? a->chunk : s->size, each = (int64_t)a->crew * a->vector;
    a->steps = a->crew >= 256 ? 4 : a->crew > 32 ? 2 : 1;
    while (a->steps > 1 && (taken < 2 * each * a->steps || a->steps * a->vector > 16 || a->steps * a->vector * words > STATE_WORDS)) a->steps /= 2;
    if (!is_whole(s->size, each * a->steps) && is_whole(s->size, each)) while (taken < 8 * each * a->steps && a->steps > 1) a->steps /= 2;
    a->copies = a->steps * a->vector * words <= STATE_WORDS ? a->steps * a->vector : 1;
    a->whole = is_whole(s->size, a->chunk ? a->chunk : each * a->steps);
    a->rest = !a->whole && (a->steps > 1 || s->size % a->vector);
    if (a->rest) a->whole = true;
    a->carry = taken / (a->crew * a->copies) > FEW_ADDITIONS;
}

static void row_shape(rows *s, int warp, bool cut) {
    rows_shape *a = &s->at;
    int words = rows_state_words(s->n);
    a->crew = row_crew(s->size / a->vector, warp);
    a->threads = a->crew > 256 ? a->crew : 256;
    if (a->crew > warp) a->threads = a->crew;
    if (cut && rows_are_few(s)) {
        a->chunk = larger(power_down(s->size * s->results / MANY_BLOCKS), LEAST_CHUNK);
        a->crew = a->threads = 512;
    }
    row_steps(s, words);
}

static int shared_words(const rows *s) { return s->at.threads * s->at.vector * rows_state_words(s->n); }

static void column_shape(rows *s, bool cut) {
    rows_shape *a = &s->at;
    a->threads = 256;
    if (4 * shared_words(s) > SHARED_BYTES || a->vector * rows_state_words(s->n) > STATE_WORDS) a->vector = 1;
    int64_t vectors = s->results / a->vector, across;
    a->crew = 1;
    a->steps = 1;
    if (vectors < ENOUGH_COLUMNS && s->size >= 8 && 4 * shared_words(s) <= SHARED_BYTES) {
        across = smaller(rows_power_up(vectors), LINE);
        a->crew = (int)larger(smaller(a->threads / across, power_down(s->size / 2)), 1);
    }
    across = a->threads / a->crew;
    int64_t blocks = (vectors + across - 1) / across;
    if (cut && a->crew > 1 && blocks < FEW_BLOCKS && s->size >= 64 * a->crew)
        a->chunk = larger(power_down(s->size * blocks / MANY_BLOCKS), 16 * a->crew);
    a->copies = a->vector;
    a->whole = is_whole(s->size, larger(a->chunk, a->crew));
    a->carry = (a->chunk ? a->chunk : s->size) / a->crew > FEW_ADDITIONS;
}

void rows_loop_shape(rows *s, bool cut) {
    if (s->at.columns) column_shape(s, cut);
    else row_shape(s, s->p->warp, cut);
}

bool rows_have_atoms(const nest *n) {
    for (int a = 0; a < n->natoms; a++) if (n->atoms[a].reduced) return true;
    return false;
}

bool rows_are_simple(const nest *n) {
    if (!rows_have_atoms(n)) return false;
    for (int r = 0; r < n->nreductions; r++) if (n->reductions[r].scan || n->reductions[r].ordered) return false;
    return n->nreductions > 0 && !n->serial && n->nstages < ROWS_STAGES;
}

static bool in_one_pass(const nest *n) {
    for (int r = 0; r < n->nreductions; r++) if (reduction_stage(n, &n->reductions[r]) > 0) return false;
    for (int i = 0; i < n->nstores; i++) if (is_inner_store(n, i) && n->exprs[n->stores[i].value].stage > 0) return false;
    return rows_are_simple(n);
}

kn_status schedule_gpu_reduce(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m) {
    rows s;
    *done = false;
    if (!in_one_pass(n)) return KN_OK;
    int atom = rows_contiguous_atom(n);
    if (!rows_init(&s, n, p, b, atom)) return fail_memory(m, "scheduling a reduction");
    s.at.columns = !n->atoms[atom].reduced;
    s.at.vector = rows_vector(n, atom, 16, !s.at.columns && s.ninner == 1);
    rows_loop_shape(&s, true);
    *done = true;
    return rows_schedule(&s, m);
}
