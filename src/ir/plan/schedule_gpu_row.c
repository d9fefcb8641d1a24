/* schedule_gpu_row.c: chains of reductions over the same axes on a GPU (softmax, layer norm): where the elements stay between them.
 *
 * How it works: a crew takes a whole row at once, a few vectors a thread, and what later stages need of every element stays
 * in registers: memory is read once. Rows too long for that are read again by every stage; where there are so few of them
 * that the device would idle, every stage becomes a nest of its own, whose results the next one reads from memory. The
 * kernels themselves are schedule_gpu_rows.c's. */
#include <string.h>
#include "ir/plan/schedule_gpu.h"
#include "ir/plan/schedule_gpu_rows.h"

#define KEPT_WORDS 64            /* 32-bit registers of a thread for values that are kept */
#define USUAL_SLOTS 8            /* elements of a thread, where nothing asks for more */
#define WARP_SLOTS 16            /* rather than a second warp, which costs barriers */
#define MOST_THREADS 512
#define SHORT_ROW 64             /* one thread goes over it, whatever it takes */
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

/* ---- every stage on its own ---- */

typedef struct apart {
    const nest *n;
    plan_builder *b;
    int (*memory)[4];            /* per reduction and component: where its results are; -1: nowhere */
} apart;

/* The results lie in C order of the outer atoms. */
static form result_form(const nest *n) {
    form f = { 0 };
    int64_t weight = 1;
    for (int a = n->natoms; a-- > 0;) {
        if (n->atoms[a].reduced) continue;
        f.stride[a] = weight;
        weight *= n->atoms[a].extent;
    }
    return f;
}

static int result_operand(apart *d, nest *part, int r, int c, bool written) {
    nest_operand *o = &part->operands[part->noperands];
    if (part->noperands == NEST_OPERANDS || d->memory[r][c] < 0) return -1;
    *o = (nest_operand){ .at = { PLACE_MEMORY, d->memory[r][c], 0 }, .type = d->n->reductions[r].state_types[c], .read = !written, .written = written, .aligned = true };
    memcpy(o->name, "reduced", sizeof "reduced");
    return part->noperands++;
}

static bool in_part(const nest *n, int r, int stage, bool scans) { return reduction_stage(n, &n->reductions[r]) == stage && n->reductions[r].scan == scans; }

/* A copy of the nest in which results of stages before `stage` are in memory, with the reductions, or scans, of that stage. */
static nest *part_of(apart *d, int stage, bool scans) {
    const nest *n = d->n;
    arena *mem = builder_arena(d->b);
    nest *part = arena_copy(mem, n, sizeof *n);
    uint16_t *number = arena_zero(mem, (size_t)n->nreductions + 1, sizeof *number);
    if (!part || !number) return NULL;
    part->exprs = arena_copy(mem, n->exprs, (size_t)n->nexprs * sizeof *n->exprs);
    part->reductions = arena_alloc(mem, ((size_t)n->nreductions + 1) * sizeof *part->reductions);
    part->stores = arena_alloc(mem, ((size_t)n->nstores + 4 * (size_t)n->nreductions + 1) * sizeof *part->stores);
    if (!part->exprs || !part->reductions || !part->stores) return NULL;
    part->nreductions = part->nstores = 0;
    for (int i = 0; i < n->nexprs; i++) {
        expr *x = &part->exprs[i];
        if (!(x->args = arena_copy(mem, n->exprs[i].args, (size_t)x->nargs * sizeof *x->args)) && x->nargs) return NULL;
    }
    for (int r = 0; r < n->nreductions; r++) {
        if (!in_part(n, r, stage, scans)) continue;
        number[r] = (uint16_t)part->nreductions;
        part->reductions[part->nreductions++] = n->reductions[r];
    }
    for (int i = 0; i < n->nexprs; i++) {
        expr *x = &part->exprs[i];
        if (x->kind != EXPR_REDUCED && x->kind != EXPR_SCANNED) continue;
        int r = x->op;
        if (in_part(n, r, stage, scans)) x->op = number[r];
        if (x->kind == EXPR_SCANNED || d->memory[r][x->part] < 0 || in_part(n, r, stage, scans)) continue;
        int operand = -1;
        for (int j = 0; j < i && operand < 0; j++)
            if (n->exprs[j].kind == EXPR_REDUCED && n->exprs[j].op == r && n->exprs[j].part == x->part) operand = part->exprs[j].operand;
        if (operand < 0) operand = result_operand(d, part, r, x->part, false);
        if (operand < 0) return NULL;
        *x = (expr){ .kind = EXPR_LOAD, .type = x->type, .operand = operand, .index = -1, .at = result_form(n) };
    }
    return part;
}

