/* emit.c: steps and places for a body whose facts are known.
 *
 * How it works: one pass. Cells (shared values, affine ones) are never reused; constants stand in them from the start.
 * Arrays over lanes come from a stack of free ones, so that the same few stay in the processor's cache. An instruction's
 * result gets its place before its operands' places are given back: a step never writes what it reads. */
#include <string.h>
#include "codegen/reference/facts.h"

#define CHUNK 256                /* iterations of a LANE loop at a time where lanes need not be the kernel's */
#define MOST_MEMORY (1u << 30)   /* of one run */

typedef struct builder {
    struct reference_code *c;
    const kernel *k;
    const flat_code *b;
    const facts *f;
    const lane_tables *tables;
    arena *scratch;
    uint32_t *cell, *lanes;      /* per instruction: its places */
    uint32_t *step_of;           /* openers, ELSE: their step */
    uint32_t *dying, *next_dying;/* lists of values by the last instruction that needs them */
    uint32_t *freed; uint32_t nfreed;
    uint32_t cells_end, top, room;
    uint64_t local_bytes;
    bool too_large, no_memory;
} builder;

/* ---- memory of a run ---- */

static uint32_t take(builder *e, uint64_t size) {
    uint64_t at = ((uint64_t)e->top + 63) & ~(uint64_t)63;
    if (at + size > MOST_MEMORY) { e->too_large = true; return 0; }
    e->top = (uint32_t)(at + size);
    return (uint32_t)at;
}

static uint32_t new_cell(builder *e, uint32_t size) {
    uint32_t at = e->cells_end;
    e->cells_end += size;
    return at;
}

static uint32_t new_lanes(builder *e, uint32_t i) {
    uint32_t at = e->nfreed ? e->freed[--e->nfreed] : take(e, e->room);
    uint32_t last = e->f->last[i] > i ? e->f->last[i] : i;
    e->next_dying[i] = e->dying[last];
    e->dying[last] = i + 1;
    return e->lanes[i] = at;
}

static void give_back(builder *e, uint32_t i) {
    for (uint32_t v = e->dying[i]; v; v = e->next_dying[v - 1]) e->freed[e->nfreed++] = e->lanes[v - 1];
}

static uint32_t new_state(builder *e) { return take(e, sizeof(region_state)); }
static uint32_t new_mask(builder *e) { return take(e, (uint64_t)e->c->capacity); }

static void put_cell(builder *e, uint32_t at, uint64_t bits) { memcpy(e->c->image + at, &bits, sizeof bits); }

/* ---- steps ---- */

static step *add(builder *e, step_kind kind, const kinst *x) {
    step *s = &e->c->steps[e->c->nsteps++];
    *s = (step){ .kind = (uint8_t)kind, .type = x ? x->type : T_VOID };
    return s;
}

static bool is_lanes(const builder *e, uint32_t v) { return e->f->form[v] == FORM_LANES; }
static uint32_t here(const builder *e) { return e->c->nsteps; }

/* The place where lanes or the shared value are read, whatever the form. */
static uint32_t value_place(const builder *e, uint32_t v, uint8_t *form) {
    bool lanes = e->f->form[v] != FORM_CELL;
    *form = lanes ? FORM_LANES : FORM_CELL;
    return lanes ? e->lanes[v] : e->cell[v];
}

static uint32_t plain_place(const builder *e, uint32_t v) {
    uint8_t form;
    return value_place(e, v, &form);
}

/* An address keeps its affine form. */
static uint32_t index_place(const builder *e, uint32_t v, uint8_t *form) {
    if (e->f->form[v] != FORM_AFFINE) return value_place(e, v, form);
    *form = FORM_AFFINE;
    return e->cell[v];
}

static uint32_t result_place(builder *e, uint32_t i) {
    if (is_lanes(e, i)) return new_lanes(e, i);
    return e->cell[i] = new_cell(e, e->f->form[i] == FORM_AFFINE ? sizeof(affine) : 8);
}

static bool is_wide(const builder *e, uint32_t v) { return e->b->code[v].type == T_I64; }
static uint32_t value_size(const builder *e, uint32_t v) { return ktype_table[ktype_value((ktype)e->b->code[v].type)].size; }

