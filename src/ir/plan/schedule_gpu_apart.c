/* schedule_gpu_apart.c: a nest as several: a stage each of a chain of reductions, a level each of scans of scans.
 *
 * How it works: a part is a copy of the nest in which some reductions stay; values of the others are loaded from where earlier
 * parts have stored them. What a part does not use is dropped when it is finished; it is then scheduled like any nest. */
#include <string.h>
#include "ir/plan/schedule_gpu_rows.h"

#define SHORT_ROW 64             /* one thread goes over it, whatever it takes */

typedef struct apart {
    const nest *n;
    const device_profile *p;
    plan_builder *b;
    bool *stays;                 /* per reduction: made in the present part */
    int (*memory)[4];            /* per reduction and component: where its values are; -1: nowhere */
} apart;

/* Results lie in C order of the outer atoms, scanned values in that of all. */
static form values_form(const nest *n, bool scanned) {
    form f = { 0 };
    int64_t weight = 1;
    for (int a = n->natoms; a-- > 0;) {
        if (n->atoms[a].reduced && !scanned) continue;
        f.stride[a] = weight;
        weight *= n->atoms[a].extent;
    }
    return f;
}

static int value_operand(apart *d, nest *part, int r, int c, bool written) {
    nest_operand *o = &part->operands[part->noperands];
    if (part->noperands == NEST_OPERANDS || d->memory[r][c] < 0) return -1;
    *o = (nest_operand){ .at = { PLACE_MEMORY, d->memory[r][c], 0 }, .type = d->n->reductions[r].state_types[c], .read = !written, .written = written, .aligned = true };
    memcpy(o->name, "reduced", sizeof "reduced");
    return part->noperands++;
}

/* A copy of the nest with the reductions that stay; values of others are loaded where they are in memory. */
static nest *part_of(apart *d) {
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
        if (!d->stays[r]) continue;
        number[r] = (uint16_t)part->nreductions;
        part->reductions[part->nreductions++] = n->reductions[r];
    }
    for (int i = 0; i < n->nexprs; i++) {
        expr *x = &part->exprs[i];
        if (x->kind != EXPR_REDUCED && x->kind != EXPR_SCANNED) continue;
        int r = x->op;
        if (d->stays[r]) x->op = number[r];
        if (d->stays[r] || d->memory[r][x->part] < 0) continue;
        int operand = -1;
        for (int j = 0; j < i && operand < 0; j++)
            if (n->exprs[j].kind == n->exprs[i].kind && n->exprs[j].op == r && n->exprs[j].part == x->part) operand = part->exprs[j].operand;
        if (operand < 0) operand = value_operand(d, part, r, x->part, false);
        if (operand < 0) return NULL;
        *x = (expr){ .kind = EXPR_LOAD, .type = x->type, .operand = operand, .index = -1, .at = values_form(n, n->reductions[r].scan) };
    }
    return part;
}