static bool add_results(apart *d, nest *part, int stage) {
    const nest *n = d->n;
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        if (x->kind != EXPR_REDUCED || !in_part(n, x->op, stage, false) || d->memory[x->op][x->part] >= 0) continue;
        int64_t bytes = ktype_table[x->type].size;
        for (int a = 0; a < n->natoms; a++) if (!n->atoms[a].reduced) bytes *= n->atoms[a].extent;
        if ((d->memory[x->op][x->part] = builder_memory(d->b, bytes, false)) < 0) return false;
        int operand = result_operand(d, part, x->op, x->part, true);
        if (operand < 0) return false;
        part->stores[part->nstores++] = (nest_store){ .operand = operand, .value = (uint32_t)i, .at = result_form(n), .index = -1 };
    }
    return true;
}

/* Stores whose values are known after stage `stage`; those of results come with the last reductions. */
static void add_stores(apart *d, nest *part, int stage, bool elements, bool results) {
    for (int i = 0; i < d->n->nstores; i++) {
        bool inner = is_inner_store(d->n, i);
        if (inner ? elements && d->n->exprs[d->n->stores[i].value].stage == stage : results) part->stores[part->nstores++] = d->n->stores[i];
    }
}

static kn_status schedule_part(apart *d, nest *part, const device_profile *p, message *m) {
    for (int a = 0; a < part->natoms && !part->nreductions; a++) part->atoms[a].reduced = false;
    kn_status status = nest_finish(part, builder_arena(d->b), m);
    return status ? status : schedule_gpu(part, p, d->b, m);
}

static int last_reduction(const nest *n) {
    int last = 0;
    for (int r = 0; r < n->nreductions; r++) {
        int stage = reduction_stage(n, &n->reductions[r]);
        if (!n->reductions[r].scan && stage > last) last = stage;
    }
    return last;
}

static bool has_scans(const nest *n, int stage) {
    for (int r = 0; r < n->nreductions; r++) if (in_part(n, r, stage, true)) return true;
    return false;
}

static kn_status schedule_apart(const nest *n, const device_profile *p, plan_builder *b, message *m) {
    apart d = { .n = n, .b = b, .memory = arena_alloc(builder_arena(b), ((size_t)n->nreductions + 1) * sizeof *d.memory) };
    if (!d.memory) return fail_memory(m, "scheduling a reduction");
    memset(d.memory, 0xff, (size_t)n->nreductions * sizeof *d.memory);
    int last = last_reduction(n);
    for (int stage = 0; stage <= n->nstages; stage++)
        for (int scans = 0; scans <= has_scans(n, stage); scans++) {
            nest *part = part_of(&d, stage, scans);
            if (!part || (!scans && !add_results(&d, part, stage))) return fail_memory(m, "scheduling a reduction");
            add_stores(&d, part, stage, scans == has_scans(n, stage), !scans && stage == last);
            if (!part->nstores) continue;
            kn_status status = schedule_part(&d, part, p, m);
            if (status) return status;
        }
    return KN_OK;
}

static bool can_be_apart(const nest *n) {
    int components = 0;
    for (int r = 0; r < n->nreductions; r++) components += n->reductions[r].nstate;
    for (int i = 0; i < n->nstores; i++) if (n->stores[i].when || n->stores[i].index >= 0) return false;
    return !n->faults && n->noperands + components <= NEST_OPERANDS;
}

/* Reductions and scans of rows that are worth more than a thread each; what is scanned is used by its own stage alone. */
static bool is_mixed(const nest *n) {
    bool reduces = false, scans = false;
    int64_t size = 1;
    for (int a = 0; a < n->natoms; a++) if (n->atoms[a].reduced) size *= n->atoms[a].extent;
    for (int r = 0; r < n->nreductions; r++) {
        *(n->reductions[r].scan ? &scans : &reduces) = true;
        if (n->reductions[r].ordered) return false;
    }
    for (int i = 0; i < n->nexprs; i++)
        if (n->exprs[i].kind == EXPR_SCANNED && n->exprs[i].stage != n->nstages - 1) return false;
    return reduces && scans && !n->serial && size > SHORT_ROW && can_be_apart(n);
}

/* ---- the schedule ---- */

kn_status schedule_gpu_row(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m) {
    rows s;
    *done = false;
    if (is_mixed(n)) {
        *done = true;
        return schedule_apart(n, p, b, m);
    }
    if (!rows_are_simple(n)) return KN_OK;
    int atom = rows_contiguous_atom(n);
    if (!rows_init(&s, n, p, b, atom)) return fail_memory(m, "scheduling a row");
    s.at.columns = !n->atoms[atom].reduced;
    s.at.vector = rows_vector(n, atom, 4, false);
    *done = true;
    int kept = rows_kept_words(&s);
    if (s.at.columns ? column_once(&s, kept) : row_once(&s, kept)) return rows_schedule(&s, m);
    if (rows_are_few(&s) && can_be_apart(n)) return schedule_apart(n, p, b, m);
    rows_loop_shape(&s, false);
    return rows_schedule(&s, m);
}
