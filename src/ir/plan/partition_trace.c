/* partition_trace.c: everything that the anchors of one kernel need: values at forms, inputs before users, each once.
 *
 * How it works: a depth-first walk with a stack of its own from each anchor, whose place in O x R is known by its size.
 * An anchor of this kernel may be used where the kernel computes it and nowhere else; other anchors and leaves are loads;
 * inline values are walked into. What comes out is used twice: to judge a merge (legal? how many bytes?) and, if it
 * stands, to write the kernel's expressions. */
#include <string.h>
#include "ir/plan/internal.h"

#define MOST_OPS 600
#define MOST_READS 32
#define MOST_PARAMETERS 480              /* of 8 bytes each: kernels of GPUs take 4,096 bytes */

/* ---- finding and making visits ---- */

static uint32_t find_visit(const partition *p, const trace *t, const need *l) {
    const note *q = &p->notes[l->value];
    if (q->stamp != p->stamp) return NO_VALUE_NUMBER;
    for (uint32_t i = q->visit; i != NO_VALUE_NUMBER; i = t->visits[i].next)
        if (t->visits[i].form == l->form && t->visits[i].parts == l->parts && t->visits[i].guard == l->guard) return i;
    return NO_VALUE_NUMBER;
}

static bool add_read(partition *p, trace *t, uint32_t v) {
    note *q = &p->notes[v];
    if (q->read_stamp == p->stamp) return true;
    q->read_stamp = p->stamp;
    if (!reserve(p->mem, (void **)&t->reads, &t->cap_reads, (uint32_t)t->nreads + 1, sizeof *t->reads)) return false;
    t->reads[t->nreads++] = v;
    return true;
}

/* Bytes of a load that no other load of this trace with the same strides brings in already. */
static int64_t load_bytes(const partition *p, const trace *t, uint32_t number) {
    const visit *v = &t->visits[number];
    const form *f = &t->at.forms[v->form];
    for (uint32_t i = v->next; i != NO_VALUE_NUMBER; i = t->visits[i].next) {
        const form *g = &t->at.forms[t->visits[i].form];
        if (t->visits[i].parts == v->parts && !memcmp(f->stride, g->stride, (size_t)t->at.natoms * sizeof *f->stride)) return 0;
    }
    const node *n = p->notes[v->value].n;
    int64_t bytes = form_footprint(&t->at, v->form) * (int64_t)dtype_size((kn_dtype)n->dtype);
    if (v->guard) bytes = (int64_t)((double)bytes * t->guards[v->guard].share);
    return bytes < value_bytes(n) || v->parts ? bytes : value_bytes(n);
}

static bool make_visit(partition *p, trace *t, const need *l, visit_kind kind, uint32_t *made) {
    if (!reserve(p->mem, (void **)&t->visits, &t->cap_visits, t->nvisits + 1, sizeof *t->visits)) return false;
    note *q = &p->notes[l->value];
    if (q->stamp != p->stamp) {
        q->stamp = p->stamp;
        q->visit = NO_VALUE_NUMBER;
    }
    *made = t->nvisits++;
    t->visits[*made] = (visit){ .value = l->value, .next = q->visit, .kind = (uint8_t)kind, .form = l->form, .guard = l->guard, .parts = l->parts, .at = NO_FORM, .source = NO_VALUE_NUMBER };
    q->visit = *made;
    return true;
}

/* ---- the walk ---- */

static bool computed_here(const partition *p, uint32_t v) { return p->notes[v].anchor && p->notes[v].place_stamp == p->stamp; }

/* The visit for a link, made if need be. */
static trace_status meet(partition *p, trace *t, need *l, bool *made) {
    *made = false;
    const note *q = &p->notes[l->value];
    bool here = computed_here(p, l->value);
    if (here && (l->form != q->place || l->parts || l->guard || q->n->kind == NODE_WRITE || q->n->kind == NODE_SCATTER)) return TRACE_ILLEGAL;
    if ((l->visit = find_visit(p, t, l)) != NO_VALUE_NUMBER) return TRACE_OK;
    visit_kind kind = q->n->kind == NODE_SCALAR ? VISIT_SCALAR : !here && in_memory(p, l->value) ? VISIT_LOAD : VISIT_COMPUTE;
    if (!make_visit(p, t, l, kind, &l->visit)) return TRACE_MEMORY;
    if (kind == VISIT_LOAD && !add_read(p, t, l->value)) return TRACE_MEMORY;
    *made = true;
    return TRACE_OK;
}

static bool append_order(partition *p, trace *t, uint32_t visit) {
    if (!reserve(p->mem, (void **)&t->order, &t->cap_order, t->norder + 1, sizeof *t->order)) return false;
    t->order[t->norder++] = visit;
    return true;
}