/* Stores of what the reductions that stay give. */
static bool add_values(apart *d, nest *part) {
    const nest *n = d->n;
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        if ((x->kind != EXPR_REDUCED && x->kind != EXPR_SCANNED) || !d->stays[x->op] || d->memory[x->op][x->part] >= 0) continue;
        bool scanned = x->kind == EXPR_SCANNED;
        int64_t bytes = ktype_table[x->type].size;
        for (int a = 0; a < n->natoms; a++) if (scanned || !n->atoms[a].reduced) bytes *= n->atoms[a].extent;
        if ((d->memory[x->op][x->part] = builder_memory(d->b, bytes, false)) < 0) return false;
        int operand = value_operand(d, part, x->op, x->part, true);
        if (operand < 0) return false;
        part->stores[part->nstores++] = (nest_store){ .operand = operand, .value = (uint32_t)i, .at = values_form(n, scanned), .index = -1 };
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

static kn_status schedule_part(apart *d, nest *part, message *m) {
    for (int a = 0; a < part->natoms && !part->nreductions; a++) part->atoms[a].reduced = false;
    kn_status status = nest_finish(part, builder_arena(d->b), m);
    return status ? status : schedule_gpu(part, d->p, d->b, m);
}

static int last_reduction(const nest *n) {
    int last = 0;
    for (int r = 0; r < n->nreductions; r++) {
        int stage = reduction_stage(n, &n->reductions[r]);
        if (!n->reductions[r].scan && stage > last) last = stage;
    }
    return last;
}

static bool begin(apart *d, const nest *n, const device_profile *p, plan_builder *b) {
    arena *mem = builder_arena(b);
    *d = (apart){ .n = n, .p = p, .b = b, .stays = arena_zero(mem, (size_t)n->nreductions + 1, 1), .memory = arena_alloc(mem, ((size_t)n->nreductions + 1) * sizeof *d->memory) };
    if (!d->stays || !d->memory) return false;
    memset(d->memory, 0xff, (size_t)n->nreductions * sizeof *d->memory);
    return true;
}

/* Chooses the reductions, or the scans, of a stage; false: there are none. */
static bool choose_stage(apart *d, int stage, bool scans) {
    bool any = false;
    for (int r = 0; r < d->n->nreductions; r++) {
        d->stays[r] = reduction_stage(d->n, &d->n->reductions[r]) == stage && d->n->reductions[r].scan == scans;
        any |= d->stays[r];
    }
    return any;
}

kn_status apart_stages(const nest *n, const device_profile *p, plan_builder *b, message *m) {
    apart d;
    if (!begin(&d, n, p, b)) return fail_memory(m, "scheduling a reduction");
    int last = last_reduction(n);
    for (int stage = 0; stage <= n->nstages; stage++) {
        bool both = choose_stage(&d, stage, true);
        for (int scans = 0; scans <= both; scans++) {
            choose_stage(&d, stage, scans);
            nest *part = part_of(&d);
            if (!part || (!scans && !add_values(&d, part))) return fail_memory(m, "scheduling a reduction");
            add_stores(&d, part, stage, scans == both, !scans && stage == last);
            if (!part->nstores) continue;
            kn_status status = schedule_part(&d, part, m);
            if (status) return status;
        }
    }
    return KN_OK;
}

bool apart_stages_apply(const nest *n) {
    int components = 0;
    for (int r = 0; r < n->nreductions; r++) components += n->reductions[r].nstate;
    for (int i = 0; i < n->nstores; i++) if (n->stores[i].when || n->stores[i].index >= 0) return false;
    return !n->faults && n->noperands + components <= NEST_OPERANDS;
}

/* Reductions and scans of rows that are worth more than a thread each; what is scanned is used by its own stage alone. */
bool apart_is_mixed(const nest *n) {
    bool reduces = false, scans = false;
    int64_t size = 1;
    for (int a = 0; a < n->natoms; a++) if (n->atoms[a].reduced) size *= n->atoms[a].extent;
    for (int r = 0; r < n->nreductions; r++) {
        *(n->reductions[r].scan ? &scans : &reduces) = true;
        if (n->reductions[r].ordered) return false;
    }
    for (int i = 0; i < n->nexprs; i++)
        if (n->exprs[i].kind == EXPR_SCANNED && n->exprs[i].stage != n->nstages - 1) return false;
    return reduces && scans && !n->serial && size > SHORT_ROW && apart_stages_apply(n);
}

/* ---- scans of scans ---- */

/* How many scans come before each. */
static int find_levels(const nest *n, int *level, bool *below) {
    int last = 0;
    for (int r = 0; r < n->nreductions; r++) {
        memset(below, 0, (size_t)n->nexprs);
        for (int c = 0; c < n->reductions[r].nstate; c++) nest_closure(n, below, n->reductions[r].lifted[c]);
        level[r] = 0;
        for (int i = 0; i < n->nexprs; i++) {
            const expr *x = &n->exprs[i];
            if (below[i] && x->kind == EXPR_SCANNED && level[x->op] >= level[r]) level[r] = level[x->op] + 1;
        }
        if (level[r] > last) last = level[r];
    }
    return last;
}

kn_status apart_scans(const nest *n, const device_profile *p, plan_builder *b, bool *done, message *m) {
    apart d;
    int *level = arena_zero(builder_arena(b), (size_t)n->nreductions + 1, sizeof *level), last;
    bool *below = arena_zero(builder_arena(b), (size_t)n->nexprs + 1, 1);
    if (!level || !below || !begin(&d, n, p, b)) return fail_memory(m, "scheduling a scan");
    last = find_levels(n, level, below);
    *done = last > 0 && apart_stages_apply(n);
    for (int now = 0; *done && now <= last; now++) {
        for (int r = 0; r < n->nreductions; r++) d.stays[r] = level[r] == now;
        nest *part = part_of(&d);
        if (!part || (now < last && !add_values(&d, part))) return fail_memory(m, "scheduling a scan");
        if (now == last) add_stores(&d, part, 0, true, true);
        kn_status status = schedule_part(&d, part, m);
        if (status) return status;
    }
    return KN_OK;
}
