/* schedule_gpu_rows.c: the kernel around a reduction or a chain of them: blocks, crews, stages, and the block that finishes last.
 *
 * How it works: with `chunk` several blocks share a result. Each stores its states, fences and counts itself; the one that finds
 * all others counted combines the states in the order of their blocks and sets the counter back to 0 for the next launch. */
#include <string.h>
#include "ir/plan/schedule_gpu_rows.h"

/* ---- preparing ---- */

static int64_t product(const nest *n, bool reduced) {
    int64_t size = 1;
    for (int a = 0; a < n->natoms; a++) if (n->atoms[a].reduced == reduced) size *= n->atoms[a].extent;
    return size;
}

static void list_atoms(rows *s, int last) {
    for (int a = 0; a < s->n->natoms; a++) {
        if (a == last) continue;
        if (s->n->atoms[a].reduced) s->inner[s->ninner++] = a;
        else s->outer[s->nouter++] = a;
    }
    if (last < 0) return;
    if (s->n->atoms[last].reduced) s->inner[s->ninner++] = last;
    else s->outer[s->nouter++] = last;
}

bool rows_init(rows *s, const nest *n, const device_profile *p, plan_builder *b, int vector_atom) {
    arena *mem = builder_arena(b);
    *s = (rows){ .n = n, .p = p, .b = b, .results = product(n, false), .size = product(n, true), .first_element = NO_VALUE, .inside = NO_VALUE, .counter = NO_VALUE, .waiting = NO_VALUE };
    list_atoms(s, vector_atom);
    size_t nexprs = (size_t)n->nexprs + 1, nstores = (size_t)n->nstores + 1;
    s->needed = arena_zero(mem, nexprs, 1);
    s->kept = arena_zero(mem, nexprs, 1);
    s->ahead = arena_zero(mem, nexprs, 1);
    s->first = arena_zero(mem, nexprs, 1);
    s->array = arena_zero(mem, nexprs, sizeof *s->array);
    s->stored = arena_zero(mem, nstores, sizeof *s->stored);
    if (!s->needed || !s->kept || !s->ahead || !s->first || !s->array || !s->stored) return false;
    for (int c = 0; c < 5; c++) {
        s->state[c] = arena_zero(mem, (size_t)n->nreductions + 1, sizeof *s->state[c]);
        s->partial[c] = arena_zero(mem, (size_t)n->nreductions + 1, sizeof *s->partial[c]);
        if (!s->state[c] || !s->partial[c]) return false;
        s->spare[c] = s->state[c];
    }
    return true;
}

int rows_kept_words(rows *s) {
    int words = 0;
    s->at.once = true;
    for (int i = 0; i <= s->n->nstages; i++) pass_need(s, i);
    for (int i = 0; i < s->n->nexprs; i++)
        if (s->kept[i]) words += ktype_table[ktype_value(s->n->exprs[i].type)].size > 4 ? 2 : 1;
    memset(s->kept, 0, (size_t)s->n->nexprs);
    memset(s->first, 0, (size_t)s->n->nexprs);
    s->at.once = false;
    return words;
}

int rows_state_words(const nest *n) {
    int words = 0;
    for (int r = 0; r < n->nreductions; r++)
        for (int c = 0; c < reduction_width(&n->reductions[r]); c++) words += ktype_table[reduction_type(&n->reductions[r], c)].size > 4 ? 2 : 1;
    return words;
}

static int64_t each_step(const rows *s) { return s->at.crew * (int64_t)s->at.steps * (s->at.columns ? 1 : s->at.vector); }
static int64_t cuts(const rows *s) { return s->at.chunk ? div_up(s->size, s->at.chunk) : 1; }

/* Results that a block takes. */
static int64_t block_results(const rows *s) { return (int64_t)(s->at.threads / s->at.crew) * (s->at.columns ? s->at.vector : 1); }

/* NO_PARAM: there are no such atoms, the count is 1. */
static int32_t count_param(rows *s, const char *name, const int *atoms, int n, int64_t count) {
    if (!n) return NO_PARAM;
    if (n == 1) {
        s->e.params[s->e.extent[atoms[0]]].name = name;
        return s->e.extent[atoms[0]];
    }
    return emitter_param(&s->e, name, s->e.index, (plan_arg){ .kind = ARG_INTEGER, .value = count });
}