static bool finish_visit(partition *p, trace *t, uint32_t number) {
    visit *v = &t->visits[number];
    const node *n = p->notes[v->value].n;
    for (uint32_t i = 0; i < v->nlinks; i++) {
        uint8_t below = t->visits[t->links[v->link + i].visit].stage;
        if (below > v->stage) v->stage = below;
    }
    if (v->kind == VISIT_COMPUTE && n->kind == NODE_REDUCE && reduced_extent(n) != 1 && v->stage < UINT8_MAX) v->stage++;
    if (v->kind == VISIT_COMPUTE && n->kind != NODE_VIEW) t->ops++;
    return append_order(p, t, number);
}

/* A value whose storing brings a trace that is too large below the limits: one that is evaluated at many forms, else one
 * about in the middle. */
static bool choose_culprit(const partition *p, const trace *t, uint32_t *culprit) {
    int64_t best = 0, most = 0;
    for (uint32_t i = 0; i < t->nvisits; i++) {
        const note *q = &p->notes[t->visits[i].value];
        if (t->visits[i].kind != VISIT_COMPUTE || (q->n->kind != NODE_MAP && q->n->kind != NODE_GATHER)) continue;
        if (q->ops > most) most = q->ops;
        if (q->anchor) continue;
        int64_t forms = 0;
        for (uint32_t j = q->visit; j != NO_VALUE_NUMBER; j = t->visits[j].next) forms++;
        int64_t score = (forms - 1) * q->flops;
        if (score > best) { best = score; *culprit = t->visits[i].value; }
    }
    if (best > 0) return true;
    int64_t half = most / 2 < MOST_OPS / 2 ? most / 2 : MOST_OPS / 2;
    for (uint32_t i = 0; i < t->nvisits; i++) {
        const note *q = &p->notes[t->visits[i].value];
        if (t->visits[i].kind != VISIT_COMPUTE || q->anchor || q->ops < 1 || (q->n->kind != NODE_MAP && q->n->kind != NODE_GATHER)) continue;
        int64_t score = q->ops <= half ? q->ops : 1;
        if (score > best) { best = score; *culprit = t->visits[i].value; }
    }
    return best > 0;
}

static bool too_large(const trace *t) { return t->ops > MOST_OPS || t->nvisits > 2 * MOST_OPS || t->nreads > MOST_READS; }

/* What one value needs, as links; the memory that it addresses itself is checked and counted. */
static trace_status expand(partition *p, trace *t, uint32_t number, uint32_t *culprit) {
    trace_status status;
    if (!access_expand(p, t, number, &status, culprit)) return status == TRACE_STORE && p->notes[*culprit].anchor ? TRACE_ILLEGAL : status;
    const visit *v = &t->visits[number];
    const node *n = p->notes[v->value].n;
    const window *w;
    uint32_t base;
    if (v->source != NO_VALUE_NUMBER) {
        if (computed_here(p, v->source)) return TRACE_ILLEGAL;
        if (!add_read(p, t, v->source)) return TRACE_MEMORY;
    }
    if (p->notes[v->value].anchor && (n->kind == NODE_WRITE || n->kind == NODE_SCATTER) && memory_window(p, n->in[0], &base, &w) && computed_here(p, base)) return TRACE_ILLEGAL;
    return TRACE_OK;
}

static trace_status walk_from(partition *p, trace *t, uint32_t root, uint32_t *culprit) {
    uint32_t depth = 0;
    if (!reserve(p->mem, (void **)&p->stack, &p->cap_stack, 1, sizeof *p->stack)) return TRACE_MEMORY;
    p->stack[depth++] = root;
    while (depth) {
        uint32_t top = p->stack[depth - 1];
        trace_status status;
        if (!t->visits[top].entered) {
            if ((status = expand(p, t, top, culprit))) return status;
            t->visits[top].entered = true;
        }
        if (t->visits[top].walked == t->visits[top].nlinks) {
            if (!finish_visit(p, t, top)) return TRACE_MEMORY;
            depth--;
            continue;
        }
        uint32_t at = t->visits[top].link + t->visits[top].walked++;
        bool made;
        if ((status = meet(p, t, &t->links[at], &made))) return status;
        if (!made) continue;
        if (too_large(t) && choose_culprit(p, t, culprit)) return TRACE_STORE;
        uint32_t next = t->links[at].visit;
        if (t->visits[next].kind != VISIT_COMPUTE) {
            if (!append_order(p, t, next)) return TRACE_MEMORY;
            continue;
        }
        if (!reserve(p->mem, (void **)&p->stack, &p->cap_stack, depth + 1, sizeof *p->stack)) return TRACE_MEMORY;
        p->stack[depth++] = next;
    }
    return TRACE_OK;
}

