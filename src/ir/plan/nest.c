/* nest.c: the last pass over a nest before it is scheduled: its atoms as few and as well ordered as the accesses allow,
 * and for every expression the pass over R in which it is made.
 *
 * How it works: atoms of one element go; outer atoms come before reduced ones, each in the order in which the results (or
 * the largest operand) lie in memory; two atoms that every access walks as one become one. Where the order of iterations
 * has a meaning (serial nests, scans, ordered reductions) it is kept. Loops must not be chosen here. */
#include <string.h>
#include "ir/plan/internal.h"

/* ---- what nobody needs: the other part of a complex value, a state's other components ---- */

static bool mark_live(const nest *n, bool *live, bool *reduces) {
    bool all = true;
    for (int i = 0; i < n->nstores; i++) {
        live[n->stores[i].value] = true;
        if (n->stores[i].index >= 0) live[n->stores[i].index] = true;
        if (n->stores[i].when) live[n->stores[i].when - 1] = true;
    }
    for (int i = n->nexprs; i-- > 0;) {
        const expr *x = &n->exprs[i];
        live[i] |= x->kind == EXPR_FAULT;
        if (!live[i]) { all = false; continue; }
        for (int j = 0; j < x->nargs; j++) live[x->args[j]] = true;
        if (x->kind == EXPR_LOAD && x->index >= 0) live[x->index] = true;
        if (x->kind != EXPR_REDUCED && x->kind != EXPR_SCANNED) continue;
        reduces[x->op] = true;
        for (int j = 0; j < n->reductions[x->op].nstate; j++) live[n->reductions[x->op].lifted[j]] = true;
    }
    return all;
}

/* Operands that only dead expressions named. */
static void drop_operands(nest *n) {
    int32_t to[NEST_OPERANDS];
    bool used[NEST_OPERANDS] = { false };
    int count = 0;
    for (int i = 0; i < n->nexprs; i++) if (n->exprs[i].kind == EXPR_LOAD) used[n->exprs[i].operand] = true;
    for (int i = 0; i < n->nstores; i++) used[n->stores[i].operand] = true;
    for (int i = 0; i < n->noperands; i++) {
        to[i] = count;
        if (used[i]) n->operands[count++] = n->operands[i];
    }
    n->noperands = count;
    for (int i = 0; i < n->nexprs; i++) if (n->exprs[i].kind == EXPR_LOAD) n->exprs[i].operand = to[n->exprs[i].operand];
    for (int i = 0; i < n->nstores; i++) n->stores[i].operand = to[n->stores[i].operand];
}

static bool drop_dead(nest *n, arena *mem) {
    bool *live = arena_zero(mem, (size_t)n->nexprs + 1, 1), *reduces = arena_zero(mem, (size_t)n->nreductions + 1, 1);
    uint32_t *to = arena_alloc(mem, ((size_t)n->nexprs + 1) * sizeof *to);
    uint16_t *reduction = arena_alloc(mem, ((size_t)n->nreductions + 1) * sizeof *reduction);
    if (!live || !reduces || !to || !reduction) return false;
    if (mark_live(n, live, reduces)) return true;
    int count = 0, kept = 0;
    for (int i = 0; i < n->nexprs; i++) to[i] = (uint32_t)(live[i] ? count++ : 0);
    for (int r = 0; r < n->nreductions; r++) {
        reduction[r] = (uint16_t)kept;
        if (!reduces[r]) continue;
        nest_reduction *q = &n->reductions[kept++];
        *q = n->reductions[r];
        for (int j = 0; j < q->nstate; j++) q->lifted[j] = to[q->lifted[j]];
    }
    n->nreductions = kept;
    for (int i = 0; i < n->nexprs; i++) {
        if (!live[i]) continue;
        expr *x = &n->exprs[to[i]];
        *x = n->exprs[i];
        for (int j = 0; j < x->nargs; j++) x->args[j] = to[x->args[j]];
        if (x->kind == EXPR_LOAD && x->index >= 0) x->index = (int32_t)to[x->index];
        if (x->kind == EXPR_REDUCED || x->kind == EXPR_SCANNED) x->op = reduction[x->op];
    }
    n->nexprs = count;
    for (int i = 0; i < n->nstores; i++) {
        n->stores[i].value = to[n->stores[i].value];
        if (n->stores[i].index >= 0) n->stores[i].index = (int32_t)to[n->stores[i].index];
        if (n->stores[i].when) n->stores[i].when = to[n->stores[i].when - 1] + 1;
    }
    drop_operands(n);
    return true;
}