/* Vectors are loaded before they are used; so is everything that several steps can load at a time. */
static void choose_ahead(rows *s) {
    int atom = s->at.vector == 1 ? -1 : s->at.columns ? s->outer[s->nouter - 1] : s->inner[s->ninner - 1];
    for (int i = 0; i < s->n->nexprs; i++) {
        const expr *x = &s->n->exprs[i];
        bool plain_one = x->kind == EXPR_LOAD && !x->nargs && x->index < 0;
        s->ahead[i] = plain_one && (atom >= 0 ? x->at.stride[atom] != 0 : x->inner);
    }
}

static bool start(rows *s) {
    arena *mem = builder_arena(s->b);
    choose_ahead(s);
    for (int i = 0; i <= s->n->nstages; i++) pass_need(s, i);   /* tells what is kept */
    if (!emitter_init(&s->e, s->n, emitter_index_type(s->n, 4 * each_step(s) + s->at.chunk + block_results(s)), mem)) return false;
    for (int g = 0; g < s->e.ngroups; g++) s->e.params[s->e.groups[g].pointer].aligned = s->n->operands[s->e.groups[g].operand].aligned && s->e.args[s->e.groups[g].pointer].at.offset % 16 == 0;
    s->results_param = count_param(s, s->at.columns ? "columns" : "rows", s->outer, s->nouter, s->results);
    s->size_param = count_param(s, s->at.columns ? "rows" : s->nouter ? "columns" : "n", s->inner, s->ninner, s->size);
    s->apart = (int64_t)s->at.crew * (s->at.columns ? 1 : s->at.vector);
    if (s->scan && s->at.chunk && !scan_memory(s, cuts(s))) return false;
    if (s->at.chunk && !s->scan) {
        int64_t counters = s->at.columns ? div_up(s->results, block_results(s)) : s->results;
        int memory = builder_memory(s->b, counters * 4, true);
        s->settled = true;
        if (memory < 0 || !states_memory(s, s->results * cuts(s))) return false;
        s->count_param = emitter_array(&s->e, "finished", T_U32, (place){ PLACE_MEMORY, memory, 0 }, true, true);
    }
    if (s->at.chunk) s->cuts_param = emitter_param(&s->e, "blocks", s->e.index, (plan_arg){ .kind = ARG_INTEGER, .value = cuts(s) });
    if (!emitter_start(&s->e, s->n->name)) return false;
    kernel *k = s->e.k;
    k->block[0] = (uint16_t)s->at.threads;
    k->block[1] = k->block[2] = 1;
    k->warp = (uint16_t)s->p->warp;
    k->ordered = s->scan && s->at.chunk;
    k->resident = (uint16_t)s->at.resident;
    return true;
}

static kval results_count(rows *s) { return s->results_param < 0 ? index_of(s, 1) : (kval)s->results_param; }

/* ---- stages ---- */

static void stage(rows *s, int number) {
    if (!pass_need(s, number)) return;
    bool any = false;
    for (int r = 0; r < s->n->nreductions; r++) any |= in_stage(s, r, number);
    s->settled = !s->at.carry;
    if (any) states_declare(s, number);
    pass_run(s, number);
    if (!any) return;
    states_settle(s, number);
    if (s->at.columns) {
        states_combine_columns(s, number);
    } else {
        states_combine_row(s, number);
        if (!s->at.chunk) states_publish(s, number, index_of(s, 0));
    }
}

/* ---- several blocks a result ---- */

/* Calls with the place of the state of block `cut` for every result of this thread. */
static void each_state(rows *s, kval row, kval cut, void (*use)(rows *s, kval slot, kval at)) {
    if (!s->at.columns) {
        use(s, index_of(s, 0), index_op(s, KOP_add, index_op(s, KOP_mul, row, (kval)s->cuts_param), cut));
        return;
    }
    kval first = index_op(s, KOP_add, index_op(s, KOP_mul, cut, results_count(s)), row);
    if (s->at.vector == 1) { use(s, index_of(s, 0), first); return; }
    kval l = unroll(s, s->at.vector);
    use(s, l, index_op(s, KOP_add, first, l));
    kb_end(s->e.k, l);
}