/* ---- the kernel's domain ---- */

static bool start_space(partition *p, const domain *d, trace *t) {
    space_init(&t->at, p->mem);
    for (int i = 0; i < d->nruns; i++) if (!space_atom(&t->at, d->run[i].extent, d->run[i].reduced)) return false;
    form full = { 0 }, row = { 0 };
    int64_t weight = 1, outer = 1;
    for (int i = d->nruns; i-- > 0;) {
        full.stride[i] = weight;
        weight *= d->run[i].extent;
        if (d->run[i].reduced) continue;
        row.stride[i] = outer;
        outer *= d->run[i].extent;
    }
    t->full = space_form(&t->at, &full);
    t->row = space_form(&t->at, &row);
    return t->full != NO_FORM && t->row != NO_FORM;
}

/* How many elements a kernel runs over to compute this anchor. */
static int64_t anchor_size(const node *n) { return n->kind == NODE_WRITE || n->kind == NODE_SCATTER ? n->in[1]->size : n->size; }

static uint16_t place_of(const domain *d, const trace *t, const node *n) {
    if (n->kind == NODE_REDUCE && reduced_extent(n) != 1) return t->row;
    return anchor_size(n) == d->outer * d->inner ? t->full : t->row;
}

/* Bytes read, and passes over R. */
static void account(const partition *p, const domain *d, trace *t) {
    t->nstages = 1;
    for (uint32_t i = 0; i < t->nvisits; i++) {
        const visit *v = &t->visits[i];
        const note *q = &p->notes[v->value];
        if (v->kind == VISIT_LOAD) t->bytes += load_bytes(p, t, i);
        if (v->kind != VISIT_COMPUTE) continue;
        if (v->source != NO_VALUE_NUMBER) t->bytes += form_footprint(&t->at, v->form) * (int64_t)dtype_size((kn_dtype)q->n->dtype);
        if (!q->anchor) continue;
        bool reduces = q->n->kind == NODE_REDUCE && reduced_extent(q->n) != 1, inner = !reduces && d->inner > 1 && q->place == t->full;
        int passes = reduces ? v->stage : inner ? v->stage + 1 : 1;
        if (passes > t->nstages) t->nstages = passes;
        t->inner_store |= inner;
    }
}

/* Parameters at most: a pointer and strides for every way of walking an array, an offset for every further access, scalars. */
static int64_t count_parameters(const trace *t, uint32_t nanchors) {
    int64_t n = t->at.natoms + 2 * (int64_t)t->nintervals + (int64_t)nanchors * (1 + t->at.natoms);
    for (uint32_t i = 0; i < t->nvisits; i++) {
        const visit *v = &t->visits[i];
        bool walks = v->kind == VISIT_LOAD || v->source != NO_VALUE_NUMBER;
        n += v->kind == VISIT_SCALAR;
        if (!walks) continue;
        bool again = false;
        for (uint32_t j = v->next; j != NO_VALUE_NUMBER && !again && v->kind == VISIT_LOAD; j = t->visits[j].next)
            again = !memcmp(t->at.forms[v->form].stride, t->at.forms[t->visits[j].form].stride, (size_t)t->at.natoms * sizeof(int64_t));
        n += again ? 1 : 1 + t->at.natoms;
    }
    return n;
}

trace_status trace_group(partition *p, const domain *d, const uint32_t *anchors, uint32_t nanchors, trace *t, uint32_t *culprit) {
    memset(t, 0, sizeof *t);
    p->stamp++;
    if (!start_space(p, d, t)) return t->at.failed ? TRACE_MEMORY : TRACE_ILLEGAL;
    for (uint32_t i = 0; i < nanchors; i++) {
        note *q = &p->notes[anchors[i]];
        q->place_stamp = p->stamp;
        q->place = place_of(d, t, q->n);
    }
    for (uint32_t i = 0; i < nanchors; i++) {
        need l = { .value = anchors[i], .form = p->notes[anchors[i]].place };
        if (find_visit(p, t, &l) != NO_VALUE_NUMBER) continue;
        if (!make_visit(p, t, &l, VISIT_COMPUTE, &l.visit)) return TRACE_MEMORY;
        trace_status status = walk_from(p, t, l.visit, culprit);
        if (status) return status;
    }
    account(p, d, t);
    if (p->p->target != TARGET_CPU && count_parameters(t, nanchors) > MOST_PARAMETERS && choose_culprit(p, t, culprit)) return TRACE_STORE;
    return TRACE_OK;
}