/* A step that does a primitive over lanes, or once. */
static void whole(builder *e, uint32_t i, bool lanes) {
    const kinst *x = &e->b->code[i];
    const uint32_t v[3] = { x->a, x->b, x->c };
    ktype from = (ktype)e->b->code[x->op == KOP_select ? x->b : x->a].type;
    step *s = add(e, STEP_PRIMITIVE, x);
    uint32_t *at[3] = { &s->a, &s->b, &s->c };
    s->f = x->op == KOP_convert ? e->tables->convert[x->type][from] : e->tables->operation[x->op][from];
    for (int j = 0; j < kop_arity((kop)x->op); j++) {
        uint8_t form;
        *at[j] = value_place(e, v[j], &form);
        if (lanes && form == FORM_CELL) s->shared |= (uint8_t)(1 << j);
    }
    s->form[0] = lanes ? FORM_LANES : FORM_CELL;
    s->to = lanes ? new_lanes(e, i) : result_place(e, i);
}

/* After an affine value is known, its array over the lanes where one is wanted. */
static void spread(builder *e, uint32_t i) {
    if (e->f->form[i] != FORM_AFFINE || !e->f->wants_lanes[i]) return;
    if (e->f->widened[i]) { whole(e, i, true); return; }
    step *s = add(e, STEP_SPREAD, &e->b->code[i]);
    s->a = e->cell[i];
    s->to = new_lanes(e, i);
}

static void affine_step(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    const uint32_t v[3] = { x->a, x->b, x->c };
    step *s = add(e, STEP_AFFINE, x);
    uint32_t *at[3] = { &s->a, &s->b, &s->c };
    s->flags = (uint8_t)x->op;
    s->to = result_place(e, i);
    for (int j = 0; j < kop_arity((kop)x->op); j++) {
        *at[j] = e->cell[v[j]];
        s->form[j] = e->f->form[v[j]];
        s->wide |= (uint8_t)(is_wide(e, v[j]) << j);
    }
    spread(e, i);
}

static void primitive(builder *e, uint32_t i) {
    if (e->f->form[i] == FORM_AFFINE) affine_step(e, i);
    else whole(e, i, is_lanes(e, i));
}

/* ---- variables ---- */

static void copy(builder *e, uint32_t i, uint32_t from) {
    uint8_t form;
    step *s = add(e, STEP_COPY, &e->b->code[i]);
    s->a = value_place(e, from, &form);
    s->to = result_place(e, i);
    s->form[0] = is_lanes(e, i) ? FORM_LANES : FORM_CELL;
    s->count = value_size(e, i);
}

static void declare(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    uint8_t form;
    uint32_t from = value_place(e, x->a, &form);
    if (form == FORM_LANES || !is_lanes(e, i)) { copy(e, i, x->a); return; }
    step *s = add(e, STEP_FILL, x);
    s->a = from;
    s->to = result_place(e, i);
    s->count = x->flags & VAR_LANES ? e->k->lanes : 0;
}

static void get(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    if (!e->f->alias[i]) { copy(e, i, x->a); return; }
    e->cell[i] = e->cell[x->a];
    e->lanes[i] = e->lanes[x->a];
}

static void set(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    bool lanes = is_lanes(e, x->a);
    step *s = add(e, lanes ? STEP_SET : STEP_COPY, &e->b->code[x->a]);
    s->a = value_place(e, x->b, &s->form[0]);
    s->to = plain_place(e, x->a);
    s->count = value_size(e, x->a);
}

/* ---- memory ---- */

/* A pointer that is known when the run begins stands in a cell. */
static void array(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    e->cell[i] = new_cell(e, 8);
    if (x->op == K_TABLE) { put_cell(e, e->cell[i], (uint64_t)(uintptr_t)device_tables[x->a].data); return; }
    uint64_t copies = x->op == K_LOCAL && is_lanes(e, i) ? (uint64_t)e->c->capacity : 1;
    uint32_t at = (uint32_t)(e->local_bytes < MOST_MEMORY ? e->local_bytes : MOST_MEMORY);
    e->c->local[e->c->nlocal].cell = e->cell[i];
    e->c->local[e->c->nlocal++].at = at;
    e->local_bytes += (copies * x->a * ktype_table[x->type].size + 63) & ~(uint64_t)63;
}

static bool per_lane(const builder *e, uint32_t v) { return e->b->code[v].op == K_LOCAL && is_lanes(e, v); }

