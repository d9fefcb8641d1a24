/* partition_merge.c: joins groups into kernels that move fewer bytes.
 *
 * How it works: two groups are worth a try where one reads what the other computes, or both read the same memory. Pairs are
 * tried from the most bytes downwards. A pair is joined when its domains are one, no third group stands between them, the
 * trace of both together is legal and within the limits, there is enough to do in parallel, and bytes are saved by exact
 * count. Writes in place are not known yet and must not be decided here. */
#include <stdlib.h>
#include <string.h>
#include "ir/plan/internal.h"

#define MOST_ROUNDS 4
#define ALL_PAIRS 8                      /* readers of one value up to which all pairs are tried; else neighbours only */
#define SMALL_DOMAIN 65536               /* elements that one worker may as well do alone */

typedef struct pair { uint32_t a, b; int64_t score; uint32_t number; } pair;

typedef struct pairs { pair *at; uint32_t n, cap; } pairs;

static bool add_pair(partition *p, pairs *list, uint32_t a, uint32_t b, int64_t score) {
    if (a == b || p->groups[a].kind != GROUP_KERNEL || p->groups[b].kind != GROUP_KERNEL) return true;
    if (!reserve(p->mem, (void **)&list->at, &list->cap, list->n + 1, sizeof *list->at)) return false;
    list->at[list->n] = (pair){ a, b, score, list->n };
    list->n++;
    return true;
}

