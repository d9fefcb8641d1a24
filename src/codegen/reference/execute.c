/* execute.c: runs the steps of a kernel. Lanes move together, so a barrier is nothing; blocks run in order, so a kernel
 * that waits for earlier blocks does not wait. What single steps do over lanes is in lanes.c and operations.h. */
#include <sched.h>
#include <string.h>
#include "codegen/reference/reference.h"

#define MOST_TURNS ((uint64_t)1 << 28)           /* of a LOOP that computes */
#define MOST_WAITS ((uint64_t)1 << 22)           /* of one that waits for what others write */
#define SMALL_RUN 4096                           /* memory of a run that is taken from the stack */

/* ---- cells ---- */

static int64_t integer(const machine *r, uint32_t at, bool wide) {
    return wide ? *(const int64_t *)(const void *)(r->base + at) : *(const int32_t *)(const void *)(r->base + at);
}

static void put_integer(const machine *r, uint32_t at, uint8_t type, int64_t v) {
    if (type == T_I64) *(int64_t *)(void *)(r->base + at) = v;
    else *(int32_t *)(void *)(r->base + at) = (int32_t)v;
}

static region_state *state_of(const machine *r, const step *s) { return (region_state *)(void *)(r->base + s->state); }

/* Affine arithmetic wraps as that of its type. */
static void run_affine(machine *r, const step *s) {
    affine a, b = { 0, 0 }, v;
    if (s->flags == KOP_select) {
        bool yes = r->base[s->a] != 0;
        v = yes ? affine_of(r, s->b, s->form[1], s->wide & 2) : affine_of(r, s->c, s->form[2], s->wide & 4);
    } else {
        a = affine_of(r, s->a, s->form[0], s->wide & 1);
        if (s->form[1]) b = affine_of(r, s->b, s->form[1], s->wide & 2);
        uint64_t f = (uint64_t)a.first, d = (uint64_t)a.step, g = (uint64_t)b.first;
        switch (s->flags) {
        case KOP_add: f += g; d += (uint64_t)b.step; break;
        case KOP_sub: f -= g; d -= (uint64_t)b.step; break;
        case KOP_neg: f = 0 - f; d = 0 - d; break;
        case KOP_shl: f <<= g & 63; d <<= g & 63; break;
        case KOP_mul:                                                      /* one of them is shared: its step is 0 */
            d = d * g + (uint64_t)b.step * f;
            f *= g;
            break;
        default: break;                                                    /* convert */
        }
        v = (affine){ (int64_t)f, (int64_t)d };
    }
    if (s->type == T_I32) v = (affine){ (int32_t)v.first, (int32_t)v.step };
    *(affine *)(void *)(r->base + s->to) = v;
}

static void run_spread(machine *r, const step *s) {
    affine a = *(const affine *)(const void *)(r->base + s->a);
    if (s->type == T_I64) {
        int64_t *to = (int64_t *)(void *)(r->base + s->to);
        for (int l = 0; l < r->n; l++) to[l] = (int64_t)((uint64_t)a.first + (uint64_t)a.step * (uint64_t)l);
    } else {
        int32_t *to = (int32_t *)(void *)(r->base + s->to);
        for (int l = 0; l < r->n; l++) to[l] = (int32_t)((uint32_t)a.first + (uint32_t)a.step * (uint32_t)l);
    }
}

static void run_copy(machine *r, const step *s) {
    size_t n = s->form[0] == FORM_LANES ? (size_t)r->n : 1;
    memcpy(r->base + s->to, r->base + s->a, n * s->count);
}

static void run_fill(machine *r, const step *s) {
    size_t size = ktype_table[s->type].size;
    int n = s->count ? (int)s->count : r->n;
    for (int l = 0; l < n; l++) memcpy(r->base + s->to + (size_t)l * size, r->base + s->a, size);
}

/* ---- masks ---- */

typedef enum { NO_LANE, SOME_LANES, ALL_LANES } census;

