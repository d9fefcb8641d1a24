/* schedule_gpu_row.c: chains of reductions over the same axes on a GPU (softmax, layer norm): where the elements stay between them.
 *
 * How it works: a crew takes a whole row at once, a few vectors a thread, and what later stages need of every element stays
 * in registers: memory is read once. Rows too long for that are read again by every stage; where there are so few of them
 * that the device would idle, every stage becomes a nest of its own, whose results the next one reads from memory. The
 * kernels themselves are schedule_gpu_rows.c's, the nests schedule_gpu_apart.c's. */
#include "ir/plan/schedule_gpu_rows.h"

#define KEPT_WORDS 64            /* 32-bit registers of a thread for values that are kept */
#define USUAL_SLOTS 8            /* elements of a thread, where nothing asks for more */
#define WARP_SLOTS 16            /* rather than a second warp, which costs barriers */
#define MOST_THREADS 512
#define SECTOR 8                 /* neighbouring threads at least */
#define SHARED_BYTES 32768

/* ---- rows in registers ---- */

/* Threads for a row of so many elements; 0: it does not fit. */
static int crew_for(int64_t size, int kept, int warp) {
    int64_t slots = kept ? KEPT_WORDS / kept : USUAL_SLOTS, crew = rows_power_up(div_up(size, USUAL_SLOTS));
    if (crew > warp && size <= (int64_t)warp * WARP_SLOTS && WARP_SLOTS <= slots) crew = warp;
    if (crew > MOST_THREADS) crew = MOST_THREADS;
    while (crew < MOST_THREADS && div_up(size, crew) > slots) crew *= 2;
    return div_up(size, crew) > slots || div_up(size, crew) > 32 ? 0 : (int)crew;
}

static bool row_once(rows *s, int kept) {
    rows_shape *a = &s->at;
    int crew = crew_for(s->size, kept, s->p->warp);
    if (!crew) return false;
    while (crew > 1 && (int64_t)crew / 2 * a->vector >= s->size) crew /= 2;   /* no thread without an element */
    a->crew = crew;
    a->threads = crew > 256 || crew > s->p->warp ? crew : 256;
    a->steps = (int)div_up(s->size, (int64_t)crew * a->vector);
    a->whole = s->size % ((int64_t)crew * a->vector) == 0;
    a->copies = 1;
    a->once = true;
    return true;
}

/* Threads lie along at least a sector of memory; the longer the columns, the fewer columns a block takes. */
static bool column_once(rows *s, int kept) {
    rows_shape *a = &s->at;
    int64_t crew = s->size <= USUAL_SLOTS ? 1 : rows_power_up(div_up(s->size, WARP_SLOTS));
    if (s->size * a->vector > 2 * WARP_SLOTS) a->vector = 1;
    if (crew > MOST_THREADS / SECTOR) crew = MOST_THREADS / SECTOR;
    int64_t across = crew * 32 <= MOST_THREADS ? 32 : MOST_THREADS / crew, steps = div_up(s->size, crew);
    a->threads = (int)(crew * across > 256 ? crew * across : 256);
    if (steps * a->vector * (kept ? kept : 1) > KEPT_WORDS || 4 * rows_state_words(s->n) * a->threads * a->vector > SHARED_BYTES) return false;
    a->crew = (int)crew;
    a->steps = (int)steps;
    a->whole = s->size % crew == 0;
    a->copies = a->vector;
    a->once = true;
    return true;
}

/* ---- the schedule ---- */

kn_status schedule_gpu_row(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m) {
    rows s;
    *done = false;
    if (apart_is_mixed(n)) {
        *done = true;
        return apart_stages(n, p, b, m);
    }
    if (!rows_are_simple(n)) return KN_OK;
    int atom = rows_contiguous_atom(n);
    if (!rows_init(&s, n, p, b, atom)) return fail_memory(m, "scheduling a row");
    s.at.columns = !n->atoms[atom].reduced;
    s.at.vector = rows_vector(n, atom, 4, false);
    *done = true;
    int kept = rows_kept_words(&s);
    if (s.at.columns ? column_once(&s, kept) : row_once(&s, kept)) return rows_schedule(&s, m);
    if (rows_are_few(&s) && apart_stages_apply(n)) return apart_stages(n, p, b, m);
    rows_loop_shape(&s, false);
    return rows_schedule(&s, m);
}
