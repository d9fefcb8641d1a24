/* liveness.c: from which step to which each piece of a plan's memory is in use, and which pieces share a block.
 *
 * How it works: steps are looked through once for the memory they name. Results keep a buffer of their own; temporaries
 * take, in the order in which their lives begin, the free block that fits best. */
#include <string.h>
#include "ir/plan/internal.h"

static void touch(plan *p, const place *at, int step) {
    if (at->kind != PLACE_MEMORY) return;
    plan_memory *q = &p->memory[at->index];
    if (q->first_step < 0) q->first_step = step;
    q->last_step = step;
}

static void find_lives(plan *p) {
    for (int i = 0; i < p->nmemory; i++) p->memory[i].first_step = p->memory[i].last_step = -1;
    for (int i = 0; i < p->nsteps; i++) {
        const plan_step *s = &p->steps[i];
        for (int j = 0; j < s->nargs; j++) if (s->args[j].kind == ARG_POINTER) touch(p, &s->args[j].at, i);
        for (int j = 0; j < s->nin + s->nout && s->kind == STEP_OPAQUE; j++) touch(p, &s->operands[j].at, i);
        if (s->kind != STEP_COPY) continue;
        touch(p, &s->from, i);
        touch(p, &s->to, i);
    }
    for (int i = 0; i < p->nresults; i++) touch(p, &p->results[i].at, p->nsteps);
}

typedef struct block { int64_t bytes; int last_step; } block;

static int choose_block(const block *blocks, int n, const plan_memory *q) {
    int best = -1;
    for (int i = 0; i < n; i++) {
        if (blocks[i].last_step >= q->first_step) continue;
        if (best < 0) { best = i; continue; }
        bool fits = blocks[i].bytes >= q->bytes, best_fits = blocks[best].bytes >= q->bytes;
        if (fits != best_fits ? fits : fits ? blocks[i].bytes < blocks[best].bytes : blocks[i].bytes > blocks[best].bytes) best = i;
    }
    return best;
}

static bool temporary(const plan *p, const plan_memory *q) { return q->reuses_leaf < 0 && q->first_step >= 0 && q->last_step < p->nsteps; }

kn_status plan_liveness(plan *p, arena *scratch, message *m) {
    block *blocks = arena_alloc(scratch, ((size_t)p->nmemory + 1) * sizeof *blocks);
    uint32_t *first = arena_zero(scratch, (size_t)p->nsteps + 3, sizeof *first), *order = arena_alloc(scratch, ((size_t)p->nmemory + 1) * sizeof *order);
    if (!blocks || !first || !order) return fail_memory(m, "making a plan");
    find_lives(p);
    int nblocks = 0;
    p->peak_bytes = 0;
    for (int i = 0; i < p->nmemory; i++) if (p->memory[i].first_step >= 0) first[p->memory[i].first_step + 1]++;
    for (int i = 0; i <= p->nsteps; i++) first[i + 1] += first[i];
    uint32_t n = first[p->nsteps + 1];
    for (int i = 0; i < p->nmemory; i++) if (p->memory[i].first_step >= 0) order[first[p->memory[i].first_step]++] = (uint32_t)i;
    for (uint32_t i = 0; i < n; i++) {
        plan_memory *q = &p->memory[order[i]];
        if (!temporary(p, q)) continue;
        int b = choose_block(blocks, nblocks, q);
        if (b < 0) blocks[b = nblocks++] = (block){ 0, 0 };
        if (q->bytes > blocks[b].bytes) blocks[b].bytes = q->bytes;
        blocks[b].last_step = q->last_step;
        q->block = b;
    }
    for (int i = 0; i < nblocks; i++) p->peak_bytes += blocks[i].bytes;
    for (int i = 0; i < p->nmemory; i++) if (p->memory[i].block < 0 && p->memory[i].reuses_leaf < 0) p->peak_bytes += p->memory[i].bytes;
    return KN_OK;
}