static int by_score(const void *x, const void *y) {
    const pair *a = x, *b = y;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

bool list_readers(partition *p, uint32_t **first, uint32_t **reader) {
    uint32_t n = 0;
    *first = arena_zero(p->mem, (size_t)p->nvalues + 2, sizeof **first);
    if (!*first) return false;
    for (uint32_t i = 0; i < p->ngroups; i++) {
        if (p->groups[i].gone) continue;
        for (uint32_t j = 0; j < p->groups[i].nreads; j++) (*first)[p->groups[i].reads[j] + 2]++;
        n += p->groups[i].nreads;
    }
    *reader = arena_alloc(p->mem, ((size_t)n + 1) * sizeof **reader);
    if (!*reader) return false;
    for (uint32_t v = 0; v < p->nvalues; v++) (*first)[v + 2] += (*first)[v + 1];
    for (uint32_t i = 0; i < p->ngroups; i++) {
        if (p->groups[i].gone) continue;
        for (uint32_t j = 0; j < p->groups[i].nreads; j++) (*reader)[(*first)[p->groups[i].reads[j] + 1]++] = i;
    }
    return true;
}

static bool list_pairs(partition *p, pairs *list) {
    uint32_t *first, *reader;
    list->n = 0;
    if (!list_readers(p, &first, &reader)) return false;
    for (uint32_t v = 0; v < p->nvalues; v++) {
        uint32_t lo = first[v], hi = first[v + 1], all = hi - lo <= ALL_PAIRS;
        int64_t bytes = value_bytes(p->notes[v].n);
        for (uint32_t i = lo; i < hi; i++) {
            if (p->notes[v].anchor && !add_pair(p, list, (uint32_t)p->notes[v].group, reader[i], p->notes[v].wanted || hi - lo > 1 ? bytes : 2 * bytes)) return false;
            for (uint32_t j = i + 1; j < hi && (all || j == i + 1); j++) if (!add_pair(p, list, reader[i], reader[j], bytes)) return false;
        }
    }
    if (list->n > 1) qsort(list->at, list->n, sizeof *list->at, by_score);
    return true;
}

/* ---- one pair ---- */

static bool reads(const group *g, uint32_t v) {
    for (uint32_t i = 0; i < g->nreads; i++) if (g->reads[i] == v) return true;
    return false;
}

int64_t bytes_written(const partition *p, const group *a, const group *b) {
    int64_t bytes = 0;
    for (const group *g = a; g; g = g == a ? b : NULL)
        for (uint32_t i = 0; i < g->nanchors; i++) {
            uint32_t v = g->anchors[i];
            const note *q = &p->notes[v];
            uint32_t outside = q->readers - (uint32_t)reads(a, v) - (uint32_t)(b && reads(b, v));
            const node *n = q->n->kind == NODE_WRITE ? q->n->in[1] : q->n;
            if (q->wanted || outside) bytes += n->size * (int64_t)dtype_size((kn_dtype)q->n->dtype);
        }
    return bytes;
}

static uint32_t *both_anchors(partition *p, const group *a, const group *b, uint32_t *n) {
    *n = a->nanchors + b->nanchors;
    uint32_t *all = arena_alloc(p->mem, *n * sizeof *all), i = 0, j = 0;
    for (uint32_t k = 0; all && k < *n; k++) all[k] = j == b->nanchors || (i < a->nanchors && a->anchors[i] < b->anchors[j]) ? a->anchors[i++] : b->anchors[j++];
    return all;
}

/* Kernels with several passes over R, or that store elements of O x R, are spread over O alone. */
static bool enough_in_parallel(const partition *p, const domain *d, const trace *t) {
    if (d->inner <= 1 || d->scan || (!t->inner_store && t->nstages == 1) || d->outer >= 2 * (int64_t)p->p->units) return true;
    if (d->outer * d->inner <= SMALL_DOMAIN) return true;
    return p->p->target != TARGET_CPU && d->inner * 4 <= p->p->on_chip_row;
}

static bool may_merge(const partition *p, const group *g) {
    for (uint32_t i = 0; i < g->nanchors; i++) {
        const node *n = p->notes[g->anchors[i]].n;
        if (p->notes[g->anchors[i]].alone || n->kind == NODE_SCATTER || (n->kind == NODE_REDUCE && n->attr.reduce.ordered)) return false;
    }
    return g->d.outer > 0;
}

static bool adopt(partition *p, uint32_t into, uint32_t from, const domain *d, uint32_t *anchors, uint32_t nanchors, trace *t) {
    group *g = &p->groups[into], *other = &p->groups[from];
    for (uint32_t i = 0; i < g->nreads; i++) p->notes[g->reads[i]].readers--;
    for (uint32_t i = 0; i < other->nreads; i++) p->notes[other->reads[i]].readers--;
    uint32_t *all = arena_alloc(p->mem, ((size_t)t->nreads + nanchors + 1) * sizeof *all), n = 0;
    if (!all) return false;
    for (int i = 0; i < t->nreads; i++) all[n++] = t->reads[i];
    for (uint32_t i = 0; i < nanchors; i++) {
        const node *a = p->notes[anchors[i]].n;
        const window *w;
        uint32_t base, j = 0;
        p->notes[anchors[i]].group = (int32_t)into;
        if (a->kind != NODE_WRITE || !memory_window(p, a->in[0], &base, &w)) continue;
        while (j < n && all[j] != base) j++;
        if (j == n) all[n++] = base;
    }
    g->reads = all;
    g->nreads = g->cap_reads = n;
    for (uint32_t i = 0; i < n; i++) p->notes[all[i]].readers++;
    g->anchors = anchors;
    g->nanchors = nanchors;
    g->d = *d;
    g->t = t;
    if (other->least < g->least) g->least = other->least;
    if (other->most > g->most) g->most = other->most;
    other->gone = true;
    return true;
}

typedef enum { APART_DOMAIN, APART_KIND, APART_BETWEEN, APART_ILLEGAL, APART_LARGE, APART_PARALLEL, APART_BYTES, JOINED, OUT_OF_MEMORY } outcome;
static const char *const outcome_text[] = { "different domains", "one of them has an order of its own", "a third kernel stands between them",
                                            "one needs elements that the other has not computed yet", "together they are too large",
                                            "too little would run in parallel", "no bytes would be saved" };

static outcome try_pair(partition *p, uint32_t a, uint32_t b) {
    group *ga = &p->groups[a], *gb = &p->groups[b];
    domain d;
    bool failed = false;
    if (!domain_unify(&ga->d, &gb->d, &d)) return APART_DOMAIN;
    if (!may_merge(p, ga) || !may_merge(p, gb)) return APART_KIND;
    if (ga->t->ops + gb->t->ops > 1200) return APART_LARGE;
    if (group_reaches(p, a, b, true, &failed) || group_reaches(p, b, a, true, &failed)) return APART_BETWEEN;
    uint32_t n, culprit, *anchors = both_anchors(p, ga, gb, &n);
    trace *t = arena_alloc(p->mem, sizeof *t);
    if (!anchors || !t || failed) return OUT_OF_MEMORY;
    switch (trace_group(p, &d, anchors, n, t, &culprit)) {
    case TRACE_OK: break;
    case TRACE_MEMORY: return OUT_OF_MEMORY;
    case TRACE_STORE: return APART_LARGE;
    default: return APART_ILLEGAL;
    }
    if (t->nreads + (int)n > NEST_OPERANDS - 4) return APART_LARGE;
    if (!enough_in_parallel(p, &d, t)) return APART_PARALLEL;
    if (t->bytes + bytes_written(p, ga, gb) >= ga->t->bytes + bytes_written(p, ga, NULL) + gb->t->bytes + bytes_written(p, gb, NULL)) return APART_BYTES;
    return adopt(p, a, b, &d, anchors, n, t) ? JOINED : OUT_OF_MEMORY;
}

static void explain_apart(partition *p, uint32_t a, uint32_t b, outcome o) {
    if (!p->why || o >= JOINED) return;
    text_add(p->why, "  %%%u and %%%u are separate kernels: %s\n", p->groups[a].most, p->groups[b].most, outcome_text[o]);
}

static uint32_t final_group(const uint32_t *into, uint32_t g) {
    while (into[g] != g) g = into[g];
    return g;
}

kn_status partition_merge(partition *p) {
    pairs list = { 0 };
    uint32_t *into = arena_alloc(p->mem, ((size_t)p->ngroups + 1) * sizeof *into);
    if (!into) return fail_memory(p->m, "making a plan");
    for (uint32_t i = 0; i < p->ngroups; i++) into[i] = i;
    size_t start = p->why ? p->why->len : 0;
    bool joined = p->ngroups > 1;
    for (int round = 0; joined && round < MOST_ROUNDS; round++) {
        joined = false;
        if (p->why && p->why->at && p->why->len > start) { p->why->len = start; p->why->at[start] = 0; }
        if (!list_pairs(p, &list)) return fail_memory(p->m, "making a plan");
        for (uint32_t i = 0; i < list.n; i++) {
            uint32_t a = final_group(into, list.at[i].a), b = final_group(into, list.at[i].b);
            if (a == b) continue;
            outcome o = try_pair(p, a, b);
            if (o == OUT_OF_MEMORY) return fail_memory(p->m, "making a plan");
            explain_apart(p, a, b, o);
            if (o != JOINED) continue;
            into[b] = a;
            joined = true;
        }
    }
    return KN_OK;
}
