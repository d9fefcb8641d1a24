/* schedule_gpu_vector.c: accesses of a thread to consecutive elements as vectors: which can be, and how they are made. Which
 * elements a thread takes is its schedule's business. */
#include <string.h>
#include "ir/plan/schedule_gpu.h"

static bool is_aligned(const nest *n, int operand, const form *f, int atom, int bytes) {
    int size = ktype_table[n->operands[operand].type].size, align = bytes < 16 ? bytes : 16;
    bool fits = n->operands[operand].aligned && (n->operands[operand].at.offset + f->offset * size) % align == 0;
    for (int a = 0; a < n->natoms && fits; a++) fits = a == atom || f->stride[a] * size % align == 0;
    return fits;
}

bool is_vector(const nest *n, int operand, const form *f, uint8_t pair, int atom, int v) {
    int unit = pair ? 2 : 1, bytes = v * unit * ktype_table[n->operands[operand].type].size;
    form first = *f;
    if (pair == 2) first.offset--;
    return f->stride[atom] == unit && v * unit <= 16 && bytes <= 16 && is_aligned(n, operand, &first, atom, bytes);
}

bool is_plain_load(const expr *x) { return x->kind == EXPR_LOAD && !x->nargs && x->index < 0; }

bool is_plain_store(const nest_store *s) { return s->index < 0 && !s->nguards && !s->combine && !s->atomic && !s->when; }

bool same_elements(const nest *n, const form *a, uint8_t pair_a, const form *b, uint8_t pair_b) {
    return !pair_a == !pair_b && a->offset - (pair_a == 2) == b->offset - (pair_b == 2) && !memcmp(a->stride, b->stride, (size_t)n->natoms * sizeof a->stride[0]);
}

int partner(const nest *n, int i) {
    const expr *x = &n->exprs[i];
    for (int j = 0; j < n->nexprs; j++) {
        const expr *y = &n->exprs[j];
        if (is_plain_load(y) && y->operand == x->operand && y->pair + x->pair == 3 && same_elements(n, &x->at, x->pair, &y->at, y->pair)) return j;
    }
    return -1;
}

/* ---- which ---- */

bool vectors_fit(const nest *n, int operand, const form *f, uint8_t pair, int atom, int v) {
    form g = *f;
    if (f->stride[atom] < 0) {
        g.offset += (v - 1) * f->stride[atom];
        g.stride[atom] = -f->stride[atom];
    }
    return v > 1 && is_vector(n, operand, &g, pair, atom, v);
}

int other_store(const nest *n, int i) {
    const nest_store *q = &n->stores[i];
    for (int j = 0; j < n->nstores; j++) {
        const nest_store *o = &n->stores[j];
        if (o->operand == q->operand && o->pair + q->pair == 3 && is_plain_store(o) && same_elements(n, &o->at, o->pair, &q->at, q->pair)) return j;
    }
    return -1;
}

bool vectors_fit_load(const nest *n, int i, int atom, int v) {
    const expr *x = &n->exprs[i];
    return is_plain_load(x) && x->at.stride[atom] && vectors_fit(n, x->operand, &x->at, x->pair, atom, v);
}

bool vectors_fit_store(const nest *n, int i, int atom, int v) {
    const nest_store *q = &n->stores[i];
    return is_plain_store(q) && vectors_fit(n, q->operand, &q->at, q->pair, atom, v) && (!q->pair || other_store(n, i) >= 0);
}

/* ---- how ---- */

bool vectors_init(gpu_vectors *w, emitter *e, int atom, int v) {
    const nest *n = e->n;
    size_t nexprs = (size_t)n->nexprs + 1, nstores = (size_t)n->nstores + 1;
    *w = (gpu_vectors){ .e = e, .atom = atom, .v = v, .loads = arena_zero(e->mem, nexprs, 1), .stores = arena_zero(e->mem, nstores, 1),
                        .loaded = arena_zero(e->mem, nexprs, sizeof(kval)), .stored = arena_zero(e->mem, nstores, sizeof(kval)) };
    return w->loads && w->stores && w->loaded && w->stored;
}

kval vectors_array(emitter *e, ktype t, int count, int operand, const char *suffix) {
    kval v = kb_inst(e->k, K_LOCAL, t, 0, (uint32_t)count, 0, 0);
    const char *stem = e->n->operands[operand].name, *name = *suffix ? arena_text(e->mem, "%s%s", *stem ? stem : "v", suffix) : arena_text(e->mem, "%s%d", *stem ? stem : "v", count);
    if (name) kb_name(e->k, v, name);
    return v;
}

