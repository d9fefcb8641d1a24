/* partition.c: which values are stored, which are computed inside the kernels that need them, and in which order kernels run.
 *
 * How it works: what must be in memory is an anchor (results, operands of libraries, gathered arrays, bases of writes);
 * reductions and scans are anchors since a kernel has to make them as such. Any other value is inline unless evaluating it
 * again and again costs more than storing it. Every anchor starts as a group of its own, partition_merge.c joins them,
 * partition_write.c decides what is overwritten; where one of these finds that a value had better be stored, it becomes
 * an anchor and groups are made anew. Expressions and memory must not be dealt with here. */
#include <string.h>
#include "ir/plan/internal.h"

#define CHEAP_FLOPS 4                    /* evaluated again rather than stored however often it is used */
#define CHEAP_MAPS 8
#define LAUNCH_FLOPS 20000               /* what one more kernel costs */
#define MANY_OPS 400                     /* estimated operations above which an input is stored; traces have the exact limit */
#define SATURATED ((int64_t)1 << 40)
#define MOST_ROUNDS 12

static int64_t capped(int64_t v) { return v < SATURATED ? v : SATURATED; }

/* ---- domains ---- */

static bool domain_run(domain *d, int64_t extent, bool reduced) {
    if (extent == 1) return true;
    *(reduced ? &d->inner : &d->outer) *= extent;
    if (d->nruns && d->run[d->nruns - 1].reduced == reduced) {
        d->run[d->nruns - 1].extent *= extent;
        return true;
    }
    if (d->nruns == NEST_ATOMS) return false;
    d->run[d->nruns].extent = extent;
    d->run[d->nruns++].reduced = reduced;
    return true;
}

int64_t reduced_extent(const node *n) {
    if (n->kind == NODE_SCAN) return n->shape[n->attr.scan.axis];
    return n->size ? n->in[0]->size / n->size : 0;
}

bool domain_of(const node *n, domain *d) {
    d->nruns = 0;
    d->scan = n->kind == NODE_SCAN && reduced_extent(n) != 1;
    d->outer = d->inner = 1;
    if (n->kind == NODE_WRITE || n->kind == NODE_SCATTER) return domain_run(d, n->in[1]->size, false);
    if ((n->kind != NODE_REDUCE && n->kind != NODE_SCAN) || !n->in[0]->size) return domain_run(d, n->size, false);
    uint64_t axes = n->kind == NODE_SCAN ? (uint64_t)1 << n->attr.scan.axis : n->attr.reduce.axes;
    for (int i = 0; i < n->in[0]->ndim; i++) if (!domain_run(d, n->in[0]->shape[i], axes >> i & 1)) return false;
    return true;
}

static bool has_inner(const domain *d) { return d->inner > 1; }

bool domain_unify(const domain *a, const domain *b, domain *d) {
    if (has_inner(b) && !has_inner(a)) { const domain *c = a; a = b; b = c; }
    *d = *a;
    if (!has_inner(b)) return b->outer == a->outer * a->inner || (b->outer == a->outer && !a->scan);
    if (a->scan != b->scan || a->nruns != b->nruns) return false;
    for (int i = 0; i < a->nruns; i++) if (a->run[i].extent != b->run[i].extent || a->run[i].reduced != b->run[i].reduced) return false;
    return true;
}

/* ---- what must be in memory ---- */

static const node *strip(const partition *p, const node *n) {
    while (n->kind == NODE_VIEW && !in_memory(p, value_of(p, n)) && view_is_whole(n)) n = n->in[0];
    return n;
}

void make_anchor(partition *p, uint32_t v, why_stored why) {
    while (!p->notes[v].anchor) {
        note *q = &p->notes[v];
        q->anchor = true;
        q->why = (uint8_t)why;
        q->group = -1;
        if (v >= p->nnodes || (q->n->kind != NODE_WRITE && q->n->kind != NODE_SCATTER)) return;
        v = value_of(p, strip(p, q->n->in[0]));
        why = WHY_BASE;
        if (in_memory(p, v)) return;
    }
}

/* Makes n readable as strided memory: itself, or what it is a view of. */
static void force_memory(partition *p, const node *n, why_stored why) {
    bool reshaped = strip(p, n) != n;
    n = strip(p, n);
    if (in_memory(p, value_of(p, n))) return;
    if (n->kind == NODE_VIEW && !reshaped) {
        const node *base = strip(p, n->in[0]);
        if (in_memory(p, value_of(p, base))) return;
        if (base->kind != NODE_VIEW && base->kind != NODE_SCALAR && base->size <= n->size) n = base;
    }
    make_anchor(p, value_of(p, n), why);
}

