/* walk.c: which pending nodes an evaluation looks at, in which order, and the words that identify them.
 *
 * How it works: an iterative walk numbers nodes (inputs before users), leaves (what is in memory) and scalars. The key is
 * one stream of 64-bit words: operations, dtypes, exact shapes, attributes, input numbers; pointers and scalar values are
 * not in it. Everything runs under the graph mutex. What is done with a slice must not be put here. */
#include <string.h>
#include "runtime/internal.h"

static uint32_t present;                 /* number of the present walk; node->visit tells what belongs to it */

bool array_reserve(void **array, uint32_t *cap, uint32_t need, size_t size) {
    if (need <= *cap) return true;
    uint32_t more = *cap ? *cap : 64;
    while (more < need) more *= 2;
    void *p = mem_grow(*array, more, size);
    if (!p) return false;
    *array = p;
    *cap = more;
    return true;
}
#define RESERVE(array, cap, need) array_reserve((void **)&(array), &(cap), (need), sizeof *(array))

bool walk_holds(const node *n) { return n->visit == present; }

static bool add_leaf(walk *w, node *n) {
    uint32_t cap = w->cap_leaves;
    if (!RESERVE(w->leaves, w->cap_leaves, w->nleaves + 1)) return false;
    if (!RESERVE(w->leaf_uses, cap, w->nleaves + 1)) return false;
    n->visit = present;
    n->slot = SLOT_LEAF + w->nleaves;
    w->leaf_uses[w->nleaves] = 0;
    w->leaves[w->nleaves++] = n;
    if (n->plan_note) {                  /* an exported value is being read: it was worth storing */
        plan_entry *e = plans_numbered((uint32_t)(uintptr_t)n->plan_note);
        if (e && n->plan_slot < e->nnodes) e->exports[n->plan_slot] &= (uint8_t)~EXPORT_IDLE;
    }
    return true;
}

static bool add_scalar(walk *w, node *n) {
    if (!RESERVE(w->scalars, w->cap_scalars, w->nscalars + 1)) return false;
    n->visit = present;
    n->slot = SLOT_SCALAR + w->nscalars;
    w->scalars[w->nscalars++] = n;
    return true;
}

static bool add_node(walk *w, node *n) {
    uint32_t cap = w->cap_nodes;
    if (!RESERVE(w->nodes, w->cap_nodes, w->nnodes + 1)) return false;
    if (!RESERVE(w->uses, cap, w->nnodes + 1)) return false;
    n->slot = w->nnodes;
    w->uses[w->nnodes] = 0;
    w->nodes[w->nnodes++] = n;
    return true;
}

static bool add_frontier(walk *w, node *n) {
    for (uint32_t i = 0; i < w->nfrontier; i++) if (w->frontier[i] == n) return true;
    if (!RESERVE(w->frontier, w->cap_frontier, w->nfrontier + 1)) return false;
    w->frontier[w->nfrontier++] = n;
    return true;
}

/* Numbers n at once when it needs no descent; *enter tells that it does. */
static bool meet(walk *w, node *n, bool learn, bool *enter) {
    *enter = false;
    if (n->visit == present) return true;
    if (n->kind == NODE_SCALAR) return add_scalar(w, n);
    uint8_t state = __atomic_load_n(&n->state, __ATOMIC_ACQUIRE);
    if (state == NODE_READY || n->kind == NODE_BUFFER) return add_leaf(w, n);
    if (state == NODE_FAULT) return add_leaf(w, n);
    if (state == NODE_SCHEDULED) { w->busy = n; return true; }
    if (learn && n->plan_note) return add_frontier(w, n);
    n->visit = present;
    *enter = true;
    return true;
}

bool walk_add_root(walk *w, node *root, bool learn) {
    bool enter;
    uint32_t depth = 0;
    if (!meet(w, root, learn, &enter)) return false;
    if (!enter) return true;
    if (!RESERVE(w->stack, w->cap_stack, 1)) return false;
    w->stack[depth++] = (struct visit){ root, 0 };
    while (depth) {
        struct visit *top = &w->stack[depth - 1];
        node *n = top->n;
        if (top->next < n->nin) {
            node *child = n->in[top->next++];
            if (!meet(w, child, learn, &enter)) return false;
            if (enter) {
                if (!RESERVE(w->stack, w->cap_stack, depth + 1)) return false;
                w->stack[depth++] = (struct visit){ child, 0 };
            }
            continue;
        }
        if (!add_node(w, n)) return false;
        depth--;
    }
    return true;
}

