/* schedule_gpu.c: a nest as kernel IR for a GPU.
 *
 * How it works: the schedules of each shape are asked in turn; they are files of their own. What none of them takes (a single
 * value, an order to keep) is made here: threads enumerate the outer atoms, innermost fastest, and each runs its reductions
 * over R in order. How expressions are made is emit.c's. */
#include <string.h>
#include "ir/plan/schedule_gpu.h"

#define THREADS 256

typedef struct gpu_schedule {
    const nest *n;
    emitter e;
    int outer[NEST_ATOMS], nouter, inner[NEST_ATOMS], ninner;
    int32_t total;
    kval *state[5];
    bool *needed;
} gpu_schedule;

static kval serial_loop(gpu_schedule *s, kval end) {
    return kb_for(s->e.k, LOOP_SERIAL, s->e.index, emitter_integer(&s->e, 0), end, emitter_integer(&s->e, 1));
}

/* What the loops of a stage (or, with stage < 0, the results after all stages) need. */
static bool need(gpu_schedule *s, int stage) {
    const nest *n = s->n;
    bool any = false;
    memset(s->needed, 0, (size_t)n->nexprs);
    for (int r = 0; r < n->nreductions; r++) {
        if (stage < 0 || reduction_stage(n, &n->reductions[r]) != stage) continue;
        any = true;
        for (int c = 0; c < n->reductions[r].nstate; c++) nest_closure(n, s->needed, n->reductions[r].lifted[c]);
    }
    for (int i = 0; i < n->nstores; i++) {
        bool inner = is_inner_store(n, i);
        if (inner != (stage >= 0) || (inner && n->exprs[n->stores[i].value].stage != stage)) continue;
        any = true;
        nest_closure(n, s->needed, n->stores[i].value);
        if (n->stores[i].index >= 0) nest_closure(n, s->needed, (uint32_t)n->stores[i].index);
    }
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        if (x->kind != EXPR_FAULT || x->inner != (stage >= 0) || (x->inner && x->stage != stage)) continue;
        any = true;
        nest_closure(n, s->needed, (uint32_t)i);
    }
    return any;
}

static void body(gpu_schedule *s, int stage) {
    const nest *n = s->n;
    emitter *e = &s->e;
    emitter_ready(e, s->needed);
    for (int r = 0; r < n->nreductions && stage >= 0; r++) {
        const nest_reduction *q = &n->reductions[r];
        if (reduction_stage(n, q) != stage) continue;
        kval state[5], lifted[4], next[5], shown[4];
        for (int c = 0; c < reduction_width(q); c++) state[c] = kb_inst(e->k, K_GET, reduction_type(q, c), 0, s->state[c][r], 0, 0);
        for (int c = 0; c < q->nstate; c++) lifted[c] = emitter_value(e, q->lifted[c]);
        reduction_step(e, q, state, lifted, next);
        for (int c = 0; c < reduction_width(q); c++) kb_inst(e->k, K_SET, T_VOID, 0, s->state[c][r], next[c], 0);
        if (!q->scan) continue;
        reduction_finish(e, q, next, shown);
        for (int c = 0; c < q->nstate; c++) e->reduced[c][r] = shown[c];
    }
    emitter_ready(e, s->needed);
    for (int i = 0; i < n->nexprs; i++) if (n->exprs[i].kind == EXPR_FAULT && s->needed[i]) emitter_fault(e, (uint32_t)i);
    for (int i = 0; i < n->nstores; i++) {
        bool inner = is_inner_store(n, i);
        if (inner == (stage >= 0) && (!inner || n->exprs[n->stores[i].value].stage == stage)) emitter_store(e, i, 0);
    }
    for (int r = 0; r < n->nreductions; r++) if (n->reductions[r].scan) for (int c = 0; c < 4; c++) e->reduced[c][r] = NO_VALUE;
}

static void stage_loops(gpu_schedule *s, int stage) {
    const nest *n = s->n;
    emitter *e = &s->e;
    kval opened[NEST_ATOMS];
    emitter_ready(e, s->needed);
    for (int i = 0; i < s->ninner; i++) {
        opened[i] = serial_loop(s, emitter_extent(e, s->inner[i]));
        emitter_open(e, s->inner[i], opened[i]);
        emitter_ready(e, s->needed);
    }
    body(s, stage);
    for (int i = s->ninner; i-- > 0;) {
        emitter_close(e, s->inner[i]);
        kb_end(e->k, opened[i]);
    }
    for (int r = 0; r < n->nreductions; r++) {
        const nest_reduction *q = &n->reductions[r];
        if (reduction_stage(n, q) != stage || q->scan) continue;
        kval state[5], shown[4];
        for (int c = 0; c < reduction_width(q); c++) state[c] = kb_inst(e->k, K_GET, reduction_type(q, c), 0, s->state[c][r], 0, 0);
        reduction_finish(e, q, state, shown);
        for (int c = 0; c < q->nstate; c++) e->reduced[c][r] = shown[c];
    }
}