/* to = outer (all, where it is NULL) and condition, or and its opposite. */
static census narrow(uint8_t *to, const uint8_t *outer, const uint8_t *condition, uint8_t flip, int n) {
    uint8_t any = 0, all = 1;
    if (outer) for (int l = 0; l < n; l++) { uint8_t v = (uint8_t)(outer[l] & (condition[l] ^ flip)); to[l] = v; any |= v; all &= v; }
    else for (int l = 0; l < n; l++) { uint8_t v = (uint8_t)(condition[l] ^ flip); to[l] = v; any |= v; all &= v; }
    return !any ? NO_LANE : all ? ALL_LANES : SOME_LANES;
}

/* Narrows the mask to the lanes of a branch; false: there is none. */
static bool enter_branch(machine *r, const step *s, uint8_t flip) {
    uint8_t *mask = (uint8_t *)r->base + s->extra;
    const uint8_t *outer = state_of(r, s)->outer;
    census c = narrow(mask, outer, (const uint8_t *)r->base + s->a, flip, r->n);
    r->mask = c == ALL_LANES ? NULL : c == NO_LANE ? outer : mask;
    return c != NO_LANE;
}

/* ---- loops ---- */

static uint64_t turns(int64_t begin, int64_t end, int64_t by) {
    if (begin >= end) return 0;
    uint64_t span = (uint64_t)end - (uint64_t)begin - 1;
    return (by == 1 ? span : span / (uint64_t)by) + 1;
}

/* Whether there is a first iteration. */
static bool start_for(machine *r, const step *s) {
    region_state *t = state_of(r, s);
    int64_t begin = integer(r, s->a, s->wide), end = integer(r, s->b, s->wide);
    if (s->kind == STEP_GRID && s->flags == 0) {
        if (r->lo > begin) begin = r->lo;
        if (r->hi < end) end = r->hi;
    }
    t->now = begin;
    t->step = integer(r, s->c, s->wide);
    t->left = turns(begin, end, t->step);
    put_integer(r, s->to, s->type, begin);
    return t->left != 0;
}

static bool next_for(machine *r, const step *s) {
    region_state *t = state_of(r, s);
    if (--t->left == 0) return false;
    t->now += t->step;
    put_integer(r, s->to, s->type, t->now);
    return true;
}

/* Lanes whose loop goes on, as the mask; false: there are none. */
static bool lanes_left(machine *r, const step *s) {
    const uint64_t *left = (const uint64_t *)(const void *)(r->base + s->extra);
    uint8_t *mask = (uint8_t *)r->base + s->count, any = 0;
    for (int l = 0; l < r->n; l++) any |= mask[l] = left[l] != 0;
    r->mask = mask;
    return any;
}

static bool start_for_lanes(machine *r, const step *s) {
    uint64_t *left = (uint64_t *)(void *)(r->base + s->extra);
    region_state *t = state_of(r, s);
    t->step = integer(r, s->c, s->wide);
    t->outer = r->mask;
    t->now = 0;
    for (int l = 0; l < r->n; l++) {
        int64_t begin = lane_integer(r, s->a, s->form[0], s->wide, l), end = lane_integer(r, s->b, s->form[1], s->wide, l);
        left[l] = !r->mask || r->mask[l] ? turns(begin, end, t->step) : 0;
        if (s->form[2] != FORM_CELL) put_integer(r, s->to + (uint32_t)l * ktype_table[s->type].size, s->type, begin);
        else t->now = begin;
    }
    if (s->form[2] == FORM_CELL) put_integer(r, s->to, s->type, t->now);
    return lanes_left(r, s);
}

static bool next_for_lanes(machine *r, const step *s) {
    uint64_t *left = (uint64_t *)(void *)(r->base + s->extra);
    region_state *t = state_of(r, s);
    size_t size = ktype_table[s->type].size;
    for (int l = 0; l < r->n; l++) {
        if (!left[l] || --left[l] == 0 || s->form[2] == FORM_CELL) continue;
        uint32_t at = s->to + (uint32_t)((size_t)l * size);
        put_integer(r, at, s->type, integer(r, at, s->wide) + t->step);
    }
    if (!lanes_left(r, s)) return false;
    if (s->form[2] == FORM_CELL) put_integer(r, s->to, s->type, t->now += t->step);
    return true;
}