/* row: the thread's first result; counter: number of the block's counter. */
static void finish_cut(rows *s, kval row, kval counter, kval cut) {
    kernel *k = s->e.k;
    kval zero = index_of(s, 0), finished = kb_inst(k, K_SHARED, T_U32, 0, 1, 0, 0), one = kb_const_int(k, T_U32, 1);
    kb_name(k, finished, "before");
    kval leads = begin_if(s, named_value(s, compare(s, KOP_eq, s->worker, zero), "is_first"));
    each_state(s, row, cut, states_store);
    kb_inst(k, K_FENCE, T_VOID, 0, 0, 0, 0);
    if (s->at.columns) {
        kb_end(k, leads);
        kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
        leads = begin_if(s, kb_op(k, KOP_and, T_BOOL, compare(s, KOP_eq, s->worker, zero), compare(s, KOP_eq, s->column, zero), 0));
    }
    kb_inst(k, K_STORE, T_VOID, 0, finished, zero, kb_inst(k, K_ATOMIC, T_U32, ATOMIC_ADD, (kval)s->count_param, counter, one));
    kb_end(k, leads);
    kb_inst(k, K_BARRIER, T_VOID, 0, 0, 0, 0);
    kval all = index_op(s, KOP_add, kb_op(k, KOP_convert, s->e.index, kb_inst(k, K_LOAD, T_U32, 0, finished, zero, 0), 0, 0), index_of(s, 1));
    kval last = begin_if(s, compare(s, KOP_eq, all, (kval)s->cuts_param));
    emitter_push(&s->e);
    kb_comment(k, "the last block: all states are there");
    kb_inst(k, K_FENCE, T_VOID, 0, 0, 0, 0);
    rows_shape shape = s->at;
    s->at.copies = shape.columns ? shape.vector : 1;
    states_declare(s, 0);
    kval i = kb_for(k, LOOP_SERIAL, s->e.index, s->worker, (kval)s->cuts_param, index_of(s, s->at.crew));
    each_state(s, row, i, states_add);
    kb_end(k, i);
    if (s->at.columns) states_combine_columns(s, 0);
    else states_combine_row(s, 0);
    if (!s->at.columns) states_publish(s, 0, zero);
    s->counter = counter;
    pass_results(s);
    s->at = shape;
    emitter_pop(&s->e);
    kb_end(k, last);
}

/* ---- kernels ---- */

static kval smaller(rows *s, kval a, kval b) { return kb_op(s->e.k, KOP_select, s->e.index, compare(s, KOP_lt, a, b), a, b); }

/* The part of R that block number `cut` of a result takes. */
static void take_chunk(rows *s, kval cut) {
    s->first_element = named_value(s, index_op(s, KOP_mul, cut, index_of(s, s->at.chunk)), "base");
    kval end = index_op(s, KOP_add, s->first_element, index_of(s, s->at.chunk));
    if (s->scan) {   /* a block's threads reach no further than its tile */
        s->full = named_value(s, compare(s, KOP_le, end, (kval)s->size_param), "full");
        return;
    }
    s->end = named_value(s, s->size % s->at.chunk == 0 ? end : smaller(s, end, (kval)s->size_param), "end");
}

static void split(rows *s, kval number, int64_t by, kval *quotient, kval *rest) {
    if (by == 1) { *quotient = number; *rest = index_of(s, 0); return; }
    *quotient = index_op(s, KOP_div, number, index_of(s, by));
    *rest = index_op(s, KOP_rem, number, index_of(s, by));
}