/* One thread's work: its place among the outer atoms, its reductions, its results. */
static void thread_body(gpu_schedule *s, kval linear) {
    emitter *e = &s->e;
    kernel *k = e->k;
    kval rest = linear;
    for (int i = s->nouter; i-- > 0;) {
        kval index = rest, extent = emitter_extent(e, s->outer[i]);
        if (i) {
            kval next = kb_op(k, KOP_div, e->index, rest, extent, 0);
            index = kb_op(k, KOP_sub, e->index, rest, kb_op(k, KOP_mul, e->index, next, extent, 0), 0);
            rest = next;
        }
        emitter_open(e, s->outer[i], index);
    }
    for (int r = 0; r < s->n->nreductions; r++)
        for (int c = 0; c < reduction_width(&s->n->reductions[r]); c++)
            s->state[c][r] = kb_inst(k, K_VAR, reduction_type(&s->n->reductions[r], c), 0, reduction_identity(e, &s->n->reductions[r], c), 0, 0);
    for (int stage = 0; stage <= s->n->nstages; stage++) if (need(s, stage)) stage_loops(s, stage);
    if (need(s, -1)) body(s, -1);
    for (int i = s->nouter; i-- > 0;) emitter_close(e, s->outer[i]);
}

static bool prepare(gpu_schedule *s, arena *mem, int64_t threads) {
    const nest *n = s->n;
    for (int a = 0; a < n->natoms; a++) {
        if (n->atoms[a].reduced) s->inner[s->ninner++] = a;
        else s->outer[s->nouter++] = a;
    }
    s->needed = arena_zero(mem, (size_t)n->nexprs + 1, 1);
    for (int c = 0; c < 5; c++) if (!(s->state[c] = arena_zero(mem, (size_t)n->nreductions + 1, sizeof(kval)))) return false;
    if (!s->needed || !emitter_init(&s->e, n, emitter_index_type(n, THREADS), mem)) return false;
    s->total = emitter_param(&s->e, "n", s->e.index, (plan_arg){ .kind = ARG_INTEGER, .value = threads });
    return s->total >= 0 && emitter_start(&s->e, n->name);
}

kn_status schedule_gpu(const nest *n, const device_profile *p, plan_builder *b, message *m) {
    static kn_status (*const shapes[])(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m) = {
        schedule_gpu_reduce, schedule_gpu_row, schedule_gpu_scan, schedule_gpu_tile, schedule_gpu_map };
    bool done = false;
    kn_status status = KN_OK;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !status && !done; i++) status = shapes[i](n, p, b, &done, m);
    if (status || done) return status;
    gpu_schedule s = { .n = n };
    int64_t threads = 1, work = n->nexprs + 1;
    for (int a = 0; a < n->natoms; a++) {
        if (!n->atoms[a].reduced) threads *= n->atoms[a].extent;
        work *= n->atoms[a].extent;
    }
    if (!prepare(&s, builder_arena(b), threads)) return fail_memory(m, "scheduling a kernel");
    emitter *e = &s.e;
    kernel *k = e->k;
    k->block[0] = n->serial ? 1 : THREADS;
    k->block[1] = k->block[2] = 1;
    k->warp = (uint16_t)p->warp;
    int64_t blocks = n->serial ? 1 : (threads + THREADS - 1) / THREADS;
    kval zero = emitter_integer(e, 0), one = emitter_integer(e, 1), size = emitter_integer(e, k->block[0]);
    kval count = n->serial ? one : kb_op(k, KOP_div, e->index, kb_op(k, KOP_add, e->index, (kval)s.total, emitter_integer(e, THREADS - 1), 0), size, 0);
    kval block = kb_for(k, LOOP_GRID, e->index, zero, count, one), thread = kb_for(k, LOOP_BLOCK, e->index, zero, size, one);
    kval linear = kb_op(k, KOP_add, e->index, kb_op(k, KOP_mul, e->index, block, size, 0), thread, 0);
    emitter_push(e);
    kval opened = n->serial ? serial_loop(&s, (kval)s.total) : kb_inst(k, K_IF, T_VOID, 0, kb_op(k, KOP_lt, T_BOOL, linear, (kval)s.total, 0), 0, 0);
    emitter_push(e);
    thread_body(&s, n->serial ? opened : linear);
    emitter_pop(e);
    kb_end(k, opened);
    emitter_pop(e);
    kb_end(k, thread);
    kb_end(k, block);
    if (e->failed || !kernel_ok(k)) return fail_memory(m, "scheduling a kernel");
    plan_step *step = builder_step(b, STEP_KERNEL);
    if (!step) return fail_memory(m, "scheduling a kernel");
    step->code = k;
    step->args = e->args;
    step->nargs = (int)e->nparams;
    step->grid[0] = blocks;
    step->grid[1] = step->grid[2] = 1;
    step->serial = n->serial;
    step->work = work;
    step->note = n->note;
    return KN_OK;
}