bool walk_slice(walk *w, node *const *roots, int nroots, bool learn) {
    if (++present == 0) present = 1;
    w->nnodes = w->nleaves = w->nscalars = w->nfrontier = w->nkey = 0;
    w->busy = NULL;
    for (int i = 0; i < nroots; i++) if (!walk_add_root(w, roots[i], learn)) return false;
    return true;
}

/* ---- the key ---- */

static void word(walk *w, uint64_t v) { w->key[w->nkey++] = v; }

static void words(walk *w, const int64_t *p, int n) {
    memcpy(w->key + w->nkey, p, (size_t)n * sizeof *p);
    w->nkey += (uint32_t)n;
}

/* A scalar operand that kernels are specialised by: its class; the classes the lowering knows are values themselves. */
static uint64_t scalar_class(const node *n) {
    static const double special[] = { -1, 0, .5, 1, 2, 3 };
    const scalar *s = &n->attr.number;
    double v = s->kind == SCALAR_FLOAT ? s->v.f : s->kind == SCALAR_INT ? (double)s->v.i : s->kind == SCALAR_UINT ? (double)s->v.u : -7;
    for (unsigned i = 0; i < sizeof special / sizeof *special; i++) if (v == special[i]) return i + 1;
    return 0;
}

static void key_attributes(walk *w, const node *n) {
    switch (n->kind) {
    case NODE_VIEW: case NODE_WRITE: {
        const window *v = &n->attr.view;
        word(w, (uint64_t)v->offset << 8 ^ (uint64_t)v->ndim << 1 ^ v->part);
        words(w, v->strides, v->ndim);
        if (n->kind == NODE_WRITE) words(w, v->shape, v->ndim);
        break;
    }
    case NODE_REDUCE: word(w, n->attr.reduce.axes); word(w, n->attr.reduce.ordered); break;
    case NODE_SCAN: word(w, (uint64_t)n->attr.scan.axis); break;
    case NODE_GATHER: case NODE_SCATTER:
        word(w, (uint64_t)n->attr.gather.at.ndim << 8 | n->attr.gather.mode);
        for (int i = 0; i < n->attr.gather.at.ndim; i++) word(w, (uint64_t)(int64_t)n->attr.gather.at.from[i]);
        break;
    case NODE_OPAQUE: word(w, (uint64_t)n->attr.opaque.nattr); words(w, n->attr.opaque.attr, n->attr.opaque.nattr); break;
    case NODE_MAP:
        if (ufuncs[n->op].flags & UFUNC_SCALAR_CLASS && n->nin > 1 && n->in[1]->kind == NODE_SCALAR) word(w, scalar_class(n->in[1]));
        break;
    default: break;
    }
}

static uint32_t key_bound(const walk *w, int nroots) {
    uint64_t n = 4 + (uint64_t)nroots + 3 * (uint64_t)w->nleaves + 2 * (uint64_t)w->nscalars;
    for (uint32_t i = 0; i < w->nleaves; i++) n += w->leaves[i]->ndim;
    for (uint32_t i = 0; i < w->nnodes; i++) {
        const node *x = w->nodes[i];
        n += 8 + x->ndim + x->nin;
        if (x->kind == NODE_VIEW || x->kind == NODE_WRITE) n += 2 * (uint64_t)x->attr.view.ndim;
        if (x->kind == NODE_GATHER || x->kind == NODE_SCATTER) n += (uint64_t)x->attr.gather.at.ndim;
        if (x->kind == NODE_OPAQUE) n += (uint64_t)x->attr.opaque.nattr;
    }
    return n > UINT32_MAX / 2 ? 0 : (uint32_t)n;
}