static void start_block(machine *r, const step *s) {
    const uint16_t *b = r->code->block;
    r->n = b[0] * b[1] * b[2];
    if (s->form[2] == FORM_AFFINE) { *(affine *)(void *)(r->base + s->to) = (affine){ 0, 1 }; return; }
    size_t size = ktype_table[s->type].size;
    for (int l = 0; l < r->n; l++) {
        int v = s->flags == 0 ? l % b[0] : s->flags == 1 ? l / b[0] % b[1] : l / (b[0] * b[1]);
        put_integer(r, s->to + (uint32_t)((size_t)l * size), s->type, v);
    }
}

static bool chunk(machine *r, const step *s, int64_t from) {
    region_state *t = state_of(r, s);
    int64_t rest = t->step - from;               /* step: the end */
    t->now = from;
    r->n = rest < (int64_t)s->count ? (int)rest : (int)s->count;
    *(affine *)(void *)(r->base + s->to) = (affine){ from, 1 };
    return true;
}

static bool start_lanes(machine *r, const step *s) {
    region_state *t = state_of(r, s);
    t->step = integer(r, s->b, s->wide);
    return t->step > 0 && chunk(r, s, 0);
}

static bool next_lanes(machine *r, const step *s) {
    region_state *t = state_of(r, s);
    if (t->step - t->now > (int64_t)s->count) return chunk(r, s, t->now + s->count);
    r->n = 1;
    return false;
}

/* Whether the loop may go round once more. */
static bool again(machine *r, const step *s) {
    region_state *t = state_of(r, s);
    if (s->flags && (t->left & 1023) == 1023) sched_yield();
    return ++t->left < (s->flags ? MOST_WAITS : MOST_TURNS);
}

/* ---- all steps ---- */

/* A step that may move to another place: where to. NULL: a loop that does not end. */
static const step *control(machine *r, const step *s, const step *steps) {
    const step *next = s + 1, *there = steps + s->jump;
    switch (s->kind) {
    case STEP_IF_CELL: return r->base[s->a] ? next : there;
    case STEP_JUMP: return there;
    case STEP_IF: state_of(r, s)->outer = r->mask; return enter_branch(r, s, 0) ? next : there;
    case STEP_ELSE: return enter_branch(r, s, 1) ? next : there;
    case STEP_ENDIF: r->mask = state_of(r, s)->outer; return next;
    case STEP_LOOP:
        state_of(r, s)->outer = r->mask;
        state_of(r, s)->left = 0;
        return next;
    case STEP_BREAK_CELL: return r->base[s->a] ? next : there;
    case STEP_BREAK: {
        uint8_t *mask = (uint8_t *)r->base + s->extra;
        census c = narrow(mask, r->mask, (const uint8_t *)r->base + s->a, 0, r->n);
        r->mask = c == ALL_LANES ? NULL : mask;
        return c == NO_LANE ? there : next;
    }
    case STEP_AGAIN: return again(r, s) ? there : NULL;
    case STEP_FOR: case STEP_GRID: return start_for(r, s) ? next : there;
    case STEP_NEXT: return next_for(r, s) ? there : next;
    case STEP_FOR_LANES: return start_for_lanes(r, s) ? next : there;
    case STEP_NEXT_LANES: return next_for_lanes(r, s) ? there : next;
    case STEP_BLOCK: start_block(r, s); return next;
    case STEP_LEAVE_BLOCK: r->n = 1; return next;
    case STEP_LANE: return start_lanes(r, s) ? next : there;
    case STEP_NEXT_CHUNK: return next_lanes(r, s) ? there : next;
    default: return next;
    }
}