static int unit_of(uint8_t pair) { return pair ? 2 : 1; }

/* Where a vector begins, for elements in falling order too. */
static kval first_index(gpu_vectors *w, const form *f, uint8_t pair, kval base, int load, int store) {
    emitter *e = w->e;
    emitter_open(e, w->atom, f->stride[w->atom] < 0 ? map_op(e, KOP_add, base, emitter_integer(e, w->v - 1)) : base);
    kval at = load >= 0 ? emitter_load_index(e, (uint32_t)load) : emitter_store_index(e, store);
    emitter_close(e, w->atom);
    return pair == 2 ? map_op(e, KOP_sub, at, emitter_integer(e, 1)) : at;
}

/* Where element l is in its array. */
static kval slot_of(gpu_vectors *w, const form *f, uint8_t pair, kval l) {
    emitter *e = w->e;
    kval slot = f->stride[w->atom] < 0 ? map_op(e, KOP_sub, emitter_integer(e, w->v - 1), l) : l;
    return pair ? map_op(e, KOP_add, map_op(e, KOP_mul, slot, emitter_integer(e, 2)), emitter_integer(e, pair - 1)) : slot;
}

static int earlier_of_same(const gpu_vectors *w, int i) {
    const nest *n = w->e->n;
    for (int j = 0; j < i; j++)
        if (w->loads[j] && n->exprs[j].operand == n->exprs[i].operand && same_elements(n, &n->exprs[j].at, n->exprs[j].pair, &n->exprs[i].at, n->exprs[i].pair)) return j;
    return -1;
}

void vectors_load(gpu_vectors *w, kval base) {
    emitter *e = w->e;
    const nest *n = e->n;
    for (int i = 0; i < n->nexprs; i++) {
        const expr *x = &n->exprs[i];
        if (!w->loads[i]) continue;
        int same = earlier_of_same(w, i), count = w->v * unit_of(x->pair), low = x->pair == 2 && partner(n, i) >= 0 ? partner(n, i) : i;
        if (same >= 0) { w->loaded[i] = w->loaded[same]; continue; }
        w->loaded[i] = vectors_array(e, n->operands[x->operand].type, count, x->operand, "");
        kval at = first_index(w, &x->at, n->exprs[low].pair, base, low, -1);
        kb_inst(e->k, K_VLOAD, T_VOID, (uint8_t)count, (kval)e->groups[e->load_use[i].group].pointer, at, w->loaded[i]);
    }
}

kval vectors_element(gpu_vectors *w, int i, kval l) {
    const expr *x = &w->e->n->exprs[i];
    return kb_inst(w->e->k, K_LOAD, x->type, 0, w->loaded[i], slot_of(w, &x->at, x->pair, l), 0);
}

void vectors_give(gpu_vectors *w, kval l) {
    for (int i = 0; i < w->e->n->nexprs; i++) if (w->loads[i]) emitter_give(w->e, (uint32_t)i, vectors_element(w, i, l));
}

void vectors_declare(gpu_vectors *w) {
    const nest *n = w->e->n;
    for (int i = 0; i < n->nstores; i++) {
        const nest_store *q = &n->stores[i];
        if (!w->stores[i]) continue;
        int other = q->pair ? other_store(n, i) : i;
        w->stored[i] = other < i ? w->stored[other] : vectors_array(w->e, n->operands[q->operand].type, w->v * unit_of(q->pair), q->operand, "");
    }
}

void vectors_put(gpu_vectors *w, int store, kval l, kval v) {
    const nest_store *q = &w->e->n->stores[store];
    kb_inst(w->e->k, K_STORE, T_VOID, 0, w->stored[store], slot_of(w, &q->at, q->pair, l), v);
}

void vectors_store(gpu_vectors *w, kval base) {
    emitter *e = w->e;
    for (int i = 0; i < e->n->nstores; i++) {
        const nest_store *q = &e->n->stores[i];
        if (!w->stores[i] || q->pair == 2) continue;
        kval at = first_index(w, &q->at, q->pair, base, -1, i);
        kb_inst(e->k, K_VSTORE, T_VOID, (uint8_t)(w->v * unit_of(q->pair)), (kval)e->groups[e->store_use[i].group].pointer, at, w->stored[i]);
    }
}

void vectors_alignment(emitter *e) {
    for (int g = 0; g < e->ngroups; g++) {
        int32_t pointer = e->groups[g].pointer;
        e->params[pointer].aligned = e->n->operands[e->groups[g].operand].aligned && e->args[pointer].at.offset % 16 == 0;
    }
}