static void force_anchors(partition *p) {
    for (uint32_t i = 0; i < p->nnodes; i++) {
        const node *n = p->notes[i].n;
        if (p->s->wanted[i]) make_anchor(p, i, WHY_WANTED);
        if (p->o->no_fusion && n->kind != NODE_EMPTY) make_anchor(p, i, WHY_NO_FUSION);
        switch (n->kind) {
        case NODE_REDUCE: case NODE_SCAN: make_anchor(p, i, WHY_KIND); break;
        case NODE_OPAQUE:
            make_anchor(p, i, WHY_KIND);
            for (int j = 0; j < n->nin; j++) force_memory(p, n->in[j], WHY_LIBRARY);
            break;
        case NODE_GATHER: force_memory(p, n->in[0], WHY_GATHERED); break;
        case NODE_SCATTER: make_anchor(p, i, WHY_KIND); break;
        default: break;
        }
    }
}

#define MOST_INLINE_WRITES 4

/* Assignments into boxes, one after another, whose result is read about once (concatenate, pad, roll) are choices in the
 * kernel that reads them; others happen in memory. */
static void place_writes(partition *p) {
    for (uint32_t i = 0; i < p->nnodes; i++) {
        note *q = &p->notes[i];
        if (q->n->kind != NODE_WRITE) continue;
        int64_t first[NDIM_MAX], extent[NDIM_MAX], reads = (q->identity ? q->n->size : 0) + q->map_evaluations;
        int dimension[NDIM_MAX];
        const note *base = &p->notes[value_of(p, q->n->in[0])];
        q->writes = 1 + (base->n->kind == NODE_WRITE && !base->anchor && value_of(p, q->n->in[0]) < p->nnodes ? base->writes : 0);
        if (q->anchor) continue;
        bool box = write_box(q->n, &q->n->attr.view, first, extent, dimension);
        if (!box || q->writes > MOST_INLINE_WRITES || reads > 2 * q->n->size) make_anchor(p, i, WHY_KIND);
    }
}

/* ---- inline or store ---- */

/* How often a view asks for its base's elements while an outer loop stays where it is: trailing broadcasts are hoisted. */
static int64_t view_evaluations(const node *n) {
    int64_t count = 1;
    int last = n->ndim - 1;
    while (last >= 0 && (!n->attr.view.strides[last] || n->shape[last] == 1)) last--;
    for (int d = 0; d <= last; d++) count *= n->shape[d];
    return count;
}

static void note_uses(partition *p) {
    for (uint32_t i = 0; i < p->nnodes; i++) {
        const node *n = p->notes[i].n;
        for (int j = 0; j < n->nin; j++) {
            note *q = &p->notes[value_of(p, n->in[j])];
            if (n->kind != NODE_VIEW || view_is_whole(n)) { q->identity = true; continue; }
            q->maps++;
            q->map_evaluations = capped(q->map_evaluations + view_evaluations(n));
        }
    }
}

static bool may_store(const partition *p, uint32_t v) {
    const note *q = &p->notes[v];
    return v < p->nnodes && !q->anchor && (q->n->kind == NODE_MAP || q->n->kind == NODE_GATHER);
}

static bool store_pays(const partition *p, uint32_t v, int64_t evaluations) {
    const note *q = &p->notes[v];
    int64_t extra = evaluations - q->n->size;
    if (extra <= 0 || !may_store(p, v)) return false;
    return (double)extra * (double)q->flops > 2. * (double)value_bytes(q->n) * p->p->balance + LAUNCH_FLOPS;
}

/* What evaluating v takes with all that is inline below it; inputs have been decided before. */
static void sum_below(partition *p, uint32_t v) {
    note *q = &p->notes[v];
    const node *n = q->n;
    int64_t flops = node_flops(n), operations = n->kind == NODE_VIEW ? 0 : 1, many = 1, views = 0;
    uint32_t lowest = v;
    for (int j = 0; j < n->nin; j++) {
        const note *in = &p->notes[value_of(p, n->in[j])];
        if (in->anchor || value_of(p, n->in[j]) >= p->nnodes || (n->kind == NODE_GATHER && j == 0)) continue;
        flops += in->flops;
        operations += in->ops;
        if (in->n->kind == NODE_VIEW) views += in->many;
        if (in->many > many) many = in->many;
        if (in->lowest < lowest) lowest = in->lowest;
    }
    if (views > many) many = views;
    int64_t distinct = capped((int64_t)(v - lowest + 1) * many);
    q->flops = capped(flops);
    q->ops = operations < distinct ? operations : distinct;
    q->many = capped(many);
    q->lowest = lowest;
}