/* ---- atoms ---- */

typedef struct forms { form **at; uint32_t n, cap; } forms;

static bool add_form(arena *mem, forms *f, form *at) {
    if (!reserve(mem, (void **)&f->at, &f->cap, f->n + 1, sizeof *f->at)) return false;
    f->at[f->n++] = at;
    return true;
}

static bool collect_forms(nest *n, arena *mem, forms *f) {
    for (int i = 0; i < n->nexprs; i++)
        if ((n->exprs[i].kind == EXPR_LOAD || n->exprs[i].kind == EXPR_INDEX) && !add_form(mem, f, &n->exprs[i].at)) return false;
    for (int i = 0; i < n->nstores; i++) {
        if (!add_form(mem, f, &n->stores[i].at)) return false;
        for (int g = 0; g < n->stores[i].nguards; g++) if (!add_form(mem, f, &n->stores[i].guards[g].at)) return false;
    }
    return true;
}

/* atoms[i] becomes what atoms[from[i]] was. */
static void permute(nest *n, const forms *f, const int *from, int natoms) {
    atom atoms[NEST_ATOMS];
    int64_t stride[NEST_ATOMS];
    for (int i = 0; i < natoms; i++) atoms[i] = n->atoms[from[i]];
    memcpy(n->atoms, atoms, (size_t)natoms * sizeof *atoms);
    for (uint32_t k = 0; k < f->n; k++) {
        for (int i = 0; i < natoms; i++) stride[i] = f->at[k]->stride[from[i]];
        memcpy(f->at[k]->stride, stride, (size_t)natoms * sizeof *stride);
        for (int i = natoms; i < n->natoms; i++) f->at[k]->stride[i] = 0;
    }
    n->natoms = natoms;
}

static void drop_ones(nest *n, const forms *f) {
    int from[NEST_ATOMS], count = 0;
    for (int a = 0; a < n->natoms; a++) if (n->atoms[a].extent != 1) from[count++] = a;
    if (count < n->natoms) permute(n, f, from, count);
}

static bool keeps_order(const nest *n, bool reduced) {
    if (n->serial) return true;
    for (int r = 0; r < n->nreductions && reduced; r++) if (n->reductions[r].scan || n->reductions[r].ordered) return true;
    return false;
}

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

static int atoms_used(const nest *n, const form *f, bool reduced) {
    int used = 0;
    for (int a = 0; a < n->natoms; a++) used += n->atoms[a].reduced == reduced && f->stride[a];
    return used;
}

/* The access whose layout decides: the first store that varies over all these atoms, else the first such load. */
static const form *leading_form(const nest *n, bool reduced) {
    const form *best = NULL;
    int most = 0;
    for (int i = 0; i < n->nstores; i++)
        if (n->stores[i].index < 0 && atoms_used(n, &n->stores[i].at, reduced) > most) {
            best = &n->stores[i].at;
            most = atoms_used(n, best, reduced);
        }
    for (int i = 0; i < n->nexprs; i++)
        if (n->exprs[i].kind == EXPR_LOAD && atoms_used(n, &n->exprs[i].at, reduced) > most) {
            best = &n->exprs[i].at;
            most = atoms_used(n, best, reduced);
        }
    return best;
}

static void sort_atoms(const nest *n, bool reduced, int *from, int count) {
    const form *f = leading_form(n, reduced);
    if (!f || keeps_order(n, reduced)) return;
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && magnitude(f->stride[from[j]]) > magnitude(f->stride[from[j - 1]]); j--) {
            int t = from[j];
            from[j] = from[j - 1];
            from[j - 1] = t;
        }
}

