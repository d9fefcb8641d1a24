/* partition_write.c: which assignments happen in the memory of the array that they change.
 *
 * How it works: a WRITE or SCATTER may take over the memory of its base when nobody needs the old value afterwards: every
 * other kernel that reads it can be ordered before, and the writing kernel itself reads no element of it but the one that
 * it writes, or none of the region. Where only the second fails, either the new values are stored first or the result goes
 * into other memory, whichever moves fewer bytes. Copying itself is plan.c's. */
#include <string.h>
#include "ir/plan/internal.h"

#define LAUNCH_BYTES 20000               /* what one more kernel costs */

/* ---- windows ---- */

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

/* Whether the window hits every element of the base exactly once. */
static bool covers(const node *base, const window *w) {
    int64_t weight = 1, size = 1;
    for (int d = 0; d < w->ndim; d++) size *= w->shape[d];
    if (w->part || size != base->size) return false;
    while (weight < size) {
        int d = 0;
        while (d < w->ndim && (magnitude(w->strides[d]) != weight || w->shape[d] == 1)) d++;
        if (d == w->ndim) return false;
        weight *= w->shape[d];
    }
    return true;
}

bool write_box(const node *base, const window *w, int64_t *first, int64_t *extent, int *dimension) {
    int64_t weight = 1, rest = w->offset;
    bool used[NDIM_MAX] = { false };
    if (w->part) return false;
    for (int d = base->ndim; d-- > 0;) {
        first[d] = base->shape[d] > 0 ? rest / weight % base->shape[d] : 0;
        extent[d] = 1;
        dimension[d] = -1;
        for (int i = w->ndim; i-- > 0 && base->shape[d] > 1;)
            if (!used[i] && w->shape[i] != 1 && w->strides[i] == weight && first[d] + w->shape[i] <= base->shape[d]) {
                used[i] = true;
                extent[d] = w->shape[i];
                dimension[d] = i;
                break;
            }
        weight *= base->shape[d];
    }
    for (int i = 0; i < w->ndim; i++) if (!used[i] && w->shape[i] != 1) return false;
    return true;
}

/* Kernels that copy what lies outside the box; 0 where there are none or no box. */
static int complement_kernels(const node *base, const window *w) {
    int64_t first[NDIM_MAX], extent[NDIM_MAX];
    int dimension[NDIM_MAX], n = 0;
    if (!write_box(base, w, first, extent, dimension)) return 0;
    for (int d = 0; d < base->ndim; d++) n += (first[d] > 0) + (first[d] + extent[d] < base->shape[d]);
    return n;
}

/* ---- who else reads the base ---- */

typedef struct readers { uint32_t *first, *group; } readers;     /* see list_readers */

static bool memory_is_free(const partition *p, uint32_t b) {
    const note *q = &p->notes[b];
    if (q->taken || q->wanted || (q->anchor && p->groups[q->group].kind == GROUP_ALIAS)) return false;
    return q->anchor || p->s->overwritable[b - p->nnodes];
}

/* Orders every other reader of b before the writing group; false where that is impossible. */
static bool order_readers(partition *p, const readers *r, uint32_t writer, uint32_t b, bool *failed) {
    group *w = &p->groups[writer];
    uint32_t had = w->nbefore;
    for (uint32_t k = r->first[b]; k < r->first[b + 1]; k++) {
        uint32_t i = r->group[k];
        if (i == writer) continue;
        if (p->groups[i].kind == GROUP_ALIAS || group_reaches(p, writer, i, false, failed) || *failed) { w->nbefore = had; return false; }
        if (!reserve(p->mem, (void **)&w->before, &w->cap_before, w->nbefore + 1, sizeof *w->before)) { *failed = true; return false; }
        w->before[w->nbefore++] = i;
    }
    p->overwrites |= w->nbefore > had;
    return true;
}

static bool disjoint(const trace *t, uint16_t f, uint16_t g) {
    int64_t lo, hi, low, high;
    form_range(&t->at, &t->at.forms[f], &lo, &hi);
    form_range(&t->at, &t->at.forms[g], &low, &high);
    return hi < low || high < lo;
}