/* False: a loop that does not end. */
static bool execute(machine *r) {
    const step *steps = r->code->steps;
    char *base = r->base;
    for (const step *s = steps; s;) {
        switch (s->kind) {
        case STEP_PRIMITIVE:
            s->f(base + s->to, base + s->a, base + s->b, base + s->c, s->form[0] == FORM_LANES ? r->n : 1, s->shared);
            s++;
            break;
        case STEP_AFFINE: run_affine(r, s++); break;
        case STEP_SPREAD: run_spread(r, s++); break;
        case STEP_COPY: run_copy(r, s++); break;
        case STEP_FILL: run_fill(r, s++); break;
        case STEP_SET: run_set(r, s++); break;
        case STEP_LOAD: case STEP_LOAD_CELL: run_load(r, s++); break;
        case STEP_STORE: case STEP_STORE_CELL: run_store(r, s++); break;
        case STEP_VECTOR: run_vector(r, s++); break;
        case STEP_ATOMIC: case STEP_CAS: run_atomic(r, s++); break;
        case STEP_FENCE: __atomic_thread_fence(__ATOMIC_SEQ_CST); s++; break;
        case STEP_SHUFFLE: run_shuffle(r, s++); break;
        case STEP_BALLOT: run_ballot(r, s++); break;
        case STEP_LANE_INDEX: run_lane_index(r, s++); break;
        case STEP_FAULT: run_fault(r, s++); break;
        case STEP_STOP: return true;
        default: s = control(r, s, steps); break;
        }
    }
    return false;
}

/* ---- entries ---- */

static kn_status make(const kernel *k, struct reference_code *c, message *m) {
    arena scratch = { 0 };
    flat_code flat;
    bool made = expand_calls(k, &scratch, &flat, m) && emit_steps(c, k, &flat, &scratch, m);
    arena_free(&scratch);
    return made ? KN_OK : m->status ? m->status : KN_MEMORY_ERROR;
}

kn_status reference_prepare(const kernel *k, reference_code **out, message *m) {
    message own = { 0 };
    reference_code *c = mem_zero(1, sizeof *c);
    *out = NULL;
    if (!c) return fail_memory(m, "interpreting a kernel");
    kn_status status = make(k, c, m ? m : &own);
    if (status) reference_free(c);
    else *out = c;
    return status;
}

void reference_free(reference_code *c) {
    if (!c) return;
    arena_free(&c->mem);
    mem_free(c);
}

kn_status reference_execute(const reference_code *c, const uint64_t *args, int64_t lo, int64_t hi, uint64_t *fault, message *m) {
    _Alignas(64) char small[SMALL_RUN];
    char *base = c->size <= SMALL_RUN ? small : mem_aligned(c->size, 64);
    if (!base) return fail_memory(m, "interpreting a kernel");
    memcpy(base, c->image, c->image_size);
    for (uint32_t i = 0; i < c->nparams; i++) if (c->param_cell[i]) memcpy(base + c->param_cell[i], &args[i], sizeof *args);
    for (uint32_t i = 0; i < c->nlocal; i++) {
        const char *at = base + c->cleared + c->local[i].at;
        memcpy(base + c->local[i].cell, &at, sizeof at);
    }
    if (c->cleared_size) memset(base + c->cleared, 0, c->cleared_size);
    machine r = { .code = c, .base = base, .n = 1, .lo = lo, .hi = hi, .fault = fault };
    bool ended = execute(&r);
    if (base != small) mem_free(base);
    return ended ? KN_OK : fail(m, KN_RUNTIME_ERROR, "a loop in a kernel does not end");
}

kn_status reference_run(const kernel *k, const uint64_t *args, int64_t lo, int64_t hi, uint64_t *fault, message *m) {
    struct reference_code c = { 0 };
    message own = { 0 };
    if (!m) m = &own;
    kn_status status = make(k, &c, m);
    if (!status) status = reference_execute(&c, args, lo, hi, fault, m);
    arena_free(&c.mem);
    return status;
}