static void body(rows *s, kval block, kval thread) {
    int per_block = s->at.threads / s->at.crew, warp = s->p->warp;
    kval row = block, counter = block, cut = NO_VALUE, guard = NO_VALUE;
    bool exact = s->results % block_results(s) == 0, shuffles = !s->at.columns && s->at.crew > 1;
    s->thread = thread;
    s->lane = kb_inst(s->e.k, K_LANE_INDEX, T_I32, 0, 0, 0, 0);
    s->column = index_of(s, 0);
    s->end = (kval)s->size_param;
    if (s->at.chunk) {
        counter = row = s->nouter && s->results > block_results(s) ? named_value(s, index_op(s, KOP_div, block, (kval)s->cuts_param), s->at.columns ? "block_column" : "row") : index_of(s, 0);
        cut = index_op(s, KOP_sub, block, index_op(s, KOP_mul, row, (kval)s->cuts_param));
        named_value(s, cut, s->scan ? "tile" : "chunk");
        take_chunk(s, cut);
    }
    if (s->at.columns) {
        split(s, thread, per_block, &s->worker, &s->column);
        if (s->at.crew == 1) {
            s->worker = index_of(s, 0);
            s->column = thread;
        } else if (per_block > 1) {
            named_value(s, s->worker, "worker");
            named_value(s, s->column, "place");
        }
        row = index_op(s, KOP_add, index_op(s, KOP_mul, row, index_of(s, per_block)), s->column);
        row = named_value(s, index_op(s, KOP_mul, row, index_of(s, s->at.vector)), "column");
    } else if (per_block > 1) {
        kval within;
        split(s, thread, s->at.crew, &within, &s->worker);
        named_value(s, s->worker, s->at.crew == warp ? "lane" : "worker");
        row = named_value(s, index_op(s, KOP_add, index_op(s, KOP_mul, row, index_of(s, per_block)), within), "row");
    } else {
        s->worker = thread;
    }
    bool repeats = s->at.columns ? s->at.crew > 1 : shuffles && s->at.crew < warp;
    if (!exact) {
        kval inside = compare(s, KOP_lt, row, results_count(s));
        if (repeats) {
            s->inside = named_value(s, inside, "inside");
            kval last = index_op(s, KOP_sub, results_count(s), index_of(s, s->at.columns ? s->at.vector : 1));
            row = named_value(s, kb_op(s->e.k, KOP_select, s->e.index, inside, row, last), s->at.columns ? "from" : "of_row");
        } else {
            guard = begin_if(s, inside);
        }
    }
    emitter_push(&s->e);
    pass_open_results(s, row);
    for (int i = 0; i <= s->n->nstages && !s->scan; i++) stage(s, i);
    if (s->scan) scan_row(s, row, cut);
    else if (s->at.chunk) finish_cut(s, row, counter, cut);
    else pass_results(s);
    pass_close_results(s);
    emitter_pop(&s->e);
    if (guard != NO_VALUE) kb_end(s->e.k, guard);
}

kn_status rows_schedule(rows *s, message *m) {
    if (!start(s)) return fail_memory(m, "scheduling a reduction");
    kernel *k = s->e.k;
    int64_t per_block = block_results(s), blocks = div_up(s->results, per_block);
    kval zero = index_of(s, 0), one = index_of(s, 1), count = results_count(s);
    if (per_block > 1) count = index_op(s, KOP_div, index_op(s, KOP_add, count, index_of(s, per_block - 1)), index_of(s, per_block));
    if (s->at.chunk) count = index_op(s, KOP_mul, count, (kval)s->cuts_param);
    kval block = kb_for(k, LOOP_GRID, s->e.index, zero, count, one), thread = kb_for(k, LOOP_BLOCK, s->e.index, zero, index_of(s, s->at.threads), one);
    if (per_block == 1 && !s->at.chunk && s->nouter && !s->at.columns) kb_name(k, block, "row");
    emitter_push(&s->e);
    body(s, block, thread);
    emitter_pop(&s->e);
    kb_end(k, thread);
    kb_end(k, block);
    if (s->e.failed || !kernel_ok(k)) return fail_memory(m, "scheduling a reduction");
    plan_step *step = builder_step(s->b, STEP_KERNEL);
    if (!step) return fail_memory(m, "scheduling a reduction");
    step->code = k;
    step->args = s->e.args;
    step->nargs = (int)s->e.nparams;
    step->grid[0] = blocks * cuts(s);
    step->grid[1] = step->grid[2] = 1;
    step->work = s->results * s->size * (s->n->nexprs + 1);
    step->note = s->n->note;
    return KN_OK;
}