bool walk_key(walk *w, node *const *roots, int nroots, kn_device on) {
    uint32_t bound = key_bound(w, nroots);
    if (!bound || !RESERVE(w->key, w->cap_key, bound)) return false;
    word(w, (uint64_t)w->nnodes << 32 | w->nleaves);
    word(w, (uint64_t)w->nscalars << 32 | (uint32_t)nroots);
    word(w, on);
    for (uint32_t i = 0; i < w->nleaves; i++) {
        const node *n = w->leaves[i];
        uint64_t aligned = n->value && ((uintptr_t)n->value->data + (uint64_t)n->offset) % 64 == 0;
        word(w, (uint64_t)n->dtype << 16 | (uint64_t)n->ndim << 8 | aligned);
        words(w, n->shape, n->ndim);
    }
    for (uint32_t i = 0; i < w->nscalars; i++) word(w, w->scalars[i]->dtype);
    for (uint32_t i = 0; i < w->nnodes; i++) {
        const node *n = w->nodes[i];
        word(w, (uint64_t)n->kind << 56 | (uint64_t)n->dtype << 48 | (uint64_t)n->ndim << 40 | (uint64_t)n->nin << 32 | (uint64_t)n->which << 16 | n->op);
        words(w, n->shape, n->ndim);
        for (int j = 0; j < n->nin; j++) word(w, n->in[j]->slot);
        key_attributes(w, n);
    }
    for (int i = 0; i < nroots; i++) word(w, roots[i]->slot);
    return true;
}

/* ---- what must be stored, what may be overwritten ---- */

static void count_uses(walk *w) {
    for (uint32_t i = 0; i < w->nnodes; i++)
        for (int j = 0; j < w->nodes[i]->nin; j++) {
            uint32_t s = w->nodes[i]->in[j]->slot;
            if (s >= SLOT_SCALAR) continue;
            if (s >= SLOT_LEAF) w->leaf_uses[s - SLOT_LEAF]++;
            else w->uses[s]++;
        }
}

/* A leaf may be overwritten when nobody outside the slice can read it afterwards: neither directly, nor through a node
 * that stays pending and that somebody outside holds. */
bool walk_wanted(walk *w, node *const *roots, int nroots, const uint8_t *exports) {
    if (!RESERVE(w->wanted, w->cap_wanted, w->nnodes + 1) || !RESERVE(w->exposed, w->cap_exposed, w->nnodes + w->nleaves + 1) ||
        !RESERVE(w->overwritable, w->cap_overwritable, w->nleaves + 1)) return false;
    for (uint32_t i = 0; i < w->nnodes; i++) w->wanted[i] = exports && exports[i] & EXPORT_ON;
    for (int i = 0; i < nroots; i++) if (roots[i]->slot < SLOT_LEAF && walk_holds(roots[i])) w->wanted[roots[i]->slot] = true;
    count_uses(w);
    memset(w->exposed, 0, w->nnodes + w->nleaves);
    for (uint32_t i = w->nnodes; i-- > 0;) {
        node *n = w->nodes[i];
        if (w->wanted[i]) continue;
        if (__atomic_load_n(&n->refs, __ATOMIC_RELAXED) > w->uses[i]) w->exposed[i] = 1;
        if (!w->exposed[i]) continue;
        for (int j = 0; j < n->nin; j++) {
            uint32_t s = n->in[j]->slot;
            if (s >= SLOT_SCALAR) continue;
            w->exposed[s >= SLOT_LEAF ? w->nnodes + (s - SLOT_LEAF) : s] = 1;
        }
    }
    for (uint32_t i = 0; i < w->nleaves; i++) {
        node *n = w->leaves[i];
        w->overwritable[i] = n->value && !n->value->readonly && !w->exposed[w->nnodes + i] &&
                             __atomic_load_n(&n->refs, __ATOMIC_RELAXED) == w->leaf_uses[i] &&
                             __atomic_load_n(&n->value->refs, __ATOMIC_RELAXED) == 1;
    }
    return true;
}

/* ---- what needs what ---- */

/* Positions out of range, integers to negative powers, requirements on values, and whatever a library refuses. */
static bool may_fail(const node *n) {
    if (n->kind == NODE_MAP) return n->op == UFUNC_require || (n->op == UFUNC_power && dtype_is_integer((kn_dtype)n->dtype));
    return n->kind == NODE_GATHER || n->kind == NODE_SCATTER || n->kind == NODE_OPAQUE;
}

bool walk_mark(walk *w, uint32_t leaf) {
    if (!RESERVE(w->marked, w->cap_marked, w->nnodes + 1)) return false;
    for (uint32_t i = 0; i < w->nnodes; i++) {
        const node *n = w->nodes[i];
        bool needs = leaf == NO_LEAF && may_fail(n);
        for (int j = 0; j < n->nin && !needs; j++) {
            uint32_t s = n->in[j]->slot;
            needs = s < SLOT_LEAF ? w->marked[s] : s < SLOT_SCALAR && s - SLOT_LEAF == leaf;
        }
        w->marked[i] = needs;
    }
    return true;
}