/* The inline input with most operations below it becomes an anchor. */
static bool store_largest_input(partition *p, uint32_t v) {
    const node *n = p->notes[v].n;
    note *best = NULL;
    for (int j = 0; j < n->nin; j++) {
        const node *in = n->in[j];
        while (in->kind == NODE_VIEW && !in_memory(p, value_of(p, in))) in = in->in[0];
        note *q = &p->notes[value_of(p, in)];
        if (may_store(p, value_of(p, in)) && (!best || q->ops > best->ops)) best = q;
    }
    if (!best) return false;
    make_anchor(p, value_of(p, best->n), WHY_LARGE);
    return true;
}

static void choose_stored(partition *p) {
    for (uint32_t i = 0; i < p->nnodes; i++) {
        note *q = &p->notes[i];
        do sum_below(p, i); while (q->ops > MANY_OPS && store_largest_input(p, i));
        if (q->flops <= CHEAP_FLOPS && q->maps <= CHEAP_MAPS) continue;
        if (store_pays(p, i, capped((q->identity ? q->n->size : 0) + q->map_evaluations))) make_anchor(p, i, WHY_RECOMPUTE);
    }
}

/* ---- groups of one anchor each ---- */

static bool same_call(const node *a, const node *b) {
    if (a->op != b->op || a->nin != b->nin || a->attr.opaque.nattr != b->attr.opaque.nattr) return false;
    for (int i = 0; i < a->nin; i++) if (a->in[i] != b->in[i]) return false;
    return !a->attr.opaque.nattr || !memcmp(a->attr.opaque.attr, b->attr.opaque.attr, (size_t)a->attr.opaque.nattr * sizeof(int64_t));
}

static bool add_read(partition *p, group *g, uint32_t v) {
    for (uint32_t i = 0; i < g->nreads; i++) if (g->reads[i] == v) return true;
    if (!reserve(p->mem, (void **)&g->reads, &g->cap_reads, g->nreads + 1, sizeof *g->reads)) return false;
    g->reads[g->nreads++] = v;
    return true;
}

static bool add_anchor(partition *p, group *g, uint32_t v) {
    uint32_t *more = arena_alloc(p->mem, (g->nanchors + 1) * sizeof *more);
    if (!more) return false;
    if (g->nanchors) memcpy(more, g->anchors, g->nanchors * sizeof *more);
    more[g->nanchors++] = v;
    g->anchors = more;
    p->notes[v].group = (int32_t)(g - p->groups);
    if (v < g->least) g->least = v;
    if (v > g->most) g->most = v;
    return true;
}

static uint8_t kind_of_group(const partition *p, const node *n) {
    if (n->kind == NODE_OPAQUE) return GROUP_OPAQUE;
    if (!n->size || n->kind == NODE_EMPTY) return GROUP_NOTHING;
    if (n->kind == NODE_VIEW && view_is_whole(n) && in_memory(p, value_of(p, strip(p, n->in[0])))) return GROUP_ALIAS;
    return GROUP_KERNEL;
}

/* Reads of a group that no trace finds. */
static bool fixed_reads(partition *p, group *g, const node *n) {
    uint32_t v;
    const window *w;
    if (g->kind == GROUP_ALIAS) return add_read(p, g, value_of(p, strip(p, n->in[0])));
    if (g->kind == GROUP_KERNEL && (n->kind == NODE_WRITE || n->kind == NODE_SCATTER)) return !memory_window(p, n->in[0], &v, &w) || add_read(p, g, v);
    if (g->kind == GROUP_OPAQUE)
        for (int i = 0; i < n->nin; i++) if (memory_window(p, n->in[i], &v, &w) && !add_read(p, g, v)) return false;
    return true;
}

static bool group_of_anchor(partition *p, uint32_t v) {
    const node *n = p->notes[v].n;
    if (n->kind == NODE_OPAQUE)
        for (uint32_t i = p->ngroups; i-- > 0;)
            if (p->groups[i].kind == GROUP_OPAQUE && same_call(n, p->notes[p->groups[i].anchors[0]].n)) return add_anchor(p, &p->groups[i], v);
    if (!reserve(p->mem, (void **)&p->groups, &p->cap_groups, p->ngroups + 1, sizeof *p->groups)) return false;
    group *g = &p->groups[p->ngroups++];
    *g = (group){ .kind = kind_of_group(p, n), .least = v, .most = v };
    return add_anchor(p, g, v) && fixed_reads(p, g, n);
}