/* Array and index of a memory step. */
static void address(builder *e, step *s, const kinst *x) {
    s->type = e->b->code[x->a].type;
    s->a = e->cell[x->a];
    s->b = index_place(e, x->b, &s->form[1]);
    s->wide = is_wide(e, x->b) ? 2 : 0;
    s->count = per_lane(e, x->a) ? (uint32_t)e->c->capacity : 0;
    s->flags = x->flags;
}

static void load(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    bool lanes = is_lanes(e, i);
    step *s = add(e, lanes ? STEP_LOAD : STEP_LOAD_CELL, x);
    address(e, s, x);
    if (x->c) s->c = value_place(e, x->c - 1, &s->form[2]);
    s->to = result_place(e, i);
}

static void store(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    step *s = add(e, STEP_STORE, x);
    address(e, s, x);
    s->c = value_place(e, x->c, &s->form[2]);
    if (s->form[1] == FORM_CELL && s->form[2] == FORM_CELL && !s->count) s->kind = STEP_STORE_CELL;
}

static void vector(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    step *s = add(e, STEP_VECTOR, x);
    address(e, s, x);
    s->c = e->cell[x->c];
    s->extra = per_lane(e, x->c) ? (uint32_t)e->c->capacity : 0;
    s->shared = x->op == K_VSTORE;
    s->flags = (uint8_t)(x->flags & ~LOAD_STREAM);
    s->form[0] = s->extra || s->count || s->form[1] != FORM_CELL ? FORM_LANES : FORM_CELL;
}

static void atomic(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    bool cas = x->op == K_CAS;
    step *s = add(e, cas ? STEP_CAS : STEP_ATOMIC, x);
    address(e, s, x);
    s->b = value_place(e, x->b, &s->form[1]);
    s->c = value_place(e, cas ? e->b->extra[x->c] : x->c, &s->form[2]);
    if (cas) {
        uint8_t form;
        s->extra = value_place(e, e->b->extra[x->c + 1], &form);
        s->shared = form == FORM_LANES;
    }
    s->to = result_place(e, i);
    s->form[0] = is_lanes(e, i) ? FORM_LANES : FORM_CELL;
}

/* ---- between lanes ---- */

static void between(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    if (x->op == K_SHUFFLE && !is_lanes(e, i)) { copy(e, i, x->a); return; }
    step *s = add(e, x->op == K_SHUFFLE ? STEP_SHUFFLE : x->op == K_BALLOT ? STEP_BALLOT : STEP_LANE_INDEX, x);
    if (x->op != K_LANE_INDEX) s->a = value_place(e, x->a, &s->form[0]);
    if (x->op == K_SHUFFLE) {
        s->b = value_place(e, x->b, &s->form[1]);
        s->count = x->c ? x->c : (uint32_t)e->c->warp;
    }
    s->flags = x->flags;
    s->to = result_place(e, i);
}

static void fault(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    step *s = add(e, STEP_FAULT, x);
    s->a = value_place(e, x->a, &s->form[0]);
    s->b = value_place(e, x->b, &s->form[1]);
    s->count = x->c;
}

/* ---- control ---- */

static void open_for(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    static const uint8_t kinds[] = { [LOOP_GRID] = STEP_GRID, [LOOP_BLOCK] = STEP_BLOCK, [LOOP_LANE] = STEP_LANE, [LOOP_SERIAL] = STEP_FOR, [LOOP_UNROLL] = STEP_FOR };
    int kind = loop_kind(x);
    bool parts = e->f->divergent[i];
    step *s = add(e, parts ? STEP_FOR_LANES : (step_kind)kinds[kind], x);
    s->flags = (uint8_t)loop_axis(x);
    s->a = value_place(e, x->a, &s->form[0]);
    s->b = value_place(e, x->b, &s->form[1]);
    s->c = e->cell[x->c];
    s->wide = is_wide(e, i) ? 7 : 0;
    s->state = new_state(e);
    if (kind == LOOP_LANE) s->count = e->f->exact_lanes[i] ? e->k->lanes : CHUNK;
    if (parts) {
        s->extra = take(e, 8 * (uint64_t)e->c->capacity);
        s->count = new_mask(e);
    }
    s->form[2] = e->f->form[i];
    s->to = result_place(e, i);
    spread(e, i);
}

static void open_if(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    bool parts = e->f->divergent[i];
    step *s = add(e, parts ? STEP_IF : STEP_IF_CELL, x);
    s->a = plain_place(e, x->a);
    if (parts) {
        s->state = new_state(e);
        s->extra = new_mask(e);
    }
}