static void order_atoms(nest *n, const forms *f) {
    int from[NEST_ATOMS], outer = 0, all = 0;
    for (int a = 0; a < n->natoms; a++) if (!n->atoms[a].reduced) from[all++] = a;
    outer = all;
    for (int a = 0; a < n->natoms; a++) if (n->atoms[a].reduced) from[all++] = a;
    sort_atoms(n, false, from, outer);
    sort_atoms(n, true, from + outer, all - outer);
    for (int a = 0; a < n->natoms; a++) if (from[a] != a) { permute(n, f, from, all); return; }
}

static bool walk_as_one(const nest *n, const forms *f, int p, int q) {
    int64_t extent = n->atoms[q].extent;
    for (uint32_t k = 0; k < f->n; k++) if (f->at[k]->stride[p] != extent * f->at[k]->stride[q]) return false;
    return true;
}

static bool merge_one(nest *n, const forms *f) {
    for (int p = 0; p < n->natoms; p++)
        for (int q = 0; q < n->natoms; q++) {
            bool reduced = n->atoms[p].reduced;
            if (p == q || n->atoms[q].reduced != reduced || (keeps_order(n, reduced) && q != p + 1)) continue;
            if (!walk_as_one(n, f, p, q)) continue;
            n->atoms[q].extent *= n->atoms[p].extent;
            int from[NEST_ATOMS], count = 0;
            for (int a = 0; a < n->natoms; a++) if (a != p) from[count++] = a;
            permute(n, f, from, count);
            return true;
        }
    return false;
}

/* ---- stages ---- */

static void fill_stages(nest *n) {
    n->nstages = 1;
    for (int i = 0; i < n->nexprs; i++) {
        expr *x = &n->exprs[i];
        x->stage = 0;
        x->inner = x->kind == EXPR_SCANNED;
        if (x->kind == EXPR_LOAD || x->kind == EXPR_INDEX)
            for (int a = 0; a < n->natoms; a++) x->inner |= n->atoms[a].reduced && x->at.stride[a];
        for (int j = 0; j <= x->nargs; j++) {
            if (j == x->nargs && (x->kind != EXPR_LOAD || x->index < 0)) continue;
            const expr *y = &n->exprs[j < x->nargs ? x->args[j] : (uint32_t)x->index];
            if (y->stage > x->stage) x->stage = y->stage;
            x->inner |= y->inner;
        }
        if (x->kind != EXPR_REDUCED && x->kind != EXPR_SCANNED) continue;
        const nest_reduction *r = &n->reductions[x->op];
        for (int j = 0; j < r->nstate; j++) if (n->exprs[r->lifted[j]].stage > x->stage) x->stage = n->exprs[r->lifted[j]].stage;
        if (x->stage + 1 > n->nstages) n->nstages = x->stage + 1;
        if (x->kind == EXPR_REDUCED && x->stage < UINT8_MAX) x->stage++;
    }
    for (int i = 0; i < n->nexprs; i++)
        if (n->exprs[i].kind == EXPR_FAULT && n->exprs[i].inner && n->exprs[i].stage + 1 > n->nstages) n->nstages = n->exprs[i].stage + 1;
    for (int i = 0; i < n->nstores; i++) {
        const nest_store *s = &n->stores[i];
        expr *v = &n->exprs[s->value];
        for (int a = 0; a < n->natoms; a++) v->inner |= n->atoms[a].reduced && s->at.stride[a];   /* needed for every element of R */
        if (v->inner && v->stage + 1 > n->nstages) n->nstages = v->stage + 1;
    }
}

kn_status nest_finish(nest *n, arena *mem, message *m) {
    forms f = { 0 };
    if (!drop_dead(n, mem) || !collect_forms(n, mem, &f)) return fail_memory(m, "making a plan");
    drop_ones(n, &f);
    order_atoms(n, &f);
    while (merge_one(n, &f)) {}
    for (int r = 0; r < n->nreductions; r++) {
        int first = 0;
        while (first < n->natoms && !n->atoms[first].reduced) first++;
        n->reductions[r].scan_atoms_from = (uint8_t)first;
    }
    fill_stages(n);
    return KN_OK;
}