/* WRITE and SCATTER of nothing leave the base as it is, which is not "nothing to do": its memory is still needed. */
static kn_status trace_single(partition *p, group *g, bool *stored) {
    const node *n = p->notes[g->anchors[0]].n;
    uint32_t culprit;
    if (!domain_of(n, &g->d)) return fail(p->m, KN_NOT_AVAILABLE, "a reduction over more than %d groups of axes that alternate with others", NEST_ATOMS);
    if (!(g->t = arena_alloc(p->mem, sizeof *g->t))) return fail_memory(p->m, "making a plan");
    if (!g->d.outer) { memset(g->t, 0, sizeof *g->t); return KN_OK; }
    for (;;) {
        trace_status status = trace_group(p, &g->d, g->anchors, g->nanchors, g->t, &culprit);
        if (status == TRACE_OK) return KN_OK;
        if (status == TRACE_MEMORY) return fail_memory(p->m, "making a plan");
        if (status == TRACE_ILLEGAL) return fail(p->m, KN_NOT_AVAILABLE, "an index pattern over more than %d dimensions", NEST_ATOMS);
        make_anchor(p, culprit, g->t->nvisits > 500 || g->t->nreads > 30 ? WHY_LARGE : WHY_NO_CHAIN);
        *stored = true;
    }
}

static kn_status make_groups(partition *p) {
    for (bool stored = true; stored;) {
        stored = false;
        p->ngroups = 0;
        for (uint32_t v = 0; v < p->nvalues; v++)
            if (p->notes[v].anchor && !group_of_anchor(p, v)) return fail_memory(p->m, "making a plan");
        for (uint32_t i = 0; i < p->ngroups; i++) {
            group *g = &p->groups[i];
            if (g->kind != GROUP_KERNEL) continue;
            kn_status status = trace_single(p, g, &stored);
            if (status) return status;
            for (int j = 0; j < g->t->nreads; j++) if (!add_read(p, g, g->t->reads[j])) return fail_memory(p->m, "making a plan");
        }
    }
    for (uint32_t v = 0; v < p->nvalues; v++) p->notes[v].readers = 0;
    for (uint32_t i = 0; i < p->ngroups; i++)
        for (uint32_t j = 0; j < p->groups[i].nreads; j++) p->notes[p->groups[i].reads[j]].readers++;
    return KN_OK;
}

/* Values that several kernels compute, or one kernel at several places, although storing them costs less. Of values that
 * lie on each other the topmost is stored. */
static kn_status store_recomputed(partition *p, bool *again) {
    int64_t *evaluations = arena_zero(p->mem, p->nvalues, sizeof *evaluations);
    uint8_t *covered = arena_zero(p->mem, p->nvalues, 1);
    if (!evaluations || !covered) return fail_memory(p->m, "making a plan");
    for (uint32_t i = 0; i < p->ngroups; i++) {
        const group *g = &p->groups[i];
        if (g->gone || g->kind != GROUP_KERNEL) continue;
        for (uint32_t j = 0; j < g->t->nvisits; j++) {
            const visit *v = &g->t->visits[j];
            if (v->kind == VISIT_COMPUTE && may_store(p, v->value)) evaluations[v->value] = capped(evaluations[v->value] + form_evaluations(&g->t->at, v->form));
        }
    }
    for (uint32_t v = p->nnodes; v-- > 0;) {
        const note *q = &p->notes[v];
        bool stores = !covered[v] && q->flops > CHEAP_FLOPS && store_pays(p, v, evaluations[v]);
        if (stores) {
            make_anchor(p, v, WHY_RECOMPUTE);
            *again = true;
        }
        if (!stores && !covered[v]) continue;
        for (int j = 0; j < q->n->nin; j++) covered[value_of(p, q->n->in[j])] = 1;
    }
    return KN_OK;
}

/* ---- the order in which groups run ---- */

/* The i-th group that must run before g, or -1 past the last; leaves are nobody's. */
static int64_t earlier_group(const partition *p, const group *g, uint32_t i) {
    if (i < g->nreads) return p->notes[g->reads[i]].anchor ? p->notes[g->reads[i]].group : -2;
    return i - g->nreads < g->nbefore ? (int64_t)g->before[i - g->nreads] : -1;
}

/* A number below which no group needs `from`, directly or through others: what a group needs begins before it, but a joined
 * group may go on behind `from`, and need it. */