static void otherwise(builder *e, uint32_t i) {
    uint32_t opener = e->b->code[i].a;
    step *first = &e->c->steps[e->step_of[opener]], *s = add(e, first->kind == STEP_IF ? STEP_ELSE : STEP_JUMP, NULL);
    if (s->kind == STEP_ELSE) {
        first->jump = here(e) - 1;
        s->a = first->a;
        s->state = first->state;
        s->extra = first->extra;
    } else {
        first->jump = here(e);
    }
    e->step_of[i] = here(e) - 1;
}

static void end_if(builder *e, uint32_t opener) {
    uint32_t middle = e->f->match[opener];
    step *first = &e->c->steps[e->step_of[opener]];
    bool has_else = e->b->code[middle].op == K_ELSE;
    (has_else ? &e->c->steps[e->step_of[middle]] : first)->jump = here(e);
    if (first->kind == STEP_IF) add(e, STEP_ENDIF, NULL)->state = first->state;
}

static void open_loop(builder *e, uint32_t i) {
    step *s = add(e, STEP_LOOP, &e->b->code[i]);
    s->state = new_state(e);
    if (e->f->divergent[i]) s->extra = new_mask(e);
}

static void break_unless(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    const step *loop = &e->c->steps[e->step_of[e->f->loop[i]]];
    step *s = add(e, is_lanes(e, x->a) ? STEP_BREAK : STEP_BREAK_CELL, x);
    s->a = plain_place(e, x->a);
    s->state = loop->state;
    s->extra = loop->extra;
    s->jump = e->step_of[e->f->loop[i]];         /* the loop's step knows where it ends */
}

/* A loop that waits for what others write ends sooner when it never ends. */
static bool waits(const builder *e, uint32_t opener) {
    for (uint32_t i = opener; i < e->f->match[opener]; i++) {
        const kinst *x = &e->b->code[i];
        if (x->op == K_ATOMIC || x->op == K_CAS || (x->op == K_LOAD && x->flags & (LOAD_ACQUIRE | LOAD_RELAXED))) return true;
    }
    return false;
}

static void end_loop(builder *e, uint32_t opener) {
    const step opened = e->c->steps[e->step_of[opener]];
    static const uint8_t ends[] = { [STEP_LOOP] = STEP_AGAIN, [STEP_FOR] = STEP_NEXT, [STEP_GRID] = STEP_NEXT, [STEP_FOR_LANES] = STEP_NEXT_LANES,
                                    [STEP_BLOCK] = STEP_LEAVE_BLOCK, [STEP_LANE] = STEP_NEXT_CHUNK };
    step *s = add(e, ends[opened.kind], &e->b->code[opener]);
    uint32_t number = here(e) - 1;
    *s = opened;
    s->kind = ends[opened.kind];
    s->jump = e->step_of[opener] + 1;
    if (opened.kind == STEP_LOOP) s->flags = waits(e, opener);
    e->c->steps[e->step_of[opener]].jump = number + 1;
    if (opened.kind == STEP_FOR_LANES || (opened.kind == STEP_LOOP && e->f->divergent[opener])) add(e, STEP_ENDIF, NULL)->state = opened.state;
}

/* ---- all of it ---- */

static void param(builder *e, uint32_t i) {
    e->cell[i] = new_cell(e, 8);
    e->c->param_cell[e->b->code[i].a] = e->cell[i];
}

static void constant(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    e->cell[i] = new_cell(e, 8);
    put_cell(e, e->cell[i], (uint64_t)x->c << 32 | x->b);
}