/* Whether the kernel that writes over b reads elements of b that it, or another part of it, may have overwritten. */
static bool overlaps(const partition *p, const trace *t, uint32_t w, uint32_t b) {
    const visit *store = t->visits;
    uint8_t last = 0;
    for (uint32_t i = 0; i < t->nvisits; i++) {
        if (t->visits[i].value == w) store = &t->visits[i];
        if (t->visits[i].stage > last) last = t->visits[i].stage;
    }
    for (uint32_t i = 0; i < t->nvisits; i++) {
        const visit *v = &t->visits[i];
        if (v->kind == VISIT_COMPUTE && v->source == b) return true;
        if (v->kind != VISIT_LOAD || v->value != b) continue;
        if (p->notes[w].n->kind == NODE_SCATTER) return true;
        bool same = v->form == store->at && v->parts == store->parts && store->stage == last;
        if (!same && (v->parts != store->parts || !disjoint(t, v->form, store->at))) return true;
    }
    return false;
}

/* ---- the decision ---- */

/* Stores what the write needs before it runs, so that its kernel does not read the base. */
static bool store_inputs(partition *p, uint32_t w) {
    const node *n = p->notes[w].n;
    bool changed = !p->notes[w].alone;
    p->notes[w].alone = true;
    for (int i = 1; i < n->nin; i++) {
        uint32_t v = value_of(p, n->in[i]);
        if (in_memory(p, v) || n->in[i]->kind == NODE_SCALAR) continue;
        make_anchor(p, v, WHY_OVERLAP);
        changed = true;
    }
    return changed;
}

static write_way copying_way(const node *n, const node *base) {
    if (n->kind != NODE_WRITE) return WRITE_COPY;
    int kernels = complement_kernels(base, &n->attr.view);
    int64_t size = (int64_t)dtype_size((kn_dtype)n->dtype), whole = 2 * base->size * size, outside = 2 * (base->size - n->in[1]->size) * size;
    return kernels && outside + kernels * LAUNCH_BYTES < whole + LAUNCH_BYTES ? WRITE_COMPLEMENT : WRITE_COPY;
}

static int64_t copying_bytes(const node *n, const node *base, write_way way) {
    int64_t size = (int64_t)dtype_size((kn_dtype)n->dtype);
    if (way == WRITE_COPY) return 2 * base->size * size + LAUNCH_BYTES;
    return 2 * (base->size - n->in[1]->size) * size + complement_kernels(base, &n->attr.view) * LAUNCH_BYTES;
}

static kn_status decide(partition *p, const readers *r, uint32_t w, bool *again) {
    note *q = &p->notes[w];
    const node *n = q->n;
    const window *none;
    if (!memory_window(p, n->in[0], &q->base, &none)) return fail(p->m, KN_RUNTIME_ERROR, "the base of an assignment is not in memory");
    const node *base = p->notes[q->base].n;
    uint32_t g = (uint32_t)q->group;
    if (n->kind == NODE_WRITE && covers(base, &n->attr.view)) { q->way = WRITE_FRESH; return KN_OK; }
    q->way = (uint8_t)copying_way(n, base);
    if (!memory_is_free(p, q->base)) return KN_OK;
    bool failed = false, hazard = p->groups[g].t->nvisits && overlaps(p, p->groups[g].t, w, q->base);
    if (hazard && base->kind != NODE_EMPTY && copying_bytes(n, base, (write_way)q->way) > 2 * value_bytes(n->in[1]) + LAUNCH_BYTES && store_inputs(p, w)) {
        *again = true;
        return KN_OK;
    }
    if (!hazard && order_readers(p, r, g, q->base, &failed)) {
        q->way = WRITE_IN_PLACE;
        p->notes[q->base].taken = true;
    }
    return failed ? fail_memory(p->m, "making a plan") : KN_OK;
}

kn_status partition_writes(partition *p, bool *again) {
    bool any = false;
    readers r;
    p->overwrites = false;
    for (uint32_t v = 0; v < p->nvalues; v++) p->notes[v].taken = false;
    for (uint32_t v = 0; v < p->nnodes; v++) any |= p->notes[v].anchor && (p->notes[v].n->kind == NODE_WRITE || p->notes[v].n->kind == NODE_SCATTER);
    if (!any) return KN_OK;
    if (!list_readers(p, &r.first, &r.group)) return fail_memory(p->m, "making a plan");
    for (uint32_t v = 0; v < p->nnodes; v++) {
        const node *n = p->notes[v].n;
        if (!p->notes[v].anchor || (n->kind != NODE_WRITE && n->kind != NODE_SCATTER) || !n->size) continue;
        kn_status status = decide(p, &r, v, again);
        if (status || *again) return status;
    }
    return KN_OK;
}