static uint32_t first_reached(const partition *p, uint32_t from) {
    uint32_t least = p->groups[from].least;
    for (bool lower = true; lower;) {
        lower = false;
        for (uint32_t i = 0; i < p->ngroups; i++) {
            const group *g = &p->groups[i];
            if (g->gone || g->most < least || g->least >= least) continue;
            least = g->least;
            lower = true;
        }
    }
    return least;
}

bool group_reaches(partition *p, uint32_t from, uint32_t to, bool indirect, bool *failed) {
    uint32_t depth = 0, least = p->overwrites ? 0 : first_reached(p, from);
    p->mark++;
    if (!reserve(p->mem, (void **)&p->stack, &p->cap_stack, p->ngroups + 1, sizeof *p->stack)) { *failed = true; return false; }
    p->stack[depth++] = to;
    p->groups[to].mark = p->mark;
    while (depth) {
        uint32_t x = p->stack[--depth];
        int64_t e;
        for (uint32_t i = 0; (e = earlier_group(p, &p->groups[x], i)) != -1; i++) {
            if (e < 0) continue;
            if (e == from && !(indirect && x == to)) return true;
            group *g = &p->groups[e];
            if (e == from || g->mark == p->mark || g->most < least) continue;
            g->mark = p->mark;
            p->stack[depth++] = (uint32_t)e;
        }
    }
    return false;
}

#define ORDERED UINT32_MAX

static kn_status order_groups(partition *p) {
    uint32_t *next = arena_zero(p->mem, (size_t)p->ngroups + 1, sizeof *next);
    p->run_order = arena_alloc(p->mem, ((size_t)p->ngroups + 1) * sizeof *p->run_order);
    p->nrun = 0;
    if (!next || !p->run_order || !reserve(p->mem, (void **)&p->stack, &p->cap_stack, p->ngroups + 1, sizeof *p->stack)) return fail_memory(p->m, "making a plan");
    p->mark++;
    for (uint32_t i = 0; i < p->ngroups; i++) {
        uint32_t depth = 0;
        if (p->groups[i].gone || p->groups[i].mark == p->mark) continue;
        p->groups[i].mark = p->mark;
        p->stack[depth++] = i;
        while (depth) {
            uint32_t x = p->stack[depth - 1];
            int64_t e = earlier_group(p, &p->groups[x], next[x]++);
            if (e == -1) {
                p->run_order[p->nrun++] = x;
                next[x] = ORDERED;
                depth--;
            } else if (e >= 0 && p->groups[e].mark != p->mark) {
                p->groups[e].mark = p->mark;
                p->stack[depth++] = (uint32_t)e;
            } else if (e >= 0 && next[e] != ORDERED) {
                return fail(p->m, KN_RUNTIME_ERROR, "kernels of a plan need each other's results");
            }
        }
    }
    return KN_OK;
}

/* ---- all of it ---- */

static kn_status make_notes(partition *p) {
    const slice *s = p->s;
    p->nnodes = (uint32_t)s->nnodes;
    p->nvalues = (uint32_t)s->nnodes + (uint32_t)s->nleaves + (uint32_t)s->nscalars;
    p->notes = arena_zero(p->mem, (size_t)p->nvalues + 1, sizeof *p->notes);
    if (!p->notes) return fail_memory(p->m, "making a plan");
    for (int i = 0; i < s->nnodes; i++) p->notes[i].n = s->nodes[i];
    for (int i = 0; i < s->nleaves; i++) p->notes[s->nnodes + i].n = s->leaves[i];
    for (int i = 0; i < s->nscalars; i++) p->notes[s->nnodes + s->nleaves + i].n = s->scalars[i];
    for (int i = 0; i < s->nnodes; i++) p->notes[i].wanted = s->wanted[i];
    return KN_OK;
}

kn_status partition_run(partition *p) {
    kn_status status = make_notes(p);
    if (status) return status;
    note_uses(p);
    force_anchors(p);
    place_writes(p);
    choose_stored(p);
    for (int round = 0;; round++) {
        bool again = false;
        if ((status = make_groups(p))) return status;
        if (!p->o->no_fusion && (status = partition_merge(p))) return status;
        if (round < MOST_ROUNDS && (status = store_recomputed(p, &again))) return status;
        if (!again && (status = partition_writes(p, &again))) return status;
        if (!again) break;
    }
    for (uint32_t i = 0; i < p->ngroups; i++)
        if (!p->groups[i].gone && p->groups[i].kind == GROUP_KERNEL) p->groups[i].bytes = p->groups[i].t->bytes + bytes_written(p, &p->groups[i], NULL);
    return order_groups(p);
}