static void emit(builder *e, uint32_t i) {
    const kinst *x = &e->b->code[i];
    if (x->op < NKOPS) { primitive(e, i); return; }
    switch (x->op) {
    case K_PARAM: param(e, i); break;
    case K_CONST: constant(e, i); break;
    case K_VAR: declare(e, i); break;
    case K_GET: get(e, i); break;
    case K_FIRST_LANE: copy(e, i, x->a); break;
    case K_SET: set(e, i); break;
    case K_LOCAL: case K_SHARED: case K_TABLE: array(e, i); break;
    case K_LOAD: load(e, i); break;
    case K_STORE: store(e, i); break;
    case K_VLOAD: case K_VSTORE: vector(e, i); break;
    case K_ATOMIC: case K_CAS: atomic(e, i); break;
    case K_FENCE: add(e, STEP_FENCE, x); break;
    case K_SHUFFLE: case K_BALLOT: case K_LANE_INDEX: between(e, i); break;
    case K_FAULT: fault(e, i); break;
    case K_FOR: e->step_of[i] = here(e); open_for(e, i); break;
    case K_IF: e->step_of[i] = here(e); open_if(e, i); break;
    case K_LOOP: e->step_of[i] = here(e); open_loop(e, i); break;
    case K_ELSE: otherwise(e, i); break;
    case K_BREAK_UNLESS: break_unless(e, i); break;
    case K_END:
        if (e->b->code[x->a].op == K_IF) end_if(e, x->a);
        else end_loop(e, x->a);
        break;
    default: break;                                                        /* BARRIER, COMMENT */
    }
}

static int capacity_of(const kernel *k, const flat_code *b) {
    int most = 1;
    if (k->block[0]) return k->block[0] * k->block[1] * k->block[2];
    for (uint32_t i = 0; i < b->n; i++) if (b->code[i].op == K_FOR && loop_kind(&b->code[i]) == LOOP_LANE) most = k->lanes > CHUNK ? k->lanes : CHUNK;
    return most;
}

static bool prepare_builder(builder *e) {
    struct reference_code *c = e->c;
    size_t n = (size_t)e->b->n + 1;
    uint32_t *words = arena_zero(e->scratch, n, 6 * sizeof *words);
    uint32_t cells = (uint32_t)(64 + n * sizeof(affine));
    if (!words || n > MOST_MEMORY / 64) return false;
    e->cell = words;
    e->lanes = words + n;
    e->step_of = words + 2 * n;
    e->dying = words + 3 * n;
    e->next_dying = words + 4 * n;
    e->freed = words + 5 * n;
    e->cells_end = 64;                               /* place 0 is none */
    e->top = cells;
    c->steps = arena_alloc(&c->mem, (3 * n + 1) * sizeof *c->steps);
    c->image = arena_zero(&c->mem, cells, 1);
    c->local = arena_alloc(&c->mem, n * sizeof *c->local);
    c->param_cell = arena_zero(&c->mem, (size_t)e->k->nparams + 1, sizeof *c->param_cell);
    return c->steps && c->image && c->local && c->param_cell;
}

/* Where a loop is left is known to its opener; BREAK_UNLESS named that so far. */
static void resolve_breaks(struct reference_code *c) {
    for (uint32_t i = 0; i < c->nsteps; i++) {
        step *s = &c->steps[i];
        if (s->kind == STEP_BREAK || s->kind == STEP_BREAK_CELL) s->jump = c->steps[s->jump].jump;
    }
}

bool emit_steps(struct reference_code *c, const kernel *k, const flat_code *flat, arena *scratch, message *m) {
    facts f;
    builder e = { .c = c, .k = k, .b = flat, .f = &f, .tables = lane_tables_best(), .scratch = scratch };
    bool made = find_facts(k, flat, scratch, &f) && prepare_builder(&e);
    if (!made) { fail_memory(m, "interpreting a kernel"); return false; }
    c->capacity = capacity_of(k, flat);
    c->nparams = k->nparams;
    c->lanes = k->lanes;
    memcpy(c->block, k->block, sizeof c->block);
    c->warp = k->block[0] ? k->warp : k->lanes ? k->lanes : 1;
    e.room = (8 * (uint32_t)c->capacity + 63) / 64 * 64 + 64;
    for (uint32_t i = 0; i < flat->n && !e.too_large; i++) {
        if (f.live[i]) emit(&e, i);
        give_back(&e, i);
    }
    add(&e, STEP_STOP, NULL);
    resolve_breaks(c);
    c->scratch_mask = new_mask(&e);
    c->scratch_index = take(&e, 8 * (uint64_t)c->capacity);
    c->cleared_size = (uint32_t)(e.local_bytes < MOST_MEMORY ? e.local_bytes : MOST_MEMORY);
    c->cleared = take(&e, e.local_bytes);
    c->image_size = e.cells_end;
    c->size = (e.top + 63) & ~63u;
    if (e.too_large) fail(m, KN_MEMORY_ERROR, "kernel %s needs too much memory to be interpreted", k->name);
    return !e.too_large;
}
